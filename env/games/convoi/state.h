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

/* Forms of actions, as in convoi_actions. */
typedef enum Form {
    FORM_WAIT,
    FORM_END,
    FORM_PLAY_CARD,
    FORM_KEEP,
    FORM_LOGISTICIEN,
    FORM_STOP,
    FORM_ROLL_START,
    FORM_GARDE_VOIE,
    FORM_GESTIONNAIRE,
    FORM_CHEF_DE_TRAIN,
    FORM_COLOUR,
    FORM_MOVE,
    FORM_LOAD,
    FORM_HOLD, /* cheffe de section */
    FORM_PAY,
    FORM_PLACE_AT, /* agent de manoeuvre */
    FORM_UNUSED,   /* starts that the board does not have */
    FORM_LIGHT_FROM,
    FORM_LIGHT_TO,
    FORM_EXIT,
    FORM_SWITCH,
} Form;

/* Blocks of the row, as in convoi_blocks. */
enum {
    BLOCK_PHASE,
    BLOCK_CARD, /* the bytes of the state from `card` on stand as they are */
    BLOCK_SYMBOL,
    BLOCK_CLOCK,
    BLOCK_PILE,
    BLOCK_BOTTOM,
    BLOCK_STAFF_USED,
    BLOCK_CROSSING_ON,
    BLOCK_COLOUR,
    BLOCK_NAMED,
    BLOCK_MOVED,
    BLOCK_TRAIN,
    BLOCK_ROLL,
    BLOCK_POINTS,
    BLOCK_ENTRY,
    BLOCK_ACT,
    BLOCK_FROM,
    BLOCK_TO,
    BLOCK_JUNCTION,
    BLOCK_JUNCTION_SETTING,
    BLOCK_DECK,
    BLOCK_DISCARD,
    BLOCK_PLACE,
    BLOCK_HEADING,
    BLOCK_CARGO,
    BLOCK_GOODS,
    BLOCK_DELIVERED,
    BLOCK_SETTING,
    BLOCK_SEEN,
    BLOCK_NUMBER_START,
    BLOCK_TOKEN_SPENT,
    BLOCK_FIRST_TOKEN,
    BLOCK_GREEN,
    BLOCK_HAND,
    BLOCK_HAND_SIZE,
    BLOCK_TURN,
    BLOCK_LINE, /* the first of the board: the bytes of its board_row stand as they are */
    BLOCK_LINE_SPACES,
    BLOCK_LIGHT_LINE,
    BLOCK_LIGHT_GAP,
    BLOCK_HOME,
    BLOCK_RUN, /* the first of the hints */
};
enum { CONVOI_HINTS = 8 };

/* A payment: one card (the first three) or two. */
typedef struct Payment {
    uint8_t cards[CONVOI_KINDS];
} Payment;
enum { PAYMENTS = 9 };
extern const Payment payments[PAYMENTS];

enum { DIE_MAX = 5, DIE_FACES = 6 };
/* Faces of each colour's die, as weights of the values 0..5. */
extern const uint8_t die_weights[CONVOI_COLOURS][DIE_MAX + 1];

typedef enum Placement { PLACEMENT_FIRST_GAME, PLACEMENT_FREE, PLACEMENT_RANDOM } Placement;
typedef enum Starts { STARTS_DICE, STARTS_SHUFFLED, STARTS_DRAWN } Starts;
typedef enum Reward { REWARD_WIN, REWARD_DELIVERY, REWARD_SHAPED, REWARD_PROGRESS } Reward;

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
};

/* Card numbers in the state. */
enum { CARD_NONE = 0, CARD_FIRST = 1, CARD_BASE = 2 /* + index in the deck */ };

/* 342 actions: 60, a pair for each light, one for each exit and for each setting. */
enum { CONVOI_ANSWER_WORDS = 6 };

/* Everything about a position. Numbers "plus one" have 0 for none. The bytes from `card` to `cargo`
 * are public and stand in the observation as they stand here. */
typedef struct ConvoiState {
    TyHead head;
    uint64_t answers[CONVOI_ANSWER_WORDS];
    uint64_t green;      /* lights with a disc */
    uint64_t settled[2]; /* derived: the settings that the junctions have, by their numbers */
    uint16_t turns;
    uint16_t tokens_lost;
    uint16_t cards_played;
    uint16_t potential; /* of the trains, if the reward has one, in 1/64 */
    uint8_t set_aside;
    uint8_t collisions;
    uint8_t derailments; /* trains that ran into a start space */
    uint8_t loads;
    uint8_t trains_placed;
    uint8_t won;
    uint8_t goods_delivered;
    uint8_t active; /* whose turn it is */
    uint8_t hand[TY_PLAYERS_MAX][CONVOI_KINDS];
    uint8_t setting[CONVOI_JUNCTIONS_MAX];
    uint8_t seen[CONVOI_CARDS_MAX]; /* instruction cards that were revealed */
    uint8_t goods[CONVOI_CITIES_MAX];
    uint8_t delivered[CONVOI_PORTS_MAX][CONVOI_GOODS];
    uint8_t number_start[CONVOI_NUMBERS];    /* the start with number i + 2 */
    uint8_t token_spent[CONVOI_NUMBERS];     /* start tokens drawn from the stack */
    uint8_t first_token[CONVOI_SYMBOLS_MAX]; /* token i + 2 that lies open for a new train of the
                                                first card, plus one */

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
    uint8_t noted[2]; /* during a step, 0 otherwise. The first: the network has changed, so that
                         hints and potential are to be computed again */

    /* Derived: the blocks of the hints, from BLOCK_RUN on; all 0 in rulesets without. */
    uint8_t hints[CONVOI_HINTS][CONVOI_TRAINS];
} ConvoiState;

/* The public run of bytes. */
#define CONVOI_PUBLIC_SIZE (offsetof(ConvoiState, noted) - offsetof(ConvoiState, card))

_Static_assert(sizeof(ConvoiState) % 8 == 0, "a state is a whole number of words");

/* A step being played. */
typedef struct Play {
    TyPlay *ty;
    const ConvoiTables *tables;
    ConvoiState *state;
    uint32_t only; /* the only answer to the question that was asked last, where that is known at
                      once; 0 otherwise */
} Play;

static inline const ConvoiTables *convoi_tables(const TyRuleset *ruleset)
{
    return ruleset->tables;
}

static inline Play play_of(TyPlay *ty)
{
    return (Play){.ty = ty, .tables = convoi_tables(ty->ruleset), .state = ty->state};
}

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

/* Events, as in convoi_events. */
typedef enum ConvoiEvent {
    EVENT_END = TY_EVENT_END,
    EVENT_FIRST_PLAYER,
    EVENT_LIGHT,
    EVENT_SWITCH,
    EVENT_TOKEN,       /* a shuffled start token */
    EVENT_FIRST_TOKEN, /* one that lies open for a train of the first card */
    EVENT_DRAW,        /* an action card */
    EVENT_RESHUFFLE,
    EVENT_TURN,
    EVENT_CARD,
    EVENT_CARD_UNDER, /* put under the pile */
    EVENT_STAFF,
    EVENT_NAME, /* colour named for a new train or a multicolour symbol */
    EVENT_ROLL,
    EVENT_ROLL_START,
    EVENT_PLACE,
    EVENT_NOT_PLACED,
    EVENT_SKIP, /* no train of a colour moves */
    EVENT_HOLD,
    EVENT_MOVE,
    EVENT_TOKENS,
    EVENT_SET_ASIDE,
    EVENT_DELIVER,
    EVENT_DEPOT,
    EVENT_LOAD,
    EVENT_DISCARD,
} ConvoiEvent;

typedef enum EndReason { END_ALL_DELIVERED, END_LAST_TURN, END_CLOCK } EndReason;

#define EVENT(play, ...) TY_EVENT((play)->ty, __VA_ARGS__)
#define EVENT_CHANCE(play, ...) TY_EVENT_CHANCE((play)->ty, __VA_ARGS__)

/* ---- Names (names.c) --------------------------------------------------------------------------
 */

extern const char *const convoi_phase_words[PHASE_COUNT + 1];
extern const TyNames convoi_phases;
extern const TyNames convoi_colours;
extern const TyNames convoi_trains;
extern const TyNames convoi_goods;
extern const TyNames convoi_kinds;
extern const TyNames convoi_acts;
extern const TyNames convoi_payments;
extern const TyNames convoi_staff;
extern const TyNames convoi_losses;
extern const TyNames convoi_obstacles; /* of hints */
extern const TyNames convoi_cities;
extern const TyNames convoi_ports;
extern const TyNames convoi_starts;
extern const TyNames convoi_unused_starts;
extern const TyNames convoi_junctions;
extern const TyNames convoi_lights;
extern const TyNames convoi_exits;      /* the lights of the cities */
extern const TyNames convoi_places;     /* as the state numbers them */
extern const TyNames convoi_settings;   /* of all junctions: "west paris+calais" */
extern const TyNames convoi_open_legs;  /* the same: "paris+calais" */
extern const TyNames convoi_setting;    /* of one junction: "0" */
extern const TyNames convoi_cards;      /* as the state numbers them */
extern const TyNames convoi_deck_cards; /* as the deck numbers them */
extern const TyNames convoi_seats;
extern const TyNames convoi_numbers;      /* of starts, from "2" on */
extern const TyNames convoi_first_trains; /* new trains of the first card */
extern const TyNames convoi_start_dice;   /* by what they show together */
extern const TyNames convoi_dice[CONVOI_COLOURS];
extern const TyNames convoi_start_draws; /* how a start number comes up */
extern const TyNames convoi_results;
extern const TyNames convoi_segments;
extern const TyNames convoi_line_ends; /* cities, then starts, then junctions */
extern const TyNames convoi_line_sides;
extern const TyNames convoi_ends; /* why an episode is over */

extern const TyBoard convoi_board;
extern const TyBlockForm convoi_blocks[];
extern const TyEventForm convoi_events[];

/* ---- Switches ---------------------------------------------------------------------------------
 */

/* Adds the setting of a junction to those that are, or takes it away. */
static inline void setting_flip(const ConvoiTables *tables, ConvoiState *state, uint8_t junction)
{
    uint32_t number = (uint32_t)tables->setting_first[junction] + state->setting[junction];
    state->settled[number / 64] ^= UINT64_C(1) << number % 64;
}

static inline void setting_set(const ConvoiTables *tables, ConvoiState *state, uint8_t junction,
                               uint8_t setting)
{
    setting_flip(tables, state, junction);
    state->setting[junction] = setting;
    setting_flip(tables, state, junction);
}

/* Notes the settings of all junctions. */
static inline void settings_note(const ConvoiTables *tables, ConvoiState *state)
{
    state->settled[0] = 0;
    state->settled[1] = 0;
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        setting_flip(tables, state, i);
    }
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

/* The payments that `hand` has for `act`, as bits. */
static inline uint32_t payments_for(const ConvoiTables *tables, Act act,
                                    const uint8_t hand[CONVOI_KINDS])
{
    return tables->pay_options[act][hand_class(hand)];
}

/* The card of number `card`, which is not CARD_NONE. */
static inline const Card *card_of(const ConvoiTables *tables, uint32_t card)
{
    return card == CARD_FIRST ? &tables->first_card : &tables->cards[card - CARD_BASE];
}

static inline const Card *card_now(const ConvoiTables *tables, const ConvoiState *state)
{
    return card_of(tables, state->card);
}

static inline uint32_t goods_of_port(const ConvoiState *state, uint8_t port)
{
    const uint8_t *held = state->delivered[port];
    return (uint32_t)(held[0] + held[1] + held[2] + held[3]);
}

/* The train that stands on `place`, other than `mover`; CONVOI_NONE if there is none. */
uint8_t train_at(const ConvoiState *state, uint8_t place, uint8_t mover);
/* What lies ahead of a train that is on the track or on its start. */
Link train_link(const ConvoiTables *tables, const ConvoiState *state, uint8_t train);
/* Whether `port` takes a good of `goods`, as one of its colours or as its extra good. */
bool port_takes(const ConvoiTables *tables, const ConvoiState *state, uint8_t port, uint8_t goods);
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
/* What lies ahead of each train and on its way as blocks of the row: a byte per train. */
void hints_lay_out(const Hint hints[CONVOI_TRAINS], const Way ways[CONVOI_TRAINS],
                   uint8_t blocks[CONVOI_HINTS][CONVOI_TRAINS]);
/* Computes what is kept of the network: the hints, and the potential of the trains. */
typedef struct Kept {
    uint8_t hints[CONVOI_HINTS][CONVOI_TRAINS];
    uint16_t potential;
} Kept;
Kept network_look(const ConvoiTables *tables, const ConvoiState *state);

/* ---- Answers (answers.c) ----------------------------------------------------------------------
 */

/* Fills the edges of the board's graph (graph.c). */
void convoi_make_edges(ConvoiTables *tables);
/* Fills the table of payments. */
void payments_prepare(ConvoiTables *tables);
/* Colours that the current symbol of the card may mean, as bits. */
uint64_t colours_open(const ConvoiTables *tables, const ConvoiState *state);
/* The trains of the colour in turn that still have to move, as bits. */
uint64_t trains_to_move(const ConvoiState *state);
/* Whether the staff can hold a train of the colour in turn: only before its first roll (ruling 33).
 */
bool train_holdable(const ConvoiTables *tables, const ConvoiState *state);
/* The lights of `city` by which a train may leave that came in by `entry` (plus one): green, and
 * another one. */
uint64_t city_exits(const ConvoiTables *tables, const ConvoiState *state, uint8_t city,
                    uint8_t entry);
/* Where the disc of light `from` may go. */
uint64_t light_targets(const ConvoiTables *tables, const ConvoiState *state, uint8_t from);
/* The lights that may get a disc in `phase` of the set-up. */
uint64_t lights_to_place(const ConvoiTables *tables, const ConvoiState *state, Phase phase);

/* ---- The parts of a step ----------------------------------------------------------------------
 */

/* Asks a question of the active seat. */
static inline void ask(Play *play, Phase phase)
{
    play->state->head.phase = (uint8_t)phase;
}

/* Answers the question that was just asked with item `item` of `form`, which is all that can be
 * answered: what the library does too, without looking for other answers. */
static inline void answer_only(Play *play, Form form, uint32_t item)
{
    const TyRuleset *ruleset = play->ty->ruleset;
    play->only = ruleset->ask_forced ? 0 : ruleset->action_first[form] + item;
}

/* To be called where lights, switches, trains or goods change: what a ruleset keeps of them is
 * computed again at the end of the step. The set-up need not: without trains all of it is 0. */
static inline void network_change(Play *play)
{
    play->state->noted[0] = play->ty->ruleset->earns;
}

/* Rewards (game.c): what a good delivered is worth, and giving it to the whole team; in 1/64. */
int32_t delivery_reward(const ConvoiTables *tables);
void team_earn(Play *play, int32_t reward);

/* The turn (turn.c). */
void tokens_lose(Play *play, uint8_t count, Loss why);
void episode_end(Play *play, bool won, EndReason why);
void game_begin(Play *play);
/* Draws a start token from the stack, which is made of all of them when it is empty. */
uint32_t token_draw(Play *play);
void card_next(Play *play);
/* Asks which action card to play, after one was played. */
void actions_ask(Play *play);

/* Movement (move.c): each ends with a question or with train_done. */
void train_roll(Play *play, uint8_t train);
void train_reroll(Play *play);
void train_run(Play *play);
void train_exit(Play *play, uint8_t light);
void train_done(Play *play);
/* Back to the depot; what the train carried goes back to its city. */
void train_to_depot(Play *play, uint8_t train);
/* Unloads the train's good in the port of `city`, which takes it. */
void train_unload(Play *play, uint8_t train, uint8_t city);

/* Set-up (setup.c): places the next disc, or begins the game when all are placed. */
void setup_next(Play *play);
void light_place(Play *play, uint8_t light);
void switch_place(Play *play, uint8_t setting);

/* ---- The parts of the game table ---------------------------------------------------------------
 */

void convoi_begin(TyPlay *play);
void convoi_apply(TyPlay *play, uint32_t action);
void convoi_answers(const TyRuleset *ruleset, const void *state, uint64_t *answers);
void convoi_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                    uint8_t *row);
const char *convoi_check(const TyRuleset *ruleset, const void *state);
void convoi_resample(TyPlay *play, uint32_t seat);
void convoi_text(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out);
void convoi_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out);
extern const char convoi_style[];
void convoi_draw_board(TySvg *svg);
void convoi_draw(TySvg *svg);
void convoi_state_json(const TyRuleset *ruleset, const void *state, TyJson *out);
