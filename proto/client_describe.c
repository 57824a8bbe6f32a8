/* The schema of a ruleset, as the daemon describes it. */
#include "proto/client_internal.h"

#include <string.h>

static TyBlockKind block_kind(Map map)
{
    static const char *const kinds[] = {[TY_BLOCK_CATEGORY] = "category",
                                        [TY_BLOCK_COUNT] = "count",
                                        [TY_BLOCK_FLAG] = "flag",
                                        [TY_BLOCK_FIXED] = "fixed"};
    const char *word = map_text(map, "kind");
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i], word) == 0) {
            return (TyBlockKind)i;
        }
    }
    reply_spoil(map.client);
    return TY_BLOCK_CATEGORY;
}

/* The labels of a block: a list per row, one after the other in one array. */
static const char *const *labels_read(Map map, const TyBlock *block)
{
    uint32_t rows = 0;
    Map row = map_list(map, "labels", &rows);
    const char **labels =
        reply_room(map.client, (size_t)block->rows * block->columns, sizeof labels[0]);
    if (rows != block->rows) {
        reply_spoil(map.client);
        return NULL;
    }
    for (uint32_t i = 0; labels != NULL && i < rows; i++) {
        WireItem list;
        wire_item(&row.at, row.end, &list);
        if (list.kind != WIRE_LIST || list.count != block->columns) {
            reply_spoil(map.client);
            return NULL;
        }
        for (uint32_t k = 0; k < list.count; k++) {
            labels[i * list.count + k] = item_text(map.client, &row.at, row.end);
        }
    }
    return labels;
}

static TyClientBlock block_read(Map map, uint32_t row_size)
{
    TyClientBlock read = {.block = {.name = map_text(map, "name"),
                                    .kind = block_kind(map),
                                    .offset = (uint16_t)map_uint(map, "offset", UINT16_MAX),
                                    .rows = (uint16_t)map_uint(map, "rows", UINT16_MAX),
                                    .columns = (uint16_t)map_uint(map, "columns", UINT16_MAX),
                                    .maximum = (uint16_t)map_uint(map, "maximum", UINT16_MAX),
                                    .width = (uint8_t)map_uint(map, "width", 2),
                                    .help = map_text(map, "help")}};
    const TyBlock *block = &read.block;
    uint32_t values = 0;
    uint64_t end = block->offset + (uint64_t)block->rows * block->columns * block->width;
    if (end > row_size) {
        reply_spoil(map.client);
        return read;
    }
    read.labels = labels_read(map, block);
    if (block->kind == TY_BLOCK_CATEGORY) {
        read.values = map_texts(map, "values", &values);
        if (values != block->maximum + 1u) {
            reply_spoil(map.client);
        }
    }
    return read;
}

static const TyClientBlock *blocks_read(Map map, const char *key, uint32_t row_size,
                                        uint32_t *count)
{
    Map entry = map_list(map, key, count);
    TyClientBlock *blocks = reply_room(map.client, *count, sizeof blocks[0]);
    for (uint32_t i = 0; blocks != NULL && i < *count; i++, map_next(&entry)) {
        blocks[i] = block_read(entry, row_size);
    }
    return blocks;
}

static const TyClientStream *streams_read(Map map, uint32_t *count)
{
    Map entry = map_list(map, "streams", count);
    TyClientStream *streams = reply_room(map.client, *count, sizeof streams[0]);
    for (uint32_t i = 0; streams != NULL && i < *count; i++, map_next(&entry)) {
        streams[i].name = map_text(entry, "name");
        streams[i].outcomes = map_texts(entry, "outcomes", &streams[i].outcome_count);
    }
    return streams;
}

static void schema_read(Map map, TyClientSchema *schema)
{
    uint32_t actions = 0;
    *schema = (TyClientSchema){
        .ruleset = map_text(map, "ruleset"),
        .note = map_text(map, "note"),
        .game = map_text(map, "game"),
        .title = map_text(map, "title"),
        .rules_version = (uint32_t)map_uint(map, "rules_version", UINT32_MAX),
        .schema_hash = map_uint(map, "schema_hash", UINT64_MAX),
        .cooperative = map_flag(map, "cooperative"),
        .players = (uint32_t)map_uint(map, "players", TY_PLAYERS_MAX),
        .seats = (uint32_t)map_uint(map, "seats", TY_SEATS_MAX),
        .state_size = (uint32_t)map_uint(map, "state_size", TY_STATE_MAX),
        .row_size = (uint32_t)map_uint(map, "row_size", TY_ROW_MAX),
        .full_size = (uint32_t)map_uint(map, "full_size", TY_ROW_MAX),
        .action_count = (uint32_t)map_uint(map, "action_count", TY_ACTIONS_MAX),
        .actions = map_texts(map, "actions", &actions),
    };
    schema->row_blocks = blocks_read(map, "row", schema->row_size, &schema->row_block_count);
    schema->full_blocks =
        blocks_read(map, "full_row", schema->full_size, &schema->full_block_count);
    schema->metrics = map_texts(map, "metrics", &schema->metric_count);
    schema->streams = streams_read(map, &schema->stream_count);
    if (actions != schema->action_count) {
        reply_spoil(map.client);
    }
}

TyStatus ty_client_describe(TyClient *client, const char *ruleset, const TyFileBytes *files,
                            uint32_t file_count, TyClientSchema *schema)
{
    const Given given[] = {given_text(FIELD_OF_RULESET, ruleset),
                           given_values(FIELD_OF_FILES, files, file_count), GIVEN_END};
    TyStatus status = request_ask(client, OP_DESCRIBE, given);
    if (status.code != TY_OK) {
        return status;
    }
    schema_read(reply_map(client), schema);
    return reply_sound(client);
}

TyStatus ty_client_rules(TyClient *client, const char *ruleset, const TyFileBytes *files,
                         uint32_t file_count, TyClientRules *rules)
{
    const Given given[] = {given_text(FIELD_OF_RULESET, ruleset),
                           given_values(FIELD_OF_FILES, files, file_count), GIVEN_END};
    TyStatus status = request_ask(client, OP_RULES, given);
    if (status.code != TY_OK) {
        return status;
    }
    Map map = reply_map(client);
    *rules = (TyClientRules){.ruleset = map_text(map, "ruleset"),
                             .rules = map_text(map, "rules"),
                             .board = map_text(map, "board")};
    return reply_sound(client);
}
