#include "query_reader.h"

#include <stdlib.h>

query_reader *query_open(const char *path, const char *sql) {
    query_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &reader->database, flags, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v3(
            reader->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &reader->statement, NULL);
    }
    if (code == SQLITE_OK) return reader;
    query_close(reader);
    return NULL;
}

void query_close(query_reader *reader) {
    if (!reader) return;
    sqlite3_finalize(reader->statement);
    sqlite3_close(reader->database);
    free(reader);
}

int64_t query_run(query_reader *reader, int index, const uint8_t *value, size_t length, int64_t *bytes) {
    sqlite3_stmt *statement = reader->statement;
    if (sqlite3_bind_blob64(statement, index, value, length, SQLITE_STATIC) != SQLITE_OK) return -1;
    int64_t rows = 0;
    int columns = sqlite3_column_count(statement);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        rows++;
        for (int column = 0; column < columns; column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER) {
                *bytes += sqlite3_column_int64(statement, column) != 0;
            } else {
                sqlite3_column_blob(statement, column);
                *bytes += sqlite3_column_bytes(statement, column);
            }
        }
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? rows : -1;
}
