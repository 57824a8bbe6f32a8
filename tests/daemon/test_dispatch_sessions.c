/* Dispatch: hello, repeated and lost requests, reconnects, and clients that are idle or do not
 * read; without sockets or threads. */
#include "tests/daemon/dispatch_requests.h"

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
    refused(&table, 5, "bad_version", "versions 1 to 1");
    hello(&table, 5);
    begin("ping");
    send(&table, 5);
    good(&table, 5);
    table_close(&table);
}

/* What a client of a later version says: it offers a range and things that nobody knows here yet.
 */
static void test_versions_are_negotiated(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    begin("hello");
    add_uint("protocol", 9);
    add_uint("protocol_min", 1);
    add_texts("capabilities", "teleport", "notices");
    message_key(&writer, "compress");
    put_map(&writer, 1);
    put_text(&writer, "level");
    put_uint(&writer, 3);
    send(&table, 5);
    const uint8_t *map = good(&table, 5);
    assert_int_equal(get_uint(map, "protocol"), 1);
    assert_int_equal(get_uint(map, "protocol_min"), 1);
    assert_int_equal(get_uint(map, "protocol_max"), 1);
    begin("hello");
    add_uint("protocol", 9);
    add_uint("protocol_min", 2);
    send(&table, 6);
    refused(&table, 6, "bad_version", "versions 1 to 1");
    begin("ping"); /* elsewhere a field that nobody knows is a mistake */
    add_uint("compress", 1);
    send(&table, 5);
    refused(&table, 5, "bad_request", "compress");
    table_close(&table);
}

/* hello with an access token (NULL: without one), where one is wanted. */
static void try_token(Table *table, uint64_t peer, const char *token)
{
    begin("hello");
    add_uint("protocol", 1);
    if (token != NULL) {
        add_text("access", token);
    }
    message_end(&writer);
    table_receive(table, peer, message, writer.size, true);
}

static void test_an_endpoint_with_a_token_wants_it(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        try_token(&table, 5, i == 0 ? NULL : "a token of the tes");
        table.now_ms += 1000;
        dispatch_tick(table.dispatch, table.now_ms);
        refused(&table, 5, "denied", "token");
    }
    try_token(&table, 5, "a token of the test");
    good(&table, 5);
    table_close(&table);
}

/* A wrong token is answered late, and until then the connection cannot try another; others can. */
static void test_wrong_tokens_are_slowed_down(void **unused)
{
    (void)unused;
    Table table;
    table_open(&table, NULL);
    for (uint64_t peer = 5; peer < 8; peer++) {
        try_token(&table, peer, "wrong");
    }
    assert_int_equal(table.sent, 0);
    try_token(&table, 5, "a token of the test");
    refused(&table, 5, "busy", "wait");
    try_token(&table, 9, "a token of the test");
    good(&table, 9);
    assert_int_equal(dispatch_session_count(table.dispatch), 1);
    table.now_ms += 999;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(table.sent, 2);
    table.now_ms += 1;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(table.sent, 5);
    refused(&table, 7, "denied", "token");
    try_token(&table, 5, "a token of the test");
    good(&table, 5);
    try_token(&table, 6, "wrong"); /* still waits when the daemon ends */
    table_close(&table);
    assert_int_equal(table.sent, 7);
}

/* Whoever has the right token comes in, however many wrong ones wait for their answers; and these
 * all get one. */
static void test_wrong_tokens_do_not_keep_right_ones_out(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.sessions = 4;
    table_open(&table, &limits);
    for (uint64_t peer = 5; peer < 25; peer++) {
        try_token(&table, peer, "wrong");
    }
    assert_int_equal(table.sent, 16); /* no more wait than there may be sessions */
    try_token(&table, 99, "a token of the test");
    good(&table, 99);
    try_token(&table, 24, "a token of the test");
    refused(&table, 24, "busy", "wait");
    table.now_ms += 1000;
    dispatch_tick(table.dispatch, table.now_ms);
    assert_int_equal(table.sent, 20 + 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_works_before_hello),
        cmocka_unit_test(test_versions_are_negotiated),
        cmocka_unit_test(test_an_endpoint_with_a_token_wants_it),
        cmocka_unit_test(test_wrong_tokens_are_slowed_down),
        cmocka_unit_test(test_wrong_tokens_do_not_keep_right_ones_out),
        cmocka_unit_test(test_nonsense_gets_one_refusal_and_changes_nothing),
        cmocka_unit_test(test_a_repeated_request_returns_the_same_reply),
        cmocka_unit_test(test_replies_that_arrived_are_forgotten),
        cmocka_unit_test(test_an_old_request_number_is_refused),
        cmocka_unit_test(test_a_session_goes_on_after_a_reconnect),
        cmocka_unit_test(test_idle_sessions_expire),
        cmocka_unit_test(test_a_client_that_does_not_read_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
