// Arm semihosting: the processor stops at a breakpoint with the number of a request, and QEMU serves it.
#include "port.h"

enum {
    sys_open = 0x01, sys_write0 = 0x04, sys_read = 0x06, sys_get_cmdline = 0x15, sys_exit_extended = 0x20,
};

static intptr_t request(int number, const void *block) {
    register intptr_t r0 __asm__("r0") = number;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int open(const char *path, uintptr_t mode) {
    size_t length = 0;
    while (path[length]) length++;
    const uintptr_t block[] = {(uintptr_t)path, mode, length};
    return (int)request(sys_open, block);
}

void host_write(const char *text) { request(sys_write0, text); }

void host_put(uint8_t byte) {
    static char line[128];
    static size_t length;
    line[length++] = (char)byte;
    if (byte != '\n' && length < sizeof line - 1) return;
    line[length] = 0;
    length = 0;
    host_write(line);
}

void host_exit(int status) {
    const uintptr_t block[] = {0x20026, (uintptr_t)status};  // The reason: the program has ended by itself.
    request(sys_exit_extended, block);
    for (;;) {}
}

int host_open_argument(void) {
    static char line[512];
    uintptr_t block[] = {(uintptr_t)line, sizeof line};
    if (request(sys_get_cmdline, block) != 0) return -1;
    const char *word = line;
    for (const char *place = line; *place; place++) {
        if (*place == ' ') word = place + 1;
    }
    return open(word, 1);  // 1: to read, as bytes.
}

size_t host_read(int file, void *bytes, size_t capacity) {
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)bytes, capacity};
    // The answer is how many bytes it did not read.
    return capacity - (size_t)request(sys_read, block);
}
