#pragma once
#include <stdint.h>

/// The number of allocations that the process has made so far, on all threads.
uint64_t allocations_made(void);

/// The bytes of the heap in use, the allocator's own overhead included.
uint64_t heap_bytes(void);

/// Nanoseconds of the clock that runs while the machine sleeps, where there is one.
int64_t boot_nanoseconds(void);

/// Nanoseconds of processor time, of the calling thread or of the whole process.
int64_t thread_cpu_nanoseconds(void);
int64_t process_cpu_nanoseconds(void);

/// The number of times that the process has given up a processor voluntarily, to wait.
uint64_t voluntary_switches(void);

/// Nanoseconds of processor time of the child processes that have ended.
int64_t children_cpu_nanoseconds(void);

/// The number of look-ups of generic types' metadata that the process has made so far: what generic code costs that is compiled
/// once and takes its types apart. Zero where they cannot be counted.
uint64_t metadata_look_ups(void);
