/* The yard: a daemon's games and pools, the tables, and who may see what of them. */
#define _GNU_SOURCE
#include "cli/remote.h"
#include "core/status.h"
#include "serve/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- Secrets -----------------------------------------------------------------------------------
 */

TyStatus secret_make(Secret *secret)
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        return ty_status_fail(TY_IO, "no random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(secret->text + 2 * i, 3, "%02x", bytes[i]);
    }
    return ty_status_ok();
}

bool secret_is(const Secret *secret, const char *text)
{
    size_t length = strlen(secret->text);
    unsigned difference = length == 0 || strlen(text) != length;
    for (size_t i = 0; i < length; i++) {
        unsigned char given = (unsigned char)text[strlen(text) == length ? i : 0];
        difference |= given ^ (unsigned char)secret->text[i];
    }
    return difference == 0;
}

/* What a table's tokens allow. */
static bool table_role(const Table *table, const char *token, Role *role)
{
    bool found = secret_is(&table->spectator, token);
    *role = (Role){.table = table->id, .seat = -1};
    for (uint32_t seat = 0; seat < table->pool.players; seat++) {
        if (table->kind[seat] == SEAT_GUEST && secret_is(&table->guest[seat], token)) {
            role->seat = (int32_t)seat;
            found = true;
        }
    }
    return found;
}

bool yard_role(Yard *yard, const char *token, Role *role)
{
    if (secret_is(&yard->owner, token)) {
        *role = (Role){.owner = true, .seat = -1};
        return true;
    }
    bool found = false;
    pthread_mutex_lock(&yard->mutex);
    for (uint32_t i = 0; i < SERVE_TABLES_MAX && !found; i++) {
        found = yard->tables[i].id != 0 && table_role(&yard->tables[i], token, role);
    }
    pthread_mutex_unlock(&yard->mutex);
    return found;
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

/* How a program reaches the daemon, for people to copy. */
static void command_write(Yard *yard)
{
    const Settings *settings = &yard->settings;
    const struct {
        const char *name;
        const char *value;
    } options[] = {{"connect", settings->connect},
                   {"token", settings->token},
                   {"keys", settings->keys},
                   {"server-key", settings->server_key}};
    TyText text = ty_text_init(yard->agent_command, sizeof yard->agent_command);
    for (uint32_t i = 0; i < 4; i++) {
        if (options[i].value != NULL) {
            ty_text_add(&text, " --%s '%s'", options[i].name, options[i].value);
        }
    }
}

TyStatus yard_open(Yard *yard, const Settings *settings, const char *endpoint)
{
    *yard = (Yard){.settings = *settings};
    yard->settings.connect = endpoint;
    pthread_mutex_init(&yard->mutex, NULL);
    pthread_mutex_init(&yard->shown.mutex, NULL);
    for (uint32_t i = 0; i < SERVE_TABLES_MAX; i++) {
        pthread_mutex_init(&yard->tables[i].mutex, NULL);
    }
    command_write(yard);
    TyStatus status = secret_make(&yard->owner);
    if (status.code != TY_OK) {
        return status;
    }
    /* An administrator sees all pools; where that is not allowed, nobody else's. */
    yard->settings.admin = true;
    status = remote_client(&yard->settings, &yard->client);
    yard->settings.admin = false;
    return status.code == TY_OK ? status : remote_client(&yard->settings, &yard->client);
}

void yard_close(Yard *yard)
{
    for (uint32_t i = 0; i < SERVE_TABLES_MAX; i++) {
        ty_client_close(yard->tables[i].client);
        pthread_mutex_destroy(&yard->tables[i].mutex);
    }
    ty_client_close(yard->client);
    free(yard->shown.svg);
    pthread_mutex_destroy(&yard->shown.mutex);
    pthread_mutex_destroy(&yard->mutex);
}

void yard_ping(Yard *yard)
{
    pthread_mutex_lock(&yard->mutex);
    ty_client_ping(yard->client);
    pthread_mutex_unlock(&yard->mutex);
    for (uint32_t i = 0; i < SERVE_TABLES_MAX; i++) {
        Table *table = &yard->tables[i];
        if (pthread_mutex_trylock(&table->mutex) == 0) {
            if (table->id != 0) {
                ty_client_ping(table->client);
            }
            pthread_mutex_unlock(&table->mutex);
        }
    }
}

/* ---- Watching ----------------------------------------------------------------------------------
 */

TyStatus yard_watch(Yard *yard, uint32_t pool, const char *token)
{
    TyClientText text;
    pthread_mutex_lock(&yard->mutex);
    TyStatus status = ty_client_watch(yard->client, pool, token, 0, &text);
    uint32_t place = 0;
    while (place < yard->watched_count && yard->watched[place].pool != pool) {
        place++;
    }
    if (status.code == TY_OK && place == SERVE_WATCHED_MAX) {
        status = ty_status_fail(TY_LIMIT, "%d pools are watched already", SERVE_WATCHED_MAX);
    }
    if (status.code == TY_OK) {
        yard->watched[place].pool = pool;
        snprintf(yard->watched[place].token, TY_CLIENT_TOKEN_SIZE, "%s", token);
        yard->watched_count += place == yard->watched_count;
    }
    pthread_mutex_unlock(&yard->mutex);
    return status;
}

bool yard_watch_token(Yard *yard, uint32_t pool, char token[TY_CLIENT_TOKEN_SIZE])
{
    TyClientStats stats;
    token[0] = '\0';
    pthread_mutex_lock(&yard->mutex);
    for (uint32_t i = 0; i < yard->watched_count; i++) {
        if (yard->watched[i].pool == pool) {
            snprintf(token, TY_CLIENT_TOKEN_SIZE, "%s", yard->watched[i].token);
        }
    }
    if (token[0] == '\0' && ty_client_stats(yard->client, &stats).code == TY_OK) {
        for (uint32_t i = 0; i < stats.pool_count; i++) {
            if (stats.pools[i].pool == pool) {
                snprintf(token, TY_CLIENT_TOKEN_SIZE, "%s", stats.pools[i].watch);
            }
        }
    }
    pthread_mutex_unlock(&yard->mutex);
    return token[0] != '\0';
}

/* Drawings follow each other; each ends with a line of its own. */
void *shown_read(void *user)
{
    Yard *yard = user;
    Shown *shown = &yard->shown;
    char *text = cli_memory(malloc(TY_SVG_MAX));
    size_t length = 0;
    while (fgets(text + length, (int)(TY_SVG_MAX - length), stdin) != NULL) {
        bool whole = strcmp(text + length, "</svg>\n") == 0;
        length += strlen(text + length);
        if (whole) {
            char *copy = cli_memory(strdup(text));
            pthread_mutex_lock(&shown->mutex);
            free(shown->svg);
            shown->svg = copy;
            shown->number++;
            pthread_mutex_unlock(&shown->mutex);
        }
        length = whole || length + 1 >= TY_SVG_MAX ? 0 : length;
    }
    free(text);
    kill(getpid(), SIGTERM); /* nothing more is to be shown */
    return NULL;
}

/* ---- Told --------------------------------------------------------------------------------------
 */

static void field_json(const TyField *field, TyJson *json)
{
    static const char *const kinds[] = {[TY_FIELD_INT] = "int",
                                        [TY_FIELD_FLAG] = "flag",
                                        [TY_FIELD_CHOICE] = "choice",
                                        [TY_FIELD_FILE] = "file"};
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "key", field->key);
    ty_json_put_string(json, "kind", kinds[field->kind]);
    ty_json_put_int(json, "standard", field->standard);
    ty_json_put_int(json, "minimum", field->minimum);
    ty_json_put_int(json, "maximum", field->maximum);
    ty_json_put_string(json, "help", field->help);
    ty_json_open(json, "choices", '[');
    for (uint32_t i = 0; field->choices != NULL && field->choices[i] != NULL; i++) {
        ty_json_put_string(json, NULL, field->choices[i]);
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
}

static void game_json(const TyClientGame *game, TyJson *json)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "game", game->name);
    ty_json_put_string(json, "title", game->title);
    ty_json_put_int(json, "players", game->players);
    ty_json_open(json, "agents", '[');
    for (uint32_t i = 0; i < game->agent_count; i++) {
        ty_json_put_string(json, NULL, game->agents[i]);
    }
    ty_json_close(json, ']');
    ty_json_open(json, "fields", '[');
    for (uint32_t i = 0; i < game->field_count; i++) {
        field_json(&game->fields[i], json);
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
}

static bool pool_is_table(const Yard *yard, uint32_t pool)
{
    for (uint32_t i = 0; i < SERVE_TABLES_MAX; i++) {
        if (yard->tables[i].id != 0 && yard->tables[i].pool.id == pool) {
            return true;
        }
    }
    return false;
}

static bool pool_is_watched(const Yard *yard, const TyClientPoolStats *pool)
{
    bool known = pool->watch[0] != '\0';
    for (uint32_t i = 0; i < yard->watched_count; i++) {
        known = known || yard->watched[i].pool == pool->pool;
    }
    return known;
}

/* Pools that this session sees, but for our own tables; and those whose tokens were named. */
static void pools_json(const Yard *yard, const TyClientStats *stats, TyJson *json)
{
    ty_json_open(json, "pools", '[');
    for (uint32_t i = 0; i < stats->pool_count; i++) {
        const TyClientPoolStats *pool = &stats->pools[i];
        if (!pool_is_table(yard, pool->pool)) {
            ty_json_open(json, NULL, '{');
            ty_json_put_int(json, "pool", pool->pool);
            ty_json_put_string(json, "ruleset", pool->ruleset);
            ty_json_put_int(json, "slots", (int64_t)pool->slots);
            ty_json_put_int(json, "decisions", (int64_t)pool->decisions);
            ty_json_put_int(json, "episodes", (int64_t)pool->episodes);
            ty_json_put_bool(json, "watch", pool_is_watched(yard, pool));
            ty_json_close(json, '}');
        }
    }
    for (uint32_t i = 0; i < yard->watched_count; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < stats->pool_count; k++) {
            listed = listed || stats->pools[k].pool == yard->watched[i].pool;
        }
        if (!listed) {
            ty_json_open(json, NULL, '{');
            ty_json_put_int(json, "pool", yard->watched[i].pool);
            ty_json_put_bool(json, "watch", true);
            ty_json_close(json, '}');
        }
    }
    ty_json_close(json, ']');
}

static TyStatus daemon_json(Yard *yard, TyJson *json)
{
    TyClientStats stats;
    pthread_mutex_lock(&yard->mutex);
    const TyClientDaemon *daemon = ty_client_daemon(yard->client);
    TyStatus status = ty_client_stats(yard->client, &stats);
    if (status.code == TY_OK) {
        ty_json_put_string(json, "version", daemon->version);
        ty_json_open(json, "games", '[');
        for (uint32_t i = 0; i < daemon->game_count; i++) {
            game_json(&daemon->games[i], json);
        }
        ty_json_close(json, ']');
        pools_json(yard, &stats, json);
    }
    pthread_mutex_unlock(&yard->mutex);
    return status;
}

TyStatus yard_json(Yard *yard, const Role *role, TyJson *json)
{
    TyStatus status = ty_status_ok();
    ty_json_open(json, "tables", '[');
    pthread_mutex_lock(&yard->mutex);
    for (uint32_t i = 0; i < SERVE_TABLES_MAX; i++) {
        const Table *table = &yard->tables[i];
        if (table->id != 0 && (role->owner || role->table == table->id)) {
            table_json(yard, table, role, json);
        }
    }
    pthread_mutex_unlock(&yard->mutex);
    ty_json_close(json, ']');
    ty_json_put_bool(json, "owner", role->owner);
    ty_json_put_int(json, "seat", role->seat);
    if (role->owner) {
        pthread_mutex_lock(&yard->shown.mutex);
        ty_json_put_bool(json, "shown", yard->shown.svg != NULL);
        pthread_mutex_unlock(&yard->shown.mutex);
        status = daemon_json(yard, json);
    }
    return status;
}
