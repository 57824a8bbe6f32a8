/* The ticket games: the names of actions, blocks and outcomes. */
#include "games/tickets/names.h"

#include <string.h>

static const char *const phase_names[] = {
    "keep.first", "turn", "draw", "keep", "pay", "tunnel", "over",
};
_Static_assert(sizeof phase_names / sizeof phase_names[0] == PHASE_COUNT, "a name per phase");

const char *tickets_name_type(const TicketsTables *tables, uint32_t type)
{
    return type < tables->colour_count ? tables->names + tables->colour_name[type] : "locomotive";
}

const char *tickets_name_colour(const TicketsTables *tables, uint32_t colour)
{
    return colour < tables->colour_count ? tables->names + tables->colour_name[colour] : "gray";
}

const char *tickets_name_route(const TicketsTables *tables, uint32_t route)
{
    return tables->names + tables->route[route].name;
}

const char *tickets_name_ticket(const TicketsTables *tables, uint32_t ticket)
{
    return tables->names + tables->ticket[ticket].name;
}

const char *tickets_name_phase(uint32_t phase)
{
    return phase_names[phase];
}

const char *tickets_phase_name(const TyRuleset *ruleset, const void *state)
{
    (void)ruleset;
    return phase_names[((const TicketsState *)state)->phase];
}

void tickets_action_name(const TyRuleset *ruleset, uint32_t action, Text *out)
{
    static const char *const singles[ACTION_TAKE] = {
        "wait",         "pass",      "draw",     "take.locomotive",
        "tickets.draw", "keep.done", "pay.done", "withdraw",
    };
    const TicketsTables *tables = tickets_tables(ruleset);
    if (action < ACTION_TAKE) {
        text_add(out, "%s", singles[action]);
    } else if (action < action_pay(tables)) {
        text_add(out, "take %s", tickets_name_type(tables, action - ACTION_TAKE));
    } else if (action < action_keep(tables)) {
        text_add(out, "pay %s", tickets_name_type(tables, action - action_pay(tables)));
    } else if (action < action_claim(tables)) {
        text_add(out, "keep %s", tickets_name_ticket(tables, action - action_keep(tables)));
    } else {
        text_add(out, "claim %s", tickets_name_route(tables, action - action_claim(tables)));
    }
}

void tickets_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    if (stream == STREAM_CARDS && outcome < tables->type_count) {
        text_add(out, "%s", tickets_name_type(tables, outcome));
    } else if (stream == STREAM_TICKETS && outcome < tables->ticket_count) {
        text_add(out, "%s", tickets_name_ticket(tables, outcome));
    } else if (stream == STREAM_FIRST_PLAYER && outcome < tables->player_count) {
        text_add(out, "%u", outcome);
    }
}

/* ---- Blocks of the row -------------------------------------------------------------------------
 */

static bool block_is(const TyBlock *block, const char *name)
{
    return strcmp(block->name, name) == 0;
}

void tickets_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                         uint32_t column, Text *out)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    if (block_is(block, "hand")) {
        text_add(out, "seat +%u %s", row, tickets_name_type(tables, column));
    } else if (block_is(block, "owner")) {
        text_add(out, "%s", tickets_name_route(tables, column));
    } else if (block_is(block, "ticket") || block_is(block, "depth") ||
               block_is(block, "ticket_place")) {
        text_add(out, "%s", tickets_name_ticket(tables, column));
    } else if (block_is(block, "row") || block_is(block, "discard") || block_is(block, "unseen") ||
               block_is(block, "laid") || block_is(block, "revealed")) {
        text_add(out, "%s", tickets_name_type(tables, column));
    } else if (block->columns > 1) {
        text_add(out, "seat +%u", column);
    }
}

/* Where a ticket is, as the privileged row tells. */
static void place_label(const TicketsTables *tables, uint32_t value, Text *out)
{
    if (value < 2) {
        text_add(out, "%s", value == 0 ? "deck" : "offered");
    } else if (value < 2u + tables->player_count) {
        text_add(out, "with seat +%u", value - 2);
    } else {
        text_add(out, "refused by seat +%u", value - 2 - tables->player_count);
    }
}

void tickets_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out)
{
    static const char *const ticket_values[] = {
        "unknown", "offered", "chosen", "open", "complete", "refused", "refused, perhaps drawn",
    };
    const TicketsTables *tables = tickets_tables(ruleset);
    if (block->kind != TY_BLOCK_CATEGORY || value > block->maximum) {
        return;
    }
    if (block_is(block, "phase")) {
        text_add(out, "%s", phase_names[value]);
    } else if (block_is(block, "turn")) {
        text_add(out, "seat +%u", value);
    } else if (block_is(block, "ticket")) {
        text_add(out, "%s", ticket_values[value]);
    } else if (block_is(block, "ticket_place")) {
        place_label(tables, value, out);
    } else if (value == 0) {
        text_add(out, "none");
    } else if (block_is(block, "route")) {
        text_add(out, "%s", tickets_name_route(tables, value - 1));
    } else if (block_is(block, "owner")) {
        text_add(out, "seat +%u", value - 1);
    }
}
