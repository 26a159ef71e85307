// What the host is told of a fault, and at the end.
#include "port.h"

extern uint32_t stack_bottom[];

void report_fault(const uint32_t *frame) {
    if (frame < stack_bottom) host_write("firmware: the stack has overflowed\n"), host_exit(70);
    static const char digits[] = "0123456789abcdef";
    static char text[] = "firmware: fault at pc ........, lr ........, cfsr ........, address ........\n";
    const uint32_t cause = *(volatile uint32_t *)0xE000ED28;
    // ARMv6-M has neither of these registers. A fault of the protection has its address in a register of its own.
    const uint32_t address = *(volatile uint32_t *)(cause & 0x80 ? 0xE000ED34 : 0xE000ED38);
    const uint32_t words[] = {frame[6], frame[5], cause, address};
    char *place = text;
    for (int index = 0; index < 4; index++) {
        while (*place != '.') place++;
        for (int shift = 28; shift >= 0; shift -= 4) *place++ = digits[words[index] >> shift & 15];
    }
    host_write(text);
    host_exit(70);
}

static void report(const char *name, size_t number, const char *unit) {
    static char text[] = "          ";
    char *place = text + sizeof text - 2;
    for (size_t rest = number; rest > 0 || place == text + sizeof text - 2; rest /= 10) *place-- = (char)('0' + rest % 10);
    host_write(name), host_write(place + 1), host_write(unit);
}

void report_end(void) {
    report("deepest stack: ", stack_deepest(), " bytes\n");
    if (pins_waits > 0) report("woken: ", pins_waits, " times\n");
}
