/* trainyard admin: lists and ends sessions and pools of a daemon. */
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int admin_failed(const Settings *settings, const TyStatus *status)
{
    return cli_failure(settings, "%s", status->message);
}

/* ---- Sessions ---- */

static int sessions_json(const Settings *settings, const TyClientSessions *list)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        const TyClientSession *session = &list->sessions[i];
        ty_json_open(&json, NULL, '{');
        ty_json_put_int(&json, "number", (int64_t)session->number);
        ty_json_put_string(&json, "name", session->name);
        ty_json_put_string(&json, "peer", session->peer);
        ty_json_put_bool(&json, "administrator", session->administrator);
        ty_json_put_bool(&json, "connected", session->connected);
        ty_json_put_int(&json, "silent_ms", (int64_t)session->silent_ms);
        ty_json_put_int(&json, "pools", (int64_t)session->pools);
        ty_json_put_int(&json, "requests", (int64_t)session->requests);
        ty_json_put_int(&json, "bytes", (int64_t)session->bytes);
        ty_json_close(&json, '}');
    }
    ty_json_close(&json, ']');
    return output_print(settings, &json);
}

static int sessions_print(const Settings *settings, TyClient *client)
{
    TyClientSessions list;
    TyStatus status = ty_client_sessions(client, &list);
    if (status.code != TY_OK) {
        return admin_failed(settings, &status);
    }
    if (settings->json) {
        return sessions_json(settings, &list);
    }
    printf("%8s %-24s %-20s %10s %6s %9s %10s\n", "session", "name", "peer", "silent", "pools",
           "requests", "MB");
    for (uint32_t i = 0; i < list.count; i++) {
        const TyClientSession *session = &list.sessions[i];
        printf("%8" PRIu64 " %-24s %-20s %8.1f s %6" PRIu64 " %9" PRIu64 " %10.1f%s%s\n",
               session->number, session->name, session->peer, (double)session->silent_ms / 1000,
               session->pools, session->requests, (double)session->bytes / 1e6,
               session->connected ? "" : "  gone", session->administrator ? "  administrator" : "");
    }
    return CLI_OK;
}

/* ---- Pools ---- */

static int pools_json(const Settings *settings, const TyClientStats *stats)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < stats->pool_count; i++) {
        const TyClientPoolStats *pool = &stats->pools[i];
        ty_json_open(&json, NULL, '{');
        ty_json_put_int(&json, "pool", pool->pool);
        ty_json_put_int(&json, "session", (int64_t)pool->session);
        ty_json_put_string(&json, "ruleset", pool->ruleset);
        ty_json_put_int(&json, "slots", (int64_t)pool->slots);
        ty_json_put_int(&json, "members", (int64_t)pool->members);
        ty_json_put_int(&json, "decisions", (int64_t)pool->decisions);
        ty_json_put_int(&json, "episodes", (int64_t)pool->episodes);
        ty_json_put_int(&json, "waiting", (int64_t)pool->waiting);
        ty_json_put_int(&json, "jobs", (int64_t)pool->jobs);
        ty_json_put_int(&json, "bytes", (int64_t)pool->bytes);
        ty_json_close(&json, '}');
    }
    ty_json_close(&json, ']');
    return output_print(settings, &json);
}

static int pools_print(const Settings *settings, TyClient *client)
{
    TyClientStats stats;
    TyStatus status = ty_client_stats(client, &stats);
    if (status.code != TY_OK) {
        return admin_failed(settings, &status);
    }
    if (settings->json) {
        return pools_json(settings, &stats);
    }
    printf("%8s %8s %8s %8s %14s %12s %8s  %s\n", "pool", "session", "slots", "members",
           "decisions", "episodes", "MB", "ruleset");
    for (uint32_t i = 0; i < stats.pool_count; i++) {
        const TyClientPoolStats *pool = &stats.pools[i];
        printf("%8u %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %14" PRIu64 " %12" PRIu64 " %8.1f  %s\n",
               pool->pool, pool->session, pool->slots, pool->members, pool->decisions,
               pool->episodes, (double)pool->bytes / 1e6, pool->ruleset);
    }
    return CLI_OK;
}

/* ---- The command ---- */

static int session_end(const Settings *settings, TyClient *client, uint64_t number)
{
    TyStatus status = ty_client_end_session(client, number);
    if (status.code != TY_OK) {
        return admin_failed(settings, &status);
    }
    printf("session %" PRIu64 " is ended\n", number);
    return CLI_OK;
}

static int pool_close(const Settings *settings, TyClient *client, uint64_t number)
{
    TyStatus status = ty_client_close_any_pool(client, (uint32_t)number);
    if (status.code != TY_OK) {
        return admin_failed(settings, &status);
    }
    printf("pool %" PRIu64 " is closed\n", number);
    return CLI_OK;
}

/* The NUMBER behind the action; false if there is none, or it is none. */
static bool number_read(const Settings *settings, uint64_t *number)
{
    char *end = NULL;
    const char *word = settings->argument_count == 2 ? settings->arguments[1] : "";
    errno = 0;
    *number = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0 && *number > 0 &&
           *number <= UINT32_MAX;
}

static int admin_run(const Settings *settings)
{
    const char *action = settings->arguments[0];
    bool sessions = strcmp(action, "sessions") == 0;
    bool pools = strcmp(action, "pools") == 0;
    bool end = strcmp(action, "end-session") == 0;
    bool close = strcmp(action, "close-pool") == 0;
    Settings asked = *settings;
    TyClient *client = NULL;
    uint64_t number = 0;
    if (!sessions && !pools && !end && !close) {
        return cli_usage_error(
            settings, "'%s': allowed are sessions, pools, end-session NUMBER, close-pool NUMBER",
            action);
    }
    if (sessions || pools ? settings->argument_count != 1 : !number_read(settings, &number)) {
        return cli_usage_error(
            settings, sessions || pools ? "%s takes no number" : "%s needs a number", action);
    }
    asked.admin = true;
    int result = remote_connect(&asked, &client);
    if (result == CLI_OK) {
        result = sessions ? sessions_print(settings, client)
                 : pools  ? pools_print(settings, client)
                 : end    ? session_end(settings, client, number)
                          : pool_close(settings, client, number);
    }
    ty_client_close(client);
    return result;
}

static const Option admin_options[] = {
    OPTIONS_CONNECT,
    OPTION_JSON,
    {.name = NULL},
};

const Command command_admin = {
    .name = "admin",
    .arguments = "sessions|pools|end-session|close-pool [NUMBER]",
    .arguments_min = 1,
    .arguments_max = 2,
    .summary = "list and end sessions and pools of a daemon",
    .details =
        "For administrators: on ipc the daemon's own user, on tcp those with the token of the\n"
        "daemon's --admin-token or a key of its --admin-clients. Ending a session closes the "
        "pools\n"
        "that it directs; a pool's members get a notice.",
    .example = "  trainyard admin sessions\n"
               "  trainyard admin end-session 17\n"
               "  trainyard admin pools --json --connect tcp://localhost:5555 --token admin.txt",
    .options = admin_options,
    .run = admin_run,
};
