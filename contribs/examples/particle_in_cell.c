/* SPDX-License-Identifier: MIT
 * Particle-in-cell: electrons of two streams on a ring of cells, over ions at rest, in one
 * dimension.  A cell has the electric field at its left face, which acts on electrons on both sides
 * and changes with the charge that crosses the face (Ampere's law), and its electrons, in an order
 * that does not depend on the processes: those that came from the left, those that stayed, those
 * that came from the right.  So the SHA-1 of the end is that of a run without resizes.
 *
 * Nobody sends electrons: each process makes its new cells out of its old ones and the one on
 * either side.
 *
 *     selastic-run particle_in_cell [CELLS [STEPS [FILE]]]
 *
 * FILE: see stencil2d.c.  What makes it malleable is marked: M.  Units: cells, steps. */
#include <elastic_mpi.h> /* M */
#include <math.h>

#include "sample.h"

enum { PER_CELL = 20, ROOM = 127 }; /* electrons of a cell: in the beginning, at most */

struct electron {
    double x, v; /* x: from the cell's left face */
};

struct cell {
    double field;
    long count;
    struct electron electrons[ROOM];
};

static const double stream = 0.2;             /* speed */
static const double charge = 0.01 / PER_CELL; /* of an electron: the plasma's frequency is 0.1 */

static void begin(struct cell* cells, uint64_t first, long count, long size) {
    for (long i = 0; i < count; ++i) {
        cells[i].count = PER_CELL;
        for (int k = 0; k < PER_CELL; ++k) {
            struct electron* e = &cells[i].electrons[k];
            e->x = (k + 0.5) / PER_CELL;
            const double place = ((double)first + (double)i + e->x) / (double)size;
            e->v = (k % 2 ? stream : -stream) * (1 + 0.01 * sin(6.283185307179586 * 8 * place));
        }
    }
}

static void push(struct cell* cells, const struct cell* right, long count) {
    for (long i = 0; i < count; ++i) {
        const double at_right = i + 1 < count ? cells[i + 1].field : right->field;
        for (long k = 0; k < cells[i].count; ++k) {
            struct electron* e = &cells[i].electrons[k];
            e->v -= (1 - e->x) * cells[i].field + e->x * at_right;
            e->x += e->v;
            if (fabs(e->v) >= 1) stop("particle_in_cell: an electron passes a whole cell");
        }
    }
}

/* Adds the electrons that have gone `side` cells to the right, and returns how many. */
static long gather(struct cell* to, const struct cell* from, int side) {
    const long before = to->count;
    for (long k = 0; k < from->count; ++k) {
        const struct electron* e = &from->electrons[k];
        const int went = e->x >= 1 ? 1 : e->x < 0 ? -1 : 0;
        if (went != side) continue;
        if (to->count == ROOM) stop("particle_in_cell: a cell is full");
        to->electrons[to->count++] = (struct electron){e->x - side, e->v};
    }
    return to->count - before;
}

static void advance(const struct cell* old, struct cell* next, const struct cell* left,
                    const struct cell* right, long count) {
    for (long i = 0; i < count; ++i) {
        next[i].count = 0;
        const long came = gather(&next[i], i > 0 ? &old[i - 1] : left, 1);
        gather(&next[i], &old[i], 0);
        gather(&next[i], i + 1 < count ? &old[i + 1] : right, -1);
        long gone = 0; /* to the left */
        for (long k = 0; k < old[i].count; ++k) gone += old[i].electrons[k].x < 0;
        next[i].field = old[i].field + charge * (double)(came - gone);
    }
}

int main(int argc, char** argv) {
    const long size = argc > 1 ? atol(argv[1]) : 4096, steps = argc > 2 ? atol(argv[2]) : 200;
    const char* const file = argc > 3 ? argv[3] : NULL;
    elastic_mpi* elastic;
    struct cell *cells[2], left, right;
    uint64_t lo, hi;
    long step = 0;

    start_mpi(&argc, &argv);
    must(elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0), NULL); /* M */
    const char* const names[] = {"even", "odd"};
    for (int i = 0; i < 2; ++i)
        must(elastic_mpi_array(elastic, names[i], sizeof left, (uint64_t)size, (void**)&cells[i],
                               &lo, &hi),
             elastic);                                                     /* M */
    must(elastic_mpi_value(elastic, "step", &step, sizeof step), elastic); /* M */

    const struct rows own = find_rows(lo, hi, 1);
    if (!elastic_mpi_reborn(elastic)) begin(cells[0], lo, own.count, size); /* M */
    announce("particle_in_cell", step);

    for (; step < steps; ++step) {
        do must(elastic_mpi_sync(elastic), elastic); /* M */
        while (file && step == steps / 2 && is_missing(file));
        struct cell* now = cells[step % 2];
        exchange_rows(&own, now, sizeof left, &left, &right);
        push(now, &right, own.count);
        exchange_rows(&own, now, sizeof left, &left, &right);
        advance(now, cells[(step + 1) % 2], &left, &right, own.count);
    }

    FILE* digest = begin_digest("particle_in_cell", step);
    add_all(digest, cells[step % 2], (uint64_t)own.count * sizeof left);
    end_digest(digest);
    elastic_mpi_close(elastic); /* M */
    MPI_Finalize();
    return EXIT_SUCCESS;
}
