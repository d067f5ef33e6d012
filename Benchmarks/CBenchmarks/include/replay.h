// What SQLite does without us: the statements that our service ran, with the same values, through its C interface.
#pragma once

#include <stddef.h>

typedef struct replay replay;

// Keeps each statement that this process runs on connections opened from now on, until replay_stop.
// One recording at a time; NULL when another one runs or memory is out.
replay *replay_start(void);
void replay_stop(replay *recording);
void replay_free(replay *recording);

// How many of the recorded statements contain a text.
size_t replay_count(const replay *recording, const char *text);

// Runs the recorded statements on the database at `path`, at synchronous=FULL. Returns the seconds, or -1.
double replay_run(const replay *recording, const char *path);

// Runs those that contain `text` only, each in a transaction of its own. Returns the seconds, or -1.
double replay_run_each(const replay *recording, const char *path, const char *text);

// Runs SQL on the database at `path`. Returns 0, or SQLite's code with its message in `message`.
int replay_execute(const char *path, const char *sql, char *message, size_t message_size);

// The number that a query answers, or -1.
long long replay_number(const char *path, const char *sql);
