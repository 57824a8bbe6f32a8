/* The ticket games: the state, its questions, its actions, its events. */
#pragma once

#include "core/bytes.h"
#include "games/tickets/tickets.h"

#include <string.h>

/* Questions. Each belongs to the active seat. */
typedef enum Phase {
    PHASE_KEEP_FIRST, /* which of the tickets dealt at the start to keep */
    PHASE_TURN,       /* what to do in this turn */
    PHASE_DRAW,       /* the second card */
    PHASE_KEEP,       /* which of the drawn tickets to keep */
    PHASE_PAY,        /* the next card of a payment, in ascending order of types */
    PHASE_TUNNEL,     /* the next additional card for a tunnel, or withdraw */
    PHASE_OVER,
} Phase;

/* Actions. Those that are one by themselves come first, so that their form is also their number. */
typedef enum ActionForm {
    FORM_WAIT,
    FORM_PASS,
    FORM_BLIND,      /* a card from the deck */
    FORM_LOCOMOTIVE, /* a locomotive from the stack */
    FORM_TICKETS,    /* draw tickets */
    FORM_KEEP_DONE,
    FORM_PAY_DONE,
    FORM_WITHDRAW,
    FORM_TAKE,  /* a face-up card of a type */
    FORM_PAY,   /* a card of a type */
    FORM_KEEP,  /* a ticket */
    FORM_CLAIM, /* a route */
} ActionForm;

/* Blocks of the row. Those of one byte come first, so that their number is also their offset. */
enum {
    BLOCK_PHASE,
    BLOCK_TURN,
    BLOCK_ROUTE,
    BLOCK_DUE,
    BLOCK_LAST_TURNS,
    BLOCK_PASSES,
    BLOCK_TICKET_DECK,
    BLOCK_BONUS_LEFT,
    BLOCK_TURNS,
    BLOCK_ROW,
    BLOCK_DISCARD,
    BLOCK_LAID,
    BLOCK_REVEALED,
    BLOCK_UNSEEN,
    BLOCK_HAND,
    BLOCK_TICKET,
    BLOCK_DEPTH,
    BLOCK_OWNER,
    BLOCK_HAND_SIZE,
    BLOCK_WAGONS,
    BLOCK_TICKET_COUNT,
    BLOCK_POINTS,
    BLOCK_STACK,
    BLOCK_BONUS,
    BLOCK_ROUTE_ENDS, /* the first of the map: the bytes of its map_row stand as they are */
    BLOCK_ROUTE_LENGTH,
    BLOCK_ROUTE_COLOUR,
    BLOCK_ROUTE_KIND,
    BLOCK_TICKET_ENDS,
    BLOCK_TICKET_POINTS,
    BLOCK_LINK_ENDS,
    BLOCK_TICKET_PLACE,
};

/* What a seat knows of a ticket. observe_tickets writes the values by their bits. */
enum {
    TICKET_UNKNOWN,
    TICKET_OFFERED,
    TICKET_CHOSEN,
    TICKET_OPEN,
    TICKET_COMPLETE,
    TICKET_REFUSED,
    TICKET_REFUSED_MAYBE, /* in a batch of which somebody drew a part */
};

/* Sources of chance. */
enum { STREAM_FIRST_PLAYER, STREAM_CARDS, STREAM_TICKETS };

typedef enum Reward { REWARD_WIN, REWARD_SCORE } Reward;

/* Everything about a position. Numbers "plus one" have 0 for none. */
typedef struct TicketsState {
    TyHead head;
    uint64_t answers[TICKETS_ANSWER_WORDS];

    RouteSet closed[TY_PLAYERS_MAX]; /* routes that the seat cannot take: owned, or twins of such */
    uint64_t tickets[TY_PLAYERS_MAX];  /* kept */
    uint64_t complete[TY_PLAYERS_MAX]; /* of these, with linked cities */
    /* Refused by the seat: out of the game, or known to that seat to lie under the deck. */
    uint64_t returned[TY_PLAYERS_MAX];
    uint64_t ticket_deck; /* above those that were put under the deck */
    uint64_t offered;     /* to the active seat */
    uint64_t chosen;      /* of these, to be kept */
    /* The batch on top, once part of it was drawn, as the seat that put it there remembers it. */
    uint64_t front_shown;

    uint16_t turns;
    uint16_t points[TY_PLAYERS_MAX]; /* for routes */

    uint8_t active;
    uint8_t route;      /* being paid for, plus one */
    uint8_t cursor;     /* least type of card that may be laid next */
    uint8_t due;        /* additional cards that the tunnel still wants */
    uint8_t due_paid;   /* additional cards laid so far */
    uint8_t last_turns; /* turns left to play once the end is near; 0: it is not */
    uint8_t passes;     /* in a row */
    uint8_t choosing;   /* seats that still have to choose their first tickets */
    /* Tickets are numbered in the order in which they will be drawn: those of the first deck, then
     * those that were put under it. */
    uint8_t ticket_drawn;          /* tickets drawn so far */
    uint8_t ticket_end;            /* number of the next ticket to be put under the deck */
    uint8_t batch_first;           /* number of the first ticket of the batch that is drawn first */
    uint8_t bonus_taken;           /* link bonuses given out */
    uint8_t stack;                 /* locomotives beside the deck */
    uint8_t winners;               /* seats, as bits */
    uint8_t bonus[TY_PLAYERS_MAX]; /* place in the order of arrival, plus one */
    uint8_t wagons[TY_PLAYERS_MAX];
    uint8_t deck[TICKETS_SLOTS];
    uint8_t discard[TICKETS_SLOTS];
    uint8_t row[TICKETS_SLOTS];
    uint8_t laid[TICKETS_SLOTS];
    uint8_t revealed[TICKETS_SLOTS];
    uint8_t hand[TY_PLAYERS_MAX][TICKETS_SLOTS];
    uint8_t known[TY_PLAYERS_MAX][TICKETS_SLOTS]; /* of the hand, to everybody */
    /* Of a ticket under the deck: the number of the first ticket that was put there with it. */
    uint8_t batch[TICKETS_MAX];
    uint8_t owner[TICKETS_ROUTES_MAX];                   /* seat plus one */
    uint8_t network[TY_PLAYERS_MAX][TICKETS_CITIES_MAX]; /* equal: linked by the seat's routes */
} TicketsState;

_Static_assert(sizeof(TicketsState) % 8 == 0, "a state is a whole number of words");
_Static_assert(sizeof(TicketsState) <= 1024, "a state has at most 1 KiB");

/* A step being played. */
typedef struct Play {
    TyPlay *ty;
    const TicketsTables *tables;
    TicketsState *state;
} Play;

static inline Play tickets_play(TyPlay *ty)
{
    return (Play){.ty = ty, .tables = tickets_tables(ty->ruleset), .state = ty->state};
}

typedef enum EndReason { END_LAST_ROUND, END_ALL_PASSED, END_TURN_CAP } EndReason;

/* Events; the arguments in order. */
typedef enum TicketsEvent {
    EVENT_END = TY_EVENT_END, /* winners as bits, reason */
    EVENT_FIRST_PLAYER,       /* seat */
    EVENT_DEAL,               /* type, seat: a card at the start */
    EVENT_TURN_UP,            /* type: into the row */
    EVENT_RESHUFFLE,          /* cards in the new deck */
    EVENT_OFFER,              /* ticket */
    EVENT_CHOOSE,             /* ticket, whether it is kept */
    EVENT_TURN,               /* turn */
    EVENT_BLIND,              /* type */
    EVENT_TAKE,               /* type */
    EVENT_LOCOMOTIVE,         /* left in the stack */
    EVENT_LAY,                /* type, route */
    EVENT_REVEAL,             /* type */
    EVENT_DUE,                /* additional cards wanted */
    EVENT_WITHDRAW,           /* route */
    EVENT_CLAIM,              /* route, points, wagons left */
    EVENT_BONUS,              /* points */
    EVENT_LAST_ROUND,         /* turns left */
    EVENT_PASS,               /* passes in a row */
} TicketsEvent;

#define EVENT(play, kind, ...) TY_EVENT((play)->ty, kind, __VA_ARGS__)

/* An array of cards as two words, of which each byte counts one type: words are added and taken
 * away byte by byte as long as no count leaves its byte. */
typedef struct CardWords {
    uint64_t low;
    uint64_t high;
} CardWords;

static inline CardWords cards_words(const uint8_t cards[TICKETS_SLOTS])
{
    CardWords words;
    memcpy(&words.low, cards, sizeof words.low);
    memcpy(&words.high, cards + 8, sizeof words.high);
    return words;
}

/* All cards of a map are fewer than 256, so the sum of the bytes is found in the highest one. */
static inline uint32_t cards_total(const uint8_t cards[TICKETS_SLOTS])
{
    CardWords words = cards_words(cards);
    return (uint32_t)(((words.low + words.high) * UINT64_C(0x0101010101010101)) >> 56);
}

static inline bool cards_any(const uint8_t cards[TICKETS_SLOTS])
{
    CardWords words = cards_words(cards);
    return (words.low | words.high) != 0;
}

/* The types of which there is a card, as bits: eight bytes below 128 become eight bits at once. */
static inline uint64_t cards_types(const uint8_t cards[TICKETS_SLOTS])
{
    uint64_t any = (load_le64(cards) + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    return any * 0x0102040810204080u >> 56 | (uint64_t)(cards[8] > 0) << 8;
}

static inline bool ticket_linked(const TicketsTables *tables, const uint8_t *network,
                                 uint32_t ticket)
{
    const uint8_t *city = tables->ticket[ticket].city;
    return network[city[0]] == network[city[1]];
}

/* The tickets of the set whose cities are linked in the network. */
static inline uint64_t tickets_linked(const TicketsTables *tables, const uint8_t *network,
                                      uint64_t set)
{
    uint64_t linked = 0;
    for (; set != 0; set &= set - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(set);
        linked |= (uint64_t)ticket_linked(tables, network, ticket) << ticket;
    }
    return linked;
}

/* ---- Payments (pay.c) ------------------------------------------------------------------------ */

/* All routes that the hand can pay, whoever owns them and however many wagons they take. */
RouteSet tickets_payable(const TicketsTables *tables, const uint8_t hand[TICKETS_SLOTS]);
/* Whether the cards laid are a whole payment, under some reading of them. */
bool tickets_payment_complete(const TicketsTables *tables, const Route *route,
                              const uint8_t laid[TICKETS_SLOTS]);
/* Types of card that may be laid next, as bits: from `cursor` on, in the hand, and such that a
 * whole payment can still be made with cards of that type and later ones. */
uint32_t tickets_payment_next(const TicketsTables *tables, const TicketsState *state);
/* Types of card that may be laid as the next additional card of a tunnel. */
uint32_t tickets_tunnel_next(const TicketsTables *tables, const TicketsState *state);
/* The colour with which a tunnel is being paid; the locomotive if with nothing else. */
uint8_t tickets_payment_colour(const TicketsTables *tables, const uint8_t laid[TICKETS_SLOTS]);

/* ---- Decks (deck.c) -------------------------------------------------------------------------- */

/* Whether a card is left in the deck or the discards. */
static inline bool pile_any(const TicketsState *state)
{
    return cards_any(state->deck) || cards_any(state->discard);
}
/* Takes the top card of the deck, after reshuffling if it is empty. `kind` is the event that tells
 * it, `second` its second argument. */
uint8_t tickets_card_draw(Play *play, TicketsEvent kind, int16_t second);
/* Turns cards up until the row is full or no card is left. */
void tickets_row_fill(Play *play);
/* How many tickets can be drawn. */
static inline uint32_t tickets_left(const TicketsState *state)
{
    return (uint32_t)(state->ticket_end - state->ticket_drawn);
}

/* The tickets of the returned batch that is drawn next; 0 if there is none. */
uint64_t tickets_front(const TicketsState *state);
/* Offers up to `count` tickets to the active seat. */
void tickets_offer(Play *play, uint32_t count);
/* Gives the active seat the chosen tickets and puts the others away. */
void tickets_settle(Play *play);

/* ---- Scores (score.c) ------------------------------------------------------------------------ */

/* The score of a seat as the position stands. */
typedef struct Sheet {
    int32_t routes;
    int32_t tickets;
    int32_t bonus;
    int32_t total;
    int32_t completed;
    int32_t failed;
    int32_t longest; /* 0 unless it counts in the game and was asked for */
} Sheet;

void tickets_sheets(const TicketsTables *tables, const TicketsState *state,
                    Sheet sheets[TY_PLAYERS_MAX]);
/* Adds the longest paths, where they count. They take a search. */
void tickets_sheets_longest(const TicketsTables *tables, const TicketsState *state,
                            Sheet sheets[TY_PLAYERS_MAX]);
/* The seats that win with these sheets, as bits. */
uint8_t tickets_winners(const TicketsTables *tables, const Sheet sheets[TY_PLAYERS_MAX]);
/* Finds the winners and gives the rewards (game.c). */
void tickets_result(Play *play);
/* Spaces of the longest path over the seat's routes that uses none of them twice. */
uint32_t tickets_longest_path(const TicketsTables *tables, const TicketsState *state,
                              uint32_t seat);
