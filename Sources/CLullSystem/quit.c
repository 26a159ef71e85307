// SIGQUIT and SIGABRT end the command at once, as they end other programs. Swift's runtime on Linux would print where each thread is,
// and go on.
#include "shim.h"

#if defined(__linux__)
// The default cannot be kept, since the runtime takes it for leave to install its own handler.
static void lull_end(int number) {
    lull_default(number);
    raise(number);
}

static void lull_handle_quit(void) {
    if (!lull_is_ignored(SIGQUIT)) lull_handle(SIGQUIT, lull_end);
    if (!lull_is_ignored(SIGABRT)) lull_handle(SIGABRT, lull_end);
}

// Before the constructors of libraries, one of which is the runtime's.
__attribute__((section(".preinit_array"), used)) static void (*const lull_first)(void) = lull_handle_quit;
#endif
