// SPDX-License-Identifier: MIT
// The advice as JSON, field by field.
#include <string>
#include <vector>

#include "studies/advice/page.hpp"

namespace elastic::studies {
namespace {

Json to_json(const Group& g) {
    return Json::object()
        .set("name", g.name)
        .set("jobs", g.jobs)
        .set("easy", g.easy)
        .set("recommended", g.recommended)
        .set("delayed", g.delayed);
}

Json to_json(const Ranking& r) {
    return Json::object()
        .set("policy", r.policy)
        .set("gain", r.gain)
        .set("worst_gain", r.worst_gain)
        .set("cases", r.conditions)
        .set("worse_in", r.worse)
        .set("longest_wait", r.longest_wait)
        .set("longest_delay", r.longest_delay);
}

Json to_json(const Standing& s) {
    return Json::object()
        .set("policy", s.policy)
        .set("share", s.share)
        .set("cost_factor", s.cost_factor)
        .set("gain", s.gain.mean)
        .set("error", s.gain.error)
        .set("worst_seed", s.worst)
        .set("turnaround", s.mean.turnaround)
        .set("bounded_slowdown", s.mean.slowdown)
        .set("wait", s.mean.wait)
        .set("p99_wait", s.mean.p99_wait)
        .set("longest_wait", s.longest_wait)
        .set("rigid_turnaround", s.mean.rigid_turnaround)
        .set("useful_utilisation", s.mean.useful_utilisation)
        .set("work_done", s.mean.work_done)
        .set("longer", s.mean.longer)
        .set("mean_longer", s.mean.mean_longer)
        .set("promised_starts_missed", s.mean.missed)
        .set("delayed", s.mean.delayed)
        .set("longest_delay", s.longest_delay)
        .set("of_a_sample", s.is_sampled);
}

Json to_json(const Basis& b) {
    return Json::object()
        .set("finished", b.is_finished)
        .set("jobs", b.jobs)
        .set("stretches", static_cast<std::int64_t>(b.stretches))
        .set("of", static_cast<std::int64_t>(b.of))
        .set("stretch", b.stretch)
        .set("easy_wait", b.wait)
        .set("whole", b.whole)
        .set("cases", b.conditions)
        .set("error", b.error);
}

Json to_json(const Course& c) {
    Json used = Json::array(), waiting = Json::array();
    for (const double share : c.used) used.push(share);
    for (const double jobs : c.waiting) waiting.push(jobs);
    return Json::object().set("used", used).set("waiting", waiting);
}

Json to_json(const OverTime& t) {
    return Json::object()
        .set("part", t.part)
        .set("easy", to_json(t.easy))
        .set("recommended", to_json(t.recommended));
}

Json to_json(const Assumption& a) {
    return Json::object()
        .set("if", a.text)
        .set("options", a.options)
        .set("easy", a.easy)
        .set("gain", a.gain.mean)
        .set("error", a.gain.error)
        .set("best", a.best)
        .set("best_gain", a.best_gain);
}

Json to_json(const CalibratedGain& g) {
    return Json::object()
        .set("policy", g.policy)
        .set("gain_as_logged", g.as_logged.mean)
        .set("gain_calibrated", g.scaled.mean)
        .set("error", g.scaled.error);
}

template <class Row>
Json list(const std::vector<Row>& rows) {
    Json json = Json::array();
    for (const Row& row : rows) json.push(to_json(row));
    return json;
}

Json to_json(const Calibrated& calibrated) {
    const simulator::Calibration& c = calibrated.calibration;
    return Json::object()
        .set("scale_arrival", c.factor)
        .set("met", c.is_met)
        .set("runs", c.runs)
        .set("logged_wait", c.logged)
        .set("simulated_wait_as_logged", c.before)
        .set("simulated_wait", c.simulated)
        .set("presets", list(calibrated.gains));
}

}  // namespace

Json to_json(const Advice& advice) {
    Json warnings = Json::array();
    for (const std::string& warning : advice.warnings) warnings.push(warning);
    const bool advised = advice.is_advised();
    return Json::object()
        .set("advised", advised)
        .set("trust", to_json(advice.trust))
        .set("log", advice.log)
        .set("nodes", advice.nodes)
        .set("nodes_from", advice.nodes_from)
        .set("jobs", advice.jobs)
        .set("skipped", advice.skipped)
        .set("rejected", advice.rejected)
        .set("made_of", to_json(advice.basis))
        .set("seeds", advice.seeds)
        .set("warnings", warnings)
        .set("recommended", advised ? Json(advice.recommended) : Json())
        .set("best_of_runs", advice.recommended)
        .set("why", advice.why)
        .set("elastic.conf", advised ? Json(advice.configuration) : Json())
        .set("easy", to_json(advice.easy))
        .set("presets", list(advice.rankings))
        .set("runs", list(advice.standings))
        .set("share", advice.share)
        .set("cost_factor", advice.cost_factor)
        .set("by_class", list(advice.by_class))
        .set("by_size", list(advice.by_size))
        .set("by_user", list(advice.by_user))
        .set("over_time", to_json(advice.over_time))
        .set("assumptions", list(advice.assumptions))
        .set("calibrated", advice.calibrated ? to_json(*advice.calibrated) : Json());
}

}  // namespace elastic::studies
