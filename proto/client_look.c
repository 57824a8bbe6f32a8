/* Looking at one slot of a pool: rows, legal actions, text, state. */
#include "proto/client_internal.h"

#include <string.h>

/* Asks about a slot through the eyes of a seat. */
static TyStatus look(TyClient *client, Operation op, const TyClientPool *pool, uint32_t slot,
                     int32_t seat)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), given_number(FIELD_OF_SLOT, slot),
                           given_number(FIELD_OF_SEAT, (uint64_t)(int64_t)seat), GIVEN_END};
    return request_ask(client, op, given);
}

static int32_t acting_read(Map map)
{
    return map_int(map, "seat", -1, TY_SEATS_MAX - 1);
}

TyStatus ty_client_observe(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                           bool full, TyClientView *view)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), given_number(FIELD_OF_SLOT, slot),
                           given_number(FIELD_OF_SEAT, (uint64_t)(int64_t)seat),
                           given_unless_zero(FIELD_OF_FULL, full), GIVEN_END};
    TyStatus status = request_ask(client, OP_OBSERVE, given);
    if (status.code != TY_OK) {
        return status;
    }
    Map map = reply_map(client);
    TyClientBytes row = map_bytes(map, "obs");
    TyClientBytes mask = map_bytes(map, "mask");
    TyClientBytes privileged = map_bytes(map, "full");
    if (row.size != pool->row_size || mask.size != pool->action_count ||
        (privileged.size != 0) != full) {
        reply_spoil(client);
    }
    *view = (TyClientView){.acting = acting_read(map),
                           .phase = map_text(map, "phase"),
                           .row = row.bytes,
                           .mask = mask.bytes,
                           .full = privileged.bytes,
                           .full_size = (uint32_t)privileged.size};
    return reply_sound(client);
}

/* The numbers of the legal actions, each of which must be one of the pool's. */
static const int32_t *actions_read(Map map, const TyClientPool *pool, uint32_t *count)
{
    TyClientBytes bytes = map_bytes(map, "numbers");
    int32_t *actions = reply_room(map.client, bytes.size, 1);
    *count = (uint32_t)(bytes.size / sizeof actions[0]);
    if (actions == NULL || bytes.size == 0) {
        return actions;
    }
    memcpy(actions, bytes.bytes, bytes.size);
    for (uint32_t i = 0; i < *count; i++) {
        if (actions[i] < 0 || (uint32_t)actions[i] >= pool->action_count) {
            reply_spoil(map.client);
        }
    }
    return actions;
}

TyStatus ty_client_legal(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                         TyClientLegal *legal)
{
    TyStatus status = look(client, OP_LEGAL, pool, slot, seat);
    if (status.code != TY_OK) {
        return status;
    }
    Map map = reply_map(client);
    uint32_t names = 0;
    uint32_t titles = 0;
    *legal = (TyClientLegal){.acting = acting_read(map), .phase = map_text(map, "phase")};
    legal->actions = actions_read(map, pool, &legal->count);
    legal->names = map_texts(map, "names", &names);
    legal->titles = map_texts(map, "titles", &titles);
    if (names != legal->count || titles != legal->count) {
        reply_spoil(client);
    }
    return reply_sound(client);
}

static TyStatus text_read(TyClient *client, const char *key, TyClientText *text)
{
    Map map = reply_map(client);
    *text = (TyClientText){
        .acting = acting_read(map), .phase = map_text(map, "phase"), .text = map_text(map, key)};
    return reply_sound(client);
}

TyStatus ty_client_state(TyClient *client, const TyClientPool *pool, uint32_t slot,
                         TyClientText *text)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), given_number(FIELD_OF_SLOT, slot),
                           GIVEN_END};
    TyStatus status = request_ask(client, OP_STATE, given);
    return status.code == TY_OK ? text_read(client, "state", text) : status;
}

TyStatus ty_client_text(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                        TyClientText *text)
{
    TyStatus status = look(client, OP_TEXT, pool, slot, seat);
    return status.code == TY_OK ? text_read(client, "text", text) : status;
}

TyStatus ty_client_events(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                          TyClientText *text)
{
    TyStatus status = look(client, OP_EVENTS, pool, slot, seat);
    return status.code == TY_OK ? text_read(client, "events", text) : status;
}

TyStatus ty_client_svg(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                       bool full, TyClientText *text)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), given_number(FIELD_OF_SLOT, slot),
                           given_number(FIELD_OF_SEAT, (uint64_t)(int64_t)seat),
                           given_number(FIELD_OF_FULL, full), GIVEN_END};
    TyStatus status = request_ask(client, OP_SVG, given);
    return status.code == TY_OK ? text_read(client, "svg", text) : status;
}

TyStatus ty_client_svg_at(TyClient *client, const TyClientPool *pool, uint32_t slot, int32_t seat,
                          uint64_t *position, TyClientText *text)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_number(FIELD_OF_SLOT, slot),
                           given_number(FIELD_OF_SEAT, (uint64_t)(int64_t)seat),
                           given_number(FIELD_OF_FULL, seat < 0),
                           given_number(FIELD_OF_POSITION, *position),
                           GIVEN_END};
    TyStatus status = request_ask(client, OP_SVG, given);
    if (status.code == TY_OK) {
        *position = map_uint(reply_map(client), "position", UINT64_MAX);
        status = text_read(client, "svg", text);
    }
    return status;
}

TyStatus ty_client_watch(TyClient *client, uint32_t pool, const char *token, uint32_t slot,
                         TyClientText *text)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool),
                           given_text(FIELD_OF_WATCH_TOKEN, token),
                           given_number(FIELD_OF_SLOT, slot), GIVEN_END};
    TyStatus status = request_ask(client, OP_WATCH, given);
    return status.code == TY_OK ? text_read(client, "svg", text) : status;
}
