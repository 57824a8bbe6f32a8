/* The journal: what happens to the daemon, a line each on standard error. (The *log* is of
 * episodes.)
 *
 *     time=2026-01-31T08:15:30.125Z level=warning event=refused peer=127.0.0.1 why="unknown key"
 *
 * or the same as a JSON object. Any thread may write. A line is written at once and whole; one that
 * the reader of a pipe has no room for is dropped, since nobody who plays shall wait for it. What a
 * stranger can cause is written some times a second, and counted beyond that. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    JOURNAL_EVENTS_MAX = 48,       /* kinds of events that are counted */
    JOURNAL_LINES_PER_SECOND = 20, /* of one kind */
    JOURNAL_VALUE_MAX = 320,
    JOURNAL_LINE_MAX = 4096, /* what a pipe takes whole */
};

typedef enum JournalLevel {
    JOURNAL_ERROR,
    JOURNAL_WARNING,
    JOURNAL_INFO,
    JOURNAL_DEBUG
} JournalLevel;

/* A key with its value. */
typedef struct JournalField {
    const char *key;  /* NULL behind the last */
    const char *text; /* NULL: a number */
    uint64_t number;
} JournalField;

#define JOURNAL_TEXT(KEY, TEXT) ((JournalField){.key = (KEY), .text = (TEXT)})
#define JOURNAL_NUMBER(KEY, NUMBER) ((JournalField){.key = (KEY), .number = (NUMBER)})
#define JOURNAL_END ((JournalField){.key = NULL})
/* The fields of a line. */
#define JOURNAL_FIELDS(...) ((const JournalField[]){__VA_ARGS__, JOURNAL_END})

/* How often an event was written in a second. */
typedef struct JournalCount {
    const char *event;
    int64_t second;
    uint32_t lines;
    uint64_t suppressed;
} JournalCount;

typedef struct Journal {
    int fd;
    JournalLevel level;
    bool json;
    pthread_mutex_t mutex; /* of what follows */
    uint64_t dropped;      /* lines for which there was no room */
    JournalCount counts[JOURNAL_EVENTS_MAX];
} Journal;

/* The levels by name, in their order; ends with NULL. */
extern const char *const journal_levels[];

/* Writes lines of `level` and what is more important to `fd`, which stays the caller's. */
void journal_init(Journal *journal, int fd, JournalLevel level, bool json);
void journal_fini(Journal *journal);
/* Writes a line. `event` is a constant; `journal` may be NULL: then nothing is written. */
void journal_write(Journal *journal, JournalLevel level, const char *event,
                   const JournalField *fields);
