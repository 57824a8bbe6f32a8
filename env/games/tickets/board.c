/* The ticket games: the map as a graph. Nodes are cities; edges are the routes, and behind them the
 * tickets, each between the two cities that it asks for. */
#include "games/tickets/text.h"

static uint32_t node_count(const TyRuleset *ruleset)
{
    return tickets_tables(ruleset)->city_count;
}

static uint32_t edge_count(const TyRuleset *ruleset)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    return (uint32_t)tables->route_count + tables->ticket_count;
}

static TyEdge edge_ends(const TyRuleset *ruleset, uint32_t edge)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const uint8_t *city = edge < tables->route_count
                              ? tables->route[edge].city
                              : tables->ticket[edge - tables->route_count].city;
    return (TyEdge){.a = city[0], .b = city[1]};
}

static void node_write(const TyRuleset *ruleset, uint32_t node, TyJson *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    ty_json_put_string(out, "id", tables->names.bytes + tables->city_name[node]);
    ty_json_put_string(out, "title", tables->names.bytes + tables->city_title[node]);
    ty_json_put_string(out, "kind", "city");
    ty_json_put_int(out, "x", tables->city_xy[node][0]);
    ty_json_put_int(out, "y", tables->city_xy[node][1]);
}

static void route_write(const TicketsTables *tables, uint32_t index, TyJson *out)
{
    const Route *route = &tables->route[index];
    bool gray = route->colour == tables->colour_count;
    ty_json_put_string(out, "id", tickets_name_route(tables, index));
    ty_json_put_string(out, "kind", "route");
    ty_json_put_int(out, "length", route->length);
    ty_json_put_string(out, "colour", gray ? "gray" : tickets_name_type(tables, route->colour));
    ty_json_put_int(out, "points", route->points);
    ty_json_put_bool(out, "tunnel", route->kind == ROUTE_TUNNEL);
    ty_json_put_int(out, "ferry", route->kind == ROUTE_FERRY ? route->length - route->matched : 0);
    ty_json_put_bool(out, "four_for_one", route->kind == ROUTE_FOUR_FOR_ONE);
}

static void edge_write(const TyRuleset *ruleset, uint32_t edge, TyJson *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    if (edge < tables->route_count) {
        route_write(tables, edge, out);
        return;
    }
    uint32_t ticket = edge - tables->route_count;
    ty_json_put_string(out, "id", tickets_name_ticket(tables, ticket));
    ty_json_put_string(out, "kind", "ticket");
    ty_json_put_int(out, "points", tables->ticket[ticket].points);
}

static uint32_t ticket_edge(const TyRuleset *ruleset, uint32_t ticket)
{
    return tickets_tables(ruleset)->route_count + ticket;
}

static void board_text(const TyRuleset *ruleset, TyText *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    ty_text_add(out, "Routes, with spaces and colour:\n");
    for (uint32_t i = 0; i < tables->route_count; i++) {
        ty_text_add(out, "- ");
        tickets_write_ends(tables, tables->route[i].city, out);
        ty_text_add(out, " [%s]: ", tickets_name_route(tables, i));
        tickets_write_route(tables, i, out);
        ty_text_add(out, ", ");
        ty_text_put_count(out, tables->route[i].points, "point");
        ty_text_add(out, "\n");
    }
    ty_text_add(out, "\nAll tickets of the game:\n");
    for (uint32_t i = 0; i < tables->ticket_count; i++) {
        ty_text_add(out, "- ");
        tickets_write_ends(tables, tables->ticket[i].city, out);
        ty_text_add(out, " [%s]: ", tickets_name_ticket(tables, i));
        ty_text_put_count(out, tables->ticket[i].points, "point");
        ty_text_add(out, "\n");
    }
}

static const TyAnchor anchors[] = {
    {.names = &tickets_routes, .edge = true},
    {.names = &tickets_tickets, .edge = true, .at = ticket_edge},
    {.names = NULL},
};

const TyBoard tickets_board = {
    .node_count = node_count,
    .edge_count = edge_count,
    .ends = edge_ends,
    .node = node_write,
    .edge = edge_write,
    .anchors = anchors,
    .text = board_text,
};
