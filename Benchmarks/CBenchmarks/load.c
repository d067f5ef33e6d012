#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int socket;
    const load_request *request;
    size_t number;
    size_t sent;
    int64_t began;
    load_answer *answer;
} load_connection;

typedef struct {
    const load_plan *plan;
    load_result *result;
    int epoll;
    load_connection *connections;
    size_t begun;
    size_t answered;
} load_state;

int64_t load_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int load_connect(int port) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) return connection;
    close(connection);
    return -1;
}

static int failed(load_state *state, const char *what, long number) {
    snprintf(state->result->failure, sizeof state->result->failure, "%s %ld", what, number);
    return -1;
}

static int wait_for(load_state *state, load_connection *connection, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    return epoll_ctl(state->epoll, operation, connection->socket, &event);
}

// Sends what is left of the request; waits for room only when the kernel takes no more.
static int send_rest(load_state *state, load_connection *connection) {
    const load_request *request = connection->request;
    while (connection->sent < request->length) {
        ssize_t count = send(connection->socket, request->bytes + connection->sent, request->length - connection->sent,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return wait_for(state, connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        if (count < 0) return failed(state, "a request could not be sent: error", errno);
        connection->sent += (size_t)count;
    }
    return 0;
}

static int begin(load_state *state, load_connection *connection) {
    if (state->begun == state->plan->total) return 0;
    connection->number = state->begun++;
    connection->request = &state->plan->requests[connection->number % state->plan->requests_count];
    connection->sent = 0;
    connection->began = load_nanoseconds();
    load_answer_reset(connection->answer);
    return send_rest(state, connection);
}

// Looks at an answer that is whole, and goes on with the next request.
static int finish(load_state *state, load_connection *connection) {
    size_t length = 0;
    const char *body = load_answer_body(connection->answer, &length);
    int status = load_answer_status(connection->answer);
    if (status != 200) return failed(state, "an answer has the status", status);
    int64_t wanted = connection->request->answer_length;
    if (wanted >= 0 && (size_t)wanted != length) return failed(state, "an answer has another length:", (long)length);
    const char *forbidden = state->plan->forbidden;
    if (forbidden && memmem(body, length, forbidden, strlen(forbidden))) {
        int shown = length < 180 ? (int)length : 180;
        snprintf(state->result->failure, sizeof state->result->failure, "refused: %.*s", shown, body);
        return -1;
    }
    state->result->body_bytes += (int64_t)length;
    if (state->plan->answered) state->plan->answered(state->plan->context, connection->number, body, length);
    if (state->plan->latencies) {
        state->plan->latencies[state->answered] = (uint32_t)(load_nanoseconds() - connection->began);
    }
    state->answered++;
    return begin(state, connection);
}

static int handle(load_state *state, load_connection *connection, uint32_t events) {
    if (events & EPOLLOUT) {
        if (wait_for(state, connection, EPOLL_CTL_MOD, EPOLLIN) < 0) return failed(state, "epoll: error", errno);
        if (send_rest(state, connection) < 0) return -1;
    }
    if (!(events & ~(uint32_t)EPOLLOUT)) return 0;
    int code = load_answer_read(connection->answer, connection->socket);
    if (code < 0) return failed(state, "a connection broke after this many answers:", (long)state->answered);
    return code == 0 ? 0 : finish(state, connection);
}

static int open_all(load_state *state) {
    for (int i = 0; i < state->plan->connections; i++) {
        load_connection *connection = &state->connections[i];
        connection->socket = load_connect(state->plan->port);
        if (connection->socket < 0) return failed(state, "the server can't be reached: error", errno);
        connection->answer = load_answer_new();
        if (!connection->answer || wait_for(state, connection, EPOLL_CTL_ADD, EPOLLIN) < 0) {
            return failed(state, "a connection can't be set up: error", errno);
        }
    }
    return 0;
}

static int run(load_state *state) {
    for (int i = 0; i < state->plan->connections; i++) {
        if (begin(state, &state->connections[i]) < 0) return -1;
    }
    while (state->answered < state->plan->total) {
        struct epoll_event events[256];
        int count = epoll_wait(state->epoll, events, 256, 10000);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return failed(state, "nothing came for 10 seconds after this answer:", (long)state->answered);
        for (int i = 0; i < count; i++) {
            if (handle(state, events[i].data.ptr, events[i].events) < 0) return -1;
        }
    }
    return 0;
}

int load_run(const load_plan *plan, load_result *result) {
    load_state state = {.plan = plan, .result = result, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    memset(result, 0, sizeof *result);
    if (state.epoll < 0) return failed(&state, "epoll: error", errno);
    state.connections = calloc((size_t)plan->connections, sizeof *state.connections);
    for (int i = 0; state.connections && i < plan->connections; i++) state.connections[i].socket = -1;
    int code = state.connections ? open_all(&state) : failed(&state, "out of memory", 0);
    if (code == 0) {
        int64_t began = load_nanoseconds();
        code = run(&state);
        result->seconds = (double)(load_nanoseconds() - began) / 1e9;
    }
    for (int i = 0; state.connections && i < plan->connections; i++) {
        if (state.connections[i].socket >= 0) close(state.connections[i].socket);
        load_answer_free(state.connections[i].answer);
    }
    free(state.connections);
    close(state.epoll);
    return code;
}

int load_exchange(int port, const char *bytes, size_t length, char **body, size_t *body_length) {
    int connection = load_connect(port);
    load_answer *answer = load_answer_new();
    int code = connection < 0 || !answer ? -1 : 0;
    *body = NULL;
    *body_length = 0;
    for (size_t sent = 0; code == 0 && sent < length;) {
        ssize_t count = send(connection, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (count < 0) code = -1;
        sent += count < 0 ? 0 : (size_t)count;
    }
    while (code == 0) code = load_answer_read(answer, connection);
    if (code == 1) {
        const char *found = load_answer_body(answer, body_length);
        *body = malloc(*body_length + 1);
        code = *body ? load_answer_status(answer) : -1;
        if (*body) {
            memcpy(*body, found, *body_length);
            (*body)[*body_length] = 0;
        }
    }
    if (connection >= 0) close(connection);
    load_answer_free(answer);
    return code;
}
