// SPDX-License-Identifier: MIT
// What the options of a workload mean, and which values they may have.  Errors name the option.
#include <algorithm>
#include <array>
#include <utility>

#include "common/text.hpp"
#include "simulator/check_option.hpp"
#include "simulator/make_workload.hpp"

namespace elastic::simulator {

namespace {

bool is_within(const Range& range, double low, double high) {
    return low <= range.low && range.low <= range.high && range.high <= high;
}

Result<void> check_parameter(const ElasticModel& model) {
    using Kind = core::SpeedupModel::Kind;
    switch (model.speedup) {
        case Kind::rho:
        case Kind::power:
            return check_option(is_within(model.parameter, 0, 1), "--rho",
                                "LO:HI with 0 <= LO <= HI <= 1");
        case Kind::overhead:
            return check_option(is_within(model.parameter, 0, 1), "overhead",
                                "a range within 0 to 1");
        case Kind::downey:
            return check_option(is_within(model.parameter, 0, kMaxNodes), "downey",
                                "a range from 0");
    }
    return {};
}

Result<void> check_model(const ElasticModel& model) {
    constexpr double kMost = core::kMaxCost;
    const std::pair<const char*, const Range*> costs[] = {{"alpha", &model.alpha},
                                                          {"beta", &model.beta},
                                                          {"b", &model.b},
                                                          {"sync", &model.sync},
                                                          {"negotiation", &model.negotiation},
                                                          {"sigma", &model.sigma}};
    for (const auto& [name, range] : costs) {
        if (auto ok =
                check_option(is_within(*range, 0, kMost), name, "a range within 0 to 1000000");
            !ok) {
            return ok;
        }
    }
    const bool events =
        0 <= model.min_events && model.min_events <= model.max_events && model.max_events <= 1000;
    return first_error(
        {check_parameter(model),
         check_option(model.cost_factor >= 0 && model.cost_factor <= kMost, "--cost-factor",
                      "within 0 to 1000000"),
         check_option(model.rho_error >= 0 && model.rho_error <= 1, "rho error", "within 0 to 1"),
         check_option(events, "events", "a range within 0 to 1000"),
         check_option(model.growth >= 0 && model.growth <= 1, "growth", "within 0 to 1"),
         check_option(is_within(model.work_left, 0, 1), "work left", "a range within 0 to 1")});
}

}  // namespace

Result<void> check_workload_options(const WorkloadOptions& o) {
    constexpr double kMostFactor = 1e9;
    const bool factors = 0 <= o.min_factor && o.min_factor <= o.max_factor && 0 < o.max_factor &&
                         o.max_factor <= kMostFactor;
    return first_error(
        {check_option(o.nodes >= 0 && o.nodes <= kMaxNodes, "--nodes", "within 1 to 1000000"),
         check_option(o.procs_per_node >= 0 && o.procs_per_node <= kMaxNodes, "--procs-per-node",
                      "within 1 to 1000000"),
         check_option(o.jobs >= 0, "--jobs", "at least 1"),
         check_option(o.skip >= 0, "--skip", "at least 0"),
         check_option(o.scale_arrival > 0 && o.scale_arrival <= 1e6, "--scale-arrival",
                      "more than 0 and at most 1000000"),
         check_option(
             o.limit_error.low > 0 && is_within(o.limit_error, kLimitErrors.low, kLimitErrors.high),
             "--limit-error", "LO:HI with 0.001 <= LO <= HI <= 1000"),
         check_option(o.elastic >= 0 && o.elastic <= 100, "--elastic", "within 0 to 100"),
         check_option(o.evolving_share >= 0 && o.evolving_share <= 1, "--evolving-share",
                      "within 0 to 1"),
         check_option(factors, "--min-factor, --max-factor", "0 <= MIN <= MAX, MAX more than 0"),
         check_option(o.pref_factor > 0 && o.pref_factor <= kMostFactor, "--pref-factor",
                      "more than 0"),
         check_model(o.model)});
}

ElasticModel mebf_model(Range rho, double cost_factor, core::SpeedupModel::Kind rho_model) {
    ElasticModel model;
    model.speedup = core::SpeedupModel::Kind::rho;
    model.rho_model = rho_model;
    model.parameter = rho;
    model.normal = true;
    model.sync = model.negotiation = {};
    model.cost_factor = cost_factor;
    return model;
}

std::optional<core::SpeedupModel::Kind> rho_model(std::string_view name) {
    if (name == "amdahl") return core::SpeedupModel::Kind::rho;
    if (name == "power") return core::SpeedupModel::Kind::power;
    return std::nullopt;
}

std::vector<std::string> rho_model_names() {
    return {"amdahl", "power"};
}

Result<core::SpeedupModel> parse_truth(std::string_view text) {
    constexpr std::array<std::string_view, 4> kModels{"rho", "power", "overhead", "downey"};
    if (text == "linear") return core::SpeedupModel{};
    const std::string_view key = text.substr(0, text.find('='));
    const bool known = std::ranges::count(kModels, key) > 0;
    if (!known || text.find(',') != std::string_view::npos)
        return error("'{}' is none of linear, rho=R, power=R, overhead=X, downey=A:SIGMA",
                     printable(text));
    const auto annotation = core::parse_annotation(fmt::format("malleable,{}", text), {1, 1});
    if (!annotation) return annotation.error();
    return annotation->speedup;
}

Result<Precedence> parse_precedence(std::string_view text) {
    constexpr int kMostLevels = 1000;
    const std::size_t colon = text.find(':');
    const auto rule = parse_type_rule(text.substr(0, colon));
    if (!rule) return rule.error();
    if (rule->size() != 1 || colon == std::string_view::npos)
        return error("'{}' is not FIELD:VALUE=LEVEL,..., as queue:2=1", printable(text));
    Precedence precedence{rule->front(), {}};
    for (const std::string_view part : split(text.substr(colon + 1), ',')) {
        const std::size_t sign = part.rfind('=');
        const auto level = sign == std::string_view::npos
                               ? std::nullopt
                               : parse_integer(trim(part.substr(sign + 1)));
        if (!level || *level < 1 || *level > kMostLevels)
            return error("'{}' is not VALUE=LEVEL with a level of 1 to {}", printable(part),
                         kMostLevels);
        const std::string value(trim(part.substr(0, sign)));
        if (!precedence.levels.emplace(value, static_cast<int>(*level)).second)
            return error("{} stands twice", printable(value));
    }
    return precedence;
}

}  // namespace elastic::simulator
