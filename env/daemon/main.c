/* trainyardd: claims its endpoints, serves until it is told to stop. */
#define _GNU_SOURCE
#include "core/status.h"
#include "daemon/notify.h"
#include "daemon/reload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_FAILED = 1,
    STOP_MS = 1700, /* that work has to end when it was stopped */
};

static uint64_t clock_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- Endpoints ---- */

/* What is opened for serving, and given back at the end. */
typedef struct Service {
    uint32_t endpoint_count;
    Endpoint endpoints[ROUTER_ENDPOINTS_MAX];
    Endpoint metrics; /* its address is "" if there are none */
    Secrets secrets;
    char shm[ENDPOINT_PATH_MAX + 4]; /* "": no shared memory */
    char shm_lock[ENDPOINT_PATH_MAX + 16];
    int signal_fd;
    Router *router;
    Journal journal;
    CommandLine line;
    int hangup_fd; /* readable when everything is to be read again */
    uint64_t watchdog_ms;
    uint64_t alive_ms; /* when the service manager heard from us */
} Service;

/* tcp needs a secret of some kind, and beyond this machine only keys will do. */
static TyStatus endpoint_allowed(const Settings *settings, const Endpoint *endpoint)
{
    bool curve = settings->curve_secret != NULL;
    switch (endpoint->kind) {
    case ENDPOINT_IPC:
        return ty_status_ok();
    case ENDPOINT_LOOPBACK:
        return curve || settings->token != NULL
                   ? ty_status_ok()
                   : ty_status_fail(
                         TY_BAD_CONFIG,
                         "%s: every user of this machine could connect; give --token FILE "
                         "or --curve-secret and --curve-clients",
                         endpoint->address);
    case ENDPOINT_REMOTE:
        return curve ? ty_status_ok()
                     : ty_status_fail(TY_BAD_CONFIG,
                                      "%s: other machines could connect; give --curve-secret and "
                                      "--curve-clients ('trainyard keygen' makes keys)",
                                      endpoint->address);
    }
    return ty_status_ok();
}

static TyStatus endpoints_claim(const Settings *settings, Service *service)
{
    char directory[ENDPOINT_PATH_MAX];
    char standard[ENDPOINT_ADDRESS_MAX];
    TyStatus status = ty_status_ok();
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

/* Metrics are for this machine only; `settings` has checked that. */
static TyStatus metrics_claim(const Settings *settings, Service *service)
{
    if (settings->metrics == NULL) {
        return ty_status_ok();
    }
    TyStatus status = endpoint_parse(settings->metrics, &service->metrics);
    return status.code == TY_OK ? endpoint_claim(&service->metrics) : status;
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

/* Reads configuration, keys and tokens again, on SIGHUP; what cannot be read changes nothing. */
static void service_reload(void *user)
{
    Service *service = user;
    struct signalfd_siginfo signals;
    Reload reload;
    char reloading[64];
    while (read(service->hangup_fd, &signals, sizeof signals) == sizeof signals) {
    }
    snprintf(reloading, sizeof reloading, "RELOADING=1\nMONOTONIC_USEC=%llu\n",
             (unsigned long long)clock_ms() * 1000);
    notify_send(reloading);
    TyStatus status = reload_read(&service->line, &service->secrets, &service->journal, &reload);
    if (status.code == TY_OK) {
        status = router_reload(service->router, &reload);
    }
    bool good = status.code == TY_OK;
    journal_write(&service->journal, good ? JOURNAL_INFO : JOURNAL_ERROR,
                  good ? "reload" : "reload_failed",
                  JOURNAL_FIELDS(JOURNAL_TEXT("why", good ? "SIGHUP" : status.message)));
    notify_send("READY=1\n");
}

static void service_alive(void *user)
{
    Service *service = user;
    uint64_t now = clock_ms();
    if (service->watchdog_ms > 0 && now - service->alive_ms >= service->watchdog_ms) {
        service->alive_ms = now;
        notify_send("WATCHDOG=1\n");
    }
}

/* ---- Stopping ---- */

static Service *stopping_service;

/* Leaves at once. What was told of finished episodes is in their log already. */
static void leave(int signal_number)
{
    static const char sentence[] = "trainyardd: work was left unfinished\n";
    for (uint32_t i = 0; i < stopping_service->endpoint_count; i++) {
        endpoint_release(&stopping_service->endpoints[i]);
    }
    endpoint_release(&stopping_service->metrics);
    if (stopping_service->shm[0] != '\0') {
        unlink(stopping_service->shm);
        unlink(stopping_service->shm_lock);
    }
    ssize_t written = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    (void)written;
    _exit(signal_number == SIGALRM ? EXIT_SUCCESS : EXIT_FAILED);
}

/* From the first signal on, a second one ends the daemon at once, and so does a clock as soon as
 * work is stopped. */
static void service_stopping(void *user, bool now)
{
    const struct sigaction action = {.sa_handler = leave};
    const struct itimerval limit = {
        .it_value = {.tv_sec = STOP_MS / 1000, .tv_usec = STOP_MS % 1000 * 1000}};
    struct signalfd_siginfo first;
    sigset_t signals;
    if (stopping_service == NULL) {
        Service *service = user;
        notify_send("STOPPING=1\n");
        journal_write(&service->journal, JOURNAL_INFO, "stopping",
                      JOURNAL_FIELDS(JOURNAL_TEXT("version", TY_VERSION)));
    }
    stopping_service = user;
    snprintf(stopping_service->shm_lock, sizeof stopping_service->shm_lock, "%s.lock",
             stopping_service->shm);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    while (read(stopping_service->signal_fd, &first, sizeof first) > 0) {
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (now) {
        setitimer(ITIMER_REAL, &limit, NULL);
    }
}

static TyStatus service_open(const Settings *settings, Service *service)
{
    Secrets *secrets = &service->secrets;
    TyStatus status = secrets_read(settings, secrets);
    if (status.code == TY_OK) {
        status = endpoints_claim(settings, service);
    }
    if (status.code == TY_OK) {
        status = metrics_claim(settings, service);
    }
    shm_choose(settings, service);
    const RouterConfig config = {
        .limits = settings->limits,
        .endpoint_count = service->endpoint_count,
        .endpoints = service->endpoints,
        .token = settings->token != NULL ? secrets->token : NULL,
        .admin_token = settings->admin_token != NULL ? secrets->admin_token : NULL,
        .curve_secret = settings->curve_secret != NULL ? secrets->curve_secret : NULL,
        .curve_users = &secrets->curve_users,
        .boards = settings->boards,
        .shm_path = service->shm[0] != '\0' ? service->shm : NULL,
        .log = settings->log,
        .log_files = settings->log_files,
        .log_drops = settings->log_drops,
        .metrics = settings->metrics != NULL ? &service->metrics : NULL,
        .journal = &service->journal,
        .user = service,
        .reload_fd = service->hangup_fd,
        .reload = service->hangup_fd >= 0 ? service_reload : NULL,
        .alive = service_alive,
        .drain_ms = settings->drain_ms,
        .stopping = service_stopping,
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
    endpoint_release(&service->metrics);
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
    signal(SIGXFSZ, SIG_IGN); /* a log that is too large for the system is as good as a full disk */
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int hangup_signal(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void print_ready(Service *service)
{
    printf("trainyardd %s ready:", TY_VERSION);
    for (uint32_t i = 0; i < service->endpoint_count; i++) {
        printf(" %s", router_address(service->router, i));
    }
    if (service->shm[0] != '\0') {
        printf(" shm:%s", service->shm);
    }
    if (service->metrics.address[0] != '\0') {
        printf(" metrics:%s", router_metrics_address(service->router));
    }
    printf("\n");
    fflush(stdout);
    journal_write(&service->journal, JOURNAL_INFO, "ready",
                  JOURNAL_FIELDS(JOURNAL_TEXT("version", TY_VERSION),
                                 JOURNAL_NUMBER("pid", (uint64_t)getpid()),
                                 JOURNAL_TEXT("listen", router_address(service->router, 0))));
    notify_send("READY=1\nSTATUS=serving\n");
}

/* A descriptor that is readable as soon as the daemon has to stop: a signal came, or the process
 * that has the other end of the owner's pipe is gone, however it went. Below 0 if there is none. */
static int stop_open(int signals, int owner_pipe)
{
    int stop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    struct epoll_event end = {.events = 0}; /* the end of a pipe is always told */
    if (epoll_ctl(stop, EPOLL_CTL_ADD, signals, &event) != 0 ||
        (owner_pipe >= 0 && epoll_ctl(stop, EPOLL_CTL_ADD, owner_pipe, &end) != 0)) {
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
    service->signal_fd = signal_fd;
    int stop_fd = stop_open(signal_fd, settings->owner_pipe);
    service->hangup_fd = hangup_signal();
    service->watchdog_ms = notify_watchdog_ms();
    TyStatus opened = stop_fd >= 0 ? service_open(settings, service)
                                   : ty_status_fail(TY_IO, "no way to stop: %s", strerror(errno));
    if (opened.code == TY_OK) {
        print_ready(service);
        router_serve(service->router, stop_fd);
    } else {
        journal_write(&service->journal, JOURNAL_ERROR, "failed",
                      JOURNAL_FIELDS(JOURNAL_TEXT("why", opened.message)));
    }
    service_close(service);
    setitimer(ITIMER_REAL, &(const struct itimerval){.it_value = {.tv_sec = 0}}, NULL);
    close(stop_fd);
    close(signal_fd);
    close(service->hangup_fd);
    int status = opened.code == TY_OK ? EXIT_SUCCESS : EXIT_FAILED;
    journal_write(&service->journal, JOURNAL_INFO, "exit",
                  JOURNAL_FIELDS(JOURNAL_NUMBER("status", (uint64_t)status)));
    return status;
}

int main(int argc, char **argv)
{
    static Service service = {.metrics = {.lock_fd = -1}};
    Settings settings = {.listen_count = 0};
    umask(077);
    int status = settings_read(&settings, argc, argv);
    if (status < 0) {
        service.line = (CommandLine){.argc = argc, .argv = argv, .settings = &settings};
        journal_init(&service.journal, STDERR_FILENO, settings.log_level, settings.log_json);
        status = serve(&settings, &service);
        journal_fini(&service.journal);
    }
    settings_fini(&settings);
    return status;
}
