/* trainyard describe --json: games, configuration keys, row schema and actions for machines. */
#include "cli/describe.h"

static void json_field(Json *json, const TyField *field)
{
    char standard[TY_NAME_MAX];
    json_open(json, NULL, '{');
    json_put_string(json, "key", field->key);
    json_put_string(json, "kind", field_kind_name(field->kind));
    if (field->kind == TY_FIELD_INT) {
        json_put_int(json, "default", field->standard);
        json_put_int(json, "minimum", field->minimum);
        json_put_int(json, "maximum", field->maximum);
    } else if (field->kind == TY_FIELD_FLAG) {
        json_put_bool(json, "default", field->standard != 0);
    } else {
        field_value_name(field, field->standard, standard);
        json_put_string(json, "default", standard);
        json_open(json, "choices", '[');
        for (uint32_t i = 0; field->choices[i] != NULL; i++) {
            json_put_string(json, NULL, field->choices[i]);
        }
        json_close(json, ']');
    }
    json_put_string(json, "help", field->help);
    json_close(json, '}');
}

static void json_agents(Json *json, const TyGame *game)
{
    json_open(json, "agents", '[');
    for (uint32_t i = 0; ty_agent_at(game, i) != NULL; i++) {
        const TyAgent *agent = ty_agent_at(game, i);
        json_open(json, NULL, '{');
        json_put_string(json, "name", agent->name);
        json_put_bool(json, "plans", agent->plans);
        json_put_string(json, "help", agent->help);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_game(Json *json, const TyGame *game)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    json_put_string(json, "game", ty_game_name(game));
    json_put_string(json, "title", ty_game_title(game));
    json_put_int(json, "rules_version", ty_game_rules_version(game));
    json_open(json, "fields", '[');
    for (uint32_t i = 0; i < count; i++) {
        json_field(json, &fields[i]);
    }
    json_close(json, ']');
    json_agents(json, game);
}

int describe_json_games(const Settings *settings)
{
    Json json = output_open();
    json_open(&json, NULL, '{');
    json_put_string(&json, "version", TY_VERSION);
    json_open(&json, "games", '[');
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        json_open(&json, NULL, '{');
        json_game(&json, ty_game_at(i));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return output_print(settings, &json);
}

/* ---- One ruleset ---- */

static void json_labels(Json *json, const TyRuleset *ruleset, const TyBlock *block)
{
    json_open(json, "labels", '[');
    for (uint32_t row = 0; row < block->rows; row++) {
        json_open(json, NULL, '[');
        for (uint32_t column = 0; column < block->columns; column++) {
            char label[TY_NAME_MAX];
            ty_block_label(ruleset, block, row, column, label);
            json_put_string(json, NULL, label);
        }
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void json_values(Json *json, const TyRuleset *ruleset, const TyBlock *block)
{
    json_open(json, "values", '[');
    for (uint32_t value = 0; value <= block->maximum; value++) {
        char label[TY_NAME_MAX];
        ty_value_label(ruleset, block, value, label);
        json_put_string(json, NULL, label);
    }
    json_close(json, ']');
}

static void json_blocks(Json *json, const TyRuleset *ruleset, const char *key,
                        const TyBlock *blocks, uint32_t count)
{
    json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        const TyBlock *block = &blocks[i];
        json_open(json, NULL, '{');
        json_put_string(json, "name", block->name);
        json_put_string(json, "kind", block_kind_name(block->kind));
        json_put_int(json, "offset", block->offset);
        json_put_int(json, "rows", block->rows);
        json_put_int(json, "columns", block->columns);
        json_put_int(json, "width", block->width);
        json_put_int(json, "maximum", block->maximum);
        json_put_string(json, "help", block->help);
        json_labels(json, ruleset, block);
        if (block->kind == TY_BLOCK_CATEGORY) {
            json_values(json, ruleset, block);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_config(Json *json, const TyRuleset *ruleset)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ty_ruleset_game(ruleset), &count);
    json_open(json, "config", '{');
    for (uint32_t i = 0; i < count; i++) {
        char value[TY_NAME_MAX];
        ruleset_value(ruleset, &fields[i], value);
        if (fields[i].kind == TY_FIELD_INT || fields[i].kind == TY_FIELD_FLAG) {
            json_put_raw(json, fields[i].key, value);
        } else {
            json_put_string(json, fields[i].key, value);
        }
    }
    json_close(json, '}');
}

static void json_actions(Json *json, const TyRuleset *ruleset)
{
    json_open(json, "actions", '[');
    for (uint32_t i = 0; i < ty_shape(ruleset)->action_count; i++) {
        char name[TY_NAME_MAX];
        ty_action_name(ruleset, i, name);
        json_put_string(json, NULL, name);
    }
    json_close(json, ']');
}

static void json_streams(Json *json, const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    json_open(json, "streams", '[');
    for (uint32_t stream = 0; shape->streams[stream] != NULL; stream++) {
        json_open(json, NULL, '{');
        json_put_string(json, "name", shape->streams[stream]);
        json_open(json, "outcomes", '[');
        for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
            char name[TY_NAME_MAX];
            ty_outcome_name(ruleset, stream, i, name);
            if (name[0] != '\0') {
                json_put_string(json, NULL, name);
            }
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_sizes(Json *json, const TyShape *shape)
{
    json_put_string(json, "ruleset", shape->spec);
    json_put_string(json, "note", shape->note);
    json_put_hex(json, "schema_hash", shape->schema_hash);
    json_put_bool(json, "cooperative", shape->cooperative);
    json_put_int(json, "players", shape->players);
    json_put_int(json, "seats", shape->seats);
    json_put_int(json, "action_count", shape->action_count);
    json_put_int(json, "state_size", shape->state_size);
    json_put_int(json, "row_size", shape->row_size);
    json_put_int(json, "mask_size", shape->action_count);
    json_put_int(json, "full_size", shape->full_size);
}

int describe_json_ruleset(const Settings *settings, const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    Json json = output_open();
    json_open(&json, NULL, '{');
    json_sizes(&json, shape);
    json_game(&json, ty_ruleset_game(ruleset));
    json_config(&json, ruleset);
    json_blocks(&json, ruleset, "row", shape->row_blocks, shape->row_block_count);
    json_blocks(&json, ruleset, "full", shape->full_blocks, shape->full_block_count);
    json_actions(&json, ruleset);
    json_open(&json, "metrics", '[');
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        json_put_string(&json, NULL, shape->metrics[i]);
    }
    json_close(&json, ']');
    json_streams(&json, ruleset);
    json_close(&json, '}');
    return output_print(settings, &json);
}
