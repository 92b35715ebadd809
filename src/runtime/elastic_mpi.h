/* SPDX-License-Identifier: MIT
 *
 * libelastic-mpi: an MPI program that selastic-run(1) resizes together with its job, by rebirth
 * ([gupta] section III): the processes leave, and as many as there shall be start anew and find
 * their data where they were left, in shared memory.  libelastic-mpi(3) has an example.
 *
 * In short: open a handle after MPI_Init, name the data, call elastic_mpi_sync() where the program
 * could go on with another number of processes.  A program that is reborn runs from the beginning
 * of main(); the same calls give it the data.
 *
 * Without selastic-run the same program runs as any other and is never resized.
 *
 * The library starts no thread, prints nothing and installs no handler.
 *
 * Collective: all functions with an elastic_mpi* that is not const, over all processes of the
 * communicator given to elastic_mpi_open(), in the same order.
 *
 * Units: bytes, elements.  Ownership: pointers handed out belong to the handle and are valid until
 * elastic_mpi_close(), strings until the next call on the handle.
 *
 * Errors: 0 on success, else a negative enum elastic_mpi_error, alike in all processes;
 * elastic_mpi_detail() has a sentence for a human. */
#ifndef ELASTIC_MPI_H
#define ELASTIC_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ELASTIC_MPI_API __attribute__((visibility("default")))
#else
#define ELASTIC_MPI_API
#endif

typedef struct elastic_mpi elastic_mpi;

enum elastic_mpi_error {
    ELASTIC_MPI_OK = 0,
    ELASTIC_MPI_EINVAL = -1,  /* an argument is outside its range, or is not what it was before */
    ELASTIC_MPI_EWORLD = -2,  /* the processes are not one world: srun's --mpi is not this MPI's */
    ELASTIC_MPI_ESYSTEM = -3, /* a system call has failed, e.g. there is no memory */
    ELASTIC_MPI_ESTATE = -4   /* not now: a request is under way, or nobody is there to ask */
};

enum elastic_mpi_open_flags {
    /* Objects are distributed by GreedyLB in place of RefineLB ([gupta] section III-D): evenly,
     * whatever has to move for that. */
    ELASTIC_MPI_GREEDY = 1,
    /* Arrays stay where they are after elastic_mpi_close(), in memory of this process alone, until
     * it ends: for languages that cannot know who still refers to them. */
    ELASTIC_MPI_KEEP = 2
};

/* Opens a handle.  comm: all processes of the program, MPI_COMM_WORLD or one that is congruent;
 * it is duplicated.  flags: 0 or of enum elastic_mpi_open_flags.
 *
 * In a program that is reborn it returns when all data are there.  *e is NULL after an error;
 * elastic_mpi_detail(NULL) says why. */
ELASTIC_MPI_API int elastic_mpi_open(elastic_mpi** e, MPI_Comm comm, unsigned flags);

/* 1 if the program was resized: it goes on; 0 if it begins. */
ELASTIC_MPI_API int elastic_mpi_reborn(const elastic_mpi* e);

/* An array of `count` elements of `element` bytes, of which this process has [*lo, *hi) at *data,
 * in shared memory (a file, where /dev/shm is too small).  Blocks are equal, or nearly: they begin
 * at whole pages where the difference is small.  A new array is zero; it is new if a program that
 * is reborn did not have it before.  The same array may be asked for again.
 *
 * name: at most 255 printable characters other than '/'. */
ELASTIC_MPI_API int elastic_mpi_array(elastic_mpi* e, const char* name, size_t element,
                                      uint64_t count, void** data, uint64_t* lo, uint64_t* hi);

/* A variable that all processes have alike, at most a megabyte: what process 0 has in it at a
 * resize, all have after it.  *data is set at once in a program that is reborn, and has to live as
 * long as the handle. */
ELASTIC_MPI_API int elastic_mpi_value(elastic_mpi* e, const char* name, void* data, size_t size);

/* Irregular work: `count` objects with the numbers from 0, each owned by one process, moved by
 * their load ([gupta] section III).  In a program that begins they are dealt out in equal blocks
 * and it makes those that elastic_mpi_owner() says are its own; in one that is reborn this call
 * unpacks those that it has.
 *
 * pack: writes the object and returns its size in bytes; with buffer NULL only the size.  It leaves
 * the object as it is.
 * unpack: makes the object from what pack has written, at an address that is a multiple of 16.
 * load: the seconds that the object has taken lately, or any other measure; NULL: all are alike. */
ELASTIC_MPI_API int elastic_mpi_objects(elastic_mpi* e, uint64_t count,
                                        size_t (*pack)(uint64_t object, void* buffer, void* arg),
                                        void (*unpack)(uint64_t object, const void* buffer,
                                                       size_t size, void* arg),
                                        double (*load)(uint64_t object, void* arg), void* arg);

/* The process that has an object, or ELASTIC_MPI_EINVAL. */
ELASTIC_MPI_API int elastic_mpi_owner(const elastic_mpi* e, uint64_t object);

/* Where a resize may happen: everything that the program needs to go on is in arrays, values and
 * objects, and no message is under way.  If there is one, the processes end here, by MPI_Finalize()
 * and exit(0), when those that take over have everything.  Otherwise, and if that fails, it
 * returns 0 and the program goes on. */
ELASTIC_MPI_API int elastic_mpi_sync(elastic_mpi* e);

/* 1 if elastic_mpi_sync() would resize the program now, for one that has to prepare for that, by a
 * checkpoint of its own: the resize waits for the next elastic_mpi_sync().  0: it would not. */
ELASTIC_MPI_API int elastic_mpi_due(elastic_mpi* e);

/* Asks for so many nodes more, or fewer if negative: the job's class has to be evolving for more.
 * What process 0 says counts.  Returns at once; elastic_mpi_sync() resizes the program when the
 * nodes are there.  0 withdraws a request of more.  One request at a time: ELASTIC_MPI_ESTATE. */
ELASTIC_MPI_API int elastic_mpi_request(elastic_mpi* e, int nodes);

/* 1 while a request is under way.  It ends with a resize, even if that is for another reason, and
 * otherwise in elastic_mpi_due() or elastic_mpi_sync(), after which elastic_mpi_detail() says why,
 * but not before a second: a program may ask in every step. */
ELASTIC_MPI_API int elastic_mpi_requested(const elastic_mpi* e);

/* Ends the program's part in resizes and frees everything.  Before MPI_Finalize().  NULL is
 * allowed. */
ELASTIC_MPI_API int elastic_mpi_close(elastic_mpi* e);

/* Why the last call failed, or why a resize did not happen; "" if nothing went wrong.  NULL: of
 * elastic_mpi_open(). */
ELASTIC_MPI_API const char* elastic_mpi_detail(const elastic_mpi* e);

#ifdef __cplusplus
}
#endif

#endif
