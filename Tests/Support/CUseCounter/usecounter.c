#include "usecounter.h"
#include <errno.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>

static _Thread_local int is_attached, is_counting;
static _Thread_local use_counts counts;
// The connection whose changes were counted last, and how many it had made.
static _Thread_local sqlite3 *writer;
static _Thread_local int64_t writer_changes;

// MARK: SQLite

static int traced(unsigned kind, void *context, void *pointer, void *detail) {
    (void)context, (void)detail;
    sqlite3_stmt *statement = pointer;
    if (kind == SQLITE_TRACE_ROW) {
        if (is_counting) counts.rows_read++;
        return 0;
    }
    // A statement has ended, or was reset. Its own count begins anew, whether anybody wants it or not.
    int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    if (!is_counting) return 0;
    counts.steps += steps;
    sqlite3 *database = sqlite3_db_handle(statement);
    int64_t changes = sqlite3_total_changes64(database);
    if (database == writer) counts.rows_written += changes - writer_changes;
    writer = database;
    writer_changes = changes;
    return 0;
}

static int opened(sqlite3 *database, const char **message, const sqlite3_api_routines *routines) {
    (void)message, (void)routines;
    if (is_attached) sqlite3_trace_v2(database, SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE, traced, NULL);
    return SQLITE_OK;
}

int use_counter_attach(void) {
    is_attached = 1;
    return sqlite3_auto_extension((void (*)(void))opened) == SQLITE_OK;
}

void use_counter_start(void) {
    counts = (use_counts){0};
    writer = NULL;
    is_counting = 1;
}

use_counts use_counter_stop(void) {
    is_counting = 0;
    return counts;
}

// MARK: Memory

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)

int use_counter_counts_memory(void) { return 1; }

// The C library lets a program replace its allocator
// (https://sourceware.org/glibc/manual/latest/html_node/Replacing-malloc.html). This one counts and hands on.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *allocated(void *block) {
    if (is_counting && block) {
        int64_t bytes = (int64_t)malloc_usable_size(block);
        counts.allocated_bytes += bytes;
        counts.allocated_bytes_total += bytes;
        if (counts.allocated_bytes > counts.allocated_bytes_peak) counts.allocated_bytes_peak = counts.allocated_bytes;
    }
    return block;
}

static void freed(int64_t bytes) {
    if (is_counting) counts.allocated_bytes -= bytes;
}

void *malloc(size_t size) { return allocated(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return allocated(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size) {
    int64_t before = is_counting && block ? (int64_t)malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);
    if (moved || size == 0) {
        // Both are there while one is copied.
        allocated(moved);
        freed(before);
    }
    return moved;
}

void free(void *block) {
    if (is_counting && block) freed((int64_t)malloc_usable_size(block));
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size) { return allocated(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *made = memalign(alignment, size);
    if (!made && size > 0) return ENOMEM;
    *block = made;
    return 0;
}

#else

int use_counter_counts_memory(void) { return 0; }

#endif
