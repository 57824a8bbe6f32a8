/* Episodes on a daemon, with seats that programs from outside join: sim and arena for agents of
 * one's own. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/remote_start.h"
#include "core/status.h"
#include "describe.h"

#include <stdio.h>
#include <string.h>

enum {
    REMOTE_SLOTS_MAX = 64, /* episodes side by side */
    REMOTE_WAIT_MS = 500,
};

#define REMOTE_IDLE UINT32_MAX /* a slot in which nothing is left to play */

/* A pool whose director this is. It has no seat: the daemon tells it how episodes end. */
typedef struct Director {
    const Run *run;
    Results *results;
    TyClient *client;
    TyClientPool pool;
    uint32_t slots;
    uint32_t episode[REMOTE_SLOTS_MAX]; /* what each slot plays, or REMOTE_IDLE */
    uint32_t begun;
    uint32_t ended;
} Director;

bool seating_is_open(const Seating *seating)
{
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        if (seating->agents[seat] == &open_seat) {
            return true;
        }
    }
    return false;
}

/* The boards and decks of the user's own; `names` is where their names are kept. */
static uint32_t own_files(const TyRuleset *ruleset, char names[TY_FILES_MAX][TY_NAME_MAX],
                          TyFileBytes files[TY_FILES_MAX])
{
    uint32_t count = 0;
    uint32_t file = 0;
    uint32_t own = 0;
    const TyField *fields = ty_game_fields(ty_ruleset_game(ruleset), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        files[own].bytes = ty_ruleset_file(ruleset, file++, &files[own].size);
        if (files[own].bytes != NULL) {
            describe_file(ruleset, &fields[i], names[own]);
            names[own][strcspn(names[own], "@")] = '\0';
            files[own].value = names[own];
            own++;
        }
    }
    return own;
}

/* Opens the pool. Its slots begin with the first episodes at once, and rest where a seat is open.
 */
static TyStatus director_open(Director *director)
{
    const Run *run = director->run;
    const TyShape *shape = ty_shape(run->ruleset);
    char names[TY_FILES_MAX][TY_NAME_MAX];
    TyFileBytes files[TY_FILES_MAX];
    TyClientOpen open = {.ruleset = shape->spec,
                         .files = files,
                         .file_count = own_files(run->ruleset, names, files),
                         .slots = director->slots,
                         .threads = run->threads,
                         .seed = run->seed,
                         .plain_seeds = true, /* episodes are those of runs without a daemon */
                         .autoreset = "disabled",
                         .columns = 1u << TY_COLUMN_EARNED | 1u << TY_COLUMN_STEP |
                                    1u << TY_COLUMN_METRICS};
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        open.seats[seat] = run->seating.agents[seat]->name;
    }
    TyStatus status = ty_client_open_pool(director->client, &open, &director->pool);
    const uint32_t *width = director->pool.width;
    if (status.code == TY_OK && (director->pool.schema_hash != shape->schema_hash ||
                                 width[TY_COLUMN_EARNED] != shape->players ||
                                 width[TY_COLUMN_METRICS] != shape->metric_count)) {
        status = ty_status_fail(TY_BAD_CONFIG, "the daemon has another version of %s",
                                ty_game_name(ty_ruleset_game(run->ruleset)));
    }
    return status;
}

/* One number of a column, which may lie unaligned in the reply. */
static int32_t column_i32(const TyClientRows *rows, TyColumn column, size_t index)
{
    int32_t value = 0;
    memcpy(&value, rows->column[column] + index * sizeof value, sizeof value);
    return value;
}

static float column_f32(const TyClientRows *rows, TyColumn column, size_t index)
{
    float value = 0;
    memcpy(&value, rows->column[column] + index * sizeof value, sizeof value);
    return value;
}

/* Writes ending `index` of the rows where its episode's results are. */
static void ending_note(Director *director, const TyClientRows *rows, uint32_t index,
                        uint32_t episode)
{
    Results *results = director->results;
    const TyShape *shape = ty_shape(director->run->ruleset);
    int32_t *out = results->values + (size_t)episode * results->columns;
    uint32_t row = rows->ended[index];
    for (uint32_t i = 0; i < shape->players; i++) {
        out[i] = (int32_t)(column_f32(rows, TY_COLUMN_EARNED, (size_t)row * shape->players + i) *
                           TY_REWARD_ONE);
    }
    out[shape->players] = column_i32(rows, TY_COLUMN_STEP, row);
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        out[shape->players + 1 + i] =
            column_i32(rows, TY_COLUMN_METRICS, (size_t)index * shape->metric_count + i);
    }
    director->ended++;
}

/* Begins the next episodes in the slots marked in `which`. */
static TyStatus director_begin(Director *director, const uint8_t *which)
{
    uint64_t seeds[REMOTE_SLOTS_MAX] = {0};
    TyClientRows rows;
    for (uint32_t slot = 0; slot < director->slots; slot++) {
        if (which[slot]) {
            director->episode[slot] = director->begun++;
            seeds[slot] = director->run->seed + director->episode[slot];
        }
    }
    return ty_client_reset(director->client, &director->pool, which, seeds, &rows);
}

/* A player left: its episodes were cut off and are worth nothing. */
static TyStatus notices_check(const Director *director)
{
    TyClientNotice notice;
    while (ty_client_notice(director->client, &notice)) {
        if (notice.news != TY_NEWS_JOINED) {
            return ty_status_fail(TY_IO, "the player of seat %d is gone", (int)notice.seat);
        }
    }
    return ty_status_ok();
}

/* Hears which episodes have ended, and begins others in their place. */
static TyStatus director_turn(Director *director)
{
    const TyClientWait wait = {.timeout_ms = REMOTE_WAIT_MS};
    uint8_t which[REMOTE_SLOTS_MAX] = {0};
    uint32_t wanted = director->begun;
    TyClientRows rows;
    TyStatus status = ty_client_recv(director->client, &director->pool, &wait, &rows);
    if (status.code == TY_OK) {
        status = notices_check(director);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < rows.ended_count; i++) {
        uint32_t slot = rows.slots != NULL ? rows.slots[rows.ended[i]] : rows.ended[i];
        if (director->episode[slot] != REMOTE_IDLE) {
            ending_note(director, &rows, i, director->episode[slot]);
            director->episode[slot] = REMOTE_IDLE;
            which[slot] = wanted < director->run->episodes;
            wanted += which[slot];
        }
    }
    return status.code == TY_OK && wanted > director->begun ? director_begin(director, which)
                                                            : status;
}

static TyStatus director_play(Director *director, Starter *starter)
{
    TyStatus status = ty_status_ok();
    const Run *run = director->run;
    Progress progress = progress_open(run->label, run->episodes);
    while (status.code == TY_OK && director->ended < run->episodes) {
        progress_show(&progress, director->ended);
        status = director_turn(director);
        if (status.code == TY_OK && director->ended < run->episodes) {
            status = starter_check(starter);
        }
    }
    progress_close(&progress);
    return status;
}

TyStatus remote_episodes(const Run *run, Results *results)
{
    Director director = {.run = run, .results = results};
    Settings settings = *run->settings;
    Starter starter = {.pid = 0};
    if (run->recorder != NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "--log: with open seats the daemon keeps the log");
    }
    if (run->seating.endpoint[0] != '\0') {
        settings.connect = run->seating.endpoint;
    }
    TyStatus status = remote_client(&settings, &director.client);
    director.slots = run->episodes < REMOTE_SLOTS_MAX ? run->episodes : REMOTE_SLOTS_MAX;
    for (uint32_t i = 0; i < director.slots; i++) {
        director.episode[i] = director.begun++;
    }
    if (status.code == TY_OK) {
        status = director_open(&director);
    }
    if (status.code == TY_OK && settings.start == NULL && run->seed <= UINT32_MAX) {
        fprintf(stderr, "whoever plays can find the seeds by trying; a large --seed is a secret\n");
    }
    if (status.code == TY_OK) {
        status = starter_open(&settings, &run->seating, director.pool.id, director.pool.invite,
                              &starter);
    }
    if (status.code == TY_OK) {
        status = director_play(&director, &starter);
    }
    if (status.code == TY_OK) {
        /* Those who play in it are told at once that all is over. */
        status = ty_client_close_pool(director.client, &director.pool);
    }
    ty_client_close(director.client);
    starter_close(&starter);
    return status;
}
