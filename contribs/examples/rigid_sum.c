/* SPDX-License-Identifier: MIT
 * A rigid program that is linked with libelastic: the library changes nothing for it, inside an
 * elastic job, inside any other, and outside Slurm.  It sums 1..N in steps, polling between
 * them, declines whatever is offered, and checks the sum. */
#include <elastic.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 100 };

int main(int argc, char** argv) {
    const uint64_t last = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
    const uint64_t step = last / kSteps + 1;
    elastic_handle* elastic = NULL;
    struct elastic_event event;
    uint64_t sum = 0, i = 1;

    const int code = elastic_open(&elastic, 0);
    printf("rigid_sum: %s, %d node(s)\n", code == 0 ? "elastic" : elastic_strerror(code),
           elastic ? elastic_nodes(elastic) : 1);
    while (i <= last) {
        const uint64_t end = last - i < step ? last + 1 : i + step;
        for (; i < end; ++i) sum += i;
        while (elastic && elastic_poll(elastic, 0, &event) == 1)
            if (event.type == ELASTIC_EVENT_OFFER_SHRINK ||
                event.type == ELASTIC_EVENT_OFFER_EXPAND)
                elastic_decline(elastic, event.op, "rigid");
    }
    elastic_close(elastic);
    const uint64_t expected = last % 2 == 0 ? last / 2 * (last + 1) : (last + 1) / 2 * last;
    printf("rigid_sum: %" PRIu64 " %s\n", sum, sum == expected ? "correct" : "WRONG");
    return sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
