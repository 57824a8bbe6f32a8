/* Rulesets, states, rows and events: the part of the public interface that everything else uses.
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

/* Marks what the library exports. */
#define TY_API __attribute__((visibility("default")))

/* The version of the library that this header belongs to. */
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

/* What kind of failure a TyStatus reports. */
typedef enum TyCode {
    TY_OK = 0,
    TY_BAD_ARGUMENT, /* a call or a command line that is not valid */
    TY_BAD_CONFIG,   /* unknown game or key, wrong type, out of range */
    TY_BAD_FILE,     /* a board, map or deck file that breaks a rule of its format */
    TY_BAD_SCRIPT,   /* a scripted chance outcome that cannot happen there */
    TY_ILLEGAL,      /* an action that the mask forbids */
    TY_LIMIT,        /* a named limit would be passed */
    TY_NO_MEMORY,
    TY_IO,
} TyCode;

/* The result of a call that can fail: TY_OK and an empty message, or a code and a sentence for
 * people that names the field, the value and what is allowed.
 *
 *     TyStatus status = ty_ruleset_open("convoi:players=9", NULL, &ruleset);
 *     if (status.code != TY_OK) {
 *         fprintf(stderr, "%s\n", status.message); // players=9: out of range; allowed is 2..4
 *     } */
typedef struct TyStatus {
    TyCode code;
    char message[TY_MESSAGE_MAX];
} TyStatus;

/* ---- Games and their configuration ----------------------------------------------------------- */

/* A game: game.h says what it consists of. Games are never freed. */
typedef struct TyGame TyGame;
/* A built-in agent: agent.h says what it consists of. */
typedef struct TyAgent TyAgent;
/* A game with checked settings. It never changes, so that threads can share it. */
typedef struct TyRuleset TyRuleset;

/* What values a setting takes. */
typedef enum TyFieldKind {
    TY_FIELD_INT,      /* minimum..maximum */
    TY_FIELD_FLAG,     /* false, true */
    TY_FIELD_CHOICE,   /* one of `choices` */
    TY_FIELD_FILE,     /* the name of a built-in file, or the user's own file */
    TY_FIELD_FRACTION, /* minimum..maximum in thousandths, written as "0.7" */
} TyFieldKind;

/* One setting of a game or an agent. A value is an integer: the number itself, 0 or 1 for a flag,
 * the index of a choice or built-in file, -1 for the user's own file, thousandths of a fraction. */
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

/* Reads boards and decks that are not built in: the library never opens a path by itself. `open`
 * points `bytes` and `size` at the content of `value` (what the ruleset string says) and copies a
 * short name for it into `name`. The content stays the caller's and must live until ty_ruleset_open
 * returns. A failure of `open` makes ty_ruleset_open fail. */
typedef struct TyFiles {
    void *user;
    TyStatus (*open)(void *user, const char *value, const char **bytes, size_t *size,
                     char name[TY_NAME_MAX]);
} TyFiles;

/* Loads the games and agents of the shared object at `path` by running its TY_PLUGIN (game.h). The
 * object stays loaded. Call it before other threads use the library. This runs code: never take
 * the path from an untrusted source. TY_BAD_ARGUMENT if `path` has no slash, TY_BAD_FILE if it
 * cannot be loaded or has no TY_PLUGIN, otherwise what the TY_PLUGIN returns.
 *
 *     TyStatus status = ty_load("./libtictactoe.so"); */
TY_API TyStatus ty_load(const char *path);

/* How many games there are, added ones included.
 *
 *     for (uint32_t i = 0; i < ty_game_count(); i++) {
 *         puts(ty_game_name(ty_game_at(i)));
 *     } */
TY_API uint32_t ty_game_count(void);
/* Game number `index`; NULL if there are fewer. */
TY_API const TyGame *ty_game_at(uint32_t index);
/* The game of that name ("convoi"); NULL if there is none. */
TY_API const TyGame *ty_game_find(const char *name);
/* The name that rulesets begin with ("convoi"). The game owns it. */
TY_API const char *ty_game_name(const TyGame *game);
/* The name for people ("Convoi Express"). The game owns it. */
TY_API const char *ty_game_title(const TyGame *game);
/* Increases whenever any seed plays differently. */
TY_API uint32_t ty_game_rules_version(const TyGame *game);
/* The settings of the game's smallest ruleset, for tests and first tries ("map=tiny"); "" if the
 * standard ruleset serves. The game owns the string. */
TY_API const char *ty_game_small(const TyGame *game);
/* The settings that learners start from ("reward=score"); "" if the standard ruleset serves. The
 * game owns the string. */
TY_API const char *ty_game_learning(const TyGame *game);
/* The settings of a game, `*count` of them. The library owns them. */
TY_API const TyField *ty_game_fields(const TyGame *game, uint32_t *count);

/* Opens the ruleset that `spec` names. Settings that it leaves out have their standard values.
 * `files` may be NULL: then only built-in boards and decks exist. The caller closes `*ruleset`,
 * which is NULL on failure: TY_BAD_CONFIG for an unknown game, setting or value, TY_BAD_FILE for a
 * board or deck that breaks its format, TY_LIMIT, TY_NO_MEMORY, or what `files->open` returned.
 *
 *     TyRuleset *ruleset;
 *     TyStatus status = ty_ruleset_open("convoi:board=europe,players=3", NULL, &ruleset);
 *     ty_ruleset_close(ruleset); */
TY_API TyStatus ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
/* Frees a ruleset that no state, pool or lineup uses any more. `ruleset` may be NULL. */
TY_API void ty_ruleset_close(TyRuleset *ruleset);

/* A board or deck in memory: what the ruleset string says for it, its short name, its content. */
typedef struct TyFileBytes {
    const char *value;
    const char *name;
    const char *bytes;
    size_t size;
} TyFileBytes;

/* ty_ruleset_open with `count` files that the caller has read already. They stay the caller's and
 * are not needed after the call. Fails as ty_ruleset_open does.
 *
 *     TyFileBytes mine = {.value = "mine", .name = "mine", .bytes = json, .size = size};
 *     ty_ruleset_open_bytes("convoi:board=mine", &mine, 1, &ruleset); */
TY_API TyStatus ty_ruleset_open_bytes(const char *spec, const TyFileBytes *files, uint32_t count,
                                      TyRuleset **ruleset);

/* Checks `size` bytes of a board, map or deck file. The status says what is wrong and where:
 * TY_BAD_FILE, TY_LIMIT or TY_NO_MEMORY. Sets `*kind` to what it is ("convoi board", a string of
 * the library's) and writes its name into `name`, as far as they could be read. */
TY_API TyStatus ty_file_check(const char *bytes, size_t size, const char **kind,
                              char name[TY_NAME_MAX]);

/* ---- The shape of a ruleset ------------------------------------------------------------------ */

/* What the values of a block are. */
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

/* What a ruleset consists of, and the sizes of what its functions read and write. The ruleset owns
 * everything that it points to.
 *
 *     const TyShape *shape = ty_shape(ruleset);
 *     uint8_t *row = malloc(shape->row_size);
 *     uint8_t *mask = malloc(shape->action_count); */
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

/* The content of file `file` (the file-valued settings, in their order) if it is the user's own,
 * and its size; NULL if it is built in. The ruleset owns the bytes. */
TY_API const char *ty_ruleset_file(const TyRuleset *ruleset, uint32_t file, size_t *size);
/* The game of a ruleset. */
TY_API const TyGame *ty_ruleset_game(const TyRuleset *ruleset);
/* The shape of a ruleset, valid until the ruleset is closed. */
TY_API const TyShape *ty_shape(const TyRuleset *ruleset);
/* The value of setting `key`; INT32_MIN if the game has no such setting. */
TY_API int32_t ty_config(const TyRuleset *ruleset, const char *key);

/* Writes the name of `action`, which is below `action_count`, as a NUL-terminated string.
 *
 *     char name[TY_NAME_MAX];
 *     ty_action_name(ruleset, action, name); // "move black.1" */
TY_API void ty_action_name(const TyRuleset *ruleset, uint32_t action, char name[TY_NAME_MAX]);
/* Writes what `action` does, for people: what all actions of its verb do ("Move a train"), and with
 * what ("black 1"; "" if there is nothing to choose).
 *
 *     char verb[TY_NAME_MAX], item[TY_NAME_MAX];
 *     ty_action_title(ruleset, action, verb, item); */
TY_API void ty_action_title(const TyRuleset *ruleset, uint32_t action, char verb[TY_NAME_MAX],
                            char item[TY_NAME_MAX]);
/* Sets `*action` to the action of that name, in capitals or not; false, and nothing set, if there
 * is none. */
TY_API bool ty_action_find(const TyRuleset *ruleset, const char *name, uint32_t *action);
/* Writes what the value at `row` and `column` of a block is about ("black.1"). */
TY_API void ty_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                           uint32_t column, char name[TY_NAME_MAX]);
/* Writes what category `value` of a block means ("paris"), or "" if it has no name. */
TY_API void ty_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value,
                           char name[TY_NAME_MAX]);
/* Writes the name of an outcome of `stream`, or "" if the stream has no such outcome. */
TY_API void ty_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome,
                            char name[TY_NAME_MAX]);
/* Sets `*outcome` to the outcome of that name; false, and nothing set, if there is none. */
TY_API bool ty_outcome_find(const TyRuleset *ruleset, uint32_t stream, const char *name,
                            uint32_t *outcome);

/* How many numbers a block becomes in ty_expand. */
TY_API uint32_t ty_expand_width(const TyBlock *block);
/* How many numbers a row becomes in ty_expand; `full` is for privileged rows. */
TY_API uint32_t ty_expand_size(const TyRuleset *ruleset, bool full);
/* Rows as float vectors. A category becomes one-hot; counts and fractions are divided by their
 * maximum; flags stay. Blocks keep their order. Writes `count` x ty_expand_size numbers.
 *
 *     float *input = malloc(count * ty_expand_size(ruleset, false) * sizeof *input);
 *     ty_expand(ruleset, false, rows, count, input); */
TY_API void ty_expand(const TyRuleset *ruleset, bool full, const uint8_t *rows, uint32_t count,
                      float *out);

/* Rows for networks with an embedding: the categories of a row as indices into one table of
 * `values` entries, in which every item has entries of its own, and the rest as fractions. */
typedef struct TySplit {
    uint32_t categories; /* of a row */
    uint32_t numbers;    /* of a row */
    uint32_t values;     /* entries of the table */
} TySplit;

/* The sizes of what ty_split writes. */
TY_API TySplit ty_split_size(const TyRuleset *ruleset);
/* Splits `count` rows: writes `count` x categories indices and `count` x numbers fractions. */
TY_API void ty_split(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                     int32_t *categories, float *numbers);

/* The size of a struct of this interface by its name ("TyShape"), for bindings that declare it
 * again; 0 for an unknown name. */
TY_API size_t ty_size_of(const char *type);

/* ---- Chance and events ----------------------------------------------------------------------- */

/* A scripted answer: the next draw of `stream` has this outcome. */
typedef struct TyOutcome {
    uint8_t stream;
    bool used;
    uint16_t outcome;
} TyOutcome;

/* The kind of event that ends an episode, in every game. */
#define TY_EVENT_END 0

/* Something that happened in a step. `kind` and `args` belong to the game; ty_event_json names
 * them. If chance decided it, `stream` and `outcome` say how; otherwise `stream` is -1. Only `seat`
 * may know the details of a `secret` event. */
typedef struct TyEvent {
    uint16_t kind;
    int8_t seat;
    int8_t stream;
    uint16_t outcome;
    int16_t args[TY_EVENT_ARGS_MAX];
    bool secret;
    int8_t also; /* the seat that knows the secret as well; the event's own if there is none */
    uint8_t path_count;
    uint8_t path[TY_EVENT_PATH_MAX];
} TyEvent;

/* An optional listener of a reset or step that receives its events and draws, and may script the
 * outcomes of the draws. Zero-initialise it. A draw takes the next unused script entry of its
 * stream, or else (unless `strict`) the generator. If an entry cannot happen there, or a strict
 * script has none left, `status` says so and the state stays as it was.
 *
 *     TyTape tape = {.user = file, .event = print_event};
 *     ty_step(ruleset, state, action, reward, &tape); */
typedef struct TyTape {
    void *user;
    void (*event)(void *user, const TyEvent *event);
    /* Called for every draw, even in a step that fails afterwards: outcome i had the weight
     * weights[i]. */
    void (*drawn)(void *user, uint32_t stream, const uint8_t *weights, uint32_t count,
                  uint32_t outcome);
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
    int8_t seat;                    /* the seat to act; -1 when the episode is over */
    uint8_t over;
    uint8_t truncated; /* over because a cap was reached, not because the game ended */
    uint8_t phase;     /* the current question: an index into the game's phases */
} TyHead;

/* The head of a state. */
static inline const TyHead *ty_head(const void *state)
{
    return (const TyHead *)state;
}

/* Starts the episode of `seed` in `state`: `state_size` bytes of the caller's, 8-byte aligned, with
 * any content. `tape` may be NULL. False only if the tape's script failed.
 *
 *     void *state = aligned_alloc(8, shape->state_size);
 *     ty_reset(ruleset, state, 7, NULL);
 *     memcpy(clone, state, shape->state_size); */
TY_API bool ty_reset(const TyRuleset *ruleset, void *state, uint64_t seed, TyTape *tape);

/* Plays `action` for the seat to act, up to the next decision. Adds what each player earned to
 * `reward` (in 1/64; one entry per seat). `tape` may be NULL. False, and nothing changed, if the
 * action is not legal, the episode is over, or the tape's script failed.
 *
 *     int32_t reward[TY_SEATS_MAX] = {0};
 *     ty_legal(ruleset, state, mask);
 *     ty_step(ruleset, state, choose(mask), reward, NULL); */
TY_API bool ty_step(const TyRuleset *ruleset, void *state, uint32_t action,
                    int32_t reward[TY_SEATS_MAX], TyTape *tape);

/* Writes the mask of the seat to act: `action_count` bytes, 0 or 1. All zero when the episode is
 * over. */
TY_API void ty_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
/* Writes the mask of any seat: a seat that is not to act may only `wait` (action 0). */
TY_API void ty_legal_seat(const TyRuleset *ruleset, const void *state, uint32_t seat,
                          uint8_t *mask);
/* Writes the row of `seat`, what it may know: `row_size` bytes. */
TY_API void ty_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row);
/* Writes the privileged row, everything as seen from `seat`: `full_size` bytes, for critics and
 * tests. */
TY_API void ty_observe_full(const TyRuleset *ruleset, const void *state, uint32_t seat,
                            uint8_t *row);

/* Writes the game's metrics so far: `metric_count` numbers. */
TY_API void ty_metrics(const TyRuleset *ruleset, const void *state, int32_t *metrics);
/* A hash of the whole state. Equal states of a ruleset have equal hashes on every machine. */
TY_API uint64_t ty_hash(const TyRuleset *ruleset, const void *state);
/* NULL if the state is valid, otherwise the first invariant that it breaks, as a sentence that the
 * library owns. Check states that come from outside before playing them. */
TY_API const char *ty_check(const TyRuleset *ruleset, const void *state);
/* Gives the state a new future: from now on chance is drawn with `key`. */
TY_API void ty_rekey(void *state, uint64_t key);
/* Redeals what `seat` cannot know, consistently with everything it knows, and gives the state a new
 * future drawn with `key`. */
TY_API void ty_resample(const TyRuleset *ruleset, void *state, uint32_t seat, uint64_t key);

/* The current question, in a word or two ("exit", "pay"). The game owns the string. */
TY_API const char *ty_phase_name(const TyRuleset *ruleset, const void *state);
/* Writes the position as `seat` may know it, for people and language models: enough to play from.
 * If the seat is to act, the question and its choices are at the end: equal texts have equal legal
 * actions. Returns the length, as snprintf does, and always terminates the string; so do all that
 * follow. */
TY_API size_t ty_text(const TyRuleset *ruleset, const void *state, uint32_t seat, char *out,
                      size_t size);
/* The parts of it: the position with the question, */
TY_API size_t ty_position_text(const TyRuleset *ruleset, const void *state, uint32_t seat,
                               char *out, size_t size);
/* and the choices of the seat to act, by verb, with what each costs; `numbered`: each with its
 * number among the legal actions, from 1 on. Empty when the episode is over. */
TY_API size_t ty_choices_text(const TyRuleset *ruleset, const void *state, bool numbered, char *out,
                              size_t size);
/* Enough for what a game explains of an action, */
#define TY_EXPLAIN_MAX 512
/* and for an action in words with that. */
#define TY_ACTION_TEXT_MAX (2 * TY_NAME_MAX + TY_EXPLAIN_MAX)
/* Writes what legal `action` costs or leads to, as the choices tell; "" if there is nothing to say.
 */
TY_API size_t ty_action_explain(const TyRuleset *ruleset, const void *state, uint32_t action,
                                char *out, size_t size);
/* Writes an action as people would say it, "Move a train: black 1"; with a `state` in which it is
 * legal also what it costs or leads to there, behind a semicolon. NULL: without. */
TY_API size_t ty_action_text(const TyRuleset *ruleset, const void *state, uint32_t action,
                             char *out, size_t size);
/* Writes the whole state as a JSON object, hidden parts included. */
TY_API size_t ty_state_json(const TyRuleset *ruleset, const void *state, char *out, size_t size);
/* Writes an event as a JSON object, secret details included. */
TY_API size_t ty_event_json(const TyRuleset *ruleset, const TyEvent *event, char *out, size_t size);
/* The same for `seat`, with the sentence as `text`: of another's secret only what everybody may
 * know, and `hidden` is true. */
TY_API size_t ty_event_json_for(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat,
                                char *out, size_t size);
/* Writes an event as a sentence for `seat`, without its full stop and without secrets of others. */
TY_API size_t ty_event_text(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat,
                            char *out, size_t size);

/* Writes the rules for people and language models: how to play, the settings of this ruleset, and
 * what one looks up on its board. */
TY_API size_t ty_rules_text(const TyRuleset *ruleset, char *out, size_t size);
/* Writes the board as a JSON object: `nodes` and `edges` with what each has, an edge's ends `a` and
 * `b` as numbers of nodes, and `features`: which blocks of the row tell of them. A feature has the
 * `block`, `on` what ("node" or "edge"), `by` what of the block ("rows", "columns" or "values") and
 * the node or edge `at` each of these; `optional` if value 0 is none and value v is item v - 1.
 * "{}" if the game has no board. */
TY_API size_t ty_board_json(const TyRuleset *ruleset, char *out, size_t size);

/* ---- What agents tell ------------------------------------------------------------------------ */

/* What an agent tells of one action, for the choice it just made; NAN where it has no such number.
 */
typedef struct TyNote {
    uint32_t action;
    float probability; /* with which it chooses the action */
    float value;       /* what it expects to earn with it, in points of reward */
    float visits;      /* how often it looked at what comes of it */
} TyNote;

/* Everything that it tells: plain data of whoever asks. */
typedef struct TyNotes {
    uint32_t count;
    TyNote list[TY_ACTIONS_MAX];
} TyNotes;

/* ---- Drawings -------------------------------------------------------------------------------- */

/* Limits of drawings. */
enum {
    TY_PARTS_MAX = 512,     /* parts of a drawing that can change */
    TY_SVG_MAX = 256 * 1024 /* bytes that are enough for every built-in game */
};

/* For `seat` of ty_svg: everything is shown, hidden cards too. */
#define TY_EVERYTHING UINT32_MAX
/* For `seat` of ty_svg: only what all seats may know is shown. */
#define TY_PUBLIC (UINT32_MAX - 1)

/* What a drawing showed, so that the next one can tell what is different. Plain data of the
 * caller's; zero-initialise it. */
typedef struct TySketch {
    uint32_t count;
    uint64_t looks[TY_PARTS_MAX];
    uint64_t choices[TY_PARTS_MAX];
} TySketch;

/* Draws the position as `seat` may know it, or everything: a complete SVG document. `sketch`, if
 * not NULL, is filled for ty_svg_changes. Returns the length, as snprintf does.
 *
 *     static char svg[TY_SVG_MAX];
 *     ty_svg(ruleset, state, 0, NULL, svg, sizeof svg); */
TY_API size_t ty_svg(const TyRuleset *ruleset, const void *state, uint32_t seat, TySketch *sketch,
                     char *out, size_t size);
/* Writes what is different from the drawing of the same ruleset and seat that `sketch` is of, and
 * updates it: a JSON list with [id, actions, class, transform, text] of each part that changed, or
 * only [id, actions] where the rest is as it was. The element with this id gets these attributes
 * (`actions` is data-act, which goes if it is empty) and this text. */
TY_API size_t ty_svg_changes(const TyRuleset *ruleset, const void *state, uint32_t seat,
                             TySketch *sketch, char *out, size_t size);

/* The seed of episode `episode` of a slot in a pool without a key: the slot's own seed for episode
 * 0. Not a secret: from one of them the others are easily computed. */
TY_API uint64_t ty_episode_seed(uint64_t slot_seed, uint64_t episode);
/* A uniformly random legal action of a mask of `count` bytes, drawn with (seed, counter); 0 if the
 * mask is empty. */
TY_API uint32_t ty_sample(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter);

#ifdef __cplusplus
}
#endif
