// A server with one answer, for clients to be measured against: it reads a request's Content-Length, and no more.

#include "probes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 4096, REQUEST_BYTES_MAX = 64 << 10 };

typedef struct {
    char bytes[REQUEST_BYTES_MAX];
    size_t filled;
} canned_request;

typedef struct {
    int epoll;
    int listener;
    const char *answer;
    size_t length;
    const char *first_path;
    canned_request *requests[CONNECTIONS_MAX];
} canned;

static int watch(canned *server, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static void hang_up(canned *server, int connection) {
    free(server->requests[connection]);
    server->requests[connection] = NULL;
    close(connection);
}

static void take_connection(canned *server) {
    int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return;
    int one = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    canned_request *request = connection < CONNECTIONS_MAX ? malloc(sizeof *request) : NULL;
    if (!request) {
        close(connection);
        return;
    }
    request->filled = 0;
    server->requests[connection] = request;
    if (watch(server, connection) < 0) hang_up(server, connection);
}

// How long the request at the buffer's start is; 0 while it isn't whole.
static size_t whole_length(const canned_request *request) {
    const char *end = memmem(request->bytes, request->filled, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t body = 0;
    const char *line = request->bytes;
    while ((line = memchr(line, '\n', (size_t)(end + 2 - line))) != NULL) {
        line++;
        if (strncasecmp(line, "content-length:", 15) == 0) body = strtoul(line + 15, NULL, 10);
    }
    size_t length = (size_t)(end + 4 - request->bytes) + body;
    return length <= request->filled ? length : 0;
}

static void keep_first(canned *server, const char *bytes, size_t length) {
    FILE *file = server->first_path ? fopen(server->first_path, "w") : NULL;
    server->first_path = NULL;
    if (!file) return;
    fwrite(bytes, 1, length, file);
    fclose(file);
}

static void serve(canned *server, int connection) {
    canned_request *request = server->requests[connection];
    ssize_t count = recv(connection, request->bytes + request->filled, REQUEST_BYTES_MAX - request->filled, 0);
    if (count <= 0) {
        hang_up(server, connection);
        return;
    }
    request->filled += (size_t)count;
    for (size_t length; (length = whole_length(request)) > 0;) {
        if (server->first_path) keep_first(server, request->bytes, length);
        request->filled -= length;
        memmove(request->bytes, request->bytes + length, request->filled);
        if (send(connection, server->answer, server->length, MSG_NOSIGNAL) != (ssize_t)server->length) {
            hang_up(server, connection);
            return;
        }
    }
    if (request->filled == REQUEST_BYTES_MAX) hang_up(server, connection);
}

static int start(canned *server) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bind(server->listener, (struct sockaddr *)&address, size) < 0 || listen(server->listener, 512) < 0) return -1;
    if (getsockname(server->listener, (struct sockaddr *)&address, &size) < 0) return -1;
    if (watch(server, server->listener) < 0 || watch(server, 0) < 0) return -1;
    char line[32];
    int length = snprintf(line, sizeof line, "%d\n", ntohs(address.sin_port));
    return write(1, line, (size_t)length) == length ? 0 : -1;
}

int probe_serve(const char *answer, size_t length, const char *first_path) {
    static canned server;
    server = (canned){.answer = answer, .length = length, .first_path = first_path};
    if (start(&server) < 0) return -1;
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(server.epoll, events, 64, -1);
        if (count < 0 && errno != EINTR) return -1;
        for (int i = 0; i < count; i++) {
            int descriptor = events[i].data.fd;
            if (descriptor == 0) return 0;
            if (descriptor == server.listener) take_connection(&server);
            else serve(&server, descriptor);
        }
    }
}
