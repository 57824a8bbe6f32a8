/* Reading the maps of the ticket games. The format: MAPS.md in this folder. */
#include "games/tickets/tickets.h"
#include "kit/reader.h"

#include <string.h>

/* The colours of the cards, and how many cards there are. */
static void read_cards(TyReader *reader, TicketsTables *tables)
{
    const TyDocNode *root = reader->doc->nodes;
    const TyDocNode *list = ty_read_list(reader, root, "colours", 1, TICKETS_COLOURS_MAX);
    for (const TyDocNode *entry = ty_doc_first(reader->doc, list);
         entry != NULL && ty_reader_ok(reader); entry = ty_doc_next(reader->doc, entry)) {
        uint16_t name = ty_read_id_at(reader, entry, false);
        ty_read_unique(reader, entry, name, tables->type_name, tables->colour_count);
        const char *text = tables->names.bytes + name;
        if (strcmp(text, "gray") == 0 || strcmp(text, "locomotive") == 0) {
            ty_read_fail(reader, entry, "\"%s\" is not a colour of cards", text);
        }
        tables->type_name[tables->colour_count++] = name;
    }
    tables->locomotive = tables->colour_count;
    tables->type_name[tables->locomotive] = ty_name_keep(reader, root, "locomotive");
    tables->type_count = (uint8_t)(tables->colour_count + 1);
    uint8_t each = ty_read_byte(reader, root, "cards_per_colour", 1, TICKETS_CARDS_MAX);
    memset(tables->card_count, each, tables->colour_count);
    tables->card_count[tables->locomotive] =
        ty_read_byte(reader, root, "locomotives", 0, TICKETS_CARDS_MAX);
    tables->wagons = ty_read_byte(reader, root, "wagons", 3, TICKETS_WAGONS_MAX);
}

/* The score table: pairs of a length and its points. */
static void read_points(TyReader *reader, TicketsTables *tables)
{
    const TyDocNode *list =
        ty_read_list(reader, reader->doc->nodes, "points", 1, TICKETS_LENGTH_MAX);
    for (const TyDocNode *entry = ty_doc_first(reader->doc, list);
         entry != NULL && ty_reader_ok(reader); entry = ty_doc_next(reader->doc, entry)) {
        uint8_t pair[2] = {0};
        if (entry->kind != TY_DOC_LIST || entry->child_count != 2) {
            ty_read_fail(reader, entry, "must be a pair [length, points]");
            return;
        }
        ty_read_numbers(reader, entry, pair, 1, 100);
        if (ty_reader_ok(reader) && pair[0] > TICKETS_LENGTH_MAX) {
            ty_read_fail(reader, entry, "the length must be from 1 to %d", (int)TICKETS_LENGTH_MAX);
        } else if (ty_reader_ok(reader)) {
            tables->length_points[pair[0]] = pair[1];
        }
    }
}

static void read_cities(TyReader *reader, TicketsTables *tables)
{
    static const char *const keys[] = {"id", "title", "xy", NULL};
    const TyDocNode *list =
        ty_read_list(reader, reader->doc->nodes, "cities", 2, TICKETS_CITIES_MAX);
    for (const TyDocNode *city = ty_doc_first(reader->doc, list);
         city != NULL && ty_reader_ok(reader); city = ty_doc_next(reader->doc, city)) {
        ty_read_keys(reader, city, keys);
        uint16_t name = ty_read_id(reader, city, "id");
        ty_read_unique(reader, city, name, tables->city_name, tables->city_count);
        tables->city_title[tables->city_count] = ty_read_title(reader, city, "title");
        ty_read_position(reader, city, tables->city_xy[tables->city_count]);
        tables->city_name[tables->city_count++] = name;
    }
}

/* The two different cities at the ends of a route, ticket or bonus. */
static void read_ends(TyReader *reader, const TicketsTables *tables, const TyDocNode *node,
                      const char *const keys[2], uint8_t city[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        city[i] = ty_read_name(reader, node, keys[i], tables->city_name, tables->city_count);
    }
    if (ty_reader_ok(reader) && city[0] == city[1]) {
        ty_read_fail(reader, node, "begins and ends in the same city");
    }
}

static const char *const end_keys[2] = {"a", "b"};

/* The colour of a route: one of the cards', or gray. */
static uint8_t read_colour(TyReader *reader, const TicketsTables *tables, const TyDocNode *node)
{
    const char *text = ty_read_text(reader, node, "colour");
    if (strcmp(text, "gray") == 0) {
        return tables->colour_count;
    }
    return ty_read_name(reader, node, "colour", tables->type_name, tables->colour_count);
}

/* What makes a route special: "tunnel", "ferry" or "four_for_one", at most one of them. */
static void read_kind(TyReader *reader, const TyDocNode *node, Route *route)
{
    static const char *const keys[] = {"tunnel", "ferry", "four_for_one"};
    static const RouteKind kinds[] = {ROUTE_TUNNEL, ROUTE_FERRY, ROUTE_FOUR_FOR_ONE};
    uint32_t found = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const TyDocNode *member = ty_doc_get(reader->doc, node, keys[i]);
        if (member == NULL || (member->kind == TY_DOC_FLAG && member->number == 0)) {
            continue;
        }
        route->kind = (uint8_t)kinds[i];
        found++;
        if (kinds[i] == ROUTE_FERRY) {
            uint8_t symbols = ty_read_byte(reader, node, "ferry", 1, route->length);
            route->matched = (uint8_t)(route->length - symbols);
        } else {
            ty_read_flag(reader, node, keys[i]);
        }
    }
    if (found > 1) {
        ty_read_fail(reader, node, "can be only one of tunnel, ferry and four_for_one");
    }
}

/* What may pay for the route, from its kind and the rules of the game. */
static void route_price(const TicketsRules *rules, Route *route)
{
    switch ((RouteKind)route->kind) {
    case ROUTE_PLAIN:
        route->locomotives = rules->locomotives_plain;
        break;
    case ROUTE_TUNNEL:
        route->locomotives = 1;
        break;
    case ROUTE_FERRY:
        route->locomotives = 1;
        route->set = 3;
        break;
    case ROUTE_FOUR_FOR_ONE:
        route->set = 4;
        break;
    }
}

/* Two routes between the same cities are the halves of a double route; a third one is too many. */
static void find_twin(TyReader *reader, TicketsTables *tables, const TyDocNode *node, uint8_t index)
{
    Route *route = &tables->route[index];
    route->twin = TICKETS_NONE;
    for (uint8_t i = 0; i < index && ty_reader_ok(reader); i++) {
        Route *other = &tables->route[i];
        bool same = (other->city[0] == route->city[0] && other->city[1] == route->city[1]) ||
                    (other->city[0] == route->city[1] && other->city[1] == route->city[0]);
        if (same && other->twin != TICKETS_NONE) {
            ty_read_fail(reader, node, "is the third route between the same two cities");
        } else if (same) {
            other->twin = index;
            route->twin = i;
        }
    }
}

static void read_route(TyReader *reader, TicketsTables *tables, const TyDocNode *node,
                       uint8_t index)
{
    static const char *const plain_keys[] = {"id", "a", "b", "length", "colour", NULL};
    static const char *const special_keys[] = {
        "id", "a", "b", "length", "colour", "tunnel", "ferry", "four_for_one", NULL};
    Route *route = &tables->route[index];
    ty_read_keys(reader, node, tables->rules.special_routes ? special_keys : plain_keys);
    tables->route_name[index] = ty_read_id(reader, node, "id");
    ty_read_unique(reader, node, tables->route_name[index], tables->route_name, index);
    read_ends(reader, tables, node, end_keys, route->city);
    route->length = ty_read_byte(reader, node, "length", 1, TICKETS_LENGTH_MAX);
    route->matched = route->length;
    route->colour = read_colour(reader, tables, node);
    read_kind(reader, node, route);
    route_price(&tables->rules, route);
    route->points = tables->length_points[route->length];
    if (ty_reader_ok(reader) && route->points == 0) {
        ty_read_fail(reader, node, "\"points\" has no entry for length %u", route->length);
    }
    find_twin(reader, tables, node, index);
}

static void read_routes(TyReader *reader, TicketsTables *tables)
{
    const TyDocNode *list =
        ty_read_list(reader, reader->doc->nodes, "routes", 1, TICKETS_ROUTES_MAX);
    for (const TyDocNode *node = ty_doc_first(reader->doc, list);
         node != NULL && ty_reader_ok(reader); node = ty_doc_next(reader->doc, node)) {
        read_route(reader, tables, node, tables->route_count++);
    }
}

static void read_tickets(TyReader *reader, TicketsTables *tables)
{
    static const char *const keys[] = {"id", "a", "b", "points", NULL};
    const TyDocNode *list = ty_read_list(reader, reader->doc->nodes, "tickets", 1, TICKETS_MAX);
    for (const TyDocNode *node = ty_doc_first(reader->doc, list);
         node != NULL && ty_reader_ok(reader); node = ty_doc_next(reader->doc, node)) {
        uint8_t index = tables->ticket_count++;
        Ticket *ticket = &tables->ticket[index];
        ty_read_keys(reader, node, keys);
        tables->ticket_name[index] = ty_read_id(reader, node, "id");
        ty_read_unique(reader, node, tables->ticket_name[index], tables->ticket_name, index);
        read_ends(reader, tables, node, end_keys, ticket->city);
        ticket->points = ty_read_byte(reader, node, "points", 1, 100);
    }
}

/* The bonus cards: "globetrotter", or "link" with its cities and its points, the highest first. */
static void read_bonus(TyReader *reader, TicketsTables *tables)
{
    static const char *const keys[] = {"from", "to", "points", NULL};
    static const char *const ends[2] = {"from", "to"};
    const TyDocNode *root = reader->doc->nodes;
    if (tables->rules.globetrotter) {
        tables->bonus_points[0] = ty_read_byte(reader, root, "globetrotter", 0, 100);
        return;
    }
    const TyDocNode *link = ty_read_map(reader, root, "link");
    ty_read_keys(reader, link, keys);
    read_ends(reader, tables, link, ends, tables->bonus_city);
    const TyDocNode *list = ty_read_list(reader, link, "points", 0, TY_PLAYERS_MAX);
    tables->bonus_count = (uint8_t)ty_read_numbers(reader, list, tables->bonus_points, 1, 100);
    for (uint32_t i = 1; i < tables->bonus_count; i++) {
        if (tables->bonus_points[i] > tables->bonus_points[i - 1]) {
            ty_read_fail(reader, list, "must begin with the highest points");
        }
    }
}

/* Every city can be reached from every other one. */
static void check_connected(TyReader *reader, const TicketsTables *tables)
{
    uint64_t reached = 1;
    uint64_t before = 0;
    while (ty_reader_ok(reader) && reached != before) {
        before = reached;
        for (uint32_t i = 0; i < tables->route_count; i++) {
            const uint8_t *city = tables->route[i].city;
            uint64_t ends = UINT64_C(1) << city[0] | UINT64_C(1) << city[1];
            reached |= (reached & ends) != 0 ? ends : 0;
        }
    }
    for (uint32_t i = 0; ty_reader_ok(reader) && i < tables->city_count; i++) {
        if ((reached >> i & 1) == 0) {
            ty_read_fail(reader, reader->doc->nodes, "no way leads from city \"%s\" to city \"%s\"",
                         tables->names.bytes + tables->city_name[0],
                         tables->names.bytes + tables->city_name[i]);
        }
    }
}

/* Adds a route to what hands pay. Sets stand for spaces as far as the cards beyond one for each
 * space go, locomotives for others; the rest takes cards of the colour. */
static void index_payable(TicketsTables *tables, uint32_t index)
{
    const Route *route = &tables->route[index];
    uint32_t most = tables->sets ? TICKETS_PURSE_MAX : 0;
    for (uint32_t total = 0; total <= most; total++) {
        uint32_t spare = total > route->length ? total - route->length : 0;
        uint32_t sets = route->set != 0 ? spare / (route->set - 1u) : 0;
        if (route->set != 0 && total < route->length) {
            continue;
        }
        for (uint32_t engines = 0; engines <= TICKETS_LENGTH_MAX; engines++) {
            uint32_t single = sets + (route->locomotives ? engines : 0);
            uint32_t cards = route->length > single ? route->length - single : 0;
            cards = cards <= route->matched ? cards : TICKETS_LENGTH_MAX + 1;
            for (; cards <= TICKETS_LENGTH_MAX; cards++) {
                routes_add(&tables->payable[total][engines][route->colour][cards], index);
            }
        }
    }
}

/* Sets of routes by what pays for them, so that a hand is compared with all routes at once. */
static void index_routes(TicketsTables *tables)
{
    for (uint32_t i = 0; i < tables->route_count; i++) {
        tables->sets = tables->sets || tables->route[i].set != 0;
    }
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        routes_add(&tables->routes, i);
        for (uint32_t wagons = route->length; wagons <= TICKETS_WAGONS_MAX; wagons++) {
            routes_add(&tables->within[wagons], i);
        }
        index_payable(tables, i);
    }
}

TyStatus tickets_read(const TyDoc *doc, const TicketsRules *rules, TicketsTables *tables)
{
    static const char *const trotter_keys[] = {
        "format", "name",   "title",  "status", "colours", "cards_per_colour", "locomotives",
        "wagons", "points", "cities", "routes", "tickets", "globetrotter",     NULL};
    static const char *const link_keys[] = {
        "format",           "name",        "title",  "status", "colours",
        "cards_per_colour", "locomotives", "wagons", "points", "cities",
        "routes",           "tickets",     "link",   NULL};
    TyReader reader = {.doc = doc, .pool = &tables->names};
    tables->rules = *rules;
    ty_read_keys(&reader, doc->nodes, rules->globetrotter ? trotter_keys : link_keys);
    tables->map_title = ty_read_title(&reader, doc->nodes, "title");
    read_cards(&reader, tables);
    read_points(&reader, tables);
    read_cities(&reader, tables);
    read_routes(&reader, tables);
    read_tickets(&reader, tables);
    read_bonus(&reader, tables);
    check_connected(&reader, tables);
    if (ty_reader_ok(&reader)) {
        index_routes(tables);
    }
    return reader.status;
}
