// SPDX-License-Identifier: MIT
// Tells the formats apart by their first line: a comment or a number begins SWF, the name of a
// column an export of sacct.
#include "simulator/logs/reader.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/text.hpp"
#include "simulator/logs/sacct.hpp"
#include "simulator/logs/swf.hpp"
#include "simulator/logs/text_source.hpp"

namespace elastic::simulator {

namespace {

// Of the first line that is not blank; enough of it for a message and a header.
std::string_view first_line(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text = text.substr(begin, kMaxLogLine);
    return text.substr(0, text.find('\n'));
}

bool begins_swf(std::string_view line) {
    return std::string_view(";0123456789+-.").find(line[0]) != std::string_view::npos;
}

// No number, and no comment, has what stands between the columns of sacct.
bool lacks_header(std::string_view line) {
    return line[0] != ';' && line.find_first_of("|,") != std::string_view::npos;
}

bool begins_sacct(std::string_view line) {
    return lower_case(line).find("jobid") != std::string::npos;
}

// What reads the jobs of a log by number must find each once, and none under a number that the log
// has for another.
void make_ids_unique(Log& log) {
    const auto does_not_rise = [](const LogJob& a, const LogJob& b) { return a.id >= b.id; };
    if (log.jobs.empty() || (log.jobs.front().id >= 0 &&
                             std::ranges::adjacent_find(log.jobs, does_not_rise) == log.jobs.end()))
        return;
    std::unordered_set<std::int64_t> seen;
    seen.reserve(log.jobs.size());
    for (LogJob& job : log.jobs) {
        if (job.id < 0 || !seen.insert(job.id).second) job.id = ++log.last_id;
    }
}

Result<Log> parse_by_format(std::string_view text, std::string_view name, bool lenient,
                            const TypeRule& rule) {
    const std::string_view line = first_line(text);
    if (line.empty()) return error("{}: is empty", name);
    if (begins_swf(line) && lacks_header(line))
        return error(
            "{}: looks like an export of sacct without its first line, which names the columns; "
            "export without --noheader",
            name);
    if (begins_swf(line)) return read_swf(text, name, lenient, rule);
    if (begins_sacct(line)) return read_sacct(text, name, lenient, rule);
    return error("{}: is neither SWF nor an export of sacct; its first line is '{}'", name,
                 printable(trim(line)));
}

}  // namespace

Result<Log> parse_log(std::string_view text, std::string_view name, bool lenient,
                      const TypeRule& rule) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // spreadsheets write one
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    auto log = parse_by_format(text, name, lenient, rule);
    if (log) make_ids_unique(*log);
    return log;
}

namespace {

std::string name_of(const std::string& path) {
    return path == "-" ? "standard input" : printable(path, 200);
}

}  // namespace

Result<Log> read_log(const std::string& path, bool lenient, const TypeRule& rule) {
    const auto text = read_text(path);
    if (!text) return text.error();
    return parse_log(text->view(), name_of(path), lenient, rule);
}

Result<Log> parse_log_with_programs(std::string_view text, std::string_view name, bool lenient) {
    Result<Log> with = parse_log(text, name, lenient, program_rule());
    return with ? std::move(with) : parse_log(text, name, lenient);
}

Result<Log> read_log_with_programs(const std::string& path, bool lenient) {
    const auto text = read_text(path);
    if (!text) return text.error();
    return parse_log_with_programs(text->view(), name_of(path), lenient);
}

}  // namespace elastic::simulator
