/* Les Aventuriers du Rail Scandinavie, rule by rule and ruling by ruling. */
#include "tests/tickets_table.h"

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

static void test_setup_deals_four_cards_and_turns_up_five(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    for (uint32_t seat = 0; seat < 3; seat++) {
        assert_int_equal(cards_total(table->state.hand[seat]), 4);
        assert_int_equal(table->state.wagons[seat], 40);
    }
    assert_int_equal(cards_total(table->state.row), 5);
    assert_int_equal(cards_total(table->state.deck), 110 - 12 - 5);
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
        uint32_t first = action_keep(table->tables);
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

static void test_tickets_drawn_when_fewer_than_three_are_left(void **slot)
{
    Table *table = table_open(slot, "nordic:ask_forced=true");
    table_clear(table);
    table_tickets_leave(table, 1, 2);
    table_ready(table, 0);
    table_do(table, "tickets.draw");
    assert_int_equal(__builtin_popcountll(table->state.offered), 2);
    assert_false(table_may(table, "keep.done"));
}

static void test_tickets_cannot_be_drawn_from_an_empty_deck(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_tickets_leave(table, 1, 0);
    table_ready(table, 0);
    assert_false(table_may(table, "tickets.draw"));
}

/* ---- Drawing cards --------------------------------------------------------------------------- */

static void test_two_cards_face_up_or_blind(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "red", 3);
    table_face_up(table, "blue", 2);
    table_ready(table, 0);
    table_expect(table, "draw|take red|take blue|tickets.draw");
    table_chance(table, "cards", "green");
    table_do(table, "take red");
    assert_int_equal(table->state.row[table_type(table, "green")], 1);
    table_expect(table, "draw|take red|take blue|take green");
    table_chance(table, "cards", "white");
    table_do(table, "draw");
    assert_int_equal(table->state.hand[0][table_type(table, "red")], 1);
    assert_int_equal(table->state.hand[0][table_type(table, "white")], 1);
    assert_int_equal(table->state.active, 1);
}

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

static void test_empty_deck_is_made_of_the_discards(void **slot)
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

static void test_route_needs_wagons_enough(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_hand(table, 0, "black", 3);
    table_own(table, 0, "lieksa/murmansk");
    table_own(table, 0, "mo_i_rana/trondheim.red");
    table_own(table, 0, "bergen/andalsnes");
    table_own(table, 0, "kirkenes/rovaniemi");
    table_own(table, 0, "honningsvag/tromso");
    table_own(table, 0, "mo_i_rana/narvik");
    table_own(table, 0, "bergen/oslo.blue");
    table_own(table, 0, "boden/tornio");
    table_ready(table, 0);
    assert_int_equal(table->state.wagons[0], 2);
    assert_true(table_may(table, "claim kristiansand/oslo"));
    assert_false(table_may(table, "claim oulu/vaasa"));
}

static void test_double_route_is_closed_with_two_players(void **slot)
{
    Table *table = table_open(slot, "nordic:players=2");
    table_clear(table);
    table_own(table, 0, "norrkoping/stockholm.red");
    table_hand(table, 0, "orange", 1);
    table_hand(table, 1, "orange", 1);
    table_ready(table, 1);
    assert_false(table_may(table, "claim norrkoping/stockholm.orange"));
    table_ready(table, 0);
    assert_false(table_may(table, "claim norrkoping/stockholm.orange"));
}

static void test_double_route_is_open_to_another_with_three_players(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    table_clear(table);
    table_own(table, 0, "norrkoping/stockholm.red");
    table_hand(table, 0, "orange", 1);
    table_hand(table, 1, "orange", 1);
    table_ready(table, 0);
    assert_false(table_may(table, "claim norrkoping/stockholm.orange"));
    table_ready(table, 1);
    assert_true(table_may(table, "claim norrkoping/stockholm.orange"));
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
        assert_true(next != 0 || (state.options >> ACTION_PAY_DONE & 1) != 0);
        for (uint8_t type = 0; type < 4; type++) {
            if (next >> type & 1) {
                TicketsState child = state;
                child.hand[0][type]--;
                child.laid[type]++;
                child.cursor = type;
                tickets_options(table->tables, &child);
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

static void test_n11_first_player_is_drawn(void **slot)
{
    Table *table = table_open(slot, "nordic:players=3");
    table_chance(table, "first_player", "2");
    table_reset(table, 7);
    assert_int_equal(table->state.active, 2);
    table = table_open(slot, "nordic:players=3,first_player=seat0");
    assert_int_equal(table->state.active, 0);
}

/* Nobody can do anything: no card, no ticket, no route that could be paid. */
static Table *stuck_table(void **slot, const char *spec)
{
    Table *table = table_open(slot, spec);
    table_clear(table);
    table_own_most(table, 0);
    table_own(table, 0, "helsinki/imatra");
    table_deck_to(table, 0);
    table_tickets_leave(table, 0, 0);
    return table;
}

static void test_n11_pass_only_when_nothing_else_is_legal(void **slot)
{
    Table *table = stuck_table(slot, "nordic:ask_forced=true");
    table_ready(table, 1);
    table_expect(table, "pass");
}

static void test_n12_ends_when_all_pass_in_a_row(void **slot)
{
    Table *table = stuck_table(slot, "nordic:ask_forced=true");
    table_ready(table, 1);
    table_do(table, "pass");
    assert_int_equal(table->state.active, 0);
    table_expect(table, "pass");
    table_do(table, "pass");
    assert_true(table->state.head.over);
    assert_int_equal(table_last_event(table, EVENT_END)->args[1], END_ALL_PASSED);
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

static void test_n10_ties_go_to_completed_tickets(void **slot)
{
    Table *table = table_open(slot, "nordic");
    const Sheet sheets[TY_PLAYERS_MAX] = {{.total = 30, .completed = 2, .longest = 9},
                                          {.total = 30, .completed = 3, .longest = 1}};
    assert_int_equal(tickets_winners(table->tables, sheets), 2);
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

/* ---- What a seat knows ----------------------------------------------------------------------- */

static void test_cards_taken_face_up_are_known_to_all(void **slot)
{
    Table *table = table_open(slot, "nordic");
    table_clear(table);
    table_face_up(table, "red", 5);
    table_hand(table, 0, "red", 1);
    table_ready(table, 0);
    table_do(table, "take red");
    table_chance(table, "cards", "blue");
    table_do(table, "draw");
    uint32_t types = table->tables->type_count;
    assert_int_equal(table_row_value(table, 1, "hand", types + table_type(table, "red")), 1);
    assert_int_equal(table_row_value(table, 1, "hand", types + table_type(table, "blue")), 0);
    assert_int_equal(table_row_value(table, 1, "hand_size", 1), 3);
}

/* The last action told exactly one event of the kind, to seat 0 alone or to all. */
static void told_once(const Table *table, TicketsEvent kind, bool secret)
{
    assert_int_equal(table_told(table, kind), 1);
    assert_int_equal(table_last_event(table, kind)->secret, secret);
    assert_int_equal(table_last_event(table, kind)->seat, 0);
}

static void test_events_that_others_may_not_see_are_secret(void **slot)
{
    Table *table = table_open(slot, "nordic:first_player=seat0,players=3");
    assert_int_equal(table_told(table, EVENT_DEAL), 12);
    assert_int_equal(table_last_event(table, EVENT_DEAL)->seat, 2);
    assert_true(table_last_event(table, EVENT_DEAL)->secret);
    assert_true(table_last_event(table, EVENT_OFFER)->secret);
    table_clear(table);
    table_face_up(table, "red", 5);
    table_ready(table, 0);
    table_do(table, "draw");
    told_once(table, EVENT_BLIND, true);
    table_do(table, "take red");
    told_once(table, EVENT_TAKE, false);
    table_tickets_leave(table, 1, 1);
    table_ready(table, 0);
    table_do(table, "tickets.draw");
    told_once(table, EVENT_OFFER, true);
    told_once(table, EVENT_CHOOSE, true);
}

static void test_e8_others_do_not_see_how_many_first_tickets_are_kept(void **slot)
{
    Table *table = table_open(slot, "nordic:first_player=seat0,ask_forced=true");
    uint32_t before = table_row_value(table, 1, "ticket_deck", 0);
    uint8_t mask[TY_ACTIONS_MAX];
    while (table->state.active == 0) {
        char name[TY_NAME_MAX];
        ty_legal(table->ruleset, &table->state, mask);
        ty_action_name(table->ruleset,
                       ty_sample(mask, ty_shape(table->ruleset)->action_count, 0, 0), name);
        table_do(table, name);
    }
    assert_int_equal(table_row_value(table, 1, "ticket_count", 1), 0);
    assert_int_equal(table_row_value(table, 1, "ticket_deck", 0), before);
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

static void test_expert_acts_legally_and_beats_random_play(void **unused)
{
    (void)unused;
    expert_is_strong("nordic", 400, 95);
    expert_is_strong("nordic:players=3", 100, 90);
    expert_is_strong("nordic:map=tiny", 300, 60);
    expert_is_strong("nordic:map=tiny,players=3,ask_forced=true", 100, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_map_has_the_printed_components),
        TABLE_TEST(test_ticket_points_are_the_shortest_way),
        TABLE_TEST(test_setup_deals_four_cards_and_turns_up_five),
        TABLE_TEST(test_first_tickets_are_five_keep_at_least_two),
        TABLE_TEST(test_n9_refused_tickets_leave_the_game),
        TABLE_TEST(test_tickets_drawn_when_fewer_than_three_are_left),
        TABLE_TEST(test_tickets_cannot_be_drawn_from_an_empty_deck),
        TABLE_TEST(test_two_cards_face_up_or_blind),
        TABLE_TEST(test_n1_three_locomotives_face_up_stay),
        TABLE_TEST(test_n8_two_face_up_locomotives_in_one_turn),
        TABLE_TEST(test_empty_deck_is_made_of_the_discards),
        TABLE_TEST(test_n7_no_cards_to_draw_without_deck_and_discards),
        TABLE_TEST(test_n7_one_card_left_lets_draw_and_take_what_there_is),
        TABLE_TEST(test_coloured_route_takes_cards_of_its_colour),
        TABLE_TEST(test_score_table),
        TABLE_TEST(test_gray_route_takes_one_colour_of_choice),
        TABLE_TEST(test_n4_no_locomotives_on_plain_routes),
        TABLE_TEST(test_route_needs_wagons_enough),
        TABLE_TEST(test_double_route_is_closed_with_two_players),
        TABLE_TEST(test_double_route_is_open_to_another_with_three_players),
        TABLE_TEST(test_n2_unequal_pairs_are_doubles),
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
        TABLE_TEST(test_n11_two_wagons_left_give_everyone_one_more_turn),
        TABLE_TEST(test_n11_first_player_is_drawn),
        TABLE_TEST(test_n11_pass_only_when_nothing_else_is_legal),
        TABLE_TEST(test_n12_ends_when_all_pass_in_a_row),
        TABLE_TEST(test_cap_of_turns_cuts_the_episode_short),
        TABLE_TEST(test_tickets_count_for_or_against),
        TABLE_TEST(test_n10_globetrotter_to_all_who_share_it_even_at_zero),
        TABLE_TEST(test_n10_ties_go_to_completed_tickets),
        TABLE_TEST(test_n10_then_to_the_longest_path),
        TABLE_TEST(test_n10_then_the_victory_is_shared),
        TABLE_TEST(test_n12_longest_path_may_pass_a_city_again),
        TABLE_TEST(test_n12_longest_path_agrees_with_trying_everything),
        TABLE_TEST(test_score_reward_is_the_margin),
        TABLE_TEST(test_cards_taken_face_up_are_known_to_all),
        TABLE_TEST(test_events_that_others_may_not_see_are_secret),
        TABLE_TEST(test_e8_others_do_not_see_how_many_first_tickets_are_kept),
        cmocka_unit_test(test_expert_acts_legally_and_beats_random_play),
        cmocka_unit_test(test_map_file_errors_name_their_field),
        cmocka_unit_test(test_map_must_hang_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
