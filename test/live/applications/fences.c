/* SPDX-License-Identifier: MIT
 * Processes that meet at a PMIx fence without data, the last one late.
 *
 *     fences FILE MILLISECONDS
 *
 * Each adds a line to FILE before the fence and one behind it.  The last one waits until all others
 * have come to the fence and, for so long, whether one of them goes on without it. */
#include <fcntl.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* file;
static unsigned rank;

static void say(const char* what) {
    char line[64];
    const int size = snprintf(line, sizeof line, "%u %s\n", rank, what);
    const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || write(fd, line, (size_t)size) != size) exit(2);
    close(fd);
}

static unsigned said(const char* what) {
    char line[64];
    unsigned count = 0;
    FILE* in = fopen(file, "r");
    if (!in) return 0;
    while (fgets(line, sizeof line, in)) count += strstr(line, what) != NULL;
    fclose(in);
    return count;
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void be_late(unsigned others, long patience) {
    while (said("comes") < others) usleep(1000);
    const long until = milliseconds() + patience;
    while (said("goes on") == 0 && milliseconds() < until) usleep(1000);
}

int main(int argc, char** argv) {
    pmix_proc_t own, all;
    pmix_value_t* size;
    if (argc != 3 || PMIx_Init(&own, NULL, 0) != PMIX_SUCCESS) return 1;
    file = argv[1];
    rank = own.rank;
    PMIX_PROC_LOAD(&all, own.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size) != PMIX_SUCCESS) return 1;
    if (rank + 1 == size->data.uint32) be_late(rank, atol(argv[2]));
    say("comes");
    if (PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS) return 1;
    say("goes on");
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
