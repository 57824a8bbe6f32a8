/* trainyard describe: what games there are, and what a ruleset's rows and actions mean. */
#include "cli/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Games ---- */

static void field_range(const TyField *field, Text *out)
{
    switch (field->kind) {
    case TY_FIELD_INT:
        text_add(out, "%d..%d", field->minimum, field->maximum);
        return;
    case TY_FIELD_FLAG:
        text_add(out, "false, true");
        return;
    case TY_FIELD_CHOICE:
    case TY_FIELD_FILE:
        for (uint32_t i = 0; field->choices[i] != NULL; i++) {
            text_add(out, "%s%s", i > 0 ? ", " : "", field->choices[i]);
        }
        text_add(out, "%s", field->kind == TY_FIELD_FILE ? ", or a path" : "");
        return;
    }
}

static void print_field(const TyField *field)
{
    char standard[TY_NAME_MAX];
    char range[512];
    Text text = text_init(range, sizeof range);
    field_value_name(field, field->standard, standard);
    field_range(field, &text);
    printf("  %-14s %-12s %s\n  %-27s %s\n", field->key, standard, range, "", field->help);
}

static void print_game(const TyGame *game)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    printf("%s: %s (rules version %u)\n\n", ty_game_name(game), ty_game_title(game),
           ty_game_rules_version(game));
    printf("  %-14s %-12s %s\n", "key", "default", "allowed");
    for (uint32_t i = 0; i < count; i++) {
        print_field(&fields[i]);
    }
    printf("\n  agents:\n");
    for (uint32_t i = 0; ty_agent_at(game, i) != NULL; i++) {
        printf("  %-14s %s\n", ty_agent_at(game, i)->name, ty_agent_at(game, i)->help);
    }
    printf("\n");
}

static int describe_games(const Settings *settings)
{
    if (settings->json) {
        return describe_json_games(settings);
    }
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        print_game(ty_game_at(i));
    }
    return CLI_OK;
}

/* ---- One ruleset ---- */

static void print_sizes(const TyShape *shape)
{
    printf("ruleset:      %s\n", shape->spec);
    if (shape->note[0] != '\0') {
        printf("note:         %s\n", shape->note);
    }
    printf("schema hash:  %016" PRIx64 "\n", shape->schema_hash);
    printf("players:      %u%s%s\n", shape->players, shape->cooperative ? ", cooperative" : "",
           shape->seats > shape->players ? ", and a chance seat" : "");
    printf("actions:      %u (bytes of a mask)\n", shape->action_count);
    printf("state:        %u bytes\n", shape->state_size);
    printf("row:          %u bytes; privileged row: %u bytes\n", shape->row_size, shape->full_size);
}

/* The byte and the meaning of each item; nothing for a single item that needs no name. */
static void print_labels(const TyRuleset *ruleset, const TyBlock *block)
{
    Wrap wrap = {.indent = 6};
    for (uint32_t row = 0; row < block->rows; row++) {
        for (uint32_t column = 0; column < block->columns; column++) {
            char label[TY_NAME_MAX];
            char item[TY_NAME_MAX + 16];
            ty_block_label(ruleset, block, row, column, label);
            uint32_t place = (row * block->columns + column) * block->width + block->offset;
            snprintf(item, sizeof item, "%u %s", place, label);
            if (label[0] != '\0') {
                wrap_word(&wrap, item);
            }
        }
    }
    wrap_end(&wrap);
}

static void print_values(const TyRuleset *ruleset, const TyBlock *block)
{
    Wrap wrap = {.indent = 6};
    for (uint32_t value = 0; value <= block->maximum; value++) {
        char label[TY_NAME_MAX];
        char item[TY_NAME_MAX + 16];
        ty_value_label(ruleset, block, value, label);
        if (label[0] != '\0') {
            snprintf(item, sizeof item, "%u = %s", value, label);
            wrap_word(&wrap, item);
        }
    }
    wrap_end(&wrap);
}

static void print_block(const TyRuleset *ruleset, const TyBlock *block)
{
    printf("  %-22s %-8s %3u  %3u x %-3u 0..%u%s  %s\n", block->name, block_kind_name(block->kind),
           block->offset, block->rows, block->columns, block->maximum,
           block->width == 2 ? " (16 bits)" : "", block->help);
    print_labels(ruleset, block);
    if (block->kind == TY_BLOCK_CATEGORY) {
        print_values(ruleset, block);
    }
}

static void print_blocks(const TyRuleset *ruleset, const char *title, const TyBlock *blocks,
                         uint32_t count)
{
    printf("\n%s: block, kind, offset, shape, range, meaning; then each byte, and each category\n",
           title);
    for (uint32_t i = 0; i < count; i++) {
        print_block(ruleset, &blocks[i]);
    }
}

static bool blocks_equal(const TyBlock *a, const TyBlock *b)
{
    return strcmp(a->name, b->name) == 0 && a->offset == b->offset && a->rows == b->rows &&
           a->columns == b->columns && a->maximum == b->maximum;
}

/* The privileged row, unless it has the layout of the ordinary one. */
static void print_full_blocks(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    bool same = shape->full_block_count == shape->row_block_count;
    for (uint32_t i = 0; same && i < shape->row_block_count; i++) {
        same = blocks_equal(&shape->full_blocks[i], &shape->row_blocks[i]);
    }
    if (same) {
        printf("\nprivileged row: the same layout\n");
    } else {
        print_blocks(ruleset, "privileged row", shape->full_blocks, shape->full_block_count);
    }
}

static void print_actions(const TyRuleset *ruleset)
{
    printf("\nactions: id, name\n");
    for (uint32_t i = 0; i < ty_shape(ruleset)->action_count; i++) {
        char name[TY_NAME_MAX];
        ty_action_name(ruleset, i, name);
        printf("  %4u  %s\n", i, name);
    }
}

static void print_names(const char *title, const char *const *names)
{
    Wrap wrap = {.indent = 2};
    printf("\n%s:\n", title);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        wrap_word(&wrap, names[i]);
    }
    wrap_end(&wrap);
}

static void print_streams(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    printf("\nsources of chance, and their outcomes:\n");
    for (uint32_t stream = 0; shape->streams[stream] != NULL; stream++) {
        Wrap wrap = {.indent = 6};
        printf("  %s\n", shape->streams[stream]);
        for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
            char name[TY_NAME_MAX];
            ty_outcome_name(ruleset, stream, i, name);
            if (name[0] != '\0') {
                wrap_word(&wrap, name);
            }
        }
        wrap_end(&wrap);
    }
}

static int describe_ruleset(const Settings *settings, const TyRuleset *ruleset)
{
    if (settings->json) {
        return describe_json_ruleset(settings, ruleset);
    }
    const TyShape *shape = ty_shape(ruleset);
    print_sizes(shape);
    print_blocks(ruleset, "row", shape->row_blocks, shape->row_block_count);
    print_full_blocks(ruleset);
    print_actions(ruleset);
    print_names("metrics", shape->metrics);
    print_streams(ruleset);
    return CLI_OK;
}

static int describe_run(const Settings *settings)
{
    if (settings->argument_count == 0) {
        return describe_games(settings);
    }
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status == CLI_OK) {
        status = describe_ruleset(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option describe_options[] = {
    OPTION_JSON,
    {.name = NULL},
};

const Command command_describe = {
    .name = "describe",
    .arguments = "[RULESET]",
    .arguments_min = 0,
    .arguments_max = 1,
    .summary = "list games and their settings, or explain the rows and actions of a ruleset",
    .details =
        "Without RULESET: the games, their configuration keys (default, range, meaning) and\n"
        "their agents. With one: sizes, the schema of the observation row, the dictionary\n"
        "of actions, metrics, and the sources of chance with their outcomes.",
    .example = "  trainyard describe\n"
               "  trainyard describe GAME --json",
    .options = describe_options,
    .run = describe_run,
};
