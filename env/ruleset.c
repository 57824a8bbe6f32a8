/* Rulesets: a game with a checked configuration, its tables and its shape. */
#include "chance.h"
#include "config.h"
#include "core/hash.h"
#include "core/status.h"
#include "load/load.h"
#include "registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The documents of a ruleset's files while it is being built. */
typedef struct Documents {
    Doc docs[TY_FILES_MAX];
    const Doc *pointers[TY_FILES_MAX];
    uint32_t count;
    char names[TY_FILES_MAX][TY_NAME_MAX]; /* identity of a user's file: name@hash */
    const char *bytes[TY_FILES_MAX];       /* content of a user's file */
    size_t sizes[TY_FILES_MAX];
} Documents;

/* Cuts the part behind '@' off `value` and returns it; NULL if there is none. */
static char *value_split_hash(char *value)
{
    char *at = strrchr(value, '@');
    if (at != NULL) {
        *at++ = '\0';
    }
    return at;
}

/* Gives a user's file its identity and compares it with the one that was asked for, if any. */
static TyStatus user_file_name(const Doc *doc, const char *key, const char *base,
                               const char *wanted, char name[TY_NAME_MAX])
{
    char hash[9];
    Text text = text_init(hash, sizeof hash);
    text_add(&text, "%08x", (unsigned)(doc->hash >> 32));
    if (wanted != NULL && strcmp(wanted, hash) != 0) {
        return status_fail(TY_BAD_CONFIG, "%s=%.40s@%.16s: the content has hash %s", key, base,
                           wanted, hash);
    }
    text = text_init(name, TY_NAME_MAX);
    text_add(&text, "%.60s@%s", base, hash);
    return status_ok();
}

static TyStatus user_file_open(const TyField *field, const TyFiles *files, char *value,
                               Documents *documents, uint32_t file)
{
    char base[TY_NAME_MAX] = "";
    Doc *doc = &documents->docs[file];
    const char **bytes = &documents->bytes[file];
    size_t *size = &documents->sizes[file];
    if (files == NULL) {
        return status_fail(TY_BAD_CONFIG, "%s=%.60s: no built-in file has this name", field->key,
                           value);
    }
    char *wanted = value_split_hash(value);
    TyStatus status = files->open(files->user, value, bytes, size, base);
    if (status.code != TY_OK) {
        return status;
    }
    status = load_json(*bytes, *size, doc);
    if (status.code != TY_OK) {
        TyStatus located =
            status_fail(status.code, "%s=%.60s: %.200s", field->key, base, status.message);
        return located;
    }
    return user_file_name(doc, field->key, base, wanted, documents->names[file]);
}

/* Opens the document of every file field, built-in or the user's. */
static TyStatus documents_open(Config *config, const TyFiles *files, Documents *documents)
{
    const TyGame *game = config->game;
    for (uint32_t i = 0; game->fields[i].key != NULL; i++) {
        if (game->fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        uint32_t file = config_file_index(game, i);
        Doc *doc = &documents->docs[file];
        TyStatus status;
        if (config->values[i] >= 0) {
            const TyFile *built_in = game->files[file].files[config->values[i]];
            status = load_json(built_in->bytes, built_in->size, doc);
        } else {
            status =
                user_file_open(&game->fields[i], files, config->file_value[file], documents, file);
        }
        documents->pointers[file] = doc;
        documents->count++;
        if (status.code != TY_OK) {
            return status;
        }
    }
    return status_ok();
}

static void documents_close(Documents *documents)
{
    for (uint32_t i = 0; i < TY_FILES_MAX; i++) {
        load_free(&documents->docs[i]);
    }
}

static uint64_t schema_hash(const TyRuleset *ruleset)
{
    const TyShape *shape = &ruleset->shape;
    char name[TY_NAME_MAX];
    uint64_t hash = hash_add(hash_add(0, ruleset->game->rules_version), shape->row_size);
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        const TyBlock *block = &shape->row_blocks[i];
        hash = hash_bytes(hash, (const uint8_t *)block->name, strlen(block->name));
        hash = hash_add(hash, (uint64_t)block->kind | (uint64_t)block->maximum << 8 |
                                  (uint64_t)block->rows << 24 | (uint64_t)block->columns << 40);
    }
    for (uint32_t i = 0; i < shape->action_count; i++) {
        ty_action_name(ruleset, i, name);
        hash = hash_bytes(hash, (const uint8_t *)name, strlen(name));
    }
    return hash;
}

static uint32_t names_count(const char *const *names)
{
    uint32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

/* Sets what every ruleset has, whatever its game, and adds the chance seat if it is asked for. */
static void shape_finish(TyRuleset *ruleset)
{
    TyShape *shape = &ruleset->shape;
    const TyGame *game = ruleset->game;
    shape->spec = ruleset->spec;
    shape->note = ruleset->note;
    shape->cooperative = game->cooperative;
    shape->seats = shape->players;
    shape->row_blocks = ruleset->row_blocks;
    shape->full_blocks = ruleset->full_blocks;
    shape->metrics = game->metrics;
    shape->metric_count = names_count(game->metrics);
    shape->streams = game->streams;
    ruleset->game_action_count = shape->action_count;
    ruleset->game_state_size = shape->state_size;
    ruleset->game_row_size = shape->row_size;
    ruleset->chance_seat = ty_config(ruleset, "chance") == 1;
    if (ruleset->chance_seat) {
        chance_extend(ruleset);
    }
    assert(shape->action_count <= TY_ACTIONS_MAX && shape->state_size <= TY_STATE_MAX);
    assert(shape->row_size <= TY_ROW_MAX && shape->full_size <= TY_ROW_MAX);
    assert(shape->metric_count <= TY_METRICS_MAX && shape->state_size % 8 == 0);
    shape->schema_hash = schema_hash(ruleset);
}

/* Keeps the content of the user's files, so that logs can carry it. */
static TyStatus files_keep(TyRuleset *ruleset, const Documents *documents)
{
    for (uint32_t i = 0; i < TY_FILES_MAX; i++) {
        if (documents->bytes[i] == NULL) {
            continue;
        }
        ruleset->file_bytes[i] = malloc(documents->sizes[i] + 1);
        if (ruleset->file_bytes[i] == NULL) {
            return status_fail(TY_NO_MEMORY, "no memory for the ruleset");
        }
        memcpy(ruleset->file_bytes[i], documents->bytes[i], documents->sizes[i]);
        ruleset->file_bytes[i][documents->sizes[i]] = '\0';
        ruleset->file_size[i] = documents->sizes[i];
    }
    return status_ok();
}

/* Fills a ruleset whose memory is there. */
static TyStatus ruleset_build(TyRuleset *ruleset, const Config *config, const Documents *documents)
{
    ruleset->game = config->game;
    memcpy(ruleset->config, config->values, sizeof ruleset->config);
    config_write(config->game, config->values, documents->names, ruleset->spec);
    TyStatus status = config->game->build(ruleset, documents->pointers);
    if (status.code == TY_OK) {
        shape_finish(ruleset);
        status = files_keep(ruleset, documents);
    }
    return status;
}

TyStatus ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset)
{
    Config config;
    Documents documents = {0};
    *ruleset = NULL;
    TyStatus status = config_parse(spec, &config);
    if (status.code == TY_OK) {
        status = documents_open(&config, files, &documents);
    }
    if (status.code == TY_OK) {
        *ruleset = calloc(1, sizeof **ruleset);
        void *tables = calloc(1, config.game->tables_size);
        if (*ruleset == NULL || tables == NULL) {
            free(tables);
            status = status_fail(TY_NO_MEMORY, "no memory for the ruleset");
        } else {
            (*ruleset)->tables = tables;
            status = ruleset_build(*ruleset, &config, &documents);
        }
    }
    documents_close(&documents);
    if (status.code != TY_OK) {
        ty_ruleset_close(*ruleset);
        *ruleset = NULL;
    }
    return status;
}

void ty_ruleset_close(TyRuleset *ruleset)
{
    if (ruleset != NULL) {
        for (uint32_t i = 0; i < TY_FILES_MAX; i++) {
            free(ruleset->file_bytes[i]);
        }
        free(ruleset->tables);
        free(ruleset);
    }
}

/* The file field that the document's "format" names; false if none does. */
static const TyGame *format_find(const char *format, uint32_t *file)
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        for (*file = 0; *file < game->file_count; (*file)++) {
            if (strcmp(game->files[*file].format, format) == 0) {
                return game;
            }
        }
    }
    return NULL;
}

static TyStatus unknown_format(const char *format)
{
    char list[TY_MESSAGE_MAX / 2];
    Text text = text_init(list, sizeof list);
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        for (uint32_t file = 0; file < game->file_count; file++) {
            text_add(&text, "%s%s", text.length == 0 ? "" : ", ", game->files[file].format);
        }
    }
    return status_fail(TY_BAD_FILE, "format: '%.40s' is not known; there are %s", format, list);
}

static TyStatus document_check(const Doc *doc, const char **kind, Text *name)
{
    uint32_t file;
    TyStatus status = status_ok();
    const char *format = doc_read_text(doc, &doc->nodes[0], "format", &status);
    if (status.code != TY_OK) {
        return status;
    }
    const TyGame *game = format_find(format, &file);
    if (game == NULL) {
        return unknown_format(format);
    }
    *kind = game->files[file].title;
    text_add(name, "%s", doc_read_text(doc, &doc->nodes[0], "name", &status));
    return status.code == TY_OK ? game->file_check(file, doc) : status;
}

TyStatus ty_file_check(const char *bytes, size_t size, const char **kind, char name[TY_NAME_MAX])
{
    Doc doc = {0};
    Text text = text_init(name, TY_NAME_MAX);
    *kind = "";
    TyStatus status = load_json(bytes, size, &doc);
    if (status.code == TY_OK) {
        status = document_check(&doc, kind, &text);
        load_free(&doc);
    }
    return status;
}

const char *ty_game_name(const TyGame *game)
{
    return game->name;
}

const char *ty_game_title(const TyGame *game)
{
    return game->title;
}

uint32_t ty_game_rules_version(const TyGame *game)
{
    return game->rules_version;
}

const TyField *ty_game_fields(const TyGame *game, uint32_t *count)
{
    *count = config_field_count(game);
    return game->fields;
}

const char *ty_ruleset_file(const TyRuleset *ruleset, uint32_t file, size_t *size)
{
    *size = ruleset->file_size[file];
    return ruleset->file_bytes[file];
}

const TyGame *ty_ruleset_game(const TyRuleset *ruleset)
{
    return ruleset->game;
}

const TyShape *ty_shape(const TyRuleset *ruleset)
{
    return &ruleset->shape;
}

int32_t ty_config(const TyRuleset *ruleset, const char *key)
{
    uint32_t index = config_field_find(ruleset->game, key);
    if (ruleset->game->fields[index].key == NULL) {
        abort();
    }
    return ruleset->config[index];
}
