/* trainyardd: reads its options, claims its endpoints, serves until it is told to stop. */
#define _GNU_SOURCE
#include "core/status.h"
#include "daemon/router.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, CONFIG_LINES_MAX = 256 };

/* What the command line and the configuration file say. */
typedef struct Settings {
    Limits limits;
    uint32_t listen_count;
    const char *listen[ROUTER_ENDPOINTS_MAX];
    const char *shm;
    const char *log;
    const char *boards;
    const char *token;
    const char *curve_secret;
    const char *curve_clients;
    int lease; /* -1: none */
    uint32_t line_count;
    char *lines[CONFIG_LINES_MAX]; /* of configuration files; the values point into them */
} Settings;

/* ---- Options ---- */

typedef TyStatus OptionSet(Settings *settings, const char *value);

static TyStatus set_listen(Settings *settings, const char *value)
{
    if (settings->listen_count == ROUTER_ENDPOINTS_MAX) {
        return status_fail(TY_LIMIT, "--listen: more than %d endpoints", ROUTER_ENDPOINTS_MAX);
    }
    settings->listen[settings->listen_count++] = value;
    return status_ok();
}

static TyStatus set_shm(Settings *settings, const char *value)
{
    bool none = strcmp(value, "none") == 0;
    if (!none && (value[0] != '/' || strlen(value) >= ENDPOINT_PATH_MAX)) {
        return status_fail(TY_BAD_CONFIG,
                           "--shm %.100s: give the absolute path of a socket, or 'none'", value);
    }
    settings->shm = value;
    return status_ok();
}

static TyStatus set_log(Settings *settings, const char *value)
{
    settings->log = value;
    return status_ok();
}

static TyStatus set_boards(Settings *settings, const char *value)
{
    struct stat info;
    if (stat(value, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return status_fail(TY_IO, "--boards %.200s: there is no such directory", value);
    }
    settings->boards = value;
    return status_ok();
}

static TyStatus set_token(Settings *settings, const char *value)
{
    settings->token = value;
    return status_ok();
}

static TyStatus set_curve_secret(Settings *settings, const char *value)
{
    settings->curve_secret = value;
    return status_ok();
}

static TyStatus set_curve_clients(Settings *settings, const char *value)
{
    settings->curve_clients = value;
    return status_ok();
}

static TyStatus set_lease(Settings *settings, const char *value)
{
    char *end = NULL;
    long fd = strtol(value, &end, 10);
    struct stat info;
    if (end == value || *end != '\0' || fd < 0 || fd > INT32_MAX || fstat((int)fd, &info) != 0 ||
        !S_ISFIFO(info.st_mode)) {
        return status_fail(TY_BAD_CONFIG, "--lease %s: give the number of an open pipe", value);
    }
    settings->lease = (int)fd;
    return status_ok();
}

static TyStatus limit_unknown(const char *value, size_t length)
{
    char names[TY_MESSAGE_MAX] = "";
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", limit_infos[i].name);
    }
    return status_fail(TY_BAD_CONFIG, "--limit: there is no '%.*s'; allowed: %.230s",
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
            return status_fail(TY_BAD_CONFIG, "--limit %s: give %s=N with N from %llu to %llu",
                               value, info->name, (unsigned long long)info->minimum,
                               (unsigned long long)info->maximum);
        }
        *limit_at(&settings->limits, i) = number;
        return status_ok();
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
     "Unix socket of the shared-memory door, or 'none'. Default: PATH.shm beside the\n"
     "                         first ipc:///PATH"},
    {"log", "DIR", set_log, "Log every finished episode there."},
    {"boards", "DIR", set_boards, "Boards and decks that clients may name: DIR/NAME.json."},
    {"token", "FILE", set_token, "Secret that clients on tcp must know; for loopback."},
    {"curve-secret", "FILE", set_curve_secret,
     "Secret key of this daemon ('trainyard keygen'): tcp is encrypted."},
    {"curve-clients", "FILE", set_curve_clients,
     "Public keys that may connect: a file, or a directory of them."},
    {"lease", "FD", set_lease, "Serve while the other end of this pipe is open, no longer."},
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

/* One line of a configuration file: NAME VALUE, NAME = VALUE, or a comment. */
static TyStatus config_line(Settings *settings, char *line, const char *path, uint32_t number)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *name = line + strspn(line, " \t");
    size_t length = strcspn(name, " \t=");
    if (length == 0) {
        return status_ok();
    }
    const Option *option = option_find(name, length);
    char *value = name + length + strspn(name + length, " \t=");
    size_t end = strlen(value);
    while (end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t')) {
        value[--end] = '\0';
    }
    if (option == NULL || option->set == set_config || end == 0) {
        return status_fail(TY_BAD_CONFIG, "%s:%u: give NAME VALUE, with a name that --help shows",
                           path, number);
    }
    return option->set(settings, value);
}

static TyStatus set_config(Settings *settings, const char *path)
{
    FILE *file = fopen(path, "r");
    TyStatus status = status_ok();
    if (file == NULL) {
        return status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    for (uint32_t number = 1; status.code == TY_OK; number++) {
        char *line = NULL;
        size_t size = 0;
        if (getline(&line, &size, file) < 0) {
            free(line);
            break;
        }
        if (settings->line_count == CONFIG_LINES_MAX) {
            free(line);
            status = status_fail(TY_LIMIT, "%s: more than %d lines", path, CONFIG_LINES_MAX);
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
        "Lets agents in other processes, languages and machines play train board games:\n"
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

/* Reads the command line. Returns -1 to go on, or the exit status. */
static int settings_read(Settings *settings, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            return EXIT_SUCCESS;
        }
        if (strcmp(word, "--version") == 0) {
            printf("trainyardd %s\n", TY_VERSION);
            return EXIT_SUCCESS;
        }
        size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
        const Option *option = length > 0 ? option_find(word + 2, length) : NULL;
        bool joined = option != NULL && word[2 + length] == '=';
        if (option == NULL || (!joined && i + 1 == argc)) {
            fprintf(stderr,
                    option == NULL ? "trainyardd: unknown option '%s'; --help lists all\n"
                                   : "trainyardd: %s needs a value\n",
                    word);
            return EXIT_USAGE;
        }
        TyStatus status = option->set(settings, joined ? word + 3 + length : argv[++i]);
        if (status.code != TY_OK) {
            fprintf(stderr, "trainyardd: %s\n", status.message);
            return EXIT_USAGE;
        }
    }
    return -1;
}

/* ---- Endpoints ---- */

/* What is opened for serving, and given back at the end. */
typedef struct Service {
    uint32_t endpoint_count;
    Endpoint endpoints[ROUTER_ENDPOINTS_MAX];
    char token[ACCESS_TOKEN_MAX];
    char curve_secret[KEY_TEXT_SIZE];
    AccessKeys curve_users;
    char shm[ENDPOINT_PATH_MAX + 4]; /* "": no shared memory */
    Router *router;
} Service;

/* tcp needs a secret of some kind, and beyond this machine only keys will do. */
static TyStatus endpoint_allowed(const Settings *settings, const Endpoint *endpoint)
{
    bool curve = settings->curve_secret != NULL;
    switch (endpoint->kind) {
    case ENDPOINT_IPC:
        return status_ok();
    case ENDPOINT_LOOPBACK:
        return curve || settings->token != NULL
                   ? status_ok()
                   : status_fail(TY_BAD_CONFIG,
                                 "%s: every user of this machine could connect; give --token FILE "
                                 "or --curve-secret and --curve-clients",
                                 endpoint->address);
    case ENDPOINT_REMOTE:
        return curve ? status_ok()
                     : status_fail(TY_BAD_CONFIG,
                                   "%s: other machines could connect; give --curve-secret and "
                                   "--curve-clients ('trainyard keygen' makes keys)",
                                   endpoint->address);
    }
    return status_ok();
}

static TyStatus secrets_read(const Settings *settings, Service *service)
{
    TyStatus status = status_ok();
    if ((settings->curve_secret != NULL) != (settings->curve_clients != NULL)) {
        return status_fail(TY_BAD_CONFIG, "--curve-secret and --curve-clients belong together");
    }
    if (settings->token != NULL) {
        status = access_token_read(settings->token, service->token);
    }
    if (status.code == TY_OK && settings->curve_secret != NULL) {
        status = access_secret_read(settings->curve_secret, service->curve_secret);
    }
    if (status.code == TY_OK && settings->curve_clients != NULL) {
        status = access_keys_read(settings->curve_clients, &service->curve_users);
    }
    return status;
}

static TyStatus endpoints_claim(const Settings *settings, Service *service)
{
    char directory[ENDPOINT_PATH_MAX];
    char standard[ENDPOINT_ADDRESS_MAX];
    TyStatus status = status_ok();
    uint32_t count = settings->listen_count;
    if (count == 0) {
        status = endpoint_runtime_directory(directory);
        snprintf(standard, sizeof standard, "ipc://%s/trainyardd", directory);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < (count == 0 ? 1 : count); i++) {
        Endpoint *endpoint = &service->endpoints[i];
        status = endpoint_parse(count == 0 ? standard : settings->listen[i], endpoint);
        if (status.code == TY_OK) {
            status = endpoint_allowed(settings, endpoint);
        }
        if (status.code == TY_OK) {
            service->endpoint_count = i + 1;
            status = endpoint_claim(endpoint);
        }
    }
    return status;
}

/* Shared memory is there without being asked for, wherever clients are of this machine and user. */
static void shm_choose(const Settings *settings, Service *service)
{
    if (settings->shm != NULL) {
        bool none = strcmp(settings->shm, "none") == 0;
        snprintf(service->shm, sizeof service->shm, "%s", none ? "" : settings->shm);
        return;
    }
    for (uint32_t i = 0; i < service->endpoint_count; i++) {
        if (service->endpoints[i].kind == ENDPOINT_IPC) {
            snprintf(service->shm, sizeof service->shm, "%s.shm", service->endpoints[i].path);
            return;
        }
    }
}

static TyStatus service_open(const Settings *settings, Service *service)
{
    TyStatus status = secrets_read(settings, service);
    if (status.code == TY_OK) {
        status = endpoints_claim(settings, service);
    }
    shm_choose(settings, service);
    const RouterConfig config = {
        .limits = settings->limits,
        .endpoint_count = service->endpoint_count,
        .endpoints = service->endpoints,
        .token = settings->token != NULL ? service->token : NULL,
        .curve_secret = settings->curve_secret != NULL ? service->curve_secret : NULL,
        .curve_users = &service->curve_users,
        .boards = settings->boards,
        .shm_path = service->shm[0] != '\0' ? service->shm : NULL,
        .log = settings->log,
    };
    return status.code == TY_OK ? router_open(&config, &service->router) : status;
}

static void service_close(Service *service)
{
    if (service->router != NULL) {
        router_close(service->router);
    }
    for (uint32_t i = 0; i < service->endpoint_count; i++) {
        endpoint_release(&service->endpoints[i]);
    }
}

/* ---- Serving ---- */

static int stop_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void print_ready(const Service *service)
{
    printf("trainyardd %s ready:", TY_VERSION);
    for (uint32_t i = 0; i < service->endpoint_count; i++) {
        printf(" %s", router_address(service->router, i));
    }
    if (service->shm[0] != '\0') {
        printf(" shm:%s", service->shm);
    }
    printf("\n");
    fflush(stdout);
}

/* A descriptor that is readable as soon as the daemon has to stop: a signal came, or whoever holds
 * the other end of the lease is gone, however it went. Below 0 if there is none to be had. */
static int stop_open(int signals, int lease)
{
    int stop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    struct epoll_event end = {.events = 0}; /* the end of a pipe is always told */
    if (epoll_ctl(stop, EPOLL_CTL_ADD, signals, &event) != 0 ||
        (lease >= 0 && epoll_ctl(stop, EPOLL_CTL_ADD, lease, &end) != 0)) {
        int error = errno;
        close(stop);
        errno = error;
        return -1;
    }
    return stop;
}

/* Serves until it is told to stop. Returns the exit status. */
static int serve(const Settings *settings, Service *service)
{
    int signal_fd = stop_signals();
    int stop_fd = stop_open(signal_fd, settings->lease);
    TyStatus opened = stop_fd >= 0 ? service_open(settings, service)
                                   : status_fail(TY_IO, "no way to stop: %s", strerror(errno));
    if (opened.code == TY_OK) {
        print_ready(service);
        router_serve(service->router, stop_fd);
    } else {
        fprintf(stderr, "trainyardd: %s\n", opened.message);
    }
    service_close(service);
    close(stop_fd);
    close(signal_fd);
    return opened.code == TY_OK ? EXIT_SUCCESS : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static Service service;
    Settings settings = {.limits = limits_standard(), .lease = -1};
    umask(077);
    int status = settings_read(&settings, argc, argv);
    if (status < 0) {
        status = serve(&settings, &service);
    }
    for (uint32_t i = 0; i < settings.line_count; i++) {
        free(settings.lines[i]);
    }
    return status;
}
