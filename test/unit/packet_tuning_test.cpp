// SPDX-License-Identifier: MIT
// The recommendation for a log, and what is told of logs that allow none.
#include "studies/packet/tuning.hpp"

#include <cmath>

#include "studies/packet/results.hpp"
#include "studies_test.hpp"

namespace elastic::studies {
namespace {

using testing::Folder;

int run_time(int job) {
    return 100 + 37 * job % 400;
}

double run_times() {
    double sum = 0;
    for (int i = 1; i <= 300; ++i) sum += run_time(i);
    return sum;
}

// 300 jobs of two users with three programs, one a minute.
std::string log_of_types(const Folder& folder, const char* executable = nullptr) {
    std::string text = "; MaxNodes: 16\n; MaxProcs: 16\n";
    for (int i = 1; i <= 300; ++i)
        text += fmt::format("{} {} -1 {} {} -1 -1 -1 -1 -1 1 {} -1 {} -1 -1 -1 -1\n", i, 60 * i,
                            run_time(i), 1 + i % 7, i % 2,
                            executable ? executable : std::to_string(i % 3));
    testing::write_to(folder.file("types.swf"), text);
    return folder.file("types.swf");
}

TuneOptions options_for(std::string trace) {
    TuneOptions options;
    options.trace = std::move(trace);
    options.pool.threads = 1;
    return options;
}

}  // namespace

TEST(a_plateau_begins_where_nothing_changes_any_more) {
    std::vector<double> means(packet::scale_ratios().size(), 10);
    check_eq(packet::plateau_begins(means), 0.1);
    means[0] = 110;
    check_eq(packet::plateau_begins(means), 0.2);
    means[20] = 15;  // a twentieth of what it changes
    check_eq(packet::plateau_begins(means), 0.2);
    means[20] = 15.1;
    check_eq(packet::plateau_begins(means), packet::scale_ratios()[21]);
    means[20] = 4.9;
    check_eq(packet::plateau_begins(means), packet::scale_ratios()[21]);
}

TEST(tuning_takes_the_nodes_of_the_site) {
    const Folder folder;
    std::string log =
        "JobIDRaw|NNodes|AllocCPUS|Submit|Start|End|ElapsedRaw|Timelimit|State|User|JobName\n";
    for (int i = 10; i <= 59; ++i)
        log += fmt::format(
            "{0}|2|2|2026-01-01T00:00:{0}|2026-01-01T01:00:00|2026-01-01T01:10:00|"
            "600|00:20:00|COMPLETED|u|x\n",
            i);
    testing::write_to(folder.file("log.sacct"), log);
    testing::write_to(folder.file("slurm.conf"), "NodeName=n[1-6]\nPartitionName=p Nodes=n[1-6]\n");
    TuneOptions options = options_for(folder.file("log.sacct"));
    check_that(!tune_packet(options));  // nobody says how large the machine is
    options.site.slurm_conf = folder.file("slurm.conf");
    const auto tuned = tune_packet(options);
    check_ok(tuned);
    check_eq(tuned->nodes, 6);
    check_that(tuned->notes.back().find("the 6 nodes of all partitions together") !=
               std::string::npos);
}

TEST(tuning_recommends_by_the_goal) {
    const Folder folder;
    TuneOptions options = options_for(log_of_types(folder));
    options.initialisation = 300;
    options.goal = TuneGoal::queue_time;
    const auto by_time = tune_packet(options);
    check_ok(by_time);
    check_eq(by_time->jobs, 300);
    check_eq(by_time->types, 6);
    check_eq(by_time->tuned.size(), 1u);
    const Tuned& one = by_time->tuned[0];
    check_eq(one.recommended, one.by_queue_time);
    check_that(std::abs(one.share - 300 * 300 / (300.0 * 300 + run_times())) < 1e-9);
    options.goal = TuneGoal::turnaround;
    const auto by_turnaround = tune_packet(options);
    check_eq(by_turnaround->tuned[0].recommended, one.by_turnaround);
    // No other ratio ends jobs more than a hundredth sooner.
    for (const simulator::PacketSummary& other : one.grouped)
        check_that(other.mean_turnaround >=
                   one.grouped[packet::index_of(one.by_turnaround)].mean_turnaround / 1.0101);
}

TEST(tuning_tries_the_papers_shares) {
    const Folder folder;
    const auto result = tune_packet(options_for(log_of_types(folder)));
    check_ok(result);
    check_eq(result->tuned.size(), packet::kShares.size());
    for (std::size_t i = 1; i < result->tuned.size(); ++i)
        check_that(result->tuned[i].initialisation > result->tuned[i - 1].initialisation);
    check_eq(to_table(*result).rows().size(), packet::kShares.size());
}

TEST(tuning_leaves_out_jobs_of_no_known_type_and_refuses_to_guess_all) {
    const Folder folder;
    TuneOptions options = options_for(log_of_types(folder, "-1"));
    const auto none = tune_packet(options);
    check_that(!none);
    check_that(none.error().message.starts_with("--types user,executable: "));
    check_that(none.error().message.ends_with("; it has user"));
    options.types = {simulator::TypeField::user};
    check_ok(tune_packet(options));
    options.trace = "/nonexistent.swf";
    check_that(tune_packet(options).error().message.starts_with("--trace: /nonexistent.swf"));
}

TEST(tuning_writes_a_page_that_justifies_it) {
    if (!testing::can_draw()) return;
    const Folder folder;
    TuneOptions options = options_for(log_of_types(folder));
    options.out = folder.file("out");
    const auto result = tune_packet(options);
    check_ok(result);
    const auto files = testing::files_in(folder.file("out"));
    for (const char* name : {"index.html", "recommended.csv", "queue_time.svg", "turnaround.svg",
                             "utilisation.svg", "runs.csv"})
        check_that(files.contains(name));
    options.pool.threads = 3;
    options.out = folder.file("again");
    check_ok(tune_packet(options));
    check_that(files == testing::files_in(folder.file("again")));
}

}  // namespace elastic::studies
