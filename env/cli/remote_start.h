/* The program that joins open seats: what to run, or running it. */
#pragma once

#include "cli/cli.h"

#include <sys/types.h>

/* The program of --start; 0: there is none. */
typedef struct Starter {
    pid_t pid;
} Starter;

/* Runs the command of --start for the open seats; without it, says on stderr what to run. */
TyStatus starter_open(const Settings *settings, const Seating *seating, uint64_t pool,
                      const char *invite, Starter *starter);
/* Fails if it has ended. */
TyStatus starter_check(Starter *starter);
/* Waits until it has ended, since its pool is closed; stops it if it has not after a while. */
void starter_close(Starter *starter);
