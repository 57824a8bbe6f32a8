/* Streams: drawings on their way to a page, as server-sent events. The first of a board is whole,
 * the others say what changed. */
#define _GNU_SOURCE
#include "core/status.h"
#include "serve/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STREAM_WAIT_MS = 60,     /* between two looks at a table, */
    STREAM_PACE_MS = 220,    /* between two positions that agents have passed already, */
    STREAM_WALL_MS = 200,    /* and between two looks at slots of a pool */
    STREAM_ALIVE_MS = 10000, /* silence after which a page is told that all is well */
};

/* What a page sees of one board. */
typedef struct Board {
    uint32_t slot;
    char *svg; /* the last drawing that was sent; NULL: none */
} Board;

struct Stream {
    Yard *yard;
    Role role;
    uint32_t table;
    uint32_t pool;
    bool shown;
    char token[TY_CLIENT_TOKEN_SIZE]; /* of the pool */
    char eyes[8];
    Board boards[SERVE_BOARDS_MAX];
    uint32_t board_count;
    int32_t viewer;    /* through whose eyes the table was drawn last; -1: everything */
    uint64_t position; /* of the table, that was drawn last */
    uint64_t told;     /* turn + 1 of the last question that was passed on */
    uint64_t number;   /* of the drawing from standard input */
    bool ended;
    char *out; /* SERVE_ANSWER_MAX bytes: what is on its way */
    size_t out_size;
    size_t out_at;
    uint64_t silent_ms;
};

/* ---- Opening and closing -----------------------------------------------------------------------
 */

/* Reads "0,3,4" as boards. */
static TyStatus slots_read(Stream *stream, const char *text)
{
    char *end = NULL;
    do {
        unsigned long slot = strtoul(text, &end, 10);
        if (end == text || slot >= TY_SLOTS_MAX || (*end != ',' && *end != '\0') ||
            stream->board_count == SERVE_BOARDS_MAX) {
            return ty_status_fail(TY_BAD_ARGUMENT, "slots: up to %d numbers with commas",
                                  SERVE_BOARDS_MAX);
        }
        stream->boards[stream->board_count++].slot = (uint32_t)slot;
        text = end + 1;
    } while (*end == ',');
    return ty_status_ok();
}

static TyStatus pool_prepare(Stream *stream, const StreamOrder *order)
{
    stream->pool = order->pool;
    if (!stream->role.owner) {
        return ty_status_fail(TY_BAD_ARGUMENT, "pools are for the owner of this server");
    }
    if (!yard_watch_token(stream->yard, order->pool, stream->token)) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "pool=%" PRIu32 ": its director lets nobody watch, or the token is "
                              "not known here",
                              order->pool);
    }
    return slots_read(stream, order->slots != NULL ? order->slots : "0");
}

static TyStatus table_prepare(Stream *stream, const StreamOrder *order)
{
    stream->table = stream->role.owner ? order->table : stream->role.table;
    stream->board_count = 1;
    snprintf(stream->eyes, sizeof stream->eyes, "%s", order->eyes != NULL ? order->eyes : "");
    if (!stream->role.owner && order->table != stream->role.table) {
        return ty_status_fail(TY_BAD_ARGUMENT, "table=%" PRIu32 ": is not yours", order->table);
    }
    return ty_status_ok();
}

TyStatus stream_open(Yard *yard, const Role *role, const StreamOrder *order, Stream **out)
{
    *out = NULL;
    if (atomic_fetch_add(&yard->streams, 1) >= SERVE_STREAMS_MAX) {
        atomic_fetch_sub(&yard->streams, 1);
        return ty_status_fail(TY_LIMIT, "%d pages are open already", SERVE_STREAMS_MAX);
    }
    Stream *stream = cli_memory(calloc(1, sizeof *stream));
    *stream = (Stream){.yard = yard,
                       .role = *role,
                       .position = UINT64_MAX,
                       .out = cli_memory(malloc(SERVE_ANSWER_MAX))};
    TyStatus status = ty_status_ok();
    if (order->shown) {
        stream->shown = true;
        stream->board_count = 1;
        status = role->owner ? status : ty_status_fail(TY_BAD_ARGUMENT, "this is not yours");
    } else {
        status = order->pool != 0 ? pool_prepare(stream, order) : table_prepare(stream, order);
    }
    if (status.code != TY_OK) {
        stream_close(stream);
        return status;
    }
    *out = stream;
    return status;
}

void stream_close(Stream *stream)
{
    for (uint32_t i = 0; i < SERVE_BOARDS_MAX; i++) {
        free(stream->boards[i].svg);
    }
    atomic_fetch_sub(&stream->yard->streams, 1);
    free(stream->out);
    free(stream);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static void event_begin(Stream *stream, TyJson *json, const char *name)
{
    size_t left = SERVE_ANSWER_MAX - stream->out_size;
    stream->out_size +=
        (size_t)snprintf(stream->out + stream->out_size, left, "event: %s\ndata: ", name);
    *json = ty_json_init(stream->out + stream->out_size, SERVE_ANSWER_MAX - stream->out_size - 2);
    ty_json_open(json, NULL, '{');
}

/* An event that does not fit ends the stream: it would be more than any board has. */
static void event_end(Stream *stream, TyJson *json)
{
    ty_json_close(json, '}');
    if (json->text.length >= json->text.size) {
        stream->ended = true;
        stream->out_size = 0;
        return;
    }
    stream->out_size += json->text.length;
    memcpy(stream->out + stream->out_size, "\n\n", 2);
    stream->out_size += 2;
}

static void event_failure(Stream *stream, const char *message)
{
    TyJson json;
    event_begin(stream, &json, "failure");
    ty_json_put_string(&json, "message", message);
    event_end(stream, &json);
    stream->ended = true;
}

/* Sends a drawing, or what is new in it; nothing if nothing is. */
static void board_send(Stream *stream, Board *board, const char *svg)
{
    TyJson json;
    if (board->svg != NULL && strcmp(board->svg, svg) == 0) {
        return;
    }
    event_begin(stream, &json, "board");
    ty_json_put_int(&json, "slot", board->slot);
    if (board->svg == NULL || !drawing_changes(board->svg, svg, &json)) {
        ty_json_put_string(&json, "svg", svg);
    }
    event_end(stream, &json);
    free(board->svg);
    board->svg = cli_memory(strdup(svg));
}

/* ---- A table -----------------------------------------------------------------------------------
 */

/* Through whose eyes the stream looks: -1 is everything, -2 what everybody may see. */
static int32_t viewer_choose(const Stream *stream, const Table *table, int32_t acting)
{
    int32_t own = -2;
    if (!stream->role.owner) {
        return stream->role.seat >= 0 ? stream->role.seat : -2;
    }
    if (table_is_private(table) && strcmp(stream->eyes, "all") == 0) {
        return -1;
    }
    if (strcmp(stream->eyes, "public") == 0) {
        return -2;
    }
    for (int32_t seat = 0; seat < (int32_t)table->pool.players; seat++) {
        bool mine = table_plays(table, &stream->role, seat);
        if (mine && (own < 0 || seat == acting || seat == stream->viewer)) {
            own = own == acting && own >= 0 ? own : seat;
        }
    }
    return own;
}

/* What a spectator sees. */
static TyStatus public_draw(Stream *stream, Table *table)
{
    TyClientText text;
    TyStatus status = ty_client_watch(table->client, table->pool.id, table->pool.watch, 0, &text);
    if (status.code == TY_OK) {
        board_send(stream, &stream->boards[0], text.text);
    }
    return status;
}

/* The next position that the page has not seen; `*more` if it was not the newest. */
static TyStatus seat_draw(Stream *stream, Table *table, bool *more)
{
    TyClientText text;
    uint64_t newest = UINT64_MAX;
    TyStatus status =
        ty_client_svg_at(table->client, &table->pool, 0, stream->viewer, &newest, &text);
    bool begun = stream->position != UINT64_MAX;
    if (status.code == TY_OK && begun && newest > stream->position + 1) {
        stream->position++;
        *more = true;
        status = ty_client_svg_at(table->client, &table->pool, 0, stream->viewer, &stream->position,
                                  &text);
    } else if (status.code == TY_OK) {
        stream->position = newest;
    }
    if (status.code == TY_OK) {
        board_send(stream, &stream->boards[0], text.text);
    }
    return status;
}

static void result_put(const Table *table, TyJson *json)
{
    ty_json_open(json, "result", '{');
    for (uint32_t i = 0; i < table->metric_count; i++) {
        ty_json_put_int(json, table->metrics[i], table->result[i]);
    }
    ty_json_close(json, '}');
}

/* Whose turn it is and what can be chosen, once for each question. */
static TyStatus turn_send(Stream *stream, Table *table, TyClientLegal *legal)
{
    TyJson json;
    bool mine = table_plays(table, &stream->role, legal->acting);
    event_begin(stream, &json, "turn");
    ty_json_put_int(&json, "turn", (int64_t)table->turn);
    ty_json_put_int(&json, "acting", legal->acting);
    ty_json_put_int(&json, "viewer", stream->viewer);
    ty_json_put_string(&json, "phase", legal->phase);
    ty_json_put_bool(&json, "mine", mine);
    ty_json_put_int(&json, "undo", table->undo_count);
    ty_json_open(&json, "choices", '[');
    for (uint32_t i = 0; mine && i < legal->count; i++) {
        ty_json_open(&json, NULL, '[');
        ty_json_put_int(&json, NULL, legal->actions[i]);
        ty_json_put_string(&json, NULL, legal->titles[i]);
        ty_json_put_string(&json, NULL, legal->names[i]);
        ty_json_close(&json, ']');
    }
    ty_json_close(&json, ']');
    if (legal->acting < 0) {
        result_put(table, &json);
    }
    if (stream->viewer >= 0 && (mine || legal->acting < 0)) {
        TyClientText events;
        TyStatus status = ty_client_events(table->client, &table->pool, 0, stream->viewer, &events);
        if (status.code != TY_OK) {
            return status;
        }
        ty_json_put_raw(&json, "happened", events.text);
    }
    event_end(stream, &json);
    return ty_status_ok();
}

/* A question is known by its turn, who is asked, and through whose eyes. */
static uint64_t question_number(const Table *table, const TyClientLegal *legal, int32_t viewer)
{
    return (table->turn * 16 + (uint64_t)(legal->acting + 1)) * 16 + (uint64_t)(viewer + 3);
}

static TyStatus table_look(Stream *stream, Table *table, bool *more)
{
    TyClientLegal legal;
    TyStatus status = table_refresh(table);
    if (status.code == TY_OK) {
        status = ty_client_legal(table->client, &table->pool, 0, -1, &legal);
    }
    if (status.code != TY_OK) {
        return status;
    }
    int32_t viewer = viewer_choose(stream, table, legal.acting);
    uint64_t question = question_number(table, &legal, viewer);
    if (viewer != stream->viewer) {
        stream->viewer = viewer;
        stream->position = UINT64_MAX;
    }
    status = viewer == -2 ? public_draw(stream, table) : seat_draw(stream, table, more);
    if (status.code == TY_OK && !*more && question != stream->told) {
        status = ty_client_legal(table->client, &table->pool, 0, -1, &legal);
        stream->told = question_number(table, &legal, viewer);
        status = status.code == TY_OK ? turn_send(stream, table, &legal) : status;
    }
    return status;
}

/* ---- Waiting -----------------------------------------------------------------------------------
 */

static void nap(Stream *stream, uint32_t milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)milliseconds * 1000000}, NULL);
    stream->silent_ms += milliseconds;
}

/* Looks once at what the page shows; returns how long to wait before the next look. */
static uint32_t look_table(Stream *stream)
{
    bool more = false;
    Table *table = table_take(stream->yard, stream->table);
    if (table == NULL) {
        event_failure(stream, "the table is closed");
        return 0;
    }
    TyStatus status = table_look(stream, table, &more);
    table_give(table);
    if (status.code != TY_OK) {
        event_failure(stream, status.message);
    }
    return more ? STREAM_PACE_MS : STREAM_WAIT_MS;
}

static uint32_t look_pool(Stream *stream)
{
    TyClientText text;
    TyStatus status = ty_status_ok();
    for (uint32_t i = 0; i < stream->board_count && status.code == TY_OK; i++) {
        Board *board = &stream->boards[i];
        if (stream->out_size + TY_SVG_MAX + (TY_SVG_MAX >> 2) > SERVE_ANSWER_MAX) {
            return 0; /* the others follow when this has gone */
        }
        pthread_mutex_lock(&stream->yard->mutex);
        status =
            ty_client_watch(stream->yard->client, stream->pool, stream->token, board->slot, &text);
        if (status.code == TY_OK) {
            board_send(stream, board, text.text);
        }
        pthread_mutex_unlock(&stream->yard->mutex);
    }
    if (status.code != TY_OK) {
        event_failure(stream, status.message);
    }
    return STREAM_WALL_MS;
}

static uint32_t look_shown(Stream *stream)
{
    Shown *shown = &stream->yard->shown;
    pthread_mutex_lock(&shown->mutex);
    if (shown->number != stream->number) {
        stream->number = shown->number;
        board_send(stream, &stream->boards[0], shown->svg);
    }
    pthread_mutex_unlock(&shown->mutex);
    return STREAM_WAIT_MS;
}

/* Fills `out` with the next events. */
static void stream_fill(Stream *stream)
{
    stream->out_size = stream->out_at = 0;
    while (stream->out_size == 0 && !stream->ended && !atomic_load(&stream->yard->stopping)) {
        uint32_t wait = stream->shown       ? look_shown(stream)
                        : stream->pool != 0 ? look_pool(stream)
                                            : look_table(stream);
        if (stream->out_size == 0 && stream->silent_ms >= STREAM_ALIVE_MS) {
            stream->out_size = (size_t)snprintf(stream->out, SERVE_ANSWER_MAX, ":\n\n");
        }
        if (stream->out_size == 0 || wait >= STREAM_PACE_MS) {
            nap(stream, wait);
        }
    }
    stream->silent_ms = 0;
}

long stream_read(Stream *stream, char *bytes, size_t size)
{
    if (stream->out_at == stream->out_size) {
        stream_fill(stream);
    }
    size_t left = stream->out_size - stream->out_at;
    if (left == 0) {
        return -1;
    }
    size_t count = left < size ? left : size;
    memcpy(bytes, stream->out + stream->out_at, count);
    stream->out_at += count;
    return (long)count;
}
