// A disk that fails, for tests of what is written through SQLite: a VFS around the default one.
//
// The files are real ones, with the contents that every process sees, as in a system's cache. For each file, the disk stores the
// contents that are certain to be on it, and every write since. When the power is cut, it decides for each file, and for each write
// or each sector of it, what had reached the disk, and changes the files to that. The seed determines every decision.
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
    // The power is cut: this call and every later one fails, until the machine is started again.
    FAULT_CUT,
    // The process is killed: the same, but nothing that it wrote is lost.
    FAULT_KILL,
    // The call's own form of SQLITE_IOERR; a write is made in part.
    FAULT_ERROR,
    // The same, and a failed sync is not tried again: all contents can be read, but some will never be on the disk, as on Linux.
    FAULT_ERROR_AND_LOSS,
    // SQLITE_FULL, of calls that need room; a write is made in part.
    FAULT_FULL,
} fault_effect;

// The kinds of files; also a set of them.
typedef enum {
    FAULT_DATABASE = 1,
    FAULT_LOG = 2,
    FAULT_JOURNAL = 4,
    FAULT_ANY_FILE = 7,
} fault_file_kind;

// Creates a disk, and registers it with SQLite by this name. Returns NULL if there is no memory.
fault_disk *fault_disk_make(const char *name, uint64_t seed);
// Destroys a disk. No file may be open.
void fault_disk_remove(fault_disk *disk);

// Makes the call after `before` others of these kinds fail, and, if it `lasts`, all later ones until the disk is mended.
void fault_disk_arm(fault_disk *disk, int64_t before, int calls, int files, fault_effect effect, bool lasts);
// Cuts the power too, `calls` calls after the one that fails.
void fault_disk_cut_after(fault_disk *disk, int64_t calls);
// Ends the failures.
void fault_disk_mend(fault_disk *disk);
// Returns whether the armed failure has happened.
bool fault_disk_has_failed(fault_disk *disk);
// Cuts the power now.
void fault_disk_cut(fault_disk *disk);
// Returns whether the power was cut or the process killed.
bool fault_disk_is_off(fault_disk *disk);
// Starts the machine, or the process, and changes the files to what has survived. No file may be open.
//
// Returns the number of writes that a power cut has lost at least in part, or -1 if a file could not be restored.
int64_t fault_disk_start(fault_disk *disk);
// Makes files read-only, as in a write-protected directory.
void fault_disk_protect(fault_disk *disk, bool is_protected);

// Returns the number of calls of these kinds.
int64_t fault_disk_calls(fault_disk *disk, int calls, int files);
// Returns the number of writes that may not be on the disk.
int64_t fault_disk_uncertain(fault_disk *disk);
// Returns the number of open files.
int fault_disk_open_files(fault_disk *disk);

// Makes the calling thread use files as a user who owns nothing, although the process belongs to root. Returns whether that is
// possible here.
bool fault_act_as_nobody(bool acts);

#endif
