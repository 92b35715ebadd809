// SPDX-License-Identifier: GPL-2.0-or-later
// A forecast is made in slices, from a copy of what a pass has read, without a lock; between them
// the thread does its other work.  What it finds binds nobody, so however long it takes, passes
// decide the same.
//
// Always holds: with Starts=slurm nothing of this is written, for then all of it is what Slurm's
// backfill says, and is read back as its promises.
#include "slurm/act/forecaster.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/text.hpp"
#include "slurm/lock.hpp"
#include "slurm/read/staging.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

constexpr auto kSlice = std::chrono::milliseconds(10);
constexpr auto kStaging = std::chrono::milliseconds(500);  // between two looks for who may stage in
constexpr auto kRest = 2 * kSlice;  // behind each, so that it has a third of the processor

constexpr Duration kLeastInterval = 1;

template <class Function>
void for_each_pending(Function&& function) {
    for_each_job([&](job_record_t* job) {
        if (IS_JOB_PENDING(job)) function(job);
    });
}

void forget_start(job_record_t* job) {
    if (!job->start_time && !job->sched_nodes) return;
    job->start_time = 0;
    xfree(job->sched_nodes);
    last_job_update = time(nullptr);
}

void tell_start(job_record_t* job, time_t start, const NodeSet& nodes) {
    const std::string names = nodes.text();
    if (job->start_time == start && names == text(job->sched_nodes)) return;
    job->start_time = start;
    xfree(job->sched_nodes);
    if (!names.empty()) job->sched_nodes = xstrdup(names.c_str());
    last_job_update = time(nullptr);
}

// Only of nodes that are not in use, or not wholly, as Slurm's backfill has it.
void set_planned(const NodeSet& planned) {
    if (!planned.empty()) compat::count_processors_in_use();
    for (int index = 0; index < node_record_count; ++index) {
        node_record_t* node = node_record_table_ptr[index];
        if (!node) continue;
        const bool is_planned = planned.has(index) && compat::may_be_planned(node);
        if (is_planned == ((node->node_state & NODE_STATE_PLANNED) != 0)) continue;
        node->node_state ^= NODE_STATE_PLANNED;
        last_node_update = time(nullptr);
    }
}

NodeSet set_of(const std::vector<int>& nodes) {
    NodeSet set;
    for (const int node : nodes) set.add(node);
    return set;
}

std::vector<std::vector<controller::PoolNode>> nodes_of_pools(const View& view) {
    std::vector<std::vector<controller::PoolNode>> pools;
    for (const NodeSet& pool : view.pools) {
        auto& nodes = pools.emplace_back();
        pool.for_each([&](int node) {
            nodes.push_back({node, view.free_from[static_cast<std::size_t>(node)]});
        });
    }
    return pools;
}

}  // namespace

void Forecaster::clear() {
    is_at_work_ = false;
    begun_.reset();
    ControllerLock lock;
    for_each_pending(forget_start);
    set_planned(NodeSet());
}

void Forecaster::begin_if_due() {
    if (reading_.view.stages_in && Clock::now() - staged_ >= kStaging) stage_in();
    if (is_at_work_ || config_.starts != core::Starts::elastic || !is_due()) return;
    begin();
}

// At once if nobody waits any more, and soon for a job whose data are only staged in once a start
// is expected of it.
bool Forecaster::is_due() const {
    if (!begun_ || (shows_any_ && reading_.view.snapshot.pending.empty())) return true;
    const Duration since = std::chrono::duration<double>(Clock::now() - *begun_).count();
    return since >= (reading_.view.wants_forecast ? kLeastInterval : config_.forecast_interval);
}

void Forecaster::begin() {
    const View& view = reading_.view;
    begun_ = next_ = Clock::now();
    worked_ = {};
    snapshot_ = view.snapshot;
    node_records_ = view.node_records;
    pools_ = nodes_of_pools(view);
    members_.clear();
    for (std::uint32_t place = 0; place < snapshot_.pending.size(); ++place) {
        const auto group = view.groups.find(snapshot_.pending[place].id);
        if (group == view.groups.end()) continue;
        for (const controller::GroupJob& member : group->second.group.waiting)
            members_.emplace_back(member.id, place);
    }
    forecast_.begin(snapshot_, config_.policy);
    is_at_work_ = true;
}

void Forecaster::advance() {
    if (!is_at_work_ || Clock::now() < next_) return;
    const std::chrono::duration<double> most(config_.forecast_time);
    const auto begin = Clock::now();
    Clock::duration worked{};
    bool has_more = worked_ < most;
    while (has_more && worked < kSlice && worked_ + worked < most) {
        has_more = forecast_.step();
        worked = Clock::now() - begin;
    }
    worked_ += worked;
    next_ = Clock::now() + kRest;
    if (has_more && worked_ < most) return;
    is_at_work_ = false;
    tell();
}

void Forecaster::tell() {
    const auto nodes = controller::expected_nodes(forecast_.starts(), pools_);
    tell_jobs(nodes);
    show_planned(nodes);
    shows_any_ = !nodes.empty();
    if (reading_.view.stages_in) stage_in();
}

// Each job with the first of its starts, an index into those of the forecast.
std::vector<std::pair<JobId, std::size_t>> Forecaster::first_starts() const {
    const auto& starts = forecast_.starts();
    std::unordered_map<JobId, std::size_t> first;
    std::unordered_map<std::uint32_t, std::size_t> of_place;
    for (std::size_t index = 0; index < starts.size(); ++index) {
        const JobId job = snapshot_.pending[starts[index].place].id;
        of_place.emplace(starts[index].place, index);
        const auto [known, is_new] = first.emplace(job, index);
        if (!is_new && starts[index].from < starts[known->second].from) known->second = index;
    }
    for (const auto& [job, place] : members_)
        if (const auto start = of_place.find(place); start != of_place.end())
            first.emplace(job, start->second);
    return {first.begin(), first.end()};
}

// In pieces; who has no expected start keeps none from before.
void Forecaster::tell_jobs(const std::vector<std::vector<int>>& nodes) {
    const auto jobs = first_starts();
    std::unordered_map<JobId, bool> told;
    for (auto next = jobs.begin(); next != jobs.end();) {
        ControllerLock lock;
        if (node_records_ != node_record_count) return;
        for (; next != jobs.end() && lock.held() < kLongestHold; ++next) {
            job_record_t* job = pending_job(next->first);
            if (!job) continue;
            told[next->first] = true;
            // What the last pass has reserved is sooner, by what others give back, or newer.
            const auto reserved = reading_.reserved.find(next->first);
            const Time from = reserved == reading_.reserved.end()
                                  ? forecast_.starts()[next->second].from
                                  : reserved->second;
            tell_start(job, std::max(static_cast<time_t>(from), time(nullptr)),
                       set_of(nodes[next->second]));
        }
    }
    ControllerLock lock;
    for_each_pending([&](job_record_t* job) {
        if (!told.contains(job->job_id) && !reading_.reserved.contains(job->job_id))
            forget_start(job);
    });
}

// In the order of what jobs are expected to start; the plugins look at all that wait.
void Forecaster::stage_in() {
    staged_ = Clock::now();
    ControllerLock lock;
    begin_staging();
}

void Forecaster::show_planned(const std::vector<std::vector<int>>& nodes) {
    ControllerLock lock;
    if (node_records_ != node_record_count) return;
    NodeSet planned;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
        const core::ExpectedStart& start = forecast_.starts()[index];
        if (start.is_reserved && start.from > snapshot_.now) planned |= set_of(nodes[index]);
    }
    set_planned(planned);
}

}  // namespace elastic::slurm
