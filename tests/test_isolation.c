/* What a player's client cannot know it cannot see: two episodes that differ only in what is hidden
 * from a seat answer every question of its owner alike, byte for byte, and its shared memory holds
 * the same bytes. TRAINYARD_LONG=1 looks at a hundred times as many. */
#include "budget.h"
#include "daemon/dispatch_internal.h"
#include "daemon/host_internal.h"
#include "talk.h"

#include "core/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { DIRECTOR = 5, PLAYER = 6, SEAT = 1, ANSWERS_MAX = 1 << 18 };

typedef struct Watch {
    Talk talk;
    uint64_t pool;
    uint32_t players;
    uint64_t random;
    uint32_t snapshot;
    size_t size[2]; /* of what the player was answered for each of a pair */
    uint8_t answers[2][ANSWERS_MAX];
    uint8_t others[2][TY_ROW_MAX]; /* what the other seat sees */
} Watch;

static const uint8_t first_slot[4] = {0};

static uint64_t draw(Watch *watch)
{
    watch->random = hash_mix(watch->random + 0x9E3779B97F4A7C15u);
    return watch->random;
}

static void ask(Watch *watch, const char *op)
{
    table_forget(&watch->talk.table);
    talk_begin(&watch->talk, op);
    talk_uint(&watch->talk, "pool", watch->pool);
}

static void ask_slot(Watch *watch, uint64_t peer, const char *op)
{
    ask(watch, op);
    talk_uint(&watch->talk, "slot", 0);
    talk_say(&watch->talk, peer);
}

/* ---- What the player hears ---- */

/* Adds the last reply, from behind its number on. */
static void answer_keep(Watch *watch, uint32_t which)
{
    WireItem ok;
    const Buffer *reply = talk_reply(&watch->talk);
    assert_true(talk_get(&watch->talk, "ok", &ok));
    size_t size = (size_t)(reply->data + reply->size - ok.bytes);
    assert_true(watch->size[which] + size <= ANSWERS_MAX);
    memcpy(watch->answers[which] + watch->size[which], ok.bytes, size);
    watch->size[which] += size;
}

/* The memory that a client of shared memory maps. */
static void rows_keep(Watch *watch, uint32_t which)
{
    const Pool *pool = pool_find(watch->talk.table.dispatch, watch->pool);
    const TySlab *slab = ty_pool_slab(pool->host->pool, 1);
    assert_true(watch->size[which] + slab->rows_size <= ANSWERS_MAX);
    memcpy(watch->answers[which] + watch->size[which], slab->rows, slab->rows_size);
    watch->size[which] += slab->rows_size;
}

/* Everything that the player may ask, and everything that it may not. */
static void player_asks(Watch *watch, uint32_t which)
{
    static const char *const looks[] = {"observe", "legal", "text", "state"};
    static const char *const directors[] = {"snapshot", "export", "drop", "reset"};
    watch->size[which] = 0;
    for (uint32_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        ask_slot(watch, PLAYER, looks[i]);
        answer_keep(watch, which);
    }
    for (int seat = 0; seat < 2; seat++) {
        ask(watch, "observe");
        talk_uint(&watch->talk, "slot", 0);
        talk_uint(&watch->talk, "seat", (uint64_t)seat);
        talk_say(&watch->talk, PLAYER);
        assert_true(talk_is_good(&watch->talk) == (seat == SEAT));
        answer_keep(watch, which);
    }
    for (uint32_t i = 0; i < sizeof directors / sizeof directors[0]; i++) {
        ask(watch, directors[i]);
        if (i == 0) {
            talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
        } else if (i == 1) {
            talk_uint(&watch->talk, "snapshot", watch->snapshot);
        }
        talk_say(&watch->talk, PLAYER);
        assert_false(talk_is_good(&watch->talk));
        answer_keep(watch, which);
    }
    rows_keep(watch, which);
    ask(watch, "recv");
    talk_uint(&watch->talk, "min_rows", 0);
    talk_say(&watch->talk, PLAYER);
    answer_keep(watch, which);
}

/* ---- What the director does ---- */

/* Puts the saved episode into the slot: as it was, or with all anew that the seat cannot know. */
static void restore(Watch *watch, bool anew)
{
    uint64_t key = draw(watch);
    ask(watch, "restore");
    talk_bytes(&watch->talk, "snapshots", &watch->snapshot, sizeof watch->snapshot);
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    if (anew) {
        talk_bytes(&watch->talk, "keys", &key, sizeof key);
        talk_uint(&watch->talk, "seat", SEAT);
    }
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_is_good(&watch->talk));
}

/* What another seat sees: the director may look through it. */
static void other_keep(Watch *watch, uint32_t which)
{
    WireItem row;
    ask(watch, "observe");
    talk_uint(&watch->talk, "slot", 0);
    talk_uint(&watch->talk, "seat", 0);
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_get(&watch->talk, "obs", &row) && row.size <= TY_ROW_MAX);
    memcpy(watch->others[which], row.bytes, row.size);
}

/* Compares a pair. True if the other seat sees that they differ. */
static bool pair_compare(Watch *watch)
{
    WireItem saved;
    ask(watch, "snapshot");
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_get(&watch->talk, "snapshots", &saved));
    memcpy(&watch->snapshot, saved.bytes, sizeof watch->snapshot);
    for (uint32_t which = 0; which < 2; which++) {
        restore(watch, which == 1);
        player_asks(watch, which);
        other_keep(watch, which);
    }
    assert_int_equal(watch->size[0], watch->size[1]);
    assert_memory_equal(watch->answers[0], watch->answers[1], watch->size[0]);
    restore(watch, false);
    ask(watch, "drop");
    talk_say(&watch->talk, DIRECTOR);
    return memcmp(watch->others[0], watch->others[1], TY_ROW_MAX) != 0;
}

/* Whoever is to act does something; an episode that is over begins anew. */
static void play_on(Watch *watch)
{
    WireItem item;
    ask_slot(watch, DIRECTOR, "legal");
    assert_true(talk_get(&watch->talk, "seat", &item));
    int64_t acting = (int64_t)item.number;
    if (acting < 0) {
        ask(watch, "reset");
        talk_say(&watch->talk, DIRECTOR);
        return;
    }
    assert_true(talk_get(&watch->talk, "numbers", &item));
    int32_t action = 0;
    memcpy(&action, item.bytes + draw(watch) % (item.size / 4) * 4, sizeof action);
    uint64_t peer = acting == SEAT ? PLAYER : DIRECTOR;
    ask(watch, "send");
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    talk_bytes(&watch->talk, "actions", &action, sizeof action);
    talk_say(&watch->talk, peer);
    assert_true(talk_is_good(&watch->talk));
}

static void watch_open(Watch *watch, const char *ruleset)
{
    WireItem item;
    *watch = (Watch){.random = 7};
    table_open(&watch->talk.table, NULL);
    talk_hello(&watch->talk, DIRECTOR);
    talk_hello(&watch->talk, PLAYER);
    talk_begin(&watch->talk, "open");
    talk_text(&watch->talk, "ruleset", ruleset);
    message_key(&watch->talk.writer, "seats");
    put_list(&watch->talk.writer, 2);
    put_text(&watch->talk.writer, "me");
    put_text(&watch->talk.writer, "open");
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_get(&watch->talk, "pool", &item));
    watch->pool = item.number;
    assert_true(talk_get(&watch->talk, "invite", &item));
    talk_begin(&watch->talk, "join");
    talk_uint(&watch->talk, "pool", watch->pool);
    message_key(&watch->talk.writer, "invite");
    put_text_run(&watch->talk.writer, (const char *)item.bytes, item.size);
    talk_say(&watch->talk, PLAYER);
    assert_true(talk_is_good(&watch->talk));
}

static void pairs_compare(const char *ruleset)
{
    static Watch watch;
    uint32_t pairs = budget(2500, 250000);
    uint32_t different = 0;
    watch_open(&watch, ruleset);
    for (uint32_t i = 0; i < pairs; i++) {
        different += pair_compare(&watch);
        play_on(&watch);
    }
    print_message("%s: %u pairs, %u of them different for the other seat\n", ruleset, pairs,
                  different);
    assert_true(different > pairs / 4);
    table_close(&watch.talk.table);
}

static void test_nordic_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("nordic:players=2");
}

static void test_express_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("express:players=2");
}

static void test_chicago_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("chicago:players=2");
}

static void test_convoi_with_hidden_hands_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("convoi:players=2,hands=hidden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nordic_keeps_its_secrets),
        cmocka_unit_test(test_express_keeps_its_secrets),
        cmocka_unit_test(test_chicago_keeps_its_secrets),
        cmocka_unit_test(test_convoi_with_hidden_hands_keeps_its_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
