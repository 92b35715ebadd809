// SPDX-License-Identifier: MIT
// An annotation's text, read key by key through one table, then completed from -N, then checked as
// a whole.
//
// Always holds for an Annotation returned from here: 1 <= min <= pref <= max <= kMaxNodes, pref is
// an allowed size, every listed size is in [min, max] and all numbers are finite.
#include "core/model/annotation/annotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/text.hpp"
#include "core/model/annotation/annotation_rules.hpp"
#include "core/model/annotation/annotation_values.hpp"

namespace elastic::core {

namespace {

// ---- keys -------------------------------------------------------------------

struct Key {
    std::string_view name;
    Result<void> (*read)(Annotation&, std::string_view value);
};

template <auto member, auto reader>
Result<void> into(Annotation& annotation, std::string_view value) {
    return reader(annotation.*member, value);
}

constexpr std::array kKeys{
    Key{"min", into<&Annotation::min, read_nodes>},
    Key{"pref", into<&Annotation::pref, read_nodes>},
    Key{"max", into<&Annotation::max, read_nodes>},
    Key{"sizes", into<&Annotation::sizes, read_sizes>},
    Key{"gap", into<&Annotation::gap, read_duration>},
    Key{"grace", into<&Annotation::grace, read_duration>},
    Key{"price", into<&Annotation::price, read_price>},
    Key{"rho", into<&Annotation::speedup, read_rho>},
    Key{"power", into<&Annotation::speedup, read_power>},
    Key{"overhead", into<&Annotation::speedup, read_overhead>},
    Key{"downey", into<&Annotation::speedup, read_downey>},
    Key{"cost", into<&Annotation::cost, read_cost>},
    Key{"data", into<&Annotation::cost, read_data>},
    Key{"profile", into<&Annotation::profile, read_profile>},
    Key{"packet", into<&Annotation::packet, read_packet>},
    Key{"init", into<&Annotation::init, read_init>},
};

std::string key_names() {
    std::string names;
    for (const Key& key : kKeys) {
        if (!names.empty()) names += ", ";
        names += key.name;
    }
    return names;
}

Result<void> read_key(Annotation& annotation, std::string_view entry,
                      std::set<std::string_view>& given) {
    if (entry.empty()) return refuse("a comma with nothing behind it");
    std::size_t equals = entry.find('=');
    std::string_view name = entry.substr(0, equals);
    auto key = std::ranges::find(kKeys, name, &Key::name);
    if (key == kKeys.end()) {
        return refuse("unknown key '{}', not one of {}", printable(name), key_names());
    }
    std::string_view value = equals == std::string_view::npos ? "" : entry.substr(equals + 1);
    if (value.empty()) return refuse("{} has no value", name);
    if (!given.insert(key->name).second) return refuse("{} is given twice", name);
    if (Result<void> done = key->read(annotation, value); !done) {
        return refuse("{}={}: {}", name, printable(value), done.error().message);
    }
    return {};
}
// Jobs of a type need no class to be annotated.
bool begins_with_packet(std::string_view text) {
    return text.starts_with("packet=");
}
// ---- what was not given -------------------------------------------------------

// The size that has room for what is needed; not an allowed one if none has.
int needed_size(const Annotation& a, const RequestedNodes& nodes) {
    const int size = a.sizes.smallest(nodes.needed, a.max > 0 ? a.max : kMaxNodes);
    return size > 0 ? size : nodes.needed;
}

// A profile names all sizes, so neither tasks nor -N say more than where it begins.
Source complete_by_profile(Annotation& a, const RequestedNodes& nodes) {
    Source source;
    const auto [least, most] =
        std::ranges::minmax(a.profile, {}, [](const EvolutionStep& step) { return step.nodes; });
    const std::string origin = " (from profile)";
    if (a.min == 0) {
        a.min = least.nodes;
        source.min = origin;
    }
    if (a.max == 0) {
        a.max = most.nodes;
        source.max = origin;
    }
    if (a.pref == 0) {
        a.pref = nodes.min > 0 ? nodes.min : a.profile.front().nodes;
        source.pref = nodes.min > 0 ? " (from -N)" : origin;
    }
    return source;
}

// Fills in what was not given; says where from.
Source complete(Annotation& a, const RequestedNodes& nodes) {
    if (!a.profile.empty()) return complete_by_profile(a, nodes);
    Source source;
    const bool requested = nodes.min > 0, one_size = requested && nodes.max <= nodes.min;
    const int needed = a.pref > 0 || one_size ? 0 : needed_size(a, nodes);
    const std::string origin = requested ? " (from -N)" : " (the default)";
    if (a.min == 0) {
        a.min = requested ? nodes.min : 1;
        source.min = origin;
    }
    if (a.max == 0) {
        a.max = requested ? std::max(nodes.max, nodes.min) : std::max({a.min, a.pref, needed});
        source.max = origin;
    }
    if (a.pref == 0) {
        int smallest = a.sizes.smallest(a.min, a.max);
        a.pref = requested ? nodes.min : std::max(smallest, a.min);
        source.pref = origin;
        if (needed > a.pref) {
            a.pref = needed;
            source.pref = fmt::format(" (from {})", nodes.needed_by);
        }
    }
    return source;
}

}  // namespace

Duration ResizeCost::seconds(int from, int to) const {
    if (from == to) return 0;
    const int difference = std::abs(from - to);
    // A node that joins or leaves moves its part of the data when the job is large; a node that
    // stays moves what it has in addition when the job is small.
    const double large = data / std::max({from, to, 1}),
                 small = data / std::max(1, std::min(from, to));
    const double moved = std::max(large, small - large);
    return alpha * difference + beta / (from + to) + b * difference + sync +
           moved / (rate > 0 ? std::max(rate, kMinRate) : kDefaultRate);
}

void set_link_bandwidth(Annotation& annotation, double bytes_a_second) {
    if (annotation.cost.data > 0 && annotation.cost.rate == 0)
        annotation.cost.rate = bytes_a_second;
}

bool is_annotation_key(std::string_view name) {
    return std::ranges::find(kKeys, name, &Key::name) != kKeys.end();
}

std::optional<std::string_view> annotation_in_comment(std::string_view comment) {
    if (!comment.starts_with(kCommentPrefix)) return std::nullopt;
    comment.remove_prefix(kCommentPrefix.size());
    const std::string_view name = comment.substr(0, comment.find_first_of("+,"));
    if (begins_with_packet(name)) return comment;
    if (name != kMalleable && name != kEvolving && name != kRigid) return std::nullopt;
    return comment;
}

Result<Annotation> parse_annotation(std::string_view text, RequestedNodes nodes) {
    if (text.size() > kMaxAnnotation) {
        return refuse("{} characters, at most {} are allowed", text.size(), kMaxAnnotation);
    }
    std::vector<std::string_view> entries = split(text, ',');
    Annotation annotation;
    std::set<std::string_view> given;
    const bool has_class = !begins_with_packet(entries[0]);
    if (has_class)
        if (Result<void> done = read_class(annotation, entries[0]); !done)
            return refuse("{}", done.error().message);
    for (std::size_t i = has_class ? 1 : 0; i < entries.size(); ++i) {
        if (Result<void> done = read_key(annotation, entries[i], given); !done) return done.error();
    }
    if (given.count("rho") + given.count("power") + given.count("overhead") +
            given.count("downey") >
        1)
        return refuse("only one of rho, power, overhead and downey can be given");
    Source source = complete(annotation, nodes);
    if (Result<void> done = check_submitted(annotation, source); !done) return done.error();
    return annotation;
}
bool Sizing::allows(int nodes) const {
    return min <= nodes && nodes <= max && sizes.allows(nodes);
}

std::string size_names(const Sizing& sizing) {
    return fmt::format("min={}, max={}, sizes={}", sizing.min, sizing.max, to_string(sizing.sizes));
}

std::string class_name(const Sizing& sizing) {
    if (sizing.malleable && sizing.evolving) return "malleable+evolving";
    if (sizing.malleable) return std::string(kMalleable);
    return std::string(sizing.evolving ? kEvolving : kRigid);
}

Duration rescale(Duration left, int from, int to, const Sizing& sizing) {
    if (!sizing.profile.empty()) return left;
    return rescale(left, from, to, sizing.speedup, sizing.pref);
}

}  // namespace elastic::core
