// Memory for programs that use `Engine`: handed out from the end of the variables to the end of the RAM.
#include "port.h"

extern unsigned char heap_start[], heap_end[];

static uintptr_t next;

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (next == 0) next = (uintptr_t)heap_start;
    uintptr_t start = (next + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (start > (uintptr_t)heap_end || size > (uintptr_t)heap_end - start) {
        host_write("firmware: the heap is full\n");
        host_exit(71);
    }
    next = start + size;
    *memory = (void *)start;
    return 0;
}

void free(void *memory) { (void)memory; }

size_t heap_used(void) { return next ? next - (uintptr_t)heap_start : 0; }

void heap_reset(size_t used) { next = (uintptr_t)heap_start + used; }
