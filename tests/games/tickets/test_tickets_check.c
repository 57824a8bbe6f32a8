/* The ticket games: positions that are wrong in one thing are refused. */
#include "tests/games/tickets/tickets_table.h"

#define TUNNEL "the additional cards of the tunnel are wrong"

static uint64_t lowest(uint64_t set)
{
    return set & -set;
}

static void test_locomotives_of_express_are_in_their_stack_or_known(void **slot)
{
    Table *table = table_open(slot, "express");
    uint8_t engine = table->tables->locomotive;
    TABLE_REFUSED(table, (hurt.stack--, hurt.deck[engine]++), "a locomotive is not in its stack");
    TABLE_REFUSED(table, (hurt.stack--, hurt.hand[1][engine]++),
                  "a locomotive in a hand is not known");
}

static void test_nordic_has_no_stack_of_locomotives(void **slot)
{
    Table *table = table_open(slot, "nordic");
    TABLE_REFUSED(table, hurt.stack = 1, "there is a stack of locomotives");
}

static void test_halves_of_a_double_route_have_different_owners(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    uint8_t route = 0;
    while (table->tables->route[route].twin == TICKETS_NONE) {
        route++;
    }
    uint8_t twin = table->tables->route[route].twin;
    TABLE_REFUSED(table, (hurt.owner[route] = 1, hurt.owner[twin] = 1),
                  "both halves of a pair of routes are taken");
    TABLE_REFUSED(table, (hurt.owner[route] = 1, hurt.owner[twin] = 2),
                  "the closed routes do not fit the owners");
}

static void test_offer_of_first_tickets_is_whole(void **slot)
{
    Table *table = table_open(slot, "nordic");
    uint64_t more = lowest(table->state.ticket_deck);
    uint64_t one = lowest(table->state.offered);
    TABLE_REFUSED(table, (hurt.ticket_deck &= ~more, hurt.offered |= more),
                  "the number of offered tickets is wrong");
    TABLE_REFUSED(table, (hurt.ticket_deck |= one, hurt.offered &= ~one),
                  "the number of offered tickets is wrong");
    TABLE_REFUSED(table, hurt.chosen = more, "the offered tickets do not fit the question");
}

static void test_tickets_are_offered_when_they_are_drawn(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    uint64_t one = lowest(table->state.ticket_deck);
    TABLE_REFUSED(table, (hurt.ticket_deck &= ~one, hurt.offered |= one),
                  "the offered tickets do not fit the question");
    TABLE_REFUSED(table, (hurt.ticket_deck &= ~one, hurt.tickets[0] |= one, hurt.ticket_end--),
                  "the numbers of the tickets to be drawn are wrong");
}

static void test_cards_are_laid_for_a_route(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 2);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    uint8_t green = table_type(table, "green");
    TABLE_REFUSED(table, (hurt.hand[0][green]--, hurt.known[0][green] = 0, hurt.laid[green]++),
                  "cards are laid for no route");
    TABLE_REFUSED(table, hurt.cursor = 1, "cards are laid for no route");
    TABLE_REFUSED(table, hurt.due = 1, "cards are revealed for no tunnel");
    TABLE_REFUSED(table, hurt.route = 1, "the route being paid for does not exist");
}

static void test_tunnel_asks_for_cards_that_were_revealed(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "green", 3);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    table_chance(table, "cards", "green");
    table_chance(table, "cards", "blue");
    table_chance(table, "cards", "white");
    table_do(table, "claim kristiansand/stavanger.green");
    assert_int_equal(table->state.head.phase, PHASE_TUNNEL);
    uint8_t plain = 0;
    while (table->tables->route[plain].kind != ROUTE_PLAIN) {
        plain++;
    }
    TABLE_REFUSED(table, hurt.route = (uint8_t)(plain + 1), TUNNEL);
    TABLE_REFUSED(table, hurt.due = 0, TUNNEL);
    TABLE_REFUSED(table, hurt.due = 4, TUNNEL);
    TABLE_REFUSED(table, hurt.due_paid = 1, TUNNEL);
}

/* Both seats have linked the two cities of the bonus. */
static void test_bonus_cards_go_out_in_their_order(void **slot)
{
    Table *table = table_open(slot, "express:map=tiny,players=3");
    table_clear(table);
    table_own(table, 0, "aube/brest.red");
    table_own(table, 0, "brest/falaise");
    table_own(table, 1, "aube/dijon");
    table_own(table, 1, "dijon/evian");
    table_own(table, 1, "evian/falaise.red");
    table->state.bonus[0] = 1;
    table->state.bonus[1] = 2;
    table->state.bonus_taken = 2;
    table_face_up(table, "red", 5);
    table_ready(table, 2);
    TABLE_REFUSED(table, hurt.bonus[1] = 1, "a bonus card is with the wrong seat");
    TABLE_REFUSED(table, hurt.bonus[2] = 3, "a bonus card is with the wrong seat");
    TABLE_REFUSED(table, hurt.bonus[1] = 5, "a bonus card is with the wrong seat");
    TABLE_REFUSED(table, hurt.bonus_taken = 1, "the count of bonus cards is wrong");
    TABLE_REFUSED(table, hurt.bonus[1] = 3, "the count of bonus cards is wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_locomotives_of_express_are_in_their_stack_or_known),
        TABLE_TEST(test_nordic_has_no_stack_of_locomotives),
        TABLE_TEST(test_halves_of_a_double_route_have_different_owners),
        TABLE_TEST(test_offer_of_first_tickets_is_whole),
        TABLE_TEST(test_tickets_are_offered_when_they_are_drawn),
        TABLE_TEST(test_cards_are_laid_for_a_route),
        TABLE_TEST(test_tunnel_asks_for_cards_that_were_revealed),
        TABLE_TEST(test_bonus_cards_go_out_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
