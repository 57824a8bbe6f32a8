/* A player who opens mirrors of its pool in its own process, with seeds and keys that it computes
 * or tries, foresees nothing of a keyed pool: no later episode, no other slot, no built-in agent.
 * The same player foresees everything where seeds are plain, so it does know how. */
#include "core/hash.h"
#include "daemon/dispatch.h"
#include "tests/daemon/talk.h"
#include "tests/support/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { DIRECTOR = 5, PLAYER = 6, SEAT = 1, SLOTS = 2, EPISODES = 2, STEPS = 300, SECRET = 1234 };

/* What the player saw and did, row by row, up to the ending. */
typedef struct Episode {
    uint32_t rows;
    uint64_t seen[STEPS + 2];
    int32_t action[STEPS + 2];
    uint64_t seed; /* what the last row said */
} Episode;

typedef struct Spy {
    Talk talk;
    TyRuleset *ruleset;
    uint64_t pool;
    uint64_t random;
    bool warned;
    uint64_t seeds_heard; /* rows of running episodes with a seed */
    Episode episodes[SLOTS][EPISODES];
    uint32_t ended[SLOTS];
} Spy;

/* What the director wishes besides the seats. */
typedef struct Wish {
    bool plain;
    bool reveal;
    bool numbered; /* with the seed SECRET */
} Wish;

static const char *const rulesets[] = {"nordic:players=2", "express:players=2", "chicago:players=2",
                                       "convoi:players=2,hands=hidden"};

/* ---- The table ---- */

static void put_wish(Talk *talk, const char *name)
{
    message_key(&talk->writer, name);
    put_flag(&talk->writer, true);
}

static void spy_open(Spy *spy, const Wish *wish)
{
    Talk *talk = &spy->talk;
    WireItem item;
    talk_begin(talk, "open");
    talk_text(talk, "ruleset", ty_shape(spy->ruleset)->spec);
    talk_uint(talk, "slots", SLOTS);
    talk_uint(talk, "max_steps", STEPS);
    message_key(&talk->writer, "seats");
    put_list(&talk->writer, 2);
    put_text(&talk->writer, "random");
    put_text(&talk->writer, "open");
    if (wish->plain) {
        put_wish(talk, "plain_seeds");
    }
    if (wish->reveal) {
        put_wish(talk, "reveal_seeds");
    }
    if (wish->numbered) {
        talk_uint(talk, "seed", SECRET);
    }
    talk_say(talk, DIRECTOR);
    assert_true(talk_get(talk, "warning", &item));
    spy->warned = item.size > 0;
    assert_true(talk_get(talk, "key", &item) && item.size == (wish->plain ? 0 : TY_KEY_SIZE));
    assert_true(talk_get(talk, "pool", &item));
    spy->pool = item.number;
    assert_true(talk_get(talk, "invite", &item));
    talk_begin(talk, "join");
    talk_uint(talk, "pool", spy->pool);
    message_key(&talk->writer, "invite");
    put_text_run(&talk->writer, (const char *)item.bytes, item.size);
    talk_say(talk, PLAYER);
    assert_true(talk_is_good(talk));
    assert_false(talk_get(talk, "key", &item) || talk_get(talk, "warning", &item));
}

static WireItem column(const Spy *spy, const char *name)
{
    WireItem item;
    assert_true(talk_get(&spy->talk, name, &item));
    return item;
}

static uint64_t row_digest(const uint8_t *obs, const uint8_t *mask, const TyShape *shape)
{
    return hash_bytes(hash_bytes(0, obs, shape->row_size), mask, shape->action_count);
}

static int32_t action_draw(Spy *spy, const uint8_t *mask, uint32_t width)
{
    return (int32_t)ty_sample(mask, width, 7, spy->random++);
}

/* Notes row `row` of the reply, which is of `slot`, and chooses an action. */
static int32_t row_note(Spy *spy, uint32_t row, uint32_t slot)
{
    const TyShape *shape = ty_shape(spy->ruleset);
    const uint8_t *obs = column(spy, "obs").bytes + (size_t)row * shape->row_size;
    const uint8_t *mask = column(spy, "mask").bytes + (size_t)row * shape->action_count;
    bool ended = column(spy, "terminated").bytes[row] || column(spy, "truncated").bytes[row];
    uint64_t seed = load_le64(column(spy, "seed").bytes + (size_t)row * 8);
    int32_t action = ended ? 0 : action_draw(spy, mask, shape->action_count);
    if (spy->ended[slot] < EPISODES) {
        Episode *episode = &spy->episodes[slot][spy->ended[slot]];
        assert_true(episode->rows < STEPS + 2);
        /* The agent's decisions are not counted: they would tell when it had a choice. */
        assert_int_equal(load_le32(column(spy, "step").bytes + (size_t)row * 4), episode->rows);
        episode->seen[episode->rows] = row_digest(obs, mask, shape);
        episode->action[episode->rows++] = action;
        episode->seed = seed;
    }
    spy->seeds_heard += !ended && seed != 0;
    spy->ended[slot] += ended;
    return action;
}

static void spy_play(Spy *spy)
{
    while (spy->ended[0] < EPISODES || spy->ended[1] < EPISODES) {
        int32_t actions[SLOTS];
        uint32_t slots[SLOTS];
        table_forget(&spy->talk.table);
        talk_begin(&spy->talk, "recv");
        talk_uint(&spy->talk, "pool", spy->pool);
        talk_say(&spy->talk, PLAYER);
        WireItem rows = column(spy, "slots");
        assert_true(rows.size > 0);
        memcpy(slots, rows.bytes, rows.size);
        for (uint32_t row = 0; row < rows.size / 4; row++) {
            actions[row] = row_note(spy, row, slots[row]);
        }
        talk_begin(&spy->talk, "send");
        talk_uint(&spy->talk, "pool", spy->pool);
        talk_bytes(&spy->talk, "slots", slots, rows.size);
        talk_bytes(&spy->talk, "actions", actions, rows.size);
        talk_say(&spy->talk, PLAYER);
        assert_true(talk_is_good(&spy->talk));
    }
}

/* Plays two episodes in each slot of a pool as the director wishes it. */
static Spy *spy_run(const char *ruleset, const Wish *wish)
{
    static Spy spy;
    memset(&spy, 0, sizeof spy);
    assert_int_equal(ty_ruleset_open(ruleset, NULL, &spy.ruleset).code, TY_OK);
    table_open(&spy.talk.table, NULL);
    talk_hello(&spy.talk, DIRECTOR);
    talk_hello(&spy.talk, PLAYER);
    spy_open(&spy, wish);
    spy_play(&spy);
    assert_int_equal(spy.seeds_heard, 0);
    return &spy;
}

static void spy_close(Spy *spy)
{
    table_close(&spy->talk.table);
    ty_ruleset_close(spy->ruleset);
}

/* ---- The mirror ---- */

/* True if the first episode of such a pool shows the player what it saw in `episode`. */
static bool mirror_shows(const Spy *spy, const TyPoolConfig *how, const Episode *episode)
{
    const TyShape *shape = ty_shape(spy->ruleset);
    TyPoolConfig config = *how;
    TyPool *pool = NULL;
    config.slots = 1;
    config.members = 2;
    config.max_steps = STEPS;
    config.owner[SEAT] = 1;
    config.agent[0] = ty_agent_find(ty_ruleset_game(spy->ruleset), "random");
    assert_int_equal(ty_pool_open(spy->ruleset, &config, &pool).code, TY_OK);
    const TySlab *slab = ty_pool_slab(pool, 1);
    bool same = true;
    for (uint32_t row = 0; same && row < episode->rows; row++) {
        uint32_t illegal = 0;
        same = row_digest(ty_slab_column(slab, 0, TY_COLUMN_OBS),
                          ty_slab_column(slab, 0, TY_COLUMN_MASK), shape) == episode->seen[row];
        *(int32_t *)ty_slab_column(slab, 0, TY_COLUMN_ACTION) = episode->action[row];
        ty_pool_step(pool, 1, 0, &illegal);
        same = same && illegal == 0;
    }
    ty_pool_close(pool);
    return same;
}

static bool seed_shows(const Spy *spy, uint64_t seed, const Episode *episode)
{
    return mirror_shows(spy, &(TyPoolConfig){.seed = seed}, episode);
}

/* From the seed of a finished episode: the next one of its slot, and the other slot. */
static bool next_episode_is_foreseen(const Spy *spy)
{
    uint64_t heard = spy->episodes[0][0].seed;
    return seed_shows(spy, ty_episode_seed(heard, 1), &spy->episodes[0][1]);
}

static bool other_slot_is_foreseen(const Spy *spy)
{
    return seed_shows(spy, spy->episodes[0][0].seed + 1, &spy->episodes[1][0]);
}

/* By trying small numbers, as seeds and as keys. */
static bool small_seed_is_found(const Spy *spy)
{
    for (uint64_t seed = 0; seed < budget(2000 * BUDGET_PART, 1000000); seed++) {
        if (seed_shows(spy, seed, &spy->episodes[0][0])) {
            return true;
        }
    }
    return false;
}

static bool small_key_is_found(const Spy *spy)
{
    for (uint64_t number = 0; number < budget(2000 * BUDGET_PART, 1000000); number++) {
        TyPoolConfig config = {.keyed = true};
        store_le64(config.key, number);
        if (mirror_shows(spy, &config, &spy->episodes[0][0])) {
            return true;
        }
    }
    return false;
}

/* ---- Tests ---- */

static void test_a_keyed_pool_is_not_foreseen(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < sizeof rulesets / sizeof rulesets[0]; i++) {
        Spy *spy = spy_run(rulesets[i], &(Wish){.reveal = true});
        assert_false(spy->warned);
        assert_true(spy->episodes[0][0].seed != 0);
        assert_false(next_episode_is_foreseen(spy));
        assert_false(other_slot_is_foreseen(spy));
        assert_false(small_seed_is_found(spy));
        assert_false(small_key_is_found(spy));
        spy_close(spy);
    }
}

/* Chance is known from the seed, once it is of no use; built-in agents are not. */
static void test_a_revealed_seed_does_not_tell_of_agents(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < sizeof rulesets / sizeof rulesets[0]; i++) {
        Spy *spy = spy_run(rulesets[i], &(Wish){.reveal = true});
        assert_false(seed_shows(spy, spy->episodes[0][0].seed, &spy->episodes[0][0]));
        spy_close(spy);
    }
}

static void test_players_hear_no_seed_unless_the_director_wishes(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < sizeof rulesets / sizeof rulesets[0]; i++) {
        Spy *spy = spy_run(rulesets[i], &(Wish){.reveal = false});
        for (uint32_t k = 0; k < SLOTS * EPISODES; k++) {
            assert_int_equal(spy->episodes[k / EPISODES][k % EPISODES].seed, 0);
        }
        spy_close(spy);
    }
}

/* What the warnings are about. */
static void test_plain_seeds_and_small_keys_are_found_and_warned_of(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < sizeof rulesets / sizeof rulesets[0]; i++) {
        Spy *spy = spy_run(rulesets[i], &(Wish){.plain = true, .reveal = true, .numbered = true});
        assert_true(spy->warned);
        assert_true(next_episode_is_foreseen(spy));
        assert_true(other_slot_is_foreseen(spy));
        assert_true(small_seed_is_found(spy));
        spy_close(spy);
        spy = spy_run(rulesets[i], &(Wish){.numbered = true});
        assert_true(spy->warned);
        assert_true(small_key_is_found(spy));
        spy_close(spy);
    }
}

/* ---- The director ---- */

/* Opens a pool with the key (NULL: without one); copies its seeds. */
static void director_seeds(Talk *talk, const uint8_t *key, uint64_t seeds[SLOTS])
{
    WireItem item;
    talk_begin(talk, "open");
    talk_text(talk, "ruleset", "nordic");
    talk_uint(talk, "slots", SLOTS);
    if (key != NULL) {
        talk_bytes(talk, "key", key, TY_KEY_SIZE);
    }
    talk_say(talk, DIRECTOR);
    assert_true(talk_get(talk, "warning", &item) && item.size == 0);
    assert_true(talk_get(talk, "pool", &item));
    talk_begin(talk, "reset");
    talk_uint(talk, "pool", item.number);
    talk_say(talk, DIRECTOR);
    assert_true(talk_get(talk, "seed", &item) && item.size == SLOTS * sizeof seeds[0]);
    memcpy(seeds, item.bytes, item.size);
}

static void test_a_key_opens_the_same_episodes_again(void **unused)
{
    (void)unused;
    static const uint8_t key[TY_KEY_SIZE] = {200, 1, 2, 3};
    static Talk talk;
    uint64_t seeds[4][SLOTS];
    table_open(&talk.table, NULL);
    talk_hello(&talk, DIRECTOR);
    for (uint32_t i = 0; i < 4; i++) {
        director_seeds(&talk, i < 2 ? key : NULL, seeds[i]);
    }
    assert_memory_equal(seeds[0], seeds[1], sizeof seeds[0]);
    assert_true(seeds[0][0] != seeds[2][0] && seeds[2][0] != seeds[3][0]);
    for (uint32_t i = 0; i < 2; i++) {
        talk_begin(&talk, "open");
        talk_text(&talk, "ruleset", "nordic");
        talk_bytes(&talk, "key", key, sizeof key);
        if (i == 0) {
            talk_uint(&talk, "seed", 7);
        } else {
            put_wish(&talk, "plain_seeds");
        }
        talk_say(&talk, DIRECTOR);
        assert_false(talk_is_good(&talk));
    }
    table_close(&talk.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_keyed_pool_is_not_foreseen),
        cmocka_unit_test(test_a_revealed_seed_does_not_tell_of_agents),
        cmocka_unit_test(test_players_hear_no_seed_unless_the_director_wishes),
        cmocka_unit_test(test_a_key_opens_the_same_episodes_again),
        cmocka_unit_test(test_plain_seeds_and_small_keys_are_found_and_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
