// SPDX-License-Identifier: MIT
// Counts where the journal is told, so that the planning pass pays nothing for it and the sums
// agree with the journal.  An event costs a look-up or two in small maps: operations in flight are
// at most one a job, and the reasons of resizes are brought down to a few.
//
// Always holds: sums only grow; all begins at zero with a controller, which is what
// monitoring expects of a process that was started again.
#include "controller/counters.hpp"

#include <algorithm>

#include "core/model/plan.hpp"

namespace elastic::controller {

namespace {

constexpr const char* kRequested = "the job asked for the nodes";
constexpr const char* kReleased = "the job gave nodes back";
constexpr const char* kUnagreed = "nobody agreed to it";

template <class Map>
Json counts(const Map& map, const char* key) {
    Json list = Json::array();
    for (const auto& [name, count] : map)
        list.push(Json::object().set(key, name).set("count", count));
    return list;
}

Json histograms(const std::map<std::string, Histogram>& map, const char* key) {
    Json list = Json::array();
    for (const auto& [name, histogram] : map)
        list.push(Json::object().set(key, name).set("times", histogram.to_json()));
    return list;
}

}  // namespace

std::string kind_of_reason(const std::string& reason) {
    for (const std::string_view phrase : names(core::Reason{}))
        if (reason.starts_with(phrase)) return std::string(phrase);
    if (reason.starts_with("asked for by ")) return "asked for by a user";
    if (reason.starts_with("step ")) return "a step of its profile";
    if (reason == "its nodes are to be evacuated") return reason;
    return "other";
}

void Counters::begin(const AgreementBook& book, Time now) {
    since_ = held_until_ = now;
    for (const auto& [op, agreement] : book.all())
        if (agreement.open())
            begin(op, {agreement.job, agreement.kind,
                       agreement.requested ? kRequested : kind_of_reason(agreement.reason),
                       agreement.requested});
}

void Counters::count(const std::vector<journal::Event>& events, JobTable& jobs) {
    for (const journal::Event& event : events)
        std::visit([&](const auto& what) { on(event.time, jobs, what); }, event.what);
}

Counters::Operation& Counters::begin(OpId op, Operation operation) {
    return operations_.insert_or_assign(op, std::move(operation)).first->second;
}

void Counters::bump(const char* what, const Operation& operation) {
    ++resizes_[{what, std::string(to_string(operation.kind)), operation.reason}];
}

void Counters::over(OpId op, const char* what) {
    const auto found = operations_.find(op);
    if (found == operations_.end()) return;
    bump(what, found->second);
    operations_.erase(found);
}

void Counters::took(const Operation& operation, Time now) {
    if (operation.begun <= 0) return;
    const auto kind = std::string(to_string(operation.kind));
    seconds_.try_emplace(kind, kBoundsOfResizes)
        .first->second.add(std::max(0.0, now - operation.begun));
}

// A job that goes on after a suspension has not waited.
void Counters::on(Time, JobTable& jobs, const journal::Start& start) {
    Job* job = jobs.find(start.job);
    if (!job || job->waited < 0) return;
    const std::string name = job->elastic ? core::class_name(job->annotation) : "rigid";
    ++started_[name];
    waits_.try_emplace(name, kBoundsOfWaits).first->second.add(job->waited);
    job->waited = -1;
}

void Counters::on(Time, JobTable&, const journal::Offer& offer) {
    bump("asked", begin(offer.op, {offer.job, offer.kind, kind_of_reason(offer.reason)}));
}

void Counters::on(Time, JobTable&, const journal::Request& request) {
    bump("asked", begin(request.op, {request.job, request.kind, kRequested, true}));
}

// Without an offer before it the job does it by itself.
void Counters::on(Time time, JobTable&, const journal::Release& release) {
    if (!operations_.contains(release.op))
        begin(release.op, {release.job, ResizeKind::shrink, kReleased, false, time});
}

// That a request is content with fewer nodes is no answer to anything.
void Counters::on(Time time, JobTable&, const journal::Accept& accept) {
    const auto found = operations_.find(accept.op);
    if (found == operations_.end() || found->second.requested) return;
    found->second.begun = time;
    bump("accepted", found->second);
}

void Counters::on(Time time, JobTable&, const journal::Grant& grant) {
    const auto found = operations_.find(grant.op);
    if (found == operations_.end()) return;
    found->second.begun = time;
    bump("accepted", found->second);
}

void Counters::on(Time time, JobTable&, const journal::Resize& resize) {
    change_size(resize.job, resize.from, resize.to, time);
    const auto found = operations_.find(resize.op);
    if (found == operations_.end()) return bump("applied", {resize.job, resize.kind, kUnagreed});
    bump("applied", found->second);
    if (resize.kind == ResizeKind::expand) return;  // it takes until the job is ready
    took(found->second, time);
    operations_.erase(found);
}

void Counters::on(Time time, JobTable&, const journal::Ready& ready) {
    const auto found = operations_.find(ready.op);
    if (found == operations_.end()) return;
    took(found->second, time);
    operations_.erase(found);
}

void Counters::on(Time time, JobTable&, const journal::End& end) {
    if (end.state != "SUSPENDED") ++ended_[end.state];
    forget_size(end.job, time);
    std::erase_if(operations_, [&](const auto& entry) { return entry.second.job == end.job; });
}

void Counters::hold_until(Time now) {
    const Duration held = std::max(0.0, now - held_until_);
    grown_ += more_ * held;
    given_ += fewer_ * held;
    held_until_ = std::max(held_until_, now);
}

void Counters::change_size(JobId job, int from, int to, Time now) {
    const Size before = sizes_.contains(job) ? sizes_[job] : Size{from, from};
    forget_size(job, now);
    sizes_[job] = {before.first, to};
    more_ += std::max(0, to - before.first);
    fewer_ += std::max(0, before.first - to);
}

void Counters::forget_size(JobId job, Time now) {
    hold_until(now);
    const auto found = sizes_.find(job);
    if (found == sizes_.end()) return;
    more_ -= std::max(0, found->second.now - found->second.first);
    fewer_ -= std::max(0, found->second.first - found->second.now);
    sizes_.erase(found);
}

Json Counters::to_json(Time now) const {
    const Duration held = std::max(0.0, now - held_until_);  // since the last change
    Json resizes = Json::array();
    for (const auto& [key, count] : resizes_) {
        const auto& [what, kind, reason] = key;
        resizes.push(Json::object()
                         .set("what", what)
                         .set("kind", kind)
                         .set("reason", reason)
                         .set("count", count));
    }
    return Json::object()
        .set("since", since_)
        .set("resizes", resizes)
        .set("resize_seconds", histograms(seconds_, "kind"))
        .set("waits", histograms(waits_, "class"))
        .set("started", counts(started_, "class"))
        .set("ended", counts(ended_, "state"))
        .set("grown_node_seconds", grown_ + more_ * held)
        .set("given_node_seconds", given_ + fewer_ * held);
}

}  // namespace elastic::controller
