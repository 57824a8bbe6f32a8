/* What agents tell of their choices, in logs: recorded, read, verified, refused. */
#define _GNU_SOURCE
#include "tests/replay/log_faults.h"

#include <math.h>

/* An agent that takes the first legal action and tells what it thinks of each. */
static void teller_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)agent;
    (void)memory;
    (void)ruleset;
    (void)seat;
    (void)seed;
}

static uint32_t teller_act(void *memory, const TyView *view)
{
    uint32_t first = TY_ACTIONS_MAX;
    (void)memory;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        if (view->mask[action]) {
            first = action < first ? action : first;
            ty_note(view, (TyNote){.action = action,
                                   .probability = NAN,
                                   .value = -(float)action / 3,
                                   .visits = (float)(action + view->seat)});
        }
    }
    return first;
}

static const TyAgent teller = {.name = "teller", .start = teller_start, .act = teller_act};

/* Two tellers at one table; with `kept` their notes are. */
static void tellers_open(Followed *tellers, const RecorderOptions *options, bool kept)
{
    followed_open(tellers, options, reference_ruleset("express:map=tiny"),
                  &(TyPoolConfig){.slots = 1, .agent = {&teller, &teller}, .max_steps = 20});
    if (kept) {
        recorder_keep_notes(tellers->feed);
    }
}

static void tellers_play(Followed *tellers, uint64_t episodes)
{
    while (recorder_stats(tellers->recorder).episodes < episodes) {
        ty_pool_step(tellers->pool, 0, 0, NULL);
    }
}

/* Records two episodes of tellers. */
static Bytes tellers_record(bool kept, RecorderCopy *copy)
{
    RecorderOptions options = quiet_options();
    Followed tellers;
    tellers_open(&tellers, &options, kept);
    tellers_play(&tellers, 2);
    if (copy != NULL) {
        assert_int_equal(recorder_fetch(tellers.feed, 0, NULL, copy).code, TY_OK);
    }
    followed_close(&tellers);
    return bytes_read(1);
}

/* What the teller tells in an episode that is played again. */
static void assert_told(const LogEpisode *episode)
{
    TyRuleset *ruleset = reference_ruleset("express:map=tiny");
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t reward[TY_SEATS_MAX] = {0};
    uint32_t note = 0;
    ty_reset(ruleset, state, episode->seed, NULL);
    for (uint32_t i = 0; i < episode->kept; i++) {
        ty_legal(ruleset, state, mask);
        for (uint32_t action = 0; action < ty_shape(ruleset)->action_count; action++) {
            if (mask[action]) {
                LogNote shown = log_episode_note(episode, note++);
                assert_int_equal(shown.decision, i);
                assert_int_equal(shown.note.action, action);
                assert_true(isnan(shown.note.probability));
                assert_true(shown.note.value == -(float)action / 3);
                assert_true(shown.note.visits == (float)((int32_t)action + ty_head(state)->seat));
            }
        }
        ty_step(ruleset, state, log_episode_action(episode, i), reward, NULL);
    }
    assert_int_equal(note, episode->note_count);
    ty_ruleset_close(ruleset);
}

static void test_what_agents_tell_is_in_the_log(void **unused)
{
    (void)unused;
    LogEpisode episodes[2];
    RecorderCopy copy;
    Bytes bytes = tellers_record(true, &copy);
    assert_int_equal(episodes_read(&bytes, episodes, 2, true), 2);
    assert_told(&episodes[0]);
    assert_told(&episodes[1]);
    Bytes fetched = {.data = copy.bytes, .size = copy.size};
    assert_int_equal(episodes_read(&fetched, episodes, 1, true), 1);
    assert_told(&episodes[0]);
    free(copy.bytes);
    free(bytes.data);
}

static void test_nothing_is_kept_unless_it_is_asked_for(void **unused)
{
    (void)unused;
    LogEpisode episodes[2];
    Bytes bytes = tellers_record(false, NULL);
    assert_int_equal(episodes_read(&bytes, episodes, 2, true), 2);
    assert_int_equal(episodes[0].note_count + episodes[1].note_count, 0);
    free(bytes.data);
}

/* Where the first notes record lies. */
static size_t notes_offset(const Bytes *bytes)
{
    LogReader reader;
    LogRecord record;
    assert_int_equal(log_reader_init(&reader, bytes->data, bytes->size).code, TY_OK);
    while (log_next_record(&reader, &record)) {
        if (record.kind == LOG_NOTES) {
            return record.offset;
        }
    }
    fail_msg("no notes");
    return 0;
}

/* An action of which nothing was told at the first decision: it is not legal there. */
static uint32_t action_untold(const Bytes *bytes)
{
    LogEpisode episode;
    uint32_t action = 0;
    episodes_read(bytes, &episode, 1, true);
    for (uint32_t i = 0; log_episode_note(&episode, i).note.action == action; i++) {
        action++;
    }
    return action;
}

static void check_illegal_note(Bytes *bytes, uint32_t action)
{
    uint64_t state[TY_STATE_MAX / 8];
    char words[64];
    size_t offset = notes_offset(bytes);
    store_le32(bytes->data + offset + LOG_RECORD_HEAD + LOG_NOTES_FIXED + 4, action);
    bytes_seal(bytes, offset);
    ReplayResult result = verify_first(bytes, state);
    assert_int_equal(result.verdict, REPLAY_DIVERGES);
    assert_int_equal(result.step, 1);
    snprintf(words, sizeof words, "a note tells of action %u", action);
    assert_non_null(strstr(result.message, words));
}

static void test_a_note_of_an_illegal_action_diverges_at_its_step(void **unused)
{
    (void)unused;
    Bytes bytes = tellers_record(true, NULL);
    check_illegal_note(&bytes, action_untold(&bytes));
    check_illegal_note(&bytes, 1023);
    free(bytes.data);
}

static void test_a_note_behind_the_last_decision_diverges(void **unused)
{
    (void)unused;
    uint64_t state[TY_STATE_MAX / 8];
    Bytes bytes = tellers_record(true, NULL);
    size_t offset = notes_offset(&bytes);
    uint8_t *payload = bytes.data + offset + LOG_RECORD_HEAD;
    uint32_t count = load_le32(payload + 20);
    store_le32(payload + LOG_NOTES_FIXED + (size_t)(count - 1) * LOG_NOTE_SIZE, 500);
    bytes_seal(&bytes, offset);
    ReplayResult result = verify_first(&bytes, state);
    assert_int_equal(result.verdict, REPLAY_DIVERGES);
    assert_non_null(strstr(result.message, "a note tells of decision 501; the last one here is"));
    free(bytes.data);
}

/* Changes one number of the first notes record; returns how many gaps a reader tells of, and how
 * many notes the first episode has. */
static uint32_t gaps_with(size_t at, uint32_t value, uint32_t *notes)
{
    static LogReader reader;
    LogEpisode episode;
    Bytes bytes = tellers_record(true, NULL);
    size_t offset = notes_offset(&bytes);
    store_le32(bytes.data + offset + LOG_RECORD_HEAD + at, value);
    bytes_seal(&bytes, offset);
    assert_int_equal(log_reader_init(&reader, bytes.data, bytes.size).code, TY_OK);
    assert_true(log_next_episode(&reader, &episode));
    *notes = episode.note_count;
    assert_true(log_next_episode(&reader, &episode));
    assert_true(episode.note_count > 0);
    uint32_t gaps = reader.gaps;
    free(bytes.data);
    teardown(NULL);
    setup(NULL);
    return gaps;
}

static void test_notes_that_break_the_format_are_damage_and_the_episode_stays(void **unused)
{
    (void)unused;
    uint32_t notes = 0;
    assert_int_equal(gaps_with(20, 3, &notes), 1); /* fewer than there are */
    assert_int_equal(notes, 0);
    assert_int_equal(gaps_with(20, LOG_NOTES_MAX + 1, &notes), 1);
    assert_int_equal(gaps_with(LOG_NOTES_FIXED + 4, TY_ACTIONS_MAX, &notes), 1);
    assert_int_equal(gaps_with(LOG_NOTES_FIXED, 7, &notes), 1); /* decisions run backwards */
    assert_int_equal(notes, 0);
}

static void test_notes_of_another_episode_are_not_shown(void **unused)
{
    (void)unused;
    uint32_t notes = 1;
    assert_int_equal(gaps_with(0, 9, &notes), 0);
    assert_int_equal(notes, 0);
    assert_int_equal(gaps_with(4, 9, &notes), 0);
    assert_int_equal(notes, 0);
    assert_int_equal(gaps_with(12, 9, &notes), 0);
    assert_int_equal(notes, 0);
}

static void test_what_was_told_of_a_decision_not_taken_is_forgotten(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    const TyPoolConfig config = {.slots = 1, .autoreset = TY_AUTORESET_DISABLED};
    TyPool *pool = NULL;
    RecorderFeed *feed = NULL;
    LogEpisode episode;
    assert_int_equal(ty_pool_open(ruleset, &config, &pool).code, TY_OK);
    assert_int_equal(recorder_attach(recorder, pool, &feed).code, TY_OK);
    recorder_keep_notes(feed);
    for (uint32_t i = 0; i < 3; i++) {
        const TySlab *slab = ty_pool_slab(pool, 0);
        ty_sample_rows(slab, 0, 9);
        TyNote note = {.action = *(const uint32_t *)slab_cell(slab, 0, TY_COLUMN_ACTION)};
        recorder_note(feed, 0, &(TyNote){.action = 1}, 1); /* told again: this one is forgotten */
        recorder_note(feed, 0, &note, 1);
        ty_pool_step(pool, 0, 0, NULL);
    }
    recorder_note(feed, 0, &(TyNote){.action = 1}, 1);
    ty_pool_truncate(pool, 0);
    assert_int_equal(recorder_stats(recorder).episodes, 1);
    recorder_feed_close(feed);
    ty_pool_close(pool);
    ty_ruleset_close(ruleset);
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, &episode, 1, true), 1);
    assert_int_equal(episode.note_count, 3);
    assert_int_equal(log_episode_note(&episode, 2).decision, 2);
    free(bytes.data);
}

static void test_more_notes_than_fit_are_not_kept(void **unused)
{
    (void)unused;
    RecorderOptions options = quiet_options();
    Recorder *recorder = recorder_at(&options);
    TyRuleset *ruleset = reference_ruleset("convoi:board=tiny");
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    static TyNote notes[LOG_NOTES_MAX];
    RecorderFeed *feed = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    LogEpisode episode;
    assert_int_equal(recorder_feed_open(recorder, ruleset, 1, agents, &feed).code, TY_OK);
    recorder_keep_notes(feed);
    TyObserver observer = recorder_observer(feed);
    ty_reset(ruleset, state, 5, NULL);
    observer.begin(observer.user, 0, 5, 0, state);
    uint8_t mask[TY_ACTIONS_MAX];
    for (uint32_t i = 0; i < 2; i++) {
        ty_legal(ruleset, state, mask);
        uint32_t action = ty_sample(mask, ty_shape(ruleset)->action_count, 1, i);
        for (uint32_t k = 0; k < LOG_NOTES_MAX; k++) {
            notes[k] = (TyNote){.action = action};
        }
        recorder_note(feed, 0, notes, i == 0 ? LOG_NOTES_MAX : 1);
        ty_step(ruleset, state, action, reward, NULL);
        observer.decision(observer.user, 0, action, reward, state);
    }
    static const int32_t nothing[TY_SEATS_MAX];
    TyEnding ending = {.cause = TY_CAUSE_CUT, .seat = -1, .reward = nothing};
    assert_true(observer.end(observer.user, 0, &ending, state));
    recorder_feed_close(feed);
    ty_ruleset_close(ruleset);
    recorder_close(recorder);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, &episode, 1, false), 1);
    assert_int_equal(episode.note_count, LOG_NOTES_MAX);
    free(bytes.data);
}

static void test_notes_end_where_the_kept_decisions_end(void **unused)
{
    (void)unused;
    uint64_t state[TY_STATE_MAX / 8];
    LogEpisode episode;
    Followed tellers;
    RecorderOptions options = quiet_options();
    options.steps_max = 3;
    tellers_open(&tellers, &options, true);
    tellers_play(&tellers, 1);
    followed_close(&tellers);
    Bytes bytes = bytes_read(1);
    assert_int_equal(verify_first(&bytes, state).verdict, REPLAY_INCOMPLETE);
    assert_int_equal(episodes_read(&bytes, &episode, 1, false), 1);
    assert_int_equal(log_episode_note(&episode, episode.note_count - 1).decision, 2);
    free(bytes.data);
}

/* What is told in an episode that is not recorded is not taken for that of the next one. */
static void test_what_is_told_in_a_restored_slot_is_not_kept(void **unused)
{
    (void)unused;
    LogEpisode episode;
    Followed tellers;
    const RecorderOptions options = quiet_options();
    const TyRestore exactly = {.seat = -1};
    const uint32_t slot = 0;
    tellers_open(&tellers, &options, true);
    uint8_t *snapshot = malloc(ty_pool_snapshot_size(tellers.pool));
    ty_pool_save(tellers.pool, slot, snapshot);
    assert_int_equal(ty_pool_restore(tellers.pool, snapshot, &slot, 1, &exactly).code, TY_OK);
    free(snapshot);
    tellers_play(&tellers, 1);
    assert_int_equal(recorder_stats(tellers.recorder).skipped, 1);
    followed_close(&tellers);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, &episode, 1, true), 1);
    assert_told(&episode);
    free(bytes.data);
}

/* ---- The system refuses ---- */

/* Plays while allocation number `nth` fails. Returns false if there was no such allocation. */
static bool tellers_with_fault(uint32_t nth)
{
    Followed tellers;
    LogReader reader;
    const RecorderOptions options = heard_options();
    Budget budget = {.most = UINT64_MAX};
    const RecorderMemory memory = budget_memory(&budget);
    tellers_open(&tellers, &options, true);
    assert_true(recorder_feed_charge(tellers.feed, &memory));
    fault_set(FAULT_realloc, nth, ENOMEM);
    tellers_play(&tellers, 2);
    bool reached = fault_was(FAULT_realloc);
    fault_clear();
    uint64_t lost = recorder_stats(tellers.recorder).lost;
    followed_close(&tellers);
    assert_int_equal(budget.used, 0);
    assert_int_equal(told, 2 * lost); /* that it fails, and that it works again */
    Bytes bytes = bytes_read(1);
    assert_int_equal(log_read_all(&bytes, &reader), 2);
    assert_int_equal(reader.gaps, 0);
    free(bytes.data);
    teardown(NULL);
    setup(NULL);
    return reached;
}

static void test_no_memory_for_notes_loses_notes_or_an_episode_and_tells(void **unused)
{
    (void)unused;
    uint32_t nth = 1;
    while (tellers_with_fault(nth)) {
        nth++;
    }
    assert_true(nth > 3);
}

/* A slot that may not grow has no notes; what it did not get does not count. */
static void test_notes_take_no_memory_that_is_not_there(void **unused)
{
    (void)unused;
    LogEpisode episodes[2];
    Followed tellers;
    const RecorderOptions options = quiet_options();
    Budget budget = {.most = UINT64_MAX};
    const RecorderMemory memory = budget_memory(&budget);
    tellers_open(&tellers, &options, true);
    assert_true(recorder_feed_charge(tellers.feed, &memory));
    uint64_t charged = budget.used;
    fault_set(FAULT_realloc, 1, ENOMEM);
    recorder_note(tellers.feed, 0, &(TyNote){.action = 1}, 1);
    assert_true(fault_was(FAULT_realloc));
    fault_clear();
    assert_int_equal(budget.used, charged);
    budget.most = charged;
    tellers_play(&tellers, 1);
    assert_int_equal(budget.used, charged);
    budget.most = UINT64_MAX;
    tellers_play(&tellers, 2);
    assert_true(budget.used > charged);
    followed_close(&tellers);
    assert_int_equal(budget.used, 0);
    Bytes bytes = bytes_read(1);
    assert_int_equal(episodes_read(&bytes, episodes, 2, true), 2);
    assert_int_equal(episodes[0].note_count, 0);
    assert_told(&episodes[1]);
    free(bytes.data);
}

/* An episode that is held while the disk is full is written with its notes when there is room. */
static void test_notes_that_find_no_room_are_written_later(void **unused)
{
    (void)unused;
    LogEpisode episode;
    LogReader reader;
    Followed tellers;
    RecorderOptions options = heard_options();
    options.full = RECORDER_FULL_STOP;
    options.calls.write = refusing_write;
    tellers_open(&tellers, &options, true);
    disk_refuses = true;
    while (ty_pool_held(tellers.pool) == 0) {
        ty_pool_step(tellers.pool, 0, 0, NULL);
    }
    assert_non_null(strstr(recorder_failure(tellers.recorder).message, strerror(ENOSPC)));
    assert_int_equal(recorder_stats(tellers.recorder).bytes, 0);
    assert_int_equal(ty_pool_release(tellers.pool), 1);
    disk_refuses = false;
    assert_int_equal(ty_pool_release(tellers.pool), 0);
    assert_int_equal(recorder_stats(tellers.recorder).episodes, 1);
    followed_close(&tellers);
    Bytes bytes = bytes_read(1);
    assert_int_equal(log_read_all(&bytes, &reader), 1);
    assert_int_equal(reader.gaps, 0);
    assert_int_equal(episodes_read(&bytes, &episode, 1, true), 1);
    assert_told(&episode);
    free(bytes.data);
}

static void test_notes_that_cannot_be_read_are_not_fetched(void **unused)
{
    (void)unused;
    char path[128];
    RecorderCopy copy;
    Followed tellers;
    const RecorderOptions options = quiet_options();
    tellers_open(&tellers, &options, true);
    tellers_play(&tellers, 1);
    path_of(1, path);
    assert_int_equal(unlink(path), 0);
    TyStatus status = recorder_fetch(tellers.feed, 0, NULL, &copy);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "No such file"));
    assert_null(copy.bytes);
    followed_close(&tellers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_what_agents_tell_is_in_the_log),
        IN_DIRECTORY(test_nothing_is_kept_unless_it_is_asked_for),
        IN_DIRECTORY(test_a_note_of_an_illegal_action_diverges_at_its_step),
        IN_DIRECTORY(test_a_note_behind_the_last_decision_diverges),
        IN_DIRECTORY(test_notes_that_break_the_format_are_damage_and_the_episode_stays),
        IN_DIRECTORY(test_notes_of_another_episode_are_not_shown),
        IN_DIRECTORY(test_what_was_told_of_a_decision_not_taken_is_forgotten),
        IN_DIRECTORY(test_more_notes_than_fit_are_not_kept),
        IN_DIRECTORY(test_notes_end_where_the_kept_decisions_end),
        IN_DIRECTORY(test_what_is_told_in_a_restored_slot_is_not_kept),
        IN_DIRECTORY(test_no_memory_for_notes_loses_notes_or_an_episode_and_tells),
        IN_DIRECTORY(test_notes_take_no_memory_that_is_not_there),
        IN_DIRECTORY(test_notes_that_find_no_room_are_written_later),
        IN_DIRECTORY(test_notes_that_cannot_be_read_are_not_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
