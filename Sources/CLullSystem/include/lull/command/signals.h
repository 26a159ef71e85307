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

#endif
