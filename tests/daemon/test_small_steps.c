/* Steps of few rows, which dispatch's thread does itself while the pool's own thread sleeps: when
 * it does, when it must not, and that nobody can tell. */
#define _POSIX_C_SOURCE 200809L
#include "core/hash.h"
#include "tests/daemon/dispatch_requests.h"
#include "tests/support/budget.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 60000, /* the machine may be busy */
    STEPS = 30,
    PEERS = 2,
    SLOTS = 4,
    LARGE = 65, /* slots of a pool that is not small */
    PROCESSORS_FEW = 2,
};

/* How often workers have said that they have something for dispatch. */
static atomic_uint wakes;

static void count_wake(void *user)
{
    (void)user;
    atomic_fetch_add(&wakes, 1);
}

static void pause_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Waits until the table has so many replies that were not looked at. */
static void wait_for_replies(Table *table, uint32_t count)
{
    for (uint32_t i = 0; table->reply_count < count && i < PATIENCE_MS * 5; i++) {
        dispatch_collect(table->dispatch, table->now_ms);
        if (table->reply_count < count) {
            pause_a_moment();
        }
    }
    assert_int_equal(table->reply_count, count);
}

/* Sends the message that was begun, and waits for its reply. */
static const uint8_t *ask(Table *table, uint64_t peer)
{
    table_forget(table);
    send(table, peer);
    wait_for_replies(table, 1);
    return good(table, peer);
}

/* What a pool is opened with besides its ruleset. */
typedef struct Opening {
    uint32_t slots;
    uint32_t threads;
    const char *other; /* who plays the other seat */
} Opening;

static uint32_t open_as(Table *table, const Opening *opening)
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", opening->slots);
    add_uint("threads", opening->threads);
    add_texts("seats", "me", opening->other);
    return (uint32_t)get_uint(ask(table, 1), "pool");
}

static const uint8_t *ask_pool(Table *table, const char *op, uint32_t pool)
{
    begin(op);
    add_uint("pool", pool);
    return ask(table, 1);
}

/* Plays some steps in a pool of its own. Returns how many of them woke nobody: dispatch did them
 * itself. A wake-up may come later than what it is for, but all have come when the pool is closed,
 * which waits for its thread. */
static uint32_t steps_play(Table *table, const Opening *opening, uint32_t steps)
{
    int32_t actions[LARGE];
    unsigned before = atomic_load(&wakes);
    uint32_t pool = open_as(table, opening);
    const uint8_t *rows = ask_pool(table, "reset", pool);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t count = first_actions(rows, actions);
        begin("step");
        add_uint("pool", pool);
        add_bytes("actions", actions, count * 4);
        rows = ask(table, 1);
        pause_a_moment();
    }
    ask_pool(table, "close", pool);
    /* open, reset and close are the worker's */
    return steps + 3 - (atomic_load(&wakes) - before);
}

static void table_begin(Table *table)
{
    table_open_threads(table, NULL, count_wake);
    begin("hello");
    add_uint("protocol", 1);
    ask(table, 1);
}

/* Another pool, so that none is the only one. */
static void open_another(Table *table)
{
    unsigned before = atomic_load(&wakes);
    open_as(table, &(Opening){1, 1, "me"});
    for (uint32_t i = 0; atomic_load(&wakes) == before && i < PATIENCE_MS * 5; i++) {
        pause_a_moment();
    }
}

/* The worker's thread is asleep sooner or later; then dispatch does its steps. */
static void steps_are_done_here(Table *table, uint32_t slots)
{
    uint32_t here = 0;
    for (uint32_t i = 0; here < STEPS && i < 1000; i++) {
        here += steps_play(table, &(Opening){slots, 1, "me"}, STEPS);
    }
    assert_true(here >= STEPS);
}

static void test_a_small_step_wakes_nobody(void **unused)
{
    (void)unused;
    Table table;
    table_begin(&table);
    open_another(&table);
    steps_are_done_here(&table, LARGE - 1);
    steps_are_done_here(&table, 1);
    table_close(&table);
}

/* Where a thread more does nothing sooner, it is left to sleep. */
static void test_the_only_pool_needs_no_thread_on_few_processors(void **unused)
{
    (void)unused;
    Table table;
    table_begin(&table);
    if (sysconf(_SC_NPROCESSORS_ONLN) <= PROCESSORS_FEW) {
        steps_are_done_here(&table, LARGE);
    } else {
        assert_int_equal(steps_play(&table, &(Opening){LARGE, 1, "me"}, STEPS), 0);
    }
    table_close(&table);
}

/* Where a step may take its time, or others may want something meanwhile, the thread that has the
 * sockets does not do it. */
static void test_other_steps_are_the_workers(void **unused)
{
    (void)unused;
    static const Opening openings[] = {
        {1, 1, "random"}, {16, 2, "me"}, {LARGE, 1, "me"}, {1, 1, "expert"}};
    Table table;
    table_begin(&table);
    open_another(&table);
    for (uint32_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        assert_int_equal(steps_play(&table, &openings[i], STEPS), 0);
    }
    table_close(&table);
}

/* ---- Nobody can tell ---- */

/* The same requests go to a dispatch without threads and to one with. */
typedef struct Pair {
    Table plain;
    Table threaded;
    uint32_t pool;
    uint32_t rows[PEERS]; /* that each member was given last, and what it will do there */
    uint32_t slots[PEERS][SLOTS];
    int32_t actions[PEERS][SLOTS];
    uint64_t last_id[PEERS];
} Pair;

/* A member's next move follows from the rows that it was sent. */
static void pair_note(Pair *pair, uint64_t peer, const Buffer *reply)
{
    WireItem item;
    reply_end = reply->data + reply->size;
    if (get(reply->data, "slots", &item)) {
        pair->rows[peer - 1] = first_actions(reply->data, pair->actions[peer - 1]);
        memcpy(pair->slots[peer - 1], item.bytes, item.size);
    }
}

/* Gives both the message that was begun. They answer alike, byte for byte, and as often. */
static void pair_send(Pair *pair, uint64_t peer)
{
    pair->last_id[peer - 1] = next_id - 1;
    table_forget(&pair->plain);
    table_forget(&pair->threaded);
    send(&pair->plain, peer);
    table_receive(&pair->threaded, peer, message, writer.size, false);
    wait_for_replies(&pair->threaded, pair->plain.reply_count);
    for (uint32_t i = 0; i < pair->plain.reply_count; i++) {
        const TableReply *one = &pair->plain.replies[i];
        const TableReply *other = &pair->threaded.replies[i];
        assert_int_equal(one->peer, other->peer);
        assert_int_equal(one->buffer->size, other->buffer->size);
        assert_memory_equal(one->buffer->data, other->buffer->data, one->buffer->size);
        pair_note(pair, one->peer, one->buffer);
    }
}

static void pair_open(Pair *pair)
{
    char invite[64];
    table_open(&pair->plain, NULL);
    table_open_threads(&pair->threaded, NULL, count_wake);
    for (uint64_t peer = 1; peer <= PEERS; peer++) {
        begin("hello");
        add_uint("protocol", 1);
        pair_send(pair, peer);
    }
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", SLOTS);
    add_texts("seats", "me", "open");
    pair_send(pair, 1);
    const uint8_t *map = good(&pair->plain, 1);
    WireItem item = get_run(map, "invite");
    snprintf(invite, sizeof invite, "%.*s", (int)item.size, (const char *)item.bytes);
    pair->pool = (uint32_t)get_uint(map, "pool");
    begin("join");
    add_uint("pool", pair->pool);
    add_text("invite", invite);
    pair_send(pair, 2);
}

/* A request of any kind that members make. Some wait for the other member, some are refused. */
static void pair_ask(Pair *pair, uint64_t peer, uint64_t random)
{
    uint32_t index = (uint32_t)peer - 1;
    static const char *const ops[] = {"send", "recv", "send", "recv", "step", "legal", "cancel"};
    const char *op = random % 200 == 0 ? "reset" : ops[random / 256 % 7];
    begin(op);
    if (strcmp(op, "cancel") == 0) {
        add_uint("request", pair->last_id[index]);
        pair_send(pair, peer);
        return;
    }
    add_uint("pool", pair->pool);
    if (strcmp(op, "send") == 0) {
        add_bytes("slots", pair->slots[index], pair->rows[index] * sizeof(uint32_t));
        add_bytes("actions", pair->actions[index], pair->rows[index] * sizeof(int32_t));
        pair->rows[index] = 0;
    } else if (strcmp(op, "step") == 0) {
        add_bytes("actions", pair->actions[index], sizeof pair->actions[index]);
    } else if (strcmp(op, "legal") == 0) {
        add_uint("slot", random >> 32 & (SLOTS - 1));
    }
    pair_send(pair, peer);
}

static void test_nobody_can_tell_who_did_a_step(void **unused)
{
    (void)unused;
    static Pair pair;
    uint32_t requests = budget(1500, 100000);
    pair_open(&pair);
    for (uint32_t i = 0; i < requests; i++) {
        uint64_t random = hash_mix(i + 1);
        pair_ask(&pair, 1 + (random >> 40) % PEERS, random);
        if (random >> 48 & 1) {
            pause_a_moment(); /* sometimes the worker's thread is asleep, sometimes not yet */
        }
    }
    assert_int_equal(pair.plain.sent, pair.threaded.sent);
    table_close(&pair.plain);
    table_close(&pair.threaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_step_wakes_nobody),
        cmocka_unit_test(test_the_only_pool_needs_no_thread_on_few_processors),
        cmocka_unit_test(test_other_steps_are_the_workers),
        cmocka_unit_test(test_nobody_can_tell_who_did_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
