#include "vectors.h"

#include "query_reader.h"

#include <stdlib.h>
#include <string.h>

struct vector_reader {
    query_reader *query;
    size_t offset;
    size_t dimensions;
};

vector_reader *vector_open(const char *path, const char *sql, size_t offset, size_t dimensions) {
    vector_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->query = query_open(path, sql);
    reader->offset = offset;
    reader->dimensions = dimensions;
    if (reader->query) return reader;
    free(reader);
    return NULL;
}

void vector_close(vector_reader *reader) {
    if (!reader) return;
    query_close(reader->query);
    free(reader);
}

// Sixteen sums, which the compiler adds by vector instructions.
static float product(const float *left, const float *right, size_t count) {
    float sums[16] = {0};
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        for (size_t lane = 0; lane < 16; lane++) sums[lane] += left[place + lane] * right[place + lane];
    }
    float sum = 0;
    for (; place < count; place++) sum += left[place] * right[place];
    for (size_t lane = 0; lane < 16; lane++) sum += sums[lane];
    return sum;
}

int64_t vector_nearest(vector_reader *reader, const float *query, size_t limit, int64_t *places, float *products) {
    sqlite3_stmt *statement = reader->query->statement;
    size_t found = 0;
    int64_t place = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *block = sqlite3_column_blob(statement, 0);
        size_t bytes = (size_t)sqlite3_column_bytes(statement, 0);
        uint32_t count;
        if (bytes < reader->offset) break;
        memcpy(&count, block, sizeof count);
        if (count > (bytes - reader->offset) / reader->dimensions / sizeof(float)) break;
        const float *vectors = (const float *)(block + reader->offset);
        for (uint32_t slot = 0; slot < count; slot++, place++) {
            float one = product(vectors + slot * reader->dimensions, query, reader->dimensions);
            if (found == limit && one <= products[found - 1]) continue;
            size_t at = found < limit ? found++ : found - 1;
            for (; at > 0 && products[at - 1] < one; at--) {
                products[at] = products[at - 1];
                places[at] = places[at - 1];
            }
            products[at] = one;
            places[at] = place;
        }
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? (int64_t)found : -1;
}
