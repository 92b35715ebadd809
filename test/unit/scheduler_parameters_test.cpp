// SPDX-License-Identifier: MIT
// What SchedulerParameters mean, what is said of values that Slurm would not take, and how deep a
// pass looks into the queue with them.
#include "controller/scheduler_parameters.hpp"

#include "controller/queue_depth.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

namespace {

SchedulerParameters parse(std::string_view text) {
    const ReadParameters read = parse_scheduler_parameters(text);
    check_that(read.errors.empty());
    return read.values;
}

std::string error_of(std::string_view text) {
    const ReadParameters read = parse_scheduler_parameters(text);
    check_eq(read.errors.size(), std::size_t{1});
    return read.errors.front();
}

using Keys = std::vector<std::string>;

constexpr Candidate kJob{.user = 1, .association = 10, .partition = 0};
constexpr Candidate kElsewhere{.user = 1, .association = 10, .partition = 1};
constexpr Candidate kOtherAccount{.user = 1, .association = 11, .partition = 0};
constexpr Candidate kOtherUser{.user = 2, .association = 20, .partition = 0};

}  // namespace

TEST(no_parameters_bound_nothing) {
    check_that(parse("") == SchedulerParameters());
    check_that(parse("sched_interval=-1,defer") == SchedulerParameters());
    check_that(parse(",,=,=3,x=") == SchedulerParameters());
}

TEST(each_parameter_has_its_meaning) {
    const SchedulerParameters read = parse(
        "sched_interval=-1,defer,assoc_limit_stop,batch_sched_delay=20,bf_max_job_array_resv=5,"
        "bf_max_job_part=4,bf_max_job_start=7,bf_max_job_test=1000,bf_max_job_user=3,"
        "bf_max_job_user_part=2,bf_min_age_reserve=600,bf_min_prio_reserve=4294967295,"
        "bf_one_resv_per_job,bf_window=2880,max_rpc_cnt=150");
    check_that(read.limits_stop);
    check_eq(read.least_interval, 20.0);
    check_eq(read.most_reserved_tasks, 5);
    check_eq(read.most_in_partition, 4);
    check_eq(read.most_started, 7);
    check_eq(read.most_tested, 1000);
    check_eq(read.most_of_user, 3);
    check_eq(read.most_of_user_in_partition, 2);
    check_eq(read.reserving_age, 600.0);
    check_eq(read.reserving_priority, 4294967295u);
    check_that(read.one_reservation);
    check_eq(read.window, 172800.0);
    check_eq(read.most_threads, 150);
    check_eq(parse("bf_max_job_assoc=6").most_of_association, 6);
}

TEST(what_both_of_slurms_loops_bound_has_the_narrower_bound) {
    check_eq(parse("partition_job_depth=3,bf_max_job_part=8").most_in_partition, 3);
    check_eq(parse("bf_max_job_part=8,partition_job_depth=0").most_in_partition, 8);
    check_eq(parse("bf_max_job_start=0,sched_max_job_start=5").most_started, 5);
    check_eq(parse("sched_min_interval=2500000").least_interval, 2.5);
    check_eq(parse("sched_min_interval=2500000,batch_sched_delay=3").least_interval, 3.0);
    check_eq(parse("batch_sched_delay=1,sched_min_interval=2500000").least_interval, 2.5);
}

TEST(names_are_read_as_slurm_reads_them) {
    check_eq(parse("BF_Max_Job_Test=9").most_tested, 9);
    check_eq(parse(" bf_max_job_test = 9 , defer").most_tested, 9);
    check_eq(parse("bf_max_job_test=9,bf_max_job_test=10").most_tested, 9);
    check_eq(parse("max_rpc_count=64").most_threads, 64);
    check_eq(parse("bf_max_job_array_resv=0").most_reserved_tasks, 1);
    // One is not a part of another.
    check_eq(parse("bf_max_job_user_part=9").most_of_user, 0);
}

TEST(a_value_that_slurm_would_not_take_is_named) {
    check_eq(error_of("bf_max_job_test=0"),
             "Invalid SchedulerParameters bf_max_job_test: 0: must be a number from 1 to 1000000");
    check_eq(error_of("bf_window=-1"),
             "Invalid SchedulerParameters bf_window: -1: must be a number from 1 to 43200");
    check_eq(error_of("bf_min_prio_reserve=4294967296"),
             "Invalid SchedulerParameters bf_min_prio_reserve: 4294967296: must be a number from 0 "
             "to 4294967295");
    check_eq(error_of("max_rpc_cnt=99999999999999999999"),
             "Invalid SchedulerParameters max_rpc_cnt: 99999999999999999999: must be a number from "
             "0 to 1000");
    check_eq(error_of("bf_max_job_user=3x"),
             "Invalid SchedulerParameters bf_max_job_user: 3x: must be a number from 0 to 1000000");
    check_eq(error_of("bf_max_job_user=\n\x1b"),
             "Invalid SchedulerParameters bf_max_job_user: \\x0a\\x1b: must be a number from 0 to "
             "1000000");
    check_eq(parse_scheduler_parameters("bf_max_job_user=-3").values.most_of_user, 0);
}

TEST(of_bounds_a_user_and_an_association_the_second_is_taken) {
    const ReadParameters read = parse_scheduler_parameters("bf_max_job_user=3,bf_max_job_assoc=2");
    check_eq(read.errors.size(), std::size_t{1});
    check_eq(read.values.most_of_user, 0);
    check_eq(read.values.most_of_association, 2);
}

TEST(what_is_not_honoured_is_told_apart) {
    const auto ignored = ignored_parameters(
        "defer,BF_Continue,bf_licenses,bf_max_job_test=9,bf_resolution=60,"
        "bf_licenses,spec_cores_first,no_such_key,bf_hetjob_prio=min");
    check_that((ignored.pointless == Keys{"bf_continue", "bf_resolution"}));
    check_that((ignored.unsupported == Keys{"bf_licenses", "bf_hetjob_prio"}));
}

TEST(without_bounds_a_pass_looks_at_all) {
    const SchedulerParameters none;
    QueueDepth depth(none);
    for (int i = 0; i < 100; ++i) check_eq(depth.admit(kJob, 1000), 1000);
}

TEST(a_pass_looks_at_so_many_ways_to_start) {
    const SchedulerParameters bounds{.most_tested = 2};
    QueueDepth depth(bounds);
    check_eq(depth.admit(kJob, 50), 50);
    check_eq(depth.admit(kJob, 1), 1);
    check_eq(depth.admit(kOtherUser, 1), 0);
}

TEST(each_user_has_so_many) {
    const SchedulerParameters bounds{.most_of_user = 3};
    QueueDepth depth(bounds);
    check_eq(depth.admit(kJob, 1), 1);
    check_eq(depth.admit(kElsewhere, 10), 2);
    check_eq(depth.admit(kOtherAccount, 1), 0);
    check_eq(depth.admit(kOtherUser, 10), 3);
}

TEST(each_association_has_so_many) {
    const SchedulerParameters bounds{.most_of_association = 1};
    QueueDepth depth(bounds);
    check_eq(depth.admit(kJob, 1), 1);
    check_eq(depth.admit(kElsewhere, 1), 0);
    check_eq(depth.admit(kOtherAccount, 1), 1);
}

TEST(each_partition_has_so_many_and_each_user_in_it) {
    const SchedulerParameters bounds{.most_in_partition = 3, .most_of_user_in_partition = 2};
    QueueDepth depth(bounds);
    check_eq(depth.admit(kJob, 5), 2);
    check_eq(depth.admit(kJob, 5), 0);
    check_eq(depth.admit(kOtherUser, 5), 1);
    check_eq(depth.admit(kElsewhere, 5), 2);
}

TEST(who_is_over_one_bound_does_not_count_for_the_others) {
    const SchedulerParameters bounds{.most_tested = 2, .most_of_user = 1, .most_in_partition = 2};
    QueueDepth depth(bounds);
    check_eq(depth.admit(kJob, 1), 1);
    check_eq(depth.admit(kJob, 1), 0);
    check_eq(depth.admit(kOtherUser, 1), 1);
}

TEST(beside_slurm_the_depth_of_its_backfill_is_all_that_is_left) {
    const auto set = beside_slurm(parse("bf_max_job_test=50,bf_max_job_user=2,assoc_limit_stop"));
    check_that(set == SchedulerParameters{.deepest = 50});
    check_that(beside_slurm(parse("")) == SchedulerParameters{.deepest = 500});
}
