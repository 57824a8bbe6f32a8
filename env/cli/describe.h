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

int describe_json_games(const Settings *settings);
int describe_json_ruleset(const Settings *settings, const TyRuleset *ruleset);
