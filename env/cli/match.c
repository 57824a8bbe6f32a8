/* One episode at a table: an agent per seat, each with its own memory and seed. */
#include "cli/match.h"

#include <stdlib.h>
#include <string.h>

Match *match_open(const TyRuleset *ruleset, const Seating *seating)
{
    Match *match = cli_memory(aligned_alloc(_Alignof(Match), sizeof(Match)));
    memset(match, 0, sizeof *match);
    match->seating = *seating;
    ty_lineup_init(&match->lineup, ruleset, seating->agents, match->memory);
    return match;
}

bool match_start(Match *match, uint64_t seed, TyTape *tape)
{
    memset(match->reward, 0, sizeof match->reward);
    ty_lineup_start(&match->lineup, seed);
    return ty_reset(match->lineup.ruleset, match->state, seed, tape);
}

bool match_over(const Match *match)
{
    return ty_head(match->state)->over != 0;
}

uint32_t match_seat(const Match *match)
{
    return (uint32_t)ty_head(match->state)->seat;
}

void match_look(Match *match)
{
    ty_legal(match->lineup.ruleset, match->state, match->mask);
}

void match_ask_notes(Match *match)
{
    match->lineup.notes = &match->notes;
}

uint32_t match_choose(Match *match)
{
    match_look(match);
    return ty_lineup_act(&match->lineup, match->state);
}

bool match_step(Match *match, uint32_t action, TyTape *tape)
{
    return ty_step(match->lineup.ruleset, match->state, action, match->reward, tape);
}
