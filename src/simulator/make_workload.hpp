// SPDX-License-Identifier: MIT
// Makes the jobs to simulate out of a log, some of them elastic.
//
// Of the log's jobs the first `skip` are left out and the next `jobs` used; those larger than the
// machine are rejected; of the rest exactly `elastic` per cent, rounded, become elastic, none that
// the log calls rigid or that is a component of a heterogeneous job, of those `evolving_share`
// evolving; unless the log itself says which ones are, and then these, at no cost but what their
// annotations say. All a job draws depends on the seed and its place in the log only.  So with a
// higher `elastic` the jobs that were elastic stay so, with the same properties, and two runs
// differ in what they are to be compared for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "core/model/speedup.hpp"
#include "simulator/logs/job_type.hpp"
#include "simulator/site/site.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// Drawn uniformly from [low, high] if not said otherwise.
struct Range {
    double low = 0, high = 0;
};

// What elastic jobs are like.  The defaults are [lina] section 5.2.  The paper does not give: b,
// taken to be as alpha; the number of nodes an event asks for, taken uniformly from 1 to half of
// the preferred size, which is as far as its jobs can shrink from there; whether "30% to 60% of
// work is left" holds for the first event or all, taken for all.
struct ElasticModel {
    core::SpeedupModel::Kind speedup = core::SpeedupModel::Kind::overhead;
    // What `rho` means: the serial share, or `power`, an exponent.
    core::SpeedupModel::Kind rho_model = core::SpeedupModel::Kind::rho;
    // rho, the overhead x, or Downey's A in units of the preferred size.
    Range parameter{0.005, 0.01};
    Range sigma{0, 0};         // Downey's
    bool normal = false;       // `parameter` is drawn normally: mean the middle, the range
                               // four standard deviations wide, what falls outside drawn again
    double rho_error = 0;      // added to the true rho only, not to what the scheduler is told
    Range alpha{0.005, 0.05};  // seconds; the parts of core::ResizeCost
    Range beta{0.005, 0.05};
    Range b{0.005, 0.05};
    Range sync{0.015, 0.1};
    double cost_factor = 1;              // all of the four times this
    Range negotiation{0.005, 0.05};      // seconds
    int min_events = 1, max_events = 4;  // of an evolving job
    double growth = 0.8;                 // probability that an event asks for more
    Range work_left{0.3, 0.6};           // when it asks
};

// [mebf] section 4.3, with speed-up by rho within `rho`: LS is 0.2..0.3, MS 0.1..0.2, HS 0..0.1;
// what it means is `rho_model`, Amdahl's law or the power law.  "Follows a normal distribution"
// within these; b as in [lina]; no cost of synchronisation and negotiation.  `cost_factor` is
// 1 for ROF, the full overhead, 0.5 for ROH.
ElasticModel mebf_model(Range rho, double cost_factor = 1,
                        core::SpeedupModel::Kind rho_model = core::SpeedupModel::Kind::rho);

// By its name in options, if there is one: amdahl or power.
std::optional<core::SpeedupModel::Kind> rho_model(std::string_view name);
std::vector<std::string> rho_model_names();

// WorkloadOptions::truth: "linear", or as in an annotation, "downey=1.5:0.5".
Result<core::SpeedupModel> parse_truth(std::string_view);

enum class Overrun {
    cut,     // a run longer than its estimate ends there, as on most machines
    extend,  // it goes on
};

// What the scheduler is told of a job's run time.
enum class Estimates {
    logged,  // the requested time, if the log has one
    exact,   // the run time
};

// Which jobs come before others, and may end them: by what the log says in one field, the level of
// jobs with that value; all others have level 0.
struct Precedence {
    TypeField field = TypeField::queue;
    std::map<std::string, int, std::less<>> levels;
};

// "queue:2=1,4=2", for sacct "partition:urgent=1"; levels are 1 to 1000.
Result<Precedence> parse_precedence(std::string_view);

inline constexpr double kMaxBytesPerNode = 1e15;
inline constexpr Range kLimitErrors{1e-3, 1e3};

struct WorkloadOptions {
    std::int64_t nodes = 0;  // of the machine; 0: by `site`, or by the log's header
    // Partitions, the order of the queue and limits, of the log that is given; borrowed.  With
    // `nodes` it must not be there.
    const Site* site = nullptr;
    std::int64_t procs_per_node = 0;  // 0: 1, or what the log says of a job's nodes
    std::int64_t jobs = 0;            // 0: all
    std::int64_t skip = 0;
    double scale_arrival = 1;  // submit times are multiplied by it
    Overrun overrun = Overrun::cut;
    Estimates estimates = Estimates::logged;
    // What the scheduler is told of a run time is that times a factor drawn between these, its
    // logarithm uniformly; the run time stays as it is.
    Range limit_error{1, 1};

    double elastic = 0;           // per cent of the jobs
    double evolving_share = 0.5;  // of the elastic ones, 0 to 1
    // Of the logged size; ends are rounded inwards but stay within 1 and the machine, the preferred
    // size to the nearest within both.  An elastic job's run time and estimate are converted to its
    // preferred size.
    double min_factor = 0.5, max_factor = 8, pref_factor = 1;
    // The data that a resize moves besides what the model's costs say: bytes on each node at the
    // preferred size; and the bytes a second that a node sends or receives.
    Range data{0, 0};
    double link_bandwidth = core::kDefaultRate;
    double price = -1;  // the most that nodes may cost malleable jobs; < 0: any price
    // How elastic jobs scale in truth, whatever the scheduler is told; Downey's A is in units of
    // the preferred size.
    std::optional<core::SpeedupModel> truth{};
    std::optional<Precedence> precedence{};  // of a log that was read with types by its field
    std::uint64_t seed = 1;
    ElasticModel model{};
};

// Whether each value is one that it may have.
Result<void> check_workload_options(const WorkloadOptions&);

// What is known of the machine by the files and the log, unless the options say that it has so many
// equal nodes (--nodes, --procs-per-node); nothing if nobody knows.  Errors name the option.
Result<std::optional<Site>> site_of(const Log&, const SiteFiles&, const WorkloadOptions&);

// The machine's nodes: as the options say, else as the log does.  An error if neither does.
Result<std::int64_t> machine_size(const Log&, const WorkloadOptions&);

// How many nodes a job of the log takes, by ProcsPerNode.
std::int64_t size_in_nodes(const LogJob&, std::int64_t procs_per_node);

// Errors name the option, or the log of which neither header nor option tells the machine's size,
// or that has no job at all to run, or that has a wrong annotation or any while `elastic` asks for
// more.
Result<Workload> make_workload(const Log&, const WorkloadOptions&);

}  // namespace elastic::simulator
