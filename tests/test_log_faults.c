/* Logs when the system refuses a call and when the files are not what they should be: nothing is
 * lost without a word. */
#define _GNU_SOURCE
#include "tests/faults.h"
#include "tests/log_table.h"

#include "replay/writer.h"

#include <sched.h>
#include <time.h>

#include "tests/descriptors.h"

/* ---- Helpers ---- */

static uint32_t told;
static char last_sentence[TY_MESSAGE_MAX];

static void hear(void *user, const char *sentence)
{
    (void)user;
    told++;
    snprintf(last_sentence, sizeof last_sentence, "%s", sentence);
}

static RecorderOptions heard_options(void)
{
    RecorderOptions options = quiet_options();
    options.message = hear;
    told = 0;
    last_sentence[0] = '\0';
    return options;
}

static uint32_t count_all(uint32_t files)
{
    uint32_t found = 0;
    for (uint32_t number = 1; number <= files; number++) {
        char path[128];
        path_of(number, path);
        found += access(path, F_OK) == 0 ? count_and_verify(number) : 0;
    }
    return found;
}

/* ---- Files that cannot be read ---- */

static void test_what_is_no_file_is_no_log(void **unused)
{
    (void)unused;
    LogFile file;
    char path[128];
    TyStatus status = log_file_open("/nonexistent/log", &file);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "No such file"));
    status = log_file_open(directory, &file);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "not a regular file"));
    bytes_write(1, (const uint8_t *)"", 0);
    path_of(1, path);
    assert_int_equal(log_file_open(path, &file).code, TY_OK);
    assert_int_equal(file.size, 0);
    log_file_close(&file);
}

static void test_a_log_that_cannot_be_mapped_is_an_error(void **unused)
{
    (void)unused;
    static const FaultCall calls[] = {FAULT_open, FAULT_fstat, FAULT_mmap};
    char path[128];
    path_of(1, path);
    bytes_write(1, (const uint8_t *)"0123", 4);
    uint32_t descriptors = count_descriptors();
    for (uint32_t i = 0; i < 3; i++) {
        LogFile file;
        fault_set(calls[i], 1, ENOMEM);
        TyStatus status = log_file_open(path, &file);
        fault_clear();
        assert_int_equal(status.code, TY_IO);
        assert_non_null(strstr(status.message, strerror(ENOMEM)));
        assert_null(file.bytes);
        log_file_close(&file);
    }
    assert_int_equal(count_descriptors(), descriptors);
}

/* ---- Opening ---- */

/* Opens a log while call number `nth` fails, and records if that works. Returns false if there was
 * no such call. */
static bool open_with_fault(uint32_t nth, uint32_t before)
{
    Recorder *recorder = NULL;
    uint32_t descriptors = count_descriptors();
    RecorderOptions options = heard_options();
    fault_set(FAULT_ANY, nth, ENOMEM);
    TyStatus status = recorder_open(directory, &options, &recorder);
    bool reached = fault_was(FAULT_ANY);
    fault_clear();
    assert_int_equal(recorder == NULL, status.code != TY_OK);
    assert_int_equal(status.message[0] == '\0', status.code == TY_OK);
    if (recorder != NULL) {
        record_short(recorder, 2);
        assert_int_equal(recorder_stats(recorder).episodes, 2);
    }
    recorder_close(recorder);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_all(3), before + (recorder != NULL ? 2 : 0));
    return reached;
}

static void test_an_error_at_any_call_of_opening_a_log_is_clean(void **unused)
{
    (void)unused;
    bool reached = true;
    uint32_t calls = 0;
    for (; reached; calls++) {
        reached = open_with_fault(calls + 1, 0);
        teardown(NULL);
        setup(NULL);
    }
    assert_true(calls > 5);
}

static void test_an_error_at_any_call_of_reopening_a_log_loses_nothing(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    static LogEpisode episodes[16];
    uint32_t count = episodes_read(&bytes, episodes, 16, true);
    bool reached = true;
    uint32_t calls = 0;
    for (; reached; calls++) {
        bytes_write(1, bytes.data, bytes.size - 5);
        reached = open_with_fault(calls + 1, count - 1);
        teardown(NULL);
        setup(NULL);
    }
    assert_true(calls > 8);
    free(bytes.data);
}

static void assert_cannot_open(const char *where, TyCode code, const char *word)
{
    Recorder *recorder = NULL;
    TyStatus status = recorder_open(where, NULL, &recorder);
    fault_clear();
    assert_null(recorder);
    assert_int_equal(status.code, code);
    assert_non_null(strstr(status.message, word));
}

static void test_places_where_no_log_can_be_are_refused(void **unused)
{
    (void)unused;
    char path[128];
    static char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    assert_cannot_open(longer, TY_LIMIT, "too long");
    assert_cannot_open("/nonexistent/log", TY_IO, "No such file");
    bytes_write(1, (const uint8_t *)"", 0);
    path_of(1, path);
    assert_cannot_open(path, TY_IO, "Not a directory");
    fault_set(FAULT_flock, 1, ENOLCK);
    assert_cannot_open(directory, TY_IO, strerror(ENOLCK));
    RecorderOptions options = quiet_options();
    Recorder *recorder = NULL;
    options.steps_max = 0;
    assert_int_equal(recorder_open(directory, &options, &recorder).code, TY_BAD_ARGUMENT);
    options.steps_max = LOG_STEPS_MAX + 1;
    assert_int_equal(recorder_open(directory, &options, &recorder).code, TY_BAD_ARGUMENT);
    recorder_close(NULL);
    recorder_feed_close(NULL);
}

static void test_a_directory_for_the_log_is_made(void **unused)
{
    (void)unused;
    char below[80];
    char path[128];
    Recorder *recorder = NULL;
    snprintf(below, sizeof below, "%s/below", directory);
    assert_int_equal(recorder_open(below, NULL, &recorder).code, TY_OK);
    record_short(recorder, 2);
    recorder_close(recorder);
    snprintf(path, sizeof path, "%s/episodes-000001.tylog", below);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(below), 0);
}

static void test_other_files_of_the_directory_are_left_alone(void **unused)
{
    (void)unused;
    static const char *const names[] = {"episodes-000000.tylog", "episodes-7.tylog", "notes"};
    char path[128];
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    }
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 2);
    recorder_close(recorder);
    assert_int_equal(count_and_verify(1), 2);
    for (uint32_t i = 0; i < 3; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_size, 0);
        unlink(path);
    }
}

/* ---- Repairing ---- */

static void test_damage_in_the_newest_file_is_told_and_kept(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    bytes.data[LOG_FILE_HEAD + LOG_RECORD_HEAD + 5] ^= 1;
    bytes_write(1, bytes.data, bytes.size);
    RecorderOptions options = heard_options();
    Recorder *recorder = recorder_at(&options);
    assert_int_equal(told, 1);
    assert_non_null(strstr(last_sentence, "damaged"));
    record_short(recorder, 2);
    recorder_close(recorder);
    Bytes after = bytes_read(1);
    assert_true(after.size > bytes.size);
    assert_memory_equal(after.data, bytes.data, bytes.size);
    free(after.data);
    free(bytes.data);
}

static void test_a_torn_record_is_cut_off_and_told(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    bytes_write(1, bytes.data, bytes.size - 1);
    RecorderOptions options = heard_options();
    recorder_close(recorder_at(&options));
    assert_int_equal(told, 1);
    assert_non_null(strstr(last_sentence, "unfinished"));
    free(bytes.data);
}

/* What is longer than any record is no unfinished record: it is not ours to cut off. */
static void test_a_newest_file_that_is_something_else_stays(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    size_t size = bytes.size + LOG_PAYLOAD_MAX + LOG_RECORD_EXTRA + 1;
    bytes.data = realloc(bytes.data, size);
    memset(bytes.data + bytes.size, 'x', size - bytes.size);
    bytes_write(1, bytes.data, size);
    RecorderOptions options = heard_options();
    Recorder *recorder = recorder_at(&options);
    assert_non_null(strstr(last_sentence, "stays as it is"));
    record_short(recorder, 2);
    recorder_close(recorder);
    Bytes after = bytes_read(1);
    assert_int_equal(after.size, size);
    assert_int_equal(count_and_verify(2), 2);
    free(after.data);
    free(bytes.data);
}

static void test_a_directory_in_the_place_of_a_file_is_passed_over(void **unused)
{
    (void)unused;
    char path[128];
    path_of(1, path);
    assert_int_equal(mkdir(path, 0700), 0);
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 2);
    recorder_close(recorder);
    assert_int_equal(count_and_verify(2), 2);
    assert_int_equal(rmdir(path), 0);
}

static int failing_truncate(int fd, off_t size)
{
    (void)fd;
    (void)size;
    errno = EPERM;
    return -1;
}

static void test_a_file_that_cannot_be_cut_is_not_continued(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    bytes_write(1, bytes.data, bytes.size - 1);
    uint32_t descriptors = count_descriptors();
    RecorderOptions options = quiet_options();
    options.calls.truncate = failing_truncate;
    Recorder *recorder = recorder_at(&options);
    record_short(recorder, 2);
    recorder_close(recorder);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_and_verify(2), 2);
    free(bytes.data);
}

static void test_the_last_number_of_a_file_is_not_passed(void **unused)
{
    (void)unused;
    char path[128];
    path_of(999999, path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_cannot_open(directory, TY_LIMIT, "too many files");
    assert_int_equal(rmdir(path), 0);
}

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

static void test_a_sync_that_fails_in_the_background_is_known(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
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
    recorder_close(recorder);
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

/* ---- Tables that somebody else plays ---- */

/* An episode that ends before its first decision, of an agent with a very long name. */
static void test_an_episode_without_decisions_is_an_episode(void **unused)
{
    (void)unused;
    static LogEpisode episodes[2];
    static uint64_t state[TY_STATE_MAX / 8];
    static const char name[] = "an agent whose name is longer than anybody would think of a name";
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

typedef struct Fetching {
    Recorder *recorder;
    TyRuleset *ruleset;
    TyPool *pool;
    RecorderFeed *feed;
} Fetching;

static void fetching_open(Fetching *fetching)
{
    RecorderOptions options = quiet_options();
    fetching->recorder = recorder_at(&options);
    fetching->ruleset = own_ruleset(0);
    assert_int_equal(ty_pool_open(fetching->ruleset, &(TyPoolConfig){.slots = 1, .max_steps = 9},
                                  &fetching->pool)
                         .code,
                     TY_OK);
    assert_int_equal(recorder_attach(fetching->recorder, fetching->pool, &fetching->feed).code,
                     TY_OK);
}

static void fetching_close(Fetching *fetching)
{
    recorder_feed_close(fetching->feed);
    ty_pool_close(fetching->pool);
    ty_ruleset_close(fetching->ruleset);
    recorder_close(fetching->recorder);
}

static void assert_fetched(Fetching *fetching, const uint64_t *wanted, uint64_t number)
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

static void assert_not_fetched(Fetching *fetching, const uint64_t *wanted, TyCode code,
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
    Fetching fetching;
    fetching_open(&fetching);
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
    fetching_close(&fetching);
}

static void test_an_episode_that_cannot_be_read_is_not_fetched(void **unused)
{
    (void)unused;
    Fetching fetching;
    char path[128];
    fetching_open(&fetching);
    play(fetching.pool, 1);
    fault_set(FAULT_malloc, 1, ENOMEM);
    assert_not_fetched(&fetching, NULL, TY_NO_MEMORY, "no memory");
    path_of(1, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_not_fetched(&fetching, NULL, TY_IO, "shorter");
    assert_int_equal(unlink(path), 0);
    assert_not_fetched(&fetching, NULL, TY_IO, "No such file");
    fetching_close(&fetching);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_no_file_is_no_log),
        TEST(test_a_log_that_cannot_be_mapped_is_an_error),
        TEST(test_a_replayer_without_memory_is_none),
        TEST(test_an_error_at_any_call_of_opening_a_log_is_clean),
        TEST(test_an_error_at_any_call_of_reopening_a_log_loses_nothing),
        TEST(test_places_where_no_log_can_be_are_refused),
        TEST(test_a_directory_for_the_log_is_made),
        TEST(test_other_files_of_the_directory_are_left_alone),
        TEST(test_damage_in_the_newest_file_is_told_and_kept),
        TEST(test_a_torn_record_is_cut_off_and_told),
        TEST(test_a_newest_file_that_is_something_else_stays),
        TEST(test_a_directory_in_the_place_of_a_file_is_passed_over),
        TEST(test_a_file_that_cannot_be_cut_is_not_continued),
        TEST(test_the_last_number_of_a_file_is_not_passed),
        TEST(test_a_write_of_nothing_is_an_error),
        TEST(test_without_anybody_to_tell_losses_are_counted),
        TEST(test_files_that_appear_meanwhile_are_not_overwritten),
        TEST(test_a_log_without_random_bytes_is_a_log),
        TEST(test_a_writer_remembers_a_bounded_number_of_contents),
        TEST(test_an_episode_that_cannot_be_synced_counts_as_lost),
        TEST(test_a_sync_that_fails_in_the_background_is_known),
        TEST(test_no_file_is_closed_before_it_is_synced),
        TEST(test_no_memory_loses_an_episode_or_its_end),
        TEST(test_no_memory_to_follow_a_pool_is_an_error),
        TEST(test_an_episode_without_decisions_is_an_episode),
        TEST(test_the_latest_episodes_can_be_fetched_with_their_boards),
        TEST(test_an_episode_that_cannot_be_read_is_not_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
