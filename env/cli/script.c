/* Actions and chance outcomes from a file: a trace, or plain text. */
#include "cli/script.h"

#include "cli/cli.h"
#include "core/status.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text, size_t length)
{
    char *copy = cli_memory(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static ScriptItem *script_add(Script *script, ScriptKind kind, uint32_t line)
{
    if (script->count == script->capacity) {
        script->capacity = script->capacity > 0 ? script->capacity * 2 : 256;
        script->items =
            cli_memory(realloc(script->items, script->capacity * sizeof *script->items));
    }
    ScriptItem *item = &script->items[script->count++];
    *item = (ScriptItem){.kind = kind, .line = line};
    return item;
}

/* An action or an outcome before any header belongs to an episode without one. */
static void script_begin(Script *script, uint32_t line)
{
    if (script->count == 0) {
        script_add(script, SCRIPT_HEADER, line);
    }
}

/* "chance STREAM OUTCOME" is an outcome; everything else, also "chance 3", is an action. */
static void add_plain(Script *script, const char *text, size_t length, uint32_t line)
{
    script_begin(script, line);
    if (length > 7 && strncmp(text, "chance ", 7) == 0) {
        const char *stream = text + 7;
        const char *end = text + length;
        const char *blank = memchr(stream, ' ', (size_t)(end - stream));
        if (blank != NULL) {
            ScriptItem *item = script_add(script, SCRIPT_CHANCE, line);
            item->name = copy_text(stream, (size_t)(blank - stream));
            item->outcome = copy_text(blank + 1, (size_t)(end - blank - 1));
            return;
        }
    }
    script_add(script, SCRIPT_ACTION, line)->name = copy_text(text, length);
}

/* A seed is a number, or a string where it is too large for one. */
static bool parse_seed(const json_t *value, uint64_t *seed)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *seed = (uint64_t)json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0' || strspn(text, "0123456789") != strlen(text)) {
        return false;
    }
    errno = 0;
    *seed = strtoull(text, NULL, 10);
    return errno == 0;
}

static TyStatus add_header(Script *script, const json_t *object, uint32_t line)
{
    const json_t *format = json_object_get(object, "trace");
    if (json_integer_value(format) != SCRIPT_TRACE_FORMAT) {
        return ty_status_fail(TY_BAD_FILE,
                              "line %u: \"trace\" is not %d, the version of the format", line,
                              SCRIPT_TRACE_FORMAT);
    }
    ScriptItem *item = script_add(script, SCRIPT_HEADER, line);
    const char *ruleset = json_string_value(json_object_get(object, "ruleset"));
    if (ruleset != NULL) {
        item->name = copy_text(ruleset, strlen(ruleset));
    }
    const json_t *agents = json_object_get(object, "agents");
    if (json_is_array(agents)) {
        item->agents = cli_memory(json_dumps(agents, JSON_COMPACT | JSON_ENSURE_ASCII));
    }
    const json_t *seed = json_object_get(object, "seed");
    item->seeded = seed != NULL;
    if (seed != NULL && !parse_seed(seed, &item->seed)) {
        return ty_status_fail(TY_BAD_FILE,
                              "line %u: \"seed\" is not a whole number from 0 to 2^64 - 1", line);
    }
    return ty_status_ok();
}

static TyStatus add_chance(Script *script, const json_t *pair, uint32_t line)
{
    const char *stream = json_string_value(json_array_get(pair, 0));
    const char *outcome = json_string_value(json_array_get(pair, 1));
    if (stream == NULL || outcome == NULL || json_array_size(pair) != 2) {
        return ty_status_fail(TY_BAD_FILE,
                              "line %u: \"chance\" is not [stream, outcome], two strings", line);
    }
    script_begin(script, line);
    ScriptItem *item = script_add(script, SCRIPT_CHANCE, line);
    item->name = copy_text(stream, strlen(stream));
    item->outcome = copy_text(outcome, strlen(outcome));
    return ty_status_ok();
}

/* What kind of line it is, TRACE.md says. */
static TyStatus add_object(Script *script, const json_t *object, uint32_t line)
{
    const char *action = json_string_value(json_object_get(object, "action"));
    const json_t *chance = json_object_get(object, "chance");
    if (json_object_get(object, "trace") != NULL) {
        return add_header(script, object, line);
    }
    /* An event may call its own members as it likes. */
    if (json_object_get(object, "event") != NULL || json_object_get(object, "over") != NULL) {
        return ty_status_ok();
    }
    if (action != NULL) {
        script_begin(script, line);
        script_add(script, SCRIPT_ACTION, line)->name = copy_text(action, strlen(action));
        return ty_status_ok();
    }
    if (chance != NULL) {
        return add_chance(script, chance, line);
    }
    return ty_status_fail(TY_BAD_FILE,
                          "line %u: has none of \"trace\" (a header), \"action\", \"chance\", "
                          "\"event\" and \"over\"",
                          line);
}

static TyStatus add_json(Script *script, const char *text, size_t length, uint32_t line)
{
    json_error_t error;
    json_t *object = json_loadb(text, length, 0, &error);
    if (object == NULL) {
        return ty_status_fail(TY_BAD_FILE, "line %u, column %d: %s", line, error.column,
                              error.text);
    }
    TyStatus status = add_object(script, object, line);
    json_decref(object);
    return status;
}

static TyStatus add_line(Script *script, const char *text, size_t length, uint32_t line)
{
    while (length > 0 && strchr(" \t\r", text[0]) != NULL) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        length--;
    }
    if (length == 0 || text[0] == '#') {
        return ty_status_ok();
    }
    if (text[0] == '{') {
        return add_json(script, text, length, line);
    }
    add_plain(script, text, length, line);
    return ty_status_ok();
}

TyStatus script_open(const char *path, Script *script)
{
    char *bytes = NULL;
    size_t size = 0;
    *script = (Script){.items = NULL};
    TyStatus status = file_read(path, &bytes, &size);
    uint32_t line = 1;
    for (size_t at = 0; status.code == TY_OK && at < size; line++) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - bytes) - at : size - at;
        status = add_line(script, bytes + at, length, line);
        at += length + 1;
        if (status.code != TY_OK) {
            TyStatus located =
                ty_status_fail(status.code, "%.60s: %.240s", path_base(path), status.message);
            status = located;
        }
    }
    script_begin(script, line);
    free(bytes);
    return status;
}

void script_close(Script *script)
{
    for (uint32_t i = 0; i < script->count; i++) {
        free(script->items[i].name);
        free(script->items[i].outcome);
        free(script->items[i].agents);
    }
    free(script->items);
    *script = (Script){.items = NULL};
}
