/* trainyard agent: a built-in agent joins seats of a pool of a running daemon. */
#include "cli/remote.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The agent in every seat of every slot. */
typedef struct Player {
    const Settings *settings;
    TyClient *client;
    TyClientPool pool;
    TyRuleset *ruleset;
    const TyAgent *agent;
    size_t stride;
    uint8_t *memory;   /* per slot and seat */
    uint64_t *episode; /* per slot: the one that the memories are of, plus 1 */
    int32_t *actions;
    uint64_t decisions;
    uint64_t endings;
} Player;

static uint32_t player_slots(const Player *player)
{
    const TyClientPool *pool = &player->pool;
    return pool->group[pool->groups - 1].first + pool->group[pool->groups - 1].rows;
}

static void *player_memory(const Player *player, uint32_t slot, uint32_t seat)
{
    return player->memory + ((size_t)slot * TY_SEATS_MAX + seat) * player->stride;
}

/* The agent that the command line names, for what the pool plays. */
static TyStatus player_agent(Player *player)
{
    const char *name = player->settings->arguments[0];
    const TyGame *game = ty_ruleset_game(player->ruleset);
    if (strcmp(ty_shape(player->ruleset)->spec, player->pool.ruleset) != 0 ||
        ty_shape(player->ruleset)->schema_hash != player->pool.schema_hash) {
        return status_fail(TY_BAD_CONFIG, "the pool plays %s, or the daemon has another version",
                           player->pool.ruleset);
    }
    player->agent = ty_agent_find(game, name);
    if (player->agent == NULL) {
        return status_fail(TY_BAD_CONFIG, "agent '%s' does not play %s", name, ty_game_name(game));
    }
    if (player->agent->plans) {
        return status_fail(TY_BAD_CONFIG,
                           "agent '%s' plans with states, which stay in the daemon: let it sit "
                           "there, as a seat of the pool",
                           name);
    }
    return status_ok();
}

static TyStatus player_prepare(Player *player)
{
    TyStatus status = player->ruleset == NULL
                          ? ty_ruleset_open(player->pool.ruleset, NULL, &player->ruleset)
                          : status_ok();
    if (status.code == TY_OK) {
        status = player_agent(player);
    }
    if (status.code != TY_OK) {
        return status;
    }
    size_t slots = player_slots(player);
    player->stride = (player->agent->memory_size / 64 + 1) * 64;
    player->memory = aligned_alloc(64, slots * TY_SEATS_MAX * player->stride);
    player->episode = calloc(slots, sizeof player->episode[0]);
    player->actions = calloc(slots, sizeof player->actions[0]);
    bool whole = player->memory != NULL && player->episode != NULL && player->actions != NULL;
    return whole ? status_ok() : status_fail(TY_NO_MEMORY, "no memory for %zu slots", slots);
}

static uint32_t row_u32(const TyClientRows *rows, TyColumn column, uint32_t row)
{
    uint32_t value = 0;
    memcpy(&value, rows->column[column] + (size_t)row * 4, sizeof value);
    return value;
}

/* The answer to one row; an ending is acknowledged. */
static int32_t row_answer(Player *player, const TyClientRows *rows, uint32_t row)
{
    uint32_t slot = rows->slots[row];
    uint32_t seat = rows->column[TY_COLUMN_SEAT][row];
    uint64_t episode = row_u32(rows, TY_COLUMN_EPISODE, row) + UINT64_C(1);
    if (rows->column[TY_COLUMN_TERMINATED][row] || rows->column[TY_COLUMN_TRUNCATED][row]) {
        player->endings++;
        player->episode[slot] = 0;
        return 0;
    }
    if (player->episode[slot] != episode) {
        player->episode[slot] = episode;
        for (uint32_t i = 0; i < player->pool.seat_count; i++) {
            uint32_t own = player->pool.seats[i];
            uint64_t seed = hash_mix(player->settings->seed + hash_mix(episode) +
                                     (uint64_t)slot * TY_SEATS_MAX + own);
            memset(player_memory(player, slot, own), 0, player->stride);
            player->agent->start(player_memory(player, slot, own), player->ruleset, own, seed);
        }
    }
    const TyView view = {.ruleset = player->ruleset,
                         .seat = seat,
                         .row = rows->column[TY_COLUMN_OBS] + (size_t)row * player->pool.row_size,
                         .mask = rows->column[TY_COLUMN_MASK] +
                                 (size_t)row * player->pool.action_count};
    player->decisions++;
    return (int32_t)player->agent->act(player_memory(player, slot, seat), &view);
}

/* Answers rows as they come, until the pool is closed or enough episodes have ended. */
static TyStatus player_play(Player *player)
{
    TyStatus status = status_ok();
    uint64_t wanted = player->settings->episodes;
    while (status.code == TY_OK && (wanted == 0 || player->endings < wanted)) {
        TyClientRows rows;
        status = ty_client_recv(player->client, &player->pool, 1, 10000, &rows);
        if (status.code != TY_OK || rows.count == 0) {
            continue;
        }
        for (uint32_t i = 0; i < rows.count; i++) {
            player->actions[i] = row_answer(player, &rows, i);
        }
        status =
            ty_client_send(player->client, &player->pool, rows.slots, player->actions, rows.count);
    }
    return status;
}

/* Reads "0,2" into seats; false if it is not a list of seats. */
static bool seats_parse(const char *text, uint8_t seats[TY_SEATS_MAX], uint32_t *count)
{
    *count = 0;
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        if (*at < '0' || *at >= '0' + TY_SEATS_MAX || *count == TY_SEATS_MAX ||
            (at[1] != '\0' && at[1] != ',')) {
            return false;
        }
        seats[(*count)++] = (uint8_t)(*at - '0');
        at += at[1] == ',';
    }
    return true;
}

static int agent_run(const Settings *settings)
{
    Player player = {.settings = settings};
    uint8_t seats[TY_SEATS_MAX];
    uint32_t seat_count = 0;
    if (!settings_given(settings, "pool") || settings->invite == NULL) {
        return cli_usage_error(settings, "--pool and --invite are needed");
    }
    if (!seats_parse(settings->seats, seats, &seat_count)) {
        return cli_usage_error(settings, "--seats: '%s' is not a list of seats such as 0,2",
                               settings->seats);
    }
    int result = settings->ruleset != NULL
                     ? ruleset_open(settings, settings->ruleset, &player.ruleset)
                     : CLI_OK;
    if (result == CLI_OK) {
        result = remote_connect(settings, &player.client);
    }
    if (result != CLI_OK) {
        ty_ruleset_close(player.ruleset);
        return result;
    }
    TyStatus status = ty_client_join(player.client, (uint32_t)settings->pool, settings->invite,
                                     seats, seat_count, false, &player.pool);
    if (status.code == TY_OK) {
        status = player_prepare(&player);
    }
    if (status.code == TY_OK) {
        fprintf(stderr, "%s plays %u seats of %s\n", player.agent->name, player.pool.seat_count,
                player.pool.ruleset);
        status = player_play(&player);
    }
    /* That the director closes the pool is how this normally ends. */
    bool closed =
        strncmp(status.message, "closed", 6) == 0 || strncmp(status.message, "no_pool", 7) == 0;
    if (status.code != TY_OK && !closed) {
        result = cli_failure(settings, "%s", status.message);
    } else {
        printf("%llu decisions, %llu episodes\n", (unsigned long long)player.decisions,
               (unsigned long long)player.endings);
    }
    free(player.memory);
    free(player.episode);
    free(player.actions);
    ty_ruleset_close(player.ruleset);
    ty_client_close(player.client);
    return result;
}

static const Option agent_options[] = {
    OPTIONS_CONNECT,
    {.name = "pool",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, pool),
     .minimum = 1,
     .maximum = UINT32_MAX,
     .help = "The number of the pool."},
    {.name = "invite",
     .value = "TOKEN",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, invite),
     .help = "What the director of the pool got from the daemon."},
    {.name = "seats",
     .value = "A,B",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, seats),
     .standard = "every open seat",
     .help = "Which seats to take."},
    {.name = "episodes",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, episodes),
     .maximum = UINT64_MAX,
     .standard = "0",
     .help = "Stop after so many; 0: when the pool is closed."},
    {.name = "ruleset",
     .value = "RULESET",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, ruleset),
     .standard = "what the pool says",
     .help = "What is played; needed for boards of your own."},
    OPTION_SEED,
    {.name = NULL},
};

const Command command_agent = {
    .name = "agent",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "let a built-in agent join a pool of a daemon",
    .details = "Connects to a daemon, takes open seats of a pool, and lets a built-in agent play\n"
               "them until the pool is closed. Your own agent does the same with proto/client.h.",
    .example = "  trainyard agent expert --pool 1 --invite 0123456789abcdef --seats 1",
    .options = agent_options,
    .run = agent_run,
};
