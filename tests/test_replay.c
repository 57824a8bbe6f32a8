/* Episode logs: what was played is written before it is acknowledged, plays again step by step, and
 * nothing else is ever taken for a record. */
#define _GNU_SOURCE
#include "tests/log_table.h"
#include "tests/variants.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EPISODES_MAX = 4096 };

/* ---- Every episode verifies ---- */

static void test_episodes_of_every_variant_verify(void **unused)
{
    (void)unused;
    static VariantList list;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    list.count = 0;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        variants_of_game(&list, ty_game_at(i));
    }
    for (uint32_t i = 0; i < list.count; i++) {
        TyRuleset *ruleset = reference_ruleset(list.spec[i]);
        TyPoolConfig config = {.slots = 3, .groups = 2, .threads = 1 + i % 2, .seed = i * 1000};
        config.autoreset = i % 2 == 0 ? TY_AUTORESET_NEXT_STEP : TY_AUTORESET_SAME_STEP;
        config.agent[1] = i % 3 == 0 ? ty_agent_at(ty_ruleset_game(ruleset), 0) : NULL;
        record(recorder, ruleset, &config, 6);
        ty_ruleset_close(ruleset);
    }
    RecorderStats stats = recorder_stats(recorder);
    recorder_close(recorder);
    assert_true(stats.episodes >= list.count * 6ull && stats.lost == 0 && stats.skipped == 0);
    assert_int_equal(count_and_verify(1), stats.episodes);
}

/* Episodes that end otherwise than by the rules, and actions that were replaced. */
static void test_every_cause_of_an_ending_verifies(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi");
    static const TyIllegal policies[] = {TY_ILLEGAL_LOSE, TY_ILLEGAL_RANDOM_LEGAL};
    for (uint32_t i = 0; i < 2; i++) {
        TyPool *pool = NULL;
        RecorderFeed *feed = NULL;
        TyPoolConfig config = {.slots = 4, .illegal = policies[i], .max_steps = 40};
        assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
        assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
        recorder_name_seat(feed, 1, "m\xc3\xa9lanie");
        for (uint32_t step = 0; step < 200; step++) {
            const TySlab *slab = ty_pool_slab(pool, 0);
            ty_sample_rows(slab, 0, 9);
            if (step % 13 == 5) {
                *(int32_t *)slab_cell(slab, 2, TY_COLUMN_ACTION) = -5;
            }
            ty_pool_step(pool, 0, 0, NULL);
            if (step % 50 == 30) {
                ty_pool_truncate(pool, 0);
            }
        }
        recorder_feed_close(feed);
        ty_pool_close(pool);
    }
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
    static LogEpisode episodes[EPISODES_MAX];
    Bytes bytes = bytes_read(1);
    uint32_t count = episodes_read(&bytes, episodes, EPISODES_MAX, true);
    uint32_t causes = 0;
    for (uint32_t i = 0; i < count; i++) {
        causes |= 1u << episodes[i].cause;
        assert_string_equal(episodes[i].seats[0], "external");
        assert_string_equal(episodes[i].seats[1], "m__lanie");
    }
    assert_int_equal(causes, 1u << TY_CAUSE_STEPS | 1u << TY_CAUSE_CUT | 1u << TY_CAUSE_FORFEIT);
    free(bytes.data);
}

/* The record says what the pool's rows said. */
static void test_record_holds_the_result(void **unused)
{
    (void)unused;
    Recorder *recorder = recorder_at(NULL);
    record_spec(recorder, "convoi:reward=shaped", &(TyPoolConfig){.slots = 1, .seed = 70}, 2);
    assert_int_equal(recorder_sync(recorder).code, TY_OK);
    recorder_close(recorder);
    static LogEpisode episodes[4];
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, episodes, 4, true), 2);
    TyPoolConfig config = {.slots = 1};
    TyRuleset *ruleset = reference_ruleset("convoi:reward=shaped");
    Reference *reference = reference_open(ruleset, &config);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(episodes[i].seed == ty_episode_seed(70, i));
        assert_int_equal(episodes[i].episode, i);
        assert_string_equal(episodes[i].spec, ty_shape(ruleset)->spec);
        int32_t total[TY_SEATS_MAX] = {0};
        int32_t metrics[TY_METRICS_MAX];
        ty_reset(ruleset, reference->state, episodes[i].seed, NULL);
        for (uint32_t step = 0; step < episodes[i].steps; step++) {
            assert_true(ty_step(ruleset, reference->state, log_episode_action(&episodes[i], step),
                                total, NULL));
        }
        ty_metrics(ruleset, reference->state, metrics);
        assert_memory_equal(episodes[i].returns, total, 2 * sizeof(int32_t));
        assert_memory_equal(episodes[i].metrics, metrics,
                            ty_shape(ruleset)->metric_count * sizeof(int32_t));
    }
    free(reference);
    ty_ruleset_close(ruleset);
    free(bytes.data);
}

/* ---- Differences are found ---- */

static void test_flipped_action_is_found_at_its_step(void **unused)
{
    (void)unused;
    static LogEpisode first[1];
    static uint64_t state[TY_STATE_MAX / 8];
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    record_spec(recorder, "convoi", &(TyPoolConfig){.slots = 1, .seed = 3}, 1);
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    episodes_read(&bytes, first, 1, true);
    assert_true(first->kept > LOG_HASH_EVERY);
    size_t body = (size_t)(first->body - bytes.data);
    for (uint32_t step = 0; step < first->kept; step++) {
        for (uint32_t bit = 0; bit < 16; bit++) {
            uint8_t *byte = &bytes.data[body + log_step_offset(step) + bit / 8];
            *byte ^= (uint8_t)(1u << bit % 8);
            bytes_seal(&bytes, first->offset);
            ReplayResult result = verify_first(&bytes, state);
            assert_int_equal(result.verdict, REPLAY_DIVERGES);
            assert_int_equal(result.step, step + 1);
            assert_int_equal(ty_head(state)->steps, step);
            *byte ^= (uint8_t)(1u << bit % 8);
        }
    }
    bytes_seal(&bytes, first->offset);
    assert_int_equal(verify_first(&bytes, state).verdict, REPLAY_AGREES);
    free(bytes.data);
}

/* Any other bit of an episode that is sealed again: it no longer agrees, or it is refused. */
static void test_no_changed_episode_agrees(void **unused)
{
    (void)unused;
    static LogEpisode first[1];
    static uint64_t state[TY_STATE_MAX / 8];
    Bytes bytes = small_log();
    episodes_read(&bytes, first, 1, true);
    size_t payload = first->offset + LOG_RECORD_HEAD;
    size_t size = load_le32(bytes.data + first->offset + 8);
    uint32_t agreeing = 0;
    for (size_t i = 0; i < size * 8; i++) {
        uint8_t *byte = &bytes.data[payload + i / 8];
        *byte ^= (uint8_t)(1u << i % 8);
        bytes_seal(&bytes, first->offset);
        LogReader reader;
        LogEpisode episode;
        log_reader_init(&reader, bytes.data, bytes.size);
        if (log_next_episode(&reader, &episode) && episode.offset == first->offset) {
            agreeing += verify_first(&bytes, state).verdict == REPLAY_AGREES;
        }
        *byte ^= (uint8_t)(1u << i % 8);
    }
    /* Slot and number of the episode, names of seats and unused bytes change nothing that is
     * played, and a cut may be called max_steps. */
    uint32_t free_bits = 8 * (4 + 8 + 3) + 8 * (uint32_t)(strlen(first->seats[0]) * 2) + 8;
    assert_true(agreeing <= free_bits);
    free(bytes.data);
}

static void test_other_rules_version_is_refused(void **unused)
{
    (void)unused;
    static LogEpisode first[1];
    static uint64_t state[TY_STATE_MAX / 8];
    Bytes bytes = small_log();
    episodes_read(&bytes, first, 1, true);
    uint8_t *version = bytes.data + first->offset + LOG_RECORD_HEAD;
    store_le32(version, load_le32(version) + 1);
    bytes_seal(&bytes, first->offset);
    ReplayResult result = verify_first(&bytes, state);
    assert_int_equal(result.verdict, REPLAY_REFUSED);
    assert_non_null(strstr(result.message, "version"));
    free(bytes.data);
}

static void test_other_format_version_is_refused(void **unused)
{
    (void)unused;
    Bytes bytes = small_log();
    LogReader reader;
    store_le16(bytes.data + 8, LOG_VERSION + 1);
    store_le64(bytes.data + 24, log_hash(load_le64(bytes.data + 16), bytes.data, 24));
    TyStatus status = log_reader_init(&reader, bytes.data, bytes.size);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_non_null(strstr(status.message, "format"));
    free(bytes.data);
}

/* ---- Damage ---- */

/* Every episode that is read is one of the originals, and they come in order. */
static uint32_t check_subset(const Bytes *damaged, const LogEpisode *originals, uint32_t count,
                             uint32_t *gaps)
{
    LogReader reader;
    LogEpisode episode;
    uint32_t found = 0;
    uint32_t next = 0;
    *gaps = 1;
    if (log_reader_init(&reader, damaged->data, damaged->size).code != TY_OK) {
        return 0;
    }
    while (log_next_episode(&reader, &episode)) {
        while (next < count && originals[next].offset != episode.offset) {
            next++;
        }
        assert_true(next < count);
        const LogEpisode *original = &originals[next];
        assert_true(original->seed == episode.seed && original->kept == episode.kept);
        assert_memory_equal(original->body, episode.body, log_steps_size(episode.kept));
        assert_string_equal(original->spec, episode.spec);
        found++;
    }
    *gaps = reader.gaps;
    return found;
}

static void test_log_cut_at_every_byte_has_no_false_record(void **unused)
{
    (void)unused;
    static LogEpisode originals[16];
    RecorderOptions options = quiet_options();
    Bytes bytes = small_log();
    uint32_t count = episodes_read(&bytes, originals, 16, true);
    assert_int_equal(count, 6);
    for (size_t size = 0; size < bytes.size; size++) {
        uint32_t gaps = 0;
        Bytes cut = {.data = malloc(size + 1), .size = size};
        memcpy(cut.data, bytes.data, size);
        uint32_t found = check_subset(&cut, originals, count, &gaps);
        uint32_t whole = 0;
        size_t whole_end = LOG_FILE_HEAD;
        while (whole < count && size >= originals[whole].offset + LOG_RECORD_EXTRA +
                                            load_le32(bytes.data + originals[whole].offset + 8)) {
            whole_end = originals[whole].offset + LOG_RECORD_EXTRA +
                        load_le32(bytes.data + originals[whole].offset + 8);
            whole++;
        }
        assert_int_equal(found, whole);
        assert_int_equal(gaps, size != whole_end || size < LOG_FILE_HEAD);
        /* A recorder drops the tail and goes on behind it. */
        if (size % 7 == 0 || size + 40 > bytes.size) {
            bytes_write(1, cut.data, cut.size);
            Recorder *recorder = recorder_at(&options);
            record_spec(recorder, "convoi:board=tiny",
                        &(TyPoolConfig){.slots = 1, .max_steps = 5, .seed = 99}, 1);
            recorder_close(recorder);
            bool begun = size < LOG_FILE_HEAD; /* too damaged to go on with: a second file */
            assert_int_equal(count_and_verify(begun ? 2 : 1), begun ? 1 : whole + 1);
            char path[128];
            path_of(2, path);
            unlink(path);
        }
        free(cut.data);
    }
    free(bytes.data);
}

static void test_every_flipped_bit_is_noticed(void **unused)
{
    (void)unused;
    static LogEpisode originals[16];
    Bytes bytes = small_log();
    Bytes damaged = {.data = malloc(bytes.size), .size = bytes.size};
    uint32_t count = episodes_read(&bytes, originals, 16, true);
    for (size_t i = 0; i < bytes.size * 8; i++) {
        uint32_t gaps = 0;
        memcpy(damaged.data, bytes.data, bytes.size);
        damaged.data[i / 8] ^= (uint8_t)(1u << i % 8);
        uint32_t found = check_subset(&damaged, originals, count, &gaps);
        /* Only the record that was hit is lost. */
        assert_int_equal(found, i / 8 < LOG_FILE_HEAD ? 0 : count - 1);
        assert_true(gaps > 0);
    }
    free(damaged.data);
    free(bytes.data);
}

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

/* ---- Boards of the user's own ---- */

static void test_users_boards_travel_with_the_log(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    options.file_bytes_max = 3000; /* several files: each must hold the boards it needs */
    Recorder *recorder = recorder_at(&options);
    uint32_t recorded = 0;
    for (uint32_t board = 0; board < 2; board++) {
        TyFiles files = {.user = &board, .open = user_open};
        TyRuleset *ruleset = NULL;
        TyStatus status =
            ty_ruleset_open("convoi:board=mine,deck=deck,removed=0", &files, &ruleset);
        if (status.code != TY_OK) {
            status = ty_ruleset_open("convoi:board=mine", &files, &ruleset);
        }
        if (status.code != TY_OK) {
            fail_msg("%s", status.message);
        }
        record(recorder, ruleset, &(TyPoolConfig){.slots = 2, .seed = board}, 8);
        recorded += 8;
        ty_ruleset_close(ruleset);
    }
    RecorderStats stats = recorder_stats(recorder);
    recorder_close(recorder);
    char path[128];
    uint32_t found = 0;
    uint32_t number = 1;
    for (; path_of(number, path), access(path, F_OK) == 0; number++) {
        found += count_and_verify(number);
    }
    assert_true(number > 3);
    assert_true(found >= recorded);
    assert_int_equal(found, stats.episodes);
}

static void test_missing_board_is_refused(void **unused)
{
    (void)unused;
    static uint64_t state[TY_STATE_MAX / 8];
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    uint32_t board = 0;
    TyFiles files = {.user = &board, .open = user_open};
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("convoi:board=mine", &files, &ruleset).code, TY_OK);
    record(recorder, ruleset, &(TyPoolConfig){.slots = 1}, 1);
    recorder_close(recorder);
    ty_ruleset_close(ruleset);
    Bytes bytes = bytes_read(1);
    bytes.data[LOG_FILE_HEAD + LOG_RECORD_HEAD + 50] ^= 1; /* the board's record */
    ReplayResult result = verify_first(&bytes, state);
    assert_int_equal(result.verdict, REPLAY_REFUSED);
    assert_non_null(strstr(result.message, "mine"));
    free(bytes.data);
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
    assert_non_null(strstr(status.message, "somebody else"));
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

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--record") == 0) {
        return recording_main(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
    }
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_episodes_of_every_variant_verify),
        IN_DIRECTORY(test_every_cause_of_an_ending_verifies),
        IN_DIRECTORY(test_record_holds_the_result),
        IN_DIRECTORY(test_flipped_action_is_found_at_its_step),
        IN_DIRECTORY(test_no_changed_episode_agrees),
        IN_DIRECTORY(test_other_rules_version_is_refused),
        IN_DIRECTORY(test_other_format_version_is_refused),
        IN_DIRECTORY(test_log_cut_at_every_byte_has_no_false_record),
        IN_DIRECTORY(test_every_flipped_bit_is_noticed),
        IN_DIRECTORY(test_error_at_every_write_loses_only_what_is_told),
        IN_DIRECTORY(test_interrupted_and_short_writes_are_continued),
        IN_DIRECTORY(test_users_boards_travel_with_the_log),
        IN_DIRECTORY(test_missing_board_is_refused),
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
