/* Convoi Express: positions that are wrong in one thing are refused. */
#include "tests/games/convoi/convoi_table.h"

#define LIGHTS "the lights of the action do not fit"
#define JUNCTION "the junction of the action does not fit"
#define MOVE "the train of the action does not fit"
#define LOAD "the train of the action cannot be loaded"

/* Whether what is being paid is action `act`. */
static bool pays(const ConvoiState *state, uint32_t act)
{
    return state->act == act + 1;
}

/* A table at which an action is being paid. */
static Table *paying_table(void **slot, Act act)
{
    Table *table = table_open(slot, "board=tiny,ask_forced=true");
    table_seek(table, PHASE_PAY, (uint32_t)act, pays);
    return table;
}

static uint8_t first_bit(uint64_t set)
{
    assert_true(set != 0);
    return (uint8_t)__builtin_ctzll(set);
}

static void test_signal_moves_a_disc_to_a_red_light(void **slot)
{
    Table *table = paying_table(slot, ACT_SIGNAL);
    uint64_t green = table->state.green;
    uint8_t other = first_bit(green & ~(UINT64_C(1) << (table->state.from - 1)));
    uint8_t red = first_bit(~green);
    TABLE_REFUSED(table, hurt.from = 0, LIGHTS);
    TABLE_REFUSED(table, hurt.to = 0, LIGHTS);
    TABLE_REFUSED(table, hurt.to = (uint8_t)(other + 1), LIGHTS);
    TABLE_REFUSED(table, hurt.from = (uint8_t)(red + 1), LIGHTS);
    TABLE_REFUSED(table, hurt.act = 0, "no action is being paid");
}

static void test_switch_sets_a_junction(void **slot)
{
    Table *table = paying_table(slot, ACT_SWITCH);
    TABLE_REFUSED(table, hurt.junction = 0, JUNCTION);
}

static void test_move_needs_a_train_on_the_board(void **slot)
{
    Table *table = paying_table(slot, ACT_MOVE);
    uint8_t depot = 0;
    while (table->state.place[depot] != 0) {
        depot++;
    }
    TABLE_REFUSED(table, hurt.train = 0, MOVE);
    TABLE_REFUSED(table, hurt.train = (uint8_t)(depot + 1), MOVE);
}

static void test_load_needs_goods_and_an_empty_train_in_their_city(void **slot)
{
    Table *table = paying_table(slot, ACT_LOAD);
    uint8_t train = (uint8_t)(table->state.train - 1);
    uint8_t city = city_at(table->tables, (uint8_t)(table->state.place[train] - 1));
    uint8_t goods = table->tables->city_goods[city];
    uint8_t elsewhere = 0;
    while (elsewhere == train || table->state.place[elsewhere] == 0 ||
           city_at(table->tables, (uint8_t)(table->state.place[elsewhere] - 1)) != CONVOI_NONE) {
        elsewhere++;
        assert_true(elsewhere < CONVOI_TRAINS);
    }
    uint8_t depot = 0;
    while (table->state.place[depot] != 0) {
        depot++;
    }
    TABLE_REFUSED(table, hurt.train = 0, LOAD);
    TABLE_REFUSED(table, hurt.train = (uint8_t)(depot + 1), LOAD);
    TABLE_REFUSED(table, hurt.train = (uint8_t)(elsewhere + 1), LOAD);
    TABLE_REFUSED(table, (hurt.cargo[train] = (uint8_t)(goods + 1), hurt.goods[city]--), LOAD);
    TABLE_REFUSED(
        table,
        (hurt.delivered[0][goods] = (uint8_t)(hurt.delivered[0][goods] + hurt.goods[city]),
         hurt.goods_delivered = (uint8_t)(hurt.goods_delivered + hurt.goods[city]),
         hurt.goods[city] = 0),
        LOAD);
}

static void test_trains_leave_a_port_for_the_depot(void **slot)
{
    Table *table = table_open(slot, "board=tiny");
    table_reset(table, 0);
    uint8_t train = 0;
    while (table->state.place[train] == 0) {
        train++;
    }
    uint8_t port = table_place(table, "harbour");
    TABLE_REFUSED(table, (hurt.place[train] = (uint8_t)(port + 1), hurt.heading[train] = 0),
                  "a train stays in a port that sends it to the depot");
}

static void test_first_card_is_never_at_the_bottom(void **slot)
{
    Table *table = table_open(slot, "board=north_america");
    table_reset(table, 0);
    TABLE_REFUSED(table, hurt.bottom = CARD_FIRST, "an instruction card does not exist");
}

/* What is kept of the network is no part of the hash: it follows from what is. */
static void test_hints_are_those_of_the_position(void **slot)
{
    Table *table = table_open(slot, "board=tiny,hints=true,reward=shaped,ask_forced=true");
    table_seek(table, PHASE_PAY, ACT_SIGNAL, pays);
    const char *const wrong = "the hints do not fit the position";
    ConvoiState copy = table->state;
    copy.hints[0][0] ^= 1;
    assert_int_equal(ty_hash(table->ruleset, &copy), ty_hash(table->ruleset, &table->state));
    TABLE_REFUSED(table, hurt.hints[0][0] ^= 1, wrong);
    TABLE_REFUSED(table, hurt.hints[CONVOI_HINTS - 1][CONVOI_TRAINS - 1] ^= 1, wrong);
    TABLE_REFUSED(table, hurt.settled[0] ^= 1,
                  "the settings that are noted are not those of the switches");
    TABLE_REFUSED(table, hurt.noted[0] = 1, "something of a step is left in the state");
    TABLE_REFUSED(table, hurt.noted[1] = 1, "something of a step is left in the state");
    TABLE_REFUSED(table, hurt.potential++, "the potential does not fit the position");
}

static bool any(const ConvoiState *state, uint32_t which)
{
    (void)state;
    (void)which;
    return true;
}

/* Whoever has begun an act can pay for it, whatever hands it is imagined to have. */
static void test_redealt_hands_can_pay_for_what_was_begun(void **slot)
{
    static const uint8_t phases[] = {PHASE_PAY, PHASE_LIGHT_TO};
    uint8_t mask[TY_ACTIONS_MAX];
    Table *table = table_open(slot, "board=tiny,hands=hidden,ask_forced=true");
    for (uint32_t i = 0; i < 2; i++) {
        table_seek(table, phases[i], ACT_SIGNAL, i == 0 ? pays : any);
        uint32_t other = 1u - (uint32_t)table->state.active;
        for (uint64_t key = 0; key < 500; key++) {
            ConvoiState copy = table->state;
            ty_resample(table->ruleset, &copy, other, key);
            ty_legal(table->ruleset, &copy, mask);
            assert_non_null(memchr(mask, 1, ty_shape(table->ruleset)->action_count));
            assert_true(payments_for(table->tables, ACT_SIGNAL, copy.hand[copy.active]) != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_signal_moves_a_disc_to_a_red_light),
        TABLE_TEST(test_switch_sets_a_junction),
        TABLE_TEST(test_move_needs_a_train_on_the_board),
        TABLE_TEST(test_load_needs_goods_and_an_empty_train_in_their_city),
        TABLE_TEST(test_trains_leave_a_port_for_the_depot),
        TABLE_TEST(test_first_card_is_never_at_the_bottom),
        TABLE_TEST(test_hints_are_those_of_the_position),
        TABLE_TEST(test_redealt_hands_can_pay_for_what_was_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
