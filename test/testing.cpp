// SPDX-License-Identifier: MIT
// main() of every test program: runs the tests that registered themselves.
#include "testing.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace elastic::testing {

namespace {

constexpr double kTimeout = 120;  // seconds; generous, for sanitizers on a busy machine

std::vector<const TTest*>& tests() {
    static std::vector<const TTest*> all;
    return all;
}

}  // namespace

Registration::Registration(const TTest* test) {
    tests().push_back(test);
}

std::uint64_t seed(std::uint64_t standard) {
    const char* wanted = std::getenv("ELASTIC_TEST_SEED");
    std::uint64_t value = wanted ? std::strtoull(wanted, nullptr, 0) : standard;
    std::printf("seed: ELASTIC_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    std::fflush(stdout);
    return value;
}

}  // namespace elastic::testing

int main(int, char** argv) {
    Suite* suite = suite_create(argv[0]);
    for (const TTest* test : elastic::testing::tests()) {
        TCase* unit = tcase_create(test->name);
        tcase_set_timeout(unit, elastic::testing::kTimeout);
        tcase_add_test(unit, test);
        suite_add_tcase(suite, unit);
    }
    SRunner* runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    // A program in which no test registered is a mistake in a Makefile.inc.
    int failed = srunner_ntests_failed(runner) + (srunner_ntests_run(runner) == 0);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
