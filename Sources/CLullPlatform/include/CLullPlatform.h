#ifndef CLULLPLATFORM_H
#define CLULLPLATFORM_H

// What Lull needs of the platform's C library and Swift cannot name reliably: which module `struct timespec` and
// `pthread_mutex_t` belong to depends on which other modules an optimised build has seen.

#include <stdint.h>
#include <time.h>

/// Nanoseconds since the machine was started, on the clock that goes on while it sleeps and that nobody can set.
static inline int64_t lull_nanoseconds_since_boot(void) {
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

/// Nanoseconds since 1970 by the wall clock, which anybody may set.
static inline int64_t lull_nanoseconds_since_1970(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#ifdef __linux__

#include <pthread.h>
#include <stdlib.h>

/// Makes a mutex. It has memory of its own: a mutex may not move, and only C knows its size.
static inline void *_Nonnull lull_mutex_make(void) {
    pthread_mutex_t *mutex = (pthread_mutex_t *)malloc(sizeof(pthread_mutex_t));
    // Swift ends a program that has no memory left, too. Without attributes nothing else can fail.
    if (!mutex || pthread_mutex_init(mutex, (const pthread_mutexattr_t *)0)) abort();
    return mutex;
}

/// Gives back a mutex that nobody holds.
static inline void lull_mutex_free(void *_Nonnull mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
    free(mutex);
}

static inline void lull_mutex_lock(void *_Nonnull mutex) { pthread_mutex_lock((pthread_mutex_t *)mutex); }

static inline void lull_mutex_unlock(void *_Nonnull mutex) { pthread_mutex_unlock((pthread_mutex_t *)mutex); }

#endif

#endif
