// SPDX-License-Identifier: MIT
// The text of a log that is compressed.
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "simulator/logs/text_block.hpp"

namespace elastic::simulator {

// Whether the first bytes are those of gzip, xz, bzip2, zstd, lz4 or zip, or of a kind of which
// unpack() says that it is not read.
bool is_packed(std::string_view bytes);

// All members of a gzip, xz, bzip2, zstd or lz4 one after the other, or the only file in a zip.  An
// error begins with `name` and says why: of a kind that is not read, damaged or cut off, larger
// than a limit, something behind the end, several files.
Result<Text> unpack(std::string_view packed, std::string_view name, const TextLimits& = {});

}  // namespace elastic::simulator
