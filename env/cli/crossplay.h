/* What every filling of the seats came to, and what is told of it. */
#pragma once

#include "cli/output.h"
#include "cli/teams.h"

/* Best responses: for each agent one that plays as well with it as anybody does. */
typedef struct Best {
    AgentList list;   /* one for all, or one for each agent; empty: nobody asked */
    int32_t **values; /* [agent][episode]: of it and its best response, from both sides */
} Best;

/* Every filling that was played, and the means over several of them. */
typedef struct Crossplay {
    Teams teams;
    bool all;      /* all fillings of the seats were played, not pairs alone */
    bool rate;     /* every value is 0 or 1 */
    uint32_t full; /* what a value is a share of; 1: it is no share */
    uint32_t count;
    int32_t **values; /* [filling][episode] */
    Best best;
} Crossplay;

/* Which agents sit in filling `index`. */
void crossplay_sitters(const Crossplay *cross, uint32_t index, uint32_t *sitters);
/* What the agent `row` came to together with, or against, `column`. */
Estimate crossplay_cell(const Crossplay *cross, uint32_t row, uint32_t column);
/* What they came to in each episode. */
const int32_t *crossplay_values(const Crossplay *cross, uint32_t row, uint32_t column);

/* Parts of a printed table: an agent at the head of its row, and a cell, "-" if there is none. */
void crossplay_print_agent(const Crossplay *cross, uint32_t agent);
void crossplay_print_cell(const Estimate *estimate);

/* Reads --best. On failure it has complained, and returns the exit status. */
int crossplay_best_open(Crossplay *cross);
/* Plays every agent with its best response. */
TyStatus crossplay_best_play(Crossplay *cross);
void crossplay_best_close(Crossplay *cross);
/* Prints what each agent comes to with each other one, as a share of what that one's best response
 * does. */
void crossplay_best_print(const Crossplay *cross);
/* The same as JSON: the best responses, and an agent's shares. */
void crossplay_best_json(const Crossplay *cross, TyJson *json);
void crossplay_shares_json(const Crossplay *cross, uint32_t row, TyJson *json);
/* The page with the table as a heat map. Returns the exit status. */
int crossplay_page(const Crossplay *cross, const char *path);
