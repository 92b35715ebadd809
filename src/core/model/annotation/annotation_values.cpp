// SPDX-License-Identifier: MIT
// The values of an annotation's keys, one function for each form.
//
// They know nothing of each other: what goes together is annotation_rules.cpp's.
//
// Always holds: all numbers that are read are finite and within the limits that the error names.
#include "core/model/annotation/annotation_values.hpp"

#include <array>

#include "common/text.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxPacketName = 64;
constexpr std::size_t kMaxProgram = 1024;
constexpr double kMaxSigma = 1000;

Result<void> read_number(double& place, std::string_view text, double high) {
    std::optional<double> number = parse_number(text);
    if (!number || *number < 0 || *number > high)
        return error("must be a number from 0 to {}", high);
    place = *number;
    return {};
}

Result<void> check_packet_name(std::string_view name) {
    constexpr std::string_view kCharacters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    if (name.empty() || name.size() > kMaxPacketName ||
        name.find_first_not_of(kCharacters) != std::string_view::npos) {
        return error("must be 1 to {} letters, digits, '_', '.' or '-'", kMaxPacketName);
    }
    return {};
}

}  // namespace

Result<void> read_nodes(int& place, std::string_view text) {
    std::optional<std::int64_t> number = parse_integer(text);
    if (!number || *number < 1 || *number > kMaxNodes) {
        return error("must be a number of nodes from 1 to {}", kMaxNodes);
    }
    place = static_cast<int>(*number);
    return {};
}

Result<void> read_duration(Duration& place, std::string_view text) {
    Result<Duration> duration = parse_duration(text);
    if (!duration) return duration.error();
    place = *duration;
    return {};
}

Result<void> read_price(double& place, std::string_view text) {
    return read_number(place, text, kMaxPrice);
}

Result<void> read_rho(SpeedupModel& place, std::string_view text) {
    place.kind = SpeedupModel::Kind::rho;
    return read_number(place.a, text, 1);
}

Result<void> read_power(SpeedupModel& place, std::string_view text) {
    place.kind = SpeedupModel::Kind::power;
    return read_number(place.a, text, 1);
}

Result<void> read_overhead(SpeedupModel& place, std::string_view text) {
    place.kind = SpeedupModel::Kind::overhead;
    return read_number(place.a, text, 1);
}

Result<void> read_downey(SpeedupModel& place, std::string_view text) {
    place.kind = SpeedupModel::Kind::downey;
    const std::vector<std::string_view> parts = split(text, ':');
    const auto form = [] {
        return error("must be A:sigma, A from 1 to {}, sigma from 0 to {}", kMaxNodes, kMaxSigma);
    };
    if (parts.size() != 2 || !read_number(place.a, parts[0], kMaxNodes) ||
        !read_number(place.b, parts[1], kMaxSigma) || place.a < 1)
        return form();
    return {};
}

Result<void> read_sizes(SizeRule& place, std::string_view text) {
    Result<SizeRule> rule = parse_size_rule(text);
    if (!rule) return rule.error();
    place = std::move(*rule);
    return {};
}

Result<void> read_cost(ResizeCost& place, std::string_view text) {
    std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() != 3 && parts.size() != 4)
        return error("must be alpha:beta:b or alpha:beta:b:sync, numbers of seconds");
    std::array targets{&place.alpha, &place.beta, &place.b, &place.sync};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (Result<void> done = read_number(*targets[i], parts[i], kMaxCost); !done) return done;
    }
    return {};
}

Result<void> read_data(ResizeCost& place, std::string_view text) {
    const std::size_t at = text.find('@');
    const std::optional<double> data = parse_bytes(text.substr(0, at));
    const std::optional<double> rate = at == text.npos ? 0 : parse_bytes(text.substr(at + 1));
    if (!data || *data > kMaxBytes)
        return error("must be BYTES or BYTES@BYTES_PER_SECOND, as in 200G@10G, up to 1000P");
    if (!rate || (at != text.npos && (*rate < kMinRate || *rate > kMaxRate)))
        return error("must be BYTES@BYTES_PER_SECOND with a rate from 1K to 1P");
    place.data = *data;
    place.rate = *rate;
    return {};
}

Result<void> read_profile(EvolutionProfile& place, std::string_view text) {
    for (std::string_view part : split(text, '+')) {
        std::size_t at = part.find('@');
        if (at == std::string_view::npos) {
            return error("'{}' is not of the form NODES@SECONDS", printable(part));
        }
        EvolutionStep step;
        if (Result<void> done = read_nodes(step.nodes, part.substr(0, at)); !done) return done;
        if (Result<void> done = read_duration(step.duration, part.substr(at + 1)); !done)
            return done;
        place.push_back(step);
    }
    return {};
}

Result<void> read_packet(std::string& place, std::string_view text) {
    place = text;
    return check_packet_name(text);
}

Result<void> read_init(Initialisation& place, std::string_view text) {
    const std::size_t at = text.rfind('@');
    place.program = text.substr(0, at);
    if (place.program.empty() || place.program.size() > kMaxProgram ||
        printable(place.program, kMaxProgram) != place.program)
        return error("must be PROGRAM or PROGRAM@TIME, a path of at most {} printable characters",
                     kMaxProgram);
    if (at == text.npos) return {};
    return read_duration(place.time, text.substr(at + 1));
}

Result<void> read_class(Sizing& sizing, std::string_view text) {
    constexpr std::string_view kClasses = "malleable, evolving or malleable+evolving";
    if (text.empty()) return error("the class is missing: {}", kClasses);
    for (std::string_view name : split(text, '+')) {
        if (name == kRigid) return error("rigid goes with no other class and with no key");
        bool malleable = name == kMalleable;
        if (!malleable && name != kEvolving) {
            return error("unknown class '{}', not {}", printable(name), kClasses);
        }
        bool& flag = malleable ? sizing.malleable : sizing.evolving;
        if (flag) return error("class {} is given twice", name);
        flag = true;
    }
    return {};
}

}  // namespace elastic::core
