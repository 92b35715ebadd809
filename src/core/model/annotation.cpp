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

#include "common/record.hpp"
#include "common/text.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxPacketName = 64;
constexpr std::size_t kMaxProgram = 1024;
constexpr double kMaxSigma = 1000;
constexpr std::size_t kMaxStoredText = 65536;  // the JSON of the longest annotation, and to spare
constexpr Duration kMaxDuration = 365.0 * 86400;
constexpr std::size_t kMaxSteps = 1000;  // of a profile; more than the text has room for

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

constexpr std::string_view kMalleable = "malleable", kEvolving = "evolving";

// Jobs of a type need no class to be annotated.
bool begins_with_packet(std::string_view text) {
    return text.starts_with("packet=");
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

// Where a job starts, which a stored annotation of a running one need not say.
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

Result<void> check(const Annotation& a, const Source& source) {
    if (a.grace >= 0 && a.grace < kLeastGrace)
        return refuse("grace={} is less than {} s", a.grace, kLeastGrace);
    if (Result<void> done = check_range(a, source); !done) return done;
    if (Result<void> done = check_sizes(a, source); !done) return done;
    if (Result<void> done = check_profile(a, source); !done) return done;
    if (Result<void> done = check_price(a); !done) return done;
    return check_packet(a);
}

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

// ---- JSON -----------------------------------------------------------------------

constexpr int kFormat = 1;

// The class is two members.
struct Class {
    Json write(const Sizing& sizing) const { return Json(class_name(sizing)); }
    Result<void> read(const Json& json, Sizing& sizing) const {
        std::string name;
        if (Result<void> done = Text{kMaxAnnotation}.read(json, name); !done) return done;
        if (name == kRigid) return {};
        const Result<void> done = read_class(sizing, name);
        return done ? done : error(": {}", done.error().message);
    }
};

// A value that is kept in its text form.
template <auto reader>
struct Typed {
    template <class T>
    Json write(const T& value) const {
        return Json(text_of(value));
    }
    template <class T>
    Result<void> read(const Json& json, T& value) const {
        std::string text;
        if (Result<void> done = Text{kMaxAnnotation}.read(json, text); !done) return done;
        const Result<void> done = reader(value, text);
        return done ? done : error(": {}", done.error().message);
    }

  private:
    static std::string text_of(const SizeRule& rule) { return to_string(rule); }
    static std::string text_of(const SpeedupModel& model) {
        return fmt::format("{}:{}", model.a, model.b);  // downey
    }
    static std::string text_of(const std::string& name) { return name; }
    // A path may have an '@' of its own.
    static std::string text_of(const Initialisation& init) {
        const bool needs_time = init.time > 0 || init.program.find('@') != std::string::npos;
        return needs_time ? fmt::format("{}@{}", init.program, init.time) : init.program;
    }
};

// A model of speed-up that has one parameter, from 0 to 1.
struct Parameter {
    SpeedupModel::Kind kind;

    Json write(const SpeedupModel& model) const { return Json(model.a); }
    Result<void> read(const Json& json, SpeedupModel& model) const {
        model.kind = kind;
        return Number{0, 1}.read(json, model.a);
    }
};

constexpr Whole kNodes{1, kMaxNodes};
constexpr Number kSeconds{0, kMaxDuration}, kCost{0, kMaxCost};

Result<void> check_keys(const Json& json) {
    for (const std::string& name : json.keys()) {
        bool known = name == "elastic" || name == "class" ||
                     std::ranges::find(kKeys, name, &Key::name) != kKeys.end();
        if (!known) return refuse("unknown key '{}'", printable(name));
    }
    return {};
}

}  // namespace

template <class F>
void fields(F& f, ResizeCost& cost) {
    f.required("alpha", cost.alpha, kCost);
    f.required("beta", cost.beta, kCost);
    f.required("b", cost.b, kCost);
    f.optional("sync", cost.sync, kCost);
    f.optional("data", cost.data, Number{0, kMaxBytes});
    f.optional("rate", cost.rate, Number{0, kMaxRate});
}

template <class F>
void fields(F& f, EvolutionStep& step) {
    f.required("nodes", step.nodes, kNodes);
    f.required("seconds", step.duration, kSeconds);
}

template <class F>
void fields(F& f, Sizing& a) {
    using Kind = SpeedupModel::Kind;
    const auto is = [&](Kind kind) {
        return a.speedup.kind == kind && a.speedup != SpeedupModel{};
    };
    int format = kFormat;
    f.required("elastic", format, Whole{kFormat, kFormat});
    f.required("class", a, Class{});
    f.required("min", a.min, kNodes);
    f.required("pref", a.pref, kNodes);
    f.required("max", a.max, kNodes);
    f.optional("sizes", a.sizes, Typed<read_sizes>{});
    f.optional("gap", a.gap, kSeconds, -1);
    f.optional("price", a.price, Number{0, kMaxPrice}, -1);
    f.when(is(Kind::rho), "rho", a.speedup, Parameter{Kind::rho});
    f.when(is(Kind::power), "power", a.speedup, Parameter{Kind::power});
    f.when(is(Kind::overhead), "overhead", a.speedup, Parameter{Kind::overhead});
    f.when(is(Kind::downey), "downey", a.speedup, Typed<read_downey>{});
    f.optional("cost", a.cost);
    f.optional("profile", a.profile, List{});
}

template <class F>
void fields(F& f, Annotation& a) {
    fields(f, static_cast<Sizing&>(a));
    f.optional("grace", a.grace, kSeconds, -1);
    f.optional("packet", a.packet, Typed<read_packet>{});
    f.optional("init", a.init, Typed<read_init>{});
}

Duration ResizeCost::seconds(int from, int to) const {
    if (from == to) return 0;
    const int difference = std::abs(from - to);
    // Of its data a node that joins or leaves moves what it has when the job is large; one that
    // stays moves what it has more when the job is small.
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
    if (Result<void> done = check_first_step(annotation, source); !done) return done.error();
    if (Result<void> done = check(annotation, source); !done) return done.error();
    if (Result<void> done = check_one_size(annotation, source); !done) return done.error();
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

Result<void> check_time_limit(const Annotation& annotation, Duration limit, std::string_view of) {
    const Duration needed = length(annotation.profile);
    if (needed <= limit) return {};
    return refuse("profile takes {} s, more than the time limit of {} s{}{}", needed, limit,
                  of.empty() ? "" : " of ", printable(of));
}

Json to_json(const Annotation& a) {
    return write_record(a);
}

Json to_json(const Sizing& sizing) {
    return write_record(sizing);
}

Result<Annotation> annotation_from_json(const Json& json) {
    if (!json.is_object() || !json.has("elastic")) return refuse("not an annotation");
    if (json.get_int("elastic") != kFormat)
        return refuse("annotation of another format, not {}", kFormat);
    Annotation annotation;
    if (Result<void> done = check_keys(json); !done) return done.error();
    if (Result<void> done = read_record(json, annotation); !done)
        return refuse("{}", done.error().message);
    if (Result<void> done = check(annotation, Source{}); !done) return done.error();
    return annotation;
}

Result<Annotation> annotation_from_text(std::string_view admin_comment) {
    if (admin_comment.size() > kMaxStoredText) return refuse("not an annotation");
    Result<Json> json = Json::parse(admin_comment);
    if (!json) return refuse("not an annotation: {}", json.error().message);
    return annotation_from_json(*json);
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
