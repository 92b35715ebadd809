/* SPDX-License-Identifier: MIT
 * A program in DMR's style without data, that goes round the sizes as its policy says, and asks for
 * the next one at once, while the processes before it are still slow to end.
 *
 *     dmr_round RESIZES FILE
 *
 * It ends after so many resizes, when FILE is there. */
#include <dmr.h>
#include <dmr_test_policies.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void linger(void) {
    usleep(500000);
}

static int is_missing(const char* file) {
    int missing = access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return missing;
}

int main(int argc, char** argv) {
    int rank, ranks;
    if (argc != 3) return EXIT_FAILURE;
    const int resizes = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    DMR_AUTO(dmr_init(argc, argv), (void)NULL, (void)NULL, (void)NULL);
    if (dmr_set_policy(dmr_get_policy_round()) != DMR_SUCCESS) return EXIT_FAILURE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) printf("dmr_round: step %d, %d processes\n", dmr_get_reconfig_count(), ranks);
    fflush(stdout);
    atexit(linger);
    for (; dmr_get_reconfig_count() < resizes; usleep(1000))
        DMR_AUTO(dmr_check(USE_POLICY), (void)NULL, (void)NULL, (void)NULL);
    while (is_missing(argv[2])) usleep(1000);
    if (rank == 0)
        printf("dmr_round: %d steps: %d expansions, intercommunicator %d\n",
               dmr_get_reconfig_count(), dmr_get_active_expansions(), dmr_intercomm_available());
    DMR_AUTO(dmr_finalize(), (void)NULL, (void)NULL, (void)NULL);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
