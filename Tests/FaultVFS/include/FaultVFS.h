// A disk that fails, for tests of what is written through SQLite: a VFS around the usual one.
//
// The files are real ones, and what they hold is what every process sees, as with the cache of a system. Beside each, the disk
// keeps what is certain to be on it, and every write since. When the power is cut, it is decided for each file, and in it for
// each write or each sector, what of that had reached the disk, and the files are changed to it. All of that follows from the seed.
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fault_disk fault_disk;

// The calls of SQLite that can be made to fail; also a set of them.
typedef enum {
    FAULT_OPEN = 1,
    FAULT_READ = 2,
    FAULT_WRITE = 4,
    FAULT_SYNC = 8,
    FAULT_TRUNCATE = 16,
    FAULT_DELETE = 32,
    FAULT_LOCK = 64,
    FAULT_SHARED_MEMORY = 128,
    FAULT_ANY = 255,
} fault_call;

typedef enum {
    // The power goes: this call and every later one fails, until the machine is started again.
    FAULT_CUT,
    // The same for the process: nothing that it wrote is lost.
    FAULT_KILL,
    // SQLITE_IOERR in the form that belongs to the call; a write has been made in part.
    FAULT_ERROR,
    // The same, and what a sync was asked for is not tried again: all of it can be read, some of it will never be on the disk.
    // That is what Linux does.
    FAULT_ERROR_AND_LOSS,
    // SQLITE_FULL, of the calls that need room; a write has been made in part.
    FAULT_FULL,
} fault_effect;

// What kind of file a call may concern; also a set.
typedef enum {
    FAULT_DATABASE = 1,
    FAULT_LOG = 2,
    FAULT_JOURNAL = 4,
    FAULT_ANY_FILE = 7,
} fault_file_kind;

// Makes a disk, which SQLite knows by this name. NULL if there is no memory.
fault_disk *fault_disk_make(const char *name, uint64_t seed);
// The end of it. No file may be open.
void fault_disk_remove(fault_disk *disk);

// Lets the call that comes after `before` others of these kinds fail; and all after it until it is mended, if it lasts.
void fault_disk_arm(fault_disk *disk, int64_t before, int calls, int files, fault_effect effect, bool lasts);
// Cuts the power too, so many calls after the one that fails.
void fault_disk_cut_after(fault_disk *disk, int64_t calls);
// Nothing fails any more.
void fault_disk_mend(fault_disk *disk);
// Whether what it was armed with has happened.
bool fault_disk_has_failed(fault_disk *disk);
// Cuts the power now.
void fault_disk_cut(fault_disk *disk);
// Whether the power was cut or the process killed.
bool fault_disk_is_off(fault_disk *disk);
// Starts the machine, or the process: the files are now as they have survived. No file may be open.
//
// Returns how many writes a cut has lost at least in part, or -1 if a file could not be restored.
int64_t fault_disk_start(fault_disk *disk);
// Files can only be read, as in a directory that is write-protected.
void fault_disk_protect(fault_disk *disk, bool is_protected);

// How many calls of these kinds there were.
int64_t fault_disk_calls(fault_disk *disk, int calls, int files);
// How many writes are not certain to be on the disk.
int64_t fault_disk_uncertain(fault_disk *disk);
// How many files are open.
int fault_disk_open_files(fault_disk *disk);

// For the calling thread alone, whether files are used as by a user who owns nothing, though the process is root's. False if
// that cannot be done here.
bool fault_act_as_nobody(bool acts);

#endif
