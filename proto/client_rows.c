/* Playing a pool by messages: actions out, rows in. */
#include "core/bytes.h"
#include "proto/client_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading rows ---- */

/* What a reply with rows has, before any of it is believed. */
typedef struct RowsReply {
    WireItem slots;
    WireItem ended;
    uint32_t size[TY_COLUMN_COUNT]; /* bytes of the columns */
    uint32_t next;                  /* the column that is looked for first: they come in order */
} RowsReply;

/* Columns that have entries for ended episodes only. */
static bool is_sparse(TyColumn column)
{
    return column == TY_COLUMN_METRICS || column == TY_COLUMN_FINAL_OBS ||
           column == TY_COLUMN_FINAL_REWARD;
}

static bool is_named(const WireItem *key, const char *name)
{
    return key->size == strlen(name) && memcmp(key->bytes, name, key->size) == 0;
}

/* Notes an entry that is one of the pool's columns. */
static void column_note(const TyClientPool *pool, const WireItem *key, const WireItem *value,
                        TyClientRows *rows, RowsReply *reply)
{
    for (uint32_t k = 0; k < TY_COLUMN_ACTION; k++) {
        uint32_t i = (reply->next + k) % TY_COLUMN_ACTION;
        if (pool->width[i] != 0 && is_named(key, ty_column_name((TyColumn)i))) {
            rows->column[i] = value->bytes;
            reply->size[i] = value->size;
            reply->next = i + 1;
            return;
        }
    }
}

/* Goes through the reply once: it has many entries, and steps are many. */
static void entries_note(Map map, const TyClientPool *pool, TyClientRows *rows, RowsReply *reply)
{
    WireItem head;
    wire_item(&map.at, map.end, &head);
    for (uint32_t i = 0; i < head.count; i++) {
        WireItem key;
        WireItem value;
        wire_item(&map.at, map.end, &key);
        const uint8_t *before = map.at;
        wire_item(&map.at, map.end, &value);
        if (value.kind == WIRE_BYTES && is_named(&key, "slots")) {
            reply->slots = value;
        } else if (value.kind == WIRE_BYTES && is_named(&key, "ended")) {
            reply->ended = value;
        } else if (value.kind == WIRE_BYTES) {
            column_note(pool, &key, &value, rows, reply);
        } else if (value.kind == WIRE_LIST && is_named(&key, "errors")) {
            rows->refused = value.count;
        } else if (value.kind == WIRE_UINT && is_named(&key, "ignored")) {
            rows->ignored = (uint32_t)value.number;
        }
        map.at = before;
        wire_skip(&map.at, map.end);
    }
}

/* Copies the lists of slots and of endings to where they are aligned. */
static bool numbers_copy(TyClient *client, const RowsReply *reply, TyClientRows *rows)
{
    size_t size = (size_t)reply->slots.size + reply->ended.size;
    if (size > client->numbers_size) {
        uint32_t *larger = realloc(client->numbers, size);
        if (larger == NULL) {
            client->spoiled = TY_NO_MEMORY;
            return false;
        }
        client->numbers = larger;
        client->numbers_size = size;
    }
    rows->ended_count = reply->ended.size / sizeof rows->ended[0];
    rows->ended = client->numbers;
    if (reply->ended.size > 0) {
        memcpy(client->numbers, reply->ended.bytes, reply->ended.size);
    }
    if (reply->slots.bytes != NULL) {
        rows->slots = client->numbers + rows->ended_count;
    }
    if (reply->slots.bytes != NULL && reply->slots.size > 0) {
        memcpy(client->numbers + rows->ended_count, reply->slots.bytes, reply->slots.size);
    }
    return true;
}

/* True if there are as many rows as there may be, and the slots and endings are among them. */
static bool rows_count(const TyClientPool *pool, const TyClientRows *rows)
{
    uint32_t whole = rows->group >= 0 ? pool->group[rows->group].rows : pool->slots;
    bool good =
        rows->slots != NULL ? rows->count <= pool->slots : rows->count == whole || rows->count == 0;
    for (uint32_t i = 0; good && rows->slots != NULL && i < rows->count; i++) {
        good = rows->slots[i] < pool->slots;
    }
    for (uint32_t i = 0; good && i < rows->ended_count; i++) {
        good = rows->ended[i] < rows->count;
    }
    return good;
}

/* True if every column of the pool has as many values as there are rows. */
static bool rows_fit(const TyClientPool *pool, const TyClientRows *rows, const RowsReply *reply)
{
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        uint64_t cell = (uint64_t)pool->width[i] * ty_type_size(ty_column_type((TyColumn)i));
        uint64_t count = is_sparse((TyColumn)i) ? rows->ended_count : rows->count;
        if (reply->size[i] != count * cell) {
            return false;
        }
    }
    return true;
}

TyStatus rows_read(TyClient *client, const TyClientPool *pool, TyClientRows *rows)
{
    Map map = reply_map(client);
    RowsReply reply = {.slots = {.size = 0}};
    *rows = (TyClientRows){.count = (uint32_t)map_uint(map, "count", TY_SLOTS_MAX),
                           .ready = (uint32_t)map_uint(map, "ready_count", TY_SLOTS_MAX),
                           .group = -1};
    if (wire_find(map.at, map.end, "group") != NULL) {
        rows->group = map_int(map, "group", 0, (int32_t)pool->groups - 1);
    }
    entries_note(map, pool, rows, &reply);
    bool whole =
        reply.ended.size % sizeof rows->ended[0] == 0 &&
        (reply.slots.bytes == NULL || reply.slots.size == rows->count * sizeof rows->slots[0]);
    if (!whole || (numbers_copy(client, &reply, rows) &&
                   !(rows_count(pool, rows) && rows_fit(pool, rows, &reply)))) {
        reply_spoil(client);
    }
    return reply_sound(client);
}

TyStatus rows_read_of(TyClient *client, const TyClientPool *pool, uint32_t count,
                      TyClientRows *rows)
{
    TyStatus status = rows_read(client, pool, rows);
    if (status.code == TY_OK && rows->count > 0 && (rows->slots == NULL || rows->count != count)) {
        reply_spoil(client);
        status = reply_sound(client);
    }
    return status;
}

bool ty_client_refusal(TyClient *client, uint32_t index, TyClientRefusal *refusal)
{
    uint32_t count = 0;
    TyCode code = TY_OK;
    Map entry = map_list(reply_map(client), "errors", &count);
    for (uint32_t i = 0; i < index && i < count; i++) {
        map_next(&entry);
    }
    if (index >= count) {
        return false;
    }
    client->spoiled = TY_OK;
    *refusal = (TyClientRefusal){.row = (uint32_t)map_uint(entry, "row", TY_SLOTS_MAX),
                                 .slot = (uint32_t)map_uint(entry, "slot", TY_SLOTS_MAX),
                                 .error = map_error(entry, &code)};
    map_copy(entry, "message", refusal->message, sizeof refusal->message);
    return client->spoiled == TY_OK;
}

/* ---- Operations ---- */

TyStatus ty_client_reset(TyClient *client, const TyClientPool *pool, const uint8_t *which,
                         const uint64_t *seeds, TyClientRows *rows)
{
    return ty_client_reset_to(client, pool, &(TyReset){.which = which, .seeds = seeds}, 0, rows);
}

TyStatus ty_client_reset_to(TyClient *client, const TyClientPool *pool, const TyReset *reset,
                            uint32_t timeout_ms, TyClientRows *rows)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_array(FIELD_OF_MASK, reset->which, pool->slots),
                           given_array(FIELD_OF_SEEDS, reset->seeds, pool->slots),
                           given_array(FIELD_OF_EPISODES, reset->episodes, pool->slots),
                           given_unless_zero(FIELD_OF_DEADLINE, timeout_ms),
                           GIVEN_END};
    TyStatus status = request_ask(client, OP_RESET, given);
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

/* Rows of a step must be of the group that was stepped: who gave its actions has room for these. */
static TyStatus step_read(TyClient *client, const TyClientPool *pool, uint32_t group,
                          TyClientRows *rows)
{
    TyStatus status = rows_read(client, pool, rows);
    if (status.code == TY_OK && rows->group != (int32_t)group) {
        reply_spoil(client);
        status = reply_sound(client);
    }
    return status;
}

/* ---- Notes ---- */

_Static_assert(sizeof(TyClientNote) == 20, "notes are sent as they lie in memory");

void ty_client_note(TyClient *client, const TyClientNote *notes, uint32_t count)
{
    client->notes = count > 0 ? notes : NULL;
    client->note_count = count;
}

/* The notes that go with the next actions; then they are told. */
static Given given_notes(TyClient *client)
{
    Given given = given_array(FIELD_OF_NOTES, client->notes, client->note_count);
    client->notes = NULL;
    return given;
}

/* ---- Steps ---- */

enum { STEP_FIELDS = 6 };

static TyStatus step_fields(TyClient *client, const TyClientPool *pool, uint32_t group,
                            const int32_t *actions, Given given[STEP_FIELDS])
{
    if (group >= pool->groups) {
        return ty_status_fail(TY_BAD_ARGUMENT, "group %u: the pool has %u", group, pool->groups);
    }
    given[0] = given_number(FIELD_OF_POOL, pool->id);
    given[1] = given_unless_zero(FIELD_OF_GROUP, group);
    given[2] = given_unless_zero(FIELD_OF_GOT, requests_got(client));
    given[3] = given_array(FIELD_OF_ACTIONS, actions, pool->group[group].rows);
    given[4] = given_notes(client);
    given[5] = GIVEN_END;
    return ty_status_ok();
}

TyStatus ty_client_step(TyClient *client, const TyClientPool *pool, uint32_t group,
                        const int32_t *actions, TyClientRows *rows)
{
    Given given[STEP_FIELDS];
    TyStatus status = step_fields(client, pool, group, actions, given);
    if (status.code == TY_OK) {
        status = request_ask(client, OP_STEP, given);
    }
    return status.code == TY_OK ? step_read(client, pool, group, rows) : status;
}

TyStatus ty_client_submit(TyClient *client, const TyClientPool *pool, uint32_t group,
                          const int32_t *actions)
{
    Given given[STEP_FIELDS];
    TyStatus status = step_fields(client, pool, group, actions, given);
    return status.code == TY_OK
               ? request_send(client, OP_STEP, given, &(const Step){pool->id, group})
               : status;
}

TyStatus ty_client_wait(TyClient *client, const TyClientPool *pool, TyClientRows *rows)
{
    uint32_t group = 0;
    TyStatus status = request_await_step(client, pool->id, &group);
    return status.code == TY_OK ? step_read(client, pool, group, rows) : status;
}

/* When a reply is due, as fields of the request. */
static Given given_min_rows(const TyClientWait *wait)
{
    return wait->at_once ? given_number(FIELD_OF_MIN_ROWS, 0)
                         : given_unless_zero(FIELD_OF_MIN_ROWS, wait->min_rows);
}

static uint32_t group_of(const TyClientPool *pool, uint32_t slot)
{
    uint32_t group = 0;
    while (group + 1 < pool->groups && slot >= pool->group[group + 1].first) {
        group++;
    }
    return group;
}

TyStatus ty_client_step_some(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                             const int32_t *actions, uint32_t count, const TyClientWait *wait,
                             TyClientRows *rows)
{
    static const TyClientWait standard;
    wait = wait != NULL ? wait : &standard;
    const Given given[] = {
        given_number(FIELD_OF_POOL, pool->id),
        given_unless_zero(FIELD_OF_GROUP, count > 0 ? group_of(pool, slots[0]) : 0),
        given_array(FIELD_OF_SLOTS, slots, count),
        given_array(FIELD_OF_ACTIONS, actions, count),
        given_notes(client),
        given_min_rows(wait),
        given_unless_zero(FIELD_OF_TIMEOUT, wait->timeout_ms),
        given_unless_zero(FIELD_OF_GOT, requests_got(client)),
        GIVEN_END,
    };
    TyStatus status = request_ask(client, OP_STEP, given);
    return status.code == TY_OK ? rows_read_of(client, pool, count, rows) : status;
}

TyStatus ty_client_send(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                        const int32_t *actions, uint32_t count, uint32_t *accepted)
{
    const Given given[] = {
        given_number(FIELD_OF_POOL, pool->id), given_array(FIELD_OF_SLOTS, slots, count),
        given_array(FIELD_OF_ACTIONS, actions, count), given_notes(client), GIVEN_END};
    TyStatus status = request_ask(client, OP_SEND, given);
    if (status.code == TY_OK && accepted != NULL) {
        *accepted = (uint32_t)map_uint(reply_map(client), "accepted", count);
        status = reply_sound(client);
    }
    return status;
}

TyStatus ty_client_recv(TyClient *client, const TyClientPool *pool, const TyClientWait *wait,
                        TyClientRows *rows)
{
    static const TyClientWait standard;
    wait = wait != NULL ? wait : &standard;
    const Given given[] = {
        given_number(FIELD_OF_POOL, pool->id),
        given_min_rows(wait),
        given_unless_zero(FIELD_OF_MAX_ROWS, wait->max_rows),
        given_unless_zero(FIELD_OF_TIMEOUT, wait->timeout_ms),
        given_unless_zero(FIELD_OF_GOT, requests_got(client)),
        GIVEN_END,
    };
    TyStatus status = request_ask(client, OP_RECV, given);
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

/* ---- Sampling ---- */

bool ty_client_sample(const TyClientPool *pool, const TyClientRows *rows, uint64_t seed,
                      int32_t *actions)
{
    const uint8_t *masks = rows->column[TY_COLUMN_MASK];
    const uint8_t *bits = rows->column[TY_COLUMN_MASK_BITS];
    const uint8_t *ready = rows->column[TY_COLUMN_READY];
    const uint8_t *episodes = rows->column[TY_COLUMN_EPISODE];
    const uint8_t *steps = rows->column[TY_COLUMN_STEP];
    if ((masks == NULL && bits == NULL) || ready == NULL || episodes == NULL || steps == NULL) {
        return false;
    }
    uint32_t width = pool->action_count;
    uint32_t bits_size = ty_mask_bits_size(width);
    uint32_t first = rows->group >= 0 ? pool->group[rows->group].first : 0;
    for (uint32_t row = 0; row < rows->count; row++) {
        const TyRowKey key = {rows->slots != NULL ? rows->slots[row] : first + row,
                              load_le32(episodes + (size_t)row * 4),
                              load_le32(steps + (size_t)row * 4)};
        if (!ready[row]) {
            actions[row] = 0;
        } else if (masks != NULL) {
            actions[row] = ty_sample_row(masks + (size_t)row * width, width, seed, key);
        } else {
            actions[row] = ty_sample_row_bits(bits + (size_t)row * bits_size, width, seed, key);
        }
    }
    return true;
}
