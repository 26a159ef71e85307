// The terminal.
#ifndef LULL_COMMAND_TERMINAL_H
#define LULL_COMMAND_TERMINAL_H

#include "library.h"

/// Returns the number of columns of the terminal at a descriptor; 0 if it is no terminal.
static inline int lull_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Returns the number of lines of the terminal at a descriptor; 0 if it is no terminal.
static inline int lull_lines(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/// Detaches this process, and what it starts later, from its controlling terminal.
///
/// A new session would do that as well, but on Linux each session is scheduled by itself: the effect of `nice` would be lost, and
/// starting costs more.
static inline void lull_leave_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return;
    ioctl(terminal, TIOCNOTTY, 0);
    close(terminal);
}

#endif
