/* Les Aventuriers du Rail Scandinavie: ferries, Murmansk-Lieksa and tunnels, and how they are paid
 * for. */
#include "tests/games/tickets/tickets_table.h"

/* ---- Ferries --------------------------------------------------------------------------------- */

static void test_ferry_takes_a_locomotive_per_symbol(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "orange", 2);
    table_ready(table, 0);
    assert_false(table_may(table, "claim kristiansand/stavanger.orange"));
    table_hand(table, 0, "locomotive", 1);
    table_ready(table, 0);
    table_do(table, "claim kristiansand/stavanger.orange");
    assert_int_equal(table->state.discard[table->tables->locomotive], 1);
    assert_int_equal(table->state.discard[table_type(table, "orange")], 2);
    assert_int_equal(table->state.points[0], 4);
}

static void test_n3_locomotives_stand_for_cards_of_a_ferry(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "locomotive", 3);
    table_ready(table, 0);
    assert_true(table_may(table, "claim kristiansand/stavanger.orange"));
}

static void test_n3_three_cards_stand_for_a_locomotive(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "orange", 2);
    table_hand(table, 0, "red", 2);
    table_hand(table, 0, "blue", 1);
    table_ready(table, 0);
    table_do(table, "claim kristiansand/stavanger.orange");
    assert_int_equal(cards_total(table->state.discard), 5);
}

static void test_n3_substitutions_stack(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "red", 4);
    table_hand(table, 0, "blue", 2);
    table_ready(table, 0);
    /* Stavanger-Bergen: violet 2 with one symbol. Both spaces by sets: six cards of any colours. */
    table_do(table, "claim bergen/stavanger");
    assert_int_equal(table->state.owner[table_route(table, "bergen/stavanger")], 1);
    assert_int_equal(cards_total(table->state.discard), 6);
}

static void test_n3_done_is_offered_when_a_payment_is_whole_and_longer_ones_exist(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "locomotive", 4);
    table_ready(table, 0);
    /* Two locomotives pay both spaces; so do one and three more as a set. */
    table_do(table, "claim bergen/stavanger");
    table_expect(table, "pay locomotive|pay.done");
    table_do(table, "pay.done");
    assert_int_equal(cards_total(table->state.discard), 2);
}

static void test_n3_no_card_is_offered_that_leads_nowhere(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "violet", 2);
    table_hand(table, 0, "red", 2);
    table_hand(table, 0, "locomotive", 2);
    table_ready(table, 0);
    table_do(table, "claim bergen/stavanger");
    table_expect(table, "pay violet|pay red|pay locomotive");
    table_do(table, "pay violet");
    table_expect(table, "pay violet|pay red|pay locomotive");
    /* Violet and a locomotive are whole, and one more card alone would make no set. */
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.active, 1);
    assert_int_equal(cards_total(table->state.discard), 2);
}

static void test_n3_a_set_may_hold_locomotives(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    /* Violet 2, one symbol, with violet, red and two locomotives: violet + (red + 2 locomotives).
     */
    table_hand(table, 0, "violet", 1);
    table_hand(table, 0, "red", 1);
    table_hand(table, 0, "locomotive", 2);
    table_ready(table, 0);
    table_do(table, "claim bergen/stavanger");
    table_do(table, "pay violet");
    table_expect(table, "pay red|pay locomotive");
    table_do(table, "pay red");
    assert_int_equal(cards_total(table->state.discard), 4);
}

/* ---- Every payment, against an oracle that tries all readings of all sets of cards ----------- */

/* Whether `laid` pays the route, by trying every number of cards of every colour. */
static bool oracle_pays(const TicketsTables *tables, const Route *route, const uint8_t *laid)
{
    uint32_t total = cards_total(laid);
    for (uint32_t colour = 0; colour < tables->colour_count; colour++) {
        if (route->colour < tables->colour_count && route->colour != colour) {
            continue;
        }
        for (uint32_t own = 0; own <= laid[colour] && own <= route->matched; own++) {
            uint32_t most = route->locomotives ? laid[tables->locomotive] : 0;
            for (uint32_t engines = 0; engines <= most && own + engines <= route->length;
                 engines++) {
                uint32_t sets = route->length - own - engines;
                if ((route->set != 0 || sets == 0) && total == own + engines + route->set * sets) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Marks in `paid` all sets of cards that a walk through the questions can lay. A set is a number in
 * base 8. No question may be a dead end. */
static void walk_payments(Table *table, uint8_t *paid)
{
    static TicketsState stack[4096];
    uint32_t count = 0;
    stack[count++] = table->state;
    while (count > 0) {
        TicketsState state = stack[--count];
        if (tickets_payment_complete(table->tables, &table->tables->route[state.route - 1],
                                     state.laid)) {
            uint32_t key = 0;
            for (uint32_t i = 0; i < 4; i++) {
                key = key * 8 + state.laid[i];
            }
            assert_int_equal(paid[key], 0);
            paid[key] = 1;
        }
        uint32_t next = tickets_payment_next(table->tables, &state);
        assert_true(next != 0 || ty_answers_have(state.answers, FORM_PAY_DONE));
        for (uint8_t type = 0; type < 4; type++) {
            if (next >> type & 1) {
                TicketsState child = state;
                child.hand[0][type]--;
                child.laid[type]++;
                child.cursor = type;
                memset(child.answers, 0, sizeof child.answers);
                tickets_answers(table->ruleset, &child, child.answers);
                stack[count++] = child;
            }
        }
    }
}

static void payments_agree(Table *table, const char *route, const uint8_t hand[4])
{
    static const char *const cards[] = {"red", "blue", "green", "locomotive"};
    static uint8_t paid[4096];
    memset(paid, 0, sizeof paid);
    table_clear(table);
    for (uint32_t i = 0; i < 4; i++) {
        table_hand(table, 0, cards[i], hand[i]);
    }
    table_ready(table, 0);
    const Route *tested = &table->tables->route[table_route(table, route)];
    bool any = false;
    char claim[64];
    snprintf(claim, sizeof claim, "claim %s", route);
    bool may = table_may(table, claim);
    if (may) {
        table_do(table, claim);
        walk_payments(table, paid);
    }
    for (uint32_t key = 0; key < 4096; key++) {
        uint8_t laid[TICKETS_SLOTS] = {key >> 9 & 7, key >> 6 & 7, key >> 3 & 7, key & 7};
        bool held = true;
        for (uint32_t i = 0; i < 4; i++) {
            held = held && laid[i] <= hand[i];
        }
        bool pays = held && oracle_pays(table->tables, tested, laid);
        any = any || pays;
        assert_int_equal(paid[key], pays);
    }
    assert_int_equal(may, any);
}

static void test_n3_every_payment_is_one_sequence_and_none_a_dead_end(void **slot)
{
    Table *table = table_open(slot, "nordic:map=tiny,ask_forced=true");
    static const char *const routes[] = {"alta/bodo.red", "bodo/ceuta",  "alta/drammen",
                                         "bodo/eide",     "ceuta/falun", "drammen/eide",
                                         "eide/falun",    "bodo/falun"};
    for (uint32_t hand = 0; hand < 4 * 4 * 4 * 4; hand++) {
        const uint8_t cards[4] = {(uint8_t)(hand >> 6 & 3), (uint8_t)((hand >> 4 & 3) * 2),
                                  (uint8_t)(hand >> 2 & 3), (uint8_t)(hand & 3)};
        for (uint32_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
            payments_agree(table, routes[i], cards);
        }
    }
}

/* ---- Murmansk-Lieksa ------------------------------------------------------------------------- */

static void test_n4_four_cards_stand_for_one_on_murmansk_lieksa(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    /* The example of the rulebook: seven green and eight other cards, locomotives among them. */
    table_hand(table, 0, "green", 7);
    table_hand(table, 0, "red", 4);
    table_hand(table, 0, "locomotive", 4);
    table_ready(table, 0);
    table_do(table, "claim lieksa/murmansk");
    assert_int_equal(table->state.points[0], 27);
    assert_int_equal(table->state.wagons[0], 31);
    assert_int_equal(cards_total(table->state.discard), 15);
}

static void test_n4_locomotives_do_not_count_singly_on_murmansk_lieksa(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 8);
    table_hand(table, 0, "locomotive", 3);
    table_ready(table, 0);
    assert_false(table_may(table, "claim lieksa/murmansk"));
    table_hand(table, 0, "locomotive", 1);
    table_ready(table, 0);
    assert_true(table_may(table, "claim lieksa/murmansk"));
}

/* ---- Tunnels --------------------------------------------------------------------------------- */

/* Seat 0 has `green` green cards and `engines` locomotives, and tries Kristiansand-Stavanger (2
 * green, tunnel). */
static Table *tunnel_table(void **slot, uint8_t green, uint8_t engines)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", green);
    table_hand(table, 0, "locomotive", engines);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    return table;
}

static void tunnel_reveals(Table *table, const char *a, const char *b, const char *c)
{
    table_chance(table, "cards", a);
    table_chance(table, "cards", b);
    table_chance(table, "cards", c);
}

static void test_tunnel_without_a_match_costs_nothing_more(void **slot)
{
    Table *table = tunnel_table(slot, 2, 0);
    tunnel_reveals(table, "red", "blue", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table->state.owner[table_route(table, "kristiansand/stavanger.green")], 1);
    assert_int_equal(cards_total(table->state.discard), 5);
}

static void test_tunnel_example_1_a_card_of_the_colour(void **slot)
{
    Table *table = tunnel_table(slot, 3, 0);
    tunnel_reveals(table, "green", "blue", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    table_expect(table, "pay green|withdraw");
    table_do(table, "pay green");
    assert_int_equal(table->state.points[0], 2);
    assert_int_equal(table->state.discard[table_type(table, "green")], 4);
}

static void test_tunnel_example_2_a_locomotive_revealed(void **slot)
{
    Table *table = tunnel_table(slot, 2, 1);
    table_do(table, "claim kristiansand/stavanger.green");
    table_expect(table, "pay green|pay locomotive"); /* one green card was laid unasked */
    tunnel_reveals(table, "locomotive", "blue", "white");
    table_do(table, "pay green");
    table_expect(table, "pay locomotive|withdraw");
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.points[0], 2);
}

static void test_tunnel_example_3_locomotives_alone(void **slot)
{
    Table *table = tunnel_table(slot, 0, 3);
    tunnel_reveals(table, "locomotive", "green", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table->state.due, 1);
    table_expect(table, "pay locomotive|withdraw");
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.discard[table->tables->locomotive], 4);
}

static void test_n5_locomotives_alone_are_matched_by_locomotives_alone(void **slot)
{
    Table *table = tunnel_table(slot, 1, 3);
    table_do(table, "claim kristiansand/stavanger.green");
    tunnel_reveals(table, "locomotive", "green", "green");
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.due, 1);
    table_expect(table, "pay locomotive|withdraw");
}

static void test_n5_additional_cards_are_a_mix_of_choice(void **slot)
{
    Table *table = tunnel_table(slot, 4, 2);
    table_do(table, "claim kristiansand/stavanger.green");
    table_do(table, "pay green");
    tunnel_reveals(table, "locomotive", "green", "red");
    table_do(table, "pay green");
    assert_int_equal(table->state.due, 2);
    table_expect(table, "pay green|pay locomotive|withdraw");
    table_do(table, "pay green");
    table_expect(table, "pay green|pay locomotive");
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.owner[table_route(table, "kristiansand/stavanger.green")], 1);
}

static void test_n5_no_sets_of_three_in_tunnels(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 1);
    table_hand(table, 0, "red", 6);
    table_ready(table, 0);
    assert_false(table_may(table, "claim kristiansand/stavanger.green"));
}

static void test_n6_withdrawing_takes_the_cards_back_and_ends_the_turn(void **slot)
{
    Table *table = tunnel_table(slot, 3, 0);
    tunnel_reveals(table, "green", "blue", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    table_do(table, "withdraw");
    assert_int_equal(table->state.hand[0][table_type(table, "green")], 3);
    assert_int_equal(table->state.owner[table_route(table, "kristiansand/stavanger.green")], 0);
    assert_int_equal(cards_total(table->state.discard), 3);
    assert_int_equal(table->state.active, 1);
    /* Everybody saw the two cards that were laid. */
    uint32_t column = table->tables->type_count + table_type(table, "green");
    assert_int_equal(table_row_value(table, 1, "hand", column), 2);
}

static void test_n6_who_cannot_pay_withdraws_unasked(void **slot)
{
    Table *table = tunnel_table(slot, 2, 0);
    tunnel_reveals(table, "green", "blue", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table_told(table, EVENT_WITHDRAW), 1);
    assert_int_equal(table->state.hand[0][table_type(table, "green")], 2);
}

static void test_n6_reveal_reshuffles_the_discards_without_the_laid_cards(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 2);
    table_face_up(table, "white", 5);
    table_discard(table, "blue", 2);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_chance(table, "cards", "blue");
    table_chance(table, "cards", "blue");
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table_told(table, EVENT_REVEAL), 2);
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(table->state.owner[table_route(table, "kristiansand/stavanger.green")], 1);
}

static void test_n6_nothing_to_reveal_is_free(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 2);
    table_face_up(table, "white", 5);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table_told(table, EVENT_REVEAL), 0);
    assert_int_equal(table->state.points[0], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_ferry_takes_a_locomotive_per_symbol),
        TABLE_TEST(test_n3_locomotives_stand_for_cards_of_a_ferry),
        TABLE_TEST(test_n3_three_cards_stand_for_a_locomotive),
        TABLE_TEST(test_n3_substitutions_stack),
        TABLE_TEST(test_n3_done_is_offered_when_a_payment_is_whole_and_longer_ones_exist),
        TABLE_TEST(test_n3_no_card_is_offered_that_leads_nowhere),
        TABLE_TEST(test_n3_a_set_may_hold_locomotives),
        TABLE_TEST(test_n3_every_payment_is_one_sequence_and_none_a_dead_end),
        TABLE_TEST(test_n4_four_cards_stand_for_one_on_murmansk_lieksa),
        TABLE_TEST(test_n4_locomotives_do_not_count_singly_on_murmansk_lieksa),
        TABLE_TEST(test_tunnel_without_a_match_costs_nothing_more),
        TABLE_TEST(test_tunnel_example_1_a_card_of_the_colour),
        TABLE_TEST(test_tunnel_example_2_a_locomotive_revealed),
        TABLE_TEST(test_tunnel_example_3_locomotives_alone),
        TABLE_TEST(test_n5_locomotives_alone_are_matched_by_locomotives_alone),
        TABLE_TEST(test_n5_additional_cards_are_a_mix_of_choice),
        TABLE_TEST(test_n5_no_sets_of_three_in_tunnels),
        TABLE_TEST(test_n6_withdrawing_takes_the_cards_back_and_ends_the_turn),
        TABLE_TEST(test_n6_who_cannot_pay_withdraws_unasked),
        TABLE_TEST(test_n6_reveal_reshuffles_the_discards_without_the_laid_cards),
        TABLE_TEST(test_n6_nothing_to_reveal_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
