/* The journal: lines with time, level, event and fields, as text or as JSON. */
#define _GNU_SOURCE
#include "daemon/journal.h"
#include "core/text.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const journal_levels[] = {
    [JOURNAL_ERROR] = "error", [JOURNAL_WARNING] = "warning", [JOURNAL_INFO] = "info",
    [JOURNAL_DEBUG] = "debug", [JOURNAL_DEBUG + 1] = NULL,
};

void journal_init(Journal *journal, int fd, JournalLevel level, bool json)
{
    *journal = (Journal){.fd = fd, .level = level, .json = json};
    pthread_mutex_init(&journal->mutex, NULL);
}

void journal_fini(Journal *journal)
{
    pthread_mutex_destroy(&journal->mutex);
}

/* ---- One line ---- */

typedef struct Line {
    bool as_json;
    TyJson json;
} Line;

/* True if a value needs no quotes in text. */
static bool is_plain(const char *value)
{
    return value[0] != '\0' && strpbrk(value, " =\"\\") == NULL;
}

/* Clients choose names: what is not plain text becomes underscores, so that no line holds a second
 * one or moves a terminal's cursor. */
static void put_text(Line *line, const char *key, const char *value)
{
    char clean[JOURNAL_VALUE_MAX];
    size_t length = strnlen(value, sizeof clean - 1);
    for (size_t i = 0; i < length; i++) {
        clean[i] = (char)(value[i] < 0x20 || value[i] > 0x7e ? '_' : value[i]);
    }
    clean[length] = '\0';
    if (line->as_json) {
        ty_json_put_string(&line->json, key, clean);
        return;
    }
    ty_text_add(&line->json.text, "%s%s=", line->json.text.length > 0 ? " " : "", key);
    if (is_plain(clean)) {
        ty_text_add(&line->json.text, "%s", clean);
    } else {
        line->json.comma = false;
        ty_json_put_string(&line->json, NULL, clean);
    }
}

static void put_number(Line *line, const char *key, uint64_t number)
{
    if (line->as_json) {
        ty_json_put_int(&line->json, key, (int64_t)number);
    } else {
        ty_text_add(&line->json.text, " %s=%llu", key, (unsigned long long)number);
    }
}

static void put_time(Line *line, const struct timespec *now)
{
    struct tm parts;
    char seconds[32];
    char text[48];
    gmtime_r(&now->tv_sec, &parts);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s.%03ldZ", seconds, now->tv_nsec / 1000000);
    put_text(line, "time", text);
}

static void put_fields(Line *line, const JournalField *fields)
{
    for (; fields->key != NULL; fields++) {
        if (fields->text != NULL) {
            put_text(line, fields->key, fields->text);
        } else {
            put_number(line, fields->key, fields->number);
        }
    }
}

/* ---- Writing ---- */

/* The count of the event; NULL if there are too many kinds. */
static JournalCount *count_of(Journal *journal, const char *event)
{
    for (uint32_t i = 0; i < JOURNAL_EVENTS_MAX; i++) {
        JournalCount *count = &journal->counts[i];
        if (count->event == NULL) {
            count->event = event;
        }
        if (strcmp(count->event, event) == 0) {
            return count;
        }
    }
    return NULL;
}

/* True if one more line of the event may be written in this second. `suppressed` is how many were
 * not since the last that was. */
static bool is_allowed(Journal *journal, const char *event, int64_t second, uint64_t *suppressed)
{
    JournalCount *count = count_of(journal, event);
    *suppressed = 0;
    if (count == NULL) {
        return true;
    }
    if (count->second != second) {
        count->second = second;
        count->lines = 0;
    }
    if (++count->lines > JOURNAL_LINES_PER_SECOND) {
        count->suppressed++;
        return false;
    }
    *suppressed = count->suppressed;
    count->suppressed = 0;
    return true;
}

/* A pipe that can be written at all takes a line of this size whole. */
static void line_send(Journal *journal, const char *bytes, size_t size)
{
    struct pollfd room = {.fd = journal->fd, .events = POLLOUT};
    bool sent = poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 &&
                write(journal->fd, bytes, size) == (ssize_t)size;
    journal->dropped = sent ? 0 : journal->dropped + 1;
}

void journal_write(Journal *journal, JournalLevel level, const char *event,
                   const JournalField *fields)
{
    char bytes[JOURNAL_LINE_MAX];
    struct timespec now;
    uint64_t suppressed = 0;
    if (journal == NULL || level > journal->level) {
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&journal->mutex);
    if (level == JOURNAL_DEBUG || is_allowed(journal, event, now.tv_sec, &suppressed)) {
        Line line = {.as_json = journal->json, .json = ty_json_init(bytes, sizeof bytes - 1)};
        if (line.as_json) {
            ty_json_open(&line.json, NULL, '{');
        }
        put_time(&line, &now);
        put_text(&line, "level", journal_levels[level]);
        put_text(&line, "event", event);
        if (suppressed > 0) {
            put_number(&line, "suppressed", suppressed);
        }
        if (journal->dropped > 0) {
            put_number(&line, "dropped", journal->dropped);
        }
        put_fields(&line, fields);
        if (line.as_json) {
            ty_json_close(&line.json, '}');
        }
        size_t size = strlen(bytes);
        bytes[size++] = '\n';
        line_send(journal, bytes, size);
    }
    pthread_mutex_unlock(&journal->mutex);
}
