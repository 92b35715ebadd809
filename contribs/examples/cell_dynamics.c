/* SPDX-License-Identifier: MIT
 * Molecular dynamics after LeanMD: soft spheres in a periodic box of cells as wide as the spheres
 * reach.  A cell is an object that any process can have.  Most spheres are in one corner, so cells
 * take their time unevenly, and libelastic-mpi deals them out by what they took.
 *
 * Forces are added and spheres taken over in the neighbours' order, whatever the processes: the
 * SHA-1 of the end is that of a run without resizes.
 *
 *     selastic-run cell_dynamics [SIDE [STEPS [FILE]]]
 *
 * FILE: see stencil2d.c.  What makes it malleable is marked: M.  Units: cells, steps. */
#include <elastic_mpi.h> /* M */
#include <math.h>
#include <string.h>

#include "sample.h"

enum { NEIGHBOURS = 27, ROOM = 255 }; /* a cell is among its neighbours; its spheres, at most */

struct sphere {
    double place[3], speed[3];
};

struct cell {
    long count;
    double seconds; /* of its last step */
    struct sphere spheres[ROOM];
};

static long side;
static uint64_t count;
static elastic_mpi* elastic;
static struct cell** cells; /* of all; NULL: this process knows nothing of it */

static size_t bytes_of(const struct cell* cell) {
    return offsetof(struct cell, spheres) + (size_t)cell->count * sizeof(struct sphere);
}

static size_t pack(uint64_t i, void* buffer, void* arg) { /* M, and the next two */
    (void)arg;
    if (buffer) memcpy(buffer, cells[i], bytes_of(cells[i]));
    return bytes_of(cells[i]);
}

static void unpack(uint64_t i, const void* buffer, size_t size, void* arg) {
    (void)arg;
    cells[i] = malloc(sizeof(struct cell));
    memcpy(cells[i], buffer, size);
}

static double load(uint64_t i, void* arg) {
    (void)arg;
    return cells[i]->seconds;
}

static int is_own(uint64_t i) {
    return elastic_mpi_owner(elastic, i) == rank; /* M */
}

static long coordinate(uint64_t i, int d) {
    return (long)i / (d == 0 ? side * side : d == 1 ? side : 1) % side;
}

static uint64_t neighbour(uint64_t i, int k) {
    const long step[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
    long number = 0;
    for (int d = 0; d < 3; ++d) number = number * side + (coordinate(i, d) + step[d] + side) % side;
    return (uint64_t)number;
}

static void begin(uint64_t i) {
    const int dense = coordinate(i, 0) + coordinate(i, 1) + coordinate(i, 2) < side;
    cells[i] = calloc(1, sizeof(struct cell));
    cells[i]->count = dense ? 30 : 2;
    for (long a = 0; a < cells[i]->count; ++a)
        for (int d = 0; d < 3; ++d) {
            const double any = (double)(31 * i + 7 * (uint64_t)a) + 2 * d;
            cells[i]->spheres[a].place[d] = (double)coordinate(i, d) + 0.5 + 0.45 * sin(any * any);
            cells[i]->spheres[a].speed[d] = 0.02 * sin(any);
        }
}

/* Gives this process what it does not own of its cells' neighbours. */
static void share(void) {
    MPI_Request* requests = malloc(NEIGHBOURS * count * sizeof *requests);
    int open = 0;
    for (uint64_t i = 0; i < count; ++i) {
        int wanted = 0;
        char* told = calloc((size_t)ranks, 1);
        for (int k = 0; k < NEIGHBOURS; ++k) {
            const int owner = elastic_mpi_owner(elastic, neighbour(i, k)); /* M */
            if (!is_own(i))
                wanted |= owner == rank;
            else if (owner != rank && !told[owner]++)
                MPI_Isend(cells[i], (int)bytes_of(cells[i]), MPI_BYTE, owner, (int)i,
                          MPI_COMM_WORLD, &requests[open++]);
        }
        free(told);
        if (!wanted) continue;
        if (!cells[i]) cells[i] = malloc(sizeof(struct cell));
        MPI_Irecv(cells[i], sizeof(struct cell), MPI_BYTE, elastic_mpi_owner(elastic, i), (int)i,
                  MPI_COMM_WORLD, &requests[open++]);
    }
    while (open > 0) MPI_Wait(&requests[--open], MPI_STATUS_IGNORE);
    free(requests);
}

/* The closer, the more they repel each other. */
static void repel(struct sphere* one, const struct sphere* other) {
    double away[3], distance = 0;
    for (int d = 0; d < 3; ++d) {
        away[d] = one->place[d] - other->place[d];
        away[d] -= (double)side * round(away[d] / (double)side); /* the box is periodic */
        distance += away[d] * away[d];
    }
    distance = sqrt(distance);
    for (int d = 0; distance > 0 && distance < 1 && d < 3; ++d)
        one->speed[d] += 1e-3 * (1 - distance) * away[d] / distance;
}

static void accelerate(struct cell* cell, uint64_t i) {
    cell->seconds = -MPI_Wtime();
    for (int k = 0; k < NEIGHBOURS; ++k) {
        const struct cell* other = cells[neighbour(i, k)];
        for (long a = 0; a < cell->count; ++a)
            for (long b = 0; b < other->count; ++b) repel(&cell->spheres[a], &other->spheres[b]);
    }
    cell->seconds += MPI_Wtime();
}

/* The cell with the spheres that are in it now, out of its neighbours before they changed cells. */
static struct cell* take_over(uint64_t i) {
    struct cell* next = calloc(1, sizeof *next);
    next->seconds = cells[i]->seconds;
    for (int k = 0; k < NEIGHBOURS; ++k) {
        const struct cell* from = cells[neighbour(i, k)];
        for (long a = 0; a < from->count; ++a) {
            struct sphere s = from->spheres[a];
            uint64_t target = 0;
            for (int d = 0; d < 3; ++d) {
                const long at = (long)floor(s.place[d]), wrapped = (at + side) % side;
                s.place[d] += (double)(wrapped - at);
                target = target * (uint64_t)side + (uint64_t)wrapped;
            }
            if (target != i) continue;
            if (next->count == ROOM) stop("cell_dynamics: a cell is full");
            next->spheres[next->count++] = s;
        }
    }
    return next;
}

static void advance(struct cell** next) {
    share();
    for (uint64_t i = 0; i < count; ++i)
        if (is_own(i)) accelerate(cells[i], i);
    for (uint64_t i = 0; i < count; ++i)
        for (long a = 0; is_own(i) && a < cells[i]->count; ++a)
            for (int d = 0; d < 3; ++d)
                cells[i]->spheres[a].place[d] += cells[i]->spheres[a].speed[d];
    share();
    for (uint64_t i = 0; i < count; ++i)
        if (is_own(i)) next[i] = take_over(i);
    for (uint64_t i = 0; i < count; ++i)
        if (is_own(i)) free(cells[i]), cells[i] = next[i];
}

int main(int argc, char** argv) {
    side = argc > 1 ? atol(argv[1]) : 8;
    const long steps = argc > 2 ? atol(argv[2]) : 100;
    const char* const file = argc > 3 ? argv[3] : NULL;
    long step = 0;
    start_mpi(&argc, &argv);
    if (side < 3 || side > 30) stop("cell_dynamics: SIDE is 3 to 30");
    count = (uint64_t)(side * side * side);
    cells = calloc(count, sizeof *cells);
    struct cell** next = calloc(count, sizeof *next);
    must(elastic_mpi_open(&elastic, MPI_COMM_WORLD, 0), NULL);                    /* M */
    must(elastic_mpi_value(elastic, "step", &step, sizeof step), elastic);        /* M */
    must(elastic_mpi_objects(elastic, count, pack, unpack, load, NULL), elastic); /* M */
    for (uint64_t i = 0; i < count; ++i)
        if (is_own(i) && !elastic_mpi_reborn(elastic)) begin(i); /* M */
    announce("cell_dynamics", step);

    for (; step < steps; ++step) {
        do must(elastic_mpi_sync(elastic), elastic); /* M */
        while (file && step == steps / 2 && is_missing(file));
        advance(next);
    }

    FILE* digest = begin_digest("cell_dynamics", step);
    for (uint64_t i = 0; i < count; ++i)
        add_part(digest, elastic_mpi_owner(elastic, i), is_own(i) ? cells[i]->spheres : NULL,
                 is_own(i) ? (uint64_t)cells[i]->count * sizeof(struct sphere) : 0);
    end_digest(digest);
    elastic_mpi_close(elastic); /* M */
    MPI_Finalize();
    return EXIT_SUCCESS;
}
