/* Reading the maps of the ticket games. The format: MAPS.md in this folder. */
#include "games/tickets/read.h"

#include <string.h>

static void read_head(Reader *reader)
{
    const DocNode *root = reader->doc->nodes;
    TicketsTables *tables = reader->tables;
    const char *format = tables->rules.format;
    const char *word = doc_read_text(reader->doc, root, "format", &reader->status);
    if (reader_ok(reader) && strcmp(word, format) != 0) {
        doc_fail(reader->doc, doc_get(reader->doc, root, "format"), &reader->status,
                 "must be \"%s\", not \"%s\"", format, word);
    }
    if (doc_get(reader->doc, root, "status") != NULL) {
        tickets_read_line(reader, root, "status", TICKETS_STATUS_MAX);
    }
    tables->map_name = tickets_read_id(reader, root, "name");
    tables->map_title = tickets_read_title(reader, root, "title");
}

/* The colours of the cards, and how many cards there are. */
static void read_cards(Reader *reader)
{
    const DocNode *root = reader->doc->nodes;
    TicketsTables *tables = reader->tables;
    const DocNode *list =
        doc_read_list(reader->doc, root, "colours", 1, TICKETS_COLOURS_MAX, &reader->status);
    for (const DocNode *entry = doc_first(reader->doc, list); entry != NULL && reader_ok(reader);
         entry = doc_next(reader->doc, entry)) {
        uint16_t name = tickets_read_id_at(reader, entry);
        tickets_read_unique(reader, entry, name, tables->colour_name, tables->colour_count);
        if (reader_ok(reader) && (strcmp(tables->names + name, "gray") == 0 ||
                                  strcmp(tables->names + name, "locomotive") == 0)) {
            doc_fail(reader->doc, entry, &reader->status, "\"%s\" is not a colour of cards",
                     tables->names + name);
        }
        tables->colour_name[tables->colour_count++] = name;
    }
    tables->locomotive = tables->colour_count;
    tables->type_count = (uint8_t)(tables->colour_count + 1);
    uint8_t each = tickets_read_byte(reader, root, "cards_per_colour", 1, TICKETS_CARDS_MAX);
    memset(tables->card_count, each, tables->colour_count);
    tables->card_count[tables->locomotive] =
        tickets_read_byte(reader, root, "locomotives", 0, TICKETS_CARDS_MAX);
    tables->wagons = tickets_read_byte(reader, root, "wagons", 3, TICKETS_WAGONS_MAX);
}

/* The score table: pairs of a length and its points. */
static void read_points(Reader *reader)
{
    TicketsTables *tables = reader->tables;
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "points", 1,
                                        TICKETS_LENGTH_MAX, &reader->status);
    for (const DocNode *entry = doc_first(reader->doc, list); entry != NULL && reader_ok(reader);
         entry = doc_next(reader->doc, entry)) {
        uint8_t pair[2] = {0};
        if (entry->kind != DOC_LIST || entry->child_count != 2) {
            doc_fail(reader->doc, entry, &reader->status, "must be a pair [length, points]");
            return;
        }
        tickets_read_numbers(reader, entry, pair, 1, 100);
        if (reader_ok(reader) && pair[0] > TICKETS_LENGTH_MAX) {
            doc_fail(reader->doc, entry, &reader->status, "the length must be from 1 to %d",
                     (int)TICKETS_LENGTH_MAX);
        } else if (reader_ok(reader)) {
            tables->length_points[pair[0]] = pair[1];
        }
    }
}

/* "xy" is for drawings only; here it must just be a pair of numbers. */
static void check_position(Reader *reader, const DocNode *node)
{
    const DocNode *list = doc_read_list(reader->doc, node, "xy", 2, 2, &reader->status);
    for (const DocNode *entry = doc_first(reader->doc, list); entry != NULL;
         entry = doc_next(reader->doc, entry)) {
        if (entry->kind != DOC_INT && entry->kind != DOC_REAL) {
            doc_fail(reader->doc, entry, &reader->status, "must be a number");
        }
    }
}

static void read_cities(Reader *reader)
{
    static const char *const keys[] = {"id", "title", "xy", NULL};
    TicketsTables *tables = reader->tables;
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "cities", 2,
                                        TICKETS_CITIES_MAX, &reader->status);
    for (const DocNode *city = doc_first(reader->doc, list); city != NULL && reader_ok(reader);
         city = doc_next(reader->doc, city)) {
        doc_known_keys(reader->doc, city, keys, &reader->status);
        uint16_t name = tickets_read_id(reader, city, "id");
        tickets_read_unique(reader, city, name, tables->city_name, tables->city_count);
        tables->city_title[tables->city_count] = tickets_read_title(reader, city, "title");
        check_position(reader, city);
        tables->city_name[tables->city_count++] = name;
    }
}

/* The two different cities at the ends of a route, ticket or bonus. */
static void read_ends(Reader *reader, const DocNode *node, const char *const keys[2],
                      uint8_t city[2])
{
    const TicketsTables *tables = reader->tables;
    for (uint32_t i = 0; i < 2; i++) {
        city[i] = tickets_read_name(reader, node, keys[i], tables->city_name, tables->city_count);
    }
    if (reader_ok(reader) && city[0] == city[1]) {
        doc_fail(reader->doc, node, &reader->status, "begins and ends in the same city");
    }
}

static const char *const end_keys[2] = {"a", "b"};

/* The colour of a route: one of the cards', or gray. */
static uint8_t read_colour(Reader *reader, const DocNode *node)
{
    const TicketsTables *tables = reader->tables;
    const char *text = doc_read_text(reader->doc, node, "colour", &reader->status);
    if (strcmp(text, "gray") == 0) {
        return tables->colour_count;
    }
    return tickets_read_name(reader, node, "colour", tables->colour_name, tables->colour_count);
}

/* What makes a route special: "tunnel", "ferry" or "four_for_one", at most one of them. */
static void read_kind(Reader *reader, const DocNode *node, Route *route)
{
    static const char *const keys[] = {"tunnel", "ferry", "four_for_one"};
    static const RouteKind kinds[] = {ROUTE_TUNNEL, ROUTE_FERRY, ROUTE_FOUR_FOR_ONE};
    uint32_t found = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const DocNode *member = doc_get(reader->doc, node, keys[i]);
        if (member == NULL || (member->kind == DOC_FLAG && member->number == 0)) {
            continue;
        }
        route->kind = (uint8_t)kinds[i];
        found++;
        if (kinds[i] == ROUTE_FERRY) {
            uint8_t symbols = tickets_read_byte(reader, node, "ferry", 1, route->length);
            route->matched = (uint8_t)(route->length - symbols);
        } else {
            doc_read_flag(reader->doc, node, keys[i], &reader->status);
        }
    }
    if (found > 1) {
        doc_fail(reader->doc, node, &reader->status,
                 "can be only one of tunnel, ferry and four_for_one");
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
static void find_twin(Reader *reader, const DocNode *node, uint8_t index)
{
    TicketsTables *tables = reader->tables;
    Route *route = &tables->route[index];
    route->twin = TICKETS_NONE;
    for (uint8_t i = 0; i < index && reader_ok(reader); i++) {
        Route *other = &tables->route[i];
        bool same = (other->city[0] == route->city[0] && other->city[1] == route->city[1]) ||
                    (other->city[0] == route->city[1] && other->city[1] == route->city[0]);
        if (same && other->twin != TICKETS_NONE) {
            doc_fail(reader->doc, node, &reader->status,
                     "is the third route between the same two cities");
        } else if (same) {
            other->twin = index;
            route->twin = i;
        }
    }
}

static void read_route(Reader *reader, const DocNode *node, uint8_t index)
{
    static const char *const plain_keys[] = {"id", "a", "b", "length", "colour", NULL};
    static const char *const special_keys[] = {
        "id", "a", "b", "length", "colour", "tunnel", "ferry", "four_for_one", NULL};
    TicketsTables *tables = reader->tables;
    Route *route = &tables->route[index];
    doc_known_keys(reader->doc, node, tables->rules.special_routes ? special_keys : plain_keys,
                   &reader->status);
    route->name = tickets_read_id(reader, node, "id");
    read_ends(reader, node, end_keys, route->city);
    route->length = tickets_read_byte(reader, node, "length", 1, TICKETS_LENGTH_MAX);
    route->matched = route->length;
    route->colour = read_colour(reader, node);
    read_kind(reader, node, route);
    route_price(&tables->rules, route);
    route->points = tables->length_points[route->length];
    if (reader_ok(reader) && route->points == 0) {
        doc_fail(reader->doc, node, &reader->status, "\"points\" has no entry for length %u",
                 route->length);
    }
    find_twin(reader, node, index);
}

static void read_routes(Reader *reader)
{
    TicketsTables *tables = reader->tables;
    uint16_t names[TICKETS_ROUTES_MAX];
    const DocNode *list = doc_read_list(reader->doc, reader->doc->nodes, "routes", 1,
                                        TICKETS_ROUTES_MAX, &reader->status);
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
         node = doc_next(reader->doc, node)) {
        uint8_t index = tables->route_count;
        read_route(reader, node, index);
        tickets_read_unique(reader, node, tables->route[index].name, names, index);
        names[tables->route_count++] = tables->route[index].name;
    }
}

static void read_tickets(Reader *reader)
{
    static const char *const keys[] = {"id", "a", "b", "points", NULL};
    TicketsTables *tables = reader->tables;
    uint16_t names[TICKETS_MAX];
    const DocNode *list =
        doc_read_list(reader->doc, reader->doc->nodes, "tickets", 1, TICKETS_MAX, &reader->status);
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL && reader_ok(reader);
         node = doc_next(reader->doc, node)) {
        uint8_t index = tables->ticket_count;
        Ticket *ticket = &tables->ticket[index];
        doc_known_keys(reader->doc, node, keys, &reader->status);
        ticket->name = tickets_read_id(reader, node, "id");
        read_ends(reader, node, end_keys, ticket->city);
        ticket->points = tickets_read_byte(reader, node, "points", 1, 100);
        tickets_read_unique(reader, node, ticket->name, names, index);
        names[tables->ticket_count++] = ticket->name;
    }
}

/* The bonus cards: "globetrotter", or "link" with its cities and its points, the highest first. */
static void read_bonus(Reader *reader)
{
    static const char *const keys[] = {"from", "to", "points", NULL};
    static const char *const ends[2] = {"from", "to"};
    const DocNode *root = reader->doc->nodes;
    TicketsTables *tables = reader->tables;
    if (tables->rules.globetrotter) {
        tables->bonus_points[0] = tickets_read_byte(reader, root, "globetrotter", 0, 100);
        return;
    }
    const DocNode *link = doc_get(reader->doc, root, "link");
    if (link == NULL) {
        doc_fail(reader->doc, root, &reader->status, "\"link\" is missing");
        return;
    }
    doc_known_keys(reader->doc, link, keys, &reader->status);
    read_ends(reader, link, ends, tables->bonus_city);
    const DocNode *list =
        doc_read_list(reader->doc, link, "points", 0, TY_PLAYERS_MAX, &reader->status);
    tables->bonus_count = (uint8_t)tickets_read_numbers(reader, list, tables->bonus_points, 1, 100);
    for (uint32_t i = 1; i < tables->bonus_count; i++) {
        if (tables->bonus_points[i] > tables->bonus_points[i - 1]) {
            doc_fail(reader->doc, list, &reader->status, "must begin with the highest points");
        }
    }
}

/* Every city can be reached from every other one. */
static void check_connected(Reader *reader)
{
    const TicketsTables *tables = reader->tables;
    uint64_t reached = 1;
    uint64_t before = 0;
    while (reader_ok(reader) && reached != before) {
        before = reached;
        for (uint32_t i = 0; i < tables->route_count; i++) {
            const uint8_t *city = tables->route[i].city;
            uint64_t ends = UINT64_C(1) << city[0] | UINT64_C(1) << city[1];
            reached |= (reached & ends) != 0 ? ends : 0;
        }
    }
    for (uint32_t i = 0; reader_ok(reader) && i < tables->city_count; i++) {
        if ((reached >> i & 1) == 0) {
            doc_fail(reader->doc, reader->doc->nodes, &reader->status,
                     "no way leads from city \"%s\" to city \"%s\"",
                     tables->names + tables->city_name[0], tables->names + tables->city_name[i]);
        }
    }
}

/* Puts a route into the class of those that cost the same. Ferries have 45 different prices at
 * most, the other routes with sets nine. */
static void index_class(TicketsTables *tables, uint32_t index)
{
    const Route *route = &tables->route[index];
    uint32_t at = 0;
    while (at < tables->class_count && (tables->classes[at].length != route->length ||
                                        tables->classes[at].matched != route->matched ||
                                        tables->classes[at].set != route->set)) {
        at++;
    }
    SetClass *class = &tables->classes[at];
    tables->class_count = (uint8_t)(at == tables->class_count ? at + 1 : tables->class_count);
    class->length = route->length;
    class->matched = route->matched;
    class->set = route->set;
    class->locomotives = route->locomotives;
    class->colours |= 1u << route->colour;
    routes_add(&class->all, index);
    routes_add(&class->colour[route->colour], index);
}

/* Adds a route without sets to what hands of its colour pay. */
static void index_single(TicketsTables *tables, uint32_t index)
{
    const Route *route = &tables->route[index];
    for (uint32_t cards = 0; cards <= TICKETS_LENGTH_MAX; cards++) {
        for (uint32_t engines = 0; engines <= TICKETS_LENGTH_MAX; engines++) {
            if (cards + (route->locomotives ? engines : 0) >= route->length) {
                routes_add(&tables->single[route->colour][cards][engines], index);
            }
        }
    }
}

/* Sets of routes by what pays for them, so that a hand is compared with all routes at once. */
static void index_routes(TicketsTables *tables)
{
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        routes_add(&tables->routes, i);
        for (uint32_t wagons = route->length; wagons <= TICKETS_WAGONS_MAX; wagons++) {
            routes_add(&tables->within[wagons], i);
        }
        if (route->set != 0) {
            index_class(tables, i);
        } else {
            index_single(tables, i);
        }
    }
}

TyStatus tickets_map_read(const Doc *doc, const TicketsRules *rules, TicketsTables *tables)
{
    static const char *const trotter_keys[] = {
        "format", "name",   "title",  "status", "colours", "cards_per_colour", "locomotives",
        "wagons", "points", "cities", "routes", "tickets", "globetrotter",     NULL};
    static const char *const link_keys[] = {
        "format",           "name",        "title",  "status", "colours",
        "cards_per_colour", "locomotives", "wagons", "points", "cities",
        "routes",           "tickets",     "link",   NULL};
    Reader reader = {.doc = doc, .tables = tables};
    tables->rules = *rules;
    doc_known_keys(doc, doc->nodes, rules->globetrotter ? trotter_keys : link_keys, &reader.status);
    read_head(&reader);
    read_cards(&reader);
    read_points(&reader);
    read_cities(&reader);
    read_routes(&reader);
    read_tickets(&reader);
    read_bonus(&reader);
    check_connected(&reader);
    if (reader_ok(&reader)) {
        index_routes(tables);
    }
    return reader.status;
}
