/* trainyard stats: what a running daemon does. */
#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"
#include "cli/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int print_json(const Settings *settings, const TyClientStats *stats)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    ty_json_put_int(&json, "uptime_ms", (int64_t)stats->uptime_ms);
    ty_json_put_int(&json, "sessions", (int64_t)stats->sessions);
    ty_json_put_int(&json, "decisions", (int64_t)stats->decisions);
    ty_json_put_int(&json, "bytes", (int64_t)stats->bytes);
    ty_json_close(&json, '}');
    return output_print(settings, &json);
}

static void print_text(const TyClientStats *stats, uint64_t rate)
{
    printf("up %.1f s, %" PRIu64 " sessions, %" PRIu64 " decisions",
           (double)stats->uptime_ms / 1000, stats->sessions, stats->decisions);
    if (rate != UINT64_MAX) {
        printf(", %" PRIu64 " decisions/s", rate);
    }
    printf(", %.1f MB\n", (double)stats->bytes / 1e6);
    fflush(stdout);
}

/* Asks once and prints; `last` holds the decisions and the time of the time before. */
static int stats_once(const Settings *settings, TyClient *client, uint64_t last[2])
{
    TyClientStats stats;
    TyStatus status = ty_client_stats(client, &stats);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    if (settings->json) {
        return print_json(settings, &stats);
    }
    uint64_t rate = UINT64_MAX;
    if (last[1] != 0 && stats.uptime_ms > last[1]) {
        rate = (stats.decisions - last[0]) * 1000 / (stats.uptime_ms - last[1]);
    }
    last[0] = stats.decisions;
    last[1] = stats.uptime_ms;
    print_text(&stats, rate);
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
     .help = "Ask again every second, until interrupted."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_stats = {
    .name = "stats",
    .arguments = "",
    .summary = "show what a running daemon is doing",
    .details =
        "Asks a daemon how long it has been up, how many sessions it has, how many decisions were\n"
        "taken in its pools and how much memory they have; once, or with --live every second.",
    .example = "  trainyard stats\n"
               "  trainyard stats --live --connect tcp://localhost:5555 --token token.txt",
    .options = stats_options,
    .run = stats_run,
};
