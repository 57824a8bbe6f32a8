/* The games and the agents that there are. */
#pragma once

#include "agent.h"
#include "game.h"

extern const TyGame *const registry_games[];   /* NULL-terminated */
extern const TyAgent *const registry_agents[]; /* NULL-terminated */
