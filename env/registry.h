/* The games and the agents that there are: the built-in ones, and those that a program added. */
#pragma once

#include "agent.h"
#include "game.h"

enum {
    REGISTRY_GAMES_MAX = 64,
    REGISTRY_AGENTS_MAX = 64,     /* besides the built-in ones */
    REGISTRY_AGENT_NAME_MAX = 64, /* without settings */
};

/* The settings of a game: its own, then those that every game has. Ends with a NULL key. */
const TyField *registry_fields(const TyGame *game);

/* The agent of that name in the list, even if it can only play after ty_agent_open; NULL if there
 * is none. */
const TyAgent *registry_agent(const TyGame *game, const char *name);

/* True if it can only play after ty_agent_open. */
bool agent_needs_opening(const TyAgent *agent);

/* What agents made of a ruleset: see ty_agent_tables. */
typedef struct AgentTables AgentTables;

/* Lets all agents of a ruleset's game make their tables of it. */
TyStatus agent_tables_build(TyRuleset *ruleset);
void agent_tables_free(TyRuleset *ruleset);

/* ty_agent_act with a stop and notes in the agent's view; NULL: none. */
uint32_t agent_act(const TyAgent *agent, void *memory, const TyRuleset *ruleset, const void *state,
                   const TyStop *stop, TyNotes *notes);

/* Plays the chance seat of a ruleset that has one; not in the list. */
extern const TyAgent chance_agent;
