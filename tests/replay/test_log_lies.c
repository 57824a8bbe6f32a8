/* Logs whose records are whole and lie: nothing false is read, and no other game is taken for the
 * recorded one. */
#define _GNU_SOURCE
#include "tests/replay/log_table.h"

#include "replay/writer.h"

/* ---- Records that are whole and lie ---- */

enum { MADE_ID = 42, MADE_MAX = 1 << 20 };

static void made_begin(Bytes *made)
{
    *made = (Bytes){.data = malloc(MADE_MAX), .size = LOG_FILE_HEAD};
    log_head_write(MADE_ID, made->data);
}

static uint8_t *made_add(Bytes *made, uint8_t kind, const void *payload, uint32_t size)
{
    uint8_t *record = made->data + made->size;
    assert_true(made->size + size + LOG_RECORD_EXTRA <= MADE_MAX);
    memcpy(record + LOG_RECORD_HEAD, payload, size);
    log_record_seal(MADE_ID, 0, kind, record, size);
    made->size += size + LOG_RECORD_EXTRA;
    return record + LOG_RECORD_HEAD;
}

/* A board or deck whose record says that it has `said` bytes. */
static void made_content(Bytes *made, const char *text, uint32_t said)
{
    uint8_t payload[64];
    size_t size = strlen(text);
    store_le64(payload, hash_bytes(0, (const uint8_t *)text, size));
    store_le32(payload + 8, said);
    memcpy(payload + LOG_CONTENT_FIXED, text, size);
    made_add(made, LOG_CONTENT, payload, (uint32_t)(LOG_CONTENT_FIXED + size));
}

static void test_episodes_that_make_no_sense_are_gaps(void **unused)
{
    (void)unused;
    static LogReader reader;
    static LogEpisode first[1];
    Bytes made;
    Bytes bytes = small_log();
    episodes_read(&bytes, first, 1, true);
    const uint8_t *payload = bytes.data + first->offset + LOG_RECORD_HEAD;
    uint32_t size = load_le32(bytes.data + first->offset + 8);
    made_begin(&made);
    made_add(&made, LOG_EPISODE, payload, LOG_EPISODE_FIXED - 1);
    uint8_t *copy = made_add(&made, LOG_EPISODE, payload, size);
    store_le32(copy + 24, LOG_STEPS_MAX + 1);
    store_le32(copy + 28, LOG_STEPS_MAX + 1);
    log_record_seal(MADE_ID, 0, LOG_EPISODE, copy - LOG_RECORD_HEAD, size);
    made_add(&made, LOG_EPISODE, payload, size);
    assert_int_equal(log_read_all(&made, &reader), 1);
    assert_int_equal(reader.gaps, 2);
    assert_int_equal(reader.records, 3);
    free(made.data);
    free(bytes.data);
}

static void test_notes_without_a_head_are_gaps(void **unused)
{
    (void)unused;
    static LogEpisode first[1];
    static LogReader reader;
    const uint8_t notes[LOG_NOTES_FIXED] = {0};
    Bytes made;
    Bytes bytes = small_log();
    episodes_read(&bytes, first, 1, true);
    made_begin(&made);
    made_add(&made, LOG_NOTES, notes, LOG_NOTES_FIXED - 1);
    made_add(&made, LOG_EPISODE, bytes.data + first->offset + LOG_RECORD_HEAD,
             load_le32(bytes.data + first->offset + 8));
    assert_int_equal(log_read_all(&made, &reader), 1);
    assert_int_equal(reader.gaps, 1);
    assert_int_equal(episodes_read(&made, first, 1, true), 1);
    assert_int_equal(first->note_count, 0);
    free(made.data);
    free(bytes.data);
}

static void test_contents_that_make_no_sense_are_gaps(void **unused)
{
    (void)unused;
    static LogReader reader;
    Bytes made;
    made_begin(&made);
    made_add(&made, LOG_CONTENT, "short", 5);
    made_content(&made, "a board", 8);
    made_add(&made, LOG_CONTENT, "\1\2\3\4\5\6\7\10\3\0\0\0abc", 15);
    assert_int_equal(log_read_all(&made, &reader), 0);
    assert_int_equal(reader.gaps, 3);
    assert_int_equal(reader.content_count, 0);
    made_content(&made, "a board", 7);
    made_content(&made, "a board", 7);
    made_add(&made, 77, "of a kind that comes later", 20);
    made_content(&made, "a deck", 6);
    assert_int_equal(log_read_all(&made, &reader), 0);
    assert_int_equal(reader.gaps, 3);
    assert_int_equal(reader.content_count, 2);
    assert_memory_equal(reader.contents[1].bytes, "a deck", 6);
    free(made.data);
}

static void test_a_reader_remembers_a_bounded_number_of_contents(void **unused)
{
    (void)unused;
    static LogReader reader;
    Bytes made;
    made_begin(&made);
    for (uint32_t i = 0; i <= LOG_CONTENTS_MAX; i++) {
        char text[16];
        int length = snprintf(text, sizeof text, "board %u", i);
        made_content(&made, text, (uint32_t)length);
    }
    assert_int_equal(log_read_all(&made, &reader), 0);
    assert_int_equal(reader.content_count, LOG_CONTENTS_MAX);
    assert_memory_equal(reader.contents[LOG_CONTENTS_MAX - 1].bytes, "board 256", 9);
    assert_memory_equal(reader.contents[0].bytes, "board 0", 7);
    free(made.data);
}

static void test_a_record_that_claims_too_much_is_no_record(void **unused)
{
    (void)unused;
    static LogReader reader;
    Bytes made;
    made_begin(&made);
    uint8_t *head = made_add(&made, LOG_CONTENT, "", 0) - LOG_RECORD_HEAD;
    store_le32(head + 8, LOG_PAYLOAD_MAX + 1);
    store_le64(head + 16, log_hash(MADE_ID, head, 16));
    made_content(&made, "a board", 7);
    assert_int_equal(log_read_all(&made, &reader), 0);
    assert_int_equal(reader.gaps, 1);
    assert_int_equal(reader.content_count, 1);
    free(made.data);
}

/* ---- Episodes that are whole and lie ---- */

typedef struct Recorded {
    Bytes bytes;
    LogReader reader;
    LogEpisode episode; /* the first that ended for a cause */
    Replayer *replayer;
} Recorded;

/* Records random play until an episode has ended for `cause`. */
static void recorded_open(Recorded *recorded, const char *spec, TyPoolConfig config, TyCause cause)
{
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset(spec);
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    config.slots = 1;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    const TySlab *slab = ty_pool_slab(pool, 0);
    while (recorder_stats(recorder).episodes == 0) {
        ty_sample_rows(slab, 0, 9);
        if (cause == TY_CAUSE_FORFEIT) {
            *(int32_t *)slab_cell(slab, 0, TY_COLUMN_ACTION) = -5;
        }
        ty_pool_step(pool, 0, 0, NULL);
    }
    recorder_feed_close(feed);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
    recorder_close(recorder);
    recorded->bytes = bytes_read(1);
    recorded->replayer = replayer_open();
    assert_int_equal(
        log_reader_init(&recorded->reader, recorded->bytes.data, recorded->bytes.size).code, TY_OK);
    assert_true(log_next_episode(&recorded->reader, &recorded->episode));
    assert_int_equal(recorded->episode.cause, cause);
}

static void recorded_close(Recorded *recorded)
{
    replayer_close(recorded->replayer);
    free(recorded->bytes.data);
    teardown(NULL);
    setup(NULL);
}

/* The verdict over the episode with the changes that were made to it. */
static void assert_diverges(Recorded *recorded, const LogEpisode *changed, const char *word)
{
    ReplayResult result = replay_verify(recorded->replayer, &recorded->reader, changed);
    assert_int_equal(result.verdict, REPLAY_DIVERGES);
    assert_non_null(strstr(result.message, word));
    result = replay_verify(recorded->replayer, &recorded->reader, &recorded->episode);
    assert_int_equal(result.verdict, REPLAY_AGREES);
}

static void test_an_episode_of_another_shape_diverges(void **unused)
{
    (void)unused;
    static Recorded recorded;
    recorded_open(&recorded, "convoi:board=tiny", short_config, TY_CAUSE_STEPS);
    LogEpisode changed = recorded.episode;
    changed.seat_count++;
    assert_diverges(&recorded, &changed, "other seats");
    changed = recorded.episode;
    changed.player_count++;
    assert_diverges(&recorded, &changed, "other seats");
    changed = recorded.episode;
    changed.metric_count--;
    assert_diverges(&recorded, &changed, "other seats");
    recorded_close(&recorded);
}

static void test_an_illegal_action_with_the_right_check_diverges(void **unused)
{
    (void)unused;
    static Recorded recorded;
    static uint8_t body[4096];
    recorded_open(&recorded, "convoi:board=tiny", short_config, TY_CAUSE_STEPS);
    LogEpisode changed = recorded.episode;
    memcpy(body, changed.body, log_steps_size(changed.kept));
    changed.body = body;
    store_le16(body, 0xffff);
    store_le16(body + 2, log_chain_check(log_chain_begin(changed.first_hash), 0xffff));
    assert_diverges(&recorded, &changed, "step 1: action 65535 is not legal");
    recorded_close(&recorded);
}

static void test_another_position_on_the_way_diverges(void **unused)
{
    (void)unused;
    static Recorded recorded;
    static uint8_t body[4096];
    recorded_open(&recorded, "chicago", (TyPoolConfig){.max_steps = 70}, TY_CAUSE_STEPS);
    LogEpisode changed = recorded.episode;
    memcpy(body, changed.body, log_steps_size(changed.kept));
    changed.body = body;
    body[log_step_offset(64) - 8] ^= 1;
    assert_diverges(&recorded, &changed, "step 64");
    recorded_close(&recorded);
}

/* Whether an episode that ended for `cause` could have ended for `other`. */
static bool causes_agree(TyCause cause, TyCause other)
{
    bool cut = cause == TY_CAUSE_STEPS || cause == TY_CAUSE_CUT;
    return other == cause || (cut && (other == TY_CAUSE_STEPS || other == TY_CAUSE_CUT));
}

static void test_an_episode_that_says_another_cause_diverges(void **unused)
{
    (void)unused;
    static Recorded recorded;
    static const struct {
        const char *spec;
        TyCause cause;
        TyPoolConfig config;
    } cases[] = {
        {"convoi:board=tiny", TY_CAUSE_RULES, {.max_steps = 0}},
        {"chicago:turn_cap=100", TY_CAUSE_CAP, {.seed = 1}},
        {"convoi:board=tiny", TY_CAUSE_STEPS, {.max_steps = 3}},
        {"chicago", TY_CAUSE_FORFEIT, {.illegal = TY_ILLEGAL_LOSE}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        recorded_open(&recorded, cases[i].spec, cases[i].config, cases[i].cause);
        for (uint32_t other = TY_CAUSE_RULES; other <= TY_CAUSE_FORFEIT + 1; other++) {
            LogEpisode changed = recorded.episode;
            changed.cause = (TyCause)other;
            if (!causes_agree(cases[i].cause, changed.cause) &&
                !(other <= TY_CAUSE_CUT && cases[i].cause == TY_CAUSE_FORFEIT)) {
                assert_diverges(&recorded, &changed, replay_cause_name((TyCause)other));
            }
        }
        recorded_close(&recorded);
    }
}

/* Where the players are opponents, only the one who forfeits pays. */
static void test_a_forfeit_is_paid_by_the_one_who_gave_up(void **unused)
{
    (void)unused;
    static Recorded recorded;
    recorded_open(&recorded, "chicago", (TyPoolConfig){.illegal = TY_ILLEGAL_LOSE},
                  TY_CAUSE_FORFEIT);
    uint32_t seat = (uint32_t)recorded.episode.forfeit_seat;
    assert_int_equal(recorded.episode.returns[seat], -64);
    assert_int_equal(recorded.episode.returns[1 - seat], 0);
    LogEpisode changed = recorded.episode;
    changed.forfeit_seat = (int8_t)(1 - seat);
    assert_diverges(&recorded, &changed, "forfeit");
    changed = recorded.episode;
    changed.returns[1 - seat] = -64;
    assert_diverges(&recorded, &changed, "earned");
    recorded_close(&recorded);
}

static void test_every_cause_has_a_name(void **unused)
{
    (void)unused;
    static const char *const names[] = {"rules", "cap", "max_steps", "cut", "forfeit", "?"};
    for (uint32_t i = 0; i < 6; i++) {
        assert_string_equal(replay_cause_name((TyCause)i), names[i]);
    }
}

/* Two boards under one name, in one file: each episode is played on its own. */
static void test_boards_of_the_same_name_are_told_apart(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    for (uint32_t i = 0; i < 4; i++) {
        TyRuleset *ruleset = own_ruleset(i % 2);
        record(recorder, ruleset, &short_config, 2);
        ty_ruleset_close(ruleset);
    }
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    static LogReader reader;
    assert_int_equal(log_read_all(&bytes, &reader), 8);
    assert_int_equal(reader.content_count, 3); /* two boards, one deck, once each */
    assert_int_equal(reader.records, 8 + 3);
    free(bytes.data);
    assert_int_equal(count_and_verify(1), 8);
}

/* An episode that names another board than its ruleset is not played on a board that happens to be
 * open. */
static void test_an_episode_that_names_another_board_is_refused(void **unused)
{
    (void)unused;
    static LogReader reader;
    LogEpisode episode;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = own_ruleset(0);
    record(recorder, ruleset, &short_config, 2);
    ty_ruleset_close(ruleset);
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    Replayer *replayer = replayer_open();
    assert_int_equal(log_reader_init(&reader, bytes.data, bytes.size).code, TY_OK);
    assert_true(log_next_episode(&reader, &episode));
    assert_int_equal(replay_verify(replayer, &reader, &episode).verdict, REPLAY_AGREES);
    episode.contents[0] ^= 1;
    ReplayResult result = replay_verify(replayer, &reader, &episode);
    assert_int_equal(result.verdict, REPLAY_REFUSED);
    assert_non_null(strstr(result.message, "mine"));
    replayer_close(replayer);
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_episodes_that_make_no_sense_are_gaps),
        IN_DIRECTORY(test_notes_without_a_head_are_gaps),
        IN_DIRECTORY(test_contents_that_make_no_sense_are_gaps),
        IN_DIRECTORY(test_a_reader_remembers_a_bounded_number_of_contents),
        IN_DIRECTORY(test_a_record_that_claims_too_much_is_no_record),
        IN_DIRECTORY(test_an_episode_of_another_shape_diverges),
        IN_DIRECTORY(test_an_illegal_action_with_the_right_check_diverges),
        IN_DIRECTORY(test_another_position_on_the_way_diverges),
        IN_DIRECTORY(test_an_episode_that_says_another_cause_diverges),
        IN_DIRECTORY(test_a_forfeit_is_paid_by_the_one_who_gave_up),
        IN_DIRECTORY(test_every_cause_has_a_name),
        IN_DIRECTORY(test_boards_of_the_same_name_are_told_apart),
        IN_DIRECTORY(test_an_episode_that_names_another_board_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
