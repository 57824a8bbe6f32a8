/* Dispatch: opening, stepping, looking at and copying slots of a pool, and the limits; without
 * sockets or threads. */
#define _GNU_SOURCE
#include "tests/daemon/dispatch_requests.h"
#include "tests/support/allocations.h"

static void test_open_refuses_what_makes_no_sense(void **unused)
{
    (void)unused;
    static const struct {
        const char *key;
        const char *text;
        const char *code;
        const char *word;
    } cases[] = {
        {"ruleset", "nonsense", "bad_config", "nonsense"},
        {"ruleset", "convoi:players=9", "bad_config", "players"},
        {"ruleset", "convoi:board=/etc/passwd", "bad_file", "passwd"},
        {"ruleset", "convoi:board=../x", "bad_file", "not the name"},
        {"ruleset", "convoi:board=mybox", "bad_file", "mybox"},
        {"autoreset", "never", "bad_argument", "same_step"},
        {"illegal", "shrug", "bad_argument", "random_legal"},
        {"on_vanish", "nobody", "bad_argument", "nobody"},
    };
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin("open");
        if (strcmp(cases[i].key, "ruleset") != 0) {
            add_text("ruleset", "convoi");
        }
        add_text(cases[i].key, cases[i].text);
        send(&table, 5);
        refused(&table, 5, cases[i].code, cases[i].word);
        assert_int_equal(dispatch_pool_count(table.dispatch), 0);
    }
    begin("open");
    add_text("ruleset", "convoi");
    add_texts("seats", "random", "random");
    send(&table, 5);
    refused(&table, 5, "bad_argument", "at least one");
    begin("open");
    add_text("ruleset", "convoi");
    add_texts("columns", "obs", "nonsense");
    send(&table, 5);
    refused(&table, 5, "bad_argument", "nonsense");
    assert_int_equal(dispatch_pool_count(table.dispatch), 0);
    table_close(&table);
}

static void test_limits_are_kept(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.sessions = 2;
    limits.pools = 2;
    limits.pools_per_session = 1;
    limits.slots = 100;
    limits.threads = 2;
    limits.memory_bytes = 1 << 20;
    limits.snapshots = 3;
    limits.rollout_copies = 5;
    table_open(&table, &limits);
    hello(&table, 1);
    hello(&table, 2);
    begin("hello");
    add_uint("protocol", 1);
    send(&table, 3);
    refused(&table, 3, "limit", "sessions=2");
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", 101);
    send(&table, 1);
    refused(&table, 1, "limit", "slots=101");
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("threads", 3);
    send(&table, 1);
    refused(&table, 1, "limit", "threads=3");
    uint32_t pool = open_pool(&table, 1, 10);
    begin("open");
    add_text("ruleset", "convoi");
    send(&table, 1);
    refused(&table, 1, "limit", "pools_per_session");
    uint32_t slots[4] = {0, 1, 2, 3};
    begin("snapshot");
    add_uint("pool", pool);
    add_bytes("slots", slots, sizeof slots);
    send(&table, 1);
    refused(&table, 1, "limit", "snapshots=3");
    begin("snapshot");
    add_uint("pool", pool);
    add_bytes("slots", slots, 12);
    send(&table, 1);
    assert_int_equal(get_run(good(&table, 1), "snapshots").size, 12);
    begin("rollout");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_text("agent", "random");
    add_uint("count", 6);
    send(&table, 1);
    refused(&table, 1, "limit", "rollout_copies");
    table_close(&table);

    limits.memory_bytes = 1 << 20;
    limits.slots = 100000;
    table_open(&table, &limits);
    hello(&table, 1);
    begin("open");
    add_text("ruleset", "convoi");
    add_uint("slots", 10000);
    send(&table, 1);
    refused(&table, 1, "limit", "memory_bytes");
    table_close(&table);
}

static void test_one_bad_action_does_not_spoil_the_others(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[4];
    WireItem item;
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 4);
    simple(&table, 5, "reset", pool);
    first_actions(good(&table, 5), actions);
    actions[2] = 9999;
    step(&table, 5, pool, actions, 4);
    const uint8_t *map = good(&table, 5);
    const uint8_t illegal[4] = {0, 0, 1, 0};
    assert_memory_equal(get_run(map, "illegal").bytes, illegal, 4);
    assert_true(get(map, "errors", &item));
    assert_int_equal(item.kind, WIRE_LIST);
    assert_int_equal(item.count, 1);
    assert_true(wire_get(item.bytes, reply_end, "row", &item) && item.number == 2);
    uint32_t steps[4];
    memcpy(steps, get_run(map, "step").bytes, sizeof steps);
    assert_int_equal(steps[0], 1);
    assert_int_equal(steps[2], 0);
    table_close(&table);
}

static void test_step_refuses_what_does_not_fit(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[4] = {0};
    uint32_t slots[2] = {1, 9};
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 4);
    step(&table, 5, pool, actions, 3);
    refused(&table, 5, "bad_request", "12 bytes");
    begin("step");
    add_uint("pool", pool);
    add_bytes("actions", actions, 16);
    add_uint("group", 1);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "group=1");
    begin("step");
    add_uint("pool", pool);
    add_bytes("actions", actions, 8);
    add_bytes("slots", slots, 8);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "slot 9");
    step(&table, 5, pool + 1, actions, 4);
    refused(&table, 5, "no_pool", "pool=");
    hello(&table, 6);
    step(&table, 6, pool, actions, 4);
    refused(&table, 6, "no_pool", "pool=");
    table_close(&table);
}

/* recv gives each row once; send takes actions for some of them. */
static void test_send_and_recv(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[8];
    uint32_t slots[8];
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 8);
    begin("recv");
    add_uint("pool", pool);
    add_uint("max_rows", 3);
    send(&table, 5);
    const uint8_t *map = good(&table, 5);
    assert_int_equal(first_actions(map, actions), 3);
    memcpy(slots, get_run(map, "slots").bytes, 12);
    assert_int_equal(slots[2], 2);
    begin("send");
    add_uint("pool", pool);
    add_bytes("slots", slots, 12);
    add_bytes("actions", actions, 12);
    send(&table, 5);
    assert_int_equal(get_uint(good(&table, 5), "accepted"), 3);
    begin("recv");
    add_uint("pool", pool);
    add_uint("min_rows", 8);
    send(&table, 5);
    map = good(&table, 5);
    assert_int_equal(get_uint(map, "count"), 8);
    memcpy(slots, get_run(map, "slots").bytes, 32);
    assert_int_equal(slots[0], 3); /* those that were left out come first */
    /* Nothing is left: the answer comes at once, because nobody else can change that. */
    begin("recv");
    add_uint("pool", pool);
    send(&table, 5);
    assert_int_equal(get_uint(good(&table, 5), "count"), 0);
    table_close(&table);
}

/* Once every buffer is there, a step allocates nothing but the frame that this test makes for it.
 */
static void test_steps_do_not_allocate(void **unused)
{
    (void)unused;
    enum { SLOTS = 32, WARM_UP = 200, STEPS = 2000 };
    Table table;
    int32_t actions[SLOTS];
    uint64_t before = 0;
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, SLOTS);
    simple(&table, 5, "reset", pool);
    for (uint32_t i = 0; i < WARM_UP + STEPS; i++) {
        before = i == WARM_UP ? allocations : before;
        first_actions(reply(&table, 5), actions);
        table_forget(&table);
        step(&table, 5, pool, actions, SLOTS);
    }
    assert_true(before > 0);
    assert_int_equal(allocations - before, STEPS);
    table_close(&table);
}

static void test_looking_at_a_slot(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 2);
    static const char *const ops[] = {"observe", "legal", "state", "text"};
    static const char *const fields[] = {"obs", "names", "state", "text"};
    for (uint32_t i = 0; i < 4; i++) {
        WireItem item;
        begin(ops[i]);
        add_uint("pool", pool);
        add_uint("slot", 1);
        send(&table, 5);
        assert_true(get(good(&table, 5), fields[i], &item));
        begin(ops[i]);
        add_uint("pool", pool);
        add_uint("slot", 2);
        send(&table, 5);
        refused(&table, 5, "bad_argument", "slot=2");
    }
    begin("text");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_uint("seat", 2);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "seat=2");
    table_close(&table);
}

static void test_snapshots_come_back_as_they_were(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[2];
    uint8_t before[4096];
    uint32_t one = 0;
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 2);
    begin("snapshot");
    add_uint("pool", pool);
    add_bytes("slots", &one, 4);
    send(&table, 5);
    uint32_t id = 0;
    memcpy(&id, get_run(good(&table, 5), "snapshots").bytes, 4);
    simple(&table, 5, "reset", pool);
    const uint8_t *map = good(&table, 5);
    WireItem obs = get_run(map, "obs");
    uint32_t width = obs.size / 2;
    memcpy(before, obs.bytes, width);
    first_actions(map, actions);
    step(&table, 5, pool, actions, 2);
    uint32_t both[2] = {0, 1};
    begin("restore");
    add_uint("pool", pool);
    add_bytes("snapshots", &id, 4);
    add_bytes("slots", both, 8);
    send(&table, 5);
    obs = get_run(good(&table, 5), "obs");
    assert_memory_equal(obs.bytes, before, width);
    assert_memory_equal(obs.bytes + width, before, width);

    /* The same by way of the outside. */
    begin("export");
    add_uint("pool", pool);
    add_uint("snapshot", id);
    send(&table, 5);
    static uint8_t data[8192];
    WireItem exported = get_run(good(&table, 5), "data");
    uint32_t size = exported.size;
    memcpy(data, exported.bytes, size);
    begin("import");
    add_uint("pool", pool);
    add_bytes("data", data, size);
    send(&table, 5);
    uint32_t imported = (uint32_t)get_uint(good(&table, 5), "snapshot");
    begin("restore");
    add_uint("pool", pool);
    add_bytes("snapshots", &imported, 4);
    add_bytes("slots", both, 4);
    send(&table, 5);
    assert_memory_equal(get_run(good(&table, 5), "obs").bytes, before, width);
    data[0] ^= 1;
    begin("import");
    add_uint("pool", pool);
    add_bytes("data", data, size);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "data: this is not a snapshot of such a pool");

    /* If one of several is missing, none is restored. */
    static uint8_t moved[4096];
    simple(&table, 5, "reset", pool);
    first_actions(good(&table, 5), actions);
    step(&table, 5, pool, actions, 2);
    memcpy(moved, get_run(good(&table, 5), "obs").bytes, width);
    assert_memory_not_equal(moved, before, width);
    const uint32_t mixed[2] = {id, 99};
    begin("restore");
    add_uint("pool", pool);
    add_bytes("snapshots", mixed, 8);
    add_bytes("slots", both, 8);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "row 1");
    begin("observe");
    add_uint("pool", pool);
    add_uint("slot", 0);
    send(&table, 5);
    assert_memory_equal(get_run(good(&table, 5), "obs").bytes, moved, width);

    simple(&table, 5, "drop", pool);
    assert_int_equal(get_uint(good(&table, 5), "dropped"), 2);
    begin("restore");
    add_uint("pool", pool);
    add_bytes("snapshots", &id, 4);
    add_bytes("slots", both, 4);
    send(&table, 5);
    refused(&table, 5, "bad_argument", "no such snapshot");
    table_close(&table);
}

static void test_forks_resampling_and_rollouts(void **unused)
{
    (void)unused;
    Table table;
    uint32_t slots[4] = {0, 1, 2, 3};
    uint64_t keys[4] = {1, 2, 3, 4};
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 4);
    begin("fork");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_bytes("slots", slots + 1, 12);
    send(&table, 5);
    assert_int_equal(get_uint(good(&table, 5), "count"), 3);
    begin("fork");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_bytes("slots", slots, 16);
    add_bytes("keys", keys, 24);
    send(&table, 5);
    refused(&table, 5, "bad_request", "keys");
    begin("resample");
    add_uint("pool", pool);
    add_bytes("slots", slots, 16);
    add_bytes("keys", keys, 32);
    add_uint("seat", 1);
    send(&table, 5);
    assert_int_equal(get_uint(good(&table, 5), "count"), 4);
    begin("rollout");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_text("agent", "random");
    add_uint("count", 4);
    add_bytes("keys", keys, 32);
    send(&table, 5);
    assert_int_equal(get_run(good(&table, 5), "earned").size, 4 * 2 * 4);
    begin("rollout");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_text("agent", "nobody");
    send(&table, 5);
    refused(&table, 5, "bad_argument", "nobody");
    table_close(&table);
}

static bool text_is(WireItem item, const char *text)
{
    return item.size == strlen(text) && memcmp(item.bytes, text, item.size) == 0;
}

/* An episode that max_steps has ended is over for those who ask, though its state is not. */
static void test_a_truncated_episode_is_over_for_those_who_ask(void **unused)
{
    (void)unused;
    static const char *const ops[] = {"observe", "legal", "text"};
    Table table;
    int32_t action;
    WireItem item;
    table_open(&table, NULL);
    hello(&table, 5);
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("max_steps", 1);
    send(&table, 5);
    uint32_t pool = (uint32_t)get_uint(good(&table, 5), "pool");
    simple(&table, 5, "reset", pool);
    first_actions(good(&table, 5), &action);
    for (uint32_t cut = 0; cut < 2; cut++) {
        for (uint32_t i = 0; i < 3; i++) {
            begin(ops[i]);
            add_uint("pool", pool);
            add_uint("slot", 0);
            send(&table, 5);
            const uint8_t *map = good(&table, 5);
            assert_int_equal(text_is(get_run(map, "phase"), "over"), cut);
            assert_true(get(map, "seat", &item) && (item.kind == WIRE_INT) == (cut == 1));
            if (i == 0) {
                WireItem mask = get_run(map, "mask");
                assert_int_equal(memchr(mask.bytes, 1, mask.size) != NULL, cut == 0);
            } else if (i == 1) {
                assert_int_equal(get_run(map, "numbers").size > 0, cut == 0);
            } else {
                item = get_run(map, "text");
                assert_int_equal(memmem(item.bytes, item.size, "truncated", 9) != NULL, cut == 1);
            }
        }
        step(&table, 5, pool, &action, 1);
    }
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_refuses_what_makes_no_sense),
        cmocka_unit_test(test_limits_are_kept),
        cmocka_unit_test(test_one_bad_action_does_not_spoil_the_others),
        cmocka_unit_test(test_step_refuses_what_does_not_fit),
        cmocka_unit_test(test_send_and_recv),
        cmocka_unit_test(test_steps_do_not_allocate),
        cmocka_unit_test(test_looking_at_a_slot),
        cmocka_unit_test(test_snapshots_come_back_as_they_were),
        cmocka_unit_test(test_forks_resampling_and_rollouts),
        cmocka_unit_test(test_a_truncated_episode_is_over_for_those_who_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
