/* The public interface of Trainyard: rulesets, states, rows, events, agents.
 *
 * A ruleset is a game with a checked configuration: immutable, shared by any number of states and
 * threads. A state is plain data of `ty_shape(ruleset)->state_size` bytes in memory that the caller
 * owns (8-byte aligned): `memcpy` clones it. Nothing here allocates, locks or calls the system,
 * except `ty_ruleset_open` and `ty_ruleset_close`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TY_API __attribute__((visibility("default")))

#define TY_VERSION "0.1.0"

/* Limits. Every table, name and message of the library fits within these. */
enum {
    TY_PLAYERS_MAX = 4,
    TY_SEATS_MAX = TY_PLAYERS_MAX + 1, /* the players, and the chance seat if the ruleset has one */
    TY_STREAMS_MAX = 16,               /* independent sources of chance in a game */
    TY_OUTCOMES_MAX = 64,              /* outcomes of one draw */
    TY_ACTIONS_MAX = 1024,             /* actions of a ruleset */
    TY_STATE_MAX = 2048,               /* bytes of a state, with the tail of a chance seat */
    TY_ROW_MAX = 1024,                 /* bytes of an observation row */
    TY_BLOCKS_MAX = 64,                /* blocks of a row */
    TY_METRICS_MAX = 48,               /* metrics of a game */
    TY_FIELDS_MAX = 24,                /* configuration fields of a game */
    TY_FILES_MAX = 4,                  /* file-valued fields of a game (board, deck) */
    TY_SPEC_MAX = 512,                 /* characters of a canonical ruleset string */
    TY_NAME_MAX = 160,                 /* characters of an action's, block's or item's name */
    TY_MESSAGE_MAX = 320,              /* characters of an error message */
    TY_EVENT_ARGS_MAX = 8,
    TY_EVENT_PATH_MAX = 24,
};

/* One reward point is 1/64: sums of rewards are exact, also as float32. */
#define TY_REWARD_ONE 64

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum TyCode {
    TY_OK = 0,
    TY_BAD_ARGUMENT, /* a call or a command line that makes no sense */
    TY_BAD_CONFIG,   /* unknown game or key, wrong type, out of range */
    TY_BAD_FILE,     /* a board, map or deck file that breaks a rule of its format */
    TY_BAD_SCRIPT,   /* a scripted chance outcome that cannot happen there */
    TY_ILLEGAL,      /* an action that the mask forbids */
    TY_LIMIT,        /* a named limit would be passed */
    TY_NO_MEMORY,
    TY_IO,
} TyCode;

/* What went wrong, in a sentence for people. `code` is TY_OK and `message` empty if nothing did. */
typedef struct TyStatus {
    TyCode code;
    char message[TY_MESSAGE_MAX];
} TyStatus;

/* ---- Games and their configuration ----------------------------------------------------------- */

typedef struct TyGame TyGame;
typedef struct TyAgent TyAgent; /* agent.h */
typedef struct TyRuleset TyRuleset;

typedef enum TyFieldKind {
    TY_FIELD_INT,    /* minimum..maximum */
    TY_FIELD_FLAG,   /* false, true */
    TY_FIELD_CHOICE, /* one of `choices` */
    TY_FIELD_FILE,   /* the name of a built-in file, or a file of the user's */
} TyFieldKind;

/* One key of a game's configuration. A value is an integer: the number, 0 or 1, or the index of
 * the choice. For a file of the user's own it is -1. */
typedef struct TyField {
    const char *key;
    TyFieldKind kind;
    int32_t standard; /* the value in the standard ruleset */
    int32_t minimum;
    int32_t maximum;
    const char *const *choices; /* NULL-terminated; choices and built-in files */
    bool shown;                 /* in the canonical string even when it has the standard value */
    const char *help;
} TyField;

/* Where a board or deck that is not built in comes from. The library never opens a path by itself.
 * `open` points `bytes` and `size` at the content of `value` (what the configuration string said)
 * and copies a short name for it into `name`; the content must live until ty_ruleset_open returns.
 */
typedef struct TyFiles {
    void *user;
    TyStatus (*open)(void *user, const char *value, const char **bytes, size_t *size,
                     char name[TY_NAME_MAX]);
} TyFiles;

TY_API uint32_t ty_game_count(void);
TY_API const TyGame *ty_game_at(uint32_t index);
TY_API const TyGame *ty_game_find(const char *name); /* NULL if there is none */
TY_API const char *ty_game_name(const TyGame *game);
TY_API const char *ty_game_title(const TyGame *game);
TY_API uint32_t ty_game_rules_version(const TyGame *game);
TY_API const TyField *ty_game_fields(const TyGame *game, uint32_t *count);

/* Opens the ruleset that `spec` names, such as "convoi:board=europe,players=3". Keys left out have
 * the standard values. `files` may be NULL: then only built-in boards and decks exist. The caller
 * closes the ruleset. On failure `*ruleset` is NULL. */
TY_API TyStatus ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
TY_API void ty_ruleset_close(TyRuleset *ruleset);

/* A board or deck as bytes: what the configuration string says for it, its short name, its content.
 */
typedef struct TyFileBytes {
    const char *value;
    const char *name;
    const char *bytes;
    size_t size;
} TyFileBytes;

/* ty_ruleset_open with files that the caller has read already. */
TY_API TyStatus ty_ruleset_open_bytes(const char *spec, const TyFileBytes *files, uint32_t count,
                                      TyRuleset **ruleset);

/* Checks one board, map or deck file and says in the status what is wrong and where. `kind` is set
 * to what it is ("convoi board") and `name` to its name. */
TY_API TyStatus ty_file_check(const char *bytes, size_t size, const char **kind,
                              char name[TY_NAME_MAX]);

/* ---- The shape of a ruleset ------------------------------------------------------------------ */

typedef enum TyBlockKind {
    TY_BLOCK_CATEGORY, /* 0..maximum: one of maximum + 1 things */
    TY_BLOCK_COUNT,    /* 0..maximum: how many */
    TY_BLOCK_FLAG,     /* 0, 1 */
    TY_BLOCK_FIXED,    /* a fraction: value / maximum */
} TyBlockKind;

/* A named run of an observation row: `rows` x `columns` values of `width` bytes (1, or 2 for a
 * little-endian 16-bit value) from byte `offset` on. */
typedef struct TyBlock {
    const char *name;
    TyBlockKind kind;
    uint16_t offset;
    uint16_t rows;
    uint16_t columns;
    uint16_t maximum;
    uint8_t width;
    const char *help;
} TyBlock;

typedef struct TyShape {
    const char *spec; /* canonical form: parsing it gives this ruleset again */
    const char *note; /* what of its boards and decks is a reconstruction; "" if nothing is */
    bool cooperative; /* all players share one result */
    uint32_t players;
    uint32_t seats; /* players, plus one if chance is a seat */
    uint32_t action_count;
    uint32_t state_size;
    uint32_t row_size;
    uint32_t full_size; /* bytes of the privileged row */
    const TyBlock *row_blocks;
    uint32_t row_block_count;
    const TyBlock *full_blocks;
    uint32_t full_block_count;
    const char *const *metrics; /* NULL-terminated names */
    uint32_t metric_count;
    const char *const *streams; /* NULL-terminated names of the sources of chance */
    uint64_t schema_hash;       /* of rules version, row layout and action names */
} TyShape;

/* The content of file `file` (the game's file-valued keys, in their order) if it is one of the
 * user's own; NULL if it is built in. */
TY_API const char *ty_ruleset_file(const TyRuleset *ruleset, uint32_t file, size_t *size);
TY_API const TyGame *ty_ruleset_game(const TyRuleset *ruleset);
TY_API const TyShape *ty_shape(const TyRuleset *ruleset);
/* The value that the configuration has for `key`; aborts if the game has no such key. */
TY_API int32_t ty_config(const TyRuleset *ruleset, const char *key);

/* Names. Each writes a NUL-terminated string of less than TY_NAME_MAX characters. */
TY_API void ty_action_name(const TyRuleset *ruleset, uint32_t action, char name[TY_NAME_MAX]);
TY_API bool ty_action_find(const TyRuleset *ruleset, const char *name, uint32_t *action);
TY_API void ty_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                           uint32_t column, char name[TY_NAME_MAX]);
/* What category `value` of a block means ("paris"), or "" if it has no name. */
TY_API void ty_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value,
                           char name[TY_NAME_MAX]);
TY_API void ty_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome,
                            char name[TY_NAME_MAX]);
TY_API bool ty_outcome_find(const TyRuleset *ruleset, uint32_t stream, const char *name,
                            uint32_t *outcome);

/* Rows as float vectors: a category becomes as many numbers as it has values, one of them 1; counts
 * and fractions are divided by their maximum; flags stay. Blocks keep their order. `full` is for
 * privileged rows. */
TY_API uint32_t ty_expand_width(const TyBlock *block);
TY_API uint32_t ty_expand_size(const TyRuleset *ruleset, bool full);
/* Writes `count` x ty_expand_size numbers. */
TY_API void ty_expand(const TyRuleset *ruleset, bool full, const uint8_t *rows, uint32_t count,
                      float *out);

/* Rows for networks that embed: the categories of a row as numbers of one table of `values`
 * entries, in which every item has entries of its own, and the rest as fractions. */
typedef struct TySplit {
    uint32_t categories; /* of a row */
    uint32_t numbers;    /* of a row */
    uint32_t values;     /* entries of the table */
} TySplit;

TY_API TySplit ty_split_size(const TyRuleset *ruleset);
/* Writes `count` x categories and `count` x numbers. */
TY_API void ty_split(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                     int32_t *categories, float *numbers);

/* The size of a struct of this interface by its name, so that a binding can check its own idea of
 * it; 0 for a name that is not known. */
TY_API size_t ty_size_of(const char *type);

/* ---- Chance and events ----------------------------------------------------------------------- */

/* A scripted answer: the next draw of `stream` has this outcome. */
typedef struct TyOutcome {
    uint8_t stream;
    bool used;
    uint16_t outcome;
} TyOutcome;

/* The kind of event with which every game says that the episode is over. */
#define TY_EVENT_END 0

/* Something that happened in a step. `kind` and `args` belong to the game, which names them in
 * ty_event_json. If chance decided it, `stream` and `outcome` say how; otherwise `stream` is -1.
 * The details of a `secret` event are for `seat` alone. */
typedef struct TyEvent {
    uint16_t kind;
    int8_t seat;
    int8_t stream;
    uint16_t outcome;
    int16_t args[TY_EVENT_ARGS_MAX];
    bool secret;
    uint8_t path_count;
    uint8_t path[TY_EVENT_PATH_MAX];
} TyEvent;

/* Optional company of a reset or step: receives the events, answers the draws. Zero-initialise it.
 * Draws of a stream take the unused script entries of that stream in order, then (unless `strict`)
 * the generator. If an entry does not fit, or a strict script has none left, `status` says so and
 * the state stays as it was. */
typedef struct TyTape {
    void *user;
    void (*event)(void *user, const TyEvent *event);
    TyOutcome *script;
    uint32_t script_count;
    bool strict;
    TyStatus status;
    /* The first draw that found no answer in a strict script. */
    bool missing;
    uint8_t missing_stream;
    uint8_t missing_count;
    uint8_t missing_weights[TY_OUTCOMES_MAX];
} TyTape;

/* ---- Playing --------------------------------------------------------------------------------- */

/* Every state begins with this. The rest is the game's own. */
typedef struct TyHead {
    uint64_t seed;                  /* key of the episode's chance */
    uint32_t draws[TY_STREAMS_MAX]; /* values taken from each stream */
    uint32_t steps;                 /* decisions taken so far */
    int8_t seat;                    /* who is to act; -1 when the episode is over */
    uint8_t over;
    uint8_t truncated; /* over because a cap was reached, not because the game ended */
    uint8_t unused;
} TyHead;

static inline const TyHead *ty_head(const void *state)
{
    return (const TyHead *)state;
}

/* Begins the episode of `seed`. False only if a tape's script failed. */
TY_API bool ty_reset(const TyRuleset *ruleset, void *state, uint64_t seed, TyTape *tape);

/* Takes `action` for the seat to act and plays on to the next question. Adds what each player
 * earned to `reward` (in 1/64; one entry per seat). False, and nothing changed, if the action is
 * not legal, the episode is over, or a tape's script failed. `tape` may be NULL. */
TY_API bool ty_step(const TyRuleset *ruleset, void *state, uint32_t action,
                    int32_t reward[TY_SEATS_MAX], TyTape *tape);

/* The mask of the seat to act: `action_count` bytes 0 or 1. All zero when the episode is over. */
TY_API void ty_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
/* The mask of any seat: a seat that is not to act may only `wait` (action 0). */
TY_API void ty_legal_seat(const TyRuleset *ruleset, const void *state, uint32_t seat,
                          uint8_t *mask);
/* What `seat` may know: `row_size` bytes. */
TY_API void ty_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row);
/* Everything, as seen from `seat`: `full_size` bytes, for critics and tests. */
TY_API void ty_observe_full(const TyRuleset *ruleset, const void *state, uint32_t seat,
                            uint8_t *row);

TY_API void ty_metrics(const TyRuleset *ruleset, const void *state, int32_t *metrics);
TY_API uint64_t ty_hash(const TyRuleset *ruleset, const void *state);
/* NULL, or the first invariant that the state breaks. A state from outside must pass before it is
 * played. */
TY_API const char *ty_check(const TyRuleset *ruleset, const void *state);
/* Gives the state a new future: chance is drawn with `key` from now on. */
TY_API void ty_rekey(void *state, uint64_t key);
/* Deals what `seat` does not know anew, in a way that fits all it knows, and gives the state a new
 * future. */
TY_API void ty_resample(const TyRuleset *ruleset, void *state, uint32_t seat, uint64_t key);

/* The question that the state asks, in a word or two ("exit", "pay"). */
TY_API const char *ty_phase_name(const TyRuleset *ruleset, const void *state);
/* Text. Each returns the length, as snprintf does, and always terminates the string. */
TY_API size_t ty_text(const TyRuleset *ruleset, const void *state, uint32_t seat, char *out,
                      size_t size);
TY_API size_t ty_state_json(const TyRuleset *ruleset, const void *state, char *out, size_t size);
TY_API size_t ty_event_json(const TyRuleset *ruleset, const TyEvent *event, char *out, size_t size);

/* The seed of episode `episode` of a slot: the slot's own seed for episode 0. */
TY_API uint64_t ty_episode_seed(uint64_t slot_seed, uint64_t episode);
/* A uniformly random set entry of a mask, drawn with (seed, counter); 0 if the mask is empty. */
TY_API uint32_t ty_sample(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter);

#ifdef __cplusplus
}
#endif

#include "agent.h"
#include "pool/pool.h"
