/* A ruleset in words: sizes, blocks, actions, metrics, streams. */
#include "daemon/boards.h"
#include "daemon/host_internal.h"

static const char *block_kind(TyBlockKind kind)
{
    switch (kind) {
    case TY_BLOCK_CATEGORY:
        return "category";
    case TY_BLOCK_COUNT:
        return "count";
    case TY_BLOCK_FLAG:
        return "flag";
    case TY_BLOCK_FIXED:
        return "fixed";
    }
    return "";
}

static void put_labels(Writer *writer, const TyRuleset *ruleset, const TyBlock *block)
{
    char label[TY_NAME_MAX];
    put_text(writer, "labels");
    put_list(writer, block->rows);
    for (uint32_t row = 0; row < block->rows; row++) {
        put_list(writer, block->columns);
        for (uint32_t column = 0; column < block->columns; column++) {
            ty_block_label(ruleset, block, row, column, label);
            put_text(writer, label);
        }
    }
}

static void put_values(Writer *writer, const TyRuleset *ruleset, const TyBlock *block)
{
    char label[TY_NAME_MAX];
    put_text(writer, "values");
    put_list(writer, block->maximum + 1u);
    for (uint32_t value = 0; value <= block->maximum; value++) {
        ty_value_label(ruleset, block, value, label);
        put_text(writer, label);
    }
}

static void put_blocks(Writer *writer, const TyRuleset *ruleset, const TyBlock *blocks,
                       uint32_t count)
{
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        const TyBlock *block = &blocks[i];
        bool category = block->kind == TY_BLOCK_CATEGORY;
        put_map(writer, category ? 10 : 9);
        put_key_text(writer, "name", block->name);
        put_key_text(writer, "kind", block_kind(block->kind));
        put_key_uint(writer, "offset", block->offset);
        put_key_uint(writer, "rows", block->rows);
        put_key_uint(writer, "columns", block->columns);
        put_key_uint(writer, "width", block->width);
        put_key_uint(writer, "maximum", block->maximum);
        put_key_text(writer, "help", block->help != NULL ? block->help : "");
        put_labels(writer, ruleset, block);
        if (category) {
            put_values(writer, ruleset, block);
        }
    }
}

static void put_names(Writer *writer, const char *const *names, uint32_t count)
{
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(writer, names[i]);
    }
}

static void put_streams(Writer *writer, const TyRuleset *ruleset)
{
    const char *const *streams = ty_shape(ruleset)->streams;
    char name[TY_NAME_MAX];
    uint32_t count = 0;
    while (streams[count] != NULL) {
        count++;
    }
    put_list(writer, count);
    for (uint32_t stream = 0; stream < count; stream++) {
        uint32_t outcomes = TY_OUTCOMES_MAX;
        do {
            ty_outcome_name(ruleset, stream, outcomes - 1, name);
        } while (name[0] == '\0' && --outcomes > 0);
        put_map(writer, 2);
        put_key_text(writer, "name", streams[stream]);
        put_text(writer, "outcomes");
        put_list(writer, outcomes);
        for (uint32_t i = 0; i < outcomes; i++) {
            ty_outcome_name(ruleset, stream, i, name);
            put_text(writer, name);
        }
    }
}

static void put_actions(Writer *writer, const TyRuleset *ruleset)
{
    uint32_t count = ty_shape(ruleset)->action_count;
    char name[TY_NAME_MAX];
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        ty_action_name(ruleset, i, name);
        put_text(writer, name);
    }
}

static void put_describe(Writer *writer, Host *host, const Job *job, const void *context)
{
    const TyRuleset *ruleset = context;
    const TyShape *shape = ty_shape(ruleset);
    (void)host;
    (void)job;
    reply_text(writer, REPLY_RULESET, shape->spec);
    reply_text(writer, REPLY_NOTE, shape->note);
    reply_uint(writer, REPLY_RULES_VERSION, ty_game_rules_version(ty_ruleset_game(ruleset)));
    reply_uint(writer, REPLY_SCHEMA_HASH, shape->schema_hash);
    reply_key(writer, REPLY_COOPERATIVE);
    put_flag(writer, shape->cooperative);
    reply_uint(writer, REPLY_PLAYERS, shape->players);
    reply_uint(writer, REPLY_SEATS, shape->seats);
    reply_uint(writer, REPLY_ROW_SIZE, shape->row_size);
    reply_uint(writer, REPLY_FULL_SIZE, shape->full_size);
    reply_uint(writer, REPLY_ACTION_COUNT, shape->action_count);
    reply_uint(writer, REPLY_STATE_SIZE, shape->state_size);
    reply_key(writer, REPLY_ACTIONS);
    put_actions(writer, ruleset);
    reply_key(writer, REPLY_ROW);
    put_blocks(writer, ruleset, shape->row_blocks, shape->row_block_count);
    reply_key(writer, REPLY_FULL_ROW);
    put_blocks(writer, ruleset, shape->full_blocks, shape->full_block_count);
    reply_key(writer, REPLY_METRICS_NAMES);
    put_names(writer, shape->metrics, shape->metric_count);
    reply_key(writer, REPLY_STREAMS);
    put_streams(writer, ruleset);
}

TyStatus request_ruleset_open(const Host *host, const Request *request, TyRuleset **ruleset)
{
    char spec[WIRE_TEXT_MAX];
    BoardSource source = {.request = request,
                          .directory = host->shared->boards,
                          .bytes_max = host->shared->limits.board_bytes};
    TyFiles files = board_source_files(&source);
    request_text(request, FIELD_OF_RULESET, spec);
    TyStatus status = ty_ruleset_open(spec, &files, ruleset);
    board_source_fini(&source);
    return status;
}

void job_describe(Host *host, Job *job)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = request_ruleset_open(host, &job->request, &ruleset);
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    job_reply(host, job, 64 << 10, put_describe, ruleset);
    ty_ruleset_close(ruleset);
}
