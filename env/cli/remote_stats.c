/* trainyard stats: what a running daemon does. */
#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"
#include "cli/remote.h"
#include "proto/wire_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A reply of the daemon's, or a part of it. */
typedef struct Map {
    const uint8_t *begin;
    const uint8_t *end;
} Map;

static uint64_t map_uint(Map map, const char *key)
{
    WireItem item;
    return wire_get(map.begin, map.end, key, &item) && item.kind == WIRE_UINT ? item.number : 0;
}

static void map_text(Map map, const char *key, char *out, size_t size)
{
    WireItem item;
    bool there = wire_get(map.begin, map.end, key, &item) && item.kind == WIRE_TEXT;
    snprintf(out, size, "%.*s", there ? (int)item.size : 0, there ? (const char *)item.bytes : "");
}

static const char *const daemon_numbers[] = {"uptime_ms", "sessions", "requests", "refused",
                                             "decisions", "bytes",    NULL};
static const char *const pool_numbers[] = {"pool",     "slots",   "groups", "members", "decisions",
                                           "episodes", "waiting", "jobs",   "bytes",   NULL};

static void json_numbers(Json *json, Map map, const char *const *keys)
{
    for (uint32_t i = 0; keys[i] != NULL; i++) {
        json_put_int(json, keys[i], (int64_t)map_uint(map, keys[i]));
    }
}

static int print_json(const Settings *settings, Map reply, const WireItem *pools)
{
    char ruleset[TY_SPEC_MAX];
    Json json = output_open();
    json_open(&json, NULL, '{');
    json_numbers(&json, reply, daemon_numbers);
    json_open(&json, "pools", '[');
    Map pool = {.begin = pools->bytes, .end = reply.end};
    for (uint32_t i = 0; i < pools->count; i++) {
        json_open(&json, NULL, '{');
        map_text(pool, "ruleset", ruleset, sizeof ruleset);
        json_put_string(&json, "ruleset", ruleset);
        json_numbers(&json, pool, pool_numbers);
        json_close(&json, '}');
        wire_skip(&pool.begin, pool.end);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return output_print(settings, &json);
}

static void print_text(Map reply, const WireItem *pools, uint64_t rate)
{
    char ruleset[TY_SPEC_MAX];
    printf("up %.1f s, %" PRIu64 " sessions, %" PRIu64 " requests (%" PRIu64 " refused), %" PRIu64
           " decisions",
           (double)map_uint(reply, "uptime_ms") / 1000, map_uint(reply, "sessions"),
           map_uint(reply, "requests"), map_uint(reply, "refused"), map_uint(reply, "decisions"));
    if (rate != UINT64_MAX) {
        printf(", %" PRIu64 " decisions/s", rate);
    }
    printf(", %.1f MB\n", (double)map_uint(reply, "bytes") / 1e6);
    Map pool = {.begin = pools->bytes, .end = reply.end};
    for (uint32_t i = 0; i < pools->count; i++) {
        map_text(pool, "ruleset", ruleset, sizeof ruleset);
        printf("  pool %-6" PRIu64 " %s: %" PRIu64 " slots, %" PRIu64 " members, %" PRIu64
               " decisions, %" PRIu64 " episodes, %" PRIu64 " waiting\n",
               map_uint(pool, "pool"), ruleset, map_uint(pool, "slots"), map_uint(pool, "members"),
               map_uint(pool, "decisions"), map_uint(pool, "episodes"), map_uint(pool, "waiting"));
        wire_skip(&pool.begin, pool.end);
    }
    fflush(stdout);
}

/* Asks once and prints; `last` holds the decisions and the time of the time before. */
static int stats_once(const Settings *settings, TyClient *client, uint64_t last[2])
{
    WireItem pools = {.kind = WIRE_LIST};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    TyStatus status = ty_client_ask(client, "stats", NULL, 0, &bytes, &size);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    Map reply = {.begin = bytes, .end = bytes + size};
    wire_get(reply.begin, reply.end, "pools", &pools);
    if (settings->json) {
        return print_json(settings, reply, &pools);
    }
    uint64_t decisions = map_uint(reply, "decisions");
    uint64_t now = map_uint(reply, "uptime_ms");
    uint64_t rate = UINT64_MAX;
    if (last[1] != 0 && now > last[1]) {
        rate = (decisions - last[0]) * 1000 / (now - last[1]);
    }
    last[0] = decisions;
    last[1] = now;
    print_text(reply, &pools, rate);
    return CLI_OK;
}

static int stats_run(const Settings *settings)
{
    TyClient *client = NULL;
    uint64_t last[2] = {0};
    int result = remote_connect(settings, &client);
    if (result != CLI_OK) {
        return result;
    }
    do {
        result = stats_once(settings, client, last);
        if (settings->live && result == CLI_OK) {
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        }
    } while (settings->live && result == CLI_OK && !ferror(stdout));
    ty_client_close(client);
    return result;
}

static const Option stats_options[] = {
    OPTIONS_CONNECT,
    {.name = "live",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, live),
     .help = "Go on, once a second."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_stats = {
    .name = "stats",
    .arguments = "",
    .summary = "what a running daemon does",
    .details = "Asks a daemon for its sessions, pools and decisions, once or once a second.",
    .example = "  trainyard stats --live",
    .options = stats_options,
    .run = stats_run,
};
