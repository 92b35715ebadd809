// SPDX-License-Identifier: MIT
// Arrivals in order beside a heap of the groups' ends; at each instant the core is asked which
// groups begin.  A group is known to its end when it begins, since nothing joins or leaves it.
//
// Always holds: groups that run at one time have no more nodes than the machine; each job is in one
// group, of its own type, which began after its submission.
#include "simulator/packets.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>

#include "simulator/median.hpp"

namespace elastic::simulator {
namespace {

using core::TypeQueue;

// The jobs of a type that wait, and what the type has seen.
struct Waiting {
    std::deque<int> jobs;  // by submit time
    Duration work = 0;
    Duration longest_wait = 0;  // of those that have left
};

struct Release {
    Time at = 0;
    int nodes = 0;
    bool operator>(const Release& other) const { return at > other.at; }
};

class Machine {
  public:
    Machine(const PacketWorkload& workload, const PacketOptions& options)
        : workload_(workload), options_(options), free_(workload.nodes) {
        waiting_.resize(workload.types.size());
        outcome_.jobs.resize(workload.jobs.size());
    }

    PacketOutcome run() {
        while (next_ < workload_.jobs.size() || !releases_.empty()) {
            now_ = next_instant();
            release();
            arrive();
            if (free_ > 0) start_groups();
        }
        return std::move(outcome_);
    }

  private:
    Time next_instant() const {
        const Time arrival = next_ < workload_.jobs.size() ? workload_.jobs[next_].submit : kNever;
        return releases_.empty() ? arrival : std::min(arrival, releases_.top().at);
    }

    void release() {
        for (; !releases_.empty() && releases_.top().at <= now_; releases_.pop())
            free_ += releases_.top().nodes;
    }

    void arrive() {
        for (; next_ < workload_.jobs.size() && workload_.jobs[next_].submit <= now_; ++next_) {
            const PacketJob& job = workload_.jobs[next_];
            Waiting& queue = waiting_[static_cast<std::size_t>(job.type)];
            if (queue.jobs.empty()) busy_.push_back(job.type);
            queue.jobs.push_back(static_cast<int>(next_));
            queue.work += job.work;
        }
    }

    // How many jobs, and with what work, a group of the queue would have.
    int group_jobs(const Waiting& queue) const {
        return options_.alone ? 1 : static_cast<int>(queue.jobs.size());
    }

    TypeQueue described(int type) const {
        const Waiting& waiting = waiting_[static_cast<std::size_t>(type)];
        const PacketType& kind = workload_.types[static_cast<std::size_t>(type)];
        const PacketJob& first = workload_.jobs[static_cast<std::size_t>(waiting.jobs.front())];
        TypeQueue queue;
        queue.jobs = group_jobs(waiting);
        queue.work = options_.alone ? first.work : waiting.work;
        queue.initialisation = kind.initialisation;
        queue.priority = kind.priority;
        queue.first_submit = first.submit;
        queue.longest_wait = core::longest_wait(options_.longest_wait, first.submit, now_,
                                                waiting.longest_wait, options_.bound);
        return queue;
    }

    // Alone, a queue that has started a job has another: ask until nothing starts.
    void start_groups() {
        do {
            queues_.clear();
            for (const int type : busy_) queues_.push_back(described(type));
            const auto starts = core::start_groups(queues_, options_.scale_ratio, free_, now_);
            if (starts.empty()) return;
            for (const core::GroupStart& start : starts) begin(busy_[start.queue], start.nodes);
            std::erase_if(busy_, [&](int type) {
                return waiting_[static_cast<std::size_t>(type)].jobs.empty();
            });
        } while (options_.alone && free_ > 0);
    }

    void begin(int type, int nodes) {
        Waiting& queue = waiting_[static_cast<std::size_t>(type)];
        const Duration initialisation =
            workload_.types[static_cast<std::size_t>(type)].initialisation;
        const int jobs = group_jobs(queue);
        Time at = now_ + initialisation;
        for (int i = 0; i < jobs; ++i) {
            const auto id = static_cast<std::size_t>(queue.jobs[static_cast<std::size_t>(i)]);
            PacketJobResult& job = outcome_.jobs[id];
            job.group = static_cast<int>(outcome_.groups.size());
            job.start = at;
            job.end = at += workload_.jobs[id].work / nodes;
            queue.work -= workload_.jobs[id].work;
            queue.longest_wait = std::max(queue.longest_wait, now_ - workload_.jobs[id].submit);
        }
        queue.jobs.erase(queue.jobs.begin(), queue.jobs.begin() + jobs);
        // Sums of differences drift; an empty queue has none.
        if (queue.jobs.empty()) queue.work = 0;
        outcome_.groups.push_back({type, nodes, jobs, now_, initialisation, at});
        releases_.push({at, nodes});
        free_ -= nodes;
    }

    const PacketWorkload& workload_;
    const PacketOptions& options_;
    int free_;
    Time now_ = 0;
    std::size_t next_ = 0;          // of the jobs, the first that has not arrived
    std::vector<Waiting> waiting_;  // by type
    std::vector<int> busy_;         // types whose queue is not empty
    std::vector<TypeQueue> queues_;
    std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
    PacketOutcome outcome_;
};

// Of [begin, end] what lies before `limit`.
Duration until(Time limit, Time begin, Time end) {
    return std::max(0.0, std::min(end, limit) - begin);
}

}  // namespace

Duration initialisation_for(double share, Duration total, std::size_t jobs) {
    return share / (1 - share) * total / static_cast<double>(jobs);
}

PacketOutcome simulate_packets(const PacketWorkload& workload, const PacketOptions& options) {
    return Machine(workload, options).run();
}

PacketSummary summarise(const PacketWorkload& workload, const PacketOutcome& outcome) {
    PacketSummary summary;
    if (workload.jobs.empty()) return summary;
    const Time last = workload.jobs.back().submit;
    double held = 0, initialising = 0, waited = 0;
    for (const PacketGroup& group : outcome.groups) {
        held += group.nodes * until(last, group.start, group.end);
        initialising += group.nodes * until(last, group.start, group.start + group.initialisation);
        summary.group_nodes += group.nodes / static_cast<double>(outcome.groups.size());
    }
    std::vector<double> queue_times;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Time submit = workload.jobs[i].submit;
        const Time start = outcome.groups[static_cast<std::size_t>(outcome.jobs[i].group)].start;
        queue_times.push_back(start - submit);
        summary.mean_turnaround +=
            (outcome.jobs[i].end - submit) / static_cast<double>(workload.jobs.size());
        waited += until(last, submit, start);
    }
    summary.mean_queue_time = std::accumulate(queue_times.begin(), queue_times.end(), 0.0) /
                              static_cast<double>(queue_times.size());
    summary.median_queue_time = median(queue_times);
    summary.groups = static_cast<std::int64_t>(outcome.groups.size());
    if (last <= 0) return summary;
    summary.full_utilisation = held / (workload.nodes * last);
    summary.useful_utilisation = (held - initialising) / (workload.nodes * last);
    summary.queue_length = waited / last;
    return summary;
}

}  // namespace elastic::simulator
