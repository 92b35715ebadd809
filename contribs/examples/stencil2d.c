/* SPDX-License-Identifier: MIT
 * Stencil2D: Jacobi relaxation of a square field, each point the mean of itself and its four
 * neighbours, the border fixed.  A row belongs to one process.  The field does not depend on the
 * number of processes, nor on when it changes: the sum over its bits that is printed at the end is
 * that of a run without resizes.
 *
 *     selastic-run stencil2d [SIZE [STEPS [FILE]]]
 *
 * With FILE it waits after half of the steps, resized all the same, until there is such a file.
 * What makes it malleable is marked: M. */
#include <elastic_mpi.h> /* M */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* FNV-1a of a row's bits and its number; rows are added, so that their order does not count. */
static uint64_t row_sum(const double* row, long size, uint64_t number) {
    uint64_t hash = 14695981039346656037u ^ (number * 1099511628211u);
    for (long j = 0; j < size; ++j) {
        uint64_t bits;
        memcpy(&bits, &row[j], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

/* The first process above or below that has rows. */
static int neighbour(int step, const uint64_t* counts) {
    for (int r = rank + step; r >= 0 && r < ranks; r += step)
        if (counts[r] > 0) return r;
    return MPI_PROC_NULL;
}

static void relax(const double* old, double* next, const double* above, const double* below,
                  long size, long rows, uint64_t first) {
    for (long i = 0; i < rows; ++i) {
        const double* up = i > 0 ? old + (i - 1) * size : above;
        const double* down = i + 1 < rows ? old + (i + 1) * size : below;
        const double* row = old + i * size;
        double* out = next + i * size;
        if (first + (uint64_t)i == 0 || first + (uint64_t)i + 1 == (uint64_t)size) {
            memcpy(out, row, (size_t)size * sizeof *row);
            continue;
        }
        out[0] = row[0];
        out[size - 1] = row[size - 1];
        for (long j = 1; j + 1 < size; ++j)
            out[j] = 0.2 * (row[j] + row[j - 1] + row[j + 1] + up[j] + down[j]);
    }
}

static int is_missing(const char* file) {
    int missing = rank == 0 && access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (missing) usleep(1000);
    return missing;
}

int main(int argc, char** argv) {
    const long size = argc > 1 ? atol(argv[1]) : 1024, steps = argc > 2 ? atol(argv[2]) : 100;
    const char* const file = argc > 3 ? argv[3] : NULL;
    elastic_mpi* elastic;
    double* field[2];
    uint64_t lo, hi, sum = 0, total = 0;
    long step = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0) != ELASTIC_MPI_OK) { /* M */
        fprintf(stderr, "stencil2d: %s\n", elastic_mpi_detail(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const char* const names[] = {"even", "odd"};
    for (int i = 0; i < 2; ++i)
        if (elastic_mpi_array(elastic, names[i], (size_t)size * sizeof(double), (uint64_t)size,
                              (void**)&field[i], &lo, &hi) != ELASTIC_MPI_OK) { /* M */
            fprintf(stderr, "stencil2d: %s\n", elastic_mpi_detail(elastic));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    elastic_mpi_value(elastic, "step", &step, sizeof step); /* M */

    const long rows = (long)(hi - lo);
    uint64_t mine = (uint64_t)rows, *counts = calloc((size_t)ranks, sizeof *counts);
    MPI_Allgather(&mine, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    const int up = rows ? neighbour(-1, counts) : MPI_PROC_NULL;
    const int down = rows ? neighbour(1, counts) : MPI_PROC_NULL;
    double* above = calloc((size_t)size, sizeof *above);
    double* below = calloc((size_t)size, sizeof *below);
    const double angle = 6.283185307179586 / (double)size;
    if (!elastic_mpi_reborn(elastic)) /* M */
        for (long i = 0; i < rows; ++i)
            for (long j = 0; j < size; ++j)
                field[0][i * size + j] =
                    sin(3 * angle * (double)((long)lo + i)) * cos(5 * angle * (double)j) + 1;

    if (rank == 0) printf("stencil2d: step %ld, %d processes\n", step, ranks);
    fflush(stdout);

    for (; step < steps; ++step) {
        do elastic_mpi_sync(elastic); /* M */
        while (file && step == steps / 2 && is_missing(file));
        double* old = field[step % 2];
        const int width = (int)size;
        MPI_Sendrecv(old, rows ? width : 0, MPI_DOUBLE, up, 0, below, width, MPI_DOUBLE, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(rows ? old + (rows - 1) * size : old, rows ? width : 0, MPI_DOUBLE, down, 0,
                     above, width, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        relax(old, field[(step + 1) % 2], above, below, size, rows, lo);
    }

    for (long i = 0; i < rows; ++i)
        sum += row_sum(field[steps % 2] + i * size, size, lo + (uint64_t)i);
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("stencil2d: %ld steps: field %016llx\n", step, (unsigned long long)total);
    free(above);
    free(below);
    free(counts);
    elastic_mpi_close(elastic); /* M */
    MPI_Finalize();
    return EXIT_SUCCESS;
}
