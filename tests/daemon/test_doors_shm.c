/* Shared memory through the daemon itself: members behind different doors of one pool, clients and
 * daemons that die, and silence while both sides spin. */
#define _GNU_SOURCE
#include "core/hash.h"
#include "tests/daemon/daemon_process.h"
#include "tests/support/budget.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_MS = 60000, /* as good as for ever */
    DUO_SLOTS = 8,
    DUO_ROWS = 120, /* answers of each member in each slot that are compared */
    POLICY_SEED = 41,
    QUIET_COMMANDS = 500,
};

static TyRuleset *ruleset;

static int suite_open(void **unused)
{
    (void)unused;
    return ty_ruleset_open("convoi:board=tiny", NULL, &ruleset).code == TY_OK ? 0 : -1;
}

static int suite_close(void **unused)
{
    (void)unused;
    ty_ruleset_close(ruleset);
    return 0;
}

static TyClient *client_connect(const BenchDaemon *daemon)
{
    TyClient *client = NULL;
    TyStatus status = ty_client_connect(&(TyClientConfig){.endpoint = daemon->ipc}, &client);
    assert_string_equal(status.message, "");
    return client;
}

static TyShmClient *client_attach(TyClient *client, const TyClientPool *pool)
{
    TyShmClient *shm = NULL;
    TyStatus status = ty_client_attach(client, pool, &shm);
    assert_string_equal(status.message, "");
    return shm;
}

/* ---- Two members ---- */

/* A member, its door, and what it saw: a chain for each slot over its first DUO_ROWS rows. */
typedef struct Player {
    uint32_t member;
    TyPool *pool; /* in this process; or */
    TyClient *client;
    TyClientPool remote;
    TyShmClient *shm; /* NULL: by messages */
    uint32_t seen[DUO_SLOTS];
    uint64_t chain[DUO_SLOTS];
    uint64_t last[DUO_SLOTS]; /* the row that was noted last */
} Player;

typedef struct RowView {
    uint32_t slot;
    const uint8_t *obs;
    const uint8_t *mask;
    uint32_t episode;
    uint32_t step;
    float reward;
} RowView;

/* Notes the row and chooses a legal action for it that depends on nothing else. */
static int32_t player_choose(Player *player, const RowView *row)
{
    const TyShape *shape = ty_shape(ruleset);
    uint64_t counter = (uint64_t)row->episode << 32 | row->step;
    /* A row that shows before it is published is answered once more. */
    bool again = player->last[row->slot] == counter + 1;
    player->last[row->slot] = counter + 1;
    if (!again && player->seen[row->slot]++ < DUO_ROWS) {
        uint64_t *chain = &player->chain[row->slot];
        *chain = hash_bytes(*chain, row->obs, shape->row_size);
        *chain = hash_bytes(*chain, row->mask, shape->action_count);
        *chain = hash_bytes(*chain, (const uint8_t *)&counter, sizeof counter);
        *chain = hash_bytes(*chain, (const uint8_t *)&row->reward, sizeof row->reward);
    }
    return memchr(row->mask, 1, shape->action_count) == NULL
               ? 0
               : (int32_t)ty_sample(row->mask, shape->action_count,
                                    POLICY_SEED + hash_mix(row->slot + 1u), counter);
}

static RowView row_view(const uint8_t *const *column, uint32_t row, uint32_t slot)
{
    const TyShape *shape = ty_shape(ruleset);
    RowView view = {.slot = slot,
                    .obs = column[TY_COLUMN_OBS] + (size_t)row * shape->row_size,
                    .mask = column[TY_COLUMN_MASK] + (size_t)row * shape->action_count};
    memcpy(&view.episode, column[TY_COLUMN_EPISODE] + (size_t)row * 4, 4);
    memcpy(&view.step, column[TY_COLUMN_STEP] + (size_t)row * 4, 4);
    memcpy(&view.reward, column[TY_COLUMN_REWARD] + (size_t)row * 4, 4);
    return view;
}

static void turn_by_slab(Player *player)
{
    const TySlab *slab =
        player->shm != NULL ? ty_shm_slab(player->shm) : ty_pool_slab(player->pool, player->member);
    const uint8_t *column[TY_COLUMN_ACTION];
    uint8_t which[DUO_SLOTS] = {0};
    int32_t *actions = ty_slab_column(slab, 0, TY_COLUMN_ACTION);
    uint32_t count = 0;
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        column[i] = ty_slab_column(slab, 0, (TyColumn)i);
    }
    for (uint32_t row = 0; row < DUO_SLOTS; row++) {
        which[row] = __atomic_load_n(&column[TY_COLUMN_READY][row], __ATOMIC_ACQUIRE);
        if (which[row]) {
            RowView view = row_view(column, row, row);
            actions[row] = player_choose(player, &view);
            count++;
        }
    }
    if (player->shm == NULL) {
        ty_pool_step_some(player->pool, player->member, 0, which, NULL);
    } else if (count > 0) {
        assert_true(ty_shm_submit(player->shm, 0, which));
        assert_int_equal(ty_shm_wait(player->shm, 0, WAIT_MS), TY_SHM_READY);
        assert_int_equal(ty_shm_news(player->shm, 0).result, 0);
    }
}

static void turn_by_messages(Player *player)
{
    int32_t actions[DUO_SLOTS];
    uint32_t slots[DUO_SLOTS];
    uint32_t count = 0;
    TyClientRows rows;
    TyStatus status =
        ty_client_recv(player->client, &player->remote, &(TyClientWait){.timeout_ms = 5}, &rows);
    assert_string_equal(status.message, "");
    for (uint32_t row = 0; row < rows.count; row++) {
        if (rows.column[TY_COLUMN_READY][row]) {
            RowView view = row_view(rows.column, row, rows.slots[row]);
            slots[count] = rows.slots[row];
            actions[count++] = player_choose(player, &view);
        }
    }
    if (count > 0) {
        status = ty_client_send(player->client, &player->remote, slots, actions, count, NULL);
        assert_string_equal(status.message, "");
    }
}

static bool player_is_done(const Player *player)
{
    bool done = true;
    for (uint32_t slot = 0; slot < DUO_SLOTS; slot++) {
        done = done && player->seen[slot] >= DUO_ROWS;
    }
    return done;
}

static void duo_play(Player players[2])
{
    while (!player_is_done(&players[0]) || !player_is_done(&players[1])) {
        for (uint32_t i = 0; i < 2; i++) {
            if (players[i].client != NULL && players[i].shm == NULL) {
                turn_by_messages(&players[i]);
            } else {
                turn_by_slab(&players[i]);
            }
        }
    }
}

static void duo_in_process(Player players[2])
{
    const TyPoolConfig config = {
        .slots = DUO_SLOTS, .seed = 3, .members = 2, .owner = {0, 1}, .max_steps = 90};
    TyPool *pool = NULL;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    for (uint32_t i = 0; i < 2; i++) {
        players[i] = (Player){.member = i, .pool = pool};
    }
    duo_play(players);
    ty_pool_close(pool);
}

static void duo_by_daemon(const BenchDaemon *daemon, const bool shm[2], Player players[2])
{
    const TyClientOpen open = {.ruleset = ty_shape(ruleset)->spec,
                               .slots = DUO_SLOTS,
                               .seed = 3,
                               .plain_seeds = true,
                               .max_steps = 90,
                               .seats = {"me", "open"},
                               .shm = shm[0]};
    for (uint32_t i = 0; i < 2; i++) {
        players[i] = (Player){.member = i, .client = client_connect(daemon)};
    }
    TyClientPool *opened = &players[0].remote;
    assert_int_equal(ty_client_open_pool(players[0].client, &open, opened).code, TY_OK);
    const TyClientJoin join = {.pool = opened->id, .invite = opened->invite, .shm = shm[1]};
    TyStatus status = ty_client_join(players[1].client, &join, &players[1].remote);
    assert_string_equal(status.message, "");
    for (uint32_t i = 0; i < 2; i++) {
        players[i].shm = shm[i] ? client_attach(players[i].client, &players[i].remote) : NULL;
    }
    duo_play(players);
    for (uint32_t i = 2; i-- > 0;) {
        ty_shm_close(players[i].shm);
        ty_client_close(players[i].client);
    }
}

/* A daemon that sleeps at once is woken by bells, and meanwhile its router plays for the member who
 * sends messages; one that spins finds everything by itself. */
static void duo_compare(const char *spin, const Player wanted[2])
{
    static const bool doors[][2] = {{true, true}, {true, false}, {false, true}, {false, false}};
    Player players[2];
    BenchDaemon daemon;
    daemon_start(&daemon, (const char *const[]){"--limit", spin, NULL});
    for (uint32_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        duo_by_daemon(&daemon, doors[i], players);
        for (uint32_t member = 0; member < 2; member++) {
            assert_memory_equal(players[member].chain, wanted[member].chain,
                                sizeof wanted[member].chain);
        }
    }
    daemon_stop(&daemon);
}

static void test_members_see_the_same_through_any_two_doors(void **unused)
{
    (void)unused;
    Player wanted[2];
    duo_in_process(wanted);
    duo_compare("shm_spin_us=50", wanted);
    duo_compare("shm_spin_us=0", wanted);
}

/* ---- Bells ---- */

static void random_step(TyShmClient *shm, uint32_t group)
{
    ty_sample_rows(ty_shm_slab(shm), group, POLICY_SEED);
    ty_shm_submit(shm, group, NULL);
}

/* Nanoseconds to some microseconds, each as often as its double. */
static void pause_briefly(uint64_t random)
{
    for (volatile uint64_t left = random % (UINT64_C(1) << (random >> 24) % 14); left > 0; left--) {
    }
}

/* Plays with pauses of many lengths, so that something comes at every moment of a side's going to
 * sleep: the one that spins answers at once. A bell that is lost is missed for ever. */
static void bells_ring(const char *spin, uint32_t own_spin_us)
{
    BenchDaemon daemon;
    TyClientPool pool;
    daemon_start(&daemon, (const char *const[]){"--limit", spin, NULL});
    TyClient *client = client_connect(&daemon);
    const TyClientOpen open = {
        .ruleset = "convoi:board=tiny", .slots = 2, .groups = 2, .shm = true};
    assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
    TyShmClient *shm = client_attach(client, &pool);
    ty_shm_set_spin(shm, own_spin_us);
    for (uint32_t i = 0, trips = budget(4000, 400000); i < trips; i++) {
        pause_briefly(hash_mix(i));
        random_step(shm, i % 2);
        pause_briefly(hash_mix(i) >> 32);
        assert_int_equal(ty_shm_wait(shm, i % 2, WAIT_MS), TY_SHM_READY);
    }
    ty_shm_close(shm);
    ty_client_close(client);
    daemon_stop(&daemon);
}

static void test_no_bell_is_lost(void **unused)
{
    (void)unused;
    bells_ring("shm_spin_us=0", 1000);
    bells_ring("shm_spin_us=1000", 0);
    bells_ring("shm_spin_us=0", 0);
}

/* ---- Deaths ---- */

/* A process that plays a pool of its own through shared memory until it is killed. */
static pid_t client_fork(const BenchDaemon *daemon, uint32_t groups, uint32_t threads)
{
    int said[2];
    char word;
    assert_int_equal(pipe(said), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        TyClientPool pool;
        TyClient *client = client_connect(daemon);
        const TyClientOpen open = {.ruleset = ty_shape(ruleset)->spec,
                                   .slots = 64,
                                   .groups = groups,
                                   .threads = threads,
                                   .shm = true};
        assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
        TyShmClient *shm = client_attach(client, &pool);
        assert_int_equal(write(said[1], "", 1), 1);
        for (uint32_t group = 0; group < groups; group++) {
            random_step(shm, group);
        }
        uint32_t group = 0;
        while (ty_shm_wait_any(shm, &group, -1) == TY_SHM_READY) {
            random_step(shm, group);
        }
        _exit(0);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &word, 1), 1);
    close(said[0]);
    return child;
}

static uint32_t directory_count(const BenchDaemon *daemon, const char *what)
{
    char path[64];
    uint32_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)daemon->process, what);
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream) != NULL) {
        count++;
    }
    closedir(stream);
    return count;
}

static uint32_t segment_count(const BenchDaemon *daemon)
{
    char path[64];
    char line[512];
    uint32_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)daemon->process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, "memfd:trainyard") != NULL;
    }
    fclose(file);
    return count;
}

/* What a daemon holds on to. */
typedef struct Holdings {
    uint32_t descriptors;
    uint32_t threads;
    uint32_t segments;
} Holdings;

static Holdings holdings_of(const BenchDaemon *daemon)
{
    return (Holdings){.descriptors = directory_count(daemon, "fd"),
                      .threads = directory_count(daemon, "task"),
                      .segments = segment_count(daemon)};
}

static void assert_holdings_become(const BenchDaemon *daemon, Holdings wanted)
{
    Holdings now = holdings_of(daemon);
    for (uint32_t i = 0; i < 1000 && memcmp(&now, &wanted, sizeof now) != 0; i++) {
        usleep(20000);
        now = holdings_of(daemon);
    }
    assert_int_equal(now.segments, wanted.segments);
    assert_int_equal(now.threads, wanted.threads);
    assert_int_equal(now.descriptors, wanted.descriptors);
}

static void child_end(pid_t child, int signal_number)
{
    int status = 0;
    if (signal_number != 0) {
        kill(child, signal_number);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(signal_number != 0 ? WIFSIGNALED(status)
                                   : WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_killed_clients_leave_nothing(void **unused)
{
    (void)unused;
    BenchDaemon daemon;
    daemon_start(&daemon, NULL);
    TyClient *watcher = client_connect(&daemon);
    Holdings before = holdings_of(&daemon);
    uint32_t pairs = budget(100, 5000);
    for (uint32_t i = 0; i < pairs; i++) {
        pid_t one = client_fork(&daemon, 1 + i % 3, 1 + i % 2);
        pid_t two = client_fork(&daemon, 2, 1);
        usleep((useconds_t)(hash_mix(i) % 8000));
        child_end(one, SIGKILL);
        usleep((useconds_t)(hash_mix(i + pairs) % 3000));
        child_end(two, SIGKILL);
    }
    assert_holdings_become(&daemon, before);
    ty_client_close(watcher);
    daemon_stop(&daemon);
}

/* Every client sees the end, whether it spins, sleeps or has a group under way. */
static void test_clients_hear_of_the_daemons_end(void **unused)
{
    (void)unused;
    static const int signals[] = {SIGTERM, SIGKILL};
    for (uint32_t i = 0; i < 2; i++) {
        BenchDaemon daemon;
        TyClientPool pool;
        daemon_start(&daemon, NULL);
        pid_t players[2] = {client_fork(&daemon, 2, 1), client_fork(&daemon, 1, 2)};
        TyClient *client = client_connect(&daemon);
        const TyClientOpen open = {.ruleset = "convoi:board=tiny", .shm = true};
        assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
        TyShmClient *shm = client_attach(client, &pool);
        assert_int_equal(ty_shm_wait(shm, 0, 1), TY_SHM_TIMEOUT);
        kill(daemon.process, signals[i]);
        assert_int_equal(ty_shm_wait(shm, 0, WAIT_MS), TY_SHM_CLOSED);
        assert_int_equal(ty_shm_news(shm, 0).ready, 1); /* what was there stays readable */
        child_end(players[0], 0);
        child_end(players[1], 0);
        ty_shm_close(shm);
        ty_client_close(client);
        if (signals[i] == SIGKILL) {
            assert_int_equal(bench_daemon_kill(&daemon).code, TY_OK);
        } else {
            siginfo_t info; /* a second signal would end it at once: it is left to end by itself */
            assert_int_equal(waitid(P_PID, (id_t)daemon.process, &info, WEXITED | WNOWAIT), 0);
            daemon_stop(&daemon);
        }
    }
}

/* ---- Silence ---- */

/* Counts the system calls of another process's thread. */
typedef struct Tracer {
    pthread_t thread;
    pid_t task;
    atomic_int state; /* 1: counting, 2: it cannot */
    atomic_uint calls;
    atomic_bool stop;
} Tracer;

static void *tracer_main(void *argument)
{
    Tracer *tracer = argument;
    int status = 0;
    bool attached = ptrace(PTRACE_SEIZE, tracer->task, NULL, PTRACE_O_TRACESYSGOOD) == 0 &&
                    ptrace(PTRACE_INTERRUPT, tracer->task, NULL, NULL) == 0 &&
                    waitpid(tracer->task, &status, __WALL) == tracer->task &&
                    ptrace(PTRACE_SYSCALL, tracer->task, NULL, NULL) == 0;
    tracer->state = attached ? 1 : 2;
    while (attached && !tracer->stop) {
        pid_t stopped = waitpid(tracer->task, &status, __WALL | WNOHANG);
        if (stopped == 0) {
            usleep(100);
            continue;
        }
        tracer->calls += WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
        attached = stopped == tracer->task && WIFSTOPPED(status) &&
                   ptrace(PTRACE_SYSCALL, tracer->task, NULL, NULL) == 0;
    }
    return NULL; /* the kernel lets the task go when its tracer ends */
}

/* The thread of the daemon that was begun last: the pool's, if no pool was opened since. */
static pid_t newest_task(const BenchDaemon *daemon)
{
    char path[64];
    long newest = 0;
    const struct dirent *entry = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)daemon->process);
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL) {
        long task = strtol(entry->d_name, NULL, 10);
        newest = task > newest ? task : newest;
    }
    closedir(stream);
    return (pid_t)newest;
}

/* Both sides are told to spin for as long as it takes. */
static void test_no_system_call_while_both_spin(void **unused)
{
    (void)unused;
    BenchDaemon daemon;
    TyClientPool pool;
    TyClientRows rows;
    daemon_start(&daemon, (const char *const[]){"--limit", "shm_spin_us=4000000", NULL});
    TyClient *client = client_connect(&daemon);
    const TyClientOpen open = {
        .ruleset = "convoi:board=tiny", .slots = 8, .groups = 2, .shm = true};
    assert_int_equal(ty_client_open_pool(client, &open, &pool).code, TY_OK);
    TyShmClient *shm = client_attach(client, &pool);
    ty_shm_set_spin(shm, 4000000);
    Tracer tracer = {.task = newest_task(&daemon)};
    assert_int_equal(pthread_create(&tracer.thread, NULL, tracer_main, &tracer), 0);
    while (tracer.state == 0) {
        usleep(1000);
    }
    assert_int_equal(tracer.state, 1);
    for (uint32_t i = 0; i < QUIET_COMMANDS + 10; i++) {
        uint32_t before = tracer.calls;
        random_step(shm, i % 2);
        assert_int_equal(ty_shm_wait(shm, i % 2, WAIT_MS), TY_SHM_READY);
        assert_true(tracer.calls == before || i < 10); /* at first it may have to wake up */
    }
    assert_int_equal(ty_shm_sleeps(shm), 0);
    uint32_t before = tracer.calls;
    assert_int_equal(ty_client_reset(client, &pool, NULL, NULL, &rows).code, TY_OK);
    assert_true(tracer.calls > before); /* a message does cost some: the check can fail */
    tracer.stop = true;
    pthread_join(tracer.thread, NULL);
    ty_shm_close(shm);
    ty_client_close(client);
    daemon_stop(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_see_the_same_through_any_two_doors),
        cmocka_unit_test(test_no_bell_is_lost),
        cmocka_unit_test(test_killed_clients_leave_nothing),
        cmocka_unit_test(test_clients_hear_of_the_daemons_end),
        cmocka_unit_test(test_no_system_call_while_both_spin),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
