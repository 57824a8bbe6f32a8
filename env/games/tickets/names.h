/* The ticket games: the names of things. */
#pragma once

#include "games/tickets/state.h"

/* A type of card: a colour, or "locomotive". */
const char *tickets_name_type(const TicketsTables *tables, uint32_t type);
/* The colour of a route, or "gray". */
const char *tickets_name_colour(const TicketsTables *tables, uint32_t colour);
const char *tickets_name_route(const TicketsTables *tables, uint32_t route);
const char *tickets_name_ticket(const TicketsTables *tables, uint32_t ticket);
const char *tickets_name_phase(uint32_t phase);
