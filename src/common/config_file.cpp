// SPDX-License-Identifier: MIT
// Two readers for two attitudes: strict for our own file, where a mistake must be told with its
// line, lenient for Slurm's, from which single keys are picked.
#include "common/config_file.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/text.hpp"

namespace elastic {

namespace {

bool is_word(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.';
    });
}

bool has_control_character(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

Result<Setting> parse_setting(std::string_view line) {
    std::size_t equals = line.find('=');
    std::string_view key = trim(line.substr(0, equals));
    if (equals == std::string_view::npos) {
        return error("'{}' is not of the form Key=Value", printable(line));
    }
    if (!is_word(key)) return error("'{}' is not a key", printable(key));
    std::string_view value = trim(line.substr(equals + 1));
    if (value.empty()) return error("{} has no value", printable(key));
    return Setting{std::string(key), std::string(value), 0};
}

// Takes the next KEY=VALUE from a line of slurm.conf, its value plain or in quotes; false at the
// end or where the line is of another form.
bool take_setting(std::string_view& line, Setting& setting) {
    line = trim(line);
    std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    setting.key = trim(line.substr(0, equals));
    if (!is_word(setting.key)) return false;
    line = trim(line.substr(equals + 1));
    bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    std::size_t end = std::min(line.find_first_of(quoted ? "\"" : " \t"), line.size());
    setting.value = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return true;
}

bool begins_record(std::string_view key) {
    constexpr std::array<std::string_view, 6> kRecords = {
        "NodeName", "PartitionName", "NodeSet", "FrontendName", "DownNodes", "SwitchName"};
    return std::ranges::any_of(kRecords,
                               [&](auto record) { return equal_ignoring_case(record, key); });
}

std::string_view without_comment(std::string_view line) {
    return trim(line.substr(0, line.find('#')));
}

}  // namespace

Error at_line(std::string_view file_name, int line, std::string_view message) {
    return error("{}:{}: {}", printable(file_name, 200), line, message);
}

Result<std::vector<Setting>> parse_settings(std::string_view text, std::string_view file_name) {
    if (text.size() > kMaxConfigFile) {
        return error("{}: larger than {} bytes", printable(file_name, 200), kMaxConfigFile);
    }
    std::vector<Setting> settings;
    std::set<std::string> seen;
    int number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (line.size() > kMaxConfigLine) {
            return at_line(file_name, number,
                           fmt::format("line longer than {} bytes", kMaxConfigLine));
        }
        line = without_comment(line);
        if (line.empty()) continue;
        if (has_control_character(line)) {
            return at_line(file_name, number, "control character in line");
        }
        Result<Setting> setting = parse_setting(line);
        if (!setting) return at_line(file_name, number, setting.error().message);
        setting->line = number;
        if (!seen.insert(lower_case(setting->key)).second) {
            return at_line(file_name, number,
                           fmt::format("{} is set twice", printable(setting->key)));
        }
        settings.push_back(std::move(*setting));
    }
    return settings;
}

std::vector<std::string> slurm_conf_values(std::string_view text, std::string_view key) {
    std::vector<std::string> values;
    for (std::string_view line : split(text, '\n')) {
        line = without_comment(line);
        Setting setting;
        while (take_setting(line, setting)) {
            if (equal_ignoring_case(setting.key, key)) values.push_back(setting.value);
            if (begins_record(setting.key)) break;
        }
    }
    return values;
}

}  // namespace elastic
