/* What a baseline is: the one header that the author of a built-in agent reads.
 *
 * An agent sees a view: the row and the mask of its own seat, and the ruleset that explains them.
 * It never sees a state, so it cannot cheat, and it can sit in a daemon, in a program or behind a
 * socket without noticing. An agent that searches asks the view's planner for imagined states. */
#pragma once

#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TyPlanner TyPlanner;

typedef struct TyView {
    const TyRuleset *ruleset;
    uint32_t seat;
    const uint8_t *row;       /* what the seat may know */
    const uint8_t *mask;      /* has at least one entry set */
    const TyPlanner *planner; /* NULL unless the agent plans */
} TyView;

struct TyAgent {
    const char *name;
    const char *game; /* the game it knows; NULL: every game */
    const char *help;
    bool plans;
    size_t memory_size; /* bytes of its memory, at most TY_AGENT_MEMORY_MAX, 8-byte aligned */
    /* Called at the start of an episode, with memory that is all zero. All its randomness comes
     * from `seed`. */
    void (*start)(void *memory, const TyRuleset *ruleset, uint32_t seat, uint64_t seed);
    /* Returns a legal action. */
    uint32_t (*act)(void *memory, const TyView *view);
};

enum { TY_AGENT_MEMORY_MAX = 65536 };

/* The agents that play `game`, in the order of the list; NULL behind the last. */
TY_API const TyAgent *ty_agent_at(const TyGame *game, uint32_t index);
TY_API const TyAgent *ty_agent_find(const TyGame *game, const char *name);

/* The seed of the agent in `seat` in the episode of `seed`: runs reproduce, and no two seats think
 * alike. */
TY_API uint64_t ty_agent_seed(uint64_t seed, uint32_t seat);

/* What stands behind a view's planner. Whoever calls `act` fills it in. */
struct TyPlanner {
    const TyRuleset *ruleset;
    const void *state;
    uint32_t seat;
};

/* Writes into `state` a position that could be the real one for all that the seat knows: what is
 * hidden is dealt anew and the future is drawn with `key`. */
TY_API void ty_plan(const TyPlanner *planner, uint64_t key, void *state);

#ifdef __cplusplus
}
#endif
