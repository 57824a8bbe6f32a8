/* No memory at the Nth allocation, for every N: of the start of the daemon and of every operation.
 * Nothing leaks, the request gets one error reply, and the daemon goes on. */
#define _GNU_SOURCE
#include "daemon/dispatch_internal.h"
#include "daemon/router.h"
#include "tests/daemon/talk.h"
#include "tests/proto/wire_samples.h"

#include <jansson.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- An allocator that fails when it is told to ---- */

/* The linker sends every allocation of our own code here (--wrap), jansson by its own hook. */
static int64_t live;      /* allocations that were not given back */
static size_t live_bytes; /* and their bytes, */
static size_t peak_bytes; /* and the most that these were */
static uint64_t fail_at;  /* which allocation fails, from 1; 0: none */
static bool fails_on;     /* and all that follow */
static uint64_t asked;    /* allocations since fail_at was set */
static uint64_t refusals; /* those that failed */
/* Of these jansson's: it says of some that there was a mistake in the file, which is as clean. */
static uint64_t json_refusals;
static bool json_is_spared;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static bool refuse(void)
{
    asked++;
    bool refused = fail_at != 0 && (asked == fail_at || (fails_on && asked > fail_at));
    refusals += refused;
    return refused;
}

static void *counted(void *memory)
{
    live += memory != NULL;
    live_bytes += malloc_usable_size(memory);
    peak_bytes = live_bytes > peak_bytes ? live_bytes : peak_bytes;
    return memory;
}

static void forget(void *memory)
{
    live -= memory != NULL;
    live_bytes -= malloc_usable_size(memory);
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : counted(__real_malloc(size));
}

/* jansson's buffer of characters grows from 32 bytes by doubling, and jansson 2.14 stops the
 * process by an assertion of its own when it cannot: such sizes are not refused. */
static void *json_malloc(size_t size)
{
    uint64_t before = refusals;
    if (json_is_spared || (size >= 32 && (size & (size - 1)) == 0)) {
        return counted(__real_malloc(size));
    }
    void *memory = __wrap_malloc(size);
    json_refusals += refusals - before;
    return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (refuse()) {
        return NULL;
    }
    forget(memory);
    return counted(__real_realloc(memory, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
    forget(memory);
    __real_free(memory);
}

static void fail_from(uint64_t at, bool and_on)
{
    fail_at = at;
    fails_on = and_on;
    asked = 0;
    refusals = 0;
    json_refusals = 0;
}

/* ---- The start ---- */

/* What an attempt to open something came to: true if it needed fewer allocations. */
static bool opened_or_refused(TyStatus status, const void *opened)
{
    bool refused = refusals > 0;
    bool blamed_on_file = json_refusals > 0 && status.code == TY_BAD_FILE;
    fail_from(0, false);
    if (status.code != TY_OK) {
        assert_int_equal(status.code, blamed_on_file ? TY_BAD_FILE : TY_NO_MEMORY);
        assert_true(status.message[0] != '\0');
        assert_null(opened);
    } else {
        assert_false(refused);
    }
    return !refused;
}

/* Opens everything that a daemon with a log and shared memory has. */
static bool router_open_once(const char *directory, uint64_t at, bool and_on)
{
    char address[80];
    char log[80];
    char shm[80];
    Endpoint endpoint;
    Router *router = NULL;
    snprintf(address, sizeof address, "ipc://%s/d", directory);
    snprintf(log, sizeof log, "%s/log", directory);
    snprintf(shm, sizeof shm, "%s/shm", directory);
    int64_t before = live;
    assert_int_equal(endpoint_parse(address, &endpoint).code, TY_OK);
    assert_int_equal(endpoint_claim(&endpoint).code, TY_OK);
    RouterConfig config = {.limits = limits_standard(),
                           .endpoint_count = 1,
                           .endpoints = &endpoint,
                           .log = log,
                           .shm_path = shm};
    config.limits.sessions = 16;
    fail_from(at, and_on);
    bool enough = opened_or_refused(router_open(&config, &router), router);
    if (router != NULL) {
        router_close(router);
    }
    endpoint_release(&endpoint);
    assert_int_equal(live, before);
    return enough;
}

static void test_the_start_needs_memory_and_says_so(void **unused)
{
    (void)unused;
    char directory[] = "/tmp/trainyard-memory-XXXXXX";
    char log[80];
    uint64_t count = 0;
    assert_non_null(mkdtemp(directory));
    snprintf(log, sizeof log, "%s/log", directory);
    assert_int_equal(mkdir(log, 0700), 0);
    json_is_spared = true;
    for (int and_on = 0; and_on < 2; and_on++) {
        uint64_t at = 1;
        while (!router_open_once(directory, at, and_on != 0)) {
            at++;
        }
        count += at - 1;
    }
    json_is_spared = false;
    assert_true(count > 40);
    print_message("%llu starts without memory\n", (unsigned long long)count);
    char command[120];
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

static bool ruleset_open_once(const char *spec, uint64_t at)
{
    int64_t before = live;
    TyRuleset *ruleset = NULL;
    fail_from(at, false);
    bool enough = opened_or_refused(ty_ruleset_open(spec, NULL, &ruleset), ruleset);
    ty_ruleset_close(ruleset);
    assert_int_equal(live, before);
    return enough;
}

/* The longest part of the start alone, with all that is read of boards and decks. */
static void test_reading_a_game_needs_memory_and_says_so(void **unused)
{
    (void)unused;
    uint64_t count = 0;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        uint64_t at = 1;
        while (!ruleset_open_once(ty_game_name(ty_game_at(i)), at)) {
            at++;
        }
        assert_true(at > 100);
        count += at - 1;
    }
    print_message("%llu rulesets without memory\n", (unsigned long long)count);
}

/* ---- Requests ---- */

enum { DIRECTOR = 5, PLAYER = 6 };

/* A conversation, and what was learned from its replies. */
typedef struct Learned {
    Talk talk;
    uint64_t pool;
    char invite[WIRE_TEXT_MAX];
    uint32_t snapshot;
    uint8_t exported[8192];
    uint32_t exported_size;
} Learned;

/* ---- The operations, in an order in which each can work ---- */

static const uint8_t slot_list[8] = {0, 0, 0, 0, 1, 0, 0, 0};
static const uint8_t key_list[16] = {1, 0, 0, 0, 0, 0, 0, 0, 2};

static void do_hello(Learned *learned)
{
    talk_hello(&learned->talk, DIRECTOR);
}

static void do_hello_of_player(Learned *learned)
{
    talk_hello(&learned->talk, PLAYER);
}

static void do_describe(Learned *learned)
{
    talk_begin(&learned->talk, "describe");
    talk_text(&learned->talk, "ruleset", "convoi:board=tiny");
    talk_say(&learned->talk, DIRECTOR);
}

static void do_open(Learned *learned)
{
    WireItem item;
    talk_begin(&learned->talk, "open");
    talk_text(&learned->talk, "ruleset", "convoi:board=tiny");
    talk_uint(&learned->talk, "slots", 2);
    talk_uint(&learned->talk, "seat_timeout_ms", 100000);
    message_key(&learned->talk.writer, "seats");
    put_list(&learned->talk.writer, 2);
    put_text(&learned->talk.writer, "me");
    put_text(&learned->talk.writer, "open");
    talk_say(&learned->talk, DIRECTOR);
    if (learned->talk.table.reply_count > 0 && talk_get(&learned->talk, "pool", &item)) {
        learned->pool = item.number;
        assert_true(talk_get(&learned->talk, "invite", &item));
        snprintf(learned->invite, sizeof learned->invite, "%.*s", (int)item.size,
                 (const char *)item.bytes);
    }
}

static void begin_pool(Learned *learned, const char *op)
{
    talk_begin(&learned->talk, op);
    talk_uint(&learned->talk, "pool", learned->pool);
}

static void do_join(Learned *learned)
{
    begin_pool(learned, "join");
    talk_text(&learned->talk, "invite", learned->invite);
    talk_say(&learned->talk, PLAYER);
}

static void do_reset(Learned *learned)
{
    begin_pool(learned, "reset");
    talk_say(&learned->talk, DIRECTOR);
}

static void do_recv(Learned *learned)
{
    begin_pool(learned, "recv");
    talk_uint(&learned->talk, "min_rows", 0);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_send(Learned *learned)
{
    begin_pool(learned, "send");
    talk_bytes(&learned->talk, "slots", slot_list, 8);
    talk_bytes(&learned->talk, "actions", slot_list, 8);
    talk_say(&learned->talk, DIRECTOR);
}

static void look(Learned *learned, const char *op)
{
    begin_pool(learned, op);
    talk_uint(&learned->talk, "slot", 1);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_observe(Learned *learned)
{
    look(learned, "observe");
}

static void do_legal(Learned *learned)
{
    look(learned, "legal");
}

static void do_state(Learned *learned)
{
    look(learned, "state");
}

static void do_text(Learned *learned)
{
    look(learned, "text");
}

static void do_snapshot(Learned *learned)
{
    WireItem item;
    begin_pool(learned, "snapshot");
    talk_bytes(&learned->talk, "slots", slot_list, 8);
    talk_say(&learned->talk, DIRECTOR);
    if (learned->talk.table.reply_count > 0 && talk_get(&learned->talk, "snapshots", &item)) {
        memcpy(&learned->snapshot, item.bytes, sizeof learned->snapshot);
    }
}

static void do_export(Learned *learned)
{
    WireItem item;
    begin_pool(learned, "export");
    talk_uint(&learned->talk, "snapshot", learned->snapshot);
    talk_say(&learned->talk, DIRECTOR);
    if (learned->talk.table.reply_count > 0 && talk_get(&learned->talk, "data", &item)) {
        assert_true(item.size <= sizeof learned->exported);
        memcpy(learned->exported, item.bytes, item.size);
        learned->exported_size = item.size;
    }
}

static void do_import(Learned *learned)
{
    begin_pool(learned, "import");
    talk_bytes(&learned->talk, "data", learned->exported, learned->exported_size);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_restore(Learned *learned)
{
    begin_pool(learned, "restore");
    talk_bytes(&learned->talk, "snapshots", &learned->snapshot, sizeof learned->snapshot);
    talk_bytes(&learned->talk, "slots", slot_list, 8);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_fork(Learned *learned)
{
    begin_pool(learned, "fork");
    talk_uint(&learned->talk, "slot", 0);
    talk_bytes(&learned->talk, "slots", slot_list + 4, 4);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_resample(Learned *learned)
{
    begin_pool(learned, "resample");
    talk_bytes(&learned->talk, "slots", slot_list, 8);
    talk_bytes(&learned->talk, "keys", key_list, 16);
    talk_uint(&learned->talk, "seat", 0);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_rollout(Learned *learned)
{
    begin_pool(learned, "rollout");
    talk_uint(&learned->talk, "slot", 0);
    talk_text(&learned->talk, "agent", "random");
    talk_uint(&learned->talk, "count", 2);
    talk_say(&learned->talk, DIRECTOR);
}

static void do_drop(Learned *learned)
{
    begin_pool(learned, "drop");
    talk_say(&learned->talk, DIRECTOR);
}

static void do_stats(Learned *learned)
{
    talk_begin(&learned->talk, "stats");
    talk_say(&learned->talk, DIRECTOR);
}

static void do_ping(Learned *learned)
{
    talk_begin(&learned->talk, "ping");
    talk_say(&learned->talk, DIRECTOR);
}

static void do_leave(Learned *learned)
{
    begin_pool(learned, "leave");
    talk_say(&learned->talk, PLAYER);
}

static void do_close(Learned *learned)
{
    begin_pool(learned, "close");
    talk_say(&learned->talk, DIRECTOR);
}

typedef void Act(Learned *learned);

static Act *const acts[] = {
    do_hello,  do_describe, do_open,  do_hello_of_player, do_join,    do_reset,    do_recv,
    do_send,   do_observe,  do_legal, do_state,           do_text,    do_snapshot, do_export,
    do_import, do_restore,  do_fork,  do_resample,        do_rollout, do_drop,     do_stats,
    do_ping,   do_leave,    do_close,
};
enum { ACTS = sizeof acts / sizeof acts[0] };

/* Gives spare jobs and buffers back, so that the next request has to ask for its own. */
static void forget_spares(Learned *learned)
{
    Dispatch *dispatch = learned->talk.table.dispatch;
    table_forget(&learned->talk.table);
    while (dispatch->spare != NULL) {
        Job *job = dispatch->spare;
        dispatch->spare = job->next;
        free(job);
    }
    BufferStore *store = &dispatch->shared.buffers;
    for (uint32_t i = 0; i < BUFFER_CLASSES; i++) {
        while (store->spare[i] != NULL) {
            Buffer *buffer = store->spare[i];
            store->spare[i] = buffer->next;
            store->spare_bytes -= buffer->capacity;
            free(buffer);
        }
    }
}

static void everybody_goes(Learned *learned)
{
    Table *table = &learned->talk.table;
    dispatch_disconnected(table->dispatch, DIRECTOR, table->now_ms);
    dispatch_disconnected(table->dispatch, PLAYER, table->now_ms);
    table->now_ms += 1000000;
    dispatch_tick(table->dispatch, table->now_ms);
    dispatch_tick(table->dispatch, table->now_ms);
    assert_int_equal(dispatch_session_count(table->dispatch), 0);
    assert_int_equal(dispatch_pool_count(table->dispatch), 0);
    forget_spares(learned);
}

/* The request `which` without memory for its allocation number `at`. True if it took fewer. */
static bool act_once(Learned *learned, uint32_t which, uint64_t at, bool and_on)
{
    Table *table = &learned->talk.table;
    WireItem error;
    WireItem code;
    int64_t before = live;
    for (uint32_t i = 0; i < which; i++) {
        acts[i](learned);
        assert_true(talk_is_good(&learned->talk));
    }
    forget_spares(learned);
    dispatch_reserve(table->dispatch);
    uint32_t sent = table->sent;
    fail_from(at, and_on);
    acts[which](learned);
    bool refused = refusals > 0;
    bool json = json_refusals > 0;
    fail_from(0, false);
    assert_int_equal(table->sent, sent + 1);
    bool good = talk_is_good(&learned->talk);
    if (!good) {
        assert_true(refused);
        assert_true(talk_get(&learned->talk, "error", &error));
        const Buffer *reply = table->replies[table->reply_count - 1].buffer;
        assert_true(wire_get(error.bytes - 1, reply->data + reply->size, "code", &code));
        bool known = (code.size == 9 && memcmp(code.bytes, "no_memory", 9) == 0) ||
                     (json && code.size == 8 && memcmp(code.bytes, "bad_file", 8) == 0);
        if (!known) {
            fail_msg("request %u, allocation %llu: %.*s", which, (unsigned long long)at,
                     (int)code.size, (const char *)code.bytes);
        }
        acts[which](learned);
        assert_true(talk_is_good(&learned->talk));
    }
    if (which > 0) {
        do_ping(learned);
        assert_true(talk_is_good(&learned->talk));
    }
    everybody_goes(learned);
    assert_int_equal(live, before);
    return !refused;
}

static void test_requests_without_memory_are_refused(void **unused)
{
    (void)unused;
    static Learned learned;
    uint64_t count = 0;
    int64_t before = live;
    table_open(&learned.talk.table, NULL);
    do_hello(&learned); /* the record of a key stays */
    everybody_goes(&learned);
    for (uint32_t which = 0; which < ACTS; which++) {
        for (int and_on = 0; and_on < 2; and_on++) {
            uint64_t at = 1;
            json_is_spared = and_on != 0;
            while (!act_once(&learned, which, at, and_on != 0)) {
                at++;
            }
            count += at - 1;
        }
    }
    json_is_spared = false;
    table_close(&learned.talk.table);
    assert_int_equal(live, before);
    assert_true(count > 200);
    print_message("%llu requests without memory\n", (unsigned long long)count);
}

/* ---- What a refused request takes ---- */

enum { REFUSED_BYTES_MAX = 64 << 10 };

/* Sends bytes that are no request, to a dispatch without spare memory. */
static void send_refused(Learned *learned, const uint8_t *bytes, size_t size)
{
    forget_spares(learned);
    size_t before = live_bytes;
    peak_bytes = before;
    talk_send(&learned->talk, DIRECTOR, bytes, size);
    assert_false(talk_is_good(&learned->talk));
    assert_true(peak_bytes - before <= REFUSED_BYTES_MAX + size);
}

static void test_a_refused_request_takes_little_memory(void **unused)
{
    (void)unused;
    static const uint8_t heads[] = {0xc6, 0xc9, 0xdb, 0xdd, 0xdf};
    static Learned learned;
    static uint8_t bytes[TALK_MESSAGE_MAX];
    table_open(&learned.talk.table, NULL);
    do_hello(&learned);
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        size_t size = sample_message((Operation)op, 1000 + op, bytes);
        for (size_t cut = 0; cut < size; cut++) {
            send_refused(&learned, bytes, cut);
        }
    }
    for (uint32_t i = 0; i < sizeof heads; i++) {
        memset(bytes, 0xff, 5);
        bytes[0] = heads[i];
        send_refused(&learned, bytes, 5);
    }
    memset(bytes, 0x91, sizeof bytes);
    send_refused(&learned, bytes, sizeof bytes);
    table_close(&learned.talk.table);
}

int main(void)
{
    json_set_alloc_funcs(json_malloc, __wrap_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_start_needs_memory_and_says_so),
        cmocka_unit_test(test_reading_a_game_needs_memory_and_says_so),
        cmocka_unit_test(test_requests_without_memory_are_refused),
        cmocka_unit_test(test_a_refused_request_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
