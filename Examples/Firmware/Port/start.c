// From reset to main, and what happens on a fault.
#include "port.h"

int main(int argc, char **argv);
void port_reset(void);

extern uint32_t stack_bottom[], stack_top[], data_start[], data_end[], data_image[], bss_start[], bss_end[];

static void unexpected(void) { host_write("firmware: an interrupt that nobody handles\n"), host_exit(70); }

// If the stack is what has run out, the report gets the whole of it again; otherwise it must not overwrite the frame.
__attribute__((naked)) static void fault(void) {
    __asm__ volatile("mrs r0, msp\n ldr r1, =stack_bottom + 256\n cmp r0, r1\n bhs 1f\n ldr r1, =stack_top\n mov sp, r1\n"
                     "1: ldr r1, =report_fault\n bx r1\n .ltorg");
}

// The processor's part of the vector table; no interrupt of the board's devices is ever enabled. That of device 6 would be
// `[16 + 6] = (void *)gpio_interrupt`; name a function for every one that is enabled.
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_top, (void *)port_reset, (void *)unexpected, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
    0, 0, 0, 0, (void *)unexpected, (void *)unexpected, 0, (void *)unexpected, (void *)port_tick,
};

// Sets a region of 2^(size + 1) bytes of the memory protection unit, 21 for 4 MiB: access 0 for none, 6 for reading alone.
//
// The board has RAM in place of flash, and writes to the 64 KiB below the stack are lost without a fault. Unprotected, a write through a
// null pointer would replace the vectors, and an overflow of the stack would only show in what a function returns to. The handler of
// a fault runs without the protection.
static void protect(uint32_t region, uint32_t start, uint32_t size, uint32_t access) {
    *(volatile uint32_t *)0xE000ED9C = start | 1 << 4 | region;
    // Normal memory that is cached where there is a cache: instructions must not be fetched from any other kind.
    *(volatile uint32_t *)0xE000EDA0 = access << 24 | 1 << 17 | size << 1 | 1;
}

void port_reset(void) {
    // Compilers for armv7em may use the floating-point unit, which is off after a reset.
    *(volatile uint32_t *)0xE000ED88 |= 15u << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
    // Some processors of the kind have no such unit.
    if ((*(volatile uint32_t *)0xE000ED90 >> 8 & 255) >= 2) {
        protect(0, (uint32_t)stack_bottom - 0x10000, 15, 0);
        protect(1, 0, 21, 6);
        *(volatile uint32_t *)0xE000ED94 = 1 << 2 | 1;
        __asm__ volatile("dsb\n isb" ::: "memory");
    }
    for (uint32_t *to = data_start, *from = data_image; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    stack_paint();
    int status = main(0, 0);
    report_end();
    host_exit(status);
}
