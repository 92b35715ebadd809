/* SPDX-License-Identifier: MIT
 *
 * A program that knows PMIx and nothing of ours.  Its first process asks as its arguments say, one
 * after the other: "extend 2", "release 1", "reacquire 0", "list n3"; with "fence" all processes
 * wait for each other.  It prints what it is told, a line each.
 */
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DVM_IS_READY (-195) /* PMIX_DVM_IS_READY of later releases */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int answers, events;

static void print_infos(const char* what, const char* status, const pmix_info_t* info,
                        size_t count) {
    printf("%s %s", what, status);
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_ALLOC_NODE_LIST))
            printf(" list=%s", info[i].value.data.string);
        if (PMIX_CHECK_KEY(&info[i], PMIX_ALLOC_ID)) printf(" job=%s", info[i].value.data.string);
        if (PMIX_CHECK_KEY(&info[i], PMIX_ALLOC_REQ_ID))
            printf(" id=%s", info[i].value.data.string);
        if (PMIX_CHECK_KEY(&info[i], PMIX_ALLOC_NUM_NODES))
            printf(" nodes=%lu", (unsigned long)info[i].value.data.uint64);
    }
    printf("\n");
    fflush(stdout);
}

static void count_one(int* what) {
    pthread_mutex_lock(&lock);
    ++*what;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(int* what, int wanted) {
    pthread_mutex_lock(&lock);
    while (*what < wanted) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void answered(pmix_status_t status, pmix_info_t* info, size_t count, void* data,
                     pmix_release_cbfunc_t release, void* release_data) {
    print_infos("answer", PMIx_Error_string(status), info, count);
    if (release) release(release_data);
    /* Of a request that has changed nothing there is no event. */
    if (status != PMIX_SUCCESS) count_one(&events);
    count_one(&answers);
    (void)data;
}

static void told(size_t handler, pmix_status_t status, const pmix_proc_t* source,
                 pmix_info_t info[], size_t count, pmix_info_t* results, size_t result_count,
                 pmix_event_notification_cbfunc_fn_t done, void* data) {
    print_infos("event", status == DVM_IS_READY ? "resized" : PMIx_Error_string(status), info,
                count);
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
    count_one(&events);
    (void)handler, (void)source, (void)results, (void)result_count;
}

static void ask(const char* how, const char* text, int number) {
    pmix_alloc_directive_t directive = PMIX_ALLOC_EXTEND;
    if (!strcmp(how, "release") || !strcmp(how, "list")) directive = PMIX_ALLOC_RELEASE;
    if (!strcmp(how, "reacquire")) directive = PMIX_ALLOC_REAQUIRE;
    if (!strcmp(how, "new")) directive = PMIX_ALLOC_NEW;
    pmix_info_t info[3];
    size_t count = 0;
    uint64_t nodes = strtoull(text, NULL, 10);
    int seconds = 20;
    PMIX_INFO_LOAD(&info[count++], PMIX_ALLOC_REQ_ID, how, PMIX_STRING);
    if (!strcmp(how, "list"))
        PMIX_INFO_LOAD(&info[count++], PMIX_ALLOC_NODE_LIST, text, PMIX_STRING);
    else if (nodes > 0)
        PMIX_INFO_LOAD(&info[count++], PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    if (directive == PMIX_ALLOC_EXTEND)
        PMIX_INFO_LOAD(&info[count++], PMIX_TIMEOUT, &seconds, PMIX_INT);
    const pmix_status_t status = PMIx_Allocation_request_nb(directive, info, count, answered, NULL);
    if (status != PMIX_SUCCESS) {
        printf("ask %s\n", PMIx_Error_string(status));
        exit(1);
    }
    wait_for(&answers, number);
    wait_for(&events, number);
}

int main(int argc, char** argv) {
    pmix_proc_t self;
    pmix_status_t status = PMIx_Init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        printf("init %s\n", PMIx_Error_string(status));
        return 1;
    }
    pmix_status_t code = DVM_IS_READY;
    status = PMIx_Register_event_handler(&code, 1, NULL, 0, told, NULL, NULL);
    if (status < 0) printf("register %s\n", PMIx_Error_string(status));
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* size = NULL;
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS) {
        printf("rank %u of %u\n", self.rank, size->data.uint32);
        fflush(stdout);
        PMIX_VALUE_RELEASE(size);
    }
    if ((status = PMIx_Fence(&all, 1, NULL, 0)) != PMIX_SUCCESS)
        printf("fence %s\n", PMIx_Error_string(status));
    if (self.rank == 0) {
        for (int i = 1, number = 1; i + 1 < argc; i += 2, ++number)
            ask(argv[i], argv[i + 1], number);
        printf("end\n");
    }
    PMIx_Fence(&all, 1, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
