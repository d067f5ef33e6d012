// The nearest vectors of a vector index's file, found by C.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct vector_reader vector_reader;

// Opens the file at `path` for reading. `sql` gives blocks of vectors as blobs, each with the number of its used slots
// in its first 32 bits, and its vectors from `offset` on. Returns NULL when it can't.
vector_reader *vector_open(const char *path, const char *sql, size_t offset, size_t dimensions);
void vector_close(vector_reader *reader);

// Finds the vectors with the greatest dot products with `query`, the greatest first: their places, counted from 0 on.
// Returns how many there are, up to `limit`, or -1.
int64_t vector_nearest(vector_reader *reader, const float *query, size_t limit, int64_t *places, float *products);
