/* SPDX-License-Identifier: MIT
 * Objects of many sizes whose load is uneven: those with high numbers weigh ten times as much.
 *
 *     many_objects COUNT STEPS FILE
 *
 * As stencil2d it waits after half of the steps until FILE is there.  Each world prints how many
 * objects its processes have and the highest load of one over the average; the end is a sum over
 * all objects, which depends on every step of each. */
#include <elastic_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct object {
    uint64_t words, *data; /* NULL: another process has it */
};

static struct object* objects;
static int rank, ranks;
static uint64_t count;

static double load(uint64_t i, void* arg) {
    (void)arg;
    return i >= count / 2 ? 10 : 1;
}

static void make(uint64_t i, uint64_t words) {
    objects[i].words = words;
    objects[i].data = calloc(words, sizeof(uint64_t));
}

static size_t pack(uint64_t i, void* buffer, void* arg) {
    const size_t bytes = objects[i].words * sizeof(uint64_t);
    (void)arg;
    if (buffer) memcpy(buffer, objects[i].data, bytes);
    return bytes;
}

static void unpack(uint64_t i, const void* buffer, size_t size, void* arg) {
    (void)arg;
    make(i, size / sizeof(uint64_t));
    memcpy(objects[i].data, buffer, size);
}

static void must(int code, const elastic_mpi* elastic) {
    if (code == ELASTIC_MPI_OK) return;
    fprintf(stderr, "many_objects: %s\n", elastic_mpi_detail(elastic));
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* MPICH 4.2 comes back and leaves the end to Slurm */
}

static void describe(const char* when, long step) {
    double mine = 0, most = 0, all = 0;
    int own = 0, least = 0;
    for (uint64_t i = 0; i < count; ++i)
        if (objects[i].data) mine += load(i, NULL), ++own;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: step %ld, %d processes, at least %d objects, imbalance %.3f\n", when, step,
               ranks, least, most * ranks / all);
    fflush(stdout);
}

static int is_missing(const char* file) {
    int missing = rank == 0 && access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (missing) usleep(1000);
    return missing;
}

int main(int argc, char** argv) {
    elastic_mpi* elastic;
    long step = 0;
    uint64_t sum = 0, total = 0;

    if (argc != 4) return EXIT_FAILURE;
    count = strtoull(argv[1], NULL, 10);
    const long steps = atol(argv[2]);
    objects = calloc(count, sizeof *objects);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(elastic_mpi_open(&elastic, MPI_COMM_WORLD, getenv("GREEDY") ? ELASTIC_MPI_GREEDY : 0),
         NULL);
    elastic_mpi_value(elastic, "step", &step, sizeof step);
    must(elastic_mpi_objects(elastic, count, pack, unpack, load, NULL), elastic);
    if (!elastic_mpi_reborn(elastic))
        for (uint64_t i = 0; i < count; ++i)
            if (elastic_mpi_owner(elastic, i) == rank) make(i, i * 37 % 1000);
    describe("many_objects", step);
    for (; step < steps; ++step) {
        do elastic_mpi_sync(elastic);
        while (step == steps / 2 && is_missing(argv[3]));
        for (uint64_t i = 0; i < count; ++i)
            for (uint64_t j = 0; objects[i].data && j < objects[i].words; ++j)
                objects[i].data[j] = objects[i].data[j] * 31 + i + j + (uint64_t)step;
    }
    for (uint64_t i = 0; i < count; ++i)
        for (uint64_t j = 0; objects[i].data && j < objects[i].words; ++j)
            sum += objects[i].data[j] * (j + 1);
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("many_objects: %ld steps: objects %016llx\n", step, (unsigned long long)total);
    elastic_mpi_close(elastic);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
