/* Opening what a command line names: files, rulesets with boards of the user's own, agents. */
#include "cli/cli.h"
#include "core/status.h"
#include "core/text.h"
#include "registry.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files ---- */

static TyStatus read_stream(FILE *stream, const char *path, char **bytes, size_t *size)
{
    size_t capacity = 1 << 16;
    char *data = cli_memory(malloc(capacity));
    size_t length = fread(data, 1, capacity - 1, stream);
    while (length == capacity - 1 && capacity < CLI_FILE_MAX) {
        data = cli_memory(realloc(data, capacity * 2));
        capacity *= 2;
        length += fread(data + length, 1, capacity - 1 - length, stream);
    }
    if (length == capacity - 1) {
        free(data);
        return status_fail(TY_LIMIT, "%s: larger than %d bytes", path, CLI_FILE_MAX);
    }
    if (ferror(stream)) {
        free(data);
        return status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    data[length] = '\0';
    *bytes = data;
    *size = length;
    return status_ok();
}

TyStatus file_read(const char *path, char **bytes, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    TyStatus status = read_stream(stream, path, bytes, size);
    fclose(stream);
    return status;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The short name of a user's file: its base name without extension, in [a-z0-9_-]. */
static void path_name(const char *path, char name[TY_NAME_MAX])
{
    const char *base = path_base(path);
    const char *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    size_t out = 0;
    for (size_t i = 0; i < length && out < 32; i++) {
        char c = base[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        name[out++] = plain ? c : '_';
    }
    if (out == 0) {
        name[out++] = '_';
    }
    name[out] = '\0';
}

/* ---- Rulesets ---- */

/* The files that a ruleset being opened has asked for; they live until it is open. */
typedef struct OpenFiles {
    const char *spec;
    char *bytes[TY_FILES_MAX];
    uint32_t count;
} OpenFiles;

static bool is_path(const char *value)
{
    size_t length = strlen(value);
    return strchr(value, '/') != NULL || (length > 5 && strcmp(value + length - 5, ".json") == 0);
}

enum { SPEC_VALUE_MAX = TY_SPEC_MAX * 2 /* of a string that was typed */ };

/* The text behind `key=`: how a file is named there. Empty if `spec` has no such key. */
static void spec_value(const char *spec, const char *key, char *out, size_t size)
{
    out[0] = '\0';
    size_t length = strlen(key);
    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at, ',')) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            const char *value = at + length + 1;
            snprintf(out, size, "%.*s", (int)strcspn(value, ","), value);
        }
    }
}

/* The setting of `spec`, whose game exists, in which the file `value` stands. */
static const TyField *spec_file_field(const char *spec, const char *value)
{
    char word[SPEC_VALUE_MAX];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(spec, ":"), spec);
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ty_game_find(word), &count);
    for (uint32_t i = 0;; i++) {
        assert(i < count);
        spec_value(spec, fields[i].key, word, sizeof word);
        char *hash = strrchr(word, '@');
        if (hash != NULL) {
            *hash = '\0';
        }
        if (fields[i].kind == TY_FIELD_FILE && strcmp(word, value) == 0) {
            return &fields[i];
        }
    }
}

static TyStatus unknown_file(const char *spec, const char *value)
{
    const TyField *field = spec_file_field(spec, value);
    char names[TY_MESSAGE_MAX / 2];
    Text list = text_init(names, sizeof names);
    for (uint32_t i = 0; field->choices[i] != NULL; i++) {
        text_add(&list, "%s, ", field->choices[i]);
    }
    return status_fail(TY_BAD_CONFIG,
                       "%s=%.40s is not built in; allowed are %sor a path, which has a '/' or ends "
                       "in .json",
                       field->key, value, names);
}

static TyStatus files_open(void *user, const char *value, const char **bytes, size_t *size,
                           char name[TY_NAME_MAX])
{
    OpenFiles *files = user;
    if (!is_path(value)) {
        return unknown_file(files->spec, value);
    }
    assert(files->count < TY_FILES_MAX);
    TyStatus status = file_read(value, &files->bytes[files->count], size);
    if (status.code == TY_OK) {
        *bytes = files->bytes[files->count++];
        path_name(value, name);
    }
    return status;
}

int ruleset_open(const Settings *settings, const char *spec, TyRuleset **ruleset)
{
    OpenFiles open = {.spec = spec};
    TyFiles files = {.user = &open, .open = files_open};
    TyStatus status = ty_ruleset_open(spec, &files, ruleset);
    for (uint32_t i = 0; i < open.count; i++) {
        free(open.bytes[i]);
    }
    if (status.code == TY_OK) {
        return CLI_OK;
    }
    return cli_usage_error(settings, "ruleset '%s': %s", spec, status.message);
}

void field_value_name(const TyField *field, int32_t value, char out[TY_NAME_MAX])
{
    switch (field->kind) {
    case TY_FIELD_INT:
        snprintf(out, TY_NAME_MAX, "%d", value);
        return;
    case TY_FIELD_FLAG:
        snprintf(out, TY_NAME_MAX, "%s", value != 0 ? "true" : "false");
        return;
    case TY_FIELD_CHOICE:
    case TY_FIELD_FILE:
        snprintf(out, TY_NAME_MAX, "%s", field->choices[value]);
        return;
    }
}

void ruleset_value(const TyRuleset *ruleset, const TyField *field, char out[TY_NAME_MAX])
{
    int32_t value = ty_config(ruleset, field->key);
    if (field->kind == TY_FIELD_FILE && value < 0) {
        spec_value(ty_shape(ruleset)->spec, field->key, out, TY_NAME_MAX);
    } else {
        field_value_name(field, value, out);
    }
}

/* ---- Agents ---- */

const TyAgent open_seat = {.name = "open", .help = "a program that joins the seat on a daemon"};

const TyAgent *agent_standard(const TyRuleset *ruleset)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *expert = ty_agent_find(game, "expert");
    return expert != NULL ? expert : ty_agent_at(game, 0);
}

const char *agent_name(const TyAgent *agent)
{
    return agent != NULL ? agent->name : "human";
}

static int unknown_agent(const Settings *settings, const TyRuleset *ruleset, const char *option,
                         const char *name, bool people)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    char names[512];
    Text list = text_init(names, sizeof names);
    text_add(&list, "%s", people ? "human" : "open");
    for (uint32_t i = 0; ty_agent_at(game, i) != NULL; i++) {
        text_add(&list, ", %s", ty_agent_at(game, i)->name);
    }
    return cli_usage_error(settings, "--%s: '%s' does not play %s; allowed: %s", option, name,
                           ty_game_name(game), names);
}

/* "open", or the endpoint of a daemon, which the list keeps. */
static bool is_open(const char *name, AgentList *list)
{
    if (strcmp(name, open_seat.name) == 0) {
        return true;
    }
    if (strstr(name, "://") == NULL ||
        (list->endpoint[0] != '\0' && strcmp(name, list->endpoint) != 0)) {
        return false;
    }
    snprintf(list->endpoint, sizeof list->endpoint, "%s", name);
    return true;
}

int agent_list_parse(const Settings *settings, const TyRuleset *ruleset, const char *option,
                     const char *names, bool people, AgentList *list)
{
    *list = (AgentList){.count = 0};
    for (const char *at = names;; at++) {
        char name[TY_NAME_MAX];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        bool person = people && strcmp(name, "human") == 0;
        const TyAgent *agent = !people && is_open(name, list)
                                   ? &open_seat
                                   : ty_agent_find(ty_ruleset_game(ruleset), name);
        if (agent == NULL && !person) {
            return unknown_agent(settings, ruleset, option, name, people);
        }
        if (list->count == CLI_ARGUMENTS_MAX) {
            return cli_usage_error(settings, "--%s: more than %d names", option, CLI_ARGUMENTS_MAX);
        }
        list->agents[list->count++] = person ? NULL : agent;
        at += length;
        if (*at == '\0') {
            return CLI_OK;
        }
    }
}

Seating seating_same(const TyRuleset *ruleset, const TyAgent *agent)
{
    const TyShape *shape = ty_shape(ruleset);
    Seating seating = {.agents = {NULL}};
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        seating.agents[seat] = agent;
    }
    if (shape->seats > shape->players) {
        seating.agents[shape->players] = &chance_agent;
    }
    return seating;
}

int seating_parse(const Settings *settings, const TyRuleset *ruleset, Seating *seating)
{
    const TyShape *shape = ty_shape(ruleset);
    if (settings->agent != NULL && settings->agents != NULL) {
        return cli_usage_error(settings, "--agent and --agents exclude each other");
    }
    *seating = seating_same(ruleset, agent_standard(ruleset));
    const char *names = settings->agents != NULL ? settings->agents : settings->agent;
    if (names == NULL) {
        return CLI_OK;
    }
    const char *option = settings->agents != NULL ? "agents" : "agent";
    AgentList list;
    int status = agent_list_parse(settings, ruleset, option, names, false, &list);
    if (status != CLI_OK) {
        return status;
    }
    uint32_t wanted = settings->agents != NULL ? shape->players : 1;
    if (list.count != wanted) {
        return cli_usage_error(settings, "--%s: %u given, %u wanted for %s", option, list.count,
                               wanted, shape->spec);
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        seating->agents[seat] = list.agents[list.count == 1 ? 0 : seat];
    }
    memcpy(seating->endpoint, list.endpoint, sizeof seating->endpoint);
    return CLI_OK;
}
