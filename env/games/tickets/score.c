/* The ticket games: the score sheet, the winners, and the longest path. */
#include "games/tickets/state.h"

#include <string.h>

/* ---- The longest path --------------------------------------------------------------------------
 *
 * It uses no route twice, but may pass a city again (ruling N12). A path that cannot be made longer
 * ends where all routes are used up: at a city with an odd number of them, or it is a round trip
 * over everything. So the search begins in odd cities only, and is not needed where there are at
 * most two of them. */

enum { EDGES_MAX = TICKETS_WAGONS_MAX }; /* routes of one seat */

/* The routes of a seat as a graph of its own. */
typedef struct Network {
    uint32_t edge_count;
    uint8_t end[EDGES_MAX][2];
    uint8_t length[EDGES_MAX];
    uint64_t edges_at[TICKETS_CITIES_MAX];
} Network;

static void network_build(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          Network *network)
{
    memset(network, 0, sizeof *network);
    for (uint32_t i = 0; i < tables->route_count; i++) {
        if (state->owner[i] != seat + 1) {
            continue;
        }
        const Route *route = &tables->route[i];
        uint32_t edge = network->edge_count++;
        for (uint32_t end = 0; end < 2; end++) {
            network->end[edge][end] = route->city[end];
            network->edges_at[route->city[end]] |= UINT64_C(1) << edge;
        }
        network->length[edge] = route->length;
    }
}

/* The edges that hang together with `edge`. */
static uint64_t network_part(const Network *network, uint32_t edge)
{
    uint64_t part = UINT64_C(1) << edge;
    uint64_t left = part;
    while (left != 0) {
        uint32_t at = (uint32_t)__builtin_ctzll(left);
        uint64_t near =
            network->edges_at[network->end[at][0]] | network->edges_at[network->end[at][1]];
        left = (left | (near & ~part)) & ~(UINT64_C(1) << at);
        part |= near;
    }
    return part;
}

static uint32_t edges_length(const Network *network, uint64_t edges)
{
    uint32_t length = 0;
    for (; edges != 0; edges &= edges - 1) {
        length += network->length[__builtin_ctzll(edges)];
    }
    return length;
}

/* A walk in progress: the cities passed, and per city the edges that are still to be tried. */
typedef struct Walk {
    uint32_t depth;
    uint32_t length;
    uint64_t used;
    uint8_t city[EDGES_MAX + 1];
    uint8_t edge[EDGES_MAX + 1]; /* by which the city was reached */
    uint64_t untried[EDGES_MAX + 1];
} Walk;

static void walk_enter(const Network *network, Walk *walk, uint32_t edge)
{
    uint8_t from = walk->city[walk->depth];
    const uint8_t *end = network->end[edge];
    walk->untried[walk->depth] &= ~(UINT64_C(1) << edge);
    walk->used |= UINT64_C(1) << edge;
    walk->length += network->length[edge];
    walk->depth++;
    walk->city[walk->depth] = end[0] == from ? end[1] : end[0];
    walk->edge[walk->depth] = (uint8_t)edge;
    walk->untried[walk->depth] = network->edges_at[walk->city[walk->depth]] & ~walk->used;
}

static void walk_leave(const Network *network, Walk *walk)
{
    uint8_t edge = walk->edge[walk->depth];
    walk->used &= ~(UINT64_C(1) << edge);
    walk->length -= network->length[edge];
    walk->depth--;
}

/* The longest walk from `start`, or `best` if none is longer; stops once `enough` is found. */
static uint32_t walk_longest(const Network *network, uint8_t start, uint32_t best, uint32_t enough)
{
    Walk walk = {.city = {start}, .untried = {network->edges_at[start]}};
    while (best < enough) {
        if (walk.untried[walk.depth] != 0) {
            walk_enter(network, &walk, (uint32_t)__builtin_ctzll(walk.untried[walk.depth]));
            best = walk.length > best ? walk.length : best;
        } else if (walk.depth > 0) {
            walk_leave(network, &walk);
        } else {
            break;
        }
    }
    return best;
}

/* Cities of the part with an odd number of its edges, as bits. */
static uint64_t part_odd_cities(const TicketsTables *tables, const Network *network, uint64_t part)
{
    uint64_t odd = 0;
    for (uint32_t city = 0; city < tables->city_count; city++) {
        uint64_t edges = network->edges_at[city] & part;
        odd |= (uint64_t)(__builtin_popcountll(edges) & 1) << city;
    }
    return odd;
}

/* No path in the part is longer: each edge left out makes at most two odd cities even, and all but
 * two must be. */
static uint32_t part_bound(const Network *network, uint64_t part, uint32_t odd_count)
{
    uint32_t bound = edges_length(network, part);
    for (uint32_t out = odd_count / 2 - 1; out > 0; out--) {
        uint32_t shortest = (uint32_t)__builtin_ctzll(part);
        for (uint64_t left = part; left != 0; left &= left - 1) {
            uint32_t edge = (uint32_t)__builtin_ctzll(left);
            shortest = network->length[edge] < network->length[shortest] ? edge : shortest;
        }
        bound -= network->length[shortest];
        part &= ~(UINT64_C(1) << shortest);
    }
    return bound;
}

static uint32_t part_longest(const TicketsTables *tables, const Network *network, uint64_t part)
{
    uint64_t odd = part_odd_cities(tables, network, part);
    uint32_t odd_count = (uint32_t)__builtin_popcountll(odd);
    if (odd_count <= 2) {
        return edges_length(network, part);
    }
    uint32_t enough = part_bound(network, part, odd_count);
    uint32_t best = 0;
    for (; odd != 0 && best < enough; odd &= odd - 1) {
        best = walk_longest(network, (uint8_t)__builtin_ctzll(odd), best, enough);
    }
    return best;
}

uint32_t tickets_longest_path(const TicketsTables *tables, const TicketsState *state, uint32_t seat)
{
    Network network;
    network_build(tables, state, seat, &network);
    uint64_t left = network.edge_count == 0 ? 0 : UINT64_MAX >> (64 - network.edge_count);
    uint32_t best = 0;
    while (left != 0) {
        uint64_t part = network_part(&network, (uint32_t)__builtin_ctzll(left));
        left &= ~part;
        if (edges_length(&network, part) > best) {
            uint32_t longest = part_longest(tables, &network, part);
            best = longest > best ? longest : best;
        }
    }
    return best;
}

/* ---- The score sheet (Decompte des points) ------------------------------------------------------
 */

static void sheet_tickets(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                          Sheet *sheet)
{
    for (uint64_t left = state->tickets[seat]; left != 0; left &= left - 1) {
        uint32_t ticket = (uint32_t)__builtin_ctzll(left);
        int32_t points = tables->ticket[ticket].points;
        bool complete = state->complete[seat] >> ticket & 1;
        sheet->tickets += complete ? points : -points;
        sheet->completed += complete;
        sheet->failed += !complete;
    }
}

/* Globetrotter: for the most completed tickets, to all who share them, even with none (N10). */
static void sheets_globetrotter(const TicketsTables *tables, Sheet *sheets)
{
    int32_t most = 0;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        most = sheets[seat].completed > most ? sheets[seat].completed : most;
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        sheets[seat].bonus += sheets[seat].completed == most ? tables->bonus_points[0] : 0;
    }
}

void tickets_sheets(const TicketsTables *tables, const TicketsState *state,
                    Sheet sheets[TY_PLAYERS_MAX])
{
    memset(sheets, 0, TY_PLAYERS_MAX * sizeof *sheets);
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        Sheet *sheet = &sheets[seat];
        sheet->routes = state->points[seat];
        sheet_tickets(tables, state, seat, sheet);
        if (state->bonus[seat] != 0) {
            sheet->bonus = tables->bonus_points[state->bonus[seat] - 1];
        }
    }
    if (tables->rules.globetrotter) {
        sheets_globetrotter(tables, sheets);
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        Sheet *sheet = &sheets[seat];
        sheet->total = sheet->routes + sheet->tickets + sheet->bonus;
    }
}

void tickets_sheets_longest(const TicketsTables *tables, const TicketsState *state,
                            Sheet sheets[TY_PLAYERS_MAX])
{
    for (uint32_t seat = 0; tables->rules.longest_breaks_tie && seat < tables->player_count;
         seat++) {
        sheets[seat].longest = (int32_t)tickets_longest_path(tables, state, seat);
    }
}

/* Positive if `a` is ahead: by points, then completed tickets, then the longest path, which is 0
 * where it does not count (rulings E12, N10). */
static int32_t sheet_compare(const Sheet *a, const Sheet *b)
{
    if (a->total != b->total) {
        return a->total - b->total;
    }
    return a->completed != b->completed ? a->completed - b->completed : a->longest - b->longest;
}

uint8_t tickets_winners(const TicketsTables *tables, const Sheet sheets[TY_PLAYERS_MAX])
{
    uint32_t winners = 1;
    uint32_t best = 0;
    for (uint32_t seat = 1; seat < tables->player_count; seat++) {
        int32_t ahead = sheet_compare(&sheets[seat], &sheets[best]);
        if (ahead > 0) {
            winners = 0;
            best = seat;
        }
        winners |= ahead >= 0 ? 1u << seat : 0;
    }
    return (uint8_t)winners;
}
