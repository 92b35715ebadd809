// SPDX-License-Identifier: MIT
// From events to spans: who held which node from when to when.
//
// Unlike Replay this judges nothing: it draws the best picture of whatever the journal says.
//
// Always holds: a span ends no earlier than it begins, and lies in [Timeline::from, Timeline::to].
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "journal/gantt.hpp"

namespace elastic::journal {
namespace {

class Builder {
  public:
    void feed(const Event& event) {
        if (!std::exchange(begun_, true)) result_.from = result_.to = event.time;
        now_ = result_.to = std::max(event.time, result_.to);
        std::visit([this](const auto& e) { on(e); }, event.what);
    }

    Timeline take() {
        for (const auto& [id, held] : held_)
            for (const auto& [row, span] : held) result_.rows[row].spans[span].to = result_.to;
        for (const auto& [id, held] : held_) result_.jobs[job_index_.at(id)].end = result_.to;
        while (!waiting_.empty()) end_wait(*waiting_.begin());
        for (Row& row : result_.rows)
            std::stable_sort(row.spans.begin(), row.spans.end(),
                             [](const Span& a, const Span& b) { return a.from < b.from; });
        sort_rows();
        result_.nodes = std::max<int>(result_.nodes, static_cast<int>(result_.rows.size()));
        return std::move(result_);
    }

  private:
    using SpanByRow = std::unordered_map<std::size_t, std::size_t>;

    // Whoever still runs when a journal resumes is said anew, and then goes on with what it had.
    void on(const Controller& e) {
        result_.nodes = std::max(result_.nodes, e.nodes);
        if (e.what != Controller::What::resume) return;
        resumed_at_ = now_;
        resumed_ = held_;
        while (!held_.empty()) on(End{held_.begin()->first, "", 0});
    }

    void on(const Step& e) {
        const auto known = job_index_.find(e.job);
        if (known == job_index_.end() || !held_.contains(e.job)) return;
        end_wait(e.job);
        result_.jobs[known->second].steps.push_back({now_, e.number, e.nodes, now_});
        if (e.held < e.nodes) waiting_.insert(e.job);
    }

    void on(const Initialise& e) {
        const auto known = job_index_.find(e.job);
        const auto held = held_.find(e.job);
        const auto names = expand_hostlist(e.nodes);
        if (known == job_index_.end() || held == held_.end() || !names) return;
        result_.jobs[known->second].type = printable(e.type);
        for (const std::string& name : *names) {
            const auto row = row_index_.find(name);
            if (row == row_index_.end() || !held->second.contains(row->second)) continue;
            result_.rows[row->second].spans[held->second.at(row->second)].initialised = true;
        }
    }

    // What the step lacked is there, or it is over.
    void end_wait(JobId id) {
        if (waiting_.erase(id)) result_.jobs[job_index_.at(id)].steps.back().had_at = now_;
    }
    template <class E>
    void on(const E&) {}

    void on(const Submit& e) {
        const auto [known, is_new] = submitted_.try_emplace(e.job, e, now_);
        if (!is_new && now_ != resumed_at_) known->second = {e, now_};
    }

    void on(const Start& e) {
        const auto [it, is_new] = job_index_.try_emplace(e.job, result_.jobs.size());
        if (is_new) result_.jobs.emplace_back();
        JobHistory& job = result_.jobs[it->second];
        if (const auto known = submitted_.find(e.job); known != submitted_.end()) {
            const auto& [submit, at] = known->second;
            job.name = submit.name;
            job.job_class = submit.job_class;
            job.user = submit.user;
            job.submit = at;
        }
        job.label = e.array.empty() ? std::to_string(e.job) : printable(e.array);
        job.state.clear();
        const SpanByRow before = held_before(e.job);
        if (before.empty()) job.start = now_;
        if (before.empty() || job.sizes.back() != e.count) job.sizes.push_back(e.count);
        held_.try_emplace(e.job);
        take_nodes(e.job, e.nodes, false, before);
    }

    // The spans of a job that ran when the journal resumed and is said anew now.
    SpanByRow held_before(JobId id) {
        const auto before = resumed_.extract(id);
        return before && now_ == resumed_at_ ? before.mapped() : SpanByRow{};
    }

    void on(const Resize& e) {
        if (!held_.contains(e.job)) return;
        JobHistory& job = result_.jobs[job_index_.at(e.job)];
        job.sizes.push_back(e.to);
        job.changes.push_back({now_, e.from, e.to, e.reason});
        if (!job.steps.empty() && e.to >= job.steps.back().nodes) end_wait(e.job);
        if (e.kind == ResizeKind::expand)
            take_nodes(e.job, e.nodes, true);
        else
            give_nodes(e.job, e.nodes);
    }

    void on(const End& e) {
        const auto it = held_.find(e.job);
        if (it == held_.end()) return;
        end_wait(e.job);
        for (const auto& [row, span] : it->second) result_.rows[row].spans[span].to = now_;
        JobHistory& job = result_.jobs[job_index_.at(e.job)];
        job.state = e.state;
        job.end = now_;
        held_.erase(it);
    }

    void take_nodes(JobId id, const std::string& nodes, bool joined, const SpanByRow& before = {}) {
        const Result<std::vector<std::string>> names = expand_hostlist(nodes);
        if (!names) return;
        const int index = static_cast<int>(job_index_.at(id));
        for (const std::string& name : *names) {
            const auto [row, is_new] = row_index_.try_emplace(name, result_.rows.size());
            if (is_new) result_.rows.push_back({name, {}});
            std::vector<Span>& spans = result_.rows[row->second].spans;
            if (const auto open = before.find(row->second); open != before.end()) {
                held_[id].insert(*open);
                continue;
            }
            if (!held_[id].try_emplace(row->second, spans.size()).second) continue;
            spans.push_back({index, now_, now_, joined, false, false});
        }
    }

    void give_nodes(JobId id, const std::string& nodes) {
        const Result<std::vector<std::string>> names = expand_hostlist(nodes);
        if (!names) return;
        SpanByRow& held = held_[id];
        for (const std::string& name : *names) {
            const auto row = row_index_.find(name);
            if (row == row_index_.end()) continue;
            const auto open = held.find(row->second);
            if (open == held.end()) continue;
            Span& span = result_.rows[row->second].spans[open->second];
            span.to = now_;
            span.left = true;
            held.erase(open);
        }
    }

    // compress_hostlist() knows that n2 stands before n10.
    void sort_rows() {
        std::vector<std::string> names;
        for (const Row& row : result_.rows) names.push_back(row.node);
        const Result<std::vector<std::string>> order = expand_hostlist(compress_hostlist(names));
        if (!order || order->size() != names.size()) return;
        std::vector<Row> sorted;
        for (const std::string& name : *order)
            sorted.push_back(std::move(result_.rows[row_index_.at(name)]));
        result_.rows = std::move(sorted);
    }

    Timeline result_;
    bool begun_ = false;
    Time now_ = 0;
    std::unordered_map<JobId, std::pair<Submit, Time>> submitted_;
    std::unordered_map<JobId, std::size_t> job_index_;
    std::unordered_map<std::string, std::size_t> row_index_;
    std::map<JobId, SpanByRow> held_;  // of running jobs: the open span in each row
    std::set<JobId> waiting_;          // whose last step lacks nodes
    std::optional<Time> resumed_at_;
    std::map<JobId, SpanByRow> resumed_;  // held when the journal resumed, not yet said anew
};

Json to_json(const JobHistory& job) {
    Json sizes = Json::array();
    for (const int size : job.sizes) sizes.push(size);
    return Json::object()
        .set("job", job.label)
        .set("user", job.user)
        .set("name", job.name)
        .set("class", job.job_class)
        .set("state", job.state)
        .set("submit", job.submit)
        .set("start", job.start)
        .set("end", job.end)
        .set("sizes", sizes);
}

Json to_json(const Row& row, const Timeline& timeline) {
    Json spans = Json::array();
    for (const Span& span : row.spans)
        spans.push(Json::object()
                       .set("job", timeline.jobs[static_cast<std::size_t>(span.job)].label)
                       .set("from", span.from)
                       .set("to", span.to));
    return Json::object().set("node", row.node).set("spans", spans);
}

}  // namespace

Duration JobHistory::step_wait() const {
    Duration sum = 0;
    for (const StepBegin& step : steps) sum += step.had_at - step.at;
    return sum;
}

Timeline timeline(const std::vector<Line>& lines) {
    Builder builder;
    for (const Line& line : lines) builder.feed(line.event);
    return builder.take();
}

Result<Timeline> only_nodes(Timeline timeline, std::string_view nodes) {
    const Result<std::vector<std::string>> names = expand_hostlist(nodes);
    if (!names) return names.error();
    const std::unordered_set<std::string> wanted(names->begin(), names->end());
    std::erase_if(timeline.rows, [&](const Row& row) { return !wanted.contains(row.node); });
    timeline.nodes = static_cast<int>(timeline.rows.size());
    return timeline;
}

Json to_json(const Timeline& timeline) {
    Json jobs = Json::array(), rows = Json::array();
    for (const JobHistory& job : timeline.jobs) jobs.push(to_json(job));
    for (const Row& row : timeline.rows) rows.push(to_json(row, timeline));
    return Json::object()
        .set("from", timeline.from)
        .set("to", timeline.to)
        .set("nodes", timeline.nodes)
        .set("jobs", jobs)
        .set("rows", rows);
}

}  // namespace elastic::journal
