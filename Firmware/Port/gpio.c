// The pins of a board that has some: the first input register of its GPIO, with a button that closes to ground.
//
// Linked instead of pins.c, host.c and report.c, it makes a program as it would be flashed. QEMU's board has no pins there, and reads 0:
// to the test, the button is held.
#include "port.h"

void report_fault(const uint32_t *frame);
void report_end(void);

#define GPIO_DATA (*(volatile uint32_t *)0x40010000)

/// Sixteen pins; others must not wake the program.
uint32_t pins_read(void) { return ~GPIO_DATA & 0xFFFF; }

bool pins_remain(void) { return true; }

/// There is no host: texts for it are lost, and a program that ends waits for a reset.
void host_write(const char *text) { (void)text; }

void host_exit(int status) {
    (void)status;
    for (;;) __asm__ volatile("wfi");
}

void report_fault(const uint32_t *frame) {
    (void)frame;
    host_exit(70);
}

void report_end(void) {}
