// SPDX-License-Identifier: MIT
// What is learned of the speed-up beyond the preferred size, from jobs whose truth is known here.
#include "core/model/experience.hpp"

#include <cmath>
#include <random>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

constexpr int kPref = 4, kLarge = 16;
constexpr Duration kLimit = 7200;

Sizing sizing() {
    Sizing sizing;
    sizing.malleable = true;
    sizing.min = 1;
    sizing.pref = kPref;
    sizing.max = kLarge;
    return sizing;
}

class Jobs {
  public:
    explicit Jobs(unsigned seed) : random_(seed) {}

    // `count` of them run: half on their preferred size, half on four times as many nodes, of whose
    // further speed `share` is true.
    void run(Experience& experience, Experience::Program program, int count, double share) {
        for (int i = 0; i < count; ++i) {
            const int nodes = i % 2 ? kLarge : kPref;
            const double speed = 1 + share * (static_cast<double>(nodes) / kPref - 1);
            WorkSeen seen;
            seen.add(work() / speed, nodes, sizing());
            experience.learn(program, kPref, kLimit, seen);
        }
    }

  private:
    // Users know little of their jobs' times.
    Duration work() { return kLimit * std::exp(normal_(random_) - 2); }

    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
};

const Experience::Program kMine = Experience::program(1000, "mine");
const Experience::Program kYours = Experience::program(1001, "yours");

}  // namespace

TEST(without_evidence_half_is_believed) {
    check_near(Experience().believed(kMine), 0.5, 1e-9);
}

TEST(the_true_share_is_found) {
    for (const double share : {0.0, 0.5, 1.0}) {
        Experience experience;
        Jobs(1).run(experience, kMine, 2000, share);
        check_near(experience.believed(kMine), share, 0.15);
        check_near(experience.believed(kYours), share, 0.2);
    }
}

TEST(a_program_that_differs_is_found_out) {
    Experience experience;
    Jobs jobs(2);
    jobs.run(experience, kYours, 2000, 1);
    jobs.run(experience, kMine, 1000, 0);
    check_that(experience.believed(kMine) < 0.3);
    check_that(experience.believed(kYours) > 0.7);
}

TEST(jobs_of_one_size_say_nothing) {
    Experience experience;
    for (int i = 0; i < 100; ++i) {
        WorkSeen seen;
        seen.add(100 + i, kPref, sizing());
        experience.learn(kMine, kPref, kLimit, seen);
    }
    check_near(experience.believed(kMine), 0.5, 1e-9);
}

// A longer job is expanded later, which says nothing of how it scales.
TEST(who_runs_longer_and_is_therefore_expanded_is_no_evidence) {
    Experience experience;
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> time(100, 5000);
    for (int i = 0; i < 1000; ++i) {
        const Duration first = time(random);
        WorkSeen seen;
        seen.add(first, kPref, sizing());
        if (first > 1000) seen.add(first, kLarge, sizing());
        experience.learn(kMine, kPref, kLimit, seen);
    }
    check_near(experience.believed(kMine), 0.5, 1e-9);
}

TEST(work_below_the_preferred_size_is_believed) {
    WorkSeen seen;
    check_that(seen.empty());
    seen.add(100, kPref / 2, sizing());
    check_near(seen.sure(), 50, 1e-9);
    check_near(seen.beyond(), 0, 1e-9);
    seen.add(10, kLarge, sizing());
    check_near(seen.sure(), 60, 1e-9);
    check_near(seen.beyond(), 30, 1e-9);
    check_near(seen.start_gain(), 0, 1e-9);
}

TEST(memory_is_bounded) {
    Experience experience;
    WorkSeen seen;
    seen.add(100, kLarge, sizing());
    for (Experience::Program program = 0; program < 100000; ++program)
        experience.learn(program, kPref, kLimit, seen);
    check_near(experience.believed(1), 0.5, 1e-9);
}
