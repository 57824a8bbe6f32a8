/* The program that joins open seats: what to run, or running it. */
#define _POSIX_C_SOURCE 200809L
#include "cli/remote_start.h"
#include "core/status.h"
#include "core/text.h"

#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    START_LINE_MAX = 4096, /* characters of a command with its options */
    START_GRACE_MS = 5000, /* until a program whose pool is closed is stopped */
};

extern char **environ;

static void add_option(TyText *text, const char *name, const char *value)
{
    if (value != NULL) {
        ty_text_add(text, " --%s '%s'", name, value);
    }
}

/* The command with the options that lead it to its seats. */
static void command_write(const Settings *settings, const Seating *seating, uint64_t pool,
                          const char *invite, TyText *text)
{
    char seats[2 * TY_SEATS_MAX] = "";
    size_t length = 0;
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        if (seating->agents[seat] == &open_seat) {
            length += (size_t)snprintf(seats + length, sizeof seats - length, "%s%u",
                                       length > 0 ? "," : "", seat);
        }
    }
    ty_text_add(text, "%s", settings->start != NULL ? settings->start : "trainyard agent NAME");
    add_option(text, "connect", settings->connect);
    add_option(text, "token", settings->token);
    add_option(text, "keys", settings->keys);
    add_option(text, "server-key", settings->server_key);
    ty_text_add(text, " --pool %" PRIu64 " --invite %s --seats %s", pool, invite, seats);
}

TyStatus starter_open(const Settings *settings, const Seating *seating, uint64_t pool,
                      const char *invite, Starter *starter)
{
    char line[START_LINE_MAX];
    TyText text = ty_text_init(line, sizeof line);
    *starter = (Starter){.pid = 0};
    command_write(settings, seating, pool, invite, &text);
    if (text.length >= sizeof line) {
        return ty_status_fail(TY_LIMIT, "--start: the command is longer than %d characters",
                              START_LINE_MAX);
    }
    if (settings->start == NULL) {
        fprintf(stderr, "Waiting for the open seats to be joined. Run:\n  %s\n", line);
        return ty_status_ok();
    }
    char shell[] = "sh";
    char option[] = "-c";
    char *const words[] = {shell, option, line, NULL};
    /* What it prints must not get between the results. */
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int error = posix_spawn(&starter->pid, "/bin/sh", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? ty_status_ok() : ty_status_fail(TY_IO, "--start: %s", strerror(error));
}

TyStatus starter_check(Starter *starter)
{
    int result = 0;
    if (starter->pid == 0 || waitpid(starter->pid, &result, WNOHANG) == 0) {
        return ty_status_ok();
    }
    starter->pid = 0;
    return ty_status_fail(TY_IO, "--start: the program ended before the episodes, with status %d",
                          WIFEXITED(result) ? WEXITSTATUS(result) : -1);
}

void starter_close(Starter *starter)
{
    int waited = 0;
    while (starter->pid != 0 && waitpid(starter->pid, NULL, WNOHANG) == 0) {
        if (waited == START_GRACE_MS) {
            kill(starter->pid, SIGTERM);
        }
        waited += 10;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
}
