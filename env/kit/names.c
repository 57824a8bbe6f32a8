/* Lists of named things, and the names that follow from them: actions, labels, outcomes. */
#include "kit/kit.h"

#include <string.h>

static uint32_t seats_count(const TyRuleset *ruleset)
{
    return ruleset->shape.players;
}

static void seats_write(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    (void)ruleset;
    ty_text_add(out, "seat +%u", index);
}

const TyNames ty_seats = {.count = seats_count, .write = seats_write};

bool ty_always(const TyRuleset *ruleset)
{
    (void)ruleset;
    return true;
}

static uint32_t words_count(const char *const *words)
{
    uint32_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return count;
}

uint32_t ty_names_count(const TyNames *names, const TyRuleset *ruleset)
{
    if (names->words != NULL) {
        return words_count(names->words);
    }
    if (names->kept) {
        return *((const uint8_t *)ruleset->tables + names->count_at);
    }
    return names->count(ruleset);
}

/* A drawing has hundreds of names: printf would be slow. */
static void text_word(TyText *out, const char *word)
{
    ty_text_put(out, word, strlen(word));
}

/* The name whose offset is number `index` of the list at `list_at` in the tables. */
static const char *name_kept(const TyNames *names, const TyRuleset *ruleset, uint32_t list_at,
                             uint32_t index)
{
    const uint8_t *tables = ruleset->tables;
    const TyNamePool *pool = (const TyNamePool *)(const void *)(tables + names->pool_at);
    uint16_t offset;
    memcpy(&offset, tables + list_at + index * sizeof offset, sizeof offset);
    return pool->bytes + offset;
}

void ty_names_write(const TyNames *names, const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    if (names->words != NULL) {
        text_word(out, names->words[index]);
    } else if (names->kept) {
        text_word(out, name_kept(names, ruleset, names->list_at, index));
    } else {
        names->write(ruleset, index, out);
    }
}

void ty_names_title(const TyNames *names, const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    size_t before = out->length;
    if (names->titles != NULL) {
        text_word(out, names->titles[index]);
    } else if (names->title != NULL) {
        names->title(ruleset, index, out);
    } else if (names->titles_at != 0) {
        text_word(out, name_kept(names, ruleset, names->titles_at, index));
    }
    if (out->length == before) {
        ty_names_write(names, ruleset, index, out);
    }
}

void kit_action_name(const TyRuleset *ruleset, uint32_t action, TyText *out)
{
    TyChoice choice = ty_choice(ruleset, action);
    const TyActionForm *form = &ruleset->game->actions[choice.form];
    ty_text_add(out, "%s", form->verb);
    if (form->items != NULL) {
        ty_text_add(out, " ");
        ty_names_write(form->items, ruleset, choice.item, out);
    }
}

/* The form that a block was made from; NULL for a block of the chance seat's. */
static const TyBlockForm *block_form(const TyRuleset *ruleset, const TyBlock *block)
{
    const TyShape *shape = &ruleset->shape;
    bool row = block >= shape->row_blocks && block < shape->row_blocks + shape->row_block_count;
    size_t index = (size_t)(block - (row ? shape->row_blocks : shape->full_blocks));
    return &ruleset->game->blocks[ruleset->block_form[index]];
}

void kit_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row, uint32_t column,
                     TyText *out)
{
    const TyBlockForm *form = block_form(ruleset, block);
    if (form->rows != NULL) {
        ty_names_write(form->rows, ruleset, row, out);
    }
    if (form->rows != NULL && form->columns != NULL) {
        ty_text_add(out, " ");
    }
    if (form->columns != NULL) {
        ty_names_write(form->columns, ruleset, column, out);
    }
}

void kit_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, TyText *out)
{
    const TyBlockForm *form = block_form(ruleset, block);
    if (form->values == NULL || value > block->maximum) {
        return;
    }
    if (form->optional && value == 0) {
        ty_text_add(out, "%s", form->values->none != NULL ? form->values->none : "none");
    } else {
        ty_names_write(form->values, ruleset, value - form->optional, out);
    }
}

void kit_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, TyText *out)
{
    const TyNames *names = ruleset->game->streams[stream].outcomes;
    if (outcome < ty_names_count(names, ruleset)) {
        ty_names_write(names, ruleset, outcome, out);
    }
}
