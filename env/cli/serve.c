/* trainyard serve: a window on a daemon, for browsers on this machine. */
#define _GNU_SOURCE
#include "serve/serve.h"
#include "bench/bench_daemon.h"
#include "cli/remote.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SERVE_PING_SECONDS = 60 /* between signs of life to the daemon */ };

/* Serves until SIGINT or SIGTERM comes. */
static void serve_wait(Yard *yard, const sigset_t *signals)
{
    const struct timespec wait = {.tv_sec = SERVE_PING_SECONDS};
    while (sigtimedwait(signals, NULL, &wait) < 0) {
        yard_ping(yard);
    }
}

static int serve_yard(const Settings *settings, Yard *yard)
{
    Web *web = NULL;
    pthread_t reader;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    const char *address = settings->http != NULL ? settings->http : "127.0.0.1:8080";
    TyStatus status = web_open(yard, address, settings->origin, &web);
    if (status.code == TY_BAD_ARGUMENT) {
        return cli_usage_error(settings, "%s", status.message);
    }
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    if (settings->show && pthread_create(&reader, NULL, shown_read, yard) == 0) {
        pthread_detach(reader);
    }
    printf("Open %s/#token=%s\n", web_address(web), yard->owner.text);
    fflush(stdout);
    serve_wait(yard, &signals);
    web_close(web);
    return CLI_OK;
}

static int serve_endpoint(const Settings *settings, const char *endpoint)
{
    Yard *yard = cli_memory(malloc(sizeof *yard));
    TyStatus status = yard_open(yard, settings, endpoint);
    int result = status.code == TY_OK ? serve_yard(settings, yard)
                                      : cli_failure(settings, "%s", status.message);
    yard_close(yard);
    free(yard);
    return result;
}

/* A daemon of our own, with the games that we have. */
static TyStatus daemon_start(BenchDaemon *daemon)
{
    const char *options[2 * 16 + 1] = {NULL};
    const char *const *loaded = cli_loaded();
    for (uint32_t i = 0; loaded[i] != NULL; i++) {
        options[2 * i] = "--load";
        options[2 * i + 1] = loaded[i];
    }
    return bench_daemon_start(&(BenchDaemonPlan){.options = options}, daemon);
}

static int serve_run(const Settings *settings)
{
    BenchDaemon daemon;
    if (settings->argument_count > 0) {
        return serve_endpoint(settings, settings->arguments[0]);
    }
    TyStatus status = daemon_start(&daemon);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    int result = serve_endpoint(settings, daemon.ipc);
    status = bench_daemon_stop(&daemon);
    return status.code == TY_OK ? result : cli_failure(settings, "%s", status.message);
}

static const Option serve_options[] = {
    {.name = "http",
     .value = "HOST:PORT",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, http),
     .standard = "127.0.0.1:8080",
     .help = "Where pages are served: on this machine only. Port 0 is any that is free."},
    {.name = "origin",
     .value = "URL",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, origin),
     .help = "What a reverse proxy in front of it is called, such as https://yard.example.org."},
    {.name = "show",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, show),
     .help = "Show the drawings that come on standard input, one after the other, until it ends."},
    {.name = "token",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, token),
     .help = "The file with the daemon's access token, for tcp without keys."},
    {.name = "keys",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, keys),
     .help = "Your NAME.secret file, from 'trainyard keygen'."},
    {.name = "server-key",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, server_key),
     .help = "The daemon's NAME.pub file."},
    {.name = NULL},
};

const Command command_serve = {
    .name = "serve",
    .arguments = "[ENDPOINT]",
    .arguments_max = 1,
    .summary = "play and watch in the browser",
    .details =
        "Serves pages on which people play, alone, with others and with agents, and watch the\n"
        "pools of a daemon whose directors allow it. Without ENDPOINT it has a daemon of its\n"
        "own. Prints the link to open; who has it may do everything on these pages.",
    .example = "  trainyard serve\n"
               "  trainyard serve tcp://localhost:5555 --token token.txt --http 127.0.0.1:9000",
    .options = serve_options,
    .run = serve_run,
};
