/* Actions and chance outcomes from a file: a trace, or plain text. See TRACE.md. */
#pragma once

#include "base.h"

enum { SCRIPT_TRACE_FORMAT = 2 /* version of the trace format */ };

typedef enum ScriptKind {
    SCRIPT_HEADER, /* begins an episode */
    SCRIPT_ACTION,
    SCRIPT_CHANCE,
} ScriptKind;

/* One line that matters. The strings belong to the script. */
typedef struct ScriptItem {
    ScriptKind kind;
    uint32_t line;
    char *name;    /* the ruleset, the action or the stream; NULL if a header has none */
    char *outcome; /* of a SCRIPT_CHANCE */
    char *agents;  /* of a SCRIPT_HEADER: a JSON array, or NULL */
    bool seeded;   /* of a SCRIPT_HEADER: `seed` was given */
    uint64_t seed;
} ScriptItem;

typedef struct Script {
    ScriptItem *items;
    uint32_t count;
    uint32_t capacity;
} Script;

/* Reads `path`. The first item is always a header, if need be an empty one. The caller frees the
 * script with script_close, also on failure. */
TyStatus script_open(const char *path, Script *script);
void script_close(Script *script);
