/* Chance as a seat: the option `chance=seat` of every game.
 *
 * Games draw in the middle of a step. To let a seat decide, the step is tried with a strict
 * script; where the script ends, the state keeps the action and the outcomes so far and asks the
 * chance seat for the next one. So a game needs no line for it and the ordinary path no time. */
#pragma once

#include "game.h"

enum { CHANCE_DRAWS_MAX = 128 /* draws in one step or reset */ };

/* Behind the game's own state when chance is a seat. */
typedef struct ChanceTail {
    uint8_t waiting; /* a draw waits for its answer */
    int8_t seat;     /* who was to act when the step began */
    uint8_t stream;
    uint8_t outcome_count;
    uint16_t action; /* the action being tried; CHANCE_RESET during the set-up */
    uint8_t answer_count;
    uint8_t unused;
    uint8_t weights[TY_OUTCOMES_MAX];
    uint8_t answer_stream[CHANCE_DRAWS_MAX];
    uint8_t answer[CHANCE_DRAWS_MAX];
} ChanceTail;

enum { CHANCE_RESET = 0xffff };

/* Adds the seat, its actions and its part of the row to a ruleset that the game has built. */
void chance_extend(TyRuleset *ruleset);
/* Whether the block is of the chance seat, not of the game. */
bool chance_has_block(const TyBlock *block);
bool chance_reset(const TyRuleset *ruleset, void *state, TyTape *tape);
bool chance_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                 TyTape *tape);
/* True if it is the chance seat's turn: then the mask is filled in. */
bool chance_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
void chance_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row);
uint64_t chance_hash(const TyRuleset *ruleset, const void *state, uint64_t hash);
/* Checks the whole state, the game's part too. */
const char *chance_check(const TyRuleset *ruleset, const void *state);
/* Redeals what `seat` cannot know, unless the answers already given to a waiting step forbid it. */
void chance_resample(const TyRuleset *ruleset, void *state, uint32_t seat);
