/* Tables: pools of one slot at which people, programs and built-in agents sit. */
#define _GNU_SOURCE
#include "cli/remote.h"
#include "core/status.h"
#include "serve/serve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const uint32_t only_slot = 0;

/* ---- Opening and closing -----------------------------------------------------------------------
 */

static SeatKind seat_kind(const char *word)
{
    return strcmp(word, "me") == 0        ? SEAT_OWNER
           : strcmp(word, "guest") == 0   ? SEAT_GUEST
           : strcmp(word, "program") == 0 ? SEAT_PROGRAM
                                          : SEAT_AGENT;
}

/* What the daemon calls who plays the seat: people are the director's. */
static const char *seat_word(const Table *table, uint32_t seat)
{
    switch (table->kind[seat]) {
    case SEAT_OWNER:
    case SEAT_GUEST:
        return "me";
    case SEAT_PROGRAM:
        return "open";
    case SEAT_AGENT:
        break;
    }
    return table->who[seat];
}

/* The strongest agent that is quick: expert, or the first of the game. */
static void helper_choose(const TyClient *client, const char *ruleset, char helper[TY_NAME_MAX])
{
    const TyClientDaemon *daemon = ty_client_daemon(client);
    size_t length = strcspn(ruleset, ":");
    snprintf(helper, TY_NAME_MAX, "random");
    for (uint32_t i = 0; i < daemon->game_count; i++) {
        const TyClientGame *game = &daemon->games[i];
        bool mine = strlen(game->name) == length && strncmp(game->name, ruleset, length) == 0;
        for (uint32_t k = 0; mine && k < game->agent_count; k++) {
            if (strcmp(game->agents[k], "expert") == 0) {
                snprintf(helper, TY_NAME_MAX, "expert");
            }
        }
    }
}

/* The names of what is counted at the end. */
static TyStatus metrics_read(Table *table)
{
    TyClientSchema schema;
    TyStatus status = ty_client_describe(table->client, table->pool.ruleset, NULL, 0, &schema);
    for (uint32_t i = 0; status.code == TY_OK && i < schema.metric_count; i++) {
        snprintf(table->metrics[i], TY_NAME_MAX, "%s", schema.metrics[i]);
        table->metric_count = i + 1;
    }
    return status;
}

static TyStatus table_begin(Table *table, const TableOrder *order)
{
    TyClientOpen open = {.ruleset = order->ruleset,
                         .autoreset = "disabled",
                         .events = true,
                         .history = SERVE_HISTORY,
                         .watch = "public"};
    TyStatus status = secret_make(&table->spectator);
    for (uint32_t seat = 0; seat < order->seat_count && status.code == TY_OK; seat++) {
        table->kind[seat] = seat_kind(order->seats[seat]);
        snprintf(table->who[seat], TY_NAME_MAX, "%s", order->seats[seat]);
        open.seats[seat] = seat_word(table, seat);
        status = secret_make(&table->guest[seat]);
    }
    helper_choose(table->client, order->ruleset, table->helper);
    open.on_vanish = table->helper;
    if (status.code == TY_OK) {
        status = ty_client_open_pool(table->client, &open, &table->pool);
    }
    return status.code == TY_OK ? metrics_read(table) : status;
}

/* A place that is free, locked; NULL if there is none. */
static Table *table_place(Yard *yard)
{
    Table *table = NULL;
    pthread_mutex_lock(&yard->mutex);
    for (uint32_t i = 0; i < SERVE_TABLES_MAX && table == NULL; i++) {
        if (yard->tables[i].id == 0 && pthread_mutex_trylock(&yard->tables[i].mutex) == 0) {
            table = &yard->tables[i];
        }
    }
    pthread_mutex_unlock(&yard->mutex);
    return table;
}

/* Forgets everything but the mutex, for which others may wait. */
static void table_clear(Table *table)
{
    ty_client_close(table->client);
    memset((char *)table + offsetof(Table, id), 0, sizeof *table - offsetof(Table, id));
}

TyStatus table_open(Yard *yard, const TableOrder *order, uint32_t *id)
{
    Table *table = table_place(yard);
    if (table == NULL) {
        return ty_status_fail(TY_LIMIT, "there are %d tables already: close one", SERVE_TABLES_MAX);
    }
    TyStatus status = remote_client(&yard->settings, &table->client);
    if (status.code == TY_OK) {
        status = table_begin(table, order);
    }
    if (status.code == TY_OK) {
        pthread_mutex_lock(&yard->mutex);
        yard->table_serial++;
        table->id = yard->table_serial * SERVE_TABLES_MAX + (uint32_t)(table - yard->tables);
        *id = table->id;
        pthread_mutex_unlock(&yard->mutex);
    } else {
        table_clear(table);
    }
    pthread_mutex_unlock(&table->mutex);
    return status;
}

Table *table_take(Yard *yard, uint32_t id)
{
    Table *table = &yard->tables[id % SERVE_TABLES_MAX];
    pthread_mutex_lock(&table->mutex);
    if (id != 0 && table->id == id) {
        return table;
    }
    pthread_mutex_unlock(&table->mutex);
    return NULL;
}

void table_give(Table *table)
{
    pthread_mutex_unlock(&table->mutex);
}

TyStatus table_close(Yard *yard, uint32_t id)
{
    Table *table = table_take(yard, id);
    if (table == NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "table=%" PRIu32 ": there is none", id);
    }
    pthread_mutex_lock(&yard->mutex);
    table->id = 0;
    pthread_mutex_unlock(&yard->mutex);
    table_clear(table);
    table_give(table);
    return ty_status_ok();
}

/* ---- Who may do what ---------------------------------------------------------------------------
 */

bool table_plays(const Table *table, const Role *role, int32_t seat)
{
    if (seat < 0 || (uint32_t)seat >= table->pool.players) {
        return false;
    }
    return role->owner ? table->kind[seat] == SEAT_OWNER
                       : role->seat == seat && table->kind[seat] == SEAT_GUEST;
}

bool table_is_private(const Table *table)
{
    for (uint32_t seat = 0; seat < table->pool.players; seat++) {
        if (table->kind[seat] == SEAT_GUEST || table->kind[seat] == SEAT_PROGRAM) {
            return false;
        }
    }
    return true;
}

/* ---- Playing -----------------------------------------------------------------------------------
 */

/* Keeps the result of the episode that ended with one of the rows. */
static void result_read(Table *table, const TyClientRows *rows)
{
    const uint8_t *metrics = rows->column[TY_COLUMN_METRICS];
    if (rows->ended_count > 0 && metrics != NULL) {
        memcpy(table->result, metrics, table->metric_count * sizeof table->result[0]);
    }
}

TyStatus table_refresh(Table *table)
{
    TyClientRows rows;
    TyStatus status =
        ty_client_recv(table->client, &table->pool, &(TyClientWait){.at_once = true}, &rows);
    if (status.code == TY_OK) {
        result_read(table, &rows);
    }
    return status;
}

/* Remembers the position before a decision; the oldest is forgotten if there are too many. */
static TyStatus undo_push(Table *table)
{
    uint32_t snapshot = 0;
    TyStatus status = ty_client_snapshot(table->client, &table->pool, &only_slot, 1, &snapshot);
    if (status.code == TY_OK && table->undo_count == SERVE_UNDO_MAX) {
        status = ty_client_drop(table->client, &table->pool, table->undo, 1, NULL);
        memmove(table->undo, table->undo + 1, (SERVE_UNDO_MAX - 1) * sizeof table->undo[0]);
        table->undo_count--;
    }
    if (status.code == TY_OK) {
        table->undo[table->undo_count++] = snapshot;
    }
    return status;
}

/* Sends the action; one that was not taken is an error with the daemon's own sentence. */
static TyStatus action_send(Table *table, uint32_t action)
{
    TyClientRefusal refusal;
    uint32_t accepted = 0;
    int32_t number = (int32_t)action;
    TyStatus status =
        ty_client_send(table->client, &table->pool, &only_slot, &number, 1, &accepted);
    if (status.code == TY_OK && accepted == 0) {
        bool told = ty_client_refusal(table->client, 0, &refusal);
        status = ty_status_fail(TY_BAD_ARGUMENT, "action=%" PRIu32 ": %s", action,
                                told ? refusal.message : "it was not taken");
    }
    return status;
}

TyStatus table_act(Table *table, const Role *role, uint32_t action, uint64_t turn)
{
    TyClientLegal legal;
    if (turn != table->turn) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "turn=%" PRIu64 ": the table is at turn %" PRIu64 " by now", turn,
                              table->turn);
    }
    TyStatus status = table_refresh(table);
    if (status.code == TY_OK) {
        status = ty_client_legal(table->client, &table->pool, 0, -1, &legal);
    }
    if (status.code == TY_OK && !table_plays(table, role, legal.acting)) {
        return ty_status_fail(TY_BAD_ARGUMENT, "it is not your turn");
    }
    bool own = table_is_private(table);
    if (status.code == TY_OK && own) {
        status = undo_push(table);
    }
    if (status.code == TY_OK) {
        status = action_send(table, action);
        table->turn += status.code == TY_OK;
        if (status.code != TY_OK && own) {
            table->undo_count--;
        }
    }
    return status;
}

TyStatus table_take_back(Table *table)
{
    TyClientRows rows;
    if (!table_is_private(table)) {
        return ty_status_fail(TY_BAD_ARGUMENT, "others play here: nothing is taken back");
    }
    if (table->undo_count == 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "there is nothing to take back");
    }
    uint32_t snapshot = table->undo[--table->undo_count];
    table->turn++;
    TyStatus status =
        ty_client_restore(table->client, &table->pool, &snapshot, 1,
                          &(TyClientTargets){.slots = &only_slot, .count = 1, .seat = -1}, &rows);
    return status.code == TY_OK ? ty_client_drop(table->client, &table->pool, &snapshot, 1, NULL)
                                : status;
}

TyStatus table_again(Table *table)
{
    TyClientRows rows;
    TyStatus status = ty_client_reset(table->client, &table->pool, NULL, NULL, &rows);
    table->turn++;
    table->undo_count = 0;
    return status.code == TY_OK ? ty_client_drop(table->client, &table->pool, NULL, 0, NULL)
                                : status;
}

/* ---- What search thinks ------------------------------------------------------------------------
 */

enum { THINK_BATCH = 4 /* futures of a choice that are played at a time */ };

/* What is known of a choice so far. */
typedef struct Thought {
    int32_t action;
    double sum;
    double squares;
} Thought;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Plays some futures of one choice; all choices have the same ones, so that luck is the same. */
static TyStatus thought_add(Table *table, int32_t seat, uint32_t round, Thought *thought)
{
    uint64_t keys[THINK_BATCH];
    TyClientOutcomes outcomes;
    for (uint32_t i = 0; i < THINK_BATCH; i++) {
        keys[i] = (table->turn << 20) + round * THINK_BATCH + i;
    }
    TyStatus status = ty_client_rollout(table->client, &table->pool,
                                        &(TyClientRollout){.agent = table->helper,
                                                           .first = (uint32_t)thought->action + 1,
                                                           .count = THINK_BATCH,
                                                           .keys = keys,
                                                           .seat = seat,
                                                           .timeout_ms = SERVE_THINK_MS},
                                        &outcomes);
    for (uint32_t i = 0; status.code == TY_OK && i < outcomes.count; i++) {
        double earned = outcomes.earned[i * outcomes.players + (uint32_t)seat];
        thought->sum += earned;
        thought->squares += earned * earned;
    }
    return status;
}

static void thought_put(TyJson *json, const Thought *thought, uint32_t count)
{
    char numbers[96];
    double mean = thought->sum / count;
    double spread = fmax(thought->squares / count - mean * mean, 0);
    snprintf(numbers, sizeof numbers, "[%" PRId32 ",%.4f,%.4f,%" PRIu32 "]", thought->action, mean,
             1.96 * sqrt(spread / count), count);
    ty_json_put_raw(json, NULL, numbers);
}

TyStatus table_think(Table *table, const Role *role, TyJson *json)
{
    static _Thread_local Thought thoughts[TY_ACTIONS_MAX];
    TyClientLegal legal;
    uint64_t end = now_ms() + SERVE_THINK_MS;
    TyStatus status = ty_client_legal(table->client, &table->pool, 0, -1, &legal);
    if (status.code == TY_OK && !table_plays(table, role, legal.acting)) {
        status = ty_status_fail(TY_BAD_ARGUMENT, "it is not your turn");
    }
    if (status.code != TY_OK) {
        return status;
    }
    uint32_t choices = legal.count;
    int32_t seat = legal.acting;
    for (uint32_t i = 0; i < choices; i++) {
        thoughts[i] = (Thought){.action = legal.actions[i]};
    }
    uint32_t round = 0;
    while (status.code == TY_OK && round * THINK_BATCH < SERVE_THINK_COPIES &&
           (round == 0 || now_ms() < end)) {
        for (uint32_t i = 0; i < choices && status.code == TY_OK; i++) {
            status = thought_add(table, seat, round, &thoughts[i]);
        }
        round++;
    }
    ty_json_open(json, "thoughts", '[');
    for (uint32_t i = 0; i < choices && status.code == TY_OK; i++) {
        thought_put(json, &thoughts[i], round * THINK_BATCH);
    }
    ty_json_close(json, ']');
    return status;
}

/* ---- Told --------------------------------------------------------------------------------------
 */

/* What lets others sit down is for the owner to pass on. */
static void seat_secrets(const Yard *yard, const Table *table, uint32_t seat, TyJson *json)
{
    char command[768];
    if (table->kind[seat] == SEAT_GUEST) {
        ty_json_put_string(json, "token", table->guest[seat].text);
    } else if (table->kind[seat] == SEAT_PROGRAM) {
        snprintf(command, sizeof command,
                 "trainyard agent NAME%s --pool %" PRIu32 " --invite %s --seats %" PRIu32,
                 yard->agent_command, table->pool.id, table->pool.invite, seat);
        ty_json_put_string(json, "command", command);
    }
}

void table_json(const Yard *yard, const Table *table, const Role *role, TyJson *json)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_int(json, "table", table->id);
    ty_json_put_string(json, "ruleset", table->pool.ruleset);
    ty_json_put_bool(json, "private", table_is_private(table));
    if (role->owner) {
        ty_json_put_string(json, "spectator", table->spectator.text);
    }
    ty_json_open(json, "seats", '[');
    for (uint32_t seat = 0; seat < table->pool.players; seat++) {
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "who", table->who[seat]);
        ty_json_put_bool(json, "mine", table_plays(table, role, (int32_t)seat));
        if (role->owner) {
            seat_secrets(yard, table, seat, json);
        }
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
}
