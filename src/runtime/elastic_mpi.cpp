// SPDX-License-Identifier: MIT
// The C interface: wrappers around MalleableProgram, each of which checks its arguments and turns
// errors into codes.
//
// Always holds: no exception crosses into the program.
#include "runtime/elastic_mpi.h"

#include <algorithm>
#include <exception>
#include <string>

#include "runtime/malleable_program.hpp"

using elastic::Error;
using elastic::Result;
using elastic::runtime::MalleableProgram;

struct elastic_mpi {
    std::unique_ptr<MalleableProgram> program;
};

namespace {

constexpr std::size_t kLongestName = 255, kLargestValue = std::size_t{1} << 20;
constexpr int kMostNodes = 1'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62, kMostObjects = INT32_MAX;

std::string& open_detail() {
    thread_local std::string detail;
    return detail;
}

bool is_name(const char* name) {
    const std::string text = name ? name : "";
    return !text.empty() && text.size() <= kLongestName &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

// Runs the call with `detail` to be set by it, and turns its error into `code`.
template <class Call>
int guarded(std::string& detail, int code, Call call) noexcept {
    try {
        detail.clear();
        const Result<void> done = call();
        if (done) return ELASTIC_MPI_OK;
        detail = done.error().message;
        return code;
    } catch (const std::exception& failure) {
        detail = failure.what();
        return ELASTIC_MPI_ESYSTEM;
    }
}

int refuse(std::string& detail, const char* why) {
    detail = why;
    return ELASTIC_MPI_EINVAL;
}

}  // namespace

int elastic_mpi_open(elastic_mpi** e, MPI_Comm comm, unsigned flags) {
    if (!e) return refuse(open_detail(), "there is no place for the handle");
    *e = nullptr;
    if ((flags & ~static_cast<unsigned>(ELASTIC_MPI_GREEDY | ELASTIC_MPI_KEEP)) != 0)
        return refuse(open_detail(), "the flags are not of enum elastic_mpi_open_flags");
    int ready = 0, code = ELASTIC_MPI_ESYSTEM;
    MPI_Initialized(&ready);
    if (!ready) return refuse(open_detail(), "MPI_Init() has not been called");
    const int status = guarded(open_detail(), -1, [&]() -> Result<void> {
        auto opened = MalleableProgram::open(comm, flags, code);
        if (!opened) return opened.error();
        *e = new elastic_mpi{*std::move(opened)};
        return {};
    });
    return status == ELASTIC_MPI_OK ? status : code;
}

int elastic_mpi_reborn(const elastic_mpi* e) {
    return e && e->program->reborn() ? 1 : 0;
}

int elastic_mpi_array(elastic_mpi* e, const char* name, size_t element, uint64_t count, void** data,
                      uint64_t* lo, uint64_t* hi) {
    if (!e) return ELASTIC_MPI_EINVAL;
    std::string& detail = e->program->detail;
    if (!is_name(name)) return refuse(detail, "the array's name is not of printable characters");
    if (!data || !lo || !hi) return refuse(detail, "there is no place for what is returned");
    if (element == 0 || count == 0 || count > kMostBytes / element)
        return refuse(detail, "an array has at least one byte and at most 2^62");
    int code = ELASTIC_MPI_ESYSTEM;
    const int status = guarded(detail, -1, [&]() -> Result<void> {
        const auto block = e->program->array(name, element, count, code);
        if (!block) return block.error();
        *data = block->data;
        *lo = block->lo;
        *hi = block->hi;
        return {};
    });
    return status == ELASTIC_MPI_OK ? status : code;
}

int elastic_mpi_value(elastic_mpi* e, const char* name, void* data, size_t size) {
    if (!e) return ELASTIC_MPI_EINVAL;
    std::string& detail = e->program->detail;
    if (!is_name(name)) return refuse(detail, "the value's name is not of printable characters");
    if (!data || size > kLargestValue) return refuse(detail, "a value has at most a megabyte");
    return guarded(detail, ELASTIC_MPI_EINVAL, [&] { return e->program->value(name, data, size); });
}

int elastic_mpi_objects(elastic_mpi* e, uint64_t count, size_t (*pack)(uint64_t, void*, void*),
                        void (*unpack)(uint64_t, const void*, size_t, void*),
                        double (*load)(uint64_t, void*), void* arg) {
    if (!e) return ELASTIC_MPI_EINVAL;
    std::string& detail = e->program->detail;
    if (!pack || !unpack) return refuse(detail, "pack and unpack are needed");
    if (count == 0 || count > kMostObjects) return refuse(detail, "there are 1 to 2^31-1 objects");
    return guarded(detail, ELASTIC_MPI_EINVAL, [&] {
        return e->program->objects({count, pack, unpack, load, arg});
    });
}

int elastic_mpi_owner(const elastic_mpi* e, uint64_t object) {
    const int owner = e ? e->program->owner(object) : -1;
    return owner < 0 ? ELASTIC_MPI_EINVAL : owner;
}

int elastic_mpi_sync(elastic_mpi* e) {
    if (!e) return ELASTIC_MPI_EINVAL;
    return guarded(e->program->detail, ELASTIC_MPI_ESYSTEM, [&]() -> Result<void> {
        e->program->sync();
        return {};
    });
}

int elastic_mpi_due(elastic_mpi* e) {
    if (!e) return ELASTIC_MPI_EINVAL;
    bool due = false;
    const int status = guarded(e->program->detail, ELASTIC_MPI_ESYSTEM, [&]() -> Result<void> {
        due = e->program->due();
        return {};
    });
    return status == ELASTIC_MPI_OK ? due : status;
}

int elastic_mpi_request(elastic_mpi* e, int nodes) {
    if (!e) return ELASTIC_MPI_EINVAL;
    std::string& detail = e->program->detail;
    if (nodes < -kMostNodes || nodes > kMostNodes) return refuse(detail, "so many nodes are not");
    return guarded(detail, ELASTIC_MPI_ESTATE, [&] { return e->program->request(nodes); });
}

int elastic_mpi_requested(const elastic_mpi* e) {
    return e && e->program->requested() ? 1 : 0;
}

int elastic_mpi_close(elastic_mpi* e) {
    if (!e) return ELASTIC_MPI_OK;
    const int status = guarded(open_detail(), ELASTIC_MPI_ESYSTEM, [&]() -> Result<void> {
        e->program->close();
        return {};
    });
    delete e;
    return status;
}

const char* elastic_mpi_detail(const elastic_mpi* e) {
    return e ? e->program->detail.c_str() : open_detail().c_str();
}
