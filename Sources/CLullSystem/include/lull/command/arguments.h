// The arguments with their options, and the environment.
#ifndef LULL_COMMAND_ARGUMENTS_H
#define LULL_COMMAND_ARGUMENTS_H

#include "library.h"

#if defined(__APPLE__)
#include <crt_externs.h>
static inline char **lull_environment(void) { return *_NSGetEnviron(); }
#else
extern char **environ;
static inline char **lull_environment(void) { return environ; }
#endif

#if defined(__linux__)
/// Returns the arguments as they lie in memory, for where Swift cannot read them from /proc (a bare root folder).
///
/// They lie below the environment, with their number in front and a null pointer behind, as the ABI requires. No pointer is as small
/// as such a number. Call this at the start only, before the environment changes.
static inline char **lull_first_arguments(int *count) {
    char **end = environ - 1;
    long number = 0;
    while (((long *)end)[-1 - number] != number) number++;
    *count = (int)number;
    return end - number;
}
#else
static inline char **lull_first_arguments(int *count) { *count = 0; return 0; }
#endif

// getopt_long keeps its position in variables of the C library. The command parses once, on its only thread.

/// Starts parsing from the beginning, wherever an earlier parse stopped.
static inline void lull_begin_options(void) {
    opterr = 0;
#if defined(__APPLE__)
    optind = 1;
    optreset = 1;
#else
    optind = 0;
#endif
}
static inline char *lull_option_value(void) { return optarg; }
static inline int lull_option_index(void) { return optind; }
static inline int lull_wrong_option(void) { return optopt; }

#endif
