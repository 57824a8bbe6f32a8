/* What happened in a slot, as the seats of several members are told it. */
#include "tests/pool/pool_reference.h"

enum { TEXT_MAX = 1 << 17 };

typedef struct Table {
    TyRuleset *ruleset;
    TyPool *pool;
    TyEvent events[TY_EVENTS_KEPT];
    char text[TEXT_MAX];
} Table;

static Table table; /* too large for the stack */

static void table_open(const char *spec, TyPoolConfig config)
{
    table.ruleset = reference_ruleset(spec);
    TyStatus status = ty_pool_open(table.ruleset, &config, &table.pool);
    assert_string_equal(status.message, "");
}

static void table_close(void)
{
    ty_pool_close(table.pool);
    ty_ruleset_close(table.ruleset);
}

static uint32_t told(uint32_t seat, uint32_t *missed)
{
    return ty_pool_events(table.pool, 0, seat, table.events, TY_EVENTS_KEPT, missed);
}

/* The member of the seat to act does something. */
static void act(void)
{
    const TyHead *head = ty_head(ty_pool_state(table.pool, 0));
    uint32_t member = ty_pool_config(table.pool)->owner[head->seat];
    ty_sample_rows(ty_pool_slab(table.pool, member), 0, 7);
    ty_pool_step(table.pool, member, 0, NULL);
}

static int8_t acting(void)
{
    return ty_head(ty_pool_state(table.pool, 0))->seat;
}

static void test_a_pool_keeps_events_only_if_it_is_asked_to(void **unused)
{
    (void)unused;
    uint32_t missed = 7;
    table_open("express", (TyPoolConfig){.slots = 2});
    assert_int_equal(told(0, &missed), 0);
    assert_int_equal(missed, 0);
    ty_pool_text(table.pool, 0, 0, table.text, TEXT_MAX);
    assert_null(strstr(table.text, "Since your last decision"));
    uint64_t without = ty_pool_slot_bytes(table.pool);
    table_close();
    table_open("express", (TyPoolConfig){.slots = 2, .events = true});
    assert_true(told((uint32_t)acting(), &missed) > 10);
    assert_true(ty_pool_slot_bytes(table.pool) > without + sizeof table.events);
    table_close();
}

/* A seat hears of everything once, in order, and of nothing that comes after its row. */
static void test_every_seat_hears_everything_once(void **unused)
{
    (void)unused;
    uint32_t heard[2] = {0};
    uint32_t turns[2] = {0};
    table_open("express:map=tiny", (TyPoolConfig){.slots = 1,
                                                  .members = 2,
                                                  .owner = {0, 1},
                                                  .autoreset = TY_AUTORESET_DISABLED,
                                                  .events = true});
    while (acting() >= 0) {
        uint32_t seat = (uint32_t)acting();
        uint32_t other = told(1 - seat, NULL);
        heard[seat] += told(seat, NULL);
        for (uint32_t i = 0; i < told(seat, NULL); i++) {
            ty_event_json_for(table.ruleset, &table.events[i], seat, table.text, TEXT_MAX);
            turns[seat] += strstr(table.text, "{\"event\":\"turn\",") != NULL;
        }
        act();
        if (acting() == (int8_t)seat) {
            assert_int_equal(told(1 - seat, NULL), other); /* its row stays as it is */
        }
    }
    heard[0] += told(0, NULL);
    heard[1] += told(1, NULL);
    assert_int_equal(heard[0], heard[1]);
    assert_true(turns[0] > 5);
    assert_int_equal(table.events[told(1, NULL) - 1].kind, TY_EVENT_END);
    table_close();
}

static void test_the_oldest_events_are_dropped_and_counted(void **unused)
{
    (void)unused;
    uint32_t missed = 0;
    table_open("express:first_player=seat0", (TyPoolConfig){.slots = 1, .events = true});
    for (uint32_t i = 0; i < 40; i++) {
        ty_pool_reset(table.pool, NULL, NULL);
    }
    while (acting() == 0) {
        act();
    }
    assert_int_equal(told(1, &missed), TY_EVENTS_KEPT);
    assert_true(missed > 100);
    ty_pool_text(table.pool, 0, 1, table.text, TEXT_MAX);
    assert_non_null(strstr(table.text, "earlier events are not kept"));
    table_close();
}

static void test_a_slot_with_a_new_seed_has_no_past(void **unused)
{
    (void)unused;
    static char fresh[TEXT_MAX];
    const uint64_t seeds[1] = {5};
    const TyPoolConfig config = {.slots = 1, .seed = 5, .events = true};
    table_open("convoi", config);
    while (acting() == 0) {
        act();
    }
    ty_pool_text(table.pool, 0, 1, fresh, TEXT_MAX);
    ty_pool_reset(table.pool, NULL, NULL);
    ty_pool_reset(table.pool, NULL, seeds);
    while (acting() == 0) {
        act();
    }
    ty_pool_text(table.pool, 0, 1, table.text, TEXT_MAX);
    assert_string_equal(table.text, fresh);
    table_close();
}

/* Texts are cut where the buffer ends, and their length is told, as by snprintf. */
static void test_texts_are_cut_and_counted(void **unused)
{
    (void)unused;
    char small[64];
    table_open("nordic", (TyPoolConfig){.slots = 1, .events = true});
    size_t length = ty_pool_text(table.pool, 0, 0, table.text, TEXT_MAX);
    assert_int_equal(ty_pool_text(table.pool, 0, 0, small, sizeof small), length);
    assert_memory_equal(small, table.text, sizeof small - 1);
    length = ty_pool_events_json(table.pool, 0, 0, table.text, TEXT_MAX);
    assert_int_equal(ty_pool_events_json(table.pool, 0, 0, small, sizeof small), length);
    table_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pool_keeps_events_only_if_it_is_asked_to),
        cmocka_unit_test(test_every_seat_hears_everything_once),
        cmocka_unit_test(test_the_oldest_events_are_dropped_and_counted),
        cmocka_unit_test(test_a_slot_with_a_new_seed_has_no_past),
        cmocka_unit_test(test_texts_are_cut_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
