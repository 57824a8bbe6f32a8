/* Pools: how episodes follow each other, illegal actions, observers, and what is refused. */
#include "tests/pool/pool_table.h"

#include "game.h"

/* ---- Small pools, looked at closely ---- */

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

static void test_reset_takes_numbers_of_episodes(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .max_steps = 3, .autoreset = TY_AUTORESET_SAME_STEP};
    for (uint32_t keyed = 0; keyed < 2; keyed++) {
        config.keyed = keyed != 0;
        Table whole = table_open("convoi", &config);
        Table later = table_open("convoi", &config);
        ty_pool_reset(whole.pool, NULL, (const uint64_t[]){7, 90});
        ty_pool_step_random(whole.pool, 0, 0, REFERENCE_SAMPLE_SEED, 3 * 3);
        ty_pool_reset_to(later.pool, &(TyReset){.seeds = (const uint64_t[]){7, 90},
                                                .episodes = (const uint64_t[]){3, 3}});
        for (uint32_t i = 0; i < 3 * 3; i++) {
            assert_int_equal(slab_u32(later.slab, 1, TY_COLUMN_EPISODE), 3 + i / 3);
            assert_true(slot_hash(&later, 0) == slot_hash(&whole, 0));
            assert_true(slot_hash(&later, 1) == slot_hash(&whole, 1));
            ty_pool_step_random(whole.pool, 0, 0, REFERENCE_SAMPLE_SEED, 1);
            ty_pool_step_random(later.pool, 0, 0, REFERENCE_SAMPLE_SEED, 1);
        }
        /* Without seeds the slots keep theirs, and only those that are named jump. */
        uint64_t there = slot_hash(&later, 1);
        ty_pool_reset_to(later.pool, &(TyReset){.which = (const uint8_t[]){1, 0},
                                                .episodes = (const uint64_t[]){6, 0}});
        assert_true(slot_hash(&later, 0) == slot_hash(&whole, 0));
        assert_true(slot_hash(&later, 1) == there);
        table_close(&whole);
        table_close(&later);
    }
}

/* ---- Keys ---- */

static uint64_t slot_seed(const Table *table, uint32_t slot)
{
    return *(uint64_t *)slab_cell(table->slab, slot, TY_COLUMN_SEED);
}

/* The seeds of the first episodes of 4 slots, one after the other. */
static void seeds_collect(const TyPoolConfig *config, uint64_t seeds[16])
{
    Table table = table_open("convoi", config);
    for (uint32_t episode = 0; episode < 4; episode++) {
        for (uint32_t slot = 0; slot < 4; slot++) {
            seeds[episode * 4 + slot] = slot_seed(&table, slot);
        }
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_reset(table.pool, NULL, NULL);
    }
    table_close(&table);
}

static void test_seeds_of_a_keyed_pool_come_from_its_key_alone(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 4, .seed = 40, .keyed = true, .key = {1, 2, 3}};
    uint64_t seeds[16];
    uint64_t others[16];
    seeds_collect(&config, seeds);
    assert_int_equal(seeds[0],
                     0x0dbae1be4a25aaefu); /* pinned: a key names the same episodes for ever */
    assert_int_equal(seeds[15], 0x5d081b58f3514fa6u);
    config.seed = 41;
    seeds_collect(&config, others);
    assert_memory_equal(seeds, others, sizeof seeds);
    config.key[TY_KEY_SIZE - 1] ^= 0x80;
    seeds_collect(&config, others);
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t k = 0; k < 16; k++) {
            assert_true(seeds[i] != others[k] && (i == k || seeds[i] != seeds[k]));
        }
    }
}

/* A seed that a reset names is that of the episode; from the next one on the key decides again. */
static void test_a_reset_of_a_keyed_pool_takes_exact_seeds(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .keyed = true, .key = {9}};
    TyPoolConfig plain = {.slots = 2, .seed = 7};
    Table table = table_open("convoi", &config);
    Table known = table_open("convoi", &plain);
    ty_pool_reset(table.pool, NULL, (const uint64_t[]){7, 8});
    for (uint32_t slot = 0; slot < 2; slot++) {
        assert_int_equal(slot_seed(&table, slot), 7 + slot);
        assert_true(slot_hash(&table, slot) == slot_hash(&known, slot));
    }
    table_sample(&table, 0);
    ty_pool_step(table.pool, 0, 0, NULL);
    ty_pool_reset(table.pool, NULL, NULL);
    assert_true(slot_seed(&table, 0) != ty_episode_seed(7, 1));
    table_close(&table);
    table_close(&known);
}

/* Two keys, one seed: the same deal, but built-in agents act differently. */
static void check_agents_are_keyed_apart(const char *name)
{
    const TyAgent *random = ty_agent_find(ty_game_find(name), "random");
    uint64_t dealt[2];
    uint64_t played[2];
    for (uint8_t i = 0; i < 2; i++) {
        TyPoolConfig config = {.slots = 1, .keyed = true, .key = {i}};
        config.autoreset = TY_AUTORESET_DISABLED;
        for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
            config.agent[seat] = random;
        }
        Table table = table_open(name, &config);
        ty_pool_reset(table.pool, NULL, (const uint64_t[]){5});
        dealt[i] = slot_hash(&table, 0);
        while (!row_ended(table.slab, 0)) {
            ty_pool_step(table.pool, 0, 0, NULL);
        }
        played[i] = slot_hash(&table, 0);
        table_close(&table);
    }
    assert_true(dealt[0] == dealt[1]);
    assert_true(played[0] != played[1]);
}

static void test_agents_are_keyed_apart_from_chance(void **unused)
{
    (void)unused;
    each_game(check_agents_are_keyed_apart);
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

static bool follow_end(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    (void)ending, (void)state;
    Follower *follower = user;
    follower->ended++;
    follower->shown += row_ended(ty_pool_slab(follower->pool, 0), slot);
    return true;
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
static void (*counted_observe)(const TyRuleset *, const void *, uint32_t, bool, uint8_t *);

static void counting_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                             uint8_t *row)
{
    full_rows += full;
    counted_observe(ruleset, state, seat, full, row);
}

/* A hash reads the fields of the state: where nobody asked for hashes there are none to read. */
static void test_columns_that_nobody_asked_for_are_not_computed(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi");
    const TyGame *game = ruleset->game;
    counting_game = *game;
    counted_observe = game->observe;
    counting_game.observe = counting_observe;
    ruleset->game = &counting_game;
    for (uint32_t asked = 0; asked < 2; asked++) {
        TyPoolConfig config = {.slots = 3, .full = asked == 1, .hash = asked == 1};
        TyPool *pool = NULL;
        full_rows = 0;
        counting_game.state_fields = asked == 1 ? game->state_fields : NULL;
        assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
        for (uint32_t i = 0; i < 200; i++) {
            ty_sample_rows(ty_pool_slab(pool, 0), 0, 1);
            ty_pool_step(pool, 0, 0, NULL);
        }
        const TySlab *slab = ty_pool_slab(pool, 0);
        assert_int_equal(ty_slab_column(slab, 0, TY_COLUMN_FULL) != NULL, asked);
        assert_int_equal(ty_slab_column(slab, 0, TY_COLUMN_HASH) != NULL, asked);
        assert_int_equal(full_rows > 0, asked);
        if (asked == 1) {
            const uint64_t *hashes = ty_slab_column(slab, 0, TY_COLUMN_HASH);
            assert_true(hashes[0] == ty_hash(ruleset, ty_pool_state(pool, 0)));
        }
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
    const TyPoolConfig bad[] = {
        {.slots = 0},
        {.slots = TY_SLOTS_MAX + 1},
        {.slots = 2, .groups = 3},
        {.slots = 1000, .groups = TY_GROUPS_MAX + 1},
        {.slots = 1, .threads = TY_THREADS_MAX + 1},
        {.slots = 1, .members = TY_MEMBERS_MAX + 1},
        {.slots = 1, .owner = {0, 1}},
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

/* ---- Endings that the observer holds back ---- */

typedef struct Holder {
    bool holds;
    uint32_t asked;
    uint32_t again;
    uint32_t told;
} Holder;

static bool hold_end(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    Holder *holder = user;
    (void)slot;
    assert_true(ending != NULL ? ending->cause == TY_CAUSE_STEPS : holder->again++ < 1000);
    assert_true(ty_head(state)->steps > 0);
    holder->asked += ending != NULL;
    holder->told += !holder->holds;
    return !holder->holds;
}

/* Steps until nothing is ready; returns how many rows showed an ending on the way. */
static uint32_t play_until_held(Table *table)
{
    const TySlab *slab = ty_pool_slab(table->pool, 0);
    uint32_t ended = 0;
    while (ty_pool_ready(table->pool, 0, 0) > 0) {
        table_sample(table, 0);
        ty_pool_step(table->pool, 0, 0, NULL);
        for (uint32_t i = 0; i < slab->group[0].rows; i++) {
            ended += row_ended(slab, i);
        }
    }
    return ended;
}

static void check_held(TyAutoreset autoreset)
{
    TyPoolConfig config = {.slots = 4, .max_steps = 3, .autoreset = autoreset};
    Table table = table_open("convoi", &config);
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    uint8_t saved[8192];
    Holder holder = {.holds = true};
    const TyObserver observer = {.user = &holder, .end = hold_end};
    ty_pool_observe(table.pool, &observer);
    assert_true(ty_pool_snapshot_size(table.pool) <= sizeof saved);
    assert_int_equal(play_until_held(&table), 0);
    assert_int_equal(ty_pool_held(table.pool), 4);
    assert_int_equal(ty_pool_pending(table.pool, 0, 0), 4);
    assert_int_equal(ty_pool_counts(table.pool).episodes, 0);
    assert_true(ty_pool_slot_held(table.pool, 2) && ty_pool_over(table.pool, 2));
    /* Nobody who comes or goes changes that; a reset does, and so does a snapshot. */
    ty_pool_set_present(table.pool, 0, false);
    ty_pool_set_present(table.pool, 0, true);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    ty_pool_save(table.pool, 1, saved);
    const uint8_t which[4] = {1, 0, 0, 0};
    ty_pool_reset(table.pool, which, NULL);
    const uint32_t slot = 1;
    assert_int_equal(ty_pool_restore(table.pool, saved, &slot, 1, &(TyRestore){.seat = -1}).code,
                     TY_OK);
    assert_int_equal(ty_pool_held(table.pool), 2);
    assert_int_equal(ty_pool_release(table.pool), 2);
    holder.holds = false;
    assert_int_equal(ty_pool_release(table.pool), 0);
    assert_int_equal(ty_pool_counts(table.pool).episodes, 2);
    assert_true(row_ended(slab, 2) && row_ended(slab, 3) && holder.again >= 3);
    assert_int_equal(ty_pool_over(table.pool, 2), autoreset != TY_AUTORESET_SAME_STEP);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), autoreset == TY_AUTORESET_DISABLED ? 1 : 4);
    table_close(&table);
}

static void test_an_ending_that_is_held_back_is_not_told(void **unused)
{
    (void)unused;
    check_held(TY_AUTORESET_NEXT_STEP);
    check_held(TY_AUTORESET_SAME_STEP);
    check_held(TY_AUTORESET_DISABLED);
}

/* In same_step mode agents may play whole episodes between two questions: these are held as well,
 * and the ending before them comes out whole. */
static bool hold_every_third(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    Holder *holder = user;
    (void)slot, (void)state;
    holder->asked += ending != NULL;
    return ending == NULL || holder->asked % 3 != 0;
}

static void test_episodes_that_ask_nobody_are_held_too(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 8, .max_steps = 1, .autoreset = TY_AUTORESET_SAME_STEP};
    config.agent[0] = ty_agent_find(ty_game_find("express"), "random");
    Table free_table = table_open("express", &config);
    Table table = table_open("express", &config);
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    Holder holder = {.holds = false};
    const TyObserver observer = {.user = &holder, .end = hold_every_third};
    uint32_t held = 0;
    ty_pool_observe(table.pool, &observer);
    while (ty_pool_release(table.pool) > 0) {
    }
    for (uint32_t i = 0; i < 20; i++) {
        table_sample(&table, 0);
        table_sample(&free_table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_step(free_table.pool, 0, 0, NULL);
        held += ty_pool_held(table.pool);
        while (ty_pool_release(table.pool) > 0) {
        }
        assert_memory_equal(slab->rows, ty_pool_slab(free_table.pool, 0)->rows, slab->rows_size);
    }
    assert_true(held > 10 && holder.asked > 200); /* many of them behind others */
    table_close(&free_table);
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_step_shows_the_ending_then_begins),
        cmocka_unit_test(test_disabled_slot_waits_for_its_reset),
        cmocka_unit_test(test_reset_takes_seeds_and_counts_anew),
        cmocka_unit_test(test_reset_takes_numbers_of_episodes),
        cmocka_unit_test(test_seeds_of_a_keyed_pool_come_from_its_key_alone),
        cmocka_unit_test(test_a_reset_of_a_keyed_pool_takes_exact_seeds),
        cmocka_unit_test(test_agents_are_keyed_apart_from_chance),
        cmocka_unit_test(test_step_some_moves_only_its_rows),
        cmocka_unit_test(test_illegal_actions_touch_only_their_row),
        cmocka_unit_test(test_replaced_actions_depend_on_the_episode_alone),
        cmocka_unit_test(test_observer_hears_of_an_ending_before_any_member),
        cmocka_unit_test(test_an_ending_that_is_held_back_is_not_told),
        cmocka_unit_test(test_episodes_that_ask_nobody_are_held_too),
        cmocka_unit_test(test_columns_that_nobody_asked_for_are_not_computed),
        cmocka_unit_test(test_members_other_than_the_director_get_no_privileged_columns),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_attached_memory_holds_the_rows),
        cmocka_unit_test(test_ten_thousand_slots_fit_in_64_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
