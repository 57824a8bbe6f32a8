/* Pools whose seats are all built-in agents': the director lets them act and sees the endings. And
 * agents that are interrupted. */
#include "pool/work.h"
#include "tests/pool/pool_reference.h"

enum { SLOTS = 6, EPISODES = 3 };

/* What the director has seen of a pool, beside what it must be. */
typedef struct Watch {
    TyRuleset *ruleset;
    TyPool *pool;
    TyPoolConfig config;
    const TySlab *slab;
    Expected expected[SLOTS][EPISODES];
    uint32_t episode[SLOTS]; /* the one that is running, or stands at its end */
} Watch;

static TyPoolConfig config_of(const TyRuleset *ruleset, const char *const names[2])
{
    TyPoolConfig config = {.slots = SLOTS, .seed = 40};
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->players; seat++) {
        config.agent[seat] = ty_agent_find(ty_ruleset_game(ruleset), names[seat % 2]);
        assert_non_null(config.agent[seat]);
    }
    return config;
}

static void watch_open(Watch *watch)
{
    Reference *reference = reference_open(watch->ruleset, &watch->config);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        watch->episode[slot] = 0;
        for (uint32_t e = 0; e < EPISODES; e++) {
            watch->expected[slot][e] =
                reference_episode(reference, watch->config.seed + slot, slot, e);
        }
    }
    free(reference);
    TyStatus status = ty_pool_open(watch->ruleset, &watch->config, &watch->pool);
    assert_string_equal(status.message, "");
    watch->slab = ty_pool_slab(watch->pool, 0);
    assert_int_equal(watch->slab->seat_count, 0);
}

/* The ending of an episode, as it stands in the row. */
static void check_ending(const Watch *watch, uint32_t slot, const Expected *expected)
{
    const TyShape *shape = ty_shape(watch->ruleset);
    const float *earned = slab_cell(watch->slab, slot, TY_COLUMN_EARNED);
    assert_int_equal(slab_u8(watch->slab, slot, TY_COLUMN_TRUNCATED), expected->truncated);
    assert_memory_equal(slab_cell(watch->slab, slot, TY_COLUMN_METRICS), expected->metrics,
                        shape->metric_count * sizeof(int32_t));
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        assert_int_equal(points(earned[seat]), expected->total[seat]);
    }
}

/* The row of a running episode tells where it stands. */
static void check_running(const Watch *watch, uint32_t slot)
{
    const TyHead *head = ty_head(ty_pool_state(watch->pool, slot));
    assert_int_equal(slab_u8(watch->slab, slot, TY_COLUMN_READY), 1);
    assert_int_equal(slab_u8(watch->slab, slot, TY_COLUMN_SEAT), head->seat);
    assert_int_equal(slab_u32(watch->slab, slot, TY_COLUMN_STEP), head->steps);
    assert_int_equal(slab_u32(watch->slab, slot, TY_COLUMN_EPISODE), watch->episode[slot]);
    assert_true(*(uint64_t *)slab_cell(watch->slab, slot, TY_COLUMN_SEED) == head->seed);
}

/* Looks at a slot after a step. Returns true if an episode ended with it. */
static bool watch_slot(Watch *watch, uint32_t slot)
{
    TyAutoreset mode = watch->config.autoreset;
    bool ended = slab_u8(watch->slab, slot, TY_COLUMN_TERMINATED) != 0 ||
                 slab_u8(watch->slab, slot, TY_COLUMN_TRUNCATED) != 0;
    if (!ended) {
        check_running(watch, slot);
        return false;
    }
    const Expected *expected = &watch->expected[slot][watch->episode[slot] % EPISODES];
    if (watch->episode[slot] < EPISODES) {
        check_ending(watch, slot, expected);
    }
    if (mode == TY_AUTORESET_SAME_STEP) {
        watch->episode[slot]++;
        check_running(watch, slot);
        return true;
    }
    if (watch->episode[slot] < EPISODES) {
        assert_int_equal(slab_u32(watch->slab, slot, TY_COLUMN_STEP), expected->steps);
        assert_true(ty_hash(watch->ruleset, ty_pool_state(watch->pool, slot)) ==
                    expected->final_hash);
    }
    assert_int_equal(slab_u8(watch->slab, slot, TY_COLUMN_READY), mode == TY_AUTORESET_NEXT_STEP);
    watch->episode[slot]++;
    return true;
}

static bool watch_is_done(const Watch *watch)
{
    bool done = true;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        done = done && watch->episode[slot] >= EPISODES;
    }
    return done;
}

static void watch_play(Watch *watch)
{
    uint64_t ended = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(ty_head(ty_pool_state(watch->pool, slot))->steps, 0);
        check_running(watch, slot);
    }
    while (!watch_is_done(watch)) {
        uint8_t which[SLOTS] = {0};
        uint32_t illegal = 1;
        for (uint32_t group = 0; group < watch->slab->groups; group++) {
            int32_t *actions = ty_slab_column(watch->slab, group, TY_COLUMN_ACTION);
            actions[0] = -7; /* nobody looks at it */
            uint32_t ready = ty_pool_step(watch->pool, 0, group, &illegal);
            assert_int_equal(ready, ty_pool_ready(watch->pool, 0, group));
            assert_int_equal(illegal, 0);
        }
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            which[slot] = watch_slot(watch, slot);
            ended += which[slot];
        }
        assert_int_equal(ty_pool_counts(watch->pool).episodes, ended);
        if (watch->config.autoreset == TY_AUTORESET_DISABLED) {
            ty_pool_reset(watch->pool, which, NULL);
        }
    }
    ty_pool_close(watch->pool);
}

static void check_pool(const char *spec, const char *const names[2], uint32_t max_steps)
{
    static const TyAutoreset modes[] = {TY_AUTORESET_NEXT_STEP, TY_AUTORESET_SAME_STEP,
                                        TY_AUTORESET_DISABLED};
    for (uint32_t i = 0; i < 6; i++) {
        Watch watch = {.ruleset = reference_ruleset(spec)};
        watch.config = config_of(watch.ruleset, names);
        watch.config.autoreset = modes[i % 3];
        watch.config.threads = 1 + i / 3;
        watch.config.groups = 1 + i / 3;
        watch.config.max_steps = max_steps;
        watch_open(&watch);
        watch_play(&watch);
        ty_ruleset_close(watch.ruleset);
    }
}

static void test_agents_play_the_episodes_of_their_seeds(void **unused)
{
    (void)unused;
    check_pool("convoi:board=tiny,reward=shaped", (const char *[]){"expert", "random"}, 0);
    check_pool("nordic:map=tiny", (const char *[]){"random", "expert"}, 0);
    check_pool("express:map=tiny,chance=seat", (const char *[]){"expert", "expert"}, 0);
    check_pool("chicago:players=3", (const char *[]){"random", "random"}, 20);
}

/* A step is one decision in every slot. */
static void test_a_step_takes_one_decision(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    TyPoolConfig config = config_of(ruleset, (const char *[]){"random", "random"});
    TyPool *pool = NULL;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    for (uint32_t step = 1; step <= 5; step++) {
        assert_int_equal(ty_pool_step(pool, 0, 0, NULL), SLOTS);
        assert_int_equal(ty_pool_counts(pool).decisions, (uint64_t)step * SLOTS);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_int_equal(ty_head(ty_pool_state(pool, slot))->steps, step);
        }
    }
    const uint8_t one[SLOTS] = {0, 1};
    ty_pool_step_some(pool, 0, 0, one, NULL);
    assert_int_equal(ty_head(ty_pool_state(pool, 0))->steps, 5);
    assert_int_equal(ty_head(ty_pool_state(pool, 1))->steps, 6);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

/* What agents remember is part of a snapshot: the copy plays on as the original does. */
static void test_a_snapshot_plays_on_alike(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("nordic:map=tiny");
    TyPoolConfig config = config_of(ruleset, (const char *[]){"expert", "random"});
    TyPool *pool = NULL;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    for (uint32_t i = 0; i < 9; i++) {
        ty_pool_step(pool, 0, 0, NULL);
    }
    uint8_t *snapshot = malloc(ty_pool_snapshot_size(pool));
    ty_pool_save(pool, 2, snapshot);
    const TyRestore exactly = {.seat = -1};
    assert_int_equal(ty_pool_restore(pool, snapshot, &(uint32_t){4}, 1, &exactly).code, TY_OK);
    const TySlab *slab = ty_pool_slab(pool, 0);
    assert_int_equal(slab_u8(slab, 4, TY_COLUMN_READY), 1);
    assert_int_equal(slab_u32(slab, 4, TY_COLUMN_STEP), 9);
    while (!ty_head(ty_pool_state(pool, 2))->over) {
        ty_pool_step(pool, 0, 0, NULL);
        assert_true(ty_hash(ruleset, ty_pool_state(pool, 2)) ==
                    ty_hash(ruleset, ty_pool_state(pool, 4)));
    }
    free(snapshot);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

static bool flag_asked(void *user)
{
    return *(bool *)user;
}

/* What was interrupted before every slot has a position does not play where there is none. */
static void test_agents_rest_until_every_slot_has_begun(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi");
    TyPoolConfig config = {.slots = 200, .threads = 2, .seed = 7};
    config.agent[0] = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    bool stopped = true;
    const TyStop stop = {.asked = flag_asked, .user = &stopped};
    TyPool *pool = NULL;
    assert_int_equal(pool_open_idle(ruleset, &config, &pool).code, TY_OK);
    pool_set_stop(pool, &stop, &stop);
    uint32_t reached = pool_reset_some(pool, 0, &(TyReset){0});
    assert_in_range(reached, 1, config.slots - 1);
    assert_false(pool_rests(pool, -1));
    assert_false(pool_slot_rests(pool, reached));
    stopped = false;
    assert_int_equal(pool_reset_some(pool, reached, &(TyReset){0}), config.slots);
    assert_true(pool_rests(pool, -1));
    pool_resume(pool);
    for (uint32_t slot = 0; slot < config.slots; slot++) {
        assert_int_equal(ty_head(ty_pool_state(pool, slot))->seat, 1);
    }
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

/* Nobody waits for a director that is away; what ended meanwhile waits for its return. */
static void test_an_absent_director_finds_the_endings_again(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    TyPoolConfig config = config_of(ruleset, (const char *[]){"random", "random"});
    TyPool *pool = NULL;
    config.max_steps = 3;
    config.slots = 1;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    const TySlab *slab = ty_pool_slab(pool, 0);
    ty_pool_step(pool, 0, 0, NULL);
    ty_pool_step(pool, 0, 0, NULL);
    ty_pool_set_present(pool, 0, false);
    assert_int_equal(ty_pool_step(pool, 0, 0, NULL), 0);
    assert_int_equal(slab_u8(slab, 0, TY_COLUMN_TRUNCATED), 1);
    assert_int_equal(slab_u8(slab, 0, TY_COLUMN_READY), 0);
    ty_pool_set_present(pool, 0, true);
    assert_int_equal(slab_u8(slab, 0, TY_COLUMN_READY), 1);
    assert_int_equal(ty_pool_step(pool, 0, 0, NULL), 1);
    assert_int_equal(slab_u32(slab, 0, TY_COLUMN_EPISODE), 1);
    assert_int_equal(slab_u32(slab, 0, TY_COLUMN_STEP), 0);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agents_play_the_episodes_of_their_seeds),
        cmocka_unit_test(test_a_step_takes_one_decision),
        cmocka_unit_test(test_a_snapshot_plays_on_alike),
        cmocka_unit_test(test_agents_rest_until_every_slot_has_begun),
        cmocka_unit_test(test_an_absent_director_finds_the_endings_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
