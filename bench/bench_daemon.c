/* The real daemon as a child process in a private directory. */
#define _GNU_SOURCE
#include "bench/bench_daemon.h"

#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAM_PATH_MAX = 4096 };

/* The daemon that was built or installed together with this program. */
static TyStatus program_beside(char path[PROGRAM_PATH_MAX])
{
    static const char name[] = "trainyardd";
    ssize_t length = readlink("/proc/self/exe", path, PROGRAM_PATH_MAX - sizeof name);
    if (length <= 0) {
        return status_fail(TY_IO, "bench: no path of this program: %s", strerror(errno));
    }
    while (path[length - 1] != '/') {
        length--;
    }
    memcpy(path + length, name, sizeof name);
    return access(path, X_OK) == 0
               ? status_ok()
               : status_fail(TY_IO, "bench: there is no daemon %.200s; --doors inproc needs none",
                             path);
}

static TyStatus token_write(BenchDaemon *daemon, const char *path)
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        return status_fail(TY_IO, "bench: no random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(daemon->token + 2 * i, 3, "%02x", bytes[i]);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && dprintf(fd, "%s\n", daemon->token) > 0;
    if (fd >= 0) {
        close(fd);
    }
    return good ? status_ok() : status_fail(TY_IO, "bench: %s: %s", path, strerror(errno));
}

static void child_run(int (*run)(int, char **), const char *program, BenchDaemon *daemon,
                      char *token, int out)
{
    char tcp[] = "tcp://127.0.0.1:*";
    char *words[] = {"trainyardd", "--listen", daemon->ipc, "--listen",  tcp,
                     "--token",    token,      "--shm",     daemon->shm, NULL};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    if (run != NULL) {
        close(out);
        _exit(run(sizeof words / sizeof words[0] - 1, words));
    }
    execv(program, words);
    _exit(127);
}

/* Waits for the line that says where the daemon serves. */
static TyStatus ready_read(BenchDaemon *daemon, int in)
{
    char line[512] = "";
    FILE *file = fdopen(in, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        line[0] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    } else {
        close(in);
    }
    const char *tcp = strstr(line, "tcp://");
    if (tcp == NULL) {
        return status_fail(TY_IO, "bench: the daemon did not start");
    }
    snprintf(daemon->tcp, sizeof daemon->tcp, "%.*s", (int)strcspn(tcp, " \n"), tcp);
    return status_ok();
}

static TyStatus child_start(int (*run)(int, char **), const char *program, BenchDaemon *daemon)
{
    int said[2];
    char token[96];
    snprintf(token, sizeof token, "%s/token", daemon->directory);
    TyStatus status = token_write(daemon, token);
    if (status.code == TY_OK && pipe2(said, O_CLOEXEC) != 0) {
        status = status_fail(TY_IO, "bench: no pipe: %s", strerror(errno));
    }
    if (status.code == TY_OK) {
        fflush(NULL);
        daemon->process = fork();
        if (daemon->process == 0) {
            close(said[0]);
            child_run(run, program, daemon, token, said[1]);
        }
        close(said[1]);
        status = ready_read(daemon, said[0]);
    }
    unlink(token);
    return status;
}

static int child_end(BenchDaemon *daemon)
{
    int ended = 0;
    if (daemon->process > 0) {
        kill(daemon->process, SIGTERM);
        waitpid(daemon->process, &ended, 0);
        daemon->process = 0;
    }
    return ended;
}

/* An interrupted bench leaves nothing behind either. */

static BenchDaemon *running;

static void interrupted(int number)
{
    child_end(running);
    if (chdir(running->directory) == 0) {
        unlink("token");
        unlink("bare"); /* the socket of bench_bare.c */
        rmdir(running->directory);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void interrupts_catch(BenchDaemon *daemon)
{
    running = daemon;
    signal(SIGINT, daemon != NULL ? interrupted : SIG_DFL);
    signal(SIGTERM, daemon != NULL ? interrupted : SIG_DFL);
}

TyStatus bench_daemon_start(int (*run)(int, char **), BenchDaemon *daemon)
{
    char program[PROGRAM_PATH_MAX];
    *daemon = (BenchDaemon){.directory = "/tmp/trainyard-bench-XXXXXX"};
    TyStatus status = run == NULL ? program_beside(program) : status_ok();
    if (status.code == TY_OK && mkdtemp(daemon->directory) == NULL) {
        status = status_fail(TY_IO, "bench: no directory for sockets: %s", strerror(errno));
    }
    if (status.code != TY_OK) {
        daemon->directory[0] = '\0';
        return status;
    }
    snprintf(daemon->ipc, sizeof daemon->ipc, "ipc://%s/zmq", daemon->directory);
    snprintf(daemon->shm, sizeof daemon->shm, "%s/shm", daemon->directory);
    interrupts_catch(daemon);
    status = child_start(run, program, daemon);
    if (status.code != TY_OK) {
        bench_daemon_stop(daemon);
    }
    return status;
}

TyStatus bench_daemon_stop(BenchDaemon *daemon)
{
    interrupts_catch(NULL);
    int ended = child_end(daemon);
    bool clean = daemon->directory[0] == '\0' || rmdir(daemon->directory) == 0;
    daemon->directory[0] = '\0';
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
        return status_fail(TY_IO, "bench: the daemon did not end well");
    }
    return clean ? status_ok()
                 : status_fail(TY_IO, "bench: the daemon left something in its directory");
}

uint64_t bench_daemon_resident(const BenchDaemon *daemon)
{
    char path[64];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)daemon->process);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
