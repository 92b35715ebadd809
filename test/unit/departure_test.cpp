// SPDX-License-Identifier: MIT
// How jobs leave nodes that they are not to have any longer: how many at a time, with which others,
// and where they grow first.
#include "core/model/departure.hpp"

#include "core/model/annotation/annotation.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

core::Annotation job_of(int min, int max, const char* more = "") {
    const auto annotation = core::parse_annotation(
        fmt::format("malleable,min={},pref={},max={}{}", min, min, max, more), {});
    check_ok(annotation);
    return *annotation;
}

void check_step(const core::Annotation& job, int nodes, int leaving, const Departure& expected) {
    const Departure step = next_departure(job, nodes, leaving);
    check_eq(step.leave, expected.leave);
    check_eq(step.besides, expected.besides);
    check_eq(step.grow, expected.grow);
}

}  // namespace

TEST(all_leave_at_once_where_the_job_stays_large_enough) {
    check_step(job_of(1, 8), 4, 3, {3, 0, 0});
    check_step(job_of(2, 8), 4, 2, {2, 0, 0});
}

TEST(a_job_at_its_minimum_grows_first) {
    check_step(job_of(2, 8), 2, 1, {0, 0, 1});
    check_step(job_of(4, 8), 4, 3, {0, 0, 3});
    check_step(job_of(4, 8), 5, 3, {0, 0, 2});
    check_step(job_of(4, 8), 7, 3, {3, 0, 0});
}

TEST(sizes_are_kept) {
    const core::Annotation job = job_of(2, 16, ",sizes=pow2");
    check_step(job, 8, 1, {1, 3, 0});
    check_step(job, 2, 1, {0, 0, 2});
    check_step(job, 4, 3, {0, 0, 4});
}

TEST(a_job_with_little_room_leaves_bit_by_bit) {
    const core::Annotation job = job_of(3, 4);
    check_step(job, 4, 3, {1, 0, 0});
    check_step(job, 3, 2, {0, 0, 1});
    check_step(job, 4, 2, {1, 0, 0});
    check_step(job, 3, 1, {0, 0, 1});
    check_step(job, 4, 1, {1, 0, 0});
}

TEST(a_job_of_one_size_cannot_leave) {
    check_step(job_of(4, 4), 4, 1, {0, 0, 0});
}

TEST(a_job_that_would_be_smaller_than_it_prefers_gets_other_nodes_first) {
    core::Annotation job = job_of(1, 8);
    job.pref = 4;
    const auto check_next = [&](int nodes, int leaving, int room, const Departure& expected) {
        const Departure step = next_replacement(job, nodes, leaving, room);
        check_eq(step.leave, expected.leave);
        check_eq(step.besides, expected.besides);
        check_eq(step.grow, expected.grow);
    };
    check_next(4, 1, 8, {0, 0, 1});
    check_next(5, 1, 8, {1, 0, 0});
    check_next(4, 2, 1, {0, 0, 1});
    check_next(4, 2, 0, {2, 0, 0});
    job.min = 4;
    check_next(4, 1, 0, {0, 0, 0});
}

TEST(a_job_that_retreats_leaves_as_far_as_its_minimum_at_once) {
    const core::Annotation job = job_of(3, 8);
    const auto check_next = [&](int nodes, int leaving, int room, const Departure& expected) {
        const Departure step = next_retreat(job, nodes, leaving, room);
        check_eq(step.leave, expected.leave);
        check_eq(step.grow, expected.grow);
    };
    check_next(8, 4, 8, {4, 0, 0});
    check_next(6, 5, 8, {3, 0, 0});
    check_next(3, 2, 8, {0, 0, 2});
    check_next(3, 2, 0, {0, 0, 0});
}

// Nodes that have been left do not come back: Slurm gives drained ones to nobody.
TEST(steps_come_to_an_end) {
    for (const char* sizes : {"", ",sizes=pow2", ",sizes=step:2"})
        for (int min = 2; min <= 8; min *= 2)
            for (int max = min; max <= 16; max *= 2) {
                const core::Annotation job = job_of(min, max, sizes);
                for (int nodes = min; nodes <= max; ++nodes)
                    for (int leaving = 1; job.allows(nodes) && leaving < nodes; ++leaving) {
                        int size = nodes, left = leaving;
                        for (int steps = 0; left > 0; ++steps) {
                            check_that(steps < 100);
                            const Departure step = next_departure(job, size, left);
                            if (step.leave + step.grow == 0) break;
                            size += step.grow - step.leave - step.besides;
                            left -= step.leave;
                            check_that(job.allows(size) && left >= 0);
                        }
                        check_that(left == 0 || min == max || *sizes != '\0');
                    }
            }
}
