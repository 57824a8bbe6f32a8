/* An agent that plays seats of another client's pool, over ZeroMQ. */
#include "core/hash.h"
#include "core/status.h"
#include "proto/client.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE_MS = 10000, /* for rows, before they are asked for again */
    NOTES_MAX = 65536,   /* that go with one message */
};

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
    TyNotes *told;       /* of one choice; NULL: the agent is not asked */
    TyClientNote *notes; /* of the choices that are sent next */
    uint32_t note_count;
} Player;

static TyStatus player_check(const Player *player)
{
    const TyShape *shape = ty_shape(player->ruleset);
    const TyAgent *agent = player->play->agent;
    const char *game = ty_game_name(ty_ruleset_game(player->ruleset));
    const TyClientPool *pool = player->pool;
    if (strcmp(shape->spec, pool->ruleset) != 0 || shape->schema_hash != pool->schema_hash ||
        shape->row_size != pool->row_size || shape->action_count != pool->action_count) {
        return ty_status_fail(TY_BAD_CONFIG, "the pool plays %s, or the daemon has another version",
                              pool->ruleset);
    }
    if (agent->game != NULL && strcmp(agent->game, game) != 0) {
        return ty_status_fail(TY_BAD_CONFIG, "agent '%s' does not play %s", agent->name, game);
    }
    if (agent->plans) {
        return ty_status_fail(TY_BAD_CONFIG,
                              "agent '%s' plans with states, which stay in the daemon: let it sit "
                              "there, as a seat of the pool",
                              agent->name);
    }
    return ty_status_ok();
}

static TyStatus player_init(Player *player)
{
    const TyClientPool *pool = player->pool;
    size_t slots = pool->slots;
    player->stride = (player->play->agent->memory_size / 64 + 1) * 64;
    player->memory = aligned_alloc(64, slots * TY_SEATS_MAX * player->stride);
    player->episode = calloc(slots, sizeof player->episode[0]);
    player->actions = calloc(slots, sizeof player->actions[0]);
    bool whole = player->memory != NULL && player->episode != NULL && player->actions != NULL;
    if (player->play->notes) {
        player->told = calloc(1, sizeof *player->told);
        player->notes = calloc(NOTES_MAX, sizeof player->notes[0]);
        whole = whole && player->told != NULL && player->notes != NULL;
    }
    return whole ? ty_status_ok() : ty_status_fail(TY_NO_MEMORY, "no memory for %zu slots", slots);
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
        ty_agent_start(player->play->agent, memory, player->ruleset, seat, seed);
    }
}

/* Keeps what the agent told of its choice, as far as there is room. */
static void player_note(Player *player, uint32_t slot)
{
    for (uint32_t i = 0; i < player->told->count && player->note_count < NOTES_MAX; i++) {
        player->notes[player->note_count++] =
            (TyClientNote){.slot = slot, .note = player->told->list[i]};
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
    const TyView view = {.agent = player->play->agent,
                         .ruleset = player->ruleset,
                         .seat = rows->column[TY_COLUMN_SEAT][row],
                         .row = rows->column[TY_COLUMN_OBS] + (size_t)row * pool->row_size,
                         .mask = rows->column[TY_COLUMN_MASK] + (size_t)row * pool->action_count,
                         .notes = player->told};
    player->play->decisions++;
    if (player->told != NULL) {
        player->told->count = 0;
    }
    uint32_t action = player->play->agent->act(player_memory(player, slot, view.seat), &view);
    if (player->told != NULL) {
        player_note(player, slot);
    }
    return (int32_t)action;
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
    const TyClientWait patience = {.timeout_ms = PATIENCE_MS};
    const TyClientPlay *play = player->play;
    TyStatus status = ty_status_ok();
    while (status.code == TY_OK && (play->episodes == 0 || play->ended < play->episodes)) {
        TyClientRows rows;
        status = ty_client_recv(player->client, player->pool, &patience, &rows);
        if (status.code != TY_OK || rows.count == 0) {
            continue;
        }
        if (!rows_are_whole(&rows)) {
            return ty_status_fail(TY_IO, "the daemon's rows make no sense");
        }
        player->note_count = 0;
        for (uint32_t i = 0; i < rows.count; i++) {
            player->actions[i] = player_answer(player, &rows, i);
        }
        ty_client_note(player->client, player->notes, player->note_count);
        status = ty_client_send(player->client, player->pool, rows.slots, player->actions,
                                rows.count, NULL);
    }
    /* That the director closes the pool is how this normally ends. */
    TyClientError error = ty_client_error(player->client);
    bool closed = error == TY_ERROR_CLOSED || error == TY_ERROR_NO_POOL;
    return closed ? ty_status_ok() : status;
}

TyStatus ty_client_play(TyClient *client, const TyClientPool *pool, TyClientPlay *play)
{
    TyRuleset *own = NULL;
    TyStatus status =
        play->ruleset == NULL ? ty_ruleset_open(pool->ruleset, NULL, &own) : ty_status_ok();
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
    free(player.told);
    free(player.notes);
    ty_ruleset_close(own);
    return status;
}
