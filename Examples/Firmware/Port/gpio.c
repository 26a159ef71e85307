// The pins of a board that has some: the first input register of its GPIO, with a button that closes to ground.
//
// Linked instead of pins.c, as nohost.c is instead of host.c and report.c, it makes a program as it would be flashed. QEMU's board has
// no pins there, and reads 0: to the test, every contact is closed.
#include "port.h"

#define GPIO_DATA (*(volatile uint32_t *)0x40010000)

/// The pins that the program uses; others must not wake it.
uint32_t pins_read(void) { return ~GPIO_DATA & 0xFFFF; }

// An interrupt between the look and the sleep ends the sleep as well: wfi returns for one that is pending. Here it is that of the next
// tick; where the pins interrupt, too, let the tick rest and set a timer, so that the processor sleeps on.
void pins_wait(uint32_t levels, uint32_t since, uint32_t ticks) {
    __asm__ volatile("cpsid i" ::: "memory");
    while (pins_read() == levels && clock_ticks() - since < ticks) {
        __asm__ volatile("wfi\n cpsie i\n isb\n cpsid i" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
}

bool pins_remain(void) { return true; }
