/* SPDX-License-Identifier: MIT */
/* To be preloaded before libfaketime 0.9.10, which knows pthread_cond_timedwait() but not
 * pthread_cond_clockwait(), the one by which C++ waits for a steady clock: without this a wait
 * of a second lasts until the real clock has come to where the faked one is.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static const long kSecond = 1000000000;

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
    struct timespec now, wall;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    long nanoseconds = wall.tv_nsec + until->tv_nsec - now.tv_nsec;
    const long carry = nanoseconds < 0 ? -1 : nanoseconds / kSecond;
    wall.tv_sec += until->tv_sec - now.tv_sec + carry;
    wall.tv_nsec = nanoseconds - carry * kSecond;
    return pthread_cond_timedwait(condition, mutex, &wall);
}
