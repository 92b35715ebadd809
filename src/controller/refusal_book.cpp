// SPDX-License-Identifier: MIT
// Slurm has no event that says that a job might now have room, and to ask costs slurmctld's lock
// and a line or two of its log.  So what was refused is kept by request, with what it hangs on: as
// long as no node is free that was not then, and no job has left a node that is shared, there is no
// more room than there was.  Whether any nodes meet a request hangs on the configuration alone.
//
// Nothing of it is saved: after a restart each request is asked once more.
#include "controller/refusal_book.hpp"

#include <algorithm>
#include <utility>

namespace elastic::controller {

namespace {

constexpr Duration kFirst = 30, kLongest = 300;  // until it is asked again
constexpr Duration kKept = 3600;                 // what nobody has asked for

}  // namespace

void RefusalBook::begin_look(std::uint64_t configuration, Time now) {
    if (configuration != configuration_) answers_.clear();
    configuration_ = configuration;
    now_ = now;
    ++look_;
}

void RefusalBook::share(std::vector<JobId> sharers) {
    std::ranges::sort(sharers);
    if (!std::ranges::includes(sharers, sharers_)) ++departures_;
    sharers_ = std::move(sharers);
}

bool RefusalBook::is_noted(JobId job) {
    const auto found = noted_.find(job);
    if (found == noted_.end()) return false;
    found->second = look_;
    return true;
}

void RefusalBook::note(JobId job) {
    noted_[job] = look_;
}

void RefusalBook::end_look() {
    std::erase_if(noted_, [this](const auto& job) { return job.second < look_; });
    std::erase_if(answers_,
                  [this](const auto& answer) { return answer.second.used + kKept < now_; });
}

RefusalBook::Answer* RefusalBook::find(RequestId request) {
    const auto found = answers_.find(request);
    if (found == answers_.end()) return nullptr;
    found->second.used = now_;
    return &found->second;
}

Verdict RefusalBook::verdict(RequestId request) {
    const Answer* answer = find(request);
    return answer ? answer->verdict : Verdict::unknown;
}

void RefusalBook::judge(RequestId request, Verdict verdict) {
    Answer& answer = answers_[request];
    answer.verdict = verdict;
    answer.used = now_;
}

void RefusalBook::refuse(RequestId request, NodeMask room, bool shares, Time latest) {
    Answer& answer = answers_[request];
    const bool is_repeated = answer.room.size() == room.size() && room.is_subset_of(answer.room);
    answer.patience = is_repeated ? std::min(2 * answer.patience, kLongest) : kFirst;
    answer.room = std::move(room);
    answer.shares = shares;
    answer.departures = departures_;
    answer.until = std::min(now_ + answer.patience, latest);
    answer.used = now_;
}

bool RefusalBook::is_refused(RequestId request, const NodeMask& room) {
    const Answer* answer = find(request);
    return answer && answer->room.size() == room.size() && room.is_subset_of(answer->room) &&
           now_ < answer->until && (!answer->shares || answer->departures == departures_);
}

}  // namespace elastic::controller
