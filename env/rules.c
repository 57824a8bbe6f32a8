/* The rules as a page: how to play, the settings of a ruleset, and what one looks up on its board.
 */
#include "describe.h"
#include "fields.h"
#include "game.h"

static void text_setting(const TyRuleset *ruleset, const TyField *field, TyText *out)
{
    char file[TY_NAME_MAX] = "";
    if (field->kind == TY_FIELD_FILE) {
        describe_file(ruleset, field, file);
    }
    ty_text_add(out, "- %s = ", field->key);
    fields_write_value(field, ty_config(ruleset, field->key), file, out);
    ty_text_add(out, ": %s\n", field->help);
}

static void text_settings(const TyRuleset *ruleset, TyText *out)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ruleset->game, &count);
    ty_text_add(out, "\n## The settings of this game\n\n");
    for (uint32_t i = 0; i < count; i++) {
        text_setting(ruleset, &fields[i], out);
    }
    if (ruleset->shape.note[0] != '\0') {
        ty_text_add(out, "\nNote: %s.\n", ruleset->shape.note);
    }
}

size_t ty_rules_text(const TyRuleset *ruleset, char *out, size_t size)
{
    const TyGame *game = ruleset->game;
    TyText text = ty_text_init(out, size);
    if (game->howto != NULL) {
        ty_text_add(&text, "%.*s", (int)game->howto->size, game->howto->bytes);
    } else {
        ty_text_add(&text, "# %s\n", game->title);
    }
    text_settings(ruleset, &text);
    if (game->board != NULL && game->board->text != NULL) {
        ty_text_add(&text, "\n## The board\n\n");
        game->board->text(ruleset, &text);
    }
    return text.length;
}
