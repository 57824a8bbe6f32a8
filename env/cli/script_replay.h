/* One episode of a script, resolved against a ruleset: which actions, which chance outcomes. */
#pragma once

#include "cli/match.h"
#include "cli/script.h"

typedef struct Replay {
    const Settings *settings;
    const TyRuleset *ruleset;
    const char *file; /* for messages */
    const Script *script;
    uint32_t next; /* item that comes next */
    uint32_t end;  /* first item of the next episode */
    TyOutcome *outcomes;
    TyOutcome *before; /* `outcomes` as they were before the current step */
    uint32_t *lines;   /* of each outcome */
    uint32_t outcome_count;
} Replay;

/* Prepares the episode whose header is item `header`. On failure it has complained and returns the
 * exit status. The caller calls replay_close in any case. */
int replay_open(Replay *replay, const Settings *settings, const TyRuleset *ruleset,
                const Script *script, uint32_t header);
void replay_close(Replay *replay);

/* Lets the tape answer with the script's outcomes from now on. */
void replay_attach(Replay *replay, TyTape *tape);
/* Call before each reset or step. */
void replay_mark(Replay *replay);

/* The next action of the script, which is legal in the match. Returns CLI_OK with `found` false
 * when there is none left; complains and returns the exit status if it is not legal. */
int replay_action(Replay *replay, Match *match, uint32_t *action, bool *found);
/* Complains about the outcome that a reset (`action` NULL) or step refused. Returns the status. */
int replay_refused(const Replay *replay, const Match *match, uint64_t seed, const uint32_t *action,
                   const TyTape *tape);
/* Complains about actions behind the end of the episode, and mentions outcomes never used. */
int replay_finish(const Replay *replay, const Match *match);
