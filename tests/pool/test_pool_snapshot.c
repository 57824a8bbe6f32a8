/* Snapshots of slots: saved, restored, forked, imagined; rollouts from them. */
#include "tests/pool/pool_reference.h"

#include "game.h"

enum { CONTINUED = 400 /* rows compared after a restore */ };

typedef struct Table {
    TyRuleset *ruleset;
    TyPool *pool;
    const TySlab *slab;
    uint8_t *snapshot;
} Table;

static Table table_open(const char *spec, TyPoolConfig config, bool with_agent)
{
    Table table = {.ruleset = reference_ruleset(spec)};
    const TyGame *game = ty_ruleset_game(table.ruleset);
    if (with_agent) {
        config.agent[0] = ty_agent_at(game, 0); /* random: it remembers where it is */
    }
    config.hash = true;
    TyStatus status = ty_pool_open(table.ruleset, &config, &table.pool);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    table.slab = ty_pool_slab(table.pool, 0);
    table.snapshot = malloc(ty_pool_snapshot_size(table.pool));
    return table;
}

static void table_close(Table *table)
{
    free(table->snapshot);
    ty_pool_close(table->pool);
    ty_ruleset_close(table->ruleset);
}

/* Actions that depend on episode and step alone, so that slots with the same position do the same.
 */
static void table_step(const Table *table)
{
    const TyShape *shape = ty_shape(table->ruleset);
    for (uint32_t slot = 0; slot < ty_pool_config(table->pool)->slots; slot++) {
        uint64_t counter = (uint64_t)slab_u32(table->slab, slot, TY_COLUMN_EPISODE) << 32 |
                           slab_u32(table->slab, slot, TY_COLUMN_STEP);
        *(int32_t *)slab_cell(table->slab, slot, TY_COLUMN_ACTION) = (int32_t)ty_sample(
            slab_cell(table->slab, slot, TY_COLUMN_MASK), shape->action_count, 5, counter);
    }
    for (uint32_t group = 0; group < table->slab->groups; group++) {
        ty_pool_step(table->pool, 0, group, NULL);
    }
}

static uint64_t row_digest(const Table *table, uint32_t slot)
{
    const TyShape *shape = ty_shape(table->ruleset);
    uint64_t digest = hash_bytes(0, slab_cell(table->slab, slot, TY_COLUMN_OBS), shape->row_size);
    digest = hash_bytes(digest, slab_cell(table->slab, slot, TY_COLUMN_MASK), shape->action_count);
    digest = hash_bytes(digest, slab_cell(table->slab, slot, TY_COLUMN_REWARD), 4);
    digest = hash_bytes(digest, slab_cell(table->slab, slot, TY_COLUMN_EARNED),
                        (size_t)4 * table->slab->seat_count);
    return hash_add(digest, slab_u8(table->slab, slot, TY_COLUMN_TERMINATED));
}

static uint64_t hash_column(const Table *table, uint32_t slot)
{
    return *(uint64_t *)slab_cell(table->slab, slot, TY_COLUMN_HASH);
}

static TyStatus restore(const Table *table, uint32_t slot, const TyRestore *how)
{
    return ty_pool_restore(table->pool, table->snapshot, &slot, 1, how);
}

static const TyRestore exactly = {.seat = -1};

/* Slot 2 becomes a copy of slot 0, and both play on alike, over the ends of episodes. */
static void check_exact(const char *spec, bool with_agent, TyAutoreset autoreset)
{
    Table table =
        table_open(spec, (TyPoolConfig){.slots = 3, .groups = 2, .seed = 4, .autoreset = autoreset},
                   with_agent);
    const uint64_t same_seeds[] = {9, 1, 9};
    ty_pool_reset(table.pool, NULL, same_seeds);
    for (uint32_t i = 0; i < 37; i++) {
        table_step(&table);
    }
    ty_pool_save(table.pool, 0, table.snapshot);
    /* Slot 2 goes elsewhere first. */
    uint64_t elsewhere[] = {0, 0, 33};
    ty_pool_reset(table.pool, (const uint8_t[]){0, 0, 1}, elsewhere);
    ty_pool_reset(table.pool, (const uint8_t[]){0, 0, 1}, same_seeds);
    assert_int_equal(restore(&table, 2, &exactly).code, TY_OK);
    assert_true(hash_column(&table, 2) == hash_column(&table, 0));
    for (uint32_t i = 0; i < CONTINUED; i++) {
        table_step(&table);
        assert_true(hash_column(&table, 2) == hash_column(&table, 0));
        assert_true(row_digest(&table, 2) == row_digest(&table, 0));
    }
    table_close(&table);
}

static void test_restored_slot_plays_on_alike(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const char *name = ty_game_name(ty_game_at(i));
        for (uint32_t variant = 0; variant < 4; variant++) {
            check_exact(name, variant % 2 == 1,
                        variant < 2 ? TY_AUTORESET_NEXT_STEP : TY_AUTORESET_SAME_STEP);
        }
    }
    check_exact("convoi:reward=shaped,players=4", true, TY_AUTORESET_NEXT_STEP);
    check_exact("convoi:chance=seat,reward=shaped", true, TY_AUTORESET_NEXT_STEP);
}

static void test_fork_fills_many_slots(void **unused)
{
    (void)unused;
    Table table = table_open("convoi", (TyPoolConfig){.slots = 50, .groups = 5}, false);
    const uint32_t slots[] = {49, 3, 20, 21, 7};
    table_step(&table);
    ty_pool_save(table.pool, 11, table.snapshot);
    uint64_t untouched = hash_column(&table, 4);
    assert_int_equal(ty_pool_restore(table.pool, table.snapshot, slots, 5, &exactly).code, TY_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(hash_column(&table, slots[i]) == hash_column(&table, 11));
    }
    assert_true(hash_column(&table, 4) == untouched);
    const uint32_t beyond[] = {3, 50};
    untouched = hash_column(&table, 3);
    ty_pool_save(table.pool, 4, table.snapshot);
    const TyRestore clairvoyant = {.seat =
                                       0}; /* a seat, but no keys: hidden cards would be copied */
    assert_int_equal(ty_pool_restore(table.pool, table.snapshot, slots, 2, &clairvoyant).code,
                     TY_BAD_ARGUMENT);
    assert_int_equal(ty_pool_restore(table.pool, table.snapshot, beyond, 2, &exactly).code,
                     TY_BAD_ARGUMENT);
    assert_true(hash_column(&table, 3) == untouched);
    table_close(&table);
}

/* An ending is restored as an ending, whichever member waits for it, in a pool of any mode. */
static void test_endings_are_restored_in_every_mode(void **unused)
{
    (void)unused;
    static const TyAutoreset modes[] = {TY_AUTORESET_NEXT_STEP, TY_AUTORESET_SAME_STEP,
                                        TY_AUTORESET_DISABLED};
    for (uint32_t from = 0; from < 3; from += 2) {
        Table source = table_open(
            "convoi", (TyPoolConfig){.slots = 1, .max_steps = 2, .autoreset = modes[from]}, false);
        table_step(&source);
        table_step(&source);
        assert_true(slab_u8(source.slab, 0, TY_COLUMN_TRUNCATED));
        ty_pool_save(source.pool, 0, source.snapshot);
        for (uint32_t to = 0; to < 3; to++) {
            Table table =
                table_open("convoi", (TyPoolConfig){.slots = 2, .autoreset = modes[to]}, false);
            uint32_t slot = 1;
            assert_int_equal(ty_pool_restore(table.pool, source.snapshot, &slot, 1, &exactly).code,
                             TY_OK);
            assert_true(slab_u8(table.slab, 1, TY_COLUMN_TRUNCATED));
            bool asks = modes[to] != TY_AUTORESET_DISABLED;
            assert_int_equal(slab_u8(table.slab, 1, TY_COLUMN_READY), asks);
            table_step(&table);
            assert_int_equal(slab_u8(table.slab, 1, TY_COLUMN_TRUNCATED), !asks);
            table_close(&table);
        }
        table_close(&source);
    }
}

/* A plan differs in what comes, not in what is. */
static void check_plans(const char *spec)
{
    enum { PLANS = 8 };
    Table table = table_open(spec, (TyPoolConfig){.slots = PLANS + 1}, false);
    uint64_t keys[PLANS];
    uint32_t slots[PLANS];
    bool differ = false;
    for (uint32_t i = 0; i < 10; i++) {
        table_step(&table);
    }
    for (uint32_t i = 0; i < PLANS; i++) {
        keys[i] = hash_mix(i + 1);
        slots[i] = i + 1;
    }
    const TyShape *shape = ty_shape(table.ruleset);
    for (int32_t seat = -1; seat < (int32_t)shape->players; seat++) {
        TyRestore plan = {.keys = keys, .seat = seat};
        ty_pool_save(table.pool, 0, table.snapshot);
        assert_int_equal(ty_pool_restore(table.pool, table.snapshot, slots, PLANS, &plan).code,
                         TY_OK);
        for (uint32_t i = 0; i < PLANS; i++) {
            uint8_t row[2][TY_ROW_MAX];
            uint32_t watched =
                seat < 0 ? (uint32_t)slab_u8(table.slab, 0, TY_COLUMN_SEAT) : (uint32_t)seat;
            ty_observe(table.ruleset, ty_pool_state(table.pool, 0), watched, row[0]);
            ty_observe(table.ruleset, ty_pool_state(table.pool, slots[i]), watched, row[1]);
            assert_memory_equal(row[0], row[1], shape->row_size);
        }
        for (uint32_t i = 0; i < 60; i++) {
            table_step(&table);
        }
        for (uint32_t i = 1; i < PLANS; i++) {
            differ |= row_digest(&table, slots[i]) != row_digest(&table, slots[0]);
        }
        uint64_t again = row_digest(&table, slots[3]);
        assert_int_equal(
            restore(&table, slots[3], &(TyRestore){.keys = &keys[3], .seat = seat}).code, TY_OK);
        for (uint32_t i = 0; i < 60; i++) {
            table_step(&table);
        }
        assert_true(row_digest(&table, slots[3]) == again);
    }
    assert_true(differ);
    table_close(&table);
}

static void test_plans_share_the_present_and_differ_in_the_future(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        check_plans(ty_game_name(ty_game_at(i)));
    }
    check_plans("convoi:hands=hidden,players=3");
}

/* Every byte of a snapshot changed: refused, or played without harm. */
static void check_damage(const char *spec, bool with_agent, uint32_t steps)
{
    Table table = table_open(spec, (TyPoolConfig){.slots = 2, .max_steps = 60}, with_agent);
    uint32_t size = ty_pool_snapshot_size(table.pool);
    TyRestore foreign = {.seat = -1, .foreign = true};
    uint32_t refused = 0;
    for (uint32_t i = 0; i < steps; i++) {
        table_step(&table);
    }
    ty_pool_save(table.pool, 0, table.snapshot);
    for (uint32_t i = 0; i < size * 3; i++) {
        uint8_t *byte = &table.snapshot[i % size];
        uint8_t whole = *byte;
        uint64_t before = hash_column(&table, 1);
        *byte = i < size ? (uint8_t)~whole : (uint8_t)hash_mix(i);
        TyStatus status = restore(&table, 1, &foreign);
        *byte = whole;
        if (status.code != TY_OK) {
            assert_true(status.message[0] != '\0');
            assert_true(hash_column(&table, 1) == before);
            refused++;
            continue;
        }
        for (uint32_t step = 0; step < 8; step++) {
            table_step(&table);
        }
        /* The slot is not stuck. */
        assert_true(slab_u8(table.slab, 1, TY_COLUMN_READY));
    }
    assert_true(refused > size / 4);
    table_close(&table);
}

static void test_damaged_snapshots_are_refused_or_harmless(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const char *name = ty_game_name(ty_game_at(i));
        check_damage(name, false, 20);
        check_damage(name, true, 30);
        check_damage(name, false, 60); /* an ending */
    }
    check_damage("convoi:chance=seat", false, 15);
}

static void test_snapshots_of_other_rulesets_are_refused(void **unused)
{
    (void)unused;
    Table table = table_open("convoi", (TyPoolConfig){.slots = 1}, false);
    Table other = table_open("convoi:board=tiny", (TyPoolConfig){.slots = 1}, false);
    Table seated = table_open("convoi", (TyPoolConfig){.slots = 1}, true);
    uint32_t slot = 0;
    uint8_t *snapshot = calloc(1, ty_pool_snapshot_size(seated.pool));
    ty_pool_save(other.pool, 0, snapshot);
    assert_int_equal(ty_pool_restore(table.pool, snapshot, &slot, 1, &exactly).code,
                     TY_BAD_ARGUMENT);
    ty_pool_save(seated.pool, 0, snapshot);
    assert_int_equal(ty_pool_restore(table.pool, snapshot, &slot, 1, &exactly).code,
                     TY_BAD_ARGUMENT);
    free(snapshot);
    table_close(&table);
    table_close(&other);
    table_close(&seated);
}

/* ---- Rollouts ---- */

enum { ROLLOUTS = 40 };

typedef struct Outcome {
    float earned[ROLLOUTS * TY_PLAYERS_MAX];
    int32_t metrics[ROLLOUTS * TY_METRICS_MAX];
} Outcome;

static void rollout(const Table *table, const char *agent, int32_t seat, uint32_t max_steps,
                    uint32_t count, Outcome *out)
{
    uint64_t keys[ROLLOUTS];
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = hash_mix(i + 1000);
    }
    memset(out, 0, sizeof *out);
    ty_pool_rollout(table->pool, 0, ty_agent_find(ty_ruleset_game(table->ruleset), agent), count,
                    keys, seat, max_steps, out->earned, out->metrics);
}

static void check_rollouts(const char *spec)
{
    static Outcome first;
    static Outcome second;
    Table table = table_open(spec, (TyPoolConfig){.slots = 1, .seed = 12}, false);
    Table threaded = table_open(spec, (TyPoolConfig){.slots = 1, .seed = 12, .threads = 8}, false);
    const TyShape *shape = ty_shape(table.ruleset);
    for (uint32_t i = 0; i < 10; i++) {
        table_step(&table);
        table_step(&threaded);
    }
    uint64_t before = hash_column(&table, 0);
    rollout(&table, "random", 0, 0, ROLLOUTS, &first);
    rollout(&threaded, "random", 0, 0, ROLLOUTS, &second);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(before == ty_hash(table.ruleset, ty_pool_state(table.pool, 0)));
    /* A copy's result is its key's, whatever the other copies. */
    rollout(&table, "random", 0, 0, 7, &second);
    assert_memory_equal(first.metrics, second.metrics, 7 * shape->metric_count * sizeof(int32_t));
    bool differ = false;
    for (uint32_t i = 1; i < ROLLOUTS; i++) {
        differ |= memcmp(first.metrics, first.metrics + (size_t)i * shape->metric_count,
                         shape->metric_count * sizeof(int32_t)) != 0;
    }
    assert_true(differ);
    rollout(&table, "random", -1, 1, ROLLOUTS, &first);
    ty_pool_rollout(table.pool, 0, ty_agent_at(ty_ruleset_game(table.ruleset), 0), 0, NULL, -1, 0,
                    NULL, NULL);
    table_close(&table);
    table_close(&threaded);
}

static void test_rollouts_depend_on_their_keys_alone(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        check_rollouts(ty_game_name(ty_game_at(i)));
    }
    check_rollouts("convoi:chance=seat");
}

/* A game that tells which outcomes its steps were given: earn is called once in each. */
static TyGame telling_game;
static void (*told_earn)(TyPlay *);
static uint32_t outcome_counts[TY_OUTCOMES_MAX];

static void telling_earn(TyPlay *play)
{
    const TyTape *tape = play->tape;
    if (tape != NULL && tape->script_count > 0) {
        outcome_counts[tape->script[tape->script_count - 1].outcome]++;
    }
    told_earn(play);
}

/* Plays until the chance seat is asked about outcomes of different weights, which it returns. */
static const uint8_t *play_to_unequal_weights(const Table *table)
{
    const TyShape *shape = ty_shape(table->ruleset);
    for (;;) {
        const uint8_t *weights = (const uint8_t *)slab_cell(table->slab, 0, TY_COLUMN_OBS) +
                                 shape->row_size - TY_OUTCOMES_MAX;
        uint32_t least = 256;
        uint32_t most = 0;
        for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
            least = weights[i] > 0 && weights[i] < least ? weights[i] : least;
            most = weights[i] > most ? weights[i] : most;
        }
        bool chance = slab_u8(table->slab, 0, TY_COLUMN_SEAT) == shape->players;
        bool in_step = slab_u32(table->slab, 0, TY_COLUMN_STEP) > 60;
        if (chance && in_step && most >= 2 * least) {
            return weights;
        }
        table_step(table);
    }
}

static void test_rollouts_draw_chance_by_weight(void **unused)
{
    (void)unused;
    enum { MANY = 8000 };
    static uint64_t keys[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        keys[i] = hash_mix(i + 1);
    }
    Table table = table_open("convoi:chance=seat,reward=shaped",
                             (TyPoolConfig){.slots = 1, .own_chance = true}, false);
    telling_game = *table.ruleset->game;
    told_earn = telling_game.earn;
    telling_game.earn = telling_earn;
    table.ruleset->game = &telling_game;
    const uint8_t *weights = play_to_unequal_weights(&table);
    memset(outcome_counts, 0, sizeof outcome_counts);
    ty_pool_rollout(table.pool, 0, ty_agent_find(ty_ruleset_game(table.ruleset), "random"), MANY,
                    keys, -1, 1, NULL, NULL);
    double total = 0;
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        total += weights[i];
    }
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        double off = outcome_counts[i] / (double)MANY - weights[i] / total;
        assert_true(off < 0.03 && off > -0.03);
    }
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored_slot_plays_on_alike),
        cmocka_unit_test(test_fork_fills_many_slots),
        cmocka_unit_test(test_endings_are_restored_in_every_mode),
        cmocka_unit_test(test_plans_share_the_present_and_differ_in_the_future),
        cmocka_unit_test(test_damaged_snapshots_are_refused_or_harmless),
        cmocka_unit_test(test_snapshots_of_other_rulesets_are_refused),
        cmocka_unit_test(test_rollouts_depend_on_their_keys_alone),
        cmocka_unit_test(test_rollouts_draw_chance_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
