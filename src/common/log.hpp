// SPDX-License-Identifier: MIT
// Log lines, with fmt, for code that does not know whose log they go to.
//
// The host program names a sink at its start; without one, nothing is written.  Any thread may log.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace elastic {

enum class LogLevel { error, info, debug };

class LogSink {
  public:
    virtual ~LogSink() = default;
    // Asked before a debug line is made, so that lines nobody reads cost nothing.
    virtual bool wants_debug() const = 0;
    // `line` has no end of line.  Called by several threads at once.
    virtual void write(LogLevel, const std::string& line) = 0;
};

// The sink must outlive all logging, or be taken back (null) before it ends.
void set_log_sink(LogSink*);
LogSink* log_sink();

// How many errors there were, with a sink or without.
void count_error();
std::uint64_t errors_logged();

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    if (LogSink* sink = log_sink())
        sink->write(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    count_error();
    if (LogSink* sink = log_sink())
        sink->write(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    if (LogSink* sink = log_sink(); sink && sink->wants_debug())
        sink->write(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}

// For what users and peers can cause at will: a line of each kind at most once a minute, with the
// number of those left out in between.  One thread.  Kinds are fixed by the program, so the table
// cannot be filled from outside.
class QuietLog {
  public:
    using Clock = std::chrono::steady_clock;
    void say(const std::string& kind, const std::string& message,
             Clock::time_point now = Clock::now());
    void complain(const std::string& kind, const std::string& message) {
        say(kind, "refused: " + message);
    }

  private:
    struct Kind {
        Clock::time_point last{};
        int left_out = 0;
    };
    std::map<std::string, Kind> kinds_;
};

}  // namespace elastic
