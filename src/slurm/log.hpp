// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's log, with fmt.  Every line begins with "elastic:", so that one grep
// finds what this plugin decided.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    log_var(LOG_LEVEL_INFO, "elastic: %s",
            fmt::format(format, std::forward<Args>(args)...).c_str());
}

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    log_var(LOG_LEVEL_ERROR, "elastic: %s",
            fmt::format(format, std::forward<Args>(args)...).c_str());
}

template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    if (get_log_level() < LOG_LEVEL_DEBUG) return;
    log_var(LOG_LEVEL_DEBUG, "elastic: %s",
            fmt::format(format, std::forward<Args>(args)...).c_str());
}

// For what users and peers can cause at will: a line of each kind at most once a
// minute, with the number of those left out in between.  One thread.
class QuietLog {
  public:
    void say(const std::string& kind, const std::string& message);
    void complain(const std::string& kind, const std::string& message) {
        say(kind, "refused: " + message);
    }

  private:
    struct Kind {
        std::chrono::steady_clock::time_point last{};
        int left_out = 0;
    };
    std::map<std::string, Kind> kinds_;
};

}  // namespace elastic::slurm
