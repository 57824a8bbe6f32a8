/* The ticket games: payments, which are looked at for all colours at once, against plain loops. */
#include "core/hash.h"
#include "games/tickets/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t sum(const uint8_t cards[TICKETS_SLOTS])
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < TICKETS_SLOTS; i++) {
        total += cards[i];
    }
    return total;
}

static bool colour_fits(const TicketsTables *tables, const Route *route, uint32_t colour)
{
    return route->colour == tables->colour_count || route->colour == colour;
}

/* Whether `laid` cards of which none is missing pay for the route in some colour. */
static bool plain_complete(const TicketsTables *tables, const Route *route, const uint8_t *laid)
{
    uint32_t total = sum(laid);
    uint32_t sets = 0;
    if (route->set != 0 && total >= route->length) {
        sets = (total - route->length) / (route->set - 1u);
    }
    bool size_fits = total == route->length + (route->set != 0 ? route->set - 1u : 0) * sets;
    uint32_t engines = route->locomotives ? laid[tables->locomotive] : 0u;
    for (uint32_t i = 0; i < tables->colour_count && size_fits && sets <= route->length; i++) {
        if (colour_fits(tables, route, i) &&
            least(laid[i], route->matched) + engines + sets >= route->length) {
            return true;
        }
    }
    return false;
}

/* Whether some payment can be made of `laid` and cards of the hand from type `from` on. */
static bool plain_reachable(const TicketsTables *tables, const Route *route, uint8_t *laid,
                            uint8_t *hand, uint32_t from)
{
    if (plain_complete(tables, route, laid)) {
        return true;
    }
    if (from == tables->type_count || sum(laid) > 27) {
        return false;
    }
    if (plain_reachable(tables, route, laid, hand, from + 1)) {
        return true;
    }
    if (hand[from] == 0) {
        return false;
    }
    hand[from]--;
    laid[from]++;
    bool reachable = plain_reachable(tables, route, laid, hand, from);
    hand[from]++;
    laid[from]--;
    return reachable;
}

static uint32_t plain_next(const TicketsTables *tables, const Route *route, uint8_t *laid,
                           uint8_t *hand, uint32_t cursor)
{
    uint32_t next = 0;
    for (uint32_t type = cursor; type < tables->type_count; type++) {
        if (hand[type] > 0) {
            hand[type]--;
            laid[type]++;
            next |= (uint32_t)plain_reachable(tables, route, laid, hand, type) << type;
            hand[type]++;
            laid[type]--;
        }
    }
    return next;
}

/* A hand of up to `cards` cards, few of each type. */
static void hand_make(const TicketsTables *tables, uint64_t seed, uint32_t cards, uint8_t *hand)
{
    memset(hand, 0, TICKETS_SLOTS);
    for (uint32_t i = 0; i < cards; i++) {
        uint64_t value = hash_mix(seed * 64 + i);
        uint8_t *count = &hand[value % tables->type_count];
        *count = (uint8_t)(*count + (*count < 6));
    }
}

/* Lays cards that may be laid, up to `count` of them; returns how many payments were offered. */
static uint32_t payment_follow(const TicketsTables *tables, TicketsState *state, uint64_t seed)
{
    const Route *route = &tables->route[state->route - 1];
    uint8_t *hand = state->hand[0];
    uint32_t offered = 0;
    state->cursor = 0;
    memset(state->laid, 0, sizeof state->laid);
    for (;;) {
        uint32_t next = tickets_payment_next(tables, state);
        assert_int_equal(next, plain_next(tables, route, state->laid, hand, state->cursor));
        assert_int_equal(tickets_payment_complete(tables, route, state->laid),
                         plain_complete(tables, route, state->laid));
        if (next == 0) {
            return offered;
        }
        uint32_t type = bits_select(next, (uint32_t)(hash_mix(seed + offered) % bits_count(next)));
        hand[type]--;
        state->laid[type]++;
        state->cursor = (uint8_t)type;
        offered++;
    }
}

static void payments_agree(const char *spec, uint32_t hands)
{
    TyRuleset *ruleset = NULL;
    uint32_t offered = 0;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    const TicketsTables *tables = tickets_tables(ruleset);
    for (uint64_t seed = 1; seed <= hands; seed++) {
        TicketsState state = {.route = 0};
        uint8_t hand[TICKETS_SLOTS];
        hand_make(tables, seed, 1 + (uint32_t)(seed % 11), hand);
        RouteSet payable = tickets_payable(tables, hand);
        for (uint32_t route = 0; route < tables->route_count; route++) {
            uint8_t none[TICKETS_SLOTS] = {0};
            bool pays = plain_next(tables, &tables->route[route], none, hand, 0) != 0;
            assert_int_equal(routes_have(&payable, route), pays);
            memcpy(state.hand[0], hand, sizeof hand);
            state.route = (uint8_t)(route + 1);
            offered += payment_follow(tables, &state, seed);
        }
    }
    assert_true(offered > 20 * hands);
    ty_ruleset_close(ruleset);
}

static void test_payments_of_nordic_are_those_of_plain_loops(void **unused)
{
    (void)unused;
    payments_agree("nordic", 60);
}

static void test_payments_of_express_are_those_of_plain_loops(void **unused)
{
    (void)unused;
    payments_agree("express", 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payments_of_nordic_are_those_of_plain_loops),
        cmocka_unit_test(test_payments_of_express_are_those_of_plain_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
