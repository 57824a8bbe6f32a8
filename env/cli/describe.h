/* Words for what the library describes, shared by the text and the JSON form of `describe`. */
#pragma once

#include "cli/output.h"

static inline const char *field_kind_name(TyFieldKind kind)
{
    static const char *const names[] = {"int", "flag", "choice", "file"};
    return names[kind];
}

static inline const char *block_kind_name(TyBlockKind kind)
{
    static const char *const names[] = {"category", "count", "flag", "fixed"};
    return names[kind];
}

/* A configuration value of `field` in words. */
void field_value_name(const TyField *field, int32_t value, char out[TY_NAME_MAX]);

int describe_json_games(const Settings *settings);
int describe_json_ruleset(const Settings *settings, const TyRuleset *ruleset);
