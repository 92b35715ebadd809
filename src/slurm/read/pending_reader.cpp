// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over the sorted queue, which was made in holds of the lock before: the order is as of
// then, everything else as of now, so jobs that do not wait any more are left out.
//
// What Slurm has refused hangs on all that a job asks for, which costs as much to compare as all
// else that is read of it. So only a part of the queue is looked at so closely in each view.
#include "slurm/read/pending_reader.hpp"

#include <algorithm>
#include <optional>

#include "controller/job_sizes.hpp"
#include "slurm/read/hindrance.hpp"
#include "slurm/read/limits.hpp"
#include "slurm/read/request.hpp"
#include "slurm/read/staging.hpp"

namespace elastic::slurm {

namespace {

// So many jobs are looked at closely in each view: the first of the queue, and a part of the
// others.
constexpr std::size_t kFront = 16, kPart = 64;

// Of each partition so many jobs are read, however far down the queue.
constexpr int kFirstOfPartition = 16;

int nodes_wanted(const job_record_t* job, std::uint32_t processors_of_smallest) {
    const job_details* details = job->details;
    const controller::SizeRequest request{
        std::max(details->min_nodes, least_nodes_by_partition(job)), details->max_nodes,
        details->min_cpus};
    return controller::nodes_wanted(request, processors_of_smallest);
}

// With a range of nodes (-N 2-8), what it takes if that lets it start no later.
int most_wanted(job_record_t* job, int least) {
    if (job->details->max_nodes <= static_cast<uint32_t>(least)) return least;
    uint32_t min = 0, wanted = 0, max = 0;
    const uint32_t qos_flags = job->qos_ptr ? job->qos_ptr->flags : 0;
    if (get_node_cnts(job, qos_flags, job->part_ptr, &min, &wanted, &max) != SLURM_SUCCESS)
        return least;
    return std::max(least, static_cast<int>(std::min<uint32_t>(wanted, node_record_count)));
}

// A job array is one record until its tasks start.
int startable_tasks(const job_record_t* job) {
    if (!job->array_recs || job->array_task_id != NO_VAL) return 1;
    return controller::startable_tasks({job->array_recs->task_cnt, job->array_recs->tot_run_tasks,
                                        job->array_recs->max_run_tasks});
}

}  // namespace

void PendingReader::read() {
    const Queue& queue = knowledge_.queue;
    std::vector<std::optional<FoundAttempt>> attempts;
    for (const Attempt& attempt : queue.attempts()) attempts.push_back(find(attempt));
    for (place_ = 0; place_ < queue.places().size(); ++place_) {
        const Queue::Place& place = queue.places()[place_];
        if (is_too_deep(place)) continue;
        job_record_t* job = find_job_record(place.job);
        const auto& attempt = attempts[place.attempt];
        if (!job || !attempt || !IS_JOB_PENDING(job) || !job->details || !job->priority) continue;
        Trying trying(job, *attempt);
        read_job(job, place);
    }
    view_.looked_at += kPart;
    for (const auto& [at, entries] : components_.add_to(view_)) groups_.moved(at, entries);
}

// Beside Slurm's loops: these would not start it in this cycle, whatever nodes it were left.
bool PendingReader::is_too_deep(const Queue::Place& place) {
    const auto deepest = static_cast<std::size_t>(knowledge_.parameters.deepest);
    if (deepest == controller::SchedulerParameters::kUnbounded) return false;
    const bool is_first = read_of_[place.attempt]++ < kFirstOfPartition;
    return place_ >= deepest && !is_first && !knowledge_.claimed.contains(place.job);
}

void PendingReader::read_job(job_record_t* job, const Queue::Place& place) {
    if (job->het_job_id && knowledge_.config.starts == core::Starts::slurm) return;
    const core::EligibilityId eligible = eligibilities_.of(job);
    const int nodes = nodes_wanted(job, eligibilities_.least_processors(eligible));
    if (nodes > most_nodes_by_partition(job)) return;
    if (is_held_back(job, place, nodes)) return;
    const controller::RequestId request = needs_close_look(place) ? request_of(job) : 0;
    if (request && is_barred(request, place)) return;
    const controller::Job& known = sync(knowledge_.jobs, job);

    core::PendingJob pending;
    pending.id = job->job_id;
    pending.submit = static_cast<Time>(job->details->submit_time);
    pending.duration = time_to_run(job, static_cast<time_t>(knowledge_.now));
    pending.eligible = eligible;
    pending.promised = known.promised;
    pending.has_traded = known.has_traded;
    pending.shares_nodes = !has_whole_nodes(job);
    pending.not_before = room_from(job, request, eligible, pending.shares_nodes);
    set_sizes(job, known, nodes, place, pending.elastic);
    defer_until_staged(job, pending);
    pending.alternative = place.one_of_several && seen_.contains(place.job);
    pending.reserves = std::min(pending.reserves, bounds_.reserves(job, pending.alternative));
    const int tasks = pending.alternative ? 1 : startable_tasks(job) - groups_.copies(job->job_id);
    if (tasks < 1) return groups_.add_begun(std::move(pending), place);
    pending.copies = controller::copies_of(tasks, nodes, node_record_count);
    if (!knowledge_.claimed.contains(place.job))
        pending.copies = bounds_.admit(job, pending.copies);
    if (pending.copies < 1) return;
    if (place.one_of_several) seen_.insert(place.job);
    if (job->het_job_id) return components_.add(job, std::move(pending), place, view_);
    if (!pending.alternative) groups_.add(job, known, pending, place, tasks);
    view_.snapshot.pending.push_back(std::move(pending));
    view_.places.push_back(place);
}

// As Slurm's loops: nodes are kept for a job whose data are on their way, and not before.
void PendingReader::defer_until_staged(job_record_t* job, core::PendingJob& pending) {
    const Staging staging = staging_of(job);
    if (staging == Staging::done) return;
    pending.not_before = std::max(pending.not_before, knowledge_.now + 1);
    view_.stages_in = true;
    if (staging == Staging::under_way) return;
    pending.reserves = 0;
    if (!job->start_time) view_.wants_forecast = true;
}

// By what has nothing to do with nodes.
bool PendingReader::is_held_back(job_record_t* job, const Queue::Place& place, int nodes) {
    std::optional<KeptReason> kept;
    if (knowledge_.config.starts == core::Starts::slurm) kept.emplace(job);
    const bool is_claimed = knowledge_.claimed.contains(place.job);
    if (!is_claimed && bounds_.is_stopped(job)) return true;
    if (!is_left_out(knowledge_.refusals, place, job, nodes) && !why_not_now(job)) return false;
    bounds_.note_held_back(job);
    return true;
}

void PendingReader::set_sizes(job_record_t* job, const controller::Job& known, int nodes,
                              const Queue::Place& place, core::Sizing& sizes) const {
    if (!known.elastic || job->het_job_id) {
        sizes.min = sizes.pref = nodes;
        sizes.max = job->het_job_id ? nodes : most_wanted(job, nodes);
        return;
    }
    sizes = known.annotation;
    sizes.speedup.believed =
        knowledge_.experience ? knowledge_.experience->believed(known.program()) : 1;
    sizes.pref = sizes.profile.empty() ? std::clamp(nodes, sizes.min, sizes.max)
                                       : sizes.profile.front().nodes;
    // It may start with more nodes than it asks for, if nothing forbids that.
    if (sizes.malleable)
        sizes.max = knowledge_.refusals.may_start_larger(place.id())
                        ? std::clamp(most_nodes(job), sizes.pref, sizes.max)
                        : sizes.pref;
}

// Those against whom something has been said, the first of the queue, and a part of the others
// that is another one in each view.
bool PendingReader::needs_close_look(const Queue::Place& place) {
    const std::size_t begin = view_.looked_at % knowledge_.queue.places().size();
    return knowledge_.answers.is_noted(place.job) || place_ < kFront ||
           (begin <= place_ && place_ < begin + kPart);
}

bool PendingReader::is_barred(controller::RequestId request, const Queue::Place& place) {
    const controller::Verdict verdict = knowledge_.answers.verdict(request);
    if (verdict == controller::Verdict::unknown) view_.unasked.push_back(place);
    return verdict == controller::Verdict::barred;
}

// Before then it has no room: nodes that it requires are in use, or Slurm has refused it as
// much as is free.  Whoever holds nodes that others can be given is asked for them instead.
Time PendingReader::room_from(job_record_t* job, controller::RequestId request,
                              core::EligibilityId eligible, bool shares) {
    if (knowledge_.claimed.contains(job->job_id)) return 0;
    Time from = 0;
    if (job->details->req_node_bitmap)
        from = use_.required_from(job->details->req_node_bitmap, shares, knowledge_.now);
    if (request && knowledge_.answers.is_refused(request, room_of(job, eligible, shares)))
        from = std::max(from, next_coming_free(eligible));
    return from;
}

controller::NodeMask PendingReader::room_of(const job_record_t* job, core::EligibilityId eligible,
                                            bool shares) {
    NodeSet room = knowledge_.agreed.room_for(job->job_id, shares);
    return mask_of(room &= eligibilities_.sets()[eligible].nodes);
}

Time PendingReader::next_coming_free(core::EligibilityId eligible) {
    const auto [found, is_new] = next_coming_free_.try_emplace(eligible, 0);
    if (is_new)
        found->second =
            use_.next_coming_free(eligibilities_.sets()[eligible].nodes, knowledge_.now);
    return found->second;
}

}  // namespace elastic::slurm
