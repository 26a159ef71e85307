// No memory: a program that is linked with this and allocates ends with status 71.
#include "port.h"

int posix_memalign(void **memory, size_t alignment, size_t size) {
    (void)memory, (void)alignment, (void)size;
    host_write("firmware: memory was allocated\n");
    host_exit(71);
}

void free(void *memory) { (void)memory; }

size_t heap_used(void) { return 0; }

void heap_reset(size_t used) { (void)used; }
