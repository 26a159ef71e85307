// The devices of the board: a serial line (CMSDK UART 0), a clock (SysTick) and a counter of instructions (CMSDK timer 0).
#include "port.h"

typedef volatile uint32_t reg;

// MARK: - The serial line

#define UART_DATA (*(reg *)0x40004000)
#define UART_STATE (*(reg *)0x40004004)
#define UART_CONTROL (*(reg *)0x40004008)
#define UART_DIVISOR (*(reg *)0x40004010)

void uart_write(uint8_t byte) {
    if (!(UART_CONTROL & 1)) {
        UART_DIVISOR = 217;  // 115,200 baud of 25 MHz. QEMU does not care, but sends nothing below 16.
        UART_CONTROL = 1;
    }
    while (UART_STATE & 1) {}
    UART_DATA = byte;
}

// MARK: - The clock

#define SYSTICK_CONTROL (*(reg *)0xE000E010)
#define SYSTICK_RELOAD (*(reg *)0xE000E014)
#define SYSTICK_VALUE (*(reg *)0xE000E018)

static volatile uint32_t milliseconds;
uint32_t clock_waits;

void port_tick(void) { milliseconds++; }

void clock_start(uint32_t start) {
    milliseconds = start;
    SYSTICK_RELOAD = 25000 - 1;  // A millisecond at 25 MHz.
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;  // The processor's own clock, with interrupts.
}

uint32_t clock_ticks(void) { return milliseconds; }

void clock_sleep(void) { __asm__ volatile("wfi" ::: "memory"); }

// By ticks, since QEMU's board has no pins that could interrupt. Where pins can, this sets a timer, and sleeps in
//
//     for (cpsid i; nothing has happened; cpsie i, isb, cpsid i) wfi
//     cpsie i
//
// which an interrupt between the look and the sleep ends as well: wfi returns for one that is held back.
void pins_wait(uint32_t levels, uint32_t since, uint32_t ticks) {
    while (pins_remain() && pins_read() == levels && clock_ticks() - since < ticks) clock_sleep();
    clock_waits++;
}

// MARK: - Instructions

#define TIMER_CONTROL (*(reg *)0x40000000)
#define TIMER_VALUE (*(reg *)0x40000004)
#define TIMER_RELOAD (*(reg *)0x40000008)

void ticks_start(void) {
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
