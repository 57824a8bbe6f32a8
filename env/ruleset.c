/* Rulesets: a game with a checked configuration, its tables and its shape. */
#include "chance.h"
#include "config.h"
#include "core/hash.h"
#include "core/status.h"
#include "kit/kit.h"
#include "kit/reader.h"
#include "load/load.h"
#include "registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The documents of a ruleset's files while it is being built. */
typedef struct Documents {
    TyDoc docs[TY_FILES_MAX];
    const TyDoc *pointers[TY_FILES_MAX];
    uint32_t count;
    char names[TY_FILES_MAX][TY_NAME_MAX]; /* identity of a user's file: name@hash */
    const char *bytes[TY_FILES_MAX];       /* content of a user's file */
    size_t sizes[TY_FILES_MAX];
    char *generated[TY_FILES_MAX]; /* memory of generated files */
} Documents;

/* What the value of a file setting begins with if the file is to be generated. */
static const char generated_prefix[] = "gen:";

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
static TyStatus user_file_name(const TyDoc *doc, const char *key, const char *base,
                               const char *wanted, char name[TY_NAME_MAX])
{
    char hash[9];
    TyText text = ty_text_init(hash, sizeof hash);
    ty_text_add(&text, "%08x", (unsigned)(doc->hash >> 32));
    if (wanted != NULL && strcmp(wanted, hash) != 0) {
        return ty_status_fail(TY_BAD_CONFIG, "%s=%.40s@%.16s: the content has hash %s", key, base,
                              wanted, hash);
    }
    text = ty_text_init(name, TY_NAME_MAX);
    ty_text_add(&text, "%.60s@%s", base, hash);
    return ty_status_ok();
}

/* Completes a refusal of a plain name, which may be a misspelt one of ours; a path is not. */
static TyStatus user_file_refuse(const TyField *field, const char *value, TyStatus why)
{
    bool unknown = why.code == TY_BAD_CONFIG || why.code == TY_BAD_FILE;
    if (!unknown || strchr(value, '/') != NULL || strstr(value, ".json") != NULL) {
        return why;
    }
    char list[TY_MESSAGE_MAX / 2];
    fields_words_list(field->choices, value, list, sizeof list);
    return ty_status_fail(why.code, "%s=%.40s: %.100s; built in are %s", field->key, value,
                          why.message, list);
}

/* The number that `*text` begins with, of at most 19 digits; it moves on behind it. */
static bool number_take(const char **text, uint64_t *number)
{
    const char *start = *text;
    *number = 0;
    while (**text >= '0' && **text <= '9' && *text - start < 19) {
        *number = *number * 10 + (uint64_t)(*(*text)++ - '0');
    }
    return *text > start;
}

/* Reads "SEED", and behind it "-SIZE", "-LEVEL" or both. */
static bool order_parse(const TyFileField *field, const char *text, TyOrder *order)
{
    uint64_t size = field->size_standard;
    bool good = number_take(&text, &order->seed);
    if (good && text[0] == '-' && text[1] >= '0' && text[1] <= '9') {
        text++;
        good =
            number_take(&text, &size) && size >= field->size_minimum && size <= field->size_maximum;
    }
    order->size = (uint32_t)size;
    order->level = TY_LEVEL_NORMAL;
    for (uint32_t i = 0; text[0] == '-' && ty_level_names[i] != NULL; i++) {
        if (strcmp(text + 1, ty_level_names[i]) == 0) {
            order->level = (TyLevel)i;
            return good;
        }
    }
    return good && text[0] == '\0';
}

/* Writes what a generated file is called: every order has one name. */
static void order_name(TyOrder order, char name[TY_NAME_MAX])
{
    TyText text = ty_text_init(name, TY_NAME_MAX);
    ty_text_add(&text, "%s%llu-%u", generated_prefix, (unsigned long long)order.seed, order.size);
    if (order.level != TY_LEVEL_NORMAL) {
        ty_text_add(&text, "-%s", ty_level_names[order.level]);
    }
}

/* Generates the file that `value` asks for; `base` gets its name. */
static TyStatus generated_open(const TyFileField *field, const char *value, Documents *documents,
                               uint32_t file, char base[TY_NAME_MAX])
{
    TyOrder order;
    if (!order_parse(field, value + strlen(generated_prefix), &order)) {
        return ty_status_fail(TY_BAD_CONFIG,
                              "%s=%.60s: expected gen:SEED, and behind it -SIZE (%u..%u), -LEVEL "
                              "(easy, hard) or both",
                              field->key, value, field->size_minimum, field->size_maximum);
    }
    documents->generated[file] = malloc(TY_GENERATED_MAX);
    if (documents->generated[file] == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a generated file");
    }
    documents->bytes[file] = documents->generated[file];
    documents->sizes[file] =
        field->generate(field, order, documents->generated[file], TY_GENERATED_MAX);
    assert(documents->sizes[file] < TY_GENERATED_MAX);
    order_name(order, base);
    return ty_status_ok();
}

static TyStatus user_file_open(const TyField *field, const TyFileField *kind, const TyFiles *files,
                               char *value, Documents *documents, uint32_t file)
{
    char base[TY_NAME_MAX] = "";
    TyDoc *doc = &documents->docs[file];
    const char **bytes = &documents->bytes[file];
    size_t *size = &documents->sizes[file];
    char *wanted = value_split_hash(value);
    TyStatus status;
    if (kind->generate != NULL && strncmp(value, generated_prefix, strlen(generated_prefix)) == 0) {
        status = generated_open(kind, value, documents, file, base);
        if (status.code != TY_OK) {
            return status;
        }
    } else if (files == NULL) {
        status = ty_status_fail(TY_BAD_CONFIG, "it is not built in");
    } else {
        status = files->open(files->user, value, bytes, size, base);
    }
    if (status.code != TY_OK) {
        return user_file_refuse(field, value, status);
    }
    status = load_json(*bytes, *size, doc);
    if (status.code != TY_OK) {
        TyStatus located =
            ty_status_fail(status.code, "%s=%.60s: %.200s", field->key, base, status.message);
        return located;
    }
    return user_file_name(doc, field->key, base, wanted, documents->names[file]);
}

/* Opens the document of every file field, built-in or the user's. */
static TyStatus documents_open(Config *config, const TyFiles *files, Documents *documents)
{
    const TyGame *game = config->game;
    const TyField *fields = registry_fields(game);
    for (uint32_t i = 0; fields[i].key != NULL; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        uint32_t file = config_file_index(game, i);
        TyDoc *doc = &documents->docs[file];
        TyStatus status;
        if (config->settings.values[i] >= 0) {
            const TyFile *built_in = game->files[file].files[config->settings.values[i]];
            status = load_json(built_in->bytes, built_in->size, doc);
        } else {
            status = user_file_open(&fields[i], &game->files[file], files,
                                    config->settings.files[i], documents, file);
        }
        documents->pointers[file] = doc;
        documents->count++;
        if (status.code != TY_OK) {
            return status;
        }
    }
    return ty_status_ok();
}

static void documents_close(Documents *documents)
{
    for (uint32_t i = 0; i < TY_FILES_MAX; i++) {
        load_free(&documents->docs[i]);
        free(documents->generated[i]);
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

static void streams_name(TyRuleset *ruleset)
{
    const TyStream *streams = ruleset->game->streams;
    for (uint32_t i = 0; streams != NULL && streams[i].name != NULL; i++) {
        ruleset->stream_names[i] = streams[i].name;
    }
    ruleset->shape.streams = ruleset->stream_names;
}

/* Sets what every ruleset has, whatever its game, and adds the chance seat if it is asked for. */
static TyStatus shape_finish(TyRuleset *ruleset)
{
    static const char *const nothing[] = {NULL};
    TyShape *shape = &ruleset->shape;
    const TyGame *game = ruleset->game;
    shape->spec = ruleset->spec;
    shape->note = ruleset->note;
    shape->cooperative = game->cooperative;
    shape->seats = shape->players;
    shape->row_blocks = ruleset->row_blocks;
    shape->full_blocks = ruleset->full_blocks;
    shape->metrics = game->metrics != NULL ? game->metrics : nothing;
    shape->metric_count = names_count(shape->metrics);
    streams_name(ruleset);
    ruleset->game_action_count = shape->action_count;
    ruleset->game_state_size = shape->state_size;
    ruleset->game_row_size = shape->row_size;
    ruleset->game_block_count = shape->row_block_count;
    if (ruleset->chance_seat) {
        chance_extend(ruleset);
    }
    if (shape->action_count > TY_ACTIONS_MAX || shape->state_size > TY_STATE_MAX ||
        shape->row_size > TY_ROW_MAX) {
        return ty_status_fail(TY_LIMIT,
                              "%s: with chance=seat the actions, the state or the row is "
                              "larger than the library allows",
                              game->name);
    }
    shape->schema_hash = schema_hash(ruleset);
    return ty_status_ok();
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
            return ty_status_fail(TY_NO_MEMORY, "no memory for the ruleset");
        }
        memcpy(ruleset->file_bytes[i], documents->bytes[i], documents->sizes[i]);
        ruleset->file_bytes[i][documents->sizes[i]] = '\0';
        ruleset->file_size[i] = documents->sizes[i];
    }
    return ty_status_ok();
}

/* The word, name and remark that every file begins with. */
static TyStatus file_head_check(const TyFileField *field, const TyDoc *doc)
{
    TyReader reader = {.doc = doc};
    const char *format = ty_read_text(&reader, doc->nodes, "format");
    if (ty_reader_ok(&reader) && strcmp(format, field->format) != 0) {
        ty_read_fail(&reader, ty_doc_get(doc, doc->nodes, "format"), "must be \"%s\", not \"%s\"",
                     field->format, format);
    }
    ty_read_id(&reader, doc->nodes, "name");
    if (ty_doc_get(doc, doc->nodes, "status") != NULL) {
        ty_read_line(&reader, doc->nodes, "status", TY_REMARK_MAX);
    }
    return reader.status;
}

static TyStatus file_read(const TyGame *game, uint32_t file, const TyDoc *doc, void *tables)
{
    TyStatus status = file_head_check(&game->files[file], doc);
    return status.code == TY_OK ? game->read(tables, file, doc) : status;
}

/* What users are told of files that are not the printed ones. */
static void note_add(TyRuleset *ruleset, uint32_t file, const TyDoc *doc)
{
    const TyDocNode *remark = ty_doc_get(doc, doc->nodes, "status");
    size_t used = strlen(ruleset->note);
    if (remark != NULL) {
        TyText note = ty_text_init(ruleset->note + used, sizeof ruleset->note - used);
        ty_text_add(&note, "%s%s %s: %s", used == 0 ? "" : "; ", ruleset->game->files[file].key,
                    ty_doc_get(doc, doc->nodes, "name")->text, remark->text);
    }
}

/* Reads the files, lets the game complete its tables, and derives the shape from them. */
static TyStatus tables_build(TyRuleset *ruleset, const Documents *documents)
{
    const TyGame *game = ruleset->game;
    TyStatus status = ty_status_ok();
    for (uint32_t i = 0; i < game->file_count && status.code == TY_OK; i++) {
        status = file_read(game, i, documents->pointers[i], ruleset->tables);
        if (status.code == TY_OK) {
            note_add(ruleset, i, documents->pointers[i]);
        }
    }
    if (status.code == TY_OK && game->build != NULL) {
        status = game->build(ruleset);
    }
    return status.code == TY_OK ? kit_shape(ruleset) : status;
}

/* Fills a ruleset whose memory is there. */
static TyStatus ruleset_build(TyRuleset *ruleset, const Config *config, const Documents *documents)
{
    const TyGame *game = config->game;
    ruleset->game = game;
    ruleset->earns = game->earn != NULL;
    memcpy(ruleset->config, config->settings.values, sizeof ruleset->config);
    config_write(game, config->settings.values, documents->names, ruleset->spec);
    int32_t players = ty_config(ruleset, "players");
    ruleset->shape.players = players > 0 ? (uint32_t)players : game->players;
    ruleset->ask_forced = ty_config(ruleset, "ask_forced") == 1;
    ruleset->chance_seat = ty_config(ruleset, "chance") == 1;
    TyStatus status = tables_build(ruleset, documents);
    if (status.code == TY_OK) {
        status = shape_finish(ruleset);
    }
    return status.code == TY_OK ? files_keep(ruleset, documents) : status;
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
        void *tables = calloc(1, config.game->tables_size + 1);
        if (*ruleset == NULL || tables == NULL) {
            free(tables);
            status = ty_status_fail(TY_NO_MEMORY, "no memory for the ruleset");
        } else {
            (*ruleset)->tables = tables;
            status = ruleset_build(*ruleset, &config, &documents);
        }
        if (status.code == TY_OK) {
            status = agent_tables_build(*ruleset);
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
        agent_tables_free(ruleset);
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
    TyText text = ty_text_init(list, sizeof list);
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        for (uint32_t file = 0; file < game->file_count; file++) {
            ty_text_add(&text, "%s%s", text.length == 0 ? "" : ", ", game->files[file].format);
        }
    }
    return ty_status_fail(TY_BAD_FILE, "format: '%.40s' is not known; there are %s", format, list);
}

static TyStatus document_check(const TyDoc *doc, const char **kind, TyText *name)
{
    uint32_t file;
    TyReader reader = {.doc = doc};
    const char *format = ty_read_text(&reader, doc->nodes, "format");
    if (!ty_reader_ok(&reader)) {
        return reader.status;
    }
    const TyGame *game = format_find(format, &file);
    if (game == NULL) {
        return unknown_format(format);
    }
    *kind = game->files[file].title;
    ty_text_add(name, "%s", ty_read_text(&reader, doc->nodes, "name"));
    void *tables = calloc(1, game->tables_size);
    if (tables == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory to check a file");
    }
    TyStatus status = file_read(game, file, doc, tables);
    free(tables);
    return status;
}

TyStatus ty_file_check(const char *bytes, size_t size, const char **kind, char name[TY_NAME_MAX])
{
    TyDoc doc = {0};
    TyText text = ty_text_init(name, TY_NAME_MAX);
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

const char *ty_game_small(const TyGame *game)
{
    return game->small != NULL ? game->small : "";
}

const char *ty_game_learning(const TyGame *game)
{
    return game->learning != NULL ? game->learning : "";
}

const TyField *ty_game_fields(const TyGame *game, uint32_t *count)
{
    const TyField *fields = registry_fields(game);
    *count = fields_count(fields);
    return fields;
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
    const TyField *fields = registry_fields(ruleset->game);
    uint32_t index = fields_find(fields, key);
    return fields[index].key != NULL ? ruleset->config[index] : INT32_MIN;
}
