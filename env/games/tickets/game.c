/* The ticket games: building a ruleset, steps and their rewards, metrics. */
#include "core/status.h"
#include "games/tickets/state.h"

#include <string.h>

const char *const tickets_streams[] = {"first_player", "cards", "tickets", NULL};
const char *const tickets_reward_names[] = {"win", "score", NULL};
const char *const tickets_first_names[] = {"random", "seat0", NULL};
const char *const tickets_chance_names[] = {"rng", "seat", NULL};

enum { SCORE_MARGIN_MAX = 128 }; /* points that the score reward counts, each worth 1/64 */

/* What the map and the number of players allow together. */
static TyStatus tables_agree(const TicketsTables *tables)
{
    uint32_t players = tables->player_count;
    uint32_t tickets = tables->rules.first_deal * players;
    if (tables->ticket_count < tickets) {
        return status_fail(TY_BAD_CONFIG, "players=%u: the map has %u tickets; %u are dealt",
                           players, tables->ticket_count, tickets);
    }
    uint32_t cards = cards_total(tables->card_count);
    cards -= tables->rules.locomotives_apart ? tables->card_count[tables->locomotive] : 0u;
    uint32_t dealt = TICKETS_HAND_FIRST * players + TICKETS_ROW_SIZE;
    if (cards < dealt) {
        return status_fail(TY_BAD_CONFIG, "players=%u: the map has %u cards; %u are dealt", players,
                           cards, dealt);
    }
    return status_ok();
}

static void tables_configure(TicketsTables *tables, const TyRuleset *ruleset)
{
    static const uint16_t caps[] = {600, 200, 40};
    tables->player_count = (uint8_t)ty_config(ruleset, "players");
    tables->reward = (uint8_t)ty_config(ruleset, "reward");
    tables->ask_forced = ty_config(ruleset, "ask_forced") != 0;
    tables->first_random = ty_config(ruleset, "first_player") == 0;
    if (tables->rules.endless) {
        tables->turns_max = caps[ty_config(ruleset, "turns_max")];
    }
}

TyStatus tickets_build(TyRuleset *ruleset, const Doc *doc, const TicketsRules *rules)
{
    TicketsTables *tables = ruleset->tables;
    TyStatus status = tickets_map_read(doc, rules, tables);
    if (status.code != TY_OK) {
        return status;
    }
    tables_configure(tables, ruleset);
    tickets_shape(ruleset);
    const DocNode *said = doc_get(doc, &doc->nodes[0], "status");
    if (said != NULL) {
        Text note = text_init(ruleset->note, sizeof ruleset->note);
        text_add(&note, "map %s: %s", tables->names + tables->map_name, said->text);
    }
    return tables_agree(tables);
}

/* ---- Rewards -----------------------------------------------------------------------------------
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

/* An episode that was cut short has no result, so nobody earns anything by it. */
static void rewards_give(const TicketsTables *tables, const TicketsState *state, int32_t *reward)
{
    Sheet sheets[TY_PLAYERS_MAX];
    if (state->head.truncated) {
        return;
    }
    if (tables->reward == REWARD_SCORE) {
        tickets_sheets(tables, state, sheets);
    }
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        reward[seat] += tables->reward == REWARD_SCORE ? reward_score(tables, sheets, seat)
                                                       : reward_win(state, seat);
    }
}

bool tickets_step(const TyRuleset *ruleset, void *state_, uint32_t action, int32_t *reward,
                  TyTape *tape)
{
    const TicketsTables *tables = tickets_tables(ruleset);
    TicketsState *state = state_;
    if (!tickets_allowed(tables, state, action)) {
        return false;
    }
    Play play = {.tables = tables, .state = state, .tape = tape};
    tickets_apply(&play, action);
    tickets_play_on(&play);
    if (state->head.over) {
        rewards_give(tables, state, reward);
    }
    return true;
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
