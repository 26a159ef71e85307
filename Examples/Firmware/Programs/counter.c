// The ten lines that people copy: a counter that waits for a stable level. The floor for programs that do the same.
#include "port.h"
#include "counter.h"

static uint8_t count, stable;

// Called once a millisecond; returns whether the level has changed for good.
bool counter_settles(uint8_t level) {
    if (level == stable) {
        count = 0;
        return false;
    }
    if (++count < 10) return false;
    stable = level;
    count = 0;
    return true;
}
