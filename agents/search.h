/* The search agent from the inside: its guide, and the futures that it imagines. */
#pragma once

#include "agent.h"

enum {
    SEARCH_MEMORY_SIZE = TY_AGENT_MEMORY_MAX - 64, /* room for what a guide remembers */
    SEARCH_WORTH_ONE = 1024,                       /* what a reward of 1 is worth */
};

/* Plays a network, and so guides a search that has one. */
extern const TyAgent net_agent;

/* A future: where it begins, and what everybody remembers there. */
typedef struct Future {
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    TyLineup lineup;
    uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
} Future;

/* What a future brought to the seat that imagined it. */
typedef struct Result {
    int32_t gained; /* rewards, SEARCH_WORTH_ONE for 1; expected ones if it was not played out */
    int32_t worth;  /* and how clear they are */
} Result;

/* Who plays in imagined episodes, and says which actions are worth a look: the network that
 * `search` was opened with, or the game's expert. */
const TyAgent *search_guide(const TyAgent *search, const TyRuleset *ruleset);
/* Imagines a position that is consistent with the view. */
void search_imagine(Future *future, const TyView *view, uint64_t key);
/* Plays the future, beginning with `action`; `own` is what the guide of the seat remembers. */
Result search_play(const Future *future, const TyView *view, uint32_t action, const uint64_t *own);
/* What the guide expects, by what it noted: the most of its notes; NAN if it has no opinion. */
float search_opinion(const TyNotes *notes);
