// The state of a disk; shared by disk.c, which decides what survives, and vfs.c, which SQLite calls.
#ifndef FAULT_DISK_H
#define FAULT_DISK_H

#include <pthread.h>
#include <sqlite3.h>

#include "FaultVFS.h"

// The contents of a file.
typedef struct {
    unsigned char *bytes;
    int64_t size;
    int64_t room;
} fault_image;

// A change of a file: a write, or, without bytes, a change of its size.
typedef struct fault_change {
    struct fault_change *next;
    int64_t offset;
    int64_t count;
    unsigned char *bytes;
} fault_change;

// A file, by its name.
typedef struct fault_node {
    struct fault_node *next;
    char *path;
    int kind;
    // The contents that are certain to be on the disk, and the changes since then, the oldest first.
    fault_image certain;
    fault_change *first, *last;
    // Whether the file exists, and whether that is certain to be on the disk, as after a sync of the directory.
    bool exists, is_settled;
    // A deleted file, which may exist again under this name if the directory was not synced.
    bool has_ghost;
    fault_image ghost;
} fault_node;

struct fault_disk {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    char *name;
    pthread_mutex_t lock;
    uint64_t random;
    fault_node *nodes;
    bool is_off, was_cut, is_protected;
    int open_files;
    // The armed failure.
    bool is_armed, lasts, has_failed;
    int64_t before, cut_after;
    int calls, files;
    fault_effect effect;
    int64_t counts[8][3];
};

// All of these are called with the lock held.
uint64_t fault_random(fault_disk *disk, uint64_t below);
fault_node *fault_node_at(fault_disk *disk, const char *path, int kind);
void fault_note_write(fault_node *node, const void *bytes, int64_t count, int64_t offset);
void fault_note_size(fault_node *node, int64_t size);
void fault_note_sync(fault_node *node);
void fault_note_lost_sync(fault_disk *disk, fault_node *node);
void fault_note_creation(fault_node *node);
void fault_note_deletion(fault_node *node);
void fault_note_directory_sync(fault_disk *disk);

#endif
