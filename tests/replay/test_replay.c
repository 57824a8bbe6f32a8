/* Episode logs: every episode plays again step by step, and nothing else is ever taken for a
 * record. */
#define _GNU_SOURCE
#include "tests/games/variants.h"
#include "tests/replay/log_table.h"

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

int main(void)
{
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
        IN_DIRECTORY(test_users_boards_travel_with_the_log),
        IN_DIRECTORY(test_missing_board_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
