/* Convoi Express: the state, its questions, its actions, its events. */
#pragma once

#include "games/convoi/convoi.h"

/* Questions. Each belongs to the active seat. */
typedef enum Phase {
    PHASE_PLACE_CITY,   /* set-up: the green light of a city */
    PHASE_PLACE_TRACK,  /* set-up: a green light on the track */
    PHASE_PLACE_EXTRA,  /* set-up: the additional green light of the easier level */
    PHASE_PLACE_SWITCH, /* set-up: the setting of a junction */
    PHASE_CARD,         /* follow the revealed card, or the garde-voie */
    PHASE_COLOUR,       /* colour of a new train or of a multicolour symbol */
    PHASE_START,        /* roll for the start, or the agent de manoeuvre */
    PHASE_TRAIN,        /* which train moves next, or the chef de train, the cheffe de section */
    PHASE_DIE,          /* keep the roll, or the logisticien */
    PHASE_CITY,         /* stop in the city, or the gestionnaire */
    PHASE_EXIT,         /* by which exit, or stop */
    PHASE_ACTIONS,      /* which action card to play, or end the turn */
    PHASE_LIGHT_TO,     /* where the green light goes */
    PHASE_PAY,          /* with which cards */
    PHASE_OVER,
    PHASE_COUNT,
} Phase;

/* What an action card does; loading is paid with any card. */
typedef enum Act {
    ACT_SIGNAL,
    ACT_SWITCH,
    ACT_MOVE,
    ACT_LOAD,
} Act;

/* The staff of the two sides of the board, by their places on it. */
enum {
    STAFF_LOGISTICIEN = 0,
    STAFF_GESTIONNAIRE = 1,
    STAFF_CHEF_DE_TRAIN = 2,
    STAFF_GARDE_VOIE = 0,
    STAFF_AGENT_DE_MANOEUVRE = 1,
    STAFF_CHEFFE_DE_SECTION = 2,
};

/* Actions. Those below ACTION_LIGHTS are bits of `options`; behind them come, per light,
 * `light.from` and `light.to`, per city light `exit`, and per junction setting `switch`. */
enum {
    ACTION_WAIT = 0,
    ACTION_END = 1,
    ACTION_PLAY_CARD = 2,
    ACTION_KEEP = 3,
    ACTION_LOGISTICIEN = 4,
    ACTION_STOP = 5,
    ACTION_ROLL_START = 6,
    ACTION_GARDE_VOIE = 7,
    ACTION_GESTIONNAIRE = 8,
    ACTION_CHEF_DE_TRAIN = 9,
    ACTION_COLOUR = 10,                                  /* + colour */
    ACTION_MOVE = ACTION_COLOUR + CONVOI_COLOURS,        /* + train */
    ACTION_LOAD = ACTION_MOVE + CONVOI_TRAINS,           /* + train */
    ACTION_HOLD = ACTION_LOAD + CONVOI_TRAINS,           /* + train: cheffe de section */
    ACTION_PAY = ACTION_HOLD + CONVOI_TRAINS,            /* + payment */
    ACTION_PLACE_AT = ACTION_PAY + 9,                    /* + start: agent de manoeuvre */
    ACTION_LIGHTS = ACTION_PLACE_AT + CONVOI_STARTS_MAX, /* 60 */
};

/* A payment: one card (the first three) or two. */
typedef struct Payment {
    uint8_t cards[CONVOI_KINDS];
} Payment;
enum { PAYMENTS = 9 };
extern const Payment payments[PAYMENTS];

typedef enum Placement { PLACEMENT_FIRST_GAME, PLACEMENT_FREE, PLACEMENT_RANDOM } Placement;
typedef enum Starts { STARTS_DICE, STARTS_SHUFFLED, STARTS_DRAWN } Starts;
typedef enum Reward { REWARD_WIN, REWARD_DELIVERY, REWARD_SHAPED } Reward;

/* Sources of chance. */
enum {
    STREAM_INSTRUCTIONS,
    STREAM_ACTIONS,
    STREAM_START_DICE,
    STREAM_DIE, /* + colour */
    STREAM_TOKENS = STREAM_DIE + CONVOI_COLOURS,
    STREAM_LIGHTS,
    STREAM_SWITCHES,
    STREAM_FIRST_PLAYER,
    STREAM_COUNT,
};

/* Card numbers in the state. */
enum { CARD_NONE = 0, CARD_FIRST = 1, CARD_BASE = 2 /* + index in the deck */ };

/* Everything about a position. Numbers "plus one" have 0 for none. The bytes from `phase` to
 * `cargo` are public and stand in the observation as they stand here. */
typedef struct ConvoiState {
    TyHead head;
    uint64_t options; /* what may be answered now: actions below ACTION_LIGHTS */
    uint64_t choices; /* lights that may be named now, for the question in `phase` */
    uint64_t green;   /* lights with a disc */
    uint16_t turns;
    uint16_t tokens_lost;
    uint16_t cards_played;
    uint8_t set_aside;
    uint8_t collisions;
    uint8_t derailments; /* trains that ran into a start space */
    uint8_t loads;
    uint8_t trains_placed;
    uint8_t won;
    uint8_t goods_delivered;
    uint8_t active;        /* whose turn it is */
    uint8_t switches_open; /* a switch action may be chosen now */
    uint8_t unused;
    int16_t potential; /* of the shaped reward, in 1/64 */
    uint8_t hand[TY_PLAYERS_MAX][CONVOI_KINDS];
    uint8_t setting[CONVOI_JUNCTIONS_MAX];
    uint8_t seen[CONVOI_CARDS_MAX]; /* instruction cards that were revealed */
    uint8_t goods[CONVOI_CITIES_MAX];
    uint8_t delivered[CONVOI_PORTS_MAX][CONVOI_GOODS];
    uint8_t number_start[CONVOI_NUMBERS]; /* the start with number i + 2 */
    uint8_t token_spent[CONVOI_NUMBERS];  /* start tokens drawn from the stack */

    uint8_t phase;
    uint8_t card;   /* the instruction card being followed */
    uint8_t symbol; /* how many of its symbols are done */
    uint8_t clock;
    uint8_t pile;   /* instruction cards still to come */
    uint8_t bottom; /* the card known to lie at the bottom of the pile */
    uint8_t staff_used[CONVOI_STAFF];
    uint8_t crossing_on; /* the gestionnaire is at work this turn */
    uint8_t colour;      /* being placed or moved, plus one */
    uint8_t named[CONVOI_COLOURS];
    uint8_t moved[CONVOI_TRAINS]; /* by this card */
    uint8_t train;                /* moving or loading, plus one */
    uint8_t roll;
    uint8_t points;   /* left to move */
    uint8_t entry;    /* light by which a crossing train came into its city, plus one */
    uint8_t act;      /* chosen, to be paid for, plus one */
    uint8_t from;     /* its light, plus one */
    uint8_t to;       /* the light that its disc goes to, plus one */
    uint8_t junction; /* its junction, plus one; the one being placed during the set-up */
    uint8_t junction_setting;
    uint8_t deck[CONVOI_KINDS];
    uint8_t discard[CONVOI_KINDS];
    uint8_t place[CONVOI_TRAINS]; /* plus one; 0 is the depot */
    uint8_t heading[CONVOI_TRAINS];
    uint8_t cargo[CONVOI_TRAINS]; /* colour plus one */
    uint8_t padding[1];
} ConvoiState;

/* The public run of bytes. */
#define CONVOI_PUBLIC_OFFSET offsetof(ConvoiState, phase)
#define CONVOI_PUBLIC_SIZE (offsetof(ConvoiState, padding) - CONVOI_PUBLIC_OFFSET)

_Static_assert(sizeof(ConvoiState) % 8 == 0, "a state is a whole number of words");
_Static_assert(sizeof(ConvoiState) <= 1024, "a state has at most 1 KiB");

/* A step being played: the position, what it is played by, and the way of the moving train. */
typedef struct Play {
    const ConvoiTables *tables;
    ConvoiState *state;
    TyTape *tape;
    uint8_t path_count;
    uint8_t path[TY_EVENT_PATH_MAX];
} Play;

/* Why tokens are lost. */
typedef enum Loss {
    LOSS_RED_LIGHT,
    LOSS_CLOSED_SWITCH,
    LOSS_TRAIN_AHEAD,
    LOSS_CITY_OCCUPIED,
    LOSS_HEAD_ON,
    LOSS_START_REACHED,
    LOSS_START_OCCUPIED,
    LOSS_DEPOT_EMPTY,
} Loss;

/* Events; the arguments in order. */
typedef enum ConvoiEvent {
    EVENT_END = TY_EVENT_END, /* won, reason */
    EVENT_FIRST_PLAYER,       /* seat */
    EVENT_LIGHT,              /* from (plus one, 0: from the box), to */
    EVENT_SWITCH,             /* junction, setting */
    EVENT_TOKEN,              /* number, start: a shuffled start token */
    EVENT_DRAW,               /* kind: an action card */
    EVENT_RESHUFFLE,
    EVENT_TURN,       /* turn */
    EVENT_CARD,       /* card number */
    EVENT_CARD_UNDER, /* card number: put under the pile */
    EVENT_STAFF,      /* staff */
    EVENT_NAME,       /* colour named for a new train or a multicolour symbol */
    EVENT_ROLL,       /* die (colour), value */
    EVENT_ROLL_START, /* number */
    EVENT_PLACE,      /* train, start */
    EVENT_NOT_PLACED, /* colour (plus one, 0: none to be had), start, reason */
    EVENT_SKIP,       /* colour: no train of it moves */
    EVENT_HOLD,       /* train */
    EVENT_MOVE,       /* train; the path */
    EVENT_TOKENS,     /* lost, reason, clock */
    EVENT_SET_ASIDE,  /* pile, clock */
    EVENT_DELIVER,    /* train, goods, city, total */
    EVENT_DEPOT,      /* train, goods going back to their city (plus one) */
    EVENT_LOAD,       /* train, goods, city */
    EVENT_DISCARD,    /* payment */
} ConvoiEvent;

typedef enum EndReason { END_ALL_DELIVERED, END_LAST_TURN, END_CLOCK } EndReason;

/* An event without chance, and one that draw `outcome` of `stream` decided. */
#define EVENT(play, kind_, ...)                                                                    \
    do {                                                                                           \
        if ((play)->tape != NULL && (play)->tape->event != NULL) {                                 \
            play_tell((play), (TyEvent){.kind = (kind_), .stream = -1, .args = {__VA_ARGS__}});    \
        }                                                                                          \
    } while (0)
#define EVENT_CHANCE(play, kind_, stream_, outcome_, ...)                                          \
    do {                                                                                           \
        if ((play)->tape != NULL && (play)->tape->event != NULL) {                                 \
            play_tell((play), (TyEvent){.kind = (kind_),                                           \
                                        .stream = (stream_),                                       \
                                        .outcome = (uint16_t)(outcome_),                           \
                                        .args = {__VA_ARGS__}});                                   \
        }                                                                                          \
    } while (0)
void play_tell(Play *play, TyEvent event);

static inline const ConvoiTables *convoi_tables(const TyRuleset *ruleset)
{
    return ruleset->tables;
}

/* ---- Places and trains ------------------------------------------------------------------------
 */

static inline uint8_t place_city(const ConvoiTables *tables, uint8_t city)
{
    return (uint8_t)(tables->space_count + city);
}

static inline uint8_t place_start(const ConvoiTables *tables, uint8_t start)
{
    return (uint8_t)(tables->space_count + tables->city_count + start);
}

/* The city that `place` is; CONVOI_NONE if it is not one. */
static inline uint8_t city_at(const ConvoiTables *tables, uint8_t place)
{
    return place >= tables->space_count && place < tables->space_count + tables->city_count
               ? (uint8_t)(place - tables->space_count)
               : CONVOI_NONE;
}

static inline uint8_t hand_size(const uint8_t hand[CONVOI_KINDS])
{
    return (uint8_t)(hand[0] + hand[1] + hand[2]);
}

/* A hand as far as payments see it: none, one, or more of each kind. */
static inline uint32_t hand_class(const uint8_t hand[CONVOI_KINDS])
{
    uint32_t class = 0;
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        class = class * 3 + (hand[kind] < 2 ? hand[kind] : 2u);
    }
    return class;
}

static inline const Card *card_now(const ConvoiTables *tables, const ConvoiState *state)
{
    return state->card == CARD_FIRST ? &tables->first_card
                                     : &tables->cards[state->card - CARD_BASE];
}

static inline uint32_t goods_of_port(const ConvoiState *state, uint8_t port)
{
    const uint8_t *held = state->delivered[port];
    return (uint32_t)(held[0] + held[1] + held[2] + held[3]);
}

/* The train that stands on `place`, other than `mover`; CONVOI_NONE if there is none. */
uint8_t train_at(const ConvoiState *state, uint8_t place, uint8_t mover);
/* Whether `port` takes a good of `goods`, as one of its colours or as its extra good. */
bool port_takes(const ConvoiTables *tables, const ConvoiState *state, uint8_t port, uint8_t goods);
/* The leg that `setting` joins to `leg`; CONVOI_NONE if `leg` is blocked. */
uint8_t junction_other_leg(uint8_t degree, uint8_t setting, uint8_t leg);
/* Follows the line past lights and switches to the next place. Returns false, with the obstacle in
 * `why` and `link` standing at it, if a red light or a closed switch comes first. */
bool link_follow(const ConvoiTables *tables, const ConvoiState *state, Link *link, Loss *why);
uint8_t link_place(const ConvoiTables *tables, Link link);
/* What meeting `other` on the place ahead costs: LOSS_HEAD_ON, LOSS_CITY_OCCUPIED or
 * LOSS_TRAIN_AHEAD. */
Loss train_meeting(const ConvoiState *state, uint8_t other, Link link);

/* The cheapest way of a train to a city that it wants: one with goods for an empty train, a port
 * that takes its cargo for a loaded one. */
typedef struct Way {
    uint8_t cost;    /* points, and WAY_OBSTACLE for each red light and closed switch */
    uint8_t exit;    /* of the city that the train is in, plus one */
    uint8_t light;   /* the first red light on it, plus one */
    uint8_t setting; /* what the first closed switch on it is to be set to, plus one */
} Way;

enum { WAY_OBSTACLE = 3, WAY_COST_MAX = 60 };

/* The ways of all trains on the network; without `look` only their costs. */
void ways_compute(const ConvoiTables *tables, const ConvoiState *state, bool look,
                  Way ways[CONVOI_TRAINS]);

/* What lies ahead of a train, whatever it rolls. */
typedef struct Hint {
    uint8_t run;      /* points that it could use, up to the longest roll */
    uint8_t obstacle; /* what then stops it: 0 nothing, a Loss plus one, or HINT_CITY */
    uint8_t light;    /* the red light that does, plus one */
    uint8_t junction; /* the closed switch that does, plus one */
} Hint;

enum { HINT_CITY = LOSS_START_REACHED + 2 };

void hints_compute(const ConvoiTables *tables, const ConvoiState *state, Hint hints[CONVOI_TRAINS]);
/* The potential of the shaped reward. */
int16_t convoi_potential(const ConvoiTables *tables, const ConvoiState *state);

/* ---- The parts of a step ----------------------------------------------------------------------
 */

/* Fills the table of payments. */
void payments_prepare(ConvoiTables *tables);
/* Asks a question: sets the phase and what may be answered (legal.c). */
void ask(Play *play, Phase phase);
/* What may be answered in this position, from its phase and the rest of it. */
void options_compute(const ConvoiTables *tables, ConvoiState *state);
bool action_allowed(const ConvoiTables *tables, const ConvoiState *state, uint32_t action);
/* True if there is just one answer; it is in `action`. */
bool action_forced(const ConvoiTables *tables, const ConvoiState *state, uint32_t *action);
/* The exits that the moving train may take: green, and not the one by which it came in. */
uint64_t train_exits(const ConvoiTables *tables, const ConvoiState *state, uint8_t train);

/* The turn (turn.c). */
void tokens_lose(Play *play, uint8_t count, Loss why);
void episode_end(Play *play, bool won, EndReason why);
void game_begin(Play *play);
void card_next(Play *play);
void action_apply(Play *play, uint32_t action);

/* Movement (move.c): each ends with a question or with train_done. */
void train_roll(Play *play, uint8_t train);
void train_reroll(Play *play);
void train_run(Play *play);
void train_exit(Play *play, uint8_t light);
void train_stop_in_city(Play *play);

/* Set-up (setup.c): places the next disc, or begins the game when all are placed. */
void setup_next(Play *play);
/* Answers questions that have a single answer, unless the ruleset asks them too. */
void play_on(Play *play);
void light_place(Play *play, uint8_t light);
void switch_place(Play *play, uint8_t setting);

/* ---- The parts of the game table ---------------------------------------------------------------
 */

void convoi_reset(const TyRuleset *ruleset, void *state, TyTape *tape);
bool convoi_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                 TyTape *tape);
void convoi_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
void convoi_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                    uint8_t *row);
void convoi_shape(TyRuleset *ruleset);
void convoi_measure(const TyRuleset *ruleset, const void *state, int32_t *metrics);
uint64_t convoi_hash(const TyRuleset *ruleset, const void *state, uint64_t hash);
const char *convoi_check(const TyRuleset *ruleset, const void *state);
void convoi_resample(const TyRuleset *ruleset, void *state, uint32_t seat);
const char *convoi_phase_name(const TyRuleset *ruleset, const void *state);
void convoi_action_name(const TyRuleset *ruleset, uint32_t action, Text *out);
void convoi_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                        uint32_t column, Text *out);
void convoi_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out);
void convoi_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out);
void convoi_text(const TyRuleset *ruleset, const void *state, uint32_t seat, Text *out);
void convoi_state_json(const TyRuleset *ruleset, const void *state, Json *out);
void convoi_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out);
