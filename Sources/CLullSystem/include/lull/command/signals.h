// Signals.
#ifndef LULL_COMMAND_SIGNALS_H
#define LULL_COMMAND_SIGNALS_H

#include "library.h"

/// Calls `handler` for a signal, which interrupts blocking calls.
static inline int lull_handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, 0);
}

/// Returns whether the process was started with a signal ignored, as `nohup` does.
static inline int lull_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN;
}
static inline void lull_ignore(int number) { signal(number, SIG_IGN); }
static inline void lull_default(int number) { signal(number, SIG_DFL); }

// SIGQUIT and SIGABRT end the command at once, as they end other programs. Swift's runtime on Linux would print where each thread is
// and let the process continue.
#if defined(__linux__)
// Keeping the default is not enough: the runtime then installs its own handler.
static void lull_end(int number) {
    lull_default(number);
    raise(number);
}

static void lull_handle_quit(void) {
    if (!lull_is_ignored(SIGQUIT)) lull_handle(SIGQUIT, lull_end);
    if (!lull_is_ignored(SIGABRT)) lull_handle(SIGABRT, lull_end);
}

// Runs before the constructors of libraries, one of which is the runtime's.
__attribute__((section(".preinit_array"), used)) static void (*const lull_before_main)(void) = lull_handle_quit;

/// Makes the program that calls this end at once on SIGQUIT and SIGABRT, from before `main` on. The call itself does nothing: it
/// brings the entry of `.preinit_array` into the program. Programs that import this module without calling it stay without.
static inline void lull_end_on_quit(void) { __asm__ volatile("" : : "r"(&lull_before_main)); }
#else
static inline void lull_end_on_quit(void) {}
#endif

#endif
