/* What every filling of the seats came to, and what is told of it. */
#pragma once

#include "cli/teams.h"

/* Every filling that was played, and the means over several of them. */
typedef struct Crossplay {
    Teams teams;
    bool all;      /* all fillings of the seats were played, not pairs alone */
    bool rate;     /* every value is 0 or 1 */
    uint32_t full; /* what a value is a share of; 1: it is no share */
    uint32_t count;
    int32_t **values; /* [filling][episode] */
} Crossplay;

/* Which agents sit in filling `index`. */
void crossplay_sitters(const Crossplay *cross, uint32_t index, uint32_t *sitters);
/* What the agent `row` came to together with, or against, `column`. */
Estimate crossplay_cell(const Crossplay *cross, uint32_t row, uint32_t column);
/* The page with the table as a heat map. Returns the exit status. */
int crossplay_page(const Crossplay *cross, const char *path);
