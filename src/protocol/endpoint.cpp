// SPDX-License-Identifier: MIT
// Finding the controller without asking Slurm's libraries.
//
// The library lives in applications, which must not link Slurm, so the few keys it needs are
// read from slurm.conf here: `Key=Value` pairs, several a line, '#' for comments, '\' to go on
// in the next line, Include for other files.  Everything else in the file is passed over.
//
// Always holds: an Endpoint handed out has at least one controller.
#include "protocol/endpoint.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace elastic::protocol {
namespace {

constexpr std::size_t kMaxFile = 4 * 1024 * 1024;
constexpr int kMaxIncludes = 8;  // levels
constexpr std::size_t kMaxHostName = 255;

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return std::string(value);
}

template <class Int>
std::optional<Int> parse_number(std::string_view text) {
    Int value{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_host(std::string_view text) {
    return !text.empty() && text.size() <= kMaxHostName &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == ':' || c == '%';
           });
}

std::string to_string(const HostPort& at) {
    const bool brackets = at.host.find(':') != std::string::npos;
    return fmt::format(fmt::runtime(brackets ? "[{}]:{}" : "{}:{}"), at.host, at.port);
}

Result<HostPort> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return error("'{}': expected host:port", text);
    auto host = text.substr(0, colon);
    const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) return error("'{}': expected a port from 1 to 65535", text);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (!is_host(host) || (!bracketed && host.find(':') != std::string_view::npos))
        return error("'{}': not a host name or address", text);
    return HostPort{std::string(host), *port};
}

Result<std::vector<HostPort>> parse_controllers(std::string_view text) {
    std::vector<HostPort> controllers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        auto controller = parse_host_port(text.substr(begin, end - begin));
        if (!controller) return controller.error();
        if (controllers.size() == kMaxControllers)
            return error("more than {} controllers", kMaxControllers);
        controllers.push_back(std::move(*controller));
        begin = end + 1;
    }
    return controllers;
}

std::string lower(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lowered;
}

struct Setting {
    std::string key;  // in lower case
    std::string value;
};

// The pairs of one line; words without '=' are Include's business.
std::vector<Setting> parse_line(std::string_view line) {
    std::vector<Setting> settings;
    std::string word;
    bool quoted = false;
    const auto finish = [&] {
        if (const auto equals = word.find('='); equals != std::string::npos)
            settings.push_back({lower(word.substr(0, equals)), word.substr(equals + 1)});
        word.clear();
    };
    for (const char c : line) {
        if (c == '#' && !quoted) break;
        if (c == '"') {
            quoted = !quoted;
        } else if (std::isspace(static_cast<unsigned char>(c)) && !quoted) {
            finish();
        } else {
            word.push_back(c);
        }
    }
    finish();
    return settings;
}

std::optional<std::string> included_file(std::string_view line) {
    constexpr std::string_view keyword = "include";
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return std::nullopt;
    line.remove_prefix(begin);
    if (line.size() <= keyword.size() || lower(line.substr(0, keyword.size())) != keyword ||
        !std::isspace(static_cast<unsigned char>(line[keyword.size()])))
        return std::nullopt;
    line.remove_prefix(line.find_first_not_of(" \t", keyword.size()));
    return std::string(line.substr(0, line.find_first_of(" \t\r#")));
}

// Appends the settings of a file and of those it includes.
Result<void> read_settings(const std::filesystem::path& path, int depth,
                           std::vector<Setting>& settings) {
    std::error_code status;
    const auto size = std::filesystem::file_size(path, status);
    if (status) return error("{}: {}", path.string(), status.message());
    if (size > kMaxFile) return error("{}: larger than {} bytes", path.string(), kMaxFile);
    std::ifstream file(path);
    if (!file) return error("{}: cannot be read", path.string());

    std::string line, piece;
    while (std::getline(file, piece)) {
        line += piece;
        if (!line.empty() && line.back() == '\\') {
            line.pop_back();
            continue;
        }
        if (auto other = included_file(line)) {
            if (depth == kMaxIncludes) return error("{}: includes too deep", path.string());
            if (auto fine = read_settings(path.parent_path() / *other, depth + 1, settings); !fine)
                return fine;
        } else {
            std::ranges::move(parse_line(line), std::back_inserter(settings));
        }
        line.clear();
    }
    return {};
}

// "host" or "host(address)": the address is where it listens.
std::string controller_address(const std::string& value) {
    const auto open = value.find('(');
    if (open == std::string::npos || value.back() != ')') return value;
    return value.substr(open + 1, value.size() - open - 2);
}

Result<uid_t> user_id(const std::string& name) {
    if (const auto number = parse_number<uid_t>(name)) return *number;
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return error("SlurmUser={}: no such user", name);
    return entry.pw_uid;
}

// "socket=PATH" among AuthInfo's options, which are separated by commas.
std::string auth_socket(const std::string& options) {
    constexpr std::string_view key = "socket=";
    for (std::size_t begin = 0; begin < options.size();) {
        const auto end = std::min(options.find(',', begin), options.size());
        const auto option = options.substr(begin, end - begin);
        if (option.starts_with(key)) return option.substr(key.size());
        begin = end + 1;
    }
    return {};
}

Result<std::uint16_t> listen_port(const std::filesystem::path& elastic_conf) {
    std::uint16_t port = kDefaultPort;
    if (!std::filesystem::exists(elastic_conf)) return port;
    std::vector<Setting> settings;
    if (auto fine = read_settings(elastic_conf, 0, settings); !fine) return fine.error();
    for (const auto& [key, value] : settings) {
        if (key != "listenport") continue;
        const auto number = parse_number<std::uint16_t>(value);
        if (!number || *number == 0)
            return error("{}: ListenPort={}: expected 1 to 65535", elastic_conf.string(), value);
        port = *number;
    }
    return port;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
    constexpr std::string_view uid_key = "uid=", munge_key = "munge=";
    const auto first = text.find(';');
    auto controllers = parse_controllers(text.substr(0, first));
    if (!controllers) return controllers.error();
    if (first == std::string_view::npos) return error("expected ;uid=N behind the controllers");

    text.remove_prefix(first + 1);
    const auto second = text.find(';');
    const auto uid_text = text.substr(0, second);
    const auto uid = uid_text.starts_with(uid_key)
                         ? parse_number<uid_t>(uid_text.substr(uid_key.size()))
                         : std::nullopt;
    if (!uid || *uid == std::numeric_limits<uid_t>::max())
        return error("'{}': expected uid=N", uid_text);

    Endpoint endpoint{std::move(*controllers), *uid, ""};
    if (second == std::string_view::npos) return endpoint;
    text.remove_prefix(second + 1);
    if (!text.starts_with(munge_key) || !text.substr(munge_key.size()).starts_with('/'))
        return error("'{}': expected munge=/PATH", text);
    endpoint.munge_socket = text.substr(munge_key.size());
    return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
    std::string text;
    for (const auto& controller : endpoint.controllers)
        text += (text.empty() ? "" : ",") + to_string(controller);
    text += fmt::format(";uid={}", endpoint.slurm_user);
    if (!endpoint.munge_socket.empty()) text += ";munge=" + endpoint.munge_socket;
    return text;
}

Result<Endpoint> endpoint_from_files(const std::string& slurm_conf) {
    std::vector<Setting> settings;
    if (auto fine = read_settings(slurm_conf, 0, settings); !fine) return fine.error();
    const auto port = listen_port(std::filesystem::path(slurm_conf).parent_path() / "elastic.conf");
    if (!port) return port.error();

    Endpoint endpoint;
    std::string user = "root";
    for (const auto& [key, value] : settings) {
        if (key == "slurmctldhost") {
            const auto host = controller_address(value);
            if (!is_host(host)) return error("{}: SlurmctldHost={}: no host", slurm_conf, value);
            if (endpoint.controllers.size() < kMaxControllers)
                endpoint.controllers.push_back({host, *port});
        } else if (key == "slurmuser") {
            user = value.substr(0, value.find('('));
        } else if (key == "authinfo") {
            endpoint.munge_socket = auth_socket(value);
        }
    }
    if (endpoint.controllers.empty()) return error("{}: no SlurmctldHost", slurm_conf);
    const auto uid = user_id(user);
    if (!uid) return error("{}: {}", slurm_conf, uid.error().message);
    endpoint.slurm_user = *uid;
    return endpoint;
}

Result<Endpoint> find_endpoint() {
    const auto text = environment("ELASTIC_CONTROLLER");
    auto endpoint =
        text ? parse_endpoint(*text)
             : endpoint_from_files(environment("SLURM_CONF").value_or("/etc/slurm/slurm.conf"));
    if (!endpoint && text) return error("ELASTIC_CONTROLLER: {}", endpoint.error().message);
    if (endpoint && endpoint->munge_socket.empty())
        endpoint->munge_socket = environment("MUNGE_SOCKET").value_or("");
    return endpoint;
}

}  // namespace elastic::protocol
