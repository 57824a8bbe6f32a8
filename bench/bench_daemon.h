/* The real daemon as a child process in a private directory: for the bench and the tests. */
#pragma once

#include "trainyard.h"

#include <sys/types.h>

typedef struct BenchDaemon {
    pid_t process; /* 0: none */
    char directory[64];
    char ipc[128]; /* endpoints */
    char tcp[128];
    char token[40]; /* that clients on tcp must know */
    char shm[128];  /* path of the shared-memory socket */
} BenchDaemon;

/* Starts the trainyardd beside the running program, or with `run` a child that calls that instead,
 * with all three doors, and waits until it serves. */
TyStatus bench_daemon_start(int (*run)(int argc, char **argv), BenchDaemon *daemon);
/* Asks it to end, waits for that and removes the directory. Fails if the daemon did not end well or
 * left something behind. */
TyStatus bench_daemon_stop(BenchDaemon *daemon);
/* Bytes of memory that the process has in use now. */
uint64_t bench_daemon_resident(const BenchDaemon *daemon);
