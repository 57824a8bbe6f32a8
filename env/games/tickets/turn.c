/* The ticket games: setting up, the turn, and the end. */
#include "games/tickets/state.h"

#include <string.h>

/* Puts a question to the active seat. */
static void ask(Play *play, Phase phase)
{
    play->state->head.phase = (uint8_t)phase;
    play->state->head.seat = (int8_t)play->state->active;
}

/* ---- Set-up (Mise en place, Preparation du jeu) ------------------------------------------------
 */

static void first_player_draw(Play *play)
{
    static const uint8_t weights[TY_PLAYERS_MAX] = {1, 1, 1, 1};
    TicketsState *state = play->state;
    uint32_t seat = ty_draw(play->ty, STREAM_FIRST_PLAYER, weights, play->tables->player_count);
    state->active = (uint8_t)seat;
    TY_EVENT_CHANCE(play->ty, EVENT_FIRST_PLAYER, STREAM_FIRST_PLAYER, seat, (int16_t)seat);
}

/* Each seat begins with its wagons, four cards, and every city linked to itself alone. */
static void seats_deal(Play *play)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        state->wagons[seat] = tables->wagons;
        for (uint32_t i = 0; i < TICKETS_HAND_FIRST; i++) {
            state->hand[seat][tickets_card_draw(play, EVENT_DEAL, (int16_t)seat)]++;
        }
        for (uint32_t city = 0; city < tables->city_count; city++) {
            state->network[seat][city] = (uint8_t)city;
        }
    }
}

/* Offers the first tickets to the active seat. The seats choose one after the other, and none sees
 * what another one keeps (ruling E8). */
static void first_tickets_offer(Play *play)
{
    tickets_offer(play, play->tables->rules.first_deal);
    ask(play, PHASE_KEEP_FIRST);
}

void tickets_begin(TyPlay *ty)
{
    Play play = tickets_play(ty);
    const TicketsTables *tables = play.tables;
    TicketsState *state = play.state;
    memcpy(state->deck, tables->card_count, sizeof state->deck);
    if (tables->rules.locomotives_apart) {
        state->stack = tables->card_count[tables->locomotive];
        state->deck[tables->locomotive] = 0;
    }
    state->ticket_deck = tickets_all(tables);
    state->ticket_end = tables->ticket_count;
    state->batch_first = tables->ticket_count;
    state->choosing = tables->player_count;
    if (tables->first_random) {
        first_player_draw(&play);
    }
    seats_deal(&play);
    tickets_row_fill(&play);
    first_tickets_offer(&play);
}

/* ---- The end (Fin de la partie) ----------------------------------------------------------------
 */

/* An episode that was cut short has no result, so nobody wins or earns anything by it. */
static void episode_end(Play *play, EndReason why)
{
    TicketsState *state = play->state;
    if (why == END_TURN_CAP) {
        state->head.truncated = 1;
    } else {
        tickets_result(play);
    }
    state->head.over = 1;
    state->head.seat = -1;
    state->head.phase = PHASE_OVER;
    EVENT(play, EVENT_END, state->winners, (int16_t)why);
}

static uint8_t seat_next(const Play *play)
{
    uint32_t next = play->state->active + 1u;
    return next == play->tables->player_count ? 0 : (uint8_t)next;
}

static void turn_begin(Play *play)
{
    TicketsState *state = play->state;
    state->turns++;
    EVENT(play, EVENT_TURN, (int16_t)state->turns);
    ask(play, PHASE_TURN);
}

/* Once a seat ends its turn with two wagons or fewer, every seat has one more turn, that one too
 * (rulings E9, N11). */
static void last_round_count(Play *play)
{
    TicketsState *state = play->state;
    if (state->last_turns > 0) {
        state->last_turns--;
    } else if (state->wagons[state->active] <= TICKETS_LAST_WAGONS) {
        state->last_turns = play->tables->player_count;
        EVENT(play, EVENT_LAST_ROUND, state->last_turns);
    }
}

static void turn_end(Play *play)
{
    TicketsState *state = play->state;
    bool ending = state->last_turns == 1;
    last_round_count(play);
    if (ending) {
        episode_end(play, END_LAST_ROUND);
    } else if (state->passes == play->tables->player_count) {
        episode_end(play, END_ALL_PASSED);
    } else if (play->tables->turns_max != 0 && state->turns >= play->tables->turns_max) {
        episode_end(play, END_TURN_CAP);
    } else {
        state->active = seat_next(play);
        turn_begin(play);
    }
}

/* ---- Drawing -----------------------------------------------------------------------------------
 */

/* After the first card comes a second one, if there is any (rulings E2, N7). */
static void card_drawn(Play *play)
{
    const TicketsState *state = play->state;
    if (state->head.phase == PHASE_TURN && (pile_any(state) || cards_any(state->row))) {
        ask(play, PHASE_DRAW);
    } else {
        turn_end(play);
    }
}

static void blind_draw(Play *play)
{
    TicketsState *state = play->state;
    uint8_t type = tickets_card_draw(play, EVENT_BLIND, 0);
    state->hand[state->active][type]++;
    card_drawn(play);
}

/* A face-up card is replaced at once; everybody saw what was taken. */
static void row_take(Play *play, uint8_t type)
{
    TicketsState *state = play->state;
    state->row[type]--;
    state->hand[state->active][type]++;
    state->known[state->active][type]++;
    EVENT(play, EVENT_TAKE, type);
    tickets_row_fill(play);
    card_drawn(play);
}

/* Prendre une carte Locomotive: one from the stack, and that is the turn (ruling E3). */
static void stack_take(Play *play)
{
    TicketsState *state = play->state;
    uint8_t type = play->tables->locomotive;
    state->stack--;
    state->hand[state->active][type]++;
    state->known[state->active][type]++;
    EVENT(play, EVENT_LOCOMOTIVE, state->stack);
    turn_end(play);
}

/* ---- Tickets -----------------------------------------------------------------------------------
 */

static void tickets_draw(Play *play)
{
    tickets_offer(play, TICKETS_LATER_DEAL);
    ask(play, PHASE_KEEP);
}

static void tickets_kept(Play *play)
{
    TicketsState *state = play->state;
    tickets_settle(play);
    if (state->head.phase == PHASE_KEEP) {
        turn_end(play);
        return;
    }
    state->active = seat_next(play);
    state->choosing--;
    if (state->choosing > 0) {
        first_tickets_offer(play);
    } else {
        turn_begin(play);
    }
}

/* ---- Routes ------------------------------------------------------------------------------------
 */

/* Moves cards from the hand to the payment. Cards that others knew of count as laid first. */
static void cards_lay(Play *play, uint8_t type, uint8_t count)
{
    TicketsState *state = play->state;
    uint8_t seat = state->active;
    uint8_t known = state->known[seat][type];
    state->hand[seat][type] = (uint8_t)(state->hand[seat][type] - count);
    state->known[seat][type] = (uint8_t)(known > count ? known - count : 0);
    state->laid[type] = (uint8_t)(state->laid[type] + count);
    state->cursor = type;
    for (uint8_t i = 0; i < count; i++) {
        EVENT(play, EVENT_LAY, type, (int16_t)(state->route - 1));
    }
}

/* The cards of a payment, and those that a tunnel revealed, go to the discards; where locomotives
 * have a stack of their own they return to it. */
static void cards_discard(Play *play)
{
    TicketsState *state = play->state;
    CardWords discard = cards_words(state->discard);
    CardWords laid = cards_words(state->laid);
    CardWords revealed = cards_words(state->revealed);
    discard.low += laid.low + revealed.low;
    discard.high += laid.high + revealed.high;
    memcpy(state->discard, &discard, sizeof discard);
    if (play->tables->rules.locomotives_apart) {
        uint8_t locomotive = play->tables->locomotive;
        state->stack = (uint8_t)(state->stack + state->discard[locomotive]);
        state->discard[locomotive] = 0;
    }
    memset(state->laid, 0, sizeof state->laid);
    memset(state->revealed, 0, sizeof state->revealed);
    state->route = 0;
    state->cursor = 0;
    state->due = 0;
    state->due_paid = 0;
}

/* Nobody takes a taken route. The other half of a double route is closed to its owner, and with two
 * players to both (rulings E5, N2). */
static void routes_close(Play *play, uint8_t route)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    uint8_t twin = tables->route[route].twin;
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        routes_add(&state->closed[seat], route);
        if (twin != TICKETS_NONE && (tables->player_count == 2 || seat == state->active)) {
            routes_add(&state->closed[seat], twin);
        }
    }
}

/* Joins the networks at the two ends of a route: the higher number becomes the lower one. Cities
 * that the map does not have stay 0, which is never higher. */
static void network_join(Play *play, const Route *route)
{
    uint8_t *network = play->state->network[play->state->active];
    uint8_t one = network[route->city[0]];
    uint8_t other = network[route->city[1]];
    uint8_t kept = one < other ? one : other;
    uint8_t dropped = one < other ? other : one;
    for (uint32_t city = 0; city < TICKETS_CITIES_MAX; city += 16) {
        BytesOf16 numbers;
        memcpy(&numbers, network + city, sizeof numbers);
        numbers ^= (BytesOf16)(numbers == dropped) & (uint8_t)(kept ^ dropped);
        memcpy(network + city, &numbers, sizeof numbers);
    }
}

_Static_assert(TICKETS_CITIES_MAX % 16 == 0, "network_join takes sixteen at a time");

/* Europe-Express: whoever links the two cities takes the top bonus card, once (ruling E6). */
static void bonus_check(Play *play)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    const uint8_t *network = state->network[state->active];
    if (tables->rules.link_bonus && state->bonus[state->active] == 0 &&
        state->bonus_taken < tables->bonus_count &&
        network[tables->bonus_city[0]] == network[tables->bonus_city[1]]) {
        EVENT(play, EVENT_BONUS, tables->bonus_points[state->bonus_taken]);
        state->bonus[state->active] = ++state->bonus_taken;
    }
}

static void claim_finish(Play *play)
{
    TicketsState *state = play->state;
    uint8_t index = (uint8_t)(state->route - 1);
    const Route *route = &play->tables->route[index];
    uint8_t seat = state->active;
    state->owner[index] = (uint8_t)(seat + 1);
    routes_close(play, index);
    network_join(play, route);
    state->complete[seat] |= tickets_linked(play->tables, state->network[seat],
                                            state->tickets[seat] & ~state->complete[seat]);
    state->wagons[seat] = (uint8_t)(state->wagons[seat] - route->length);
    state->points[seat] = (uint16_t)(state->points[seat] + route->points);
    EVENT(play, EVENT_CLAIM, index, route->points, state->wagons[seat]);
    bonus_check(play);
    cards_discard(play);
    tickets_row_fill(play);
    turn_end(play);
}

/* ---- Tunnels -----------------------------------------------------------------------------------
 */

/* Reveals up to three cards and counts those that ask for another one: locomotives, and the colour
 * of the payment unless it is of locomotives alone (rulings N5, N6). */
static void tunnel_reveal(Play *play)
{
    TicketsState *state = play->state;
    uint8_t colour = tickets_payment_colour(play->tables, state->laid);
    for (uint32_t i = 0; i < 3 && pile_any(state); i++) {
        uint8_t type = tickets_card_draw(play, EVENT_REVEAL, 0);
        state->revealed[type]++;
        state->due = (uint8_t)(state->due + (type == colour || type == play->tables->locomotive));
    }
    EVENT(play, EVENT_DUE, state->due);
    state->cursor = 0;
    if (state->due == 0) {
        claim_finish(play);
    } else {
        ask(play, PHASE_TUNNEL);
    }
}

/* The cards go back to the hand, where everybody now knows them, and the turn is over. */
static void tunnel_withdraw(Play *play)
{
    TicketsState *state = play->state;
    uint8_t seat = state->active;
    EVENT(play, EVENT_WITHDRAW, (int16_t)(state->route - 1));
    for (uint32_t i = 0; i < play->tables->type_count; i++) {
        state->hand[seat][i] = (uint8_t)(state->hand[seat][i] + state->laid[i]);
        state->known[seat][i] = (uint8_t)(state->known[seat][i] + state->laid[i]);
        state->laid[i] = 0;
    }
    cards_discard(play);
    tickets_row_fill(play);
    turn_end(play);
}

static void payment_done(Play *play)
{
    if (play->tables->route[play->state->route - 1].kind == ROUTE_TUNNEL) {
        tunnel_reveal(play);
    } else {
        claim_finish(play);
    }
}

/* Lays cards as long as there is one choice: most of them are the next of the same colour. The
 * library would do the same, with a question for each. */
static void payment_go_on(Play *play)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    const Route *route = &tables->route[state->route - 1];
    bool whole = tickets_payment_complete(tables, route, state->laid);
    uint32_t next = tickets_payment_next(tables, state);
    while (!whole && bits_single(next)) {
        cards_lay(play, (uint8_t)__builtin_ctz(next), 1);
        whole = tickets_payment_complete(tables, route, state->laid);
        next = tickets_payment_next(tables, state);
    }
    if (whole && next == 0) {
        payment_done(play);
    }
}

/* A route that takes nothing but cards of its colour leaves nothing to ask. */
static void claim_begin(Play *play, uint8_t index)
{
    const Route *route = &play->tables->route[index];
    bool forced =
        route->set == 0 && !route->locomotives && route->colour < play->tables->colour_count;
    play->state->route = (uint8_t)(index + 1);
    play->state->cursor = 0;
    ask(play, PHASE_PAY);
    if (play->ty->ruleset->ask_forced) {
        return;
    }
    if (forced) {
        cards_lay(play, route->colour, route->length);
        payment_done(play);
    } else {
        payment_go_on(play);
    }
}

static void card_pay(Play *play, uint8_t type)
{
    TicketsState *state = play->state;
    cards_lay(play, type, 1);
    if (state->head.phase == PHASE_PAY) {
        if (!play->ty->ruleset->ask_forced) {
            payment_go_on(play);
        }
        return;
    }
    state->due--;
    state->due_paid++;
    if (state->due == 0) {
        claim_finish(play);
    }
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

static void turn_pass(Play *play)
{
    play->state->passes++;
    EVENT(play, EVENT_PASS, play->state->passes);
    turn_end(play);
}

void tickets_apply(TyPlay *ty, uint32_t action)
{
    Play play = tickets_play(ty);
    TyChoice choice = ty_choice(ty->ruleset, action);
    if (choice.form != FORM_PASS && play.state->head.phase == PHASE_TURN) {
        play.state->passes = 0;
    }
    switch ((ActionForm)choice.form) {
    case FORM_WAIT:
        break;
    case FORM_PASS:
        turn_pass(&play);
        break;
    case FORM_BLIND:
        blind_draw(&play);
        break;
    case FORM_LOCOMOTIVE:
        stack_take(&play);
        break;
    case FORM_TICKETS:
        tickets_draw(&play);
        break;
    case FORM_KEEP_DONE:
        tickets_kept(&play);
        break;
    case FORM_PAY_DONE:
        payment_done(&play);
        break;
    case FORM_WITHDRAW:
        tunnel_withdraw(&play);
        break;
    case FORM_TAKE:
        row_take(&play, (uint8_t)choice.item);
        break;
    case FORM_PAY:
        card_pay(&play, (uint8_t)choice.item);
        break;
    case FORM_KEEP:
        play.state->chosen |= UINT64_C(1) << choice.item;
        break;
    case FORM_CLAIM:
        claim_begin(&play, (uint8_t)choice.item);
        break;
    }
}
