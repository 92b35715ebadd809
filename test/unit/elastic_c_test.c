/* SPDX-License-Identifier: MIT
 * elastic.h is C, and a program linked with the library runs outside Slurm as if it were not. */
#include <libelastic/elastic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    ++failures;
}
#define CHECK(condition) check((condition), #condition)

int main(void) {
    elastic_handle* handle = NULL;
    struct elastic_event event;

    unsetenv("SLURM_JOB_ID");
    CHECK(elastic_open(NULL, 0) == ELASTIC_EINVAL);
    CHECK(elastic_open(&handle, 0x80) == ELASTIC_EINVAL && !handle);
    CHECK(elastic_open(&handle, 0) == ELASTIC_ENOTELASTIC && handle);
    CHECK(strcmp(elastic_detail(handle), "not inside a Slurm job") == 0);
    memset(&event, 0xff, sizeof event);
    CHECK(elastic_poll(handle, 0, &event) == 0);
    CHECK(event.type == ELASTIC_EVENT_NONE && event.node_list[0] == 0 && event.reason[0] == 0);
    CHECK(elastic_poll(handle, 0, NULL) == ELASTIC_EINVAL);
    CHECK(elastic_accept(handle, 1) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_accept_size(handle, 1, 1) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_decline(handle, 1, NULL) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_done(handle, 1) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_request(handle, 1, 1, 0) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_release(handle, 1, NULL) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_cancel(handle, 0) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_step(handle, 0, 0) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_progress(handle, 1) == ELASTIC_ENOTELASTIC);
    CHECK(elastic_nodes(handle) == 1 && elastic_min(handle) == 1 && elastic_max(handle) == 1);
    CHECK(elastic_sizes(handle)[0] == 0 && elastic_allows(handle, 5) == 1);
    CHECK(elastic_connected(handle) == 0 && elastic_malleable(handle) == 0);
    CHECK(elastic_fd(handle) >= 0);
    elastic_close(handle);

    setenv("SLURM_JOB_ID", "5", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-3]", 1);
    setenv("ELASTIC_CONTROLLER", "nonsense", 1);
    CHECK(elastic_open(&handle, 0) == ELASTIC_ENOTELASTIC && handle);
    CHECK(elastic_nodes(handle) == 3 && strcmp(elastic_nodelist(handle), "n[1-3]") == 0);
    elastic_close(handle);

    char** names = NULL;
    CHECK(elastic_node_names("n[08-10],login", &names) == 4 && names && !names[4]);
    CHECK(strcmp(names[0], "n08") == 0 && strcmp(names[2], "n10") == 0 &&
          strcmp(names[3], "login") == 0);
    free(names);
    CHECK(elastic_node_names("", &names) == 0 && names && !names[0]);
    free(names);
    CHECK(elastic_node_names("n[1-", &names) == ELASTIC_EINVAL && !names);
    CHECK(elastic_node_names(NULL, &names) == ELASTIC_EINVAL && !names);
    CHECK(elastic_node_names("n1", NULL) == ELASTIC_EINVAL);

    CHECK(elastic_poll(NULL, 0, &event) == ELASTIC_EINVAL);
    CHECK(elastic_nodes(NULL) == ELASTIC_EINVAL && elastic_fd(NULL) == ELASTIC_EINVAL);
    elastic_close(NULL);
    CHECK(elastic_strerror(ELASTIC_ESTATE)[0] != 0 && elastic_version()[0] != 0);
    return failures != 0;
}
