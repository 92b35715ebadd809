// SPDX-License-Identifier: MIT
// What a program prints.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic {

inline const std::atomic<bool> kNotCancelled{false};

// Runs the program at an absolute path without arguments, with PATH alone in its environment and
// none of this process's files, and waits for its end: at most `deadline` seconds, after which it
// and its children are killed.  Of what it prints at most `most` bytes are taken.  An error says
// what was wrong: not runnable, too late, too much, or how it ended if that was not with 0.
// Another thread may set `cancelled`: then it is too late within a tenth of a second.
Result<std::string> output_of(const std::string& program, Duration deadline, std::size_t most,
                              const std::atomic<bool>& cancelled = kNotCancelled);

}  // namespace elastic
