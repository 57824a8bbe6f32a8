/* Les Aventuriers du Rail Express, rule by rule and ruling by ruling; what nordic has too
 * is in test_tickets_rules.c. */
#include "tests/games/tickets/tickets_table.h"

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void test_map_has_the_stated_components(void **slot)
{
    Table *table = table_open(slot, "express:players=4");
    const TicketsTables *tables = table->tables;
    assert_int_equal(tables->colour_count, 7);
    assert_int_equal(tables->wagons, 27);
    assert_int_equal(tables->ticket_count, 30);
    assert_int_equal(tables->card_count[tables->locomotive], 12);
    assert_int_equal(cards_total(tables->card_count), 70 + 12);
    const uint8_t bonus[] = {20, 15, 10, 5};
    assert_memory_equal(tables->bonus_points, bonus, sizeof bonus);
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        assert_int_equal(route->kind, ROUTE_PLAIN);
        if (route->twin != TICKETS_NONE) {
            assert_int_equal(tables->route[route->twin].length, route->length);
        }
    }
}

static void test_map_is_called_a_reconstruction(void **slot)
{
    Table *table = table_open(slot, "express");
    assert_non_null(strstr(ty_shape(table->ruleset)->note, "reconstruction"));
}

static void test_first_tickets_are_three_keep_at_least_two(void **slot)
{
    Table *table = table_open(slot, "express:first_player=seat0");
    table_chance(table, "tickets", "berlin/budapest");
    table_chance(table, "tickets", "munich/rome");
    table_chance(table, "tickets", "kiev/sofia");
    table_reset(table, 0);
    table_expect(table, "keep berlin/budapest|keep munich/rome");
    table_do(table, "keep berlin/budapest");
    table_expect(table, "keep munich/rome|keep kiev/sofia");
    table_do(table, "keep munich/rome");
    table_expect(table, "keep kiev/sofia|keep.done");
    table_do(table, "keep.done");
    assert_int_equal(__builtin_popcountll(table->state.tickets[0]), 2);
    assert_int_equal(table->state.active, 1);
    assert_int_equal(table->state.head.phase, PHASE_KEEP_FIRST);
}

/* ---- Drawing cards --------------------------------------------------------------------------- */

static void test_e2_one_card_left_is_drawn_and_the_second_skipped(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_face_up(table, "red", 1);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_do(table, "take red");
    assert_int_equal(table->state.active, 1);
}

static void test_e2_no_card_left_makes_drawing_illegal(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_expect(table, "take.locomotive|tickets.draw");
}

static void test_face_up_cards_may_be_drawn_when_the_deck_is_empty(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_face_up(table, "red", 3);
    table_face_up(table, "blue", 2);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_do(table, "take red");
    table_do(table, "take blue");
    assert_int_equal(cards_total(table->state.row), 3);
}

/* ---- Locomotives ----------------------------------------------------------------------------- */

static void test_e3_a_locomotive_is_the_whole_turn(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_ready(table, 0);
    table_do(table, "take.locomotive");
    assert_int_equal(table->state.stack, 11);
    assert_int_equal(table->state.hand[0][table->tables->locomotive], 1);
    assert_int_equal(table->state.active, 1);
    uint32_t column = table->tables->type_count + table->tables->locomotive;
    assert_int_equal(table_row_value(table, 1, "hand", column), 1);
}

static void test_e3_empty_stack_gives_no_locomotive(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_hand(table, 1, "locomotive", 12);
    table_ready(table, 0);
    assert_false(table_may(table, "take.locomotive"));
}

static void test_e3_spent_locomotives_return_to_the_stack(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_hand(table, 0, "locomotive", 1);
    table_ready(table, 0);
    table_do(table, "claim amsterdam/bruxelles");
    assert_int_equal(table->state.stack, 12);
    assert_int_equal(cards_total(table->state.discard), 0);
}

static void test_e13_no_locomotive_is_ever_face_up(void **slot)
{
    Table *table = table_open(slot, "express");
    assert_int_equal(table->state.row[table->tables->locomotive], 0);
    assert_int_equal(table->state.deck[table->tables->locomotive], 0);
    assert_false(table_may(table, "take locomotive"));
}

/* ---- Routes ---------------------------------------------------------------------------------- */

static void test_e4_colour_and_locomotives_pay_in_any_mix(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_hand(table, 0, "green", 3);
    table_hand(table, 0, "locomotive", 3);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    /* A green route of three spaces: 3+0, 2+1, 1+2 or 0+3. */
    table_do(table, "claim francfort/paris.green");
    table_expect(table, "pay green|pay locomotive");
    table_do(table, "pay green");
    table_expect(table, "pay green|pay locomotive");
    table_do(table, "pay locomotive");
    assert_int_equal(table->state.hand[0][table_type(table, "green")], 2);
    assert_int_equal(table->state.hand[0][table->tables->locomotive], 1);
    assert_int_equal(table->state.points[0], 4);
}

static void test_e4_locomotives_alone_pay_any_route(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_hand(table, 0, "locomotive", 6);
    table_ready(table, 0);
    table_do(table, "claim budapest/kiev");
    assert_int_equal(table->state.points[0], 15);
}

static void test_e4_gray_takes_one_colour_and_locomotives(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_hand(table, 0, "green", 1);
    table_hand(table, 0, "red", 1);
    table_ready(table, 0);
    assert_false(table_may(table, "claim bruxelles/londres"));
    table_hand(table, 0, "locomotive", 1);
    table_ready(table, 0);
    table_do(table, "claim bruxelles/londres");
    table_expect(table, "pay green|pay red");
    table_do(table, "pay red");
    assert_int_equal(table->state.hand[0][table_type(table, "green")], 1);
}

/* ---- Europe-Express -------------------------------------------------------------------------- */

/* All of the way from London to Istanbul but its last route, Bucarest-Istanbul (3 violet). */
static void table_own_way(Table *table, uint8_t seat, bool second_half)
{
    table_own(table, seat, second_half ? "amsterdam/londres.white" : "amsterdam/londres.green");
    table_own(table, seat, second_half ? "amsterdam/copenhague" : "amsterdam/francfort");
    if (second_half) {
        table_own(table, seat, "copenhague/stockholm");
        table_own(table, seat, "stockholm/varsovie");
        table_own(table, seat, "kiev/varsovie");
        table_own(table, seat, "bucarest/kiev");
    } else {
        table_own(table, seat, "francfort/munich");
        table_own(table, seat, "munich/vienne");
        table_own(table, seat, "budapest/vienne.red");
        table_own(table, seat, "bucarest/budapest");
    }
}

static void test_e6_first_to_link_london_and_istanbul_takes_the_top_bonus(void **slot)
{
    Table *table = table_open(slot, "express:players=3");
    table_clear(table);
    table_own_way(table, 0, false);
    table_hand(table, 0, "violet", 3);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    table_do(table, "claim bucarest/istanbul");
    assert_int_equal(table_last_event(table, EVENT_BONUS)->args[0], 20);
    assert_int_equal(table->state.bonus[0], 1);
    assert_int_equal(table_row_value(table, 1, "bonus", 2), 20);
    assert_int_equal(table_metric(table, "bonus_0"), 20);
}

static void test_e6_second_to_link_takes_the_next_bonus(void **slot)
{
    Table *table = table_open(slot, "express:players=3");
    table_clear(table);
    table_own_way(table, 0, false);
    table_own(table, 0, "bucarest/istanbul");
    table->state.bonus[0] = 1;
    table->state.bonus_taken = 1;
    table_own_way(table, 1, true);
    table_own(table, 1, "bucarest/sofia");
    table_hand(table, 1, "blue", 3);
    table_face_up(table, "white", 5);
    table_ready(table, 1);
    table_do(table, "claim istanbul/sofia.blue");
    assert_int_equal(table_metric(table, "bonus_1"), 15);
}

static void test_e6_one_bonus_per_player(void **slot)
{
    Table *table = table_open(slot, "express:players=2");
    table_clear(table);
    table_own_way(table, 0, false);
    table_own(table, 0, "bucarest/istanbul");
    table->state.bonus[0] = 1;
    table->state.bonus_taken = 1;
    table_hand(table, 0, "yellow", 1);
    table_face_up(table, "white", 5);
    table_ready(table, 0);
    table_do(table, "claim amsterdam/bruxelles");
    assert_int_equal(table_told(table, EVENT_BONUS), 0);
    assert_int_equal(table->state.bonus_taken, 1);
}

/* ---- Tickets --------------------------------------------------------------------------------- */

/* Draws three named tickets and keeps the first. */
static void draw_and_keep_first(Table *table, const char *a, const char *b, const char *c)
{
    char keep[TY_NAME_MAX];
    table_chance(table, "tickets", a);
    table_chance(table, "tickets", b);
    table_chance(table, "tickets", c);
    table_do(table, "tickets.draw");
    snprintf(keep, sizeof keep, "keep %s", a);
    table_do(table, keep);
    table_do(table, "keep.done");
}

static void test_e7_refused_tickets_go_under_the_deck_and_are_remembered(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_ready(table, 0);
    draw_and_keep_first(table, "berlin/budapest", "munich/rome", "kiev/sofia");
    assert_int_equal(tickets_left(&table->state), 29);
    uint32_t refused = table_ticket(table, "kiev/sofia");
    assert_int_equal(table_row_value(table, 0, "ticket", refused), 5);
    assert_int_equal(table_row_value(table, 0, "depth", refused), 27);
    assert_int_equal(table_row_value(table, 1, "ticket", refused), 0);
    assert_int_equal(table_row_value(table, 1, "depth", refused), 0);
}

static void test_e7_batches_come_up_in_their_order(void **slot)
{
    Table *table = table_open(slot, "express:ask_forced=true");
    table_clear(table);
    table_tickets_leave(table, 1, 6);
    uint8_t first = (uint8_t)__builtin_ctzll(table->state.ticket_deck);
    table_ready(table, 0);
    const char *names[6];
    for (uint32_t i = 0; i < 6; i++) {
        names[i] = tickets_name_ticket(table->tables, first + i);
    }
    draw_and_keep_first(table, names[0], names[1], names[2]);
    draw_and_keep_first(table, names[3], names[4], names[5]);
    assert_true(table->state.ticket_deck == 0);
    assert_int_equal(tickets_left(&table->state), 4);
    assert_int_equal(table_row_value(table, 0, "depth", first + 1), 0);
    assert_int_equal(table_row_value(table, 1, "depth", first + 4), 2);
    /* Seat 0 draws its own two, in any order, and one of the other batch. */
    table_chance(table, "tickets", names[2]);
    table_chance(table, "tickets", names[1]);
    table_chance(table, "tickets", names[5]);
    table_do(table, "tickets.draw");
    assert_int_equal(__builtin_popcountll(table->state.offered), 3);
    /* Seat 1 remembers the batch, not what was drawn of it. */
    assert_int_equal(table_row_value(table, 1, "ticket", first + 4), 6);
    assert_int_equal(table_row_value(table, 1, "ticket", first + 5), 6);
}

static void test_e7_a_ticket_of_a_later_batch_cannot_come_first(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_tickets_leave(table, 1, 6);
    uint8_t first = (uint8_t)__builtin_ctzll(table->state.ticket_deck);
    const char *names[6];
    for (uint32_t i = 0; i < 6; i++) {
        names[i] = tickets_name_ticket(table->tables, first + i);
    }
    table_ready(table, 0);
    draw_and_keep_first(table, names[0], names[1], names[2]);
    draw_and_keep_first(table, names[3], names[4], names[5]);
    TyOutcome script[1] = {{.stream = STREAM_TICKETS, .outcome = (uint16_t)(first + 5)}};
    TyTape tape = {.script = script, .script_count = 1};
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_false(ty_step(table->ruleset, &table->state, FORM_TICKETS, reward, &tape));
    assert_int_equal(tape.status.code, TY_BAD_SCRIPT);
}

/* What seat 1 sees and reads after seat 0 has kept the first two of its tickets, or all three. */
static void look_after_first_choice(Table *table, bool all, char svg[TY_SVG_MAX])
{
    table_chance(table, "tickets", "berlin/budapest");
    table_chance(table, "tickets", "munich/rome");
    table_chance(table, "tickets", "kiev/sofia");
    table_reset(table, 0);
    table_do(table, "keep berlin/budapest");
    table_do(table, "keep munich/rome");
    table_do(table, all ? "keep kiev/sofia" : "keep.done");
    ty_svg(table->ruleset, &table->state, 1, NULL, svg, TY_SVG_MAX);
}

static void test_e8_first_choices_are_hidden_in_drawings_too(void **slot)
{
    static char two[TY_SVG_MAX];
    static char three[TY_SVG_MAX];
    Table *table = table_open(slot, "express:first_player=seat0,players=3");
    look_after_first_choice(table, false, two);
    look_after_first_choice(table, true, three);
    assert_string_equal(two, three);
}

static void test_e8_first_choices_are_hidden_until_all_have_chosen(void **slot)
{
    Table *table = table_open(slot, "express:first_player=seat0,players=3");
    uint32_t before = table_row_value(table, 1, "ticket_deck", 0);
    table_chance(table, "tickets", "berlin/budapest");
    table_chance(table, "tickets", "munich/rome");
    table_chance(table, "tickets", "kiev/sofia");
    table_reset(table, 0);
    table_do(table, "keep berlin/budapest");
    table_do(table, "keep munich/rome");
    table_do(table, "keep.done");
    assert_int_equal(table->state.active, 1);
    assert_int_equal(table_row_value(table, 1, "ticket_count", 2), 0);
    assert_int_equal(table_row_value(table, 1, "ticket_deck", 0), before);
    assert_int_equal(table_row_value(table, 0, "ticket_count", 0), 2);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void test_e9_every_seat_has_exactly_one_more_turn(void **slot)
{
    Table *table = table_open(slot, "express:players=2");
    table_clear(table);
    table_own(table, 0, "budapest/kiev");
    table_own(table, 0, "stockholm/varsovie");
    table_own(table, 0, "amsterdam/copenhague");
    table_own(table, 0, "athenes/brindisi");
    table_own(table, 0, "athenes/istanbul");
    table_own(table, 0, "budapest/vienne.green");
    table_hand(table, 0, "yellow", 1);
    table_ready(table, 0);
    table_do(table, "claim amsterdam/bruxelles");
    assert_int_equal(table->state.last_turns, 2);
    table_do(table, "take.locomotive");
    assert_int_equal(table->state.last_turns, 1);
    assert_int_equal(table->state.active, 0);
    /* The seat still has two wagons or fewer at the end of this turn: that changes nothing. */
    table_do(table, "take.locomotive");
    assert_true(table->state.head.over);
}

static void test_e12_a_last_tie_is_a_shared_victory(void **slot)
{
    Table *table = table_open(slot, "express:players=3");
    const Sheet shared[TY_PLAYERS_MAX] = {{.total = 30, .completed = 2},
                                          {.total = 20, .completed = 2},
                                          {.total = 30, .completed = 2}};
    assert_int_equal(tickets_winners(table->tables, shared), 5);
}

static void test_tickets_count_for_or_against(void **slot)
{
    Table *table = table_open(slot, "express");
    table_clear(table);
    table_own(table, 0, "berlin/vienne");
    table_own(table, 0, "budapest/vienne.red");
    table_ticket_to(table, 0, "berlin/budapest");
    table_ticket_to(table, 0, "munich/rome");
    table->state.last_turns = 1;
    table_ready(table, 1);
    table_do(table, "take.locomotive");
    assert_int_equal(table_metric(table, "routes_0"), 5);
    assert_int_equal(table_metric(table, "tickets_0"), 0);
    assert_int_equal(table_metric(table, "completed_0"), 1);
    assert_int_equal(table_metric(table, "total_0"), 5);
    assert_int_equal(table_metric(table, "won_0"), 1);
    assert_int_equal(table->reward[1], -TY_REWARD_ONE);
}

/* ---- Map files ------------------------------------------------------------------------------- */

static void test_map_file_errors_name_their_field(void **unused)
{
    (void)unused;
    map_refused("express", "\"length\": 3, \"colour\": \"red\"",
                "\"length\": 3, \"colour\": \"red\", \"ferry\": 1", "unknown key \"ferry\"");
    map_refused("express", "[4, 3, 2, 1]", "[1, 2]", "must begin with the highest points");
    map_refused("express", "\"to\": \"falaise\"", "\"to\": \"rome\"", "link.to: \"rome\" is not");
    map_refused("express", "\"format\": \"express-map-1\"", "\"format\": \"express-map-2\"",
                "'express-map-2' is not known");
    map_refused("express", "\"points\": 5}", "\"points\": 0}", "tickets[3].points");
}

/* Opens the tiny map without its last ticket. */
static TyStatus short_map_open(void *user, const char *value, const char **bytes, size_t *size,
                               char name[TY_NAME_MAX])
{
    static const char last[] =
        ",\n    {\"id\": \"dijon/falaise\", \"a\": \"dijon\", \"b\": \"falaise\", \"points\": 4}";
    char *text = user;
    char *at = strstr(text, last);
    if (at != NULL) {
        memmove(at, at + strlen(last), strlen(at + strlen(last)) + 1);
    }
    *bytes = text;
    *size = strlen(text);
    snprintf(name, TY_NAME_MAX, "%s", value);
    return (TyStatus){.code = TY_OK};
}

static void test_map_with_too_few_tickets_is_refused_for_the_players(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    char *text = map_text("express", "tiny");
    TyFiles files = {.user = text, .open = short_map_open};
    TyStatus status = ty_ruleset_open("express:map=short,players=3", &files, &ruleset);
    assert_int_equal(status.code, TY_OK);
    ty_ruleset_close(ruleset);
    status = ty_ruleset_open("express:map=short,players=4", &files, &ruleset);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_string_equal(status.message, "players=4: the map has 11 tickets; 12 are dealt");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_map_has_the_stated_components),
        TABLE_TEST(test_map_is_called_a_reconstruction),
        TABLE_TEST(test_first_tickets_are_three_keep_at_least_two),
        TABLE_TEST(test_e2_one_card_left_is_drawn_and_the_second_skipped),
        TABLE_TEST(test_e2_no_card_left_makes_drawing_illegal),
        TABLE_TEST(test_face_up_cards_may_be_drawn_when_the_deck_is_empty),
        TABLE_TEST(test_e3_a_locomotive_is_the_whole_turn),
        TABLE_TEST(test_e3_empty_stack_gives_no_locomotive),
        TABLE_TEST(test_e3_spent_locomotives_return_to_the_stack),
        TABLE_TEST(test_e13_no_locomotive_is_ever_face_up),
        TABLE_TEST(test_e4_colour_and_locomotives_pay_in_any_mix),
        TABLE_TEST(test_e4_locomotives_alone_pay_any_route),
        TABLE_TEST(test_e4_gray_takes_one_colour_and_locomotives),
        TABLE_TEST(test_e6_first_to_link_london_and_istanbul_takes_the_top_bonus),
        TABLE_TEST(test_e6_second_to_link_takes_the_next_bonus),
        TABLE_TEST(test_e6_one_bonus_per_player),
        TABLE_TEST(test_e7_refused_tickets_go_under_the_deck_and_are_remembered),
        TABLE_TEST(test_e7_batches_come_up_in_their_order),
        TABLE_TEST(test_e7_a_ticket_of_a_later_batch_cannot_come_first),
        TABLE_TEST(test_e8_first_choices_are_hidden_until_all_have_chosen),
        TABLE_TEST(test_e8_first_choices_are_hidden_in_drawings_too),
        TABLE_TEST(test_e9_every_seat_has_exactly_one_more_turn),
        TABLE_TEST(test_e12_a_last_tie_is_a_shared_victory),
        TABLE_TEST(test_tickets_count_for_or_against),
        cmocka_unit_test(test_map_file_errors_name_their_field),
        cmocka_unit_test(test_map_with_too_few_tickets_is_refused_for_the_players),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
