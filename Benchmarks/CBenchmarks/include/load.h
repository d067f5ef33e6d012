// A load generator that costs little: one thread, one epoll, keep-alive, requests that were made before.
#pragma once

#include <stddef.h>
#include <stdint.h>

// One request as it goes over the socket, head and body.
typedef struct {
    const char *bytes;
    size_t length;
    // The answer's body must have this length; -1 takes any.
    int64_t answer_length;
} load_request;

typedef struct {
    int port;
    int connections;
    // Sent in this order, each by the connection that is free next; after the last comes the first again.
    const load_request *requests;
    size_t requests_count;
    // How many answers end the run.
    size_t total;
    // No answer's body may contain this text; NULL looks at none.
    const char *forbidden;
    // Where `total` times from request to answer go, in nanoseconds; NULL keeps none.
    uint32_t *latencies;
    // Gets each answer's body with the number of its request; may be NULL.
    void (*answered)(void *context, size_t number, const char *body, size_t length);
    void *context;
} load_plan;

typedef struct {
    double seconds;
    int64_t body_bytes;
    // What went wrong, or an empty text.
    char failure[200];
} load_result;

// Runs a plan against 127.0.0.1. Returns 0, or -1 with the failure in `result`.
int load_run(const load_plan *plan, load_result *result);

// Sends one request on a connection of its own. Returns the answer's status, or -1. The body, which ends with a zero
// byte that its length doesn't count, is the caller's to free.
int load_exchange(int port, const char *bytes, size_t length, char **body, size_t *body_length);

// Opens a connection to 127.0.0.1, or returns -1.
int load_connect(int port);

// A time that only runs forward.
int64_t load_nanoseconds(void);

// Reads one answer after the other from a connection.
typedef struct load_answer load_answer;
load_answer *load_answer_new(void);
void load_answer_free(load_answer *answer);
// Makes ready for the next answer.
void load_answer_reset(load_answer *answer);
// Reads what the connection has. 1: the answer is whole; 0: more is to come; -1: closed, broken, or not HTTP.
int load_answer_read(load_answer *answer, int connection);
int load_answer_status(const load_answer *answer);
const char *load_answer_body(const load_answer *answer, size_t *length);
