/* What a daemon says of itself: its games and limits in the hello, its statistics. */
#include "proto/client_internal.h"

#include <string.h>

/* ---- Hello ---- */

static TyFieldKind field_kind(Map map)
{
    static const char *const kinds[] = {[TY_FIELD_INT] = "int",
                                        [TY_FIELD_FLAG] = "flag",
                                        [TY_FIELD_CHOICE] = "choice",
                                        [TY_FIELD_FILE] = "file",
                                        [TY_FIELD_FRACTION] = "fraction"};
    const char *word = map_text(map, "kind");
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i], word) == 0) {
            return (TyFieldKind)i;
        }
    }
    reply_spoil(map.client);
    return TY_FIELD_INT;
}

static const TyField *fields_read(Map game, uint32_t *count)
{
    Map entry = map_list(game, "keys", count);
    TyField *fields = reply_room(game.client, *count, sizeof fields[0]);
    for (uint32_t i = 0; fields != NULL && i < *count; i++, map_next(&entry)) {
        uint32_t choices;
        fields[i] = (TyField){.key = map_text(entry, "key"),
                              .kind = field_kind(entry),
                              .standard = map_int(entry, "standard", INT32_MIN, INT32_MAX),
                              .minimum = map_int(entry, "minimum", INT32_MIN, INT32_MAX),
                              .maximum = map_int(entry, "maximum", INT32_MIN, INT32_MAX),
                              .choices = map_texts(entry, "choices", &choices),
                              .help = map_text(entry, "help")};
    }
    return fields;
}

static const TyClientGame *games_read(Map hello, uint32_t *count)
{
    Map entry = map_list(hello, "games", count);
    TyClientGame *games = reply_room(hello.client, *count, sizeof games[0]);
    for (uint32_t i = 0; games != NULL && i < *count; i++, map_next(&entry)) {
        TyClientGame *game = &games[i];
        game->name = map_text(entry, "game");
        game->title = map_text(entry, "title");
        game->rules_version = (uint32_t)map_uint(entry, "rules_version", UINT32_MAX);
        game->ruleset = map_text(entry, "ruleset");
        game->players = (uint32_t)map_uint(entry, "players", TY_PLAYERS_MAX);
        game->agents = map_texts(entry, "agents", &game->agent_count);
        game->fields = fields_read(entry, &game->field_count);
    }
    return games;
}

/* The map from names to numbers. */
static const TyClientLimit *limits_read(Map hello, uint32_t *count)
{
    Map inner;
    WireItem item = {.count = 0};
    *count = 0;
    if (!map_inner(hello, "limits", &inner)) {
        return NULL;
    }
    wire_item(&inner.at, inner.end, &item);
    TyClientLimit *limits = reply_room(hello.client, item.count, sizeof limits[0]);
    *count = limits != NULL ? item.count : 0;
    for (uint32_t i = 0; i < *count; i++) {
        WireItem value;
        limits[i].name = item_text(hello.client, &inner.at, inner.end);
        wire_item(&inner.at, inner.end, &value);
        if (value.kind != WIRE_UINT) {
            reply_spoil(hello.client);
            *count = 0;
        }
        limits[i].value = value.number;
    }
    return limits;
}

static bool list_has(const char *const *list, uint32_t count, const char *word)
{
    bool has = false;
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        has = has || strcmp(list[i], word) == 0;
    }
    return has;
}

TyStatus daemon_read(TyClient *client)
{
    Map hello = reply_map(client);
    TyClientDaemon *daemon = &client->daemon;
    uint32_t count = 0;
    const char *const *offers = map_texts(hello, "capabilities", &count);
    *daemon = (TyClientDaemon){.version = map_text(hello, "version"),
                               .shm_path = map_text(hello, "shm"),
                               .has_shm = list_has(offers, count, "shm"),
                               .has_log = list_has(offers, count, "log"),
                               .has_boards = list_has(offers, count, "boards")};
    daemon->games = games_read(hello, &daemon->game_count);
    daemon->limits = limits_read(hello, &daemon->limit_count);
    client->daemon_room = client->room;
    client->room = NULL;
    return reply_sound(client);
}

const TyClientDaemon *ty_client_daemon(const TyClient *client)
{
    return &client->daemon;
}

/* ---- Statistics ---- */

static const TyClientPoolStats *pools_read(Map stats, uint32_t *count)
{
    Map entry = map_list(stats, "pools", count);
    TyClientPoolStats *pools = reply_room(stats.client, *count, sizeof pools[0]);
    for (uint32_t i = 0; pools != NULL && i < *count; i++, map_next(&entry)) {
        pools[i] = (TyClientPoolStats){
            .pool = (uint32_t)map_uint(entry, "pool", UINT32_MAX),
            .session = map_uint(entry, "session", UINT64_MAX),
            .ruleset = map_text(entry, "ruleset"),
            .slots = map_uint(entry, "slots", UINT64_MAX),
            .groups = map_uint(entry, "groups", UINT64_MAX),
            .members = map_uint(entry, "members", UINT64_MAX),
            .decisions = map_uint(entry, "decisions", UINT64_MAX),
            .episodes = map_uint(entry, "episodes", UINT64_MAX),
            .waiting = map_uint(entry, "waiting", UINT64_MAX),
            .jobs = map_uint(entry, "jobs", UINT64_MAX),
            .bytes = map_uint(entry, "bytes", UINT64_MAX),
            .watch = map_text(entry, "watch"),
        };
    }
    return pools;
}

TyStatus ty_client_stats(TyClient *client, TyClientStats *stats)
{
    TyStatus status = request_ask(client, OP_STATS, (const Given[]){GIVEN_END});
    if (status.code != TY_OK) {
        return status;
    }
    Map map = reply_map(client);
    *stats = (TyClientStats){.uptime_ms = map_uint(map, "uptime_ms", UINT64_MAX),
                             .sessions = map_uint(map, "sessions", UINT64_MAX),
                             .decisions = map_uint(map, "decisions", UINT64_MAX),
                             .bytes = map_uint(map, "bytes", UINT64_MAX)};
    stats->pools = pools_read(map, &stats->pool_count);
    return reply_sound(client);
}

TyStatus ty_client_ping(TyClient *client)
{
    return request_ask(client, OP_PING, (const Given[]){GIVEN_END});
}

/* ---- Looking after it ---- */

static TyStatus health_ask(TyClient *client, TyClientHealth *health)
{
    uint8_t bytes[64];
    uint64_t id = client->next_id++;
    client->op = OP_HEALTH;
    size_t size = request_write(bytes, sizeof bytes, OP_HEALTH, id, (const Given[]){GIVEN_END});
    TyStatus status = zmq_send(client->socket, bytes, size, 0) < 0 ? zmq_failure("health")
                                                                   : client_await(client, id);
    if (status.code != TY_OK) {
        return status;
    }
    Map map = reply_map(client);
    health->healthy = map_flag(map, "healthy");
    map_copy(map, "trouble", health->trouble, sizeof health->trouble);
    map_copy(map, "version", health->version, sizeof health->version);
    health->uptime_ms = map_uint(map, "uptime_ms", UINT64_MAX);
    return reply_sound(client);
}

TyStatus ty_client_health(const TyClientConfig *config, TyClientHealth *health)
{
    TyClient *client = NULL;
    *health = (TyClientHealth){.healthy = false};
    TyStatus status = client_begin(config, &client);
    if (status.code == TY_OK) {
        status = health_ask(client, health);
    }
    ty_client_close(client);
    return status;
}

TyStatus ty_client_sessions(TyClient *client, TyClientSessions *sessions)
{
    *sessions = (TyClientSessions){.count = 0};
    TyStatus status = request_ask(client, OP_SESSIONS, (const Given[]){GIVEN_END});
    if (status.code != TY_OK) {
        return status;
    }
    Map entry = map_list(reply_map(client), "sessions", &sessions->count);
    TyClientSession *list = reply_room(client, sessions->count, sizeof list[0]);
    for (uint32_t i = 0; list != NULL && i < sessions->count; i++, map_next(&entry)) {
        list[i] = (TyClientSession){
            .number = map_uint(entry, "number", UINT64_MAX),
            .name = map_text(entry, "name"),
            .peer = map_text(entry, "peer"),
            .administrator = map_flag(entry, "administrator"),
            .connected = map_flag(entry, "connected"),
            .silent_ms = map_uint(entry, "silent_ms", UINT64_MAX),
            .pools = map_uint(entry, "pools", UINT64_MAX),
            .requests = map_uint(entry, "requests", UINT64_MAX),
            .bytes = map_uint(entry, "bytes", UINT64_MAX),
        };
    }
    sessions->sessions = list;
    return reply_sound(client);
}

TyStatus ty_client_end_session(TyClient *client, uint64_t number)
{
    return request_ask(client, OP_END_SESSION,
                       (const Given[]){given_number(FIELD_OF_NUMBER, number), GIVEN_END});
}

TyStatus ty_client_close_any_pool(TyClient *client, uint32_t pool)
{
    return request_ask(client, OP_CLOSE,
                       (const Given[]){given_number(FIELD_OF_POOL, pool), GIVEN_END});
}
