#pragma once
#include <stdint.h>

// What a disk holds of some files: what it is bound to keep, and the changes since, which it may keep in part.
typedef struct disk disk;
typedef struct disk_file disk_file;

disk *disk_create(void);
void disk_free(disk *disk);

// The file at `path`, loaded from the real one at first. `creates` says that it did not exist until now; `syncs_folder`
// that its first sync also syncs the folder (SQLite does so for journals). NULL when memory is short.
disk_file *disk_open(disk *disk, const char *path, int creates, int syncs_folder);
// Each returns 0 when memory is short.
int disk_write(disk_file *file, const void *bytes, int64_t count, int64_t offset);
int disk_truncate(disk_file *file, int64_t size);
void disk_sync(disk *disk, disk_file *file);
void disk_delete(disk *disk, const char *path, int syncs_folder);

// Writes the files as they are after losing power; `seed` decides. Returns 0 when one can't be written.
int disk_lose_power(disk *disk, uint64_t seed, int64_t *lost_bytes);
