/* Which files of a log go, and when a new one begins. */
#define _GNU_SOURCE
#include "tests/replay/log_faults.h"

enum { FILES = 100, FILE_SIZE = 50 /* bytes of each */ };

static LogWriter writer;

/* A directory with files of a log, and a writer there that has begun one more. */
static void files_open(uint32_t count)
{
    const RecorderOptions options = quiet_options();
    const uint8_t bytes[FILE_SIZE] = {0};
    for (uint32_t number = 1; number <= count; number++) {
        bytes_write(number, bytes, sizeof bytes);
    }
    assert_int_equal(log_writer_open(&writer, directory, &options).code, TY_OK);
    assert_int_equal(writer.number, count + 1);
}

static bool is_there(uint32_t number)
{
    char path[128];
    struct stat info;
    path_of(number, path);
    return lstat(path, &info) == 0;
}

static uint32_t count_there(uint32_t count)
{
    uint32_t there = 0;
    for (uint32_t number = 1; number <= count; number++) {
        there += is_there(number);
    }
    return there;
}

static void test_the_oldest_go_when_all_are_too_large(void **unused)
{
    (void)unused;
    files_open(FILES);
    assert_int_equal(log_writer_retain(&writer), 0); /* nobody asked for it */
    writer.options.keep_bytes = writer.size + 10 * FILE_SIZE;
    assert_int_equal(log_writer_retain(&writer), FILES - 10);
    assert_int_equal(count_there(FILES - 10), 0);
    assert_int_equal(count_there(FILES + 1), 11);
    assert_int_equal(log_writer_retain(&writer), 0);
    log_writer_close(&writer);
}

/* Makes it look as if nothing was written to a file for two hours. */
static void file_age(uint32_t number)
{
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    char path[128];
    path_of(number, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_those_written_long_ago_go(void **unused)
{
    (void)unused;
    files_open(4);
    file_age(1);
    file_age(3);
    writer.options.keep_seconds = 3600;
    assert_int_equal(log_writer_retain(&writer), 2);
    assert_true(is_there(2) && is_there(4) && is_there(5));
    log_writer_close(&writer);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);

/* Whoever waits for a time has waited long enough after a millisecond. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    (void)condition;
    (void)until;
    pthread_mutex_unlock(mutex);
    usleep(1000);
    pthread_mutex_lock(mutex);
    return ETIMEDOUT;
}

/* Files grow old also while nothing is written. */
static void test_a_recorder_looks_for_old_files_from_time_to_time(void **unused)
{
    (void)unused;
    const uint8_t bytes[FILE_SIZE] = {0};
    RecorderOptions options = quiet_options();
    options.sync_ms = 1200000;
    options.keep_seconds = 3600;
    bytes_write(1, bytes, sizeof bytes);
    Recorder *recorder = recorder_at(&options);
    assert_int_equal(recorder_stats(recorder).deleted, 0);
    file_age(1);
    for (uint32_t i = 0; i < 20000 && recorder_stats(recorder).deleted == 0; i++) {
        usleep(1000);
    }
    assert_int_equal(recorder_stats(recorder).deleted, 1);
    assert_false(is_there(1));
    recorder_close(recorder);
}

/* Nothing goes if what is older could not be seen. */
static void test_none_goes_unless_all_are_known(void **unused)
{
    (void)unused;
    static const struct {
        FaultCall call;
        uint32_t nth;
    } cases[] = {{FAULT_opendir, 1}, {FAULT_realloc, 1}, {FAULT_realloc, 2}};
    files_open(FILES);
    writer.options.keep_bytes = 1;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fault_set(cases[i].call, cases[i].nth, ENOMEM);
        assert_int_equal(log_writer_retain(&writer), 0);
        assert_true(fault_was(cases[i].call));
        fault_clear();
        assert_int_equal(count_there(FILES + 1), FILES + 1);
    }
    assert_int_equal(log_writer_retain(&writer), FILES);
    log_writer_close(&writer);
}

static void test_what_cannot_be_deleted_is_passed_over(void **unused)
{
    (void)unused;
    char folder[128];
    char link[128];
    files_open(4);
    path_of(1, folder);
    path_of(2, link);
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("nowhere", link), 0);
    writer.options.keep_bytes = 1;
    assert_int_equal(log_writer_retain(&writer), 2);
    assert_true(is_there(1) && is_there(2) && is_there(5));
    assert_int_equal(rmdir(folder), 0);
    log_writer_close(&writer);
}

static void test_a_file_that_is_old_ends_if_there_is_something_in_it(void **unused)
{
    (void)unused;
    uint8_t record[LOG_RECORD_EXTRA] = {0};
    files_open(0);
    writer.options.file_seconds_max = 3600;
    writer.begun -= 7200;
    assert_int_equal(log_writer_prepare(&writer).code, TY_OK);
    assert_int_equal(writer.number, 1); /* empty */
    assert_int_equal(log_writer_append(&writer, LOG_CONTENT, record, 0).code, TY_OK);
    assert_int_equal(log_writer_prepare(&writer).code, TY_OK);
    assert_int_equal(writer.number, 2);
    assert_int_equal(log_writer_append(&writer, LOG_CONTENT, record, 0).code, TY_OK);
    assert_int_equal(log_writer_prepare(&writer).code, TY_OK);
    assert_int_equal(writer.number, 2); /* young */
    log_writer_close(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_the_oldest_go_when_all_are_too_large),
        IN_DIRECTORY(test_those_written_long_ago_go),
        IN_DIRECTORY(test_a_recorder_looks_for_old_files_from_time_to_time),
        IN_DIRECTORY(test_none_goes_unless_all_are_known),
        IN_DIRECTORY(test_what_cannot_be_deleted_is_passed_over),
        IN_DIRECTORY(test_a_file_that_is_old_ends_if_there_is_something_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
