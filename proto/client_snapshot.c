/* Positions of a pool: saved, put back, copied, taken out of the daemon and in, played to their
 * end; and the logs of episodes. */
#include "proto/client_internal.h"

#include <string.h>

/* ---- Snapshots ---- */

TyStatus ty_client_snapshot(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                            uint32_t count, uint32_t *snapshots)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_array(FIELD_OF_SLOTS, slots, count), GIVEN_END};
    TyStatus status = request_ask(client, OP_SNAPSHOT, given);
    if (status.code != TY_OK) {
        return status;
    }
    TyClientBytes numbers = map_bytes(reply_map(client), "snapshots");
    if (numbers.size != count * sizeof snapshots[0]) {
        reply_spoil(client);
    } else if (count > 0) {
        memcpy(snapshots, numbers.bytes, numbers.size);
    }
    return reply_sound(client);
}

/* The seat means something only beside keys. */
static Given given_seat(const uint64_t *keys, int32_t seat)
{
    return given_number(FIELD_OF_SEAT, keys != NULL ? (uint64_t)(int64_t)seat : UINT64_MAX);
}

TyStatus ty_client_restore(TyClient *client, const TyClientPool *pool, const uint32_t *snapshots,
                           uint32_t snapshot_count, const TyClientTargets *targets,
                           TyClientRows *rows)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_array(FIELD_OF_SNAPSHOTS, snapshots, snapshot_count),
                           given_array(FIELD_OF_SLOTS, targets->slots, targets->count),
                           given_array(FIELD_OF_KEYS, targets->keys, targets->count),
                           given_seat(targets->keys, targets->seat),
                           GIVEN_END};
    TyStatus status = request_ask(client, OP_RESTORE, given);
    return status.code == TY_OK ? rows_read_of(client, pool, targets->count, rows) : status;
}

TyStatus ty_client_fork(TyClient *client, const TyClientPool *pool, uint32_t slot,
                        const TyClientTargets *targets, TyClientRows *rows)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_number(FIELD_OF_SLOT, slot),
                           given_array(FIELD_OF_SLOTS, targets->slots, targets->count),
                           given_array(FIELD_OF_KEYS, targets->keys, targets->count),
                           given_seat(targets->keys, targets->seat),
                           GIVEN_END};
    TyStatus status = request_ask(client, OP_FORK, given);
    return status.code == TY_OK ? rows_read_of(client, pool, targets->count, rows) : status;
}

TyStatus ty_client_resample(TyClient *client, const TyClientPool *pool,
                            const TyClientTargets *targets, TyClientRows *rows)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_array(FIELD_OF_SLOTS, targets->slots, targets->count),
                           given_array(FIELD_OF_KEYS, targets->keys, targets->count),
                           given_seat(targets->keys, targets->seat), GIVEN_END};
    TyStatus status = request_ask(client, OP_RESAMPLE, given);
    return status.code == TY_OK ? rows_read_of(client, pool, targets->count, rows) : status;
}

TyStatus ty_client_export(TyClient *client, const TyClientPool *pool, uint32_t snapshot,
                          TyClientBytes *data)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_number(FIELD_OF_SNAPSHOT, snapshot), GIVEN_END};
    TyStatus status = request_ask(client, OP_EXPORT, given);
    if (status.code != TY_OK) {
        return status;
    }
    *data = map_bytes(reply_map(client), "data");
    return reply_sound(client);
}

TyStatus ty_client_import(TyClient *client, const TyClientPool *pool, const void *bytes,
                          size_t size, uint32_t *snapshot)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_values(FIELD_OF_DATA, bytes, size), GIVEN_END};
    TyStatus status = request_ask(client, OP_IMPORT, given);
    if (status.code != TY_OK) {
        return status;
    }
    *snapshot = (uint32_t)map_uint(reply_map(client), "snapshot", UINT32_MAX);
    return reply_sound(client);
}

TyStatus ty_client_drop(TyClient *client, const TyClientPool *pool, const uint32_t *snapshots,
                        uint32_t count, uint32_t *dropped)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id),
                           given_array(FIELD_OF_SNAPSHOTS, snapshots, count), GIVEN_END};
    TyStatus status = request_ask(client, OP_DROP, given);
    if (status.code == TY_OK && dropped != NULL) {
        *dropped = (uint32_t)map_uint(reply_map(client), "dropped", UINT32_MAX);
        status = reply_sound(client);
    }
    return status;
}

/* ---- Rollouts ---- */

/* A copy, aligned for numbers of 4 bytes. */
static const void *numbers_copy(Map map, TyClientBytes bytes)
{
    void *numbers = reply_room(map.client, bytes.size, 1);
    if (numbers != NULL && bytes.size > 0) {
        memcpy(numbers, bytes.bytes, bytes.size);
    }
    return numbers;
}

static TyStatus outcomes_read(TyClient *client, const TyClientPool *pool, uint32_t count,
                              TyClientOutcomes *outcomes)
{
    Map map = reply_map(client);
    TyClientBytes earned = map_bytes(map, "earned");
    TyClientBytes metrics = map_bytes(map, "metrics");
    if (earned.size != (uint64_t)count * pool->players * sizeof outcomes->earned[0] ||
        metrics.size % ((uint64_t)count * sizeof outcomes->metrics[0]) != 0) {
        reply_spoil(client);
    }
    *outcomes = (TyClientOutcomes){
        .count = count,
        .players = pool->players,
        .metric_count = (uint32_t)(metrics.size / count / sizeof outcomes->metrics[0]),
        .earned = numbers_copy(map, earned),
        .metrics = numbers_copy(map, metrics)};
    return reply_sound(client);
}

TyStatus ty_client_rollout(TyClient *client, const TyClientPool *pool,
                           const TyClientRollout *rollout, TyClientOutcomes *outcomes)
{
    uint32_t count = rollout->count > 0 ? rollout->count : 1;
    const Given given[] = {
        given_number(FIELD_OF_POOL, pool->id),
        given_number(FIELD_OF_SLOT, rollout->slot),
        given_text(FIELD_OF_AGENT, rollout->agent),
        given_number(FIELD_OF_COUNT, count),
        given_array(FIELD_OF_KEYS, rollout->keys, count),
        given_number(FIELD_OF_SEAT, (uint64_t)(int64_t)rollout->seat),
        given_number(FIELD_OF_FIRST, (uint64_t)((int64_t)rollout->first - 1)),
        given_unless_zero(FIELD_OF_MAX_STEPS, rollout->max_steps),
        given_unless_zero(FIELD_OF_DEADLINE, rollout->timeout_ms),
        GIVEN_END,
    };
    TyStatus status = request_ask(client, OP_ROLLOUT, given);
    return status.code == TY_OK ? outcomes_read(client, pool, count, outcomes) : status;
}

/* ---- Replays ---- */

TyStatus ty_client_replay_get(TyClient *client, const TyClientPool *pool, uint32_t slot,
                              int64_t episode, TyClientReplay *replay)
{
    const Given given[] = {given_number(FIELD_OF_POOL, pool->id), given_number(FIELD_OF_SLOT, slot),
                           given_number(FIELD_OF_EPISODE, (uint64_t)episode), GIVEN_END};
    TyStatus status = request_ask(client, OP_REPLAY_GET, given);
    if (status.code != TY_OK) {
        return status;
    }
    TyClientBytes data = map_bytes(reply_map(client), "data");
    *replay = (TyClientReplay){.episode = map_uint(reply_map(client), "episode", UINT64_MAX),
                               .bytes = data.bytes,
                               .size = data.size};
    return reply_sound(client);
}

TyStatus ty_client_replay_verify(TyClient *client, const void *bytes, size_t size,
                                 TyClientVerdict *verdict)
{
    const Given given[] = {given_values(FIELD_OF_CONTENT, bytes, size), GIVEN_END};
    TyStatus status = request_ask(client, OP_REPLAY_VERIFY, given);
    if (status.code != TY_OK) {
        return status;
    }
    verdict->episodes = (uint32_t)map_uint(reply_map(client), "episodes", UINT32_MAX);
    verdict->agrees = map_flag(reply_map(client), "agrees");
    verdict->gaps = (uint32_t)map_uint(reply_map(client), "gaps", UINT32_MAX);
    verdict->episode = map_int(reply_map(client), "episode", -1, INT32_MAX);
    verdict->step = map_int(reply_map(client), "step", -1, INT32_MAX);
    map_copy(reply_map(client), "why", verdict->why, sizeof verdict->why);
    return reply_sound(client);
}
