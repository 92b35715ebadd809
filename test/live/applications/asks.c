/* SPDX-License-Identifier: MIT
 * A program that asks once for so many nodes more, or fewer, and says what has come of it.
 *
 *     asks CHANGE FILE
 *
 * It ends when FILE is there. */
#include <elastic_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int is_missing(const char* file) {
    int missing = access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return missing;
}

int main(int argc, char** argv) {
    elastic_mpi* elastic;
    int rank, ranks;
    if (argc != 3) return EXIT_FAILURE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0) != 0) return EXIT_FAILURE;
    const int reborn = elastic_mpi_reborn(elastic);
    if (rank == 0) printf("asks: step %d, %d processes\n", reborn, ranks);
    fflush(stdout);
    if (!reborn) {
        elastic_mpi_request(elastic, atoi(argv[1]));
        for (; elastic_mpi_requested(elastic); usleep(1000)) elastic_mpi_sync(elastic);
        if (rank == 0) printf("asks: in vain: %s\n", elastic_mpi_detail(elastic));
        fflush(stdout);
    }
    for (; is_missing(argv[2]); usleep(1000)) elastic_mpi_sync(elastic);
    if (rank == 0) printf("asks: %d steps: it ends\n", reborn);
    elastic_mpi_close(elastic);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
