/* SPDX-License-Identifier: MIT
 * The applications of planning_pass: one process that takes part for every job whose number it
 * reads from standard input, says yes to whatever is offered, and has always finished at once.
 * Prints a line when all are connected, and goes on until it is ended. */
#include <elastic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 2000, kPatienceMs = 30000, kTurnMs = 1000 };

static elastic_handle* handles[kMost];
static struct pollfd fds[kMost];

static void answer(elastic_handle* handle, const struct elastic_event* event) {
    switch (event->type) {
        case ELASTIC_EVENT_OFFER_SHRINK:
        case ELASTIC_EVENT_OFFER_EXPAND:
            elastic_accept(handle, event->op);
            break;
        case ELASTIC_EVENT_ACCEPTED:
            if (event->kind == ELASTIC_SHRINK) elastic_done(handle, event->op);
            break;
        case ELASTIC_EVENT_RESIZED:
            if (event->kind == ELASTIC_EXPAND && event->op > 0) elastic_done(handle, event->op);
            break;
        default:
            break;
    }
}

static void take_events(elastic_handle* handle, int timeout_ms) {
    struct elastic_event event;
    while (elastic_poll(handle, timeout_ms, &event) == 1) {
        answer(handle, &event);
        timeout_ms = 0;
    }
}

int main(void) {
    int count = 0;
    char job[32];
    while (count < kMost && scanf("%31s", job) == 1) {
        setenv("SLURM_JOB_ID", job, 1);
        if (elastic_open(&handles[count], 0) < 0) {
            fprintf(stderr, "applications: job %s: %s\n", job, elastic_detail(handles[count]));
            return EXIT_FAILURE;
        }
        ++count;
    }
    for (int i = 0; i < count; ++i)
        for (int turn = 0; !elastic_connected(handles[i]) && turn < kPatienceMs / 100; ++turn)
            take_events(handles[i], 100);
    printf("%d connected\n", count);
    fflush(stdout);
    for (;;) {
        for (int i = 0; i < count; ++i) {
            fds[i].fd = elastic_fd(handles[i]);
            fds[i].events = POLLIN;
        }
        poll(fds, (nfds_t)count, kTurnMs);
        for (int i = 0; i < count; ++i) take_events(handles[i], 0);
    }
}
