/* An episode as one page that needs no server. */
#pragma once

#include "cli/cli.h"
#include "replay/format.h"

/* An episode to be shown: what it takes to play it again. */
typedef struct Reel {
    const Settings *settings;
    const TyRuleset *ruleset;
    uint64_t seed;
    uint32_t *actions; /* reel_close frees what reel_add makes */
    uint32_t count;
    uint32_t capacity;
    TyNote *notes;        /* what agents told of their choices, one decision after the other */
    uint32_t *note_first; /* by decision: where its notes begin; behind the last, their number */
    uint32_t note_count;
    char who[TY_SEATS_MAX][LOG_NAME_MAX];
    const char *end; /* why it ended, if not by the rules; otherwise NULL */
} Reel;

/* Adds a decision, with what the agent told of it; `notes` may be NULL. */
void reel_add(Reel *reel, uint32_t action, const TyNotes *notes);
void reel_close(Reel *reel);
/* Writes the page, or if --out ends in .svg the drawing of --step, and says where it is. On failure
 * it has complained, and returns the exit status. */
int reel_write(const Reel *reel);
