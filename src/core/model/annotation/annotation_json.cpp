// SPDX-License-Identifier: MIT
// The form of an annotation that is kept: JSON, in the job's admin_comment.
//
// A value whose typed form is short (sizes, downey, packet, init) is kept as it is typed.
//
// Always holds: to_json and annotation_from_json are inverse, and nothing comes back from an
// admin_comment that could not have been submitted.
#include "common/record.hpp"
#include "common/text.hpp"
#include "core/model/annotation/annotation_rules.hpp"
#include "core/model/annotation/annotation_values.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxStoredText = 65536;  // the JSON of the longest annotation, and to spare
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
        const bool known = name == "elastic" || name == "class" || name == kSizesHad ||
                           name == kSiteComment || is_annotation_key(name);
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
    SpeedupModel declared = a.speedup;
    declared.believed = 1;  // which nobody declares
    const auto is = [&](Kind kind) { return a.speedup.kind == kind && declared != SpeedupModel{}; };
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
    if (Result<void> done = check_annotation(annotation, Source{}); !done) return done.error();
    return annotation;
}

Result<Annotation> annotation_from_text(std::string_view admin_comment) {
    if (admin_comment.size() > kMaxStoredText) return refuse("not an annotation");
    Result<Json> json = Json::parse(admin_comment);
    if (!json) return refuse("not an annotation: {}", json.error().message);
    return annotation_from_json(*json);
}

}  // namespace elastic::core
