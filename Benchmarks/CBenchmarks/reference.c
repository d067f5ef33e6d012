#include "reference.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference {
    sqlite3 *database;
    sqlite3_stmt *insert;
    sqlite3_stmt *select;
    sqlite3_stmt *begin;
    sqlite3_stmt *begin_immediate;
    sqlite3_stmt *commit;
};

static int prepare(reference *reference, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(reference->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static int copy_number(sqlite3 *from, sqlite3 *to, const char *pragma) {
    char sql[100];
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql, "PRAGMA %s", pragma);
    int code = sqlite3_prepare_v2(from, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        snprintf(sql, sizeof sql, "PRAGMA %s = %lld", pragma, (long long)sqlite3_column_int64(statement, 0));
        code = sqlite3_exec(to, sql, NULL, NULL, NULL);
    }
    sqlite3_finalize(statement);
    return code;
}

// The schema is read from a file of ours and not repeated here, so that it can't drift from it.
static int copy_schema(const char *template_path, sqlite3 *to) {
    sqlite3 *from = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_open_v2(template_path, &from, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = copy_number(from, to, "page_size");
    if (code == SQLITE_OK) code = sqlite3_exec(to, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = copy_number(from, to, "application_id");
    if (code == SQLITE_OK) code = copy_number(from, to, "user_version");
    if (code == SQLITE_OK) {
        const char *sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
        code = sqlite3_prepare_v2(from, sql, -1, &statement, NULL);
    }
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        code = sqlite3_exec(to, (const char *)sqlite3_column_text(statement, 0), NULL, NULL, NULL);
    }
    sqlite3_finalize(statement);
    sqlite3_close(from);
    return code;
}

reference *reference_open(const char *path, const char *template_path, int synchronous) {
    reference *opened = calloc(1, sizeof *opened);
    if (!opened) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &opened->database, flags, NULL);
    if (code == SQLITE_OK) code = copy_schema(template_path, opened->database);
    if (code == SQLITE_OK) {
        const char *sql = synchronous == 2 ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL";
        code = sqlite3_exec(opened->database, sql, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        const char *sql = "INSERT INTO database2 (collection, key, data, metadata) VALUES (?1, ?2, ?3, NULL)";
        code = prepare(opened, sql, &opened->insert);
    }
    if (code == SQLITE_OK) {
        const char *sql = "SELECT data FROM database2 WHERE collection = ?1 AND key = ?2";
        code = prepare(opened, sql, &opened->select);
    }
    if (code == SQLITE_OK) code = prepare(opened, "BEGIN", &opened->begin);
    if (code == SQLITE_OK) code = prepare(opened, "BEGIN IMMEDIATE", &opened->begin_immediate);
    if (code == SQLITE_OK) code = prepare(opened, "COMMIT", &opened->commit);
    if (code == SQLITE_OK) return opened;
    reference_close(opened);
    return NULL;
}

void reference_close(reference *reference) {
    sqlite3_finalize(reference->insert);
    sqlite3_finalize(reference->select);
    sqlite3_finalize(reference->begin);
    sqlite3_finalize(reference->begin_immediate);
    sqlite3_finalize(reference->commit);
    sqlite3_close(reference->database);
    free(reference);
}

static int run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert(reference *reference, const char *collection, int collection_length, const reference_row *row) {
    sqlite3_stmt *statement = reference->insert;
    sqlite3_bind_text(statement, 1, collection, collection_length, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, row->key, row->key_length, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 3, row->data, row->data_length, SQLITE_STATIC);
    return run(statement);
}

int reference_insert_in_one_transaction(
    reference *reference, const char *collection, const reference_row *rows, size_t count) {
    int length = (int)strlen(collection);
    int code = run(reference->begin_immediate);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        code = insert(reference, collection, length, &rows[i]);
    }
    return code == SQLITE_OK ? run(reference->commit) : code;
}

int reference_insert_one_a_transaction(
    reference *reference, const char *collection, const reference_row *rows, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        code = reference_insert_in_one_transaction(reference, collection, &rows[i], 1);
    }
    return code;
}

int reference_read(
    reference *reference, const char *collection, const reference_row *rows, size_t count, int64_t *bytes) {
    int collection_length = (int)strlen(collection);
    sqlite3_stmt *statement = reference->select;
    int code = run(reference->begin);
    *bytes = 0;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        sqlite3_bind_text(statement, 1, collection, collection_length, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, rows[i].key, rows[i].key_length, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            int size = sqlite3_column_bytes(statement, 0);
            void *copy = malloc((size_t)size + 1);
            if (copy) {
                memcpy(copy, sqlite3_column_blob(statement, 0), (size_t)size);
                // What was copied is looked at, or the compiler could leave the copy out.
                *bytes += size + ((volatile unsigned char *)copy)[size / 2] / 256;
            } else {
                code = SQLITE_NOMEM;
            }
            free(copy);
        } else {
            code = SQLITE_NOTFOUND;
        }
        sqlite3_reset(statement);
    }
    int committed = run(reference->commit);
    return code == SQLITE_OK ? committed : code;
}
