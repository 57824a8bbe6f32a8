/* A directory for a log, what a recorder wrote there, and episodes to record: for the tests of
 * logs.
 */
#pragma once

#include "tests/pool/pool_reference.h"

#include "replay/replay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- A directory for a test, and what a recorder wrote there ---- */

static char directory[64];

static inline int setup(void **unused)
{
    (void)unused;
    snprintf(directory, sizeof directory, "/tmp/trainyard-replay-XXXXXX");
    return mkdtemp(directory) == NULL;
}

static inline void path_of(uint32_t number, char path[128])
{
    snprintf(path, 128, "%s/episodes-%06u.tylog", directory, number);
}

static inline int teardown(void **unused)
{
    char path[128];
    (void)unused;
    for (uint32_t i = 1; i < 2000; i++) {
        path_of(i, path);
        unlink(path);
    }
    return rmdir(directory);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static inline RecorderOptions quiet_options(void)
{
    RecorderOptions options = recorder_defaults();
    options.sync_ms = RECORDER_SYNC_NEVER;
    return options;
}

static inline Recorder *recorder_at(const RecorderOptions *options)
{
    Recorder *recorder = NULL;
    TyStatus status = recorder_open(directory, options, &recorder);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    return recorder;
}

/* A file of the log, in memory that may be damaged. */
typedef struct Bytes {
    uint8_t *data;
    size_t size;
} Bytes;

static inline Bytes bytes_read(uint32_t number)
{
    char path[128];
    path_of(number, path);
    LogFile file;
    assert_int_equal(log_file_open(path, &file).code, TY_OK);
    Bytes bytes = {.data = malloc(file.size + 1), .size = file.size};
    memcpy(bytes.data, file.bytes, file.size);
    log_file_close(&file);
    return bytes;
}

static inline void bytes_write(uint32_t number, const uint8_t *data, size_t size)
{
    char path[128];
    path_of(number, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/* Makes the record at `offset` look whole again after its payload was changed. */
static inline void bytes_seal(Bytes *bytes, size_t offset)
{
    uint64_t id = load_le64(bytes->data + 16);
    uint8_t *head = bytes->data + offset;
    size_t size = LOG_RECORD_HEAD + (size_t)load_le32(head + 8);
    store_le64(head + size, log_hash(id, head, size));
}

/* All episodes of a file; verifies each if asked to. Returns how many there are. */
static inline uint32_t episodes_read(const Bytes *bytes, LogEpisode *episodes, uint32_t room,
                                     bool verify)
{
    LogReader reader;
    LogEpisode episode;
    Replayer *replayer = replayer_open();
    uint32_t count = 0;
    TyStatus status = log_reader_init(&reader, bytes->data, bytes->size);
    while (status.code == TY_OK && log_next_episode(&reader, &episode)) {
        if (verify) {
            ReplayResult result = replay_verify(replayer, &reader, &episode);
            if (result.verdict != REPLAY_AGREES) {
                fail_msg("%s, seed %llu: %s", episode.spec, (unsigned long long)episode.seed,
                         result.message);
            }
        }
        if (count < room) {
            episodes[count] = episode;
        }
        count++;
    }
    replayer_close(replayer);
    return count;
}

/* Reads all; returns how many episodes there are. */
static inline uint32_t log_read_all(const Bytes *bytes, LogReader *reader)
{
    static LogEpisode episode;
    uint32_t count = 0;
    assert_int_equal(log_reader_init(reader, bytes->data, bytes->size).code, TY_OK);
    while (log_next_episode(reader, &episode)) {
        count++;
    }
    return count;
}

static inline uint32_t count_and_verify(uint32_t number)
{
    Bytes bytes = bytes_read(number);
    uint32_t count = episodes_read(&bytes, NULL, 0, true);
    free(bytes.data);
    return count;
}

/* ---- Playing ---- */

/* Plays a pool with random actions until `endings` endings were seen. */
static inline void play(TyPool *pool, uint32_t endings)
{
    const TySlab *slab = ty_pool_slab(pool, 0);
    uint32_t slots = ty_pool_config(pool)->slots;
    for (uint32_t seen = 0; seen < endings;) {
        for (uint32_t group = 0; group < slab->groups; group++) {
            ty_sample_rows(slab, group, 9);
            ty_pool_step(pool, 0, group, NULL);
        }
        for (uint32_t slot = 0; slot < slots; slot++) {
            seen += slab_u8(slab, slot, TY_COLUMN_TERMINATED) ||
                    slab_u8(slab, slot, TY_COLUMN_TRUNCATED);
        }
    }
}

/* Records some episodes of a ruleset. */
static inline void record(Recorder *recorder, const TyRuleset *ruleset, const TyPoolConfig *config,
                          uint32_t endings)
{
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    TyStatus status = ty_pool_open(ruleset, config, &pool);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    play(pool, endings);
    recorder_feed_close(feed);
    ty_pool_close(pool);
}

static inline void record_spec(Recorder *recorder, const char *spec, const TyPoolConfig *config,
                               uint32_t endings)
{
    TyRuleset *ruleset = reference_ruleset(spec);
    record(recorder, ruleset, config, endings);
    ty_ruleset_close(ruleset);
}

static const TyPoolConfig short_config = {.slots = 2, .max_steps = 9};

static inline void record_short(Recorder *recorder, uint32_t endings)
{
    record_spec(recorder, "convoi:board=tiny", &short_config, endings);
}

/* A log of a few short episodes, for tests that change every byte of it. */
static inline Bytes small_log(void)
{
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    record_spec(recorder, "convoi:board=tiny", &(TyPoolConfig){.slots = 3, .max_steps = 9}, 6);
    recorder_close(recorder);
    return bytes_read(1);
}

/* ---- Differences ---- */

/* Verifies the first episode of the bytes. */
static inline ReplayResult verify_first(const Bytes *bytes, uint64_t *state)
{
    LogReader reader;
    LogEpisode episode;
    Replayer *replayer = replayer_open();
    assert_int_equal(log_reader_init(&reader, bytes->data, bytes->size).code, TY_OK);
    assert_true(log_next_episode(&reader, &episode));
    ReplayResult result = replay_bisect(replayer, &reader, &episode, state);
    ReplayResult verified = replay_verify(replayer, &reader, &episode);
    assert_memory_equal(&result, &verified, sizeof result);
    replayer_close(replayer);
    return result;
}

/* ---- Boards of the user's own ---- */

static inline char *file_bytes(const char *name, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/tests/data/%s", TY_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 16);
    *size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return bytes;
}

/* "mine" and "yours" are two boards; "deck" is a deck. */
static inline TyStatus user_open(void *user, const char *value, const char **bytes, size_t *size,
                                 char name[TY_NAME_MAX])
{
    static char *kept[3];
    static size_t sizes[3];
    static const char *const files[] = {"convoi_yard.json", "convoi_two_ports.json",
                                        "convoi_own_deck.json"};
    uint32_t index = *(const uint32_t *)user;
    index = strcmp(value, "deck") == 0 ? 2 : index;
    if (kept[index] == NULL) {
        kept[index] = file_bytes(files[index], &sizes[index]);
    }
    *bytes = kept[index];
    *size = sizes[index];
    snprintf(name, TY_NAME_MAX, "%s", value);
    return (TyStatus){.code = TY_OK};
}

/* A ruleset with two files of the user's. */
static inline TyRuleset *own_ruleset(uint32_t board)
{
    const TyFiles files = {.user = &board, .open = user_open};
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open("convoi:board=mine,deck=deck,removed=0", &files, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    return ruleset;
}

/* ---- A pool that is followed ---- */

typedef struct Followed {
    Recorder *recorder;
    TyRuleset *ruleset;
    TyPool *pool;
    RecorderFeed *feed;
} Followed;

/* The ruleset is closed with it. */
static inline void followed_open(Followed *followed, const RecorderOptions *options,
                                 TyRuleset *ruleset, const TyPoolConfig *config)
{
    followed->recorder = recorder_at(options);
    followed->ruleset = ruleset;
    assert_int_equal(ty_pool_open(ruleset, config, &followed->pool).code, TY_OK);
    assert_int_equal(recorder_attach(followed->recorder, followed->pool, &followed->feed).code,
                     TY_OK);
}

static inline void followed_close(Followed *followed)
{
    recorder_feed_close(followed->feed);
    ty_pool_close(followed->pool);
    ty_ruleset_close(followed->ruleset);
    recorder_close(followed->recorder);
}
