/* What the library does for every game from its tables; called by play.c and ruleset.c. */
#pragma once

#include "game.h"

/* Numbers the actions and lays out the rows as the tables say, and fills in the shape. Fails with a
 * sentence if a limit is passed. */
TyStatus kit_shape(TyRuleset *ruleset);

/* Writes the row from the state, for games without an `observe` of their own. */
void kit_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                 uint8_t *row);
/* Folds every field of the state that is not derived into the hash. */
uint64_t kit_hash(const TyRuleset *ruleset, const void *state, uint64_t hash);
/* The first invariant that the state breaks; NULL if it breaks none. */
const char *kit_check(const TyRuleset *ruleset, const void *state);
void kit_text(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out);
/* Writes the choices of the seat to act; `numbered`: each with its number among them, from 1 on. */
void kit_choices(const TyRuleset *ruleset, const void *state, bool numbered, TyText *out);
void kit_state_json(const TyRuleset *ruleset, const void *state, TyJson *out);

/* Names of actions, labels and outcomes, from the tables. */
void kit_action_name(const TyRuleset *ruleset, uint32_t action, TyText *out);
/* What legal `action` costs or leads to; nothing if there is nothing to say. */
void kit_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out);
void kit_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row, uint32_t column,
                     TyText *out);
void kit_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, TyText *out);
/* Value `index` of a block in `row`: as a word if it has one, otherwise as a number. */
void kit_value_write(const TyRuleset *ruleset, const TyBlock *block, const uint8_t *row,
                     uint32_t index, TyText *out);
void kit_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, TyText *out);

/* With `open`, all of it; otherwise what the event's `hidden` sentence names. */
void kit_event_json(const TyRuleset *ruleset, const TyEvent *event, bool open, TyJson *out);
/* Whether the details of an event are for another seat. */
bool kit_event_hidden(const TyEvent *event, uint32_t seat);
void kit_event_text(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat, TyText *out);

/* The board as members of a JSON object. */
void kit_board_json(const TyRuleset *ruleset, TyJson *out);

/* Computes the answers to the question that stands; true if there is one only. */
bool kit_answers(const TyRuleset *ruleset, void *state);
/* The first of the answers. */
uint32_t kit_first(const void *state);
