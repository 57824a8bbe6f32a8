/* What the command line and the configuration file say. */
#pragma once

#include "daemon/journal.h"
#include "daemon/limits.h"
#include "daemon/router.h"

enum { SETTINGS_LINES_MAX = 256, EXIT_USAGE = 2 };

typedef struct Settings {
    Limits limits;
    uint32_t listen_count;
    const char *listen[ROUTER_ENDPOINTS_MAX];
    const char *shm;
    const char *log;
    LogFiles log_files;
    bool log_drops;
    const char *boards;
    const char *token;
    const char *curve_secret;
    const char *curve_clients;
    const char *admin_token;
    const char *admin_clients;
    const char *metrics;
    JournalLevel log_level;
    bool log_json;
    uint32_t drain_ms; /* how long running episodes may go on when the daemon is to stop */
    int owner_pipe;    /* the daemon stops when its other end is closed; -1: none */
    bool again;        /* they are read once more: what is loaded stays loaded */
    uint32_t line_count;
    char *lines[SETTINGS_LINES_MAX]; /* of configuration files; the values point into them */
} Settings;

/* Reads the command line into settings that are all zero. Returns -1 to go on, or the exit status.
 */
int settings_read(Settings *settings, int argc, char **argv);
/* Reads the same command line, and its configuration files as they are now, once more. */
TyStatus settings_read_again(Settings *settings, int argc, char **argv);
void settings_fini(Settings *settings);
