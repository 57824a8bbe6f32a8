/* The ticket games in words: what positions and choices have in common. */
#pragma once

#include "games/tickets/state.h"

/* "3 blue, 1 locomotive" with ", " between them, or "none". */
void tickets_write_cards(const TicketsTables *tables, const uint8_t cards[TICKETS_SLOTS],
                         const char *between, TyText *out);
/* What a route is, without its points: "4 blue, tunnel". */
void tickets_write_route(const TicketsTables *tables, uint32_t route, TyText *out);
/* "Bergen - Narvik". */
void tickets_write_ends(const TicketsTables *tables, const uint8_t city[2], TyText *out);

/* The way with the fewest wagons that links two cities for a seat: over its own routes for nothing,
 * over routes that it may still take for their length. */
typedef struct TicketsWay {
    bool open; /* there is one */
    uint8_t wagons;
    uint8_t route_count;
    uint8_t route[TICKETS_CITIES_MAX]; /* still to be taken, from the second city to the first */
} TicketsWay;

TicketsWay tickets_way(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                       const uint8_t city[2]);
/* How far the seat is from linking two cities. */
void tickets_write_way(const TicketsTables *tables, const TicketsState *state, uint32_t seat,
                       const uint8_t city[2], TyText *out);
