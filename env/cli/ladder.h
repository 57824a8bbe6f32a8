/* A ladder: what agents came to, kept in a file, and what it says of how well they play. */
#pragma once

#include "cli/teams.h"

enum {
    LADDER_AGENTS_MAX = 256,
    LADDER_PAIR_POINTS = 2 * TEAMS_WIN, /* of a seed: one game in each order of the seats */
};

#define LADDER_SEED_MAX (UINT64_C(1) << 53) /* above it not every reader of JSON is exact */

/* A value for each seed from `seed` on: the metric of a cooperative game that one agent played in
 * all seats (both indices are its own); otherwise the points of the first agent against the second.
 */
typedef struct LadderRecord {
    uint32_t agents[2];
    uint64_t seed;
    uint32_t count;
    int32_t *values;
} LadderRecord;

typedef struct Ladder {
    Teams teams;
    const char *path;
    uint32_t name_count;
    char names[LADDER_AGENTS_MAX][TY_AGENT_NAME_MAX];
    size_t record_count;
    LadderRecord *records;
} Ladder;

/* The index of the agent called `name`, which is added if it is new; LADDER_AGENTS_MAX if there is
 * no room for it. */
uint32_t ladder_agent(Ladder *ladder, const char *name);
/* The record takes its values. */
void ladder_add(Ladder *ladder, LadderRecord record);
/* The first record of these agents, in either order, that has `seed` or a later one before `end`;
 * NULL if there is none. */
const LadderRecord *ladder_next(const Ladder *ladder, uint32_t first, uint32_t second,
                                uint64_t seed, uint64_t end);

/* Reads the file into an empty ladder; one that does not exist leaves it empty. */
TyStatus ladder_read(Ladder *ladder);
/* Writes the file anew, in one piece: whoever reads it sees the old ladder or the new one. */
TyStatus ladder_write(const Ladder *ladder);

/* How well an agent plays. */
typedef struct LadderRating {
    uint32_t agent;
    uint64_t seeds; /* over all records */
    Estimate value; /* of a cooperative game the metric, otherwise the rating: mean, low and high */
} LadderRating;

/* Ratings of a game among opponents in points of 400 for odds of ten to one, around a mean of 0:
 * Bradley and Terry's, with one drawn game more for each agent against an average one, so that
 * they are finite. `ratings` has the agents in order. */
void ladder_rate(const Ladder *ladder, LadderRating *ratings);
