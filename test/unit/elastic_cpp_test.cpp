// SPDX-License-Identifier: MIT
// elastic.hpp compiles as C++17 alone, and a program that uses it runs outside Slurm.
#include <elastic.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

int failures = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    ++failures;
}
#define CHECK(condition) check(condition, #condition)

template <class Call>
int code_of(Call call) {
    try {
        call();
    } catch (const elastic::error& e) {
        return e.code();
    }
    return ELASTIC_OK;
}

}  // namespace

int main() {
    unsetenv("SLURM_JOB_ID");
    elastic::job job;
    CHECK(!job.is_elastic() && job.nodes() == 1 && job.node_list().empty());
    CHECK(!job.poll() && !job.wait() && job.fd() >= 0);
    CHECK(code_of([&] { job.accept(1), job.request(2, 1), job.release("n1"); }) == ELASTIC_OK);
    CHECK(code_of([] { elastic::job(0x80); }) == ELASTIC_EINVAL);
    elastic::job moved = std::move(job);
    CHECK(!moved.connected());
    CHECK((elastic::node_names("n[09-10]") == std::vector<std::string>{"n09", "n10"}));
    CHECK(elastic::node_names("").empty());
    CHECK(code_of([] { elastic::node_names("n["); }) == ELASTIC_EINVAL);
    return failures != 0;
}
