// SPDX-License-Identifier: MIT
// Finding the controller without asking Slurm's libraries.
//
// The library lives in applications, which must not link Slurm, so the few keys it needs are read
// from slurm.conf here.  elastic.conf is the administrator's, checked by the plugin; only its port
// matters here, so it is read as leniently.
//
// Always holds: an Endpoint handed out has at least one controller.
#include "protocol/endpoint.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "common/config_file.hpp"
#include "common/text.hpp"

namespace elastic::protocol {
namespace {

constexpr std::size_t kMaxText = 16 * 1024 * 1024;
constexpr int kMaxIncludes = 8;  // levels
constexpr std::size_t kMaxHostName = 255;

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return std::string(value);
}

template <class Int>
std::optional<Int> parse_within(std::string_view text, std::int64_t low, std::int64_t high) {
    const auto value = parse_integer(text);
    if (!value || *value < low || *value > high) return std::nullopt;
    return static_cast<Int>(*value);
}

// 2^32 - 1 is "no user".
std::optional<uid_t> parse_uid(std::string_view text) {
    return parse_within<uid_t>(text, 0, std::numeric_limits<uid_t>::max() - 1);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    return parse_within<std::uint16_t>(text, 1, std::numeric_limits<std::uint16_t>::max());
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
    if (colon == std::string_view::npos) return error("'{}': expected host:port", printable(text));
    auto host = text.substr(0, colon);
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) return error("'{}': expected a port from 1 to 65535", printable(text));
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (!is_host(host) || (!bracketed && host.find(':') != std::string_view::npos))
        return error("'{}': not a host name or address", printable(text));
    return HostPort{std::string(host), *port};
}

Result<std::vector<HostPort>> parse_controllers(std::string_view text) {
    std::vector<HostPort> controllers;
    for (const auto part : split(text, ',')) {
        auto controller = parse_host_port(part);
        if (!controller) return controller.error();
        if (controllers.size() == kMaxControllers)
            return error("more than {} controllers", kMaxControllers);
        controllers.push_back(std::move(*controller));
    }
    return controllers;
}

// The file named by a line "Include FILE".
std::optional<std::string> included_file(std::string_view line) {
    constexpr std::string_view keyword = "include";
    line = trim(line.substr(0, line.find('#')));
    const auto blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos || lower_case(line.substr(0, blank)) != keyword)
        return std::nullopt;
    return std::string(trim(line.substr(blank)));
}

// Appends the text of a file with those it includes in their places and split lines joined.
Result<void> read_text(const std::filesystem::path& path, int depth, std::string& text) {
    std::ifstream file(path);
    if (!file) return error("{}: {}", path.string(), std::strerror(errno));
    std::string line, piece;
    while (std::getline(file, piece)) {
        line += piece;
        if (line.size() + text.size() > kMaxText) return error("{}: too large", path.string());
        if (line.ends_with('\\')) {
            line.pop_back();
            continue;
        }
        if (const auto other = included_file(line)) {
            if (depth == kMaxIncludes) return error("{}: includes too deep", path.string());
            if (auto fine = read_text(path.parent_path() / *other, depth + 1, text); !fine)
                return fine;
        } else {
            text += line + '\n';
        }
        line.clear();
    }
    if (file.bad()) return error("{}: {}", path.string(), std::strerror(errno));  // a folder
    return {};
}

bool is_readable_file(const std::string& path) {
    std::error_code unknown;
    return ::access(path.c_str(), R_OK) == 0 && std::filesystem::is_regular_file(path, unknown);
}

Result<std::string> read_conf(const std::filesystem::path& path) {
    std::string text;
    if (auto fine = read_text(path, 0, text); !fine) return fine.error();
    return text;
}

// What stands last in the file holds.
std::string last_value(std::string_view text, std::string_view key, std::string_view fallback) {
    const auto values = slurm_conf_values(text, key);
    return values.empty() ? std::string(fallback) : values.back();
}

// "host" or "host(address)": the address is where it listens.
std::string controller_address(const std::string& value) {
    const auto open = value.find('(');
    if (open == std::string::npos || value.back() != ')') return value;
    return value.substr(open + 1, value.size() - open - 2);
}

Result<uid_t> user_id(const std::string& name) {
    if (const auto number = parse_uid(name)) return *number;
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return error("SlurmUser={}: no such user", name);
    return entry.pw_uid;
}

Result<std::uint16_t> listen_port(const std::filesystem::path& elastic_conf) {
    if (!std::filesystem::exists(elastic_conf)) return kDefaultPort;
    const auto text = read_conf(elastic_conf);
    if (!text) return error("{}; every user has to be able to read it", text.error().message);
    const auto value = last_value(*text, "ListenPort", std::to_string(kDefaultPort));
    const auto port = parse_port(value);
    if (!port) return error("{}: ListenPort={}: expected 1 to 65535", elastic_conf.string(), value);
    return *port;
}

std::string slurm_conf_path() {
    return environment("SLURM_CONF").value_or("/etc/slurm/slurm.conf");
}

// Behind its own: a job's environment is as old as the job, the files may say more by now.
void add_controllers_of_files(Endpoint& endpoint) {
    const auto files = endpoint_from_files(slurm_conf_path());
    if (!files || files->slurm_user != endpoint.slurm_user) return;
    auto& known = endpoint.controllers;
    for (const auto& at : files->controllers)
        if (known.size() < kMaxControllers &&
            std::find(known.begin(), known.end(), at) == known.end())
            known.push_back(at);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
    constexpr std::string_view uid_key = "uid=";
    const auto first = text.find(';');
    auto controllers = parse_controllers(text.substr(0, first));
    if (!controllers) return controllers.error();
    if (first == std::string_view::npos) return error("expected ;uid=N behind the controllers");

    text.remove_prefix(first + 1);
    const auto second = text.find(';');
    const auto uid_text = text.substr(0, second);
    const auto uid =
        uid_text.starts_with(uid_key) ? parse_uid(uid_text.substr(uid_key.size())) : std::nullopt;
    if (!uid) return error("'{}': expected uid=N", printable(uid_text));

    Endpoint endpoint{std::move(*controllers), *uid, {}};
    if (second == std::string_view::npos) return endpoint;
    text.remove_prefix(second + 1);
    const auto equals = std::min(text.find("=/"), text.size());
    const auto by = text.substr(0, equals), path = text.substr(equals);
    if (path.empty() || (by != "munge" && by != "slurm"))
        return error("'{}': expected munge=/PATH or slurm=/PATH", printable(text));
    if (by == "slurm") endpoint.authentication.by = Authentication::By::slurm;
    endpoint.authentication.socket = path.substr(1);
    return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
    std::string text;
    for (const auto& controller : endpoint.controllers)
        text += (text.empty() ? "" : ",") + to_string(controller);
    text += fmt::format(";uid={}", endpoint.slurm_user);
    const Authentication& authentication = endpoint.authentication;
    if (authentication.socket.empty()) return text;
    const bool by_slurm = authentication.by == Authentication::By::slurm;
    return text + (by_slurm ? ";slurm=" : ";munge=") + authentication.socket;
}

Result<Endpoint> endpoint_from_files(const std::string& slurm_conf) {
    const auto text = read_conf(slurm_conf);
    if (!text) return text.error();
    const auto port = listen_port(std::filesystem::path(slurm_conf).parent_path() / "elastic.conf");
    if (!port) return port.error();

    Endpoint endpoint;
    for (const auto& value : slurm_conf_values(*text, "SlurmctldHost")) {
        const auto host = controller_address(value);
        if (!is_host(host)) return error("{}: SlurmctldHost={}: no host", slurm_conf, value);
        if (endpoint.controllers.size() < kMaxControllers)
            endpoint.controllers.push_back({host, *port});
    }
    if (endpoint.controllers.empty())
        return error("{}: no SlurmctldHost; SLURM_CONF can name another file", slurm_conf);

    const auto user = last_value(*text, "SlurmUser", "root");
    const auto uid = user_id(user.substr(0, user.find('(')));  // name(uid)
    if (!uid) return error("{}: {}", slurm_conf, uid.error().message);
    endpoint.slurm_user = *uid;
    endpoint.authentication =
        authentication_of(last_value(*text, "AuthType", ""), last_value(*text, "AuthInfo", ""),
                          kiosk_of_cluster(last_value(*text, "ClusterName", "")));
    return endpoint;
}

Result<Endpoint> find_endpoint() {
    const auto text = environment("ELASTIC_CONTROLLER");
    auto endpoint = text ? parse_endpoint(*text) : endpoint_from_files(slurm_conf_path());
    if (!endpoint && text) return error("ELASTIC_CONTROLLER: {}", endpoint.error().message);
    if (!endpoint && !is_readable_file(slurm_conf_path()))
        return error("{}; SLURM_CONF can name another file", endpoint.error().message);
    if (text) add_controllers_of_files(*endpoint);
    if (endpoint && endpoint->authentication == Authentication{})
        endpoint->authentication.socket = environment("MUNGE_SOCKET").value_or("");
    return endpoint;
}

}  // namespace elastic::protocol
