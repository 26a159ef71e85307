// Decides what survives on a disk when the power is cut.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

// Ends the tests if there is no memory.
static void *require_memory(void *memory) {
    if (!memory) abort();
    return memory;
}

// SplitMix64, as in the tests in Swift.
uint64_t fault_random(fault_disk *disk, uint64_t below) {
    uint64_t bits = disk->random += 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return (bits ^ (bits >> 31)) % below;
}

// MARK: - Images

static void grow(fault_image *image, int64_t size) {
    if (size > image->room) {
        int64_t room = 2 * size;
        image->bytes = require_memory(realloc(image->bytes, (size_t)room));
        image->room = room;
    }
    if (size > image->size) memset(image->bytes + image->size, 0, (size_t)(size - image->size));
    image->size = size;
}

static void apply(fault_image *image, const fault_change *change) {
    if (!change->bytes) return grow(image, change->count);
    int64_t end = change->offset + change->count;
    if (end > image->size) grow(image, end);
    memcpy(image->bytes + change->offset, change->bytes, (size_t)change->count);
}

static void clear(fault_image *image) {
    free(image->bytes);
    *image = (fault_image){0};
}

static void load(fault_image *image, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return;
    unsigned char bytes[65536];
    size_t count;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) {
        int64_t size = image->size;
        grow(image, size + (int64_t)count);
        memcpy(image->bytes + size, bytes, count);
    }
    fclose(file);
}

static bool store(const fault_image *image, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool is_good = fwrite(image->bytes, 1, (size_t)image->size, file) == (size_t)image->size;
    return fclose(file) == 0 && is_good;
}

// MARK: - Changes of a file

static void forget_changes(fault_node *node) {
    while (node->first) {
        fault_change *next = node->first->next;
        free(node->first->bytes);
        free(node->first);
        node->first = next;
    }
    node->last = NULL;
}

// A file that exists already is on the disk.
fault_node *fault_node_at(fault_disk *disk, const char *path, int kind) {
    for (fault_node *node = disk->nodes; node; node = node->next)
        if (strcmp(node->path, path) == 0) return node;
    fault_node *node = require_memory(calloc(1, sizeof *node));
    node->path = require_memory(strdup(path));
    node->kind = kind;
    node->exists = access(path, F_OK) == 0;
    node->is_settled = true;
    if (node->exists) load(&node->certain, path);
    node->next = disk->nodes;
    disk->nodes = node;
    return node;
}

static void append(fault_node *node, fault_change change) {
    fault_change *copy = require_memory(malloc(sizeof change));
    *copy = change;
    if (node->last) node->last->next = copy;
    else node->first = copy;
    node->last = copy;
}

void fault_note_write(fault_node *node, const void *bytes, int64_t count, int64_t offset) {
    if (count == 0) return;
    unsigned char *copy = require_memory(malloc((size_t)count));
    memcpy(copy, bytes, (size_t)count);
    append(node, (fault_change){.offset = offset, .count = count, .bytes = copy});
}

void fault_note_size(fault_node *node, int64_t size) { append(node, (fault_change){.count = size}); }

void fault_note_sync(fault_node *node) {
    for (fault_change *change = node->first; change; change = change->next) apply(&node->certain, change);
    forget_changes(node);
}

void fault_note_creation(fault_node *node) {
    if (node->exists) return;
    node->exists = true;
    node->is_settled = false;
}

void fault_note_deletion(fault_node *node) {
    if (!node->exists) return;
    forget_changes(node);
    // A file that was created and deleted between two syncs of the directory leaves the one before it.
    if (node->is_settled) {
        clear(&node->ghost);
        node->ghost = node->certain;
        node->has_ghost = true;
        node->certain = (fault_image){0};
    } else {
        clear(&node->certain);
    }
    node->exists = false;
    node->is_settled = false;
}

void fault_note_directory_sync(fault_disk *disk) {
    for (fault_node *node = disk->nodes; node; node = node->next) {
        node->is_settled = true;
        node->has_ghost = false;
        clear(&node->ghost);
    }
}

// MARK: - What survives

// Lets each sector that was written since the last sync be as one of the writes has left it, or as it was before.
static int64_t survive_by_sector(fault_disk *disk, fault_image *image, fault_change *first, int64_t sector) {
    int64_t lost = 0, size = image->size;
    for (fault_change *change = first; change; change = change->next) {
        int64_t end = change->bytes ? change->offset + change->count : change->count;
        if (end > size) size = end;
    }
    for (int64_t start = 0; start < size; start += sector) {
        int64_t writes = 0;
        for (fault_change *change = first; change; change = change->next)
            if (change->bytes && change->offset < start + sector && change->offset + change->count > start) writes++;
        if (writes == 0) continue;
        int64_t kept = (int64_t)fault_random(disk, (uint64_t)writes + 1);
        lost += writes - kept;
        for (fault_change *change = first; change && kept > 0; change = change->next) {
            if (!change->bytes || change->offset >= start + sector || change->offset + change->count <= start) continue;
            int64_t from = change->offset > start ? change->offset : start;
            int64_t end = change->offset + change->count < start + sector ? change->offset + change->count : start + sector;
            apply(image, &(fault_change){.offset = from, .count = end - from, .bytes = change->bytes + (from - change->offset)});
            kept--;
        }
    }
    return lost;
}

// Decides which changes of a file have reached the disk.
static int64_t survive(fault_disk *disk, fault_image *image, fault_change *first) {
    int64_t count = 0, lost = 0;
    bool has_sizes = false;
    for (fault_change *change = first; change; change = change->next, count++) has_sizes |= !change->bytes;
    uint64_t way = fault_random(disk, 6);
    // By sectors only if the order of writes and changes of the size does not matter.
    if (!has_sizes && way >= 3) return survive_by_sector(disk, image, first, way == 3 ? 512 : 4096);
    uint64_t kept = way == 0 ? 0 : fault_random(disk, (uint64_t)count + 1);
    for (fault_change *change = first; change; change = change->next) {
        // None; the oldest ones, in order; or any of them.
        bool survives = way == 0 ? false : way == 1 ? kept > 0 : fault_random(disk, 2) == 0;
        if (kept > 0) kept--;
        if (survives) apply(image, change);
        else lost++;
    }
    return lost;
}

void fault_note_lost_sync(fault_disk *disk, fault_node *node) {
    survive(disk, &node->certain, node->first);
    forget_changes(node);
}

static bool restore(fault_disk *disk, fault_node *node, int64_t *lost) {
    bool exists = node->exists;
    *lost += survive(disk, &node->certain, node->first);
    forget_changes(node);
    if (!node->is_settled) {
        // The names in a directory survive as they were at its last sync, or as they are now.
        if (fault_random(disk, 2) == 0) {
            exists = node->has_ghost;
            clear(&node->certain);
            node->certain = node->ghost;
            node->ghost = (fault_image){0};
            *lost += 1;
        }
    }
    clear(&node->ghost);
    node->has_ghost = false;
    node->is_settled = true;
    node->exists = exists;
    if (exists) return store(&node->certain, node->path);
    clear(&node->certain);
    return unlink(node->path) == 0 || access(node->path, F_OK) != 0;
}

int64_t fault_disk_start(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    int64_t lost = 0;
    bool is_good = disk->open_files == 0;
    if (is_good && disk->was_cut) {
        for (fault_node *node = disk->nodes; node; node = node->next) {
            is_good &= restore(disk, node, &lost);
            if (node->kind != FAULT_DATABASE) continue;
            char *shared = require_memory(sqlite3_mprintf("%s-shm", node->path));
            unlink(shared);
            sqlite3_free(shared);
        }
    }
    disk->is_off = disk->was_cut = disk->is_armed = false;
    disk->cut_after = 0;
    pthread_mutex_unlock(&disk->lock);
    return is_good ? lost : -1;
}

int64_t fault_disk_uncertain(fault_disk *disk) {
    int64_t count = 0;
    pthread_mutex_lock(&disk->lock);
    for (fault_node *node = disk->nodes; node; node = node->next)
        for (fault_change *change = node->first; change; change = change->next) count++;
    pthread_mutex_unlock(&disk->lock);
    return count;
}

void fault_disk_remove(fault_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    while (disk->nodes) {
        fault_node *node = disk->nodes;
        disk->nodes = node->next;
        forget_changes(node);
        clear(&node->certain);
        clear(&node->ghost);
        free(node->path);
        free(node);
    }
    pthread_mutex_destroy(&disk->lock);
    free(disk->name);
    free(disk);
}
