/* SPDX-License-Identifier: MIT
 *
 * libelastic: lets an application take part in the resizing of its Slurm job.
 *
 * In short: open a handle once, call elastic_poll() wherever the application could change its
 * size (its synchronisation points), answer what is offered.  libelastic(3) has an example.
 *
 * Outside an elastic job elastic_open() returns ELASTIC_ENOTELASTIC with a handle that every
 * other function takes and that does nothing, so one binary runs anywhere.
 *
 * The library starts no thread, prints nothing, installs no handler, raises no signal, and its
 * descriptors are closed on exec.  It connects again by itself when the controller goes away;
 * what was said meanwhile is kept and sent then.  All work is done inside elastic_poll(): an
 * application that does not call it answers nobody.
 *
 * Threads: a handle may be used by one thread at a time; several handles are independent.
 * After fork() the child must not use the parent's handle, exec is fine.
 *
 * Units: nodes are counted, times are in seconds unless a name ends in _ms.
 *
 * Ownership: every string handed out belongs to the handle and stays valid until the next
 * elastic_poll() or elastic_close() on it.  No string is NULL.
 *
 * Errors: functions returning int give 0 or more on success and a negative enum elastic_error
 * otherwise; elastic_detail() has a sentence for a human.  A NULL handle gives ELASTIC_EINVAL.
 */
#ifndef ELASTIC_H
#define ELASTIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ELASTIC_API __attribute__((visibility("default")))
#else
#define ELASTIC_API
#endif

typedef struct elastic_handle elastic_handle;

enum elastic_error {
    ELASTIC_OK = 0,
    ELASTIC_ENOTELASTIC = -1, /* not inside an elastic job, or not any more */
    ELASTIC_EINVAL = -2,      /* an argument is outside its range */
    ELASTIC_ESTATE = -3,      /* not now: no such operation in flight, or already answered */
    ELASTIC_ENOMEM = -4,      /* out of memory */
    ELASTIC_ESYSTEM = -5,     /* a system call failed, e.g. no descriptor left */
    ELASTIC_EINTERNAL = -6    /* a fault of the library */
};

enum elastic_kind { ELASTIC_SHRINK = 1, ELASTIC_EXPAND = 2 };

enum elastic_outcome {
    ELASTIC_DECLINED = 1,  /* the application declined */
    ELASTIC_EXPIRED = 2,   /* a deadline or the request's timeout passed */
    ELASTIC_CANCELLED = 3, /* withdrawn by one of the two sides */
    ELASTIC_DENIED = 4     /* the controller refused a request or release */
};

enum elastic_event_type {
    ELASTIC_EVENT_NONE = 0,

    /* The controller offers to shrink or expand the job: op, nodes, size (after it), deadline
     * and reason; node_list has the nodes to give up (for an expansion "", they are not chosen
     * yet).  Answer with elastic_accept(), elastic_accept_size() or elastic_decline() before the
     * deadline. */
    ELASTIC_EVENT_OFFER_SHRINK = 1,
    ELASTIC_EVENT_OFFER_EXPAND = 2,

    /* The controller counts on it: op, kind, nodes, size, node_list, deadline.  For a shrink:
     * move everything off node_list, then call elastic_done() before the deadline. */
    ELASTIC_EVENT_ACCEPTED = 3,

    /* The job's allocation has changed: kind, nodes and node_list say what came or went,
     * size what there is; elastic_nodelist() has all of them.  After an expansion with op > 0
     * start to use the nodes and call elastic_done().  op is 0 when nobody agreed to it, such
     * as after a node failure, or when it happened while the controller was out of reach. */
    ELASTIC_EVENT_RESIZED = 4,

    /* A request or release is known to the controller as op.  With a reason: the request is of as
     * many nodes as before, since elastic_accept_size() was refused. */
    ELASTIC_EVENT_QUEUED = 5,

    /* op is over without effect: outcome and reason.  op is 0 for a request or release that
     * never got so far as to have one. */
    ELASTIC_EVENT_ENDED = 6,

    /* The controller wants no more of this job (reason); the handle does nothing from here. */
    ELASTIC_EVENT_CLOSED = 7,

    /* A step of the job's evolution profile has begun: size is how many nodes it has; if the job
     * has fewer, it waits for the rest, and ELASTIC_EVENT_RESIZED tells when they are there; if it
     * has more, ELASTIC_EVENT_OFFER_SHRINK asks for them.  nodes: of the step after it, 0 if there
     * is none, and deadline: when that is to begin. */
    ELASTIC_EVENT_STEP = 8,

    /* elastic_step() was heard; the same fields say what is planned now.  If it was refused,
     * ELASTIC_EVENT_ENDED comes in its place, with op 0 and kind 0. */
    ELASTIC_EVENT_PLANNED = 9
};

/* Fields that a type does not name are 0 or "".  A caller must ignore types it does not know. */
struct elastic_event {
    int type;              /* enum elastic_event_type */
    int kind;              /* enum elastic_kind, 0 for none */
    int outcome;           /* enum elastic_outcome, 0 for none */
    int nodes;             /* how many come or go */
    int size;              /* the job's nodes afterwards */
    int reserved;          /* 0 */
    int64_t op;            /* the operation, > 0; 0 for none.  Never repeats. */
    double deadline;       /* seconds from when the message arrived */
    const char* node_list; /* the nodes that come or go, in Slurm's notation: n[1-4,7] */
    const char* reason;    /* one line for a human */
    void* reserved_pointers[4];
};

enum elastic_open_flags {
    /* Return without waiting for the controller.  Until it has answered, the size is what the
     * environment says and elastic_connected() is 0. */
    ELASTIC_OPEN_NOWAIT = 1
};

/* Opens a handle for the job in whose environment the process runs.
 *
 * flags: 0 or of enum elastic_open_flags.  Waits for the controller's answer, at most about five
 * seconds; if it is out of reach by then, the handle is opened all the same and connects later.
 *
 * ELASTIC_OK; ELASTIC_ENOTELASTIC with a handle that does nothing (not in a job, no controller
 * configured, or the controller says that the job is not elastic); otherwise *handle is NULL:
 * ELASTIC_EINVAL, ELASTIC_ENOMEM, ELASTIC_ESYSTEM, ELASTIC_EINTERNAL. */
ELASTIC_API int elastic_open(elastic_handle** handle, unsigned flags);

/* Sends what is left to send (at most a second) and frees the handle.  NULL is allowed. */
ELASTIC_API void elastic_close(elastic_handle* handle);

/* Does the library's work and gives the next event, waiting for it up to timeout_ms
 * milliseconds; 0: do not wait, < 0: as long as it takes.
 *
 * While no controller answers it now and then reads slurm.conf and looks host names up, at most
 * once a minute after a while, and takes as long as that takes, whatever the timeout.
 *
 * 1 and *event filled; 0 and ELASTIC_EVENT_NONE when there was none in time or a signal came;
 * ELASTIC_ENOTELASTIC when there never will be one and timeout_ms < 0 (with another timeout:
 * 0 after that time). */
ELASTIC_API int elastic_poll(elastic_handle* handle, int timeout_ms, struct elastic_event* event);

/* A descriptor for poll(2), select(2) or an event loop: readable when elastic_poll() has
 * something to do, which need not be an event.  The same for the handle's whole life.  The
 * caller must neither read from nor close it. */
ELASTIC_API int elastic_fd(const elastic_handle* handle);

/* Answers.  op must be the operation in flight, in the state described, else ELASTIC_ESTATE;
 * it may be over already when its event comes (an ELASTIC_EVENT_ENDED follows in that case).
 *
 * accept, decline: an offer not yet answered.  reason: one line, may be NULL.
 * accept_size: only `count` of the nodes that an expansion offers, at least one, such that the job
 * then has a size that it may have; the others are free for other jobs at once, and are not offered
 * again for a while.  If the controller refuses the size, the offer's event comes again, with the
 * reason in place of its own.  op may also be a request that waits: it is content with `count`
 * nodes from then on (ELASTIC_EVENT_QUEUED with a reason: the size was refused).  A shrink is
 * accepted as a whole.  ELASTIC_EINVAL for fewer nodes than one or more than there are.
 * done: of an accepted shrink, nothing of the application runs on the nodes any more; of an
 * expansion after ELASTIC_EVENT_RESIZED, the nodes are in use. */
ELASTIC_API int elastic_accept(elastic_handle* handle, int64_t op);
ELASTIC_API int elastic_accept_size(elastic_handle* handle, int64_t op, int count);
ELASTIC_API int elastic_decline(elastic_handle* handle, int64_t op, const char* reason);
ELASTIC_API int elastic_done(elastic_handle* handle, int64_t op);

/* Asks for `nodes` more, content with `least` of them (1 <= least <= nodes), and waits for them
 * up to `timeout` seconds; 0: now or never.  Returns at once.  ELASTIC_EVENT_QUEUED may follow,
 * then ELASTIC_EVENT_RESIZED (granted; elastic_done() ends it) or ELASTIC_EVENT_ENDED.
 * One request at a time: ELASTIC_ESTATE otherwise. */
ELASTIC_API int elastic_request(elastic_handle* handle, int nodes, int least, double timeout);

/* Gives nodes back that the application has emptied: those of node_list, or, if that is NULL,
 * the last `nodes` of elastic_nodelist(), elastic_batch_host() excepted.  `nodes` is ignored
 * when there is a list.  ELASTIC_EVENT_RESIZED or ELASTIC_EVENT_ENDED follows.
 * One release at a time: ELASTIC_ESTATE otherwise.  ELASTIC_EINVAL for nodes that are not in
 * elastic_nodelist(), and for all of them.  If one of them has left the job since, all of it is
 * denied. */
ELASTIC_API int elastic_release(elastic_handle* handle, int nodes, const char* node_list);

/* Withdraws a request, or an offer or expansion that is not applied yet.  op 0: the request.
 * ELASTIC_EVENT_ENDED follows, or ELASTIC_EVENT_RESIZED if it was too late. */
ELASTIC_API int elastic_cancel(elastic_handle* handle, int64_t op);

/* Corrects the job's evolution profile (elastic(7)): its next step begins in `in` seconds, 0: now,
 * and has `nodes` nodes, 0: as many as the profile says.  While a step waits for its nodes it is
 * that step's number which changes.  A job of the class evolving that has no profile may use it as
 * well: what it says of its next step is planned with.  ELASTIC_EVENT_PLANNED or
 * ELASTIC_EVENT_ENDED follows.  One correction at a time: ELASTIC_ESTATE otherwise. */
ELASTIC_API int elastic_step(elastic_handle* handle, int nodes, double in);

/* Tells the scheduler how long the job will go on at its present size, in seconds, which is
 * better than its time limit.  May be called often; the newest value is sent now and then. */
ELASTIC_API int elastic_progress(elastic_handle* handle, double remaining);

/* The state as of the last event given out.  Without an elastic job: what the environment says
 * of the job, or 1 and "" outside any. */
ELASTIC_API int elastic_nodes(const elastic_handle* handle);
ELASTIC_API const char* elastic_nodelist(const elastic_handle* handle);

/* The node that is never given up; "" while unknown. */
ELASTIC_API const char* elastic_batch_host(const elastic_handle* handle);

/* The job's range; elastic_nodes() while unknown. */
ELASTIC_API int elastic_min(const elastic_handle* handle);
ELASTIC_API int elastic_max(const elastic_handle* handle);

/* Its sizes in that range as elastic(7) has them, "any", "pow2", "step:2", "2:4:8"; "" while
 * unknown.  allows: 1 or 0, may the job have so many nodes; 1 for what is unknown. */
ELASTIC_API const char* elastic_sizes(const elastic_handle* handle);
ELASTIC_API int elastic_allows(const elastic_handle* handle, int nodes);

/* 1 or 0: may the scheduler resize it, may it ask, is the controller connected now. */
ELASTIC_API int elastic_malleable(const elastic_handle* handle);
ELASTIC_API int elastic_evolving(const elastic_handle* handle);
ELASTIC_API int elastic_connected(const elastic_handle* handle);

/* The names in a node list of Slurm's notation, such as n[1-3], in its order; no handle needed.
 * *names is an array that ends with NULL, to be freed by one free(3).  How many there are, 0 for
 * ""; ELASTIC_EINVAL, and *names NULL, for what is no node list; ELASTIC_ENOMEM likewise. */
ELASTIC_API int elastic_node_names(const char* node_list, char*** names);

/* Why the last call failed, or why the connection was lost; "" if nothing went wrong. */
ELASTIC_API const char* elastic_detail(const elastic_handle* handle);

/* A sentence for a code; static. */
ELASTIC_API const char* elastic_strerror(int code);

/* The library's version, "0.1.0"; static. */
ELASTIC_API const char* elastic_version(void);

#ifdef __cplusplus
}
#endif

#endif
