/* What the two ticket games share: the tables of a map and the rules in which they differ. */
#pragma once

#include "game.h"

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
    TICKETS_CARDS_MAX = 24,   /* wagon cards of one type */
    TICKETS_ROW_SIZE = 5,     /* cards that lie face up */
    TICKETS_HAND_FIRST = 4,   /* cards dealt to everyone */
    TICKETS_OFFER_MAX = 5,    /* tickets offered at a time */
    TICKETS_CLASSES_MAX = 54, /* lengths by numbers of ferry symbols, and the other routes */
    TICKETS_NAMES_SIZE = 12288,

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
    const char *format; /* what map files carry under "format" */
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
    uint16_t name;
} Route;

/* Routes that cost the same but for their colours, and may be paid with sets of any cards. */
typedef struct SetClass {
    uint8_t length;
    uint8_t matched;
    uint8_t set;
    uint8_t locomotives;
    uint32_t colours; /* of its routes, as bits; gray behind the last colour */
    RouteSet all;
    RouteSet colour[TICKETS_TYPES_MAX];
} SetClass;

typedef struct Ticket {
    uint8_t city[2];
    uint8_t points;
    uint8_t unused;
    uint16_t name;
} Ticket;

/* Where the blocks of a row begin. */
typedef struct RowLayout {
    uint16_t row, discard, unseen, laid, revealed, hand;
    uint16_t hand_size, wagons, ticket_count, points;
    uint16_t stack, bonus;
    uint16_t owner, ticket, depth;
    uint16_t size;
    uint16_t place, full_size; /* of the privileged row */
} RowLayout;

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
    bool ask_forced;
    uint16_t turns_max; /* 0: no cap */
    uint8_t card_count[TICKETS_SLOTS];
    uint8_t bonus_points[TY_PLAYERS_MAX]; /* link bonus in order of arrival, or globetrotter */
    uint8_t bonus_city[2];
    RowLayout at;

    RouteSet routes;                         /* all of them */
    RouteSet within[TICKETS_WAGONS_MAX + 1]; /* those of at most so many spaces */
    /* Routes of a colour (gray behind the last) without sets that so many cards of the colour and
     * so many locomotives pay. */
    RouteSet single[TICKETS_TYPES_MAX][TICKETS_LENGTH_MAX + 1][TICKETS_LENGTH_MAX + 1];
    uint8_t class_count;
    SetClass classes[TICKETS_CLASSES_MAX]; /* of the routes that may be paid with sets */

    Route route[TICKETS_ROUTES_MAX];
    Ticket ticket[TICKETS_MAX];
    uint8_t length_points[TICKETS_LENGTH_MAX + 1]; /* 0: no route may have this length */

    /* For people and drawings: offsets into `names`. */
    uint16_t map_name;
    uint16_t map_title;
    uint16_t colour_name[TICKETS_COLOURS_MAX];
    uint16_t city_name[TICKETS_CITIES_MAX];
    uint16_t city_title[TICKETS_CITIES_MAX];
    uint16_t names_size;
    char names[TICKETS_NAMES_SIZE];
} TicketsTables;

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

/* Reads a map of the game with `rules`: fills the tables, or says what is wrong in which field. */
TyStatus tickets_map_read(const Doc *doc, const TicketsRules *rules, TicketsTables *tables);

/* Fills a ruleset from its configuration and its map file (build of the game table). */
TyStatus tickets_build(TyRuleset *ruleset, const Doc *doc, const TicketsRules *rules);

/* ---- The parts of the game tables, the same for both games ------------------------------------
 */

void tickets_reset(const TyRuleset *ruleset, void *state, TyTape *tape);
bool tickets_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                  TyTape *tape);
void tickets_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask);
void tickets_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *row);
uint64_t tickets_hash(const TyRuleset *ruleset, const void *state, uint64_t hash);
const char *tickets_check(const TyRuleset *ruleset, const void *state);
void tickets_resample(const TyRuleset *ruleset, void *state, uint32_t seat);
const char *tickets_phase_name(const TyRuleset *ruleset, const void *state);
void tickets_action_name(const TyRuleset *ruleset, uint32_t action, Text *out);
void tickets_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                         uint32_t column, Text *out);
void tickets_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out);
void tickets_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out);
void tickets_text(const TyRuleset *ruleset, const void *state, uint32_t seat, Text *out);
void tickets_state_json(const TyRuleset *ruleset, const void *state, Json *out);
void tickets_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out);
/* The turns, whether the cap ended the episode, and the score sheet of every seat, with the longest
 * path where it counts. */
void tickets_measure(const TyRuleset *ruleset, const void *state, int32_t *metrics);

/* The metrics of one seat: its score sheet. */
#define TICKETS_SHEET(seat)                                                                        \
    "won_" seat, "total_" seat, "routes_" seat, "tickets_" seat, "bonus_" seat, "completed_" seat, \
        "failed_" seat

/* Sources of chance, and their names. */
enum { STREAM_FIRST_PLAYER, STREAM_CARDS, STREAM_TICKETS, STREAM_COUNT };
extern const char *const tickets_streams[];
extern const char *const tickets_reward_names[];
extern const char *const tickets_first_names[];
extern const char *const tickets_chance_names[];

/* What both game tables have in common. */
#define TICKETS_GAME_FUNCTIONS                                                                     \
    .tables_size = sizeof(TicketsTables), .streams = tickets_streams, .reset = tickets_reset,      \
    .legal = tickets_legal, .step = tickets_step, .observe = tickets_observe,                      \
    .measure = tickets_measure, .hash = tickets_hash, .phase_name = tickets_phase_name,            \
    .check = tickets_check, .resample = tickets_resample, .action_name = tickets_action_name,      \
    .block_label = tickets_block_label, .value_label = tickets_value_label,                        \
    .outcome_name = tickets_outcome_name, .text = tickets_text, .state_json = tickets_state_json,  \
    .event_json = tickets_event_json
