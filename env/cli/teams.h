/* Agents that meet at one table, for tables of results: who sits where, and what came of it. */
#pragma once

#include "cli/runner.h"

/* The agents of --agents, and by which number their games are judged: in a cooperative game a
 * metric; otherwise the points of the even seats against the odd ones. */
typedef struct Teams {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    AgentList list;
    uint32_t metric;
} Teams;

enum { TEAMS_WIN = 2 /* points of a win; a draw is half of it */ };

/* Reads --agents and --metric, which may be NULL: no agents, the first metric. On failure it has
 * complained, and returns the exit status. */
int teams_open(const Settings *settings, const TyRuleset *ruleset, Teams *teams);
const char *teams_name(const Teams *teams, uint32_t agent);
/* What the values are called: the name of the metric, or "score". */
const char *teams_measure(const Teams *teams);

/* Two agents around the table by turns: `even` in seat 0, `odd` in seat 1, and so on. */
void teams_seat_pair(const Teams *teams, uint32_t even, uint32_t odd, uint32_t *sitters);
/* Plays `episodes` from `seed` on, with agent `sitters[seat]` in every player's seat, and gives a
 * value for each, which the caller frees. */
TyStatus teams_play(const Teams *teams, const uint32_t *sitters, uint64_t seed, uint32_t episodes,
                    int32_t **values);
