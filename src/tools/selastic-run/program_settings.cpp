// SPDX-License-Identifier: MIT
// `Key=Value` lines whose keys are those of the options: StopFile is --stop-file.  The command line
// goes before the file, so that a user can say that one thing is different.
#include "selastic-run/program_settings.hpp"

#include <wordexp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "common/config_file.hpp"
#include "common/text.hpp"

namespace elastic::tools {
namespace {

constexpr const char* kInstalled = SELASTIC_PROFILE_DIR;
constexpr double kMostSeconds = 1e8;

std::vector<std::string> folders() {
    std::vector<std::string> found;
    const char* own = std::getenv("SELASTIC_PROFILES");
    for (const std::string_view folder : split(own ? own : "", ':'))
        if (!folder.empty()) found.emplace_back(folder);
    found.emplace_back(kInstalled);
    return found;
}

std::optional<std::string> read(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void set(std::string& value, const std::string& text) {
    if (value.empty()) value = text;
}

// What it begins with behind a '#', as far as there is something.
std::string first_comment(std::string_view text) {
    const std::string_view line = split(text, '\n')[0];
    return line.starts_with('#') ? printable(trim(line.substr(1)), 200) : "";
}

Result<void> apply(const Setting& setting, RunOptions& options) {
    const std::string& value = setting.value;
    if (equal_ignoring_case(setting.key, "CheckpointSignal")) {
        if (options.stop_signal.empty()) return read_stop_signal(value, options);
    } else if (equal_ignoring_case(setting.key, "StopFile")) {
        set(options.stop_file, value);
    } else if (equal_ignoring_case(setting.key, "CheckpointFile")) {
        set(options.checkpoint, value);
    } else if (equal_ignoring_case(setting.key, "Restart")) {
        set(options.restart, value);
    } else if (equal_ignoring_case(setting.key, "StoppedStatus")) {
        const auto status = parse_integer(value);
        if (!status || *status < 0 || *status > 255) return error("'{}' is no status", value);
        if (options.stopped_status < 0) options.stopped_status = static_cast<int>(*status);
    } else {
        return error("{}: unknown", setting.key);
    }
    return {};
}

Result<void> apply_text(std::string_view text, std::string_view file_name, RunOptions& options) {
    const auto settings = parse_settings(text, file_name);
    if (!settings) return settings.error();
    for (const Setting& setting : *settings)
        if (const auto done = apply(setting, options); !done)
            return at_line(file_name, setting.line, done.error().message);
    return {};
}

// Quotes, variables and blanks as a shell reads them; commands in backquotes are refused.
Result<Words> words(const std::string& text) {
    wordexp_t found{};
    const int code = ::wordexp(text.c_str(), &found, WRDE_NOCMD);
    if (code != 0) {
        if (code == WRDE_NOSPACE) ::wordfree(&found);
        return error("'{}' is no command with its arguments", printable(text));
    }
    Words words(found.we_wordv, found.we_wordv + found.we_wordc);
    ::wordfree(&found);
    return words;
}

std::string filled_in(std::string word, std::string_view name, const std::string& value) {
    for (std::size_t at = 0; (at = word.find(name, at)) != std::string::npos; at += value.size())
        word.replace(at, name.size(), value);
    return word;
}

}  // namespace

std::vector<Profile> known_profiles() {
    std::vector<Profile> found;
    for (const std::string& folder : folders()) {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
            const std::string name = entry.path().filename();
            const auto is_it = [&](const Profile& profile) { return profile.name == name; };
            const auto text = read(entry.path());
            if (text && std::ranges::none_of(found, is_it))
                found.push_back({name, first_comment(*text)});
        }
    }
    std::ranges::sort(found, {}, &Profile::name);
    return found;
}

Result<void> read_stop_signal(std::string_view text, RunOptions& options) {
    const std::size_t at = text.find('@');
    const std::string_view name = text.substr(0, at);
    if (name.empty() ||
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") != std::string_view::npos)
        return error("'{}' is no signal: TERM, USR1@60", printable(text));
    if (at != std::string_view::npos) {
        const auto seconds = parse_number(text.substr(at + 1));
        if (!seconds || *seconds <= 0 || *seconds > kMostSeconds)
            return error("'{}' is no number of seconds", printable(text.substr(at + 1)));
        options.stop_seconds = *seconds;
    }
    options.stop_signal = name;
    return {};
}

Result<void> apply_program_settings(const std::string& name, RunOptions& options) {
    if (name.find('/') != std::string::npos) {
        const auto text = read(name);
        return text ? apply_text(*text, name, options) : error("cannot read {}", name);
    }
    for (const std::string& folder : folders()) {
        const std::string path = fmt::format("{}/{}", folder, name);
        if (const auto text = read(path)) return apply_text(*text, path, options);
    }
    return error("there is no profile '{}' in {}; --profile list names those that are",
                 printable(name), fmt::join(folders(), ", "));
}

Result<Words> restart_words(const RunOptions& options) {
    if (options.restart.empty()) return options.program;
    const auto given = words(options.restart);
    if (!given) return given.error();
    Words command;
    for (const std::string& word : *given)
        if (word == "%program")
            command.insert(command.end(), options.program.begin(), options.program.end());
        else
            command.push_back(filled_in(word, "%checkpoint", options.checkpoint));
    if (command.empty()) return Error{"the restart command is empty"};
    return command;
}

}  // namespace elastic::tools
