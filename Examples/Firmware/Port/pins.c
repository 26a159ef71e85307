// Pins that play a recording of the host: for each change the microsecond and all levels, as two words of 32 bits.
#include "port.h"

static struct {
    uint32_t microsecond, levels;
} next, now;

static int file = -1, isPlaying;
static uint32_t start;

static void advance(void) {
    now = next;
    if (host_read(file, &next, sizeof next) < sizeof next) isPlaying = 0;
}

bool pins_remain(void) {
    if (file < 0) {
        file = host_open_argument();
        if (file < 0) {
            host_write("firmware: the recording cannot be opened\n");
            host_exit(66);
        }
        start = clock_ticks();
        isPlaying = 1;
        advance();
    }
    // The last entry of a recording is its end.
    return isPlaying;
}

uint32_t pins_waits;

// Looks once a tick, since a recording cannot interrupt.
void pins_wait(uint32_t levels, uint32_t since, uint32_t ticks) {
    while (pins_remain() && pins_read() == levels && clock_ticks() - since < ticks) clock_sleep();
    pins_waits++;
}

uint32_t pins_read(void) {
    while (isPlaying && next.microsecond <= (clock_ticks() - start) * 1000) advance();
    return now.levels;
}
