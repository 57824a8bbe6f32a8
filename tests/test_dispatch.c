/* Dispatch: every operation and its refusals, sessions, members, limits; without sockets or
 * threads. */
#include "allocations.h"
#include "dispatch_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MESSAGE_MAX = 65536 };

/* ---- Requests by hand ---- */

static uint8_t message[MESSAGE_MAX];
static Writer writer;
static uint64_t next_id = 1;

static void begin(const char *op)
{
    message_begin(&writer, message, sizeof message);
    message_key(&writer, "op");
    put_text(&writer, op);
    message_key(&writer, "id");
    put_uint(&writer, next_id++);
}

static void add_uint(const char *key, uint64_t value)
{
    message_key(&writer, key);
    put_uint(&writer, value);
}

static void add_text(const char *key, const char *value)
{
    message_key(&writer, key);
    put_text(&writer, value);
}

static void add_bytes(const char *key, const void *bytes, size_t size)
{
    message_key(&writer, key);
    put_bytes(&writer, bytes, size);
}

static void add_texts(const char *key, const char *one, const char *two)
{
    message_key(&writer, key);
    put_list(&writer, 2);
    put_text(&writer, one);
    put_text(&writer, two);
}

static void send(Table *table, uint64_t peer)
{
    assert_true(message_end(&writer));
    table_receive(table, peer, message, writer.size, false);
}

/* ---- Replies ---- */

static const uint8_t *reply_end;

/* The last reply, which must be to `peer`; checked. */
static const uint8_t *reply(Table *table, uint64_t peer)
{
    assert_true(table->reply_count > 0);
    const TableReply *last = &table->replies[table->reply_count - 1];
    assert_true(last->peer == peer);
    reply_end = last->buffer->data + last->buffer->size;
    assert_int_equal(wire_check(last->buffer->data, last->buffer->size, 1 << 20, NULL), WIRE_OK);
    return last->buffer->data;
}

static bool get(const uint8_t *map, const char *key, WireItem *item)
{
    return wire_get(map, reply_end, key, item);
}

static uint64_t get_uint(const uint8_t *map, const char *key)
{
    WireItem item;
    assert_true(get(map, key, &item));
    assert_int_equal(item.kind, WIRE_UINT);
    return item.number;
}

static WireItem get_run(const uint8_t *map, const char *key)
{
    WireItem item;
    assert_true(get(map, key, &item));
    assert_true(item.kind == WIRE_TEXT || item.kind == WIRE_BYTES);
    return item;
}

static const uint8_t *good(Table *table, uint64_t peer)
{
    const uint8_t *map = reply(table, peer);
    WireItem item;
    if (get(map, "error", &item)) {
        WireItem text = {.size = 0};
        const uint8_t *error = item.bytes - 1;
        wire_get(error, reply_end, "message", &text);
        fail_msg("refused: %.*s", (int)text.size, (const char *)text.bytes);
    }
    return map;
}

/* The last reply is a refusal with this code whose message has this word. */
static void refused(Table *table, uint64_t peer, const char *code, const char *word)
{
    WireItem item;
    WireItem text;
    const uint8_t *map = reply(table, peer);
    assert_true(get(map, "ok", &item) && item.kind == WIRE_FLAG && item.number == 0);
    assert_true(get(map, "error", &item));
    assert_true(wire_get(item.bytes - 1, reply_end, "code", &text));
    if (text.size != strlen(code) || memcmp(text.bytes, code, text.size) != 0) {
        fail_msg("%.*s instead of %s", (int)text.size, (const char *)text.bytes, code);
    }
    assert_true(wire_get(item.bytes - 1, reply_end, "message", &text));
    char copy[WIRE_MESSAGE_MAX];
    snprintf(copy, sizeof copy, "%.*s", (int)text.size, (const char *)text.bytes);
    if (strstr(copy, word) == NULL) {
        fail_msg("'%s' does not say '%s'", copy, word);
    }
}

/* ---- Conversations ---- */

static void hello(Table *table, uint64_t peer)
{
    begin("hello");
    add_uint("protocol", 1);
    send(table, peer);
    good(table, peer);
}

static uint32_t open_pool(Table *table, uint64_t peer, uint32_t slots)
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", slots);
    send(table, peer);
    return (uint32_t)get_uint(good(table, peer), "pool");
}

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

/* First legal action of each row of a reply. */
static uint32_t first_actions(const uint8_t *map, int32_t *actions)
{
    WireItem mask = get_run(map, "mask");
    uint32_t rows = (uint32_t)get_uint(map, "count");
    uint32_t width = rows > 0 ? mask.size / rows : 0;
    for (uint32_t i = 0; i < rows; i++) {
        actions[i] = 0;
        for (uint32_t k = 0; k < width; k++) {
            if (mask.bytes[i * width + k]) {
                actions[i] = (int32_t)k;
                break;
            }
        }
    }
    return rows;
}

static void step(Table *table, uint64_t peer, uint32_t pool, const int32_t *actions, uint32_t rows)
{
    begin("step");
    add_uint("pool", pool);
    add_bytes("actions", actions, rows * 4);
    send(table, peer);
}

static void simple(Table *table, uint64_t peer, const char *op, uint32_t pool)
{
    begin(op);
    add_uint("pool", pool);
    send(table, peer);
}

/* ---- Sessions ---- */

static void test_nothing_works_before_hello(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    begin("ping");
    send(&table, 5);
    refused(&table, 5, "no_session", "hello");
    begin("hello");
    add_uint("protocol", 2);
    send(&table, 5);
    refused(&table, 5, "bad_version", "version 1");
    hello(&table, 5);
    begin("ping");
    send(&table, 5);
    good(&table, 5);
    table_close(&table);
}

static void test_an_endpoint_with_a_token_wants_it(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    begin("hello");
    add_uint("protocol", 1);
    message_end(&writer);
    table_receive(&table, 5, message, writer.size, true);
    refused(&table, 5, "denied", "token");
    begin("hello");
    add_uint("protocol", 1);
    add_text("access", "a token of the tes");
    message_end(&writer);
    table_receive(&table, 5, message, writer.size, true);
    refused(&table, 5, "denied", "token");
    begin("hello");
    add_uint("protocol", 1);
    add_text("access", "a token of the test");
    message_end(&writer);
    table_receive(&table, 5, message, writer.size, true);
    good(&table, 5);
    table_close(&table);
}

static void test_nonsense_gets_one_refusal_and_changes_nothing(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        uint32_t before = table.sent;
        table_receive(&table, 5, &byte, 1, false);
        assert_int_equal(table.sent, before + 1);
        refused(&table, 5, i == 0x80 ? "bad_request" : "bad_message", "");
    }
    assert_int_equal(table.frames_out, 0);
    assert_int_equal(dispatch_session_count(table.dispatch), 1);
    table_close(&table);
}

static void test_a_repeated_request_returns_the_same_reply(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[4];
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 4);
    simple(&table, 5, "reset", pool);
    uint32_t rows = first_actions(good(&table, 5), actions);
    step(&table, 5, pool, actions, rows);
    const Buffer *first = table.replies[table.reply_count - 1].buffer;
    table_receive(&table, 5, message, writer.size, false);
    assert_ptr_equal(table.replies[table.reply_count - 1].buffer, first);
    begin("stats");
    send(&table, 5);
    assert_int_equal(get_uint(good(&table, 5), "decisions"), 4);
    table_close(&table);
}

/* Replies that the client says it has are not kept, and only those. */
static void test_replies_that_arrived_are_forgotten(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    uint32_t pool = open_pool(&table, 5, 4);
    uint64_t first = next_id;
    simple(&table, 5, "reset", pool);
    begin("ping");
    send(&table, 5);
    begin("recv");
    add_uint("pool", pool);
    add_uint("got", first);
    send(&table, 5);
    uint64_t last = next_id;
    next_id = first;
    simple(&table, 5, "reset", pool);
    refused(&table, 5, "stale_id", "id=");
    while (next_id < last) {
        begin("ping");
        send(&table, 5);
        good(&table, 5);
    }
    table_close(&table);
}

static void test_an_old_request_number_is_refused(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.replies_kept = 2;
    table_open(&table, &limits);
    hello(&table, 5);
    for (uint32_t i = 0; i < 4; i++) {
        begin("ping");
        send(&table, 5);
    }
    next_id -= 4;
    begin("ping");
    send(&table, 5);
    refused(&table, 5, "stale_id", "id=");
    next_id += 2;
    begin("ping");
    send(&table, 5);
    good(&table, 5);
    next_id++;
    table_close(&table);
}

static void test_a_session_goes_on_after_a_reconnect(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[2];
    char token[64];
    table_open(&table, NULL);
    begin("hello");
    add_uint("protocol", 1);
    send(&table, 5);
    WireItem item = get_run(good(&table, 5), "session");
    snprintf(token, sizeof token, "%.*s", (int)item.size, (const char *)item.bytes);
    uint32_t pool = open_pool(&table, 5, 2);
    simple(&table, 5, "reset", pool);
    first_actions(good(&table, 5), actions);
    step(&table, 5, pool, actions, 2);
    const Buffer *first = table.replies[table.reply_count - 1].buffer;
    static uint8_t again[MESSAGE_MAX];
    size_t size = writer.size;
    memcpy(again, message, size);
    dispatch_disconnected(table.dispatch, 5, table.now_ms);
    table.now_ms += 1000;
    dispatch_tick(table.dispatch, table.now_ms);
    begin("hello");
    add_uint("protocol", 1);
    add_text("session", token);
    send(&table, 6);
    good(&table, 6);
    table_receive(&table, 6, again, size, false);
    assert_ptr_equal(table.replies[table.reply_count - 1].buffer, first);
    simple(&table, 5, "reset", pool);
    refused(&table, 5, "no_session", "");
    /* Too late the second time. */
    dispatch_disconnected(table.dispatch, 6, table.now_ms);
    table.now_ms += 2000;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(dispatch_session_count(table.dispatch), 0);
    assert_int_equal(dispatch_pool_count(table.dispatch), 0);
    begin("hello");
    add_uint("protocol", 1);
    add_text("session", token);
    send(&table, 7);
    refused(&table, 7, "no_session", "token");
    table_close(&table);
}

static void test_idle_sessions_expire(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    open_pool(&table, 5, 1);
    hello(&table, 6);
    table.now_ms += 599000;
    begin("ping");
    send(&table, 6);
    table.now_ms += 2000;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(dispatch_session_count(table.dispatch), 1);
    assert_int_equal(dispatch_pool_count(table.dispatch), 0);
    begin("ping");
    send(&table, 5);
    refused(&table, 5, "no_session", "");
    table_close(&table);
}

static void test_a_client_that_does_not_read_is_dropped(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    hello(&table, 5);
    table.answer = DISPATCH_FULL;
    begin("ping");
    send(&table, 5);
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(dispatch_session_count(table.dispatch), 0);
    table_close(&table);
}

/* ---- Pools ---- */

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
    begin("text");
    add_uint("pool", pool);
    add_uint("slot", 0);
    send(&table, 2);
    good(&table, 2);
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
    refused(&table, 2, "no_pool", "");
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
        cmocka_unit_test(test_nothing_works_before_hello),
        cmocka_unit_test(test_an_endpoint_with_a_token_wants_it),
        cmocka_unit_test(test_nonsense_gets_one_refusal_and_changes_nothing),
        cmocka_unit_test(test_a_repeated_request_returns_the_same_reply),
        cmocka_unit_test(test_replies_that_arrived_are_forgotten),
        cmocka_unit_test(test_an_old_request_number_is_refused),
        cmocka_unit_test(test_a_session_goes_on_after_a_reconnect),
        cmocka_unit_test(test_idle_sessions_expire),
        cmocka_unit_test(test_a_client_that_does_not_read_is_dropped),
        cmocka_unit_test(test_open_refuses_what_makes_no_sense),
        cmocka_unit_test(test_limits_are_kept),
        cmocka_unit_test(test_one_bad_action_does_not_spoil_the_others),
        cmocka_unit_test(test_step_refuses_what_does_not_fit),
        cmocka_unit_test(test_send_and_recv),
        cmocka_unit_test(test_steps_do_not_allocate),
        cmocka_unit_test(test_looking_at_a_slot),
        cmocka_unit_test(test_snapshots_come_back_as_they_were),
        cmocka_unit_test(test_forks_resampling_and_rollouts),
        cmocka_unit_test(test_joining_needs_the_invite),
        cmocka_unit_test(test_players_may_not_do_what_is_the_directors),
        cmocka_unit_test(test_two_members_play_together),
        cmocka_unit_test(test_a_player_that_vanishes_is_replaced),
        cmocka_unit_test(test_a_player_that_leaves_cuts_episodes_off),
        cmocka_unit_test(test_a_seat_that_does_not_answer_is_lost),
        cmocka_unit_test(test_closing_a_pool_answers_those_who_wait),
        cmocka_unit_test(test_waiting_has_a_timeout),
        cmocka_unit_test(test_bytes_that_are_no_log_do_not_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
