// SPDX-License-Identifier: MIT
// elastic_mpi.hpp compiles as C++17, beside elastic.hpp, and a program that uses it runs outside
// Slurm, as a world of one process.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <elastic.hpp>
#include <elastic_mpi.hpp>

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
    } catch (const elastic::mpi_error& e) {
        CHECK(*e.what() != '\0');
        return e.code();
    }
    return ELASTIC_MPI_OK;
}

struct Point {
    double x;
    int n;
};

void arrays(elastic::session& session) {
    elastic::array<double> u(session, "u", 1000), again(session, "u", 1000);
    CHECK(u.lo() == 0 && u.hi() == 1000 && u.size() == 1000 && !u.empty());
    CHECK(std::all_of(u.begin(), u.end(), [](double x) { return x == 0; }));
    u[999] = 7;
    CHECK(again[999] == 7 && u.end()[-1] == 7);
    elastic::array<Point> rows(session, "rows", 5, 3);
    CHECK(rows.size() == 15 && rows.width() == 3 && rows.hi() == 5);
    CHECK(code_of([&] { elastic::array<float>(session, "u", 1000); }) == ELASTIC_MPI_EINVAL);
    CHECK(code_of([&] { elastic::array<float>(session, "", 1000); }) == ELASTIC_MPI_EINVAL);
}

void values(elastic::session& session) {
    elastic::value<int> step(session, "step", 4);
    ++step;
    step += 2;
    step = step + 1;
    CHECK(step == 8 && *step == 8);
    elastic::value<Point> point(session, "point", {1.5, 3});
    point->n = 7;
    const Point copy = point;
    CHECK(copy.x == 1.5 && copy.n == 7);
}

}  // namespace

int main(int argc, char** argv) {
    for (const char* variable : {"SLURM_JOB_ID", "SLURM_STEP_NUM_TASKS", "ELASTIC_RUN"})
        unsetenv(variable);
    MPI_Init(&argc, &argv);
    {
        elastic::session session;
        CHECK(!session.reborn() && session.detail().empty());
        arrays(session);
        values(session);
        session.sync();
        elastic::session moved = std::move(session);
        moved.close();
    }
    CHECK(code_of([] { elastic::session(MPI_COMM_WORLD, 0x80); }) == ELASTIC_MPI_EINVAL);
    MPI_Finalize();
    return failures != 0;
}
