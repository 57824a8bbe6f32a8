/* Logs that are being written when the system refuses a call: nothing is lost without a word. */
#define _GNU_SOURCE
#include "tests/replay/log_faults.h"

#include <sched.h>

/* ---- Writing ---- */

static ssize_t idle_write(int fd, const void *bytes, size_t size)
{
    static uint32_t calls;
    return ++calls == 2 ? 0 : write(fd, bytes, size);
}

static void test_a_write_of_nothing_is_an_error(void **unused)
{
    (void)unused;
    RecorderOptions options = heard_options();
    options.calls.write = idle_write;
    Recorder *recorder = recorder_at(&options);
    record_spec(recorder, "convoi:board=tiny", &(TyPoolConfig){.slots = 1, .max_steps = 9}, 1);
    assert_int_equal(recorder_stats(recorder).lost, 1);
    assert_non_null(strstr(recorder_failure(recorder).message, "nothing could be written"));
    assert_int_equal(told, 1);
    record_short(recorder, 2);
    assert_int_equal(recorder_failure(recorder).code, TY_OK);
    assert_int_equal(told, 2);
    recorder_close(recorder);
    assert_int_equal(count_and_verify(1), 2);
}

static void test_without_anybody_to_tell_losses_are_counted(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    options.file_bytes_max = 1; /* each record begins a file */
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 2);
    fault_set(FAULT_openat, 1, ENOSPC);
    record_short(recorder, 2);
    assert_true(fault_was(FAULT_openat));
    fault_clear();
    assert_int_equal(recorder_stats(recorder).lost, 1);
    assert_int_equal(recorder_stats(recorder).episodes, 3);
    recorder_close(recorder);
    assert_int_equal(count_all(5), 3);
}

static void test_files_that_appear_meanwhile_are_not_overwritten(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    options.file_bytes_max = 1;
    Recorder *recorder = recorder_at(&options);
    bytes_write(2, (const uint8_t *)"mine", 4);
    record_short(recorder, 2);
    recorder_close(recorder);
    Bytes kept = bytes_read(2);
    assert_int_equal(kept.size, 4);
    free(kept.data);
    assert_int_equal(count_and_verify(3) + count_and_verify(4), 2);
}

/* Without random bytes the number of a file is made from what there is; the log works. */
static void test_a_log_without_random_bytes_is_a_log(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    fault_set(FAULT_getrandom, 1, ENOSYS);
    Recorder *recorder = recorder_at(&options);
    assert_true(fault_was(FAULT_getrandom));
    fault_clear();
    record_short(recorder, 2);
    recorder_close(recorder);
    assert_int_equal(count_and_verify(1), 2);
}

static void test_a_writer_remembers_a_bounded_number_of_contents(void **unused)
{
    (void)unused;
    static LogWriter writer;
    RecorderOptions options = quiet_options();
    assert_int_equal(log_writer_open(&writer, directory, &options).code, TY_OK);
    for (uint64_t i = 0; i <= LOG_WRITER_CONTENTS_MAX; i++) {
        assert_false(log_writer_has_content(&writer, i));
        log_writer_note_content(&writer, i);
    }
    assert_true(log_writer_has_content(&writer, 0));
    assert_true(log_writer_has_content(&writer, LOG_WRITER_CONTENTS_MAX - 1));
    assert_false(log_writer_has_content(&writer, LOG_WRITER_CONTENTS_MAX)); /* is written again */
    log_writer_close(&writer);
}

/* ---- Syncing ---- */

static atomic_uint syncs;

static int failing_sync(int fd)
{
    (void)fd;
    atomic_fetch_add(&syncs, 1);
    errno = EIO;
    return -1;
}

static void test_an_episode_that_cannot_be_synced_counts_as_lost(void **unused)
{
    (void)unused;
    RecorderOptions options = heard_options();
    options.sync_ms = RECORDER_SYNC_ALWAYS;
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 2);
    assert_int_equal(recorder_stats(recorder).episodes, 2);
    recorder_close(recorder);
    options.calls.sync = failing_sync;
    recorder = recorder_at(&options);
    record_short(recorder, 2);
    assert_int_equal(recorder_stats(recorder).lost, 2);
    assert_int_equal(told, 1);
    assert_non_null(strstr(last_sentence, strerror(EIO)));
    recorder_close(recorder);
}

/* And it is told once, not again with every episode that can be written meanwhile. */
static void test_a_sync_that_fails_in_the_background_is_known(void **unused)
{
    (void)unused;
    RecorderOptions options = heard_options();
    options.sync_ms = 1;
    options.calls.sync = failing_sync;
    Recorder *recorder = recorder_at(&options);
    atomic_store(&syncs, 0);
    record_short(recorder, 2);
    for (uint32_t i = 0; i < 5000 && recorder_failure(recorder).code == TY_OK; i++) {
        usleep(1000);
    }
    assert_int_equal(recorder_failure(recorder).code, TY_IO);
    assert_true(atomic_load(&syncs) > 0);
    record_short(recorder, 2);
    assert_int_equal(recorder_failure(recorder).code, TY_IO);
    recorder_close(recorder);
    assert_int_equal(told, 1);
    assert_non_null(strstr(last_sentence, strerror(EIO)));
}

/* The end of a file that could not be synced is known, too, although the next one is written. */
static void test_a_file_that_cannot_be_synced_at_its_end_is_known(void **unused)
{
    (void)unused;
    RecorderOptions options = heard_options();
    options.sync_ms = 1000000;
    options.file_bytes_max = 1; /* a file for each episode */
    options.calls.sync = failing_sync;
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 4);
    assert_int_equal(recorder_stats(recorder).episodes, 4);
    assert_int_equal(recorder_failure(recorder).code, TY_IO);
    assert_int_equal(told, 1);
    recorder_close(recorder);
}

/* One that is not to be told before it is on the disk stands in the log once, however often its
 * sync is tried. */
static void test_an_episode_that_cannot_be_synced_is_held_and_written_once(void **unused)
{
    (void)unused;
    Followed followed;
    RecorderOptions options = heard_options();
    options.sync_ms = RECORDER_SYNC_ALWAYS;
    options.full = RECORDER_FULL_STOP;
    options.calls.sync = refusing_sync;
    followed_open(&followed, &options, reference_ruleset("convoi:board=tiny"),
                  &(TyPoolConfig){.slots = 1, .max_steps = 9});
    disk_refuses = true;
    while (ty_pool_held(followed.pool) == 0) {
        ty_sample_rows(ty_pool_slab(followed.pool, 0), 0, 9);
        ty_pool_step(followed.pool, 0, 0, NULL);
    }
    assert_int_equal(ty_pool_release(followed.pool), 1);
    assert_int_equal(recorder_stats(followed.recorder).held, 1);
    assert_int_equal(recorder_stats(followed.recorder).episodes, 0);
    disk_refuses = false;
    assert_int_equal(ty_pool_release(followed.pool), 0);
    assert_int_equal(recorder_stats(followed.recorder).held, 0);
    assert_int_equal(recorder_stats(followed.recorder).episodes, 1);
    assert_int_equal(told, 2); /* that it fails, and that it works again */
    followed_close(&followed);
    assert_int_equal(count_and_verify(1), 1);
}

/* A thread that is about to sync, and what the writer did until then. */
typedef struct Race {
    LogWriter writer;
    atomic_bool waits; /* the thread has arrived at the mutex */
    atomic_bool goes;  /* and may take it */
    atomic_uint synced;
} Race;

static Race race;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

static _Thread_local bool racing;

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (racing && mutex == &race.writer.sync_mutex) {
        atomic_store(&race.waits, true);
        while (!atomic_load(&race.goes)) {
            sched_yield();
        }
    }
    return __real_pthread_mutex_lock(mutex);
}

static int counting_sync(int fd)
{
    assert_true(fd >= 0);
    atomic_fetch_add(&race.synced, 1);
    return 0;
}

static void *race_main(void *unused)
{
    racing = true;
    log_writer_sync(&race.writer);
    return unused;
}

/* A file that is full is synced before it is closed, even if a thread is about to sync it just
 * then. */
static void test_no_file_is_closed_before_it_is_synced(void **unused)
{
    (void)unused;
    pthread_t thread;
    uint8_t record[LOG_RECORD_EXTRA] = {0};
    RecorderOptions options = quiet_options();
    memset(&race, 0, sizeof race);
    options.sync_ms = 1000;
    options.file_bytes_max = 1;
    options.calls.sync = counting_sync;
    assert_int_equal(log_writer_open(&race.writer, directory, &options).code, TY_OK);
    assert_int_equal(log_writer_append(&race.writer, LOG_CONTENT, record, 0).code, TY_OK);
    assert_int_equal(pthread_create(&thread, NULL, race_main, NULL), 0);
    while (!atomic_load(&race.waits)) {
        sched_yield();
    }
    assert_int_equal(log_writer_prepare(&race.writer).code, TY_OK); /* closes the first file */
    assert_int_equal(race.writer.number, 2);
    assert_int_equal(atomic_load(&race.synced), 1);
    atomic_store(&race.goes, true);
    pthread_join(thread, NULL);
    log_writer_close(&race.writer);
}

/* ---- No memory ---- */

static void test_a_replayer_without_memory_is_none(void **unused)
{
    (void)unused;
    fault_set(FAULT_calloc, 1, ENOMEM);
    Replayer *replayer = replayer_open();
    fault_clear();
    assert_null(replayer);
    replayer_close(replayer);
}

/* Records while allocation number `nth` fails. Returns false if there was no such allocation. */
static bool record_with_fault(const TyRuleset *ruleset, uint32_t nth)
{
    static LogReader reader;
    RecorderOptions options = heard_options();
    Recorder *recorder = recorder_at(&options);
    fault_set(FAULT_realloc, nth, ENOMEM);
    record(recorder, ruleset, &(TyPoolConfig){.slots = 1, .max_steps = 400}, 2);
    bool reached = fault_was(FAULT_realloc);
    fault_clear();
    RecorderStats stats = recorder_stats(recorder);
    recorder_close(recorder);
    assert_int_equal(stats.episodes + stats.lost, 2);
    assert_int_equal(told > 0, stats.lost > 0);
    Bytes bytes = bytes_read(1);
    assert_int_equal(log_read_all(&bytes, &reader), stats.episodes);
    assert_int_equal(reader.gaps, 0);
    free(bytes.data);
    teardown(NULL);
    setup(NULL);
    return reached;
}

static void test_no_memory_loses_an_episode_or_its_end(void **unused)
{
    (void)unused;
    TyRuleset *rulesets[] = {own_ruleset(0), reference_ruleset("convoi:board=tiny")};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t nth = 1;
        while (record_with_fault(rulesets[i], nth)) {
            nth++;
        }
        assert_true(nth > 2);
        ty_ruleset_close(rulesets[i]);
    }
}

static void test_no_memory_to_follow_a_pool_is_an_error(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    TyPool *pool = NULL;
    assert_int_equal(ty_pool_open(ruleset, &short_config, &pool).code, TY_OK);
    for (uint32_t nth = 1; nth <= 2; nth++) {
        RecorderFeed *feed = NULL;
        fault_set(FAULT_calloc, nth, ENOMEM);
        assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_NO_MEMORY);
        fault_clear();
        assert_null(feed);
    }
    play(pool, 2);
    assert_int_equal(recorder_stats(recorder).episodes, 0);
    ty_pool_close(pool);
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
}

/* An episode that grows beyond what there is keeps its beginning, and all is given back. */
static void test_memory_that_is_counted_is_not_passed(void **unused)
{
    (void)unused;
    static uint64_t state[TY_STATE_MAX / 8];
    RecorderOptions options = quiet_options();
    Followed followed;
    Budget budget = {.most = 1};
    RecorderMemory memory = budget_memory(&budget);
    followed_open(&followed, &options, reference_ruleset("nordic:players=3"),
                  &(TyPoolConfig){.slots = 1});
    assert_false(recorder_feed_charge(followed.feed, &memory));
    assert_int_equal(budget.used, 0);
    budget.most = UINT64_MAX;
    assert_true(recorder_feed_charge(followed.feed, &memory));
    assert_true(budget.used > 0);
    budget.most = budget.used;
    play(followed.pool, 1);
    assert_int_equal(recorder_stats(followed.recorder).episodes, 1);
    followed_close(&followed);
    assert_int_equal(budget.used, 0);
    Bytes bytes = bytes_read(1);
    assert_int_equal(verify_first(&bytes, state).verdict, REPLAY_INCOMPLETE);
    free(bytes.data);
}

/* ---- Tables that are played elsewhere ---- */

/* An episode that ends before its first decision, of an agent with a very long name. */
static void test_an_episode_without_decisions_is_an_episode(void **unused)
{
    (void)unused;
    static LogEpisode episodes[2];
    static uint64_t state[TY_STATE_MAX / 8];
    static char name[LOG_NAME_MAX + 8];
    memset(name, 'n', sizeof name - 1);
    const TyAgent agent = {.name = name};
    const TyAgent *agents[TY_SEATS_MAX] = {NULL, &agent};
    const int32_t none[TY_SEATS_MAX] = {0};
    const TyEnding ending = {.cause = TY_CAUSE_CUT, .seat = -1, .reward = none};
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    RecorderFeed *feed = NULL;
    assert_int_equal(recorder_feed_open(recorder, ruleset, 1, agents, &feed).code, TY_OK);
    recorder_name_seat(feed, 0, "tab\there, del\x7f");
    TyObserver observer = recorder_observer(feed);
    ty_reset(ruleset, state, 5, NULL);
    observer.begin(observer.user, 0, 5, 0, state);
    observer.end(observer.user, 0, &ending, state);
    recorder_feed_close(feed);
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, episodes, 2, true), 1);
    assert_int_equal(episodes[0].kept, 0);
    assert_string_equal(episodes[0].seats[0], "tab_here, del_");
    assert_int_equal(strlen(episodes[0].seats[1]), LOG_NAME_MAX - 1);
    assert_memory_equal(episodes[0].seats[1], name, LOG_NAME_MAX - 1);
    free(bytes.data);
}

/* ---- Fetching ---- */

/* Short episodes on a board of the user's own. */
static void own_open(Followed *followed, const RecorderOptions *options)
{
    followed_open(followed, options, own_ruleset(0), &(TyPoolConfig){.slots = 1, .max_steps = 9});
}

static void assert_fetched(Followed *fetching, const uint64_t *wanted, uint64_t number)
{
    RecorderCopy copy;
    LogEpisode episode;
    assert_int_equal(recorder_fetch(fetching->feed, 0, wanted, &copy).code, TY_OK);
    assert_true(copy.episode == number);
    Bytes bytes = {.data = copy.bytes, .size = copy.size};
    assert_int_equal(episodes_read(&bytes, &episode, 1, true), 1);
    assert_true(episode.episode == number);
    free(copy.bytes);
}

static void assert_not_fetched(Followed *fetching, const uint64_t *wanted, TyCode code,
                               const char *word)
{
    RecorderCopy copy;
    TyStatus status = recorder_fetch(fetching->feed, 0, wanted, &copy);
    fault_clear();
    assert_int_equal(status.code, code);
    assert_non_null(strstr(status.message, word));
    assert_null(copy.bytes);
}

static void test_the_latest_episodes_can_be_fetched_with_their_boards(void **unused)
{
    (void)unused;
    const RecorderOptions options = quiet_options();
    Followed fetching;
    own_open(&fetching, &options);
    const uint64_t zero = 0;
    assert_not_fetched(&fetching, NULL, TY_BAD_ARGUMENT, "no episode has ended");
    play(fetching.pool, 1);
    assert_fetched(&fetching, NULL, 0);
    assert_fetched(&fetching, &zero, 0);
    play(fetching.pool, RECORDER_RECENT);
    for (uint64_t i = 1; i <= RECORDER_RECENT; i++) {
        assert_fetched(&fetching, &i, i);
    }
    assert_fetched(&fetching, NULL, RECORDER_RECENT);
    assert_not_fetched(&fetching, &zero, TY_BAD_ARGUMENT, "not among its latest");
    followed_close(&fetching);
}

static void test_an_episode_that_cannot_be_read_is_not_fetched(void **unused)
{
    (void)unused;
    const RecorderOptions options = quiet_options();
    Followed fetching;
    char path[128];
    own_open(&fetching, &options);
    play(fetching.pool, 1);
    fault_set(FAULT_malloc, 1, ENOMEM);
    assert_not_fetched(&fetching, NULL, TY_NO_MEMORY, "no memory");
    path_of(1, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_not_fetched(&fetching, NULL, TY_IO, "shorter");
    assert_int_equal(unlink(path), 0);
    assert_not_fetched(&fetching, NULL, TY_IO, "No such file");
    followed_close(&fetching);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_a_replayer_without_memory_is_none),
        IN_DIRECTORY(test_a_write_of_nothing_is_an_error),
        IN_DIRECTORY(test_without_anybody_to_tell_losses_are_counted),
        IN_DIRECTORY(test_files_that_appear_meanwhile_are_not_overwritten),
        IN_DIRECTORY(test_a_log_without_random_bytes_is_a_log),
        IN_DIRECTORY(test_a_writer_remembers_a_bounded_number_of_contents),
        IN_DIRECTORY(test_an_episode_that_cannot_be_synced_counts_as_lost),
        IN_DIRECTORY(test_an_episode_that_cannot_be_synced_is_held_and_written_once),
        IN_DIRECTORY(test_a_sync_that_fails_in_the_background_is_known),
        IN_DIRECTORY(test_a_file_that_cannot_be_synced_at_its_end_is_known),
        IN_DIRECTORY(test_no_file_is_closed_before_it_is_synced),
        IN_DIRECTORY(test_no_memory_loses_an_episode_or_its_end),
        IN_DIRECTORY(test_no_memory_to_follow_a_pool_is_an_error),
        IN_DIRECTORY(test_memory_that_is_counted_is_not_passed),
        IN_DIRECTORY(test_an_episode_without_decisions_is_an_episode),
        IN_DIRECTORY(test_the_latest_episodes_can_be_fetched_with_their_boards),
        IN_DIRECTORY(test_an_episode_that_cannot_be_read_is_not_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
