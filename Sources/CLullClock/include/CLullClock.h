#ifndef CLULLCLOCK_H
#define CLULLCLOCK_H

#include <stdint.h>

/// Nanoseconds since the machine was started, on the clock that goes on while it sleeps and that nobody can set.
///
/// In C because Swift's import of `struct timespec` depends on which other modules an optimised build has seen.
int64_t lull_nanoseconds_since_boot(void);

#endif
