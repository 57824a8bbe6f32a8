/* The ticket games as tables: what their things, actions, blocks, events and fields are. */
#include "games/tickets/text.h"

/* ---- Names -------------------------------------------------------------------------------------
 */

const char *const tickets_reward_names[] = {"win", "score", NULL};
const char *const tickets_first_names[] = {"random", "seat0", NULL};

const char *const tickets_phases[] = {
    "keep.first", "turn", "draw", "keep", "pay", "tunnel", "over", NULL,
};

static const char *const end_words[] = {"last_round", "all_passed", "turn_cap", NULL};
static const char *const end_titles[] = {"the last round is played", "everybody has passed",
                                         "the cap of turns is reached", NULL};
static const char *const knowledge_words[] = {
    "unknown", "offered", "chosen", "open", "complete", "refused", "refused, perhaps drawn", NULL,
};

static const char *const keeping_words[] = {"refuses", "keeps", NULL};

static const TyNames keeping = {.words = keeping_words};
static const TyNames phases = {.words = tickets_phases};
static const TyNames ends = {.words = end_words, .titles = end_titles};
static const TyNames knowledge = {.words = knowledge_words};
static const TyNames cards = TY_NAMES_KEPT(TicketsTables, type_name, type_count, names);

/* A route by its cities, and by its colour where there are two. */
static void route_title(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const Route *route = &tables->route[index];
    tickets_write_ends(tables, route->city, out);
    if (route->twin != TICKETS_NONE && route->colour < tables->colour_count) {
        ty_text_add(out, " (%s)", tickets_name_type(tables, route->colour));
    }
}

static void ticket_title(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    tickets_write_ends(tables, tables->ticket[index].city, out);
}

/* Names that are kept in the tables, with titles that are written. */
#define WRITTEN(list, number, title_)                                                              \
    {.kept = true,                                                                                 \
     .list_at = (uint32_t)offsetof(TicketsTables, list),                                           \
     .count_at = (uint32_t)offsetof(TicketsTables, number),                                        \
     .pool_at = (uint32_t)offsetof(TicketsTables, names),                                          \
     .title = title_}

const TyNames tickets_routes = WRITTEN(route_name, route_count, route_title);
const TyNames tickets_tickets = WRITTEN(ticket_name, ticket_count, ticket_title);

static uint32_t players_count(const TyRuleset *ruleset)
{
    return ruleset->shape.players;
}

static void player_write(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    (void)ruleset;
    ty_text_add(out, "%u", index);
}

static const TyNames players = {.count = players_count, .write = player_write};

static uint32_t places_count(const TyRuleset *ruleset)
{
    return 2 + 2 * ruleset->shape.players;
}

/* Where a ticket is, as the privileged row tells. */
static void place_write(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    uint32_t count = ruleset->shape.players;
    if (index < 2) {
        ty_text_add(out, "%s", index == 0 ? "deck" : "offered");
    } else if (index < 2 + count) {
        ty_text_add(out, "with seat +%u", index - 2);
    } else {
        ty_text_add(out, "refused by seat +%u", index - 2 - count);
    }
}

static const TyNames places = {.count = places_count, .write = place_write};

static const char *const side_words[] = {"a", "b", NULL};
static const char *const kind_words[] = {
    "plain",   "tunnel",  "four_for_one", "ferry.1", "ferry.2", "ferry.3", "ferry.4",
    "ferry.5", "ferry.6", "ferry.7",      "ferry.8", "ferry.9", NULL};
static const TyNames sides = {.words = side_words};
static const TyNames kinds = {.words = kind_words};
static const TyNames cities =
    TY_NAMES_TITLED(TicketsTables, city_name, city_title, city_count, names);

static uint32_t colours_count(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->colour_count + 1u;
}

static void colour_write(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    bool gray = index == tables->colour_count;
    ty_text_add(out, "%s", gray ? "gray" : tickets_name_type(tables, index));
}

static const TyNames colours = {.count = colours_count, .write = colour_write};

/* ---- Actions and chance ------------------------------------------------------------------------
 */

const TyActionForm tickets_actions[] = {
    [FORM_WAIT] = {.verb = "wait"},
    [FORM_PASS] = {.verb = "pass", .help = "Pass: there is nothing else to do"},
    [FORM_BLIND] = {.verb = "draw", .help = "Draw the top card of the deck, unseen"},
    [FORM_LOCOMOTIVE] = {.verb = "take.locomotive",
                         .help = "Take a locomotive from the stack; that is the whole turn"},
    [FORM_TICKETS] = {.verb = "tickets.draw",
                      .help = "Draw three tickets and keep at least one; that is the whole turn"},
    [FORM_KEEP_DONE] = {.verb = "keep.done", .help = "Keep those and no others"},
    [FORM_PAY_DONE] = {.verb = "pay.done", .help = "Pay with what is laid"},
    [FORM_WITHDRAW] = {.verb = "withdraw",
                       .help = "Withdraw from the tunnel: you lose no card, and the turn is over"},
    [FORM_TAKE] = {.verb = "take", .items = &cards, .help = "Take a card that lies face up"},
    [FORM_PAY] = {.verb = "pay", .items = &cards, .help = "Lay a card"},
    [FORM_KEEP] = {.verb = "keep", .items = &tickets_tickets, .help = "Keep a ticket"},
    [FORM_CLAIM] = {.verb = "claim",
                    .items = &tickets_routes,
                    .help = "Take a route; that is the whole turn"},
    {.verb = NULL},
};

const TyStream tickets_streams[] = {
    [STREAM_FIRST_PLAYER] = {"first_player", &players},
    [STREAM_CARDS] = {"cards", &cards},
    [STREAM_TICKETS] = {"tickets", &tickets_tickets},
    {.name = NULL},
};

/* ---- Blocks of the row -------------------------------------------------------------------------
 */

static uint32_t ticket_total(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->ticket_count;
}

static bool has_link_bonus(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->rules.link_bonus;
}

static bool has_tickets_under(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->rules.tickets_under;
}

static bool shows_board(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->show_board;
}

static bool shows_kinds(const TyRuleset *ruleset)
{
    return shows_board(ruleset) && tickets_tables(ruleset)->rules.special_routes;
}

static bool shows_link(const TyRuleset *ruleset)
{
    return shows_board(ruleset) && has_link_bonus(ruleset);
}

/* One count per type of card. */
#define CARDS(name_, help_)                                                                        \
    {.name = name_,                                                                                \
     .kind = TY_BLOCK_COUNT,                                                                       \
     .columns = &cards,                                                                            \
     .maximum = TICKETS_CARDS_MAX,                                                                 \
     .help = help_}

/* One count per seat, the own one first. */
#define SEATS(name_, maximum_, width_, help_)                                                      \
    {.name = name_,                                                                                \
     .kind = TY_BLOCK_COUNT,                                                                       \
     .columns = &ty_seats,                                                                         \
     .maximum = maximum_,                                                                          \
     .width = width_,                                                                              \
     .help = help_}

const TyBlockForm tickets_blocks[] = {
    [BLOCK_PHASE] = {.name = "phase",
                     .kind = TY_BLOCK_CATEGORY,
                     .values = &phases,
                     .help = "the question being asked"},
    [BLOCK_TURN] = {.name = "turn",
                    .kind = TY_BLOCK_CATEGORY,
                    .values = &ty_seats,
                    .help = "whose turn it is, counted from the own seat"},
    [BLOCK_ROUTE] = {.name = "route",
                     .kind = TY_BLOCK_CATEGORY,
                     .values = &tickets_routes,
                     .optional = true,
                     .help = "route being paid for"},
    [BLOCK_DUE] = {.name = "due",
                   .kind = TY_BLOCK_COUNT,
                   .maximum = 3,
                   .help = "additional cards that the tunnel still wants"},
    [BLOCK_LAST_TURNS] = {.name = "last_turns",
                          .kind = TY_BLOCK_COUNT,
                          .maximum_of = players_count,
                          .help = "turns left to play, once the end is near"},
    [BLOCK_PASSES] = {.name = "passes",
                      .kind = TY_BLOCK_COUNT,
                      .maximum_of = players_count,
                      .help = "passes in a row"},
    [BLOCK_TICKET_DECK] = {.name = "ticket_deck",
                           .kind = TY_BLOCK_COUNT,
                           .maximum_of = ticket_total,
                           .help = "tickets that can be drawn"},
    [BLOCK_BONUS_LEFT] = {.name = "bonus_left",
                          .kind = TY_BLOCK_COUNT,
                          .maximum = TY_PLAYERS_MAX,
                          .help = "bonus cards for linking two cities that are left"},
    [BLOCK_TURNS] = {.name = "turns",
                     .kind = TY_BLOCK_COUNT,
                     .maximum = UINT16_MAX,
                     .width = 2,
                     .help = "turns begun so far"},
    [BLOCK_ROW] = CARDS("row", "cards that lie face up"),
    [BLOCK_DISCARD] = CARDS("discard", "cards in the discard pile"),
    [BLOCK_LAID] = CARDS("laid", "cards laid for the route being paid for"),
    [BLOCK_REVEALED] = CARDS("revealed", "cards revealed for a tunnel"),
    [BLOCK_UNSEEN] = CARDS("unseen", "cards in the deck or in another hand, one cannot know which; "
                                     "in the privileged row those in the deck"),
    [BLOCK_HAND] = {.name = "hand",
                    .kind = TY_BLOCK_COUNT,
                    .rows = &ty_seats,
                    .columns = &cards,
                    .maximum = TICKETS_CARDS_MAX,
                    .help = "own hand first; of the others the cards that everybody saw them take, "
                            "in the privileged row all"},
    [BLOCK_TICKET] = {.name = "ticket",
                      .kind = TY_BLOCK_CATEGORY,
                      .columns = &tickets_tickets,
                      .values = &knowledge,
                      .help = "what the own seat knows of each ticket"},
    [BLOCK_DEPTH] = {.name = "depth",
                     .kind = TY_BLOCK_COUNT,
                     .columns = &tickets_tickets,
                     .maximum = UINT8_MAX,
                     .when = has_tickets_under,
                     .help = "tickets above the batch in which a ticket lies that the own seat "
                             "refused"},
    [BLOCK_OWNER] = {.name = "owner",
                     .kind = TY_BLOCK_CATEGORY,
                     .columns = &tickets_routes,
                     .values = &ty_seats,
                     .optional = true,
                     .help = "who has each route, counted from the own seat"},
    [BLOCK_HAND_SIZE] = SEATS("hand_size", UINT8_MAX, 1, "cards in hand"),
    [BLOCK_WAGONS] = SEATS("wagons", TICKETS_WAGONS_MAX, 1, "wagons left"),
    [BLOCK_TICKET_COUNT] = SEATS("ticket_count", TICKETS_MAX, 1,
                                 "tickets kept; 0 while the others choose their first ones"),
    [BLOCK_POINTS] = SEATS("points", UINT16_MAX, 2, "points for routes"),
    [BLOCK_STACK] = {.name = "stack",
                     .kind = TY_BLOCK_COUNT,
                     .maximum = TICKETS_CARDS_MAX,
                     .when = has_link_bonus,
                     .help = "locomotives in the stack"},
    [BLOCK_BONUS] = {.name = "bonus",
                     .kind = TY_BLOCK_COUNT,
                     .columns = &ty_seats,
                     .maximum = 100,
                     .when = has_link_bonus,
                     .help = "points of the bonus card for linking two cities"},
    [BLOCK_ROUTE_ENDS] = {.name = "route_ends",
                          .kind = TY_BLOCK_CATEGORY,
                          .rows = &tickets_routes,
                          .columns = &sides,
                          .values = &cities,
                          .when = shows_board,
                          .help = "the cities of each route"},
    [BLOCK_ROUTE_LENGTH] = {.name = "route_length",
                            .kind = TY_BLOCK_COUNT,
                            .columns = &tickets_routes,
                            .maximum = TICKETS_LENGTH_MAX,
                            .when = shows_board,
                            .help = "its spaces"},
    [BLOCK_ROUTE_COLOUR] = {.name = "route_colour",
                            .kind = TY_BLOCK_CATEGORY,
                            .columns = &tickets_routes,
                            .values = &colours,
                            .when = shows_board,
                            .help = "its colour"},
    [BLOCK_ROUTE_KIND] = {.name = "route_kind",
                          .kind = TY_BLOCK_CATEGORY,
                          .columns = &tickets_routes,
                          .values = &kinds,
                          .when = shows_kinds,
                          .help = "whether it is a tunnel, or a ferry with so many locomotives"},
    [BLOCK_TICKET_ENDS] = {.name = "ticket_ends",
                           .kind = TY_BLOCK_CATEGORY,
                           .rows = &tickets_tickets,
                           .columns = &sides,
                           .values = &cities,
                           .when = shows_board,
                           .help = "the cities of each ticket"},
    [BLOCK_TICKET_POINTS] = {.name = "ticket_points",
                             .kind = TY_BLOCK_COUNT,
                             .columns = &tickets_tickets,
                             .maximum = 100,
                             .when = shows_board,
                             .help = "its points"},
    [BLOCK_LINK_ENDS] = {.name = "link_ends",
                         .kind = TY_BLOCK_CATEGORY,
                         .columns = &sides,
                         .values = &cities,
                         .when = shows_link,
                         .help = "the cities whose link earns the bonus"},
    [BLOCK_TICKET_PLACE] = {.name = "ticket_place",
                            .kind = TY_BLOCK_CATEGORY,
                            .columns = &tickets_tickets,
                            .values = &places,
                            .full = true,
                            .help = "where each ticket is: in the deck, offered, with a seat, "
                                    "refused by one"},
    {.name = NULL},
};

/* ---- Events ------------------------------------------------------------------------------------
 *
 * Cards dealt or drawn unseen, and tickets, are the business of one seat. */

#define SEAT {"seat", TY_ARG_OWNER, NULL}
#define NUMBER(key) {key, TY_ARG_NUMBER, NULL}
#define CARD {"card", TY_ARG_NAME, &cards}
#define ROUTE {"route", TY_ARG_NAME, &tickets_routes}
#define TICKET {"ticket", TY_ARG_NAME, &tickets_tickets}

const TyEventForm tickets_events[] = {
    [EVENT_END] = {.name = "end",
                   .args = {{"winners", TY_ARG_SEATS, NULL}, {"why", TY_ARG_NAME, &ends}},
                   .sentence = "the game is over ({why}); winners: {winners}"},
    [EVENT_FIRST_PLAYER] = {.name = "first_player",
                            .args = {SEAT},
                            .sentence = "{seat} is the first player"},
    [EVENT_DEAL] = {.name = "deal",
                    .args = {SEAT, CARD},
                    .owner = 2,
                    .secret = ty_always,
                    .sentence = "{seat} is dealt {card}",
                    .hidden = "{seat} is dealt a card"},
    [EVENT_TURN_UP] = {.name = "turn_up", .args = {CARD}, .sentence = "{card} is turned up"},
    [EVENT_RESHUFFLE] = {.name = "reshuffle",
                         .args = {NUMBER("cards")},
                         .sentence = "the discards become a new deck of {cards:card}"},
    [EVENT_OFFER] = {.name = "offer",
                     .args = {SEAT, TICKET},
                     .secret = ty_always,
                     .sentence = "{seat} is offered {ticket}",
                     .hidden = "{seat} is offered a ticket"},
    [EVENT_CHOOSE] = {.name = "choose",
                      .args = {SEAT, TICKET, {"kept", TY_ARG_FLAG, &keeping}},
                      .secret = ty_always,
                      .sentence = "{seat} {kept} {ticket}",
                      .hidden = "{seat} keeps or refuses a ticket"},
    [EVENT_TURN] = {.name = "turn",
                    .args = {SEAT, NUMBER("turn")},
                    .sentence = "{seat} begins turn {turn}"},
    [EVENT_BLIND] = {.name = "draw",
                     .args = {SEAT, CARD},
                     .secret = ty_always,
                     .sentence = "{seat} draws {card}",
                     .hidden = "{seat} draws a card"},
    [EVENT_TAKE] = {.name = "take", .args = {SEAT, CARD}, .sentence = "{seat} takes {card}"},
    [EVENT_LOCOMOTIVE] = {.name = "take_locomotive",
                          .args = {SEAT, NUMBER("stack")},
                          .sentence = "{seat} takes a locomotive and leaves {stack} in the stack"},
    [EVENT_LAY] = {.name = "lay",
                   .args = {SEAT, CARD, ROUTE},
                   .sentence = "{seat} lays {card} for {route}"},
    [EVENT_REVEAL] = {.name = "reveal", .args = {SEAT, CARD}, .sentence = "{seat} reveals {card}"},
    [EVENT_DUE] = {.name = "tunnel",
                   .args = {SEAT, NUMBER("due")},
                   .sentence = "the tunnel asks {seat} for {due:more card}"},
    [EVENT_WITHDRAW] = {.name = "withdraw",
                        .args = {SEAT, ROUTE},
                        .sentence = "{seat} withdraws from {route} and takes its cards back"},
    [EVENT_CLAIM] = {.name = "claim",
                     .args = {SEAT, ROUTE, NUMBER("points"), NUMBER("wagons")},
                     .sentence = "{seat} claims {route} for {points:point} and has {wagons:wagon} "
                                 "left"},
    [EVENT_BONUS] = {.name = "bonus",
                     .args = {SEAT, NUMBER("points")},
                     .sentence = "{seat} links the two cities of the bonus for {points:point}"},
    [EVENT_LAST_ROUND] = {.name = "last_round",
                          .args = {SEAT, NUMBER("turns")},
                          .sentence = "{seat} brings on the last round of {turns:turn}"},
    [EVENT_PASS] = {.name = "pass", .args = {SEAT}, .sentence = "{seat} passes"},
    {.name = NULL},
};

/* ---- Fields of the state -----------------------------------------------------------------------
 *
 * Those without a maximum are bounded by the map; check.c compares them with it. */

#define WORDS(member) TY_FIELD(TicketsState, uint64_t, member, 0)
#define BYTES(member, maximum) TY_FIELD(TicketsState, uint8_t, member, maximum)

const TyStateField tickets_state_fields[] = {
    WORDS(closed),
    WORDS(tickets),
    WORDS(complete),
    WORDS(returned),
    WORDS(ticket_deck),
    WORDS(offered),
    WORDS(chosen),
    WORDS(front_shown),
    TY_FIELD(TicketsState, uint16_t, turns, 0),
    TY_FIELD(TicketsState, uint16_t, points, 0),
    BYTES(active, TY_PLAYERS_MAX - 1),
    BYTES(route, TICKETS_ROUTES_MAX),
    BYTES(cursor, TICKETS_TYPES_MAX - 1),
    BYTES(due, 0),
    BYTES(due_paid, 0),
    BYTES(last_turns, TY_PLAYERS_MAX),
    BYTES(passes, TY_PLAYERS_MAX),
    BYTES(choosing, TY_PLAYERS_MAX),
    BYTES(ticket_drawn, 0),
    BYTES(ticket_end, 0),
    BYTES(batch_first, 0),
    BYTES(bonus_taken, 0),
    BYTES(stack, TICKETS_CARDS_MAX),
    BYTES(winners, (1 << TY_PLAYERS_MAX) - 1),
    BYTES(bonus, 0),
    BYTES(wagons, TICKETS_WAGONS_MAX),
    BYTES(deck, TICKETS_CARDS_MAX),
    BYTES(discard, TICKETS_CARDS_MAX),
    BYTES(row, TICKETS_ROW_SIZE),
    BYTES(laid, TICKETS_CARDS_MAX),
    BYTES(revealed, TICKETS_CARDS_MAX),
    BYTES(hand, TICKETS_CARDS_MAX),
    BYTES(known, TICKETS_CARDS_MAX),
    BYTES(batch, 0),
    BYTES(owner, TY_PLAYERS_MAX),
    BYTES(network, TICKETS_CITIES_MAX - 1),
    {.size = 0},
};
