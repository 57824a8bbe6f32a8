/* Who acts in the seats of a trace: agents of the library, alone or two that take turns at random.
 */
#pragma once

#include "cli/match.h"

/* The actor of a seat: `first` with `probability`, in millionths, otherwise `second`. */
typedef struct Actor {
    const TyAgent *first;
    const TyAgent *second; /* NULL: `first` acts alone */
    uint32_t probability;
    char name[TY_SPEC_MAX]; /* as it was typed */
} Actor;

typedef struct Cast {
    Actor actors[TY_SEATS_MAX];
} Cast;

/* Reads --agent or --agents: "expert", or "expert@0.9+random". A chance seat is played by chance.
 * On failure it has complained, and returns the exit status. */
int cast_parse(const Settings *settings, const TyRuleset *ruleset, Cast *cast);
/* The first or the second agents of all seats. */
Seating cast_seating(const Cast *cast, bool second);
/* Whether the second agent of the seat to act takes this decision. Depends on the episode's seed,
 * the seat and the number of the decision alone. */
bool cast_second_acts(const Cast *cast, const Match *match);
