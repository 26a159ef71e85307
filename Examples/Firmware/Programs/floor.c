// The program of smallest.swift around the ten lines of counter.c.
#include "port.h"
#include "counter.h"

int main(void) {
    clock_start(0);
    while (pins_remain()) {
        clock_sleep();
        uint8_t level = pins_read() & 1;
        if (counter_settles(level)) uart_write(level ? 'P' : 'R');
    }
    return 0;
}
