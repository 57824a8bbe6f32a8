/* Seating agents: their memory, their seeds, what they are shown and what they answer. */
#include "agent.h"
#include "registry.h"

#include <assert.h>
#include <string.h>

enum { MEMORY_ALIGN = 64 /* so that no two agents share a line of the cache */ };

void ty_agent_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset, uint32_t seat,
                    uint64_t seed)
{
    memset(memory, 0, agent->memory_size);
    agent->start(agent, memory, ruleset, seat, seed);
}

uint32_t agent_act(const TyAgent *agent, void *memory, const TyRuleset *ruleset, const void *state,
                   const TyStop *stop, TyNotes *notes)
{
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t seat = (uint32_t)ty_head(state)->seat;
    const TyPlanner planner = {.ruleset = ruleset, .state = state, .seat = seat};
    const TyView view = {.agent = agent,
                         .ruleset = ruleset,
                         .seat = seat,
                         .row = row,
                         .mask = mask,
                         .planner = agent->plans ? &planner : NULL,
                         .stop = stop,
                         .notes = notes};
    if (notes != NULL) {
        notes->count = 0;
    }
    ty_observe(ruleset, state, seat, row);
    ty_legal(ruleset, state, mask);
    return agent->act(memory, &view);
}

uint32_t ty_agent_act(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                      const void *state)
{
    return agent_act(agent, memory, ruleset, state, NULL, NULL);
}

/* The agent of `seat`, if it has one. */
static const TyAgent *seat_agent(const TyRuleset *ruleset, const TyAgent *const *agents,
                                 uint32_t seat)
{
    bool chance = seat >= ty_shape(ruleset)->players;
    return agents[seat] == NULL && chance ? &chance_agent : agents[seat];
}

static size_t agent_size(const TyAgent *agent)
{
    size_t size = agent != NULL ? agent->memory_size : 0;
    return (size + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
}

size_t ty_lineup_size(const TyRuleset *ruleset, const TyAgent *const agents[TY_SEATS_MAX])
{
    size_t size = 0;
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->seats; seat++) {
        size += agent_size(seat_agent(ruleset, agents, seat));
    }
    return size;
}

void ty_lineup_init(TyLineup *lineup, const TyRuleset *ruleset,
                    const TyAgent *const agents[TY_SEATS_MAX], void *memory)
{
    uint8_t *at = memory;
    *lineup = (TyLineup){.ruleset = ruleset};
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->seats; seat++) {
        lineup->agent[seat] = seat_agent(ruleset, agents, seat);
        lineup->memory[seat] = at;
        at += agent_size(lineup->agent[seat]);
    }
}

void ty_lineup_start(TyLineup *lineup, uint64_t seed)
{
    for (uint32_t seat = 0; seat < ty_shape(lineup->ruleset)->seats; seat++) {
        if (lineup->agent[seat] != NULL) {
            ty_agent_start(lineup->agent[seat], lineup->memory[seat], lineup->ruleset, seat,
                           ty_agent_seed(seed, seat));
        }
    }
}

uint32_t ty_lineup_act(TyLineup *lineup, const void *state)
{
    int8_t seat = ty_head(state)->seat;
    return agent_act(lineup->agent[seat], lineup->memory[seat], lineup->ruleset, state,
                     lineup->stop, lineup->notes);
}

uint32_t ty_lineup_step(TyLineup *lineup, void *state, int32_t reward[TY_SEATS_MAX])
{
    uint32_t action = ty_lineup_act(lineup, state);
    bool accepted = ty_step(lineup->ruleset, state, action, reward, NULL);
    assert(accepted);
    (void)accepted;
    return action;
}
