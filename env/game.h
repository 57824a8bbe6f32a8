/* What a game is: the one header that the author of a game reads, besides those of core/.
 *
 * A game lives in env/games/NAME, is one `const TyGame`, and costs one line in registry.c. Its
 * functions see immutable tables and plain states; they do not allocate, do no input or output,
 * know no clock, no global and no floating point. */
#pragma once

#include "core/doc.h"
#include "core/text.h"
#include "trainyard.h"

/* A built-in board, map or deck: JSON text inside the binary. */
typedef struct TyFile {
    const char *name;
    const char *bytes;
    size_t size;
} TyFile;

/* A file-valued field: the word that its files carry under "format", and the built-in ones in the
 * order of the field's `choices`. */
typedef struct TyFileField {
    const char *key;
    const char *format;
    const char *title; /* "convoi board" */
    const TyFile *const *files;
} TyFileField;

/* A ruleset in the making or in use. The game's `build` fills `tables`, `shape` (players, sizes,
 * blocks; the library sets spec, seats, metrics, streams and schema hash) and `note`. */
struct TyRuleset {
    const TyGame *game;
    TyShape shape;
    int32_t config[TY_FIELDS_MAX];
    bool chance_seat;
    uint32_t game_action_count; /* without those of a chance seat */
    uint32_t game_state_size;
    uint32_t game_row_size;
    TyBlock row_blocks[TY_BLOCKS_MAX];
    TyBlock full_blocks[TY_BLOCKS_MAX];
    char spec[TY_SPEC_MAX];
    char note[TY_MESSAGE_MAX];
    void *tables;
    char *file_bytes[TY_FILES_MAX]; /* of the user's own files; NULL for built-in ones */
    size_t file_size[TY_FILES_MAX];
};

struct TyGame {
    const char *name;
    const char *title;
    bool cooperative;
    uint32_t rules_version; /* grows whenever any seed replays differently */
    const TyField *fields;  /* ends with a NULL key */
    const TyFileField *files;
    uint32_t file_count;
    const char *const *metrics;
    const char *const *streams;
    size_t tables_size;

    /* Checks `doc` as a file of files[file]: OK, or what is wrong in which field. */
    TyStatus (*file_check)(uint32_t file, const Doc *doc);
    /* Fills the ruleset from its `config` and one parsed document per file field. */
    TyStatus (*build)(TyRuleset *ruleset, const Doc *const *docs);

    /* `state` has head.seed set and everything else zero. Plays up to the first question. */
    void (*reset)(const TyRuleset *ruleset, void *state, TyTape *tape);
    /* `mask` is all zero and the episode is running: sets what the seat to act may do. */
    void (*legal)(const TyRuleset *ruleset, const void *state, uint8_t *mask);
    /* False, with nothing changed, if `action` is not legal. The episode is running. */
    bool (*step)(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                 TyTape *tape);
    /* Writes every byte of the row of `seat`, or with `full` of the privileged row. */
    void (*observe)(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                    uint8_t *row);
    void (*measure)(const TyRuleset *ruleset, const void *state, int32_t *metrics);
    /* Folds every field behind the head into the hash. */
    uint64_t (*hash)(const TyRuleset *ruleset, const void *state, uint64_t hash);
    const char *(*phase_name)(const TyRuleset *ruleset, const void *state);
    const char *(*check)(const TyRuleset *ruleset, const void *state);
    /* Deals anew what `seat` cannot know, by draws on the state, which is re-keyed already. */
    void (*resample)(const TyRuleset *ruleset, void *state, uint32_t seat);

    void (*action_name)(const TyRuleset *ruleset, uint32_t action, Text *out);
    /* The meaning of a block's item (by row and column) and of one of its category values. */
    void (*block_label)(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                        uint32_t column, Text *out);
    void (*value_label)(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out);
    void (*outcome_name)(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out);
    void (*text)(const TyRuleset *ruleset, const void *state, uint32_t seat, Text *out);
    /* The members of a JSON object, without its braces. */
    void (*state_json)(const TyRuleset *ruleset, const void *state, Json *out);
    void (*event_json)(const TyRuleset *ruleset, const TyEvent *event, Json *out);
};
