// What SQLite does without us: the same rows in the same tables, through its own C interface.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct reference reference;

typedef struct {
    const char *key;
    int key_length;
    const void *data;
    int data_length;
} reference_row;

// Creates a file at `path` with the schema, application id and user version of the one at `template_path`.
// Returns NULL when that fails. `synchronous` is that of the PRAGMA: 1 normal, 2 full.
reference *reference_open(const char *path, const char *template_path, int synchronous);
void reference_close(reference *reference);

// Each returns SQLite's result code, or SQLITE_NOTFOUND when a row is missing.
int reference_insert_in_one_transaction(
    reference *reference, const char *collection, const reference_row *rows, size_t count);
int reference_insert_one_a_transaction(
    reference *reference, const char *collection, const reference_row *rows, size_t count);

// Finds each row by its key and copies its data out, in one read transaction. `bytes` receives the sum of the sizes.
int reference_read(
    reference *reference, const char *collection, const reference_row *rows, size_t count, int64_t *bytes);
