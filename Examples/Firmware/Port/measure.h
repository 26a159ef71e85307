// Counts instructions: for the program `figures` alone.
#pragma once
#include <stdint.h>

/// Starts the counter behind measure_now().
void measure_start(void);

/// The counter, which goes down once in 40 ns. Inlined, so that no instruction of its own is executed between two of them but
/// the load of the second, and perhaps one that makes its address.
__attribute__((always_inline)) static inline uint32_t measure_now(void) {
    uint32_t count;
    __asm__ volatile("ldr %0, [%1, #4]" : "=r"(count) : "r"(0x40000000) : "memory");
    return count;
}

/// The number of instructions executed from one measure_now() to a later one, the second one's load included: exact under QEMU's
/// -icount shift=7, where each takes 128 ns, which is 3.2 steps of the counter. There may be 1,342,177,279 of them.
__attribute__((always_inline)) static inline uint32_t instructions(uint32_t start, uint32_t end) {
    return (uint32_t)(((uint64_t)(start - end) * 5 + 8) >> 4);
}

/// Executes `count` × 4 + 3 instructions between two measure_now(), and returns the number counted, to check that counting works.
uint32_t instructions_counted(uint32_t count);
