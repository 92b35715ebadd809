// SPDX-License-Identifier: MIT
// The rules between the values of an annotation, and those between an annotation and the cluster.
//
// Each rule is a function whose error names the key, the value, where the value came from and the
// limit.
#include "core/model/annotation/annotation_rules.hpp"

#include "common/text.hpp"
#include "core/model/annotation/annotation_values.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxSteps = 1000;  // of a profile; more than the text has room for

Result<void> check_range(const Annotation& a, const Source& source) {
    auto larger = [](std::string_view low, int a, std::string_view from_a, std::string_view high,
                     int b, std::string_view from_b) {
        return refuse("{}={}{} is larger than {}={}{}", low, a, from_a, high, b, from_b);
    };
    if (a.min > a.max) return larger("min", a.min, source.min, "max", a.max, source.max);
    if (a.min > a.pref) return larger("min", a.min, source.min, "pref", a.pref, source.pref);
    if (a.pref > a.max) return larger("pref", a.pref, source.pref, "max", a.max, source.max);
    if (a.max > kMaxNodes)
        return refuse("max={}{} is larger than {}", a.max, source.max, kMaxNodes);
    return {};
}

Result<void> check_sizes(const Annotation& a, const Source& source) {
    std::string rule = printable(to_string(a.sizes));
    if (a.sizes.kind == SizeRule::Kind::list) {
        if (a.sizes.list.front() < a.min) {
            return refuse("sizes={}: {} is smaller than min={}{}", rule, a.sizes.list.front(),
                          a.min, source.min);
        }
        if (a.sizes.list.back() > a.max) {
            return refuse("sizes={}: {} is larger than max={}{}", rule, a.sizes.list.back(), a.max,
                          source.max);
        }
    }
    if (a.sizes.smallest(a.min, a.max) == 0) {
        return refuse("sizes={} allows no size from min={}{} to max={}{}", rule, a.min, source.min,
                      a.max, source.max);
    }
    if (!a.sizes.allows(a.pref)) {
        return refuse("pref={}{} is not a size that sizes={} allows", a.pref, source.pref, rule);
    }
    return {};
}

Result<void> check_step(const Annotation& a, const EvolutionStep& step, const Source& source) {
    const std::string text = fmt::format("profile: {}@{}", step.nodes, step.duration);
    if (step.nodes < a.min) return refuse("{} is smaller than min={}{}", text, a.min, source.min);
    if (step.nodes > a.max) return refuse("{} is larger than max={}{}", text, a.max, source.max);
    if (!a.sizes.allows(step.nodes))
        return refuse("{} is not a size that sizes={} allows", text, printable(to_string(a.sizes)));
    if (step.duration <= 0) return refuse("{}: a step must last more than 0 s", text);
    return {};
}

Result<void> check_profile(const Annotation& a, const Source& source) {
    if (a.profile.empty()) return {};
    if (!a.evolving || a.malleable)
        return refuse(
            "profile needs the class evolving, and no other: the job's size is what it says");
    if (const auto steps = a.profile.size(); steps > kMaxSteps)
        return refuse("profile: {} steps, at most {} are allowed", steps, kMaxSteps);
    for (const EvolutionStep& step : a.profile)
        if (Result<void> done = check_step(a, step, source); !done) return done;
    if (length(a.profile) > kMaxDuration)
        return refuse("profile: {} s are more than a year", length(a.profile));
    return {};
}

Result<void> check_one_size(const Annotation& a, const Source& source) {
    if (a.malleable || a.evolving || a.min == a.max) return {};
    return refuse("min={}{} and max={}{} differ, but without a class the job has one size", a.min,
                  source.min, a.max, source.max);
}

Result<void> check_first_step(const Annotation& a, const Source& source) {
    if (a.profile.empty() || a.pref == a.profile.front().nodes) return {};
    return refuse("pref={}{} is not the {} nodes with which profile begins", a.pref, source.pref,
                  a.profile.front().nodes);
}

Result<void> check_price(const Annotation& a) {
    if (a.price < 0 || a.malleable) return {};
    return refuse("price needs the class malleable: a job of another leaves no nodes");
}

Result<void> check_packet(const Annotation& a) {
    if (a.packet.empty() && !a.init.program.empty()) return refuse("init needs packet");
    if (!a.packet.empty() && a.init.program.empty()) return refuse("packet needs init");
    return {};
}

}  // namespace

Result<void> check_annotation(const Annotation& a, const Source& source) {
    if (a.grace >= 0 && a.grace < kLeastGrace)
        return refuse("grace={} is less than {} s", a.grace, kLeastGrace);
    if (Result<void> done = check_range(a, source); !done) return done;
    if (Result<void> done = check_sizes(a, source); !done) return done;
    if (Result<void> done = check_profile(a, source); !done) return done;
    if (Result<void> done = check_price(a); !done) return done;
    return check_packet(a);
}

Result<void> check_submitted(const Annotation& a, const Source& source) {
    if (Result<void> done = check_first_step(a, source); !done) return done;
    if (Result<void> done = check_annotation(a, source); !done) return done;
    return check_one_size(a, source);
}

Result<void> check_against_partition(const Annotation& annotation, int partition_nodes,
                                     std::string_view partition) {
    if (annotation.max <= partition_nodes) return {};
    return refuse("max={} is larger than partition {}, which has {} nodes", annotation.max,
                  printable(partition), partition_nodes);
}

Result<void> check_grace(const Annotation& annotation, Duration max_grace) {
    if (annotation.grace <= max_grace) return {};
    return refuse("grace={} is more than {} s, the most that this site allows (MaxGraceTime)",
                  annotation.grace, max_grace);
}

Result<void> check_time_limit(const Annotation& annotation, Duration limit, std::string_view of) {
    const Duration needed = length(annotation.profile);
    if (needed <= limit) return {};
    return refuse("profile takes {} s, more than the time limit of {} s{}{}", needed, limit,
                  of.empty() ? "" : " of ", printable(of));
}

}  // namespace elastic::core
