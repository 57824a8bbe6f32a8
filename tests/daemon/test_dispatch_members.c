/* Dispatch: pools with several members, who join, play, vanish, leave and wait; without sockets or
 * threads. */
#include "tests/daemon/dispatch_requests.h"

/* ---- Conversations ---- */

/* A pool whose seat 1 is open; copies its invite. */
static uint32_t open_shared(Table *table, uint64_t peer, uint32_t slots, const char *fallback,
                            uint64_t timeout_ms, char invite[64])
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", slots);
    add_texts("seats", "me", "open");
    add_uint("seat_timeout_ms", timeout_ms);
    add_text("on_vanish", fallback);
    send(table, peer);
    const uint8_t *map = good(table, peer);
    WireItem item = get_run(map, "invite");
    snprintf(invite, 64, "%.*s", (int)item.size, (const char *)item.bytes);
    return (uint32_t)get_uint(map, "pool");
}

static void join(Table *table, uint64_t peer, uint32_t pool, const char *invite)
{
    begin("join");
    add_uint("pool", pool);
    add_text("invite", invite);
    send(table, peer);
}

/* ---- Members ---- */

/* The first notice of the last reply says `what`. */
static void noticed(const uint8_t *map, const char *what)
{
    WireItem list;
    WireItem text;
    if (!get(map, "notices", &list)) {
        fail_msg("no notice of '%s'", what);
    }
    assert_true(wire_get(list.bytes, reply_end, "what", &text));
    assert_int_equal(text.size, strlen(what));
    assert_memory_equal(text.bytes, what, text.size);
}

static void test_joining_needs_the_invite(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    hello(&table, 3);
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 0, invite);
    join(&table, 2, pool, "0123");
    refused(&table, 2, "denied", "invite");
    join(&table, 2, pool + 1, invite);
    refused(&table, 2, "denied", "invite");
    join(&table, 1, pool, invite);
    refused(&table, 1, "bad_argument", "already");
    join(&table, 2, pool, invite);
    const uint8_t *map = good(&table, 2);
    assert_int_equal(get_uint(map, "member"), 1);
    assert_int_equal(get_run(map, "own_seats").bytes[0], 1);
    join(&table, 3, pool, invite);
    refused(&table, 3, "denied", "open");
    begin("ping");
    send(&table, 1);
    noticed(good(&table, 1), "joined");
    table_close(&table);
}

static void test_players_may_not_do_what_is_the_directors(void **unused)
{
    (void)unused;
    static const char *const ops[] = {"close", "reset", "drop"};
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    for (uint32_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        simple(&table, 2, ops[i], pool);
        refused(&table, 2, "denied", ops[i]);
    }
    begin("state");
    add_uint("pool", pool);
    add_uint("slot", 0);
    send(&table, 2);
    refused(&table, 2, "denied", "director");
    begin("text");
    add_uint("pool", pool);
    add_uint("slot", 0);
    add_uint("seat", 0);
    send(&table, 2);
    refused(&table, 2, "denied", "seat=0");
    begin("observe");
    add_uint("pool", pool);
    add_uint("slot", 0);
    message_key(&writer, "full");
    put_flag(&writer, true);
    send(&table, 2);
    refused(&table, 2, "denied", "full");
    table_close(&table);
}

static const uint8_t *look(Table *table, uint64_t peer, const char *op, uint32_t pool)
{
    begin(op);
    add_uint("pool", pool);
    add_uint("slot", 0);
    send(table, peer);
    return reply(table, peer);
}

/* Takes a member's first legal action in the only slot as soon as it is asked. False if it is not.
 */
static bool act_if_asked(Table *table, uint64_t peer, uint32_t pool)
{
    const uint8_t slot[4] = {0};
    int32_t action;
    begin("recv");
    add_uint("pool", pool);
    add_uint("min_rows", 0);
    send(table, peer);
    if (first_actions(good(table, peer), &action) == 0) {
        return false;
    }
    begin("send");
    add_uint("pool", pool);
    add_bytes("slots", slot, sizeof slot);
    add_bytes("actions", &action, sizeof action);
    send(table, peer);
    assert_int_equal(get_uint(good(table, peer), "accepted"), 1);
    return true;
}

static bool text_is(const uint8_t *map, const char *key, const char *start)
{
    WireItem text = get_run(map, key);
    return text.size >= strlen(start) && memcmp(text.bytes, start, strlen(start)) == 0;
}

/* A player looks at what it was shown: nothing before its first row, then its question, and when it
 * has answered the same position, without anything to choose. */
static void test_players_look_at_what_they_were_shown(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 1, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    look(&table, 2, "text", pool);
    refused(&table, 2, "unavailable", "not asked");
    while (act_if_asked(&table, 1, pool)) {
    }
    WireItem seat;
    assert_true(get(look(&table, 2, "legal", pool), "seat", &seat) && seat.number == 1);
    assert_false(text_is(reply(&table, 2), "phase", "waiting"));
    WireItem shown = get_run(look(&table, 2, "observe", pool), "obs");
    uint8_t row[TY_ROW_MAX];
    memcpy(row, shown.bytes, shown.size);
    while (act_if_asked(&table, 2, pool)) {
        shown = get_run(look(&table, 2, "observe", pool), "obs");
        memcpy(row, shown.bytes, shown.size);
    }
    const uint8_t *map = look(&table, 2, "legal", pool);
    assert_true(get(map, "seat", &seat) && (int64_t)seat.number == -1);
    assert_true(text_is(map, "phase", "waiting"));
    assert_int_equal(get_run(map, "numbers").size, 0);
    assert_true(text_is(look(&table, 2, "text", pool), "text", "Others are to act."));
    assert_true(act_if_asked(&table, 1, pool));
    shown = get_run(look(&table, 2, "observe", pool), "obs");
    assert_memory_equal(row, shown.bytes, shown.size);
    table_close(&table);
}

/* Two members play whole episodes together; each hears of each ending. */
static void test_two_members_play_together(void **unused)
{
    (void)unused;
    enum { SLOTS = 4, ROUNDS = 400 };
    Table table;
    char invite[64];
    uint32_t endings[3] = {0};
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, SLOTS, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    good(&table, 2);
    for (uint64_t peer = 1; peer <= 2; peer++) {
        simple(&table, peer, "recv", pool);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t count = table.reply_count;
        TableReply replies[TABLE_REPLIES_MAX];
        memcpy(replies, table.replies, sizeof replies);
        table.reply_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            WireItem item;
            int32_t actions[SLOTS];
            uint32_t slots[SLOTS];
            const uint8_t *map = replies[i].buffer->data;
            reply_end = map + replies[i].buffer->size;
            if (get(map, "slots", &item)) {
                uint32_t rows = first_actions(map, actions);
                memcpy(slots, item.bytes, item.size);
                endings[replies[i].peer] += get_run(map, "ended").size / 4;
                begin("send");
                add_uint("pool", pool);
                add_bytes("slots", slots, rows * 4);
                add_bytes("actions", actions, rows * 4);
                send(&table, replies[i].peer);
                simple(&table, replies[i].peer, "recv", pool);
            }
            buffer_release(replies[i].buffer);
        }
    }
    assert_true(endings[1] > 4);
    assert_true(endings[1] <= endings[2] + SLOTS && endings[2] <= endings[1] + SLOTS);
    table_close(&table);
}

/* The pools that stats tells the peer of; `decisions` is what it counts. */
static uint32_t pools_told(Table *table, uint64_t peer, uint64_t decisions)
{
    WireItem pools;
    begin("stats");
    send(table, peer);
    const uint8_t *map = good(table, peer);
    assert_int_equal(get_uint(map, "decisions"), decisions);
    assert_true(get(map, "pools", &pools));
    return pools.count;
}

/* All actions of a reset of the director's pool. */
static void decide(Table *table, uint64_t peer, uint32_t pool)
{
    int32_t actions[4];
    simple(table, peer, "reset", pool);
    uint32_t rows = first_actions(good(table, peer), actions);
    begin("step");
    add_uint("pool", pool);
    add_bytes("actions", actions, rows * 4);
    add_uint("min_rows", 0);
    send(table, peer);
    good(table, peer);
}

static void test_stats_tell_nobody_of_others_play(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    for (uint64_t peer = 1; peer <= 3; peer++) {
        hello(&table, peer);
    }
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    decide(&table, 1, pool);
    assert_int_equal(pools_told(&table, 1, 4), 1);
    assert_int_equal(pools_told(&table, 2, 0), 0);
    assert_int_equal(pools_told(&table, 3, 0), 0);
    decide(&table, 3, open_pool(&table, 3, 2));
    assert_int_equal(pools_told(&table, 1, 6), 1);
    assert_int_equal(pools_told(&table, 2, 2), 0);
    simple(&table, 1, "close", pool);
    assert_int_equal(pools_told(&table, 2, 6), 0);
    assert_int_equal(pools_told(&table, 3, 6), 1);
    table_close(&table);
}

static void test_a_player_that_vanishes_is_replaced(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "random", 0, invite);
    join(&table, 2, pool, invite);
    dispatch_disconnected(table.dispatch, 2, table.now_ms);
    table.now_ms += 5000;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(dispatch_session_count(table.dispatch), 1);
    simple(&table, 1, "reset", pool);
    const uint8_t *map = good(&table, 1);
    assert_int_equal(get_uint(map, "ready_count"), 4);
    WireItem list;
    assert_true(get(map, "notices", &list));
    int32_t actions[4];
    for (uint32_t i = 0; i < 100; i++) {
        first_actions(good(&table, 1), actions);
        step(&table, 1, pool, actions, 4);
        assert_int_equal(get_uint(good(&table, 1), "ready_count"), 4);
    }
    table_close(&table);
}

static void test_a_player_that_leaves_cuts_episodes_off(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    int32_t actions[4];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    simple(&table, 2, "leave", pool);
    good(&table, 2);
    simple(&table, 1, "reset", pool);
    const uint8_t *map = good(&table, 1);
    uint32_t cut = 0;
    for (uint32_t i = 0; i < 200; i++) {
        first_actions(map, actions);
        step(&table, 1, pool, actions, 4);
        map = good(&table, 1);
        WireItem truncated = get_run(map, "truncated");
        for (uint32_t k = 0; k < 4; k++) {
            cut += truncated.bytes[k];
        }
        assert_int_equal(get_uint(map, "ready_count"), 4);
    }
    assert_true(cut > 10);
    /* The seats are free again. */
    join(&table, 2, pool, invite);
    good(&table, 2);
    simple(&table, 2, "recv", pool);
    table_close(&table);
}

static void hello_pushing(Table *table, uint64_t peer)
{
    begin("hello");
    add_uint("protocol", 1);
    message_key(&writer, "push");
    put_flag(&writer, true);
    send(table, peer);
    good(table, peer);
}

/* Who wants that hears of others and of its own loss at once, without a request. */
static void test_notices_are_pushed(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello_pushing(&table, 1);
    hello_pushing(&table, 2);
    hello(&table, 3); /* does not want them */
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 500, invite);
    join(&table, 2, pool, invite);
    const uint8_t *map = reply(&table, 1);
    assert_int_equal(get_uint(map, "id"), 0);
    noticed(map, "joined");
    /* Nobody acts: both are late. */
    for (uint32_t i = 0; i < 30; i++) {
        table.now_ms += 100;
        dispatch_tick(table.dispatch, table.now_ms);
    }
    bool told = false;
    for (uint32_t i = 0; i < table.reply_count; i++) {
        const uint8_t *pushed = table.replies[i].buffer->data;
        WireItem list;
        reply_end = pushed + table.replies[i].buffer->size;
        if (table.replies[i].peer == 2 && get_uint(pushed, "id") == 0 &&
            get(pushed, "notices", &list)) {
            noticed(pushed, "late");
            told = true;
        }
    }
    assert_true(told);
    table_close(&table);
}

/* What happened while its connection was lost is pushed to whoever takes its session up again. */
static void test_notices_are_pushed_after_a_reconnect(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    begin("hello");
    add_uint("protocol", 1);
    send(&table, 1);
    WireItem token = get_run(good(&table, 1), "session");
    char session[64];
    snprintf(session, sizeof session, "%.*s", (int)token.size, (const char *)token.bytes);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "truncate", 0, invite);
    dispatch_disconnected(table.dispatch, 1, table.now_ms);
    join(&table, 2, pool, invite);
    good(&table, 2);
    begin("hello");
    add_uint("protocol", 1);
    add_text("session", session);
    message_key(&writer, "push");
    put_flag(&writer, true);
    send(&table, 7);
    const uint8_t *map = reply(&table, 7);
    assert_int_equal(get_uint(map, "id"), 0);
    noticed(map, "joined");
    table_close(&table);
}

/* A request that comes too late is told why. */
static void test_a_late_member_hears_why(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    int32_t actions[4];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "random", 500, invite);
    join(&table, 2, pool, invite);
    simple(&table, 1, "reset", pool);
    const uint8_t *map = good(&table, 1);
    for (uint32_t i = 0; i < 30; i++) { /* the director acts, the other does not */
        uint32_t before = table.sent;
        first_actions(map, actions);
        begin("step");
        add_uint("pool", pool);
        add_bytes("actions", actions, sizeof actions);
        add_uint("min_rows", 0);
        send(&table, 1);
        map = table.sent > before ? good(&table, 1) : map;
        table.now_ms += 100;
        dispatch_tick(table.dispatch, table.now_ms);
    }
    simple(&table, 2, "recv", pool);
    refused(&table, 2, "closed", "seat_timeout_ms");
    simple(&table, 1, "close", pool);
    good(&table, 1);
    simple(&table, 1, "recv", pool);
    refused(&table, 1, "closed", "it was closed");
    simple(&table, 1, "recv", pool + 1);
    refused(&table, 1, "no_pool", "no such pool");
    table_close(&table);
}

static void test_a_seat_that_does_not_answer_is_lost(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    int32_t actions[4];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 4, "random", 500, invite);
    join(&table, 2, pool, invite);
    simple(&table, 1, "reset", pool);
    const uint8_t *map = good(&table, 1);
    /* The director acts until it has to wait for the other. */
    uint32_t before = 0;
    do {
        first_actions(map, actions);
        before = table.sent;
        step(&table, 1, pool, actions, 4);
        map = table.sent > before ? good(&table, 1) : map;
    } while (table.sent > before);
    for (uint32_t i = 0; i < 30; i++) {
        table.now_ms += 100;
        dispatch_tick(table.dispatch, table.now_ms);
        begin("ping");
        send(&table, 2);
    }
    assert_true(table.sent > before + 30);
    begin("recv");
    add_uint("pool", pool);
    send(&table, 2);
    refused(&table, 2, "closed", "seat_timeout_ms");
    table_close(&table);
}

static void test_closing_a_pool_answers_those_who_wait(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    hello(&table, 2);
    uint32_t pool = open_shared(&table, 1, 1, "truncate", 0, invite);
    join(&table, 2, pool, invite);
    simple(&table, 1, "recv", pool);
    simple(&table, 2, "recv", pool);
    simple(&table, 1, "recv", pool);
    simple(&table, 2, "recv", pool);
    table_forget(&table);
    simple(&table, 1, "close", pool);
    good(&table, 1);
    uint32_t told = 0;
    for (uint32_t i = 0; i < table.reply_count; i++) {
        const Buffer *buffer = table.replies[i].buffer;
        reply_end = buffer->data + buffer->size;
        if (table.replies[i].peer == 2) {
            noticed(buffer->data, "closed");
            told++;
        }
    }
    assert_int_equal(told, 1);
    assert_int_equal(dispatch_pool_count(table.dispatch), 0);
    table_close(&table);
}

static void test_waiting_has_a_timeout(void **unused)
{
    (void)unused;
    Table table;
    char invite[64];
    table_open(&table, NULL);
    hello(&table, 1);
    uint32_t pool = open_shared(&table, 1, 2, "truncate", 0, invite);
    begin("recv");
    add_uint("pool", pool);
    add_uint("min_rows", 3);
    add_uint("timeout_ms", 200);
    uint32_t before = table.sent;
    send(&table, 1);
    if (table.sent == before) {
        table.now_ms += 100;
        dispatch_tick(table.dispatch, table.now_ms);
        assert_int_equal(table.sent, before);
        table.now_ms += 150;
        dispatch_tick(table.dispatch, table.now_ms);
    }
    assert_int_equal(table.sent, before + 1);
    good(&table, 1);
    table_close(&table);
}

static void test_bytes_that_are_no_log_do_not_verify(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    begin("replay_verify");
    add_bytes("content", "x", 1);
    send(&table, 5);
    refused(&table, 5, "bad_file", "");
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joining_needs_the_invite),
        cmocka_unit_test(test_players_may_not_do_what_is_the_directors),
        cmocka_unit_test(test_players_look_at_what_they_were_shown),
        cmocka_unit_test(test_two_members_play_together),
        cmocka_unit_test(test_stats_tell_nobody_of_others_play),
        cmocka_unit_test(test_a_player_that_vanishes_is_replaced),
        cmocka_unit_test(test_a_player_that_leaves_cuts_episodes_off),
        cmocka_unit_test(test_notices_are_pushed),
        cmocka_unit_test(test_notices_are_pushed_after_a_reconnect),
        cmocka_unit_test(test_a_late_member_hears_why),
        cmocka_unit_test(test_a_seat_that_does_not_answer_is_lost),
        cmocka_unit_test(test_closing_a_pool_answers_those_who_wait),
        cmocka_unit_test(test_waiting_has_a_timeout),
        cmocka_unit_test(test_bytes_that_are_no_log_do_not_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
