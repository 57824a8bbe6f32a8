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

/* Forms of actions. */
typedef enum Form {
    FORM_WAIT,
    FORM_END,
    FORM_SPIN,
    FORM_ACCEPT,
    FORM_REBEL,
    FORM_FROM, /* source of a pawn */
    FORM_PLAY, /* action card */
    FORM_LAY,  /* number card */
    FORM_SWAP, /* card of either pile */
    FORM_BEG,  /* 2 * (opponent - 1) + pile */
    FORM_PLACE,
    FORM_TO,   /* cell, counted without gaps */
    FORM_PAWN, /* the same */
} Form;

/* Blocks of the row. Those up to BLOCK_ACTION_DISCARD are the phase and the public run of bytes of
 * the state. */
enum {
    BLOCK_PHASE,
    BLOCK_BACKWARD,
    BLOCK_TILE,
    BLOCK_PASSES,
    BLOCK_BONUS,
    BLOCK_POINTS,
    BLOCK_LAID,
    BLOCK_COLOUR,
    BLOCK_BOARDED,
    BLOCK_FRESH,
    BLOCK_ENDING,
    BLOCK_REBELLED,
    BLOCK_CARD,
    BLOCK_LEFT,
    BLOCK_PICKED,
    BLOCK_SOURCE,
    BLOCK_PILE,
    BLOCK_NUMBER_DISCARD,
    BLOCK_ACTION_DISCARD,
    BLOCK_KIND, /* per cell, as the next */
    BLOCK_SITTING,
    BLOCK_TURNS,
    BLOCK_TURN,
    BLOCK_TARGET,
    BLOCK_OWING, /* per seat, as the following up to BLOCK_STOLEN */
    BLOCK_SUPPLY,
    BLOCK_SEATED,
    BLOCK_WAIT,
    BLOCK_START,
    BLOCK_AISLE,
    BLOCK_TOKENS,
    BLOCK_SKIP,
    BLOCK_BLOCKED,
    BLOCK_NUMBER_COUNT,
    BLOCK_ACTION_COUNT,
    BLOCK_STOLEN,
    BLOCK_NUMBERS, /* the own hand */
    BLOCK_ACTIONS,
    BLOCK_UNSEEN_NUMBERS,
    BLOCK_UNSEEN_ACTIONS,
    BLOCK_PILE_SIZES,
    BLOCK_ALL_NUMBERS, /* the rest only in the privileged row */
    BLOCK_ALL_ACTIONS,
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

enum {
    CHICAGO_ACTIONS_MAX = 69 + 2 * CHICAGO_CARS * CHICAGO_CELLS_MAX,
    CHICAGO_ANSWER_WORDS = (CHICAGO_ACTIONS_MAX + 63) / 64,
};

/* Everything about a position. Numbers "plus one" have 0 for none. Number card `n` is blue n + 1 up
 * to 4, then red. The bytes from `backward` to `action_discard` are public and stand in the
 * observation as they stand here. */
typedef struct ChicagoState {
    TyHead head;
    uint64_t answers[CHICAGO_ANSWER_WORDS];
    CellSet seated[TY_PLAYERS_MAX];
    CellSet gained; /* seats that the active player took this turn */
    uint16_t turns;
    uint16_t cards_played;
    uint16_t moves;
    uint16_t missed;
    uint16_t rebels;
    uint16_t tokens_spent;
    uint16_t penalties; /* pawns lost by penalties */

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
    uint8_t unused[5];
} ChicagoState;

/* The public run of bytes. */
#define CHICAGO_PUBLIC_OFFSET offsetof(ChicagoState, backward)
#define CHICAGO_PUBLIC_SIZE (offsetof(ChicagoState, unused) - CHICAGO_PUBLIC_OFFSET)

_Static_assert(sizeof(ChicagoState) % 8 == 0, "a state is a whole number of words");
_Static_assert(sizeof(ChicagoState) <= 1024, "a state has at most 1 KiB");

/* A step being played, with the tables and the state as this game has them. */
typedef struct Play {
    TyPlay *ty;
    const ChicagoTables *tables;
    ChicagoState *state;
} Play;

/* Why pawns leave the train. */
typedef enum Leave {
    LEAVE_EXIT,     /* an Exit card */
    LEAVE_CROWDING, /* an opponent was given a second aisle pawn (ruling C7) */
    LEAVE_BLOCKING, /* the way was blocked too long (ruling C15) */
} Leave;

/* Events; events.c has their arguments. */
typedef enum ChicagoEvent {
    EVENT_END = TY_EVENT_END,
    EVENT_TILE,
    EVENT_FIRST_PLAYER,
    EVENT_DRAW,
    EVENT_RESHUFFLE,
    EVENT_TURN,
    EVENT_SKIP,
    EVENT_PLACE,
    EVENT_SPIN,
    EVENT_BOARD,
    EVENT_MISSED,
    EVENT_PLAY,
    EVENT_EXPRESS,
    EVENT_REVERSE,
    EVENT_TOKEN,
    EVENT_SWAP,
    EVENT_LAY,
    EVENT_MOVE,
    EVENT_SLIDE,
    EVENT_SEAT,
    EVENT_ATTACK,
    EVENT_REBEL,
    EVENT_DISPLACE,
    EVENT_STEAL,
    EVENT_LEAVE,
    EVENT_BLOCKED,
} ChicagoEvent;

#define EVENT(play, ...) TY_EVENT((play)->ty, __VA_ARGS__)
#define EVENT_CHANCE(play, ...) TY_EVENT_CHANCE((play)->ty, __VA_ARGS__)

static inline const ChicagoTables *chicago_tables(const TyRuleset *ruleset)
{
    return ruleset->tables;
}

static inline const ChicagoTrain *state_train(const ChicagoTables *tables,
                                              const ChicagoState *state)
{
    return &tables->trains[state->tile[0] * CHICAGO_TILES_MAX + state->tile[1]];
}

/* The cell with this number when the cells of both cars are counted without gaps. */
static inline uint8_t cell_sparse(const ChicagoTables *tables, uint32_t index)
{
    return (uint8_t)(index < tables->cells ? index : index - tables->cells + CHICAGO_CAR);
}

/* And that number of a cell. */
static inline uint32_t cell_dense(const ChicagoTables *tables, uint32_t cell)
{
    return cell < CHICAGO_CAR ? cell : cell - CHICAGO_CAR + tables->cells;
}

/* How many cards there are in all; below 256, so that eight counts are added by one product. The
 * number of counts is even. */
static inline uint32_t cards_count(const uint8_t *counts, uint32_t count)
{
    uint64_t sums = 0;
    uint32_t at = 0;
    for (; at + 8 <= count; at += 8) {
        sums += load_le64(counts + at);
    }
    for (; at + 2 <= count; at += 2) {
        sums += load_le16(counts + at);
    }
    return bytes_sum(sums);
}

/* ---- Players and pawns ------------------------------------------------------------------------
 */

/* The seat that comes `steps` places behind `seat` in the order of the seats. */
static inline uint8_t seat_after(const ChicagoTables *tables, uint32_t seat, uint32_t steps)
{
    uint32_t next = seat + steps;
    return (uint8_t)(next < tables->player_count ? next : next - tables->player_count);
}

/* How many seats further, in the order of the seats, the player sits who is `count` turns behind
 * another one. The direction of play is as good as random, so it is not a branch. */
static inline uint32_t seat_steps(const ChicagoTables *tables, const ChicagoState *state,
                                  uint32_t count)
{
    uint32_t around = tables->player_count - 2 * count;
    return count + (uint32_t)bits_if(state->backward != 0, around);
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
/* The cells through which its smallest number would lead if no opponent stood in the aisle. */
CellSet chicago_numbers_through(const ChicagoTables *tables, const ChicagoState *state,
                                uint8_t seat);
/* Seated pawns that an Eccentric Passenger or a Take a Seat of the active player may aim at. */
CellSet chicago_attack_targets(const ChicagoTables *tables, const ChicagoState *state);
/* Whose pawn sits in `cell`; CHICAGO_NONE if nobody's. */
uint8_t chicago_seated_owner(const ChicagoTables *tables, const ChicagoState *state, uint8_t cell);

/* ---- The parts of a step ----------------------------------------------------------------------
 */

/* Asks a question: sets phase and seat to act. */
void chicago_ask(Play *play, Phase phase);

/* Cards (deck.c). */
void chicago_deal_hand(Play *play, uint8_t seat);
void chicago_number_discard(Play *play, uint8_t seat, uint8_t number);
void chicago_action_discard(Play *play, uint8_t seat, uint8_t card);
/* A discard token: one card of either pile goes, another of its pile comes (ruling C17). */
void chicago_card_swap(Play *play, uint8_t seat, uint8_t card);
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
/* The waiting pawn gets the right to board (ruling C4). */
void chicago_pawn_board(Play *play);

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

extern const TyBoard chicago_board;
extern const TyBlockForm chicago_blocks[];
extern const TyEventForm chicago_events[];

void chicago_begin(TyPlay *play);
void chicago_apply(TyPlay *play, uint32_t action);
void chicago_answers(const TyRuleset *ruleset, const void *state, uint64_t *answers);
void chicago_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *row);
const char *chicago_check(const TyRuleset *ruleset, const void *state);
void chicago_resample(TyPlay *play, uint32_t seat);
void chicago_text(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out);
void chicago_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out);
extern const char chicago_style[];
void chicago_draw_board(TySvg *svg);
void chicago_draw(TySvg *svg);
void chicago_state_json(const TyRuleset *ruleset, const void *state, TyJson *out);
