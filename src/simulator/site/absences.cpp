// SPDX-License-Identifier: MIT
// What begins behind the log's end or ends before its zero is left out, and what has no end yet
// ends with the log: a simulation may take longer than the log did, and nobody is to be lost in it.
//
// Down times that are inferred need a whole day on which nobody used the node while all of the time
// some job of one node waited that later ran on a node alike: less is chance, or a drain for a
// large job.
#include "simulator/site/absences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace elastic::simulator {

namespace {

constexpr Duration kDay = 86400;
// What the planner looks at in each pass; a site with more has reservations of ever other nodes.
constexpr std::size_t kMostPools = 128;

// Ascending, and neither touching nor overlapping.
std::vector<Span> merged(std::vector<Span> spans) {
    std::ranges::sort(spans);
    std::vector<Span> result;
    for (const Span& span : spans) {
        if (!result.empty() && span.from <= result.back().to)
            result.back().to = std::max(result.back().to, span.to);
        else
            result.push_back(span);
    }
    return result;
}

bool covers(const std::vector<Span>& spans, const Span& span) {
    const auto next = std::ranges::upper_bound(spans, span.from, {}, &Span::from);
    return next != spans.begin() && std::prev(next)->to >= span.to;
}

Time end_of(const LogJob& job) {
    return job.submit + std::max(job.wait, 0.0) + job.run;
}

}  // namespace

Result<Absences> Absences::make(const Log& log, const SiteKnowledge& known,
                                const NodeTable& nodes) {
    Absences made;
    if (known.reservations.empty() && known.events.empty() && !known.infers_events) return made;
    if (log.zero == 0)
        return error("{}: its times have no date, so no reservation and no down time falls into it",
                     log.name);
    for (const LogJob& job : log.jobs) made.horizon_ = std::max(made.horizon_, end_of(job));
    made.take_reservations(known, nodes, log.zero);
    made.take_events(known, nodes, log.zero);
    if (known.infers_events) made.infer_events(log, nodes);
    return made;
}

void Absences::take_reservations(const SiteKnowledge& known, const NodeTable& nodes, Time zero) {
    std::vector<ReservedNodes> rows = known.reservations;
    std::ranges::stable_sort(
        rows, {}, [](const ReservedNodes& r) { return std::tie(r.name, r.nodes, r.from); });
    // Changed ones have a line for each change.
    std::vector<ReservedNodes> joined;
    for (ReservedNodes& row : rows) {
        if (!joined.empty() && joined.back().name == row.name && joined.back().nodes == row.nodes &&
            row.from <= joined.back().to)
            joined.back().to = std::max(joined.back().to, row.to);
        else
            joined.push_back(std::move(row));
    }
    std::ranges::stable_sort(joined, {}, &ReservedNodes::from);
    std::size_t of_cores = 0, too_many = 0;
    core::PoolMap pools = nodes.alike();
    for (const ReservedNodes& row : joined) {
        const Span span{std::max(row.from - zero, 0.0), until(row.to - zero)};
        if (span.from >= span.to) continue;
        if (row.processors > 0 && row.processors < nodes.processors(row.nodes)) {
            ++of_cores;
            continue;
        }
        NodePlaces places = nodes.places(row.nodes);
        core::PoolMap more = pools;
        more.split(places.words());
        if (more.pools() > kMostPools) {
            ++too_many;
            continue;
        }
        pools = std::move(more);
        reservations_.push_back({row.name, span.from, span.to, {}});
        reserved_.push_back(std::move(places));
    }
    if (too_many > 0)
        notes_.push_back(fmt::format(
            "{} reservation(s) are left out, since with them nodes would be of more than {} kinds",
            too_many, kMostPools));
    if (of_cores > 0)
        notes_.push_back(fmt::format(
            "{} reservation(s) of a part of their nodes' processors are not modelled", of_cores));
}

void Absences::take_events(const SiteKnowledge& known, const NodeTable& nodes, Time zero) {
    std::vector<Down> found;
    for (const DownTime& event : known.events) {
        const auto place = nodes.place(event.node);
        const Span span{std::max(event.from - zero, 0.0), until(event.to - zero)};
        if (place && span.from < span.to) found.push_back({*place, span.from, span.to});
    }
    std::ranges::sort(found);
    for (const Down& down : found) {
        if (!down_.empty() && down_.back().node == down.node && down.from <= down_.back().to)
            down_.back().to = std::max(down_.back().to, down.to);
        else
            down_.push_back(down);
    }
}

void Absences::infer_events(const Log& log, const NodeTable& nodes) {
    std::vector<std::vector<Span>> uses = nodes.uses(log);
    std::map<std::size_t, std::vector<Span>> waits;  // of jobs of one node, by pool of nodes alike
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const std::vector<std::uint32_t>* ran_on = nodes.nodes_of(log, job);
        const LogJob& of = log.jobs[job];
        if (ran_on && ran_on->size() == 1 && of.wait >= 0)
            waits[nodes.alike().pool_of(ran_on->front())].push_back(
                {of.submit, of.submit + of.wait});
    }
    for (auto& [pool, spans] : waits) spans = merged(std::move(spans));
    double seconds = 0;
    for (std::size_t node = 0; node < uses.size(); ++node) {
        const auto found = waits.find(nodes.alike().pool_of(node));
        if (found == waits.end()) continue;
        const std::vector<Span> used = merged(std::move(uses[node]));
        for (std::size_t next = 1; next < used.size(); ++next) {
            const Span gap{used[next - 1].to, used[next].from};
            if (gap.to - gap.from < kDay || !covers(found->second, gap)) continue;
            down_.push_back({node, gap.from, gap.to});
            seconds += gap.to - gap.from;
        }
    }
    notes_.push_back(fmt::format(
        "down times inferred: {} of a day or more on which nobody used a node while jobs for such "
        "nodes waited, {:.1f} node-days",
        down_.size(), seconds / kDay));
}

int Absences::reservation_of(const Log& log, std::size_t job) const {
    const int name = log.facts_of(job).reservation;
    if (name < 0) return -1;
    const LogJob& of = log.jobs[job];
    const Time start = of.submit + std::max(of.wait, 0.0);
    for (std::size_t r = 0; r < reservations_.size(); ++r)
        if (reservations_[r].name == log.names.reservations[static_cast<std::size_t>(name)] &&
            start < reservations_[r].to)
            return static_cast<int>(r);
    return -1;
}

void Absences::give(const Log& log, const NodeTable& nodes, Site& site) const {
    site.notes.insert(site.notes.end(), notes_.begin(), notes_.end());
    site.reservations = reservations_;
    for (std::size_t r = 0; r < reservations_.size(); ++r)
        site.reservations[r].pools = nodes.pools_in(reserved_[r]);
    if (!reservations_.empty())
        for (std::size_t job = 0; job < log.jobs.size(); ++job)
            site.reservation_of.push_back(reservation_of(log, job));
    for (const Down& down : down_)
        site.outages.push_back({nodes.pool_of(down.node), 1, down.from, down.to});
    std::ranges::stable_sort(site.outages, {}, &Outage::from);
}

}  // namespace elastic::simulator
