#pragma once
#include <stdint.h>

// An SQLite VFS over the operating system's that fails on command and forgets on command what was never synced.
//
// Two uses, one shim. Faults: the Nth call of a kind fails, once or from then on. Power loss: with `tracks_power` the
// shim remembers for each file what a disk is bound to keep (what was synced) and what it may lose (writes since). When
// the power is cut every call fails; when it is restored each file holds what was synced plus a part of the rest.
//
// Locks and shared memory are passed on, so that WAL works as in production. All functions may be called from any
// thread.
typedef struct test_vfs test_vfs;

enum test_vfs_kind {
    TEST_VFS_OPEN,
    TEST_VFS_READ,
    TEST_VFS_WRITE,
    TEST_VFS_SYNC,
    TEST_VFS_TRUNCATE,
    TEST_VFS_DELETE,
    TEST_VFS_KINDS
};

// Registers a VFS under `name`, which no other may have. Returns NULL when memory is short.
test_vfs *test_vfs_create(const char *name, int tracks_power);
// Unregisters and frees it. Does neither and returns 0 while files are open through it.
int test_vfs_destroy(test_vfs *vfs);

// From now on the `nth` call (1 is the next) of `kind` fails, and if `sticky` all after it. With `disk_full` the code
// is SQLITE_FULL. A write that fails has written the first half of its bytes, as a real one may have.
void test_vfs_arm(test_vfs *vfs, int kind, int64_t nth, int sticky, int disk_full);
// From now on writes that would make files grow by more than `bytes` in all write what fits and fail with SQLITE_FULL.
void test_vfs_limit_growth(test_vfs *vfs, int64_t bytes);
// Ends every fault. The counters stay.
void test_vfs_disarm(test_vfs *vfs);

// From now on `strikes` is asked before each call with its kind. When it says yes, this process kills itself, a write
// having written the first half of its bytes. It must not touch a file of the VFS.
void test_vfs_kill_when(test_vfs *vfs, int (*strikes)(void *context, int kind), void *context);

// How many calls of `kind` there were.
int64_t test_vfs_count(test_vfs *vfs, int kind);
// How many bytes were written to files.
int64_t test_vfs_written_bytes(test_vfs *vfs);
// How many calls were failed since the last arming, and the path of the first file that it hit ("" if none).
int64_t test_vfs_fired(test_vfs *vfs);
void test_vfs_fired_path(test_vfs *vfs, char *path, int size);

// Cuts the power now, or at the `nth` call from now that changes the disk (write, sync, truncate, delete).
void test_vfs_cut_power(test_vfs *vfs);
void test_vfs_cut_power_at(test_vfs *vfs, int64_t nth);
int test_vfs_is_power_cut(test_vfs *vfs);
// The same for the end of a process: at the `nth` such call every call begins to fail, a write having written the first
// half of its bytes, and what was written is kept.
void test_vfs_end_process_at(test_vfs *vfs, int64_t nth);
// After the end of a process another begins, with the files as they were written. Returns 0 when a file is still open.
int test_vfs_start_process(test_vfs *vfs);
// Calls that changed the disk, the measure of `test_vfs_cut_power_at`.
int64_t test_vfs_changes(test_vfs *vfs);
// Writes to each file what the disk kept, which `seed` decides, and turns the power on. Returns 0 when a file is still
// open or can't be written.
int test_vfs_restore_power(test_vfs *vfs, uint64_t seed);
// Bytes of unsynced writes that the last restoring left out.
int64_t test_vfs_lost_bytes(test_vfs *vfs);
