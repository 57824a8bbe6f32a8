/* Recorders: several at once, reopened, refused by the system, and killed; what was acknowledged is
 * in the log. */
#define _GNU_SOURCE
#include "tests/replay/log_table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The system refuses ---- */

static uint32_t calls;
static uint32_t failing_call;  /* from 1; 0: none */
static uint32_t failing_count; /* how many calls fail */
static bool partly;
static bool truncate_fails;

static bool call_fails(void)
{
    calls++;
    return failing_call > 0 && calls >= failing_call && calls < failing_call + failing_count;
}

static ssize_t faulty_write(int fd, const void *bytes, size_t size)
{
    if (!call_fails()) {
        return write(fd, bytes, size);
    }
    if (partly && size > 1) {
        failing_call++; /* half of it now, the error with the rest */
        return write(fd, bytes, size / 2);
    }
    errno = ENOSPC;
    return -1;
}

static int faulty_truncate(int fd, off_t size)
{
    if (truncate_fails) {
        errno = EIO;
        return -1;
    }
    return ftruncate(fd, size);
}

static uint32_t told;

static void count_message(void *user, const char *sentence)
{
    (void)user;
    assert_true(sentence[0] != '\0');
    told++;
}

static void check_failing_write(uint32_t call, uint32_t count, bool half, bool no_truncate)
{
    setup(NULL);
    RecorderOptions options = quiet_options();
    options.calls.write = faulty_write;
    options.calls.truncate = faulty_truncate;
    options.message = count_message;
    calls = told = 0;
    failing_call = call;
    failing_count = count;
    partly = half;
    truncate_fails = no_truncate;
    Recorder *recorder = NULL;
    TyStatus status = recorder_open(directory, &options, &recorder);
    if (status.code != TY_OK) {
        assert_true(call == 1 && status.message[0] != '\0');
        truncate_fails = false;
        teardown(NULL);
        return;
    }
    record_spec(recorder, "convoi:board=tiny", &(TyPoolConfig){.slots = 2, .max_steps = 30}, 10);
    RecorderStats stats = recorder_stats(recorder);
    assert_true(recorder_failure(recorder).code == TY_OK || failing_call + count > calls);
    recorder_close(recorder);
    truncate_fails = false;
    assert_int_equal(stats.episodes + stats.lost, 10);
    assert_int_equal(told > 0, stats.lost > 0);
    uint32_t found = 0;
    char path[128];
    for (uint32_t number = 1; path_of(number, path), access(path, F_OK) == 0; number++) {
        found += count_and_verify(number);
    }
    assert_int_equal(found, stats.episodes);
    teardown(NULL);
}

static void test_error_at_every_write_loses_only_what_is_told(void **unused)
{
    (void)unused;
    teardown(NULL);
    for (uint32_t call = 0; call <= 13; call++) {
        for (uint32_t count = 1; count <= 3; count++) {
            check_failing_write(call, count, false, false);
            check_failing_write(call, count, true, false);
            check_failing_write(call, count, true, true);
        }
    }
    setup(NULL);
}

static ssize_t single_byte_write(int fd, const void *bytes, size_t size)
{
    static uint32_t turn;
    if (++turn % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return write(fd, bytes, size > 0 ? 1 : 0);
}

static void test_interrupted_and_short_writes_are_continued(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    options.calls.write = single_byte_write;
    Recorder *recorder = recorder_at(&options);
    record_spec(recorder, "convoi:board=tiny", &(TyPoolConfig){.slots = 2, .max_steps = 30}, 4);
    recorder_close(recorder);
    assert_int_equal(count_and_verify(1), 4);
}

/* ---- Recorders in use ---- */

static void test_second_recorder_in_a_directory_is_refused(void **unused)
{
    (void)unused;
    Recorder *first = recorder_at(NULL);
    Recorder *second = NULL;
    TyStatus status = recorder_open(directory, NULL, &second);
    assert_int_equal(status.code, TY_IO);
    assert_null(second);
    assert_non_null(strstr(status.message, "another recorder"));
    recorder_close(first);
    recorder_close(recorder_at(NULL));
    status = recorder_open("/proc/nowhere/at/all", NULL, &second);
    assert_int_equal(status.code, TY_IO);
}

static void test_reopened_log_is_continued(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    for (uint32_t i = 1; i <= 4; i++) {
        Recorder *recorder = recorder_at(&options);
        record_spec(recorder, "convoi:board=tiny",
                    &(TyPoolConfig){.slots = 1, .max_steps = 20, .seed = i}, 3);
        recorder_close(recorder);
        assert_int_equal(count_and_verify(1), i * 3);
    }
}

static void test_restored_slots_are_not_recorded(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi");
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    const TyRestore exactly = {.seat = -1};
    uint32_t slot = 1;
    TyPoolConfig config = {.slots = 2, .max_steps = 10};
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    uint8_t *snapshot = malloc(ty_pool_snapshot_size(pool));
    ty_pool_save(pool, 0, snapshot);
    assert_int_equal(ty_pool_restore(pool, snapshot, &slot, 1, &exactly).code, TY_OK);
    play(pool, 4);
    RecorderStats stats = recorder_stats(recorder);
    assert_int_equal(stats.skipped, 1);
    assert_int_equal(stats.episodes, 3);
    free(snapshot);
    recorder_feed_close(feed);
    ty_pool_close(pool);
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
    assert_int_equal(count_and_verify(1), 3);
}

static void test_handed_over_seat_has_both_names(void **unused)
{
    (void)unused;
    static LogEpisode episodes[64];
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi");
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    TyPoolConfig config = {.slots = 1, .members = 2, .owner = {0, 1}};
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(ruleset), "random");
    assert_int_equal(ty_pool_hand_over(pool, 1, agent).code, TY_OK);
    play(pool, 2);
    recorder_feed_close(feed);
    ty_pool_close(pool);
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, episodes, 64, true), 2);
    assert_string_equal(episodes[0].seats[1], "external+random");
    assert_string_equal(episodes[1].seats[1], "random");
    free(bytes.data);
}

static void test_long_episodes_keep_their_first_decisions(void **unused)
{
    (void)unused;
    static uint64_t state[TY_STATE_MAX / 8];
    RecorderOptions options = quiet_options();
    options.steps_max = 20;
    Recorder *recorder = recorder_at(&options);
    record_spec(recorder, "convoi", &(TyPoolConfig){.slots = 1}, 1);
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    ReplayResult result = verify_first(&bytes, state);
    assert_int_equal(result.verdict, REPLAY_INCOMPLETE);
    static LogEpisode episodes[1];
    episodes_read(&bytes, episodes, 1, false);
    assert_int_equal(episodes[0].kept, 20);
    assert_true(episodes[0].steps > 20);
    free(bytes.data);
}

typedef struct Player {
    pthread_t thread;
    Recorder *recorder;
    uint64_t seed;
} Player;

static void *player_main(void *argument)
{
    Player *player = argument;
    record_spec(player->recorder, "convoi",
                &(TyPoolConfig){.slots = 16, .threads = 2, .groups = 2, .seed = player->seed}, 60);
    return NULL;
}

static void test_several_pools_record_at_once(void **unused)
{
    (void)unused;
    RecorderOptions options = recorder_defaults();
    options.sync_ms = 5;
    Recorder *recorder = recorder_at(&options);
    Player players[3];
    for (uint32_t i = 0; i < 3; i++) {
        players[i] = (Player){.recorder = recorder, .seed = 10000 * i};
        pthread_create(&players[i].thread, NULL, player_main, &players[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        pthread_join(players[i].thread, NULL);
    }
    RecorderStats stats = recorder_stats(recorder);
    recorder_close(recorder);
    assert_true(stats.episodes >= 180 && stats.lost == 0);
    assert_int_equal(count_and_verify(1), stats.episodes);
}

/* ---- Killed while recording ---- */

enum { KILLS = 10, ACKNOWLEDGED_MAX = 1 << 20 };

/* The child: plays and tells the seed of every episode whose ending it has seen. */
static int recording_main(const char *where, int out, uint64_t seed)
{
    Recorder *recorder = NULL;
    TyRuleset *ruleset = NULL;
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    TyPoolConfig config = {.slots = 32, .threads = 2, .seed = seed};
    if (recorder_open(where, NULL, &recorder).code != TY_OK ||
        ty_ruleset_open("convoi:board=tiny", NULL, &ruleset).code != TY_OK ||
        ty_pool_open(ruleset, &config, &pool).code != TY_OK ||
        recorder_attach(recorder, pool, &feed).code != TY_OK) {
        return 1;
    }
    const TySlab *slab = ty_pool_slab(pool, 0);
    for (;;) {
        ty_sample_rows(slab, 0, seed);
        ty_pool_step(pool, 0, 0, NULL);
        for (uint32_t slot = 0; slot < config.slots; slot++) {
            if (slab_u8(slab, slot, TY_COLUMN_TERMINATED) &&
                write(out, slab_cell(slab, slot, TY_COLUMN_SEED), 8) != 8) {
                return 1;
            }
        }
    }
}

/* Starts a recording process, kills it after a while, and returns how many seeds it told. */
static uint32_t killed_run(uint32_t run, uint64_t *seeds, uint32_t room)
{
    int ends[2];
    char number[16];
    char seed[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof number, "%d", ends[1]);
    snprintf(seed, sizeof seed, "%u", (run + 1) * 1000000u);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        char *words[] = {"test_replay", "--record", directory, number, seed, NULL};
        execv("/proc/self/exe", words);
        _exit(1);
    }
    close(ends[1]);
    uint32_t count = 0;
    uint32_t wanted = 20 + (uint32_t)(hash_mix(run + 1) % 3000);
    bool killed = false;
    while (count < room && read(ends[0], &seeds[count], 8) == 8) {
        count++;
        if (count >= wanted && !killed) {
            kill(child, SIGKILL);
            killed = true;
        }
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    return count;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_killed_recorder_loses_no_acknowledged_episode(void **unused)
{
    (void)unused;
    static LogEpisode episodes[1];
    uint64_t *seeds = malloc(ACKNOWLEDGED_MAX * sizeof *seeds);
    uint32_t count = 0;
    for (uint32_t run = 0; run < KILLS; run++) {
        count += killed_run(run, seeds + count, ACKNOWLEDGED_MAX - count);
    }
    assert_true(count > KILLS * 20);
    RecorderOptions options = quiet_options();
    recorder_close(recorder_at(&options));
    Bytes bytes = bytes_read(1);
    LogReader reader;
    uint32_t found = 0;
    uint64_t *logged = malloc(ACKNOWLEDGED_MAX * sizeof *logged);
    assert_int_equal(log_reader_init(&reader, bytes.data, bytes.size).code, TY_OK);
    while (log_next_episode(&reader, episodes) && found < ACKNOWLEDGED_MAX) {
        logged[found++] = episodes->seed;
    }
    assert_int_equal(reader.gaps, 0);
    qsort(logged, found, sizeof *logged, compare_u64);
    for (uint32_t i = 0; i < count; i++) {
        if (bsearch(&seeds[i], logged, found, sizeof *logged, compare_u64) == NULL) {
            fail_msg("seed %llu was acknowledged and is not in the log",
                     (unsigned long long)seeds[i]);
        }
    }
    free(logged);
    free(seeds);
    free(bytes.data);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--record") == 0) {
        return recording_main(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
    }
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_error_at_every_write_loses_only_what_is_told),
        IN_DIRECTORY(test_interrupted_and_short_writes_are_continued),
        IN_DIRECTORY(test_second_recorder_in_a_directory_is_refused),
        IN_DIRECTORY(test_reopened_log_is_continued),
        IN_DIRECTORY(test_restored_slots_are_not_recorded),
        IN_DIRECTORY(test_handed_over_seat_has_both_names),
        IN_DIRECTORY(test_long_episodes_keep_their_first_decisions),
        IN_DIRECTORY(test_several_pools_record_at_once),
        IN_DIRECTORY(test_killed_recorder_loses_no_acknowledged_episode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
