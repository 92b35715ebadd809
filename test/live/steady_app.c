/* SPDX-License-Identifier: MIT */
/* An application with a fixed amount of work: steady_app NODE_SECONDS
 *
 * Twice the nodes do it in half the time.  It accepts every offer, and needs no time to move
 * data; so it ends when the simulator's idea of such a job does.
 */
#include <elastic.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void answer(elastic_handle* handle, const struct elastic_event* event) {
    const int is_offer =
        event->type == ELASTIC_EVENT_OFFER_SHRINK || event->type == ELASTIC_EVENT_OFFER_EXPAND;
    const int may_leave = event->type == ELASTIC_EVENT_ACCEPTED && event->kind == ELASTIC_SHRINK;
    const int has_grown =
        event->type == ELASTIC_EVENT_RESIZED && event->kind == ELASTIC_EXPAND && event->op > 0;
    if (is_offer) elastic_accept(handle, event->op);
    if (may_leave || has_grown) elastic_done(handle, event->op);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    double work = atof(argv[1]), at = now();
    elastic_handle* handle = NULL;
    elastic_open(&handle, 0);
    if (!handle) return 3;
    while (work > 0) {
        struct elastic_event event;
        const int nodes = elastic_nodes(handle);
        const int got = elastic_poll(handle, (int)(work / nodes * 1000) + 1, &event);
        const double since = now() - at;
        at += since;
        work -= since * nodes;
        if (got == 1) answer(handle, &event);
    }
    elastic_close(handle);
    return 0;
}
