/* Printing: JSON documents, numbers, wrapped lists. */
#pragma once

#include "cli/cli.h"
#include "cli/stats.h"
#include "core/text.h"

/* A document of at most CLI_JSON_MAX bytes on the heap. `output_print` prints and frees it and
 * returns the exit status. */
Json output_open(void);
int output_print(const Settings *settings, Json *json);
void output_real(Json *json, const char *key, double value);
/* A number as a JSON number, or as a string where a double could not hold it. */
void output_unsigned(Json *json, const char *key, uint64_t value);
/* A reward in points: exact, since it is a multiple of 1/64. */
void output_reward(Json *json, const char *key, int32_t reward);
void output_estimate(Json *json, const char *key, const Estimate *estimate);

/* Words on stdout, separated by commas and wrapped at 100 columns behind `indent` blanks. */
typedef struct Wrap {
    uint32_t indent;
    uint32_t column; /* 0: nothing is on the line yet */
    bool any;        /* something has been printed before */
} Wrap;

void wrap_word(Wrap *wrap, const char *word);
void wrap_end(Wrap *wrap);
