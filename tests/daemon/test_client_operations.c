/* Every operation of the protocol, asked through its function of the C client and answered by a
 * daemon in a process of its own. An operation without a function here does not compile, and one
 * that is not sent fails. */
#define _GNU_SOURCE
#include "proto/protocol.h"
#include "proto/wire_decode.h"
#include "replay/replay.h"
#include "tests/daemon/daemon_process.h"
#include "tests/support/file_text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

enum { SLOTS = 4, WAIT_MS = 60000, EPISODE_STEPS = 20 };

static BenchDaemon server;
static char log_directory[64];
static TyClient *client;
static TyClientPool pool;
static TyRuleset *ruleset; /* of the pool, in this process */

/* ---- What goes over the wire ---- */

static uint32_t sent[OP_COUNT];

int __real_zmq_msg_send(zmq_msg_t *message, void *socket, int flags);
int __real_zmq_send(void *socket, const void *bytes, size_t size, int flags);

static void note_sent(const uint8_t *bytes, size_t size)
{
    WireItem op;
    Operation operation;
    if (wire_check(bytes, size, UINT32_MAX, NULL) == WIRE_OK &&
        wire_get(bytes, bytes + size, "op", &op) &&
        operation_find((const char *)op.bytes, op.size, &operation)) {
        sent[operation]++;
    }
}

int __wrap_zmq_msg_send(zmq_msg_t *message, void *socket, int flags)
{
    note_sent(zmq_msg_data(message), zmq_msg_size(message));
    return __real_zmq_msg_send(message, socket, flags);
}

int __wrap_zmq_send(void *socket, const void *bytes, size_t size, int flags)
{
    note_sent(bytes, size);
    return __real_zmq_send(socket, bytes, size, flags);
}

/* ---- Each operation ---- */

static void must(TyStatus status)
{
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
}

static TyClient *client_connect(const char *name)
{
    TyClient *connected = NULL;
    const TyClientConfig config = {.endpoint = server.ipc, .name = name, .timeout_ms = WAIT_MS};
    must(ty_client_connect(&config, &connected));
    return connected;
}

static void pool_open(const TyClientOpen *open, TyClientPool *opened)
{
    must(ty_client_open_pool(client, open, opened));
}

static void call_hello(void)
{
    TyClient *other = client_connect("other");
    const TyClientDaemon *daemon = ty_client_daemon(other);
    assert_string_equal(daemon->version, TY_VERSION);
    assert_string_equal(daemon->shm_path, server.shm);
    assert_true(daemon->has_shm);
    assert_true(daemon->has_log);
    assert_false(daemon->has_boards);
    assert_int_equal(daemon->game_count, ty_game_count());
    for (uint32_t i = 0; i < daemon->game_count; i++) {
        const TyClientGame *game = &daemon->games[i];
        uint32_t count = 0;
        const TyField *fields = ty_game_fields(ty_game_at(i), &count);
        assert_string_equal(game->name, ty_game_name(ty_game_at(i)));
        assert_string_equal(game->title, ty_game_title(ty_game_at(i)));
        assert_int_equal(game->rules_version, ty_game_rules_version(ty_game_at(i)));
        assert_string_equal(game->agents[0], ty_agent_at(ty_game_at(i), 0)->name);
        assert_int_equal(game->field_count, count);
        for (uint32_t k = 0; k < count; k++) {
            assert_string_equal(game->fields[k].key, fields[k].key);
            assert_int_equal(game->fields[k].kind, fields[k].kind);
            assert_int_equal(game->fields[k].standard, fields[k].standard);
        }
    }
    assert_true(daemon->limit_count > 0);
    assert_true(daemon->limits[0].value > 0);
    ty_client_close(other);
}

static void blocks_check(const TyClientBlock *blocks, const TyBlock *wanted, uint32_t count)
{
    char label[TY_NAME_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const TyBlock *block = &blocks[i].block;
        assert_string_equal(block->name, wanted[i].name);
        assert_int_equal(block->kind, wanted[i].kind);
        assert_int_equal(block->offset, wanted[i].offset);
        assert_int_equal(block->maximum, wanted[i].maximum);
        ty_block_label(ruleset, &wanted[i], wanted[i].rows - 1u, wanted[i].columns - 1u, label);
        assert_string_equal(blocks[i].labels[wanted[i].rows * wanted[i].columns - 1], label);
        assert_int_equal(blocks[i].values != NULL, block->kind == TY_BLOCK_CATEGORY);
    }
}

static void call_describe(void)
{
    const TyShape *shape = ty_shape(ruleset);
    TyClientSchema schema;
    char name[TY_NAME_MAX];
    must(ty_client_describe(client, shape->spec, NULL, 0, &schema));
    assert_string_equal(schema.ruleset, shape->spec);
    assert_string_equal(schema.game, "convoi");
    assert_string_equal(schema.title, ty_game_title(ty_ruleset_game(ruleset)));
    assert_true(schema.schema_hash == shape->schema_hash);
    assert_int_equal(schema.players, shape->players);
    assert_int_equal(schema.row_size, shape->row_size);
    assert_int_equal(schema.state_size, shape->state_size);
    assert_int_equal(schema.cooperative, shape->cooperative);
    assert_int_equal(schema.action_count, shape->action_count);
    for (uint32_t i = 0; i < schema.action_count; i++) {
        ty_action_name(ruleset, i, name);
        assert_string_equal(schema.actions[i], name);
    }
    assert_int_equal(schema.row_block_count, shape->row_block_count);
    assert_int_equal(schema.full_block_count, shape->full_block_count);
    blocks_check(schema.row_blocks, shape->row_blocks, shape->row_block_count);
    blocks_check(schema.full_blocks, shape->full_blocks, shape->full_block_count);
    assert_int_equal(schema.metric_count, shape->metric_count);
    assert_string_equal(schema.metrics[0], shape->metrics[0]);
    assert_string_equal(schema.streams[0].name, shape->streams[0]);
    assert_true(schema.streams[0].outcome_count > 0);
    assert_int_equal(ty_client_describe(client, "checkers", NULL, 0, &schema).code, TY_BAD_CONFIG);
    assert_int_equal(ty_client_error(client), TY_ERROR_BAD_CONFIG);
}

/* A board of one's own, and only the columns that are wanted. */
static void call_open(void)
{
    char *board = file_text("env/games/convoi/data/tiny.json");
    const TyFileBytes file = {.value = "mine", .bytes = board, .size = strlen(board)};
    const TyClientOpen open = {.ruleset = "convoi:board=mine",
                               .files = &file,
                               .file_count = 1,
                               .slots = SLOTS,
                               .groups = 2,
                               .columns = 1u << TY_COLUMN_OBS | 1u << TY_COLUMN_METRICS};
    TyClientPool opened;
    TyClientRows rows;
    pool_open(&open, &opened);
    free(board);
    assert_non_null(strstr(opened.ruleset, "board=mine@"));
    assert_int_equal(opened.slots, SLOTS);
    assert_int_equal(opened.groups, 2);
    assert_int_equal(opened.width[TY_COLUMN_OBS], opened.row_size);
    assert_int_equal(opened.width[TY_COLUMN_MASK], 0);
    must(ty_client_reset(client, &opened, NULL, NULL, &rows));
    assert_non_null(rows.column[TY_COLUMN_OBS]);
    assert_null(rows.column[TY_COLUMN_MASK]);
    must(ty_client_close_pool(client, &opened));
    assert_int_equal(
        ty_client_open_pool(client, &(TyClientOpen){.ruleset = "convoi:board=mine"}, &opened).code,
        TY_BAD_FILE);
    assert_int_equal(ty_client_error(client), TY_ERROR_BAD_FILE);
}

static void call_close(void)
{
    TyClientPool opened;
    TyClientRows rows;
    pool_open(&(TyClientOpen){.ruleset = "convoi:board=tiny"}, &opened);
    must(ty_client_close_pool(client, &opened));
    assert_int_not_equal(ty_client_reset(client, &opened, NULL, NULL, &rows).code, TY_OK);
    assert_int_equal(ty_client_error(client), TY_ERROR_CLOSED);
}

/* The director hears who came, and who went. */
static void duo(TyClient *guest, TyClientPool *opened, TyClientPool *joined)
{
    const TyClientOpen open = {.ruleset = "nordic:players=2", .seats = {"me", "open"}};
    TyClientNotice notice;
    pool_open(&open, opened);
    const uint8_t seat = 1;
    const TyClientJoin join = {
        .pool = opened->id, .invite = opened->invite, .seats = &seat, .seat_count = 1};
    must(ty_client_join(guest, &join, joined));
    assert_int_equal(joined->member, 1);
    assert_int_equal(joined->seats[0], 1);
    must(ty_client_ping(client));
    assert_true(ty_client_notice(client, &notice));
    assert_int_equal(notice.news, TY_NEWS_JOINED);
    assert_int_equal(notice.pool, opened->id);
    assert_int_equal(notice.seat, 1);
    assert_string_equal(notice.by, "guest");
    assert_false(ty_client_notice(client, &notice));
}

/* Notices come without being asked for, and say why a seat was lost. */
static void test_notices_come_at_once(void **unused)
{
    (void)unused;
    TyClient *director = client_connect("director");
    TyClient *guest = client_connect("guest");
    TyClientPool opened;
    TyClientPool joined;
    TyClientNotice notice;
    must(ty_client_open_pool(
        director,
        &(TyClientOpen){.ruleset = "convoi:board=tiny", .slots = 2, .seats = {"me", "open"}},
        &opened));
    const TyClientJoin join = {.pool = opened.id, .invite = opened.invite};
    must(ty_client_join(guest, &join, &joined));
    assert_true(ty_client_notice_wait(director, WAIT_MS, &notice));
    assert_int_equal(notice.news, TY_NEWS_JOINED);
    must(ty_client_close_pool(director, &opened));
    assert_true(ty_client_notice_wait(guest, WAIT_MS, &notice));
    assert_int_equal(notice.news, TY_NEWS_CLOSED);
    assert_int_equal(notice.pool, opened.id);
    assert_false(ty_client_notice_wait(guest, 0, &notice));
    ty_client_close(guest);
    ty_client_close(director);
}

static void call_join(void)
{
    TyClientPool opened;
    TyClientPool joined;
    TyClient *guest = client_connect("guest");
    duo(guest, &opened, &joined);
    assert_string_equal(joined.ruleset, opened.ruleset);
    const TyClientJoin wrong = {.pool = opened.id, .invite = "no token"};
    assert_int_not_equal(ty_client_join(guest, &wrong, &joined).code, TY_OK);
    assert_int_equal(ty_client_error(guest), TY_ERROR_DENIED);
    ty_client_close(guest);
    must(ty_client_close_pool(client, &opened));
}

static void call_leave(void)
{
    TyClientPool opened;
    TyClientPool joined;
    TyClientNotice notice;
    TyClient *guest = client_connect("guest");
    duo(guest, &opened, &joined);
    must(ty_client_leave(guest, &joined));
    must(ty_client_ping(client));
    assert_true(ty_client_notice(client, &notice));
    assert_int_equal(notice.news, TY_NEWS_LEFT);
    ty_client_close(guest);
    must(ty_client_close_pool(client, &opened));
}

/* The number of a row in a column of u64. */
static uint64_t row_u64(const TyClientRows *rows, TyColumn column, uint32_t row)
{
    uint64_t value = 0;
    memcpy(&value, rows->column[column] + row * sizeof value, sizeof value);
    return value;
}

/* Only the slots that are named begin again, with the seeds that are given. */
static void call_reset(void)
{
    static const uint8_t which[SLOTS] = {0, 1, 0, 0};
    static const uint64_t seeds[SLOTS] = {0, 77, 0, 0};
    TyClientRows rows;
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    assert_int_equal(rows.count, SLOTS);
    assert_int_equal(rows.group, -1);
    uint64_t before = row_u64(&rows, TY_COLUMN_SEED, 0);
    must(ty_client_reset(client, &pool, which, seeds, &rows));
    assert_true(row_u64(&rows, TY_COLUMN_SEED, 0) == before);
    assert_true(row_u64(&rows, TY_COLUMN_SEED, 1) == 77);
    static const uint64_t episodes[SLOTS] = {0, 5, 0, 0};
    TyReset later = {.which = which, .seeds = seeds, .episodes = episodes};
    must(ty_client_reset_to(client, &pool, &later, 0, &rows));
    uint32_t number;
    memcpy(&number, rows.column[TY_COLUMN_EPISODE] + sizeof number, sizeof number);
    assert_int_equal(number, 5);
}

static void call_step(void)
{
    int32_t actions[SLOTS];
    TyClientRows rows;
    TyClientRefusal refusal;
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    assert_true(ty_client_sample(&pool, &rows, 1, actions));
    must(ty_client_step(client, &pool, 0, actions, &rows));
    assert_int_equal(rows.count, SLOTS);
    assert_int_equal(rows.refused, 0);
    assert_true(ty_client_sample(&pool, &rows, 1, actions));
    /* Some slots, one with an action that there is not. */
    static const uint32_t slots[] = {3, 1};
    const int32_t some[] = {actions[3], -5};
    must(ty_client_step_some(client, &pool, slots, some, 2, &(TyClientWait){.at_once = true},
                             &rows));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.slots[0], 3);
    assert_int_equal(rows.refused, 1);
    assert_true(ty_client_refusal(client, 0, &refusal));
    assert_int_equal(refusal.slot, 1);
    assert_int_equal(refusal.error, TY_ERROR_ILLEGAL_ACTION);
    must(ty_client_submit(client, &pool, 0, actions));
    must(ty_client_wait(client, &pool, &rows));
    assert_int_equal(rows.group, 0);
}

static void call_send(void)
{
    TyClientRows rows;
    int32_t actions[SLOTS];
    uint32_t accepted = 9;
    static const uint32_t slots[] = {0, 2};
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    assert_true(ty_client_sample(&pool, &rows, 1, actions));
    const int32_t some[] = {actions[0], -5};
    must(ty_client_send(client, &pool, slots, some, 2, &accepted));
    assert_int_equal(accepted, 1);
    TyClientRefusal refusal;
    assert_true(ty_client_refusal(client, 0, &refusal));
    assert_int_equal(refusal.row, 1);
    assert_int_equal(refusal.slot, 2);
}

static void call_recv(void)
{
    TyClientRows rows;
    TyClientPool opened;
    pool_open(&(TyClientOpen){.ruleset = "convoi:board=tiny", .slots = SLOTS}, &opened);
    must(ty_client_recv(client, &opened, &(TyClientWait){.max_rows = 3}, &rows));
    assert_int_equal(rows.count, 3);
    must(ty_client_recv(client, &opened, NULL, &rows));
    assert_int_equal(rows.count, 1);
    must(ty_client_recv(client, &opened, &(TyClientWait){.at_once = true}, &rows));
    assert_int_equal(rows.count, 0);
    must(ty_client_close_pool(client, &opened));
}

/* ---- Looking ---- */

static void call_observe(void)
{
    TyClientView view;
    TyClientRows rows;
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    uint8_t row[TY_ROW_MAX];
    memcpy(row, rows.column[TY_COLUMN_OBS], pool.row_size);
    must(ty_client_observe(client, &pool, 0, -1, true, &view));
    assert_memory_equal(view.row, row, pool.row_size);
    assert_int_equal(view.full_size, ty_shape(ruleset)->full_size);
    assert_true(view.phase[0] != '\0');
    must(ty_client_observe(client, &pool, 0, view.acting, false, &view));
    assert_null(view.full);
    assert_int_not_equal(ty_client_observe(client, &pool, SLOTS, -1, false, &view).code, TY_OK);
    assert_int_equal(ty_client_error(client), TY_ERROR_BAD_ARGUMENT);
}

static void call_legal(void)
{
    TyClientLegal legal;
    char words[TY_ACTION_TEXT_MAX];
    must(ty_client_legal(client, &pool, 0, -1, &legal));
    assert_true(legal.count > 0);
    for (uint32_t i = 0; i < legal.count; i++) {
        ty_action_name(ruleset, (uint32_t)legal.actions[i], words);
        assert_string_equal(legal.names[i], words);
        size_t length =
            ty_action_text(ruleset, NULL, (uint32_t)legal.actions[i], words, sizeof words);
        assert_memory_equal(legal.titles[i], words, length);
    }
}

static void call_state(void)
{
    TyClientText text;
    must(ty_client_state(client, &pool, 0, &text));
    assert_int_equal(text.text[0], '{');
}

static void call_text(void)
{
    TyClientText text;
    must(ty_client_text(client, &pool, 0, 0, &text));
    assert_true(strlen(text.text) > 20);
    assert_true(text.phase[0] != '\0');
}

/* ---- Positions ---- */

static uint64_t hash_of(uint32_t slot)
{
    TyClientRows rows;
    TyClientTargets nowhere = {.slots = &slot, .count = 1};
    must(ty_client_fork(client, &pool, slot, &nowhere, &rows));
    return row_u64(&rows, TY_COLUMN_HASH, 0);
}

static void play_on(void)
{
    int32_t actions[SLOTS];
    TyClientRows rows;
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(ty_client_sample(&pool, &rows, i, actions));
        must(ty_client_step(client, &pool, 0, actions, &rows));
    }
}

static void call_snapshot(void)
{
    static const uint32_t slots[] = {0, 1};
    uint32_t saved[2] = {0};
    play_on();
    must(ty_client_snapshot(client, &pool, slots, 2, saved));
    assert_true(saved[0] != 0 && saved[1] != 0 && saved[0] != saved[1]);
    must(ty_client_drop(client, &pool, NULL, 0, NULL));
}

static void call_restore(void)
{
    static const uint32_t slots[] = {2, 3};
    static const uint64_t keys[] = {5, 6};
    static const uint32_t from = 0;
    uint32_t saved = 0;
    TyClientRows rows;
    play_on();
    uint64_t hash = hash_of(from);
    must(ty_client_snapshot(client, &pool, &from, 1, &saved));
    TyClientTargets targets = {.slots = slots, .count = 2};
    must(ty_client_restore(client, &pool, &saved, 1, &targets, &rows));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.slots[1], 3);
    assert_true(row_u64(&rows, TY_COLUMN_HASH, 1) == hash);
    targets.keys = keys;
    targets.seat = -1;
    must(ty_client_restore(client, &pool, &saved, 1, &targets, &rows));
    assert_true(row_u64(&rows, TY_COLUMN_HASH, 1) != hash); /* another future */
    must(ty_client_drop(client, &pool, NULL, 0, NULL));
}

static void call_fork(void)
{
    static const uint32_t slots[] = {1, 2, 3};
    TyClientRows rows;
    play_on();
    uint64_t hash = hash_of(0);
    must(ty_client_fork(client, &pool, 0, &(TyClientTargets){.slots = slots, .count = 3}, &rows));
    assert_int_equal(rows.count, 3);
    assert_true(row_u64(&rows, TY_COLUMN_HASH, 2) == hash);
}

static void call_resample(void)
{
    static const uint32_t slot = 0;
    static const uint64_t key = 9;
    TyClientRows rows;
    play_on();
    uint64_t hash = hash_of(0);
    const TyClientTargets targets = {.slots = &slot, .count = 1, .keys = &key, .seat = 0};
    must(ty_client_resample(client, &pool, &targets, &rows));
    assert_true(row_u64(&rows, TY_COLUMN_HASH, 0) != hash);
}

static void call_export(void)
{
    static const uint32_t slot = 0;
    uint32_t saved = 0;
    TyClientBytes data;
    must(ty_client_snapshot(client, &pool, &slot, 1, &saved));
    must(ty_client_export(client, &pool, saved, &data));
    assert_true(data.size > 0);
    must(ty_client_drop(client, &pool, &saved, 1, NULL));
    assert_int_not_equal(ty_client_export(client, &pool, saved, &data).code, TY_OK);
}

static void call_import(void)
{
    static const uint32_t slots[] = {0, 3};
    static uint8_t kept[1 << 16];
    uint32_t saved = 0;
    TyClientBytes data;
    TyClientRows rows;
    play_on();
    uint64_t hash = hash_of(0);
    must(ty_client_snapshot(client, &pool, &slots[0], 1, &saved));
    must(ty_client_export(client, &pool, saved, &data));
    assert_true(data.size <= sizeof kept);
    size_t size = data.size;
    memcpy(kept, data.bytes, size);
    uint32_t again = 0;
    must(ty_client_import(client, &pool, kept, size, &again));
    assert_int_not_equal(again, saved);
    const TyClientTargets targets = {.slots = &slots[1], .count = 1};
    must(ty_client_restore(client, &pool, &again, 1, &targets, &rows));
    assert_true(row_u64(&rows, TY_COLUMN_HASH, 0) == hash);
    assert_int_equal(ty_client_import(client, &pool, kept, size - 1, &again).code, TY_BAD_ARGUMENT);
    must(ty_client_drop(client, &pool, NULL, 0, NULL));
}

static void call_drop(void)
{
    static const uint32_t slots[] = {0, 1, 2};
    uint32_t saved[3];
    uint32_t dropped = 9;
    must(ty_client_snapshot(client, &pool, slots, 3, saved));
    must(ty_client_drop(client, &pool, saved, 1, &dropped));
    assert_int_equal(dropped, 1);
    must(ty_client_drop(client, &pool, NULL, 0, &dropped));
    assert_int_equal(dropped, 2);
}

static void call_rollout_first(void);

static void call_rollout(void)
{
    static const uint64_t keys[] = {1, 2, 1};
    TyClientOutcomes outcomes;
    play_on();
    const TyClientRollout rollout = {
        .slot = 0, .agent = "random", .count = 3, .keys = keys, .seat = -1};
    must(ty_client_rollout(client, &pool, &rollout, &outcomes));
    assert_int_equal(outcomes.count, 3);
    assert_int_equal(outcomes.players, ty_shape(ruleset)->players);
    assert_int_equal(outcomes.metric_count, ty_shape(ruleset)->metric_count);
    /* The same future is the same outcome. */
    assert_memory_equal(outcomes.metrics, outcomes.metrics + 2 * (size_t)outcomes.metric_count,
                        outcomes.metric_count * sizeof outcomes.metrics[0]);
    assert_true(outcomes.earned[0] == outcomes.earned[2 * (size_t)outcomes.players]);
    call_rollout_first();
}

/* Copies that begin with an action: one that is legal, for the seat to act. */
static void call_rollout_first(void)
{
    TyClientLegal legal;
    TyClientOutcomes outcomes;
    must(ty_client_legal(client, &pool, 0, -1, &legal));
    TyClientRollout rollout = {
        .agent = "random", .first = (uint32_t)legal.actions[0] + 1, .seat = legal.acting};
    const int32_t other = 1 - legal.acting;
    must(ty_client_rollout(client, &pool, &rollout, &outcomes));
    rollout.seat = other;
    assert_int_not_equal(ty_client_rollout(client, &pool, &rollout, &outcomes).code, TY_OK);
    assert_int_equal(ty_client_error(client), TY_ERROR_BAD_ARGUMENT);
    rollout = (TyClientRollout){.agent = "random", .first = pool.action_count + 1, .seat = -1};
    assert_int_not_equal(ty_client_rollout(client, &pool, &rollout, &outcomes).code, TY_OK);
    assert_int_equal(ty_client_error(client), TY_ERROR_ILLEGAL_ACTION);
}

/* ---- Episodes that were played ---- */

/* The log of an episode of a pool of its own, copied. */
static size_t episode_fetch(uint8_t *kept, size_t capacity)
{
    const TyClientOpen open = {.ruleset = "convoi:board=tiny", .max_steps = EPISODE_STEPS};
    TyClientPool opened;
    TyClientRows rows;
    TyClientReplay replay;
    int32_t action = 0;
    pool_open(&open, &opened);
    must(ty_client_reset(client, &opened, NULL, NULL, &rows));
    assert_int_not_equal(ty_client_replay_get(client, &opened, 0, -1, &replay).code, TY_OK);
    must(ty_client_reset(client, &opened, NULL, NULL, &rows));
    for (uint32_t ended = 0; ended == 0; ended = rows.ended_count) {
        assert_true(ty_client_sample(&opened, &rows, 1, &action));
        must(ty_client_step(client, &opened, 0, &action, &rows));
    }
    must(ty_client_replay_get(client, &opened, 0, -1, &replay));
    assert_in_range(replay.size, 1, capacity);
    memcpy(kept, replay.bytes, replay.size);
    size_t size = replay.size;
    must(ty_client_replay_get(client, &opened, 0, (int64_t)replay.episode, &replay));
    assert_int_equal(replay.size, size);
    must(ty_client_close_pool(client, &opened));
    return size;
}

static uint8_t episode_log[1 << 16];

static void call_replay_get(void)
{
    assert_true(episode_fetch(episode_log, sizeof episode_log) > 0);
}

static void call_replay_verify(void)
{
    TyClientVerdict verdict;
    size_t size = episode_fetch(episode_log, sizeof episode_log);
    must(ty_client_replay_verify(client, episode_log, size, &verdict));
    assert_int_equal(verdict.episodes, 1);
    assert_true(verdict.agrees && verdict.gaps == 0 && verdict.episode == -1);
    assert_string_equal(verdict.why, "");
    assert_int_not_equal(ty_client_replay_verify(client, "no log", 6, &verdict).code, TY_OK);
}

/* ---- The daemon ---- */

static void call_stats(void)
{
    TyClientStats stats;
    must(ty_client_stats(client, &stats));
    assert_true(stats.sessions >= 1); /* those of clients that are gone may linger */
    assert_int_equal(stats.pool_count, 1);
    assert_int_equal(stats.pools[0].pool, pool.id);
    assert_string_equal(stats.pools[0].ruleset, pool.ruleset);
    assert_int_equal(stats.pools[0].slots, SLOTS);
    assert_int_equal(stats.pools[0].members, 1);
}

static void call_rules(void)
{
    static char text[1 << 18];
    TyClientRules rules;
    must(ty_client_rules(client, ty_shape(ruleset)->spec, NULL, 0, &rules));
    assert_string_equal(rules.ruleset, ty_shape(ruleset)->spec);
    ty_rules_text(ruleset, text, sizeof text);
    assert_string_equal(rules.rules, text);
    ty_board_json(ruleset, text, sizeof text);
    assert_string_equal(rules.board, text);
}

/* The pool of the others keeps no events; one that does tells them and begins its text with them.
 */
static void call_events(void)
{
    TyClientPool told;
    TyClientText text;
    TyStatus status = ty_client_events(client, &pool, 0, -1, &text);
    assert_non_null(strstr(status.message, "keeps no events"));
    pool_open(&(TyClientOpen){.ruleset = "convoi:board=tiny", .slots = 1, .events = true}, &told);
    must(ty_client_events(client, &told, 0, -1, &text));
    assert_non_null(strstr(text.text, "{\"missed\":0,\"events\":[{\"event\":\"draw\","));
    assert_non_null(strstr(text.text, "\"text\":\"seat 0 draws a "));
    must(ty_client_text(client, &told, 0, -1, &text));
    assert_non_null(strstr(text.text, "Since your last decision:\n  Seat 0 draws a "));
    must(ty_client_close_pool(client, &told));
}

/* The drawing is the library's own. */
static void call_svg(void)
{
    TyClientText text;
    must(ty_client_svg(client, &pool, 0, 0, false, &text));
    assert_memory_equal(text.text, "<svg xmlns=", 11);
    assert_non_null(strstr(text.text, "</svg>"));
    must(ty_client_svg(client, &pool, 0, -1, true, &text));
    assert_memory_equal(text.text, "<svg xmlns=", 11);
}

/* The drawing of a position, copied. */
static void position_copy(const TyClientPool *of, int32_t seat, uint64_t *position, char *out)
{
    TyClientText text;
    must(ty_client_svg_at(client, of, 0, seat, position, &text));
    snprintf(out, TY_SVG_MAX, "%s", text.text);
}

/* Numbers of positions count the others' decisions: they are the director's. */
static void positions_are_hidden(TyClient *player)
{
    TyClientPool opened;
    TyClientPool joined;
    TyClientText text;
    uint64_t position = 0;
    pool_open(&(TyClientOpen){.ruleset = "express:players=2", .seats = {"me", "open"}}, &opened);
    must(ty_client_join(player, &(TyClientJoin){.pool = opened.id, .invite = opened.invite},
                        &joined));
    assert_int_not_equal(ty_client_svg_at(player, &joined, 0, 1, &position, &text).code, TY_OK);
    assert_int_equal(ty_client_error(player), TY_ERROR_DENIED);
    assert_int_not_equal(ty_client_watch(player, opened.id, "any", 0, &text).code, TY_OK);
    must(ty_client_close_pool(client, &opened));
}

/* A spectator sees what the director chose, as late as it chose, and with the token only. */
static void call_watch(void)
{
    enum { DELAY = 3, STEPS = 12 };
    static char svg[TY_SVG_MAX];
    TyClientPool watched;
    TyClientText text;
    TyClientRows rows;
    TyClient *spectator = client_connect("spectator");
    pool_open(
        &(TyClientOpen){
            .ruleset = "express:players=2", .history = 8, .watch = "0", .watch_delay = DELAY},
        &watched);
    must(ty_client_reset(client, &watched, NULL, NULL, &rows));
    for (uint32_t i = 0; i < STEPS; i++) {
        int32_t action = 0;
        uint64_t newest = UINT64_MAX;
        position_copy(&watched, 0, &newest, svg);
        uint64_t late = newest > DELAY ? newest - DELAY : 0;
        uint64_t wanted = late;
        position_copy(&watched, 0, &late, svg);
        assert_int_equal(late, wanted);
        must(ty_client_watch(spectator, watched.id, watched.watch, 0, &text));
        assert_string_equal(text.text, svg);
        TyClientLegal legal;
        must(ty_client_legal(client, &watched, 0, -1, &legal));
        action = legal.actions[i % legal.count];
        must(ty_client_step(client, &watched, 0, &action, &rows));
    }
    assert_int_not_equal(ty_client_watch(spectator, watched.id, "wrong", 0, &text).code, TY_OK);
    assert_int_equal(ty_client_error(spectator), TY_ERROR_DENIED);
    assert_int_not_equal(ty_client_watch(spectator, pool.id, watched.watch, 0, &text).code, TY_OK);
    assert_int_not_equal(ty_client_svg(spectator, &watched, 0, 1, false, &text).code, TY_OK);
    assert_int_not_equal(ty_client_watch(spectator, watched.id, watched.watch, 1, &text).code,
                         TY_OK);
    must(ty_client_close_pool(client, &watched));
    const TyClientOpen wrong = {.ruleset = "express:players=2", .watch = "2"};
    TyStatus status = ty_client_open_pool(client, &wrong, &watched);
    assert_non_null(strstr(status.message, "watch=2: allowed are public and the seats 0..1"));
    positions_are_hidden(spectator);
    ty_client_close(spectator);
}

static void call_ping(void)
{
    must(ty_client_ping(client));
}

static void *cancel_soon(void *unused)
{
    (void)unused;
    usleep(100000);
    ty_client_cancel(client);
    return NULL;
}

/* Work that would take hours: cancelled by another thread, or given up in time. */
static void call_cancel(void)
{
    TyClientPool slow;
    TyClientOutcomes outcomes;
    TyClientRollout rollout = {.agent = "search", .count = 65536, .seat = -1};
    pthread_t thread;
    pool_open(&(TyClientOpen){.ruleset = "convoi", .timeout_ms = 60000}, &slow);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    assert_int_equal(ty_client_rollout(client, &slow, &rollout, &outcomes).code, TY_IO);
    assert_int_equal(ty_client_error(client), TY_ERROR_CANCELLED);
    pthread_join(thread, NULL);
    rollout.timeout_ms = 50;
    assert_int_equal(ty_client_rollout(client, &slow, &rollout, &outcomes).code, TY_IO);
    assert_int_equal(ty_client_error(client), TY_ERROR_TIMEOUT);
    TyClientRows rows;
    must(ty_client_reset_to(client, &slow, &(TyReset){.which = NULL}, 60000, &rows));
    must(ty_client_close_pool(client, &slow));
}

static void call_health(void)
{
    TyClientHealth health;
    must(ty_client_health(&(TyClientConfig){.endpoint = server.ipc}, &health));
    assert_true(health.healthy);
    assert_string_equal(health.trouble, "");
    assert_string_equal(health.version, TY_VERSION);
}

/* ---- Administrators ---- */

static TyClient *admin_connect(void)
{
    TyClient *admin = NULL;
    must(ty_client_connect(&(TyClientConfig){.endpoint = server.ipc, .admin = true}, &admin));
    return admin;
}

/* The number of the session of this name. */
static uint64_t session_number(TyClient *admin, const char *name)
{
    TyClientSessions list;
    must(ty_client_sessions(admin, &list));
    for (uint32_t i = 0; i < list.count; i++) {
        if (strcmp(list.sessions[i].name, name) == 0) {
            assert_true(list.sessions[i].connected && !list.sessions[i].administrator);
            return list.sessions[i].number;
        }
    }
    fail_msg("%s is not among %u sessions", name, list.count);
    return 0;
}

static void call_sessions(void)
{
    TyClientSessions list;
    TyClient *admin = admin_connect();
    session_number(admin, "test");
    ty_client_close(admin);
    assert_int_not_equal(ty_client_sessions(client, &list).code, TY_OK);
}

static void call_end_session(void)
{
    TyClient *admin = admin_connect();
    TyClient *victim = client_connect("victim");
    TyClientPool opened;
    must(ty_client_open_pool(victim, &(TyClientOpen){.ruleset = "convoi:board=tiny"}, &opened));
    must(ty_client_close_any_pool(admin, opened.id));
    assert_int_not_equal(ty_client_close_any_pool(admin, opened.id).code, TY_OK);
    must(ty_client_end_session(admin, session_number(admin, "victim")));
    assert_int_not_equal(ty_client_ping(victim).code, TY_OK);
    ty_client_close(victim);
    ty_client_close(admin);
}

/* ---- All of them ---- */

static const struct {
    const char *name;
    void (*call)(void);
} calls[OP_COUNT] = {
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) [OP_##NAME] = {#WORD, call_##WORD},
#include "proto/operations.def"
};

static void test_every_operation_has_a_function(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        memset(sent, 0, sizeof sent);
        calls[i].call();
        if (sent[i] == 0) {
            fail_msg("%s was not sent", calls[i].name);
        }
    }
}

/* ---- Notes ---- */

static void teller_start(const TyAgent *agent, void *memory, const TyRuleset *of, uint32_t seat,
                         uint64_t seed)
{
    (void)agent;
    (void)memory;
    (void)of;
    (void)seat;
    (void)seed;
}

static uint32_t teller_act(void *memory, const TyView *view)
{
    uint32_t action = 0;
    (void)memory;
    while (!view->mask[action]) {
        action++;
    }
    ty_note(view, (TyNote){.action = action, .probability = 0.5f, .value = NAN, .visits = 2});
    return action;
}

/* How many notes the last episode of slot 0 has in the log; each is the teller's. */
static uint32_t notes_logged(TyClient *director, const TyClientPool *told)
{
    TyClientReplay log;
    static LogReader reader;
    LogEpisode episode;
    must(ty_client_replay_get(director, told, 0, -1, &log));
    must(log_reader_init(&reader, log.bytes, log.size));
    assert_true(log_next_episode(&reader, &episode));
    for (uint32_t i = 0; i < episode.note_count; i++) {
        LogNote note = log_episode_note(&episode, i);
        assert_int_equal(note.note.action, log_episode_action(&episode, note.decision));
        assert_true(note.note.probability == 0.5f && isnan(note.note.value));
    }
    return episode.note_count;
}

static void test_an_agent_tells_what_it_thinks(void **unused)
{
    (void)unused;
    static const TyAgent teller = {.name = "teller", .start = teller_start, .act = teller_act};
    const TyClientOpen open = {
        .ruleset = "convoi:board=tiny", .max_steps = EPISODE_STEPS, .notes = true};
    TyClientPool told;
    TyClient *director = client_connect("teller");
    must(ty_client_open_pool(director, &open, &told));
    TyClientPlay play = {.agent = &teller, .episodes = 1, .notes = true};
    must(ty_client_play(director, &told, &play));
    assert_int_equal(notes_logged(director, &told), play.decisions);
    play = (TyClientPlay){.agent = &teller, .episodes = 1};
    must(ty_client_play(director, &told, &play));
    assert_int_equal(notes_logged(director, &told), 0);
    ty_client_close(director);
}

static void test_notes_go_with_the_next_actions_only(void **unused)
{
    (void)unused;
    const TyClientOpen open = {
        .ruleset = "convoi:board=tiny", .max_steps = 3, .autoreset = "same_step", .notes = true};
    TyClientPool told;
    TyClientRows rows;
    TyClient *director = client_connect("noter");
    int32_t action;
    must(ty_client_open_pool(director, &open, &told));
    must(ty_client_reset(director, &told, NULL, NULL, &rows));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(ty_client_sample(&told, &rows, 1, &action));
        const TyClientNote note = {0, {(uint32_t)action, 0.5f, NAN, NAN}};
        if (i < 2) {
            ty_client_note(director, &note, 1);
        }
        must(i == 0 ? ty_client_step(director, &told, 0, &action, &rows)
                    : ty_client_step_some(director, &told, (const uint32_t[]){0}, &action, 1, NULL,
                                          &rows));
    }
    assert_int_equal(notes_logged(director, &told), 2);
    ty_client_close(director);
}

static int suite_open(void **unused)
{
    (void)unused;
    snprintf(log_directory, sizeof log_directory, "/tmp/trainyard-log-XXXXXX");
    assert_non_null(mkdtemp(log_directory));
    daemon_start(&server, (const char *const[]){"--log", log_directory, NULL});
    must(ty_ruleset_open("convoi:board=tiny", NULL, &ruleset));
    client = client_connect("test");
    pool_open(&(TyClientOpen){.ruleset = "convoi:board=tiny", .slots = SLOTS, .hash = true}, &pool);
    return 0;
}

static int suite_close(void **unused)
{
    (void)unused;
    char command[128];
    ty_client_close(client);
    ty_ruleset_close(ruleset);
    daemon_stop(&server);
    snprintf(command, sizeof command, "rm -r %s", log_directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_has_a_function),
        cmocka_unit_test(test_notices_come_at_once),
        cmocka_unit_test(test_an_agent_tells_what_it_thinks),
        cmocka_unit_test(test_notes_go_with_the_next_actions_only),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
