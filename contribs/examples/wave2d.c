/* SPDX-License-Identifier: MIT
 * Wave2D: a drop falls onto a square membrane whose border is held.  The wave equation in second
 * order: the next field follows from the present one and the one before it, so there are three.
 * It does not depend on the number of processes: its SHA-1 is that of a run without resizes.
 *
 *     selastic-run wave2d [SIZE [STEPS [FILE]]]
 *
 * FILE: see stencil2d.c.  What makes it malleable is marked: M. */
#include <elastic_mpi.h> /* M */
#include <math.h>

#include "sample.h"

static const double courant2 = 0.25; /* (c dt / dx)^2, stable up to 0.5 */

static double drop(long i, long j, long size) {
    const double y = (double)i / (double)size - 0.3, x = (double)j / (double)size - 0.4;
    return exp(-400 * (x * x + y * y));
}

static void swing(const double* past, const double* now, double* next, const double* above,
                  const double* below, long size, const struct rows* rows) {
    for (long i = 0; i < rows->count; ++i) {
        const long number = (long)rows->first + i, at = i * size;
        if (number == 0 || number + 1 == size) continue; /* zero, for ever */
        const double* up = i > 0 ? now + at - size : above;
        const double* down = i + 1 < rows->count ? now + at + size : below;
        for (long j = 1; j + 1 < size; ++j)
            next[at + j] =
                2 * now[at + j] - past[at + j] +
                courant2 * (up[j] + down[j] + now[at + j - 1] + now[at + j + 1] - 4 * now[at + j]);
    }
}

int main(int argc, char** argv) {
    const long size = argc > 1 ? atol(argv[1]) : 1024, steps = argc > 2 ? atol(argv[2]) : 100;
    const char* const file = argc > 3 ? argv[3] : NULL;
    const size_t row = (size_t)size * sizeof(double);
    elastic_mpi* elastic;
    double* field[3];
    uint64_t lo, hi;
    long step = 0;

    start_mpi(&argc, &argv);
    must(elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0), NULL); /* M */
    const char* const names[] = {"past", "now", "next"};
    for (int i = 0; i < 3; ++i)
        must(elastic_mpi_array(elastic, names[i], row, (uint64_t)size, (void**)&field[i], &lo, &hi),
             elastic);                                                     /* M */
    must(elastic_mpi_value(elastic, "step", &step, sizeof step), elastic); /* M */

    const struct rows rows = find_rows(lo, hi, 0);
    double *above = calloc(1, row), *below = calloc(1, row);
    if (!elastic_mpi_reborn(elastic)) /* M */
        for (long i = 0; i < rows.count; ++i)
            for (long j = 1; j + 1 < size && (long)lo + i > 0 && (long)lo + i + 1 < size; ++j)
                field[0][i * size + j] = field[1][i * size + j] = drop((long)lo + i, j, size);
    announce("wave2d", step);

    for (; step < steps; ++step) {
        do must(elastic_mpi_sync(elastic), elastic); /* M */
        while (file && step == steps / 2 && is_missing(file));
        const double* now = field[(step + 1) % 3];
        exchange_rows(&rows, now, row, above, below);
        swing(field[step % 3], now, field[(step + 2) % 3], above, below, size, &rows);
    }

    FILE* digest = begin_digest("wave2d", step);
    add_all(digest, field[step % 3], (uint64_t)rows.count * row);
    add_all(digest, field[(step + 1) % 3], (uint64_t)rows.count * row);
    end_digest(digest);
    free(above);
    free(below);
    elastic_mpi_close(elastic); /* M */
    MPI_Finalize();
    return EXIT_SUCCESS;
}
