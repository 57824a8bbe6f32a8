/* What a game is: the header to read before writing a game. base.h, which it includes, has the head
 * of states, settings, kinds of blocks and the limits.
 *
 * A game is one `const TyGame`: tables that say what it has (settings, actions, blocks of the row,
 * events, sources of chance, fields of the state), and a few functions that are its rules. Names,
 * masks, labels, hashes, JSON and sentences follow from the tables. examples/own_game is a whole
 * game in less than a hundred lines.
 *
 * Functions of a game see immutable tables and plain states. They do not allocate, do no input or
 * output, and know no clock, no global and no floating point. */
#pragma once

#include "base.h"
#include "core/doc.h"
#include "core/text.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increases when games that were compiled against an older header no longer fit the library. */
#define TY_GAME_API 3

/* Limits of a game. */
enum {
    TY_FORMS_MAX = 40,    /* forms of actions of a game */
    TY_ANSWERS_MAX = 16,  /* words of 64 answers: TY_ACTIONS_MAX bits */
    TY_POOL_SIZE = 32768, /* bytes of all names that come from files */
};

/* ---- Names ----------------------------------------------------------------------------------- */

/* A list of things that have names: the trains of a board, the colours of cards, the questions of a
 * turn. Actions, labels, outcomes of chance and events are named by such lists. A list is given in
 * one of three ways: as words, as names kept in the game's tables (TY_NAMES_KEPT), or by functions.
 */
typedef struct TyNames {
    const char *const *words; /* NULL-terminated */

    bool kept;         /* in a TyNamePool of the tables, which stands at `pool_at`: */
    uint32_t list_at;  /* where the tables have the list of offsets into it (uint16_t), */
    uint32_t count_at; /* and their number (uint8_t) */
    uint32_t pool_at;

    uint32_t (*count)(const TyRuleset *ruleset);
    /* Writes the name of item `index`, which is below the count. Writing nothing says that the item
     * cannot occur (a face that a die does not have). */
    void (*write)(const TyRuleset *ruleset, uint32_t index, TyText *out);

    /* What people call the items, where that differs from their names: as words, as offsets in the
     * tables of kept names (0: none), or by a function that may write nothing. NULL and 0: their
     * names. */
    const char *const *titles;
    uint32_t titles_at;
    void (*title)(const TyRuleset *ruleset, uint32_t index, TyText *out);

    /* Writes the item into JSON, where more than its name is wanted there; NULL: its name. */
    void (*json)(const TyRuleset *ruleset, uint32_t index, const char *key, TyJson *out);
    const char *none; /* the name of "none" where a value may be none; NULL: "none" */
} TyNames;

/* A TyNames of names that came from a file. Member `pool` of the struct Tables holds the names,
 * `list` their offsets in it, and the byte `number` how many there are.
 *
 *     static const TyNames cities = TY_NAMES_KEPT(Tables, city_names, city_count, names); */
#define TY_NAMES_KEPT(Tables, list, number, pool)                                                  \
    {.kept = true,                                                                                 \
     .list_at = (uint32_t)offsetof(Tables, list),                                                  \
     .count_at = (uint32_t)offsetof(Tables, number),                                               \
     .pool_at = (uint32_t)offsetof(Tables, pool)}
/* The same with the offsets of their titles in `titles_`. */
#define TY_NAMES_TITLED(Tables, list, titles_, number, pool)                                       \
    {.kept = true,                                                                                 \
     .list_at = (uint32_t)offsetof(Tables, list),                                                  \
     .count_at = (uint32_t)offsetof(Tables, number),                                               \
     .pool_at = (uint32_t)offsetof(Tables, pool),                                                  \
     .titles_at = (uint32_t)offsetof(Tables, titles_)}

/* The seats, counted from the observer: "seat +0" is its own. */
TY_API extern const TyNames ty_seats;

/* How many items a list has in this ruleset. */
TY_API uint32_t ty_names_count(const TyNames *names, const TyRuleset *ruleset);
/* Appends the name of item `index`, which is below the count, to `out`. */
TY_API void ty_names_write(const TyNames *names, const TyRuleset *ruleset, uint32_t index,
                           TyText *out);
/* Appends what people call item `index`: its title, or its name where it has none. */
TY_API void ty_names_title(const TyNames *names, const TyRuleset *ruleset, uint32_t index,
                           TyText *out);

/* Names from files, one after the other, each with its NUL. Offset 0 is the empty name. */
typedef struct TyNamePool {
    uint16_t size;
    char bytes[TY_POOL_SIZE];
} TyNamePool;

/* ---- Tables of a game ------------------------------------------------------------------------ */

/* A built-in board, map or deck: JSON text inside the binary. */
typedef struct TyFile {
    const char *name;
    const char *bytes;
    size_t size;
} TyFile;

typedef struct TyFileField TyFileField;

/* How difficult a generated file is to play on. */
typedef enum TyLevel {
    TY_LEVEL_NORMAL,
    TY_LEVEL_EASY,
    TY_LEVEL_HARD,
} TyLevel;

/* "normal", "easy", "hard", NULL. */
TY_API extern const char *const ty_level_names[];

/* What a generated file depends on: KEY=gen:SEED, and behind it -SIZE, -LEVEL or both. */
typedef struct TyOrder {
    uint64_t seed;
    uint32_t size;
    TyLevel level;
} TyOrder;

/* A file-valued setting: the word that its files carry under "format", and the built-in files in
 * the order of the setting's `choices`. */
struct TyFileField {
    const char *key;
    const char *format;
    const char *title; /* "convoi board" */
    const TyFile *const *files;
    /* Writes a file of any seed and level and of a size within the bounds, as snprintf does: at
     * most TY_GENERATED_MAX bytes, valid always, and the same bytes everywhere. All files of one
     * size and level have the same rows and actions. NULL: files of this setting are not generated.
     */
    size_t (*generate)(const TyFileField *field, TyOrder order, char *out, size_t size);
    uint32_t size_standard;
    uint32_t size_minimum;
    uint32_t size_maximum;
};

/* Bytes of a generated file. */
enum { TY_GENERATED_MAX = 1 << 16 };

/* A source of chance, and the names of what can come out of it. */
typedef struct TyStream {
    const char *name;
    const TyNames *outcomes;
} TyStream;

/* Actions that share a verb: one per item, called "verb item", or a single one. The first form of
 * every game is {"wait"}: what a seat that is not to act answers, and no other. Actions are
 * numbered through in the order of the forms. */
typedef struct TyActionForm {
    const char *verb;
    const TyNames *items; /* NULL: one action, called by the verb alone */
    const char *help;     /* what it does and when, for people: a sentence without its full stop */
    /* Where there are many: the choices are told by their names alone, those that begin with the
     * same word (`switch bruxelles ...`) in one line. */
    bool brief;
    bool aside; /* the question stays after it: told behind the choices that answer it */
} TyActionForm;

/* How the kit fills a block of the row. */
typedef enum TyShow {
    TY_SHOW_BY_GAME, /* it does not: the game's `observe` does */
    TY_SHOW_FIELD,   /* the bytes of the state from `field` on */
    TY_SHOW_SEAT,    /* each byte there is a seat: counted from the observer */
    TY_SHOW_OWNER,   /* each byte there is a seat plus one, 0 for none: counted the same way */
    TY_SHOW_BY_SEAT, /* bytes there belong to the seats in turn: all of them, the observer's first
                      */
    TY_SHOW_OWN,     /* the same, but only the observer's are shown: a hidden hand */
} TyShow;

/* A block of the row. Rows and columns are named by lists, which also say how many there are; the
 * values of a category are too. */
typedef struct TyBlockForm {
    const char *name;
    TyBlockKind kind;
    const TyNames *rows;                       /* NULL: one row */
    const TyNames *columns;                    /* NULL: one column */
    const TyNames *values;                     /* of a category */
    bool optional;                             /* a category in which 0 is none, v item v - 1 */
    uint16_t maximum;                          /* of counts and fractions */
    uint32_t (*maximum_of)(const TyRuleset *); /* instead, where it depends on the ruleset */
    bool (*when)(const TyRuleset *);           /* whether a ruleset has the block; NULL: always */
    uint8_t width;                             /* bytes of a value: 1 (or 0), or 2 */
    bool full;                                 /* in the privileged row only; such come last */
    TyShow show;
    uint16_t field; /* where in the state */
    const char *help;
} TyBlockForm;

/* What an argument of an event is. */
typedef enum TyArgKind {
    TY_ARG_NONE,
    TY_ARG_OWNER,  /* the seat that the event belongs to; takes none of the event's numbers */
    TY_ARG_NUMBER, /* and the others each take the next one */
    TY_ARG_FLAG,
    TY_ARG_SEAT_OR_NONE, /* seat plus one */
    TY_ARG_SEATS,        /* a bit per seat */
    TY_ARG_NAME,         /* an item of `names` */
    TY_ARG_NAME_OR_NONE, /* plus one */
} TyArgKind;

/* An argument of an event. `names` is for the kinds that name an item, and for a flag the words for
 * no and yes in sentences. */
typedef struct TyArg {
    const char *key;
    TyArgKind kind;
    const TyNames *names;
} TyArg;

/* An event: its word and arguments in JSON, and a sentence in which {key} stands for an argument,
 * {key:token} for a number and what is counted ("1 token", "2 tokens"), {who} for the event's seat,
 * {path} for its path and {end} for the last of that. The details of a secret event are for its
 * owner and for `also`; others are told `hidden`. */
typedef struct TyEventForm {
    const char *name;
    TyArg args[TY_EVENT_ARGS_MAX];
    const TyNames *path; /* of what the event's path is made; NULL: it has none */
    uint8_t owner;       /* which number of the event is the owner's seat, plus one; 0: the seat
                            whose turn it is */
    uint8_t also;        /* the same for another seat that knows the details; 0: there is none */
    bool (*secret)(const TyRuleset *); /* NULL: never */
    const char *sentence;
    const char *hidden;
} TyEventForm;

/* The two nodes that an edge joins. */
typedef struct TyEdge {
    uint16_t a;
    uint16_t b;
} TyEdge;

/* A list whose items stand on the board: item i on node, or edge, at(i). Blocks that have the list
 * as rows, columns or values are then features of nodes or edges. */
typedef struct TyAnchor {
    const TyNames *names;
    bool edge;
    uint32_t (*at)(const TyRuleset *ruleset, uint32_t item); /* NULL: i itself */
} TyAnchor;

/* The board as a graph, for drawings, planners and graph networks, and in words. */
typedef struct TyBoard {
    uint32_t (*node_count)(const TyRuleset *ruleset);
    uint32_t (*edge_count)(const TyRuleset *ruleset);
    TyEdge (*ends)(const TyRuleset *ruleset, uint32_t edge);
    /* Write the members of a JSON object: of a node `id`, `title`, `kind`, `x` and `y` in
     * thousandths (if the board has a layout) and what else it has; of an edge `id`, `length` and
     * what else it has. Its ends `a` and `b` are there already. */
    void (*node)(const TyRuleset *ruleset, uint32_t node, TyJson *out);
    void (*edge)(const TyRuleset *ruleset, uint32_t edge, TyJson *out);
    const TyAnchor *anchors; /* ends with NULL names */
    /* Writes what a player looks up on the board, for ty_rules_text. NULL: nothing. */
    void (*text)(const TyRuleset *ruleset, TyText *out);
} TyBoard;

/* True: for `secret` and `when`. */
TY_API bool ty_always(const TyRuleset *ruleset);

/* A field of the state: `count` unsigned numbers of `size` bytes (1, 2, 4 or 8), none above
 * `maximum` (0: whatever fits). Together the fields cover the state behind head and answers. The
 * size of a state is a multiple of 8: round the last array up; bytes that nothing uses stay 0.
 *
 * A `derived` field follows from the others and is kept because computing it is dear. It is no part
 * of the hash, and the game's `check` compares it with what it has to be. */
typedef struct TyStateField {
    uint16_t at;
    uint16_t size;
    uint16_t count;
    bool derived;
    uint64_t maximum;
} TyStateField;

/* A TyStateField for `member` of the struct State: a number of the type `Type`, or an array of
 * them.
 *
 *     static const TyStateField fields[] = {TY_FIELD(State, uint8_t, cells, 2), {0}}; */
#define TY_FIELD(State, Type, member, maximum_)                                                    \
    {(uint16_t)offsetof(State, member), (uint16_t)sizeof(Type),                                    \
     (uint16_t)(sizeof(((State *)0)->member) / (sizeof(Type))), false, (maximum_)}
/* The same for a derived field. */
#define TY_FIELD_DERIVED(State, Type, member, maximum_)                                            \
    {(uint16_t)offsetof(State, member), (uint16_t)sizeof(Type),                                    \
     (uint16_t)(sizeof(((State *)0)->member) / (sizeof(Type))), true, (maximum_)}

/* ---- Rulesets and steps ---------------------------------------------------------------------- */

/* A ruleset in the making or in use. The game's `build` fills `tables` and may refuse; everything
 * else is the library's, and the game reads it. */
struct TyRuleset {
    const TyGame *game;
    TyShape shape;
    int32_t config[TY_FIELDS_MAX]; /* values of the game's fields, in their order */
    bool ask_forced;               /* questions with a single answer are asked too */
    bool chance_seat;
    bool earns;                 /* the game's `earn` is called */
    uint32_t game_action_count; /* without those of a chance seat */
    uint32_t game_state_size;
    uint32_t game_row_size;
    uint32_t game_block_count;
    uint16_t action_first[TY_FORMS_MAX + 1]; /* by form; behind the last, their number */
    uint8_t action_form[TY_ACTIONS_MAX];     /* by action: its form */
    uint16_t block_at[TY_BLOCKS_MAX];        /* by form of block: its offset in the row */
    uint8_t block_form[TY_BLOCKS_MAX];       /* by block: its form */
    TyBlock row_blocks[TY_BLOCKS_MAX];
    TyBlock full_blocks[TY_BLOCKS_MAX];
    const char *stream_names[TY_STREAMS_MAX + 1];
    char spec[TY_SPEC_MAX];
    char note[TY_MESSAGE_MAX];
    void *tables;
    char *file_bytes[TY_FILES_MAX]; /* of the user's own files; NULL for built-in ones */
    size_t file_size[TY_FILES_MAX];
    struct AgentTables *agent_tables; /* what agents made of it: see ty_agent_tables */
};

/* A drawing being written: see kit/svg.h. */
typedef struct TySvg TySvg;

/* A step, or the set-up, being played. */
typedef struct TyPlay {
    const TyRuleset *ruleset;
    void *state;
    TyTape *tape;    /* NULL: no listener, and chance comes from the generator */
    int32_t *reward; /* what each seat earns, in 1/64: add to it. Lost during the set-up */
    uint8_t path_count;
    uint8_t path[TY_EVENT_PATH_MAX]; /* of the event that is told next, if its form has one; only
                                        the first `path_count` are set */
} TyPlay;

/* Draws one of `count` outcomes of `stream`: outcome i with probability weights[i] / sum of all.
 * The sum is positive and below 65,536. All chance of a game comes from here.
 *
 *     static const uint8_t die[6] = {1, 1, 1, 1, 1, 1};
 *     uint32_t face = ty_draw(play, STREAM_DIE, die, 6); */
TY_API uint32_t ty_draw(TyPlay *play, uint32_t stream, const uint8_t *weights, uint32_t count);

/* Whether events are listened to. */
static inline bool ty_listened(const TyPlay *play)
{
    return play->tape != NULL && play->tape->event != NULL;
}

/* Emits event `kind_` with the numbers that its form names. Costs one test if nobody listens.
 *
 *     TY_EVENT(play, EVENT_CLAIM, route, points); */
#define TY_EVENT(play, kind_, ...)                                                                 \
    do {                                                                                           \
        if (ty_listened(play)) {                                                                   \
            ty_tell((play), (TyEvent){.kind = (kind_), .stream = -1, .args = {__VA_ARGS__}});      \
        }                                                                                          \
    } while (0)
/* The same for an event that a draw decided. */
#define TY_EVENT_CHANCE(play, kind_, stream_, outcome_, ...)                                       \
    do {                                                                                           \
        if (ty_listened(play)) {                                                                   \
            ty_tell((play), (TyEvent){.kind = (kind_),                                             \
                                      .stream = (int8_t)(stream_),                                 \
                                      .outcome = (uint16_t)(outcome_),                             \
                                      .args = {__VA_ARGS__}});                                     \
        }                                                                                          \
    } while (0)
/* Sends `event` to the tape, with the play's path; TY_EVENT calls it. */
TY_API void ty_tell(TyPlay *play, TyEvent event);

/* Ends the episode; `truncated` if a cap was reached before the end of the game. */
static inline void ty_end(TyPlay *play, bool truncated)
{
    TyHead *head = (TyHead *)play->state;
    head->over = 1;
    head->truncated = truncated;
    head->seat = -1;
}

/* An action as an entry of the game's table: item `item` of form `form`. */
typedef struct TyChoice {
    uint32_t form;
    uint32_t item;
} TyChoice;

/* The form and item of `action`, which is below the game's number of actions. */
static inline TyChoice ty_choice(const TyRuleset *ruleset, uint32_t action)
{
    uint32_t form = ruleset->action_form[action];
    return (TyChoice){.form = form, .item = action - ruleset->action_first[form]};
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* The answers of a state. Every state begins with its head and then `uint64_t answers[N]`, where N
 * is the game's `answer_words`: bit a is set if action a is legal now. The kit maintains them. */
static inline uint64_t *ty_answers(void *state)
{
    return (uint64_t *)(void *)((uint8_t *)state + sizeof(TyHead));
}

/* The same for a constant state. */
static inline const uint64_t *ty_answers_of(const void *state)
{
    return (const uint64_t *)(const void *)((const uint8_t *)state + sizeof(TyHead));
}

/* Whether `action` is among the answers. */
static inline bool ty_answers_have(const uint64_t *answers, uint32_t action)
{
    return answers[action >> 6] >> (action & 63) & 1;
}

/* Adds `action` to the answers. */
static inline void ty_answers_add(uint64_t *answers, uint32_t action)
{
    answers[action >> 6] |= UINT64_C(1) << (action & 63);
}

/* Adds answer `first` + i for each bit i that is set. */
static inline void ty_answers_bits(uint64_t *answers, uint32_t first, uint64_t bits)
{
    uint32_t word = first >> 6;
    uint32_t shift = first & 63;
    answers[word] |= bits << shift;
    if (shift != 0 && bits >> (64 - shift) != 0) {
        answers[word + 1] |= bits >> (64 - shift);
    }
}

/* ---- The game -------------------------------------------------------------------------------- */

/* A game: its tables and its rules. Constant, and alive as long as the process.
 *
 *     static const TyGame game = {.api = TY_GAME_API, .name = "tictactoe", .actions = actions,
 *                                 .apply = apply, .answers = answers};
 *     TY_PLUGIN { return ty_game_add(&game); } // examples/own_game has the rest */
struct TyGame {
    uint32_t api;     /* TY_GAME_API */
    const char *name; /* a-z 0-9 _ */
    const char *title;
    bool cooperative;       /* all players share one result */
    uint32_t rules_version; /* increases whenever any seed plays differently */
    uint32_t players;       /* if there is no field `players` that says it */
    /* Settings of its smallest ruleset, for tests and first tries ("map=tiny"), and those that
     * learners start from ("reward=score"). NULL: the standard ones. */
    const char *small;
    const char *learning;

    const TyFile *howto;  /* how to play, in plain words; NULL: there is no such page */
    const TyBoard *board; /* NULL: the game has none */
    const TyField
        *fields; /* ends with a NULL key; NULL: none. `ask_forced` and `chance` are added */
    const TyFileField *files;
    uint32_t file_count;
    const char *const
        *phases; /* the questions, by head.phase; NULL-terminated. NULL: one, "turn" */
    const TyActionForm *actions; /* ends with a NULL verb */
    const TyBlockForm *blocks;   /* ends with a NULL name */
    const TyEventForm *events;   /* ends with a NULL name; form 0 tells that the episode is over */
    const TyStream *streams;     /* ends with a NULL name; NULL: no chance */
    const char *const *metrics;  /* NULL-terminated; NULL: none */
    const TyStateField *state_fields; /* ends with size 0 */
    uint32_t state_size;
    uint32_t answer_words;
    size_t active_at; /* where the state has the seat (a byte) whose turn it is; 0: head.seat */
    size_t tables_size;

    /* Reads file number `file` into the tables, which are zero except for what earlier files set.
     * Fails with the path of the wrong field. Also called to check a single file. NULL: no files.
     */
    TyStatus (*read)(void *tables, uint32_t file, const TyDoc *doc);
    /* Completes the tables of a ruleset whose `config` is checked and whose files are read. May
     * reject combinations of valid settings, and set `earns` to false where `earn` would add
     * nothing. NULL: nothing to do. */
    TyStatus (*build)(TyRuleset *ruleset);

    /* Sets up the episode, up to its first question. The state has head.seed and is zero otherwise;
     * begin sets head.seat and head.phase. NULL: the zero state is the set-up. */
    void (*begin)(TyPlay *play);
    /* Carries out `action`, which is one of the answers, to the next question (head.seat,
     * head.phase) or to the end (ty_end). A question with a single answer is not asked: the library
     * applies that answer at once, without counting a step, unless the ruleset has ask_forced=true.
     */
    void (*apply)(TyPlay *play, uint32_t action);
    /* Adds the answers to the current question, at least one, from the rest of the state. The words
     * are zero before. Called after begin, apply and resample, never when the episode is over. */
    void (*answers)(const TyRuleset *ruleset, const void *state, uint64_t *answers);
    /* Adds the rewards of a whole step, once, after the next question is known. Also called after
     * the set-up, whose rewards are dropped. NULL: apply adds all rewards. */
    void (*earn)(TyPlay *play);

    /* Writes every byte of the row of `seat`, or with `full` of the privileged row. NULL: the kit
     * does, as the blocks say (`show`). */
    void (*observe)(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                    uint8_t *row);
    /* Writes the metrics in their order. NULL: there are none. */
    void (*measure)(const TyRuleset *ruleset, const void *state, int32_t *metrics);
    /* The first broken invariant of a state from outside, as a sentence, or NULL. Called when head,
     * fields and phase are within their ranges, for finished episodes too; the kit compares the
     * answers afterwards. Needed where apply or answers would go wrong on a state whose fields are
     * in range. NULL: there is nothing else to check. */
    const char *(*check)(const TyRuleset *ruleset, const void *state);
    /* Redeals what `seat` cannot know, by draws; the state has a new key. NULL: nothing is hidden.
     */
    void (*resample)(TyPlay *play, uint32_t seat);

    /* Writes the position as `seat` may know it, for people, and last the question that is asked.
     * The choices follow by the kit, so whatever makes them differ must be told here. NULL: the
     * row's blocks in words. */
    void (*text)(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out);
    /* Writes what legal `action` would cost or lead to here, behind its title and from nothing but
     * what the seat to act may know; "" if there is nothing to say. NULL: nothing is said. */
    void (*explain)(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out);
    /* Writes the whole state as members of a JSON object, without its braces. NULL: the blocks of
     * the privileged row. */
    void (*state_json)(const TyRuleset *ruleset, const void *state, TyJson *out);

    /* The drawing: kit/svg.h has what they write with. `draw_board` writes what is the same in
     * every position of the ruleset, `draw` the parts: always the same ones in the same order. They
     * show what ty_svg_sees allows. `style` has rules of CSS for both. NULL: the row's blocks as a
     * table.
     */
    const char *style;
    void (*draw_board)(TySvg *svg);
    void (*draw)(TySvg *svg);
};

/* Adds a game to those that the library knows. It stays the caller's and must live as long as the
 * process. Call it before other threads use the library. Fails as ty_game_check does, with
 * TY_BAD_ARGUMENT if there is a game of that name already, and with TY_LIMIT if the list is full.
 *
 *     TyStatus status = ty_game_add(&my_game);
 *     if (status.code != TY_OK) {
 *         fprintf(stderr, "%s\n", status.message);
 *     } */
TY_API TyStatus ty_game_add(const TyGame *game);

/* Defines the function that ty_load calls in a shared object. Its body adds the games and agents:
 *
 *     TY_PLUGIN
 *     {
 *         return ty_game_add(&my_game);
 *     } */
#define TY_PLUGIN                                                                                  \
    TY_API TyStatus trainyard_plugin(void);                                                        \
    TyStatus trainyard_plugin(void)

/* Checks the tables of a game, as ty_game_add does first. Names the table and the entry that is
 * wrong. */
TY_API TyStatus ty_game_check(const TyGame *game);

#ifdef __cplusplus
}
#endif
