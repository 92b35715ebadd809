// SPDX-License-Identifier: MIT
// Allowed sizes of a job.
//
// Always holds: what largest() and smallest() return is 0 or allowed and inside the bounds asked
// for; both answer without a loop over sizes.
#include "common/sizes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "common/limits.hpp"
#include "common/text.hpp"

namespace elastic {

namespace {

int floor_power(int nodes) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes)));
}

Result<int> parse_size(std::string_view text) {
    std::optional<std::int64_t> number = parse_integer(text);
    if (!number || *number < 1 || *number > kMaxNodes) {
        return error("'{}' is no number of nodes from 1 to {}", printable(text), kMaxNodes);
    }
    return static_cast<int>(*number);
}

Result<SizeRule> parse_size_list(std::string_view text) {
    SizeRule rule;
    rule.kind = SizeRule::Kind::list;
    for (std::string_view part : split(text, ':')) {
        Result<int> size = parse_size(part);
        if (!size) return size.error();
        if (!rule.list.empty() && *size <= rule.list.back()) {
            return error("{} stands behind {}, but sizes must ascend", *size, rule.list.back());
        }
        rule.list.push_back(*size);
    }
    return rule;
}

}  // namespace

int SizeRule::largest_up_to(int high) const {
    switch (kind) {
        case Kind::any:
            return high;
        case Kind::power_of_two:
            return floor_power(high);
        case Kind::step:
            return high - high % step;
        case Kind::list: {
            auto above = std::ranges::upper_bound(list, high);
            return above == list.begin() ? 0 : above[-1];
        }
    }
    return 0;
}

// 0 if there is none that an int can hold.
int SizeRule::smallest_from(int low) const {
    constexpr int kLargestPower = 1 << 30;
    switch (kind) {
        case Kind::any:
            return low;
        case Kind::power_of_two:
            if (low > kLargestPower) return 0;
            return floor_power(low) == low ? low : 2 * floor_power(low);
        case Kind::step: {
            int below = low - low % step;
            if (below == low) return low;
            return below > std::numeric_limits<int>::max() - step ? 0 : below + step;
        }
        case Kind::list: {
            auto found = std::ranges::lower_bound(list, low);
            return found == list.end() ? 0 : *found;
        }
    }
    return 0;
}

Result<SizeRule> parse_size_rule(std::string_view text) {
    constexpr std::string_view kStep = "step:";
    SizeRule rule;
    if (text == "any") return rule;
    if (text == "pow2") {
        rule.kind = SizeRule::Kind::power_of_two;
        return rule;
    }
    if (!text.starts_with(kStep)) {
        if (text.find_first_not_of("0123456789:-+") != std::string_view::npos) {
            return error("must be any, pow2, step:K or a list such as 2:4:8");
        }
        return parse_size_list(text);
    }
    Result<int> step = parse_size(text.substr(kStep.size()));
    if (!step) return step.error();
    rule.kind = SizeRule::Kind::step;
    rule.step = *step;
    return rule;
}

std::string to_string(const SizeRule& rule) {
    switch (rule.kind) {
        case SizeRule::Kind::any:
            return "any";
        case SizeRule::Kind::power_of_two:
            return "pow2";
        case SizeRule::Kind::step:
            return fmt::format("step:{}", rule.step);
        case SizeRule::Kind::list:
            return fmt::format("{}", fmt::join(rule.list, ":"));
    }
    return "any";
}

}  // namespace elastic
