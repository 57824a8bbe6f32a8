/* Pools of the daemon: opening, joining, leaving and closing them. */
#include "proto/client_internal.h"

#include <string.h>

/* ---- Requests ---- */

/* The names of the columns of a set. */
static uint32_t column_names(uint32_t columns, const char *names[TY_COLUMN_COUNT])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TY_COLUMN_COUNT; i++) {
        if ((columns >> i & 1) != 0) {
            names[count++] = ty_column_name((TyColumn)i);
        }
    }
    return count;
}

/* A list of texts, left out if it is empty. */
static Given given_texts(Field field, const char *const *texts, uint32_t count)
{
    return given_values(field, count > 0 ? texts : NULL, count);
}

/* ---- Replies ---- */

/* The groups must be the pool's slots, one after the other. */
static void groups_read(Map map, TyClientPool *pool)
{
    Map entry = map_list(map, "groups", &pool->groups);
    if (pool->groups == 0 || pool->groups > TY_GROUPS_MAX) {
        reply_spoil(map.client);
        pool->groups = 0;
    }
    for (uint32_t i = 0; i < pool->groups; i++, map_next(&entry)) {
        uint32_t rows = (uint32_t)map_uint(entry, "rows", TY_SLOTS_MAX);
        uint32_t first = (uint32_t)map_uint(entry, "first", TY_SLOTS_MAX);
        pool->group[i].first = first;
        pool->group[i].rows = rows;
        if (rows == 0 || first != pool->slots || rows > TY_SLOTS_MAX - first) {
            reply_spoil(map.client);
            return;
        }
        pool->slots += rows;
    }
}

static void seats_read(Map map, TyClientPool *pool)
{
    TyClientBytes seats = map_bytes(map, "own_seats");
    if (seats.size > TY_SEATS_MAX) {
        reply_spoil(map.client);
        return;
    }
    pool->seat_count = (uint32_t)seats.size;
    for (uint32_t i = 0; i < pool->seat_count; i++) {
        pool->seats[i] = seats.bytes[i];
        if (pool->seats[i] >= TY_SEATS_MAX) {
            reply_spoil(map.client);
        }
    }
}

/* How wide the columns are; those that this client does not know are not wanted. */
static void columns_read(Map map, TyClientPool *pool)
{
    uint32_t count = 0;
    Map entry = map_list(map, "columns", &count);
    for (uint32_t i = 0; i < count; i++, map_next(&entry)) {
        const char *name = map_text(entry, "name");
        uint32_t width = (uint32_t)map_uint(entry, "width", TY_SEATS_MAX * TY_ROW_MAX);
        for (uint32_t column = 0; column < TY_COLUMN_ACTION; column++) {
            if (strcmp(ty_column_name((TyColumn)column), name) == 0) {
                pool->width[column] = width;
            }
        }
    }
    const uint32_t *width = pool->width;
    if ((width[TY_COLUMN_OBS] != 0 && width[TY_COLUMN_OBS] != pool->row_size) ||
        (width[TY_COLUMN_MASK] != 0 && width[TY_COLUMN_MASK] != pool->action_count) ||
        (width[TY_COLUMN_MASK_BITS] != 0 &&
         width[TY_COLUMN_MASK_BITS] != ty_mask_bits_size(pool->action_count))) {
        reply_spoil(map.client);
    }
    for (TyColumn column = TY_COLUMN_SEAT; column <= TY_COLUMN_SEED; column++) {
        if (width[column] > 1) {
            reply_spoil(map.client);
        }
    }
}

static TyStatus pool_read(TyClient *client, TyClientPool *pool)
{
    Map map = reply_map(client);
    TyClientBytes token = map_bytes(map, "shm_token");
    TyClientBytes key = map_bytes(map, "key");
    *pool = (TyClientPool){.id = (uint32_t)map_uint(map, "pool", UINT32_MAX),
                           .member = (uint32_t)map_uint(map, "member", TY_MEMBERS_MAX - 1),
                           .rules_version = (uint32_t)map_uint(map, "rules_version", UINT32_MAX),
                           .schema_hash = map_uint(map, "schema_hash", UINT64_MAX),
                           .players = (uint32_t)map_uint(map, "players", TY_PLAYERS_MAX),
                           .row_size = (uint32_t)map_uint(map, "row_size", TY_ROW_MAX),
                           .action_count = (uint32_t)map_uint(map, "action_count", TY_ACTIONS_MAX),
                           .slot_bytes = map_uint(map, "slot_bytes", UINT64_MAX)};
    map_copy(map, "invite", pool->invite, sizeof pool->invite);
    map_copy(map, "watch", pool->watch, sizeof pool->watch);
    map_copy(map, "warning", pool->warning, sizeof pool->warning);
    map_copy(map, "ruleset", pool->ruleset, sizeof pool->ruleset);
    if (key.size == sizeof pool->key) {
        memcpy(pool->key, key.bytes, key.size);
    }
    if (token.size == sizeof pool->shm_token) {
        memcpy(pool->shm_token, token.bytes, token.size);
        pool->shm = true;
    }
    seats_read(map, pool);
    groups_read(map, pool);
    columns_read(map, pool);
    return reply_sound(client);
}

/* ---- Operations ---- */

TyStatus ty_client_open_pool(TyClient *client, const TyClientOpen *open, TyClientPool *pool)
{
    const char *columns[TY_COLUMN_COUNT];
    uint32_t column_count = column_names(open->columns, columns);
    uint32_t seat_count = 0;
    while (seat_count < TY_SEATS_MAX && open->seats[seat_count] != NULL) {
        seat_count++;
    }
    const Given given[] = {
        given_text(FIELD_OF_RULESET, open->ruleset),
        given_values(FIELD_OF_FILES, open->files, open->file_count),
        given_unless_zero(FIELD_OF_SLOTS_COUNT, open->slots),
        given_unless_zero(FIELD_OF_GROUPS, open->groups),
        given_unless_zero(FIELD_OF_THREADS, open->threads),
        given_unless_zero(FIELD_OF_SEED, open->seed),
        given_values(FIELD_OF_KEY, open->key, TY_KEY_SIZE),
        given_unless_zero(FIELD_OF_PLAIN_SEEDS, open->plain_seeds),
        given_unless_zero(FIELD_OF_REVEAL_SEEDS, open->reveal_seeds),
        given_text(FIELD_OF_AUTORESET, open->autoreset),
        given_text(FIELD_OF_ILLEGAL, open->illegal),
        given_unless_zero(FIELD_OF_MAX_STEPS, open->max_steps),
        given_texts(FIELD_OF_SEATS, open->seats, seat_count),
        given_texts(FIELD_OF_COLUMNS, columns, column_count),
        given_unless_zero(FIELD_OF_FULL, open->full),
        given_unless_zero(FIELD_OF_HASH, open->hash),
        given_unless_zero(FIELD_OF_EVENTS, open->events),
        given_unless_zero(FIELD_OF_KEEP_NOTES, open->notes),
        given_unless_zero(FIELD_OF_SHM, open->shm),
        given_unless_zero(FIELD_OF_HISTORY, open->history),
        given_text(FIELD_OF_WATCH, open->watch),
        given_unless_zero(FIELD_OF_WATCH_DELAY, open->watch_delay),
        given_unless_zero(FIELD_OF_SEAT_TIMEOUT, open->seat_timeout_ms),
        given_text(FIELD_OF_ON_VANISH, open->on_vanish),
        given_unless_zero(FIELD_OF_DEADLINE, open->timeout_ms),
        GIVEN_END,
    };
    TyStatus status = request_ask(client, OP_OPEN, given);
    if (status.code == TY_OK) {
        status = pool_read(client, pool);
    }
    if (status.code == TY_OK && (pool->slots != (open->slots != 0 ? open->slots : 1) ||
                                 pool->groups != (open->groups != 0 ? open->groups : 1))) {
        reply_spoil(client); /* the caller's arrays are as long as what it asked for */
        status = reply_sound(client);
    }
    return status;
}

TyStatus ty_client_join(TyClient *client, const TyClientJoin *join, TyClientPool *pool)
{
    const char *columns[TY_COLUMN_COUNT];
    uint32_t column_count = column_names(join->columns, columns);
    const uint8_t *seats = join->seat_count > 0 ? join->seats : NULL;
    const Given given[] = {
        given_number(FIELD_OF_POOL, join->pool),
        given_text(FIELD_OF_INVITE, join->invite),
        given_values(FIELD_OF_JOIN_SEATS, seats, join->seat_count),
        given_texts(FIELD_OF_COLUMNS, columns, column_count),
        given_unless_zero(FIELD_OF_SHM, join->shm),
        GIVEN_END,
    };
    TyStatus status = request_ask(client, OP_JOIN, given);
    return status.code == TY_OK ? pool_read(client, pool) : status;
}

TyStatus ty_client_leave(TyClient *client, const TyClientPool *pool)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), GIVEN_END};
    return request_ask(client, OP_LEAVE, given);
}

TyStatus ty_client_close_pool(TyClient *client, const TyClientPool *pool)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), GIVEN_END};
    return request_ask(client, OP_CLOSE, given);
}

TyStatus ty_client_attach(TyClient *client, const TyClientPool *pool, TyShmClient **shm)
{
    *shm = NULL;
    if (!pool->shm) {
        return ty_status_fail(TY_BAD_ARGUMENT, "pool %u was opened or joined without shm",
                              pool->id);
    }
    TyShmAddress address = {.path = client->daemon.shm_path,
                            .pool = pool->id,
                            .member = pool->member,
                            .timeout_ms = client->timeout_ms};
    memcpy(address.token, pool->shm_token, sizeof address.token);
    return ty_shm_connect(&address, shm);
}
