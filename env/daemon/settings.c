/* Options of the command line and of configuration files. */
#define _GNU_SOURCE
#include "daemon/settings.h"
#include "core/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef TyStatus OptionSet(Settings *settings, const char *value);

/* Options whose value is kept as it is. */
#define SET_TEXT(MEMBER)                                                                           \
    static TyStatus set_##MEMBER(Settings *settings, const char *value)                            \
    {                                                                                              \
        settings->MEMBER = value;                                                                  \
        return ty_status_ok();                                                                     \
    }
SET_TEXT(log)
SET_TEXT(token)
SET_TEXT(curve_secret)
SET_TEXT(curve_clients)
SET_TEXT(admin_token)
SET_TEXT(admin_clients)

static TyStatus set_listen(Settings *settings, const char *value)
{
    if (settings->listen_count == ROUTER_ENDPOINTS_MAX) {
        return ty_status_fail(TY_LIMIT, "--listen: more than %d endpoints", ROUTER_ENDPOINTS_MAX);
    }
    settings->listen[settings->listen_count++] = value;
    return ty_status_ok();
}

static TyStatus set_shm(Settings *settings, const char *value)
{
    bool none = strcmp(value, "none") == 0;
    if (!none && (value[0] != '/' || strlen(value) >= ENDPOINT_PATH_MAX)) {
        return ty_status_fail(TY_BAD_CONFIG,
                              "--shm %.100s: give the absolute path of a socket, or 'none'", value);
    }
    settings->shm = value;
    return ty_status_ok();
}

/* A whole number from `minimum` to `maximum`, the value of an option. */
static TyStatus number_read(const char *option, const char *value, uint64_t minimum,
                            uint64_t maximum, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 && *number >= minimum &&
                   *number <= maximum
               ? ty_status_ok()
               : ty_status_fail(TY_BAD_CONFIG, "--%s %.40s: give a number from %llu to %llu",
                                option, value, (unsigned long long)minimum,
                                (unsigned long long)maximum);
}

/* Options whose value is a number of the settings, from MINIMUM to MAXIMUM. */
#define SET_NUMBER(MEMBER, NAME, MINIMUM, MAXIMUM)                                                 \
    static TyStatus set_log_##MEMBER(Settings *settings, const char *value)                        \
    {                                                                                              \
        return number_read(NAME, value, MINIMUM, MAXIMUM, &settings->log_files.MEMBER);            \
    }
SET_NUMBER(file_bytes, "log-file-bytes", 4096, UINT64_C(1) << 40)
SET_NUMBER(file_hours, "log-file-hours", 1, 100000)
SET_NUMBER(keep_bytes, "log-keep-bytes", 4096, UINT64_C(1) << 50)
SET_NUMBER(keep_days, "log-keep-days", 1, 40000)

static TyStatus set_log_full(Settings *settings, const char *value)
{
    settings->log_drops = strcmp(value, "drop") == 0;
    return settings->log_drops || strcmp(value, "stop") == 0
               ? ty_status_ok()
               : ty_status_fail(TY_BAD_CONFIG, "--log-full %.40s: allowed: stop, drop", value);
}

static TyStatus set_log_level(Settings *settings, const char *value)
{
    for (uint32_t i = 0; journal_levels[i] != NULL; i++) {
        if (strcmp(journal_levels[i], value) == 0) {
            settings->log_level = (JournalLevel)i;
            return ty_status_ok();
        }
    }
    return ty_status_fail(TY_BAD_CONFIG, "--log-level %.40s: allowed: error, warning, info, debug",
                          value);
}

static TyStatus set_log_format(Settings *settings, const char *value)
{
    settings->log_json = strcmp(value, "json") == 0;
    return settings->log_json || strcmp(value, "text") == 0
               ? ty_status_ok()
               : ty_status_fail(TY_BAD_CONFIG, "--log-format %.40s: allowed: text, json", value);
}

static TyStatus set_metrics(Settings *settings, const char *value)
{
    Endpoint endpoint;
    TyStatus status = endpoint_parse(value, &endpoint);
    if (status.code == TY_OK && endpoint.kind == ENDPOINT_REMOTE) {
        status = ty_status_fail(TY_BAD_CONFIG,
                                "--metrics %.100s: only for this machine: tcp://127.0.0.1:PORT or "
                                "ipc:///PATH",
                                value);
    }
    settings->metrics = value;
    return status;
}

static TyStatus set_boards(Settings *settings, const char *value)
{
    struct stat info;
    if (stat(value, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return ty_status_fail(TY_IO, "--boards %.200s: there is no such directory", value);
    }
    settings->boards = value;
    return ty_status_ok();
}

static TyStatus set_load(Settings *settings, const char *value)
{
    return settings->again ? ty_status_ok() : ty_load(value);
}

static TyStatus set_drain(Settings *settings, const char *value)
{
    char *end = NULL;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !(seconds >= 0 && seconds <= 86400)) {
        return ty_status_fail(TY_BAD_CONFIG, "--drain %.40s: allowed are 0 to 86400 seconds",
                              value);
    }
    settings->drain_ms = (uint32_t)(seconds * 1000);
    return ty_status_ok();
}

static TyStatus set_owner_pipe(Settings *settings, const char *value)
{
    char *end = NULL;
    long fd = strtol(value, &end, 10);
    struct stat info;
    if (end == value || *end != '\0' || fd < 0 || fd > INT32_MAX || fstat((int)fd, &info) != 0 ||
        !S_ISFIFO(info.st_mode)) {
        return ty_status_fail(TY_BAD_CONFIG, "--lease %s: give the number of an open pipe", value);
    }
    settings->owner_pipe = (int)fd;
    return ty_status_ok();
}

static TyStatus limit_unknown(const char *value, size_t length)
{
    char names[TY_MESSAGE_MAX] = "";
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", limit_infos[i].name);
    }
    return ty_status_fail(TY_BAD_CONFIG, "--limit: there is no '%.*s'; allowed: %.230s",
                          length < 40 ? (int)length : 40, value, names);
}

static TyStatus set_limit(Settings *settings, const char *value)
{
    size_t length = strcspn(value, "=");
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        const LimitInfo *info = &limit_infos[i];
        if (strlen(info->name) != length || strncmp(info->name, value, length) != 0) {
            continue;
        }
        char *end = NULL;
        errno = 0;
        const char *digits = value[length] == '=' ? value + length + 1 : "";
        uint64_t number = strtoull(digits, &end, 10);
        if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || errno != 0 ||
            number < info->minimum || number > info->maximum) {
            return ty_status_fail(TY_BAD_CONFIG, "--limit %s: give %s=N with N from %llu to %llu",
                                  value, info->name, (unsigned long long)info->minimum,
                                  (unsigned long long)info->maximum);
        }
        *limit_at(&settings->limits, i) = number;
        return ty_status_ok();
    }
    return limit_unknown(value, length);
}

static OptionSet set_config;

typedef struct Option {
    const char *name;
    const char *value;
    OptionSet *set;
    const char *help;
} Option;

static const Option options[] = {
    {"listen", "ENDPOINT", set_listen,
     "ipc:///PATH or tcp://HOST:PORT; may be given several times. Default: ipc in a\n"
     "                         private directory"},
    {"shm", "PATH", set_shm,
     "Unix socket for shared memory, or 'none'. Default: PATH.shm beside the\n"
     "                         first ipc:///PATH"},
    {"log", "DIR", set_log, "Log every finished episode in this directory."},
    {"log-file-bytes", "N", set_log_file_bytes,
     "Begin a new file of the log when one is larger. Default: 268435456."},
    {"log-file-hours", "N", set_log_file_hours,
     "The same when one was begun so long ago. Default: never."},
    {"log-keep-bytes", "N", set_log_keep_bytes,
     "Delete the oldest files when all are larger. Default: keep all."},
    {"log-keep-days", "N", set_log_keep_days,
     "Delete files that were last written so long ago. Default: keep all."},
    {"log-full", "POLICY", set_log_full,
     "When the log cannot be written: stop (default), no ending is told until it is;\n"
     "                         or drop, it is told, and counted as lost."},
    {"log-level", "LEVEL", set_log_level,
     "What is told on standard error: error, warning (default), info (sessions,\n"
     "                         pools, start and exit) or debug (every refused request)."},
    {"log-format", "FORMAT", set_log_format, "text (default), or json: an object a line."},
    {"metrics", "ENDPOINT", set_metrics,
     "Serve /metrics for Prometheus: tcp://127.0.0.1:PORT, or ipc:///PATH, a unix\n"
     "                         socket. Default: none."},
    {"boards", "DIR", set_boards,
     "What clients may name: boards and decks DIR/NAME.json, files of agents DIR/NAME."},
    {"token", "FILE", set_token, "File with the token that tcp clients must send; for loopback."},
    {"curve-secret", "FILE", set_curve_secret,
     "Secret key of this daemon ('trainyard keygen'): tcp is encrypted."},
    {"curve-clients", "FILE", set_curve_clients,
     "Public keys of the clients that may connect: a file, or a directory. A client\n"
     "                         is called by the name of its key's file."},
    {"admin-token", "FILE", set_admin_token,
     "File with the token of administrators, besides --token ('trainyard admin')."},
    {"admin-clients", "FILE", set_admin_clients,
     "Public keys of administrators, besides --curve-clients."},
    {"load", "FILE.so", set_load, "Add the games and agents of your own shared object."},
    {"drain", "SECONDS", set_drain,
     "When told to stop, let running episodes end first, for at most this time; begin no others."},
    {"lease", "FD", set_owner_pipe, "Exit when the other end of this pipe is closed."},
    {"limit", "NAME=VALUE", set_limit, "Set a limit; see below. May be given several times."},
    {"config", "FILE", set_config, "Read options from a file: lines of NAME VALUE."},
    {NULL, NULL, NULL, NULL},
};

static const Option *option_find(const char *name, size_t length)
{
    for (const Option *option = options; option->name != NULL; option++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

/* Cuts the comment off; true if nothing is left. */
static bool line_is_empty(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    return line[strspn(line, " \t")] == '\0';
}

/* One line of a configuration file: NAME VALUE or NAME = VALUE. */
static TyStatus config_line(Settings *settings, char *line, const char *path, uint32_t number)
{
    char *name = line + strspn(line, " \t");
    size_t length = strcspn(name, " \t=");
    const Option *option = option_find(name, length);
    char *value = name + length + strspn(name + length, " \t=");
    size_t end = strlen(value);
    while (end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t')) {
        value[--end] = '\0';
    }
    if (option == NULL || option->set == set_config || end == 0) {
        return ty_status_fail(
            TY_BAD_CONFIG, "%s:%u: give NAME VALUE, with a name that --help shows", path, number);
    }
    return option->set(settings, value);
}

static TyStatus set_config(Settings *settings, const char *path)
{
    FILE *file = fopen(path, "r");
    TyStatus status = ty_status_ok();
    if (file == NULL) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    for (uint32_t number = 1; status.code == TY_OK; number++) {
        char *line = NULL;
        size_t size = 0;
        if (getline(&line, &size, file) < 0) {
            free(line);
            break;
        }
        if (line_is_empty(line)) {
            free(line);
            continue;
        }
        if (settings->line_count == SETTINGS_LINES_MAX) {
            free(line);
            status = ty_status_fail(TY_LIMIT, "%s: more than %d lines", path, SETTINGS_LINES_MAX);
            break;
        }
        settings->lines[settings->line_count++] = line;
        status = config_line(settings, line, path, number);
    }
    fclose(file);
    return status;
}

static void print_help(void)
{
    printf(
        "usage: trainyardd [options]\n\n"
        "Serves train board games to agents in other processes, languages and machines:\n"
        "MessagePack over ZeroMQ, and shared memory. proto/PROTOCOL.md describes the messages.\n\n"
        "options:\n");
    for (const Option *option = options; option->name != NULL; option++) {
        char left[40];
        snprintf(left, sizeof left, "--%s %s", option->name, option->value);
        printf("  %-22s %s\n", left, option->help);
    }
    printf("  %-22s %s\n  %-22s %s\n\nlimits:\n", "--help", "Show this text.", "--version",
           "Show the version.");
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        printf("  %-22s %s (default %llu)\n", limit_infos[i].name, limit_infos[i].help,
               (unsigned long long)limit_infos[i].standard);
    }
    printf("\nexample:\n  trainyardd --listen tcp://127.0.0.1:5555 --token ~/.trainyard-token\n");
}

/* One option, with its value in the same word or the next, to which `at` then moves. */
static TyStatus word_read(Settings *settings, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    const Option *option = length > 0 ? option_find(word + 2, length) : NULL;
    bool joined = option != NULL && word[2 + length] == '=';
    if (option == NULL) {
        return ty_status_fail(TY_BAD_CONFIG, "unknown option '%s'; --help lists all", word);
    }
    if (!joined && *at + 1 == argc) {
        return ty_status_fail(TY_BAD_CONFIG, "%s needs a value", word);
    }
    return option->set(settings, joined ? word + 3 + length : argv[++*at]);
}

static void settings_begin(Settings *settings)
{
    settings->limits = limits_standard();
    settings->owner_pipe = -1;
    settings->log_level = JOURNAL_WARNING;
}

int settings_read(Settings *settings, int argc, char **argv)
{
    settings_begin(settings);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return EXIT_SUCCESS;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("trainyardd %s\n", TY_VERSION);
            return EXIT_SUCCESS;
        }
        TyStatus status = word_read(settings, argc, argv, &i);
        if (status.code != TY_OK) {
            fprintf(stderr, "trainyardd: %s\n", status.message);
            return EXIT_USAGE;
        }
    }
    return -1;
}

TyStatus settings_read_again(Settings *settings, int argc, char **argv)
{
    TyStatus status = ty_status_ok();
    settings_begin(settings);
    settings->again = true;
    for (int i = 1; i < argc && status.code == TY_OK; i++) {
        status = word_read(settings, argc, argv, &i);
    }
    return status;
}

void settings_fini(Settings *settings)
{
    for (uint32_t i = 0; i < settings->line_count; i++) {
        free(settings->lines[i]);
    }
}
