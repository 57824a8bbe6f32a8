/* Printing JSON documents and numbers. */
#pragma once

#include "cli/cli.h"
#include "cli/estimate.h"
#include "core/text.h"

/* A document of at most CLI_JSON_MAX bytes on the heap. `output_print` prints and frees it and
 * returns the exit status. */
TyJson output_open(void);
int output_print(const Settings *settings, TyJson *json);
void output_real(TyJson *json, const char *key, double value);
/* A number as a JSON number, or as a string where a double could not hold it. */
void output_unsigned(TyJson *json, const char *key, uint64_t value);
/* A reward in points: exact, since it is a multiple of 1/64. */
void output_reward(TyJson *json, const char *key, int32_t reward);
/* What an agent told of its choices; "notes": a list of objects. */
void output_notes(TyJson *json, const TyRuleset *ruleset, const TyNote *notes, uint32_t count);
void output_estimate(TyJson *json, const char *key, const Estimate *estimate);
