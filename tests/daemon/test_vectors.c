/* A whole session, bytes in and bytes out, pinned in tests/vectors/session.jsonl: what a client in
 * another language can be tested against without a daemon. TRAINYARD_GOLDEN=write rewrites it.
 */
#include "tests/daemon/talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { DIRECTOR = 1, PLAYER = 2, VECTORS_MAX = 1 << 20 };

static const char path[] = TY_SOURCE_DIR "/tests/vectors/session.jsonl";

static Talk talk;
static char vectors[VECTORS_MAX];
static size_t vectors_size;

static void add_hex(const char *key, const uint8_t *bytes, size_t size)
{
    vectors_size += (size_t)sprintf(vectors + vectors_size, ", \"%s\": \"", key);
    for (size_t i = 0; i < size; i++) {
        vectors_size += (size_t)sprintf(vectors + vectors_size, "%02x", bytes[i]);
    }
    vectors_size += (size_t)sprintf(vectors + vectors_size, "\"");
}

/* Sends bytes and notes them with the one reply that comes. What hello tells of games, agents and
 * limits changes with every version: its reply is left out. */
static void exchange(uint64_t peer, const uint8_t *bytes, size_t size)
{
    WireItem session;
    uint32_t sent = talk.table.sent;
    talk_send(&talk, peer, bytes, size);
    assert_int_equal(talk.table.sent, sent + 1);
    const Buffer *reply = talk_reply(&talk);
    assert_true(vectors_size + 2 * (size + reply->size) + 100 < VECTORS_MAX);
    vectors_size += (size_t)sprintf(vectors + vectors_size, "{\"client\": %u", (unsigned)peer);
    add_hex("in", bytes, size);
    if (!talk_get(&talk, "session", &session)) {
        add_hex("out", reply->data, reply->size);
    }
    vectors_size += (size_t)sprintf(vectors + vectors_size, "}\n");
}

/* Sends the request that was begun; the reply must be as good as said. */
static void ask(uint64_t peer, bool good)
{
    assert_true(message_end(&talk.writer));
    exchange(peer, talk.message, talk.writer.size);
    if (talk_is_good(&talk) != good) {
        const Buffer *reply = talk_reply(&talk);
        fwrite(reply->data, 1, reply->size, stderr);
        fail();
    }
}

static void begin_in_pool(const char *op)
{
    talk_begin(&talk, op);
    talk_uint(&talk, "pool", 1);
}

/* ---- The session ---- */

static char invite[64];

static void say_hello(void)
{
    for (uint64_t peer = DIRECTOR; peer <= PLAYER; peer++) {
        talk_begin(&talk, "hello");
        talk_uint(&talk, "protocol", PROTOCOL_VERSION);
        talk_text(&talk, "name", peer == DIRECTOR ? "director" : "player");
        ask(peer, true);
    }
    talk_begin(&talk, "ping");
    ask(DIRECTOR, true);
}

static void open_and_join(void)
{
    WireItem item;
    talk_begin(&talk, "open");
    talk_text(&talk, "ruleset", "convoi:board=tiny");
    talk_uint(&talk, "slots", 2);
    talk_uint(&talk, "seed", 7);
    message_key(&talk.writer, "seats");
    put_list(&talk.writer, 2);
    put_text(&talk.writer, "me");
    put_text(&talk.writer, "open");
    ask(DIRECTOR, true);
    assert_true(talk_get(&talk, "invite", &item) && item.size < sizeof invite);
    memcpy(invite, item.bytes, item.size);
    begin_in_pool("join");
    talk_text(&talk, "invite", invite);
    ask(PLAYER, true);
}

/* Receives what is ready for the peer and answers with the first legal action of each row. */
static void take_a_turn(uint64_t peer)
{
    WireItem slots;
    WireItem mask;
    int32_t actions[2] = {0};
    uint32_t which[2];
    begin_in_pool("recv");
    talk_uint(&talk, "timeout_ms", 0);
    talk_uint(&talk, "min_rows", 0);
    ask(peer, true);
    assert_true(talk_get(&talk, "slots", &slots) && talk_get(&talk, "mask", &mask));
    uint32_t rows = slots.size / 4;
    for (uint32_t row = 0; row < rows; row++) {
        const uint8_t *begin = mask.bytes + (size_t)row * (mask.size / rows);
        const uint8_t *legal = memchr(begin, 1, mask.size / rows);
        actions[row] = legal != NULL ? (int32_t)(legal - begin) : 0;
    }
    memcpy(which, slots.bytes, slots.size);
    begin_in_pool("send");
    talk_bytes(&talk, "slots", which, (size_t)rows * 4);
    talk_bytes(&talk, "actions", actions, (size_t)rows * 4);
    ask(peer, true);
}

static void look_around(void)
{
    static const char *const looks[] = {"observe", "legal", "state", "text"};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        begin_in_pool(looks[i]);
        talk_uint(&talk, "slot", 1);
        ask(DIRECTOR, true);
    }
}

static void keep_and_restore(void)
{
    const uint32_t slots[2] = {0, 1};
    const uint64_t keys[2] = {5, 6};
    uint32_t snapshot = 0;
    WireItem item;
    begin_in_pool("snapshot");
    talk_bytes(&talk, "slots", slots, 4);
    ask(DIRECTOR, true);
    assert_true(talk_get(&talk, "snapshots", &item) && item.size == sizeof snapshot);
    memcpy(&snapshot, item.bytes, sizeof snapshot);
    begin_in_pool("fork");
    talk_uint(&talk, "slot", 0);
    talk_bytes(&talk, "slots", slots + 1, 4);
    talk_bytes(&talk, "keys", keys, 8);
    ask(DIRECTOR, true);
    begin_in_pool("resample");
    talk_bytes(&talk, "slots", slots + 1, 4);
    talk_bytes(&talk, "keys", keys + 1, 8);
    ask(DIRECTOR, true);
    begin_in_pool("restore");
    talk_bytes(&talk, "snapshots", &snapshot, 4);
    talk_bytes(&talk, "slots", slots, 8);
    ask(DIRECTOR, true);
    begin_in_pool("rollout");
    talk_uint(&talk, "slot", 0);
    talk_text(&talk, "agent", "random");
    talk_uint(&talk, "count", 2);
    talk_bytes(&talk, "keys", keys, 16);
    ask(DIRECTOR, true);
    begin_in_pool("drop");
    ask(DIRECTOR, true);
}

static void step_alone(void)
{
    const uint64_t seeds[2] = {100, 200};
    const int32_t actions[2] = {-1, 1 << 20};
    begin_in_pool("leave");
    ask(PLAYER, true);
    begin_in_pool("reset");
    talk_bytes(&talk, "seeds", seeds, 16);
    ask(DIRECTOR, true);
    begin_in_pool("step"); /* both rows are refused, and say so */
    talk_bytes(&talk, "actions", actions, 8);
    ask(DIRECTOR, true);
}

static void be_refused(void)
{
    static const uint8_t nonsense[] = {0xc1, 0x00};
    talk_begin(&talk, "dance");
    ask(DIRECTOR, false);
    talk_begin(&talk, "step");
    ask(DIRECTOR, false);
    begin_in_pool("step");
    talk_bytes(&talk, "actions", "", 0);
    ask(PLAYER, false);
    begin_in_pool("replay_get");
    talk_uint(&talk, "slot", 0);
    ask(DIRECTOR, false);
    talk_begin(&talk, "replay_verify");
    talk_bytes(&talk, "content", "no log", 6);
    ask(DIRECTOR, false);
    exchange(DIRECTOR, nonsense, sizeof nonsense);
    talk_begin(&talk, "ping");
    ask(DIRECTOR, true);
    exchange(DIRECTOR, talk.message, talk.writer.size); /* the same again: the same reply */
    begin_in_pool("close");
    ask(DIRECTOR, true);
}

static void test_a_session_is_pinned(void **unused)
{
    (void)unused;
    static char pinned[VECTORS_MAX];
    const char *mode = getenv("TRAINYARD_GOLDEN");
    bool write = mode != NULL && strcmp(mode, "write") == 0;
    table_open(&talk.table, NULL);
    say_hello();
    open_and_join();
    for (uint32_t i = 0; i < 3; i++) {
        take_a_turn(DIRECTOR);
        take_a_turn(PLAYER);
    }
    look_around();
    keep_and_restore();
    step_alone();
    be_refused();
    table_close(&talk.table);
    FILE *file = fopen(path, write ? "wb" : "rb");
    assert_non_null(file);
    if (write) {
        assert_int_equal(fwrite(vectors, 1, vectors_size, file), vectors_size);
    } else {
        size_t size = fread(pinned, 1, sizeof pinned, file);
        assert_int_equal(size, vectors_size);
        assert_memory_equal(pinned, vectors, size);
    }
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_session_is_pinned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
