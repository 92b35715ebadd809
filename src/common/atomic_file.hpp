// SPDX-License-Identifier: MIT
// Whole files: read at once, replaced at once.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic {

enum class Durability {
    survives_process,  // a crash of the process leaves the old file or the new one
    survives_power,    // one of the machine too (fsync of file and folder)
};

// Replaces `path` by a file that holds `content`, or leaves it as it was: readers see either.
// Writes beside it first, so the folder must be writable.  A symbolic link is followed.  What is
// neither a file nor absent (a device, a pipe) is written to as it is.  Of `mode` the umask is
// taken.  An error names the file and why.
Result<void> write_file(const std::string& path, std::string_view content, Durability,
                        mode_t mode = 0600);
inline constexpr mode_t kForEverybody = 0666;  // as far as the umask lets them

// The content of a regular file of at most `max_size` bytes.  An error names the file and why.
Result<std::string> read_file(const std::string& path, std::size_t max_size);
// The same; nothing if there is no such file.
Result<std::optional<std::string>> read_file_if_there(const std::string& path,
                                                      std::size_t max_size);

}  // namespace elastic
