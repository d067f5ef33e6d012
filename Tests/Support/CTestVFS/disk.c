#include "disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512 };

// A change that was not synced: a write, or with `bytes` NULL a truncation to `offset`.
typedef struct {
    int64_t offset;
    int64_t count;
    unsigned char *bytes;
} change;

struct disk_file {
    char *path;
    unsigned char *synced;
    int64_t size, capacity;
    change *changes;
    int64_t change_count, change_capacity;
    int exists;         // not deleted, as the running process sees it
    int entry_synced;   // its name in the folder survives
    int syncs_folder;   // its next sync syncs the folder too
    disk_file *next;
};

struct disk {
    disk_file *files;
};

// splitmix64: well-spread bits from a seed and a few numbers.
static uint64_t mixed(uint64_t a, uint64_t b) {
    uint64_t word = a + 0x9E3779B97F4A7C15u * (b + 1);
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

static int grow(disk_file *file, int64_t capacity) {
    if (capacity <= file->capacity) return 1;
    int64_t doubled = file->capacity * 2;
    if (capacity < doubled) capacity = doubled;
    unsigned char *grown = realloc(file->synced, (size_t)capacity);
    if (!grown) return 0;
    memset(grown + file->capacity, 0, (size_t)(capacity - file->capacity));
    file->synced = grown;
    file->capacity = capacity;
    return 1;
}

// Cuts to `size`. What lies beyond reads as zeros if the file grows again.
static void cut(disk_file *file, int64_t size) {
    if (size < file->size) memset(file->synced + size, 0, (size_t)(file->size - size));
    file->size = size;
}

static void forget_changes(disk_file *file) {
    for (int64_t i = 0; i < file->change_count; i++) free(file->changes[i].bytes);
    file->change_count = 0;
}

static void free_file(disk_file *file) {
    forget_changes(file);
    free(file->changes);
    free(file->synced);
    free(file->path);
    free(file);
}

disk *disk_create(void) { return calloc(1, sizeof(disk)); }

void disk_free(disk *disk) {
    while (disk->files) {
        disk_file *file = disk->files;
        disk->files = file->next;
        free_file(file);
    }
    free(disk);
}

static int load(disk_file *file) {
    int descriptor = open(file->path, O_RDONLY);
    if (descriptor < 0) return 1;
    int64_t size = lseek(descriptor, 0, SEEK_END);
    int ok = size >= 0 && grow(file, size);
    while (ok && file->size < size) {
        ssize_t count = pread(descriptor, file->synced + file->size, (size_t)(size - file->size), file->size);
        if (count <= 0) ok = 0;
        else file->size += count;
    }
    close(descriptor);
    return ok;
}

static disk_file *find(disk *disk, const char *path) {
    disk_file *file = disk->files;
    while (file && strcmp(file->path, path) != 0) file = file->next;
    return file;
}

disk_file *disk_open(disk *disk, const char *path, int creates, int syncs_folder) {
    disk_file *file = find(disk, path);
    if (!file) {
        file = calloc(1, sizeof(disk_file));
        if (!file) return NULL;
        file->path = strdup(path);
        file->exists = 1;
        file->entry_synced = !creates;
        file->syncs_folder = creates && syncs_folder;
        if (!file->path || (!creates && !load(file))) {
            free_file(file);
            return NULL;
        }
        file->next = disk->files;
        disk->files = file;
    } else if (creates) {
        // Deleted, and made again before the folder was synced: the disk may still hold the old one.
        if (!disk_truncate(file, 0)) return NULL;
        file->exists = 1;
        file->syncs_folder = syncs_folder;
    }
    return file;
}

static change *add_change(disk_file *file) {
    if (file->change_count == file->change_capacity) {
        int64_t capacity = file->change_capacity ? file->change_capacity * 2 : 64;
        change *changes = realloc(file->changes, (size_t)capacity * sizeof(change));
        if (!changes) return NULL;
        file->changes = changes;
        file->change_capacity = capacity;
    }
    change *added = &file->changes[file->change_count++];
    memset(added, 0, sizeof(change));
    return added;
}

int disk_write(disk_file *file, const void *bytes, int64_t count, int64_t offset) {
    unsigned char *copy = malloc(count ? (size_t)count : 1);
    if (!copy) return 0;
    change *added = add_change(file);
    if (!added) {
        free(copy);
        return 0;
    }
    memcpy(copy, bytes, (size_t)count);
    *added = (change){.offset = offset, .count = count, .bytes = copy};
    // Room for it now, so that a sync can't fail.
    return grow(file, offset + count);
}

int disk_truncate(disk_file *file, int64_t size) {
    change *added = add_change(file);
    if (!added) return 0;
    added->offset = size;
    return grow(file, size);
}

static void sync_folder(disk *disk, const char *path) {
    size_t folder = (size_t)(strrchr(path, '/') ? strrchr(path, '/') - path : 0);
    disk_file **link = &disk->files;
    while (*link) {
        disk_file *file = *link;
        const char *slash = strrchr(file->path, '/');
        size_t length = (size_t)(slash ? slash - file->path : 0);
        if (length == folder && strncmp(path, file->path, folder) == 0) {
            if (file->exists) {
                file->entry_synced = 1;
            } else {
                *link = file->next;
                free_file(file);
                continue;
            }
        }
        link = &file->next;
    }
}

void disk_sync(disk *disk, disk_file *file) {
    for (int64_t i = 0; i < file->change_count; i++) {
        change *each = &file->changes[i];
        if (!each->bytes) {
            cut(file, each->offset);
        } else {
            memcpy(file->synced + each->offset, each->bytes, (size_t)each->count);
            if (file->size < each->offset + each->count) file->size = each->offset + each->count;
        }
    }
    forget_changes(file);
    file->entry_synced = 1;
    if (file->syncs_folder) {
        file->syncs_folder = 0;
        sync_folder(disk, file->path);
    }
}

void disk_delete(disk *disk, const char *path, int syncs_folder) {
    disk_file *file = find(disk, path);
    if (file) file->exists = 0;
    if (syncs_folder) sync_folder(disk, path);
}

// How the disk chose among a file's unsynced changes.
enum { LOSES_ALL, EACH_SECTOR_FOR_ITSELF, ALL_OR_NOTHING_A_SECTOR, UP_TO_A_TORN_CHANGE, MODES };

// Up to which change (not included) the disk kept the sector. A cache writes a sector as it is at some moment, so a
// sector holds every change up to one of them; different sectors, different moments.
static int64_t kept_changes(disk_file *file, int mode, uint64_t seed, int64_t sector) {
    uint64_t draw = mixed(seed, (uint64_t)sector + 2);
    switch (mode) {
    case LOSES_ALL: return 0;
    case EACH_SECTOR_FOR_ITSELF: return (int64_t)(draw % (uint64_t)(file->change_count + 1));
    case ALL_OR_NOTHING_A_SECTOR: return draw & 1 ? file->change_count : 0;
    default: {
        int64_t torn = (int64_t)(mixed(seed, 1) % (uint64_t)(file->change_count + 1));
        return torn + (int64_t)(draw & 1);
    }
    }
}

// Leaves in `synced` what the disk kept. Returns how many bytes of writes it did not.
//
// The length is metadata, which travels by itself: it may be ahead of the data (then zeros) or behind. A truncation
// goes with it: kept as a whole, or else what was written after it in its place is lost, being in other blocks.
static int64_t lose_changes(disk_file *file, uint64_t seed) {
    int mode = (int)(mixed(seed, 0) % MODES);
    int64_t kept_length = kept_changes(file, mode, seed, -1);
    int64_t length = file->size;
    int64_t lost = 0;
    int64_t unreachable = INT64_MAX;  // from where a truncation that was not kept hides later writes
    for (int64_t i = 0; i < file->change_count; i++) {
        change *each = &file->changes[i];
        if (!each->bytes) {
            if (i < kept_length) {
                memset(file->synced + each->offset, 0, (size_t)(file->capacity - each->offset));
                length = each->offset;
            } else if (each->offset < unreachable) {
                unreachable = each->offset;
            }
            continue;
        }
        int64_t end = each->offset + each->count;
        if (i < kept_length && length < end) length = end;
        for (int64_t at = each->offset; at < end;) {
            int64_t sector = at / SECTOR_BYTES;
            int64_t next = (sector + 1) * SECTOR_BYTES < end ? (sector + 1) * SECTOR_BYTES : end;
            if (i < kept_changes(file, mode, seed, sector) && next <= unreachable)
                memcpy(file->synced + at, each->bytes + (at - each->offset), (size_t)(next - at));
            else
                lost += next - at;
            at = next;
        }
    }
    if (length < file->capacity) memset(file->synced + length, 0, (size_t)(file->capacity - length));
    file->size = length;
    forget_changes(file);
    return lost;
}

static int store(disk_file *file) {
    int descriptor = open(file->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (descriptor < 0) return 0;
    int64_t done = 0;
    while (done < file->size) {
        ssize_t count = pwrite(descriptor, file->synced + done, (size_t)(file->size - done), done);
        if (count <= 0) break;
        done += count;
    }
    close(descriptor);
    return done == file->size;
}

int disk_lose_power(disk *disk, uint64_t seed, int64_t *lost_bytes) {
    int ok = 1;
    uint64_t number = 0;
    *lost_bytes = 0;
    disk_file **link = &disk->files;
    while (*link) {
        disk_file *file = *link;
        uint64_t draw = mixed(seed, number++);
        *lost_bytes += lose_changes(file, draw);
        int is_there = file->exists && file->entry_synced ? 1 : (int)(mixed(draw, 0) >> 63);
        // Never synced and never found again, or a deletion that came to pass.
        if (!is_there) {
            unlink(file->path);
            *link = file->next;
            free_file(file);
            continue;
        }
        file->exists = file->entry_synced = 1;
        file->syncs_folder = 0;
        if (!store(file)) ok = 0;
        link = &file->next;
    }
    return ok;
}
