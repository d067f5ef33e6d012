#include "probes.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

int probe_sync(const char *path, size_t count, uint32_t *nanoseconds) {
    static const char page[4096];
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    int code = file < 0 ? -1 : 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        int64_t began = load_nanoseconds();
        code = write(file, page, sizeof page) == (ssize_t)sizeof page ? fdatasync(file) : -1;
        nanoseconds[i] = (uint32_t)(load_nanoseconds() - began);
    }
    if (file >= 0) close(file);
    return code;
}

static int push_failed(probe_push_plan *plan, const char *what, size_t round, load_answer *answer) {
    size_t length = 0;
    const char *body = load_answer_body(answer, &length);
    int status = load_answer_status(answer);
    int shown = length < 100 ? (int)length : 100;
    snprintf(plan->failure, sizeof plan->failure, "%s in round %zu: status %d %.*s", what, round, status, shown, body);
    return -1;
}

static int send_all(int connection, const load_request *request) {
    for (size_t sent = 0; sent < request->length;) {
        ssize_t count = send(connection, request->bytes + sent, request->length - sent, MSG_NOSIGNAL);
        if (count < 0) return -1;
        sent += (size_t)count;
    }
    return 0;
}

// Remembers which push an answer brought, so that the next poll acknowledges it.
static int keep_push(probe_push_plan *plan, const load_answer *answer) {
    size_t length = 0;
    const char *body = load_answer_body(answer, &length);
    const char *name = memmem(body, length, "\"nid\":\"", 7);
    const char *end = name ? memchr(name + 7, '"', (size_t)(body + length - name - 7)) : NULL;
    if (!end) return -1;
    snprintf(plan->last_push, sizeof plan->last_push, "%.*s", (int)(end - name - 7), name + 7);
    return 0;
}

// Sends the poll, again when it is answered at once: a push may come twice. It then has time to be parked, since what
// is measured is the push to a device that waits.
static int hold_poll(probe_push_plan *plan, int connection, load_answer *answer) {
    for (int tries = 0; tries < 50; tries++) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        char bytes[1024];
        int length = snprintf(bytes, sizeof bytes, "GET %s%s%s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Yap-Client: 1\r\n\r\n",
                              plan->poll_target, plan->last_push[0] ? "&after=" : "", plan->last_push);
        load_request request = {.bytes = bytes, .length = (size_t)length, .answer_length = -1};
        load_answer_reset(answer);
        if (send_all(connection, &request) < 0) return -1;
        if (poll(&wait, 1, 10) == 0) return 0;
        int code = 0;
        while (code == 0) code = load_answer_read(answer, connection);
        if (code < 0 || load_answer_status(answer) != 200 || keep_push(plan, answer) < 0) return -1;
    }
    return -1;
}

static int push_once(probe_push_plan *plan, size_t round, const int *connections, load_answer **answers) {
    struct pollfd waits[2] = {{.fd = connections[0], .events = POLLIN}, {.fd = connections[1], .events = POLLIN}};
    uint32_t *times[2] = {&plan->saved[round], &plan->pushed[round]};
    load_answer_reset(answers[0]);
    if (hold_poll(plan, connections[1], answers[1]) < 0) {
        return push_failed(plan, "the poll was not held", round, answers[1]);
    }
    int64_t began = load_nanoseconds();
    if (send_all(connections[0], &plan->saves[round]) < 0) {
        return push_failed(plan, "the save was not sent", round, answers[0]);
    }
    for (int left = 2; left > 0;) {
        if (poll(waits, 2, 5000) <= 0) return push_failed(plan, "no push came", round, answers[0]);
        for (int i = 0; i < 2; i++) {
            if (waits[i].fd < 0 || !waits[i].revents) continue;
            int code = load_answer_read(answers[i], connections[i]);
            if (code == 0) continue;
            *times[i] = (uint32_t)(load_nanoseconds() - began);
            if (code < 0 || load_answer_status(answers[i]) != 200) {
                return push_failed(plan, "refused", round, answers[i]);
            }
            waits[i].fd = -1;
            left--;
        }
    }
    load_answer_reset(answers[0]);
    return keep_push(plan, answers[1]) == 0 ? 0 : push_failed(plan, "the poll brought no push", round, answers[1]);
}

int probe_push(probe_push_plan *plan) {
    int connections[2] = {load_connect(plan->port), load_connect(plan->port)};
    load_answer *answers[2] = {load_answer_new(), load_answer_new()};
    int code = connections[0] < 0 || connections[1] < 0 || !answers[0] || !answers[1] ? -1 : 0;
    if (code < 0) snprintf(plan->failure, sizeof plan->failure, "the server can't be reached");
    for (size_t i = 0; i < plan->count && code == 0; i++) code = push_once(plan, i, connections, answers);
    for (int i = 0; i < 2; i++) {
        if (connections[i] >= 0) close(connections[i]);
        load_answer_free(answers[i]);
    }
    return code;
}

size_t probe_hold(int port, const load_request *requests, size_t count, int wait_milliseconds, int *connections) {
    size_t open = 0;
    struct rlimit files = {0};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    for (; open < count; open++) {
        connections[open] = load_connect(port);
        if (connections[open] < 0) break;
        if (send_all(connections[open], &requests[open]) < 0) {
            close(connections[open]);
            break;
        }
    }
    poll(NULL, 0, wait_milliseconds);
    size_t silent = 0;
    for (size_t i = 0; i < open; i++) {
        struct pollfd wait = {.fd = connections[i], .events = POLLIN};
        if (poll(&wait, 1, 0) == 0) silent++;
    }
    for (size_t i = open; i < count; i++) connections[i] = -1;
    return silent;
}

void probe_release(const int *connections, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (connections[i] >= 0) close(connections[i]);
    }
}

static size_t count_bytes(char *bytes, size_t size, size_t count, void *total) {
    (void)bytes;
    *(size_t *)total += size * count;
    return size * count;
}

double probe_curl(const char *url, const char *const *headers, const char *body, size_t length, size_t count) {
    CURL *curl = curl_easy_init();
    struct curl_slist *list = NULL;
    for (; headers && *headers; headers++) list = curl_slist_append(list, *headers);
    if (!curl) return -1;
    size_t received = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)length);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, count_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    int64_t began = load_nanoseconds();
    int is_good = 1;
    for (size_t i = 0; i < count && is_good; i++) {
        long status = 0;
        is_good = curl_easy_perform(curl) == CURLE_OK;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        is_good = is_good && status == 200;
    }
    double seconds = (double)(load_nanoseconds() - began) / 1e9;
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    return is_good && received > 0 ? seconds : -1;
}
