/* The games and the agents that there are. */
#pragma once

#include "agent.h"
#include "game.h"

extern const TyGame *const registry_games[];   /* NULL-terminated */
extern const TyAgent *const registry_agents[]; /* NULL-terminated */

/* Plays the chance seat of a ruleset that has one; not in the list. */
extern const TyAgent chance_agent;
