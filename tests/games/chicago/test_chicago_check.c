/* Ligne de train, Chicago: positions that are wrong in one thing are refused. Each position was
 * reached by play. */
#include "tests/games/chicago/chicago_table.h"

#define QUESTION "the question does not fit the position"

/* Whether the question is asked by one of the cards, a bit each; 0: by any or none. */
static bool asked_by(const ChicagoState *state, uint32_t cards)
{
    return cards == 0 || (state->card != 0 && (cards >> (state->card - 1) & 1) != 0);
}

/* A table at which the question is asked. */
static Table *asked_table(void **slot, const char *settings, Phase phase, uint32_t cards)
{
    char forced[64];
    snprintf(forced, sizeof forced, "ask_forced=true,%s", settings);
    Table *table = table_open(slot, forced);
    table_seek(table, (uint8_t)phase, cards, asked_by);
    return table;
}

/* Seats what the active player has outside the train, so that it has nothing there. */
static void seat_all(const Table *table, ChicagoState *state)
{
    uint8_t seat = state->active;
    state->supply[seat] = (uint8_t)(state->supply[seat] + (state->wait[seat] != WAIT_NONE));
    state->wait[seat] = WAIT_NONE;
    state->start[seat] = 0;
    while (state->supply[seat] > 0) {
        CellSet free = chicago_seats_free(table->tables, state);
        assert_true(cells_any(&free));
        cells_add(&state->seated[seat], cells_first(&free));
        state->supply[seat]--;
    }
}

/* Takes a seated pawn of the active player into the aisle of its car, where it has none. */
static void stand_up(const Table *table, ChicagoState *state)
{
    uint8_t seat = state->active;
    if (state->aisle[seat] == 0 && cells_any(&state->seated[seat])) {
        cells_remove(&state->seated[seat], cells_first(&state->seated[seat]));
        const CellSet *aisle = &state_train(table->tables, state)->aisle;
        state->aisle[seat] = (uint8_t)(cells_first(aisle) + 1);
    }
    state->gained = (CellSet){{0, 0}};
}

/* The aisle pawn of the active player goes back to the supply. */
static void aisle_leave(ChicagoState *state)
{
    state->supply[state->active]++;
    state->aisle[state->active] = 0;
}

enum {
    CARDS_EXIT = 1 << CARD_EXIT_1X | 1 << CARD_EXIT_2X,
    CARDS_ENTER = 1 << CARD_ENTER_1X | 1 << CARD_ENTER_2X,
    CARDS_TAKE = 1 << CARD_TAKE_A_SEAT,
    CARDS_ECCENTRIC = 1 << CARD_ECCENTRIC,
};

static void test_train_and_end_belong_to_the_position(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_TURN, 0);
    TABLE_REFUSED(table,
                  (hurt.tile[0] = table->tables->fixed[1], hurt.tile[1] = table->tables->fixed[0]),
                  "the tiles are not those of the ruleset");
    TABLE_REFUSED(table, hurt.tile[1] = hurt.tile[0], "the train does not exist");
    TABLE_REFUSED(table, hurt.head.phase = PHASE_OVER,
                  "the seat to act is not the one that is asked");
    TABLE_REFUSED(table, (hurt.head.phase = PHASE_OVER, hurt.head.over = 1, hurt.head.seat = -1),
                  "the episode's end and its winner do not fit");
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
}

static void test_start_space_must_be_one_of_the_train(void **slot)
{
    Table *table = table_make(slot, "chicago:train=tiny,ask_forced=true,first_player=seat0");
    table->tables = chicago_tables(table->ruleset);
    table_reset(table, 0);
    table_do(table, "place 1.west");
    TABLE_REFUSED(table, hurt.start[0] = 2, "a waiting pawn is nowhere");
}

static void test_placing_needs_a_pawn_and_a_place_for_it(void **slot)
{
    Table *table = asked_table(slot, "players=3", PHASE_PLACE, 0);
    uint8_t seat = table->state.active;
    TABLE_REFUSED(table, (hurt.wait[seat] = WAIT_START, hurt.start[seat] = 1, hurt.supply[seat]--),
                  QUESTION);
    TABLE_REFUSED(
        table,
        (hurt.aisle[seat] = (uint8_t)(cells_first(&state_train(table->tables, &hurt)->aisle) + 1),
         hurt.supply[seat]--),
        QUESTION);
}

static void test_move_has_numbers_and_their_points(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_MOVE, 0);
    TABLE_REFUSED(table, hurt.laid = 0, QUESTION);
    TABLE_REFUSED(table, hurt.colour = 0, QUESTION);
    TABLE_REFUSED(table, hurt.points = hurt.bonus, QUESTION);
    TABLE_REFUSED(table, hurt.points = (uint8_t)(hurt.bonus + CHICAGO_VALUES * hurt.laid + 1),
                  QUESTION);
}

static void test_slide_moves_a_pawn_of_an_opponent(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_SLIDE, 0);
    TABLE_REFUSED(table, hurt.points = 0, QUESTION);
    TABLE_REFUSED(table, hurt.picked = 0, QUESTION);
    CellSet free = chicago_seats_free(table->tables, &table->state);
    TABLE_REFUSED(table, hurt.picked = (uint8_t)(cells_first(&free) + 1), QUESTION);
    uint8_t seat = table->state.active;
    if (table->state.aisle[seat] != 0) {
        TABLE_REFUSED(table, aisle_leave(&hurt), QUESTION);
    }
    TABLE_REFUSED(table,
                  (cells_add(&hurt.seated[seat], cells_first(&free)), hurt.supply[seat]--,
                   hurt.picked = (uint8_t)(cells_first(&free) + 1)),
                  QUESTION);
}

static void test_source_of_a_taken_seat_needs_its_attack(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_SOURCE, CARDS_TAKE);
    TABLE_REFUSED(table, hurt.target = 0, QUESTION);
    TABLE_REFUSED(table, hurt.target = (uint8_t)(hurt.active + 1), QUESTION);
    TABLE_REFUSED(table, hurt.picked = 0, QUESTION);
    TABLE_REFUSED(table, (seat_all(table, &hurt), stand_up(table, &hurt)), QUESTION);
}

static void test_source_of_an_entry_needs_pawns_that_enter(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_SOURCE, CARDS_ENTER);
    TABLE_REFUSED(table, hurt.left = 0, QUESTION);
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
}

static void test_seat_is_taken_by_a_pawn_that_is_there(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_SEAT, 0);
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
    TABLE_REFUSED(table, hurt.left = 0, QUESTION);
    TABLE_REFUSED(table, hurt.source = 0, QUESTION);
    TABLE_REFUSED(table, (seat_all(table, &hurt), stand_up(table, &hurt)), QUESTION);
}

static void test_pawn_of_an_exit_is_of_the_one_attacked(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_PAWN, CARDS_EXIT);
    TABLE_REFUSED(table, hurt.target = (uint8_t)(hurt.active + 1), QUESTION);
    TABLE_REFUSED(table, hurt.left = 0, QUESTION);
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
}

static void test_exit_takes_no_more_pawns_than_there_are(void **slot)
{
    Table *table = attack_table(slot, "", "exit_2x blue_1 red_1");
    table_hand(table, 1, IDLE_HAND);
    table_ready(table, 0);
    table_do(table, "play exit_2x");
    assert_int_equal(table->state.head.phase, PHASE_PAWN);
    TABLE_REFUSED(table,
                  (hurt.seated[1] = (CellSet){{0, 0}},
                   hurt.supply[1] = (uint8_t)(hurt.supply[1] + 2),
                   cells_add(&hurt.seated[1], table_place(table, "1.a0"))),
                  QUESTION);
}

static void test_pawn_of_a_taken_seat_needs_one_outside(void **slot)
{
    Table *table = asked_table(slot, "", PHASE_PAWN, CARDS_TAKE);
    TABLE_REFUSED(table, (seat_all(table, &hurt), stand_up(table, &hurt)), QUESTION);
}

static void test_rebel_answers_an_attack_on_itself(void **slot)
{
    Table *table = asked_table(slot, "players=3", PHASE_REBEL, CARDS_ECCENTRIC);
    uint8_t third = (uint8_t)(3 - table->state.active - (table->state.target - 1));
    TABLE_REFUSED(table, (hurt.target = (uint8_t)(third + 1), hurt.head.seat = (int8_t)third),
                  QUESTION);
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
    TABLE_REFUSED(table,
                  (hurt.target = (uint8_t)(hurt.active + 1), hurt.head.seat = (int8_t)hurt.active),
                  QUESTION);
    TABLE_REFUSED(table, hurt.target = 0, "nobody is asked");
}

static void test_reseat_follows_a_crowded_aisle(void **slot)
{
    Table *table = asked_table(slot, "crowding=penalty", PHASE_RESEAT, 0);
    uint8_t target = (uint8_t)(table->state.target - 1);
    TABLE_REFUSED(table, hurt.card = CARD_EXPRESS + 1, QUESTION);
    TABLE_REFUSED(table,
                  (hurt.supply[target] = (uint8_t)(hurt.supply[target] + hurt.left), hurt.left = 0),
                  QUESTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_train_and_end_belong_to_the_position),
        TABLE_TEST(test_start_space_must_be_one_of_the_train),
        TABLE_TEST(test_placing_needs_a_pawn_and_a_place_for_it),
        TABLE_TEST(test_move_has_numbers_and_their_points),
        TABLE_TEST(test_slide_moves_a_pawn_of_an_opponent),
        TABLE_TEST(test_source_of_a_taken_seat_needs_its_attack),
        TABLE_TEST(test_source_of_an_entry_needs_pawns_that_enter),
        TABLE_TEST(test_seat_is_taken_by_a_pawn_that_is_there),
        TABLE_TEST(test_pawn_of_an_exit_is_of_the_one_attacked),
        TABLE_TEST(test_exit_takes_no_more_pawns_than_there_are),
        TABLE_TEST(test_pawn_of_a_taken_seat_needs_one_outside),
        TABLE_TEST(test_rebel_answers_an_attack_on_itself),
        TABLE_TEST(test_reseat_follows_a_crowded_aisle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
