// Small measurements that C takes: the disk's sync, a push, connections that wait, libcurl, a server with one answer.
#pragma once

#include "load.h"

#include <stddef.h>
#include <stdint.h>

// Appends 4 KB to a file at `path` and syncs it, `count` times; each time in nanoseconds. Returns 0 or -1.
int probe_sync(const char *path, size_t count, uint32_t *nanoseconds);

// One device polls, another saves: `count` times, with the save's requests in order. Each time, in nanoseconds from
// the sending of the save: when its answer came, and when the poll was answered. Returns 0, or -1 with the reason.
typedef struct {
    int port;
    // The poll's path and query; what was pushed last is acknowledged by the next one.
    const char *poll_target;
    const load_request *saves;
    size_t count;
    uint32_t *saved;
    uint32_t *pushed;
    char failure[200];
    char last_push[64];
} probe_push_plan;
int probe_push(probe_push_plan *plan);

// Opens a connection for each request, sends it, and leaves the connection open. Returns how many are open and silent
// after `wait_milliseconds`; `connections` receives their sockets.
size_t probe_hold(int port, const load_request *requests, size_t count, int wait_milliseconds, int *connections);
void probe_release(const int *connections, size_t count);

// Posts the same body `count` times with libcurl on one connection, one after the other. `headers` are lines, the last
// followed by NULL. Returns the seconds, or -1.
double probe_curl(const char *url, const char *const *headers, const char *body, size_t length, size_t count);

// Answers each request with `answer`, a whole HTTP answer, until standard input ends. Writes its port in a line on
// standard output, and the first request that it got to the file at `first_path`. Returns 0 or -1.
int probe_serve(const char *answer, size_t length, const char *first_path);
