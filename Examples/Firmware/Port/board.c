// The devices of the board: a serial line (CMSDK UART 0) and a clock (SysTick).
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

void port_tick(void) { milliseconds++; }

void clock_start(uint32_t start) {
    milliseconds = start;
    SYSTICK_RELOAD = 25000 - 1;  // A millisecond at 25 MHz.
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;  // The processor's own clock, with interrupts.
}

uint32_t clock_ticks(void) { return milliseconds; }

void clock_sleep(void) { __asm__ volatile("wfi" ::: "memory"); }
