// SPDX-License-Identifier: MIT
// A log that a test reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/log.hpp"

namespace elastic::testing {

class LogMemory final : public LogSink {
  public:
    LogMemory() { set_log_sink(this); }
    ~LogMemory() override { set_log_sink(nullptr); }

    bool wants_debug() const override { return debug; }
    void write(LogLevel level, const std::string& line) override {
        levels.push_back(level);
        lines.push_back(line);
    }

    // What was written since the last call.
    std::vector<std::string> take() {
        levels.clear();
        return std::exchange(lines, {});
    }

    bool debug = false;
    std::vector<LogLevel> levels;
    std::vector<std::string> lines;
};

}  // namespace elastic::testing
