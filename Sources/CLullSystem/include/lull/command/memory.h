// Memory.
#ifndef LULL_COMMAND_MEMORY_H
#define LULL_COMMAND_MEMORY_H

#include "library.h"

/// Asks for the memory at an address that will be read soon, without waiting for it.
static inline void lull_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
