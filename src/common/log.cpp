// SPDX-License-Identifier: MIT
// One sink for the whole program, in an atomic pointer: it is set once, and read for every line.
#include "common/log.hpp"

#include <atomic>

namespace elastic {

namespace {
std::atomic<LogSink*> current_sink = nullptr;
std::atomic<std::uint64_t> errors = 0;
}  // namespace

void set_log_sink(LogSink* sink) {
    current_sink = sink;
}

LogSink* log_sink() {
    return current_sink;
}

void count_error() {
    errors.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t errors_logged() {
    return errors;
}

void QuietLog::say(const std::string& kind, const std::string& message, Clock::time_point now) {
    auto [entry, is_first] = kinds_.try_emplace(kind);
    if (!is_first && now - entry->second.last < std::chrono::minutes(1)) {
        ++entry->second.left_out;
        return;
    }
    int left_out = entry->second.left_out;
    log_info("{}{}", message,
             left_out ? fmt::format(" ({} more like it in between)", left_out) : "");
    entry->second = {now, 0};
}

}  // namespace elastic
