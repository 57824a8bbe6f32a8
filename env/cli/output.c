/* Printing: JSON documents, numbers, wrapped lists. */
#include "cli/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Json output_open(void)
{
    return json_init(cli_memory(malloc(CLI_JSON_MAX)), CLI_JSON_MAX);
}

int output_print(const Settings *settings, Json *json)
{
    bool whole = json->text.length < json->text.size;
    if (whole) {
        printf("%s\n", json->text.data);
    }
    free(json->text.data);
    return whole ? CLI_OK
                 : cli_failure(settings, "the document is longer than %d bytes", CLI_JSON_MAX);
}

void output_real(Json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        json_put_null(json, key);
        return;
    }
    char number[40];
    snprintf(number, sizeof number, "%.9g", value);
    json_put_raw(json, key, number);
}

void output_unsigned(Json *json, const char *key, uint64_t value)
{
    char number[32];
    bool exact = value <= UINT64_C(1) << 53;
    snprintf(number, sizeof number, exact ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
    json_put_raw(json, key, number);
}

void output_reward(Json *json, const char *key, int32_t reward)
{
    char number[40];
    snprintf(number, sizeof number, "%.10g", (double)reward / TY_REWARD_ONE);
    json_put_raw(json, key, number);
}

void output_estimate(Json *json, const char *key, const Estimate *estimate)
{
    json_open(json, key, '{');
    output_real(json, "mean", estimate->mean);
    output_real(json, "low", estimate->low);
    output_real(json, "high", estimate->high);
    output_real(json, "deviation", estimate->deviation);
    output_real(json, "minimum", estimate->minimum);
    output_real(json, "maximum", estimate->maximum);
    json_put_string(json, "interval", estimate->rate ? "wilson" : "normal");
    json_close(json, '}');
}

void wrap_word(Wrap *wrap, const char *word)
{
    uint32_t length = (uint32_t)strlen(word);
    if (wrap->any) {
        putchar(',');
        wrap->column++;
    }
    if (wrap->any && wrap->column + length + 2 > 100) {
        putchar('\n');
        wrap->column = 0;
    }
    if (wrap->column == 0) {
        printf("%*s%s", (int)wrap->indent, "", word);
        wrap->column = wrap->indent + length;
    } else {
        printf(" %s", word);
        wrap->column += length + 1;
    }
    wrap->any = true;
}

void wrap_end(Wrap *wrap)
{
    if (wrap->any) {
        putchar('\n');
    }
}
