/* Pools: every slot plays what its seed says, whatever the batch, the groups, the threads and the
 * way in which episodes follow each other. */
#include "tests/pool_reference.h"
#include "tests/sanitizers.h"

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

static const TyAutoreset all_modes[] = {TY_AUTORESET_NEXT_STEP, TY_AUTORESET_SAME_STEP,
                                        TY_AUTORESET_DISABLED};

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

static void each_game(void (*check)(const char *name))
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        check(ty_game_name(ty_game_at(i)));
    }
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

/* The game with the key set, if it has that key. */
static bool game_with(const char *name, const char *key, const char *value, char spec[TY_SPEC_MAX])
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ty_game_find(name), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            snprintf(spec, TY_SPEC_MAX, "%s:%s=%s", name, key, value);
            return true;
        }
    }
    return false;
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

/* ---- Small pools, looked at closely ---- */

typedef struct Table {
    TyRuleset *ruleset;
    TyPool *pool;
    const TySlab *slab;
} Table;

static Table table_open(const char *spec, const TyPoolConfig *config)
{
    Table table = {.ruleset = reference_ruleset(spec)};
    TyStatus status = ty_pool_open(table.ruleset, config, &table.pool);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    table.slab = ty_pool_slab(table.pool, 0);
    return table;
}

static void table_close(Table *table)
{
    ty_pool_close(table->pool);
    ty_ruleset_close(table->ruleset);
}

static void table_sample(const Table *table, uint32_t member)
{
    for (uint32_t group = 0; group < table->slab->groups; group++) {
        ty_sample_rows(ty_pool_slab(table->pool, member), group, REFERENCE_SAMPLE_SEED);
    }
}

static uint64_t slot_hash(const Table *table, uint32_t slot)
{
    return ty_hash(table->ruleset, ty_pool_state(table->pool, slot));
}

static bool row_ended(const TySlab *slab, uint32_t slot)
{
    return slab_u8(slab, slot, TY_COLUMN_TERMINATED) || slab_u8(slab, slot, TY_COLUMN_TRUNCATED);
}

static void set_action(const Table *table, uint32_t slot, int32_t action)
{
    *(int32_t *)slab_cell(table->slab, slot, TY_COLUMN_ACTION) = action;
}

static void test_next_step_shows_the_ending_then_begins(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 1, .max_steps = 3};
    Table table = table_open("convoi", &config);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(row_ended(table.slab, 0));
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
    }
    assert_true(slab_u8(table.slab, 0, TY_COLUMN_TRUNCATED));
    assert_true(slab_u8(table.slab, 0, TY_COLUMN_READY));
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_STEP), 3);
    set_action(&table, 0, 12345); /* whatever the answer to an ending is */
    uint32_t illegal = 9;
    assert_int_equal(ty_pool_step(table.pool, 0, 0, &illegal), 1);
    assert_int_equal(illegal, 0);
    assert_false(row_ended(table.slab, 0));
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_STEP), 0);
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    assert_true(*(float *)slab_cell(table.slab, 0, TY_COLUMN_REWARD) == 0);
    table_close(&table);
}

static void test_disabled_slot_waits_for_its_reset(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .max_steps = 2, .autoreset = TY_AUTORESET_DISABLED};
    Table table = table_open("convoi", &config);
    for (uint32_t i = 0; i < 4; i++) {
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
    }
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    assert_true(row_ended(table.slab, 0) && row_ended(table.slab, 1));
    uint64_t before = slot_hash(&table, 1);
    ty_pool_reset(table.pool, (const uint8_t[]){1, 0}, NULL);
    assert_false(row_ended(table.slab, 0));
    assert_true(row_ended(table.slab, 1));
    assert_true(slot_hash(&table, 1) == before);
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    table_close(&table);
}

static void test_reset_takes_seeds_and_counts_anew(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 3, .groups = 2, .seed = 40};
    Table table = table_open("convoi", &config);
    uint64_t fresh[3];
    for (uint32_t slot = 0; slot < 3; slot++) {
        fresh[slot] = slot_hash(&table, slot);
    }
    /* A reset of an episode that has not begun changes nothing. */
    ty_pool_reset(table.pool, NULL, NULL);
    assert_true(slot_hash(&table, 0) == fresh[0]);
    for (uint32_t i = 0; i < 5; i++) {
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_step(table.pool, 0, 1, NULL);
    }
    uint64_t moved = slot_hash(&table, 0);
    ty_pool_reset(table.pool, (const uint8_t[]){0, 1, 1}, (const uint64_t[]){7, 41, 42});
    assert_true(slot_hash(&table, 0) == moved);
    assert_true(slot_hash(&table, 1) == fresh[1]);
    assert_true(slot_hash(&table, 2) == fresh[2]);
    ty_pool_reset(table.pool, NULL, NULL);
    assert_true(*(uint64_t *)slab_cell(table.slab, 0, TY_COLUMN_SEED) == ty_episode_seed(40, 1));
    assert_int_equal(slab_u32(table.slab, 1, TY_COLUMN_EPISODE), 0);
    table_close(&table);
}

static void test_step_some_moves_only_its_rows(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 4};
    Table table = table_open("convoi", &config);
    uint64_t before = slot_hash(&table, 0);
    table_sample(&table, 0);
    assert_int_equal(ty_pool_step_some(table.pool, 0, 0, (const uint8_t[]){0, 1, 0, 1}, NULL), 4);
    assert_true(slot_hash(&table, 0) == before);
    assert_int_equal(ty_head(ty_pool_state(table.pool, 1))->steps, 1);
    assert_int_equal(ty_head(ty_pool_state(table.pool, 2))->steps, 0);
    table_close(&table);
}

/* ---- Illegal actions ---- */

/* Slot 1 of two pools gets an action that the mask forbids, in one of them; slots 0 and 2 must not
 * notice. */
static void check_illegal(TyIllegal policy, int32_t action)
{
    TyPoolConfig config = {.slots = 3, .seed = 8, .illegal = policy};
    Table table = table_open("convoi", &config);
    Table twin = table_open("convoi", &config);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t illegal = 0;
        table_sample(&table, 0);
        table_sample(&twin, 0);
        set_action(&table, 1, action);
        uint64_t before = slot_hash(&table, 1);
        ty_pool_step(table.pool, 0, 0, &illegal);
        ty_pool_step(twin.pool, 0, 0, NULL);
        assert_int_equal(illegal, policy == TY_ILLEGAL_ERROR);
        assert_int_equal(slab_u8(table.slab, 1, TY_COLUMN_ILLEGAL), 1);
        for (uint32_t slot = 0; slot < 3; slot += 2) {
            assert_true(slot_hash(&table, slot) == slot_hash(&twin, slot));
            assert_int_equal(slab_u8(table.slab, slot, TY_COLUMN_ILLEGAL), 0);
            assert_memory_equal(slab_cell(table.slab, slot, TY_COLUMN_OBS),
                                slab_cell(twin.slab, slot, TY_COLUMN_OBS),
                                ty_shape(table.ruleset)->row_size);
        }
        bool still = slot_hash(&table, 1) == before;
        assert_int_equal(still, policy != TY_ILLEGAL_RANDOM_LEGAL);
        if (policy == TY_ILLEGAL_LOSE) {
            assert_true(slab_u8(table.slab, 1, TY_COLUMN_TERMINATED));
            const float *final = slab_cell(table.slab, 1, TY_COLUMN_FINAL_REWARD);
            assert_true(final[0] == -1 && final[1] == -1); /* a cooperative game: all lose */
            break;
        }
    }
    table_close(&table);
    table_close(&twin);
}

static void test_illegal_actions_touch_only_their_row(void **unused)
{
    (void)unused;
    for (uint32_t policy = 0; policy <= TY_ILLEGAL_LOSE; policy++) {
        check_illegal((TyIllegal)policy, 0);
        check_illegal((TyIllegal)policy, -1);
        check_illegal((TyIllegal)policy, INT32_MAX);
        check_illegal((TyIllegal)policy, INT32_MIN);
    }
}

/* Episode 1 after a whole episode of replaced actions is as if it had been the first. */
static void test_replaced_actions_depend_on_the_episode_alone(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 1, .seed = 3, .illegal = TY_ILLEGAL_RANDOM_LEGAL};
    Table table = table_open("convoi", &config);
    while (slab_u32(table.slab, 0, TY_COLUMN_EPISODE) == 0) {
        set_action(&table, 0, -1);
        ty_pool_step(table.pool, 0, 0, NULL);
    }
    config.seed = *(uint64_t *)slab_cell(table.slab, 0, TY_COLUMN_SEED);
    Table alone = table_open("convoi", &config);
    for (uint32_t i = 0; i < 50; i++) {
        assert_true(slot_hash(&table, 0) == slot_hash(&alone, 0));
        set_action(&table, 0, -1);
        set_action(&alone, 0, -1);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_step(alone.pool, 0, 0, NULL);
    }
    table_close(&table);
    table_close(&alone);
}

/* ---- Members ---- */

/* Two members who own a seat each see the rows that one member with both seats sees. */
static void check_two_members(const char *name)
{
    TyRuleset *probe = reference_ruleset(name);
    uint32_t seats = ty_shape(probe)->players;
    ty_ruleset_close(probe);
    TyPoolConfig config = {.slots = 5, .seed = 60, .members = 2};
    TyPoolConfig single = {.slots = 5, .seed = 60};
    for (uint32_t seat = 0; seat < seats; seat++) {
        config.owner[seat] = (uint8_t)(seat % 2);
    }
    Table table = table_open(name, &config);
    Table both = table_open(name, &single);
    const TyShape *shape = ty_shape(table.ruleset);
    uint32_t endings = 0;
    while (endings < 20) {
        table_sample(&both, 0);
        table_sample(&table, 0);
        table_sample(&table, 1);
        for (uint32_t slot = 0; slot < config.slots; slot++) {
            uint32_t seat = slab_u8(both.slab, slot, TY_COLUMN_SEAT);
            bool ended = row_ended(both.slab, slot);
            endings += ended;
            for (uint32_t member = 0; member < 2; member++) {
                const TySlab *slab = ty_pool_slab(table.pool, member);
                bool asked = ended || seat % 2 == member;
                assert_int_equal(slab_u8(slab, slot, TY_COLUMN_READY), asked);
                assert_int_equal(row_ended(slab, slot), ended);
                bool knows = member == 0 || ended;
                assert_true(
                    !asked ||
                    *(uint64_t *)slab_cell(slab, slot, TY_COLUMN_SEED) ==
                        (knows ? *(uint64_t *)slab_cell(both.slab, slot, TY_COLUMN_SEED) : 0));
                if (asked && seat % 2 == member) {
                    assert_int_equal(slab_u8(slab, slot, TY_COLUMN_SEAT), seat);
                    assert_memory_equal(slab_cell(slab, slot, TY_COLUMN_OBS),
                                        slab_cell(both.slab, slot, TY_COLUMN_OBS), shape->row_size);
                    assert_memory_equal(slab_cell(slab, slot, TY_COLUMN_MASK),
                                        slab_cell(both.slab, slot, TY_COLUMN_MASK),
                                        shape->action_count);
                    assert_true(*(float *)slab_cell(slab, slot, TY_COLUMN_REWARD) ==
                                *(float *)slab_cell(both.slab, slot, TY_COLUMN_REWARD));
                }
                for (uint32_t k = 0; ended && k < slab->seat_count; k++) {
                    assert_true(((float *)slab_cell(slab, slot, TY_COLUMN_FINAL_REWARD))[k] ==
                                ((float *)slab_cell(both.slab, slot,
                                                    TY_COLUMN_FINAL_REWARD))[slab->seats[k]]);
                }
            }
        }
        ty_pool_step(both.pool, 0, 0, NULL);
        /* Each answers the rows that it had, not those that the other's answer brings. */
        uint8_t which[5];
        memcpy(which, slab_cell(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_READY), sizeof which);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_step_some(table.pool, 1, 0, which, NULL);
    }
    table_close(&table);
    table_close(&both);
}

static void test_two_members_see_their_own_rows(void **unused)
{
    (void)unused;
    each_game(check_two_members);
}

/* A director without seats is told what came of each episode, and of nothing else. */
static void check_seatless_director(const char *spec)
{
    TyPoolConfig config = {.slots = 1,
                           .seed = 23,
                           .members = 2,
                           .owner = {1, 1, 1, 1},
                           .autoreset = TY_AUTORESET_DISABLED};
    Table table = table_open(spec, &config);
    const TySlab *director = ty_pool_slab(table.pool, 0);
    const TySlab *player = ty_pool_slab(table.pool, 1);
    uint32_t players = ty_shape(table.ruleset)->players;
    assert_int_equal(director->group[0].columns[TY_COLUMN_EARNED].width, players);
    for (uint64_t seed = 23; seed < 26; seed++) {
        float sums[TY_SEATS_MAX] = {0};
        ty_pool_reset(table.pool, NULL, &seed);
        assert_false(row_ended(director, 0));
        while (!row_ended(player, 0)) {
            assert_false(row_ended(director, 0));
            table_sample(&table, 1);
            ty_pool_step(table.pool, 1, 0, NULL);
            for (uint32_t k = 0; k < players; k++) {
                sums[k] += ((const float *)slab_cell(player, 0, TY_COLUMN_EARNED))[k];
            }
        }
        assert_true(row_ended(director, 0));
        assert_int_equal(slab_u8(director, 0, TY_COLUMN_READY), 0);
        assert_int_equal(*(const int8_t *)slab_cell(director, 0, TY_COLUMN_SEAT), -1);
        assert_int_equal(*(const uint64_t *)slab_cell(director, 0, TY_COLUMN_SEED), seed);
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_EARNED), sums,
                            players * sizeof(float));
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_STEP),
                            slab_cell(player, 0, TY_COLUMN_STEP), sizeof(uint32_t));
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_METRICS),
                            slab_cell(player, 0, TY_COLUMN_METRICS),
                            ty_shape(table.ruleset)->metric_count * sizeof(int32_t));
    }
    table_close(&table);
}

static void test_director_without_seats_hears_of_endings(void **unused)
{
    (void)unused;
    each_game(check_seatless_director);
}

static uint64_t slab_digest(const TySlab *slab)
{
    return hash_bytes(0, slab->rows, slab->rows_size);
}

/* Nothing in a player's slab changes when only what its seats cannot know differs. */
static void check_isolation(const char *spec)
{
    TyPoolConfig config = {.slots = 1, .seed = 17, .members = 2, .owner = {0, 1, 0, 0}};
    Table table = table_open(spec, &config);
    Table twin = table_open(spec, &config);
    uint8_t *snapshot = malloc(ty_pool_snapshot_size(table.pool));
    uint32_t compared = 0;
    for (uint32_t i = 0; compared < 200; i++) {
        const TySlab *own = ty_pool_slab(table.pool, 1);
        bool asked = slab_u8(own, 0, TY_COLUMN_READY) && !row_ended(own, 0);
        if (asked) {
            uint64_t key = hash_mix(i + 1);
            TyRestore same = {.seat = -1};
            TyRestore other = {.keys = &key, .seat = 1};
            ty_pool_save(table.pool, 0, snapshot);
            assert_int_equal(ty_pool_restore(table.pool, snapshot, (uint32_t[]){0}, 1, &same).code,
                             TY_OK);
            assert_int_equal(ty_pool_restore(twin.pool, snapshot, (uint32_t[]){0}, 1, &other).code,
                             TY_OK);
            /* The final columns are of past episodes, which the twin did not play. */
            const TySlab *theirs = ty_pool_slab(twin.pool, 1);
            static const TyColumn columns[] = {
                TY_COLUMN_OBS,  TY_COLUMN_MASK,       TY_COLUMN_REWARD,    TY_COLUMN_EARNED,
                TY_COLUMN_SEAT, TY_COLUMN_TERMINATED, TY_COLUMN_TRUNCATED, TY_COLUMN_EPISODE,
                TY_COLUMN_STEP, TY_COLUMN_SEED,       TY_COLUMN_READY,
            };
            for (uint32_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
                uint32_t width = own->group[0].columns[columns[c]].width;
                assert_memory_equal(slab_cell(own, 0, columns[c]), slab_cell(theirs, 0, columns[c]),
                                    width);
            }
            compared++;
        }
        uint32_t member = asked ? 1 : 0;
        /* While the other member acts, this one's slab stands still until it is asked. */
        uint64_t before = slab_digest(own);
        table_sample(&table, member);
        bool ended = row_ended(own, 0);
        ty_pool_step(table.pool, member, 0, NULL);
        if (!asked && !ended && !slab_u8(own, 0, TY_COLUMN_READY)) {
            assert_true(slab_digest(own) == before);
        }
        if (ended) {
            ty_pool_step(table.pool, 1, 0, NULL);
        }
    }
    free(snapshot);
    table_close(&table);
    table_close(&twin);
}

static void test_a_player_sees_nothing_of_what_is_hidden(void **unused)
{
    (void)unused;
    char spec[TY_SPEC_MAX];
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const char *name = ty_game_name(ty_game_at(i));
        check_isolation(name);
        if (strcmp(name, "convoi") == 0 && game_with(name, "hands", "hidden", spec)) {
            check_isolation(spec);
        }
    }
}

static TyPoolConfig two_member_config(uint32_t max_steps)
{
    return (TyPoolConfig){
        .slots = 2, .seed = 1, .members = 2, .owner = {0, 1}, .max_steps = max_steps};
}

/* Steps whoever is ready until slot 0 asks a seat of `member`. */
static void play_until_asked(const Table *table, uint32_t member)
{
    const TySlab *slab = ty_pool_slab(table->pool, member);
    while (!slab_u8(slab, 0, TY_COLUMN_READY)) {
        table_sample(table, 1 - member);
        ty_pool_step(table->pool, 1 - member, 0, NULL);
    }
}

static void test_absent_member_is_waited_for_only_where_it_acts(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    play_until_asked(&table, 1);
    ty_pool_set_present(table.pool, 1, false);
    uint64_t before = slot_hash(&table, 0);
    for (uint32_t i = 0; i < 300; i++) {
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
    }
    assert_true(slot_hash(&table, 0) == before);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    ty_pool_set_present(table.pool, 1, true);
    table_sample(&table, 1);
    ty_pool_step(table.pool, 1, 0, NULL);
    assert_true(slot_hash(&table, 0) != before);
    table_close(&table);
}

static void test_ending_does_not_wait_for_an_absent_member(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(1);
    Table table = table_open("convoi", &config);
    table_sample(&table, 0);
    ty_pool_step(table.pool, 0, 0, NULL);
    assert_true(row_ended(table.slab, 0));
    assert_true(row_ended(ty_pool_slab(table.pool, 1), 0));
    ty_pool_step(table.pool, 0, 0, NULL); /* member 0 has seen the ending */
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 0);
    ty_pool_set_present(table.pool, 1, false); /* and nobody waits for member 1 */
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    assert_int_equal(ty_head(ty_pool_state(table.pool, 0))->steps, 0);
    table_close(&table);
}

static void test_ending_that_nobody_saw_is_answered_later(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .seed = 1};
    Table table = table_open("convoi", &config);
    ty_pool_set_present(table.pool, 0, false);
    ty_pool_truncate(table.pool, 0);
    assert_true(slab_u8(table.slab, 1, TY_COLUMN_TRUNCATED));
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    ty_pool_set_present(table.pool, 0, true);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 2);
    assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 2);
    assert_false(row_ended(table.slab, 0));
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    table_close(&table);
}

static void test_truncate_cuts_only_where_the_member_is_to_act(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    play_until_asked(&table, 1);
    ty_pool_truncate(table.pool, 0); /* member 0 is not asked in slot 0 */
    assert_false(row_ended(table.slab, 0));
    ty_pool_truncate(table.pool, 1);
    for (uint32_t member = 0; member < 2; member++) {
        const TySlab *slab = ty_pool_slab(table.pool, member);
        assert_true(slab_u8(slab, 0, TY_COLUMN_TRUNCATED));
        assert_true(slab_u8(slab, 0, TY_COLUMN_READY));
        assert_null(
            memchr(slab_cell(slab, 0, TY_COLUMN_MASK), 1, ty_shape(table.ruleset)->action_count));
    }
    table_close(&table);
}

static void test_hand_over_lets_an_agent_play_on(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
    play_until_asked(&table, 1);
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 2);
    uint32_t endings = 0;
    for (uint32_t i = 0; i < 500; i++) {
        table_sample(&table, 0);
        assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 2);
        endings += row_ended(table.slab, 0);
        assert_false(slab_u8(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_READY));
    }
    assert_true(endings > 3);
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    table_close(&table);
}

/* With nobody left who could be asked, a pool comes to rest in every mode. */
static void test_hand_over_of_every_seat_comes_to_rest(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 3; i++) {
        TyPoolConfig config = {.slots = 2, .autoreset = all_modes[i]};
        Table table = table_open("convoi", &config);
        const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
        assert_int_equal(ty_pool_hand_over(table.pool, 0, agent).code, TY_OK);
        assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
        table_close(&table);
    }
}

/* Built-in agents use up max_steps before the member is ever asked. */
static void test_episodes_that_never_ask_do_not_hang(void **unused)
{
    (void)unused;
    TyRuleset *probe = reference_ruleset("convoi");
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(probe), "random");
    ty_ruleset_close(probe);
    TyPoolConfig config = {
        .slots = 1, .max_steps = 1, .autoreset = TY_AUTORESET_SAME_STEP, .agent = {agent, NULL}};
    Table table = table_open("convoi", &config);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(slab_u8(table.slab, 0, TY_COLUMN_TRUNCATED));
        table_sample(&table, 0);
        assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 1);
    }
    table_close(&table);
}

/* ---- Observers ---- */

typedef struct Follower {
    TyPool *pool;
    uint32_t begun;
    uint32_t decisions;
    uint32_t ended;
    uint32_t shown; /* endings that a member could see before the observer did */
} Follower;

static void follow_begin(void *user, uint32_t slot, uint64_t seed, uint64_t episode,
                         const void *state)
{
    (void)slot;
    assert_int_equal(ty_head(state)->steps, 0);
    assert_true(seed == ty_episode_seed(0, episode));
    ((Follower *)user)->begun++;
}

static void follow_decision(void *user, uint32_t slot, uint32_t action, const int32_t *reward,
                            const void *state)
{
    (void)slot, (void)action, (void)reward, (void)state;
    ((Follower *)user)->decisions++;
}

static void follow_end(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    (void)ending, (void)state;
    Follower *follower = user;
    follower->ended++;
    follower->shown += row_ended(ty_pool_slab(follower->pool, 0), slot);
}

static void test_observer_hears_of_an_ending_before_any_member(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 1};
    Table table = table_open("convoi", &config);
    Follower follower = {.pool = table.pool};
    const TyObserver observer = {
        .user = &follower, .begin = follow_begin, .decision = follow_decision, .end = follow_end};
    ty_pool_observe(table.pool, &observer);
    uint32_t seen = 0;
    uint32_t steps = 0;
    while (seen < 5) {
        table_sample(&table, 0);
        steps += !row_ended(table.slab, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
        seen += row_ended(table.slab, 0);
    }
    assert_int_equal(follower.begun, 5);
    assert_int_equal(follower.ended, 5);
    assert_int_equal(follower.decisions, steps);
    assert_int_equal(follower.shown, 0);
    ty_pool_observe(table.pool, NULL);
    table_sample(&table, 0);
    ty_pool_step(table.pool, 0, 0, NULL);
    assert_int_equal(follower.begun, 5);
    table_close(&table);
}

/* ---- What is not asked for, and what is refused ---- */

static TyGame counting_game;
static uint32_t full_rows;
static uint32_t hashes;
static void (*counted_observe)(const TyRuleset *, const void *, uint32_t, bool, uint8_t *);
static uint64_t (*counted_hash)(const TyRuleset *, const void *, uint64_t);

static void counting_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                             uint8_t *row)
{
    full_rows += full;
    counted_observe(ruleset, state, seat, full, row);
}

static uint64_t counting_hash(const TyRuleset *ruleset, const void *state, uint64_t hash)
{
    hashes++;
    return counted_hash(ruleset, state, hash);
}

static void test_columns_that_nobody_asked_for_are_not_computed(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi");
    counting_game = *ruleset->game;
    counted_observe = counting_game.observe;
    counted_hash = counting_game.hash;
    counting_game.observe = counting_observe;
    counting_game.hash = counting_hash;
    ruleset->game = &counting_game;
    for (uint32_t asked = 0; asked < 2; asked++) {
        TyPoolConfig config = {.slots = 3, .full = asked == 1, .hash = asked == 1};
        TyPool *pool = NULL;
        full_rows = hashes = 0;
        assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
        for (uint32_t i = 0; i < 200; i++) {
            ty_sample_rows(ty_pool_slab(pool, 0), 0, 1);
            ty_pool_step(pool, 0, 0, NULL);
        }
        const TySlab *slab = ty_pool_slab(pool, 0);
        assert_int_equal(ty_slab_column(slab, 0, TY_COLUMN_FULL) != NULL, asked);
        assert_int_equal(ty_slab_column(slab, 0, TY_COLUMN_HASH) != NULL, asked);
        assert_int_equal(full_rows > 0, asked);
        assert_int_equal(hashes > 0, asked);
        ty_pool_close(pool);
    }
    ty_ruleset_close(ruleset);
}

static void test_members_other_than_the_director_get_no_privileged_columns(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    config.full = config.hash = true;
    Table table = table_open("convoi", &config);
    assert_non_null(ty_slab_column(table.slab, 0, TY_COLUMN_FULL));
    assert_null(ty_slab_column(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_FULL));
    assert_null(ty_slab_column(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_HASH));
    table_close(&table);
}

static void test_bad_configurations_are_refused(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi");
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(ruleset), "random");
    const TyPoolConfig bad[] = {
        {.slots = 0},
        {.slots = TY_SLOTS_MAX + 1},
        {.slots = 2, .groups = 3},
        {.slots = 1000, .groups = TY_GROUPS_MAX + 1},
        {.slots = 1, .threads = TY_THREADS_MAX + 1},
        {.slots = 1, .members = TY_MEMBERS_MAX + 1},
        {.slots = 1, .owner = {0, 1}},
        {.slots = 1, .agent = {agent, agent}},
        {.slots = 1, .members = 2, .owner = {0, 1}, .autoreset = TY_AUTORESET_SAME_STEP},
        {.slots = 1, .autoreset = (TyAutoreset)9},
        {.slots = 1, .illegal = (TyIllegal)9},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        TyPool *pool = NULL;
        TyStatus status = ty_pool_open(ruleset, &bad[i], &pool);
        assert_int_equal(status.code, TY_BAD_ARGUMENT);
        assert_true(status.message[0] != '\0');
        assert_null(pool);
    }
    ty_ruleset_close(ruleset);
}

static void test_attached_memory_holds_the_rows(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 7, .groups = 2, .seed = 2};
    Table table = table_open("convoi", &config);
    Table plain = table_open("convoi", &config);
    uint8_t *rows = aligned_alloc(TY_SLAB_ALIGN, table.slab->rows_size);
    uint8_t *commands = aligned_alloc(TY_SLAB_ALIGN, table.slab->commands_size);
    ty_pool_attach(table.pool, 0, rows, commands);
    assert_ptr_equal(table.slab->rows, rows);
    for (uint32_t i = 0; i < 300; i++) {
        assert_memory_equal(rows, plain.slab->rows, plain.slab->rows_size);
        for (uint32_t group = 0; group < 2; group++) {
            ty_sample_rows(table.slab, group, 4);
            ty_sample_rows(plain.slab, group, 4);
            ty_pool_step(table.pool, 0, group, NULL);
            ty_pool_step(plain.pool, 0, group, NULL);
        }
    }
    table_close(&table);
    table_close(&plain);
    free(rows);
    free(commands);
}

static void test_ten_thousand_slots_fit_in_64_megabytes(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 10000};
    Table table = table_open("convoi", &config);
    assert_true(ty_pool_slot_bytes(table.pool) * config.slots <= (uint64_t)64 << 20);
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_do_not_depend_on_batch_groups_threads_or_resets),
        cmocka_unit_test(test_whole_episodes_are_those_of_their_seeds),
        cmocka_unit_test(test_built_in_agents_play_the_other_seats),
        cmocka_unit_test(test_chance_seat_is_played_by_weights_or_by_a_member),
        cmocka_unit_test(test_next_step_shows_the_ending_then_begins),
        cmocka_unit_test(test_disabled_slot_waits_for_its_reset),
        cmocka_unit_test(test_reset_takes_seeds_and_counts_anew),
        cmocka_unit_test(test_step_some_moves_only_its_rows),
        cmocka_unit_test(test_illegal_actions_touch_only_their_row),
        cmocka_unit_test(test_replaced_actions_depend_on_the_episode_alone),
        cmocka_unit_test(test_two_members_see_their_own_rows),
        cmocka_unit_test(test_director_without_seats_hears_of_endings),
        cmocka_unit_test(test_a_player_sees_nothing_of_what_is_hidden),
        cmocka_unit_test(test_absent_member_is_waited_for_only_where_it_acts),
        cmocka_unit_test(test_ending_does_not_wait_for_an_absent_member),
        cmocka_unit_test(test_ending_that_nobody_saw_is_answered_later),
        cmocka_unit_test(test_truncate_cuts_only_where_the_member_is_to_act),
        cmocka_unit_test(test_hand_over_lets_an_agent_play_on),
        cmocka_unit_test(test_hand_over_of_every_seat_comes_to_rest),
        cmocka_unit_test(test_episodes_that_never_ask_do_not_hang),
        cmocka_unit_test(test_observer_hears_of_an_ending_before_any_member),
        cmocka_unit_test(test_columns_that_nobody_asked_for_are_not_computed),
        cmocka_unit_test(test_members_other_than_the_director_get_no_privileged_columns),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_attached_memory_holds_the_rows),
        cmocka_unit_test(test_ten_thousand_slots_fit_in_64_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
