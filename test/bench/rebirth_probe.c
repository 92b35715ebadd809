/* SPDX-License-Identifier: MIT
 * What rebirth_bench resizes: an array that each step reads and writes whole, and checks.
 *
 *     selastic-run rebirth_probe MEGABYTES FILE
 *
 * runs until there is FILE.  Process 0 prints when each step ended, by a clock that all nodes of a
 * cluster on one machine share, and before the first how long the first touch of as much fresh
 * shared memory takes: no resize that moves the data can be faster.  That is the fastest of some,
 * since a virtual machine waits for its host where the memory is new to both. */
#include <elastic_mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TOUCHES 3

static int rank, ranks;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char* what) {
    fprintf(stderr, "rebirth_probe: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* MPICH 4.2 comes back and leaves the end to Slurm */
}

/* Seconds of the slowest process for `bytes` of new shared memory. */
static double first_touch(size_t bytes) {
    char name[64];
    snprintf(name, sizeof name, "/rebirth-probe.%ld.%d", (long)getpid(), rank);
    const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) fail("no shared memory");
    shm_unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = now();
    char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail("no shared memory");
    memset(memory, 1, bytes);
    double mine = now() - begun, slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    munmap(memory, bytes);
    close(file);
    return slowest;
}

/* Elements that are not what `step` steps make of them. */
static uint64_t wrong_elements(const uint64_t* data, uint64_t lo, uint64_t hi, uint64_t step) {
    uint64_t wrong = 0;
    for (uint64_t i = lo; i < hi; ++i) wrong += data[i - lo] != i * step;
    return wrong;
}

static int is_there(const char* file) {
    int there = rank == 0 && access(file, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return there;
}

int main(int argc, char** argv) {
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 / 8 : 0;
    elastic_mpi* elastic;
    uint64_t *data, lo, hi, step = 0, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || count == 0) fail("MEGABYTES FILE");
    if (elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0) != ELASTIC_MPI_OK)
        fail(elastic_mpi_detail(NULL));
    if (elastic_mpi_array(elastic, "data", 8, count, (void**)&data, &lo, &hi) != ELASTIC_MPI_OK ||
        elastic_mpi_value(elastic, "step", &step, sizeof step) != ELASTIC_MPI_OK ||
        elastic_mpi_value(elastic, "wrong", &wrong, sizeof wrong) != ELASTIC_MPI_OK)
        fail(elastic_mpi_detail(elastic));
    if (!elastic_mpi_reborn(elastic)) {
        const size_t bytes = (size_t)(count / (uint64_t)ranks * 8);
        double touched = first_touch(bytes);
        for (int i = 1; i < TOUCHES; ++i) {
            const double again = first_touch(bytes);
            if (again < touched) touched = again;
        }
        if (rank == 0) printf("touch %f\n", touched);
    }
    if (rank == 0) printf("rebirth_probe: step %lu, %d processes\n", (unsigned long)step, ranks);

    while (!is_there(argv[2])) {
        elastic_mpi_sync(elastic);
        uint64_t mine = wrong_elements(data, lo, hi, step), all;
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        wrong += all;
        ++step;
        for (uint64_t i = lo; i < hi; ++i) data[i - lo] = i * step;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("ended %f\n", now());
        fflush(stdout);
    }

    if (rank == 0)
        printf("rebirth_probe: %lu steps: %lu wrong elements\n", (unsigned long)step,
               (unsigned long)wrong);
    elastic_mpi_close(elastic);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
