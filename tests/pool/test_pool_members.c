/* Members of a pool that come, go and take over seats; what a forfeit costs; flights that are cut
 * short. */
#include "tests/pool/pool_reference.h"

#include <errno.h>
#include <pthread.h>

/* ---- A system that runs out of memory and threads when it is told to ---- */

static int64_t memory_left = -1; /* allocations that succeed; -1: all */
static int64_t threads_left = -1;

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *), void *argument);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *), void *argument);

/* Takes one of what is left; false if nothing is. */
static bool take(int64_t *left)
{
    bool taken = *left != 0;
    *left -= *left > 0;
    return taken;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return take(&memory_left) ? __real_calloc(count, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return take(&memory_left) ? __real_aligned_alloc(alignment, size) : NULL;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*main)(void *), void *argument)
{
    return take(&threads_left) ? __real_pthread_create(thread, attributes, main, argument) : EAGAIN;
}

/* ---- Tables ---- */

typedef struct Table {
    TyRuleset *ruleset;
    TyPool *pool;
} Table;

static Table table_open(const char *spec, TyPoolConfig config)
{
    Table table = {.ruleset = reference_ruleset(spec)};
    TyStatus status = ty_pool_open(table.ruleset, &config, &table.pool);
    assert_string_equal(status.message, "");
    return table;
}

static void table_close(Table *table)
{
    ty_pool_close(table->pool);
    ty_ruleset_close(table->ruleset);
}

/* Answers at random whatever member `member` is asked. */
static void member_play(const Table *table, uint32_t member)
{
    ty_sample_rows(ty_pool_slab(table->pool, member), 0, 5);
    ty_pool_step(table->pool, member, 0, NULL);
}

/* Plays with members `first` to `last` until slot 0 asks a seat of `asked`. */
static void play_until_asked(const Table *table, uint32_t asked, uint32_t last)
{
    const TySlab *slab = ty_pool_slab(table->pool, asked);
    for (uint32_t i = 0; !slab_u8(slab, 0, TY_COLUMN_READY); i++) {
        assert_true(i < 10000);
        for (uint32_t member = 0; member <= last; member++) {
            if (member != asked) {
                member_play(table, member);
            }
        }
    }
}

static TyPoolConfig three_members(void)
{
    return (TyPoolConfig){.slots = 3, .seed = 4, .members = 3, .owner = {0, 1}, .max_steps = 500};
}

/* ---- Seats that change hands ----------------------------------------------------------------- */

static void test_seats_of_one_who_left_are_taken_up_by_another(void **unused)
{
    (void)unused;
    Table table = table_open("express:map=tiny", three_members());
    uint8_t row[TY_ROW_MAX];
    uint32_t row_size = ty_shape(table.ruleset)->row_size;
    ty_pool_set_present(table.pool, 2, false);
    play_until_asked(&table, 1, 1);
    memcpy(row, slab_cell(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_OBS), row_size);
    ty_pool_set_present(table.pool, 1, false);
    assert_int_equal(ty_pool_assign(table.pool, 2, 1u << 1).code, TY_OK);
    const TySlab *heir = ty_pool_slab(table.pool, 2);
    assert_int_equal(ty_pool_slab(table.pool, 1)->seat_count, 0);
    assert_int_equal(heir->seat_count, 1);
    assert_int_equal(heir->seats[0], 1);
    assert_memory_equal(slab_cell(heir, 0, TY_COLUMN_OBS), row, row_size);
    ty_pool_set_present(table.pool, 2, true);
    assert_true(slab_u8(heir, 0, TY_COLUMN_READY));
    for (uint32_t i = 0; i < 2000; i++) { /* through the ends of several episodes */
        member_play(&table, 0);
        member_play(&table, 2);
    }
    assert_true(ty_pool_counts(table.pool).episodes > 3);
    table_close(&table);
}

static void test_seats_that_a_member_has_already_change_nothing(void **unused)
{
    (void)unused;
    Table table = table_open("express:map=tiny", three_members());
    const uint8_t *rows = ty_pool_slab(table.pool, 1)->rows;
    ty_pool_set_present(table.pool, 1, false);
    assert_int_equal(ty_pool_assign(table.pool, 1, 1u << 1).code, TY_OK);
    assert_ptr_equal(ty_pool_slab(table.pool, 1)->rows, rows);
    table_close(&table);
}

/* Where an episode has ended, or another member is asked, there is nothing to ask again. */
static void test_seats_change_hands_between_episodes(void **unused)
{
    (void)unused;
    TyPoolConfig config = three_members();
    config.autoreset = TY_AUTORESET_DISABLED;
    Table table = table_open("express:map=tiny,first_player=seat0", config);
    const uint8_t ended[3] = {1, 0, 0};
    ty_pool_set_present(table.pool, 2, false);
    play_until_asked(&table, 1, 1);
    ty_pool_set_present(table.pool, 1, false);
    ty_pool_truncate(table.pool, 1);
    assert_true(slab_u8(ty_pool_slab(table.pool, 0), 0, TY_COLUMN_TRUNCATED));
    assert_int_equal(ty_pool_assign(table.pool, 2, 1u << 1).code, TY_OK);
    ty_pool_set_present(table.pool, 2, true);
    assert_int_equal(ty_pool_waiting(table.pool, 0), 0);
    ty_pool_reset(table.pool, ended, NULL);
    assert_int_equal(ty_pool_waiting(table.pool, 0), 1);
    table_close(&table);
}

static void test_disabled_slot_stays_ended_when_a_member_comes_back(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny",
                             (TyPoolConfig){.slots = 2, .autoreset = TY_AUTORESET_DISABLED});
    ty_pool_truncate(table.pool, 0);
    ty_pool_set_present(table.pool, 0, false);
    ty_pool_set_present(table.pool, 0, true);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    assert_true(slab_u8(ty_pool_slab(table.pool, 0), 1, TY_COLUMN_TRUNCATED));
    table_close(&table);
}

/* An episode that was cut off before its first decision was one all the same. */
static void test_reset_counts_an_episode_without_decisions(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny",
                             (TyPoolConfig){.slots = 1, .autoreset = TY_AUTORESET_DISABLED});
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    ty_pool_reset(table.pool, NULL, NULL);
    assert_int_equal(slab_u32(slab, 0, TY_COLUMN_EPISODE), 0);
    ty_pool_truncate(table.pool, 0);
    ty_pool_reset(table.pool, NULL, NULL);
    assert_int_equal(slab_u32(slab, 0, TY_COLUMN_EPISODE), 1);
    table_close(&table);
}

static void test_hand_over_leaves_ended_episodes_alone(void **unused)
{
    (void)unused;
    TyPoolConfig config = {
        .slots = 2, .members = 2, .owner = {0, 1}, .autoreset = TY_AUTORESET_DISABLED};
    Table table = table_open("express:map=tiny,first_player=seat0", config);
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
    const uint8_t again[2] = {0, 1};
    ty_pool_truncate(table.pool, 0);
    ty_pool_reset(table.pool, again, NULL);
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    assert_true(slab_u8(ty_pool_slab(table.pool, 0), 0, TY_COLUMN_TRUNCATED));
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 1);
    for (uint32_t i = 0; i < 1000 && ty_pool_ready(table.pool, 0, 0) > 0; i++) {
        member_play(&table, 0);
    }
    assert_true(slab_u8(ty_pool_slab(table.pool, 0), 1, TY_COLUMN_TERMINATED));
    table_close(&table);
}

/* ---- Forfeits, sizes, memory ----------------------------------------------------------------- */

static void test_forfeit_among_opponents_costs_the_offender_alone(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 1, .illegal = TY_ILLEGAL_LOSE};
    Table table = table_open("express:map=tiny,first_player=seat0", config);
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    *(int32_t *)ty_slab_column(slab, 0, TY_COLUMN_ACTION) = -1;
    ty_pool_step(table.pool, 0, 0, NULL);
    const float *final = slab_cell(slab, 0, TY_COLUMN_FINAL_REWARD);
    assert_true(slab_u8(slab, 0, TY_COLUMN_TERMINATED));
    assert_true(final[0] == -1 && final[1] == 0);
    table_close(&table);
}

static void test_pool_of_impossible_size_takes_no_bytes(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    TyPoolConfig config = {.slots = 0};
    assert_true(ty_pool_bytes(ruleset, &config) == 0);
    config.slots = 4;
    assert_true(ty_pool_bytes(ruleset, &config) > 0);
    uint64_t alone = ty_pool_bytes(ruleset, &config);
    config.agent[1] = ty_agent_find(ty_ruleset_game(ruleset), "expert");
    assert_true(ty_pool_bytes(ruleset, &config) != alone);
    ty_ruleset_close(ruleset);
}

static void test_detach_without_attach_leaves_the_rows(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny", (TyPoolConfig){.slots = 3});
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    const uint8_t *rows = slab->rows;
    assert_int_equal(ty_pool_detach(table.pool, 0).code, TY_OK);
    assert_ptr_equal(slab->rows, rows);
    table_close(&table);
}

/* A snapshot of an ended slot that says that it is running: some one byte says so. */
static void test_snapshot_of_an_ending_cannot_run_on(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny",
                             (TyPoolConfig){.slots = 1, .autoreset = TY_AUTORESET_DISABLED});
    uint32_t size = ty_pool_snapshot_size(table.pool);
    uint8_t *snapshot = malloc(size);
    uint32_t refused = 0;
    while (ty_pool_ready(table.pool, 0, 0) > 0) {
        member_play(&table, 0);
    }
    assert_true(ty_head(ty_pool_state(table.pool, 0))->over);
    ty_pool_save(table.pool, 0, snapshot);
    assert_int_equal(ty_pool_restore(table.pool, snapshot, NULL, 0, NULL).code, TY_OK);
    for (uint32_t i = 0; i < size; i++) {
        uint8_t byte = snapshot[i];
        snapshot[i] = 0;
        TyStatus status = ty_pool_restore(table.pool, snapshot, NULL, 0, NULL);
        refused += strcmp(status.message, "the snapshot is damaged: its ending does not fit") == 0;
        snapshot[i] = byte;
    }
    assert_int_equal(refused, 1);
    free(snapshot);
    table_close(&table);
}

static void test_rollouts_may_be_played_by_one_who_plans(void **unused)
{
    (void)unused;
    const uint64_t keys[] = {1, 2};
    float first[4] = {0};
    float second[4] = {0};
    Table table = table_open("express:map=tiny", (TyPoolConfig){.slots = 1});
    const TyAgent *search = ty_agent_find(ty_ruleset_game(table.ruleset), "search");
    assert_non_null(search);
    ty_pool_rollout(table.pool, 0, search, 2, keys, 0, 6, first, NULL);
    ty_pool_rollout(table.pool, 0, search, 2, keys, 0, 6, second, NULL);
    assert_memory_equal(first, second, sizeof first);
    table_close(&table);
}

/* ---- Too little memory, too few threads --------------------------------------------------------
 */

static void expect_failure(TyStatus status, TyCode code, const char *message)
{
    memory_left = -1;
    threads_left = -1;
    assert_int_equal(status.code, code);
    assert_string_equal(status.message, message);
}

static void test_pool_without_threads_is_refused(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    TyPoolConfig config = {.slots = 4, .threads = 4};
    for (uint32_t had = 0; had < 3; had++) {
        TyPool *pool = NULL;
        char message[TY_MESSAGE_MAX];
        threads_left = had;
        snprintf(message, sizeof message, "the system has no thread number %u for the pool",
                 had + 2);
        expect_failure(ty_pool_open(ruleset, &config, &pool), TY_LIMIT, message);
        assert_null(pool);
    }
    ty_ruleset_close(ruleset);
}

static void test_flight_without_a_thread_or_memory_is_refused(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny", (TyPoolConfig){.slots = 4});
    TyFlight *flight = NULL;
    threads_left = 0;
    expect_failure(ty_flight_open(table.pool, 0, &flight), TY_LIMIT,
                   "the system has no thread for steps in flight");
    memory_left = 0;
    expect_failure(ty_flight_open(table.pool, 0, &flight), TY_NO_MEMORY,
                   "no memory for steps in flight");
    assert_null(flight);
    table_close(&table);
}

/* The pool plays on as if nothing had been asked, whichever allocation failed. */
static void test_seats_stay_where_they_are_without_memory(void **unused)
{
    (void)unused;
    Table table = table_open("express:map=tiny", three_members());
    ty_pool_set_present(table.pool, 2, false);
    play_until_asked(&table, 1, 1);
    ty_pool_set_present(table.pool, 1, false);
    const TySlab *slab = ty_pool_slab(table.pool, 1);
    for (uint32_t had = 0; had < 2; had++) {
        memory_left = had;
        expect_failure(ty_pool_assign(table.pool, 2, 1u << 1), TY_NO_MEMORY,
                       "no memory for the rows of 3 slots");
        assert_int_equal(slab->seat_count, 1);
        assert_int_equal(ty_pool_slab(table.pool, 2)->seat_count, 0);
        assert_true(slab_u8(slab, 0, TY_COLUMN_READY));
    }
    ty_pool_set_present(table.pool, 1, true);
    for (uint32_t i = 0; i < 2000; i++) {
        member_play(&table, 0);
        member_play(&table, 1);
    }
    assert_true(ty_pool_counts(table.pool).episodes > 3);
    table_close(&table);
}

static void test_hand_over_without_memory_changes_nothing(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .members = 2, .owner = {0, 1, 1}};
    Table table = table_open("express:players=3,map=tiny", config);
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
    play_until_asked(&table, 1, 1);
    for (uint32_t had = 0; had < 2; had++) {
        memory_left = had;
        expect_failure(ty_pool_hand_over(table.pool, 1, agent), TY_NO_MEMORY,
                       "no memory for the agent in 2 slots");
        assert_null(ty_pool_config(table.pool)->agent[1]);
        assert_true(slab_u8(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_READY));
    }
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    assert_ptr_equal(ty_pool_config(table.pool)->agent[2], agent);
    table_close(&table);
}

static void test_detach_without_memory_leaves_the_slab_where_it_is(void **unused)
{
    (void)unused;
    Table table = table_open("convoi:board=tiny", (TyPoolConfig){.slots = 3});
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    uint8_t *memory = aligned_alloc(TY_SLAB_ALIGN, slab->rows_size + slab->commands_size);
    assert_non_null(memory);
    ty_pool_attach(table.pool, 0, memory, memory + slab->rows_size);
    memory_left = 0;
    expect_failure(ty_pool_detach(table.pool, 0), TY_NO_MEMORY,
                   "no memory for the slab of member 0");
    assert_ptr_equal(slab->rows, memory);
    assert_int_equal(ty_pool_detach(table.pool, 0).code, TY_OK);
    assert_ptr_not_equal(slab->rows, memory);
    free(memory);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 3);
    member_play(&table, 0);
    table_close(&table);
}

/* ---- Flights --------------------------------------------------------------------------------- */

enum { GROUPS = 8, GROUP_ROWS = 64 };

static void test_closing_a_flight_lands_every_group(void **unused)
{
    (void)unused;
    TyFlight *flight = NULL;
    TyPoolConfig config = {.slots = GROUPS * GROUP_ROWS, .groups = GROUPS};
    Table table = table_open("convoi", config);
    const TySlab *slab = ty_pool_slab(table.pool, 0);
    for (uint32_t group = 0; group < GROUPS; group++) {
        ty_sample_rows(slab, group, 1);
    }
    assert_int_equal(ty_flight_open(table.pool, 0, &flight).code, TY_OK);
    for (uint32_t group = 0; group < GROUPS; group++) {
        assert_true(ty_flight_send(flight, group));
    }
    ty_flight_close(flight);
    assert_int_equal(ty_pool_counts(table.pool).decisions, GROUPS * GROUP_ROWS);
    ty_flight_close(NULL);
    table_close(&table);
}

static void test_group_flies_once_at_a_time(void **unused)
{
    (void)unused;
    TyFlight *flight = NULL;
    TyPoolConfig config = {.slots = 2 * 4096, .groups = 2};
    Table table = table_open("convoi", config);
    uint32_t ready = 0;
    uint32_t illegal = 0;
    assert_int_equal(ty_flight_open(table.pool, 0, &flight).code, TY_OK);
    for (uint32_t group = 0; group < 2; group++) {
        ty_sample_rows(ty_pool_slab(table.pool, 0), group, 1);
    }
    assert_true(ty_flight_send(flight, 0));
    assert_true(ty_flight_send(flight, 1));
    if (!ty_flight_recv(flight, 1, 0, &ready, &illegal)) {
        assert_false(ty_flight_send(flight, 1));
    }
    while (!ty_flight_recv(flight, 1, 999, &ready, &illegal)) {
    }
    assert_int_equal(ready, 4096);
    assert_int_equal(illegal, 0);
    ready = 0;
    assert_true(ty_flight_recv(flight, 1, 999, &ready, &illegal));
    assert_int_equal(ready, 4096);
    ty_flight_close(flight);
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seats_of_one_who_left_are_taken_up_by_another),
        cmocka_unit_test(test_seats_that_a_member_has_already_change_nothing),
        cmocka_unit_test(test_seats_change_hands_between_episodes),
        cmocka_unit_test(test_disabled_slot_stays_ended_when_a_member_comes_back),
        cmocka_unit_test(test_reset_counts_an_episode_without_decisions),
        cmocka_unit_test(test_hand_over_leaves_ended_episodes_alone),
        cmocka_unit_test(test_forfeit_among_opponents_costs_the_offender_alone),
        cmocka_unit_test(test_pool_of_impossible_size_takes_no_bytes),
        cmocka_unit_test(test_detach_without_attach_leaves_the_rows),
        cmocka_unit_test(test_snapshot_of_an_ending_cannot_run_on),
        cmocka_unit_test(test_rollouts_may_be_played_by_one_who_plans),
        cmocka_unit_test(test_pool_without_threads_is_refused),
        cmocka_unit_test(test_flight_without_a_thread_or_memory_is_refused),
        cmocka_unit_test(test_seats_stay_where_they_are_without_memory),
        cmocka_unit_test(test_hand_over_without_memory_changes_nothing),
        cmocka_unit_test(test_detach_without_memory_leaves_the_slab_where_it_is),
        cmocka_unit_test(test_closing_a_flight_lands_every_group),
        cmocka_unit_test(test_group_flies_once_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
