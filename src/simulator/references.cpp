// SPDX-License-Identifier: MIT
// Shares no code with the engine and the planner, on purpose: what they are measured against must
// not have their mistakes.
//
// Always: lower_bound() <= what simulate() gives, for every policy
// (test/property/simulation_elastic_test.cpp).
#include "simulator/references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <queue>
#include <vector>

#include "core/model/speedup.hpp"

namespace elastic::simulator {
namespace {

// ---- what a job takes at least

struct Limits {
    int min = 1, max = 1;
};

Limits limits(const Workload& workload, const Job& job) {
    if (job.elasticity < 0) return {job.nodes, job.nodes};
    const core::Annotation& a = workload.elasticities[job.elasticity].annotation;
    return {a.min, a.max};
}

Duration run_time(const Workload& workload, const Job& job, int nodes) {
    if (job.elasticity < 0) return job.run;
    const core::SpeedupModel& truth = workload.elasticities[job.elasticity].true_speedup;
    return core::rescale(job.run, job.nodes, nodes, truth, job.nodes);
}

// The size of the least run time.  In all models the run time falls up to some size and rises from
// there.
int fastest_size(const Workload& workload, const Job& job) {
    auto [low, high] = limits(workload, job);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (run_time(workload, job, middle) > run_time(workload, job, middle + 1))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// What bounds are made of.
struct Task {
    Time release = 0;
    Duration alone = 0;   // the least run time
    double work = 0;      // the least time on the machine that is as fast as all nodes together
    Duration logged = 0;  // at the preferred size
};

// In the order of release.  In all models the least node-seconds are those at the smallest size.
std::vector<Task> tasks(const Workload& workload) {
    std::vector<Task> tasks;
    tasks.reserve(workload.jobs.size());
    for (const Job& job : workload.jobs) {
        const int least = limits(workload, job).min;
        tasks.push_back({job.submit, run_time(workload, job, fastest_size(workload, job)),
                         run_time(workload, job, least) * least / workload.nodes, job.run});
    }
    std::ranges::stable_sort(tasks, {}, &Task::release);
    return tasks;
}

// ---- one machine as fast as all nodes together

// Works at any time on the released task whose `key(task, left)` is least; tells `worked(index,
// from, to)` of each stretch. `key` is asked when a task is released and, if it changes with what
// is left, when it is interrupted.
template <class Key, class Worked>
void run_one_machine(const std::vector<Task>& tasks, Key key, Worked worked) {
    struct Waiting {
        double key;
        std::size_t task;
        double left;
        bool operator<(const Waiting& other) const {  // for std::priority_queue: the least on top
            return key != other.key ? key > other.key : task > other.task;
        }
    };
    std::priority_queue<Waiting> waiting;
    std::size_t next = 0;
    Time now = 0;
    while (next < tasks.size() || !waiting.empty()) {
        if (waiting.empty()) now = std::max(now, tasks[next].release);
        for (; next < tasks.size() && tasks[next].release <= now; ++next)
            waiting.push({key(tasks[next], tasks[next].work), next, tasks[next].work});
        Waiting at_work = waiting.top();
        waiting.pop();
        const Time until = next < tasks.size() ? tasks[next].release : kNever;
        if (now + at_work.left <= until) {
            worked(at_work.task, now, now + at_work.left);
            now += at_work.left;
            continue;
        }
        worked(at_work.task, now, until);
        at_work.left -= until - now;
        now = until;
        at_work.key = key(tasks[at_work.task], at_work.left);
        waiting.push(at_work);
    }
}

// Sum of turnarounds of the shortest remaining processing time first.
double srpt(const std::vector<Task>& tasks) {
    std::vector<Time> ends(tasks.size());
    run_one_machine(
        tasks, [](const Task&, double left) { return left; },
        [&](std::size_t task, Time, Time to) { ends[task] = to; });
    double sum = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) sum += ends[i] - tasks[i].release;
    return sum;
}

// Weighted sum of turnarounds by mean busy times.
template <class Weight>
double mean_busy_times(const std::vector<Task>& tasks, Weight weight) {
    double sum = 0;
    run_one_machine(
        tasks, [&](const Task& task, double) { return task.work / weight(task); },
        [&](std::size_t i, Time from, Time to) {
            const Task& task = tasks[i];
            sum += weight(task) * ((from + to) / 2 - task.release) * (to - from) / task.work;
        });
    for (const Task& task : tasks) sum += weight(task) * task.alone / 2;
    return sum;
}

// A job may be counted by its least run time alone, whatever the others do, and then be left out of
// the one machine, on which the rest only ends sooner without it.  Which jobs are best counted so:
// those that are long for their work, since they use few nodes, and hardly ever wait for them.  The
// largest of some splits by that; `alone(task)` is the least of one, `rest(tasks)` of the others.
template <class Alone, class Rest>
double best_split(const std::vector<Task>& tasks, Alone alone, Rest rest) {
    constexpr std::size_t kSplits = 16;
    std::vector<double> stretches;
    for (const Task& task : tasks) stretches.push_back(task.alone / task.work);
    std::ranges::sort(stretches);
    double best = 0;
    for (std::size_t i = 0; i <= kSplits; ++i) {
        const std::size_t among = i * stretches.size() / kSplits;
        const double most = among < stretches.size() ? stretches[among] : kNever;
        double sum = 0;
        std::vector<Task> others;
        for (const Task& task : tasks) {
            if (task.alone / task.work < most)
                others.push_back(task);
            else
                sum += alone(task);
        }
        best = std::max(best, sum + rest(others));
    }
    return best;
}

Duration least_makespan(const std::vector<Task>& tasks) {
    Time end = 0, busy_until = 0;
    for (const Task& task : tasks) {
        end = std::max(end, task.release + task.alone);
        busy_until = std::max(busy_until, task.release) + task.work;
    }
    return std::max(end, busy_until) - tasks.front().release;
}

// ---- the greedy schedule

// Jobs that wait, by rank of their work: which is the first from a rank on that needs at most so
// many nodes?  A tournament tree of the least needs.
class WaitingJobs {
  public:
    explicit WaitingJobs(std::size_t ranks)
        : leaves_(std::bit_ceil(std::max<std::size_t>(ranks, 1))) {
        least_.assign(2 * leaves_, kNone);
    }
    void add(std::size_t rank, int nodes) { set(rank, nodes); }
    void remove(std::size_t rank) { set(rank, kNone); }
    // `end()` if there is none.
    std::size_t first(std::size_t from, int nodes) const {
        std::size_t node = from + leaves_;
        if (from >= leaves_) return end();
        while (least_[node] > nodes) {
            while (node % 2 == 1) node /= 2;  // a right child: its sibling is behind us
            if (node == 0) return end();
            ++node;
        }
        while (node < leaves_) node = 2 * node + (least_[2 * node] > nodes ? 1 : 0);
        return node - leaves_;
    }
    std::size_t end() const { return leaves_; }

  private:
    static constexpr int kNone = INT32_MAX;
    void set(std::size_t rank, int nodes) {
        std::size_t node = rank + leaves_;
        least_[node] = nodes;
        while ((node /= 2) > 0) least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
    }

    std::size_t leaves_;
    std::vector<int> least_;
};

class Greedy {
  public:
    explicit Greedy(const Workload& workload);
    std::vector<JobResult> run();

  private:
    struct Running {
        std::uint32_t job;
        int min, most, size;  // `most`: more would not make it faster
        double left;          // share of its work
        Time until;           // as the size is now
        double work;          // node-seconds at the preferred size
        double remaining() const { return left * work; }
    };
    struct End {
        Time at;
        int nodes;
        bool operator<(const End& other) const { return at > other.at; }
    };

    double work(std::uint32_t job) const {
        return workload_.jobs[job].run * workload_.jobs[job].nodes;
    }
    bool is_malleable(std::uint32_t job) const {
        const int e = workload_.jobs[job].elasticity;
        return e >= 0 && workload_.elasticities[e].annotation.malleable;
    }
    Limits needs(std::uint32_t job) const {
        const Job& j = workload_.jobs[job];
        return is_malleable(job) ? limits(workload_, j) : Limits{j.nodes, j.nodes};
    }
    Time next_event() const;
    void advance(Time now);
    void share_out();
    int start(std::uint32_t job, int free);
    void resize(Running& running, int size);

    const Workload& workload_;
    std::vector<std::uint32_t> arrivals_, by_work_;  // jobs
    std::vector<std::size_t> rank_;                  // by job
    WaitingJobs waiting_;
    std::vector<Running> running_;   // the malleable ones
    std::priority_queue<End> ends_;  // of the others
    std::size_t next_arrival_ = 0;
    int free_ = 0;  // but for what others hold
    Time now_ = 0;
    std::vector<JobResult> results_;
};

std::vector<std::uint32_t> all_jobs(const Workload& workload) {
    std::vector<std::uint32_t> jobs(workload.jobs.size());
    std::iota(jobs.begin(), jobs.end(), 0U);
    return jobs;
}

Greedy::Greedy(const Workload& workload)
    : workload_(workload),
      arrivals_(all_jobs(workload)),
      by_work_(arrivals_),
      rank_(arrivals_.size()),
      waiting_(arrivals_.size()),
      free_(workload.nodes),
      results_(arrivals_.size()) {
    std::ranges::stable_sort(arrivals_, {}, [&](auto job) { return workload.jobs[job].submit; });
    std::ranges::stable_sort(by_work_, {}, [&](auto job) { return work(job); });
    for (std::size_t rank = 0; rank < by_work_.size(); ++rank) rank_[by_work_[rank]] = rank;
}

Time Greedy::next_event() const {
    Time next = ends_.empty() ? kNever : ends_.top().at;
    if (next_arrival_ < arrivals_.size())
        next = std::min(next, workload_.jobs[arrivals_[next_arrival_]].submit);
    for (const Running& running : running_) next = std::min(next, running.until);
    return next;
}

// Ends and arrivals up to then.
void Greedy::advance(Time now) {
    for (; !ends_.empty() && ends_.top().at <= now; ends_.pop()) free_ += ends_.top().nodes;
    for (Running& running : running_) {
        const Duration to_go = running.until - now_;
        if (running.until <= now)
            results_[running.job].end = running.until;
        else
            running.left *= (running.until - now) / to_go;
    }
    std::erase_if(running_, [&](const Running& running) { return running.until <= now; });
    for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
        const std::uint32_t job = arrivals_[next_arrival_];
        if (workload_.jobs[job].submit > now) break;
        waiting_.add(rank_[job], needs(job).min);
    }
    now_ = now;
}

void Greedy::resize(Running& running, int size) {
    running.size = size;
    running.until = now_ + running.left * run_time(workload_, workload_.jobs[running.job], size);
}

// How many nodes it takes of those that are free.
int Greedy::start(std::uint32_t job, int free) {
    waiting_.remove(rank_[job]);
    const Job& j = workload_.jobs[job];
    const int min = needs(job).min;
    JobResult& result = results_[job];
    result.start = now_;
    if (!is_malleable(job)) {
        result.end = now_ + j.run;
        result.nodes_start = result.nodes_end = min;
        ends_.push({result.end, min});
        free_ -= min;
        return min;
    }
    const int most = std::max(min, fastest_size(workload_, j));
    Running& running = running_.emplace_back(Running{job, min, most, 0, 1, 0, work(job)});
    resize(running, std::min(most, free));
    result.nodes_start = result.nodes_end = running.size;
    return running.size;
}

void Greedy::share_out() {
    std::ranges::sort(running_, {}, [](const Running& r) { return r.remaining(); });
    int free = free_;
    for (const Running& running : running_) free -= running.min;
    const std::size_t before = running_.size();
    std::size_t rank = 0;
    for (std::size_t i = 0;;) {
        rank = waiting_.first(rank, free);
        const bool none = rank == waiting_.end();
        if (none && i == before) return;
        if (!none && (i == before || work(by_work_[rank]) < running_[i].remaining())) {
            free -= start(by_work_[rank], free);
            continue;
        }
        Running& running = running_[i++];
        const int more = std::min(free, running.most - running.min);
        free -= more;
        if (running.min + more != running.size) resize(running, running.min + more);
    }
}

std::vector<JobResult> Greedy::run() {
    for (Time next = next_event(); next < kNever; next = next_event()) {
        advance(next);
        share_out();
    }
    return std::move(results_);
}

Means means(const Workload& workload, const std::vector<JobResult>& results) {
    Means sum;
    Time first = kNever, last = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Job& job = workload.jobs[i];
        sum.turnaround += turnaround(job, results[i]);
        sum.slowdown += slowdown(job, results[i]);
        sum.bounded_slowdown += bounded_slowdown(job, results[i]);
        first = std::min(first, job.submit);
        last = std::max(last, results[i].end);
    }
    const auto jobs = static_cast<double>(results.size());
    return {sum.turnaround / jobs, sum.slowdown / jobs, sum.bounded_slowdown / jobs, last - first};
}

Json to_json(const Means& m) {
    return Json::object()
        .set("turnaround", m.turnaround)
        .set("slowdown", m.slowdown)
        .set("bounded_slowdown", m.bounded_slowdown)
        .set("makespan", m.makespan);
}

}  // namespace

Means lower_bound(const Workload& workload) {
    if (workload.jobs.empty()) return {};
    const std::vector<Task> all = tasks(workload);
    const auto slowdown = [&](auto weight, auto alone) {
        return best_split(all, alone, [&](const std::vector<Task>& rest) {
            return mean_busy_times(rest, weight);
        });
    };
    const auto bounded = [](const Task& task) { return 1 / std::max(task.logged, kSlowdownBound); };
    Means least;  // sums, at first
    least.turnaround = best_split(
        all, [](const Task& task) { return task.alone; },
        [](const std::vector<Task>& rest) {
            return std::max(srpt(rest), mean_busy_times(rest, [](const Task&) { return 1.0; }));
        });
    least.slowdown = slowdown([](const Task& task) { return 1 / task.logged; },
                              [](const Task& task) { return task.alone / task.logged; });
    least.bounded_slowdown = slowdown(
        bounded, [&](const Task& task) { return std::max(1.0, task.alone * bounded(task)); });
    const auto jobs = static_cast<double>(all.size());
    return {least.turnaround / jobs, least.slowdown / jobs, least.bounded_slowdown / jobs,
            least_makespan(all)};
}

Means greedy(const Workload& workload) {
    if (workload.jobs.empty()) return {};
    return means(workload, Greedy(workload).run());
}

std::string to_text(const References& r, const Summary& s) {
    std::string text = fmt::format("{:<26}{:>14}{:>14}{:>14}\n", "references (means)",
                                   "this policy", "no less than", "one schedule");
    const auto row = [&](const char* name, double here, double greedy, double least,
                         const char* unit) {
        fmt::format_to(std::back_inserter(text), "  {:<24}{:>14.2f}{:>14.2f}{:>14.2f}{}\n", name,
                       here, least, greedy, unit);
    };
    row("turnaround", s.turnaround.mean, r.greedy.turnaround, r.least.turnaround, "  s");
    row("slowdown", s.slowdown.mean, r.greedy.slowdown, r.least.slowdown, "");
    row("bounded slowdown", s.bounded_slowdown.mean, r.greedy.bounded_slowdown,
        r.least.bounded_slowdown, "");
    row("makespan", s.makespan, r.greedy.makespan, r.least.makespan, "  s");
    return text;
}

Json to_json(const References& r) {
    return Json::object().set("greedy", to_json(r.greedy)).set("least", to_json(r.least));
}

}  // namespace elastic::simulator
