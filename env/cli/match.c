/* One episode at a table: an agent per seat, each with its own memory and seed. */
#include "cli/match.h"

#include <stdlib.h>
#include <string.h>

Match *match_open(const TyRuleset *ruleset, const Seating *seating)
{
    Match *match = cli_memory(aligned_alloc(_Alignof(Match), sizeof(Match)));
    memset(match, 0, sizeof *match);
    match->ruleset = ruleset;
    match->seating = *seating;
    return match;
}

bool match_start(Match *match, uint64_t seed, TyTape *tape)
{
    memset(match->reward, 0, sizeof match->reward);
    if (!ty_reset(match->ruleset, match->state, seed, tape)) {
        return false;
    }
    for (uint32_t seat = 0; seat < ty_shape(match->ruleset)->seats; seat++) {
        const TyAgent *agent = match->seating.agents[seat];
        if (agent != NULL) {
            memset(match->memory[seat], 0, agent->memory_size);
            agent->start(match->memory[seat], match->ruleset, seat, ty_agent_seed(seed, seat));
        }
    }
    return true;
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
    ty_legal(match->ruleset, match->state, match->mask);
}

uint32_t match_choose(Match *match)
{
    uint32_t seat = match_seat(match);
    const TyAgent *agent = match->seating.agents[seat];
    match_look(match);
    ty_observe(match->ruleset, match->state, seat, match->row);
    TyPlanner planner = {.ruleset = match->ruleset, .state = match->state, .seat = seat};
    TyView view = {
        .ruleset = match->ruleset,
        .seat = seat,
        .row = match->row,
        .mask = match->mask,
        .planner = agent->plans ? &planner : NULL,
    };
    return agent->act(match->memory[seat], &view);
}

bool match_step(Match *match, uint32_t action, TyTape *tape)
{
    return ty_step(match->ruleset, match->state, action, match->reward, tape);
}
