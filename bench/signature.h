/* One number that says whether two builds play alike. */
#pragma once

#include "trainyard.h"

/* The hash of a fixed set of episodes of uniformly random play: for every game of the registry the
 * standard ruleset and every setting varied on its own. Any change of a rule, a row, a mask, a
 * reward, a metric or of the generator changes it; compiler, optimisation and machine do not. */
uint64_t signature_compute(void);

/* The part of one ruleset: `seeds` episodes, folded into `hash`. */
uint64_t signature_ruleset(uint64_t hash, const TyRuleset *ruleset, uint32_t seeds);
