// SPDX-License-Identifier: MIT
// STUDY.conf, and sweeps that are interrupted.
#include <sys/file.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>

#include "common/text.hpp"
#include "simulator/generators.hpp"
#include "studies/sweep/plan.hpp"
#include "studies/sweep/sweep.hpp"
#include "studies_test.hpp"

namespace elastic::studies {
namespace {

using testing::content_of;
using testing::Folder;
using testing::write_to;

Result<SweepPlan> parse(std::string_view text) {
    return SweepPlan::parse(text, "study.conf");
}

TEST(a_study_is_the_product_of_its_lists) {
    const auto plan = parse(
        "# a comment\n"
        "Set.ResizeGap = 0, 60\n"
        "policy=easy,lina-default/gain\n"
        "Log=a.swf\n"
        "Elastic=0-100/50\n"
        "Seed=1-2,7\n");
    check_ok(plan);
    check_eq(plan->runs(), 36U);
    check_eq(plan->runs_per_workload(), 4U);
    check_eq(plan->values(0), (std::vector<std::string>{"a.swf", "0", "1", "easy", "0"}));
    check_eq(plan->values(35),
             (std::vector<std::string>{"a.swf", "100", "7", "lina-default/gain", "60"}));
    const RunSpec spec = plan->spec(35);
    check_eq(spec.workload.elastic, 100);
    check_eq(spec.workload.seed, 7U);
    check_eq(spec.policy.resize_gap, 60);
    check_that(spec.policy.victim_order == core::VictimOrder::gain);
    check_eq(plan->line_of("Elastic"), 5);
    check_eq(plan->axes().back().key, "Set.ResizeGap");
}

TEST(every_option_of_run_can_be_set) {
    const auto plan = parse(
        "Log=a\nPolicy=easy\nNodes=7\nProcsPerNode=8\nJobs=9\nSkip=1\nScaleArrival=0.5\n"
        "Overrun=extend\nEstimates=exact\nElastic=10\nEvolvingShare=0.25\nMinFactor=0.1\nMaxFactor="
        "3\nPrefFactor=2\n"
        "CostFactor=3\nData=1G:2G\nLinkBandwidth=10G\nRho=0:0.1\nRhoModel=power\nLenient=yes\n"
        "LimitError=0.5:2\nTruth=downey=2:1\n");
    check_ok(plan);
    const RunSpec spec = plan->spec(0);
    check_eq(spec.workload.nodes, 7);
    check_eq(spec.workload.procs_per_node, 8);
    check_eq(spec.workload.jobs, 9);
    check_eq(spec.workload.skip, 1);
    check_eq(spec.workload.scale_arrival, 0.5);
    check_that(spec.workload.estimates == simulator::Estimates::exact);
    check_that(spec.workload.model.rho_model == core::SpeedupModel::Kind::power);
    check_that(spec.workload.overrun == simulator::Overrun::extend);
    check_eq(spec.workload.evolving_share, 0.25);
    check_eq(spec.workload.max_factor, 3);
    check_eq(spec.workload.model.parameter.high, 0.1);
    check_eq(spec.workload.model.cost_factor, 3);
    check_eq(spec.workload.data.high, 2e9);
    check_eq(spec.workload.link_bandwidth, 1e10);
    check_eq(spec.workload.limit_error.high, 2);
    check_eq(spec.workload.truth->a, 2);
    check_that(spec.lenient);
}

TEST(errors_name_file_and_line) {
    check_error(parse("Log=a\n"), "study.conf: Policy is missing");
    check_error(parse("Policy=easy\n"), "study.conf: Log is missing");
    check_error(parse("Log=a\nRho=0:1\nPolicy=easy\n"),
                "study.conf:2: Rho: without effect without Elastic");
    check_error(parse("Log=a\nLimitError=2\n"),
                "study.conf:2: LimitError=2: must be LO:HI with 0.001 <= LO <= HI <= 1000");
    check_that(!parse("Log=a\nTruth=gustafson\n"));
    check_error(parse("Log=a\nElastic=10,ten\n"),
                "study.conf:2: Elastic=ten: must be a number from 0");
    check_error(parse("Log=a\nSeed=1,1\n"), "study.conf:2: Seed: 1 stands twice");
    check_error(parse("Seed=1,,2\n"), "study.conf:1: Seed: an empty place in the list");
    check_error(parse("Seed=9-1\n"),
                "study.conf:1: Seed: 9-1: must be LOW-HIGH or LOW-HIGH/STEP, at most 10000 values");
    check_error(parse("Seed=1-9/0\n"),
                "study.conf:1: Seed: 1-9/0: must be LOW-HIGH or LOW-HIGH/STEP, at most 10000 "
                "values");
    check_error(parse("RhoModel=linear\n"),
                "study.conf:1: RhoModel=linear: must be amdahl or power");
    check_error(parse("Rho=1:0\n"), "study.conf:1: Rho=1:0: must be LO:HI with 0 <= LO <= HI <= 1");
    check_error(parse("Set.Nonsense=1\n"),
                "study.conf:1: Set.Nonsense=1: is no choice of a policy, see elastic.conf(5)");
    check_error(parse("\nSeed=0-9999\nElastic=0-9999\n"),
                "study.conf:3: the study has more than 1000000 runs");
    check_that(!parse("Policy=nonsense\n"));
    check_that(!parse("Nonsense=1\n"));
    check_that(!parse("Set.ResizeGap=minus\n"));
    check_that(!parse("Seed=99999999999999999999\n"));
}

// A folder with a small log and a study.
struct Study {
    Study() {
        simulator::DowneyOptions options;
        options.common.jobs = 60;
        std::string log;
        simulator::write_swf(*simulator::generate_downey(options), "test",
                             [&](std::string_view part) { log += part; });
        write_to(folder.file("log.swf"), log);
        write_to(folder.file("s.conf"),
                 "Log=log.swf\nElastic=0,50,100\nSeed=1-2\nPolicy=easy,lina-default\n");
    }
    Result<SweepResult> run(const char* out, int threads = 1) const {
        return run_sweep({folder.file("s.conf"), folder.file(out), {threads, ""}});
    }
    std::string results(const char* out) const {
        return content_of(folder.file(out) + "/results.csv");
    }

    Folder folder;
};

TEST(the_number_of_threads_changes_nothing) {
    const Study study;
    check_ok(study.run("one", 1));
    check_ok(study.run("three", 3));
    check_that(testing::files_in(study.folder.file("one")) ==
               testing::files_in(study.folder.file("three")));
    check_eq(std::ranges::count(study.results("one"), '\n'), 13);
}

// Two jobs at a time could run on the nodes, but not on those of their partition.
TEST(a_sweep_knows_the_site) {
    const Folder folder;
    std::string log =
        "JobIDRaw|NNodes|AllocCPUS|Submit|Start|End|ElapsedRaw|Timelimit|State|Partition\n";
    for (int i = 1; i <= 12; ++i)
        log += fmt::format(
            "{}|2|2|2026-01-01T00:00:{:02}|2026-01-01T01:00:00|2026-01-01T01:10:00|"
            "600|00:20:00|COMPLETED|small\n",
            i, i);
    write_to(folder.file("log.sacct"), log);
    write_to(folder.file("slurm.conf"),
             "NodeName=n[1-8]\nPartitionName=small Nodes=n[1-2]\nPartitionName=all Nodes=n[1-8]\n");
    const auto wait = [&](const char* machine, const char* conf, const char* out) {
        write_to(folder.file("s.conf"), fmt::format("Log=log.sacct\n{}Policy=easy\n", machine));
        SweepOptions options{folder.file("s.conf"), folder.file(out), {1, ""}, {}};
        options.site.slurm_conf = conf;
        const auto result = run_sweep(options);
        if (!result) return result.error().message;
        const auto& columns = result->means.columns();
        return result->means.rows()[0][static_cast<std::size_t>(
            std::ranges::find(columns, "mean_wait") - columns.begin())];
    };
    const std::string conf = folder.file("slurm.conf");
    const auto in_partition = parse_number(wait("", conf.c_str(), "partition"));
    const auto on_all = parse_number(wait("Nodes=8\n", "", "nodes"));
    check_that(in_partition && on_all);
    check_that(*in_partition > 3 * *on_all);
    check_that(wait("Nodes=8\n", conf.c_str(), "both").find("leave out --nodes") !=
               std::string::npos);
}

TEST(a_baseline_adds_who_waits_longer) {
    const Study study;
    write_to(study.folder.file("s.conf"),
             "Log=log.swf\nElastic=50\nPolicy=easy,fcfs\nBaseline=easy\n");
    const auto result = study.run("out");
    check_ok(result);
    const std::vector<std::string>& columns = result->means.columns();
    check_eq(columns.back(), "worst_seed");
    check_that(std::ranges::count(columns, "rigid_p99_wait") == 1);
    check_eq(result->means.rows().size(), 2U);
    const auto cell = [&](std::size_t row, std::string_view column) {
        return result->means.rows()[row][static_cast<std::size_t>(
            std::ranges::find(columns, column) - columns.begin())];
    };
    check_eq(cell(0, "longest_delay"), "0");
    check_that(cell(1, "longest_delay") != "0");
    check_eq(cell(0, "longer"), "0");
    check_that(cell(1, "longer") != "0");
    check_that(!parse("Baseline=nobody\n"));
}

TEST(a_baseline_adds_the_worst_seed) {
    const Study study;
    write_to(study.folder.file("s.conf"),
             "Log=log.swf\nElastic=50\nPolicy=easy,lina-default\nBaseline=easy\nSeed=1-6\n");
    const auto result = study.run("out");
    check_ok(result);
    const auto column = [&](const std::vector<std::string>& columns, std::string_view name) {
        return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
    };
    const std::string text = study.results("out");
    std::vector<std::string> header;
    double worst = 0;
    std::string seed;
    for (const std::string_view line : split(text, '\n')) {
        std::vector<std::string> cells;
        for (const std::string_view cell : split(line, ',')) cells.emplace_back(cell);
        if (header.empty()) {
            header = cells;
        } else if (line.find("lina-default") != std::string_view::npos &&
                   std::stod(cells[column(header, "turnaround_ratio")]) > worst) {
            worst = std::stod(cells[column(header, "turnaround_ratio")]);
            seed = cells[column(header, "Seed")];
        }
    }
    const std::vector<std::string>& columns = result->means.columns();
    const auto& rows = result->means.rows();
    check_eq(rows[0][column(columns, "worst_ratio")], "1");
    check_eq(rows[1][column(columns, "worst_seed")], seed);
    check_near(std::stod(rows[1][column(columns, "worst_ratio")]), worst, 1e-5);
    check_that(std::stod(rows[1][column(columns, "turnaround_ratio")]) < worst);
}

TEST(what_is_done_is_not_done_again) {
    const Study study;
    const auto first = study.run("out");
    check_ok(first);
    check_eq(first->resumed, 0U);
    check_eq(first->runs, 12U);
    check_eq(first->means.rows().size(), 6U);
    const std::string whole = study.results("out");

    // A crash: some lines are there, in any order, and a part of another.
    std::vector<std::string_view> lines = split(whole, '\n');
    const std::string torn = fmt::format("{}\n{}\n{}\n{}", lines[0], lines[5], lines[2],
                                         lines[7].substr(0, lines[7].size() - 4));
    write_to(study.folder.file("out/results.csv"), torn);
    const auto second = study.run("out", 2);
    check_ok(second);
    check_eq(second->resumed, 2U);
    check_eq(study.results("out"), whole);

    const auto third = study.run("out");
    check_ok(third);
    check_eq(third->resumed, 12U);
    check_eq(study.results("out"), whole);
}

TEST(a_study_that_grows_keeps_its_results) {
    const Study study;
    check_ok(study.run("out"));
    write_to(study.folder.file("s.conf"),
             "Log=log.swf\nElastic=0,25\nSeed=1-2\nPolicy=easy,lina-default\n");
    const auto grown = study.run("out");
    check_ok(grown);
    check_eq(grown->resumed, 4U);
    check_eq(std::ranges::count(study.results("out"), '\n'), 1 + 8 + 8);
}

TEST(results_of_another_study_are_left_alone) {
    const Study study;
    check_ok(study.run("out"));
    const std::string before = study.results("out");
    write_to(study.folder.file("s.conf"), "Log=log.swf\nPolicy=easy\n");
    const auto refused = study.run("out");
    check_that(!refused && refused.error().message.find("another --out") != std::string::npos);
    check_eq(study.results("out"), before);
}

TEST(two_sweeps_do_not_write_to_one_file) {
    const Study study;
    check_ok(study.run("out"));
    const int fd = ::open(study.folder.file("out/results.csv").c_str(), O_RDWR);
    check_that(fd >= 0 && ::flock(fd, LOCK_EX) == 0);
    check_that(!study.run("out"));
    ::close(fd);
    check_ok(study.run("out"));
}

TEST(a_log_that_is_not_there_is_the_studys_error) {
    const Study study;
    write_to(study.folder.file("s.conf"), "Policy=easy\nLog=none.swf\n");
    const auto result = study.run("out");
    check_that(!result && result.error().message.find("s.conf:2: Log: ") != std::string::npos);
}

}  // namespace
}  // namespace elastic::studies
