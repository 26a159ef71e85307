// What the firmware's programs call: the board, the host behind QEMU's semihosting, and measuring.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - The board: what another one has to supply

/// Writes a byte to the serial line.
void uart_write(uint8_t byte);
/// Starts a counter of milliseconds, which begins with `start` and wraps around.
void clock_start(uint32_t start);
uint32_t clock_ticks(void);
/// Called by the processor's timer, as the vector table says; a clock that has another one leaves it empty.
void port_tick(void);
/// Sleeps until the next tick.
void clock_sleep(void);
/// Sleeps until the pins show something else than `levels`, or `ticks` have passed since the counter showed `since`; at once if either
/// is so already.
void pins_wait(uint32_t levels, uint32_t since, uint32_t ticks);
/// The levels of the pins, a bit each. QEMU's board has none that a test could move: here they play a recording.
uint32_t pins_read(void);
/// Whether the recording goes on; always so on a real board.
bool pins_remain(void);

// MARK: - The host

/// Writes a text that ends in a zero byte to the host's standard output.
void host_write(const char *text);
/// Writes a byte to the host's standard output, a line at a time.
void host_put(uint8_t byte);
/// Ends QEMU with this status.
_Noreturn void host_exit(int status);
/// Opens the file whose path is the last word of the command line; -1 if that fails.
int host_open_argument(void);
/// Reads into memory, and returns how many bytes it read: 0 at the end of the file.
size_t host_read(int file, void *bytes, size_t capacity);

// MARK: - Measuring

/// Starts the counter behind ticks().
void ticks_start(void);

/// The counter, which goes down once in 40 ns. Inlined, so that no instruction of its own is executed between two of them but
/// the load of the second, and perhaps one that makes its address.
__attribute__((always_inline)) static inline uint32_t ticks(void) {
    uint32_t count;
    __asm__ volatile("ldr %0, [%1, #4]" : "=r"(count) : "r"(0x40000000) : "memory");
    return count;
}

/// The number of instructions executed from one ticks() to a later one, the second one's load included: exact under QEMU's
/// -icount shift=7, where each takes 128 ns, which is 3.2 ticks. There may be 1,342,177,279 of them.
__attribute__((always_inline)) static inline uint32_t instructions(uint32_t start, uint32_t end) {
    return (uint32_t)(((uint64_t)(start - end) * 5 + 8) >> 4);
}

/// Executes `count` × 4 + 3 instructions between two ticks(), and returns the number counted, to check that counting works.
uint32_t instructions_counted(uint32_t count);

/// Fills the unused part of the stack with a pattern.
void stack_paint(void);
/// The greatest depth of the stack since stack_paint, in bytes, without what the deepest function reserved at its end and never wrote.
size_t stack_deepest(void);
/// How often pins_wait has returned.
extern uint32_t clock_waits;

/// The bytes of the heap that have been handed out so far; 0 for a program without one.
size_t heap_used(void);
/// Takes back all that was handed out after this many bytes.
void heap_reset(size_t used);
