// SPDX-License-Identifier: MIT
// A run is one preset on one workload; all runs of a look are one pool, so that the remaining time
// is told finely.  Presets that resize nobody do not see which jobs are malleable, so they are run
// once.
//
// The rule is that of the tutorial: what is worse than easy under no share and cost, beyond the
// error over the seeds, and of those the lowest mean turnaround; where several are as good, the one
// that delays a job the least.
#include "studies/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "common/text.hpp"
#include "core/model/policy.hpp"
#include "simulator/comparison.hpp"
#include "simulator/engine.hpp"
#include "simulator/log_check.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/logs/text_source.hpp"

namespace elastic::studies {
namespace {

using namespace simulator;

constexpr std::string_view kBaseline = "easy";
constexpr double kMostRejected = 0.01;  // of all jobs: else the machine's size is wrong
constexpr double kLeastGain = 0.01;     // of the turnaround: less is no difference
constexpr double kMuchLonger = 1.5;     // of the longest wait: that has to be said
constexpr std::size_t kLookedAt = 3;    // presets besides easy of which assumptions are changed

// ---- the log

struct Source {
    Log log;
    bool has_users = false;
};

// With users if it names them.
Result<Source> read_source(const AdviceOptions& options) {
    const auto text = read_text(options.log);
    if (!text) return text.error();
    const std::string name = options.log == "-" ? "standard input" : options.log;
    Result<Log> with = parse_log(text->view(), name, options.lenient, {TypeField::user});
    if (with) {
        const bool has_users = !with->types.empty();
        return Source{*std::move(with), has_users};
    }
    Result<Log> without = parse_log(text->view(), name, options.lenient);
    if (!without) return without.error();
    return Source{*std::move(without), false};
}

// The nodes in use at one time, or those of the largest job.
std::int64_t most_in_use(const Log& log, std::int64_t procs_per_node) {
    std::int64_t most = nodes_in_use(log, procs_per_node);
    for (const LogJob& job : log.jobs) most = std::max(most, size_in_nodes(job, procs_per_node));
    return most;
}

// Sets the nodes; says where they come from.
Result<std::string> find_nodes(const Log& log, WorkloadOptions& workload) {
    if (workload.nodes > 0) return std::string("--nodes");
    if (log.processors > 0 || log.nodes > 0 || !log.unclear_size.empty()) {
        const auto by_header = machine_size(log, workload);
        if (!by_header) return by_header.error();
        workload.nodes = *by_header;
        return std::string("the log's header");
    }
    workload.nodes = most_in_use(log, workload.procs_per_node);
    if (workload.nodes > kMaxNodes)
        return error("{}: {} nodes are in use at one time; give --nodes or --procs-per-node",
                     log.name, workload.nodes);
    return std::string("as many as the log has in use at one time; give --nodes if there are more");
}

Result<void> check_jobs(const Log& log, const WorkloadOptions& options, const Workload& workload) {
    const std::int64_t run = std::ssize(workload.jobs), all = run + workload.rejected;
    if (static_cast<double>(workload.rejected) > kMostRejected * static_cast<double>(all)) {
        std::int64_t largest = 0;
        for (const LogJob& job : log.jobs)
            largest = std::max(largest, size_in_nodes(job, options.procs_per_node));
        return error(
            "{}: {} of {} jobs are larger than the machine of {} nodes (the largest has "
            "{}); give --nodes or --procs-per-node",
            log.name, workload.rejected, all, workload.nodes, largest);
    }
    if (std::cmp_less(run, kFewestJobs))
        return error("{}: {} job(s) to run, and a comparison of policies needs at least {}",
                     log.name, run, kFewestJobs);
    return {};
}

// ---- runs

struct NamedPolicy {
    std::string name;
    core::Policy policy;
};

Outcome run_policy(const Workload& workload, const core::Policy& policy, std::uint64_t seed) {
    SimulationOptions options;
    options.policy = policy;
    options.seed = seed;
    return simulate(workload, options);
}

Figures figures_of(const Workload& workload, const Outcome& outcome, const Outcome& easy) {
    const Summary s = summarise(workload, outcome);
    const Comparison c = compare(workload, outcome, easy);
    return {s.turnaround.mean,    s.bounded_slowdown.mean,
            s.wait.mean,          s.wait.p99,
            s.wait.max,           s.rigid.turnaround.mean,
            s.useful_utilisation, static_cast<double>(c.delayed.size()),
            c.longest_delay};
}

constexpr std::array kFigures{
    &Figures::turnaround,         &Figures::slowdown,     &Figures::wait,
    &Figures::p99_wait,           &Figures::longest_wait, &Figures::rigid_turnaround,
    &Figures::useful_utilisation, &Figures::delayed,      &Figures::longest_delay};

Figures mean_of(const std::vector<Figures>& runs) {
    Figures mean;
    for (const auto figure : kFigures)
        for (const Figures& one : runs)
            mean.*figure += one.*figure / static_cast<double>(runs.size());
    return mean;
}

Difference gain_of(const std::vector<Figures>& runs, const std::vector<Figures>& easy) {
    std::vector<double> relative, ones(runs.size(), 1);
    for (std::size_t i = 0; i < runs.size(); ++i)
        relative.push_back(runs[i].turnaround / easy[i].turnaround);
    return difference(relative, ones);
}

// ---- assumptions

struct Change {
    const char *text, *options;
    void (*apply)(WorkloadOptions&);
};

constexpr std::array kChanges{
    Change{"as in all of the above", "", [](WorkloadOptions&) {}},
    Change{"malleable jobs can at most double their nodes", "--max-factor 2",
           [](WorkloadOptions& w) { w.max_factor = 2; }},
    Change{"they cannot run on fewer nodes than they asked for", "--min-factor 1",
           [](WorkloadOptions& w) { w.min_factor = 1; }},
    Change{"they have a serial share of 10 to 20 %", "--rho 0.1:0.2",
           [](WorkloadOptions& w) {
               w.model = mebf_model({0.1, 0.2}, w.model.cost_factor);
           }},
    Change{"beyond 1.5 times their nodes they are hardly faster, which nobody knows",
           "--truth downey=1.5:0.5",
           [](WorkloadOptions& w) {
               w.truth = core::SpeedupModel{core::SpeedupModel::Kind::downey, 1.5, 0.5};
           }},
    Change{"a resize costs a hundred times what the model says", "--cost-factor 100",
           [](WorkloadOptions& w) { w.model.cost_factor = 100; }},
    Change{"half of them ask for nodes themselves", "--evolving-share 0.5",
           [](WorkloadOptions& w) { w.evolving_share = 0.5; }},
    Change{"time limits are the run times", "--estimates exact",
           [](WorkloadOptions& w) { w.estimates = Estimates::exact; }},
    Change{"time limits are wrong by a factor of up to 2 either way", "--limit-error 0.5:2",
           [](WorkloadOptions& w) {
               w.limit_error = {0.5, 2};
           }},
    Change{"jobs go on beyond their time limit", "--overrun extend",
           [](WorkloadOptions& w) { w.overrun = Overrun::extend; }},
    Change{"jobs come a tenth faster", "--scale-arrival 0.9",
           [](WorkloadOptions& w) { w.scale_arrival *= 0.9; }}};

// ---- groups

// "17-64", by powers of four.
std::string size_class(int nodes) {
    int most = 1;
    while (most < nodes) most *= 4;
    return most == 1 ? "1 node" : fmt::format("{}-{} nodes", most / 4 + 1, most);
}

int least_nodes(std::string_view size_class) {
    return static_cast<int>(*parse_integer(size_class.substr(0, size_class.find_first_of("- "))));
}

// Sums by name, in the order in which they came first.
class Groups {
  public:
    void add(const std::string& name, double easy, double recommended, bool delayed) {
        const auto [at, is_new] = places_.try_emplace(name, groups_.size());
        if (is_new) groups_.push_back({name});
        Group& group = groups_[at->second];
        ++group.jobs;
        group.easy += easy;
        group.recommended += recommended;
        group.delayed += delayed;
    }

    std::vector<Group> means(std::size_t seeds) && {
        const auto count = static_cast<double>(seeds);
        for (Group& group : groups_) {
            group.easy /= group.jobs;
            group.recommended /= group.jobs;
            group.jobs /= count;
            group.delayed /= count;
        }
        return std::move(groups_);
    }

  private:
    std::vector<Group> groups_;
    std::unordered_map<std::string, std::size_t> places_;
};

class Adviser {
  public:
    Adviser(const AdviceOptions& options, Source source)
        : options_(options), source_(std::move(source)) {
        for (const std::string_view name : core::preset_names()) {
            const core::Policy policy = *core::preset(name);
            // In simulation nobody waits for victims, so what else to start on is never asked.
            if (policy.starts_on == core::StartsOn::idle)
                policies_.push_back({std::string(name), policy});
        }
    }

    Result<Advice> run() {
        if (auto ok = prepare(); !ok) return ok.error();
        compare_presets();
        rank();
        recommend();
        look_at_groups();
        change_assumptions();
        configure();
        return std::move(advice_);
    }

  private:
    struct Condition {
        double share = 0, cost_factor = 0;
    };
    using Apply = void (*)(WorkloadOptions&);

    Result<void> prepare();
    void compare_presets();
    void rank();
    const Ranking& best() const;
    void recommend();
    void look_at_groups();
    void change_assumptions();
    void configure();

    std::vector<Condition> conditions() const;
    Condition middle() const {
        return {options_.shares[options_.shares.size() / 2], options_.cost_factors.front()};
    }
    std::size_t seeds() const { return static_cast<std::size_t>(options_.seeds); }
    Workload drawn(const Condition&, std::size_t seed, Apply = nullptr) const;
    Figures measure(const Condition&, std::size_t seed, const core::Policy&, Apply = nullptr) const;
    PoolOptions pool(const char* what) const { return {options_.pool.threads, what}; }

    std::size_t index_of(std::string_view name) const {
        return static_cast<std::size_t>(std::ranges::find(policies_, name, &NamedPolicy::name) -
                                        policies_.begin());
    }
    const core::Policy& policy(std::string_view name) const {
        return policies_[index_of(name)].policy;
    }
    bool is_rigid(std::size_t policy) const { return !policies_[policy].policy.resizes(); }
    std::vector<std::string> looked_at() const;

    const AdviceOptions& options_;
    const Source source_;
    WorkloadOptions base_;
    std::vector<NamedPolicy> policies_;
    Outcome easy_;  // of the jobs as they are
    Advice advice_;
};

Result<void> Adviser::prepare() {
    base_ = options_.workload;
    const Log& log = source_.log;
    if (!log.annotations.empty())
        return error("{}: itself says which jobs are elastic, and advice draws them; use run",
                     log.name);
    auto from = find_nodes(log, base_);
    if (!from) return from.error();
    const auto workload = make_workload(log, base_);
    if (!workload) return workload.error();
    if (auto ok = check_jobs(log, base_, *workload); !ok) return ok;
    advice_.log = log.name;
    advice_.nodes = workload->nodes;
    advice_.nodes_from = *std::move(from);
    advice_.jobs = std::ssize(workload->jobs);
    advice_.skipped = workload->skipped;
    advice_.rejected = workload->rejected;
    advice_.share = middle().share;
    advice_.cost_factor = middle().cost_factor;
    advice_.seeds = options_.seeds;
    advice_.warnings = workload->notes;
    std::ranges::move(doubts(log, base_), std::back_inserter(advice_.warnings));
    if (!source_.has_users)
        advice_.warnings.push_back(fmt::format(
            "{}: names no users, so who wins and loses is told by size only", log.name));
    easy_ = run_policy(*workload, policy(kBaseline), base_.seed);
    advice_.easy = summarise(*workload, easy_);
    return {};
}

std::vector<Adviser::Condition> Adviser::conditions() const {
    std::vector<Condition> list;
    for (const double cost : options_.cost_factors)
        for (const double share : options_.shares) list.push_back({share, cost});
    return list;
}

// Can be made, since prepare() has made one of the same jobs.
Workload Adviser::drawn(const Condition& condition, std::size_t seed, Apply change) const {
    WorkloadOptions options = base_;
    options.elastic = condition.share;
    options.model.cost_factor = condition.cost_factor;
    options.seed = base_.seed + seed;
    if (change) change(options);
    return *make_workload(source_.log, options);
}

Figures Adviser::measure(const Condition& condition, std::size_t seed, const core::Policy& policy,
                         Apply change) const {
    const Workload workload = drawn(condition, seed, change);
    return figures_of(workload, run_policy(workload, policy, base_.seed + seed), easy_);
}

void Adviser::compare_presets() {
    struct Run {
        std::size_t condition = 0, policy = 0, seed = 0;
    };
    const std::vector<Condition> all = conditions();
    std::vector<Run> runs;
    for (std::size_t c = 0; c < all.size(); ++c)
        for (std::size_t seed = 0; seed < seeds(); ++seed)
            for (std::size_t p = 0; p < policies_.size(); ++p)
                if (!is_rigid(p) || (c == 0 && seed == 0)) runs.push_back({c, p, seed});
    // By condition, by policy, by seed.
    std::vector done(all.size(), std::vector(policies_.size(), std::vector<Figures>(seeds())));
    run_all(runs.size(), pool("advise, presets"), [&](std::size_t i) {
        const auto [c, p, seed] = runs[i];
        done[c][p][seed] = measure(all[c], seed, policies_[p].policy);
    });
    for (std::size_t p = 0; p < policies_.size(); ++p) {
        const Figures once = done[0][p][0];
        if (is_rigid(p))
            for (auto& by_policy : done) by_policy[p].assign(seeds(), once);
    }
    const std::size_t easy = index_of(kBaseline);
    for (std::size_t c = 0; c < all.size(); ++c)
        for (std::size_t p = 0; p < policies_.size(); ++p)
            advice_.standings.push_back({policies_[p].name, all[c].share, all[c].cost_factor,
                                         mean_of(done[c][p]), gain_of(done[c][p], done[c][easy])});
}

void Adviser::rank() {
    for (const NamedPolicy& policy : policies_) {
        Ranking ranking{policy.name};
        std::vector<double> gains;
        for (const Standing& standing : advice_.standings) {
            if (standing.policy != policy.name) continue;
            gains.push_back(standing.gain.mean);
            ranking.worse += is_positive(standing.gain) == Answer::yes;
            ranking.longest_wait = std::max(ranking.longest_wait, standing.mean.longest_wait);
            ranking.longest_delay = std::max(ranking.longest_delay, standing.mean.longest_delay);
        }
        ranking.gain = studies::mean_of(gains);
        ranking.worst_gain = std::ranges::max(gains);
        advice_.rankings.push_back(std::move(ranking));
    }
    std::ranges::stable_sort(advice_.rankings, {},
                             [](const Ranking& r) { return std::pair(r.worse > 0, r.gain); });
}

// The first, or of those that are as good the one that delays the least.
const Ranking& Adviser::best() const {
    const Ranking* best = &advice_.rankings.front();
    const double as_good = std::min(best->gain + kLeastGain, -kLeastGain);
    for (const Ranking& other : advice_.rankings)
        if (other.worse == 0 && other.gain <= as_good && other.longest_delay < best->longest_delay)
            best = &other;
    return *best;
}

void Adviser::recommend() {
    if (advice_.rankings.front().gain > -kLeastGain) {
        advice_.recommended = kBaseline;
        advice_.why = fmt::format(
            "No preset that is nowhere worse than {0} saves {1:.0f} % of its mean turnaround on "
            "average over all shares and costs.",
            kBaseline, 100 * kLeastGain);
        return;
    }
    const Ranking& best = this->best();
    advice_.recommended = best.policy;
    advice_.why = fmt::format(
        "Of the presets that are worse than {0} under no share and cost it {3}: {1:.1f} % less "
        "than {0} on average, {2:.1f} % where it saves least.",
        kBaseline, -100 * best.gain, -100 * best.worst_gain,
        &best == &advice_.rankings.front()
            ? "has the shortest mean turnaround"
            : "delays a job the least among those with the shortest mean turnaround");
    const double now = advice_.easy.wait.max;
    if (best.longest_wait > kMuchLonger * now)
        advice_.why += fmt::format(
            " But the longest wait rises from {} to {}: weigh it against the other presets.",
            format_duration(now), format_duration(best.longest_wait));
}

void Adviser::look_at_groups() {
    Groups by_class, by_size, by_user;
    std::unordered_map<std::int64_t, const std::string*> users;
    for (const LogJob& job : source_.log.jobs)
        if (job.type >= 0) users[job.id] = &source_.log.types[static_cast<std::size_t>(job.type)];
    for (std::size_t seed = 0; seed < seeds(); ++seed) {
        const Workload workload = drawn(middle(), seed);
        const Outcome outcome =
            run_policy(workload, policy(advice_.recommended), base_.seed + seed);
        for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
            const Job& job = workload.jobs[i];
            const JobResult &then = outcome.jobs[i], &now = easy_.jobs[i];
            const bool delayed = wait(job, then) - wait(job, now) > kNoticed;
            const auto add = [&](Groups& groups, const std::string& name) {
                groups.add(name, turnaround(job, now), turnaround(job, then), delayed);
            };
            add(by_class, class_of(workload, job));
            add(by_size, size_class(job.nodes));
            if (const auto user = users.find(job.id); user != users.end())
                add(by_user, *user->second);
        }
    }
    advice_.by_class = std::move(by_class).means(seeds());
    advice_.by_size = std::move(by_size).means(seeds());
    advice_.by_user = std::move(by_user).means(seeds());
    std::ranges::sort(advice_.by_class, {}, &Group::name);
    std::ranges::sort(advice_.by_size, {}, [](const Group& g) { return least_nodes(g.name); });
    std::ranges::stable_sort(advice_.by_user, std::greater(), &Group::jobs);
}

// The baseline first, the recommended one second if it is another.
std::vector<std::string> Adviser::looked_at() const {
    std::vector<std::string> names{std::string(kBaseline)};
    if (advice_.recommended != kBaseline) names.push_back(advice_.recommended);
    for (const Ranking& ranking : advice_.rankings) {
        if (names.size() > kLookedAt) break;
        if (std::ranges::count(names, ranking.policy) == 0) names.push_back(ranking.policy);
    }
    return names;
}

void Adviser::change_assumptions() {
    const std::vector<std::string> names = looked_at();
    std::vector done(kChanges.size(), std::vector(names.size(), std::vector<Figures>(seeds())));
    run_all(kChanges.size() * names.size() * seeds(), pool("advise, assumptions"),
            [&](std::size_t i) {
                const std::size_t seed = i % seeds(), name = i / seeds() % names.size();
                const std::size_t change = i / seeds() / names.size();
                done[change][name][seed] =
                    measure(middle(), seed, policy(names[name]), kChanges[change].apply);
            });
    const auto turnaround = [](const std::vector<Figures>& runs) {
        return mean_of(runs).turnaround;
    };
    const std::size_t recommended = advice_.recommended == kBaseline ? 0 : 1;
    for (std::size_t c = 0; c < kChanges.size(); ++c) {
        const std::vector<std::vector<Figures>>& of = done[c];
        const auto best = std::ranges::min_element(of, {}, turnaround);
        advice_.assumptions.push_back({kChanges[c].text, kChanges[c].options, turnaround(of[0]),
                                       gain_of(of[recommended], of[0]),
                                       names[static_cast<std::size_t>(best - of.begin())],
                                       gain_of(*best, of[0]).mean});
    }
}

void Adviser::configure() {
    advice_.configuration =
        fmt::format("# selastic-sim advise: {} jobs of {}, {} nodes\nPolicy = {}\n", advice_.jobs,
                    printable(advice_.log, 200), advice_.nodes, advice_.recommended);
}

}  // namespace

Result<Advice> advise(const AdviceOptions& options) {
    Result<Source> source = read_source(options);
    if (!source) return source.error();
    return Adviser(options, *std::move(source)).run();
}

}  // namespace elastic::studies
