/* Requests of a director that do not fit its pool: each is refused with a sentence that says what
 * is allowed, and the pool is as it was. */
#define _GNU_SOURCE
#include "tests/daemon/talk.h"

#include "tests/replay/log_table.h"

enum { PEER = 1, GUEST = 2 };

/* A field of a request: a number, or bytes. */
typedef struct Given {
    const char *key;
    const void *bytes; /* NULL: a number */
    uint64_t number;   /* or how many bytes there are */
} Given;

#define NUMBER(KEY, VALUE) {KEY, NULL, VALUE}
#define BYTES(KEY, TEXT) {KEY, TEXT, sizeof TEXT - 1}

typedef struct Wrong {
    const char *op;
    Given given[4];
    const char *word;
} Wrong;

static Talk talk;

static void ask(const char *op, const Given given[4])
{
    table_forget(&talk.table);
    talk_begin(&talk, op);
    for (uint32_t i = 0; i < 4 && given[i].key != NULL; i++) {
        if (given[i].bytes != NULL) {
            talk_bytes(&talk, given[i].key, given[i].bytes, given[i].number);
        } else {
            talk_uint(&talk, given[i].key, given[i].number);
        }
    }
}

/* The message of the refusal that came last. */
static void assert_refused(const char *word)
{
    WireItem error;
    WireItem text;
    const Buffer *reply = talk_reply(&talk);
    assert_false(talk_is_good(&talk));
    assert_true(talk_get(&talk, "error", &error));
    assert_true(wire_get(error.bytes - 1, reply->data + reply->size, "message", &text));
    if (memmem(text.bytes, text.size, word, strlen(word)) == NULL) {
        fail_msg("'%s' is not in: %.*s", word, (int)text.size, (const char *)text.bytes);
    }
}

static uint64_t answered(const char *key)
{
    WireItem item;
    assert_true(talk_is_good(&talk));
    assert_true(talk_get(&talk, key, &item));
    return item.number;
}

/* A pool of four slots in two groups. */
static uint32_t pool_begin(const char *ruleset, const char *const *seats, uint32_t count)
{
    table_open(&talk.table, NULL);
    talk_hello(&talk, PEER);
    talk_begin(&talk, "open");
    talk_text(&talk, "ruleset", ruleset);
    talk_uint(&talk, "slots", 4);
    talk_uint(&talk, "groups", 2);
    message_key(&talk.writer, "seats");
    put_list(&talk.writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(&talk.writer, seats[i]);
    }
    talk_say(&talk, PEER);
    return talk_is_good(&talk) ? (uint32_t)answered("pool") : 0;
}

static const char *const mine[] = {"me", "me"};

static void assert_wrong(const Wrong *wrong, uint32_t count, uint32_t pool)
{
    for (uint32_t i = 0; i < count; i++) {
        ask(wrong[i].op, wrong[i].given);
        talk_uint(&talk, "pool", pool);
        talk_say(&talk, PEER);
        assert_refused(wrong[i].word);
    }
}

/* All that the pool holds, in one number. */
static uint64_t pool_hash(uint32_t pool)
{
    uint64_t hash = 0;
    for (uint32_t slot = 0; slot < 4; slot++) {
        const Given given[4] = {NUMBER("pool", pool), NUMBER("slot", slot)};
        WireItem state;
        ask("state", given);
        talk_say(&talk, PEER);
        assert_true(talk_get(&talk, "state", &state));
        hash = hash_bytes(hash, state.bytes, state.size);
    }
    return hash;
}

static void test_steps_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    const uint32_t pool = pool_begin("convoi:board=tiny", mine, 2);
    static const Wrong wrong[] = {
        {"step", {BYTES("actions", "1234"), BYTES("slots", "12345")}, "has 5 bytes"},
        {"step",
         {BYTES("actions", ""), BYTES("slots", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
         "has 20 bytes"},
        {"step", {BYTES("actions", "12"), BYTES("slots", "\0\0\0\0")}, "actions"},
        {"step", {BYTES("actions", "1234"), BYTES("slots", "\3\0\0\0")}, "group 0 has slots 0..1"},
        {"step",
         {BYTES("actions", "1234"), BYTES("slots", "\0\0\0\0"), NUMBER("group", 1)},
         "group 1 has slots 2..3"},
        {"send", {BYTES("actions", "1234"), BYTES("slots", "12345")}, "has 5 bytes"},
        {"send", {BYTES("actions", "12"), BYTES("slots", "\0\0\0\0")}, "actions"},
        {"reset", {BYTES("mask", "\1\1\1")}, "mask: has 3 bytes; wanted are 4"},
        {"reset", {BYTES("seeds", "12345678")}, "seeds: has 8 bytes; wanted are 32"},
        {"reset", {BYTES("episodes", "12345678")}, "episodes: has 8 bytes; wanted are 32"},
    };
    uint64_t before = pool_hash(pool);
    assert_wrong(wrong, sizeof wrong / sizeof wrong[0], pool);
    assert_true(pool_hash(pool) == before);
    table_close(&talk.table);
}

static void test_snapshots_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    const uint32_t pool = pool_begin("convoi:board=tiny", mine, 2);
#define SLOT_0 BYTES("slots", "\0\0\0\0")
#define BAD_SLOTS BYTES("slots", "\0\0\0")
#define KEY BYTES("keys", "12345678")
#define BAD_KEYS BYTES("keys", "1234567890123456")
    static const Wrong wrong[] = {
        {"snapshot", {BAD_SLOTS}, "slots"},
        {"restore", {BAD_SLOTS, BYTES("snapshots", "\1\0\0\0")}, "slots"},
        {"restore", {SLOT_0, BYTES("snapshots", "\1\0\0\0"), BAD_KEYS}, "keys"},
        {"restore", {SLOT_0, BYTES("snapshots", "\1\0\0\0"), NUMBER("seat", 4)}, "seat=4"},
        {"restore", {SLOT_0, BYTES("snapshots", "\1\0\0\0\1")}, "has 5 bytes"},
        {"restore", {SLOT_0, BYTES("snapshots", "\0\0\0\0")}, "no such snapshot"},
        {"restore", {SLOT_0, BYTES("snapshots", "\7\0\0\0")}, "no such snapshot"},
        {"restore", {SLOT_0, BYTES("snapshots", "\1\0\0\0"), NUMBER("seat", 1)}, "give a key"},
        {"fork", {NUMBER("slot", 0), SLOT_0, NUMBER("seat", 0)}, "seat=0: without keys"},
        {"fork", {NUMBER("slot", 4), SLOT_0}, "slot=4"},
        {"fork", {NUMBER("slot", 0), BAD_SLOTS}, "slots"},
        {"fork", {NUMBER("slot", 0), SLOT_0, BAD_KEYS}, "keys"},
        {"fork", {NUMBER("slot", 0), SLOT_0, NUMBER("seat", 4)}, "seat=4"},
        {"resample", {BAD_SLOTS, KEY}, "slots"},
        {"resample", {SLOT_0, BAD_KEYS}, "keys"},
        {"resample", {SLOT_0, KEY, NUMBER("seat", 4)}, "seat=4"},
        {"export", {NUMBER("snapshot", 9)}, "snapshot=9"},
        {"import", {BYTES("data", "too short")}, "data: has 9 bytes"},
        {"replay_get", {NUMBER("slot", 0)}, "--log"},
    };
    uint64_t before = pool_hash(pool);
    assert_wrong(wrong, sizeof wrong / sizeof wrong[0], pool);
    assert_true(pool_hash(pool) == before);
    table_close(&talk.table);
}

static void rollout_ask(uint32_t pool, uint64_t slot, uint64_t seat, const char *keys)
{
    const Given given[4] = {NUMBER("pool", pool), NUMBER("slot", slot), NUMBER("seat", seat)};
    ask("rollout", given);
    talk_text(&talk, "agent", "random");
    if (keys != NULL) {
        talk_bytes(&talk, "keys", keys, strlen(keys));
    }
    talk_say(&talk, PEER);
}

static void test_rollouts_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    const uint32_t pool = pool_begin("convoi:board=tiny", mine, 2);
    rollout_ask(pool, 4, 0, NULL);
    assert_refused("slot=4");
    rollout_ask(pool, 0, 4, NULL);
    assert_refused("seat=4");
    rollout_ask(pool, 0, 0, "1234567890123456");
    assert_refused("keys: has 16 bytes");
    rollout_ask(pool, 0, 0, "12345678");
    assert_true(talk_is_good(&talk));
    table_close(&talk.table);
}

static void test_dropped_snapshots_are_gone(void **unused)
{
    (void)unused;
    const uint32_t pool = pool_begin("convoi:board=tiny", mine, 2);
    uint8_t ids[3 * 4] = {0};
    for (uint32_t i = 0; i < 70; i++) { /* more than there is room for at first */
        const Given one[4] = {NUMBER("pool", pool), BYTES("slots", "\0\0\0\0")};
        WireItem id;
        ask("snapshot", one);
        talk_say(&talk, PEER);
        assert_true(talk_is_good(&talk) && talk_get(&talk, "snapshots", &id));
        memcpy(ids + i % 2 * 4, id.bytes, 4);
    }
    const Given two[4] = {NUMBER("pool", pool), {"snapshots", ids, sizeof ids}};
    ask("drop", two);
    talk_say(&talk, PEER);
    assert_int_equal(answered("dropped"), 2);
    const Given all[4] = {NUMBER("pool", pool)};
    ask("drop", all);
    talk_say(&talk, PEER);
    assert_int_equal(answered("dropped"), 68);
    table_close(&talk.table);
}

static void test_seats_that_a_game_does_not_have_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *ruleset;
        uint32_t count;
        const char *seats[4];
        const char *word; /* NULL: it is good */
    } cases[] = {
        {"convoi:board=tiny", 1, {"me"}, "seats: has 1 entries"},
        {"convoi:board=tiny", 3, {"me", "me", "me"}, "seats: has 3 entries"},
        {"convoi:board=tiny",
         2,
         {"nobody", "me"},
         "there are random, expert, search, net; also me, open"},
        {"convoi:board=tiny",
         2,
         {"me", "chance"},
         "there are random, expert, search, net; also me, open"},
        {"chicago:chance=seat", 3, {"me", "me", "chance"}, NULL},
        {"chicago:chance=seat", 3, {"me", "me", "me"}, NULL},
        {"chicago:chance=seat", 3, {"me", "me", "nobody"}, "there are"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t pool = pool_begin(cases[i].ruleset, cases[i].seats, cases[i].count);
        assert_int_equal(pool != 0, cases[i].word == NULL);
        if (cases[i].word != NULL) {
            assert_refused(cases[i].word);
        }
        table_close(&talk.table);
    }
}

static void test_a_director_without_seats_looks_on(void **unused)
{
    (void)unused;
    static const char *const others[] = {"open", "random"};
    const uint32_t pool = pool_begin("convoi:board=tiny", others, 2);
    static const Wrong wrong[] = {
        {"step", {BYTES("actions", "12345678")}, "no seat"},
        {"send", {BYTES("actions", ""), BYTES("slots", "")}, "no seat"},
    };
    assert_wrong(wrong, 2, pool);
    const Given reset[4] = {NUMBER("pool", pool)};
    ask("reset", reset);
    talk_say(&talk, PEER);
    assert_true(talk_is_good(&talk));
    const Given copy[4] = {NUMBER("pool", pool), NUMBER("slot", 0), BYTES("slots", "\1\0\0\0")};
    ask("fork", copy);
    talk_say(&talk, PEER);
    assert_true(talk_is_good(&talk));
    const Given full[4] = {NUMBER("pool", pool), NUMBER("slot", 0), NUMBER("seat", 0)};
    WireItem item;
    ask("observe", full);
    message_key(&talk.writer, "full");
    put_flag(&talk.writer, true);
    talk_say(&talk, PEER);
    assert_true(talk_is_good(&talk) && talk_get(&talk, "full", &item));
    table_close(&talk.table);
}

static void test_more_pools_than_the_daemon_takes_are_refused(void **unused)
{
    (void)unused;
    Limits limits = limits_standard();
    limits.pools = 1;
    table_open(&talk.table, &limits);
    talk_hello(&talk, PEER);
    for (uint32_t i = 0; i < 2; i++) {
        talk_begin(&talk, "open");
        talk_text(&talk, "ruleset", "convoi:board=tiny");
        talk_say(&talk, PEER);
        assert_int_equal(talk_is_good(&talk), i == 0);
    }
    assert_refused("pools=1 pools are open already");
    table_close(&talk.table);
}

/* ---- Guests ---- */

static void join(uint32_t pool, const char *invite, const void *seats, size_t count)
{
    const Given given[4] = {NUMBER("pool", pool)};
    ask("join", given);
    talk_text(&talk, "invite", invite);
    if (count > 0) {
        talk_bytes(&talk, "seats", seats, count);
    }
    talk_say(&talk, GUEST);
}

static void test_seats_that_are_not_open_are_refused(void **unused)
{
    (void)unused;
    static const char *const one_open[] = {"me", "open"};
    WireItem item;
    char invite[WIRE_TEXT_MAX];
    const uint32_t pool = pool_begin("convoi:board=tiny", one_open, 2);
    assert_true(talk_get(&talk, "invite", &item));
    snprintf(invite, sizeof invite, "%.*s", (int)item.size, (const char *)item.bytes);
    talk_hello(&talk, GUEST);
    join(pool, invite, "\0", 1);
    assert_refused("one of them is not open");
    join(pool, invite, "\x63", 1);
    assert_refused("one of them is not open");
    join(pool + 1, invite, "\1", 1);
    assert_refused("no pool");
    join(pool, invite, "\1", 1);
    assert_true(talk_is_good(&talk));
    talk_hello(&talk, GUEST + 1);
    const Given given[4] = {NUMBER("pool", pool)};
    ask("join", given);
    talk_text(&talk, "invite", invite);
    talk_say(&talk, GUEST + 1);
    assert_refused("no seat is open");
    table_close(&talk.table);
}

/* Of two open seats that one member would have, a guest takes one: the other stays open. */
static void test_a_seat_that_is_not_asked_for_stays_open(void **unused)
{
    (void)unused;
    static const char *const two_open[] = {"open", "open"};
    static const char *const words[] = {"\1", "\0"};
    WireItem item;
    char invite[WIRE_TEXT_MAX];
    const uint32_t pool = pool_begin("convoi:board=tiny", two_open, 2);
    assert_true(talk_get(&talk, "invite", &item));
    snprintf(invite, sizeof invite, "%.*s", (int)item.size, (const char *)item.bytes);
    for (uint32_t i = 0; i < 2; i++) {
        talk_hello(&talk, GUEST + i);
        const Given given[4] = {NUMBER("pool", pool)};
        ask("join", given);
        talk_text(&talk, "invite", invite);
        talk_bytes(&talk, "seats", words[i], 1);
        talk_say(&talk, GUEST + i);
        assert_true(talk_is_good(&talk) && talk_get(&talk, "own_seats", &item));
        assert_int_equal(item.size, 1);
        assert_int_equal(item.bytes[0], 1 - i);
    }
    table_close(&talk.table);
}

/* ---- Logs ---- */

static void verify(const Bytes *bytes)
{
    uint8_t *message = malloc(bytes->size + 64);
    Writer writer;
    table_forget(&talk.table);
    message_begin(&writer, message, bytes->size + 64);
    message_key(&writer, "op");
    put_text(&writer, "replay_verify");
    message_key(&writer, "id");
    put_uint(&writer, ++talk.id);
    message_key(&writer, "content");
    put_bytes(&writer, bytes->data, bytes->size);
    assert_true(message_end(&writer));
    table_receive(&talk.table, PEER, message, writer.size, false);
    free(message);
}

/* What was found first: an episode, the decision at which it does not agree, and why. */
static void assert_found(uint64_t agreed, int64_t episode, int64_t step, const char *word)
{
    WireItem item;
    assert_int_equal(answered("episodes"), agreed);
    assert_true(talk_get(&talk, "agrees", &item) && item.kind == WIRE_FLAG);
    assert_int_equal(item.number, word[0] == '\0');
    assert_true(talk_get(&talk, "episode", &item) && (int64_t)item.number == episode);
    assert_true(talk_get(&talk, "step", &item) && (int64_t)item.number == step);
    assert_true(talk_get(&talk, "why", &item) && (item.size == 0) == (word[0] == '\0'));
    assert_true(item.size == 0 || memmem(item.bytes, item.size, word, strlen(word)) != NULL);
}

static void test_the_first_episode_that_does_not_agree_is_reported(void **unused)
{
    (void)unused;
    static LogEpisode episodes[8];
    setup(NULL);
    Bytes bytes = small_log();
    uint32_t count = episodes_read(&bytes, episodes, 8, true);
    table_open(&talk.table, NULL);
    talk_hello(&talk, PEER);
    verify(&bytes);
    assert_found(count, -1, -1, "");
    bytes.size -= 3;
    verify(&bytes);
    assert_found(count - 1, -1, -1, "could not be read");
    bytes.size += 3;
    for (uint32_t i = 1; i <= 2; i++) { /* another seed: another beginning */
        bytes.data[episodes[i].offset + LOG_RECORD_HEAD + 4] ^= 1;
        bytes_seal(&bytes, episodes[i].offset);
    }
    verify(&bytes);
    assert_found(count - 2, 1, 0, "seed");
    /* Another action in the first: at its step. */
    bytes.data[(size_t)(episodes[0].body - bytes.data) + log_step_offset(4)] ^= 1;
    bytes_seal(&bytes, episodes[0].offset);
    verify(&bytes);
    assert_found(count - 3, 0, 5, "5");
    table_close(&talk.table);
    free(bytes.data);
    teardown(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_that_do_not_fit_are_refused),
        cmocka_unit_test(test_snapshots_that_do_not_fit_are_refused),
        cmocka_unit_test(test_rollouts_that_do_not_fit_are_refused),
        cmocka_unit_test(test_dropped_snapshots_are_gone),
        cmocka_unit_test(test_seats_that_a_game_does_not_have_are_refused),
        cmocka_unit_test(test_a_director_without_seats_looks_on),
        cmocka_unit_test(test_more_pools_than_the_daemon_takes_are_refused),
        cmocka_unit_test(test_seats_that_are_not_open_are_refused),
        cmocka_unit_test(test_a_seat_that_is_not_asked_for_stays_open),
        cmocka_unit_test(test_the_first_episode_that_does_not_agree_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
