// SPDX-License-Identifier: MIT
// results.csv is its own journal: a line is one write(2) at the end of the file, so a crash leaves
// whole lines and at most a part of the last, which the next call cuts off.  A run is known by the
// text of its parameters.
//
// Tasks are workloads, not runs: one is made once and shared by all policies.
#include "studies/sweep/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/atomic_file.hpp"
#include "common/config_file.hpp"
#include "common/text.hpp"
#include "simulator/comparison.hpp"
#include "simulator/engine.hpp"
#include "simulator/log_check.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/metrics.hpp"
#include "studies/sweep/plan.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr std::size_t kMostResults = std::size_t{1} << 30;  // bytes of results.csv

// Of a run; the comparison is there if the study has a baseline.
struct Figures {
    Summary summary;
    Comparison comparison;
};

struct Column {
    const char* name;
    double (*of)(const Figures&);
};

template <auto member>
constexpr Column number(const char* name) {
    return {name, [](const Figures& f) { return static_cast<double>(f.summary.*member); }};
}

template <auto member>
constexpr Column counter(const char* name) {
    return {name, [](const Figures& f) { return static_cast<double>(f.summary.counters.*member); }};
}

// "mean_wait": of all jobs.
template <auto measure, auto statistic>
constexpr Column of_all(const char* name) {
    return {name, [](const Figures& f) { return f.summary.*measure.*statistic; }};
}

template <auto measure, auto statistic>
constexpr Column of_rigid(const char* name) {
    return {name, [](const Figures& f) { return f.summary.rigid.*measure.*statistic; }};
}

using D = Distribution;
using E = Experience;
constexpr std::array kColumns{
    number<&Summary::jobs>("jobs"),
    number<&Summary::skipped>("skipped"),
    number<&Summary::rejected>("rejected"),
    number<&Summary::lost>("lost"),
    of_all<&E::wait, &D::mean>("mean_wait"),
    of_all<&E::wait, &D::median>("median_wait"),
    of_all<&E::wait, &D::p95>("p95_wait"),
    of_all<&E::wait, &D::p99>("p99_wait"),
    of_all<&E::wait, &D::max>("max_wait"),
    of_all<&E::turnaround, &D::mean>("mean_turnaround"),
    of_all<&E::turnaround, &D::median>("median_turnaround"),
    of_all<&E::slowdown, &D::mean>("mean_slowdown"),
    of_all<&E::slowdown, &D::median>("median_slowdown"),
    of_all<&E::bounded_slowdown, &D::mean>("mean_bounded_slowdown"),
    of_all<&E::bounded_slowdown, &D::median>("median_bounded_slowdown"),
    of_rigid<&E::wait, &D::mean>("rigid_mean_wait"),
    of_rigid<&E::wait, &D::p99>("rigid_p99_wait"),
    of_rigid<&E::wait, &D::max>("rigid_max_wait"),
    of_rigid<&E::turnaround, &D::mean>("rigid_mean_turnaround"),
    of_rigid<&E::bounded_slowdown, &D::mean>("rigid_mean_bounded_slowdown"),
    number<&Summary::makespan>("makespan"),
    number<&Summary::utilisation>("utilisation"),
    number<&Summary::useful_utilisation>("useful_utilisation"),
    number<&Summary::work_done>("work_done"),
    counter<&Counters::shrinks>("shrinks"),
    counter<&Counters::expansions>("expansions"),
    counter<&Counters::denied>("denied_requests"),
};

constexpr const char* kRatio = "turnaround_ratio";

// Besides, with a baseline.
constexpr std::array kComparisonColumns{
    Column{kRatio, [](const Figures& f) { return f.comparison.turnaround; }},
    Column{"longer", [](const Figures& f) { return static_cast<double>(f.comparison.longer); }},
    Column{"mean_longer", [](const Figures& f) { return f.comparison.mean_longer; }},
    Column{"missed", [](const Figures& f) { return static_cast<double>(f.comparison.missed); }},
    Column{"delayed",
           [](const Figures& f) { return static_cast<double>(f.comparison.delayed.size()); }},
    Column{"delayed_rigid",
           [](const Figures& f) { return static_cast<double>(f.comparison.delayed_rigid); }},
    Column{"longest_delay", [](const Figures& f) { return f.comparison.longest_delay; }},
};

std::vector<Column> columns_of(const SweepPlan& plan) {
    std::vector<Column> columns(kColumns.begin(), kColumns.end());
    if (plan.line_of("Baseline") > 0)
        columns.insert(columns.end(), kComparisonColumns.begin(), kComparisonColumns.end());
    return columns;
}

std::string header(const SweepPlan& plan) {
    std::vector<std::string> cells;
    for (const Axis& axis : plan.axes()) cells.push_back(axis.key);
    for (const Column& column : columns_of(plan)) cells.emplace_back(column.name);
    return csv_line(cells);
}

// ---- results.csv

// The file, open and locked, and the lines that it had.
class ResultsFile {
  public:
    ~ResultsFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    ResultsFile() = default;
    ResultsFile(const ResultsFile&) = delete;
    ResultsFile& operator=(const ResultsFile&) = delete;

    Result<void> open(const std::string& path, const std::string& header);
    // Whole lines without their ends, the header not among them.
    const std::vector<std::string>& lines() const { return lines_; }
    Result<void> append(const std::string& line);

  private:
    Result<void> failed() const { return error("{}: {}", path_, std::strerror(errno)); }

    std::string path_;
    int fd_ = -1;
    std::vector<std::string> lines_;
    std::mutex mutex_;
};

Result<void> ResultsFile::open(const std::string& path, const std::string& header) {
    path_ = path;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kForEverybody);
    if (fd_ < 0) return failed();
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return error("{}: another sweep is writing to it; give this one another --out", path);
    const Result<std::string> content = read_file(path, kMostResults);
    if (!content) return content.error();
    // What stands behind the last end of a line is a line that was being written.
    const std::size_t whole = content->rfind('\n') + 1;  // 0 if there is none
    if (whole < content->size() && ::ftruncate(fd_, static_cast<off_t>(whole)) != 0)
        return failed();
    if (whole == 0) return append(header);
    for (const std::string_view line : split(std::string_view(*content).substr(0, whole - 1), '\n'))
        lines_.emplace_back(line);
    if (lines_.front() != header)
        return error(
            "{}: is of a study with other keys, or of another version (its first line differs); "
            "give "
            "this one another --out",
            path);
    lines_.erase(lines_.begin());
    return {};
}

Result<void> ResultsFile::append(const std::string& line) {
    const std::string text = line + '\n';
    const std::scoped_lock lock(mutex_);
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size())) return {};
    if (written >= 0) errno = ENOSPC;  // a part of it: there was no room for more
    return failed();
}

// ---- the grid

// A log, and its machine if that is known and the study does not say otherwise.
struct SiteLog {
    Log log;
    std::optional<Site> site;
};
using Logs = std::map<std::string, SiteLog>;

bool learns(const SweepPlan& plan) {
    for (std::size_t run = 0; run < plan.runs(); ++run)
        if (plan.spec(run).policy.belief == core::Belief::learned) return true;
    return false;
}

Result<Logs> read_logs(const SweepPlan& plan, const SweepOptions& options,
                       std::vector<std::string>& doubts) {
    const auto folder = std::filesystem::path(options.study).parent_path();
    const bool with_programs = learns(plan);
    Logs logs;
    for (std::size_t run = 0; run < plan.runs(); run += plan.runs_per_workload()) {
        const RunSpec spec = plan.spec(run);
        if (logs.contains(spec.log)) continue;
        const std::string path = (folder / spec.log).string();
        Result<Log> log = with_programs ? read_log_with_programs(path, spec.lenient)
                                        : read_log(path, spec.lenient);
        if (!log) return at_line(options.study, plan.line_of("Log"), "Log: " + log.error().message);
        std::ranges::move(simulator::doubts(*log, spec.workload), std::back_inserter(doubts));
        auto site = site_of(*log, options.site, plan.machine());
        if (!site) return site.error();
        logs.emplace(spec.log, SiteLog{*std::move(log), *std::move(site)});
    }
    return logs;
}

std::string parameters(const SweepPlan& plan, std::size_t run) {
    return csv_line(plan.values(run));
}

std::string results(const std::vector<Column>& columns, const Figures& figures) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(exact(column.of(figures)));
    return csv_line(cells);
}

// Results are plain numbers, so parameters end at the comma before as many as there are columns.
std::size_t end_of_parameters(const std::string& line, std::size_t columns) {
    std::size_t end = line.size();
    for (std::size_t i = 0; i < columns; ++i) {
        if (end == 0) return 0;
        end = line.rfind(',', end - 1);
        if (end == std::string::npos) return 0;
    }
    return end;
}

class Sweep {
  public:
    Sweep(const SweepPlan& plan, const Logs& logs, ResultsFile& file)
        : plan_(plan),
          logs_(logs),
          file_(file),
          columns_(columns_of(plan)),
          done_(plan.runs()),
          why_not_(plan.runs() / plan.runs_per_workload()) {}

    // What an earlier call has done; lines of other studies are kept.
    std::size_t resume() {
        std::unordered_map<std::string, std::size_t> runs;
        for (std::size_t run = 0; run < plan_.runs(); ++run) runs[parameters(plan_, run)] = run;
        std::size_t resumed = 0;
        for (const std::string& line : file_.lines()) {
            const auto found = runs.find(line.substr(0, end_of_parameters(line, columns_.size())));
            if (found == runs.end()) {
                others_.push_back(line);
            } else {
                resumed += done_[found->second].empty() ? 1 : 0;
                done_[found->second] = line;
            }
        }
        return resumed;
    }

    Result<void> run(const PoolOptions& pool) {
        std::vector<std::size_t> groups;
        for (std::size_t run = 0; run < plan_.runs(); run += plan_.runs_per_workload())
            if (std::any_of(begin_of(run), begin_of(run + plan_.runs_per_workload()),
                            [](const std::string& line) { return line.empty(); }))
                groups.push_back(run);
        std::vector<Result<void>> outcome(groups.size());
        run_all(groups.size(), pool, [&](std::size_t i) { outcome[i] = run_group(groups[i]); });
        for (const Result<void>& one : outcome)
            if (!one) return one;
        return {};
    }

    std::string csv(const std::string& header) const {
        std::string text = header + '\n';
        for (const auto* lines : {&done_, &others_})
            for (const std::string& line : *lines)
                if (!line.empty()) text += line + '\n';
        return text;
    }

    std::vector<std::string> left_out() const {
        std::vector<std::string> list;
        for (const std::string& reason : why_not_)
            if (!reason.empty()) list.push_back(reason);
        return list;
    }

    const std::vector<std::string>& lines() const { return done_; }

  private:
    std::vector<std::string>::const_iterator begin_of(std::size_t run) const {
        return done_.begin() + static_cast<std::ptrdiff_t>(run);
    }

    // "Nodes=4 (line 2), Skip=300 (line 3)"
    std::string point(std::size_t run) const {
        const std::vector<std::string> values = plan_.values(run);
        std::vector<std::string> list;
        for (std::size_t a = 0; a < values.size(); ++a)
            if (const Axis& axis = plan_.axes()[a]; !axis.of_policy)
                list.push_back(fmt::format("{}={} (line {})", axis.key, values[a], axis.line));
        return fmt::format("{}", fmt::join(list, ", "));
    }

    static Outcome run_policy(const Workload& workload, const core::Policy& policy,
                              const RunSpec& spec) {
        SimulationOptions options;
        options.policy = policy;
        options.seed = spec.workload.seed;
        return simulate(workload, options);
    }

    Result<void> run_group(std::size_t first) {
        RunSpec spec = plan_.spec(first);
        const auto& [log, site] = logs_.at(spec.log);
        if (site) spec.workload.site = &*site;
        const Result<Workload> workload = make_workload(log, spec.workload);
        if (!workload) {
            why_not_[first / plan_.runs_per_workload()] =
                point(first) + ": " + workload.error().message;
            return {};
        }
        std::optional<Outcome> baseline;
        if (spec.baseline) baseline = run_policy(*workload, *spec.baseline, spec);
        for (std::size_t run = first; run < first + plan_.runs_per_workload(); ++run) {
            if (!done_[run].empty()) continue;
            const Outcome outcome = run_policy(*workload, plan_.spec(run).policy, spec);
            Figures figures{summarise(*workload, outcome), {}};
            if (baseline) figures.comparison = compare(*workload, outcome, *baseline);
            const std::string line = parameters(plan_, run) + ',' + results(columns_, figures);
            if (Result<void> written = file_.append(line); !written) return written;
            done_[run] = line;
        }
        return {};
    }

    const SweepPlan& plan_;
    const Logs& logs_;
    ResultsFile& file_;
    const std::vector<Column> columns_;
    std::vector<std::string> done_;     // by run; "" if not
    std::vector<std::string> why_not_;  // by workload; "" if it can be run
    std::vector<std::string> others_;
};

// ---- means over the seeds

// The runs of one line of the table.
struct Group {
    std::vector<std::string> parameters;
    std::vector<double> sums;
    int runs = 0;
    // With a baseline: where the mean turnaround is highest by the baseline's.
    double worst = -kNever;
    std::string worst_seed;
};

// Those of a line of results.csv.
std::vector<double> results_of(const std::string& line, std::size_t columns) {
    std::vector<double> values;
    const std::string_view rest =
        std::string_view(line).substr(end_of_parameters(line, columns) + 1);
    for (const std::string_view cell : split(rest, ','))
        values.push_back(parse_number(cell).value_or(0));
    return values;
}

std::vector<Group> group_by_seed(const SweepPlan& plan, const std::vector<std::string>& lines,
                                 const std::vector<Column>& columns) {
    const auto ratio = static_cast<std::size_t>(
        std::ranges::find(columns, std::string_view(kRatio), &Column::name) - columns.begin());
    std::vector<Group> groups;
    std::map<std::vector<std::string>, std::size_t> places;
    for (std::size_t run = 0; run < lines.size(); ++run) {
        if (lines[run].empty()) continue;
        std::vector<std::string> key;
        const std::vector<std::string> values = plan.values(run);
        for (std::size_t a = 0; a < values.size(); ++a)
            if (plan.axes()[a].key != "Seed") key.push_back(values[a]);
        const auto [place, is_new] = places.try_emplace(key, groups.size());
        if (is_new) groups.push_back({key, std::vector<double>(columns.size()), 0, -kNever, ""});
        Group& group = groups[place->second];
        const std::vector<double> results = results_of(lines[run], columns.size());
        for (std::size_t c = 0; c < results.size(); ++c) group.sums[c] += results[c];
        ++group.runs;
        if (ratio == columns.size() || results[ratio] <= group.worst) continue;
        group.worst = results[ratio];
        group.worst_seed = std::to_string(plan.spec(run).workload.seed);
    }
    return groups;
}

Table means(const SweepPlan& plan, const std::vector<std::string>& lines) {
    std::vector<std::string> columns;
    for (const Axis& axis : plan.axes())
        if (axis.key != "Seed") columns.push_back(axis.key);
    const std::vector<Column> results = columns_of(plan);
    for (const Column& column : results) columns.emplace_back(column.name);
    const bool has_baseline = plan.line_of("Baseline") > 0;
    if (has_baseline) columns.insert(columns.end(), {"worst_ratio", "worst_seed"});
    Table table(std::move(columns));
    for (Group& group : group_by_seed(plan, lines, results)) {
        std::vector<std::string> cells = std::move(group.parameters);
        for (const double sum : group.sums)
            cells.push_back(fmt::format("{:.6g}", sum / group.runs));
        if (has_baseline) {
            cells.push_back(fmt::format("{:.6g}", group.worst));
            cells.push_back(std::move(group.worst_seed));
        }
        table.add(std::move(cells));
    }
    return table;
}

Result<void> write(const std::string& path, std::string_view content) {
    return write_file(path, content, Durability::survives_process, kForEverybody);
}

}  // namespace

Result<SweepResult> run_sweep(const SweepOptions& options) {
    const Result<std::string> text = read_file(options.study, kMaxConfigFile);
    if (!text) return text.error();
    const Result<SweepPlan> plan = SweepPlan::parse(*text, options.study);
    if (!plan) return plan.error();
    std::vector<std::string> doubts;
    const Result<Logs> logs = read_logs(*plan, options, doubts);
    if (!logs) return logs.error();
    std::error_code failure;
    std::filesystem::create_directories(options.out, failure);
    if (failure) return error("--out: {}: {}", options.out, failure.message());

    const std::string path = options.out + "/results.csv";
    ResultsFile file;
    if (const Result<void> opened = file.open(path, header(*plan)); !opened) return opened.error();
    Sweep grid(*plan, *logs, file);
    const std::size_t resumed = grid.resume();
    if (const Result<void> done = grid.run(options.pool); !done) return done.error();
    SweepResult result{plan->runs(), resumed, means(*plan, grid.lines()), grid.left_out(),
                       std::move(doubts)};
    for (const Result<void>& written : {write(path, grid.csv(header(*plan))),
                                        write(options.out + "/means.csv", result.means.csv()),
                                        write(options.out + "/means.txt", result.means.text())})
        if (!written) return written.error();
    return result;
}

}  // namespace elastic::studies
