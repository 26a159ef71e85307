// What the files of this module share.
#ifndef LULL_REDIS_LIBRARY_H
#define LULL_REDIS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/// The name under which hiredis was found.
extern const char *lull_redis_library;
/// Whether it has the layout of version 0.14.
extern bool lull_redis_is_old;

/// Loads the first library of some that there is, and says which one.
void *lull_redis_find(const char *const *names, size_t count, const char **found);

#endif
