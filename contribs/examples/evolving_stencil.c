/* SPDX-License-Identifier: MIT
 * An evolving job: phase by phase it integrates a peak on [0, 1] by adaptive subdivision.  The
 * peak gets narrower and then wider again, and the intervals it takes more and fewer.  The
 * program asks for nodes when the work has grown, gives them back when it has shrunk, and checks
 * every phase against the closed form.
 *
 * A phase is shared out among one process a node, by one srun inside Slurm, and is done by the
 * program itself elsewhere.
 *
 *     evolving_stencil [PHASES]             the job's program
 *     evolving_stencil --worker WIDTH       one share, by SLURM_PROCID and SLURM_NTASKS */
#include <elastic.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kIntervalsPerNode = 1000, kMaxDepth = 50, kRequestSeconds = 20 };

static volatile sig_atomic_t stopped;
static void stop(int number) {
    (void)number;
    stopped = 1;
}

/* ---- the work */

/* A peak at 1/2 of the given width: its integral over [a, b] is a difference of arctangents. */
static double peak(double x, double width) {
    const double t = (x - 0.5) / width;
    return 1 / (width * (1 + t * t));
}
static double exact(double a, double b, double width) {
    return atan((b - 0.5) / width) - atan((a - 0.5) / width);
}

static double integrate(double a, double b, double width, double tolerance, int depth,
                        long* count) {
    const double m = (a + b) / 2, h = b - a;
    const double fa = peak(a, width), fm = peak(m, width), fb = peak(b, width);
    const double coarse = h / 6 * (fa + 4 * fm + fb);
    const double fine =
        h / 12 * (fa + 4 * peak((a + m) / 2, width) + 2 * fm + 4 * peak((m + b) / 2, width) + fb);
    if (depth >= kMaxDepth || (depth > 4 && fabs(fine - coarse) <= 15 * tolerance)) {
        ++*count;
        return fine;
    }
    return integrate(a, m, width, tolerance / 2, depth + 1, count) +
           integrate(m, b, width, tolerance / 2, depth + 1, count);
}

static double tolerance_of(double share) {
    return 1e-12 * share;
}

static double share_of(int rank, int ranks, double width, long* count) {
    const double a = (double)rank / ranks, b = (double)(rank + 1) / ranks;
    return integrate(a, b, width, tolerance_of(b - a), 0, count);
}

static int variable(const char* name, int fallback) {
    const char* value = getenv(name);
    return value ? atoi(value) : fallback;
}

static int worker(double width) {
    long count = 0;
    const double value =
        share_of(variable("SLURM_PROCID", 0), variable("SLURM_NTASKS", 1), width, &count);
    printf("%.17g %ld\n", value, count);
    return EXIT_SUCCESS;
}

/* ---- the phases */

/* The batch script's variables tell the size that the job began with; srun would believe them. */
static void forget_old_size(void) {
    static const char* const stale[] = {
        "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES",     "SLURM_NNODES",
        "SLURM_NTASKS",       "SLURM_NPROCS",   "SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof stale / sizeof *stale; ++i) unsetenv(stale[i]);
}

/* 0, or -1 when a share is missing, as when srun was killed. */
static int run_phase(const char* self, int nodes, double width, double* sum, long* count) {
    char command[4400];
    double value;
    long more;
    int shares = 0;

    *sum = 0;
    *count = 0;
    if (!getenv("SLURM_JOB_ID")) {
        *sum = share_of(0, 1, width, count);
        return 0;
    }
    snprintf(command, sizeof command,
             "exec srun -Q -N%d -n%d --ntasks-per-node=1 '%s' --worker %.17g", nodes, nodes, self,
             width);
    FILE* shares_of = popen(command, "r");
    if (!shares_of) return -1;
    while (fscanf(shares_of, "%lf %ld", &value, &more) == 2) {
        *sum += value;
        *count += more;
        ++shares;
    }
    return pclose(shares_of) == 0 && shares == nodes ? 0 : -1;
}

/* Between phases nothing runs on any node: whatever is offered can be taken at once. */
static void answer(elastic_handle* elastic, const struct elastic_event* event) {
    switch (event->type) {
        case ELASTIC_EVENT_OFFER_SHRINK:
        case ELASTIC_EVENT_OFFER_EXPAND:
            elastic_accept(elastic, event->op);
            break;
        case ELASTIC_EVENT_ACCEPTED:
            if (event->kind == ELASTIC_SHRINK) elastic_done(elastic, event->op);
            break;
        case ELASTIC_EVENT_RESIZED:
            printf("evolving_stencil: %d nodes now\n", event->size);
            if (event->kind == ELASTIC_EXPAND && event->op > 0) elastic_done(elastic, event->op);
            break;
        default:
            break;
    }
}

static void serve(elastic_handle* elastic) {
    struct elastic_event event;
    while (elastic_poll(elastic, 0, &event) == 1) answer(elastic, &event);
}

/* Asks or gives back, and waits for what comes of it. */
static void fit(elastic_handle* elastic, long count) {
    struct elastic_event event;
    const int nodes = elastic_nodes(elastic);
    int want = (int)((count + kIntervalsPerNode - 1) / kIntervalsPerNode);
    if (want < elastic_min(elastic)) want = elastic_min(elastic);
    if (want > elastic_max(elastic)) want = elastic_max(elastic);
    if (want == nodes) return;
    const int code = want > nodes ? elastic_request(elastic, want - nodes, 1, kRequestSeconds)
                                  : elastic_release(elastic, nodes - want, NULL);
    printf("evolving_stencil: %ld intervals, %d nodes wanted: %s\n", count, want,
           elastic_strerror(code));
    /* The controller may be away: not for longer than twice the request's own timeout. */
    for (int i = 0; code == 0 && !stopped && i < 2 * kRequestSeconds;) {
        const int got = elastic_poll(elastic, 1000, &event);
        if (got < 0) return;
        if (got == 0) ++i;
        if (got == 1) answer(elastic, &event);
        if (got == 1 && (event.type == ELASTIC_EVENT_RESIZED || event.type == ELASTIC_EVENT_ENDED))
            return;
    }
}

int main(int argc, char** argv) {
    char self[4096];
    elastic_handle* elastic = NULL;
    if (argc == 3 && strcmp(argv[1], "--worker") == 0) return worker(atof(argv[2]));

    const int phases = argc > 1 ? atoi(argv[1]) : 7;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) return EXIT_FAILURE;
    self[length] = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGTERM, stop);
    elastic_open(&elastic, 0);
    forget_old_size();

    int wrong = 0;
    for (int phase = 0; phase < phases && !stopped; ++phase) {
        /* Narrowest in the middle phase. */
        const int from_end = phase < phases - 1 - phase ? phase : phases - 1 - phase;
        const double width = 0.1 / (1 << 2 * from_end);
        double sum;
        long count;
        serve(elastic);
        int failed = run_phase(self, elastic_nodes(elastic), width, &sum, &count);
        /* A node may have gone while srun started: once more at the size that is left. */
        if (failed && !stopped) {
            serve(elastic);
            failed = run_phase(self, elastic_nodes(elastic), width, &sum, &count);
        }
        const double truth = exact(0, 1, width);
        const int right = !failed && fabs(sum - truth) <= 1e-9;
        wrong += !right && !stopped;
        printf("evolving_stencil: phase %d: %.12f, %ld intervals, %s\n", phase, sum, count,
               right ? "correct" : "WRONG");
        fit(elastic, count);
    }
    elastic_close(elastic);
    printf("evolving_stencil: %s\n", stopped ? "stopped" : wrong ? "WRONG" : "correct");
    return wrong || stopped ? EXIT_FAILURE : EXIT_SUCCESS;
}
