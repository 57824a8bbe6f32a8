/* The shape of a ruleset, from its game's tables: actions, rows and their blocks. */
#include "kit/kit.h"

#include "core/bytes.h"
#include "core/status.h"

#include <string.h>

static uint32_t count_or_one(const TyNames *names, const TyRuleset *ruleset)
{
    return names == NULL ? 1 : ty_names_count(names, ruleset);
}

static TyStatus actions_number(TyRuleset *ruleset)
{
    const TyActionForm *forms = ruleset->game->actions;
    uint32_t room = ruleset->game->answer_words * 64;
    uint32_t action = 0;
    for (uint32_t i = 0; forms[i].verb != NULL; i++) {
        ruleset->action_first[i] = (uint16_t)action;
        uint32_t count = count_or_one(forms[i].items, ruleset);
        action += count;
        ruleset->action_first[i + 1] = (uint16_t)action;
        if (action > TY_ACTIONS_MAX || action > room) {
            return ty_status_fail(TY_LIMIT, "%s: with `%s` there are %u actions; at most %u fit",
                                  ruleset->game->name, forms[i].verb, action,
                                  room < TY_ACTIONS_MAX ? room : (uint32_t)TY_ACTIONS_MAX);
        }
        memset(ruleset->action_form + action - count, (int)i, count);
    }
    ruleset->shape.action_count = action;
    return ty_status_ok();
}

static uint32_t block_maximum(const TyBlockForm *form, const TyRuleset *ruleset)
{
    if (form->maximum_of != NULL) {
        return form->maximum_of(ruleset);
    }
    if (form->values != NULL) {
        return ty_names_count(form->values, ruleset) - !form->optional;
    }
    return form->kind == TY_BLOCK_FLAG ? 1 : form->maximum;
}

static TyBlock block_make(const TyBlockForm *form, const TyRuleset *ruleset, uint32_t offset)
{
    return (TyBlock){
        .name = form->name,
        .kind = form->kind,
        .offset = (uint16_t)offset,
        .rows = (uint16_t)count_or_one(form->rows, ruleset),
        .columns = (uint16_t)count_or_one(form->columns, ruleset),
        .maximum = (uint16_t)block_maximum(form, ruleset),
        .width = form->width == 2 ? 2 : 1,
        .help = form->help,
    };
}

/* Adds form number `index` behind the blocks that are there; returns the bytes that it takes. */
static uint32_t block_add(TyRuleset *ruleset, uint32_t index, uint32_t offset)
{
    const TyBlockForm *form = &ruleset->game->blocks[index];
    TyShape *shape = &ruleset->shape;
    TyBlock block = block_make(form, ruleset, offset);
    ruleset->block_at[index] = (uint16_t)offset;
    ruleset->block_form[shape->full_block_count] = (uint8_t)index;
    ruleset->full_blocks[shape->full_block_count++] = block;
    if (!form->full) {
        ruleset->row_blocks[shape->row_block_count++] = block;
    }
    return (uint32_t)block.rows * block.columns * block.width;
}

static TyStatus rows_lay_out(TyRuleset *ruleset)
{
    const TyBlockForm *forms = ruleset->game->blocks;
    TyShape *shape = &ruleset->shape;
    for (uint32_t i = 0; forms[i].name != NULL; i++) {
        if (forms[i].when != NULL && !forms[i].when(ruleset)) {
            continue;
        }
        uint32_t size = block_add(ruleset, i, shape->full_size);
        if (forms[i].show == TY_SHOW_BY_SEAT && size % shape->players != 0) {
            return ty_status_fail(TY_BAD_CONFIG,
                                  "%s: block `%s` has %u bytes for %u players; TY_SHOW_BY_SEAT "
                                  "wants the same number for each",
                                  ruleset->game->name, forms[i].name, size, shape->players);
        }
        shape->full_size += size;
        shape->row_size = forms[i].full ? shape->row_size : shape->full_size;
        if (shape->full_size > TY_ROW_MAX) {
            return ty_status_fail(
                TY_LIMIT, "%s: with block `%s` a row has %u bytes; at most %d fit",
                ruleset->game->name, forms[i].name, shape->full_size, (int)TY_ROW_MAX);
        }
    }
    return ty_status_ok();
}

TyStatus kit_shape(TyRuleset *ruleset)
{
    ruleset->shape.state_size = ruleset->game->state_size;
    TyStatus status = actions_number(ruleset);
    return status.code == TY_OK ? rows_lay_out(ruleset) : status;
}

/* ---- Rows without code of the game's -----------------------------------------------------------
 */

/* `seat` counted from `observer`. */
static uint8_t seat_relative(const TyRuleset *ruleset, uint32_t seat, uint32_t observer)
{
    uint32_t players = ruleset->shape.players;
    return (uint8_t)((seat + players - observer) % players);
}

/* What the observer sees of byte `i` of the `size` bytes that stand at `from`. */
static uint8_t byte_observe(const TyRuleset *ruleset, TyShow show, const uint8_t *from, uint32_t i,
                            uint32_t size, uint32_t observer)
{
    uint32_t first = observer * (size / ruleset->shape.players); /* of what is the observer's */
    switch (show) {
    case TY_SHOW_BY_GAME:
        return 0;
    case TY_SHOW_FIELD:
        return from[i];
    case TY_SHOW_SEAT:
        return seat_relative(ruleset, from[i], observer);
    case TY_SHOW_OWNER:
        return from[i] == 0 ? 0 : (uint8_t)(1 + seat_relative(ruleset, from[i] - 1u, observer));
    case TY_SHOW_BY_SEAT:
        return from[(i + first) % size];
    case TY_SHOW_OWN:
        return from[observer * size + i];
    }
    return 0;
}

static void block_observe(const TyRuleset *ruleset, const TyBlock *block, TyShow show,
                          const uint8_t *from, uint32_t observer, uint8_t *out)
{
    uint32_t size = (uint32_t)block->rows * block->columns * block->width;
    for (uint32_t i = 0; i < size; i++) {
        out[i] = byte_observe(ruleset, show, from, i, size, observer);
    }
    for (uint32_t i = 0; block->width == 2 && i < size; i += 2) {
        uint16_t value;
        memcpy(&value, out + i, sizeof value);
        store_le16(out + i, value);
    }
}

SELDOM void kit_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                        uint8_t *row)
{
    const TyShape *shape = &ruleset->shape;
    uint32_t count = full ? shape->full_block_count : shape->row_block_count;
    for (uint32_t i = 0; i < count; i++) {
        const TyBlock *block = &ruleset->full_blocks[i];
        const TyBlockForm *form = &ruleset->game->blocks[ruleset->block_form[i]];
        block_observe(ruleset, block, form->show, (const uint8_t *)state + form->field, seat,
                      row + block->offset);
    }
}
