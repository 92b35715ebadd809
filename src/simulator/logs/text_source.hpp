// SPDX-License-Identifier: MIT
// The text of a log, from wherever it is.
#pragma once

#include <string>

#include "common/result.hpp"
#include "simulator/logs/text_block.hpp"

namespace elastic::simulator {

// The whole of the file, or of standard input for "-", unpacked as unpack() does where its first
// bytes, not its name, say that it is compressed.  An error names the file and why: it cannot be
// read, is a folder, is larger than a limit, or what unpack() says.
Result<Text> read_text(const std::string& path, const TextLimits& = {});

}  // namespace elastic::simulator
