#include <sqlite3.h>

// Swift can't call a function with variable arguments.
static inline int csqlite_turn_off_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
