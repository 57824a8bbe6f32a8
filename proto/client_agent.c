/* An agent that plays seats of somebody's pool, over ZeroMQ. */
#include "core/hash.h"
#include "core/status.h"
#include "proto/client.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 10000 /* for rows, before they are asked for again */ };

/* The agent in every seat of every slot. */
typedef struct Player {
    TyClient *client;
    const TyClientPool *pool;
    TyClientPlay *play;
    const TyRuleset *ruleset;
    size_t stride;     /* of memories */
    uint8_t *memory;   /* per slot and seat */
    uint64_t *episode; /* per slot: the one that the memories are of, plus 1 */
    int32_t *actions;
} Player;

static TyStatus player_check(const Player *player)
{
    const TyShape *shape = ty_shape(player->ruleset);
    const TyAgent *agent = player->play->agent;
    const char *game = ty_game_name(ty_ruleset_game(player->ruleset));
    const TyClientPool *pool = player->pool;
    if (strcmp(shape->spec, pool->ruleset) != 0 || shape->schema_hash != pool->schema_hash ||
        shape->row_size != pool->row_size || shape->action_count != pool->action_count) {
        return status_fail(TY_BAD_CONFIG, "the pool plays %s, or the daemon has another version",
                           pool->ruleset);
    }
    if (agent->game != NULL && strcmp(agent->game, game) != 0) {
        return status_fail(TY_BAD_CONFIG, "agent '%s' does not play %s", agent->name, game);
    }
    if (agent->plans) {
        return status_fail(TY_BAD_CONFIG,
                           "agent '%s' plans with states, which stay in the daemon: let it sit "
                           "there, as a seat of the pool",
                           agent->name);
    }
    return status_ok();
}

static TyStatus player_init(Player *player)
{
    const TyClientPool *pool = player->pool;
    size_t slots = pool->group[pool->groups - 1].first + pool->group[pool->groups - 1].rows;
    player->stride = (player->play->agent->memory_size / 64 + 1) * 64;
    player->memory = aligned_alloc(64, slots * TY_SEATS_MAX * player->stride);
    player->episode = calloc(slots, sizeof player->episode[0]);
    player->actions = calloc(slots, sizeof player->actions[0]);
    bool whole = player->memory != NULL && player->episode != NULL && player->actions != NULL;
    return whole ? status_ok() : status_fail(TY_NO_MEMORY, "no memory for %zu slots", slots);
}

static void *player_memory(const Player *player, uint32_t slot, uint32_t seat)
{
    return player->memory + ((size_t)slot * TY_SEATS_MAX + seat) * player->stride;
}

/* A new episode begins in the slot. */
static void player_start(Player *player, uint32_t slot, uint64_t episode)
{
    player->episode[slot] = episode;
    for (uint32_t i = 0; i < player->pool->seat_count; i++) {
        uint32_t seat = player->pool->seats[i];
        uint64_t seed =
            hash_mix(player->play->seed + hash_mix(episode) + (uint64_t)slot * TY_SEATS_MAX + seat);
        void *memory = player_memory(player, slot, seat);
        memset(memory, 0, player->stride);
        player->play->agent->start(memory, player->ruleset, seat, seed);
    }
}

/* The answer to one row; an ending is acknowledged. */
static int32_t player_answer(Player *player, const TyClientRows *rows, uint32_t row)
{
    const TyClientPool *pool = player->pool;
    uint32_t slot = rows->slots[row];
    uint32_t number;
    if (rows->column[TY_COLUMN_TERMINATED][row] || rows->column[TY_COLUMN_TRUNCATED][row]) {
        player->play->ended++;
        player->episode[slot] = 0;
        return 0;
    }
    memcpy(&number, rows->column[TY_COLUMN_EPISODE] + (size_t)row * sizeof number, sizeof number);
    if (player->episode[slot] != number + UINT64_C(1)) {
        player_start(player, slot, number + UINT64_C(1));
    }
    const TyView view = {.ruleset = player->ruleset,
                         .seat = rows->column[TY_COLUMN_SEAT][row],
                         .row = rows->column[TY_COLUMN_OBS] + (size_t)row * pool->row_size,
                         .mask = rows->column[TY_COLUMN_MASK] + (size_t)row * pool->action_count};
    player->play->decisions++;
    return (int32_t)player->play->agent->act(player_memory(player, slot, view.seat), &view);
}

/* True if the rows have all that an answer looks at. */
static bool rows_are_whole(const TyClientRows *rows)
{
    static const TyColumn needed[] = {TY_COLUMN_TERMINATED, TY_COLUMN_TRUNCATED, TY_COLUMN_EPISODE,
                                      TY_COLUMN_SEAT,       TY_COLUMN_OBS,       TY_COLUMN_MASK};
    bool whole = rows->slots != NULL;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        whole = whole && rows->column[needed[i]] != NULL;
    }
    for (uint32_t i = 0; whole && i < rows->count; i++) {
        whole = rows->column[TY_COLUMN_TERMINATED][i] || rows->column[TY_COLUMN_TRUNCATED][i] ||
                rows->column[TY_COLUMN_SEAT][i] < TY_SEATS_MAX;
    }
    return whole;
}

static TyStatus player_run(Player *player)
{
    const TyClientPlay *play = player->play;
    TyStatus status = status_ok();
    while (status.code == TY_OK && (play->episodes == 0 || play->ended < play->episodes)) {
        TyClientRows rows;
        status = ty_client_recv(player->client, player->pool, 1, PATIENCE_MS, &rows);
        if (status.code != TY_OK || rows.count == 0) {
            continue;
        }
        if (!rows_are_whole(&rows)) {
            return status_fail(TY_IO, "the daemon's rows make no sense");
        }
        for (uint32_t i = 0; i < rows.count; i++) {
            player->actions[i] = player_answer(player, &rows, i);
        }
        status =
            ty_client_send(player->client, player->pool, rows.slots, player->actions, rows.count);
    }
    /* That the director closes the pool is how this normally ends. */
    bool closed =
        strncmp(status.message, "closed", 6) == 0 || strncmp(status.message, "no_pool", 7) == 0;
    return closed ? status_ok() : status;
}

TyStatus ty_client_play(TyClient *client, const TyClientPool *pool, TyClientPlay *play)
{
    TyRuleset *own = NULL;
    TyStatus status =
        play->ruleset == NULL ? ty_ruleset_open(pool->ruleset, NULL, &own) : status_ok();
    Player player = {.client = client,
                     .pool = pool,
                     .play = play,
                     .ruleset = play->ruleset != NULL ? play->ruleset : own};
    play->decisions = play->ended = 0;
    if (status.code == TY_OK) {
        status = player_check(&player);
    }
    if (status.code == TY_OK) {
        status = player_init(&player);
    }
    if (status.code == TY_OK) {
        status = player_run(&player);
    }
    free(player.memory);
    free(player.episode);
    free(player.actions);
    ty_ruleset_close(own);
    return status;
}
