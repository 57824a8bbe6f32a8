/* States without code of the game's: answers, hash, invariants, text and JSON, from the tables. */
#include "kit/kit.h"

#include "core/bytes.h"
#include "core/hash.h"

#include <string.h>

/* ---- Answers -----------------------------------------------------------------------------------
 */

/* Computes the answers, of which `words` words are used; true if there is one only. */
INLINE bool answers_find(const TyRuleset *ruleset, void *state, uint32_t words)
{
    uint64_t *answers = ty_answers(state);
    uint64_t more = 0; /* than one in a word */
    uint32_t used = 0; /* words that have any */
    for (uint32_t i = 0; i < words; i++) {
        answers[i] = 0;
    }
    if (ty_head(state)->over) {
        return false;
    }
    ruleset->game->answers(ruleset, state, answers);
    for (uint32_t i = 0; i < words; i++) {
        more |= answers[i] & (answers[i] - 1);
        used += answers[i] != 0;
    }
    return (used == 1) & (more == 0);
}

/* A ruleset may have fewer actions than its game has room for. For the usual numbers of words there
 * are no loops over them. */
bool kit_answers(const TyRuleset *ruleset, void *state)
{
    uint32_t words = (ruleset->game_action_count + 63) / 64;
    switch (words) {
    case 2:
        return answers_find(ruleset, state, 2);
    case 3:
        return answers_find(ruleset, state, 3);
    case 4:
        return answers_find(ruleset, state, 4);
    default:
        return answers_find(ruleset, state, words);
    }
}

uint32_t kit_first(const void *state)
{
    const uint64_t *answers = ty_answers_of(state);
    uint32_t word = 0;
    while (answers[word] == 0) {
        word++;
    }
    return word * 64 + (uint32_t)__builtin_ctzll(answers[word]);
}

/* ---- Fields ------------------------------------------------------------------------------------
 */

static uint64_t field_load(const uint8_t *at, uint32_t size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 2:
        memcpy(&two, at, sizeof two);
        return two;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    case 8:
        memcpy(&eight, at, sizeof eight);
        return eight;
    default:
        return *at;
    }
}

uint64_t kit_hash(const TyRuleset *ruleset, const void *state, uint64_t hash)
{
    hash = hash_add(hash, ty_head(state)->phase);
    for (const TyStateField *field = ruleset->game->state_fields; field->size != 0; field++) {
        const uint8_t *at = (const uint8_t *)state + field->at;
        if (field->derived) {
            continue;
        }
        if (field->size == 1) {
            hash = hash_bytes(hash, at, field->count);
            continue;
        }
        for (uint32_t i = 0; i < field->count; i++) {
            hash = hash_add(hash, field_load(at + (size_t)i * field->size, field->size));
        }
    }
    return hash;
}

static bool fields_within(const TyRuleset *ruleset, const void *state)
{
    for (const TyStateField *field = ruleset->game->state_fields; field->size != 0; field++) {
        const uint8_t *at = (const uint8_t *)state + field->at;
        for (uint32_t i = 0; field->maximum != 0 && i < field->count; i++) {
            if (field_load(at + (size_t)i * field->size, field->size) > field->maximum) {
                return false;
            }
        }
    }
    return true;
}

/* The answers that are kept in a state are those that its position has. */
static const char *answers_check(const TyRuleset *ruleset, const void *state)
{
    uint64_t expected[TY_ANSWERS_MAX] = {0};
    uint64_t any = 0;
    if (!ty_head(state)->over) {
        ruleset->game->answers(ruleset, state, expected);
    }
    for (uint32_t i = 0; i < ruleset->game->answer_words; i++) {
        any |= expected[i];
        if (expected[i] != ty_answers_of(state)[i]) {
            return "the open answers do not fit the question";
        }
    }
    return any != 0 || ty_head(state)->over ? NULL : "the question has no answer";
}

static uint32_t phase_count(const TyGame *game)
{
    uint32_t count = 0;
    while (game->phases != NULL && game->phases[count] != NULL) {
        count++;
    }
    return count == 0 ? 1 : count;
}

const char *kit_check(const TyRuleset *ruleset, const void *state)
{
    const TyGame *game = ruleset->game;
    if (ty_head(state)->phase >= phase_count(game)) {
        return "the question does not exist";
    }
    if (!fields_within(ruleset, state)) {
        return "a field is out of range";
    }
    const char *broken = game->check != NULL ? game->check(ruleset, state) : NULL;
    return broken != NULL ? broken : answers_check(ruleset, state);
}

/* ---- Text and JSON of a row --------------------------------------------------------------------
 */

static uint32_t value_load(const TyBlock *block, const uint8_t *row, uint32_t index)
{
    const uint8_t *at = row + block->offset + (size_t)index * block->width;
    return block->width == 2 ? load_le16(at) : *at;
}

void kit_value_write(const TyRuleset *ruleset, const TyBlock *block, const uint8_t *row,
                     uint32_t index, TyText *out)
{
    size_t before = out->length;
    uint32_t value = value_load(block, row, index);
    kit_value_label(ruleset, block, value, out);
    if (out->length == before) {
        ty_text_add(out, "%u", value);
    }
}

void kit_text(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out)
{
    uint8_t row[TY_ROW_MAX];
    ty_observe(ruleset, state, seat, row);
    for (uint32_t i = 0; i < ruleset->game_block_count; i++) {
        const TyBlock *block = &ruleset->row_blocks[i];
        uint32_t count = (uint32_t)block->rows * block->columns;
        ty_text_add(out, "%s:", block->name);
        for (uint32_t item = 0; item < count; item++) {
            ty_text_add(out, "%s", item == 0 ? " " : ", ");
            if (count > 1) {
                kit_block_label(ruleset, block, item / block->columns, item % block->columns, out);
                ty_text_add(out, " ");
            }
            kit_value_write(ruleset, block, row, item, out);
        }
        ty_text_add(out, "\n");
    }
    int8_t asked = ty_head(state)->seat;
    if (asked >= 0) {
        ty_text_add(out, "Question to seat %d%s: %s\n", asked,
                    asked == (int8_t)seat ? " (you)" : "", ty_phase_name(ruleset, state));
    }
}

static void json_value(const TyRuleset *ruleset, const TyBlock *block, const char *key,
                       uint32_t value, TyJson *out)
{
    char word[TY_NAME_MAX];
    TyText text = ty_text_init(word, sizeof word);
    kit_value_label(ruleset, block, value, &text);
    if (text.length > 0) {
        ty_json_put_string(out, key, word);
    } else if (block->kind == TY_BLOCK_FLAG) {
        ty_json_put_bool(out, key, value != 0);
    } else {
        ty_json_put_int(out, key, value);
    }
}

static void json_block(const TyRuleset *ruleset, const TyBlock *block, const uint8_t *row,
                       TyJson *out)
{
    char label[TY_NAME_MAX];
    uint32_t count = (uint32_t)block->rows * block->columns;
    if (count == 1) {
        json_value(ruleset, block, block->name, value_load(block, row, 0), out);
        return;
    }
    ty_json_open(out, block->name, '{');
    for (uint32_t i = 0; i < count; i++) {
        TyText text = ty_text_init(label, sizeof label);
        kit_block_label(ruleset, block, i / block->columns, i % block->columns, &text);
        json_value(ruleset, block, label, value_load(block, row, i), out);
    }
    ty_json_close(out, '}');
}

void kit_state_json(const TyRuleset *ruleset, const void *state, TyJson *out)
{
    uint8_t row[TY_ROW_MAX];
    ty_observe_full(ruleset, state, 0, row);
    for (uint32_t i = 0; i < ruleset->shape.full_block_count; i++) {
        json_block(ruleset, &ruleset->full_blocks[i], row, out);
    }
}
