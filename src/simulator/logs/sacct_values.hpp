// SPDX-License-Identifier: MIT
// What stands in a cell of an export of sacct, or in what another tool has made of it.
#pragma once

#include <optional>
#include <string_view>

namespace elastic::simulator {

enum class Form {
    text,
    count,    // "1536", "1.50K", "64.0"
    time,     // "2024-05-01T10:00:00", a blank for the T, ".123", "Z" or "+01:00" behind it; or
              // seconds since the epoch
    clock,    // "1-02:03:04", "1 days 02:03:04"
    seconds,  // "3600", "3600.0"
    minutes
};

// In seconds where it is a time; nothing if it cannot be read.  What an offset says is taken off.
std::optional<double> read_value(std::string_view text, Form form);
// For messages: "is no whole number".
const char* what_is_wrong(Form form);

// Of AllocTRES, "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=1": memory in MiB, and
// GPUs, of one kind or all; 0 of what does not stand there or cannot be read.
struct Tres {
    double memory = 0, gpus = 0;
    double processors = 0, nodes = 0;  // as limits have them
};
Tres parse_tres(std::string_view text);

// Whether nobody knows: "", "Unknown", "NaN".
bool is_unknown(std::string_view text);
// What sacct has of a job without a time limit of its own.
bool is_unlimited(std::string_view text);
// Of a count.  By default sacct writes "1.50K" of what is so exactly; with --units "1.46K".
bool is_rounded(std::string_view count);
// Of a point in time; nothing where that cannot be told, as of seconds since the epoch.
std::optional<bool> has_offset(std::string_view time);

}  // namespace elastic::simulator
