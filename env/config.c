/* Reading and writing configurations: "convoi:board=europe,players=3". */
#include "config.h"

#include "core/status.h"
#include "registry.h"

#include <assert.h>
#include <string.h>

uint32_t config_file_index(const TyGame *game, uint32_t field)
{
    uint32_t index = 0;
    while (strcmp(game->files[index].key, registry_fields(game)[field].key) != 0) {
        index++;
        assert(index < game->file_count);
    }
    return index;
}

static TyStatus game_parse(const char *name, const TyGame **game)
{
    *game = ty_game_find(name);
    if (*game != NULL) {
        return ty_status_ok();
    }
    char list[TY_MESSAGE_MAX / 2];
    const char *names[REGISTRY_GAMES_MAX + 1] = {NULL};
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        names[i] = ty_game_at(i)->name;
    }
    fields_words_list(names, name, list, sizeof list);
    return ty_status_fail(TY_BAD_CONFIG, "unknown game '%.60s'; there are %s", name, list);
}

TyStatus config_parse(const char *spec, Config *config)
{
    memset(config, 0, sizeof *config);
    if (strlen(spec) >= sizeof config->text) {
        return ty_status_fail(TY_LIMIT, "the ruleset is longer than %zu characters",
                              sizeof config->text - 1);
    }
    memcpy(config->text, spec, strlen(spec) + 1);
    char *rest = strchr(config->text, ':');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    TyStatus status = game_parse(config->text, &config->game);
    if (status.code != TY_OK) {
        return status;
    }
    config->settings.owner = config->game->name;
    config->settings.fields = registry_fields(config->game);
    return fields_parse(&config->settings, rest);
}

void config_write(const TyGame *game, const int32_t *values,
                  const char file_names[TY_FILES_MAX][TY_NAME_MAX], char spec[TY_SPEC_MAX])
{
    const TyField *fields = registry_fields(game);
    const char *names[TY_FIELDS_MAX] = {NULL};
    TyText text = ty_text_init(spec, TY_SPEC_MAX);
    for (uint32_t i = 0; fields[i].key != NULL; i++) {
        names[i] = fields[i].kind == TY_FIELD_FILE ? file_names[config_file_index(game, i)] : NULL;
    }
    ty_text_add(&text, "%s", game->name);
    fields_write(fields, values, names, &text);
    assert(text.length < text.size);
}

void config_value(const char *spec, const char *key, char *out, size_t size)
{
    TyText text = ty_text_init(out, size);
    size_t length = strlen(key);
    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at, ',')) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            const char *value = at + length + 1;
            ty_text_add(&text, "%.*s", (int)strcspn(value, ","), value);
            return;
        }
    }
}
