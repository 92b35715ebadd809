// SPDX-License-Identifier: MIT
// Wave2D: a wave on a square membrane whose border is fixed, by central differences.  A row belongs
// to one process.  As in stencil2d.c, the field does not depend on the number of processes, nor on
// when it changes: the sum over its bits that is printed at the end is that of a run without
// resizes.
//
//     selastic-run wave2d [SIZE [STEPS [FILE]]]
//
// With FILE it waits after half of the steps, resized all the same, until there is such a file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elastic_mpi.hpp>
#include <vector>

namespace {

using Row = std::vector<double>;

int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// The rows just above and below a block.
struct Halo {
    Row above, below;
};

// Every process takes part; those that have no rows hand nothing on.
Halo exchange(const elastic::array<double>& block) {
    const auto width = static_cast<int>(block.width());
    Halo halo{Row(block.width()), Row(block.width())};
    // Of processes that have rows, in their order, those beside this one.
    int up = MPI_PROC_NULL, down = MPI_PROC_NULL;
    const int rank = rank_of(MPI_COMM_WORLD), has_rows = block.empty() ? 0 : 1;
    std::vector<int> with_rows(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    MPI_Allgather(&has_rows, 1, MPI_INT, with_rows.data(), 1, MPI_INT, MPI_COMM_WORLD);
    if (block.empty()) return halo;
    for (int r = 0; r < static_cast<int>(with_rows.size()); ++r) {
        if (!with_rows[static_cast<std::size_t>(r)]) continue;
        if (r < rank) up = r;
        if (r > rank && down == MPI_PROC_NULL) down = r;
    }
    MPI_Sendrecv(block.begin(), width, MPI_DOUBLE, up, 0, halo.below.data(), width, MPI_DOUBLE,
                 down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(block.end() - width, width, MPI_DOUBLE, down, 0, halo.above.data(), width,
                 MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return halo;
}

// The field one step on, in place of the one a step ago.
void advance(const elastic::array<double>& now, const elastic::array<double>& before,
             std::uint64_t size) {
    constexpr double kSpeed = 0.25;  // of the wave: rows a step, squared
    const Halo halo = exchange(now);
    for (std::uint64_t row = now.lo(); row < now.hi(); ++row) {
        if (row == 0 || row + 1 == size) continue;
        const double* const at = now.begin() + (row - now.lo()) * size;
        const double* const up = row > now.lo() ? at - size : halo.above.data();
        const double* const down = row + 1 < now.hi() ? at + size : halo.below.data();
        double* const out = before.begin() + (row - now.lo()) * size;
        for (std::uint64_t j = 1; j + 1 < size; ++j)
            out[j] =
                2 * at[j] - out[j] + kSpeed * (up[j] + down[j] + at[j - 1] + at[j + 1] - 4 * at[j]);
    }
}

// A bump in the middle, at rest.
void begin(const elastic::array<double>& field, std::uint64_t size) {
    for (std::uint64_t row = field.lo(); row < field.hi(); ++row)
        for (std::uint64_t j = 0; j < size; ++j) {
            const auto edge = static_cast<double>(std::min({row, j, size - 1 - row, size - 1 - j}));
            field[(row - field.lo()) * size + j] = edge * edge / static_cast<double>(size);
        }
}

// FNV-1a of each row's bits and number, added, so that their order does not count.
std::uint64_t checksum(const elastic::array<double>& field) {
    constexpr std::uint64_t kBasis = 14695981039346656037u, kPrime = 1099511628211u;
    std::uint64_t mine = 0, total = 0;
    for (std::uint64_t row = field.lo(); row < field.hi(); ++row) {
        std::uint64_t hash = kBasis ^ (row * kPrime);
        for (std::size_t j = 0; j < field.width(); ++j) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &field[(row - field.lo()) * field.width() + j], sizeof bits);
            hash = (hash ^ bits) * kPrime;
        }
        mine += hash;
    }
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

bool is_missing(const char* file) {
    int missing = rank_of(MPI_COMM_WORLD) == 0 && access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (missing) usleep(1000);
    return missing;
}

void run(std::uint64_t size, int steps, const char* file) {
    elastic::session session;
    elastic::array<double> even(session, "even", size, size), odd(session, "odd", size, size);
    elastic::value<int> step(session, "step", 0);
    if (!session.reborn()) {
        begin(even, size);
        begin(odd, size);
    }
    const bool speaks = rank_of(MPI_COMM_WORLD) == 0;
    if (speaks) std::printf("wave2d: step %d, %d processes\n", *step, size_of(MPI_COMM_WORLD));
    std::fflush(stdout);
    for (; step < steps; ++step) {
        do session.sync();
        while (file && step == steps / 2 && is_missing(file));
        step % 2 ? advance(odd, even, size) : advance(even, odd, size);
    }
    const std::uint64_t sum = checksum(steps % 2 ? odd : even);
    if (speaks)
        std::printf("wave2d: %d steps: field %016llx\n", *step,
                    static_cast<unsigned long long>(sum));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 512,
            argc > 2 ? std::atoi(argv[2]) : 200, argc > 3 ? argv[3] : nullptr);
    } catch (const elastic::mpi_error& error) {
        std::fprintf(stderr, "wave2d: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
