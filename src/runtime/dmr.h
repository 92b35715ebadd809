/* SPDX-License-Identifier: MIT
 *
 * dmr.h: programs written for DMR (https://gitlab.bsc.es/accelcom/releases/dmr; 3.x, and the
 * setters and policies of 2.x) compile unchanged and run under selastic-run(1), over
 * libelastic-mpi.  libelastic-mpi(3) says what is different.
 *
 * In short: the program saves its data when DMR_AUTO tells it to and ends; as many processes as
 * there shall be start anew and load it.  That is DMR's checkpoint mode (DMR_CHECKPOINT_RESTART).
 *
 * Collective: dmr_init(), dmr_check(), dmr_reconfigure(), dmr_finalize(), dmr_cancel_expansion(),
 * dmr_set_policy(), dmr_set_policy_*() and dmr_set_reconf_step_inhibitor(), over MPI_COMM_WORLD.
 * Of what the others set, process 0's counts.
 *
 * Units: nodes, processes.  A getter returns -1 before dmr_init(), a setter says
 * DMR_ERROR_UNINITIALIZED. */
#ifndef DMR_H
#define DMR_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DMR_API __attribute__((visibility("default")))
#else
#define DMR_API
#endif

#ifndef DMR_CHECKPOINT_RESTART
#define DMR_CHECKPOINT_RESTART 1
#endif

/* Defaults, which environment variables of the same names replace. */
#ifndef DMR_NODES_IN_EXPAND
#define DMR_NODES_IN_EXPAND 1
#endif
#ifndef DMR_NODES_IN_SHRINK
#define DMR_NODES_IN_SHRINK 1
#endif
#ifndef DMR_BLOCKING_REQ /* 1: dmr_check() returns when what it asks for is there, or refused */
#define DMR_BLOCKING_REQ 0
#endif
#ifndef DMR_DEFAULT_INHIBITOR
#define DMR_DEFAULT_INHIBITOR 0
#endif
#ifndef DMR_DEFAULT_POLICY_MIN
#define DMR_DEFAULT_POLICY_MIN 1
#endif
#ifndef DMR_DEFAULT_POLICY_MAX
#define DMR_DEFAULT_POLICY_MAX 1
#endif
#ifndef DMR_DEFAULT_POLICY_STRIDE
#define DMR_DEFAULT_POLICY_STRIDE 2
#endif
#ifndef DMR_DEFAULT_POLICY_PREF
#define DMR_DEFAULT_POLICY_PREF 1
#endif

typedef enum DMRStatusEnum {
    DMR_SUCCESS = 0,
    DMR_ERROR_STATUS,
    DMR_ERROR_UNINITIALIZED,
    DMR_ERROR_NOT_ROOT,
    DMR_ERROR_ARG_NULL,
    DMR_ERROR_BAD_ARGS,
    DMR_ERROR_UNSUPPORTED,
    DMR_ERROR_OUT_OF_MEM
} DMRStatus;

/* What dmr_check() is to aim for.  Whatever it is, the scheduler may resize a malleable job. */
typedef enum DMRSuggestionEnum {
    USE_POLICY,    /* what dmr_set_policy() has set */
    SHOULD_EXPAND, /* request dmr_get_nodes_next_expand() nodes, and wait for them beside the work
                    */
    SHOULD_SHRINK, /* release dmr_get_nodes_next_shrink() nodes */
    SHOULD_STAY,
    /* 2.x */
    ROUND_POLICY, /* as dmr_get_policy_round(), within dmr_set_policy_min_nodes() and max_nodes() */
    LIST_POLICY,  /* as dmr_get_policy_list() */
    CE_POLICY,    /* needs TALP, which is not here: SHOULD_STAY */
    SLURM4DMR_ROUND_POLICY, /* ROUND_POLICY */
    SLURM4DMR_CE_POLICY,    /* CE_POLICY */
    SLURM4DMR_QUEUE_POLICY  /* SHOULD_STAY: that is what the scheduler does with a malleable job */
} DMRSuggestion;

/* What the program is to do next; DMR_AUTO does it. */
typedef enum DMRActionEnum {
    DMR_NO_ACTION,
    DMR_RECONF,          /* call dmr_reconfigure() */
    DMR_RESTART_RECONF,  /* load the data, then call dmr_reconfigure() */
    DMR_REDIST_FINALIZE, /* save the data, then call dmr_finalize(), which ends the process */
    DMR_FINALIZE,        /* call dmr_finalize() */
    DMR_CLEANUP,         /* free what is left; the process goes on */
    DMR_ERROR            /* it has been said why on stderr */
} DMRAction;

/* Always MPI_COMM_NULL, and dmr_intercomm_available() is 0: processes that go and those that come
 * are of different srun steps, and Slurm connects no two of them (MPI_Comm_connect() is not
 * supported under srun, by Open MPI nor by MPICH). */
DMR_API extern MPI_Comm DMR_INTERCOMM;
DMR_API int dmr_intercomm_available(void);

/* After MPI_Init().  DMR_NO_ACTION in a program that begins, DMR_RESTART_RECONF in one that goes
 * on.  The arguments are not needed: srun has them. */
DMR_API DMRAction dmr_init(int argc, char* argv[]);

/* DMR_RECONF when the program is to be resized, for its own request or by the scheduler. */
DMR_API DMRAction dmr_check(DMRSuggestion suggestion);

/* After DMR_RECONF: DMR_REDIST_FINALIZE.  Otherwise DMR_NO_ACTION. */
DMR_API DMRAction dmr_reconfigure(void);

/* In a resize it does not return: the process ends, with MPI_Finalize(), when those that follow
 * have started; if they cannot, with MPI_Abort(), since the program has freed its data, and what it
 * saved is left.  Otherwise DMR_CLEANUP, before MPI_Finalize(). */
DMR_API DMRAction dmr_finalize(void);

DMR_API DMRAction dmr_get_last_action(void);

/* For the next resize only.  A program has as many processes on each node as it began with, so a
 * number of processes has to be a multiple of that (DMR_ERROR_BAD_ARGS), and other numbers for each
 * node are DMR_ERROR_UNSUPPORTED; so are jobs, since a job grows itself. */
DMR_API DMRStatus dmr_set_nodes_next_expand(int nodes);
DMR_API DMRStatus dmr_set_procs_next_expand(int procs);
DMR_API DMRStatus dmr_set_ppn_next_expand(int ppn);
DMR_API DMRStatus dmr_set_nodes_next_shrink(int nodes);
DMR_API DMRStatus dmr_set_procs_next_shrink(int procs);
DMR_API DMRStatus dmr_set_jobs_next_shrink(int jobs);

/* -1 in processes other than 0. */
DMR_API int dmr_get_nodes_next_expand(void);
DMR_API int dmr_get_procs_next_expand(void);
DMR_API int dmr_get_nodes_next_shrink(void);
DMR_API int dmr_get_procs_next_shrink(void);

DMR_API int dmr_get_current_node_count(void);
DMR_API int dmr_get_reconfig_count(void);    /* resizes since the program began */
DMR_API int dmr_get_active_expansions(void); /* expansions less shrinks, at least 0 */
DMR_API int dmr_pending_expansion(void);     /* 1 while a request for nodes waits */
DMR_API DMRStatus dmr_cancel_expansion(void);

/* Of `steps` + 1 calls of dmr_check() only one asks for anything. */
DMR_API DMRStatus dmr_set_reconf_step_inhibitor(int steps);

/* 2.x: of ROUND_POLICY. */
DMR_API DMRStatus dmr_set_policy_min_nodes(int nodes);
DMR_API DMRStatus dmr_set_policy_max_nodes(int nodes);
DMR_API DMRStatus dmr_set_policy_stride(int multiplier);
DMR_API DMRStatus dmr_set_policy_pref_nodes(int nodes);
DMR_API int dmr_get_policy_min_nodes(void);
DMR_API int dmr_get_policy_max_nodes(void);
DMR_API int dmr_get_policy_stride(void);
DMR_API int dmr_get_policy_pref_nodes(void);

/* 3.x: a policy is an object of the caller's, asked in all processes, which have to agree. */
typedef enum DMRPolicyOpEnum {
    DMR_POLICY_STAY = 0,
    DMR_POLICY_EXPAND,
    DMR_POLICY_SHRINK
} DMRPolicyOp;

typedef struct DMRPolicySuggestionStruct {
    DMRPolicyOp operation;
    int nodes;     /* more, or fewer; > 0 */
    int processes; /* ignored: see dmr_set_ppn_next_expand() */
} DMRPolicySuggestion;

typedef struct DMRPolicyContextStruct {
    int current_nodes;
    int reconfig_count;
    int nodes_in_expand; /* that a pending request is for */
    int nodes_in_shrink;
    int procs_in_expand;
    int procs_in_shrink;
    void* internal_dmr_state;        /* NULL */
    void* internal_controller_state; /* NULL */
} DMRPolicyContext;

typedef struct DMRPolicyStruct DMRPolicy;
typedef int (*DMRPolicyPopulateFn)(DMRPolicy* policy, DMRPolicyContext const* context);
typedef DMRPolicySuggestion (*DMRPolicyRunFn)(DMRPolicy* policy, DMRPolicyContext const* context);

/* save, load, destroy: never called, so their arguments are the program's own business. */
struct DMRPolicyStruct {
    char const* name;
    size_t state_size;
    void* state;
    DMRPolicyPopulateFn populate; /* may be NULL */
    DMRPolicyRunFn run;
    void (*save)(void);
    void (*load)(void);
    void (*destroy)(void);
};

/* NULL: none, so that USE_POLICY is SHOULD_STAY. */
DMR_API DMRStatus dmr_set_policy(DMRPolicy* policy);

DMR_API DMRPolicySuggestion dmr_policy_stay(void);
DMR_API DMRPolicySuggestion dmr_policy_expand_fixed(int nodes, int processes);
DMR_API DMRPolicySuggestion dmr_policy_shrink_fixed(int nodes, int processes);
DMR_API DMRPolicySuggestion dmr_policy_expand_to(int nodes, int processes,
                                                 DMRPolicyContext const* context);
DMR_API DMRPolicySuggestion dmr_policy_shrink_to(int nodes, int processes,
                                                 DMRPolicyContext const* context);

/* Does what a call says is to be done next, by these three expressions; (void)NULL for none. */
#define DMR_AUTO(call, save, load, clean)                           \
    {                                                               \
        DMRAction dmr_auto_ = (call);                               \
        if (dmr_auto_ == DMR_RECONF) dmr_auto_ = dmr_reconfigure(); \
        if (dmr_auto_ == DMR_RESTART_RECONF) {                      \
            load;                                                   \
            dmr_reconfigure();                                      \
        } else if (dmr_auto_ == DMR_REDIST_FINALIZE) {              \
            save;                                                   \
            clean;                                                  \
            dmr_finalize();                                         \
        } else if (dmr_auto_ == DMR_FINALIZE) {                     \
            clean;                                                  \
            dmr_finalize();                                         \
        } else if (dmr_auto_ == DMR_CLEANUP) {                      \
            clean;                                                  \
        }                                                           \
    }

#ifdef __cplusplus
}
#endif

#endif
