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

/* What to start; zero-initialised: the trainyardd beside the running program. */
typedef struct BenchDaemonPlan {
    const char *program;               /* of the daemon */
    int (*run)(int argc, char **argv); /* what the child calls instead of a program */
    const char *const *options;        /* added to its command line, NULL-terminated; may be NULL */
} BenchDaemonPlan;

/* Starts a daemon with all three doors and waits until it serves. The caller stops it. */
TyStatus bench_daemon_start(const BenchDaemonPlan *plan, BenchDaemon *daemon);
/* Asks it to end, waits for that and removes the directory. Fails if the daemon did not end well or
 * left something behind. */
TyStatus bench_daemon_stop(BenchDaemon *daemon);
/* Kills it, if it is still there, and removes what a killed daemon leaves. */
TyStatus bench_daemon_kill(BenchDaemon *daemon);
/* Bytes of memory that a process has in use now. */
uint64_t process_resident(pid_t process);
