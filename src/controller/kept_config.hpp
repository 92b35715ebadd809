// SPDX-License-Identifier: MIT
// elastic.conf, and a copy of it as it was when a controller last went by it, in StateSaveLocation.
#pragma once

#include <optional>
#include <string>

#include "common/result.hpp"
#include "core/model/config.hpp"

namespace elastic::controller {

class KeptConfig {
  public:
    // elastic.conf as it is now; an error names file and line.
    Result<core::Config> read(const std::string& path);
    // What read() has returned is in force: the folder has its copy from then on.
    void keep(const std::string& folder);
    // What was in force when a controller with that folder ran last.
    static Result<core::Config> kept(const std::string& folder);

  private:
    std::optional<std::string> text_;  // as read last
    std::optional<std::string> kept_;  // as the copy is, once this one has written it
};

}  // namespace elastic::controller
