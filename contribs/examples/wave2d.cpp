// SPDX-License-Identifier: MIT
// Wave2D: a wave on a square membrane whose border is fixed, by central differences.  A row belongs
// to one process.  The field does not depend on the number of processes, nor on when it changes:
// its SHA-1, printed at the end, is that of a run without resizes.
//
//     selastic-run wave2d [SIZE [STEPS [FILE]]]
//
// With FILE it waits after half of the steps, resized all the same, until there is such a file.
#include <algorithm>
#include <cstdlib>
#include <elastic_mpi.hpp>
#include <vector>

#include "sample.h"

namespace {

using Field = elastic::array<double>;

// The field one step on, in place of the one a step ago.
void advance(const Field& now, const Field& before, const rows& mine, std::uint64_t size) {
    constexpr double kSpeed = 0.25;  // of the wave: rows a step, squared
    std::vector<double> above(size), below(size);
    exchange_rows(&mine, now.begin(), size * sizeof(double), above.data(), below.data());
    for (std::uint64_t row = now.lo(); row < now.hi(); ++row) {
        if (row == 0 || row + 1 == size) continue;
        const double* const at = now.begin() + (row - now.lo()) * size;
        const double* const up = row > now.lo() ? at - size : above.data();
        const double* const down = row + 1 < now.hi() ? at + size : below.data();
        double* const out = before.begin() + (row - now.lo()) * size;
        for (std::uint64_t j = 1; j + 1 < size; ++j)
            out[j] =
                2 * at[j] - out[j] + kSpeed * (up[j] + down[j] + at[j - 1] + at[j + 1] - 4 * at[j]);
    }
}

// A bump in the middle, at rest.
void begin(const Field& field, std::uint64_t size) {
    for (std::uint64_t row = field.lo(); row < field.hi(); ++row)
        for (std::uint64_t j = 0; j < size; ++j) {
            const auto edge = static_cast<double>(std::min({row, j, size - 1 - row, size - 1 - j}));
            field[(row - field.lo()) * size + j] = edge * edge / static_cast<double>(size);
        }
}

void run(std::uint64_t size, long steps, const char* file) {
    elastic::session session;
    Field even(session, "even", size, size), odd(session, "odd", size, size);
    elastic::value<long> step(session, "step", 0);
    const rows mine = find_rows(even.lo(), even.hi(), 0);
    if (!session.reborn()) {
        begin(even, size);
        begin(odd, size);
    }
    announce("wave2d", *step);
    for (; step < steps; ++step) {
        do session.sync();
        while (file && step == steps / 2 && is_missing(file));
        step % 2 ? advance(odd, even, mine, size) : advance(even, odd, mine, size);
    }
    const Field& last = steps % 2 ? odd : even;
    FILE* const digest = begin_digest("wave2d", steps);
    add_all(digest, last.begin(), (last.hi() - last.lo()) * size * sizeof(double));
    end_digest(digest);
}

}  // namespace

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    try {
        run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 512,
            argc > 2 ? std::atol(argv[2]) : 200, argc > 3 ? argv[3] : nullptr);
    } catch (const elastic::mpi_error& error) {
        stop(error.what());
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
