/* The real daemon as a child process in a private directory. */
#define _GNU_SOURCE
#include "bench/bench_daemon.h"

#include "core/status.h"

#include <assert.h>
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

enum { PROGRAM_PATH_MAX = 4096, WORDS_MAX = 32 /* of a command line */ };

/* The daemon that was built or installed together with this program. */
static TyStatus program_beside(char path[PROGRAM_PATH_MAX])
{
    static const char name[] = "trainyardd";
    ssize_t length = readlink("/proc/self/exe", path, PROGRAM_PATH_MAX - sizeof name);
    if (length <= 0) {
        return ty_status_fail(TY_IO, "no path of this program: %s", strerror(errno));
    }
    while (path[length - 1] != '/') {
        length--;
    }
    memcpy(path + length, name, sizeof name);
    return access(path, X_OK) == 0
               ? ty_status_ok()
               : ty_status_fail(
                     TY_IO,
                     "there is no daemon %.200s; trainyard bench needs none with --doors inproc",
                     path);
}

static TyStatus token_write(BenchDaemon *daemon, const char *path)
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        return ty_status_fail(TY_IO, "no random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(daemon->token + 2 * i, 3, "%02x", bytes[i]);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && dprintf(fd, "%s\n", daemon->token) > 0;
    if (fd >= 0) {
        close(fd);
    }
    return good ? ty_status_ok() : ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
}

/* The child becomes the daemon. */
static void child_run(const BenchDaemonPlan *plan, BenchDaemon *daemon, char *token, int out)
{
    char tcp[] = "tcp://127.0.0.1:*";
    char *words[WORDS_MAX + 1] = {"trainyardd", "--listen", daemon->ipc, "--listen", tcp,
                                  "--token",    token,      "--shm",     daemon->shm};
    int count = 9;
    for (uint32_t i = 0; plan->options != NULL && plan->options[i] != NULL; i++) {
        assert(count < WORDS_MAX);
        words[count++] = (char *)(uintptr_t)plan->options[i];
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    if (plan->run != NULL) {
        close(out);
        _exit(plan->run(count, words));
    }
    execv(plan->program, words);
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
        return ty_status_fail(TY_IO, "the daemon did not start");
    }
    snprintf(daemon->tcp, sizeof daemon->tcp, "%.*s", (int)strcspn(tcp, " \n"), tcp);
    return ty_status_ok();
}

static TyStatus child_start(const BenchDaemonPlan *plan, BenchDaemon *daemon)
{
    int said[2];
    char token[96];
    snprintf(token, sizeof token, "%s/token", daemon->directory);
    TyStatus status = token_write(daemon, token);
    if (status.code == TY_OK && pipe2(said, O_CLOEXEC) != 0) {
        status = ty_status_fail(TY_IO, "no pipe: %s", strerror(errno));
    }
    if (status.code == TY_OK) {
        fflush(NULL);
        daemon->process = fork();
        if (daemon->process == 0) {
            close(said[0]);
            child_run(plan, daemon, token, said[1]);
        }
        close(said[1]);
        status = ready_read(daemon, said[0]);
    }
    unlink(token);
    return status;
}

static int child_end(BenchDaemon *daemon, int number)
{
    int ended = 0;
    if (daemon->process > 0) {
        kill(daemon->process, number);
        waitpid(daemon->process, &ended, 0);
        daemon->process = 0;
    }
    return ended;
}

/* An interrupted bench leaves nothing behind either. */

static BenchDaemon *running;
static pid_t keeper; /* the process that started it: not another child of that one */

static void interrupted(int number)
{
    bool mine = getpid() == keeper;
    if (mine) {
        child_end(running, SIGTERM);
    }
    if (mine && chdir(running->directory) == 0) {
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
    keeper = getpid();
    signal(SIGINT, daemon != NULL ? interrupted : SIG_DFL);
    signal(SIGTERM, daemon != NULL ? interrupted : SIG_DFL);
}

TyStatus bench_daemon_start(const BenchDaemonPlan *plan, BenchDaemon *daemon)
{
    char program[PROGRAM_PATH_MAX];
    BenchDaemonPlan whole = *plan;
    TyStatus status = ty_status_ok();
    *daemon = (BenchDaemon){.directory = "/tmp/trainyard-bench-XXXXXX"};
    if (plan->run == NULL && plan->program == NULL) {
        status = program_beside(program);
        whole.program = program;
    }
    if (status.code == TY_OK && mkdtemp(daemon->directory) == NULL) {
        status = ty_status_fail(TY_IO, "no directory for sockets: %s", strerror(errno));
    }
    if (status.code != TY_OK) {
        daemon->directory[0] = '\0';
        return status;
    }
    snprintf(daemon->ipc, sizeof daemon->ipc, "ipc://%s/zmq", daemon->directory);
    snprintf(daemon->shm, sizeof daemon->shm, "%s/shm", daemon->directory);
    interrupts_catch(daemon);
    status = child_start(&whole, daemon);
    if (status.code != TY_OK) {
        bench_daemon_stop(daemon);
    }
    return status;
}

/* Removes the directory, which must be empty. */
static TyStatus directory_remove(BenchDaemon *daemon)
{
    bool clean = daemon->directory[0] == '\0' || rmdir(daemon->directory) == 0;
    daemon->directory[0] = '\0';
    return clean ? ty_status_ok()
                 : ty_status_fail(TY_IO, "the daemon left something in its directory");
}

TyStatus bench_daemon_stop(BenchDaemon *daemon)
{
    interrupts_catch(NULL);
    int ended = child_end(daemon, SIGTERM);
    TyStatus status = directory_remove(daemon);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0
               ? status
               : ty_status_fail(TY_IO, "the daemon did not end well");
}

TyStatus bench_daemon_kill(BenchDaemon *daemon)
{
    static const char *const names[] = {"zmq", "zmq.lock", "shm", "shm.lock"};
    interrupts_catch(NULL);
    child_end(daemon, SIGKILL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[sizeof daemon->directory + 16];
        snprintf(path, sizeof path, "%s/%s", daemon->directory, names[i]);
        unlink(path);
    }
    return directory_remove(daemon);
}

uint64_t process_resident(pid_t process)
{
    char path[64];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
