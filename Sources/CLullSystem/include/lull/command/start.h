// What has to happen before `main`.
#ifndef LULL_COMMAND_START_H
#define LULL_COMMAND_START_H

#include "signals.h"

struct lull_given_arguments {
    int count;
    char **vector;
};

// Swift's importer makes no variable of a header, except inside a function.
static inline struct lull_given_arguments *lull_given(void) {
    static struct lull_given_arguments given;
    return &given;
}

#if defined(__linux__)
// SIGQUIT and SIGABRT end the command at once, as they end other programs. Swift's runtime would print where each
// thread is and let the process continue. Keeping the default is not enough: the runtime then installs its own handler.
static void lull_end(int number) {
    lull_default(number);
    raise(number);
}

// glibc passes the arguments of `main`. Swift looks for them on the stack, below the environment: it needs /proc for
// that, which a bare root folder lacks, and an environment that no library, such as fakechroot, has moved.
static void lull_before_main(int count, char **arguments) {
#if defined(__GLIBC__)
    *lull_given() = (struct lull_given_arguments){count, arguments};
#else
    (void)count, (void)arguments;
#endif
    if (!lull_is_ignored(SIGQUIT)) lull_handle(SIGQUIT, lull_end);
    if (!lull_is_ignored(SIGABRT)) lull_handle(SIGABRT, lull_end);
}

// Runs before the constructors of libraries, one of which is the runtime's.
__attribute__((section(".preinit_array"), used)) static void (*const lull_entry_before_main)(int, char **) =
    lull_before_main;
#endif

/// Returns the arguments as the system has passed them; null where only Swift knows them.
///
/// The call also brings the entry of `.preinit_array` into the program, which ends at once on SIGQUIT and SIGABRT from
/// before `main` on. Programs that import this module without calling it stay without. Call it from one file only: each
/// has variables of its own.
static inline char **lull_arguments(int *count) {
#if defined(__linux__)
    __asm__ volatile("" : : "r"(&lull_entry_before_main));
#endif
    *count = lull_given()->count;
    return lull_given()->vector;
}

#endif
