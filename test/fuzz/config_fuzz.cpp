// SPDX-License-Identifier: MIT
// The input is an elastic.conf, and a slurm.conf: an error is one line that names the file, and a
// value is no longer than the text.
#include "core/model/config.hpp"

#include "common/config_file.hpp"
#include "fuzz.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text = fuzz::text(data, size);
    if (auto config = core::parse_config(text, "elastic.conf"); !config) {
        fuzz::require(config.error().message.starts_with("elastic.conf:"),
                      "an error names the file");
        fuzz::require(config.error().message.find('\n') == std::string::npos,
                      "an error is one line");
    }
    for (const std::string& value : slurm_conf_values(text, "SlurmctldHost")) {
        fuzz::require(value.size() <= size, "a value is part of the text");
    }
    return 0;
}
