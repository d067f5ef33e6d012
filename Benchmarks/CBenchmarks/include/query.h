// The service's own statement for a page of a query, run by C.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct query_reader query_reader;

// Opens the file at `path` for reading, and prepares `sql`. Returns NULL when it can't.
query_reader *query_open(const char *path, const char *sql);
void query_close(query_reader *reader);

// Binds `value` as a blob to parameter `index`, runs the statement to its end, and reads every column of every row.
// Returns how many rows there were, or -1; adds their bytes to `bytes`.
int64_t query_run(query_reader *reader, int index, const uint8_t *value, size_t length, int64_t *bytes);
