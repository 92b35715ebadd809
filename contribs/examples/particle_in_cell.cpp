// SPDX-License-Identifier: MIT
// Particle-in-cell: what particle_in_cell.c computes, by the C++ interface.  The cells are the same
// bytes at the end, so the SHA-1 is that of the program in C.
//
//     selastic-run particle_in_cell [CELLS [STEPS [FILE]]]
//
// FILE: see wave2d.cpp.  Units: cells, steps.
#include <array>
#include <cmath>
#include <cstdlib>
#include <elastic_mpi.hpp>

#include "sample.h"

namespace {

constexpr int kPerCell = 20;                 // electrons, in the beginning
constexpr int kRoom = 127;                   // electrons, at most
constexpr double kStream = 0.2;              // speed
constexpr double kCharge = 0.01 / kPerCell;  // of an electron: the plasma's frequency is 0.1

struct Electron {
    double x, v;  // x: from the cell's left face
};

// Its electrons are those that came from the left, those that stayed, those that came from the
// right: an order that does not depend on the processes.
struct Cell {
    double field;  // at the left face
    long count;
    std::array<Electron, kRoom> electrons;

    Electron* begin() { return electrons.data(); }
    Electron* end() { return begin() + count; }
    const Electron* begin() const { return electrons.data(); }
    const Electron* end() const { return begin() + count; }

    void add(const Electron& one) {
        if (count == kRoom) stop("particle_in_cell: a cell is full");
        electrons[static_cast<std::size_t>(count++)] = one;
    }
};

using Cells = elastic::array<Cell>;

void begin(const Cells& cells, std::uint64_t size) {
    for (std::uint64_t i = cells.lo(); i < cells.hi(); ++i)
        for (int k = 0; k < kPerCell; ++k) {
            const double x = (k + 0.5) / kPerCell;
            const double place = (static_cast<double>(i) + x) / static_cast<double>(size);
            const double wave = 1 + 0.01 * std::sin(6.283185307179586 * 8 * place);
            cells[i - cells.lo()].add({x, (k % 2 ? kStream : -kStream) * wave});
        }
}

// right: the cell behind the last one.
void push(const Cells& cells, const Cell& right) {
    for (Cell& cell : cells) {
        const double at_right = &cell + 1 < cells.end() ? (&cell + 1)->field : right.field;
        for (Electron& one : cell) {
            one.v -= (1 - one.x) * cell.field + one.x * at_right;
            one.x += one.v;
            if (std::fabs(one.v) >= 1) stop("particle_in_cell: an electron passes a whole cell");
        }
    }
}

// How many cells to the right it has gone.
int way(const Electron& one) {
    return one.x >= 1 ? 1 : one.x < 0 ? -1 : 0;
}

// Adds the electrons that have gone `side` cells to the right, and returns how many.
long gather(Cell& to, const Cell& from, int side) {
    const long before = to.count;
    for (const Electron& one : from)
        if (way(one) == side) to.add({one.x - side, one.v});
    return to.count - before;
}

// left, right: the cells next to those of this process.
void advance(const Cells& old, const Cells& next, const Cell& left, const Cell& right) {
    for (std::size_t i = 0; i < old.size(); ++i) {
        next[i].count = 0;
        const long came = gather(next[i], i > 0 ? old[i - 1] : left, 1);
        gather(next[i], old[i], 0);
        gather(next[i], i + 1 < old.size() ? old[i + 1] : right, -1);
        long gone = 0;  // to the left
        for (const Electron& one : old[i]) gone += way(one) < 0;
        next[i].field = old[i].field + kCharge * static_cast<double>(came - gone);
    }
}

void run(std::uint64_t size, long steps, const char* file) {
    elastic::session session;
    const std::array<Cells, 2> cells{Cells(session, "even", size), Cells(session, "odd", size)};
    elastic::value<long> step(session, "step", 0);
    const rows own = find_rows(cells[0].lo(), cells[0].hi(), 1);
    if (!session.reborn()) begin(cells[0], size);
    announce("particle_in_cell", *step);
    Cell left, right;
    for (; step < steps; ++step) {
        do session.sync();
        while (file && step == steps / 2 && is_missing(file));
        const Cells &now = cells[step % 2 != 0], &next = cells[step % 2 == 0];
        exchange_rows(&own, now.data(), sizeof(Cell), &left, &right);
        push(now, right);
        exchange_rows(&own, now.data(), sizeof(Cell), &left, &right);
        advance(now, next, left, right);
    }
    const Cells& last = cells[steps % 2 != 0];
    FILE* const digest = begin_digest("particle_in_cell", steps);
    add_all(digest, last.data(), last.size() * sizeof(Cell));
    end_digest(digest);
}

}  // namespace

int main(int argc, char** argv) {
    start_mpi(&argc, &argv);
    try {
        run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4096,
            argc > 2 ? std::atol(argv[2]) : 200, argc > 3 ? argv[3] : nullptr);
    } catch (const elastic::mpi_error& error) {
        stop(error.what());
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
