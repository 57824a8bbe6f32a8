/* Episodes on a daemon, with seats that programs from outside join: sim and arena for agents of
 * one's own. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/remote_start.h"
#include "core/status.h"
#include "proto/wire_encode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REMOTE_SLOTS_MAX = 64,         /* episodes side by side */
    REMOTE_FIELDS_SIZE = 16 << 10, /* bytes of a request, without boards */
    REMOTE_WAIT_MS = 500,
};

#define REMOTE_IDLE UINT32_MAX /* a slot in which nothing is left to play */

/* A pool whose director this is. It has no seat: the daemon tells it how episodes end. */
typedef struct Director {
    const Run *run;
    Results *results;
    TyClient *client;
    uint64_t pool;
    uint32_t slots;
    uint32_t episode[REMOTE_SLOTS_MAX]; /* what each slot plays, or REMOTE_IDLE */
    uint32_t begun;
    uint32_t ended;
    Writer writer;
    uint8_t *fields;
    size_t capacity;
    const uint8_t *reply;
    size_t reply_size;
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

/* ---- Requests ---- */

static void ask_begin(Director *director)
{
    message_begin(&director->writer, director->fields, director->capacity);
}

static void ask_uint(Director *director, const char *key, uint64_t value)
{
    message_key(&director->writer, key);
    put_uint(&director->writer, value);
}

static void ask_text(Director *director, const char *key, const char *value)
{
    message_key(&director->writer, key);
    put_text(&director->writer, value);
}

static TyStatus ask(Director *director, const char *op)
{
    if (!message_end(&director->writer)) {
        return status_fail(TY_LIMIT, "the request '%s' is too large", op);
    }
    return ty_client_ask(director->client, op, director->fields, director->writer.size,
                         &director->reply, &director->reply_size);
}

static bool reply_item(const Director *director, const char *key, WireItem *item)
{
    return wire_get(director->reply, director->reply + director->reply_size, key, item);
}

/* ---- Opening ---- */

typedef struct OwnFile {
    char name[TY_NAME_MAX]; /* as the ruleset's string has it */
    const char *bytes;
    size_t size;
} OwnFile;

/* The boards and decks of the user's own. */
static uint32_t own_files(const TyRuleset *ruleset, OwnFile files[TY_FILES_MAX])
{
    uint32_t count = 0;
    uint32_t file = 0;
    uint32_t own = 0;
    const TyField *fields = ty_game_fields(ty_ruleset_game(ruleset), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        OwnFile *out = &files[own];
        out->bytes = ty_ruleset_file(ruleset, file++, &out->size);
        if (out->bytes != NULL) {
            ruleset_value(ruleset, &fields[i], out->name);
            out->name[strcspn(out->name, "@")] = '\0';
            own++;
        }
    }
    return own;
}

static bool director_allocate(Director *director, const OwnFile *files, uint32_t count)
{
    director->capacity = REMOTE_FIELDS_SIZE;
    for (uint32_t i = 0; i < count; i++) {
        director->capacity += files[i].size;
    }
    director->fields = malloc(director->capacity);
    return director->fields != NULL;
}

static void ask_files(Director *director, const OwnFile *files, uint32_t count)
{
    message_key(&director->writer, "files");
    put_map(&director->writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(&director->writer, files[i].name);
        put_bytes(&director->writer, files[i].bytes, files[i].size);
    }
}

static void ask_names(Director *director, const char *key, const char *const *names, uint32_t count)
{
    message_key(&director->writer, key);
    put_list(&director->writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(&director->writer, names[i]);
    }
}

/* Opens the pool. Its slots begin with the first episodes at once, and rest where a seat is open.
 */
static TyStatus director_open(Director *director, char invite[TY_CLIENT_TOKEN_SIZE])
{
    static const char *const columns[] = {"earned", "step", "metrics"};
    const Run *run = director->run;
    const TyShape *shape = ty_shape(run->ruleset);
    const char *seats[TY_SEATS_MAX] = {NULL};
    OwnFile files[TY_FILES_MAX];
    WireItem item;
    uint32_t file_count = own_files(run->ruleset, files);
    if (!director_allocate(director, files, file_count)) {
        return status_fail(TY_NO_MEMORY, "no memory for the request");
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        seats[seat] = run->seating.agents[seat]->name;
    }
    ask_begin(director);
    ask_text(director, "ruleset", shape->spec);
    ask_files(director, files, file_count);
    ask_uint(director, "slots", director->slots);
    ask_uint(director, "threads", run->threads);
    ask_uint(director, "seed", run->seed);
    ask_text(director, "autoreset", "disabled");
    ask_names(director, "seats", seats, shape->players);
    ask_names(director, "columns", columns, sizeof columns / sizeof columns[0]);
    TyStatus status = ask(director, "open");
    if (status.code != TY_OK) {
        return status;
    }
    if (!reply_item(director, "schema_hash", &item) || item.number != shape->schema_hash) {
        return status_fail(TY_BAD_CONFIG, "the daemon has another version of %s",
                           ty_game_name(ty_ruleset_game(run->ruleset)));
    }
    director->pool = reply_item(director, "pool", &item) ? item.number : 0;
    reply_item(director, "invite", &item);
    snprintf(invite, TY_CLIENT_TOKEN_SIZE, "%.*s", (int)item.size, (const char *)item.bytes);
    return status_ok();
}

/* ---- Playing ---- */

/* One number of a column, which may lie unaligned in the reply. */
static uint32_t column_u32(const WireItem *column, size_t index)
{
    uint32_t value = 0;
    memcpy(&value, column->bytes + index * sizeof value, sizeof value);
    return value;
}

static float column_f32(const WireItem *column, size_t index)
{
    float value = 0;
    memcpy(&value, column->bytes + index * sizeof value, sizeof value);
    return value;
}

/* The columns of a reply to recv, all of endings. */
typedef struct Endings {
    uint32_t count;
    WireItem slots;
    WireItem earned;
    WireItem step;
    WireItem metrics;
} Endings;

static TyStatus endings_read(const Director *director, Endings *endings)
{
    const TyShape *shape = ty_shape(director->run->ruleset);
    WireItem count;
    bool whole = reply_item(director, "count", &count) &&
                 reply_item(director, "slots", &endings->slots) &&
                 reply_item(director, "earned", &endings->earned) &&
                 reply_item(director, "step", &endings->step) &&
                 reply_item(director, "metrics", &endings->metrics);
    size_t rows = whole ? count.number : 0;
    endings->count = (uint32_t)rows;
    whole = whole && endings->slots.size == rows * 4 && endings->step.size == rows * 4 &&
            endings->earned.size == rows * 4 * shape->players &&
            endings->metrics.size == rows * 4 * shape->metric_count;
    return whole ? status_ok() : status_fail(TY_IO, "the daemon's reply does not fit the game");
}

/* Writes ending `row` where its episode's results are. */
static void ending_note(Director *director, const Endings *endings, uint32_t row, uint32_t episode)
{
    Results *results = director->results;
    const TyShape *shape = ty_shape(director->run->ruleset);
    int32_t *out = results->values + (size_t)episode * results->columns;
    for (uint32_t i = 0; i < shape->players; i++) {
        out[i] = (int32_t)(column_f32(&endings->earned, (size_t)row * shape->players + i) *
                           TY_REWARD_ONE);
    }
    out[shape->players] = (int32_t)column_u32(&endings->step, row);
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        out[shape->players + 1 + i] =
            (int32_t)column_u32(&endings->metrics, (size_t)row * shape->metric_count + i);
    }
    director->ended++;
}

/* Begins the next episodes in the slots marked in `which`. */
static TyStatus director_begin(Director *director, const uint8_t *which)
{
    uint64_t seeds[REMOTE_SLOTS_MAX] = {0};
    for (uint32_t slot = 0; slot < director->slots; slot++) {
        if (which[slot]) {
            director->episode[slot] = director->begun++;
            seeds[slot] = director->run->seed + director->episode[slot];
        }
    }
    ask_begin(director);
    ask_uint(director, "pool", director->pool);
    message_key(&director->writer, "mask");
    put_bytes(&director->writer, which, director->slots);
    message_key(&director->writer, "seeds");
    put_bytes(&director->writer, seeds, director->slots * sizeof seeds[0]);
    return ask(director, "reset");
}

/* Somebody left: its episodes were cut off and are worth nothing. */
static TyStatus notices_check(const Director *director)
{
    WireItem list;
    WireItem item;
    const uint8_t *end = director->reply + director->reply_size;
    if (!reply_item(director, "notices", &list)) {
        return status_ok();
    }
    const uint8_t *at = list.bytes;
    for (uint32_t i = 0; i < list.count; i++, wire_skip(&at, end)) {
        if (wire_get(at, end, "what", &item) &&
            (item.size != 6 || memcmp(item.bytes, "joined", 6) != 0)) {
            WireItem seat = {.number = 0};
            wire_get(at, end, "seat", &seat);
            return status_fail(TY_IO, "whoever played seat %u is gone", (unsigned)seat.number);
        }
    }
    return status_ok();
}

/* Hears which episodes have ended, and begins others in their place. */
static TyStatus director_turn(Director *director)
{
    uint8_t which[REMOTE_SLOTS_MAX] = {0};
    uint32_t wanted = director->begun;
    Endings endings;
    ask_begin(director);
    ask_uint(director, "pool", director->pool);
    ask_uint(director, "timeout_ms", REMOTE_WAIT_MS);
    TyStatus status = ask(director, "recv");
    if (status.code == TY_OK) {
        status = notices_check(director);
    }
    if (status.code == TY_OK) {
        status = endings_read(director, &endings);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < endings.count; i++) {
        uint32_t slot = column_u32(&endings.slots, i);
        if (slot < director->slots && director->episode[slot] != REMOTE_IDLE) {
            ending_note(director, &endings, i, director->episode[slot]);
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
    TyStatus status = status_ok();
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

/* Closes the pool, so that whoever plays in it is told at once that all is over. */
static TyStatus director_close(Director *director)
{
    ask_begin(director);
    ask_uint(director, "pool", director->pool);
    return ask(director, "close");
}

TyStatus remote_episodes(const Run *run, Results *results)
{
    Director director = {.run = run, .results = results};
    Settings settings = *run->settings;
    char invite[TY_CLIENT_TOKEN_SIZE] = "";
    Starter starter = {.pid = 0};
    if (run->recorder != NULL) {
        return status_fail(TY_BAD_ARGUMENT, "--log: with open seats the daemon keeps the log");
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
        status = director_open(&director, invite);
    }
    if (status.code == TY_OK) {
        status = starter_open(&settings, &run->seating, director.pool, invite, &starter);
    }
    if (status.code == TY_OK) {
        status = director_play(&director, &starter);
    }
    if (status.code == TY_OK) {
        status = director_close(&director);
    }
    ty_client_close(director.client);
    starter_close(&starter);
    free(director.fields);
    return status;
}
