/* A player for the pool of a cell of the bench. */
#include "bench/bench_player.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 1, WAIT_MS = 10000 };

/* What a learner reads, masks as bits. */
static const uint32_t learner_columns =
    1u << TY_COLUMN_OBS | 1u << TY_COLUMN_MASK_BITS | 1u << TY_COLUMN_REWARD |
    1u << TY_COLUMN_SEAT | 1u << TY_COLUMN_READY | 1u << TY_COLUMN_TERMINATED |
    1u << TY_COLUMN_TRUNCATED | 1u << TY_COLUMN_EPISODE | 1u << TY_COLUMN_STEP;

/* ---- Opening ---- */

static TyStatus client_open(const BenchStage *stage, const TyPoolConfig *config,
                            BenchPlayer *player)
{
    bool tcp = player->door == BENCH_TCP;
    const BenchDaemon *daemon = &stage->daemon;
    const TyClientConfig where = {.endpoint = tcp ? daemon->tcp : daemon->ipc,
                                  .access_token = tcp ? daemon->token : NULL,
                                  .name = "bench",
                                  .timeout_ms = WAIT_MS};
    const TyClientOpen open = {.ruleset = ty_shape(stage->ruleset)->spec,
                               .slots = config->slots,
                               .groups = config->groups,
                               .threads = config->threads,
                               .columns = player->door == BENCH_IPC_ALL ? 0 : learner_columns,
                               .shm = player->door == BENCH_SHM};
    TyStatus status = ty_client_connect(&where, &player->client);
    if (status.code == TY_OK) {
        status = ty_client_open_pool(player->client, &open, &player->client_pool);
    }
    return status;
}

static TyStatus zmq_open(const BenchStage *stage, const TyPoolConfig *config, BenchPlayer *player)
{
    player->actions = calloc(config->slots, sizeof player->actions[0]);
    if (player->actions == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "bench: no memory for %u actions", config->slots);
    }
    TyStatus status = client_open(stage, config, player);
    if (status.code == TY_OK) {
        status = ty_client_reset(player->client, &player->client_pool, NULL, NULL, &player->rows);
    }
    if (status.code == TY_OK) {
        ty_client_sample(&player->client_pool, &player->rows, SEED, player->actions);
    }
    return status;
}

static TyStatus shm_open_player(const BenchStage *stage, const TyPoolConfig *config,
                                BenchPlayer *player)
{
    TyStatus status = client_open(stage, config, player);
    if (status.code != TY_OK) {
        return status;
    }
    status = ty_client_attach(player->client, &player->client_pool, &player->shm);
    if (status.code == TY_OK) {
        player->slab = ty_shm_slab(player->shm);
    }
    return status;
}

TyStatus player_open(const BenchStage *stage, BenchDoor door, const TyPoolConfig *config,
                     BenchPlayer *player)
{
    TyStatus status = ty_status_ok();
    *player = (BenchPlayer){
        .door = door, .groups = config->groups, .batch = config->slots / config->groups};
    switch (door) {
    case BENCH_INPROC:
        status = ty_pool_open(stage->ruleset, config, &player->pool);
        player->slab = status.code == TY_OK ? ty_pool_slab(player->pool, 0) : NULL;
        break;
    case BENCH_SHM:
        status = shm_open_player(stage, config, player);
        break;
    case BENCH_IPC:
    case BENCH_IPC_ALL:
    case BENCH_TCP:
        status = zmq_open(stage, config, player);
        break;
    case BENCH_STEP_IPC:
        player->request.slots = config->slots;
        player->request.groups = config->groups;
        /* fall through */
    case BENCH_BARE_IPC:
    case BENCH_BARE_TCP:
        status = bench_bare_connect(stage->bare, door == BENCH_BARE_TCP, &player->bare);
        break;
    case BENCH_DOORS:
        break;
    }
    for (uint32_t group = 0; player->slab != NULL && group < player->groups; group++) {
        player_think(player, group);
    }
    return status;
}

void player_close(BenchPlayer *player)
{
    ty_shm_close(player->shm);
    ty_client_close(player->client);
    ty_pool_close(player->pool);
    bench_bare_disconnect(player->bare);
    free(player->actions);
    *player = (BenchPlayer){.groups = 0};
}

/* ---- Playing ---- */

void player_think(BenchPlayer *player, uint32_t group)
{
    if (player->slab != NULL) {
        ty_sample_rows(player->slab, group, SEED);
    } else if (player->client != NULL) {
        ty_client_sample(&player->client_pool, &player->rows, SEED,
                         player->actions + player->client_pool.group[group].first);
    }
}

void player_send(BenchPlayer *player, uint32_t group)
{
    if (player->shm != NULL) {
        ty_shm_submit(player->shm, group, NULL);
    } else if (player->client != NULL) {
        ty_client_submit(player->client, &player->client_pool, group,
                         player->actions + player->client_pool.group[group].first);
    } else if (player->bare != NULL) {
        player->request.group = group;
        bench_bare_send(player->bare, &player->request);
    }
}

bool player_wait(BenchPlayer *player, uint32_t *group, uint32_t *rows)
{
    if (player->pool != NULL) {
        *rows = ty_pool_step(player->pool, 0, *group, NULL);
        return true;
    }
    if (player->shm != NULL) {
        bool good = ty_shm_wait(player->shm, *group, WAIT_MS) == TY_SHM_READY;
        *rows = ty_shm_news(player->shm, *group).ready;
        return good;
    }
    if (player->client != NULL) {
        TyStatus status = ty_client_wait(player->client, &player->client_pool, &player->rows);
        *group = status.code == TY_OK ? (uint32_t)player->rows.group : *group;
        *rows = player->rows.ready;
        return status.code == TY_OK;
    }
    *rows = player->batch;
    return bench_bare_receive(player->bare);
}
