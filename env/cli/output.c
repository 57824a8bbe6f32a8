/* Printing JSON documents and numbers. */
#include "cli/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TyJson output_open(void)
{
    return ty_json_init(cli_memory(malloc(CLI_JSON_MAX)), CLI_JSON_MAX);
}

int output_print(const Settings *settings, TyJson *json)
{
    bool whole = json->text.length < json->text.size;
    if (whole) {
        printf("%s\n", json->text.data);
    }
    free(json->text.data);
    return whole ? CLI_OK
                 : cli_failure(settings, "the document is longer than %d bytes", CLI_JSON_MAX);
}

void output_real(TyJson *json, const char *key, double value)
{
    if (!isfinite(value)) {
        ty_json_put_null(json, key);
        return;
    }
    char number[40];
    snprintf(number, sizeof number, "%.9g", value);
    ty_json_put_raw(json, key, number);
}

void output_unsigned(TyJson *json, const char *key, uint64_t value)
{
    char number[32];
    bool exact = value <= UINT64_C(1) << 53;
    snprintf(number, sizeof number, exact ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
    ty_json_put_raw(json, key, number);
}

void output_reward(TyJson *json, const char *key, int32_t reward)
{
    char number[40];
    snprintf(number, sizeof number, "%.10g", (double)reward / TY_REWARD_ONE);
    ty_json_put_raw(json, key, number);
}

static void output_told(TyJson *json, const char *key, float value)
{
    if (!isnan(value)) {
        output_real(json, key, (double)value);
    }
}

void output_notes(TyJson *json, const TyRuleset *ruleset, const TyNote *notes, uint32_t count)
{
    char name[TY_NAME_MAX];
    ty_json_open(json, "notes", '[');
    for (uint32_t i = 0; i < count; i++) {
        ty_action_name(ruleset, notes[i].action, name);
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "action", name);
        output_told(json, "probability", notes[i].probability);
        output_told(json, "value", notes[i].value);
        output_told(json, "visits", notes[i].visits);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

void output_estimate(TyJson *json, const char *key, const Estimate *estimate)
{
    ty_json_open(json, key, '{');
    output_real(json, "mean", estimate->mean);
    output_real(json, "low", estimate->low);
    output_real(json, "high", estimate->high);
    output_real(json, "deviation", estimate->deviation);
    output_real(json, "minimum", estimate->minimum);
    output_real(json, "maximum", estimate->maximum);
    ty_json_put_string(json, "interval", estimate->rate ? "wilson" : "student");
    ty_json_close(json, '}');
}
