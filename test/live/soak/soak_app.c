/* SPDX-License-Identifier: MIT */
/* An application of the soak test: soak_app SEED SECONDS EVOLVING DIES
 *
 * Lives for so many seconds, answers every offer (declines some), and, if it is evolving, asks
 * for nodes and gives some back at random moments.  With DIES it ends itself by SIGKILL half
 * way.  C and one process, because hundreds of them share few processors.
 */
#include <elastic.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void answer(elastic_handle* handle, const struct elastic_event* event) {
    switch (event->type) {
        case ELASTIC_EVENT_OFFER_SHRINK:
        case ELASTIC_EVENT_OFFER_EXPAND:
            if (rand() % 10 == 0)
                elastic_decline(handle, event->op, "by chance");
            else
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

static void wish(elastic_handle* handle) {
    if (rand() % 2)
        elastic_request(handle, 1 + rand() % 3, 1, rand() % 4);
    else
        elastic_release(handle, 1, NULL);
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    srand((unsigned)atoi(argv[1]));
    const double begin = now(), length = atof(argv[2]);
    const int evolving = atoi(argv[3]), dies = atoi(argv[4]);
    elastic_handle* handle = NULL;
    elastic_open(&handle, 0);
    if (!handle) return 3;
    double next_wish = begin + 1;
    while (now() < begin + length) {
        struct elastic_event event;
        if (elastic_poll(handle, 250, &event) == 1) answer(handle, &event);
        if (dies && now() > begin + length / 2) raise(SIGKILL);
        if (!evolving || now() < next_wish) continue;
        wish(handle);
        next_wish = now() + 1 + rand() % 4;
    }
    elastic_close(handle);
    return 0;
}
