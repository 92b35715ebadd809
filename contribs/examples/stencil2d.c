/* SPDX-License-Identifier: MIT
 * Stencil2D: Jacobi relaxation of a square field, each point the mean of itself and its four
 * neighbours, the border fixed.  A row belongs to one process.  The field does not depend on the
 * number of processes, nor on when it changes: its SHA-1, printed at the end, is that of a run
 * without resizes.
 *
 *     selastic-run stencil2d [SIZE [STEPS [FILE [PICTURE]]]]
 *
 * With FILE it waits after half of the steps, resized all the same, until there is such a file.
 * With PICTURE each world writes its first field to PICTURE.STEP.PROCESSES, and the last world its
 * last field, too: doubles, row after row.
 * What makes it malleable is marked: M. */
#include <elastic_mpi.h> /* M */
#include <math.h>
#include <string.h>

#include "sample.h"

static void relax(const double* old, double* next, const double* above, const double* below,
                  long size, const struct rows* rows) {
    for (long i = 0; i < rows->count; ++i) {
        const double* up = i > 0 ? old + (i - 1) * size : above;
        const double* down = i + 1 < rows->count ? old + (i + 1) * size : below;
        const double* row = old + i * size;
        double* out = next + i * size;
        const long number = (long)rows->first + i;
        if (number == 0 || number + 1 == size) {
            memcpy(out, row, (size_t)size * sizeof *row);
            continue;
        }
        out[0] = row[0];
        out[size - 1] = row[size - 1];
        for (long j = 1; j + 1 < size; ++j)
            out[j] = 0.2 * (row[j] + row[j - 1] + row[j + 1] + up[j] + down[j]);
    }
}

static void write_field(const char* picture, long step, const void* field, const struct rows* rows,
                        size_t row) {
    char path[4096];
    MPI_File file;
    snprintf(path, sizeof path, "%s.%ld.%d", picture, step, ranks);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        stop("the picture cannot be written");
    MPI_File_write_at_all(file, (MPI_Offset)(rows->first * row), field,
                          (int)((size_t)rows->count * row), MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    const long size = argc > 1 ? atol(argv[1]) : 1024, steps = argc > 2 ? atol(argv[2]) : 100;
    const char* const file = argc > 3 ? argv[3] : NULL;
    const char* const picture = argc > 4 ? argv[4] : NULL;
    const size_t row = (size_t)size * sizeof(double);
    elastic_mpi* elastic;
    double* field[2];
    uint64_t lo, hi;
    long step = 0;

    start_mpi(&argc, &argv);
    must(elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0), NULL); /* M */
    const char* const names[] = {"even", "odd"};
    for (int i = 0; i < 2; ++i)
        must(elastic_mpi_array(elastic, names[i], row, (uint64_t)size, (void**)&field[i], &lo, &hi),
             elastic);                                                     /* M */
    must(elastic_mpi_value(elastic, "step", &step, sizeof step), elastic); /* M */

    const struct rows rows = find_rows(lo, hi, 0);
    double *above = calloc(1, row), *below = calloc(1, row);
    const double angle = 6.283185307179586 / (double)size;
    if (!elastic_mpi_reborn(elastic)) /* M */
        for (long i = 0; i < rows.count; ++i)
            for (long j = 0; j < size; ++j)
                field[0][i * size + j] =
                    sin(3 * angle * (double)((long)lo + i)) * cos(5 * angle * (double)j) + 1;
    announce("stencil2d", step);
    if (picture) write_field(picture, step, field[step % 2], &rows, row);

    for (; step < steps; ++step) {
        do must(elastic_mpi_sync(elastic), elastic); /* M */
        while (file && step == steps / 2 && is_missing(file));
        exchange_rows(&rows, field[step % 2], row, above, below);
        relax(field[step % 2], field[(step + 1) % 2], above, below, size, &rows);
    }

    if (picture) write_field(picture, step, field[step % 2], &rows, row);
    FILE* digest = begin_digest("stencil2d", step);
    add_all(digest, field[steps % 2], (uint64_t)rows.count * row);
    end_digest(digest);
    free(above);
    free(below);
    elastic_mpi_close(elastic); /* M */
    MPI_Finalize();
    return EXIT_SUCCESS;
}
