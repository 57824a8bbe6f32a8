/* Ligne de train, Chicago: the state, its questions, its actions, its events. */
#pragma once

#include "core/bytes.h"
#include "games/chicago/chicago.h"

/* Questions, and whose they are. */
typedef enum Phase {
    PHASE_PLACE,   /* on which start space the next pawn waits */
    PHASE_TURN,    /* what to do next in the turn */
    PHASE_MOVE,    /* numbers are laid: where to, or one more number */
    PHASE_SLIDE,   /* to which seat the opposing pawn slides */
    PHASE_SOURCE,  /* which own pawn a card seats */
    PHASE_SEAT,    /* in which empty seat */
    PHASE_PAWN,    /* which opposing pawn a card is about */
    PHASE_BEG,     /* from whom, and from which pile, a card is taken */
    PHASE_REBEL,   /* the attacked seat's: let it happen, or the Rebel Passenger */
    PHASE_PENALTY, /* a blocker's: which own pawn leaves the train */
    PHASE_RESEAT,  /* the crowded seat's: where its two aisle pawns sit down */
    PHASE_OVER,
    PHASE_COUNT,
} Phase;

/* Where a player's next pawn is while it is not on the train. */
typedef enum Wait {
    WAIT_NONE,   /* there is no such pawn */
    WAIT_START,  /* on a start space, before the spinner */
    WAIT_MISSED, /* on the missed-train space of its start */
    WAIT_OPEN,   /* on its start space with the right to board */
    WAIT_COUNT,
} Wait;

enum { PILE_NUMBERS, PILE_ACTIONS };

/* Actions. Those below ACTION_CELLS are bits of `options`; behind them come, per cell of both cars,
 * `to`, and then per cell `pawn`. */
enum {
    ACTION_WAIT = 0,
    ACTION_END = 1,
    ACTION_SPIN = 2,
    ACTION_SECOND = 3, /* bring a second pawn although one is in the aisle */
    ACTION_ACCEPT = 4,
    ACTION_REBEL = 5,
    ACTION_FROM_SUPPLY = 6,
    ACTION_FROM_START = 7,
    ACTION_PLAY = 8,                                           /* + action card */
    ACTION_LAY = ACTION_PLAY + CARD_COUNT,                     /* + number card */
    ACTION_SWAP_NUMBER = ACTION_LAY + CHICAGO_NUMBERS,         /* + number card */
    ACTION_SWAP_ACTION = ACTION_SWAP_NUMBER + CHICAGO_NUMBERS, /* + action card */
    ACTION_BEG = ACTION_SWAP_ACTION + CARD_COUNT,              /* + 2 * opponent + pile */
    ACTION_PLACE = ACTION_BEG + 2 * (TY_PLAYERS_MAX - 1),      /* + start space */
    ACTION_UNUSED = ACTION_PLACE + CHICAGO_STARTS,
    ACTION_CELLS = 72,
};

/* Sources of chance. */
enum {
    STREAM_NUMBERS,
    STREAM_ACTIONS,
    STREAM_SPINNER,
    STREAM_STOLEN_NUMBER,
    STREAM_STOLEN_ACTION,
    STREAM_TILES,
    STREAM_FIRST_PLAYER,
    STREAM_COUNT,
};

/* Everything about a position. Numbers "plus one" have 0 for none. Number card `n` is blue n + 1 up
 * to 4, then red. The bytes from `phase` to `action_discard` are public and stand in the
 * observation as they stand here. */
typedef struct ChicagoState {
    TyHead head;
    uint64_t options[2]; /* what may be answered now: actions below ACTION_CELLS */
    CellSet choices;     /* cells that may be named now, for the question in `phase` */
    CellSet seated[TY_PLAYERS_MAX];
    CellSet gained; /* seats that the active player took this turn */
    uint16_t turns;
    uint16_t cards_played;
    uint16_t moves;
    uint16_t missed;
    uint16_t rebels;
    uint16_t tokens_spent;
    uint16_t penalties; /* pawns lost by penalties */
    uint16_t unused;

    uint8_t numbers[TY_PLAYERS_MAX][CHICAGO_NUMBERS];
    uint8_t actions[TY_PLAYERS_MAX][CARD_COUNT];
    uint8_t number_deck[CHICAGO_NUMBERS];
    uint8_t action_deck[CARD_COUNT];
    uint8_t stolen[TY_PLAYERS_MAX][TY_PLAYERS_MAX]; /* card that [victim] knows [thief] has, plus
                                                       one: a number, or CHICAGO_NUMBERS + action */
    uint8_t supply[TY_PLAYERS_MAX];
    uint8_t wait[TY_PLAYERS_MAX];
    uint8_t start[TY_PLAYERS_MAX]; /* of the waiting pawn, plus one */
    uint8_t aisle[TY_PLAYERS_MAX]; /* cell of the aisle pawn, plus one */
    uint8_t tokens[TY_PLAYERS_MAX];
    uint8_t skip[TY_PLAYERS_MAX];    /* will miss the next turn */
    uint8_t blocked[TY_PLAYERS_MAX]; /* turns in a row without a way out */
    uint8_t active;
    uint8_t winner; /* plus one */
    uint8_t target; /* seat that is attacked or asked, plus one */
    uint8_t owing;  /* bit per seat that still has to pay for blocking */

    uint8_t phase;
    uint8_t backward; /* turns go anticlockwise */
    uint8_t tile[CHICAGO_CARS];
    uint8_t passes;   /* bought for this move */
    uint8_t bonus;    /* spaces of Advanced Movement cards */
    uint8_t points;   /* spaces of the move, once numbers are laid */
    uint8_t laid;     /* number cards laid */
    uint8_t colour;   /* of the first one, plus one */
    uint8_t boarded;  /* a U-Pass was played this turn */
    uint8_t fresh;    /* the waiting pawn was placed this turn behind a seated one: no spin */
    uint8_t ending;   /* the turn is over but for placing a pawn */
    uint8_t rebelled; /* a Rebel Passenger was played for the move: only the move is left */
    uint8_t card;     /* action card being carried out, plus one */
    uint8_t left;     /* pawns that it, or a question, is still about */
    uint8_t picked;   /* cell that it is about, plus one */
    uint8_t source;   /* pawn that it seats: 1 supply, 2 start space */
    uint8_t pile;     /* from which a card is taken */
    uint8_t number_discard[CHICAGO_NUMBERS];
    uint8_t action_discard[CARD_COUNT];
    uint8_t padding[2];
} ChicagoState;

/* The public run of bytes. */
#define CHICAGO_PUBLIC_OFFSET offsetof(ChicagoState, phase)
#define CHICAGO_PUBLIC_SIZE (offsetof(ChicagoState, padding) - CHICAGO_PUBLIC_OFFSET)

_Static_assert(sizeof(ChicagoState) % 8 == 0, "a state is a whole number of words");
_Static_assert(sizeof(ChicagoState) <= 1024, "a state has at most 1 KiB");

/* A step being played: the position and what it is played by. */
typedef struct Play {
    const ChicagoTables *tables;
    ChicagoState *state;
    TyTape *tape;
} Play;

/* Why pawns leave the train. */
typedef enum Leave {
    LEAVE_EXIT,     /* an Exit card */
    LEAVE_SECOND,   /* a second own pawn on the way (ruling C6) */
    LEAVE_CROWDING, /* an opponent was given a second aisle pawn (ruling C7) */
    LEAVE_BLOCKING, /* the way was blocked too long (ruling C15) */
} Leave;

/* Events; the arguments in order. Cells and start spaces are places: cells, then start spaces. */
typedef enum ChicagoEvent {
    EVENT_END = TY_EVENT_END, /* winner plus one */
    EVENT_TILE,               /* car, tile */
    EVENT_FIRST_PLAYER,       /* seat */
    EVENT_DRAW,               /* seat, pile, card */
    EVENT_RESHUFFLE,          /* pile */
    EVENT_TURN,               /* turn, seat */
    EVENT_SKIP,               /* seat: its turn is missed */
    EVENT_PLACE,              /* seat, place: a pawn from the supply waits there */
    EVENT_SPIN,               /* seat, open */
    EVENT_BOARD,              /* seat, place: the waiting pawn may board */
    EVENT_MISSED,             /* seat, place: it missed the train */
    EVENT_PLAY,               /* seat, action card */
    EVENT_EXPRESS,            /* seat that will miss its turn */
    EVENT_REVERSE,            /* backward */
    EVENT_TOKEN,              /* seat, tokens */
    EVENT_SWAP,               /* seat, pile, card, tokens left */
    EVENT_LAY,                /* seat, number card */
    EVENT_MOVE,               /* seat, from place, to place, counted spaces; the path */
    EVENT_SLIDE,              /* seat whose pawn it is, from cell, to cell */
    EVENT_SEAT,               /* seat, from (1 supply, 2 start space, 3 aisle), cell */
    EVENT_ATTACK,             /* seat attacked, action card, cell plus one */
    EVENT_REBEL,              /* seat that cancels, action card */
    EVENT_DISPLACE,           /* seat, from cell, to aisle cell */
    EVENT_STEAL,              /* thief, victim, pile, card */
    EVENT_LEAVE,              /* seat, place, reason */
    EVENT_BLOCKED,            /* seat, turns in a row */
} ChicagoEvent;

/* An event without chance, and one that draw `outcome` of `stream` decided. */
#define EVENT(play, kind_, ...)                                                                    \
    do {                                                                                           \
        if ((play)->tape != NULL && (play)->tape->event != NULL) {                                 \
            chicago_play_tell((play),                                                              \
                              (TyEvent){.kind = (kind_), .stream = -1, .args = {__VA_ARGS__}});    \
        }                                                                                          \
    } while (0)
#define EVENT_CHANCE(play, kind_, stream_, outcome_, ...)                                          \
    do {                                                                                           \
        if ((play)->tape != NULL && (play)->tape->event != NULL) {                                 \
            chicago_play_tell((play), (TyEvent){.kind = (kind_),                                   \
                                                .stream = (int8_t)(stream_),                       \
                                                .outcome = (uint16_t)(outcome_),                   \
                                                .args = {__VA_ARGS__}});                           \
        }                                                                                          \
    } while (0)
void chicago_play_tell(Play *play, TyEvent event);

static inline const ChicagoTables *chicago_tables(const TyRuleset *ruleset)
{
    return ruleset->tables;
}

static inline const ChicagoTrain *state_train(const ChicagoTables *tables,
                                              const ChicagoState *state)
{
    return &tables->trains[state->tile[0] * CHICAGO_TILES_MAX + state->tile[1]];
}

/* How many cards there are in all; below 256. Eight counts are added by one product. */
static inline uint32_t cards_count(const uint8_t *counts, uint32_t count)
{
    uint32_t total = 0;
    uint32_t at = 0;
    for (; at + 8 <= count; at += 8) {
        total += (uint32_t)((load_le64(counts + at) * 0x0101010101010101u) >> 56);
    }
    for (; at < count; at++) {
        total += counts[at];
    }
    return total;
}

/* ---- Players and pawns ------------------------------------------------------------------------
 */

/* The seat that comes `steps` places behind `seat` in the order of the seats. */
static inline uint8_t seat_after(const ChicagoTables *tables, uint32_t seat, uint32_t steps)
{
    uint32_t next = seat + steps;
    return (uint8_t)(next < tables->player_count ? next : next - tables->player_count);
}

/* The next opponent in the direction of play whose turn is not skipped (ruling C9); CHICAGO_NONE if
 * there is none. */
uint8_t chicago_next_opponent(const ChicagoTables *tables, const ChicagoState *state);
/* Whose answer the question needs. */
uint8_t chicago_asked_seat(const ChicagoState *state);
/* Seats that nobody sits in. */
CellSet chicago_seats_free(const ChicagoTables *tables, const ChicagoState *state);
/* The aisle cell of the column in which `cell` lies (ruling C8). */
uint8_t chicago_aisle_cell(const ChicagoTables *tables, uint8_t cell);
/* Whether `seat` has a pawn that it may move now: in the aisle, or with open doors. */
bool chicago_pawn_movable(const ChicagoState *state, uint8_t seat);
/* How that pawn meets the train; `opponents` has a bit for each seat whose aisle pawn counts. */
Way chicago_pawn_way(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat,
                     uint32_t opponents);
/* Seats next to `cell` to which the pawn in it can slide (ruling C14). */
CellSet chicago_slide_targets(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell);
/* Whether the numbers in hand allow no move of `seat` past the aisle pawns of `opponents`. */
bool chicago_numbers_stuck(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat,
                           uint32_t opponents);
/* Seated pawns that an Eccentric Passenger or a Take a Seat of the active player may aim at. */
CellSet chicago_attack_targets(const ChicagoTables *tables, const ChicagoState *state);
/* Whose pawn sits in `cell`; CHICAGO_NONE if nobody's. */
uint8_t chicago_seated_owner(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell);

/* ---- The parts of a step ----------------------------------------------------------------------
 */

/* Asks a question: sets phase, seat to act and what may be answered (legal.c). */
void chicago_ask(Play *play, Phase phase);
/* What may be answered in this position, from its phase and the rest of it. */
void chicago_options_compute(const ChicagoTables *tables, ChicagoState *state);
bool chicago_action_allowed(const ChicagoTables *tables, const ChicagoState *state,
                            uint32_t action);
/* True if there is just one answer; it is in `action`. */
bool chicago_action_forced(const ChicagoTables *tables, const ChicagoState *state,
                           uint32_t *action);

/* Cards (deck.c). */
void chicago_deal_hand(Play *play, uint8_t seat);
void chicago_number_discard(Play *play, uint8_t seat, uint8_t number);
void chicago_action_discard(Play *play, uint8_t seat, uint8_t card);
/* A discard token: one card goes, another of the same pile comes (ruling C17). */
void chicago_card_swap(Play *play, uint8_t seat, uint8_t pile, uint8_t card);
/* The thief takes a random card of the target's pile, which is refilled at once (ruling C12). */
void chicago_card_steal(Play *play);

/* The turn (turn.c). */
void chicago_turn_begin(Play *play);
void chicago_turn_end(Play *play);
/* Goes on behind something that seated a pawn or emptied a start space: the next pawn is placed if
 * one must be (ruling C5), then the turn continues, or ends if it is ending. */
void chicago_turn_continue(Play *play);
/* A pawn of `seat`, taken from where it was already, sits down; true if that wins the game. */
bool chicago_pawn_seat(Play *play, uint8_t seat, uint8_t cell);
/* A seated pawn of `seat` goes back to the supply. */
void chicago_pawn_leave(Play *play, uint8_t seat, uint8_t cell, Leave why);
void chicago_episode_end(Play *play, uint8_t winner, bool truncated);
void chicago_action_apply(Play *play, uint32_t action);
/* The waiting pawn gets the right to board, or is the second on the way (rulings C4 and C6). */
void chicago_pawn_board(Play *play);
/* What each player earns by the end of the episode (game.c). */
void chicago_reward(const ChicagoTables *tables, const ChicagoState *state, int32_t *reward);

/* Moving and action cards (move.c, cards.c). */
void chicago_number_lay(Play *play, uint8_t number);
void chicago_pawn_move(Play *play, uint8_t cell);
void chicago_pawn_slide(Play *play, uint8_t cell);
void chicago_card_play(Play *play, uint8_t card);
void chicago_card_seat(Play *play, uint8_t cell);
void chicago_card_source(Play *play, uint8_t source);
void chicago_card_pawn(Play *play, uint8_t cell);
void chicago_card_beg(Play *play, uint8_t opponent, uint8_t pile);
void chicago_attack_answer(Play *play, bool cancelled);
void chicago_pawn_reseat(Play *play, uint8_t cell);

/* ---- The parts of the game table ---------------------------------------------------------------
 */

void chicago_reset(const TyRuleset *ruleset, void *state, TyTape *tape);
bool chicago_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                  TyTape *tape);
void chicago_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
void chicago_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *row);
void chicago_shape(TyRuleset *ruleset);
uint64_t chicago_hash(const TyRuleset *ruleset, const void *state, uint64_t hash);
const char *chicago_check(const TyRuleset *ruleset, const void *state);
void chicago_resample(const TyRuleset *ruleset, void *state, uint32_t seat);
const char *chicago_phase_name(const TyRuleset *ruleset, const void *state);
void chicago_action_name(const TyRuleset *ruleset, uint32_t action, Text *out);
void chicago_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                         uint32_t column, Text *out);
void chicago_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out);
void chicago_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out);
void chicago_text(const TyRuleset *ruleset, const void *state, uint32_t seat, Text *out);
void chicago_state_json(const TyRuleset *ruleset, const void *state, Json *out);
void chicago_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out);
