/* Agents with settings: "search:playouts=256". */
#include "agent.h"
#include "core/hash.h"
#include "core/status.h"
#include "fields.h"
#include "registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An agent that was opened: a copy of the one in the list, with settings of its own. */
typedef struct Opened {
    TyAgent agent;
    char name[TY_AGENT_NAME_MAX];
    int32_t values[TY_FIELDS_MAX];
} Opened;

size_t ty_agent_spec_length(const char *list)
{
    size_t length = strcspn(list, ",");
    while (list[length] == ',') {
        /* What follows is a setting if it has a key; names have no '='. */
        const char *next = list + length + 1;
        size_t key = strspn(next, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (next[key] != '=') {
            break;
        }
        length += 1 + strcspn(next, ",");
    }
    return length;
}

int32_t ty_agent_setting(const TyAgent *agent, const char *key)
{
    uint32_t index = 0;
    if (agent->fields == NULL) {
        return INT32_MIN;
    }
    index = fields_find(agent->fields, key);
    if (agent->fields[index].key == NULL) {
        return INT32_MIN;
    }
    return agent->values != NULL ? agent->values[index] : agent->fields[index].standard;
}

/* ---- What is to be opened ---- */

static TyStatus unknown_agent(const TyGame *game, const char *spec, const char *name)
{
    char list[TY_MESSAGE_MAX / 2];
    const char *names[REGISTRY_AGENTS_MAX * 2] = {NULL};
    for (uint32_t i = 0; i + 1 < REGISTRY_AGENTS_MAX * 2 && ty_agent_at(game, i) != NULL; i++) {
        names[i] = ty_agent_at(game, i)->name;
    }
    fields_words_list(names, name, list, sizeof list);
    return ty_status_fail(TY_BAD_CONFIG, "'%.60s' does not play %s; there are %s", spec,
                          ty_game_name(game), list);
}

/* "FILE" becomes "key=FILE" if the first setting is a file. */
static void shorthand_expand(const TyField *fields, const char *rest, char *out, size_t size)
{
    TyText text = ty_text_init(out, size);
    if (fields[0].kind == TY_FIELD_FILE && rest[0] != '\0' &&
        memchr(rest, '=', strcspn(rest, ",")) == NULL) {
        ty_text_add(&text, "%s=", fields[0].key);
    }
    ty_text_add(&text, "%s", rest);
}

static TyStatus settings_parse(const TyAgent *agent, const char *rest, Fields *settings,
                               char text[TY_SPEC_MAX * 2])
{
    static const TyField none[] = {{.key = NULL}};
    *settings =
        (Fields){.owner = agent->name, .fields = agent->fields != NULL ? agent->fields : none};
    if (rest[0] != '\0' && settings->fields[0].key == NULL) {
        return ty_status_fail(TY_BAD_CONFIG, "%s has no settings; '%.60s' was given", agent->name,
                              rest);
    }
    shorthand_expand(settings->fields, rest, text, TY_SPEC_MAX * 2);
    return fields_parse(settings, text);
}

/* The field that is a file; the end of the fields if there is none. */
static uint32_t file_field(const TyField *fields)
{
    uint32_t index = 0;
    while (fields[index].key != NULL && fields[index].kind != TY_FIELD_FILE) {
        index++;
    }
    return index;
}

static TyStatus file_open(const Fields *settings, uint32_t field, const TyFiles *files,
                          TyAgentFile *file, char name[TY_NAME_MAX])
{
    const char *key = settings->fields[field].key;
    const char *value = settings->files[field];
    if (value == NULL || value[0] == '\0') {
        return ty_status_fail(TY_BAD_CONFIG, "%s: needs a file, as in %s:%s=FILE", settings->owner,
                              settings->owner, key);
    }
    if (files == NULL) {
        return ty_status_fail(TY_BAD_CONFIG, "%s: %s=%.60s: files cannot be opened here",
                              settings->owner, key, value);
    }
    char base[TY_NAME_MAX] = "";
    TyStatus status = files->open(files->user, value, &file->bytes, &file->size, base);
    if (status.code != TY_OK) {
        return ty_status_fail(status.code, "%s: %s=%.60s: %.200s", settings->owner, key, value,
                              status.message);
    }
    TyText text = ty_text_init(name, TY_NAME_MAX);
    uint64_t hash = hash_bytes(0, (const uint8_t *)file->bytes, file->size);
    ty_text_add(&text, "%.32s@%08x", base, (unsigned)(hash >> 32));
    file->name = name;
    return ty_status_ok();
}

/* ---- Opening ---- */

static TyStatus name_write(Opened *opened, const char *const *files)
{
    TyText text = ty_text_init(opened->name, sizeof opened->name);
    ty_text_add(&text, "%s", opened->agent.name);
    if (opened->agent.fields != NULL) {
        fields_write(opened->agent.fields, opened->values, files, &text);
    }
    if (text.length >= text.size) {
        return ty_status_fail(TY_LIMIT,
                              "%s: with its settings the name has more than %d characters",
                              opened->agent.name, TY_AGENT_NAME_MAX - 1);
    }
    opened->agent.name = opened->name;
    return ty_status_ok();
}

/* `file` has no bytes if the agent takes none. */
static TyStatus opened_make(const TyAgent *agent, const TyRuleset *ruleset, const Fields *settings,
                            const TyAgentFile *file, Opened **out)
{
    const char *files[TY_FIELDS_MAX] = {NULL};
    Opened *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "%s: no memory for the agent", agent->name);
    }
    opened->agent = *agent;
    opened->agent.values = opened->values;
    memcpy(opened->values, settings->values, sizeof opened->values);
    if (file != NULL) {
        files[file_field(settings->fields)] = file->name;
    }
    TyStatus status = name_write(opened, files);
    if (status.code == TY_OK && agent->open != NULL) {
        status = agent->open(&opened->agent, ruleset, file, &opened->agent.data);
    }
    if (status.code != TY_OK) {
        free(opened);
        return status;
    }
    *out = opened;
    return ty_status_ok();
}

/* The agent in the list that `spec` begins with, and what stands behind its colon. */
static TyStatus spec_split(const TyGame *game, const char *spec, const TyAgent **agent,
                           const char **rest)
{
    char name[TY_AGENT_NAME_MAX];
    size_t length = strcspn(spec, ":");
    TyText text = ty_text_init(name, sizeof name);
    ty_text_add(&text, "%.*s", (int)(length < sizeof name ? length : sizeof name), spec);
    if (strlen(spec) >= TY_SPEC_MAX) {
        return ty_status_fail(TY_LIMIT, "the agent is longer than %d characters", TY_SPEC_MAX - 1);
    }
    *agent = registry_agent(game, name);
    *rest = spec + length + (spec[length] == ':');
    return *agent != NULL ? ty_status_ok() : unknown_agent(game, spec, name);
}

TyStatus ty_agent_open(const TyRuleset *ruleset, const char *spec, const TyFiles *files,
                       const TyAgent **agent)
{
    const TyAgent *listed = NULL;
    const char *rest = NULL;
    char text[TY_SPEC_MAX * 2];
    char name[TY_NAME_MAX];
    Fields settings;
    TyAgentFile file = {.bytes = NULL};
    Opened *opened = NULL;
    *agent = NULL;
    TyStatus status = spec_split(ty_ruleset_game(ruleset), spec, &listed, &rest);
    if (status.code == TY_OK) {
        assert(listed != NULL);
        status = settings_parse(listed, rest, &settings, text);
    }
    if (status.code != TY_OK) {
        return status;
    }
    assert(listed != NULL && rest != NULL);
    if (rest[0] == '\0' && !agent_needs_opening(listed)) {
        *agent = listed;
        return status;
    }
    uint32_t field = file_field(settings.fields);
    bool takes_file = settings.fields[field].key != NULL && settings.values[field] < 0;
    if (takes_file) {
        status = file_open(&settings, field, files, &file, name);
    }
    if (status.code == TY_OK) {
        status = opened_make(listed, ruleset, &settings, takes_file ? &file : NULL, &opened);
    }
    *agent = opened != NULL ? &opened->agent : NULL;
    return status;
}

void ty_agent_close(const TyAgent *agent)
{
    if (agent == NULL || agent->values == NULL) {
        return;
    }
    if (agent->close != NULL) {
        agent->close(agent->data);
    }
    /* It was made by opened_make, and is its first member. */
    free((void *)(uintptr_t)agent);
}
