/* SPDX-License-Identifier: MIT
 * Logistic maps, each element on its own, in the style of DMR's checkpoint mode: the program saves
 * its data in a file when it is told to, ends, and is started again as more or fewer processes,
 * which load the file.  It decides itself: after a third of the steps it grows to MOST nodes, after
 * two thirds it shrinks to one.  MOST 0: it stays as it is.
 *
 *     selastic-run dmr_maps CHECKPOINT [STEPS [MOST [FILE]]]
 *
 * With FILE it waits before the last step until there is such a file.  The checkpoint of the end
 * does not depend on the number of processes. */
#include <dmr.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ELEMENTS = 100000 };

static int rank, ranks;
static const char* checkpoint;
static double* data;
static long first, count, step;

static void allocate(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    first = (long)ELEMENTS * rank / ranks;
    count = (long)ELEMENTS * (rank + 1) / ranks - first;
    data = malloc((size_t)count * sizeof *data);
}

static void stop(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* MPICH 4.2 comes back and leaves the end to Slurm */
}

static MPI_File open_checkpoint(int mode) {
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, checkpoint, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "dmr_maps: %s cannot be opened\n", checkpoint);
        stop();
    }
    return file;
}

/* The number of the step, and the elements. */
static void save(void) {
    MPI_File file = open_checkpoint(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    const MPI_Offset at = (MPI_Offset)(sizeof step + (size_t)first * sizeof *data);
    if (rank == 0) MPI_File_write_at(file, 0, &step, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, at, data, (int)count, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void load(void) {
    allocate();
    MPI_File file = open_checkpoint(MPI_MODE_RDONLY);
    const MPI_Offset at = (MPI_Offset)(sizeof step + (size_t)first * sizeof *data);
    MPI_File_read_at_all(file, 0, &step, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, at, data, (int)count, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void clean(void) {
    free(data);
}

static void begin(void) {
    allocate();
    for (long i = 0; i < count; ++i) data[i] = (double)(first + i + 1) / (ELEMENTS + 2);
}

static void check(DMRSuggestion suggestion) {
    DMR_AUTO(dmr_check(suggestion), save(), (void)NULL, clean());
}

static void grow_to(int nodes) {
    if (rank == 0) dmr_set_nodes_next_expand(nodes - dmr_get_current_node_count());
    for (; dmr_get_current_node_count() < nodes; usleep(1000)) check(SHOULD_EXPAND);
}

static void shrink_to(int nodes) {
    if (rank == 0) dmr_set_nodes_next_shrink(dmr_get_current_node_count() - nodes);
    for (; dmr_get_current_node_count() > nodes; usleep(1000)) check(SHOULD_SHRINK);
}

static int is_missing(const char* file) {
    int missing = rank == 0 && access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (missing) usleep(1000);
    return missing;
}

int main(int argc, char** argv) {
    const long steps = argc > 2 ? atol(argv[2]) : 99;
    const int most = argc > 3 ? atoi(argv[3]) : 0;
    const char* const file = argc > 4 ? argv[4] : NULL;
    if (argc < 2) return EXIT_FAILURE;
    checkpoint = argv[1];

    MPI_Init(&argc, &argv);
    DMR_AUTO(dmr_init(argc, argv), (void)NULL, load(), clean());
    if (dmr_get_last_action() == DMR_ERROR) stop();
    if (dmr_get_reconfig_count() == 0) begin();
    if (rank == 0) printf("dmr_maps: step %ld, %d processes\n", step, ranks);
    fflush(stdout);

    for (; step < steps; ++step) {
        check(SHOULD_STAY); /* the scheduler may want something */
        if (most > 0 && step == steps / 3) grow_to(most);
        if (most > 0 && step == steps / 3 * 2) shrink_to(1);
        while (file && step == steps - 1 && is_missing(file)) check(SHOULD_STAY);
        for (long i = 0; i < count; ++i) data[i] = 3.9 * data[i] * (1 - data[i]);
    }

    save();
    if (rank == 0) printf("dmr_maps: %ld steps: %d resizes\n", step, dmr_get_reconfig_count());
    DMR_AUTO(dmr_finalize(), (void)NULL, (void)NULL, clean());
    MPI_Finalize();
    return EXIT_SUCCESS;
}
