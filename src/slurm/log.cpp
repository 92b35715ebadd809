// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm adds time and thread, writes to syslog and file, and serialises the lines of its threads.
#include "slurm/log.hpp"

#include "common/log.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

namespace {

log_level_t level_of(LogLevel level) {
    switch (level) {
        case LogLevel::error:
            return LOG_LEVEL_ERROR;
        case LogLevel::info:
            return LOG_LEVEL_INFO;
        case LogLevel::debug:
            return LOG_LEVEL_DEBUG;
    }
    return LOG_LEVEL_ERROR;
}

class SlurmLog final : public LogSink {
  public:
    bool wants_debug() const override { return get_log_level() >= LOG_LEVEL_DEBUG; }
    void write(LogLevel level, const std::string& line) override {
        log_var(level_of(level), "elastic: %s", line.c_str());
    }
};

}  // namespace

void log_to_slurm() {
    static SlurmLog sink;
    set_log_sink(&sink);
}

}  // namespace elastic::slurm
