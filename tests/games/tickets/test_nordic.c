/* Les Aventuriers du Rail Scandinavie, rule by rule and ruling by ruling; what express has too
 * is in test_tickets_rules.c. */
#include "tests/games/tickets/tickets_table.h"

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void test_map_has_the_printed_components(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    const TicketsTables *tables = table->tables;
    assert_int_equal(tables->city_count, 39);
    assert_int_equal(tables->route_count, 81);
    assert_int_equal(tables->ticket_count, 46);
    assert_int_equal(tables->wagons, 40);
    assert_int_equal(cards_total(tables->card_count), 110);
    assert_int_equal(tables->card_count[tables->locomotive], 14);
    uint32_t lengths[TICKETS_LENGTH_MAX + 1] = {0};
    uint32_t kinds[4] = {0};
    uint32_t twins = 0;
    for (uint32_t i = 0; i < tables->route_count; i++) {
        lengths[tables->route[i].length]++;
        kinds[tables->route[i].kind]++;
        twins += tables->route[i].twin != TICKETS_NONE;
    }
    const uint32_t expected[TICKETS_LENGTH_MAX + 1] = {0, 17, 28, 20, 11, 3, 1, 0, 0, 1};
    assert_memory_equal(lengths, expected, sizeof expected);
    assert_int_equal(kinds[ROUTE_TUNNEL], 10);
    assert_int_equal(kinds[ROUTE_FERRY], 24);
    assert_int_equal(kinds[ROUTE_FOUR_FOR_ONE], 1);
    assert_int_equal(twins, 28);
}

/* Shortest way between two cities, by relaxing all routes again and again. */
static uint32_t shortest(const TicketsTables *tables, const uint8_t city[2])
{
    uint32_t distance[TICKETS_CITIES_MAX];
    memset(distance, 0x3f, sizeof distance);
    distance[city[0]] = 0;
    for (uint32_t round = 0; round < tables->city_count; round++) {
        for (uint32_t i = 0; i < tables->route_count; i++) {
            const Route *route = &tables->route[i];
            uint32_t *a = &distance[route->city[0]];
            uint32_t *b = &distance[route->city[1]];
            *a = *b + route->length < *a ? *b + route->length : *a;
            *b = *a + route->length < *b ? *a + route->length : *b;
        }
    }
    return distance[city[1]];
}

static void test_ticket_points_are_the_shortest_way(void **slot)
{
    Table *table = table_open(slot, "nordic");
    for (uint32_t i = 0; i < table->tables->ticket_count; i++) {
        const Ticket *ticket = &table->tables->ticket[i];
        assert_int_equal(ticket->points, shortest(table->tables, ticket->city));
    }
}

static void test_first_tickets_are_five_keep_at_least_two(void **slot)
{
    Table *table = table_open(slot, "nordic:first_player=seat0");
    assert_int_equal(__builtin_popcountll(table->state.offered), 5);
    assert_false(table_may(table, "keep.done"));
    assert_int_equal(table_choices(table), 4);
    uint8_t mask[TY_ACTIONS_MAX];
    for (uint32_t kept = 0; kept < 5; kept++) {
        ty_legal(table->ruleset, &table->state, mask);
        uint32_t first = table->ruleset->action_first[FORM_KEEP];
        while (!mask[first]) {
            first++;
        }
        char name[TY_NAME_MAX];
        ty_action_name(table->ruleset, first, name);
        table_do(table, name);
        if (kept == 1) {
            assert_true(table_may(table, "keep.done"));
        }
    }
    assert_int_equal(__builtin_popcountll(table->state.tickets[0]), 5);
    assert_int_equal(table->state.active, 1);
}

static void test_n9_refused_tickets_leave_the_game(void **slot)
{
    Table *table = table_open(slot, "nordic:players=2");
    table_clear(table);
    table_ready(table, 0);
    table_chance(table, "tickets", "oslo/stavanger");
    table_chance(table, "tickets", "bergen/narvik");
    table_chance(table, "tickets", "oslo/vaasa");
    table_do(table, "tickets.draw");
    table_expect(table, "keep oslo/stavanger|keep bergen/narvik|keep oslo/vaasa");
    table_do(table, "keep oslo/stavanger");
    table_do(table, "keep.done");
    assert_true(table->state.tickets[0] == table_ticket_bit(table, "oslo/stavanger"));
    assert_int_equal(tickets_left(&table->state), 43);
    uint32_t refused = table_ticket(table, "bergen/narvik");
    assert_int_equal(table_row_value(table, 0, "ticket", refused), 5);
    assert_int_equal(table_row_value(table, 1, "ticket", refused), 0);
}

/* ---- Drawing cards --------------------------------------------------------------------------- */

static void test_n1_three_locomotives_face_up_stay(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "locomotive", 2);
    table_face_up(table, "blue", 3);
    table_ready(table, 0);
    table_chance(table, "cards", "locomotive");
    table_do(table, "take blue");
    assert_int_equal(table->state.row[table->tables->locomotive], 3);
    assert_int_equal(table_told(table, EVENT_TURN_UP), 1);
}

static void test_n8_two_face_up_locomotives_in_one_turn(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "locomotive", 2);
    table_ready(table, 0);
    for (uint32_t i = 0; i < 3; i++) {
        table_chance(table, "cards", "red");
    }
    table_chance(table, "cards", "blue");
    table_do(table, "take locomotive");
    table_chance(table, "cards", "blue");
    table_do(table, "take locomotive");
    assert_int_equal(table->state.hand[0][table->tables->locomotive], 2);
    assert_int_equal(table->state.active, 1);
}

static void test_second_draw_is_made_unasked_without_a_row(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_discard(table, "red", 3);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_chance(table, "cards", "red");
    table_do(table, "draw");
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(cards_total(table->state.discard), 0);
    assert_int_equal(cards_total(table->state.deck), 1); /* the second draw was forced */
}

static void test_n7_no_cards_to_draw_without_deck_and_discards(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "red", 5);
    table_deck_to(table, 1);
    table_ready(table, 0);
    assert_false(table_may(table, "take red"));
    assert_false(table_may(table, "draw"));
}

static void test_n7_one_card_left_lets_draw_and_take_what_there_is(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "red", 4);
    table_face_up(table, "blue", 1);
    table_discard(table, "green", 1);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_chance(table, "cards", "green");
    table_do(table, "draw");
    table_expect(table, "take red|take blue");
    table_do(table, "take red");
    assert_int_equal(cards_total(table->state.row), 4);
    assert_int_equal(table->state.hand[0][table_type(table, "green")], 1);
}

/* ---- Routes ---------------------------------------------------------------------------------- */

static void test_coloured_route_takes_cards_of_its_colour(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "black", 2);
    table_hand(table, 0, "red", 1);
    table_ready(table, 0);
    assert_true(table_may(table, "claim kristiansand/oslo"));
    assert_false(table_may(table, "claim lillehammer/andalsnes"));
    table_do(table, "claim kristiansand/oslo");
    assert_int_equal(table->state.owner[table_route(table, "kristiansand/oslo")], 1);
    assert_int_equal(table->state.points[0], 2);
    assert_int_equal(table->state.wagons[0], 38);
    assert_int_equal(table_told(table, EVENT_LAY), 2);
    assert_int_equal(table->state.active, 1);
}

static void test_score_table(void **slot)
{
    Table *table = table_open(slot, "nordic");
    const uint8_t expected[] = {0, 1, 2, 4, 7, 10, 15, 0, 0, 27};
    assert_memory_equal(table->tables->length_points, expected, sizeof expected);
}

static void test_gray_route_takes_one_colour_of_choice(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "black", 3);
    table_hand(table, 0, "red", 3);
    table_hand(table, 0, "blue", 2);
    table_ready(table, 0);
    table_do(table, "claim goteborg/norrkoping");
    table_expect(table, "pay black|pay red");
    table_do(table, "pay red");
    assert_int_equal(table->state.discard[table_type(table, "red")], 3);
}

static void test_n4_no_locomotives_on_plain_routes(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "black", 1);
    table_hand(table, 0, "locomotive", 5);
    table_ready(table, 0);
    assert_false(table_may(table, "claim kristiansand/oslo"));
    assert_false(table_may(table, "claim goteborg/norrkoping"));
}

static void test_n2_unequal_pairs_are_doubles(void **slot)
{
    Table *table = table_open(slot, "nordic");
    const char *const pairs[3][2] = {
        {"mo_i_rana/trondheim.green", "mo_i_rana/trondheim.red"},
        {"kristiansand/stavanger.green", "kristiansand/stavanger.orange"},
        {"helsinki/stockholm.gray", "helsinki/stockholm.yellow"},
    };
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t first = table_route(table, pairs[i][0]);
        assert_int_equal(table->tables->route[first].twin, table_route(table, pairs[i][1]));
    }
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Gives a seat 38 wagons' worth of routes. */
static void table_own_most(Table *table, uint8_t seat)
{
    table_own(table, seat, "lieksa/murmansk");
    table_own(table, seat, "mo_i_rana/trondheim.red");
    table_own(table, seat, "bergen/andalsnes");
    table_own(table, seat, "kirkenes/rovaniemi");
    table_own(table, seat, "honningsvag/tromso");
    table_own(table, seat, "mo_i_rana/narvik");
    table_own(table, seat, "bergen/oslo.blue");
}

static void test_n11_two_wagons_left_give_everyone_one_more_turn(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    table_clear(table);
    table_own_most(table, 1);
    table_hand(table, 1, "green", 1);
    table_face_up(table, "white", 5);
    table_ready(table, 1);
    table_do(table, "claim boden/tornio");
    assert_int_equal(table->state.wagons[1], 2);
    assert_int_equal(table->state.last_turns, 3);
    const uint8_t order[] = {2, 0, 1};
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(table->state.head.over);
        assert_int_equal(table->state.active, order[i]);
        table_do(table, "draw");
        table_do(table, "draw");
    }
    assert_true(table->state.head.over);
    assert_false(table->state.head.truncated);
}

static void test_cap_of_turns_cuts_the_episode_short(void **slot)
{
    Table *table = table_open(slot, "nordic:turns_max=40");
    table_clear(table);
    table_face_up(table, "white", 5);
    table->state.turns = 40;
    table_ready(table, 0);
    table_do(table, "draw");
    table_do(table, "draw");
    assert_true(table->state.head.over);
    assert_true(table->state.head.truncated);
    assert_int_equal(table->state.winners, 0);
    assert_int_equal(table->reward[0], 0);
    assert_int_equal(table_metric(table, "truncated"), 1);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* Plays the last turn of the game: seat 1 draws. */
static void table_finish(Table *table)
{
    table_face_up(table, "white", 5);
    table->state.last_turns = 1;
    table_ready(table, 1);
    table_do(table, "draw");
    table_do(table, "draw");
    assert_true(table->state.head.over);
}

static void test_tickets_count_for_or_against(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_own(table, 0, "kristiansand/oslo");
    table_own(table, 0, "kristiansand/stavanger.green");
    table_ticket_to(table, 0, "oslo/stavanger");
    table_ticket_to(table, 0, "bergen/narvik");
    table_ticket_to(table, 1, "tallinn/tampere");
    table_finish(table);
    assert_int_equal(table_metric(table, "routes_0"), 4);
    assert_int_equal(table_metric(table, "tickets_0"), 4 - 16);
    assert_int_equal(table_metric(table, "completed_0"), 1);
    assert_int_equal(table_metric(table, "failed_0"), 1);
    assert_int_equal(table_metric(table, "bonus_0"), 10);
    assert_int_equal(table_metric(table, "total_0"), 4 - 12 + 10);
    assert_int_equal(table_metric(table, "total_1"), -3);
    assert_int_equal(table_metric(table, "won_0"), 1);
    assert_int_equal(table_metric(table, "won_1"), 0);
    assert_int_equal(table->reward[0], TY_REWARD_ONE);
    assert_int_equal(table->reward[1], -TY_REWARD_ONE);
}

static void test_n10_globetrotter_to_all_who_share_it_even_at_zero(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    table_clear(table);
    table_finish(table);
    assert_int_equal(table_metric(table, "bonus_0"), 10);
    assert_int_equal(table_metric(table, "bonus_1"), 10);
    assert_int_equal(table_metric(table, "bonus_2"), 10);
}

static void test_n10_then_to_the_longest_path(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    /* Two points each: one route of two, or two apart of one. */
    table_own(table, 0, "kristiansand/oslo");
    table_own(table, 1, "boden/tornio");
    table_own(table, 1, "helsinki/lahti");
    table_finish(table);
    assert_int_equal(table_metric(table, "total_0"), table_metric(table, "total_1"));
    assert_int_equal(table_metric(table, "longest_0"), 2);
    assert_int_equal(table_metric(table, "longest_1"), 1);
    assert_int_equal(table->state.winners, 1);
}

static void test_n10_then_the_victory_is_shared(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_finish(table);
    assert_int_equal(table->state.winners, 3);
    assert_int_equal(table->reward[0], 0);
    assert_int_equal(table->reward[1], 0);
}

static void test_n12_longest_path_may_pass_a_city_again(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    /* A round trip Tampere-Turku-Helsinki with a tail at Helsinki, then with a second one. */
    table_own(table, 0, "tampere/turku");
    table_own(table, 0, "helsinki/turku");
    table_own(table, 0, "helsinki/tampere");
    table_own(table, 0, "helsinki/lahti");
    table_ready(table, 0);
    assert_int_equal(tickets_longest_path(table->tables, &table->state, 0), 4);
    table_own(table, 0, "helsinki/tallinn");
    table_ready(table, 0);
    assert_int_equal(tickets_longest_path(table->tables, &table->state, 0), 6);
    table_own(table, 0, "stockholm/turku");
    table_own(table, 0, "tampere/vaasa");
    table_ready(table, 0);
    /* Stockholm-Turku-Helsinki-Tampere-Vaasa beats the round trip with two tails. */
    assert_int_equal(tickets_longest_path(table->tables, &table->state, 0), 7);
}

/* The longest walk by trying everything, without any shortcut. */
static uint32_t oracle_longest(const TicketsTables *tables, const TicketsState *state)
{
    uint8_t edges[16];
    uint32_t count = 0;
    for (uint8_t i = 0; i < tables->route_count; i++) {
        if (state->owner[i] == 1) {
            edges[count++] = i;
        }
    }
    /* best[set][city]: whether a walk over exactly this set can end in the city. */
    static uint64_t ends[1 << 12];
    memset(ends, 0, sizeof ends);
    ends[0] = UINT64_MAX;
    uint32_t best = 0;
    for (uint32_t set = 0; set < 1u << count; set++) {
        uint32_t length = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t *city = tables->route[edges[i]].city;
            length += set >> i & 1 ? tables->route[edges[i]].length : 0;
            if ((set >> i & 1) == 0 && (ends[set] >> city[0] & 1) != 0) {
                ends[set | 1u << i] |= UINT64_C(1) << city[1];
            }
            if ((set >> i & 1) == 0 && (ends[set] >> city[1] & 1) != 0) {
                ends[set | 1u << i] |= UINT64_C(1) << city[0];
            }
        }
        best = ends[set] != 0 && length > best ? length : best;
    }
    return best;
}

static void test_n12_longest_path_agrees_with_trying_everything(void **slot)
{
    Table *table = table_open(slot, "nordic");
    uint64_t random = 1;
    for (uint32_t trial = 0; trial < 300; trial++) {
        table_clear(table);
        for (uint32_t i = 0; i < 12; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t route = (uint32_t)(random >> 33) % (trial % 2 == 0 ? 30 : 81);
            bool open = !routes_have(&table->state.closed[0], route) &&
                        table->tables->route[route].length <= table->state.wagons[0];
            if (open) {
                table_own(table, 0, tickets_name_route(table->tables, route));
            }
        }
        assert_int_equal(tickets_longest_path(table->tables, &table->state, 0),
                         oracle_longest(table->tables, &table->state));
    }
}

static void test_score_reward_is_the_margin(void **slot)
{
    Table *table = table_open(slot, "nordic:reward=score,players=3");
    table_clear(table);
    table_own(table, 0, "kristiansand/oslo");
    table_own(table, 2, "lieksa/murmansk");
    table_finish(table);
    assert_int_equal(table->reward[0], 2 - 27);
    assert_int_equal(table->reward[1], -27);
    assert_int_equal(table->reward[2], 25);
}

/* ---- Map files ------------------------------------------------------------------------------- */

static void test_map_file_errors_name_their_field(void **unused)
{
    (void)unused;
    map_refused("nordic", "\"wagons\": 10", "\"wagons\": 2", "wagons: must be a whole number");
    map_refused("nordic", "\"wagons\": 10", "\"waggons\": 10", "unknown key \"waggons\"");
    map_refused("nordic", "\"green\"]", "\"red\"]", "colours[2]: \"red\" is there twice");
    map_refused("nordic", "\"green\"]", "\"gray\"]", "is not a colour of cards");
    map_refused("nordic", "[4, 7]", "[3, 7]", "\"points\" has no entry for length 4");
    map_refused("nordic", "\"length\": 4", "\"length\": 10", "routes[8].length");
    map_refused("nordic", "\"ferry\": 2", "\"ferry\": 4", "routes[6].ferry");
    map_refused("nordic", "\"ferry\": 2", "\"ferry\": 2, \"tunnel\": true", "only one of tunnel");
    map_refused("nordic", "\"a\": \"alta\", \"b\": \"bodo\", \"length\"",
                "\"a\": \"alta\", \"b\": \"alta\", \"length\"", "begins and ends in the same city");
    map_refused("nordic", "\"b\": \"drammen\", \"length\": 1", "\"b\": \"bodo\", \"length\": 1",
                "is the third route between the same two cities");
    map_refused("nordic", "\"id\": \"bodo/falun\", \"a\": \"bodo\", \"b\": \"falun\", \"length\"",
                "\"id\": \"eide/falun\", \"a\": \"bodo\", \"b\": \"falun\", \"length\"",
                "routes[8]: \"eide/falun\" is there twice");
    map_refused("nordic", "\"id\": \"ceuta\"", "\"id\": \"Ceuta\"", "cities[2].id: must be 1 to");
    map_refused("nordic", "\"xy\": [4, 2]", "\"xy\": [4]", "cities[2].xy: must have 2 entries");
    map_refused("nordic", "\"colour\": \"red\", \"tunnel\"", "\"colour\": \"pink\", \"tunnel\"",
                "routes[7].colour: \"pink\" is not in the file");
    map_refused("nordic", "\"globetrotter\": 5,", "", "\"globetrotter\" is missing");
}

static void test_map_must_hang_together(void **unused)
{
    (void)unused;
    map_refused("nordic", "{\"id\": \"falun\", \"title\": \"Falun\", \"xy\": [4, 0]}",
                "{\"id\": \"falun\", \"title\": \"Falun\", \"xy\": [4, 0]},"
                "{\"id\": \"island\", \"title\": \"Island\", \"xy\": [9, 9]}",
                "no way leads from city \"alta\" to city \"island\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_map_has_the_printed_components),
        TABLE_TEST(test_ticket_points_are_the_shortest_way),
        TABLE_TEST(test_first_tickets_are_five_keep_at_least_two),
        TABLE_TEST(test_n9_refused_tickets_leave_the_game),
        TABLE_TEST(test_n1_three_locomotives_face_up_stay),
        TABLE_TEST(test_n8_two_face_up_locomotives_in_one_turn),
        TABLE_TEST(test_second_draw_is_made_unasked_without_a_row),
        TABLE_TEST(test_n7_no_cards_to_draw_without_deck_and_discards),
        TABLE_TEST(test_n7_one_card_left_lets_draw_and_take_what_there_is),
        TABLE_TEST(test_coloured_route_takes_cards_of_its_colour),
        TABLE_TEST(test_score_table),
        TABLE_TEST(test_gray_route_takes_one_colour_of_choice),
        TABLE_TEST(test_n4_no_locomotives_on_plain_routes),
        TABLE_TEST(test_n2_unequal_pairs_are_doubles),
        TABLE_TEST(test_n11_two_wagons_left_give_everyone_one_more_turn),
        TABLE_TEST(test_cap_of_turns_cuts_the_episode_short),
        TABLE_TEST(test_tickets_count_for_or_against),
        TABLE_TEST(test_n10_globetrotter_to_all_who_share_it_even_at_zero),
        TABLE_TEST(test_n10_then_to_the_longest_path),
        TABLE_TEST(test_n10_then_the_victory_is_shared),
        TABLE_TEST(test_n12_longest_path_may_pass_a_city_again),
        TABLE_TEST(test_n12_longest_path_agrees_with_trying_everything),
        TABLE_TEST(test_score_reward_is_the_margin),
        cmocka_unit_test(test_map_file_errors_name_their_field),
        cmocka_unit_test(test_map_must_hang_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
