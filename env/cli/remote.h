/* Reaching a daemon from the command line. */
#pragma once

#include "cli/cli.h"
#include "proto/client.h"

/* Connects as --connect, --token, --keys and --server-key say. On failure it has complained, and
 * returns the exit status. */
int remote_connect(const Settings *settings, TyClient **client);
