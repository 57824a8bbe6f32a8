/* The hot path: a million decisions with their rows and masks make no allocation and no system
 * call. */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "tests/support/allocations.h"
#include "tests/support/sanitizers.h"
#include "trainyard.h"

#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef SANITIZED
enum { DECISIONS = 100000 }; /* the promise is kept by what people run */
#else
enum { DECISIONS = 1000000 };
#endif

/* Random play of `decisions` decisions, over as many episodes as that takes. */
static void play(const TyRuleset *ruleset, uint32_t decisions)
{
    static uint64_t state[TY_STATE_MAX / 8];
    static uint8_t mask[TY_ACTIONS_MAX];
    static uint8_t row[TY_ROW_MAX];
    const TyShape *shape = ty_shape(ruleset);
    uint64_t seed = 0;
    ty_reset(ruleset, state, seed++, NULL);
    for (uint32_t i = 0; i < decisions; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_legal(ruleset, state, mask);
        ty_observe(ruleset, state, (uint32_t)ty_head(state)->seat, row);
        ty_step(ruleset, state, ty_sample(mask, shape->action_count, 1, i), reward, NULL);
        if (ty_head(state)->over) {
            ty_reset(ruleset, state, seed++, NULL);
        }
    }
}

static void each_game(void (*check)(const TyRuleset *))
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        TyRuleset *ruleset = NULL;
        TyStatus status = ty_ruleset_open(ty_game_name(ty_game_at(i)), NULL, &ruleset);
        assert_int_equal(status.code, TY_OK);
        check(ruleset);
        ty_ruleset_close(ruleset);
    }
}

static void check_allocations(const TyRuleset *ruleset)
{
    uint64_t before = allocations;
    assert_true(before > 0); /* the ruleset itself: the counter counts */
    play(ruleset, DECISIONS);
    assert_true(allocations == before);
}

static void test_a_million_decisions_without_allocation(void **unused)
{
    (void)unused;
    each_game(check_allocations);
}

/* Pools whose episodes are recorded: once every slot has its room, nothing is allocated. */
static void check_recording(const TyRuleset *ruleset)
{
    char directory[] = "/tmp/trainyard-hot-XXXXXX";
    char path[64];
    TyPool *pool = NULL;
    Recorder *recorder = NULL;
    RecorderFeed *feed = NULL;
    TyPoolConfig config = {.slots = 16, .autoreset = TY_AUTORESET_SAME_STEP};
    assert_non_null(mkdtemp(directory));
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    assert_int_equal(recorder_open(directory, NULL, &recorder).code, TY_OK);
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    uint64_t before = 0;
    for (uint32_t i = 0; i < DECISIONS / config.slots; i++) {
        before = i == DECISIONS / config.slots / 2 ? allocations : before;
        ty_sample_rows(ty_pool_slab(pool, 0), 0, 1);
        ty_pool_step(pool, 0, 0, NULL);
    }
    assert_true(allocations == before);
    assert_true(recorder_stats(recorder).episodes > 100);
    recorder_feed_close(feed);
    recorder_close(recorder);
    ty_pool_close(pool);
    snprintf(path, sizeof path, "%s/episodes-000001.tylog", directory);
    unlink(path);
    rmdir(directory);
}

/* The buffers of a slot grow with its longest episode so far; episodes of convoi soon reach it. */
static void test_recording_does_not_allocate(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    check_recording(ruleset);
    ty_ruleset_close(ruleset);
}

/* In strict mode the kernel kills a process that makes any system call but read, write and exit. */
static int run_without_system_calls(const TyRuleset *ruleset, bool misbehave)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        play(ruleset, 1000);
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        play(ruleset, DECISIONS);
        if (misbehave) {
            syscall(SYS_getpid);
        }
        syscall(SYS_exit, 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void check_system_calls(const TyRuleset *ruleset)
{
    int status = run_without_system_calls(ruleset, false);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_a_million_decisions_without_system_call(void **unused)
{
    (void)unused;
    each_game(check_system_calls);
}

static void test_the_check_for_system_calls_can_fail(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    int status = run_without_system_calls(ruleset, true);
    assert_true(WIFSIGNALED(status));
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_million_decisions_without_allocation),
        cmocka_unit_test(test_recording_does_not_allocate),
        cmocka_unit_test(test_a_million_decisions_without_system_call),
        cmocka_unit_test(test_the_check_for_system_calls_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
