// SPDX-License-Identifier: MIT
// A slurmctld that executes itself anew to be reconfigured remembers nothing, and one that takes
// over never knew: both must go on even if elastic.conf has just become wrong.
#include "controller/kept_config.hpp"

#include "common/atomic_file.hpp"
#include "common/config_file.hpp"
#include "common/log.hpp"

namespace elastic::controller {

namespace {

std::string copy_in(const std::string& folder) {
    return folder + "/elastic_conf";
}

}  // namespace

Result<core::Config> KeptConfig::read(const std::string& path) {
    auto text = read_file(path, kMaxConfigFile);
    if (!text) return text.error();
    auto config = core::parse_config(*text, path);
    if (config) text_ = std::move(*text);
    return config;
}

void KeptConfig::keep(const std::string& folder) {
    if (!text_ || text_ == kept_) return;
    if (auto written = write_file(copy_in(folder), *text_, Durability::survives_process); !written)
        return log_error("{}; a reconfiguration with a wrong elastic.conf would end slurmctld",
                         written.error().message);
    kept_ = text_;
}

Result<core::Config> KeptConfig::kept(const std::string& folder) {
    return core::read_config(copy_in(folder));
}

}  // namespace elastic::controller
