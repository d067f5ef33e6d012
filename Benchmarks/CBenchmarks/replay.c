#include "replay.h"

#include "load.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    // SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL.
    int type;
    sqlite3_int64 integer;
    double real;
    char *bytes;
    int length;
} value;

typedef struct {
    int statement;
    int values_count;
    value *values;
} step;

struct replay {
    char **sql;
    int sql_count;
    step *steps;
    size_t steps_count;
    size_t steps_capacity;
    int is_broken;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static replay *current;

// Past a text in quotes; a doubled quote is one in the text.
static const char *past_quotes(const char *at) {
    for (at++; *at; at++) {
        if (*at != '\'') continue;
        if (at[1] != '\'') return at + 1;
        at++;
    }
    return at;
}

static const char *read_text(const char *at, value *value) {
    const char *end = past_quotes(at);
    value->type = SQLITE_TEXT;
    value->bytes = malloc((size_t)(end - at));
    for (const char *from = at + 1; value->bytes && from < end - 1; from++) {
        value->bytes[value->length++] = *from;
        if (*from == '\'') from++;
    }
    return end;
}

static int nibble(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

static const char *read_blob(const char *at, value *value) {
    const char *end = strchr(at + 2, '\'');
    if (!end) return NULL;
    value->type = SQLITE_BLOB;
    value->length = (int)((end - at - 2) / 2);
    value->bytes = malloc((size_t)value->length + 1);
    for (int i = 0; value->bytes && i < value->length; i++) {
        value->bytes[i] = (char)(nibble(at[2 + 2 * i]) << 4 | nibble(at[3 + 2 * i]));
    }
    return end + 1;
}

// Reads a literal as sqlite3_expanded_sql writes it. Returns what follows it, or NULL.
static const char *read_value(const char *at, value *value) {
    if (*at == '\'') return read_text(at, value);
    if (*at == 'x' && at[1] == '\'') return read_blob(at, value);
    // No bytes at all.
    if (strncmp(at, "zeroblob(0)", 11) == 0) {
        value->type = SQLITE_BLOB;
        value->bytes = calloc(1, 1);
        return at + 11;
    }
    if (strncmp(at, "NULL", 4) == 0) {
        value->type = SQLITE_NULL;
        return at + 4;
    }
    char *end = NULL;
    value->type = SQLITE_INTEGER;
    value->integer = strtoll(at, &end, 10);
    if (end != at && (*end == '.' || *end == 'e')) {
        value->type = SQLITE_FLOAT;
        value->real = strtod(at, &end);
    }
    return end == at ? NULL : end;
}

// Finds the values of `?1` and its like by reading the statement beside its form with the values put in.
static int read_values(const char *sql, const char *expanded, value *values, int values_count) {
    int last = 0;
    while (*sql) {
        if (*sql == '\'') {
            const char *end = past_quotes(sql);
            expanded += end - sql;
            sql = end;
        } else if (*sql == '?') {
            int number = (int)strtol(sql + 1, (char **)&sql, 10);
            if (number == 0) number = last + 1;
            last = number;
            if (number > values_count) return -1;
            free(values[number - 1].bytes);
            memset(&values[number - 1], 0, sizeof values[0]);
            expanded = read_value(expanded, &values[number - 1]);
            if (!expanded) return -1;
        } else {
            if (*sql != *expanded) return -1;
            sql++;
            expanded++;
        }
    }
    return *expanded ? -1 : 0;
}

static int find_sql(replay *recording, const char *sql) {
    for (int i = 0; i < recording->sql_count; i++) {
        if (strcmp(recording->sql[i], sql) == 0) return i;
    }
    char **grown = realloc(recording->sql, sizeof *grown * (size_t)(recording->sql_count + 1));
    if (!grown) return -1;
    recording->sql = grown;
    grown[recording->sql_count] = strdup(sql);
    return grown[recording->sql_count] ? recording->sql_count++ : -1;
}

static int append(replay *recording, sqlite3_stmt *statement) {
    if (recording->steps_count == recording->steps_capacity) {
        size_t capacity = recording->steps_capacity ? recording->steps_capacity * 2 : 4096;
        step *grown = realloc(recording->steps, sizeof *grown * capacity);
        if (!grown) return -1;
        recording->steps = grown;
        recording->steps_capacity = capacity;
    }
    step added = {.statement = find_sql(recording, sqlite3_sql(statement))};
    added.values_count = sqlite3_bind_parameter_count(statement);
    added.values = calloc((size_t)added.values_count + 1, sizeof *added.values);
    char *expanded = sqlite3_expanded_sql(statement);
    int code = added.statement < 0 || !added.values || !expanded ? -1 : 0;
    if (code == 0) code = read_values(sqlite3_sql(statement), expanded, added.values, added.values_count);
    sqlite3_free(expanded);
    recording->steps[recording->steps_count++] = added;
    return code;
}

static int traced(unsigned event, void *context, void *statement, void *text) {
    (void)context;
    const char *sql = text;
    // Triggers announce themselves as comments; their statements run again by themselves.
    if (event != SQLITE_TRACE_STMT || !sql || strncmp(sql, "--", 2) == 0) return 0;
    pthread_mutex_lock(&mutex);
    if (current && append(current, statement) != 0) current->is_broken = 1;
    pthread_mutex_unlock(&mutex);
    return 0;
}

static int opened(sqlite3 *database, char **message, const void *routines) {
    (void)message;
    (void)routines;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, traced, NULL);
}

replay *replay_start(void) {
    replay *recording = calloc(1, sizeof *recording);
    pthread_mutex_lock(&mutex);
    int is_free = recording && !current;
    if (is_free) current = recording;
    pthread_mutex_unlock(&mutex);
    if (is_free && sqlite3_auto_extension((void (*)(void))opened) == SQLITE_OK) return recording;
    free(recording);
    return NULL;
}

void replay_stop(replay *recording) {
    sqlite3_cancel_auto_extension((void (*)(void))opened);
    pthread_mutex_lock(&mutex);
    if (current == recording) current = NULL;
    pthread_mutex_unlock(&mutex);
}

void replay_free(replay *recording) {
    if (!recording) return;
    for (size_t i = 0; i < recording->steps_count; i++) {
        for (int j = 0; j < recording->steps[i].values_count; j++) free(recording->steps[i].values[j].bytes);
        free(recording->steps[i].values);
    }
    for (int i = 0; i < recording->sql_count; i++) free(recording->sql[i]);
    free(recording->steps);
    free(recording->sql);
    free(recording);
}

size_t replay_count(const replay *recording, const char *text) {
    size_t count = 0;
    for (size_t i = 0; i < recording->steps_count; i++) {
        if (strstr(recording->sql[recording->steps[i].statement], text)) count++;
    }
    return count;
}

// What is set and asked when a file is opened is not done again.
static int is_run(const char *sql, const char *text) {
    return text ? strstr(sql, text) != NULL : strncmp(sql, "PRAGMA", 6) != 0;
}

static int bind(sqlite3_stmt *statement, int number, const value *value) {
    switch (value->type) {
    case SQLITE_INTEGER: return sqlite3_bind_int64(statement, number, value->integer);
    case SQLITE_FLOAT: return sqlite3_bind_double(statement, number, value->real);
    case SQLITE_TEXT: return sqlite3_bind_text(statement, number, value->bytes, value->length, SQLITE_STATIC);
    case SQLITE_BLOB: return sqlite3_bind_blob(statement, number, value->bytes, value->length, SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, number);
    }
}

static int run(sqlite3_stmt *statement, const step *step) {
    int code = SQLITE_OK;
    for (int i = 0; step && i < step->values_count && code == SQLITE_OK; i++) {
        code = bind(statement, i + 1, &step->values[i]);
    }
    if (code != SQLITE_OK) return code;
    do code = sqlite3_step(statement);
    while (code == SQLITE_ROW);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static sqlite3 *open_file(const char *path) {
    sqlite3 *database = NULL;
    int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(database, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    if (code == SQLITE_OK) return database;
    sqlite3_close(database);
    return NULL;
}

static int prepare(sqlite3 *database, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static int run_steps(const replay *recording, sqlite3_stmt **statements, int each) {
    sqlite3_stmt *begin = statements[recording->sql_count];
    sqlite3_stmt *commit = statements[recording->sql_count + 1];
    int code = SQLITE_OK;
    for (size_t i = 0; i < recording->steps_count && code == SQLITE_OK; i++) {
        const step *step = &recording->steps[i];
        if (!statements[step->statement]) continue;
        if (each) code = run(begin, NULL);
        if (code == SQLITE_OK) code = run(statements[step->statement], step);
        if (each && code == SQLITE_OK) code = run(commit, NULL);
    }
    return code;
}

static double run_all(const replay *recording, const char *path, const char *text) {
    sqlite3_stmt **statements = calloc((size_t)recording->sql_count + 2, sizeof *statements);
    sqlite3 *database = recording->is_broken || !statements ? NULL : open_file(path);
    int code = database ? SQLITE_OK : SQLITE_ERROR;
    for (int i = 0; i < recording->sql_count && code == SQLITE_OK; i++) {
        if (is_run(recording->sql[i], text)) code = prepare(database, recording->sql[i], &statements[i]);
    }
    if (code == SQLITE_OK) code = prepare(database, "BEGIN IMMEDIATE", &statements[recording->sql_count]);
    if (code == SQLITE_OK) code = prepare(database, "COMMIT", &statements[recording->sql_count + 1]);
    int64_t began = load_nanoseconds();
    if (code == SQLITE_OK) code = run_steps(recording, statements, text != NULL);
    double seconds = (double)(load_nanoseconds() - began) / 1e9;
    if (code != SQLITE_OK) fprintf(stderr, "replay: %d %s\n", code, database ? sqlite3_errmsg(database) : "");
    for (int i = 0; statements && i < recording->sql_count + 2; i++) sqlite3_finalize(statements[i]);
    sqlite3_close(database);
    free(statements);
    return code == SQLITE_OK ? seconds : -1;
}

double replay_run(const replay *recording, const char *path) { return run_all(recording, path, NULL); }

double replay_run_each(const replay *recording, const char *path, const char *text) {
    return run_all(recording, path, text);
}

int replay_execute(const char *path, const char *sql, char *message, size_t message_size) {
    sqlite3 *database = NULL;
    int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(database, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) snprintf(message, message_size, "%s", sqlite3_errmsg(database));
    sqlite3_close(database);
    return code;
}

long long replay_number(const char *path, const char *sql) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    long long number = -1;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW) {
        number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}
