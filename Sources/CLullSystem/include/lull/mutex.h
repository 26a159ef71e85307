#ifndef LULL_MUTEX_H
#define LULL_MUTEX_H

// The C library's mutex on Linux. It lies in memory of its own: it must not move, and only C knows its size.

#ifdef __linux__

#include <pthread.h>
#include <stdlib.h>

/// Creates a mutex.
///
/// It has a cache line of its own: where other data lay in the same line, a lock and a look at them took half as long again.
static inline void *_Nonnull lull_mutex_make(void) {
    const size_t line = 64;
    pthread_mutex_t *mutex = (pthread_mutex_t *)aligned_alloc(line, (sizeof(pthread_mutex_t) + line - 1) / line * line);
    // Swift, too, ends a program that runs out of memory. Without attributes, nothing else can fail.
    if (!mutex || pthread_mutex_init(mutex, (const pthread_mutexattr_t *)0)) abort();
    return mutex;
}

/// Destroys a mutex that nothing holds.
static inline void lull_mutex_free(void *_Nonnull mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
    free(mutex);
}

static inline void lull_mutex_lock(void *_Nonnull mutex) { pthread_mutex_lock((pthread_mutex_t *)mutex); }

static inline void lull_mutex_unlock(void *_Nonnull mutex) { pthread_mutex_unlock((pthread_mutex_t *)mutex); }

#endif

#endif
