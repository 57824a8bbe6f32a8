/* The ticket games: completing the tables, the result and its rewards, metrics. */
#include "core/status.h"
#include "games/tickets/state.h"

#include <string.h>

enum { SCORE_MARGIN_MAX = 128 }; /* points that the score reward counts, each worth 1/64 */

/* What the map and the number of players allow together. */
static TyStatus tables_agree(const TicketsTables *tables)
{
    uint32_t players = tables->player_count;
    uint32_t tickets = tables->rules.first_deal * players;
    if (tables->ticket_count < tickets) {
        return ty_status_fail(TY_BAD_CONFIG, "players=%u: the map has %u tickets; %u are dealt",
                              players, tables->ticket_count, tickets);
    }
    uint32_t cards = cards_total(tables->card_count);
    cards -= tables->rules.locomotives_apart ? tables->card_count[tables->locomotive] : 0u;
    uint32_t dealt = TICKETS_HAND_FIRST * players + TICKETS_ROW_SIZE;
    if (cards < dealt) {
        return ty_status_fail(TY_BAD_CONFIG, "players=%u: the map has %u cards; %u are dealt",
                              players, cards, dealt);
    }
    return ty_status_ok();
}

static void tables_configure(TicketsTables *tables, const TyRuleset *ruleset)
{
    static const uint16_t caps[] = {600, 200, 40};
    tables->player_count = (uint8_t)ruleset->shape.players;
    tables->reward = (uint8_t)ty_config(ruleset, "reward");
    tables->first_random = ty_config(ruleset, "first_player") == 0;
    tables->show_board = ty_config(ruleset, "show_board") == 1;
    if (tables->rules.endless) {
        tables->turns_max = caps[ty_config(ruleset, "turns_max")];
    }
}

/* What kind of route it is, as an item of the list of kinds: plain, tunnel, four for one, and ferry
 * with one locomotive, two, and so on. */
static uint8_t kind_number(const Route *route)
{
    switch ((RouteKind)route->kind) {
    case ROUTE_PLAIN:
        return 0;
    case ROUTE_TUNNEL:
        return 1;
    case ROUTE_FOUR_FOR_ONE:
        return 2;
    case ROUTE_FERRY:
        return (uint8_t)(2 + route->length - route->matched);
    }
    return 0;
}

static void row_put(TicketsTables *tables, uint8_t value)
{
    tables->map_row[tables->map_row_size++] = value;
}

static void row_put_ends(TicketsTables *tables, const uint8_t city[2])
{
    row_put(tables, city[0]);
    row_put(tables, city[1]);
}

/* The map in the order of its blocks, from BLOCK_ROUTE_ENDS on. */
static void map_row_make(TicketsTables *tables)
{
    for (uint32_t i = 0; i < tables->route_count; i++) {
        row_put_ends(tables, tables->route[i].city);
    }
    for (uint32_t i = 0; i < tables->route_count; i++) {
        row_put(tables, tables->route[i].length);
    }
    for (uint32_t i = 0; i < tables->route_count; i++) {
        row_put(tables, tables->route[i].colour);
    }
    for (uint32_t i = 0; tables->rules.special_routes && i < tables->route_count; i++) {
        row_put(tables, kind_number(&tables->route[i]));
    }
    for (uint32_t i = 0; i < tables->ticket_count; i++) {
        row_put_ends(tables, tables->ticket[i].city);
    }
    for (uint32_t i = 0; i < tables->ticket_count; i++) {
        row_put(tables, tables->ticket[i].points);
    }
    if (tables->rules.link_bonus) {
        row_put_ends(tables, tables->bonus_city);
    }
}

TyStatus tickets_build(TyRuleset *ruleset)
{
    TicketsTables *tables = ruleset->tables;
    tables_configure(tables, ruleset);
    map_row_make(tables);
    tickets_layout(tables);
    return tables_agree(tables);
}

/* ---- The result
 * -----------------------------------------------------------------------------------
 */

/* +1 for winning alone, 0 for sharing the victory, -1 otherwise. */
static int32_t reward_win(const TicketsState *state, uint32_t seat)
{
    if ((state->winners >> seat & 1) == 0) {
        return -TY_REWARD_ONE;
    }
    return (state->winners & (state->winners - 1)) == 0 ? TY_REWARD_ONE : 0;
}

/* 1/64 for every point ahead of the best opponent, or behind. */
static int32_t reward_score(const TicketsTables *tables, const Sheet *sheets, uint32_t seat)
{
    int32_t best = INT32_MIN;
    for (uint32_t other = 0; other < tables->player_count; other++) {
        if (other != seat && sheets[other].total > best) {
            best = sheets[other].total;
        }
    }
    int32_t margin = sheets[seat].total - best;
    if (margin > SCORE_MARGIN_MAX) {
        return SCORE_MARGIN_MAX;
    }
    return margin < -SCORE_MARGIN_MAX ? -SCORE_MARGIN_MAX : margin;
}

/* The longest paths are looked for only if they decide. */
void tickets_result(Play *play)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    Sheet sheets[TY_PLAYERS_MAX];
    tickets_sheets(tables, state, sheets);
    state->winners = tickets_winners(tables, sheets);
    if ((state->winners & (state->winners - 1)) != 0) {
        tickets_sheets_longest(tables, state, sheets);
        state->winners = tickets_winners(tables, sheets);
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        play->ty->reward[seat] += tables->reward == REWARD_SCORE
                                      ? reward_score(tables, sheets, seat)
                                      : reward_win(state, seat);
    }
}

/* ---- Metrics -----------------------------------------------------------------------------------
 */

void tickets_measure(const TyRuleset *ruleset, const void *state_, int32_t *metrics)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    const TicketsState *state = state_;
    uint32_t size = tables->rules.longest_breaks_tie ? 8 : 7; /* the longest path comes last */
    uint32_t seats = (ruleset->shape.metric_count - 2) / size;
    Sheet sheets[TY_PLAYERS_MAX];
    tickets_sheets(tables, state, sheets);
    tickets_sheets_longest(tables, state, sheets);
    metrics[0] = state->turns;
    metrics[1] = state->head.truncated;
    for (uint32_t seat = 0; seat < seats; seat++) {
        const Sheet *sheet = &sheets[seat];
        const int32_t values[] = {
            state->winners >> seat & 1, sheet->total,  sheet->routes,  sheet->tickets, sheet->bonus,
            sheet->completed,           sheet->failed, sheet->longest,
        };
        memcpy(metrics + 2 + size * seat, values, size * sizeof values[0]);
    }
}
