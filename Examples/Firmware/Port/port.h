// What the firmware's programs call: the board, the host behind QEMU's semihosting, and the depth of the stack.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - The board: what another one has to supply (board.c and gpio.c)

/// Writes a byte to the serial line. It has to return soon, as a change of the pins is not seen meanwhile: use a fast line, or a queue
/// that an interrupt empties.
void uart_write(uint8_t byte);
/// Starts a counter of milliseconds, which begins with `start` and wraps around after 32 bits. Programs call it first: a port sets up
/// the processor's clock and the pins here.
void clock_start(uint32_t start);
uint32_t clock_ticks(void);
/// Called by the processor's timer, as the vector table says; a clock that has another one leaves it empty.
void port_tick(void);
/// Sleeps until the next tick.
void clock_sleep(void);
/// The levels of the pins, a bit each.
uint32_t pins_read(void);
/// Sleeps until the pins show something else than `levels`, or `ticks` have passed since the counter showed `since`; at once if either
/// is so already. It may return earlier.
void pins_wait(uint32_t levels, uint32_t since, uint32_t ticks);
/// Whether the recording goes on that the pins play in QEMU; always so on a real board.
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

/// Tells the host of a fault, and ends. `frame` is the stack pointer at which the processor has stored r0-r3, r12, lr, pc and xpsr.
void report_fault(const uint32_t *frame);
/// Tells the host, at the end of a program, how deep the stack has been and how often pins_wait has returned.
void report_end(void);
/// How often pins_wait has returned, in QEMU.
extern uint32_t pins_waits;

// MARK: - The stack and the heap

/// Fills the unused part of the stack with a pattern.
void stack_paint(void);
/// The greatest depth of the stack since stack_paint, in bytes, without what the deepest function reserved at its end and never wrote.
size_t stack_deepest(void);

/// The bytes of the heap that have been handed out so far; 0 for a program without one.
size_t heap_used(void);
/// Takes back all that was handed out after this many bytes.
void heap_reset(size_t used);
