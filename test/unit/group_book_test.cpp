// SPDX-License-Identifier: MIT
// Which waiting jobs become a group, how large, at which place of the queue; what a group that has
// begun is made of; what nodes are believed to be initialised for.
#include "controller/group_book.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr Time kNow = 100000;
constexpr double kRatio = 4;

GroupKey key(const std::string& type, uid_t user = 1000) {
    return {user, type, "/opt/" + type};
}

// A job of one node for a minute, of a type that takes a minute to initialise, on eight nodes.
GroupCandidate candidate(JobId id, const std::string& type, std::size_t place) {
    GroupCandidate result;
    result.key = key(type);
    result.job = {id, 1, 1, 1, 60, 1};
    result.initialisation = 60;
    result.submit = kNow - 10;
    result.partition = "all";
    result.nodes = 8;
    result.place = place;
    return result;
}

std::vector<GroupCandidate> alternating(int jobs) {
    std::vector<GroupCandidate> result;
    for (int i = 0; i < jobs; ++i)
        result.push_back(candidate(static_cast<JobId>(i + 1), i % 2 ? "jacobi" : "gauss",
                                   static_cast<std::size_t>(i)));
    return result;
}

std::string ids(const Group& group) {
    std::string result;
    for (const GroupJob& job : group.waiting) result += fmt::format("{} ", job.id);
    return result;
}

}  // namespace

TEST(jobs_of_one_type_are_a_group_at_the_place_of_the_first) {
    const auto groups = make_groups(alternating(6), kRatio, kNow);
    check_eq(groups.size(), 2u);
    check_eq(ids(groups[0].group), "1 3 5 ");
    check_eq(groups[0].place, 0u);
    check_eq(groups[0].lead, 1u);
    check_that((groups[0].places == std::vector<std::size_t>{0, 2, 4}));
    check_eq(ids(groups[1].group), "2 4 6 ");
    check_eq(groups[1].place, 1u);
}

TEST(a_job_that_is_alone_of_its_type_is_no_group) {
    check_that(make_groups(alternating(2), kRatio, kNow).empty());
}

TEST(elements_of_an_array_are_a_group) {
    auto array = candidate(7, "gauss", 0);
    array.job.copies = 100;
    const auto groups = make_groups(std::vector{array}, kRatio, kNow);
    check_eq(groups.size(), 1u);
    check_eq(groups[0].group.work(), 6000.0);
    check_eq(groups[0].most, 8);  // 25 by the ratio, of which there are so many
}

TEST(the_number_of_nodes_is_the_papers) {
    // 24 jobs of a minute are 12 a type: 720 / (k 60).
    const auto jobs = alternating(24);
    check_eq(make_groups(jobs, 4, kNow)[0].most, 3);
    check_eq(make_groups(jobs, 12, kNow)[0].most, 1);
    check_eq(make_groups(jobs, 1, kNow)[0].most, 8);
    check_eq(make_groups(jobs, 1000, kNow)[0].most, 1);
}

TEST(a_group_has_no_more_nodes_than_its_jobs_can_use) {
    auto jobs = alternating(4);
    for (auto& job : jobs) job.job.duration = 36000;
    check_eq(make_groups(jobs, kRatio, kNow)[0].most, 2);
}

TEST(a_group_has_as_many_nodes_as_its_largest_job_needs) {
    auto jobs = alternating(4);
    jobs[2].job.least = jobs[2].job.most = 5;
    const auto groups = make_groups(jobs, 1000, kNow);
    check_eq(groups[0].group.least(), 5);
    check_eq(groups[0].most, 5);
    check_eq(groups[1].group.least(), 1);
}

TEST(a_job_that_is_too_large_for_its_nodes_is_in_no_group) {
    auto jobs = alternating(6);
    jobs[2].job.least = jobs[2].job.most = 9;
    check_eq(ids(make_groups(jobs, kRatio, kNow)[1].group), "1 5 ");
}

TEST(users_programs_partitions_and_accounts_are_kept_apart) {
    for (int what = 0; what < 4; ++what) {
        std::vector jobs{candidate(1, "gauss", 0), candidate(2, "gauss", 1)};
        if (what == 0) jobs[1].key.user = 1001;
        if (what == 1) jobs[1].key.program = "/opt/other";
        if (what == 2) jobs[1].partition = "other";
        if (what == 3) jobs[1].line = {0, 0, 7};
        check_that(make_groups(jobs, kRatio, kNow).empty());
    }
}

TEST(the_heavier_type_of_a_user_stands_first) {
    auto jobs = alternating(6);
    for (int i = 1; i < 6; i += 2) jobs[static_cast<std::size_t>(i)].initialisation = 6;
    const auto groups = make_groups(jobs, kRatio, kNow);
    check_eq(groups[0].group.key.type, "jacobi");
    check_eq(groups[0].place, 0u);
    check_eq(groups[0].lead, 2u);
    check_eq(groups[1].place, 1u);
}

TEST(a_type_that_has_waited_for_long_stands_before_a_heavier_one) {
    auto jobs = alternating(6);
    for (int i = 1; i < 6; i += 2) jobs[static_cast<std::size_t>(i)].initialisation = 30;
    jobs[0].submit = kNow - 3 * 3600;  // 1 + 3, against twice as much work a second initialised
    check_eq(make_groups(jobs, kRatio, kNow)[0].group.key.type, "gauss");
}

TEST(a_weight_passes_no_other_user) {
    auto jobs = alternating(6);
    for (int i = 1; i < 6; i += 2) {
        jobs[static_cast<std::size_t>(i)].initialisation = 1;
        jobs[static_cast<std::size_t>(i)].key.user = 1001;
    }
    check_eq(make_groups(jobs, kRatio, kNow)[0].group.key.type, "gauss");
}

TEST(whom_victims_make_room_for_leads_its_group) {
    auto jobs = alternating(6);
    jobs[2].claimed = jobs[4].claimed = true;
    const auto groups = make_groups(jobs, kRatio, kNow);
    check_eq(groups[1].lead, 3u);
    // They make room for the other one too, which therefore stands for itself.
    check_eq(ids(groups[1].group), "1 3 ");
}

TEST(a_group_is_no_longer_than_a_job_may_be) {
    auto jobs = alternating(20);
    for (auto& job : jobs) job.longest = 60 + 5 * 60;
    const auto groups = make_groups(jobs, kRatio, kNow);
    GroupBook book;
    check_eq(book.begin(groups[0], "n1", 1).waiting.size(), 5u);
    check_eq(book.begin(groups[0], "n[1-2]", 2).waiting.size(), 10u);
    for (auto& job : jobs) job.longest = 30;
    check_eq(book.begin(make_groups(jobs, kRatio, kNow)[0], "n1", 1).waiting.size(), 1u);
}

TEST(so_are_the_elements_of_an_array) {
    auto array = candidate(7, "gauss", 0);
    array.job.copies = 100;
    array.longest = 60 + 5 * 60;
    GroupBook book;
    const Group& group = book.begin(make_groups(std::vector{array}, kRatio, kNow)[0], "n[1-2]", 2);
    check_eq(group.waiting.size(), 1u);
    check_eq(group.waiting[0].copies, 10);
    check_eq(book.waiting_copies().at(7), 10);
}

TEST(a_group_without_jobs_or_nodes_is_gone) {
    GroupBook book;
    const auto groups = make_groups(alternating(6), kRatio, kNow);
    for (int i = 0; i < 3; ++i) book.begin(groups[0], "n1", 1);
    book.all()[0].waiting.clear();
    book.all()[1].node_list.clear();
    const auto before = book.revision();
    book.forget_finished();
    check_eq(book.all().size(), 1u);
    check_that(book.revision() != before);
}

TEST(a_node_is_initialised_for_who_used_it_last) {
    GroupBook book;
    check_eq(book.use("n[1-3]", key("gauss"), 10), "n[1-3]");
    check_eq(book.use("n[2-4]", key("gauss"), 20), "n4");
    check_eq(book.use("n2", key("jacobi"), 30), "n2");
    check_eq(book.use("n3", key("gauss", 1001), 30), "n3");
    check_eq(book.use("n4", {1000, "", ""}, 40), "");
    const auto nodes = book.initialised_for(key("gauss"));
    check_that((nodes == std::map<std::string, Time>{{"n1", 10}}));
    book.forget("n[1-2]");
    check_that(book.initialised_for(key("gauss")).empty());
    check_that(book.initialised_for(key("jacobi")).empty());
    check_eq(book.use("n1", key("gauss"), 50), "n1");
}

TEST(a_group_ends_when_all_that_is_left_is_done_on_all_of_its_nodes) {
    Group group;
    group.waiting = {{1, 4, 1, 1, 60, 1}};  // four times a minute of one node
    check_eq(estimated_end(group, 2, {}, kNow), kNow + 120);
    const std::vector<RunOnGroup> runs{{kNow + 30, 1}, {kNow + 15, 2}};
    check_eq(estimated_end(group, 3, runs, kNow), kNow + (240 + 30 + 30) / 3.0);
}

TEST(a_group_ends_no_sooner_than_its_last_job) {
    Group group;
    group.waiting = {{1, 1, 1, 1, 60, 1}};
    const std::vector<RunOnGroup> runs{{kNow + 1000, 1}};
    check_eq(estimated_end(group, 8, runs, kNow), kNow + 1000);
}

TEST(a_job_of_a_group_that_should_have_ended_counts_no_more) {
    Group group;
    group.waiting = {{1, 1, 1, 1, 60, 1}};
    const std::vector<RunOnGroup> runs{{kNow - 50, 3}};
    check_eq(estimated_end(group, 1, runs, kNow), kNow + 60);
    check_eq(estimated_end(group, 0, runs, kNow), kNow + 60);
}
