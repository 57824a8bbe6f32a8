/* The rules that nordic and express share: every test runs for both games. */
#include "tests/games/tickets/tickets_table.h"

/* What the same rule is tried with in each game. */
typedef struct SharedGame {
    const char *name;
    uint32_t players_max;
    uint32_t wagons;
    uint32_t deck;          /* cards before any is dealt, without a stack of locomotives */
    uint32_t stack;         /* locomotives in a stack of their own */
    const char *turn;       /* what may be done with red and blue cards face up */
    const char *step;       /* a route of one space, */
    const char *step_card;  /* and the card that pays for it */
    const char *twins[2];   /* a double route, */
    const char *twin_card;  /* and the card of its second half, */
    uint8_t twin_length;    /* of this length */
    const char *most[9];    /* routes that leave two wagons */
    const char *wagon_card; /* three of them pay for both of these: */
    const char *two_spaces;
    const char *three_spaces;
    const char *stuck[9]; /* routes after which seat 0 can lay no other */
} SharedGame;

static const SharedGame nordic = {
    .name = "nordic",
    .players_max = 3,
    .wagons = 40,
    .deck = 110,
    .turn = "draw|take red|take blue|tickets.draw",
    .step = "norrkoping/stockholm.orange",
    .step_card = "orange",
    .twins = {"norrkoping/stockholm.red", "norrkoping/stockholm.orange"},
    .twin_card = "orange",
    .twin_length = 1,
    .most = {"lieksa/murmansk", "mo_i_rana/trondheim.red", "bergen/andalsnes", "kirkenes/rovaniemi",
             "honningsvag/tromso", "mo_i_rana/narvik", "bergen/oslo.blue", "boden/tornio"},
    .wagon_card = "black",
    .two_spaces = "kristiansand/oslo",
    .three_spaces = "oulu/vaasa",
    .stuck = {"lieksa/murmansk", "mo_i_rana/trondheim.red", "bergen/andalsnes",
              "kirkenes/rovaniemi", "honningsvag/tromso", "mo_i_rana/narvik", "bergen/oslo.blue",
              "helsinki/imatra"},
};

static const SharedGame express = {
    .name = "express",
    .players_max = 4,
    .wagons = 27,
    .deck = 70,
    .stack = 12,
    .turn = "draw|take red|take blue|take.locomotive|tickets.draw",
    .step = "amsterdam/bruxelles",
    .step_card = "yellow",
    .twins = {"amsterdam/londres.green", "amsterdam/londres.white"},
    .twin_card = "white",
    .twin_length = 2,
    .most = {"budapest/kiev", "stockholm/varsovie", "amsterdam/copenhague", "athenes/brindisi",
             "athenes/istanbul", "amsterdam/bruxelles", "budapest/vienne.green"},
    .wagon_card = "locomotive",
    .two_spaces = "francfort/munich",
    .three_spaces = "francfort/paris.green",
    .stuck = {"budapest/kiev", "stockholm/varsovie", "amsterdam/copenhague", "athenes/brindisi",
              "athenes/istanbul", "bucarest/budapest"},
};

static const SharedGame *game;

static int choose_nordic(void **unused)
{
    (void)unused;
    game = &nordic;
    return 0;
}

static int choose_express(void **unused)
{
    (void)unused;
    game = &express;
    return 0;
}

/* A table of the game with these options, such as "players=3". */
static Table *game_open(void **slot, const char *options)
{
    char spec[TY_SPEC_MAX];
    snprintf(spec, sizeof spec, "%s:%s", game->name, options);
    return table_open(slot, spec);
}

static Table *full_open(void **slot, const char *options)
{
    char all[TY_SPEC_MAX];
    snprintf(all, sizeof all, "players=%u%s", game->players_max, options);
    return game_open(slot, all);
}

static bool may_claim(const Table *table, const char *route)
{
    char name[TY_NAME_MAX];
    snprintf(name, sizeof name, "claim %s", route);
    return table_may(table, name);
}

static void own_all(Table *table, const char *const *routes)
{
    for (; *routes != NULL; routes++) {
        table_own(table, 0, *routes);
    }
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void test_setup_deals_four_cards_and_turns_up_five(void **slot)
{
    Table *table = full_open(slot, "");
    for (uint32_t seat = 0; seat < game->players_max; seat++) {
        assert_int_equal(cards_total(table->state.hand[seat]), 4);
        assert_int_equal(table->state.wagons[seat], game->wagons);
    }
    assert_int_equal(cards_total(table->state.row), 5);
    assert_int_equal(cards_total(table->state.deck), game->deck - 4 * game->players_max - 5);
    assert_int_equal(table->state.stack, game->stack);
}

static void test_first_player_is_drawn(void **slot)
{
    Table *table = full_open(slot, "");
    const char last[] = {(char)('0' + game->players_max - 1), '\0'};
    table_chance(table, "first_player", last);
    table_reset(table, 5);
    assert_int_equal(table->state.active, game->players_max - 1);
    assert_int_equal(table->state.head.phase, PHASE_KEEP_FIRST);
    table = full_open(slot, ",first_player=seat0");
    assert_int_equal(table->state.active, 0);
}

static void test_others_do_not_see_how_many_first_tickets_are_kept(void **slot)
{
    Table *table = game_open(slot, "first_player=seat0,ask_forced=true");
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

/* ---- Cards ----------------------------------------------------------------------------------- */

static void test_two_cards_face_up_or_blind(void **slot)
{
    Table *table = game_open(slot, "players=2");
    table_clear(table);
    table_face_up(table, "red", 3);
    table_face_up(table, "blue", 2);
    table_ready(table, 0);
    table_expect(table, game->turn);
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

static void test_empty_deck_is_made_of_the_discards(void **slot)
{
    Table *table = game_open(slot, "players=2");
    table_clear(table);
    table_face_up(table, "white", 5);
    table_discard(table, "red", 3);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_chance(table, "cards", "red");
    table_do(table, "draw");
    assert_int_equal(table_told(table, EVENT_RESHUFFLE), 1);
    assert_int_equal(cards_total(table->state.discard), 0);
    assert_int_equal(cards_total(table->state.deck), 2);
}

static void test_row_is_filled_when_cards_come_back(void **slot)
{
    Table *table = game_open(slot, "players=2");
    char claim[TY_NAME_MAX];
    table_clear(table);
    table_face_up(table, "white", 2);
    table_hand(table, 0, game->step_card, 1);
    table_deck_to(table, 1);
    table_ready(table, 0);
    table_chance(table, "cards", game->step_card);
    snprintf(claim, sizeof claim, "claim %s", game->step);
    table_do(table, claim);
    assert_int_equal(cards_total(table->state.row), 3);
}

static void test_cards_taken_face_up_are_known_to_all(void **slot)
{
    Table *table = game_open(slot, "players=2");
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
    Table *table = game_open(slot, "first_player=seat0,players=3");
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

/* ---- Tickets --------------------------------------------------------------------------------- */

static void test_one_or_two_tickets_left_are_drawn(void **slot)
{
    Table *table = game_open(slot, "ask_forced=true");
    for (uint32_t count = 1; count <= 2; count++) {
        table_clear(table);
        table_tickets_leave(table, 1, count);
        table_ready(table, 0);
        table_do(table, "tickets.draw");
        assert_int_equal(__builtin_popcountll(table->state.offered), count);
        assert_int_equal(table_choices(table), count);
        assert_false(table_may(table, "keep.done"));
    }
}

static void test_tickets_cannot_be_drawn_from_an_empty_deck(void **slot)
{
    Table *table = game_open(slot, "players=2");
    table_clear(table);
    table_tickets_leave(table, 1, 0);
    table_ready(table, 0);
    assert_false(table_may(table, "tickets.draw"));
}

/* ---- Routes ---------------------------------------------------------------------------------- */

static void test_route_needs_wagons_enough(void **slot)
{
    Table *table = game_open(slot, "players=2");
    table_clear(table);
    own_all(table, game->most);
    table_hand(table, 0, game->wagon_card, 3);
    table_ready(table, 0);
    assert_int_equal(table->state.wagons[0], 2);
    assert_true(may_claim(table, game->two_spaces));
    assert_false(may_claim(table, game->three_spaces));
}

/* Seat 0 has one half of a double route, and both seats the cards for the other. */
static Table *double_open(void **slot, const char *options)
{
    Table *table = game_open(slot, options);
    table_clear(table);
    table_own(table, 0, game->twins[0]);
    table_hand(table, 0, game->twin_card, game->twin_length);
    table_hand(table, 1, game->twin_card, game->twin_length);
    return table;
}

static void test_double_route_is_closed_with_two_players(void **slot)
{
    Table *table = double_open(slot, "players=2");
    table_ready(table, 1);
    assert_false(may_claim(table, game->twins[1]));
    table_ready(table, 0);
    assert_false(may_claim(table, game->twins[1]));
}

static void test_double_route_is_open_to_another_with_three_players(void **slot)
{
    Table *table = double_open(slot, "players=3");
    table_ready(table, 0);
    assert_false(may_claim(table, game->twins[1]));
    table_ready(table, 1);
    assert_true(may_claim(table, game->twins[1]));
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Nobody can do anything: no card, no ticket, no route that could be paid. The turn is seat 1's. */
static Table *stuck_open(void **slot)
{
    Table *table = game_open(slot, "ask_forced=true");
    table_clear(table);
    own_all(table, game->stuck);
    table_deck_to(table, 0);
    table_hand(table, 0, "locomotive", (uint8_t)game->stack);
    table_tickets_leave(table, 0, 0);
    table_ready(table, 1);
    return table;
}

static void test_pass_only_when_nothing_else_is_legal(void **slot)
{
    Table *table = stuck_open(slot);
    assert_int_equal(table->state.wagons[0], 0);
    table_expect(table, "pass");
}

static void test_ends_when_all_pass_in_a_row(void **slot)
{
    Table *table = stuck_open(slot);
    table_do(table, "pass");
    assert_int_equal(table->state.active, 0);
    table_expect(table, "pass");
    table_do(table, "pass");
    assert_true(table->state.head.over);
    assert_int_equal(table_last_event(table, EVENT_END)->args[1], END_ALL_PASSED);
}

static void test_ties_go_to_completed_tickets(void **slot)
{
    Table *table = game_open(slot, "players=3");
    const Sheet sheets[TY_PLAYERS_MAX] = {{.total = 30, .completed = 2, .longest = 9},
                                          {.total = 30, .completed = 3, .longest = 1},
                                          {.total = 29, .completed = 9}};
    assert_int_equal(tickets_winners(table->tables, sheets), 2);
}

/* ---- The expert ------------------------------------------------------------------------------ */

static void test_expert_acts_legally_and_beats_random_play(void **unused)
{
    (void)unused;
    char spec[TY_SPEC_MAX];
    expert_is_strong(game->name, 400, 95);
    snprintf(spec, sizeof spec, "%s:players=%u", game->name, game->players_max);
    expert_is_strong(spec, 100, 90);
    snprintf(spec, sizeof spec, "%s:map=tiny", game->name);
    expert_is_strong(spec, 300, 60);
    snprintf(spec, sizeof spec, "%s:map=tiny,players=3,ask_forced=true", game->name);
    expert_is_strong(spec, 100, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_setup_deals_four_cards_and_turns_up_five),
        TABLE_TEST(test_first_player_is_drawn),
        TABLE_TEST(test_others_do_not_see_how_many_first_tickets_are_kept),
        TABLE_TEST(test_two_cards_face_up_or_blind),
        TABLE_TEST(test_empty_deck_is_made_of_the_discards),
        TABLE_TEST(test_row_is_filled_when_cards_come_back),
        TABLE_TEST(test_cards_taken_face_up_are_known_to_all),
        TABLE_TEST(test_events_that_others_may_not_see_are_secret),
        TABLE_TEST(test_one_or_two_tickets_left_are_drawn),
        TABLE_TEST(test_tickets_cannot_be_drawn_from_an_empty_deck),
        TABLE_TEST(test_route_needs_wagons_enough),
        TABLE_TEST(test_double_route_is_closed_with_two_players),
        TABLE_TEST(test_double_route_is_open_to_another_with_three_players),
        TABLE_TEST(test_pass_only_when_nothing_else_is_legal),
        TABLE_TEST(test_ends_when_all_pass_in_a_row),
        TABLE_TEST(test_ties_go_to_completed_tickets),
        cmocka_unit_test(test_expert_acts_legally_and_beats_random_play),
    };
    return cmocka_run_group_tests_name("nordic", tests, choose_nordic, NULL) +
           cmocka_run_group_tests_name("express", tests, choose_express, NULL);
}
