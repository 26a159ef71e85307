// The calls with which tests control a disk.
#if defined(__linux__)
#define _GNU_SOURCE
#include <sys/fsuid.h>
#endif
#include <unistd.h>

#include "disk.h"

void fault_disk_arm(fault_disk *disk, int64_t before, int calls, int files, fault_effect effect, bool lasts) {
    pthread_mutex_lock(&disk->lock);
    disk->is_armed = true;
    disk->has_failed = false;
    disk->before = before;
    disk->cut_after = 0;
    disk->calls = calls;
    disk->files = files;
    disk->effect = effect;
    disk->lasts = lasts;
    pthread_mutex_unlock(&disk->lock);
}

void fault_disk_cut_after(fault_disk *disk, int64_t calls) {
    pthread_mutex_lock(&disk->lock);
    disk->cut_after = calls;
    pthread_mutex_unlock(&disk->lock);
}

void fault_disk_mend(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    disk->is_armed = false;
    disk->cut_after = 0;
    pthread_mutex_unlock(&disk->lock);
}

void fault_disk_cut(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    disk->is_off = disk->was_cut = true;
    pthread_mutex_unlock(&disk->lock);
}

void fault_disk_protect(fault_disk *disk, bool is_protected) {
    pthread_mutex_lock(&disk->lock);
    disk->is_protected = is_protected;
    pthread_mutex_unlock(&disk->lock);
}

bool fault_disk_has_failed(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    bool answer = disk->has_failed;
    pthread_mutex_unlock(&disk->lock);
    return answer;
}

bool fault_disk_is_off(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    bool answer = disk->is_off;
    pthread_mutex_unlock(&disk->lock);
    return answer;
}

int fault_disk_open_files(fault_disk *disk) {
    pthread_mutex_lock(&disk->lock);
    int answer = disk->open_files;
    pthread_mutex_unlock(&disk->lock);
    return answer;
}

int64_t fault_disk_calls(fault_disk *disk, int calls, int files) {
    int64_t count = 0;
    pthread_mutex_lock(&disk->lock);
    for (int call = 0; call < 8; call++)
        for (int file = 0; file < 3; file++)
            if (calls >> call & 1 && files >> file & 1) count += disk->counts[call][file];
    pthread_mutex_unlock(&disk->lock);
    return count;
}

bool fault_act_as_nobody(bool acts) {
#if defined(__linux__)
    if (geteuid() != 0) return true;
    setfsuid(acts ? 65534 : 0);
    return true;
#else
    (void)acts;
    return geteuid() != 0;
#endif
}
