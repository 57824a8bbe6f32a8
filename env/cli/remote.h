/* Reaching a daemon from the command line. */
#pragma once

#include "cli/runner.h"
#include "proto/client.h"

/* Connects as --connect, --token, --keys and --server-key say. */
TyStatus remote_client(const Settings *settings, TyClient **client);
/* The same. On failure it has complained, and returns the exit status. */
int remote_connect(const Settings *settings, TyClient **client);

/* run_episodes where seats are open: the daemon plays the built-in agents and waits for programs to
 * join the open seats. `results` has its place for every episode. */
TyStatus remote_episodes(const Run *run, Results *results);
/* True if a seat is open. */
bool seating_is_open(const Seating *seating);
