// SPDX-License-Identifier: MIT
//
// libelastic-mpi for C++17 and later: elastic_mpi.h, whose codes are the exception
// elastic::mpi_error.  elastic_mpi.h and libelastic-mpi(3) say how a program is resized; the terms,
// units and what is collective are as there.
//
//     elastic::session session;
//     elastic::array<double> u(session, "u", N);
//     elastic::value<int> step(session, "step", 0);
//     if (!session.reborn()) std::fill(u.begin(), u.end(), 1.0);
//     for (; step < steps; ++step) {
//         session.sync();
//         ...
//     }
//
// Header only: nothing but libelastic-mpi is linked.  The session is closed at the end of its
// scope, which is to be before MPI_Finalize(), or by close().
#ifndef ELASTIC_MPI_HPP
#define ELASTIC_MPI_HPP

#include <elastic_mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace elastic {

// A call has failed, in all processes alike: code() is one of enum elastic_mpi_error.
class mpi_error : public std::runtime_error {
  public:
    mpi_error(int code, const std::string& detail) : std::runtime_error(detail), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

// A program's part in resizes.  Members that may fail throw mpi_error; a moved-from session may
// only be assigned to or destroyed.
class session {
  public:
    // flags: 0 or of enum elastic_mpi_open_flags.
    explicit session(MPI_Comm comm = MPI_COMM_WORLD, unsigned flags = 0) {
        elastic_mpi* handle = nullptr;
        const int code = elastic_mpi_open(&handle, comm, flags);
        if (code < 0) throw mpi_error(code, elastic_mpi_detail(nullptr));
        handle_.reset(handle);
    }

    // The program was resized: it goes on.
    bool reborn() const { return elastic_mpi_reborn(get()) == 1; }
    // Where a resize may happen; may not return.  Destructors do not run then.
    void sync() { check(elastic_mpi_sync(get())); }
    // Why the last resize did not happen; "" if nothing went wrong.
    std::string detail() const { return elastic_mpi_detail(get()); }

    // Ends the program's part: what arrays refer to is gone, values stay what they are.
    void close() {
        const int code = elastic_mpi_close(handle_.release());
        values_.clear();
        if (code < 0) throw mpi_error(code, elastic_mpi_detail(nullptr));
    }

    // For functions of elastic_mpi.h that have no member here; stays the session's.
    elastic_mpi* get() const { return handle_.get(); }

  private:
    template <class T>
    friend class value;

    // Which is collective, so not while an exception leaves the scope: maybe of this process alone.
    struct closer {
        closer() : exceptions(std::uncaught_exceptions()) {}
        void operator()(elastic_mpi* handle) const {
            if (std::uncaught_exceptions() <= exceptions) elastic_mpi_close(handle);
        }
        int exceptions;
    };

    void check(int code) const {
        if (code < 0) throw mpi_error(code, elastic_mpi_detail(get()));
    }

    // The handle refers to them as long as it is open, so they are there at least as long.
    std::vector<std::shared_ptr<void>> values_;
    std::unique_ptr<elastic_mpi, closer> handle_;
};

// The block that this process has of an array: its elements from lo() to hi() - 1, which are
// begin() to end(), and the session's.  Zero if it is new.
template <class T>
class array {
    static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");

  public:
    using value_type = T;

    // An element may be `width` Ts, such as a row of a field; begin() to end() are then all Ts of
    // the block, one element behind the other.
    array(session& of, const std::string& name, std::uint64_t count, std::size_t width = 1)
        : width_(width) {
        void* data = nullptr;
        const int code =
            elastic_mpi_array(of.get(), name.c_str(), width * sizeof(T), count, &data, &lo_, &hi_);
        if (code < 0) throw mpi_error(code, elastic_mpi_detail(of.get()));
        data_ = static_cast<T*>(data);
    }

    std::uint64_t lo() const { return lo_; }
    std::uint64_t hi() const { return hi_; }
    std::size_t width() const { return width_; }

    T* data() const { return data_; }
    std::size_t size() const { return static_cast<std::size_t>(hi_ - lo_) * width_; }
    bool empty() const { return lo_ == hi_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size(); }
    // The index begins with 0 in each block.
    T& operator[](std::size_t index) const { return data_[index]; }

  private:
    T* data_ = nullptr;
    std::uint64_t lo_ = 0, hi_ = 0;
    std::size_t width_;
};

// A variable that all processes have alike, used as a T is: `initial` in a program that begins, its
// last value in a program that is reborn.
template <class T>
class value {
    static_assert(std::is_trivially_copyable_v<T>, "values are moved as bytes");

  public:
    value(session& of, const std::string& name, const T& initial = T())
        : value_(std::make_shared<T>(initial)) {
        of.values_.push_back(value_);
        of.check(elastic_mpi_value(of.get(), name.c_str(), value_.get(), sizeof(T)));
    }
    value(value&&) noexcept = default;
    value(const value&) = delete;
    value& operator=(const value&) = delete;

    value& operator=(const T& other) {
        *value_ = other;
        return *this;
    }
    operator T&() const { return *value_; }
    T& operator*() const { return *value_; }
    T* operator->() const { return value_.get(); }

  private:
    std::shared_ptr<T> value_;
};

}  // namespace elastic

#endif
