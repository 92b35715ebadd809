// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm lists and sorts, so that its dependencies, limits, priorities and tiers hold.  Between the
// two holds of the lock Slurm may forget a job, a partition or a reservation that a record of the
// list points to; such records are dropped before anything looks into them.
#include "slurm/read/queue.hpp"

#include <algorithm>

#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

int is_same(void* left, void* right) {
    return left == right;
}

bool is_in(xlist* list, void* record) {
    return list && list_find_first(list, is_same, record);
}

// Nothing of Slurm's is looked into but its lists and the record itself.
int is_stale(void* element, void*) {
    auto* record = static_cast<job_queue_rec_t*>(element);
    if (!record->job_ptr || find_job_record(record->job_id) != record->job_ptr) return true;
    if (!is_in(part_list, record->part_ptr)) return true;
    return record->resv_ptr && !is_in(resv_list, record->resv_ptr);
}

// As far as that can be said without Slurm's own tests, which cost most of listing the queue.
template <class Visit>
void for_each_waiting(Visit&& visit) {
    const time_t now = time(nullptr);
    for_each_job([&](const job_record_t* job) {
        if (IS_JOB_PENDING(job) && may_start(job, now)) visit(job->job_id);
    });
}

}  // namespace

// Slurm's list is nearly in the order of ids, so the next job is most often the next one there.
bool Queue::is_current() const {
    bool is_current = true;
    auto next = waiting_.begin();
    for_each_waiting([&](JobId job) {
        if (next == waiting_.end() || *next != job)
            next = std::lower_bound(waiting_.begin(), waiting_.end(), job);
        if (next == waiting_.end() || *next != job)
            is_current = false;
        else
            ++next;
    });
    return is_current;
}

void Queue::list() {
    constexpr bool kForgetStarts = false;  // they are those of a forecast, made less often
    records_.reset(build_job_queue(kForgetStarts, false));
    waiting_.clear();
    for_each_waiting([this](JobId job) { waiting_.push_back(job); });
    std::sort(waiting_.begin(), waiting_.end());
}

void Queue::sort() {
    list_delete_all(records_.get(), is_stale, nullptr);
    sort_job_queue(records_.get());
    places_.clear();
    attempts_.clear();
    ListIterator iterator = list_iterator_create(records_.get());
    while (auto* record = static_cast<job_queue_rec_t*>(list_next(iterator)))
        places_.push_back({record->job_ptr->job_id, index_of(record)});
    list_iterator_destroy(iterator);
    found_.clear();
}

std::uint32_t Queue::index_of(const job_queue_rec_t* record) {
    const FoundAttempt attempt{record->part_ptr, record->resv_ptr, record->use_prefer,
                               compat::qos_of(record)};
    auto same = std::find(found_.begin(), found_.end(), attempt);
    auto index = static_cast<std::uint32_t>(same - found_.begin());
    if (same == found_.end()) {
        found_.push_back(attempt);
        attempts_.push_back({attempt.partition->name,
                             attempt.reservation ? attempt.reservation->name : "",
                             attempt.preferred, attempt.qos});
    }
    return index;
}

void Queue::finish() {
    records_.reset();
    if (attempts_.size() > 1) mark_several_places();
}

void Queue::mark_several_places() {
    std::vector<Place*> by_job;
    for (Place& place : places_) by_job.push_back(&place);
    std::sort(by_job.begin(), by_job.end(),
              [](const Place* left, const Place* right) { return left->job < right->job; });
    for (std::size_t i = 1; i < by_job.size(); ++i)
        if (by_job[i]->job == by_job[i - 1]->job)
            by_job[i]->one_of_several = by_job[i - 1]->one_of_several = true;
}

}  // namespace elastic::slurm
