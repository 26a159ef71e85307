#ifndef CLULLLOCK_H
#define CLULLLOCK_H

// What a lock needs of the processor and of Linux, and what Swift has no words for.

#ifdef __linux__

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// As Linux has them for good; its own header is not everywhere where its C library is.
enum { lull_futex_wait_private = 128, lull_futex_wake_private = 129 };

/// Tells the processor that this thread only waits for another one.
static inline void lull_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Sleeps until somebody wakes who sleeps at this address, if it holds `expected`. May return for no reason.
static inline void lull_sleep(const uint32_t *address, uint32_t expected) {
    syscall(SYS_futex, address, lull_futex_wait_private, (unsigned long)expected, (void *)0, (void *)0, 0L);
}

/// Wakes one of those who sleep at this address. It need not be anybody's any more.
static inline void lull_wake(const uint32_t *address) {
    syscall(SYS_futex, address, lull_futex_wake_private, 1L, (void *)0, (void *)0, 0L);
}

#endif

#endif
