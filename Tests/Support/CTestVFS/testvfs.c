#include "testvfs.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

struct test_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    pthread_mutex_t mutex;
    int open_files;
    int64_t counts[TEST_VFS_KINDS];
    int64_t written_bytes;
    // Faults
    int kind;  // -1: none
    int64_t remaining;
    int is_sticky, is_disk_full;
    int64_t growth_left;  // -1: no limit
    int64_t fired;
    char fired_path[512];
    int (*strikes)(void *context, int kind);  // NULL: nobody is asked
    void *context;
    // Power
    disk *disk;  // NULL: not tracked
    int is_power_cut;
    int keeps_writes;  // the planned cut ends the process only: what was written is kept
    int64_t changes, changes_left;  // 0: no cut is planned
    int64_t lost_bytes;
};

typedef struct {
    sqlite3_file base;
    test_vfs *vfs;
    disk_file *disk_file;  // NULL: not tracked
    char *path;
    sqlite3_file *real;  // lies right behind this struct
} test_file;

static const int failures[TEST_VFS_KINDS] = {
    SQLITE_CANTOPEN, SQLITE_IOERR_READ, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_DELETE,
};

static test_vfs *owner(sqlite3_vfs *vfs) { return (test_vfs *)vfs; }
static sqlite3_file *real_file(sqlite3_file *file) { return ((test_file *)file)->real; }

static void note_fired(test_vfs *vfs, const char *path) {
    if (vfs->fired++ == 0) strncpy(vfs->fired_path, path ? path : "(temporary)", sizeof vfs->fired_path - 1);
}

// Counts the call and decides whether it fails; the code, or SQLITE_OK. The lock is held.
static int decide(test_vfs *vfs, int kind, const char *path) {
    vfs->counts[kind]++;
    if (vfs->is_power_cut) return failures[kind];
    if (vfs->disk && kind >= TEST_VFS_WRITE) {
        vfs->changes++;
        if (vfs->changes_left > 0 && --vfs->changes_left == 0) {
            vfs->is_power_cut = 1;
            return failures[kind];
        }
    }
    if (vfs->kind != kind) return SQLITE_OK;
    if (vfs->remaining > 0) vfs->remaining--;
    if (vfs->remaining > 0) return SQLITE_OK;
    if (!vfs->is_sticky) vfs->kind = -1;
    note_fired(vfs, path);
    return vfs->is_disk_full ? SQLITE_FULL : failures[kind];
}

static int strikes(test_vfs *vfs, int kind) { return vfs->strikes && vfs->strikes(vfs->context, kind); }

static void die(void) { kill(getpid(), SIGKILL); }

// MARK: files

static int file_close(sqlite3_file *base) {
    test_file *file = (test_file *)base;
    int result = file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;
    pthread_mutex_lock(&file->vfs->mutex);
    file->vfs->open_files--;
    pthread_mutex_unlock(&file->vfs->mutex);
    free(file->path);
    return result;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    test_file *file = (test_file *)base;
    pthread_mutex_lock(&file->vfs->mutex);
    int result = decide(file->vfs, TEST_VFS_READ, file->path);
    pthread_mutex_unlock(&file->vfs->mutex);
    if (result != SQLITE_OK) return result;
    return file->real->pMethods->xRead(file->real, bytes, count, offset);
}

static int write_both(test_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    file->vfs->written_bytes += count;
    int result = file->real->pMethods->xWrite(file->real, bytes, count, offset);
    if (result != SQLITE_OK || !file->disk_file) return result;
    return disk_write(file->disk_file, bytes, count, offset) ? SQLITE_OK : SQLITE_NOMEM;
}

// How much of a write the growth limit lets through. The lock is held.
static int fitting(test_file *file, int count, sqlite3_int64 offset) {
    test_vfs *vfs = file->vfs;
    sqlite3_int64 size = 0;
    if (vfs->growth_left < 0 || file->real->pMethods->xFileSize(file->real, &size) != SQLITE_OK) return count;
    sqlite3_int64 growth = offset + count - size;
    if (growth <= 0) return count;
    if (growth <= vfs->growth_left) {
        vfs->growth_left -= growth;
        return count;
    }
    sqlite3_int64 fits = count - (growth - vfs->growth_left);
    vfs->growth_left = 0;
    note_fired(vfs, file->path);
    return fits > 0 ? (int)fits : 0;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    test_file *file = (test_file *)base;
    test_vfs *vfs = file->vfs;
    pthread_mutex_lock(&vfs->mutex);
    if (strikes(vfs, TEST_VFS_WRITE)) {
        write_both(file, bytes, count / 2, offset);
        die();
    }
    int was_cut = vfs->is_power_cut;
    int result = decide(vfs, TEST_VFS_WRITE, file->path);
    if (result == SQLITE_OK) {
        int fits = fitting(file, count, offset);
        if (fits == count) {
            result = write_both(file, bytes, count, offset);
        } else {
            if (fits > 0) write_both(file, bytes, fits, offset);
            result = SQLITE_FULL;
        }
    } else if (vfs->is_power_cut && !was_cut && vfs->keeps_writes) {
        // The process ended in the middle of the write.
        write_both(file, bytes, count / 2, offset);
    } else if (vfs->is_power_cut && !was_cut) {
        // The write during which the power went may have reached the disk in part, like any unsynced one.
        if (file->disk_file) disk_write(file->disk_file, bytes, count, offset);
    } else if (!was_cut && count > 1) {
        write_both(file, bytes, count / 2, offset);
    }
    pthread_mutex_unlock(&vfs->mutex);
    return result;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    test_file *file = (test_file *)base;
    pthread_mutex_lock(&file->vfs->mutex);
    if (strikes(file->vfs, TEST_VFS_TRUNCATE)) die();
    int result = decide(file->vfs, TEST_VFS_TRUNCATE, file->path);
    if (result == SQLITE_OK) result = file->real->pMethods->xTruncate(file->real, size);
    if (result == SQLITE_OK && file->disk_file && !disk_truncate(file->disk_file, size)) result = SQLITE_NOMEM;
    pthread_mutex_unlock(&file->vfs->mutex);
    return result;
}

static int file_sync(sqlite3_file *base, int flags) {
    test_file *file = (test_file *)base;
    pthread_mutex_lock(&file->vfs->mutex);
    if (strikes(file->vfs, TEST_VFS_SYNC)) die();
    int result = decide(file->vfs, TEST_VFS_SYNC, file->path);
    // Not passed on: no test takes the real power away, and real syncs are most of what the loops would cost.
    (void)flags;
    if (result == SQLITE_OK && file->disk_file) disk_sync(file->vfs->disk, file->disk_file);
    pthread_mutex_unlock(&file->vfs->mutex);
    return result;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    test_file *file = (test_file *)base;
    if (test_vfs_is_power_cut(file->vfs)) return SQLITE_IOERR_FSTAT;
    return file->real->pMethods->xFileSize(file->real, size);
}

static int file_lock(sqlite3_file *file, int level) { return real_file(file)->pMethods->xLock(real_file(file), level); }
static int file_unlock(sqlite3_file *file, int level) {
    return real_file(file)->pMethods->xUnlock(real_file(file), level);
}
static int file_check_lock(sqlite3_file *file, int *result) {
    return real_file(file)->pMethods->xCheckReservedLock(real_file(file), result);
}
static int file_control(sqlite3_file *file, int code, void *argument) {
    return real_file(file)->pMethods->xFileControl(real_file(file), code, argument);
}
static int file_sector_size(sqlite3_file *file) { return real_file(file)->pMethods->xSectorSize(real_file(file)); }
static int file_characteristics(sqlite3_file *file) {
    return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}
static int file_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    return real_file(file)->pMethods->xShmMap(real_file(file), region, size, extends, memory);
}
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_file(file)->pMethods->xShmLock(real_file(file), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *file) { real_file(file)->pMethods->xShmBarrier(real_file(file)); }
static int file_shm_unmap(sqlite3_file *file, int deletes) {
    return real_file(file)->pMethods->xShmUnmap(real_file(file), deletes);
}

// Version 2: without xFetch every read comes through xRead, where it can fail.
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

// MARK: the file system

static int open_real(test_vfs *vfs, test_file *file, const char *path, int flags, int *out_flags) {
    int is_there = 0;
    if (path) vfs->real->xAccess(vfs->real, path, SQLITE_ACCESS_EXISTS, &is_there);
    int result = vfs->real->xOpen(vfs->real, path, file->real, flags, out_flags);
    if (result != SQLITE_OK || !vfs->disk || !path || flags & SQLITE_OPEN_DELETEONCLOSE) return result;
    int is_journal = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL);
    file->disk_file = disk_open(vfs->disk, path, !is_there, is_journal != 0);
    return file->disk_file ? SQLITE_OK : SQLITE_NOMEM;
}

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *base_file, int flags, int *out_flags) {
    test_vfs *vfs = owner(base);
    test_file *file = (test_file *)base_file;
    memset(file, 0, (size_t)base->szOsFile);
    file->vfs = vfs;
    file->real = (sqlite3_file *)(file + 1);
    pthread_mutex_lock(&vfs->mutex);
    int result = decide(vfs, TEST_VFS_OPEN, path);
    if (result == SQLITE_OK && path && !(file->path = strdup(path))) result = SQLITE_NOMEM;
    if (result == SQLITE_OK) result = open_real(vfs, file, path, flags, out_flags);
    if (result == SQLITE_OK) {
        file->base.pMethods = &methods;
        vfs->open_files++;
    } else {
        if (file->real->pMethods) file->real->pMethods->xClose(file->real);
        free(file->path);
    }
    pthread_mutex_unlock(&vfs->mutex);
    return result;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int syncs_folder) {
    test_vfs *vfs = owner(base);
    pthread_mutex_lock(&vfs->mutex);
    int result = decide(vfs, TEST_VFS_DELETE, path);
    if (result == SQLITE_OK) result = vfs->real->xDelete(vfs->real, path, syncs_folder);
    if (result == SQLITE_OK && vfs->disk) disk_delete(vfs->disk, path, syncs_folder);
    pthread_mutex_unlock(&vfs->mutex);
    return result;
}

static int vfs_access(sqlite3_vfs *base, const char *path, int flags, int *result) {
    if (test_vfs_is_power_cut(owner(base))) return SQLITE_IOERR_ACCESS;
    return owner(base)->real->xAccess(owner(base)->real, path, flags, result);
}
static int vfs_full_path(sqlite3_vfs *base, const char *path, int size, char *full) {
    return owner(base)->real->xFullPathname(owner(base)->real, path, size, full);
}
static int vfs_randomness(sqlite3_vfs *base, int count, char *bytes) {
    return owner(base)->real->xRandomness(owner(base)->real, count, bytes);
}
static int vfs_sleep(sqlite3_vfs *base, int microseconds) {
    return owner(base)->real->xSleep(owner(base)->real, microseconds);
}
static int vfs_time(sqlite3_vfs *base, double *time) { return owner(base)->real->xCurrentTime(owner(base)->real, time); }
static int vfs_time_int64(sqlite3_vfs *base, sqlite3_int64 *time) {
    return owner(base)->real->xCurrentTimeInt64(owner(base)->real, time);
}
static int vfs_last_error(sqlite3_vfs *base, int size, char *text) {
    return owner(base)->real->xGetLastError(owner(base)->real, size, text);
}

// MARK: for tests

test_vfs *test_vfs_create(const char *name, int tracks_power) {
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    test_vfs *vfs = calloc(1, sizeof(test_vfs));
    char *own_name = strdup(name);
    if (vfs && tracks_power) vfs->disk = disk_create();
    if (!real || !vfs || !own_name || (tracks_power && !vfs->disk)) {
        if (vfs && vfs->disk) disk_free(vfs->disk);
        free(own_name);
        free(vfs);
        return NULL;
    }
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->real = real;
    vfs->kind = -1;
    vfs->growth_left = -1;
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(test_file) + real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = own_name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time_int64,
    };
    sqlite3_vfs_register(&vfs->vfs, 0);
    return vfs;
}

int test_vfs_destroy(test_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int is_open = vfs->open_files > 0;
    pthread_mutex_unlock(&vfs->mutex);
    if (is_open) return 0;
    sqlite3_vfs_unregister(&vfs->vfs);
    if (vfs->disk) disk_free(vfs->disk);
    pthread_mutex_destroy(&vfs->mutex);
    free((char *)vfs->vfs.zName);
    free(vfs);
    return 1;
}

void test_vfs_arm(test_vfs *vfs, int kind, int64_t nth, int sticky, int disk_full) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->kind = kind;
    vfs->remaining = nth;
    vfs->is_sticky = sticky;
    vfs->is_disk_full = disk_full;
    vfs->fired = 0;
    vfs->fired_path[0] = 0;
    pthread_mutex_unlock(&vfs->mutex);
}

void test_vfs_limit_growth(test_vfs *vfs, int64_t bytes) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->growth_left = bytes;
    vfs->fired = 0;
    vfs->fired_path[0] = 0;
    pthread_mutex_unlock(&vfs->mutex);
}

void test_vfs_disarm(test_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->kind = -1;
    vfs->growth_left = -1;
    pthread_mutex_unlock(&vfs->mutex);
}

void test_vfs_kill_when(test_vfs *vfs, int (*strikes)(void *context, int kind), void *context) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->strikes = strikes;
    vfs->context = context;
    pthread_mutex_unlock(&vfs->mutex);
}

static int64_t locked(test_vfs *vfs, int64_t *value) {
    pthread_mutex_lock(&vfs->mutex);
    int64_t read = *value;
    pthread_mutex_unlock(&vfs->mutex);
    return read;
}

int64_t test_vfs_count(test_vfs *vfs, int kind) { return locked(vfs, &vfs->counts[kind]); }
int64_t test_vfs_written_bytes(test_vfs *vfs) { return locked(vfs, &vfs->written_bytes); }
int64_t test_vfs_fired(test_vfs *vfs) { return locked(vfs, &vfs->fired); }
int64_t test_vfs_changes(test_vfs *vfs) { return locked(vfs, &vfs->changes); }
int64_t test_vfs_lost_bytes(test_vfs *vfs) { return locked(vfs, &vfs->lost_bytes); }

void test_vfs_fired_path(test_vfs *vfs, char *path, int size) {
    pthread_mutex_lock(&vfs->mutex);
    strncpy(path, vfs->fired_path, (size_t)size - 1);
    path[size - 1] = 0;
    pthread_mutex_unlock(&vfs->mutex);
}

void test_vfs_cut_power(test_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->is_power_cut = 1;
    pthread_mutex_unlock(&vfs->mutex);
}

static void cut_at(test_vfs *vfs, int64_t nth, int keeps_writes) {
    pthread_mutex_lock(&vfs->mutex);
    vfs->changes_left = nth;
    vfs->keeps_writes = keeps_writes;
    pthread_mutex_unlock(&vfs->mutex);
}

void test_vfs_cut_power_at(test_vfs *vfs, int64_t nth) { cut_at(vfs, nth, 0); }
void test_vfs_end_process_at(test_vfs *vfs, int64_t nth) { cut_at(vfs, nth, 1); }

int test_vfs_start_process(test_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int ok = vfs->open_files == 0;
    if (ok) {
        vfs->is_power_cut = 0;
        vfs->keeps_writes = 0;
        vfs->changes_left = 0;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return ok;
}

int test_vfs_is_power_cut(test_vfs *vfs) {
    pthread_mutex_lock(&vfs->mutex);
    int is_cut = vfs->is_power_cut;
    pthread_mutex_unlock(&vfs->mutex);
    return is_cut;
}

int test_vfs_restore_power(test_vfs *vfs, uint64_t seed) {
    pthread_mutex_lock(&vfs->mutex);
    int ok = vfs->open_files == 0 && disk_lose_power(vfs->disk, seed, &vfs->lost_bytes);
    if (ok) {
        vfs->is_power_cut = 0;
        vfs->keeps_writes = 0;
        vfs->changes_left = 0;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return ok;
}
