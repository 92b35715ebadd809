// SPDX-License-Identifier: MIT
// The annotation's two forms: what people type, and the JSON that is kept.
//
// The text is read key by key through one table, then completed from -N, then
// checked as a whole; the JSON goes through the same check, so nothing can come
// back from an admin_comment that could not have been submitted.
//
// Always holds for an Annotation returned from here: 1 <= min <= pref <= max
// <= kMaxNodes, pref is an allowed size, every listed size is in [min, max], all
// numbers are finite, and to_json and annotation_from_json are inverse.
#include "core/model/annotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/text.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxPacketName = 64;
constexpr double kMaxSigma = 1000;
constexpr std::size_t kMaxStoredText = 65536;  // the JSON of the longest annotation, and to spare
constexpr Duration kMaxDuration = 365.0 * 86400;

template <class... Args>
Error refuse(fmt::format_string<Args...> format, Args&&... args) {
    return Error{"elastic: " + fmt::format(format, std::forward<Args>(args)...)};
}

// ---- values -----------------------------------------------------------------
// Each reads one value into its place; an error is what follows "KEY=VALUE: ".

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

Result<void> read_number(double& place, std::string_view text, double high) {
    std::optional<double> number = parse_number(text);
    if (!number || *number < 0 || *number > high)
        return error("must be a number from 0 to {}", high);
    place = *number;
    return {};
}

Result<void> read_rho(SpeedupModel& place, std::string_view text) {
    place.kind = SpeedupModel::Kind::rho;
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

Result<void> read_profile(std::vector<ProfileStep>& place, std::string_view text) {
    for (std::string_view part : split(text, '+')) {
        std::size_t at = part.find('@');
        if (at == std::string_view::npos) {
            return error("'{}' is not of the form NODES@SECONDS", printable(part));
        }
        ProfileStep step;
        if (Result<void> done = read_nodes(step.nodes, part.substr(0, at)); !done) return done;
        if (Result<void> done = read_duration(step.at, part.substr(at + 1)); !done) return done;
        place.push_back(step);
    }
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

Result<void> read_packet(std::string& place, std::string_view text) {
    place = text;
    return check_packet_name(text);
}

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
    Key{"rho", into<&Annotation::speedup, read_rho>},
    Key{"overhead", into<&Annotation::speedup, read_overhead>},
    Key{"downey", into<&Annotation::speedup, read_downey>},
    Key{"cost", into<&Annotation::cost, read_cost>},
    Key{"profile", into<&Annotation::profile, read_profile>},
    Key{"packet", into<&Annotation::packet, read_packet>},
    Key{"init", into<&Annotation::init, read_duration>},
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

constexpr std::string_view kMalleable = "malleable", kEvolving = "evolving";

Result<void> read_class(Annotation& annotation, std::string_view text) {
    constexpr std::string_view kClasses = "malleable, evolving or malleable+evolving";
    if (text.empty()) return refuse("the class is missing: {}", kClasses);
    for (std::string_view name : split(text, '+')) {
        if (name == kRigid) return refuse("rigid goes with no other class and with no key");
        bool malleable = name == kMalleable;
        if (!malleable && name != kEvolving) {
            return refuse("unknown class '{}', not {}", printable(name), kClasses);
        }
        bool& flag = malleable ? annotation.malleable : annotation.evolving;
        if (flag) return refuse("class {} is given twice", name);
        flag = true;
    }
    return {};
}

// ---- the whole ----------------------------------------------------------------

// Where a bound was not typed but taken from -N, the message must say so.
struct Source {
    std::string min, pref, max;
};

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

Result<void> check_profile(const Annotation& a) {
    if (!a.profile.empty() && !a.evolving) return refuse("profile needs the class evolving");
    const ProfileStep* before = nullptr;
    for (const ProfileStep& step : a.profile) {
        std::string text = fmt::format("profile: {}@{}", step.nodes, step.at);
        if (step.nodes < a.min) return refuse("{} is smaller than min={}", text, a.min);
        if (step.nodes > a.max) return refuse("{} is larger than max={}", text, a.max);
        if (!a.sizes.allows(step.nodes)) {
            return refuse("{} is not a size that sizes={} allows", text,
                          printable(to_string(a.sizes)));
        }
        if (before && step.at <= before->at) {
            return refuse("{} does not come after {}@{}, but times must ascend", text,
                          before->nodes, before->at);
        }
        before = &step;
    }
    return {};
}

Result<void> check(const Annotation& a, const Source& source) {
    if (a.grace >= 0 && a.grace < kLeastGrace)
        return refuse("grace={} is less than {} s", a.grace, kLeastGrace);
    if (Result<void> done = check_range(a, source); !done) return done;
    if (Result<void> done = check_sizes(a, source); !done) return done;
    if (Result<void> done = check_profile(a); !done) return done;
    if (a.init > 0 && a.packet.empty()) return refuse("init needs packet");
    return {};
}

// The size that has room for what is needed; not an allowed one if none has.
int needed_size(const Annotation& a, const RequestedNodes& nodes) {
    const int size = a.sizes.smallest(nodes.needed, a.max > 0 ? a.max : kMaxNodes);
    return size > 0 ? size : nodes.needed;
}

// Fills in what was not given; says where from.
Source complete(Annotation& a, const RequestedNodes& nodes) {
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

// ---- JSON -----------------------------------------------------------------------

constexpr int kFormat = 1;

Json profile_to_json(const std::vector<ProfileStep>& profile) {
    Json list = Json::array();
    for (const ProfileStep& step : profile) {
        list.push(Json::object().set("nodes", step.nodes).set("at", step.at));
    }
    return list;
}

void speedup_to_json(const SpeedupModel& model, Json& json) {
    if (model == SpeedupModel{}) return;
    switch (model.kind) {
        case SpeedupModel::Kind::rho:
            json.set("rho", model.a);
            break;
        case SpeedupModel::Kind::overhead:
            json.set("overhead", model.a);
            break;
        case SpeedupModel::Kind::downey:
            json.set("downey", fmt::format("{}:{}", model.a, model.b));
            break;
    }
}

// Reads members of an object one after the other; remembers the first error.
class Reader {
  public:
    explicit Reader(const Json& json) : json_(json) {}

    void nodes(std::string_view key, int& place) {
        store(json_.need_int(key, 1, kMaxNodes), place);
    }
    void number(std::string_view key, double& place, double high) {
        store(json_.need_number(key, 0, high), place);
    }
    void number_if_there(std::string_view key, double& place, double high) {
        if (json_.has(key)) number(key, place, high);
    }
    // The text of a key, "" without one.
    std::string text(std::string_view key) {
        std::string value;
        if (json_.has(key)) store(json_.need_string(key, kMaxAnnotation), value);
        return value;
    }
    // For values that are kept in the text form.
    void value(std::string_view key, const Result<void>& result) {
        if (!result) fail(fmt::format("{}: {}", key, result.error().message));
    }
    void fail(std::string message) {
        if (!error_) error_ = Error{std::move(message)};
    }
    // An error names key, value and limit, without "elastic: ".
    Result<void> result() const { return error_ ? Result<void>(*error_) : Result<void>(); }

  private:
    template <class From, class To>
    void store(const Result<From>& result, To& place) {
        if (result) {
            place = static_cast<To>(*result);
        } else {
            fail(result.error().message);
        }
    }

    const Json& json_;
    std::optional<Error> error_;
};

Result<void> check_keys(const Json& json) {
    for (const std::string& name : json.keys()) {
        bool known = name == "elastic" || name == "class" ||
                     std::ranges::find(kKeys, name, &Key::name) != kKeys.end();
        if (!known) return refuse("unknown key '{}'", printable(name));
    }
    return {};
}

Result<void> class_from_json(Annotation& annotation, const Json& json) {
    Result<std::string> name = json.need_string("class", kMaxAnnotation);
    if (!name) return refuse("{}", name.error().message);
    if (*name == class_name(Annotation{})) return {};
    return read_class(annotation, *name);
}

Result<void> profile_from_json(std::vector<ProfileStep>& profile, const Json& list) {
    if (!list.is_array()) return refuse("profile must be an array");
    if (list.size() > kMaxAnnotation) return refuse("profile has {} steps", list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        Json item = list.at(i);
        Reader reader(item);
        ProfileStep step;
        reader.nodes("nodes", step.nodes);
        reader.number("at", step.at, kMaxDuration);
        if (Result<void> done = reader.result(); !done) {
            return refuse("profile: step {}: {}", i + 1, done.error().message);
        }
        profile.push_back(step);
    }
    return {};
}

Result<void> members_from_json(Annotation& a, const Json& json) {
    Reader reader(json);
    reader.nodes("min", a.min);
    reader.nodes("pref", a.pref);
    reader.nodes("max", a.max);
    if (json.has("sizes")) reader.value("sizes", read_sizes(a.sizes, reader.text("sizes")));
    reader.number_if_there("gap", a.gap, kMaxDuration);
    reader.number_if_there("grace", a.grace, kMaxDuration);
    if (json.has("rho")) reader.number("rho", a.speedup.a, 1);
    if (json.has("overhead")) {
        a.speedup.kind = SpeedupModel::Kind::overhead;
        reader.number("overhead", a.speedup.a, 1);
    }
    if (json.has("downey")) reader.value("downey", read_downey(a.speedup, reader.text("downey")));
    if (json.has("packet")) reader.value("packet", read_packet(a.packet, reader.text("packet")));
    reader.number_if_there("init", a.init, kMaxDuration);
    if (json.has("cost")) {
        Json cost = json.get("cost");
        Reader parts(cost);
        parts.number("alpha", a.cost.alpha, kMaxCost);
        parts.number("beta", a.cost.beta, kMaxCost);
        parts.number("b", a.cost.b, kMaxCost);
        parts.number_if_there("sync", a.cost.sync, kMaxCost);
        reader.value("cost", parts.result());
    }
    if (Result<void> done = reader.result(); !done) return refuse("{}", done.error().message);
    return {};
}

}  // namespace

Duration ResizeCost::seconds(int from, int to) const {
    int involved = from + to;
    int difference = std::abs(from - to);
    if (difference == 0) return 0;
    return alpha * difference + beta / involved + b * difference + sync;
}

std::optional<std::string_view> annotation_in_comment(std::string_view comment) {
    if (!comment.starts_with(kCommentPrefix)) return std::nullopt;
    comment.remove_prefix(kCommentPrefix.size());
    const std::string_view name = comment.substr(0, comment.find_first_of("+,"));
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
    if (Result<void> done = read_class(annotation, entries[0]); !done) return done.error();
    for (std::size_t i = 1; i < entries.size(); ++i) {
        if (Result<void> done = read_key(annotation, entries[i], given); !done) return done.error();
    }
    if (given.count("rho") + given.count("overhead") + given.count("downey") > 1)
        return refuse("only one of rho, overhead and downey can be given");
    Source source = complete(annotation, nodes);
    if (Result<void> done = check(annotation, source); !done) return done.error();
    return annotation;
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

Json to_json(const Annotation& a) {
    const Annotation standard;
    Json json = Json::object();
    json.set("elastic", kFormat).set("class", class_name(a));
    json.set("min", a.min).set("pref", a.pref).set("max", a.max);
    if (a.sizes != standard.sizes) json.set("sizes", to_string(a.sizes));
    if (a.gap != standard.gap) json.set("gap", a.gap);
    if (a.grace != standard.grace) json.set("grace", a.grace);
    speedup_to_json(a.speedup, json);
    if (a.cost != standard.cost) {
        Json cost = Json::object();
        cost.set("alpha", a.cost.alpha).set("beta", a.cost.beta).set("b", a.cost.b);
        if (a.cost.sync > 0) cost.set("sync", a.cost.sync);
        json.set("cost", std::move(cost));
    }
    if (!a.profile.empty()) json.set("profile", profile_to_json(a.profile));
    if (!a.packet.empty()) json.set("packet", a.packet);
    if (a.init != standard.init) json.set("init", a.init);
    return json;
}

Result<Annotation> annotation_from_json(const Json& json) {
    if (!json.is_object() || !json.has("elastic")) return refuse("not an annotation");
    if (json.get_int("elastic") != kFormat) {
        return refuse("annotation of another format, not {}", kFormat);
    }
    Annotation annotation;
    if (Result<void> done = check_keys(json); !done) return done.error();
    if (Result<void> done = class_from_json(annotation, json); !done) return done.error();
    if (Result<void> done = members_from_json(annotation, json); !done) return done.error();
    if (json.has("profile")) {
        Result<void> done = profile_from_json(annotation.profile, json.get("profile"));
        if (!done) return done.error();
    }
    if (Result<void> done = check(annotation, Source{}); !done) return done.error();
    return annotation;
}

Result<Annotation> annotation_from_text(std::string_view admin_comment) {
    if (admin_comment.size() > kMaxStoredText) return refuse("not an annotation");
    Result<Json> json = Json::parse(admin_comment);
    if (!json) return refuse("not an annotation: {}", json.error().message);
    return annotation_from_json(*json);
}

bool Annotation::allows(int nodes) const {
    return min <= nodes && nodes <= max && sizes.allows(nodes);
}

std::string size_names(const Annotation& annotation) {
    return fmt::format("min={}, max={}, sizes={}", annotation.min, annotation.max,
                       to_string(annotation.sizes));
}

std::string class_name(const Annotation& annotation) {
    if (annotation.malleable && annotation.evolving) return "malleable+evolving";
    if (annotation.malleable) return std::string(kMalleable);
    return std::string(annotation.evolving ? kEvolving : kRigid);
}

Duration rescale(Duration left, int from, int to, const Annotation& annotation) {
    return rescale(left, from, to, annotation.speedup, annotation.pref);
}

}  // namespace elastic::core
