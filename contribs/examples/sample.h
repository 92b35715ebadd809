/* SPDX-License-Identifier: MIT
 * What the sample programs have in common, and has nothing to do with resizes: the rows that a
 * process has of an array, its neighbours, and the SHA-1 of a result.
 *
 * All functions are collective, but must(). */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <elastic_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, ranks;

static inline void start_mpi(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline void stop(const char* why) {
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* MPICH 4.2 comes back and leaves the end to Slurm */
}

static inline void must(int code, const elastic_mpi* e) {
    if (code != ELASTIC_MPI_OK) stop(elastic_mpi_detail(e));
}

static inline void announce(const char* name, long step) {
    if (rank == 0) printf("%s: step %ld, %d processes\n", name, step, ranks);
    fflush(stdout);
}

/* 1, after a moment, while there is no such file. */
static inline int is_missing(const char* file) {
    int missing = rank == 0 && access(file, F_OK) != 0;
    MPI_Bcast(&missing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (missing) usleep(1000);
    return missing;
}

/* The rows of this process, and who has those above and below; MPI_PROC_NULL: nobody. */
struct rows {
    uint64_t first;
    long count;
    int up, down;
};

/* wrap: the last row is above the first. */
static inline struct rows find_rows(uint64_t lo, uint64_t hi, int wrap) {
    struct rows rows = {lo, (long)(hi - lo), MPI_PROC_NULL, MPI_PROC_NULL};
    long* counts = (long*)calloc((size_t)ranks, sizeof *counts); /* also C++ */
    MPI_Allgather(&rows.count, 1, MPI_LONG, counts, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 1; rows.count > 0 && i <= ranks; ++i) { /* processes may have none */
        const int before = rank - i, after = rank + i;
        if (rows.up == MPI_PROC_NULL && (before >= 0 || wrap) && counts[(before + ranks) % ranks])
            rows.up = (before + ranks) % ranks;
        if (rows.down == MPI_PROC_NULL && (after < ranks || wrap) && counts[after % ranks])
            rows.down = after % ranks;
    }
    free(counts);
    return rows;
}

/* Fills above and below with what the neighbours have next to this process; `bytes` of a row. */
static inline void exchange_rows(const struct rows* rows, const void* own, size_t bytes,
                                 void* above, void* below) {
    const char* last = (const char*)own + (size_t)(rows->count > 0 ? rows->count - 1 : 0) * bytes;
    const int size = (int)bytes;
    MPI_Sendrecv(own, size, MPI_BYTE, rows->up, 0, below, size, MPI_BYTE, rows->down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, size, MPI_BYTE, rows->down, 1, above, size, MPI_BYTE, rows->up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A SHA-1 that process 0 prints, by sha1sum(1), of what is added to it in this order. */
static inline FILE* begin_digest(const char* name, long steps) {
    char command[128];
    if (rank != 0) return NULL;
    fflush(stdout);
    snprintf(command, sizeof command, "printf '%s: %ld steps: '; exec sha1sum", name, steps);
    FILE* digest = popen(command, "w");
    if (!digest) stop("sha1sum cannot be run");
    return digest;
}

/* What process `owner` has. */
static inline void add_part(FILE* digest, int owner, const void* data, uint64_t bytes) {
    char part[1 << 16];
    if (rank == 0 && owner == 0) fwrite(data, 1, bytes, digest);
    if (owner == 0 || (rank != 0 && rank != owner)) return;
    if (rank == owner) MPI_Send(&bytes, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&bytes, 1, MPI_UINT64_T, owner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (uint64_t at = 0; at < bytes; at += sizeof part) {
        const int size = (int)(bytes - at < sizeof part ? bytes - at : sizeof part);
        if (rank == owner) {
            MPI_Send((const char*)data + at, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            continue;
        }
        MPI_Recv(part, size, MPI_BYTE, owner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fwrite(part, 1, (size_t)size, digest);
    }
}

/* What all have, process after process. */
static inline void add_all(FILE* digest, const void* data, uint64_t bytes) {
    for (int owner = 0; owner < ranks; ++owner) add_part(digest, owner, data, bytes);
}

static inline void end_digest(FILE* digest) {
    if (digest && pclose(digest) != 0) stop("sha1sum has failed");
}

#endif
