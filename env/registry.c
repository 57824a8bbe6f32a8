/* The games and the agents that there are: one line each. */
#include "registry.h"

#include <string.h>

extern const TyGame convoi_game;
extern const TyGame nordic_game;
extern const TyGame express_game;
extern const TyGame chicago_game;

extern const TyAgent random_agent;
extern const TyAgent convoi_expert;
extern const TyAgent nordic_expert;
extern const TyAgent express_expert;
extern const TyAgent chicago_expert;
extern const TyAgent search_agent;

const TyGame *const registry_games[] = {
    &convoi_game, &nordic_game, &express_game, &chicago_game, NULL,
};

const TyAgent *const registry_agents[] = {
    &random_agent,   &convoi_expert, &nordic_expert, &express_expert,
    &chicago_expert, &search_agent,  NULL,
};

uint32_t ty_game_count(void)
{
    return sizeof registry_games / sizeof registry_games[0] - 1;
}

const TyGame *ty_game_at(uint32_t index)
{
    return index < ty_game_count() ? registry_games[index] : NULL;
}

const TyGame *ty_game_find(const char *name)
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        if (strcmp(registry_games[i]->name, name) == 0) {
            return registry_games[i];
        }
    }
    return NULL;
}

const TyAgent *ty_agent_at(const TyGame *game, uint32_t index)
{
    for (const TyAgent *const *agent = registry_agents; *agent != NULL; agent++) {
        bool plays = (*agent)->game == NULL || strcmp((*agent)->game, game->name) == 0;
        if (plays && index-- == 0) {
            return *agent;
        }
    }
    return NULL;
}

const TyAgent *ty_agent_find(const TyGame *game, const char *name)
{
    const TyAgent *agent = NULL;
    for (uint32_t i = 0; (agent = ty_agent_at(game, i)) != NULL; i++) {
        if (strcmp(agent->name, name) == 0) {
            break;
        }
    }
    return agent;
}
