/* Pools: every slot plays what its seed says, whatever the batch, the groups, the threads and the
 * way in which episodes follow each other. */
#include "tests/pool/pool_table.h"
#include "tests/support/sanitizers.h"

#include "game.h"

/* ---- A pool that is watched row by row and compared with the reference ---- */

/* What the watcher has seen of the running episode of one slot. */
typedef struct Seen {
    uint32_t episode;
    uint64_t chain;
    int32_t reward[TY_SEATS_MAX];
    int32_t earned[TY_SEATS_MAX];
} Seen;

typedef struct Watch {
    TyPool *pool;
    const TyShape *shape;
    const TySlab *slab;
    TyAutoreset autoreset;
    Seen *seen;         /* per slot */
    Expected *expected; /* per slot and episode */
    uint32_t episodes;  /* per slot, to be compared */
    uint32_t compared;
} Watch;

static void watch_ending(Watch *watch, uint32_t slot)
{
    Seen *seen = &watch->seen[slot];
    const TySlab *slab = watch->slab;
    const float *final = slab_cell(slab, slot, TY_COLUMN_FINAL_REWARD);
    const uint8_t *rows = slab_cell(slab, slot, TY_COLUMN_FINAL_OBS);
    for (uint32_t k = 0; k < slab->seat_count; k++) {
        seen->reward[slab->seats[k]] += points(final[k]);
    }
    if (seen->episode < watch->episodes) {
        const Expected *expected = &watch->expected[slot * watch->episodes + seen->episode];
        assert_int_equal(slab_u8(slab, slot, TY_COLUMN_TRUNCATED), expected->truncated);
        assert_int_equal(slab_u8(slab, slot, TY_COLUMN_TERMINATED), !expected->truncated);
        assert_true(seen->chain == expected->chain);
        assert_memory_equal(slab_cell(slab, slot, TY_COLUMN_METRICS), expected->metrics,
                            watch->shape->metric_count * sizeof(int32_t));
        for (uint32_t k = 0; k < slab->seat_count; k++) {
            uint32_t seat = slab->seats[k];
            assert_int_equal(seen->reward[seat], expected->total[seat]);
            assert_int_equal(seen->earned[seat], expected->total[seat]);
            assert_true(hash_bytes(0, rows + (size_t)k * watch->shape->row_size,
                                   watch->shape->row_size) == expected->final_rows[seat]);
        }
        watch->compared++;
    }
    *seen = (Seen){.episode = seen->episode + 1};
}

/* A row as it stands after a step: takes its rewards, and its ending if there is one. */
static void watch_row(Watch *watch, uint32_t slot)
{
    Seen *seen = &watch->seen[slot];
    const TySlab *slab = watch->slab;
    bool ended = slab_u8(slab, slot, TY_COLUMN_TERMINATED) != 0 ||
                 slab_u8(slab, slot, TY_COLUMN_TRUNCATED) != 0;
    const float *earned = slab_cell(slab, slot, TY_COLUMN_EARNED);
    for (uint32_t k = 0; k < slab->seat_count; k++) {
        seen->earned[slab->seats[k]] += points(earned[k]);
    }
    if (ended) {
        watch_ending(watch, slot);
    } else {
        seen->reward[slab_u8(slab, slot, TY_COLUMN_SEAT)] +=
            points(*(float *)slab_cell(slab, slot, TY_COLUMN_REWARD));
    }
    bool fresh = !ended || watch->autoreset == TY_AUTORESET_SAME_STEP;
    assert_int_equal(slab_u32(slab, slot, TY_COLUMN_EPISODE), seen->episode - !fresh);
    bool asks = fresh || watch->autoreset == TY_AUTORESET_NEXT_STEP;
    assert_int_equal(slab_u8(slab, slot, TY_COLUMN_READY), asks);
    if (fresh && seen->episode < watch->episodes) {
        assert_true(*(uint64_t *)slab_cell(slab, slot, TY_COLUMN_SEED) ==
                    watch->expected[slot * watch->episodes + seen->episode].seed);
    }
}

/* The action that stands in the row of a running episode becomes part of the chain. */
static void watch_action(Watch *watch, uint32_t slot)
{
    const TySlab *slab = watch->slab;
    const uint8_t *mask = slab_cell(slab, slot, TY_COLUMN_MASK);
    if (memchr(mask, 1, watch->shape->action_count) == NULL) {
        assert_int_equal(slab_u32(slab, slot, TY_COLUMN_ACTION), 0);
        return;
    }
    watch->seen[slot].chain = chain_add(
        watch->seen[slot].chain, slab_cell(slab, slot, TY_COLUMN_OBS), watch->shape->row_size,
        *(uint64_t *)slab_cell(slab, slot, TY_COLUMN_HASH), slab_u8(slab, slot, TY_COLUMN_SEAT),
        slab_u32(slab, slot, TY_COLUMN_STEP), slab_u32(slab, slot, TY_COLUMN_ACTION));
}

static void watch_reset_ended(Watch *watch, uint32_t slots)
{
    uint8_t *which = calloc(slots, 1);
    uint32_t ended = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        which[slot] = !slab_u8(watch->slab, slot, TY_COLUMN_READY);
        ended += which[slot];
    }
    if (ended > 0) {
        ty_pool_reset(watch->pool, which, NULL);
        for (uint32_t slot = 0; slot < slots; slot++) {
            if (which[slot]) {
                watch_row(watch, slot);
            }
        }
    }
    free(which);
}

static void watch_group(Watch *watch, uint32_t group)
{
    const TyGroupLayout *layout = &watch->slab->group[group];
    ty_sample_rows(watch->slab, group, REFERENCE_SAMPLE_SEED);
    for (uint32_t slot = layout->first; slot < layout->first + layout->rows; slot++) {
        watch_action(watch, slot);
    }
    uint32_t illegal = 0;
    uint32_t ready = ty_pool_step(watch->pool, 0, group, &illegal);
    assert_int_equal(illegal, 0);
    assert_int_equal(ready, ty_pool_ready(watch->pool, 0, group));
    for (uint32_t slot = layout->first; slot < layout->first + layout->rows; slot++) {
        watch_row(watch, slot);
    }
}

/* Plays until every slot has finished the expected episodes, all of which were as expected. */
static void watch_pool(const TyRuleset *ruleset, TyPoolConfig config, Expected *expected,
                       uint32_t episodes)
{
    Watch watch = {.shape = ty_shape(ruleset),
                   .autoreset = config.autoreset,
                   .expected = expected,
                   .episodes = episodes};
    config.hash = true;
    TyStatus status = ty_pool_open(ruleset, &config, &watch.pool);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    watch.slab = ty_pool_slab(watch.pool, 0);
    watch.seen = calloc(config.slots, sizeof *watch.seen);
    for (uint32_t slot = 0; slot < config.slots; slot++) {
        watch_row(&watch, slot);
    }
    while (watch.compared < config.slots * episodes) {
        for (uint32_t group = 0; group < watch.slab->groups; group++) {
            watch_group(&watch, group);
        }
        if (config.autoreset == TY_AUTORESET_DISABLED) {
            watch_reset_ended(&watch, config.slots);
        }
    }
    free(watch.seen);
    ty_pool_close(watch.pool);
}

static Expected *expected_episodes(const TyRuleset *ruleset, const TyPoolConfig *config,
                                   uint32_t slots, uint32_t episodes)
{
    Reference *reference = reference_open(ruleset, config);
    Expected *expected = calloc((size_t)slots * episodes, sizeof *expected);
    for (uint32_t slot = 0; slot < slots; slot++) {
        for (uint32_t e = 0; e < episodes; e++) {
            expected[slot * episodes + e] =
                reference_episode(reference, config->seed + slot, slot, e);
        }
    }
    free(reference);
    return expected;
}

static void watch_modes(const char *spec, TyPoolConfig config, uint32_t episodes)
{
    TyRuleset *ruleset = reference_ruleset(spec);
    Expected *expected = expected_episodes(ruleset, &config, config.slots, episodes);
    for (uint32_t i = 0; i < 3; i++) {
        config.autoreset = all_modes[i];
        watch_pool(ruleset, config, expected, episodes);
    }
    free(expected);
    ty_ruleset_close(ruleset);
}

/* ---- Independence ---- */

#ifdef SANITIZED_THREAD
enum { BATCH_LARGEST = 96 }; /* some rows for each of eight threads: enough for every race */
#else
enum { BATCH_LARGEST = 1024 };
#endif

/* Every batch with every number of groups and threads. The largest one takes nearly all of the
 * time: there, each pair of groups and threads has one way of resetting, each of which comes three
 * times. */
static void check_batches(const char *name)
{
    static const uint32_t batches[] = {1, 7, 64, BATCH_LARGEST};
    static const uint32_t groups[] = {1, 2, 5};
    static const uint32_t threads[] = {1, 2, 8};
    TyRuleset *ruleset = reference_ruleset(name);
    TyPoolConfig config = {.seed = 100, .max_steps = 24};
    Expected *expected = expected_episodes(ruleset, &config, BATCH_LARGEST, 2);
    for (uint32_t i = 0; i < 4 * 3 * 3 * 3; i++) {
        uint32_t group = i / 4 % 3;
        uint32_t thread = i / 12 % 3;
        uint32_t mode = i / 36;
        config.slots = batches[i % 4];
        config.groups = groups[group];
        config.threads = threads[thread];
        config.autoreset = all_modes[mode];
        bool wanted = config.slots < BATCH_LARGEST || mode == (group + thread) % 3;
        if (wanted && config.groups <= config.slots) {
            watch_pool(ruleset, config, expected, 2);
        }
    }
    free(expected);
    ty_ruleset_close(ruleset);
}

static void test_slots_do_not_depend_on_batch_groups_threads_or_resets(void **unused)
{
    (void)unused;
    each_game(check_batches);
}

static void check_whole(const char *name)
{
    watch_modes(name, (TyPoolConfig){.slots = 20, .groups = 3, .threads = 2, .seed = 5}, 4);
}

static void test_whole_episodes_are_those_of_their_seeds(void **unused)
{
    (void)unused;
    each_game(check_whole);
}

static void check_agents(const char *name)
{
    const TyGame *game = ty_game_find(name);
    char spec[TY_SPEC_MAX];
    snprintf(spec, sizeof spec, "%s", name);
    if (strcmp(name, "convoi") == 0) {
        game_with(name, "reward", "shaped", spec);
    }
    TyRuleset *ruleset = reference_ruleset(spec);
    uint32_t players = ty_shape(ruleset)->players;
    ty_ruleset_close(ruleset);
    for (uint32_t driven = 0; driven < players; driven++) {
        TyPoolConfig config = {.slots = 9, .groups = 2, .threads = 2, .seed = 900};
        for (uint32_t seat = 0; seat < players; seat++) {
            config.agent[seat] = seat != driven ? ty_agent_at(game, seat % 2) : NULL;
        }
        watch_modes(spec, config, 3);
        config.max_steps = 30;
        watch_modes(spec, config, 3);
    }
}

/* Rewards earned while others act, and before the first row of an episode, reach their seats. */
static void test_built_in_agents_play_the_other_seats(void **unused)
{
    (void)unused;
    each_game(check_agents);
}

static void check_chance(const char *name)
{
    char spec[TY_SPEC_MAX];
    if (game_with(name, "chance", "seat", spec)) {
        watch_modes(spec, (TyPoolConfig){.slots = 5, .threads = 2, .seed = 3}, 2);
        watch_modes(spec, (TyPoolConfig){.slots = 5, .seed = 3, .own_chance = true}, 2);
    }
}

static void test_chance_seat_is_played_by_weights_or_by_a_member(void **unused)
{
    (void)unused;
    each_game(check_chance);
}

/* Many threads, most of which have to wait for a processor: what they count for themselves adds up
 * to what one thread counts, and the slots are the same. */
static void test_many_threads_count_as_one(void **unused)
{
    (void)unused;
    enum { SLOTS = 2048, STEPS = 40 };
    static const uint32_t threads[] = {1, 3, 16, 64};
    TyPoolCounts counts[4];
    uint64_t hashes[4] = {0};
    for (uint32_t i = 0; i < 4; i++) {
        TyPoolConfig config = {.slots = SLOTS, .threads = threads[i], .hash = true, .max_steps = 9};
        Table table = table_open("express", &config);
        for (uint32_t step = 0; step < STEPS; step++) {
            uint32_t illegal = 1;
            ty_sample_rows(table.slab, 0, 1);
            int32_t *actions = ty_slab_column(table.slab, 0, TY_COLUMN_ACTION);
            actions[step] = -1; /* refused, unless the episode is over */
            bool over = row_ended(table.slab, step);
            assert_int_equal(ty_pool_step(table.pool, 0, 0, &illegal), SLOTS);
            assert_int_equal(illegal, over ? 0 : 1);
        }
        counts[i] = ty_pool_counts(table.pool);
        hashes[i] =
            hash_bytes(0, ty_slab_column(table.slab, 0, TY_COLUMN_HASH), SLOTS * sizeof(uint64_t));
        assert_true(counts[i].episodes >= SLOTS * 3);
        assert_true(counts[i].decisions == counts[0].decisions);
        assert_true(counts[i].episodes == counts[0].episodes);
        assert_true(hashes[i] == hashes[0]);
        table_close(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads_count_as_one),
        cmocka_unit_test(test_slots_do_not_depend_on_batch_groups_threads_or_resets),
        cmocka_unit_test(test_whole_episodes_are_those_of_their_seeds),
        cmocka_unit_test(test_built_in_agents_play_the_other_seats),
        cmocka_unit_test(test_chance_seat_is_played_by_weights_or_by_a_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
