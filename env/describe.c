/* A game or a ruleset in words: one walk, for JSON, text and the wire alike. */
#include "describe.h"

#include "agent.h"
#include "config.h"

#include <assert.h>
#include <string.h>

static const char *const field_kinds[] = {
    [TY_FIELD_INT] = "int",   [TY_FIELD_FLAG] = "flag",         [TY_FIELD_CHOICE] = "choice",
    [TY_FIELD_FILE] = "file", [TY_FIELD_FRACTION] = "fraction",
};

static const char *const block_kinds[] = {
    [TY_BLOCK_CATEGORY] = "category",
    [TY_BLOCK_COUNT] = "count",
    [TY_BLOCK_FLAG] = "flag",
    [TY_BLOCK_FIXED] = "fixed",
};

static uint32_t names_count(const char *const *names)
{
    uint32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

static void put_names(const DescribeSink *sink, const char *key, const char *const *names)
{
    uint32_t count = names_count(names);
    sink->open(sink->user, key, '[', count);
    for (uint32_t i = 0; i < count; i++) {
        sink->text(sink->user, NULL, names[i]);
    }
    sink->close(sink->user, ']');
}

void describe_file(const TyRuleset *ruleset, const TyField *field, char out[TY_NAME_MAX])
{
    int32_t value = ty_config(ruleset, field->key);
    if (value >= 0) {
        assert(field->choices != NULL);
        TyText text = ty_text_init(out, TY_NAME_MAX);
        ty_text_add(&text, "%s", field->choices[value]);
    } else {
        config_value(ty_shape(ruleset)->spec, field->key, out, TY_NAME_MAX);
    }
}

/* A file that is not built in has no name here. */
static void put_value(const DescribeSink *sink, const char *key, const TyField *field,
                      int32_t value)
{
    char fraction[FIELDS_FRACTION_MAX];
    switch (field->kind) {
    case TY_FIELD_INT:
        sink->integer(sink->user, key, value);
        return;
    case TY_FIELD_FLAG:
        sink->flag(sink->user, key, value != 0);
        return;
    case TY_FIELD_CHOICE:
    case TY_FIELD_FILE:
        sink->text(sink->user, key,
                   field->choices != NULL && value >= 0 ? field->choices[value] : "");
        return;
    case TY_FIELD_FRACTION:
        fields_fraction(value, fraction);
        sink->text(sink->user, key, fraction);
        return;
    }
}

/* What the ruleset has for the field. */
static void put_current(const DescribeSink *sink, const TyRuleset *ruleset, const TyField *field)
{
    char name[TY_NAME_MAX];
    if (field->kind == TY_FIELD_FILE) {
        describe_file(ruleset, field, name);
        sink->text(sink->user, "value", name);
    } else {
        put_value(sink, "value", field, ty_config(ruleset, field->key));
    }
}

/* `ruleset` is NULL for a game without one. */
static void put_field(const DescribeSink *sink, const TyRuleset *ruleset, const TyField *field)
{
    bool ranged = field->kind == TY_FIELD_INT || field->kind == TY_FIELD_FRACTION;
    uint32_t range = ranged ? 2 : field->choices != NULL ? 1 : 0;
    uint32_t current = ruleset != NULL ? 1 : 0;
    sink->open(sink->user, NULL, '{', 4 + current + range);
    sink->text(sink->user, "key", field->key);
    sink->text(sink->user, "kind", field_kinds[field->kind]);
    if (ruleset != NULL) {
        put_current(sink, ruleset, field);
    }
    put_value(sink, "default", field, field->standard);
    if (ranged) {
        put_value(sink, "minimum", field, field->minimum);
        put_value(sink, "maximum", field, field->maximum);
    }
    sink->text(sink->user, "help", field->help);
    if (range == 1) {
        put_names(sink, "choices", field->choices);
    }
    sink->close(sink->user, '}');
}

static void put_agent(const DescribeSink *sink, const TyAgent *agent)
{
    uint32_t count = agent->fields != NULL ? fields_count(agent->fields) : 0;
    sink->open(sink->user, NULL, '{', 4);
    sink->text(sink->user, "name", agent->name);
    sink->flag(sink->user, "plans", agent->plans);
    sink->text(sink->user, "help", agent->help);
    sink->open(sink->user, "fields", '[', count);
    for (uint32_t i = 0; i < count; i++) {
        put_field(sink, NULL, &agent->fields[i]);
    }
    sink->close(sink->user, ']');
    sink->close(sink->user, '}');
}

static void put_agents(const DescribeSink *sink, const TyGame *game)
{
    uint32_t count = 0;
    while (ty_agent_at(game, count) != NULL) {
        count++;
    }
    sink->open(sink->user, "agents", '[', count);
    for (uint32_t i = 0; i < count; i++) {
        put_agent(sink, ty_agent_at(game, i));
    }
    sink->close(sink->user, ']');
}

static void put_fields(const DescribeSink *sink, const TyGame *game, const TyRuleset *ruleset)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    sink->open(sink->user, "fields", '[', count);
    for (uint32_t i = 0; i < count; i++) {
        put_field(sink, ruleset, &fields[i]);
    }
    sink->close(sink->user, ']');
}

static void put_game(const DescribeSink *sink, const TyGame *game)
{
    sink->text(sink->user, "game", ty_game_name(game));
    sink->text(sink->user, "title", ty_game_title(game));
    sink->integer(sink->user, "rules_version", ty_game_rules_version(game));
}

void describe_game(const TyGame *game, const DescribeSink *sink)
{
    put_game(sink, game);
    sink->text(sink->user, "small", ty_game_small(game));
    sink->text(sink->user, "learning", ty_game_learning(game));
    put_fields(sink, game, NULL);
    put_agents(sink, game);
}

static void put_labels(const DescribeSink *sink, const TyRuleset *ruleset, const TyBlock *block)
{
    char label[TY_NAME_MAX];
    sink->open(sink->user, "labels", '[', block->rows);
    for (uint32_t row = 0; row < block->rows; row++) {
        sink->open(sink->user, NULL, '[', block->columns);
        for (uint32_t column = 0; column < block->columns; column++) {
            ty_block_label(ruleset, block, row, column, label);
            sink->text(sink->user, NULL, label);
        }
        sink->close(sink->user, ']');
    }
    sink->close(sink->user, ']');
}

static void put_values(const DescribeSink *sink, const TyRuleset *ruleset, const TyBlock *block)
{
    char label[TY_NAME_MAX];
    sink->open(sink->user, "values", '[', block->maximum + 1u);
    for (uint32_t value = 0; value <= block->maximum; value++) {
        ty_value_label(ruleset, block, value, label);
        sink->text(sink->user, NULL, label);
    }
    sink->close(sink->user, ']');
}

static void put_block(const DescribeSink *sink, const TyRuleset *ruleset, const TyBlock *block)
{
    bool category = block->kind == TY_BLOCK_CATEGORY;
    sink->open(sink->user, NULL, '{', category ? 10 : 9);
    sink->text(sink->user, "name", block->name);
    sink->text(sink->user, "kind", block_kinds[block->kind]);
    sink->integer(sink->user, "offset", block->offset);
    sink->integer(sink->user, "rows", block->rows);
    sink->integer(sink->user, "columns", block->columns);
    sink->integer(sink->user, "width", block->width);
    sink->integer(sink->user, "maximum", block->maximum);
    sink->text(sink->user, "help", block->help != NULL ? block->help : "");
    put_labels(sink, ruleset, block);
    if (category) {
        put_values(sink, ruleset, block);
    }
    sink->close(sink->user, '}');
}

static void put_blocks(const DescribeSink *sink, const char *key, const TyRuleset *ruleset,
                       const TyBlock *blocks, uint32_t count)
{
    sink->open(sink->user, key, '[', count);
    for (uint32_t i = 0; i < count; i++) {
        put_block(sink, ruleset, &blocks[i]);
    }
    sink->close(sink->user, ']');
}

static void put_actions(const DescribeSink *sink, const TyRuleset *ruleset)
{
    uint32_t count = ty_shape(ruleset)->action_count;
    char name[TY_NAME_MAX];
    sink->open(sink->user, "actions", '[', count);
    for (uint32_t i = 0; i < count; i++) {
        ty_action_name(ruleset, i, name);
        sink->text(sink->user, NULL, name);
    }
    sink->close(sink->user, ']');
}

/* Outcomes up to the last that has a name. */
static void put_outcomes(const DescribeSink *sink, const TyRuleset *ruleset, uint32_t stream)
{
    char name[TY_NAME_MAX];
    uint32_t count = TY_OUTCOMES_MAX;
    do {
        ty_outcome_name(ruleset, stream, count - 1, name);
    } while (name[0] == '\0' && --count > 0);
    sink->open(sink->user, "outcomes", '[', count);
    for (uint32_t i = 0; i < count; i++) {
        ty_outcome_name(ruleset, stream, i, name);
        sink->text(sink->user, NULL, name);
    }
    sink->close(sink->user, ']');
}

static void put_streams(const DescribeSink *sink, const TyRuleset *ruleset)
{
    const char *const *streams = ty_shape(ruleset)->streams;
    uint32_t count = names_count(streams);
    sink->open(sink->user, "streams", '[', count);
    for (uint32_t stream = 0; stream < count; stream++) {
        sink->open(sink->user, NULL, '{', 2);
        sink->text(sink->user, "name", streams[stream]);
        put_outcomes(sink, ruleset, stream);
        sink->close(sink->user, '}');
    }
    sink->close(sink->user, ']');
}

static void put_sizes(const DescribeSink *sink, const TyShape *shape)
{
    sink->hash(sink->user, "schema_hash", shape->schema_hash);
    sink->flag(sink->user, "cooperative", shape->cooperative);
    sink->integer(sink->user, "players", shape->players);
    sink->integer(sink->user, "seats", shape->seats);
    sink->integer(sink->user, "action_count", shape->action_count);
    sink->integer(sink->user, "state_size", shape->state_size);
    sink->integer(sink->user, "row_size", shape->row_size);
    sink->integer(sink->user, "full_size", shape->full_size);
}

void describe_ruleset(const TyRuleset *ruleset, const DescribeSink *sink)
{
    const TyShape *shape = ty_shape(ruleset);
    const TyGame *game = ty_ruleset_game(ruleset);
    sink->text(sink->user, "ruleset", shape->spec);
    sink->text(sink->user, "note", shape->note);
    put_game(sink, game);
    put_sizes(sink, shape);
    put_fields(sink, game, ruleset);
    put_agents(sink, game);
    put_blocks(sink, "row", ruleset, shape->row_blocks, shape->row_block_count);
    put_blocks(sink, "full_row", ruleset, shape->full_blocks, shape->full_block_count);
    put_actions(sink, ruleset);
    put_names(sink, "metrics", shape->metrics);
    put_streams(sink, ruleset);
}
