// The options among the arguments, and the environment.
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
