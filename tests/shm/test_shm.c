/* Shared memory between real processes: the same trajectories as in process, two members on one
 * pool, no allocation and no system call while both sides spin. */
#define _GNU_SOURCE
#include "tests/shm/shm_table.h"
#include "tests/support/allocations.h"
#include "tests/support/sanitizers.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

enum {
    STEPS = 220,    /* of every group: some episodes of random play */
    MAX_STEPS = 70, /* so that some of them are cut off */
    SLOTS_MAX = 1024,
    QUIET_COMMANDS = 4000,
};

/* ---- The same trajectories ---- */

/* Adds all that a row says to its slot's chain. */
static void row_chain(const TySlab *slab, uint32_t group, uint32_t row, uint64_t *chains)
{
    const TyGroupLayout *layout = &slab->group[group];
    uint64_t hash = chains[layout->first + row];
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        size_t size = (size_t)layout->columns[i].width * ty_type_size(layout->columns[i].type);
        if (size > 0) {
            const uint8_t *column = ty_slab_column(slab, group, (TyColumn)i);
            hash = hash_bytes(hash, column + row * size, size);
        }
    }
    chains[layout->first + row] = hash;
}

static void group_chain(const TySlab *slab, uint32_t group, uint64_t *chains)
{
    for (uint32_t row = 0; row < slab->group[group].rows; row++) {
        row_chain(slab, group, row, chains);
    }
}

static void play_in_process(const TyPoolConfig *config, uint64_t *chains)
{
    TyPool *pool = pool_make(config);
    const TySlab *slab = ty_pool_slab(pool, 0);
    for (uint32_t i = 0; i < STEPS * slab->groups; i++) {
        ty_sample_rows(slab, i % slab->groups, SEED);
        ty_pool_step(pool, 0, i % slab->groups, NULL);
        group_chain(slab, i % slab->groups, chains);
    }
    ty_pool_close(pool);
}

/* All groups are in flight but the one that is looked at. */
static void play_shared(TyShmClient *client, uint64_t *chains)
{
    const TySlab *slab = ty_shm_slab(client);
    for (uint32_t group = 0; group < slab->groups; group++) {
        ty_sample_rows(slab, group, SEED);
        assert_true(ty_shm_submit(client, group, NULL));
    }
    for (uint32_t i = 0; i < STEPS * slab->groups; i++) {
        uint32_t group = i % slab->groups;
        assert_int_equal(ty_shm_wait(client, group, WAIT_MS), TY_SHM_READY);
        assert_int_equal(ty_shm_news(client, group).result, SHM_DONE);
        assert_int_equal(ty_shm_news(client, group).illegal, 0);
        group_chain(slab, group, chains);
        if (i + slab->groups < STEPS * slab->groups) {
            ty_sample_rows(slab, group, SEED);
            assert_true(ty_shm_submit(client, group, NULL));
        }
    }
}

static void check_batch(TyAutoreset autoreset, uint32_t slots, uint32_t groups, uint32_t threads,
                        uint64_t *first)
{
    static uint64_t expected[SLOTS_MAX];
    static uint64_t chains[SLOTS_MAX];
    const TyPoolConfig config = {.slots = slots,
                                 .groups = groups,
                                 .threads = threads,
                                 .seed = 5,
                                 .autoreset = autoreset,
                                 .max_steps = MAX_STEPS,
                                 .hash = true,
                                 .full = true};
    memset(expected, 0, sizeof expected);
    memset(chains, 0, sizeof chains);
    play_in_process(&config, expected);
    pid_t yard = yard_fork(&config, 1);
    TyShmClient *client = client_open(0, 0);
    assert_non_null(client);
    assert_string_equal(ty_shm_spec(client), ty_shape(ruleset)->spec);
    assert_true(ty_shm_schema_hash(client) == ty_shape(ruleset)->schema_hash);
    play_shared(client, chains);
    ty_shm_close(client);
    assert_exits_well(yard);
    assert_memory_equal(chains, expected, sizeof chains);
    *first = *first == 0 ? chains[0] : *first;
    assert_true(chains[0] == *first);
}

static void check_batches(TyAutoreset autoreset)
{
    static const uint32_t batches[] = {1, 7, 64, 1024};
    uint64_t first = 0;
    for (uint32_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        for (uint32_t groups = 1; groups <= 2 && groups <= batches[i]; groups++) {
            check_batch(autoreset, batches[i], groups, 1, &first);
        }
    }
    check_batch(autoreset, 64, 2, 2, &first);
}

static void test_trajectories_with_next_step_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_NEXT_STEP);
}

static void test_trajectories_with_same_step_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_SAME_STEP);
}

static void test_trajectories_without_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_DISABLED);
}

/* ---- Two members ---- */

enum { DUO_SLOTS = 32, DUO_ROWS = 60 /* of each slot: the first that a member answers */ };

/* Counts and chains the ready rows, and notes which they are. Rows may become ready at any time:
 * only those that were seen are answered. One that shows before it is published is answered once
 * more; `last` tells that it is the same. */
static uint32_t duo_note(const TySlab *slab, uint32_t *counts, uint64_t *chains, uint8_t *which,
                         uint64_t *last)
{
    const uint8_t *ready = ty_slab_column(slab, 0, TY_COLUMN_READY);
    const uint32_t *episode = ty_slab_column(slab, 0, TY_COLUMN_EPISODE);
    const uint32_t *step = ty_slab_column(slab, 0, TY_COLUMN_STEP);
    uint32_t done = 0;
    for (uint32_t row = 0; row < slab->group[0].rows; row++) {
        which[row] = __atomic_load_n(ready + row, __ATOMIC_ACQUIRE);
        uint64_t now = ((uint64_t)episode[row] << 32 | step[row]) + 1;
        bool again = which[row] && last[row] == now;
        last[row] = which[row] ? now : last[row];
        if (which[row] && !again && counts[row] < DUO_ROWS) {
            row_chain(slab, 0, row, chains);
            counts[row]++;
        }
        done += counts[row] == DUO_ROWS;
    }
    return done;
}

static uint64_t chains_sum(const uint64_t *chains)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DUO_SLOTS; i++) {
        sum = hash_add(sum, chains[i]);
    }
    return sum;
}

static void duo_in_process(const TyPoolConfig *config, uint64_t sums[2])
{
    TyPool *pool = pool_make(config);
    uint32_t counts[2][DUO_SLOTS] = {{0}};
    uint64_t chains[2][DUO_SLOTS] = {{0}};
    uint64_t last[2][DUO_SLOTS] = {{0}};
    uint8_t which[DUO_SLOTS];
    uint32_t done = 0;
    while (done < 2 * DUO_SLOTS) {
        done = 0;
        for (uint32_t member = 0; member < 2; member++) {
            const TySlab *slab = ty_pool_slab(pool, member);
            done += duo_note(slab, counts[member], chains[member], which, last[member]);
            ty_sample_rows(slab, 0, SEED);
            ty_pool_step_some(pool, member, 0, which, NULL);
        }
    }
    sums[0] = chains_sum(chains[0]);
    sums[1] = chains_sum(chains[1]);
    ty_pool_close(pool);
}

/* Plays one member until `quit` is told that the other is done too. */
static void duo_child(uint32_t member, uint64_t expected, int said, int quit)
{
    TyShmClient *client = client_open(member, member);
    CHILD_CHECK(client != NULL);
    const TySlab *slab = ty_shm_slab(client);
    uint32_t counts[DUO_SLOTS] = {0};
    uint64_t chains[DUO_SLOTS] = {0};
    uint64_t last[DUO_SLOTS] = {0};
    uint8_t which[DUO_SLOTS];
    bool told = false;
    struct pollfd poll_quit = {.fd = quit, .events = POLLIN};
    while (poll(&poll_quit, 1, 0) == 0) {
        uint32_t done = duo_note(slab, counts, chains, which, last);
        ty_sample_rows(slab, 0, SEED);
        CHILD_CHECK(ty_shm_submit(client, 0, which));
        CHILD_CHECK(ty_shm_wait(client, 0, WAIT_MS) == TY_SHM_READY);
        CHILD_CHECK(ty_shm_news(client, 0).illegal == 0);
        while (ty_shm_news(client, 0).ready == 0 && poll(&poll_quit, 1, 0) == 0) {
            CHILD_CHECK(ty_shm_wait(client, 0, 10) != TY_SHM_CLOSED);
        }
        if (done == DUO_SLOTS && !told) {
            told = true;
            CHILD_CHECK(write(said, "", 1) == 1);
        }
    }
    ty_shm_close(client);
    CHILD_CHECK(chains_sum(chains) == expected);
    ty_ruleset_close(ruleset);
    exit(0);
}

static void test_two_members_see_their_rows_whole(void **unused)
{
    (void)unused;
    const TyPoolConfig config = {
        .slots = DUO_SLOTS, .seed = 3, .members = 2, .owner = {0, 1}, .max_steps = MAX_STEPS};
    uint64_t sums[2];
    int said[2];
    int quit[2];
    duo_in_process(&config, sums);
    pid_t yard = yard_fork(&config, 1);
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(quit), 0);
    pid_t children[2];
    for (uint32_t member = 0; member < 2; member++) {
        children[member] = fork();
        if (children[member] == 0) {
            close(quit[1]);
            duo_child(member, sums[member], said[1], quit[0]);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        char word;
        struct pollfd heard = {.fd = said[0], .events = POLLIN};
        assert_int_equal(poll(&heard, 1, WAIT_MS), 1);
        assert_int_equal(read(said[0], &word, 1), 1);
    }
    close(quit[1]);
    assert_exits_well(children[0]);
    assert_exits_well(children[1]);
    assert_exits_well(yard);
    close(quit[0]);
    close(said[0]);
    close(said[1]);
}

/* ---- Silence ---- */

#ifndef SANITIZED_THREAD /* which makes system calls of its own, and has a thread that stays */

static void quiet_enter(void)
{
    CHILD_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
}

/* In strict mode the kernel kills a process that makes any system call but read, write and exit.
 * Those two are not made either: the eventfd and the pipe are untouched at the end. */
static void quiet_client(bool misbehave)
{
    TyShmClient *client = client_open(0, 0);
    CHILD_CHECK(client != NULL);
    const TySlab *slab = ty_shm_slab(client);
    ty_shm_set_spin(client, UINT32_MAX / 2000);
    uint64_t before = allocations;
    for (uint32_t i = 0; i < QUIET_COMMANDS; i++) {
        if (i == 100) {
            quiet_enter();
        }
        ty_sample_rows(slab, i % 2, SEED);
        if (!ty_shm_submit(client, i % 2, NULL) ||
            ty_shm_wait(client, i % 2, WAIT_MS) != TY_SHM_READY || allocations != before) {
            syscall(SYS_exit, 3);
        }
    }
    if (misbehave) {
        syscall(SYS_getpid);
    }
    syscall(SYS_exit, 0);
}

static void quiet_server(void)
{
    const TyPoolConfig config = {.slots = 32, .groups = 2};
    TyPool *pool = pool_make(&config);
    Yard yard;
    CHILD_CHECK(yard_open(&yard, path).code == TY_OK);
    CHILD_CHECK(yard_add(&yard, pool, 0).code == TY_OK);
    yard_run(&yard, yard_clock_ns() + UINT64_C(5000000000), yard_is_let);
    unlink(path);
    CHILD_CHECK(unlink(strcat(path, ".lock")) == 0);
    while (shm_channel_counts(yard.doors[0].door).commands < 100) {
        yard_serve(&yard);
    }
    uint64_t before = allocations;
    quiet_enter();
    while (shm_channel_counts(yard.doors[0].door).commands < QUIET_COMMANDS) {
        yard_serve(&yard);
    }
    bool silent = allocations == before && shm_channel_counts(yard.doors[0].door).bells == 0;
    syscall(SYS_exit, silent ? 0 : 3);
}

static void quiet_play(bool misbehave, int *server_status, int *client_status)
{
    fflush(NULL);
    pid_t server = fork();
    if (server == 0) {
        quiet_server();
    }
    while (access(path, F_OK) != 0) {
        usleep(1000);
    }
    usleep(20000);
    pid_t client = fork();
    if (client == 0) {
        quiet_client(misbehave);
    }
    waitpid(client, client_status, 0);
    waitpid(server, server_status, 0);
}

static void test_no_allocation_and_no_system_call_while_both_spin(void **unused)
{
    (void)unused;
    int server = 0;
    int client = 0;
    quiet_play(false, &server, &client);
    assert_true(WIFEXITED(client) && WEXITSTATUS(client) == 0);
    assert_true(WIFEXITED(server) && WEXITSTATUS(server) == 0);
}

static void test_the_check_for_system_calls_can_fail(void **unused)
{
    (void)unused;
    int server = 0;
    int client = 0;
    quiet_play(true, &server, &client);
    assert_true(WIFSIGNALED(client));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trajectories_with_next_step_resets),
        cmocka_unit_test(test_trajectories_with_same_step_resets),
        cmocka_unit_test(test_trajectories_without_resets),
        cmocka_unit_test(test_two_members_see_their_rows_whole),
#ifndef SANITIZED_THREAD
        cmocka_unit_test(test_no_allocation_and_no_system_call_while_both_spin),
        cmocka_unit_test(test_the_check_for_system_calls_can_fail),
#endif
    };
    alarm(WATCHDOG_SECONDS); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
