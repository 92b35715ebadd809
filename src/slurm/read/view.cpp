// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over Slurm's job list and one over its sorted queue, which was made in holds of the
// lock before: the order is as of then, everything else as of now.  The cost is
// linear in jobs and nodes; masks are made once for each different set of
// constraints, not once a job.  All of it happens under slurmctld's locks:
// nothing is allocated for a job that is like others, and sets of nodes are
// handled a word at a time.
//
// Always holds for the snapshot: what core/model/snapshot.hpp promises.
#include "slurm/read/view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "slurm/batch.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/hindrance.hpp"
#include "slurm/read/limits.hpp"
#include "slurm/read/request.hpp"
#include "slurm/read/waiting_groups.hpp"

namespace elastic::slurm {

namespace {

// Of the queue, so many jobs are looked at closely in each view: its first, and a part of the
// others.
constexpr std::size_t kFront = 16, kPart = 64;

class Builder {
  public:
    Builder(Time now, const Knowledge& known, controller::JobTable& jobs, const Queue& queue,
            const Refusals& refusals, View& view)
        : now_(now),
          known_(known),
          jobs_(jobs),
          queue_(queue),
          refusals_(refusals),
          view_(view),
          groups_(known, queue, view) {}

    void build() {
        forget_last();
        view_.snapshot.now = now_;
        view_.node_records = node_record_count;
        view_.nodes_in_all = existing_nodes();
        view_.private_jobs = (slurm_conf.private_data & PRIVATE_DATA_JOBS) != 0;
        view_.read = time(nullptr);
        shared_end_.assign(node_record_count, -1);
        owned_until_.assign(node_record_count, -1);
        held_until_.assign(node_record_count, -1);
        read_running();
        read_groups();
        read_pending();
        find_supply();
        find_failing();
        find_maintained();
        find_asleep();
        make_pools();
        groups_.make();
        count_held();
        count_idle_and_shared();
    }

  private:
    // Keeps the room of the long lists.
    void forget_last() {
        auto pending = std::move(view_.snapshot.pending);
        pending.clear();
        view_.snapshot = {};
        view_.snapshot.pending = std::move(pending);
        view_.places.clear();
        view_.groups.clear();
        view_.extended.clear();
        view_.in_groups.clear();
        view_.unasked.clear();
        view_.heterogeneous.clear();
        view_.supply.clear();
        view_.supply_errors.clear();
    }

    // With MaxNodeCount the table has places for nodes that `scontrol create` may make.
    static int existing_nodes() {
        auto end = node_record_table_ptr + node_record_count;
        return static_cast<int>(
            std::count_if(node_record_table_ptr, end, [](auto* n) { return n != nullptr; }));
    }

    // ---- running jobs

    void read_running() {
        ListIterator iterator = list_iterator_create(job_list);
        while (auto* job = static_cast<job_record_t*>(list_next(iterator)))
            if (IS_JOB_RUNNING(job) && job->node_bitmap) read_running(job);
        list_iterator_destroy(iterator);
        known_.answers.share(std::move(sharers_));
    }

    void read_running(job_record_t* job) {
        Time end = static_cast<Time>(job->end_time);
        if (!has_whole_nodes(job)) {
            for_each_node(job->node_bitmap,
                          [&](int node) { shared_end_[node] = std::max(shared_end_[node], end); });
            sharers_.push_back(job->job_id);
            return;
        }
        const controller::Job& entry = sync(jobs_, job);
        core::RunningJob running;
        running.id = job->job_id;
        running.start = static_cast<Time>(job->start_time);
        running.limit_end = end;
        running.duration =
            entry.running ? time_limit_of(job, entry.time.asked_minutes()) : time_limit_of(job);
        running.estimated_end = entry.running ? entry.time.estimated_end(now_) : end;
        int size = static_cast<int>(job->node_cnt);
        if (entry.elastic) {
            running.elastic = entry.annotation;
            const bool may_grow = entry.participation.grow_after <= now_;
            // Who may not have more time for fewer nodes keeps them.
            if (entry.time.is_law() && !entry.evolution.exists())
                running.elastic.min = std::max(running.elastic.min, size);
            bound_size(running.elastic, may_grow ? most_nodes(job) : size, size);
            running.elastic.profile = entry.evolution.remaining(now_, size, running.elastic);
            running.elastic.cost = entry.cost();
            running.elastic.speedup = entry.scaling.model(entry.annotation.speedup);
            running.rescale_time = entry.rescale.seconds();
            running.eligible = eligibilities_.of(job);
            running.gain = entry.history.gain;
            running.expansions = entry.history.expansions;
            running.shrinks = entry.history.resizes - entry.history.expansions;
            running.last_resize = std::max(entry.history.last_resize, running.start);
            running.not_before = entry.participation.not_before;
        } else {
            running.elastic.min = running.elastic.pref = running.elastic.max = size;
            running.eligible = eligibilities_.none();
        }
        for_each_node(job->node_bitmap,
                      [&](int node) { held_until_[node] = running.estimated_end; });
        if (running.elastic.malleable) bit_or(yielding_.get(), job->node_bitmap);
        view_.snapshot.running.push_back(std::move(running));
        running_records_.push_back(job);
        bit_or(taken_.get(), job->node_bitmap);
    }

    // Never below what it has: an administrator may have lowered the limit since.
    static void bound_size(core::Sizing& elastic, int most, int size) {
        elastic.max = std::min(elastic.max, std::max(most, size));
        elastic.min = std::min(elastic.min, elastic.max);
        elastic.pref = std::clamp(elastic.pref, elastic.min, elastic.max);
    }

    // ---- groups that have begun: to others their nodes are in use until the last job has ended

    void read_groups() {
        for (const controller::Group& group : known_.groups.all()) {
            const NodeSet& nodes = known_.agreed.of(group);
            const Time end = end_of(group, nodes);
            nodes.for_each([&](int node) { owned_until_[node] = end; });
            for_each_of(nodes, [&](core::RunningJob& running, const NodeSet&) {
                running.estimated_end = std::max(running.estimated_end, end);
                view_.in_groups.insert(running.id);
            });
        }
    }

    template <class Function>
    void for_each_of(const NodeSet& nodes, Function&& function) {
        for (std::size_t i = 0; i < running_records_.size(); ++i) {
            NodeSet held(running_records_[i]->node_bitmap);
            held &= nodes;
            if (!held.empty()) function(view_.snapshot.running[i], held);
        }
    }

    // As if each of its nodes had its share of what is left.
    Time end_of(const controller::Group& group, const NodeSet& nodes) {
        Duration work = group.work();
        Time last = now_;
        for_each_of(nodes, [&](const core::RunningJob& running, const NodeSet& held) {
            work += std::max(0.0, running.estimated_end - now_) * held.count();
            last = std::max(last, running.estimated_end);
        });
        return std::max(last, now_ + work / std::max(1, nodes.count()));
    }

    // ---- pending jobs

    void read_pending() {
        std::vector<std::optional<FoundAttempt>> attempts;
        for (const Attempt& attempt : queue_.attempts()) attempts.push_back(find(attempt));
        for (place_ = 0; place_ < queue_.places().size(); ++place_) {
            const Queue::Place& place = queue_.places()[place_];
            job_record_t* job = find_job_record(place.job);
            const auto& attempt = attempts[place.attempt];
            if (!job || !attempt || !IS_JOB_PENDING(job) || !job->details || !job->priority)
                continue;
            Trying trying(job, *attempt);
            read_pending(job, place);
        }
        view_.looked_at += kPart;
    }

    void read_pending(job_record_t* job, const Queue::Place& place) {
        if (job->het_job_id) view_.heterogeneous.insert(job->het_job_id);
        core::EligibilityId eligible = eligibilities_.of(job);
        int nodes = nodes_wanted(job, eligibilities_.least_processors(eligible));
        if (nodes > most_nodes_by_partition(job)) return;
        if (refusals_.hides(place, job, nodes) || why_not_now(job)) return;
        const controller::RequestId request = needs_close_look(place) ? request_of(job) : 0;
        if (request && is_barred(request, place)) return;
        const controller::Job& entry = sync(jobs_, job);

        core::PendingJob pending;
        pending.id = job->job_id;
        pending.submit = static_cast<Time>(job->details->submit_time);
        pending.duration = time_to_run(job, static_cast<time_t>(now_));
        pending.eligible = eligible;
        pending.promised = entry.promised;
        pending.has_traded = entry.has_traded;
        pending.shares_nodes = !has_whole_nodes(job);
        pending.not_before = room_from(job, request, eligible, pending.shares_nodes);
        if (entry.elastic) {
            pending.elastic = entry.annotation;
            pending.elastic.pref =
                entry.annotation.profile.empty()
                    ? std::clamp(nodes, entry.annotation.min, entry.annotation.max)
                    : entry.annotation.profile.front().nodes;
            if (entry.annotation.malleable)
                pending.elastic.max = most_startable(job, pending.elastic, place);
        } else {
            pending.elastic.min = pending.elastic.pref = nodes;
            pending.elastic.max = most_wanted(job, nodes);
        }
        pending.alternative = place.one_of_several && !seen_.insert(place.job).second;
        if (!pending.alternative) {
            const int tasks = tasks_of(job) - groups_.copies(job->job_id);
            if (tasks < 1) return groups_.add_begun(std::move(pending), place);
            pending.copies = std::min(tasks, node_record_count / nodes + 1);
            groups_.add(job, entry, pending, place, tasks);
        }
        view_.snapshot.pending.push_back(std::move(pending));
        view_.places.push_back(place);
    }

    // Those against whom something has been said, the first of the queue, and a part of the others
    // that is another one in each view.
    bool needs_close_look(const Queue::Place& place) {
        const std::size_t begin = view_.looked_at % queue_.places().size();
        return known_.answers.is_noted(place.job) || place_ < kFront ||
               (begin <= place_ && place_ < begin + kPart);
    }

    bool is_barred(controller::RequestId request, const Queue::Place& place) {
        const controller::Verdict verdict = known_.answers.verdict(request);
        if (verdict == controller::Verdict::unknown) view_.unasked.push_back(place);
        return verdict == controller::Verdict::barred;
    }

    // Before then it has no room: nodes that it requires are in use, or Slurm has refused it as
    // much as is free.  Whoever holds nodes that others can be given is asked for them instead.
    Time room_from(job_record_t* job, controller::RequestId request, core::EligibilityId eligible,
                   bool shares) {
        if (known_.claimed.contains(job->job_id)) return 0;
        Time from = 0;
        if (job->details->req_node_bitmap) from = required_from(job, shares);
        if (request && known_.answers.is_refused(request, room_of(job, eligible, shares)))
            from = std::max(from, next_coming_free(eligible));
        return from;
    }

    Time required_from(const job_record_t* job, bool shares) const {
        Time from = 0;
        for_each_node(job->details->req_node_bitmap, [&](int node) {
            const bool is_held = taken_.has(node) && !yielding_.has(node);
            const bool is_shared = !shares && shared_end_[node] >= 0;
            if (is_held || is_shared)
                from = std::max({from, used_until(node), std::nextafter(now_, kNever)});
        });
        return from;
    }

    Time used_until(int node) const {
        return std::max({held_until_[node], shared_end_[node], owned_until_[node]});
    }

    controller::NodeMask room_of(const job_record_t* job, core::EligibilityId eligible,
                                 bool shares) {
        NodeSet room = known_.agreed.room_for(job->job_id, shares);
        return mask_of(room &= eligibilities_.sets()[eligible].nodes);
    }

    // When the first of the nodes that are in use does, by the estimates.
    Time next_coming_free(core::EligibilityId eligible) {
        const auto [known, is_new] = next_coming_free_.try_emplace(eligible, kNever);
        if (!is_new) return known->second;
        eligibilities_.sets()[eligible].nodes.for_each([&](int node) {
            const Time until = used_until(node);
            if (until >= 0)
                known->second =
                    std::min(known->second, std::max(until, std::nextafter(now_, kNever)));
        });
        return known->second;
    }

    // Without a number of nodes of its own, a job may need as many as of the smallest.
    static int nodes_wanted(const job_record_t* job, std::uint32_t processors) {
        const job_details* details = job->details;
        std::uint32_t nodes = std::max(details->min_nodes, least_nodes_by_partition(job));
        if (processors > 0)
            nodes = std::max(nodes, (details->min_cpus + processors - 1) / processors);
        if (details->max_nodes > 0) nodes = std::min(nodes, details->max_nodes);
        return static_cast<int>(std::max(nodes, 1U));
    }

    // A malleable job may start with more nodes than it asks for, if nothing forbids that.
    int most_startable(job_record_t* job, const core::Sizing& elastic,
                       const Queue::Place& place) const {
        if (!refusals_.may_start_larger(place)) return elastic.pref;
        return std::clamp(most_nodes(job), elastic.pref, elastic.max);
    }

    // With a range of nodes (-N 2-8), what it takes if that lets it start no later.
    static int most_wanted(job_record_t* job, int least) {
        if (job->details->max_nodes <= static_cast<uint32_t>(least)) return least;
        uint32_t min = 0, wanted = 0, max = 0;
        const uint32_t qos_flags = job->qos_ptr ? job->qos_ptr->flags : 0;
        if (get_node_cnts(job, qos_flags, job->part_ptr, &min, &wanted, &max) != SLURM_SUCCESS)
            return least;
        return std::max(least, static_cast<int>(std::min<uint32_t>(wanted, node_record_count)));
    }

    // A job array is one record until its tasks start; in one pass as many may
    // start as the cluster could hold.
    static int tasks_of(const job_record_t* job) {
        if (!job->array_recs || job->array_task_id != NO_VAL) return 1;
        int64_t tasks = job->array_recs->task_cnt;
        if (int64_t most = job->array_recs->max_run_tasks)
            tasks = std::min(tasks, most - job->array_recs->tot_run_tasks);
        return static_cast<int>(std::clamp<int64_t>(tasks, 1, INT32_MAX));
    }

    // ---- nodes with a price, a cap or a fault

    void find_supply() {
        for (const core::Terms& terms : known_.terms) {
            NodeSet nodes = nodes_named(terms.nodes);
            if (!nodes.empty()) view_.supply.push_back({terms, std::move(nodes)});
        }
    }

    // A partition before anything else: who names one "n1" or "ALL" knows it.
    NodeSet nodes_named(const std::string& name) {
        std::string text = name;
        if (const part_record_t* partition = find_part_record(text.data())) {
            NodeSet nodes(partition->node_bitmap);
            if (nodes.empty())
                complain("partition {} has no nodes; its line is not in force", printable(name));
            return nodes;
        }
        return equal_ignoring_case(name, "ALL") ? all_nodes() : nodes_listed(name);
    }

    static NodeSet all_nodes() {
        NodeSet nodes;
        for (int node = 0; node < node_record_count; ++node)
            if (node_record_table_ptr[node]) nodes.add(node);
        return nodes;
    }

    NodeSet nodes_listed(const std::string& name) {
        NodeSet nodes;
        std::vector<std::string> unknown;
        auto names = expand_hostlist(name);
        if (!names) names = std::vector{name};
        for (std::string& one : *names) {
            if (const node_record_t* node = find_node_record2(one.data()))
                nodes.add(static_cast<int>(node->index));
            else
                unknown.push_back(std::move(one));
        }
        if (nodes.empty())
            complain("Slurm knows no partition and no node {}; its line is not in force",
                     printable(name));
        else if (!unknown.empty())
            complain("Slurm knows no node {} of {}; the line is in force for the others",
                     printable(compress_hostlist(std::move(unknown))), printable(name));
        return nodes;
    }

    template <class... Args>
    void complain(fmt::format_string<Args...> format, Args&&... args) {
        view_.supply_errors.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void find_failing() {
        if (known_.config.leave_nodes < core::LeaveNodes::failing) return;
        NodeSet out_of_service(taken_);
        out_of_service -= eligibilities_.usable();
        out_of_service.for_each([&](int node) {
            const node_record_t* record = node_record_table_ptr[node];
            const bool is_drained =
                known_.config.leave_nodes >= core::LeaveNodes::drained && IS_NODE_DRAIN(record);
            if (is_drained || IS_NODE_FAIL(record)) failing_.add(node);
        });
    }

    // Nodes that a reservation is to have for maintenance, as long before it begins as the job that
    // has them may take to leave them.
    void find_maintained() {
        if (known_.config.leave_nodes < core::LeaveNodes::maintenance) return;
        ListIterator iterator = list_iterator_create(resv_list);
        while (auto* reservation = static_cast<slurmctld_resv_t*>(list_next(iterator)))
            if (compat::is_maintenance(reservation, static_cast<time_t>(now_)))
                find_maintained(reservation);
        list_iterator_destroy(iterator);
        maintained_ -= failing_;
        failing_ |= maintained_;
    }

    void find_maintained(const slurmctld_resv_t* reservation) {
        const NodeSet nodes(reservation->node_bitmap);
        const auto begin =
            static_cast<Time>(compat::begin_of(reservation, static_cast<time_t>(now_)));
        const Duration grace = std::max(known_.config.grace_time, known_.config.max_grace_time);
        if (begin - now_ > longest_departure(grace)) return;
        for_each_of(nodes, [&](const core::RunningJob& running, const NodeSet& held) {
            const job_record_t* job = find_job_record(running.id);
            const bool is_over = running.limit_end <= begin;
            if (running.elastic.malleable && job->resv_ptr != reservation && !is_over &&
                begin - now_ <= longest_departure(grace_of(running.id)))
                maintained_ |= held;
        });
    }

    Duration grace_of(JobId id) const {
        return controller::grace_of(known_.config, *jobs_.find(id));
    }

    // To answer and to move data, first for other nodes and then for leaving.
    static constexpr Duration longest_departure(Duration grace) { return 4 * grace; }

    void find_asleep() {
        asleep_ |= NodeSet(power_node_bitmap);
        asleep_ |= NodeSet(booting_node_bitmap);
    }

    // What nodes of a pool have in common besides.  Of several prices the first one counts.
    void describe_pools() {
        for (core::PoolId id = 0; id < view_.pools.size(); ++id) {
            core::Pool& pool = view_.snapshot.pools[id];
            pool.failing = view_.pools[id].overlaps(failing_);
            pool.maintained = view_.pools[id].overlaps(maintained_);
            pool.asleep = view_.pools[id].overlaps(asleep_);
            for (const SupplySet& set : view_.supply)
                if (pool.price == 0 && view_.pools[id].overlaps(set.nodes))
                    pool.price = set.terms.price;
        }
        for (const SupplySet& set : view_.supply) {
            if (!set.terms.most) continue;
            core::Budget& budget = view_.snapshot.budgets.emplace_back();
            budget.most = *set.terms.most;
            for (core::PoolId id = 0; id < view_.pools.size(); ++id)
                if (view_.pools[id].overlaps(set.nodes)) budget.pools.push_back(id);
        }
    }

    // ---- pools: nodes that no mask tells apart

    void make_pools() {
        pool_of_.assign(node_record_count, 0);
        int pools = 1;
        for (const Eligibilities::Set& set : eligibilities_.sets()) {
            pools = refine(set.nodes, pools);
            if (!set.required.empty()) pools = refine(set.required, pools);
        }
        for (const SupplySet& set : view_.supply) pools = refine(set.nodes, pools);
        for (const NodeSet* set : {&failing_, &maintained_, &asleep_})
            if (!set->empty()) pools = refine(*set, pools);
        view_.snapshot.pools.resize(pools);
        view_.pools.assign(pools, NodeSet());
        for (int node = 0; node < node_record_count; ++node) {
            view_.pools[pool_of_[node]].add(node);
            ++view_.snapshot.pools[pool_of_[node]].nodes;
        }
        describe_pools();
        make_eligibilities();
    }

    // Splits each pool into its nodes inside and outside the mask; numbers anew
    // in the order of the nodes.
    int refine(const NodeSet& mask, int pools) {
        std::vector<int> renamed(2 * pools, -1);
        int next = 0;
        for (int node = 0; node < node_record_count; ++node) {
            int& name = renamed[2 * pool_of_[node] + (mask.has(node) ? 1 : 0)];
            if (name < 0) name = next++;
            pool_of_[node] = name;
        }
        return next;
    }

    void make_eligibilities() {
        auto& pools = view_.snapshot.pools;
        std::vector<int> wanted(pools.size(), 0);  // by how many masks
        for (const Eligibilities::Set& set : eligibilities_.sets()) {
            core::Eligibility eligible;
            for (core::PoolId pool = 0; pool < pools.size(); ++pool)
                if (view_.pools[pool].overlaps(set.nodes)) {
                    eligible.push_back(pool);
                    ++wanted[pool];
                }
            view_.snapshot.eligibilities.push_back(std::move(eligible));
        }
        for (std::size_t id = 0; id < view_.snapshot.eligibilities.size(); ++id)
            sort_pools(view_.snapshot.eligibilities[id], eligibilities_.sets()[id].required,
                       wanted);
    }

    // Required nodes first, those that are asleep last, then those that fewest others want.
    void sort_pools(core::Eligibility& eligible, const NodeSet& required,
                    const std::vector<int>& wanted) {
        const auto rank = [&](core::PoolId pool) {
            return std::tuple(!view_.pools[pool].overlaps(required),
                              view_.snapshot.pools[pool].asleep, wanted[pool]);
        };
        std::stable_sort(eligible.begin(), eligible.end(),
                         [&](auto left, auto right) { return rank(left) < rank(right); });
    }

    // ---- who holds what

    void count_held() {
        for (std::size_t i = 0; i < running_records_.size(); ++i) {
            core::RunningJob& running = view_.snapshot.running[i];
            running.held = view_.count(running_records_[i]->node_bitmap);
            int keep = batch_host(running_records_[i]);
            if (keep >= 0) running.batch_host_pool = static_cast<core::PoolId>(pool_of_[keep]);
        }
    }

    void count_idle_and_shared() {
        std::map<std::pair<int, Time>, int> shared;
        for (int node = 0; node < node_record_count; ++node) {
            if (taken_.has(node) || !eligibilities_.usable().has(node)) continue;
            shared_end_[node] = std::max(shared_end_[node], owned_until_[node]);
            bool idle = shared_end_[node] < 0 && bit_test(idle_node_bitmap, node) &&
                        !bit_test(cg_node_bitmap, node) && bit_test(share_node_bitmap, node);
            if (idle)
                ++view_.snapshot.pools[pool_of_[node]].idle;
            else
                ++shared[{pool_of_[node], std::max(shared_end_[node], now_)}];
        }
        for (const auto& [where, nodes] : shared)
            view_.snapshot.shared_until.push_back(
                {static_cast<core::PoolId>(where.first), nodes, where.second});
    }

    Time now_;
    const Knowledge& known_;
    controller::JobTable& jobs_;
    const Queue& queue_;
    const Refusals& refusals_;
    View& view_;
    WaitingGroups groups_;
    std::vector<Time> shared_end_;   // by node: the last end of a job that shares it, -1 none
    std::vector<Time> owned_until_;  // by node: the end of the group that owns it, -1 none
    std::vector<Time> held_until_;   // by node: the end of the job that has it whole, -1 none
    NodeSet taken_;                  // a job has them whole
    NodeSet yielding_;               // of those, a job that may give them up
    NodeSet failing_;                // of those, the ones that are to be left
    NodeSet maintained_;             // of those, the ones that are reserved for maintenance
    NodeSet asleep_;                 // powered down, or on their way up
    std::vector<job_record_t*> running_records_;
    std::size_t place_ = 0;  // of the queue, that is being read
    std::vector<JobId> sharers_;
    std::map<core::EligibilityId, Time> next_coming_free_;
    std::set<JobId> seen_;  // of jobs with several places in the queue
    Eligibilities eligibilities_;
    std::vector<int> pool_of_;
};

}  // namespace

void View::split_claimed() {
    auto& pending = snapshot.pending;
    for (std::size_t entry = 0; entry < pending.size(); ++entry) {
        if (!pending[entry].claimed || pending[entry].copies == 1) continue;
        core::PendingJob others = pending[entry];
        others.claimed = false;
        --others.copies;
        pending[entry].copies = 1;
        const auto behind = static_cast<std::ptrdiff_t>(entry) + 1;
        pending.insert(pending.begin() + behind, std::move(others));
        places.insert(places.begin() + behind, Queue::Place(places[entry]));
    }
}

std::optional<std::size_t> View::entry_of(JobId id) const {
    const auto& pending = snapshot.pending;
    const auto entry = std::find_if(pending.begin(), pending.end(),
                                    [id](const core::PendingJob& job) { return job.id == id; });
    if (entry == pending.end()) return std::nullopt;
    return static_cast<std::size_t>(entry - pending.begin());
}

NodeSet View::nodes_of(const core::PoolCounts& counts) const {
    NodeSet result;
    for (std::size_t pool = 0; pool < counts.size(); ++pool)
        if (counts[pool] > 0) result |= pools[pool];
    return result;
}

NodeSet View::nodes_of(core::EligibilityId id) const {
    NodeSet result;
    for (core::PoolId pool : snapshot.eligibilities[id]) result |= pools[pool];
    return result;
}

core::PoolCounts View::count(bitstr_t* nodes) const {
    core::PoolCounts counts(pools.size(), 0);
    for (std::size_t pool = 0; pool < pools.size(); ++pool)
        counts[pool] = bit_overlap(nodes, pools[pool].get());
    return counts;
}

bool Refusals::limit(const Queue::Place& place, const job_record_t* job, int nodes) {
    auto [known, is_new] = limited_.try_emplace(account(place, job), nodes);
    const bool is_less = nodes < known->second;
    known->second = std::min(known->second, nodes);
    return is_new || is_less;
}

bool Refusals::hides(const Queue::Place& place, const job_record_t* job, int nodes) const {
    if (hidden_.count(key(place))) return true;
    if (limited_.empty()) return false;
    auto known = limited_.find(account(place, job));
    return known != limited_.end() && nodes >= known->second;
}

Refusals::Account Refusals::account(const Queue::Place& place, const job_record_t* job) {
    return {job->user_id, job->assoc_id, job->qos_id, place.attempt};
}

void read_cluster(Time now, const Knowledge& known, controller::JobTable& jobs, const Queue& queue,
                  const Refusals& refusals, View& view) {
    Builder(now, known, jobs, queue, refusals, view).build();
}

}  // namespace elastic::slurm
