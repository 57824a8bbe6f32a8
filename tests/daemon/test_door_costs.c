/* What the doors of a real daemon cost once it runs: allocations, of our code and of ZeroMQ's, and
 * the memory of slots. Daemon and client are processes of their own. */
#define _GNU_SOURCE
#include "bench/bench_player.h"
#include "tests/support/sanitizers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
    WARM_UP = 500,    /* steps */
    WINDOW = 1000,    /* steps in a row without an allocation */
    WINDOWS_MAX = 20, /* as many are tried: buffers grow to the most that were ever in use */
};

/* ---- Counting ---- */

typedef struct Counts {
    atomic_ullong ours;  /* allocations that this repository's code asks for */
    atomic_ullong all;   /* those of libraries too; stays 0 with a sanitizer, which has its own */
    atomic_ullong bytes; /* of ours, in all */
} Counts;

/* What the processes of this test share. */
typedef struct Board {
    Counts daemon;
    Counts client;
} Board;

static Board *board;
static Counts *counts; /* of this process; NULL: nothing is counted */

static void count_ours(size_t size)
{
    if (counts != NULL) {
        atomic_fetch_add(&counts->ours, 1);
        atomic_fetch_add(&counts->bytes, size);
    }
}

/* The linker sends the allocations of our own code here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    count_ours(size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    count_ours(count * size);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    count_ours(size);
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count_ours(size);
    return __real_aligned_alloc(alignment, size);
}

#ifndef SANITIZED
/* Shared libraries find these before those of the C library; so do the functions above. */
#define EXPORTED __attribute__((visibility("default")))
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count_all(void)
{
    if (counts != NULL) {
        atomic_fetch_add(&counts->all, 1);
    }
}

EXPORTED void *malloc(size_t size)
{
    count_all();
    return __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
    count_all();
    return __libc_calloc(count, size);
}

EXPORTED void *realloc(void *memory, size_t size)
{
    count_all();
    return __libc_realloc(memory, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    count_all();
    return __libc_memalign(alignment, size);
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count_all();
    *memory = __libc_memalign(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}
#endif

/* ---- The processes ---- */

int daemon_main(int argc, char **argv); /* that of trainyardd */

static int counted_main(int argc, char **argv)
{
    counts = &board->daemon;
    return daemon_main(argc, argv);
}

/* A running daemon and a ruleset. */
static void stage_open(BenchStage *stage)
{
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    *stage = (BenchStage){.ruleset = ruleset};
    TyStatus status = bench_daemon_start(&(BenchDaemonPlan){.run = counted_main}, &stage->daemon);
    assert_string_equal(status.message, "");
}

static void stage_close(BenchStage *stage)
{
    TyStatus status = bench_daemon_stop(&stage->daemon);
    assert_string_equal(status.message, "");
    ty_ruleset_close((TyRuleset *)stage->ruleset);
}

static void player_begin(const BenchStage *stage, BenchDoor door, uint32_t slots,
                         BenchPlayer *player)
{
    const TyPoolConfig config = {.slots = slots, .groups = 2, .threads = 1};
    TyStatus status = player_open(stage, door, &config, player);
    assert_string_equal(status.message, "");
    for (uint32_t group = 0; group < player->groups; group++) {
        player_send(player, group);
    }
}

/* Both groups are under way all the time. */
static void player_go_on(BenchPlayer *player, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t group = i % player->groups;
        uint32_t rows = 0;
        assert_true(player_wait(player, &group, &rows));
        assert_int_equal(rows, player->batch);
        player_think(player, group);
        player_send(player, group);
    }
}

/* ---- Allocations ---- */

/* What was allocated while a window of steps passed, in both processes. */
typedef struct Window {
    uint64_t ours;
    uint64_t all;
    uint64_t daemon_all;
} Window;

static Window window_now(void)
{
    uint64_t daemon_all = atomic_load(&board->daemon.all);
    return (Window){.ours = atomic_load(&board->daemon.ours) + atomic_load(&board->client.ours),
                    .all = daemon_all + atomic_load(&board->client.all),
                    .daemon_all = daemon_all};
}

static Window window_play(BenchPlayer *player)
{
    Window before = window_now();
    player_go_on(player, WINDOW);
    Window after = window_now();
    return (Window){after.ours - before.ours, after.all - before.all,
                    after.daemon_all - before.daemon_all};
}

/* Plays until a window passes in which our code allocates nothing. */
static Window window_quiet(BenchPlayer *player)
{
    Window window = window_play(player);
    for (uint32_t i = 1; window.ours > 0 && i < WINDOWS_MAX; i++) {
        window = window_play(player);
    }
    assert_int_equal(window.ours, 0);
    return window;
}

static Window steady_state(BenchDoor door)
{
    BenchStage stage;
    BenchPlayer player;
    stage_open(&stage);
    uint64_t daemon_before = atomic_load(&board->daemon.ours);
    uint64_t client_before = atomic_load(&board->client.ours);
    player_begin(&stage, door, 64, &player);
    assert_true(atomic_load(&board->daemon.ours) > daemon_before); /* the counters count */
    assert_true(atomic_load(&board->client.ours) > client_before);
    player_go_on(&player, WARM_UP);
    Window window = window_quiet(&player);
    player_close(&player);
    stage_close(&stage);
    return window;
}

static void test_zmq_door_does_not_allocate(void **unused)
{
    (void)unused;
    Window window = steady_state(BENCH_IPC);
    /* A step is a request and a reply, in each process. */
    print_message("allocations of ZeroMQ itself: %.2f per message in the daemon, %.2f in the "
                  "client\n",
                  (double)window.daemon_all / (2 * WINDOW),
                  (double)(window.all - window.daemon_all) / (2 * WINDOW));
#ifndef SANITIZED
    assert_true(window.daemon_all > 0);
#endif
}

static void test_shm_channel_does_not_allocate_at_all(void **unused)
{
    (void)unused;
    Window window = steady_state(BENCH_SHM);
    assert_int_equal(window.all, 0);
}

/* ---- Memory ---- */

static void test_10000_slots_of_convoi_fit_in_64_mb(void **unused)
{
    (void)unused;
    const TyPoolConfig config = {.slots = 10000};
    TyRuleset *ruleset = NULL;
    TyPool *pool = NULL;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    uint64_t before = atomic_load(&board->client.bytes);
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    uint64_t taken = atomic_load(&board->client.bytes) - before;
    assert_true(taken > 10000ull * ty_shape(ruleset)->state_size);
    assert_true(taken <= 64ull << 20);
    /* What a pool is said to take beforehand is what it takes, but for how slots are aligned. */
    assert_in_range(ty_pool_bytes(ruleset, &config), taken - taken / 50,
                    taken + (uint64_t)config.slots * TY_SLAB_ALIGN);
    print_message("10,000 slots of convoi: %.1f MB\n", (double)taken / (1 << 20));
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zmq_door_does_not_allocate),
        cmocka_unit_test(test_shm_channel_does_not_allocate_at_all),
        cmocka_unit_test(test_10000_slots_of_convoi_fit_in_64_mb),
    };
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        return 1;
    }
    counts = &board->client;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
