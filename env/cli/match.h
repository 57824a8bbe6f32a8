/* One episode at a table: an agent per seat, each with its own memory and seed. */
#pragma once

#include "cli/cli.h"

/* Large (it holds the agents' memory): keep it on the heap and play many episodes with one. */
typedef struct Match {
    Seating seating;
    TyLineup lineup;
    int32_t reward[TY_SEATS_MAX]; /* of this episode so far, in 1/64 */
    _Alignas(64) uint8_t state[TY_STATE_MAX];
    _Alignas(64) uint8_t mask[TY_ACTIONS_MAX];
    _Alignas(64) uint8_t memory[TY_LINEUP_MEMORY_MAX];
    TyNotes notes; /* what the agent told of its last choice, after match_ask_notes */
} Match;

/* The caller frees it with free(). Exits the tool if there is no memory. */
Match *match_open(const TyRuleset *ruleset, const Seating *seating);

/* Begins the episode of `seed` and wakes the agents. False if the tape's script failed. */
bool match_start(Match *match, uint64_t seed, TyTape *tape);
bool match_over(const Match *match);
/* Who is to act. */
uint32_t match_seat(const Match *match);
/* Fills `mask` with what the seat to act may do. */
void match_look(Match *match);
/* From now on agents are asked what they think of their choices. */
void match_ask_notes(Match *match);
/* What the agent of the seat to act wants to do. */
uint32_t match_choose(Match *match);
/* As ty_step. */
bool match_step(Match *match, uint32_t action, TyTape *tape);
