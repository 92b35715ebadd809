// SPDX-License-Identifier: MIT
// Each part of what is known has a file of its own: nodes and partitions (node_table), reservations
// and down times (absences), GPUs (gpu_jobs), shared nodes
// (node_sharing), the queue (queue_order), limits
// (job_limits) and those that nobody has told (inferred_limits).
#include "simulator/site/site.hpp"

#include <algorithm>

#include "common/atomic_file.hpp"
#include "simulator/site/absences.hpp"
#include "simulator/site/gpu_jobs.hpp"
#include "simulator/site/inferred_limits.hpp"
#include "simulator/site/job_limits.hpp"
#include "simulator/site/node_sharing.hpp"
#include "simulator/site/node_table.hpp"
#include "simulator/site/queue_order.hpp"

namespace elastic::simulator {

namespace {

constexpr std::size_t kMostText = 64 << 20;

// What `parse` makes of the file that the option names, if it names one.
template <class T>
Result<void> read_table(std::string_view option, const std::string& path,
                        Result<T> (*parse)(std::string_view, std::string_view), T& into) {
    if (path.empty()) return {};
    const Result<std::string> text = read_file(path, kMostText);
    if (!text) return error("{}: {}", option, text.error().message);
    Result<T> table = parse(*text, path);
    if (!table) return error("{}: {}", option, table.error().message);
    into = *std::move(table);
    return {};
}

}  // namespace

const Qos* SiteKnowledge::qos_named(std::string_view name) const {
    const auto found = std::ranges::find(qos, name, &Qos::name);
    return found == qos.end() ? nullptr : &*found;
}

const Qos* SiteKnowledge::qos_of(const Log& log, std::size_t job) const {
    const int number = log.facts_of(job).qos;
    return number < 0 ? nullptr : qos_named(log.names.qos[static_cast<std::size_t>(number)]);
}

Result<SiteKnowledge> read_site_files(const SiteFiles& files) {
    SiteKnowledge known;
    known.order = files.order;
    known.infers_events = files.events == kInferred;
    known.infers_limits = files.limits == LimitSource::inferred;
    if (!files.slurm_conf.empty()) {
        Result<SlurmConf> conf = read_slurm_conf(files.slurm_conf);
        if (!conf) return error("--slurm-conf: {}", conf.error().message);
        known.conf = *std::move(conf);
    }
    const std::string events = known.infers_events ? "" : files.events;
    if (auto ok = read_table("--qos", files.qos, parse_qos, known.qos); !ok) return ok.error();
    if (auto ok = read_table("--reservations", files.reservations, parse_reservations,
                             known.reservations);
        !ok)
        return ok.error();
    if (auto ok = read_table("--events", events, parse_events, known.events); !ok)
        return ok.error();
    return known;
}

Result<std::optional<Site>> make_site(const Log& log, const SiteKnowledge& known) {
    Result<NodeTable> nodes = NodeTable::make(log, known);
    if (!nodes) return nodes.error();
    if (nodes->size() == 0) return std::optional<Site>();
    const Result<Absences> absences = Absences::make(log, known, *nodes);
    if (!absences) return absences.error();
    Site site;
    nodes->divide(log, absences->reserved(), site);
    absences->give(log, *nodes, site);
    keep_to_gpus(log, site);
    share_nodes(log, known, *nodes, site);
    order_queue(log, known, site);
    limit_jobs(log, known, site);
    if (known.infers_limits) infer_limits(log, *nodes, site);
    return std::optional(std::move(site));
}

}  // namespace elastic::simulator
