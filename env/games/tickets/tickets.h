/* What the two ticket games share: the tables of a map and the rules in which they differ. */
#pragma once

#include "game.h"
#include "kit/layout.h"

enum {
    TICKETS_COLOURS_MAX = 8,
    TICKETS_TYPES_MAX = TICKETS_COLOURS_MAX + 1, /* the colours, then the locomotive */
    TICKETS_SLOTS = 16, /* places of an array of cards, so that two are added in one instruction */
    TICKETS_CITIES_MAX = 48,
    TICKETS_ROUTES_MAX = 128,
    TICKETS_WORDS = TICKETS_ROUTES_MAX / 64, /* words of a set of routes */
    TICKETS_MAX = 64,                        /* tickets of a map */
    TICKETS_LENGTH_MAX = 9,                  /* spaces of a route */
    TICKETS_WAGONS_MAX = 60,
    TICKETS_CARDS_MAX = 24, /* wagon cards of one type */
    TICKETS_ROW_SIZE = 5,   /* cards that lie face up */
    TICKETS_HAND_FIRST = 4, /* cards dealt to everyone */
    TICKETS_OFFER_MAX = 5,  /* tickets offered at a time */
    TICKETS_PURSE_MAX = 36, /* cards that pay for the longest route, each space by a set of four */
    TICKETS_ANSWER_WORDS = 4,
    /* Bytes that tell a map in a row: of each route its ends, length, colour and kind, of each
     * ticket its ends and points, and the cities of the bonus. */
    TICKETS_MAP_ROW_MAX = 5 * TICKETS_ROUTES_MAX + 3 * TICKETS_MAX + 2,

    TICKETS_NONE = 0xff, /* no twin, no city */
};

typedef enum RouteKind {
    ROUTE_PLAIN,
    ROUTE_TUNNEL,
    ROUTE_FERRY,
    ROUTE_FOUR_FOR_ONE, /* Murmansk-Lieksa: any four cards for one of the colour */
} RouteKind;

/* The rules that tell the ticket games apart. */
typedef struct TicketsRules {
    uint8_t first_deal; /* tickets dealt at the start, and how many of them must be kept */
    uint8_t first_keep;
    bool locomotives_apart;  /* a stack beside the deck, to which spent locomotives return */
    bool locomotives_plain;  /* they may pay plain routes */
    bool special_routes;     /* tunnels, ferries and the four-for-one route exist */
    bool tickets_under;      /* refused tickets go under the deck; otherwise out of the game */
    bool draw_needs_pile;    /* face-up cards may be drawn only while deck or discards have one */
    bool globetrotter;       /* a bonus for the most completed tickets */
    bool link_bonus;         /* a bonus for linking two cities, less for each later player */
    bool longest_breaks_tie; /* the longest path decides a tie in tickets */
    bool endless;            /* play may go on for ever, so that a cap of turns is needed */
} TicketsRules;

enum { TICKETS_LATER_DEAL = 3, TICKETS_LATER_KEEP = 1, TICKETS_LAST_WAGONS = 2 };

/* A set of routes. */
typedef struct RouteSet {
    uint64_t words[TICKETS_WORDS];
} RouteSet;

/* What a route costs. `colour` is the number of colours if the route is gray. `matched` spaces take
 * cards of the colour, all spaces take locomotives if `locomotives`, and `set` cards of any types
 * stand for one card, unless it is 0. */
typedef struct Route {
    uint8_t city[2];
    uint8_t length;
    uint8_t colour;
    uint8_t kind;
    uint8_t matched;
    uint8_t set;
    uint8_t locomotives;
    uint8_t twin; /* the other half of a double route, or TICKETS_NONE */
    uint8_t points;
} Route;

typedef struct Ticket {
    uint8_t city[2];
    uint8_t points;
} Ticket;

/* The tables of a ruleset. What the rules touch at every step comes first. */
typedef struct TicketsTables {
    TicketsRules rules;
    uint8_t player_count;
    uint8_t colour_count;
    uint8_t type_count; /* colours and the locomotive, which is the last */
    uint8_t locomotive;
    uint8_t city_count;
    uint8_t route_count;
    uint8_t ticket_count;
    uint8_t wagons;
    uint8_t bonus_count;
    uint8_t reward;
    bool first_random;
    bool show_board;
    uint16_t turns_max; /* 0: no cap */
    uint8_t card_count[TICKETS_SLOTS];
    uint8_t bonus_points[TY_PLAYERS_MAX]; /* link bonus in order of arrival, or globetrotter */
    uint8_t bonus_city[2];

    RouteSet routes;                         /* all of them */
    RouteSet within[TICKETS_WAGONS_MAX + 1]; /* those of at most so many spaces */
    bool sets;                               /* some route may be paid with sets of any cards */
    /* Routes of a colour (gray behind the last) that a hand pays which has so many cards in all (0
     * where no route has sets), so many locomotives, and so many cards of the colour. What is more
     * than the last of an index counts as the last. */
    RouteSet payable[TICKETS_PURSE_MAX + 1][TICKETS_LENGTH_MAX + 1][TICKETS_TYPES_MAX]
                    [TICKETS_LENGTH_MAX + 1];

    uint8_t map_row[TICKETS_MAP_ROW_MAX]; /* as rows show it */
    uint32_t map_row_size;

    Route route[TICKETS_ROUTES_MAX];
    Ticket ticket[TICKETS_MAX];
    uint8_t length_points[TICKETS_LENGTH_MAX + 1]; /* 0: no route may have this length */

    uint16_t map_title;
    uint16_t type_name[TICKETS_TYPES_MAX];
    uint16_t city_name[TICKETS_CITIES_MAX];
    uint16_t city_title[TICKETS_CITIES_MAX];
    int32_t city_xy[TICKETS_CITIES_MAX][2]; /* in thousandths */
    TySpot city_at[TICKETS_CITIES_MAX];     /* on the drawing, and their labels */
    TySpot city_label[TICKETS_CITIES_MAX];
    TySpot route_at[TICKETS_ROUTES_MAX];    /* the middle of a route there, */
    int16_t route_turn[TICKETS_ROUTES_MAX]; /* and its direction in degrees */
    uint16_t route_name[TICKETS_ROUTES_MAX];
    uint16_t ticket_name[TICKETS_MAX];
    TyNamePool names;
} TicketsTables;

static inline const TicketsTables *tickets_tables(const TyRuleset *ruleset)
{
    return ruleset->tables;
}

/* A type of card: a colour, or "locomotive". */
static inline const char *tickets_name_type(const TicketsTables *tables, uint32_t type)
{
    return tables->names.bytes + tables->type_name[type];
}

static inline const char *tickets_name_route(const TicketsTables *tables, uint32_t route)
{
    return tables->names.bytes + tables->route_name[route];
}

static inline const char *tickets_name_ticket(const TicketsTables *tables, uint32_t ticket)
{
    return tables->names.bytes + tables->ticket_name[ticket];
}

static inline bool routes_have(const RouteSet *set, uint32_t route)
{
    return set->words[route / 64] >> route % 64 & 1;
}

static inline void routes_add(RouteSet *set, uint32_t route)
{
    set->words[route / 64] |= UINT64_C(1) << route % 64;
}

/* All tickets of the map. */
static inline uint64_t tickets_all(const TicketsTables *tables)
{
    return tables->ticket_count == 64 ? UINT64_MAX : (UINT64_C(1) << tables->ticket_count) - 1;
}

/* ---- What the tables of both games have in common ---------------------------------------------
 */

/* Reads a map of the game with `rules`. */
TyStatus tickets_read(const TyDoc *doc, const TicketsRules *rules, TicketsTables *tables);
/* Writes a map of a seed; its size is the number of cities. See TyFileField. */
size_t tickets_generate(const TyFileField *file, TyOrder order, char *out, size_t size);
TyStatus tickets_build(TyRuleset *ruleset);

void tickets_begin(TyPlay *play);
void tickets_apply(TyPlay *play, uint32_t action);
void tickets_answers(const TyRuleset *ruleset, const void *state, uint64_t *answers);
void tickets_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *row);
const char *tickets_check(const TyRuleset *ruleset, const void *state);
void tickets_resample(TyPlay *play, uint32_t seat);
void tickets_text(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out);
void tickets_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out);
extern const char tickets_style[];
/* Finds the places of cities and labels on the drawing. */
void tickets_layout(TicketsTables *tables);
void tickets_draw_board(TySvg *svg);
void tickets_draw_parts(TySvg *svg);
void tickets_state_json(const TyRuleset *ruleset, const void *state, TyJson *out);
/* The turns, whether the cap ended the episode, and the score sheet of every seat, with the longest
 * path where it counts. */
void tickets_measure(const TyRuleset *ruleset, const void *state, int32_t *metrics);

/* The metrics of one seat: its score sheet. */
#define TICKETS_SHEET(seat)                                                                        \
    "won_" seat, "total_" seat, "routes_" seat, "tickets_" seat, "bonus_" seat, "completed_" seat, \
        "failed_" seat

extern const char *const tickets_reward_names[];
extern const char *const tickets_first_names[];

extern const char *const tickets_phases[];
/* What the setting `show_board` is for. */
#define TICKETS_SHOW_BOARD                                                                         \
    {"show_board",                                                                                 \
     TY_FIELD_FLAG,                                                                                \
     0,                                                                                            \
     0,                                                                                            \
     1,                                                                                            \
     NULL,                                                                                         \
     false,                                                                                        \
     "rows tell the map too, for networks that play on many"}
extern const TyNames tickets_routes;
extern const TyNames tickets_tickets;
extern const TyBoard tickets_board;
extern const TyActionForm tickets_actions[];
extern const TyBlockForm tickets_blocks[];
extern const TyEventForm tickets_events[];
extern const TyStream tickets_streams[];
extern const TyStateField tickets_state_fields[];

#define TICKETS_GAME                                                                               \
    .api = TY_GAME_API, .board = &tickets_board, .tables_size = sizeof(TicketsTables),             \
    .state_size = sizeof(TicketsState), .answer_words = TICKETS_ANSWER_WORDS,                      \
    .active_at = offsetof(TicketsState, active), .phases = tickets_phases,                         \
    .actions = tickets_actions, .blocks = tickets_blocks, .events = tickets_events,                \
    .streams = tickets_streams, .state_fields = tickets_state_fields, .build = tickets_build,      \
    .begin = tickets_begin, .apply = tickets_apply, .answers = tickets_answers,                    \
    .observe = tickets_observe, .measure = tickets_measure, .check = tickets_check,                \
    .resample = tickets_resample, .text = tickets_text, .explain = tickets_explain,                \
    .state_json = tickets_state_json, .style = tickets_style, .draw_board = tickets_draw_board,    \
    .draw = tickets_draw_parts
