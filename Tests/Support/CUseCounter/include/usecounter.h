#pragma once
#include <stdint.h>

// Counts what one thread uses: memory by the C library's allocations, rows and steps by SQLite's own traces. What other
// threads do meanwhile is not in it, so tests may run side by side.
typedef struct {
    int64_t allocated_bytes;       // allocated and not freed since the start; below 0 when more was freed
    int64_t allocated_bytes_peak;  // the most of them at a time
    int64_t allocated_bytes_total; // of all allocations, whether freed or not
    int64_t rows_read;             // rows that SQLite handed out
    int64_t rows_written;          // rows inserted, updated or deleted
    int64_t steps;                 // instructions of SQLite's virtual machine
} use_counts;

// From now on connections that this thread opens are counted when it uses them; those of before are not.
// Returns 0 when SQLite refuses.
int use_counter_attach(void);
// Begins to count this thread from zero.
void use_counter_start(void);
// Ends it, and returns what was counted.
use_counts use_counter_stop(void);
// Whether memory is counted: not where a sanitizer has the allocator.
int use_counter_counts_memory(void);
