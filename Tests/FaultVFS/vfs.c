// The VFS that SQLite calls. It passes the calls to the default one, or makes them fail.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

typedef struct {
    sqlite3_file base;
    fault_disk *disk;
    fault_node *node;
    // Whether the next sync syncs the directory, too: the first one of a journal or a log does.
    bool syncs_directory;
    sqlite3_file *real;
} fault_file;

static fault_disk *disk_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

// MARK: - Failing

static int index_of(int bit) {
    int index = 0;
    while (bit >>= 1) index++;
    return index;
}

static int error_of(fault_call call) {
    switch (call) {
        case FAULT_OPEN: return SQLITE_CANTOPEN;
        case FAULT_READ: return SQLITE_IOERR_READ;
        case FAULT_WRITE: return SQLITE_IOERR_WRITE;
        case FAULT_SYNC: return SQLITE_IOERR_FSYNC;
        case FAULT_TRUNCATE: return SQLITE_IOERR_TRUNCATE;
        case FAULT_DELETE: return SQLITE_IOERR_DELETE;
        case FAULT_LOCK: return SQLITE_IOERR_LOCK;
        default: return SQLITE_IOERR_SHMLOCK;
    }
}

// Returns the error with which this call fails, or 0. The lock must be held.
static int next_error(fault_disk *disk, fault_call call, int kind) {
    disk->counts[index_of(call)][index_of(kind)]++;
    if (disk->has_failed && disk->cut_after > 0 && --disk->cut_after == 0) disk->is_off = disk->was_cut = true;
    if (disk->is_off) return error_of(call);
    if (!disk->is_armed || !(disk->calls & call) || !(disk->files & kind)) return SQLITE_OK;
    if (disk->effect == FAULT_FULL && call != FAULT_WRITE && call != FAULT_OPEN) return SQLITE_OK;
    if (disk->before > 0) {
        disk->before--;
        return SQLITE_OK;
    }
    disk->has_failed = true;
    if (!disk->lasts) disk->is_armed = false;
    if (disk->effect == FAULT_CUT || disk->effect == FAULT_KILL) {
        disk->is_off = true;
        disk->was_cut = disk->effect == FAULT_CUT;
    }
    return disk->effect == FAULT_FULL && call == FAULT_WRITE ? SQLITE_FULL : error_of(call);
}

// Takes the lock and returns the error with which a call fails, or 0. For calls that do nothing if they fail.
static int check(fault_file *file, fault_call call) {
    pthread_mutex_lock(&file->disk->lock);
    int code = next_error(file->disk, call, file->node->kind);
    pthread_mutex_unlock(&file->disk->lock);
    return code;
}

// MARK: - The calls of a file

static int file_close(sqlite3_file *base) {
    fault_file *file = (fault_file *)base;
    int code = file->real->pMethods->xClose(file->real);
    pthread_mutex_lock(&file->disk->lock);
    file->disk->open_files--;
    pthread_mutex_unlock(&file->disk->lock);
    return code;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    fault_file *file = (fault_file *)base;
    int code = check(file, FAULT_READ);
    return code ? code : file->real->pMethods->xRead(file->real, bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    fault_file *file = (fault_file *)base;
    fault_disk *disk = file->disk;
    pthread_mutex_lock(&disk->lock);
    if (disk->is_protected) {
        pthread_mutex_unlock(&disk->lock);
        return SQLITE_IOERR_WRITE;
    }
    bool was_off = disk->is_off;
    int code = next_error(disk, FAULT_WRITE, file->node->kind);
    // A failing write is made in part, to the end of a sector or not.
    int made = code == SQLITE_OK ? count : was_off ? 0 : (int)fault_random(disk, (uint64_t)count + 1);
    if (made < count && made > 512 && fault_random(disk, 2)) made -= made % 512;
    if (made > 0) {
        int real = file->real->pMethods->xWrite(file->real, bytes, made, offset);
        if (real == SQLITE_OK) fault_note_write(file->node, bytes, made, offset);
        if (code == SQLITE_OK) code = real;
    }
    pthread_mutex_unlock(&disk->lock);
    return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    fault_file *file = (fault_file *)base;
    pthread_mutex_lock(&file->disk->lock);
    int code = next_error(file->disk, FAULT_TRUNCATE, file->node->kind);
    if (code == SQLITE_OK) code = file->real->pMethods->xTruncate(file->real, size);
    if (code == SQLITE_OK) fault_note_size(file->node, size);
    pthread_mutex_unlock(&file->disk->lock);
    return code;
}

static int file_sync(sqlite3_file *base, int flags) {
    fault_file *file = (fault_file *)base;
    fault_disk *disk = file->disk;
    pthread_mutex_lock(&disk->lock);
    int code = next_error(disk, FAULT_SYNC, file->node->kind);
    if (code != SQLITE_OK) {
        if (!disk->is_off && disk->effect == FAULT_ERROR_AND_LOSS) fault_note_lost_sync(disk, file->node);
    } else {
        fault_note_sync(file->node);
        if (file->syncs_directory) fault_note_directory_sync(disk);
        file->syncs_directory = false;
    }
    pthread_mutex_unlock(&disk->lock);
    (void)flags;
    return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xFileSize(file->real, size);
}

static int file_lock(sqlite3_file *base, int level) {
    fault_file *file = (fault_file *)base;
    int code = check(file, FAULT_LOCK);
    return code ? code : file->real->pMethods->xLock(file->real, level);
}

// Calls that release something always succeed: the system releases it for a process that dies, too.
static int file_unlock(sqlite3_file *base, int level) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xUnlock(file->real, level);
}

static int file_check_lock(sqlite3_file *base, int *answer) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xCheckReservedLock(file->real, answer);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    fault_file *file = (fault_file *)base;
    if (operation == SQLITE_FCNTL_LAST_ERRNO && file->disk->is_protected) {
        *(int *)argument = EROFS;
        return SQLITE_OK;
    }
    return file->real->pMethods->xFileControl(file->real, operation, argument);
}

static int file_sector_size(sqlite3_file *base) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xSectorSize(file->real);
}

static int file_characteristics(sqlite3_file *base) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xDeviceCharacteristics(file->real);
}

static int file_shm_map(sqlite3_file *base, int region, int size, int extends, void volatile **memory) {
    fault_file *file = (fault_file *)base;
    int code = check(file, FAULT_SHARED_MEMORY);
    if (code) return SQLITE_IOERR_SHMMAP;
    return file->real->pMethods->xShmMap(file->real, region, size, extends, memory);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    fault_file *file = (fault_file *)base;
    if (flags & SQLITE_SHM_LOCK) {
        int code = check(file, FAULT_SHARED_MEMORY);
        if (code) return code;
    }
    return file->real->pMethods->xShmLock(file->real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base) {
    fault_file *file = (fault_file *)base;
    file->real->pMethods->xShmBarrier(file->real);
}

static int file_shm_unmap(sqlite3_file *base, int deletes) {
    fault_file *file = (fault_file *)base;
    return file->real->pMethods->xShmUnmap(file->real, deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

// MARK: - The calls of the disk

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *given) {
    fault_disk *disk = disk_of(vfs);
    int kind = flags & SQLITE_OPEN_MAIN_DB ? FAULT_DATABASE : flags & SQLITE_OPEN_WAL ? FAULT_LOG
        : flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL) ? FAULT_JOURNAL : 0;
    // Temporary files never have to survive.
    if (!path || !kind) return disk->real->xOpen(disk->real, path, base, flags, given);
    fault_file *file = (fault_file *)base;
    memset(file, 0, sizeof *file);
    file->real = (sqlite3_file *)(file + 1);
    file->disk = disk;
    file->syncs_directory = kind != FAULT_DATABASE && flags & SQLITE_OPEN_CREATE;
    pthread_mutex_lock(&disk->lock);
    int code = next_error(disk, FAULT_OPEN, kind);
    if (code == SQLITE_OK) {
        file->node = fault_node_at(disk, path, kind);
        if (disk->is_protected) {
            flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
            flags |= SQLITE_OPEN_READONLY;
        }
        code = disk->real->xOpen(disk->real, path, file->real, flags, given);
    }
    if (code == SQLITE_OK) {
        if (access(path, F_OK) == 0) fault_note_creation(file->node);
        disk->open_files++;
        file->base.pMethods = &methods;
    }
    pthread_mutex_unlock(&disk->lock);
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs_directory) {
    fault_disk *disk = disk_of(vfs);
    size_t length = strlen(path);
    int kind = length > 4 && strcmp(path + length - 4, "-wal") == 0 ? FAULT_LOG : FAULT_JOURNAL;
    pthread_mutex_lock(&disk->lock);
    int code = next_error(disk, FAULT_DELETE, kind);
    if (code == SQLITE_OK) {
        fault_node *node = fault_node_at(disk, path, kind);
        code = disk->real->xDelete(disk->real, path, syncs_directory);
        if (code == SQLITE_OK) {
            fault_note_deletion(node);
            if (syncs_directory) fault_note_directory_sync(disk);
        }
    }
    pthread_mutex_unlock(&disk->lock);
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *answer) {
    fault_disk *disk = disk_of(vfs);
    if (disk->is_off) return SQLITE_IOERR_ACCESS;
    return disk->real->xAccess(disk->real, path, flags, answer);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int count, char *full) {
    return disk_of(vfs)->real->xFullPathname(disk_of(vfs)->real, path, count, full);
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    return disk_of(vfs)->real->xRandomness(disk_of(vfs)->real, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    return disk_of(vfs)->real->xSleep(disk_of(vfs)->real, microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *time) {
    return disk_of(vfs)->real->xCurrentTime(disk_of(vfs)->real, time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs, (void)count, (void)text;
    return 0;
}

fault_disk *fault_disk_make(const char *name, uint64_t seed) {
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    fault_disk *disk = calloc(1, sizeof *disk);
    if (!real || !disk) return NULL;
    disk->real = real;
    disk->random = seed;
    disk->name = strdup(name);
    pthread_mutex_init(&disk->lock, NULL);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)sizeof(fault_file) + real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
    if (!disk->name || sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK) return NULL;
    return disk;
}
