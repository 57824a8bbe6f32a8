/* A game or a ruleset in words: one walk, for JSON, text and the wire alike. */
#pragma once

#include "base.h"

/* Receives what the walk finds, in order. `key` is NULL for the entries of a list. */
typedef struct DescribeSink {
    void *user;
    /* A map ('{') or a list ('['), of which `count` entries follow, then `close`. */
    void (*open)(void *user, const char *key, char bracket, uint32_t count);
    void (*close)(void *user, char bracket);
    void (*text)(void *user, const char *key, const char *value);
    void (*integer)(void *user, const char *key, int64_t value);
    void (*flag)(void *user, const char *key, bool value);
    void (*hash)(void *user, const char *key, uint64_t value);
} DescribeSink;

/* Each walks over the entries of a map that the caller has opened and closes. */
void describe_game(const TyGame *game, const DescribeSink *sink);
/* The game's entries are among them. A list of names has "" where a number has no name, so that
 * positions are numbers. */
void describe_ruleset(const TyRuleset *ruleset, const DescribeSink *sink);

/* The value that the ruleset has for a field of kind TY_FIELD_FILE: the built-in name, or name@hash
 * for a user's file. */
void describe_file(const TyRuleset *ruleset, const TyField *field, char out[TY_NAME_MAX]);
