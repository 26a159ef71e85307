#define _GNU_SOURCE
#include "Allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

// Threads mostly count in separate cache lines, so that counting does not make them wait for each other.
enum { lines = 64 };
static struct { _Alignas(64) atomic_uint_fast64_t made; } counts[lines];
static atomic_uint threads;
static _Thread_local unsigned line;

static inline void count(void) {
    if (line == 0) line = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % lines + 1;
    atomic_fetch_add_explicit(&counts[line - 1].made, 1, memory_order_relaxed);
}

uint64_t allocations_made(void) {
    uint64_t sum = 0;
    for (int index = 0; index < lines; index++) {
        sum += atomic_load_explicit(&counts[index].made, memory_order_relaxed);
    }
    return sum;
}

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t thread_cpu_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_nanoseconds(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t voluntary_switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_nvcsw;
}

static int64_t of_time(struct timeval time) { return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000; }

int64_t children_cpu_nanoseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return of_time(usage.ru_utime) + of_time(usage.ru_stime);
}

#if defined(__linux__)
#include <dlfcn.h>

// The result of a metadata look-up, in two registers.
struct metadata_response { void *metadata; size_t state; };
typedef struct metadata_response look_up(size_t, const void *const *, const void *)
    __attribute__((swiftcall));

static atomic_uint_fast64_t look_ups;

uint64_t metadata_look_ups(void) { return atomic_load_explicit(&look_ups, memory_order_relaxed); }

// The function of an executable replaces that of the Swift runtime, for all shared libraries too.
__attribute__((swiftcall)) struct metadata_response swift_getGenericMetadata(
    size_t request, const void *const *arguments, const void *description) {
    static look_up *_Atomic original;
    if (original == NULL) original = (look_up *)dlsym(RTLD_NEXT, "swift_getGenericMetadata");
    atomic_fetch_add_explicit(&look_ups, 1, memory_order_relaxed);
    return original(request, arguments, description);
}
#else
uint64_t metadata_look_ups(void) { return 0; }
#endif

#if defined(__GLIBC__)
#include <malloc.h>

int64_t boot_nanoseconds(void) { return nanoseconds(CLOCK_BOOTTIME); }

// The malloc of an executable replaces that of the C library, for all shared libraries too.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
void *realloc(void *memory, size_t size) { count(); return __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void free(void *memory) { __libc_free(memory); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    void *new = __libc_memalign(alignment, size);
    if (new == NULL) return ENOMEM;
    *memory = new;
    return 0;
}

uint64_t heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
#include <malloc/malloc.h>

int64_t boot_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }

uint64_t heap_bytes(void) {
    struct mstats stats = mstats();
    return stats.bytes_used;
}
#endif
