/* Reaching a daemon from the command line. */
#pragma once

#include "cli/runner.h"
#include "proto/client.h"

enum { REMOTE_TIMEOUT_MS = 5000 };

/* What --connect, --token, --keys and --server-key say, with the memory of it. */
typedef struct RemoteConfig {
    TyClientConfig config;
    char server[TY_CLIENT_KEY_SIZE];
    char public[TY_CLIENT_KEY_SIZE];
    char secret[TY_CLIENT_KEY_SIZE];
    char *token;
} RemoteConfig;

/* The caller frees `remote`, also after a failure. It points into itself: do not copy it. */
TyStatus remote_config_read(const Settings *settings, RemoteConfig *remote);
void remote_config_free(RemoteConfig *remote);
/* Connects as --connect, --token, --keys and --server-key say. */
TyStatus remote_client(const Settings *settings, TyClient **client);
/* The same. On failure it has complained, and returns the exit status. */
int remote_connect(const Settings *settings, TyClient **client);

/* run_episodes where seats are open: the daemon plays the built-in agents and waits for programs to
 * join the open seats. `results` has its place for every episode. */
TyStatus remote_episodes(const Run *run, Results *results);
/* True if a seat is open. */
bool seating_is_open(const Seating *seating);
