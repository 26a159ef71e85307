// Memory.
#ifndef LULL_COMMAND_MEMORY_H
#define LULL_COMMAND_MEMORY_H

#include "library.h"

/// Asks for the memory at an address that will be read soon, without waiting for it.
static inline void lull_prefetch(const void *address) { __builtin_prefetch(address); }

/// Makes `free` return every block of 1 MiB or more to the system at once.
///
/// By default, glibc keeps the first large blocks that are freed, and the small blocks that it then places in them make them
/// useless for values of the same size: a program that runs for days would keep the memory of values it has long released.
static inline void lull_return_large_blocks(void) {
#if defined(M_MMAP_THRESHOLD)
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

#endif
