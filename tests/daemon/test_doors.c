/* The same trajectories through every door: hash chains over all columns of a pool in this process
 * and of the daemon's through shared memory, ipc and tcp, for every batch, number of threads and
 * autoreset mode. */
#define _GNU_SOURCE
#include "core/bytes.h"
#include "core/hash.h"
#include "tests/daemon/daemon_process.h"
#include "tests/support/budget.h"

enum {
    SLOTS_MAX = 1024,
    POLICY_SEED = 99,
    WAIT_MS = 60000, /* as good as for ever */
};

static const char *const autoresets[] = {"next_step", "same_step", "disabled"};

typedef struct Case {
    uint32_t slots;
    uint32_t groups;
    uint32_t threads;
    TyAutoreset autoreset;
    uint32_t steps;
} Case;

/* ---- Chains ---- */

static const struct {
    TyColumn column;
    uint32_t size; /* bytes of a value */
} chained[] = {
    {TY_COLUMN_OBS, 1},        {TY_COLUMN_MASK, 1},      {TY_COLUMN_REWARD, 4},
    {TY_COLUMN_EARNED, 4},     {TY_COLUMN_SEAT, 1},      {TY_COLUMN_READY, 1},
    {TY_COLUMN_TERMINATED, 1}, {TY_COLUMN_TRUNCATED, 1}, {TY_COLUMN_ILLEGAL, 1},
    {TY_COLUMN_EPISODE, 4},    {TY_COLUMN_STEP, 4},      {TY_COLUMN_SEED, 8},
    {TY_COLUMN_HASH, 8},
};
static const struct {
    TyColumn column;
    uint32_t size;
} chained_endings[] = {
    {TY_COLUMN_METRICS, 4}, {TY_COLUMN_FINAL_OBS, 1}, {TY_COLUMN_FINAL_REWARD, 4}};

/* Rows of either door: where each column begins, and how wide it is. */
typedef struct Rows {
    uint32_t count;
    uint32_t first; /* slot of the first row */
    const uint8_t *column[TY_COLUMN_COUNT];
    uint32_t width[TY_COLUMN_COUNT];
    bool sparse; /* columns of endings have entries for these only */
} Rows;

static uint64_t rows_chain(uint64_t chain, const Rows *rows)
{
    for (size_t i = 0; i < sizeof chained / sizeof chained[0]; i++) {
        TyColumn column = chained[i].column;
        assert_non_null(rows->column[column]);
        chain = hash_bytes(chain, rows->column[column],
                           (size_t)rows->count * rows->width[column] * chained[i].size);
    }
    uint32_t ended = 0;
    for (uint32_t row = 0; row < rows->count; row++) {
        if (!rows->column[TY_COLUMN_TERMINATED][row] && !rows->column[TY_COLUMN_TRUNCATED][row]) {
            continue;
        }
        uint32_t at = rows->sparse ? ended++ : row;
        for (size_t i = 0; i < sizeof chained_endings / sizeof chained_endings[0]; i++) {
            TyColumn column = chained_endings[i].column;
            size_t size = (size_t)rows->width[column] * chained_endings[i].size;
            chain = hash_bytes(chain, rows->column[column] + at * size, size);
        }
    }
    return chain;
}

/* Random legal actions that depend on slot, episode and step alone. */
static void rows_choose(const Rows *rows, int32_t *actions)
{
    uint32_t width = rows->width[TY_COLUMN_MASK];
    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t episode = 0;
        uint32_t step = 0;
        memcpy(&episode, rows->column[TY_COLUMN_EPISODE] + (size_t)row * 4, 4);
        memcpy(&step, rows->column[TY_COLUMN_STEP] + (size_t)row * 4, 4);
        uint64_t key = POLICY_SEED + hash_mix(rows->first + row + 1u);
        const uint8_t *mask = rows->column[TY_COLUMN_MASK] + (size_t)row * width;
        bool any = memchr(mask, 1, width) != NULL;
        actions[row] =
            any ? (int32_t)ty_sample(mask, width, key, (uint64_t)episode << 32 | step) : 0;
    }
}

/* One chain per group: groups may be under way together. */
typedef struct Chains {
    uint64_t group[TY_GROUPS_MAX];
} Chains;

static uint64_t chains_fold(const Chains *chains)
{
    return hash_bytes(0, (const uint8_t *)chains->group, sizeof chains->group);
}

/* ---- Through a slab: in this process, or in shared memory ---- */

/* What steps the slab's groups. */
typedef struct Stepper {
    const TySlab *slab;
    TyPool *pool; /* in this process */
    TyClient *client;
    TyClientPool *remote;
    TyShmClient *shm; /* NULL: in this process */
} Stepper;

static Rows slab_rows(const TySlab *slab, uint32_t group)
{
    Rows rows = {.count = slab->group[group].rows, .first = slab->group[group].first};
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        rows.column[i] = ty_slab_column(slab, group, (TyColumn)i);
        rows.width[i] = slab->group[group].columns[i].width;
    }
    return rows;
}

static void stepper_reset(const Stepper *stepper)
{
    TyClientRows rows;
    if (stepper->shm == NULL) {
        ty_pool_reset(stepper->pool, NULL, NULL);
        return;
    }
    TyStatus status = ty_client_reset(stepper->client, stepper->remote, NULL, NULL, &rows);
    assert_string_equal(status.message, "");
    assert_int_equal(rows.count, 0); /* they are in the slab */
}

static void stepper_begin(const Stepper *stepper, uint32_t group)
{
    Rows rows = slab_rows(stepper->slab, group);
    rows_choose(&rows, ty_slab_column(stepper->slab, group, TY_COLUMN_ACTION));
    if (stepper->shm == NULL) {
        ty_pool_step(stepper->pool, 0, group, NULL);
    } else {
        assert_true(ty_shm_submit(stepper->shm, group, NULL));
    }
}

static void stepper_end(const Stepper *stepper, uint32_t group, Chains *chains)
{
    if (stepper->shm != NULL) {
        assert_int_equal(ty_shm_wait(stepper->shm, group, WAIT_MS), TY_SHM_READY);
        assert_int_equal(ty_shm_news(stepper->shm, group).result, 0);
    }
    Rows rows = slab_rows(stepper->slab, group);
    chains->group[group] = rows_chain(chains->group[group], &rows);
}

/* All groups are under way together. */
static uint64_t chain_by_slab(const Stepper *stepper, const Case *c)
{
    Chains chains = {.group = {0}};
    for (uint32_t step = 0; step < c->steps; step++) {
        if (c->autoreset == TY_AUTORESET_DISABLED && step % 64 == 63) {
            stepper_reset(stepper);
        }
        for (uint32_t group = 0; group < c->groups; group++) {
            stepper_begin(stepper, group);
        }
        for (uint32_t group = 0; group < c->groups; group++) {
            stepper_end(stepper, group, &chains);
        }
    }
    return chains_fold(&chains);
}

static uint64_t chain_in_process(const TyRuleset *ruleset, const Case *c)
{
    Stepper stepper = {.shm = NULL};
    const TyPoolConfig config = {.slots = c->slots,
                                 .groups = c->groups,
                                 .threads = 1,
                                 .seed = 5,
                                 .autoreset = c->autoreset,
                                 .max_steps = 150,
                                 .hash = true};
    assert_int_equal(ty_pool_open(ruleset, &config, &stepper.pool).code, TY_OK);
    stepper.slab = ty_pool_slab(stepper.pool, 0);
    uint64_t chain = chain_by_slab(&stepper, c);
    ty_pool_close(stepper.pool);
    return chain;
}

/* ---- Through the daemon ---- */

static TyClient *client_open(const TyRuleset *ruleset, const Case *c, const TyClientConfig *where,
                             bool shm, TyClientPool *pool)
{
    TyClient *client = NULL;
    const TyClientOpen open = {.ruleset = ty_shape(ruleset)->spec,
                               .slots = c->slots,
                               .groups = c->groups,
                               .threads = c->threads,
                               .seed = 5,
                               .plain_seeds = true,
                               .autoreset = autoresets[c->autoreset],
                               .max_steps = 150,
                               .hash = true,
                               .shm = shm};
    TyStatus status = ty_client_connect(where, &client);
    assert_string_equal(status.message, "");
    status = ty_client_open_pool(client, &open, pool);
    assert_string_equal(status.message, "");
    return client;
}

static uint64_t chain_by_shm(const TyRuleset *ruleset, const Case *c, const TyClientConfig *where)
{
    TyClientPool pool;
    Stepper stepper = {.remote = &pool};
    stepper.client = client_open(ruleset, c, where, true, &pool);
    TyStatus status = ty_client_attach(stepper.client, &pool, &stepper.shm);
    assert_string_equal(status.message, "");
    assert_string_equal(ty_shm_spec(stepper.shm), ty_shape(ruleset)->spec);
    stepper.slab = ty_shm_slab(stepper.shm);
    uint64_t chain = chain_by_slab(&stepper, c);
    ty_shm_close(stepper.shm);
    ty_client_close(stepper.client);
    return chain;
}

static Rows client_rows(const TyClientRows *from, const uint32_t *width, uint32_t first)
{
    Rows rows = {.count = from->count, .first = first, .sparse = true};
    memcpy(rows.column, from->column, sizeof rows.column);
    memcpy(rows.width, width, sizeof rows.width);
    return rows;
}

/* The first actions of every group, from the rows of the whole pool. */
static void whole_choose(const TyClientRows *all, const uint32_t *width, int32_t *actions)
{
    Rows rows = client_rows(all, width, 0);
    rows_choose(&rows, actions);
}

static void widths_of(const TyRuleset *ruleset, uint32_t seat_count, uint32_t *width)
{
    const TyShape *shape = ty_shape(ruleset);
    for (uint32_t i = 0; i < TY_COLUMN_COUNT; i++) {
        width[i] = 1;
    }
    width[TY_COLUMN_OBS] = shape->row_size;
    width[TY_COLUMN_MASK] = shape->action_count;
    width[TY_COLUMN_EARNED] = width[TY_COLUMN_FINAL_REWARD] = seat_count;
    width[TY_COLUMN_METRICS] = shape->metric_count;
    width[TY_COLUMN_FINAL_OBS] = seat_count * shape->row_size;
}

static uint64_t chain_by_client(const TyRuleset *ruleset, const Case *c,
                                const TyClientConfig *where)
{
    static int32_t actions[SLOTS_MAX];
    uint32_t width[TY_COLUMN_COUNT];
    TyClientPool pool;
    TyClientRows rows;
    Chains chains = {.group = {0}};
    TyClient *client = client_open(ruleset, c, where, false, &pool);
    widths_of(ruleset, pool.seat_count, width);
    for (uint32_t step = 0; step < c->steps; step++) {
        if (step == 0 || (c->autoreset == TY_AUTORESET_DISABLED && step % 64 == 63)) {
            assert_int_equal(ty_client_reset(client, &pool, NULL, NULL, &rows).code, TY_OK);
            whole_choose(&rows, width, actions);
        }
        for (uint32_t group = 0; group < c->groups; group++) {
            uint32_t first = pool.group[group].first;
            TyStatus status = ty_client_step(client, &pool, group, actions + first, &rows);
            assert_string_equal(status.message, "");
            Rows seen = client_rows(&rows, width, first);
            chains.group[group] = rows_chain(chains.group[group], &seen);
            rows_choose(&seen, actions + first);
        }
    }
    ty_client_close(client);
    return chains_fold(&chains);
}

/* ---- The tests ---- */

static void check_batch(uint32_t slots, uint32_t groups, uint32_t steps)
{
    static const uint32_t threads[] = {1, 2, 8};
    BenchDaemon daemon;
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    daemon_start(&daemon, NULL);
    const TyClientConfig ipc = {.endpoint = daemon.ipc};
    const TyClientConfig tcp = {.endpoint = daemon.tcp, .access_token = daemon.token};
    for (uint32_t mode = 0; mode < 3; mode++) {
        Case c = {.slots = slots,
                  .groups = groups,
                  .autoreset = (TyAutoreset)mode,
                  .steps = steps * budget(1, 20)};
        uint64_t wanted = chain_in_process(ruleset, &c);
        for (uint32_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
            c.threads = threads[i];
            assert_true(chain_by_shm(ruleset, &c, &ipc) == wanted);
            assert_true(chain_by_client(ruleset, &c, &ipc) == wanted);
            assert_true(chain_by_client(ruleset, &c, &tcp) == wanted);
        }
    }
    daemon_stop(&daemon);
    ty_ruleset_close(ruleset);
}

static void test_batches_of_1(void **unused)
{
    (void)unused;
    check_batch(1, 1, 200);
}

static void test_batches_of_7_in_2_groups(void **unused)
{
    (void)unused;
    check_batch(7, 2, 130);
}

static void test_batches_of_64(void **unused)
{
    (void)unused;
    check_batch(64, 1, 130);
}

static void test_batches_of_1024_in_4_groups(void **unused)
{
    (void)unused;
    check_batch(1024, 4, 70);
}

/* Two groups under way at once give what one after the other gives. */
static void test_groups_in_flight(void **unused)
{
    (void)unused;
    static int32_t actions[64];
    BenchDaemon daemon;
    TyRuleset *ruleset = NULL;
    TyClient *client = NULL;
    TyClientPool pool;
    TyClientRows rows;
    daemon_start(&daemon, NULL);
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    const TyClientConfig config = {.endpoint = daemon.ipc};
    const TyClientOpen open = {.ruleset = "convoi", .slots = 64, .groups = 2};
    assert_int_equal(ty_client_connect(&config, &client).code, TY_OK);
    assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
    assert_int_equal(ty_client_reset(client, &pool, NULL, NULL, &rows).code, TY_OK);
    uint32_t width[TY_COLUMN_COUNT] = {0};
    width[TY_COLUMN_MASK] = pool.action_count;
    whole_choose(&rows, width, actions);
    for (uint32_t group = 0; group < 2; group++) {
        assert_int_equal(
            ty_client_submit(client, &pool, group, actions + pool.group[group].first).code, TY_OK);
    }
    for (uint32_t i = 0; i < 400; i++) {
        TyStatus status = ty_client_wait(client, &pool, &rows);
        assert_string_equal(status.message, "");
        assert_in_range(rows.group, 0, 1);
        uint32_t group = (uint32_t)rows.group;
        assert_int_equal(rows.ready, 32);
        int32_t sampled[64];
        Rows seen = client_rows(&rows, width, pool.group[group].first);
        rows_choose(&seen, actions + seen.first);
        assert_true(ty_client_sample(&pool, &rows, POLICY_SEED, sampled));
        assert_memory_equal(sampled, actions + seen.first, seen.count * sizeof sampled[0]);
        assert_int_equal(ty_client_submit(client, &pool, group, actions + seen.first).code, TY_OK);
    }
    ty_client_close(client);
    ty_ruleset_close(ruleset);
    daemon_stop(&daemon);
}

/* Some slots at a time, whichever are ready, with the policy of the library. */
static void test_send_and_recv_with_sampled_actions(void **unused)
{
    (void)unused;
    enum { SLOTS = 12, PART = 5 };
    int32_t actions[SLOTS];
    uint32_t slots[SLOTS];
    BenchDaemon daemon;
    TyClient *client = NULL;
    TyClientPool pool;
    TyClientRows rows;
    daemon_start(&daemon, NULL);
    const TyClientConfig config = {.endpoint = daemon.ipc};
    const TyClientOpen open = {.ruleset = "convoi",
                               .slots = SLOTS,
                               .groups = 3,
                               .columns = 1u << TY_COLUMN_MASK_BITS | 1u << TY_COLUMN_READY |
                                          1u << TY_COLUMN_EPISODE | 1u << TY_COLUMN_STEP |
                                          1u << TY_COLUMN_ILLEGAL};
    assert_int_equal(ty_client_connect(&config, &client).code, TY_OK);
    assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
    for (uint32_t i = 0; i < 200; i++) {
        TyStatus status = ty_client_recv(client, &pool, &(TyClientWait){.min_rows = SLOTS}, &rows);
        assert_string_equal(status.message, "");
        assert_int_equal(rows.count, SLOTS);
        assert_null(memchr(rows.column[TY_COLUMN_ILLEGAL], 1, SLOTS));
        assert_true(ty_client_sample(&pool, &rows, POLICY_SEED, actions));
        memcpy(slots, rows.slots, sizeof slots);
        status = ty_client_send(client, &pool, slots, actions, PART, NULL);
        assert_string_equal(status.message, "");
        status = ty_client_send(client, &pool, slots + PART, actions + PART, SLOTS - PART, NULL);
        assert_string_equal(status.message, "");
    }
    ty_client_close(client);
    daemon_stop(&daemon);
}

/* Both kinds of masks in one reply say the same, and a client that reads only the bits plays what
 * one plays that gets everything. */
static void check_mask_bits(const BenchDaemon *daemon, const char *game)
{
    enum { SLOTS = 16, WIDTH_MAX = 1024 };
    static const uint32_t needed = 1u << TY_COLUMN_READY | 1u << TY_COLUMN_EPISODE |
                                   1u << TY_COLUMN_STEP | 1u << TY_COLUMN_MASK_BITS;
    static uint8_t masks[SLOTS * WIDTH_MAX];
    const TyClientConfig config = {.endpoint = daemon->ipc};
    const uint32_t columns[2] = {needed | 1u << TY_COLUMN_MASK, needed};
    TyClient *client = NULL;
    TyClientPool pools[2];
    TyClientRows rows;
    int32_t actions[2][SLOTS];
    assert_int_equal(ty_client_connect(&config, &client).code, TY_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const TyClientOpen open = {.ruleset = game,
                                   .slots = SLOTS,
                                   .groups = 2,
                                   .plain_seeds = true,
                                   .columns = columns[i]};
        assert_int_equal(ty_client_open_pool(client, &open, &pools[i]).code, TY_OK);
        assert_int_equal(pools[i].width[TY_COLUMN_MASK_BITS],
                         ty_mask_bits_size(pools[i].action_count));
        assert_int_equal(ty_client_reset(client, &pools[i], NULL, NULL, &rows).code, TY_OK);
        assert_true(ty_client_sample(&pools[i], &rows, POLICY_SEED, actions[i]));
    }
    for (uint32_t step = 0; step < 100; step++) {
        uint32_t group = step % 2;
        for (uint32_t i = 0; i < 2; i++) {
            int32_t *group_actions = actions[i] + pools[i].group[group].first;
            assert_int_equal(ty_client_step(client, &pools[i], group, group_actions, &rows).code,
                             TY_OK);
            assert_true(ty_client_sample(&pools[i], &rows, POLICY_SEED, group_actions));
            ty_mask_unpack(rows.column[TY_COLUMN_MASK_BITS], pools[i].action_count, rows.count,
                           masks);
            if (i == 0) {
                assert_memory_equal(masks, rows.column[TY_COLUMN_MASK],
                                    (size_t)rows.count * pools[i].action_count);
            } else {
                assert_null(rows.column[TY_COLUMN_MASK]);
            }
        }
        assert_memory_equal(actions[0], actions[1], sizeof actions[0]);
    }
    ty_client_close(client);
}

static void test_masks_as_bits_say_what_masks_say(void **unused)
{
    (void)unused;
    BenchDaemon daemon;
    daemon_start(&daemon, NULL);
    for (uint32_t game = 0; game < ty_game_count(); game++) {
        check_mask_bits(&daemon, ty_game_name(ty_game_at(game)));
    }
    daemon_stop(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_of_1),
        cmocka_unit_test(test_batches_of_7_in_2_groups),
        cmocka_unit_test(test_batches_of_64),
        cmocka_unit_test(test_batches_of_1024_in_4_groups),
        cmocka_unit_test(test_groups_in_flight),
        cmocka_unit_test(test_send_and_recv_with_sampled_actions),
        cmocka_unit_test(test_masks_as_bits_say_what_masks_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
