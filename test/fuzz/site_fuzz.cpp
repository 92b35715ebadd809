// SPDX-License-Identifier: MIT
// The input is a file of a site: slurm.conf, or what sacctmgr prints of QOS, reservations or
// events.  What is read keeps its rules, and every error is one clean line.
#include <algorithm>

#include "fuzz.hpp"
#include "simulator/site/calendar.hpp"
#include "simulator/site/qos_table.hpp"
#include "simulator/site/slurm_conf.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

void check(const SlurmConf& conf) {
    fuzz::require(!conf.nodes.empty() && !conf.partitions.empty(), "nodes and partitions");
    for (const SlurmConf::Node& node : conf.nodes)
        fuzz::require(node.processors >= 0 && node.gpus >= 0 && node.memory >= 0, "a node");
    for (const SlurmConf::Partition& partition : conf.partitions) {
        fuzz::require(std::ranges::is_sorted(partition.nodes), "the order of nodes");
        for (const int node : partition.nodes)
            fuzz::require(node >= 0 && node < std::ssize(conf.nodes), "a node of the partition");
    }
}

void check(const std::vector<Qos>& qos) {
    for (const Qos& one : qos)
        for (const Cap& cap : one.caps) fuzz::require(cap.is_set() && cap.jobs >= 0, "a cap");
}

void check(const std::vector<ReservedNodes>& reservations) {
    for (const ReservedNodes& one : reservations)
        fuzz::require(one.from < one.to && !one.nodes.empty(), "a reservation");
}

void check(const std::vector<DownTime>& events) {
    for (const DownTime& one : events)
        fuzz::require(one.from < one.to && !one.node.empty(), "a down time");
}

template <class T>
void look_at(const Result<T>& read) {
    if (read)
        check(*read);
    else
        fuzz::require_clean(read.error().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text(data, size);
    look_at(parse_slurm_conf(text, "slurm.conf"));
    look_at(parse_qos(text, "qos"));
    look_at(parse_reservations(text, "reservations"));
    look_at(parse_events(text, "events"));
    return 0;
}
