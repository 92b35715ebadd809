// SPDX-License-Identifier: MIT
// The speed-up models of the papers, and the ledger of a job's work through its resizes.
#include "core/model/speedup.hpp"

#include <random>

#include "testing.hpp"

using namespace elastic::core;

namespace {

using Kind = SpeedupModel::Kind;

// How much faster than one node.
double speedup(const SpeedupModel& model, int nodes, int pref = 1) {
    return model.relative_time(1, pref) / model.relative_time(nodes, pref);
}

}  // namespace

TEST(rho_is_amdahls_law) {
    check_near(speedup({Kind::rho, 0.3, 0}, 1), 1, 1e-12);
    check_near(speedup({}, 16), 16, 1e-12);
    check_near(speedup({Kind::rho, 1, 0}, 16), 1, 1e-12);
    check_near(speedup({Kind::rho, 0.5, 0}, 4), 1.6, 1e-12);
}

TEST(power_is_linear_at_0_and_flat_at_1) {
    check_near(speedup({Kind::power, 0, 0}, 16), 16, 1e-9);
    check_near(speedup({Kind::power, 1, 0}, 16), 1, 1e-12);
    check_near(speedup({Kind::power, 0.5, 0}, 16), 4, 1e-9);
    const SpeedupModel ideal{Kind::power, 0, 0};
    check_that(ideal.linear());
}

// [lina] section 3: to grows as p_{i+1}/p_i, tw shrinks as p_i/p_{i+1}.
TEST(overhead_grows_with_the_nodes) {
    const SpeedupModel model{Kind::overhead, 0.01, 0};
    check_near(rescale(100, 4, 8, model, 4), 1 * 2 + 99 / 2.0, 1e-9);
    check_near(rescale(100, 4, 2, model, 4), 1 / 2.0 + 99 * 2, 1e-9);
    check_near(rescale(rescale(100, 4, 32, model, 4), 32, 4, model, 4), 100, 1e-9);
}

TEST(downey_is_linear_without_variance_and_never_beyond_A) {
    check_near(speedup({Kind::downey, 64, 0}, 16), 16, 1e-9);
    check_near(speedup({Kind::downey, 64, 0}, 1000), 64, 1e-9);
    check_near(speedup({Kind::downey, 64, 2}, 100000), 64, 1e-9);
    check_near(speedup({Kind::downey, 64, 1}, 16), 64.0 * 16 * 2 / (16 + 63 + 64), 1e-9);
}

// The closed forms are piecewise; the pieces must meet.
TEST(downey_is_continuous_and_rises) {
    for (double sigma : {0.0, 0.5, 0.99, 1.0, 1.5, 3.0}) {
        const SpeedupModel model{Kind::downey, 20, sigma};
        double before = 0;
        for (int n = 1; n < 200; ++n) {
            const double now = speedup(model, n);
            check_that(now >= before - 1e-9);
            check_that(n == 1 || now - before <= 1 + 1e-9);
            before = now;
        }
    }
}

TEST(rescale_moves_between_sizes) {
    check_near(rescale(100, 4, 2, {}, 4), 200, 1e-9);
    check_near(rescale(100, 2, 4, {}, 4), 50, 1e-9);
    const SpeedupModel model{Kind::rho, 0.2, 0};
    check_near(rescale(100, 2, 4, {Kind::rho, 1, 0}, 4), 100, 1e-9);
    check_near(rescale(rescale(100, 3, 7, model, 4), 7, 3, model, 4), 100, 1e-9);
}

TEST(ledger_follows_the_work) {
    WorkLedger ledger(1000, 100, 4, {}, 4);
    check_near(ledger.estimated_end(), 1100, 1e-9);
    ledger.resize(1050, 2, 10);  // 50 s left at 4 nodes are 100 s at 2
    check_near(ledger.estimated_end(), 1160, 1e-9);
    ledger.resize(1060, 4, 0);  // the overhead has just passed
    check_near(ledger.estimated_end(), 1110, 1e-9);
    ledger.resize(2000, 1, 0);  // beyond its end nothing is left to rescale
    check_near(ledger.estimated_end(), 2000, 1e-9);
}

TEST(ledger_takes_no_step_back_in_time) {
    WorkLedger ledger(1000, 100, 4, {}, 4);
    ledger.resize(900, 4, 0);
    check_near(ledger.estimated_end(), 1100, 1e-9);
}

// Resizing must not earn time: at the size it began with, a job ends when it would have, plus the
// costs, however often it was resized in between at once.
TEST(ledger_there_and_back_earns_nothing) {
    std::mt19937_64 random(elastic::testing::seed());
    for (int round = 0; round < 200; ++round) {
        double rho = static_cast<double>(random() % 101) / 100;
        int first = 1 + static_cast<int>(random() % 64);
        WorkLedger ledger(0, 1000, first, {SpeedupModel::Kind::rho, rho, 0}, first);
        double costs = 0;
        for (int i = 0; i < 10; ++i) {
            int cost = static_cast<int>(random() % 20);
            costs += cost;
            ledger.resize(10, 1 + static_cast<int>(random() % 64), cost);
        }
        ledger.resize(10, first, 0);
        check_near(ledger.estimated_end(), 1000 + costs, 1e-6);
    }
}

TEST(what_is_not_believed_counts_beyond_the_preferred_size_alone) {
    SpeedupModel model;
    const auto speed = [&](int nodes) { return rescale(1, nodes, 4, model, 4); };
    model.believed = 0;
    check_near(speed(2), 0.5, 1e-12);
    check_near(speed(16), 1, 1e-12);
    model.believed = 0.5;
    check_near(speed(16), 2.5, 1e-12);
    model = {Kind::overhead, 0.5, 0, 0};
    check_that(speed(16) < 1);  // slower than with 4 nodes, which is believed
}
