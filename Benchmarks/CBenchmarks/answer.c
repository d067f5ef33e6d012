// An HTTP answer, read as it comes: Content-Length or chunked.

#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum framing { HEAD, SIZED, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER, DONE };

struct load_answer {
    char *bytes;
    size_t capacity;
    // What was read, and how far it was looked at.
    size_t filled;
    size_t position;
    // The body lies from body_start on; chunks are moved together.
    size_t body_start;
    size_t body_length;
    size_t wanted;
    int status;
    enum framing framing;
};

load_answer *load_answer_new(void) {
    load_answer *answer = calloc(1, sizeof *answer);
    if (!answer) return NULL;
    answer->capacity = 16 << 10;
    answer->bytes = malloc(answer->capacity);
    if (answer->bytes) return answer;
    free(answer);
    return NULL;
}

void load_answer_free(load_answer *answer) {
    if (!answer) return;
    free(answer->bytes);
    free(answer);
}

void load_answer_reset(load_answer *answer) {
    answer->filled = answer->position = answer->body_start = answer->body_length = answer->wanted = 0;
    answer->status = 0;
    answer->framing = HEAD;
}

int load_answer_status(const load_answer *answer) { return answer->status; }

const char *load_answer_body(const load_answer *answer, size_t *length) {
    *length = answer->body_length;
    return answer->bytes + answer->body_start;
}

// 1 when the head is whole and understood, 0 when more must come, -1 when it is none.
static int read_head(load_answer *answer) {
    char *end = memmem(answer->bytes, answer->filled, "\r\n\r\n", 4);
    if (!end) return 0;
    if (answer->filled < 12 || memcmp(answer->bytes, "HTTP/1.1 ", 9) != 0) return -1;
    answer->status = atoi(answer->bytes + 9);
    answer->framing = DONE;
    char *line = memchr(answer->bytes, '\n', (size_t)(end - answer->bytes) + 2);
    while (line && line < end) {
        line++;
        if ((*line | 32) == 'c' && strncasecmp(line, "content-length:", 15) == 0) {
            answer->wanted = strtoul(line + 15, NULL, 10);
            answer->framing = answer->wanted ? SIZED : DONE;
        } else if ((*line | 32) == 't' && strncasecmp(line, "transfer-encoding:", 18) == 0) {
            answer->framing = CHUNK_SIZE;
        }
        line = memchr(line, '\n', (size_t)(end + 4 - line));
    }
    answer->position = answer->body_start = (size_t)(end + 4 - answer->bytes);
    return 1;
}

// Takes a line away from the front of what wasn't looked at yet; NULL when it isn't whole.
static char *next_line(load_answer *answer) {
    char *line = answer->bytes + answer->position;
    char *end = memchr(line, '\n', answer->filled - answer->position);
    if (!end) return NULL;
    answer->position = (size_t)(end + 1 - answer->bytes);
    return line;
}

static void take_body(load_answer *answer) {
    size_t available = answer->filled - answer->position;
    size_t count = available < answer->wanted ? available : answer->wanted;
    char *body_end = answer->bytes + answer->body_start + answer->body_length;
    if (body_end != answer->bytes + answer->position) {
        memmove(body_end, answer->bytes + answer->position, count);
    }
    answer->body_length += count;
    answer->position += count;
    answer->wanted -= count;
}

static int advance(load_answer *answer) {
    for (;;) {
        char *line = NULL;
        int code = 0;
        switch (answer->framing) {
        case HEAD:
            code = read_head(answer);
            if (code <= 0) return code;
            break;
        case SIZED:
        case CHUNK:
            take_body(answer);
            if (answer->wanted > 0) return 0;
            answer->framing = answer->framing == SIZED ? DONE : CHUNK_END;
            break;
        case CHUNK_SIZE:
            line = next_line(answer);
            if (!line) return 0;
            answer->wanted = strtoul(line, NULL, 16);
            answer->framing = answer->wanted > 0 ? CHUNK : TRAILER;
            break;
        case CHUNK_END:
            if (!next_line(answer)) return 0;
            answer->framing = CHUNK_SIZE;
            break;
        case TRAILER:
            line = next_line(answer);
            if (!line) return 0;
            if (*line == '\r' || *line == '\n') answer->framing = DONE;
            break;
        case DONE:
            return 1;
        }
    }
}

int load_answer_read(load_answer *answer, int connection) {
    if (answer->capacity - answer->filled < 8 << 10) {
        char *grown = realloc(answer->bytes, answer->capacity * 2);
        if (!grown) return -1;
        answer->bytes = grown;
        answer->capacity *= 2;
    }
    ssize_t count = recv(connection, answer->bytes + answer->filled, answer->capacity - answer->filled, 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (count == 0) return -1;
    answer->filled += (size_t)count;
    return advance(answer);
}
