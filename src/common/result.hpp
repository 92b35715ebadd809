// SPDX-License-Identifier: MIT
// A value or the reason why there is none.  Parsers of hostile input return this instead of
// throwing, so that every refusal has a text for a human.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace elastic {

// What went wrong, as one line without a trailing full stop or newline.
struct Error {
    std::string message;
};

template <class... Args>
Error error(fmt::format_string<Args...> format, Args&&... args) {
    return Error{fmt::format(format, std::forward<Args>(args)...)};
}

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::move(value)) {}
    Result(Error error) : content_(std::move(error)) {}

    explicit operator bool() const { return std::holds_alternative<T>(content_); }
    T& operator*() & { return std::get<T>(content_); }
    const T& operator*() const& { return std::get<T>(content_); }
    // By value, so that `for (auto& x : *f())` does not dangle.
    T operator*() && { return std::get<T>(std::move(content_)); }
    T* operator->() { return &std::get<T>(content_); }
    const T* operator->() const { return &std::get<T>(content_); }
    const Error& error() const { return std::get<Error>(content_); }

  private:
    std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return !error_; }
    const Error& error() const { return *error_; }

  private:
    std::optional<Error> error_;
};

}  // namespace elastic
