// The counter of instructions: CMSDK timer 0 of QEMU's board.
#include "measure.h"

#define TIMER_CONTROL (*(volatile uint32_t *)0x40000000)
#define TIMER_VALUE (*(volatile uint32_t *)0x40000004)
#define TIMER_RELOAD (*(volatile uint32_t *)0x40000008)

void measure_start(void) {
    TIMER_CONTROL = 0;
    TIMER_RELOAD = 0xFFFFFFFF;
    TIMER_VALUE = 0xFFFFFFFF;
    TIMER_CONTROL = 1;
}

uint32_t instructions_counted(uint32_t count) {
    uint32_t start, end;
    // A branch is one instruction, whether or not it is taken. With the second load, it is 4 × count + 3 in all.
    __asm__ volatile("ldr %0, [%3, #4]\n nop\n nop\n 1: nop\n nop\n subs %2, #1\n bne 1b\n ldr %1, [%3, #4]"
                     : "=&r"(start), "=&r"(end), "+r"(count) : "r"(0x40000000) : "cc", "memory");
    return instructions(start, end);
}
