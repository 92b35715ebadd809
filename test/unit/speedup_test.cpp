// SPDX-License-Identifier: MIT
#include "core/speedup.hpp"

#include <random>

#include "testing.hpp"

using namespace elastic::core;

TEST(speedup_is_amdahls_law) {
    check_near(speedup(1, 0.3), 1, 1e-12);
    check_near(speedup(16, 0), 16, 1e-12);
    check_near(speedup(16, 1), 1, 1e-12);
    check_near(speedup(4, 0.5), 1.6, 1e-12);
}

TEST(speedup_rescale_moves_between_sizes) {
    check_near(rescale(100, 4, 2, 0), 200, 1e-9);
    check_near(rescale(100, 2, 4, 0), 50, 1e-9);
    check_near(rescale(100, 2, 4, 1), 100, 1e-9);
    check_near(rescale(rescale(100, 3, 7, 0.2), 7, 3, 0.2), 100, 1e-9);
}

TEST(ledger_follows_the_work) {
    WorkLedger ledger(1000, 100, 4, 0);
    check_near(ledger.estimated_end(), 1100, 1e-9);
    ledger.resize(1050, 2, 10);  // 50 s left at 4 nodes are 100 s at 2
    check_near(ledger.estimated_end(), 1160, 1e-9);
    ledger.resize(1060, 4, 0);  // the overhead has just passed
    check_near(ledger.estimated_end(), 1110, 1e-9);
    ledger.resize(2000, 1, 0);  // beyond its end nothing is left to rescale
    check_near(ledger.estimated_end(), 2000, 1e-9);
}

TEST(ledger_takes_no_step_back_in_time) {
    WorkLedger ledger(1000, 100, 4, 0);
    ledger.resize(900, 4, 0);
    check_near(ledger.estimated_end(), 1100, 1e-9);
}

// Resizing must not earn time: at the size it began with, a job ends when it
// would have, plus the costs, however often it was resized in between at once.
TEST(ledger_there_and_back_earns_nothing) {
    std::mt19937_64 random(elastic::testing::seed());
    for (int round = 0; round < 200; ++round) {
        double rho = static_cast<double>(random() % 101) / 100;
        int first = 1 + static_cast<int>(random() % 64);
        WorkLedger ledger(0, 1000, first, rho);
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
