// Measures how deep the stack has been.
#include "port.h"

extern uint32_t stack_bottom[], stack_top[];

enum { pattern = 0x4C756C6C };

// Inlining this would put the caller's frame where it paints; the margin is for its own.
__attribute__((noinline)) void stack_paint(void) {
    uint32_t *end = (uint32_t *)__builtin_frame_address(0) - 16;
    for (volatile uint32_t *word = stack_bottom; word < end; word++) *word = pattern;
}

size_t stack_deepest(void) {
    const uint32_t *word = stack_bottom;
    while (word < stack_top && *word == pattern) word++;
    return (size_t)((const char *)stack_top - (const char *)word);
}
