// A library to preload: counts the bytes that a program allocates, and writes the sum into a file at its end. It tells
// linear work from quadratic work on any machine, however busy.

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ullong allocated;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static void add(size_t size) { atomic_fetch_add_explicit(&allocated, size, memory_order_relaxed); }

void *malloc(size_t size) {
    add(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    add(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    add(size);
    return __libc_realloc(memory, size);
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("LULL_COUNTED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%llu", atomic_load(&allocated));
    fclose(file);
}
