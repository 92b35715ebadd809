// SPDX-License-Identifier: MIT
// What has begun and is not said to be over, since the controller was killed, lasts until the next
// controller begins, or the journal ends.
#include "journal/observed.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace elastic::journal {
namespace {

constexpr double kHour = 3600;

class Observation {
  public:
    void feed(const Event& event) {
        now_ = event.time;
        names_.learn(event);
        std::visit([this](const auto& e) { on(e); }, event.what);
    }

    std::vector<ObservedJob> finish() {
        end_all();
        for (auto& [job, since] : waiting_) at(job).earlier = now_ - since;
        for (auto& [job, index] : index_) {
            jobs_[index].label = names_.of(job);
            std::tie(jobs_[index].user, jobs_[index].name) = submitted_[job];
        }
        return std::move(jobs_);
    }

  private:
    struct Open {
        Would would;
        Time since = 0;
    };

    template <class E>
    void on(const E&) {}

    void on(const Submit& e) { submitted_[e.job] = {e.user, e.name}; }

    void on(const Controller& e) {
        if (e.what == Controller::What::start || e.what == Controller::What::resume) end_all();
    }

    void on(const Start& e) {
        const auto waiting = waiting_.find(e.job);
        if (waiting == waiting_.end()) return;
        at(e.job).earlier = now_ - waiting->second;
        waiting_.erase(waiting);
    }

    // One that ends without having run would have run.
    void on(const End& e) {
        if (e.count == 0) on(Start{e.job, "", 0});
    }

    void on(const Would& e) {
        const auto key = std::pair(e.what, e.job);
        end(key);
        if (e.lasted >= 0) return;
        open_[key] = {e, now_};
        ObservedJob& job = at(e.job);
        if (e.what != Would::What::start) return;
        job.would_start = true;
        waiting_.try_emplace(e.job, now_);
    }

    void end(std::pair<Would::What, JobId> key) {
        const auto found = open_.find(key);
        if (found == open_.end()) return;
        const auto& [would, since] = found->second;
        const double hours = would.count * (now_ - since) / kHour;
        if (would.what == Would::What::expand) at(would.job).taken += hours;
        if (would.what == Would::What::shrink) at(would.job).given += hours;
        open_.erase(found);
    }

    void end_all() {
        while (!open_.empty()) end(open_.begin()->first);
    }

    ObservedJob& at(JobId job) {
        const auto [found, is_new] = index_.try_emplace(job, jobs_.size());
        if (is_new) jobs_.emplace_back();
        return jobs_[found->second];
    }

    Time now_ = 0;
    JobNames names_;
    std::vector<ObservedJob> jobs_;
    std::unordered_map<JobId, std::size_t> index_;  // into jobs_
    std::unordered_map<JobId, std::pair<std::string, std::string>> submitted_;
    std::map<std::pair<Would::What, JobId>, Open> open_;
    std::map<JobId, Time> waiting_;  // jobs that would have started by now, since when
};

}  // namespace

std::vector<ObservedJob> observed(const std::vector<Line>& lines) {
    Observation observation;
    for (const Line& line : lines) observation.feed(line.event);
    return observation.finish();
}

}  // namespace elastic::journal
