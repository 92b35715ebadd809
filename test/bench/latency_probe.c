/* SPDX-License-Identifier: MIT
 * latency_probe ROUNDS PAUSE: the program of resize_latency's job.  ROUNDS times: pauses for so
 * many milliseconds, as a program that computes, asks for one node, waits until the grown
 * allocation is reported, says that the node is in use and gives it back.  Prints the growth and
 * the release of each round, in milliseconds.
 *
 * A round whose node is not granted ends the program with a failure: a time without a growth
 * would be a lie. */
#include <elastic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kPatienceMs = 20000 };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void fail(elastic_handle* handle, const char* what) {
    fprintf(stderr, "latency_probe: %s: %s\n", what, elastic_detail(handle));
    exit(EXIT_FAILURE);
}

/* Until the allocation has changed; the operation that changed it. */
static int64_t await_resize(elastic_handle* handle) {
    struct elastic_event event;
    while (elastic_poll(handle, kPatienceMs, &event) == 1) {
        if (event.type == ELASTIC_EVENT_RESIZED) return event.op;
        if (event.type == ELASTIC_EVENT_ENDED || event.type == ELASTIC_EVENT_CLOSED)
            fail(handle, event.reason);
    }
    fail(handle, "no answer in time");
    return 0;
}

static void pause_for(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void one_round(elastic_handle* handle) {
    const double asked = now_ms();
    if (elastic_request(handle, 1, 1, 10) < 0) fail(handle, "cannot ask");
    const int64_t op = await_resize(handle);
    const double grown = now_ms();
    if (elastic_done(handle, op) < 0) fail(handle, "cannot say that it is done");
    const double leaving = now_ms();
    if (elastic_release(handle, 1, NULL) < 0) fail(handle, "cannot release");
    await_resize(handle);
    printf("%.3f %.3f\n", grown - asked, now_ms() - leaving);
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    const long pause_ms = argc > 2 ? atol(argv[2]) : 0;
    elastic_handle* handle = NULL;
    if (elastic_open(&handle, 0) < 0) fail(handle, "this job takes no part");
    for (int i = 0; i < rounds; ++i) {
        pause_for(pause_ms);
        one_round(handle);
    }
    elastic_close(handle);
    return EXIT_SUCCESS;
}
