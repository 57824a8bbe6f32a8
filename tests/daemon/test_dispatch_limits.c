/* Limits of sessions, of keys and of the daemon: each is kept, does not touch others, and gets back
 * what was taken; messages, kept replies and sessions count as pools do. */
#include "daemon/dispatch_internal.h"
#include "tests/daemon/dispatch_requests.h"

enum { ONE = 1, TWIN = 2, OTHER = 3 };

/* Two sessions of one key and one of another. */
static void three_sessions(Table *table, const Limits *limits)
{
    table_open(table, limits);
    table->key = "one";
    hello(table, ONE);
    hello(table, TWIN);
    table->key = "other";
    hello(table, OTHER);
}

static void nothing_is_taken(const Quota *quota)
{
    for (uint32_t kind = 0; kind < QUOTA_KINDS; kind++) {
        assert_int_equal(quota_used(quota, (QuotaKind)kind), 0);
    }
}

static void everybody_goes(Table *table)
{
    for (uint64_t peer = ONE; peer <= OTHER; peer++) {
        dispatch_disconnected(table->dispatch, peer, table->now_ms);
    }
    table->now_ms += 1000000;
    dispatch_tick(table->dispatch, table->now_ms);
    table_forget(table);
    for (const KeyRecord *key = table->dispatch->keys; key != NULL; key = key->next) {
        nothing_is_taken(&key->quota);
    }
    nothing_is_taken(&table->dispatch->shared.quota);
    table_close(table);
}

static void open_with(Table *table, uint64_t peer, const char *field, uint64_t value)
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    if (value > 0) {
        add_uint(field, value);
    }
    send(table, peer);
}

/* A session may open `amount` once, its key twice; the other key is free to do so. */
static void check_pools_of(const char *field, uint64_t amount, const Limits *limits,
                           const char *session_limit, const char *key_limit)
{
    Table table;
    three_sessions(&table, limits);
    open_with(&table, ONE, field, amount);
    uint32_t pool = (uint32_t)get_uint(good(&table, ONE), "pool");
    if (session_limit != NULL) {
        open_with(&table, ONE, field, amount);
        refused(&table, ONE, "limit", session_limit);
    }
    open_with(&table, TWIN, field, amount);
    refused(&table, TWIN, "limit", key_limit);
    open_with(&table, OTHER, field, amount);
    good(&table, OTHER);
    simple(&table, ONE, "close", pool);
    good(&table, ONE);
    open_with(&table, TWIN, field, amount);
    good(&table, TWIN);
    everybody_goes(&table);
}

static void test_pools_slots_and_threads_of_sessions_and_keys(void **unused)
{
    (void)unused;
    Limits limits = limits_standard();
    limits.pools_per_key = 1;
    check_pools_of("slots", 1, &limits, NULL, "pools_per_key=1");
    limits = limits_standard();
    limits.slots_per_session = 60;
    limits.slots_per_key = 90;
    check_pools_of("slots", 50, &limits, "slots_per_session=60", "slots_per_key=90");
    limits = limits_standard();
    limits.threads_per_session = 3;
    limits.threads_per_key = 3;
    check_pools_of("threads", 2, &limits, "threads_per_session=3", "threads_per_key=3");
}

static void test_one_cap_on_all_stepping_threads(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.threads_in_all = 3;
    three_sessions(&table, &limits);
    open_with(&table, ONE, "threads", 2);
    good(&table, ONE);
    open_with(&table, OTHER, "threads", 2);
    refused(&table, OTHER, "limit", "threads_in_all=3");
    open_with(&table, OTHER, "threads", 1);
    good(&table, OTHER);
    everybody_goes(&table);
}

static void snapshot(Table *table, uint64_t peer, uint32_t pool, uint32_t count)
{
    const uint32_t slots[8] = {0};
    begin("snapshot");
    add_uint("pool", pool);
    add_bytes("slots", slots, count * sizeof slots[0]);
    send(table, peer);
}

static void test_snapshots_of_sessions_and_keys(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.snapshots_per_session = 5;
    limits.snapshots_per_key = 7;
    three_sessions(&table, &limits);
    uint32_t pool = open_pool(&table, ONE, 8);
    uint32_t second = open_pool(&table, ONE, 8);
    uint32_t twins = open_pool(&table, TWIN, 8);
    uint32_t others = open_pool(&table, OTHER, 8);
    snapshot(&table, ONE, pool, 4);
    good(&table, ONE);
    snapshot(&table, ONE, second, 2);
    refused(&table, ONE, "limit", "snapshots_per_session=5");
    snapshot(&table, TWIN, twins, 4);
    refused(&table, TWIN, "limit", "snapshots_per_key=7");
    snapshot(&table, OTHER, others, 4);
    good(&table, OTHER);
    simple(&table, ONE, "drop", pool);
    snapshot(&table, TWIN, twins, 4);
    good(&table, TWIN);
    everybody_goes(&table);
}

static void test_sessions_of_a_key(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.sessions_per_key = 2;
    three_sessions(&table, &limits);
    table.key = "one";
    begin("hello");
    add_uint("protocol", 1);
    send(&table, 4);
    refused(&table, 4, "limit", "sessions_per_key=2");
    table.key = "other";
    hello(&table, 5);
    dispatch_disconnected(table.dispatch, 5, table.now_ms);
    everybody_goes(&table);
}

/* A session is taken up again only by those who came in as it did. */
static void test_a_session_belongs_to_its_key(void **unused)
{
    (void)unused;
    Table table;
    char token[64];
    three_sessions(&table, NULL);
    table.key = "one";
    hello(&table, ONE);
    WireItem item = get_run(good(&table, ONE), "session");
    snprintf(token, sizeof token, "%.*s", (int)item.size, (const char *)item.bytes);
    table.key = "other";
    for (uint64_t peer = 8; peer <= 9; peer++) {
        begin("hello");
        add_uint("protocol", 1);
        add_text("session", token);
        send(&table, peer);
        if (peer == 8) {
            refused(&table, peer, "no_session", "token");
            table.key = "one";
        }
    }
    good(&table, 9);
    dispatch_disconnected(table.dispatch, 9, table.now_ms);
    everybody_goes(&table);
}

/* A request that waits for the other member. */
static void wait_there(Table *table, uint64_t peer, uint32_t pool)
{
    begin("recv");
    add_uint("pool", pool);
    add_uint("min_rows", 2);
    send(table, peer);
}

static uint32_t open_shared(Table *table, uint64_t peer)
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_texts("seats", "open", "me");
    send(table, peer);
    uint32_t pool = (uint32_t)get_uint(good(table, peer), "pool");
    char invite[64];
    WireItem item = get_run(good(table, peer), "invite");
    snprintf(invite, sizeof invite, "%.*s", (int)item.size, (const char *)item.bytes);
    begin("join");
    add_uint("pool", pool);
    add_text("invite", invite);
    send(table, OTHER);
    good(table, OTHER);
    return pool;
}

static void test_requests_under_way_of_keys_and_of_all(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.requests_per_key = 2;
    three_sessions(&table, &limits);
    uint32_t pools[3] = {open_shared(&table, ONE), open_shared(&table, ONE),
                         open_shared(&table, TWIN)};
    wait_there(&table, ONE, pools[0]);
    wait_there(&table, ONE, pools[1]);
    assert_int_equal(quota_used(&table.dispatch->shared.quota, QUOTA_REQUESTS), 2);
    wait_there(&table, TWIN, pools[2]);
    refused(&table, TWIN, "busy", "requests_per_key=2");
    begin("ping");
    send(&table, OTHER);
    good(&table, OTHER);
    everybody_goes(&table);
    limits = limits_standard();
    limits.requests_in_all = 1;
    three_sessions(&table, &limits);
    pools[0] = open_shared(&table, ONE);
    wait_there(&table, ONE, pools[0]);
    begin("ping");
    send(&table, OTHER);
    refused(&table, OTHER, "busy", "requests_in_all=1");
    everybody_goes(&table);
}

/* ---- Bytes ---- */

static void describe(Table *table, uint64_t peer)
{
    begin("describe");
    add_text("ruleset", "chicago");
    send(table, peer);
}

static uint64_t bytes_used(const Table *table)
{
    return quota_used(&table->dispatch->shared.quota, QUOTA_BYTES);
}

/* Sixty sessions that ask and ask, without a pool: what is kept for them stays within its share,
 * and the oldest replies go first. */
static void test_kept_replies_are_bounded_in_all(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.memory_bytes = 8 << 20;
    table_open(&table, &limits);
    uint64_t first[61];
    for (uint64_t peer = 1; peer <= 60; peer++) {
        hello(&table, peer);
        first[peer] = next_id;
        for (uint32_t i = 0; i < 2; i++) {
            describe(&table, peer);
            good(&table, peer);
        }
        table_forget(&table);
        assert_true(bytes_used(&table) <= limits.memory_bytes);
    }
    assert_true(table.dispatch->kept_bytes <= limits.memory_bytes / KEPT_PART);
    assert_true(table.dispatch->kept_bytes > limits.memory_bytes / KEPT_PART / 2);
    next_id = first[1];
    describe(&table, 1);
    refused(&table, 1, "stale_id", "no longer kept");
    next_id = first[60];
    describe(&table, 60);
    good(&table, 60);
    for (uint64_t peer = 1; peer <= 60; peer++) {
        dispatch_disconnected(table.dispatch, peer, table.now_ms);
    }
    everybody_goes(&table);
}

/* Replies that a client leaves unread count for it, and for nobody else. */
static void test_bytes_of_a_session(void **unused)
{
    (void)unused;
    Table table;
    Limits limits = limits_standard();
    limits.bytes_per_session = 1 << 20;
    limits.bytes_per_key = 3 << 19;
    three_sessions(&table, &limits);
    for (uint32_t i = 0; i < 40; i++) {
        describe(&table, ONE); /* the table does not give the replies back */
    }
    refused(&table, ONE, "no_memory", "");
    for (uint32_t i = 0; i < 20; i++) {
        describe(&table, TWIN);
    }
    refused(&table, TWIN, "no_memory", "");
    describe(&table, OTHER);
    good(&table, OTHER);
    everybody_goes(&table);
}

/* A large message is counted while it is worked on, and refused where there is no room for it. */
static void test_messages_count(void **unused)
{
    (void)unused;
    Table table;
    static uint8_t content[MESSAGE_MAX - 1024];
    Limits limits = limits_standard();
    limits.bytes_per_session = 1 << 16;
    three_sessions(&table, &limits);
    begin("replay_verify");
    add_bytes("content", content, sizeof content);
    send(&table, ONE);
    refused(&table, ONE, "limit", "bytes_per_session=65536");
    begin("ping");
    send(&table, ONE);
    good(&table, ONE);
    everybody_goes(&table);
}

/* What others have in use is not told: it would say how much they are sent. */
static void test_stats_tell_a_session_of_its_own_memory(void **unused)
{
    (void)unused;
    Table table;
    three_sessions(&table, NULL);
    begin("stats");
    send(&table, OTHER);
    uint64_t before = get_uint(good(&table, OTHER), "bytes");
    open_pool(&table, ONE, 1000);
    begin("stats");
    send(&table, ONE);
    assert_true(get_uint(good(&table, ONE), "bytes") > 1000000);
    begin("stats");
    send(&table, OTHER);
    assert_true(get_uint(good(&table, OTHER), "bytes") < before + 65536);
    everybody_goes(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools_slots_and_threads_of_sessions_and_keys),
        cmocka_unit_test(test_one_cap_on_all_stepping_threads),
        cmocka_unit_test(test_snapshots_of_sessions_and_keys),
        cmocka_unit_test(test_sessions_of_a_key),
        cmocka_unit_test(test_a_session_belongs_to_its_key),
        cmocka_unit_test(test_requests_under_way_of_keys_and_of_all),
        cmocka_unit_test(test_kept_replies_are_bounded_in_all),
        cmocka_unit_test(test_bytes_of_a_session),
        cmocka_unit_test(test_messages_count),
        cmocka_unit_test(test_stats_tell_a_session_of_its_own_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
