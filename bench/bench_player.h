/* A player for the pool of a cell of the bench, through one of the doors. */
#pragma once

#include "bench/bench_daemon.h"
#include "bench/bench_pool.h"
#include "proto/client.h"
#include "proto/client_shm.h"

/* Where the players of a run find what they talk to. */
typedef struct BenchStage {
    const TyRuleset *ruleset;
    BenchDaemon daemon;
    BenchBare *bare;
} BenchStage;

typedef struct BenchPlayer {
    BenchDoor door;
    uint32_t groups;
    uint32_t batch;     /* rows of a group */
    TyPool *pool;       /* in process */
    const TySlab *slab; /* in process and shared memory */
    TyShmClient *shm;
    TyClient *client; /* of the daemon, for any of its doors */
    TyClientPool client_pool;
    TyClientRows rows; /* of the last reply */
    int32_t *actions;  /* per slot */
    BenchBareLink *bare;
    BenchBareRequest request; /* of a bare player */
} BenchPlayer;

/* Opens a pool of its own. The player is closed also if that failed. */
TyStatus player_open(const BenchStage *stage, BenchDoor door, const TyPoolConfig *config,
                     BenchPlayer *player);
void player_close(BenchPlayer *player);
/* Chooses the actions of a group, gives them away, waits for what comes of them: `rows` that are
 * ready, which are the decisions that come next. It may be another group than the one that is asked
 * for, if that is under way too. False if the other side is gone. */
void player_think(BenchPlayer *player, uint32_t group);
void player_send(BenchPlayer *player, uint32_t group);
bool player_wait(BenchPlayer *player, uint32_t *group, uint32_t *rows);
