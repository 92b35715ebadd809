// SPDX-License-Identifier: MIT
// The machine behind a log: slurm.conf, QOS and NodeList become partitions, an order of the queue
// and limits, which the engine keeps.
#include "simulator/site/site.hpp"

#include <algorithm>
#include <numeric>

#include "common/text.hpp"
#include "simulator/engine.hpp"
#include "simulator/logs/reader.hpp"
#include "simulator/make_workload.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

SlurmConf conf_of(std::string_view text) {
    auto conf = parse_slurm_conf(text, "slurm.conf");
    check_ok(conf);
    return *std::move(conf);
}

std::string conf_error(std::string_view text) {
    const auto conf = parse_slurm_conf(text, "slurm.conf");
    return conf ? "" : conf.error().message;
}

// Lines of "JOB|NODES|SUBMIT|LIMIT|USER|PARTITION|QOS|PRIORITY|NODELIST"; jobs run for 100 s.
Log log_of(std::string_view lines) {
    std::string text =
        "JobID|NNodes|Submit|TimelimitRaw|User|Partition|QOS|Priority|NodeList|ElapsedRaw|State\n";
    for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1))
        text += std::string(lines.substr(0, end)) + "|100|COMPLETED\n";
    auto log = parse_log(text, "x.txt", false);
    check_ok(log);
    return *std::move(log);
}

Site site_of(const Log& log, const SiteKnowledge& known = {}) {
    auto site = make_site(log, known);
    check_ok(site);
    check_that(site->has_value());
    return **std::move(site);
}

Workload workload_of(const Log& log, const Site& site, double elastic = 0) {
    WorkloadOptions options;
    options.site = &site;
    options.elastic = elastic;
    options.evolving_share = 0;
    auto workload = make_workload(log, options);
    check_ok(workload);
    return *std::move(workload);
}

std::string starts(const Workload& workload, const char* policy = "easy") {
    SimulationOptions options;
    options.policy = *core::preset(policy);
    const Outcome outcome = simulate(workload, options);
    check_eq(outcome.lost, 0);
    std::string text;
    for (const JobResult& job : outcome.jobs) text += fmt::format("{} ", job.start);
    return text;
}

// "a: 4 nodes in pools 0,1"
std::string show(const Partition& partition) {
    return fmt::format("{}: {} nodes in pools {}", partition.name, partition.nodes,
                       fmt::join(partition.pools, ","));
}

constexpr const char* kTwoPartitions =
    "NodeName=n[1-6] CPUs=4\n"
    "PartitionName=a Nodes=n[1-4]\n"
    "PartitionName=b Nodes=n[3-6]\n";

}  // namespace

TEST(slurm_conf_says_which_nodes_and_partitions_there_are) {
    const SlurmConf conf = conf_of(
        "# a site\n"
        "ClusterName=x  # and more\n"
        "SelectTypeParameters=CR_Core_Memory\n"
        "PriorityType=priority/multifactor\nPriorityWeightQOS=1000\nPriorityMaxAge=1-0\n"
        "AccountingStorageEnforce=associations,limits\n"
        "NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=1000\n"
        "NodeName=n[01-04] Weight=5\n"
        "nodename=g[1-2] CPUs=8 Gres=gpu:a100:4(S:0-1),nvme:1 Feature=fast,new\n"
        "NodeSet=quick Feature=fast\n"
        "PartitionName=DEFAULT MaxNodes=3 PriorityTier=2\n"
        "PartitionName=all Nodes=ALL MaxNodes=UNLIMITED\n"
        "PartitionName=gpu \\\n   Nodes=quick QOS=\"part gpu\" OverSubscribe=EXCLUSIVE\n");
    check_eq(conf.nodes.size(), 6u);
    check_eq(conf.nodes[0].name, std::string("n01"));
    check_eq(conf.nodes[0].processors, 32);
    check_eq(conf.nodes[0].weight, 5u);
    check_eq(conf.nodes[5].processors, 8);
    check_eq(conf.nodes[5].gpus, 4);
    check_eq(conf.nodes[5].memory, 1000.0);
    check_eq(conf.partitions.size(), 2u);
    check_eq(conf.partitions[0].nodes.size(), 6u);
    check_eq(conf.partitions[0].most_nodes, kMaxNodes);
    check_eq(conf.partitions[1].most_nodes, 3);
    check_eq(conf.partitions[1].tier, 2);
    check_eq(conf.partitions[1].qos, std::string("part gpu"));
    check_that(conf.partitions[1].exclusive);
    check_eq(fmt::format("{}", fmt::join(conf.partitions[1].nodes, ",")), std::string("4,5"));
    check_that(conf.enforces_limits && conf.counts_memory && !conf.whole_nodes);
    check_eq(conf.weights.qos, 1000.0);
    check_eq(conf.weights.most_age, 86400.0);
}

TEST(an_error_in_slurm_conf_names_line_and_key) {
    check_eq(conf_error("ClusterName=x\n"), std::string("slurm.conf: names no node (NodeName=)"));
    check_eq(conf_error("NodeName=n1\n"),
             std::string("slurm.conf: names no partition (PartitionName=)"));
    check_eq(conf_error("NodeName=n[1-\nPartitionName=a Nodes=ALL\n"),
             std::string("slurm.conf:1: NodeName: node list: ends too early"));
    check_eq(conf_error("NodeName=n1\nNodeName=n[1-2]\n"),
             std::string("slurm.conf:2: NodeName: n1 stands twice"));
    check_eq(conf_error("NodeName=n1 CPUs=many\n"),
             std::string("slurm.conf:1: CPUs: 'many' is no whole number"));
    check_eq(conf_error("NodeName=n1\n\nPartitionName=a Nodes=n7\n"),
             std::string("slurm.conf:3: Nodes: n7 is no node of NodeName"));
    check_eq(conf_error("PriorityMaxAge=soon\n"),
             std::string("slurm.conf:1: PriorityMaxAge: 'soon' is no time"));
}

TEST(qos_are_read_as_sacctmgr_prints_them) {
    const auto qos = parse_qos(
        "Name|Priority|GrpTRES|Flags|MaxTRESPU|MaxJobsPU\n"
        "normal|0|||||\n",
        "q");
    check_eq(qos ? "" : qos.error().message,
             std::string("q:2: 7 columns, where the first line names 6"));
    const auto good = parse_qos(
        "Name|Priority|GrpTRES|Flags|MaxTRESPU|MaxJobsPU\n"
        "normal|0||DenyOnLimit||\n"
        "big|50|cpu=64,gres/gpu=8,mem=2G,node=4||node=2|3\n",
        "q");
    check_ok(good);
    check_eq(good->size(), 2u);
    check_eq((*good)[0].caps.size(), 0u);
    const Qos& big = (*good)[1];
    check_eq(big.priority, 50.0);
    check_eq(big.caps.size(), 2u);
    check_eq(big.caps[0].nodes, 4.0);
    check_eq(big.caps[0].processors, 64.0);
    check_eq(big.caps[0].gpus, 8.0);
    check_eq(big.caps[0].memory, 2048.0);
    check_that(big.caps[1].of == Cap::Of::user && big.caps[1].jobs == 3);
    const auto none = parse_qos("Priority\n1\n", "q");
    check_that(!none && none.error().message.find("no column Name") != std::string::npos);
}

TEST(nodes_of_the_same_partitions_are_one_pool) {
    SiteKnowledge known;
    known.conf = conf_of(kTwoPartitions);
    const Site site = site_of(log_of("1|2|0|9|u|a||0|n[1-2]\n"), known);
    check_eq(site.nodes, 6);
    check_eq(site.pools.size(), 3u);
    check_eq(site.pools[0].each.processors, 4.0);
    check_eq(show(site.partitions[0]), std::string("a: 4 nodes in pools 0,1"));
    check_eq(show(site.partitions[1]), std::string("b: 4 nodes in pools 1,2"));
    check_that(site.ranks.empty());
}

TEST(without_slurm_conf_a_partition_has_the_nodes_of_its_jobs) {
    const Site site =
        site_of(log_of("1|2|0|9|u|a||0|n[1-2]\n2|2|0|9|u|b||0|n[2-3]\n3|1|0|9|u|b||0|n4\n"));
    check_eq(site.nodes, 4);
    check_eq(show(site.partitions[0]), std::string("a: 2 nodes in pools 0,1"));
    check_eq(show(site.partitions[1]), std::string("b: 3 nodes in pools 1,2"));
    const auto none = make_site(log_of("1|2|0|9|u|a||0|\n"), {});
    check_ok(none);
    check_that(!none->has_value());
}

TEST(a_partition_that_slurm_conf_has_no_more_is_known_from_the_log) {
    SiteKnowledge known;
    known.conf = conf_of(kTwoPartitions);
    const Site site = site_of(log_of("1|2|0|9|u|old||0|n[5-6]\n2|1|0|9|u|a||0|m1\n"), known);
    check_eq(show(site.partitions[2]), std::string("old: 2 nodes in pools 2"));
    check_eq(site.notes.size(), 3u);
    check_that(site.notes[1].find("1 node(s) of its NodeList are not in slurm.conf") !=
               std::string::npos);
    check_that(site.notes[2].find("partition(s) old") != std::string::npos);
}

// Of the three jobs of four nodes the third does not wait, and the small one goes where the fewest
// want to be.
TEST(jobs_run_on_nodes_of_their_partition) {
    SiteKnowledge known;
    known.conf =
        conf_of("NodeName=n[1-8]\nPartitionName=a Nodes=n[1-4]\nPartitionName=b Nodes=n[5-8]\n");
    const Log log = log_of(
        "1|4|0|9|u|a||0|n[1-4]\n2|4|1|9|u|a||0|n[1-4]\n3|4|2|9|u|b||0|n[5-8]\n4|5|2|9|u|b||0|n[1-8]"
        "\n");
    const Site site = site_of(log, known);
    const Workload workload = workload_of(log, site);
    check_eq(workload.nodes, 8);
    check_eq(workload.rejected, 1);  // larger than its partition
    check_eq(starts(workload), std::string("0 100 2 "));
    check_eq(starts(workload, "elastic"), std::string("0 100 2 "));
}

TEST(an_elastic_job_stays_within_its_partition) {
    SiteKnowledge known;
    known.conf = conf_of(
        "NodeName=n[1-8]\nPartitionName=a Nodes=n[1-4] MaxNodes=3\nPartitionName=b Nodes=ALL\n");
    const Log log = log_of("1|2|0|9|u|a||0|n[1-2]\n2|2|0|9|u|b||0|n[5-8]\n");
    const Site site = site_of(log, known);
    const Workload workload = workload_of(log, site, 100);
    check_eq(workload.elasticities[workload.jobs[0].elasticity].annotation.max, 3);
    check_eq(workload.elasticities[workload.jobs[1].elasticity].annotation.max, 8);
}

TEST(the_queue_is_in_the_order_of_tiers_and_weights) {
    SiteKnowledge known;
    known.conf = conf_of(
        "PriorityType=priority/multifactor\nPriorityWeightQOS=100\nPriorityWeightAge=10\n"
        "NodeName=n[1-4]\nPartitionName=a Nodes=ALL\nPartitionName=b Nodes=ALL PriorityTier=2\n");
    known.qos = *parse_qos("Name|Priority\nlow|0\nhigh|10\n", "q");
    const Log log = log_of(
        "1|4|0|9|u|a|low|0|n[1-4]\n2|4|1|9|u|a|low|0|n[1-4]\n3|4|2|9|u|a|high|0|n[1-4]\n"
        "4|4|3|9|u|b|low|0|n[1-4]\n");
    const Site site = site_of(log, known);
    check_eq(fmt::format("{}", fmt::join(site.ranks, " ")), std::string("2 3 1 0"));
    check_eq(starts(workload_of(log, site)), std::string("0 300 200 100 "));
}

TEST(the_queue_may_be_in_the_order_of_logged_priorities) {
    SiteKnowledge known;
    known.order = QueueOrder::logged;
    const Log log = log_of("1|4|0|9|u|a||5|n[1-4]\n2|4|1|9|u|a||3|n[1-4]\n3|4|2|9|u|a||9|n[1-4]\n");
    check_eq(starts(workload_of(log, site_of(log, known))), std::string("0 200 100 "));
    check_eq(starts(workload_of(log, site_of(log))), std::string("0 100 200 "));
}

// Two nodes a user, and one job in all of QOS one.
TEST(jobs_wait_for_limits_of_their_qos_and_nobody_behind_them) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-9]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|GrpJobs|MaxTRESPU\ntwo||node=2\none|1|\n", "q");
    const Log log = log_of(
        "1|2|0|9|u|a|two|0|n[1-8]\n2|1|1|9|u|a|two|0|n1\n3|1|2|9|v|a|two|0|n1\n"
        "4|1|3|9|v|a|one|0|n1\n5|1|4|9|w|a|one|0|n1\n6|3|5|9|x|a|two|0|n[1-3]\n");
    const Site site = site_of(log, known);
    // A job that is larger than its limit has it alone.
    check_eq(starts(workload_of(log, site)), std::string("0 100 2 3 103 5 "));
    known.conf->enforces_limits = false;
    check_eq(starts(workload_of(log, site_of(log, known))), std::string("0 1 2 3 4 5 "));
}

// A limit is on what runs: as for Slurm, a job that waits for nodes stops none of its user's that
// come behind it, unless it has a reservation.
TEST(who_waits_for_nodes_without_a_reservation_takes_no_room_in_a_limit) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-5]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|MaxJobsPU\none|1\n", "q");
    // The second has a reservation, so the fifth has to wait; the third has none.
    const Log log = log_of(
        "1|3|0|9|v|a|one|0|n[1-3]\n2|5|1|9|w|a|one|0|n[1-5]\n3|4|2|9|u|a|one|0|n[1-4]\n"
        "4|1|3|5|u|a|one|0|n1\n5|1|4|5|w|a|one|0|n1\n");
    check_eq(starts(workload_of(log, site_of(log, known))), std::string("0 103 203 3 203 "));
    known.conf->enforces_limits = false;
    check_eq(starts(workload_of(log, site_of(log, known))), std::string("0 104 204 3 4 "));
}

// All could start on idle nodes; what comes behind those that may not has their nodes.
TEST(of_those_that_could_start_together_as_many_do_as_a_limit_allows) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-8]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|GrpTRES\nq|node=3\nfree|\n", "q");
    const Log log = log_of(
        "1|2|0|9|u|a|q|0|n[1-8]\n2|2|0|9|v|a|q|0|n1\n3|1|0|9|w|a|q|0|n1\n4|1|0|9|x|a|q|0|n1\n"
        "5|5|0|9|y|a|free|0|n1\n");
    for (const char* policy : {"easy", "fcfs", "elastic", "lina-default", "mebf-intensive"})
        check_eq(starts(workload_of(log, site_of(log, known)), policy),
                 std::string("0 100 0 100 0 "));
}

// Room in a limit comes free with a job's end, its nodes later.
TEST(nodes_may_complete_for_some_seconds) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-4]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|GrpJobs\nq|1\nfree|\n", "q");
    const Log log =
        log_of("1|3|0|9|u|a|q|0|n[1-4]\n2|1|1|9|u|a|q|0|n1\n3|3|2|9|u|a|free|0|n[1-3]\n");
    const Workload workload = workload_of(log, site_of(log, known));
    SimulationOptions options;
    options.policy = *core::preset("easy");
    options.completing = 7;
    std::string text;
    for (const JobResult& job : simulate(workload, options).jobs)
        text += fmt::format("{} ", job.start);
    check_eq(text, std::string("0 100 107 "));
    check_eq(starts(workload), std::string("0 100 100 "));
}

TEST(a_job_grows_as_far_as_its_limit_allows) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-32]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|MaxTRESPU\nq|node=6\n", "q");
    const Log log = log_of("1|4|0|9|u|a|q|0|n[1-32]\n2|1|0|9|u|a|q|0|n1\n");
    const Site site = site_of(log, known);
    Workload workload = workload_of(log, site, 100);
    for (Elasticity& elasticity : workload.elasticities) elasticity.annotation.max = 16;
    SimulationOptions options;
    options.policy = *core::preset("lina-default");
    options.segments = true;
    const Outcome outcome = simulate(workload, options);
    int most = 0;
    for (const Segment& segment : outcome.segments)
        if (segment.job == 0) most = std::max(most, segment.nodes);
    check_eq(outcome.lost, 0);
    check_eq(most, 5);  // the user's other job has the sixth
}

// What runs and has been let into the queue never exceeds the limit, whatever the jobs grow to.
TEST(elastic_jobs_grow_within_limits) {
    SiteKnowledge known;
    known.conf =
        conf_of("AccountingStorageEnforce=limits\nNodeName=n[1-32]\nPartitionName=a Nodes=ALL\n");
    known.qos = *parse_qos("Name|MaxTRESPU\nq|node=6\n", "q");
    std::string lines;
    for (int job = 1; job <= 60; ++job)
        lines += fmt::format("{}|{}|{}|9|u{}|a|q|0|n[1-32]\n", job, 1 + job % 3, 25 * job, job % 3);
    const Log log = log_of(lines);
    const Site site = site_of(log, known);
    const Workload workload = workload_of(log, site, 100);
    std::int64_t expansions = 0;
    for (const char* policy : {"elastic", "lina-default", "wagomu-pref", "equipartition"}) {
        SimulationOptions options;
        options.policy = *core::preset(policy);
        options.segments = true;
        const Outcome outcome = simulate(workload, options);
        check_eq(outcome.lost, 0);
        expansions += outcome.counters.expansions;
        for (int user = 0; user < 3; ++user) {
            std::vector<std::pair<Time, int>> changes;
            for (const Segment& segment : outcome.segments)
                if ((segment.job + 1) % 3 == static_cast<unsigned>(user)) {
                    changes.emplace_back(segment.from, segment.nodes);
                    changes.emplace_back(segment.to, -segment.nodes);
                }
            std::ranges::sort(changes);
            int used = 0;
            for (const auto& [at, change] : changes) check_that((used += change) <= 6);
        }
    }
    check_that(expansions > 0);
}

TEST(what_a_job_was_submitted_with_says_that_it_is_elastic) {
    auto log = parse_log(
        "JobID|NNodes|Submit|ElapsedRaw|State|SubmitLine\n"
        "1|4|1000|5|COMPLETED|sbatch --elastic=malleable,min=2,max=8 a --elastic=x\n"
        "2|4|1000|5|COMPLETED|sbatch --elasticity=3 a\n3|4|1000|5|COMPLETED|sbatch --elastic\n"
        "4|4|1000|5|COMPLETED|srun --elastic evolving,min=1,max=4 a\n",
        "x.txt", false);
    check_ok(log);
    check_eq(log->annotations.size(), 2u);
    check_eq(log->annotations[1].text, std::string("malleable,min=2,max=8"));
    check_eq(log->annotations[4].text, std::string("evolving,min=1,max=4"));
    check_eq(log->annotations[4].line, 5);
}

TEST(a_job_arrives_when_it_is_eligible) {
    const auto log = parse_log(
        "JobID|NNodes|Submit|Eligible|Start|ElapsedRaw|State\n"
        "1|1|1000|1000|1000|5|COMPLETED\n2|1|1000|1500|1600|5|COMPLETED\n"
        "3|1|1000|Unknown|1700|5|COMPLETED\n4|1|1000|1900|1800|5|COMPLETED\n",
        "x.txt", false);
    check_ok(log);
    std::string text;
    for (const LogJob& job : log->jobs) text += fmt::format("{}+{} ", job.submit, job.wait);
    check_eq(text, std::string("0+0 500+100 0+700 800+0 "));
    check_eq(log->notes.size(), 1u);
    check_that(log->notes[0].find("2 job(s) had to wait for something else") != std::string::npos);
}

TEST(reservations_and_events_are_read_as_sacctmgr_prints_them) {
    const auto reservations = parse_reservations(
        "Name|NodeName|TimeStart|TimeEnd|TRES\n"
        "maint|n[1-2]|2026-03-01T08:00:00|2026-03-01T10:00:00|cpu=8\n"
        "open|n3|2026-03-01T08:00:00|Unknown|\nnone||2026-03-01T08:00:00|Unknown|\n",
        "r");
    check_ok(reservations);
    check_eq(reservations->size(), 2u);
    const ReservedNodes& maint = (*reservations)[0];
    check_eq(maint.name, std::string("maint"));
    check_eq(maint.nodes.size(), 2u);
    check_eq(maint.to - maint.from, 7200.0);
    check_eq(maint.processors, 8.0);
    check_that((*reservations)[1].to >= kNever);
    const auto events = parse_events(
        "NodeName|Start|End|State\n|2026-03-01T08:00:00|Unknown|\n"
        "n1|2026-03-01T08:00:00|2026-03-01T09:00:00|DOWN*\n",
        "e");
    check_ok(events);
    check_eq(events->size(), 1u);
    check_eq((*events)[0].to - (*events)[0].from, 3600.0);
    const auto message = [](const auto& result) {
        return result ? std::string() : result.error().message;
    };
    check_eq(message(parse_reservations("Name|NodeName|Start|End\na|n[1|0|9\n", "r")),
             std::string("r:2: NodeName: node list: ends too early"));
    check_eq(message(parse_events("NodeName|Start|End|State\nn1|soon|9|\n", "e")),
             std::string("e:2: Start: 'soon' is no time such as 2024-05-01T10:00:00"));
    check_that(message(parse_events("", "e")).find("sacctmgr") != std::string::npos);
}

namespace {

// Of 100 s, on four nodes, of which the reservation has two, from the log's second 150 until 400.
Site reserved_site(const Log& log) {
    SiteKnowledge known;
    known.conf = conf_of("NodeName=n[1-4]\nPartitionName=a Nodes=ALL\n");
    known.reservations = {{"r", log.zero + 150, log.zero + 400, {"n1", "n2"}}};
    return site_of(log, known);
}

Log dated_log_of(std::string_view lines) {
    Log log = log_of(lines);
    log.zero = 1'000'000;
    return log;
}

}  // namespace

// The limit of the first lets it end before; that of the second does not, and so it waits for the
// other nodes.
TEST(a_job_does_not_run_into_a_reservation) {
    const Log log = dated_log_of(
        "1|2|0|2|u|a||0|n[1-2]\n2|3|0|9|u|a||0|n[1-3]\n"
        "3|1|1|9|u|a||0|n3\n4|1|350|9|u|a||0|n3\n");
    const Site site = reserved_site(log);
    check_eq(site.pools.size(), 2u);
    check_eq(site.reservations.size(), 1u);
    for (const char* policy : {"easy", "elastic"})
        check_eq(starts(workload_of(log, site), policy), std::string("0 400 1 350 "));
}

TEST(jobs_of_a_reservation_wait_for_it_and_have_its_nodes) {
    auto log = parse_log(
        "JobID|NNodes|Submit|Start|TimelimitRaw|Partition|Reservation|NodeList|ElapsedRaw|State\n"
        "1|2|1000|1150|1|a|r|n[1-2]|50|COMPLETED\n2|2|1000|1200|1|a|r|n[1-2]|50|COMPLETED\n"
        "3|2|1000|1000|9|a||n[3-4]|50|COMPLETED\n4|4|1000|1000|9|a|r|n[1-4]|50|COMPLETED\n"
        "5|1|1000|1600|9|a|r|n1|50|COMPLETED\n",
        "x.txt", false);
    check_ok(log);
    const Site site = reserved_site(*log);
    check_eq(fmt::format("{}", fmt::join(site.reservation_of, " ")), std::string("0 0 -1 0 -1"));
    const Workload workload = workload_of(*log, site);
    check_eq(workload.reservation_of[3], -1);  // it is larger than the reservation
    check_eq(starts(workload), std::string("150 200 0 400 50 "));
}

// What is down goes when it comes free, and is back by itself.
TEST(nodes_that_are_down_are_used_by_nobody) {
    SiteKnowledge known;
    known.conf = conf_of("NodeName=n[1-4]\nPartitionName=a Nodes=ALL\n");
    const Log log = dated_log_of(
        "1|4|0|9|u|a||0|n[1-4]\n2|1|1|9|u|a||0|n1\n3|2|2|9|u|a||0|n[1-2]"
        "\n4|3|3|9|u|a||0|n[1-3]\n5|1|500|9|u|a||0|n1\n");
    known.events = {{"n1", log.zero + 50, log.zero + 250},
                    {"n2", log.zero + 50, log.zero + 90},
                    {"n2", log.zero + 80, log.zero + 180},
                    {"m7", log.zero, log.zero + 900}};
    const Site site = site_of(log, known);
    check_eq(site.outages.size(), 2u);
    check_eq(starts(workload_of(log, site)), std::string("0 100 180 280 500 "));
}

// Nobody uses n1 for two days while small jobs wait, and nobody n2 for two days while none does.
TEST(down_times_are_inferred_where_jobs_wait_for_unused_nodes) {
    const auto log = parse_log(
        "JobID|NNodes|Submit|Start|TimelimitRaw|Partition|NodeList|ElapsedRaw|State\n"
        "1|1|1000|1000|9|a|n1|100|COMPLETED\n2|1|1050|200000|9|a|n3|100|COMPLETED\n"
        "3|1|180000|180000|9|a|n1|100|COMPLETED\n4|1|200000|200000|9|a|n2|100|COMPLETED\n"
        "5|1|400000|400000|9|a|n2|100|COMPLETED\n",
        "x.txt", false);
    check_ok(log);
    SiteKnowledge known;
    known.infers_events = true;
    const Site site = site_of(*log, known);
    check_eq(site.outages.size(), 1u);
    check_eq(site.outages[0].from, 100.0);
    check_eq(site.outages[0].to, 179000.0);
    const auto undated = make_site(log_of("1|2|0|9|u|a||0|n[1-2]\n"), known);
    check_that(!undated && undated.error().message.find("no date") != std::string::npos);
}

namespace {

// Lines of "JOB|NODES|CPUS|SUBMIT|LIMIT|PARTITION|TRES|NODELIST"; jobs run for 100 s.
Log shared_log(std::string_view lines) {
    std::string text =
        "JobID|NNodes|AllocCPUS|Submit|TimelimitRaw|Partition|AllocTRES|NodeList|ElapsedRaw|"
        "State\n";
    for (const std::string_view line : split(lines, '\n'))
        if (!line.empty()) text += std::string(line) + "|100|COMPLETED\n";
    auto log = parse_log(text, "x.txt", false);
    check_ok(log);
    return *std::move(log);
}

}  // namespace

// Nodes of four processors: the first three share the two, the fourth wants a whole one, and the
// fifth may not be there when that is to start.
TEST(jobs_with_parts_of_nodes_share_them) {
    SiteKnowledge known;
    known.conf = conf_of("NodeName=n[1-2] CPUs=4\nPartitionName=a Nodes=ALL\n");
    const Log log = shared_log(
        "1|1|2|0|1|a||n1\n2|2|4|1|2|a||n[1-2]\n3|1|2|2|9|a||n2\n4|1|4|3|9|a||n1\n5|1|2|4|9|a||"
        "n1\n");
    const Site site = site_of(log, known);
    check_that(site.notes.back().find("80 % of the jobs") != std::string::npos);
    const Workload workload = workload_of(log, site);
    check_that(!workload.shares[3]);
    for (const char* policy : {"easy", "elastic"})
        check_eq(starts(workload, policy), std::string("0 1 2 101 101 "));
    known.conf->whole_nodes = true;
    check_that(site_of(log, known).shares.empty());
    known.conf->whole_nodes = false;
    known.conf->partitions[0].exclusive = true;
    check_that(site_of(log, known).shares.empty());
}

TEST(parts_of_nodes_are_of_memory_and_gpus_too) {
    SiteKnowledge known;
    known.conf = conf_of(
        "SelectTypeParameters=CR_Core_Memory\nNodeName=DEFAULT CPUs=8 RealMemory=1000\n"
        "NodeName=n1\nNodeName=g1 Gres=gpu:2\nPartitionName=a Nodes=ALL\n");
    const Log log = shared_log(
        "1|1|1|0|9|a|mem=900M|n1\n2|1|1|1|9|a|mem=900M|g1\n3|1|1|2|9|a|mem=50M,gres/gpu=2|g1\n"
        "4|1|1|3|9|a|mem=50M,gres/gpu=1|g1\n5|1|1|4|3|a|mem=50M|n1\n6|1|1|5|3|a|mem=50M|n1\n");
    const Site site = site_of(log, known);
    check_eq(site.partitions.size(), 3u);
    check_eq(show(site.partitions[2]), std::string("a: 1 nodes in pools 1"));
    check_eq(starts(workload_of(log, site)), std::string("0 1 2 102 4 5 "));
    known.conf->counts_memory = false;
    check_eq(starts(workload_of(log, site_of(log, known))), std::string("0 1 2 102 4 5 "));
}

TEST(without_slurm_conf_the_log_tells_that_nodes_are_shared) {
    const auto shares = [](std::string_view second_start) {
        const auto log = parse_log(
            fmt::format(
                "JobID|NNodes|AllocCPUS|Submit|Start|TimelimitRaw|NodeList|ElapsedRaw|State\n"
                "1|1|2|1000|1000|9|n1|100|COMPLETED\n2|1|2|1000|{}|9|n1|100|COMPLETED\n"
                "3|1|4|1000|2000|9|n1|100|COMPLETED\n",
                second_start),
            "x.txt", false);
        check_ok(log);
        return site_of(*log).shares;
    };
    check_eq(shares("1050").size(), 3u);
    check_that(shares("1050")[0] && !shares("1050")[2]);
    check_that(shares("1100").empty());
}

namespace {

// Five days on ten nodes. Each morning user u submits jobs of these sizes, of an hour, and has up
// to so many nodes and jobs; they move over the nodes. User v has each node for a minute every six
// hours; with `wide` a job of eight nodes of v waits all day, too.
Log limited_log(const std::vector<int>& sizes, int most_nodes, int most_jobs, bool wide) {
    std::string text =
        "JobID|NNodes|Submit|Start|TimelimitRaw|User|Partition|NodeList|ElapsedRaw|State\n";
    int id = 0, node = 0;
    const auto add = [&](const char* user, int nodes, int submit, int start, int run) {
        const int first = std::exchange(node, (node + nodes) % 8) % 8;
        text += fmt::format("{}|{}|{}|{}|99|{}|a|n[{}-{}]|{}|COMPLETED\n", ++id, nodes,
                            1000000 + submit, 1000000 + start, user, first, first + nodes - 1, run);
    };
    for (int day = 0; day < 5; ++day) {
        const int dawn = 86400 * day + 1000;
        int at = dawn, nodes = 0, jobs = 0;
        for (const int size : sizes) {
            if (nodes + size > most_nodes || jobs == most_jobs) at += 3600, nodes = jobs = 0;
            nodes += size, ++jobs;
            add("u", size, dawn, at, 3600);
        }
        for (int part = 0; part < 4; ++part)
            for (node = 0; node < 10; node = (node + 1) % 11)
                text += fmt::format("{}|1|{}|{}|99|v|a|n{}|60|COMPLETED\n", ++id,
                                    1000000 + 86400 * day + 21600 * part + 60 * node,
                                    1000000 + 86400 * day + 21600 * part + 60 * node, node);
        node = 0;
        if (wide) add("v", 8, dawn, dawn + 80000, 60);
    }
    auto log = parse_log(text, "x.txt", false);
    check_ok(log);
    return *std::move(log);
}

std::string inferred(const Log& log) {
    SiteKnowledge known;
    known.infers_limits = true;
    const Site site = site_of(log, known);
    std::string text;
    for (const Limit& limit : site.limits)
        text += fmt::format("{}: {} nodes, {} jobs\n", limit.name, limit.nodes, limit.jobs);
    check_that(std::ranges::any_of(
        site.notes, [](const std::string& note) { return note.starts_with("limits inferred: "); }));
    if (!text.empty()) check_eq(starts(workload_of(log, site)).empty(), false);
    return text;
}

}  // namespace

TEST(limits_are_inferred_from_jobs_that_waited_while_there_were_nodes) {
    const std::vector<int> small(8, 1), mixed{2, 2, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1};
    check_eq(inferred(limited_log(small, 99, 2, false)),
             std::string("inferred limit of user u in partition a: 0 nodes, 2 jobs\n"));
    check_eq(inferred(limited_log(mixed, 4, 99, false)),
             std::string("inferred limit of user u in partition a: 4 nodes, 0 jobs\n"));
}

TEST(no_limit_is_inferred_where_others_wait_or_few_jobs_have) {
    const std::vector<int> small(8, 1);
    check_eq(inferred(limited_log(small, 99, 2, true)), std::string());
    check_eq(inferred(limited_log(std::vector<int>(5, 1), 99, 2, false)), std::string());
    // All of them have all nodes that they ever have.
    check_eq(inferred(limited_log(small, 99, 8, false)), std::string());
}
