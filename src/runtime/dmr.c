/* SPDX-License-Identifier: MIT
 * DMR's interface over that of libelastic-mpi: dmr_check() is elastic_mpi_due() and
 * elastic_mpi_request(), and dmr_finalize() is the elastic_mpi_sync() for which the program has
 * prepared by saving its data.  Nothing of these is in arrays or objects, only the number of
 * resizes is handed on.
 *
 * Always holds: all processes take the same decisions; whether nodes are asked for does not depend
 * on what process 0 alone has set, only how many are. */
#include "runtime/dmr.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/dmr_test_policies.h"
#include "runtime/elastic_mpi.h"

MPI_Comm DMR_INTERCOMM = MPI_COMM_NULL;

static struct {
    elastic_mpi* elastic; /* NULL: before dmr_init(), after dmr_finalize() */
    int rank, nodes, per_node;
    int expand_by, shrink_by; /* the next time */
    int expanding;            /* what is requested is an expansion of so many nodes */
    int asked;                /* and not said yet what came of it */
    int blocking;
    int inhibitor, inhibited;
    DMRPolicy* policy;
    DMRAction last;
} dmr;

/* What is handed on from world to world. */
static struct {
    int64_t resizes, expansions, nodes; /* resizes -1: not known yet */
} past = {.resizes = -1};

/* Of the policies, which may be set before dmr_init(); 0: by the environment. */
static struct { int min, max, stride, pref; } bounds;

static int setting(const char* name, int otherwise, int least) {
    const char* text = getenv(name);
    char* end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || value < least || value > 1000000) return otherwise;
    return (int)value;
}

#define SETTING(name, least) setting(#name, name, least)

static DMRAction next_is(DMRAction action) {
    dmr.last = action;
    return action;
}

/* Once, since programs try again and again. */
static void say(const char* what) {
    static char said[200];
    if (dmr.rank != 0 || strncmp(said, what, sizeof said - 1) == 0) return;
    snprintf(said, sizeof said, "%s", what);
    fprintf(stderr, "dmr: %s\n", said);
}

static DMRAction fail(const char* what) {
    say(what);
    return next_is(DMR_ERROR);
}

DMRAction dmr_init(int argc, char* argv[]) {
    int ranks = 1;
    (void)argc, (void)argv;
    if (dmr.elastic) return fail("dmr_init() was called before");
    MPI_Comm_rank(MPI_COMM_WORLD, &dmr.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    dmr.nodes = setting("SLURM_STEP_NUM_NODES", 1, 1);
    dmr.per_node = ranks / dmr.nodes;
    dmr.expand_by = SETTING(DMR_NODES_IN_EXPAND, 1);
    dmr.shrink_by = SETTING(DMR_NODES_IN_SHRINK, 1);
    dmr.inhibitor = SETTING(DMR_DEFAULT_INHIBITOR, 0);
    dmr.blocking = SETTING(DMR_BLOCKING_REQ, 0);
    if (elastic_mpi_open(&dmr.elastic, MPI_COMM_WORLD, 0) != ELASTIC_MPI_OK)
        return fail(elastic_mpi_detail(NULL));
    if (elastic_mpi_value(dmr.elastic, "dmr", &past, sizeof past) != ELASTIC_MPI_OK)
        return fail(elastic_mpi_detail(dmr.elastic));
    const int reborn = elastic_mpi_reborn(dmr.elastic);
    past.expansions += !reborn || past.nodes == dmr.nodes ? 0 : past.nodes < dmr.nodes ? 1 : -1;
    if (past.expansions < 0) past.expansions = 0;
    past.resizes += 1; /* to 0 in a program that begins */
    past.nodes = dmr.nodes;
    return next_is(reborn ? DMR_RESTART_RECONF : DMR_NO_ACTION);
}

static int is_pending(void) {
    return dmr.elastic && elastic_mpi_requested(dmr.elastic);
}

static int by_policy(void) {
    if (!dmr.policy || !dmr.policy->run) return 0;
    const int more = is_pending() ? dmr.expanding : 0;
    const DMRPolicyContext context = {
        .current_nodes = dmr.nodes,
        .reconfig_count = (int)past.resizes,
        .nodes_in_expand = more,
        .procs_in_expand = more * dmr.per_node,
    };
    if (dmr.policy->populate && dmr.policy->populate(dmr.policy, &context) < 0)
        fprintf(stderr, "dmr: the policy %s cannot be populated\n",
                dmr.policy->name ? dmr.policy->name : "");
    const DMRPolicySuggestion suggestion = dmr.policy->run(dmr.policy, &context);
    if (suggestion.nodes <= 0 || suggestion.operation == DMR_POLICY_STAY) return 0;
    return suggestion.operation == DMR_POLICY_EXPAND ? suggestion.nodes : -suggestion.nodes;
}

static int by_round(void) {
    const int next = dmr.nodes * dmr_get_policy_stride();
    return (next > dmr_get_policy_max_nodes() ? dmr_get_policy_min_nodes() : next) - dmr.nodes;
}

static int by_list(void) {
    static const int list[] = {2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1};
    return list[(uint64_t)past.resizes % (sizeof list / sizeof *list)] - dmr.nodes;
}

/* How many nodes more, or fewer. */
static int wanted(DMRSuggestion suggestion) {
    switch (suggestion) {
        case USE_POLICY:
            return by_policy();
        case SHOULD_EXPAND:
            return dmr.expand_by;
        case SHOULD_SHRINK:
            return -dmr.shrink_by;
        case ROUND_POLICY:
        case SLURM4DMR_ROUND_POLICY:
            return by_round();
        case LIST_POLICY:
            return by_list();
        default:
            return 0;
    }
}

/* Why nothing came of a request. */
static void say_why(void) {
    if (!dmr.asked || is_pending()) return;
    dmr.asked = 0;
    say(elastic_mpi_detail(dmr.elastic));
}

static DMRAction look(void) {
    const int due = elastic_mpi_due(dmr.elastic);
    if (due < 0) return fail(elastic_mpi_detail(dmr.elastic));
    if (!due) say_why();
    return next_is(due ? DMR_RECONF : DMR_NO_ACTION);
}

static void ask(int change) {
    if (change <= -dmr.nodes) change = 1 - dmr.nodes; /* one node stays */
    if (change == 0) return;
    dmr.asked = 1;
    dmr.expanding = change > 0 ? change : 0;
    if (elastic_mpi_request(dmr.elastic, change) != ELASTIC_MPI_OK) say_why();
}

DMRAction dmr_check(DMRSuggestion suggestion) {
    if (!dmr.elastic) return fail("dmr_check() before dmr_init()");
    if (look() != DMR_NO_ACTION) return dmr.last;
    const int inhibited = dmr.inhibited++ % (dmr.inhibitor + 1) != dmr.inhibitor;
    if (!inhibited && !is_pending()) ask(wanted(suggestion));
    while (dmr.blocking && is_pending() && look() == DMR_NO_ACTION) usleep(1000);
    return dmr.last;
}

DMRAction dmr_reconfigure(void) {
    return next_is(dmr.last == DMR_RECONF ? DMR_REDIST_FINALIZE : DMR_NO_ACTION);
}

DMRAction dmr_finalize(void) {
    if (!dmr.elastic) return fail("dmr_finalize() before dmr_init()");
    if (dmr.last == DMR_REDIST_FINALIZE) {
        elastic_mpi_sync(dmr.elastic);
        if (dmr.rank == 0)
            fprintf(stderr, "dmr: nothing took over from the program, whose data are saved: %s\n",
                    elastic_mpi_detail(dmr.elastic));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        _exit(EXIT_FAILURE); /* MPICH 4.2 comes back and leaves the end to Slurm */
    }
    elastic_mpi_close(dmr.elastic);
    dmr.elastic = NULL;
    return next_is(DMR_CLEANUP);
}

DMRAction dmr_get_last_action(void) {
    return dmr.last;
}

int dmr_intercomm_available(void) {
    return 0;
}

/* Whether process 0 may set something to this. */
static DMRStatus check_number(int number, int is_right, DMRStatus otherwise) {
    if (!dmr.elastic) return DMR_ERROR_UNINITIALIZED;
    if (dmr.rank != 0) return DMR_ERROR_NOT_ROOT;
    if (number < 1) return DMR_ERROR_BAD_ARGS;
    return is_right ? DMR_SUCCESS : otherwise;
}

static DMRStatus set_nodes(int* target, int nodes) {
    const DMRStatus status = check_number(nodes, 1, DMR_SUCCESS);
    if (status == DMR_SUCCESS) *target = nodes;
    return status;
}

static DMRStatus set_processes(int* target, int processes) {
    const int each = dmr.per_node > 0 ? dmr.per_node : 1;
    const DMRStatus status = check_number(processes, processes % each == 0, DMR_ERROR_BAD_ARGS);
    if (status == DMR_SUCCESS) *target = processes / each;
    return status;
}

DMRStatus dmr_set_nodes_next_expand(int nodes) {
    return set_nodes(&dmr.expand_by, nodes);
}

DMRStatus dmr_set_procs_next_expand(int procs) {
    return set_processes(&dmr.expand_by, procs);
}

DMRStatus dmr_set_ppn_next_expand(int ppn) {
    return check_number(ppn, ppn == dmr.per_node, DMR_ERROR_UNSUPPORTED);
}

DMRStatus dmr_set_nodes_next_shrink(int nodes) {
    return set_nodes(&dmr.shrink_by, nodes);
}

DMRStatus dmr_set_procs_next_shrink(int procs) {
    return set_processes(&dmr.shrink_by, procs);
}

DMRStatus dmr_set_jobs_next_shrink(int jobs) {
    return check_number(jobs, 0, DMR_ERROR_UNSUPPORTED);
}

static int of_root(int number) {
    return dmr.elastic && dmr.rank == 0 ? number : -1;
}

int dmr_get_nodes_next_expand(void) {
    return of_root(dmr.expand_by);
}

int dmr_get_procs_next_expand(void) {
    return of_root(dmr.expand_by * dmr.per_node);
}

int dmr_get_nodes_next_shrink(void) {
    return of_root(dmr.shrink_by < dmr.nodes ? dmr.shrink_by : dmr.nodes - 1);
}

int dmr_get_procs_next_shrink(void) {
    return of_root(dmr_get_nodes_next_shrink() * dmr.per_node);
}

int dmr_get_current_node_count(void) {
    return dmr.elastic ? dmr.nodes : -1;
}

int dmr_get_reconfig_count(void) {
    return (int)past.resizes;
}

int dmr_get_active_expansions(void) {
    return (int)past.expansions;
}

int dmr_pending_expansion(void) {
    return is_pending() && dmr.expanding > 0;
}

DMRStatus dmr_cancel_expansion(void) {
    if (!dmr.elastic) return DMR_ERROR_UNINITIALIZED;
    if (!dmr_pending_expansion()) return DMR_ERROR_STATUS;
    return elastic_mpi_request(dmr.elastic, 0) == ELASTIC_MPI_OK ? DMR_SUCCESS : DMR_ERROR_STATUS;
}

DMRStatus dmr_set_reconf_step_inhibitor(int steps) {
    if (!dmr.elastic) return DMR_ERROR_UNINITIALIZED;
    if (steps < 0 || steps == INT32_MAX) return DMR_ERROR_BAD_ARGS;
    dmr.inhibitor = steps;
    return DMR_SUCCESS;
}

static DMRStatus set_bound(int* bound, int number) {
    if (number < 1) return DMR_ERROR_BAD_ARGS;
    *bound = number;
    return DMR_SUCCESS;
}

DMRStatus dmr_set_policy_min_nodes(int nodes) {
    return set_bound(&bounds.min, nodes);
}

DMRStatus dmr_set_policy_max_nodes(int nodes) {
    return set_bound(&bounds.max, nodes);
}

DMRStatus dmr_set_policy_stride(int multiplier) {
    return set_bound(&bounds.stride, multiplier);
}

DMRStatus dmr_set_policy_pref_nodes(int nodes) {
    return set_bound(&bounds.pref, nodes);
}

int dmr_get_policy_min_nodes(void) {
    return bounds.min ? bounds.min : SETTING(DMR_DEFAULT_POLICY_MIN, 1);
}

int dmr_get_policy_max_nodes(void) {
    return bounds.max ? bounds.max : SETTING(DMR_DEFAULT_POLICY_MAX, 1);
}

int dmr_get_policy_stride(void) {
    return bounds.stride ? bounds.stride : SETTING(DMR_DEFAULT_POLICY_STRIDE, 1);
}

int dmr_get_policy_pref_nodes(void) {
    return bounds.pref ? bounds.pref : SETTING(DMR_DEFAULT_POLICY_PREF, 1);
}

DMRStatus dmr_set_policy(DMRPolicy* policy) {
    if (!dmr.elastic) return DMR_ERROR_UNINITIALIZED;
    if (policy && !policy->run) return DMR_ERROR_BAD_ARGS;
    dmr.policy = policy;
    return DMR_SUCCESS;
}

DMRPolicySuggestion dmr_policy_stay(void) {
    return (DMRPolicySuggestion){DMR_POLICY_STAY, 0, 0};
}

DMRPolicySuggestion dmr_policy_expand_fixed(int nodes, int processes) {
    if (nodes < 1) return dmr_policy_stay();
    return (DMRPolicySuggestion){DMR_POLICY_EXPAND, nodes, processes};
}

DMRPolicySuggestion dmr_policy_shrink_fixed(int nodes, int processes) {
    if (nodes < 1) return dmr_policy_stay();
    return (DMRPolicySuggestion){DMR_POLICY_SHRINK, nodes, processes};
}

DMRPolicySuggestion dmr_policy_expand_to(int nodes, int processes,
                                         DMRPolicyContext const* context) {
    if (!context) return dmr_policy_stay();
    return dmr_policy_expand_fixed(nodes - context->current_nodes, processes);
}

DMRPolicySuggestion dmr_policy_shrink_to(int nodes, int processes,
                                         DMRPolicyContext const* context) {
    if (!context) return dmr_policy_stay();
    return dmr_policy_shrink_fixed(context->current_nodes - nodes, processes);
}

static DMRPolicySuggestion suggest(int change) {
    return change > 0 ? dmr_policy_expand_fixed(change, 0) : dmr_policy_shrink_fixed(-change, 0);
}

static DMRPolicySuggestion run_round(DMRPolicy* policy, DMRPolicyContext const* context) {
    (void)policy, (void)context;
    return suggest(by_round());
}

static DMRPolicySuggestion run_list(DMRPolicy* policy, DMRPolicyContext const* context) {
    (void)policy, (void)context;
    return suggest(by_list());
}

DMRPolicy* dmr_get_policy_round(void) {
    static DMRPolicy policy = {.name = "round", .run = run_round};
    bounds.min = bounds.max = bounds.stride = 0;
    return &policy;
}

DMRPolicy* dmr_get_policy_list(void) {
    static DMRPolicy policy = {.name = "list", .run = run_list};
    return &policy;
}
