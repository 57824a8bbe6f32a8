/* Reading and writing configurations: "convoi:board=europe,players=3". */
#include "config.h"

#include "core/status.h"
#include "registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t config_field_count(const TyGame *game)
{
    uint32_t count = 0;
    while (game->fields[count].key != NULL) {
        count++;
    }
    assert(count <= TY_FIELDS_MAX);
    return count;
}

uint32_t config_field_find(const TyGame *game, const char *key)
{
    uint32_t count = config_field_count(game);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(game->fields[i].key, key) == 0) {
            return i;
        }
    }
    return count;
}

uint32_t config_file_index(const TyGame *game, uint32_t field)
{
    uint32_t index = 0;
    while (strcmp(game->files[index].key, game->fields[field].key) != 0) {
        index++;
        assert(index < game->file_count);
    }
    return index;
}

/* The index of `value` among the choices, or -1. */
static int32_t choice_find(const char *const *choices, const char *value)
{
    for (int32_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value) == 0) {
            return i;
        }
    }
    return -1;
}

static void choices_list(const char *const *choices, char *out, size_t size)
{
    Text text = text_init(out, size);
    for (uint32_t i = 0; choices[i] != NULL; i++) {
        text_add(&text, "%s%s", i == 0 ? "" : ", ", choices[i]);
    }
}

static TyStatus int_parse(const TyField *field, const char *value, int32_t *out)
{
    char *end = NULL;
    long number = strtol(value, &end, 10); /* the largest or smallest if it is beyond them */
    if (end == value || *end != '\0') {
        return status_fail(TY_BAD_CONFIG, "%s=%s: not a whole number; allowed is %d..%d",
                           field->key, value, field->minimum, field->maximum);
    }
    if (number < field->minimum || number > field->maximum) {
        return status_fail(TY_BAD_CONFIG, "%s=%s: out of range; allowed is %d..%d", field->key,
                           value, field->minimum, field->maximum);
    }
    *out = (int32_t)number;
    return status_ok();
}

static TyStatus flag_parse(const TyField *field, const char *value, int32_t *out)
{
    static const char *const words[] = {"false", "true", "0", "1", NULL};
    int32_t index = choice_find(words, value);
    if (index < 0) {
        return status_fail(TY_BAD_CONFIG, "%s=%s: not a flag; allowed are false and true",
                           field->key, value);
    }
    *out = index & 1;
    return status_ok();
}

static TyStatus choice_parse(const TyField *field, const char *value, int32_t *out)
{
    *out = choice_find(field->choices, value);
    if (*out < 0) {
        char list[TY_MESSAGE_MAX / 2];
        choices_list(field->choices, list, sizeof list);
        return status_fail(TY_BAD_CONFIG, "%s=%.60s: unknown value; allowed are %s", field->key,
                           value, list);
    }
    return status_ok();
}

static TyStatus value_parse(Config *config, uint32_t index, const char *value)
{
    const TyField *field = &config->game->fields[index];
    int32_t *out = &config->values[index];
    switch (field->kind) {
    case TY_FIELD_INT:
        return int_parse(field, value, out);
    case TY_FIELD_FLAG:
        return flag_parse(field, value, out);
    case TY_FIELD_CHOICE:
        return choice_parse(field, value, out);
    case TY_FIELD_FILE:
        *out = choice_find(field->choices, value);
        if (*out < 0) {
            Text text = text_init(config->file_value[config_file_index(config->game, index)],
                                  sizeof config->file_value[0]);
            text_add(&text, "%s", value);
            if (text.length >= text.size) {
                return status_fail(TY_LIMIT, "%s: the value is longer than %zu characters",
                                   field->key, text.size - 1);
            }
        }
        return status_ok();
    }
    return status_ok();
}

static TyStatus game_parse(const char *name, const TyGame **game)
{
    *game = ty_game_find(name);
    if (*game != NULL) {
        return status_ok();
    }
    char list[TY_MESSAGE_MAX / 2];
    Text text = text_init(list, sizeof list);
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        text_add(&text, "%s%s", i == 0 ? "" : ", ", ty_game_at(i)->name);
    }
    return status_fail(TY_BAD_CONFIG, "unknown game '%.60s'; there are %s", name, list);
}

static TyStatus unknown_key(const TyGame *game, const char *key)
{
    char list[TY_MESSAGE_MAX * 2 / 3];
    Text text = text_init(list, sizeof list);
    for (uint32_t i = 0; game->fields[i].key != NULL; i++) {
        text_add(&text, "%s%s", i == 0 ? "" : ", ", game->fields[i].key);
    }
    return status_fail(TY_BAD_CONFIG, "%s has no key '%.40s'; it has %s", game->name, key, list);
}

/* Takes one "key=value" of the string into the configuration. */
static TyStatus pair_parse(Config *config, char *pair, bool seen[TY_FIELDS_MAX])
{
    char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair) {
        return status_fail(TY_BAD_CONFIG, "'%.60s': expected key=value", pair);
    }
    *equals = '\0';
    uint32_t index = config_field_find(config->game, pair);
    if (index == config_field_count(config->game)) {
        return unknown_key(config->game, pair);
    }
    if (seen[index]) {
        return status_fail(TY_BAD_CONFIG, "%s is given twice", pair);
    }
    seen[index] = true;
    return value_parse(config, index, equals + 1);
}

TyStatus config_parse(const char *spec, Config *config)
{
    char copy[TY_SPEC_MAX * 2];
    memset(config, 0, sizeof *config);
    if (strlen(spec) >= sizeof copy) {
        return status_fail(TY_LIMIT, "the ruleset is longer than %zu characters", sizeof copy - 1);
    }
    memcpy(copy, spec, strlen(spec) + 1);
    char *rest = strchr(copy, ':');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    TyStatus status = game_parse(copy, &config->game);
    if (status.code != TY_OK) {
        return status;
    }
    for (uint32_t i = 0; config->game->fields[i].key != NULL; i++) {
        config->values[i] = config->game->fields[i].standard;
    }
    bool seen[TY_FIELDS_MAX] = {false};
    while (rest != NULL && *rest != '\0' && status.code == TY_OK) {
        char *pair = rest;
        rest = strchr(rest, ',');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        status = pair_parse(config, pair, seen);
    }
    return status;
}

static void value_write(const TyField *field, int32_t value, const char *file_name, Text *out)
{
    switch (field->kind) {
    case TY_FIELD_INT:
        text_add(out, "%d", value);
        break;
    case TY_FIELD_FLAG:
        text_add(out, "%s", value ? "true" : "false");
        break;
    case TY_FIELD_CHOICE:
        text_add(out, "%s", field->choices[value]);
        break;
    case TY_FIELD_FILE:
        text_add(out, "%s", value >= 0 ? field->choices[value] : file_name);
        break;
    }
}

void config_write(const TyGame *game, const int32_t *values,
                  const char file_names[TY_FILES_MAX][TY_NAME_MAX], char spec[TY_SPEC_MAX])
{
    Text text = text_init(spec, TY_SPEC_MAX);
    text_add(&text, "%s", game->name);
    const char *separator = ":";
    for (uint32_t i = 0; game->fields[i].key != NULL; i++) {
        const TyField *field = &game->fields[i];
        if (!field->shown && values[i] == field->standard) {
            continue;
        }
        const char *file_name =
            field->kind == TY_FIELD_FILE ? file_names[config_file_index(game, i)] : "";
        text_add(&text, "%s%s=", separator, field->key);
        value_write(field, values[i], file_name, &text);
        separator = ",";
    }
    assert(text.length < text.size);
}
