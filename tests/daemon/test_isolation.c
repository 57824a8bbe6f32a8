/* What a player's client cannot know it cannot see: two episodes that differ only in what is hidden
 * from a seat answer every question of its owner alike, byte for byte, and its shared memory holds
 * the same bytes; also when the others have played on until the seat is asked. While they do,
 * nothing changes at all. Spectators, who have the eyes of the seat or of everybody, see the same
 * in both. TRAINYARD_LONG=1 looks at a hundred times as many. */
#include "daemon/dispatch_internal.h"
#include "daemon/worker_internal.h"
#include "tests/daemon/talk.h"
#include "tests/support/budget.h"

#include "core/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { DIRECTOR = 5, PLAYER = 6, SPECTATOR = 7, SEAT = 1, ANSWERS_MAX = 1 << 19, COURSE_MAX = 16 };

/* What the others decide until the player is asked. */
typedef struct Course {
    uint32_t count;
    int32_t actions[COURSE_MAX];
} Course;

typedef struct Watch {
    Talk talk;
    uint64_t pool;
    char token[65]; /* for spectators */
    uint32_t players;
    uint64_t random;
    bool draws; /* the player asks for drawings, too, which take much longer than the rest */
    uint32_t snapshot;
    size_t size[2]; /* of what the player was answered for each of a pair */
    uint8_t answers[2][ANSWERS_MAX];
    uint8_t others[2][TY_ROW_MAX]; /* what the other seat sees, */
    uint64_t public[2];            /* and what happened before the eyes of the player: a hash */
} Watch;

static const uint8_t first_slot[4] = {0};

static uint64_t draw_take(Watch *watch)
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

/* The rows that wait and were not given yet. */
static void recv_now(Watch *watch, uint64_t peer)
{
    ask(watch, "recv");
    talk_uint(&watch->talk, "min_rows", 0);
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
    const Room *room = room_find(watch->talk.table.dispatch, watch->pool);
    const TySlab *slab = ty_pool_slab(room->worker->pool, 1);
    assert_true(watch->size[which] + slab->rows_size <= ANSWERS_MAX);
    memcpy(watch->answers[which] + watch->size[which], slab->rows, slab->rows_size);
    watch->size[which] += slab->rows_size;
}

/* The drawing of the spectator, who may ask for nothing else. */
static void spectator_asks(Watch *watch, uint32_t which)
{
    static const char *const others[] = {"observe", "text", "svg", "events"};
    if (!watch->draws) {
        return;
    }
    ask(watch, "watch");
    talk_text(&watch->talk, "token", watch->token);
    talk_uint(&watch->talk, "slot", 0);
    talk_say(&watch->talk, SPECTATOR);
    assert_true(talk_is_good(&watch->talk));
    answer_keep(watch, which);
    for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ask_slot(watch, SPECTATOR, others[i]);
        assert_false(talk_is_good(&watch->talk));
        answer_keep(watch, which);
    }
}

/* Everything that the player may ask, and everything that it may not. */
static void player_asks(Watch *watch, uint32_t which)
{
    static const char *const looks[] = {"observe", "legal", "text", "events", "state", "svg"};
    static const char *const directors[] = {"snapshot", "export", "drop", "reset"};
    watch->size[which] = 0;
    for (uint32_t i = 0; i < sizeof looks / sizeof looks[0] - !watch->draws; i++) {
        ask_slot(watch, PLAYER, looks[i]);
        answer_keep(watch, which);
    }
    for (int seat = 0; seat < 2; seat++) {
        ask(watch, "observe");
        talk_uint(&watch->talk, "slot", 0);
        talk_uint(&watch->talk, "seat", (uint64_t)seat);
        talk_say(&watch->talk, PLAYER);
        assert_true(seat == SEAT || !talk_is_good(&watch->talk));
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
    recv_now(watch, PLAYER);
    answer_keep(watch, which);
}

/* ---- What the director does ---- */

/* Puts the saved episode into the slot: as it was, or with all redealt that the seat cannot know.
 */
static void restore(Watch *watch, bool redeal)
{
    uint64_t key = draw_take(watch);
    ask(watch, "restore");
    talk_bytes(&watch->talk, "snapshots", &watch->snapshot, sizeof watch->snapshot);
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    if (redeal) {
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

static void slot_save(Watch *watch)
{
    WireItem saved;
    ask(watch, "snapshot");
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_get(&watch->talk, "snapshots", &saved));
    memcpy(&watch->snapshot, saved.bytes, sizeof watch->snapshot);
}

/* Compares a pair. True if the other seat sees that they differ. */
static bool pair_compare(Watch *watch)
{
    slot_save(watch);
    for (uint32_t which = 0; which < 2; which++) {
        restore(watch, which == 1);
        player_asks(watch, which);
        spectator_asks(watch, which);
        other_keep(watch, which);
    }
    assert_int_equal(watch->size[0], watch->size[1]);
    assert_memory_equal(watch->answers[0], watch->answers[1], watch->size[0]);
    restore(watch, false);
    ask(watch, "drop");
    talk_say(&watch->talk, DIRECTOR);
    return memcmp(watch->others[0], watch->others[1], TY_ROW_MAX) != 0;
}

/* The seat to act (-1: the episode is over), and its legal actions. */
static int64_t acting(Watch *watch, WireItem *legal)
{
    WireItem seat;
    ask_slot(watch, DIRECTOR, "legal");
    assert_true(talk_get(&watch->talk, "seat", &seat));
    assert_true(talk_get(&watch->talk, "numbers", legal));
    return (int64_t)seat.number;
}

static int32_t action_draw(Watch *watch, const WireItem *legal)
{
    int32_t action = 0;
    memcpy(&action, legal->bytes + draw_take(watch) % (legal->size / 4) * 4, sizeof action);
    return action;
}

static void act(Watch *watch, int64_t seat, int32_t action)
{
    WireItem accepted;
    uint64_t peer = seat == SEAT ? PLAYER : DIRECTOR;
    recv_now(watch, peer);
    ask(watch, "send");
    talk_bytes(&watch->talk, "slots", first_slot, sizeof first_slot);
    talk_bytes(&watch->talk, "actions", &action, sizeof action);
    talk_say(&watch->talk, peer);
    assert_true(talk_get(&watch->talk, "accepted", &accepted) && accepted.number == 1);
}

/* The seat to act does something; an episode that is over is restarted. */
static void play_on(Watch *watch)
{
    WireItem legal;
    int64_t seat = acting(watch, &legal);
    if (seat >= 0) {
        act(watch, seat, action_draw(watch, &legal));
        return;
    }
    ask(watch, "reset");
    talk_say(&watch->talk, DIRECTOR);
}

static void watch_open(Watch *watch, const char *ruleset, const char *eyes)
{
    WireItem item;
    *watch = (Watch){.random = 7};
    table_open(&watch->talk.table, NULL);
    talk_hello(&watch->talk, DIRECTOR);
    talk_hello(&watch->talk, PLAYER);
    talk_hello(&watch->talk, SPECTATOR);
    talk_begin(&watch->talk, "open");
    talk_text(&watch->talk, "ruleset", ruleset);
    talk_text(&watch->talk, "watch", eyes);
    message_key(&watch->talk.writer, "events");
    put_flag(&watch->talk.writer, true);
    message_key(&watch->talk.writer, "seats");
    put_list(&watch->talk.writer, 2);
    put_text(&watch->talk.writer, "me");
    put_text(&watch->talk.writer, "open");
    talk_say(&watch->talk, DIRECTOR);
    assert_true(talk_get(&watch->talk, "pool", &item));
    watch->pool = item.number;
    assert_true(talk_get(&watch->talk, "watch", &item) && item.size < sizeof watch->token);
    memcpy(watch->token, item.bytes, item.size);
    assert_true(talk_get(&watch->talk, "invite", &item));
    talk_begin(&watch->talk, "join");
    talk_uint(&watch->talk, "pool", watch->pool);
    message_key(&watch->talk.writer, "invite");
    put_text_run(&watch->talk.writer, (const char *)item.bytes, item.size);
    talk_say(&watch->talk, PLAYER);
    assert_true(talk_is_good(&watch->talk));
}

static void pairs_compare(const char *ruleset, const char *eyes)
{
    static Watch watch;
    uint32_t pairs = budget(2500, 250000);
    uint32_t different = 0;
    watch_open(&watch, ruleset, eyes);
    for (uint32_t i = 0; i < pairs; i++) {
        watch.draws = i % 32 == 0;
        different += pair_compare(&watch);
        play_on(&watch);
    }
    print_message("%s: %u pairs, %u of them different for the other seat\n", ruleset, pairs,
                  different);
    assert_true(different > pairs / 4);
    table_close(&watch.talk.table);
}

/* ---- While others play ---- */

/* True if the slot waits for the player. */
static bool player_is_asked(const Watch *watch)
{
    const Room *room = room_find(watch->talk.table.dispatch, watch->pool);
    return (ty_pool_waiting(room->worker->pool, 0) >> 1 & 1) != 0;
}

/* Until it is asked again, the player hears the same, whatever the others decide. */
static void waits_compare(const char *ruleset)
{
    static Watch watch;
    uint32_t waits = budget(800, 150000);
    uint32_t longest = 0;
    uint32_t length = 0;
    watch_open(&watch, ruleset, "public");
    while (waits > 0) {
        watch.draws = waits % 32 == 0;
        player_asks(&watch, 0);
        bool asked = player_is_asked(&watch);
        play_on(&watch);
        length = asked || player_is_asked(&watch) ? 0 : length + 1;
        longest = length > longest ? length : longest;
        if (length > 0) {
            player_asks(&watch, 1);
            assert_int_equal(watch.size[0], watch.size[1]);
            assert_memory_equal(watch.answers[0], watch.answers[1], watch.size[0]);
            waits--;
        }
    }
    print_message("%s: up to %u decisions of others in a row\n", ruleset, longest);
    assert_true(longest > 1);
    table_close(&watch.talk.table);
}

static bool is_legal(const WireItem *legal, int32_t action)
{
    for (uint32_t i = 0; i < legal->size / 4; i++) {
        if (memcmp(legal->bytes + (size_t)i * 4, &action, sizeof action) == 0) {
            return true;
        }
    }
    return false;
}

/* What the other seat does next: as in `course` from decision `*at` on, where decisions without a
 * choice are missing; otherwise anything. */
static int32_t course_next(Watch *watch, const Course *course, uint32_t *at, const WireItem *legal)
{
    for (uint32_t i = *at; i < course->count; i++) {
        if (is_legal(legal, course->actions[i])) {
            *at = i + 1;
            return course->actions[i];
        }
    }
    return action_draw(watch, legal);
}

/* The others play until the player is asked, as in `like` if they can. False if it is not. */
static bool course_play(Watch *watch, uint32_t which, const Course *like, Course *course)
{
    WireItem item;
    uint32_t at = 0;
    course->count = 0;
    while (!player_is_asked(watch) && course->count < COURSE_MAX) {
        int64_t seat = acting(watch, &item);
        if (seat < 0) {
            return false;
        }
        int32_t action = course_next(watch, like, &at, &item);
        course->actions[course->count++] = action;
        act(watch, seat, action);
    }
    if (!player_is_asked(watch) || acting(watch, &item) < 0) {
        return false; /* an ending shows more than what is public before */
    }
    ask_slot(watch, PLAYER, "observe");
    assert_true(talk_get(&watch->talk, "obs", &item));
    watch->public[which] = hash_bytes(0, item.bytes, item.size);
    ask_slot(watch, PLAYER, "events");
    assert_true(talk_get(&watch->talk, "events", &item));
    watch->public[which] = hash_bytes(watch->public[which], item.bytes, item.size);
    player_asks(watch, which);
    return true;
}

typedef struct Compared {
    uint32_t alike;  /* pairs in which the same happened and was seen in the end, */
    uint32_t forced; /* and of these, in which the others took another number of decisions */
} Compared;

static void courses_compare(Watch *watch, Compared *compared)
{
    Course course[2] = {{.count = 0}};
    const Course nothing = {.count = 0};
    slot_save(watch);
    bool both = true;
    for (uint32_t which = 0; which < 2; which++) {
        restore(watch, which == 1);
        both =
            course_play(watch, which, which == 0 ? &nothing : &course[0], &course[which]) && both;
    }
    if (both && watch->public[0] == watch->public[1]) {
        assert_int_equal(watch->size[0], watch->size[1]);
        assert_memory_equal(watch->answers[0], watch->answers[1], watch->size[0]);
        compared->alike++;
        compared->forced += course[0].count != course[1].count;
    }
    restore(watch, false);
    ask(watch, "drop");
    talk_say(&watch->talk, DIRECTOR);
}

/* When it is asked, the player cannot tell how many decisions the others took. */
static void ends_compare(const char *ruleset, Compared least)
{
    static Watch watch;
    Compared compared = {.alike = 0};
    uint32_t pairs = budget(600 * BUDGET_PART, 60000);
    watch_open(&watch, ruleset, "public");
    for (uint32_t i = 0; i < pairs;) {
        watch.draws = i % 32 == 0;
        if (!player_is_asked(&watch)) {
            courses_compare(&watch, &compared);
            i++;
        }
        player_asks(&watch, 0);
        play_on(&watch);
    }
    print_message("%s: %u of %u courses looked the same, %u of them with another number of "
                  "decisions\n",
                  ruleset, compared.alike, pairs, compared.forced);
    assert_true(compared.alike >= least.alike && compared.forced >= least.forced);
    table_close(&watch.talk.table);
}

static void test_nothing_is_heard_while_others_decide(void **unused)
{
    (void)unused;
    waits_compare("nordic:players=2");
    waits_compare("express:players=2");
    waits_compare("chicago:players=2");
    waits_compare("convoi:players=2,hands=hidden");
}

static void test_nobody_can_tell_whether_others_had_a_choice(void **unused)
{
    (void)unused;
    ends_compare("nordic:players=2", (Compared){.alike = 60, .forced = 5});
    ends_compare("express:players=2", (Compared){.alike = 60, .forced = 5});
    ends_compare("chicago:players=2", (Compared){.alike = 60, .forced = 1});
    /* Whoever has a turn draws cards and throws dice: most futures differ before others' eyes. */
    ends_compare("convoi:players=2,hands=hidden", (Compared){.alike = 1});
}

static void test_nordic_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("nordic:players=2", "public");
}

static void test_express_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("express:players=2", "1");
}

static void test_chicago_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("chicago:players=2", "public");
}

static void test_convoi_with_hidden_hands_keeps_its_secrets(void **unused)
{
    (void)unused;
    pairs_compare("convoi:players=2,hands=hidden", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nordic_keeps_its_secrets),
        cmocka_unit_test(test_express_keeps_its_secrets),
        cmocka_unit_test(test_chicago_keeps_its_secrets),
        cmocka_unit_test(test_convoi_with_hidden_hands_keeps_its_secrets),
        cmocka_unit_test(test_nothing_is_heard_while_others_decide),
        cmocka_unit_test(test_nobody_can_tell_whether_others_had_a_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
