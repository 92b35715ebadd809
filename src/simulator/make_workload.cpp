// SPDX-License-Identifier: MIT
// From the log's jobs to those of a simulation, in two steps: take() sizes the jobs for the
// machine, ElasticJobs makes some of them elastic.
//
// Always: every job fits the machine, 1 <= min <= pref <= max <= machine, run times and estimates
// are positive, events come by descending work_left.
#include "simulator/make_workload.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "common/text.hpp"
#include "simulator/random.hpp"

namespace elastic::simulator {

namespace {

// ---- sizes

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0);
}

// Of the job's own stream, which has nothing to do with what elastic jobs draw.
double limit_error(const WorkloadOptions& options, std::size_t place) {
    const Range& range = options.limit_error;
    if (range.low == range.high) return range.low;
    Random random(~options.seed, place);
    return std::exp(random.uniform(std::log(range.low), std::log(range.high)));
}

int level_of(const Log& log, const LogJob& job, const Precedence& precedence) {
    if (job.type < 0) return 0;
    const auto found = precedence.levels.find(log.types[static_cast<std::size_t>(job.type)]);
    return found == precedence.levels.end() ? 0 : found->second;
}

// The most nodes that a job of the workload can have in its partition.
int most_nodes(const Workload& workload, const Job& job) {
    if (workload.partitions.empty()) return workload.nodes;
    const Partition& partition = workload.partitions[job.partition];
    return std::min(partition.nodes, partition.most);
}

// ... if nobody else uses its limits, and it may have what it has.
int most_nodes(const Workload& workload, std::size_t job) {
    double most = most_nodes(workload, workload.jobs[job]);
    if (workload.limits_of.empty()) return static_cast<int>(most);
    const NodePart& part = workload.parts[job];
    for (const std::uint32_t id : workload.limits_of[job]) {
        const Limit& limit = workload.limits[id];
        const auto keep = [&](double limit, double each) {
            if (limit > 0 && each > 0) most = std::min(most, std::floor(limit / each));
        };
        keep(limit.nodes, 1);
        keep(limit.processors, part.processors);
        keep(limit.gpus, part.gpus);
        keep(limit.memory, part.memory);
    }
    return std::max(static_cast<int>(most), workload.jobs[job].nodes);
}

// Where the log has processors alone, by what the nodes of its partition have.
std::int64_t size_in_nodes(const LogJob& job, const Partition& partition,
                           const std::vector<NodePool>& pools) {
    if (job.nodes > 0) return job.nodes;
    double processors = 1;
    for (const core::PoolId pool : partition.pools)
        processors = std::max(processors, pools[pool].each.processors);
    return ceil_div(job.processors, static_cast<std::int64_t>(processors));
}

// Times of absences are the log's, as those of submission.
void take_site(const Site& site, double scale_arrival, Workload& workload) {
    workload.pools = site.pools;
    workload.partitions = site.partitions;
    workload.limits = site.limits;
    workload.reservations = site.reservations;
    workload.outages = site.outages;
    const auto move = [&](auto& absence) {
        absence.from *= scale_arrival;
        absence.to *= scale_arrival;
    };
    std::ranges::for_each(workload.reservations, move);
    std::ranges::for_each(workload.outages, move);
    workload.notes.insert(workload.notes.end(), site.notes.begin(), site.notes.end());
}

// Where the reservation's nodes of its partition are too few for the job it is none of the job's.
int reservation_of(const Site& site, std::size_t place, const Workload& workload) {
    const int number = site.reservation_of[place];
    if (number < 0) return -1;
    const Job& job = workload.jobs.back();
    core::Eligibility both;
    std::ranges::set_intersection(workload.partitions[job.partition].pools,
                                  workload.reservations[static_cast<std::size_t>(number)].pools,
                                  std::back_inserter(both));
    int nodes = 0;
    for (const core::PoolId pool : both) nodes += workload.pools[pool].nodes;
    return job.nodes <= nodes ? number : -1;
}

// `place` is that of the workload's last job in the log.
void take_from_site(const Log& log, const Site& site, std::size_t place, Workload& workload) {
    if (!site.ranks.empty()) workload.ranks.push_back(site.ranks[place]);
    if (!site.limits_of.empty()) workload.limits_of.push_back(site.limits_of[place]);
    if (!site.reservation_of.empty())
        workload.reservation_of.push_back(reservation_of(site, place, workload));
    const double nodes = workload.jobs.back().nodes;
    NodePart& part = workload.parts.emplace_back();
    part.processors = static_cast<double>(log.jobs[place].processors) / nodes;
    const JobFacts facts = log.facts_of(place);
    part.memory = facts.memory / nodes;
    part.gpus = facts.gpus / nodes;
    if (site.shares.empty()) return;
    // What is too much for some of the nodes that the planner may choose has whole ones.
    const core::Eligibility& pools = workload.partitions[workload.jobs.back().partition].pools;
    workload.shares.push_back(site.shares[place] &&
                              std::ranges::all_of(pools, [&](core::PoolId pool) {
                                  return fits(part, {}, workload.pools[pool].each);
                              }));
}

// Places in the log of components of jobs that are larger than the machine.
std::set<std::size_t> too_large_together(const Log& log, const WorkloadOptions& options,
                                         std::int64_t machine) {
    std::set<std::size_t> found;
    for (const std::vector<std::size_t>& components : log.heterogeneous) {
        std::int64_t nodes = 0;
        for (const std::size_t place : components)
            nodes += size_in_nodes(log.jobs[place], options.procs_per_node);
        if (nodes > machine) found.insert(components.begin(), components.end());
    }
    return found;
}

// `places` gets the place in the log of each job of the workload, if somebody needs it.
void take(const Log& log, const WorkloadOptions& options, Workload& workload,
          std::vector<std::size_t>& places) {
    const std::size_t all = log.jobs.size();
    const std::size_t begin = std::min<std::size_t>(all, options.skip);
    const std::size_t count =
        options.jobs > 0 ? std::min<std::size_t>(all - begin, options.jobs) : all - begin;
    const std::size_t end = begin + count;
    workload.skipped = std::ranges::count_if(log.skipped, [&](std::size_t place) {
        return place >= begin && (place < end || end == all);
    });
    workload.jobs.reserve(count);
    const auto too_large = too_large_together(log, options, workload.nodes);
    const bool keeps_places = options.elastic > 0 || !log.heterogeneous.empty();
    const bool waits =
        options.scale_arrival == 1 &&
        std::ranges::any_of(log.jobs, [](const LogJob& job) { return job.wait >= 0; });
    if (waits) workload.logged_waits.reserve(count);
    for (std::size_t place = begin; place < end; ++place) {
        const LogJob& from = log.jobs[place];
        Job job;
        if (options.site) job.partition = options.site->partition_of[place];
        const std::int64_t nodes =
            options.site ? size_in_nodes(from, workload.partitions[job.partition], workload.pools)
                         : size_in_nodes(from, options.procs_per_node);
        if (nodes > most_nodes(workload, job) ||
            (!too_large.empty() && too_large.contains(place))) {
            ++workload.rejected;
            continue;
        }
        const bool cut = options.overrun == Overrun::cut;
        job.id = from.id;
        job.submit = from.submit * options.scale_arrival;
        job.run = cut ? std::min(from.run, from.estimate) : from.run;
        job.estimate = options.estimates == Estimates::exact ? job.run : from.estimate;
        job.estimate *= limit_error(options, place);
        job.nodes = static_cast<int>(nodes);
        job.program = from.type;
        workload.jobs.push_back(job);
        if (options.site) take_from_site(log, *options.site, place, workload);
        if (waits) workload.logged_waits.push_back(from.wait);
        if (keeps_places) places.push_back(place);
        if (options.precedence) workload.levels.push_back(level_of(log, from, *options.precedence));
    }
}

// As in Slurm's queue, the whole stands where the last of its components does.
void align(const std::vector<std::uint32_t>& components, Workload& workload) {
    Time submit = 0;
    for (const std::uint32_t job : components) submit = std::max(submit, workload.jobs[job].submit);
    for (const std::uint32_t job : components) workload.jobs[job].submit = submit;
    if (!workload.ranks.empty()) {
        std::uint32_t rank = 0;
        for (const std::uint32_t job : components) rank = std::max(rank, workload.ranks[job]);
        for (const std::uint32_t job : components) workload.ranks[job] = rank;
    }
    if (workload.levels.empty()) return;
    int level = workload.levels[components.front()];
    for (const std::uint32_t job : components) level = std::min(level, workload.levels[job]);
    for (const std::uint32_t job : components) workload.levels[job] = level;
}

// Components and elastic jobs have whole nodes where others share them, too.
void keep_whole(const std::vector<std::uint32_t>& jobs, Workload& workload) {
    if (workload.shares.empty()) return;
    for (const std::uint32_t job : jobs) workload.shares[job] = false;
}

// What is left of a heterogeneous job may be one component, which is a job like any other.
void bind_components(const Log& log, const std::vector<std::size_t>& places, Workload& workload) {
    for (const std::vector<std::size_t>& whole : log.heterogeneous) {
        std::vector<std::uint32_t> components;
        for (const std::size_t place : whole)
            if (const auto found = std::ranges::lower_bound(places, place);
                found != places.end() && *found == place)
                components.push_back(static_cast<std::uint32_t>(found - places.begin()));
        if (components.size() < 2) continue;
        align(components, workload);
        keep_whole(components, workload);
        workload.heterogeneous.push_back(std::move(components));
    }
}

std::set<std::uint32_t> components_of(const Workload& workload) {
    std::set<std::uint32_t> found;
    for (const auto& components : workload.heterogeneous)
        found.insert(components.begin(), components.end());
    return found;
}

// A value that no job has is a mistake of who named it.
Result<void> check_levels(const Log& log, const WorkloadOptions& options) {
    if (!options.precedence) return {};
    for (const auto& [value, level] : options.precedence->levels)
        if (std::ranges::find(log.types, value) == log.types.end())
            return error("--preempt: no job of {} has {} {}", log.name,
                         to_string(options.precedence->field), printable(value));
    return {};
}

// ---- elasticity, as the log has it

// Of a job of `pref` nodes by its preference.
core::SpeedupModel sized(core::SpeedupModel truth, int pref) {
    if (truth.kind == core::SpeedupModel::Kind::downey) truth.a = std::max(1.0, truth.a * pref);
    return truth;
}

Result<void> annotate(std::size_t index, const std::string& text, const WorkloadOptions& options,
                      Workload& workload) {
    Job& job = workload.jobs[index];
    auto annotation = core::parse_annotation(text, {job.nodes, job.nodes});
    if (!annotation) return annotation.error();
    core::Annotation& a = *annotation;
    const int most = most_nodes(workload, index);
    if (a.pref > most)
        return error("elastic: pref={} is more than the {}'s {} nodes", a.pref,
                     workload.partitions.empty() ? "machine" : "partition", most);
    a.max = std::min(a.max, most);
    core::set_link_bandwidth(a, options.link_bandwidth);
    const core::SpeedupModel truth = options.truth ? sized(*options.truth, a.pref) : a.speedup;
    job.run = core::rescale(job.run, job.nodes, a.pref, truth, a.pref);
    job.estimate = core::rescale(job.estimate, job.nodes, a.pref, a);
    job.nodes = a.pref;
    keep_whole({static_cast<std::uint32_t>(index)}, workload);
    job.elasticity = static_cast<int>(workload.elasticities.size());
    Elasticity& elasticity = workload.elasticities.emplace_back();
    elasticity.true_speedup = truth;
    elasticity.annotation = std::move(a);
    return {};
}

Result<void> annotate(const Log& log, const WorkloadOptions& options, Workload& workload) {
    const auto components = components_of(workload);
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        Job& job = workload.jobs[i];
        const auto found = log.annotations.find(job.id);
        if (found == log.annotations.end()) continue;
        const auto& [text, line] = found->second;
        const auto ok = components.contains(i)
                            ? Result<void>(error("elastic: a component of a heterogeneous job "
                                                 "cannot be elastic"))
                            : annotate(i, text, options, workload);
        if (!ok && !log.lenient)
            return error("{}:{}: job {}: {}", log.name, line, job.id, ok.error().message);
        workload.malformed += !ok;
    }
    return {};
}

// ---- elasticity, drawn

// Within the range and the deviation that mebf_model() describes.
double draw_normal(const Range& range, Random& random) {
    const double middle = (range.low + range.high) / 2, deviation = (range.high - range.low) / 4;
    for (;;) {
        const double value = middle + deviation * random.normal();
        if (value >= range.low && value <= range.high) return value;
    }
}

double draw(const Range& range, Random& random) {
    return random.uniform(range.low, range.high);
}

class ElasticJobs {
  public:
    ElasticJobs(const WorkloadOptions& options, Workload& workload)
        : options_(options), model_(options.model), workload_(workload) {}

    // Gives every job a random key and takes those with the lowest: that makes the number exact and
    // keeps the choice when the percentage rises.
    void choose(const std::vector<std::size_t>& places, const std::set<std::int64_t>& rigid) {
        struct Candidate {
            std::uint64_t key;
            std::size_t job;
            auto operator<=>(const Candidate&) const = default;
        };
        std::vector<Candidate> candidates;
        candidates.reserve(places.size());
        const auto components = components_of(workload_);
        for (std::size_t i = 0; i < places.size(); ++i)
            if (!rigid.contains(workload_.jobs[i].id) && !shares(i) &&
                !components.contains(static_cast<std::uint32_t>(i)))
                candidates.push_back({Random(options_.seed, places[i]).next(), i});
        const auto wanted = static_cast<std::size_t>(
            std::llround(options_.elastic / 100 * static_cast<double>(places.size())));
        const std::size_t count = std::min(wanted, candidates.size());
        const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(count);
        std::partial_sort(candidates.begin(), end, candidates.end());
        workload_.elasticities.reserve(count);
        for (std::size_t rank = 0; rank < count; ++rank) {
            const std::size_t job = candidates[rank].job;
            make_elastic(job, places[job], is_evolving(rank));
        }
    }

  private:
    // Elastic jobs have whole nodes.
    bool shares(std::size_t job) const {
        return !workload_.shares.empty() && workload_.shares[job];
    }

    // Spreads the evolving ones evenly over the order of choice, so that their share is exact for
    // any number of elastic jobs.
    bool is_evolving(std::size_t rank) const {
        const auto up_to = [&](std::size_t jobs) {
            return std::llround(options_.evolving_share * static_cast<double>(jobs));
        };
        return up_to(rank + 1) > up_to(rank);
    }

    void make_elastic(std::size_t index, std::size_t place, bool evolving) {
        Job& job = workload_.jobs[index];
        Random random(options_.seed, place);
        random.next();  // the key of choose()
        Elasticity elasticity;
        core::Annotation& a = elasticity.annotation;
        (evolving ? a.evolving : a.malleable) = true;
        set_sizes(a, job.nodes, most_nodes(workload_, index));
        if (a.malleable) a.price = options_.price;
        a.speedup = speedup(random, a.pref);
        elasticity.true_speedup = a.speedup;
        if (model_.speedup == core::SpeedupModel::Kind::rho)
            elasticity.true_speedup.a = std::min(1.0, a.speedup.a + model_.rho_error);
        if (options_.truth) elasticity.true_speedup = sized(*options_.truth, a.pref);
        a.cost = cost(random);
        elasticity.negotiation = draw(model_.negotiation, random);
        if (evolving) elasticity.events = events(random, a.pref);
        if (options_.data.high > 0) a.cost.data = draw(options_.data, random) * a.pref;
        core::set_link_bandwidth(a, options_.link_bandwidth);
        job.run = core::rescale(job.run, job.nodes, a.pref, elasticity.true_speedup, a.pref);
        job.estimate = core::rescale(job.estimate, job.nodes, a.pref, a.speedup, a.pref);
        job.nodes = a.pref;
        job.elasticity = static_cast<int>(workload_.elasticities.size());
        workload_.elasticities.push_back(std::move(elasticity));
    }

    void set_sizes(core::Annotation& a, int size, double most) const {
        constexpr double kRounding = 1e-9;  // 0.1 * 30 is a little more than 3
        const double min = std::clamp(std::ceil(options_.min_factor * size - kRounding), 1.0, most);
        const double max =
            std::clamp(std::floor(options_.max_factor * size + kRounding), min, most);
        a.min = static_cast<int>(min);
        a.max = static_cast<int>(max);
        a.pref = static_cast<int>(std::clamp(std::round(options_.pref_factor * size), min, max));
    }

    core::SpeedupModel speedup(Random& random, int pref) const {
        const double value =
            model_.normal ? draw_normal(model_.parameter, random) : draw(model_.parameter, random);
        core::SpeedupModel speedup{model_.speedup, value, 0};
        if (speedup.kind == core::SpeedupModel::Kind::rho) speedup.kind = model_.rho_model;
        if (speedup.kind == core::SpeedupModel::Kind::downey) {
            speedup.a = std::max(1.0, value * pref);
            speedup.b = draw(model_.sigma, random);
        }
        return speedup;
    }

    core::ResizeCost cost(Random& random) const {
        core::ResizeCost cost;
        cost.alpha = model_.cost_factor * draw(model_.alpha, random);
        cost.beta = model_.cost_factor * draw(model_.beta, random);
        cost.b = model_.cost_factor * draw(model_.b, random);
        cost.sync = model_.cost_factor * draw(model_.sync, random);
        return cost;
    }

    std::vector<EvolvingEvent> events(Random& random, int pref) const {
        std::vector<EvolvingEvent> events(
            static_cast<std::size_t>(random.integer(model_.min_events, model_.max_events)));
        for (EvolvingEvent& event : events) {
            event.work_left = draw(model_.work_left, random);
            const bool grows = random.chance(model_.growth);
            const int nodes = static_cast<int>(random.integer(1, std::max(1, pref / 2)));
            event.nodes = grows ? nodes : -nodes;
        }
        std::ranges::stable_sort(events, std::greater(), &EvolvingEvent::work_left);
        return events;
    }

    const WorkloadOptions& options_;
    const ElasticModel& model_;
    Workload& workload_;
};

}  // namespace

Result<std::optional<Site>> site_of(const Log& log, const SiteFiles& files,
                                    const WorkloadOptions& options) {
    const bool is_one_machine = options.nodes > 0 || options.procs_per_node > 0;
    if (is_one_machine && !files.slurm_conf.empty())
        return error("--slurm-conf says which nodes there are; leave out {}",
                     options.nodes > 0 ? "--nodes" : "--procs-per-node");
    const std::pair<std::string_view, const std::string*> others[] = {
        {"--qos", &files.qos},
        {"--reservations", &files.reservations},
        {"--events", &files.events}};
    for (const auto& [option, file] : others)
        if (is_one_machine && !file->empty())
            return error("{}: needs the site's nodes and partitions; leave out {}", option,
                         options.nodes > 0 ? "--nodes" : "--procs-per-node");
    if (is_one_machine) return std::optional<Site>();
    const Result<SiteKnowledge> known = read_site_files(files);
    if (!known) return known.error();
    return make_site(log, *known);
}

Result<std::int64_t> machine_size(const Log& log, const WorkloadOptions& options) {
    if (options.nodes > 0) return options.nodes;
    if (options.site) return options.site->nodes;
    if (log.processors == 0 && !log.unclear_size.empty()) {
        return error("{}:{}, so the machine's size is not known; give --nodes", log.name,
                     log.unclear_size);
    }
    const std::int64_t nodes =
        log.processors > 0
            ? ceil_div(log.processors, std::max<std::int64_t>(1, options.procs_per_node))
            : log.nodes;
    if (nodes <= 0) {
        return error("{}: does not say how large the machine is; give --nodes", log.name);
    }
    if (nodes > kMaxNodes) {
        return error("{}: a machine of {} nodes is more than {}; give --nodes or --procs-per-node",
                     log.name, nodes, kMaxNodes);
    }
    return nodes;
}

std::int64_t size_in_nodes(const LogJob& job, std::int64_t procs_per_node) {
    const bool by_nodes = job.nodes > 0 && (procs_per_node == 0 || job.processors == 0);
    if (by_nodes) return job.nodes;
    return ceil_div(job.processors, std::max<std::int64_t>(1, procs_per_node));
}

Result<Workload> make_workload(const Log& log, const WorkloadOptions& options) {
    if (auto ok = check_workload_options(options); !ok) return ok.error();
    if (auto ok = check_levels(log, options); !ok) return ok.error();
    const auto nodes = machine_size(log, options);
    if (!nodes) return nodes.error();
    Workload workload;
    workload.nodes = static_cast<int>(*nodes);
    workload.malformed = log.malformed;
    workload.notes = log.notes;
    if (options.site) take_site(*options.site, options.scale_arrival, workload);
    std::vector<std::size_t> places;
    take(log, options, workload, places);
    bind_components(log, places, workload);
    if (options.skip > 0 && std::cmp_less_equal(log.jobs.size(), options.skip))
        return error("--skip: {} has only {} jobs that could be run", log.name, log.jobs.size());
    if (workload.jobs.empty()) {
        return error("{}: no job to run ({} skipped, {} larger than the machine of {} nodes)",
                     log.name, workload.skipped, workload.rejected, workload.nodes);
    }
    if (options.elastic > 0 && !log.annotations.empty())
        return error("--elastic: {} itself says which jobs are elastic", log.name);
    if (!log.annotations.empty())
        if (auto ok = annotate(log, options, workload); !ok) return ok.error();
    if (options.elastic > 0) ElasticJobs(options, workload).choose(places, log.rigid);
    return workload;
}

}  // namespace elastic::simulator
