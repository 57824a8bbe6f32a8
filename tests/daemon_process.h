/* A daemon of one's own, as a process, for the tests of its doors. */
#pragma once

#include "proto/client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char access_token[] = "the token of this test";

typedef struct Daemon {
    pid_t pid;
    char directory[64];
    char ipc[128];
    char tcp[128];
} Daemon;

static inline void token_write(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", access_token);
    fclose(file);
    chmod(path, 0600);
}

/* `limit` is NAME=VALUE, or NULL. */
static inline void daemon_start(Daemon *daemon, const char *limit)
{
    int out[2];
    char token[128];
    char line[512] = "";
    snprintf(daemon->directory, sizeof daemon->directory, "/tmp/trainyard-doors-XXXXXX");
    assert_non_null(mkdtemp(daemon->directory));
    snprintf(daemon->ipc, sizeof daemon->ipc, "ipc://%s/d", daemon->directory);
    snprintf(token, sizeof token, "%s/token", daemon->directory);
    token_write(token);
    assert_int_equal(pipe(out), 0);
    daemon->pid = fork();
    if (daemon->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execl(TY_BUILD_DIR "/trainyardd", "trainyardd", "--listen", daemon->ipc, "--listen",
              "tcp://127.0.0.1:*", "--token", token, limit != NULL ? "--limit" : NULL, limit, NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *ready = fdopen(out[0], "r");
    assert_non_null(fgets(line, sizeof line, ready));
    fclose(ready);
    const char *tcp = strstr(line, "tcp://");
    assert_non_null(tcp);
    snprintf(daemon->tcp, sizeof daemon->tcp, "%.*s", (int)strcspn(tcp, " \n"), tcp);
    unlink(token);
}

static inline void daemon_stop(Daemon *daemon)
{
    int status = 0;
    kill(daemon->pid, SIGTERM);
    waitpid(daemon->pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(rmdir(daemon->directory), 0);
}

/* Removes what a killed daemon left. */
static inline void daemon_clean(const Daemon *daemon)
{
    static const char *const names[] = {"d", "d.lock", "d.shm", "d.shm.lock"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", daemon->directory, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(daemon->directory), 0);
}
