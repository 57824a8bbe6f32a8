/* Opening logs when the system refuses a call and when the files are not what they should be:
 * nothing is lost without a word. */
#define _GNU_SOURCE
#include "tests/replay/log_faults.h"
#include "tests/support/descriptors.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_what_is_no_file_is_no_log),
        IN_DIRECTORY(test_a_log_that_cannot_be_mapped_is_an_error),
        IN_DIRECTORY(test_an_error_at_any_call_of_opening_a_log_is_clean),
        IN_DIRECTORY(test_an_error_at_any_call_of_reopening_a_log_loses_nothing),
        IN_DIRECTORY(test_places_where_no_log_can_be_are_refused),
        IN_DIRECTORY(test_a_directory_for_the_log_is_made),
        IN_DIRECTORY(test_other_files_of_the_directory_are_left_alone),
        IN_DIRECTORY(test_damage_in_the_newest_file_is_told_and_kept),
        IN_DIRECTORY(test_a_torn_record_is_cut_off_and_told),
        IN_DIRECTORY(test_a_newest_file_that_is_something_else_stays),
        IN_DIRECTORY(test_a_directory_in_the_place_of_a_file_is_passed_over),
        IN_DIRECTORY(test_a_file_that_cannot_be_cut_is_not_continued),
        IN_DIRECTORY(test_the_last_number_of_a_file_is_not_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
