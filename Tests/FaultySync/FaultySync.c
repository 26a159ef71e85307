// Preloaded into a server of the tests: its syncs are slow, fail or are dropped.
//
// LULL_SYNC names a folder. Its file `mode` has what happens to syncs: a letter, and for `d` a number of milliseconds.
//   d 300  they take so long      f  they fail      x  they are said to be done, and nothing is      anything else: they work
// For each sync that was done, a line is added to its file `synced`: the size of the file when the sync began, when it was last written to
// before that, in microseconds since 1970, and its path. What a crash of the machine would leave is the file up to that size.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sync_with(long number, int descriptor) {
    const char *folder = getenv("LULL_SYNC");
    if (!folder) return (int)syscall(number, descriptor);

    char path[4096], mode[32] = "";
    snprintf(path, sizeof path, "%s/mode", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t count = read(file, mode, sizeof mode - 1);
        mode[count > 0 ? count : 0] = 0;
        close(file);
    }
    // Not the present: a server that syncs in a thread answers without writing as soon as it has asked for the sync.
    struct stat status;
    fstat(descriptor, &status);

    if (mode[0] == 'f') {
        errno = EIO;
        return -1;
    }
    if (mode[0] == 'x') return 0;
    if (mode[0] == 'd') usleep((useconds_t)atoi(mode + 1) * 1000);
    if (syscall(number, descriptor) != 0) return -1;

    char link[64], target[2048] = "", line[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, target, sizeof target - 1);
    if (count <= 0 || !S_ISREG(status.st_mode)) return 0;
    int length = snprintf(
        line, sizeof line, "%lld %lld %s\n", (long long)status.st_size,
        (long long)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000, target);
    snprintf(path, sizeof path, "%s/synced", folder);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        if (write(file, line, (size_t)length) < 0) { /* The test finds no line, and takes the file as never synced. */ }
        close(file);
    }
    return 0;
}

int fsync(int descriptor) { return sync_with(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_with(SYS_fdatasync, descriptor); }
