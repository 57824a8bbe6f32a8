/* The router: one thread that moves messages between ZeroMQ and dispatch, and lets time pass. */
#define _GNU_SOURCE
#include "daemon/router.h"
#include "core/status.h"
#include "daemon/metrics.h"
#include "daemon/router_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MAX_MS = 50,
    MESSAGES_PER_TURN = 64, /* of one socket before the others have their turn */
    REFUSALS_SPARE_BYTES = 1 << 20,
    REFUSED_MAX = 64, /* connections beyond the sessions, to be told that there are too many */
};

static uint64_t clock_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- What dispatch calls ---- */

static uint64_t router_clock_ns(void *user)
{
    struct timespec time;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void router_wake(void *user)
{
    const Router *router = user;
    uint64_t one = 1;
    ssize_t written = write(router->wake_fd, &one, sizeof one);
    (void)written;
}

static void router_random(void *user, uint8_t *bytes, size_t size)
{
    (void)user;
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);
        if (got > 0) {
            bytes += got;
            size -= (size_t)got;
        }
    }
}

/* ---- Shared memory ---- */

static TyStatus shm_asked(void *user, const ShmHello *hello, uint64_t lease, ShmDescriptors *fds)
{
    Router *router = user;
    return dispatch_lease(router->dispatch, hello->pool, hello->member, hello->token, lease, fds)
               ? ty_status_ok()
               : ty_status_fail(TY_BAD_ARGUMENT,
                                "no member of a pool has this token, or it is in use");
}

static void shm_ended(void *user, uint64_t lease)
{
    Router *router = user;
    dispatch_lease_ended(router->dispatch, lease, clock_ms());
}

static void router_drop_lease(void *user, uint64_t lease)
{
    Router *router = user;
    if (router->shm != NULL) {
        shm_server_drop(router->shm, lease);
    }
}

/* ---- Opening ---- */

static void log_message(void *user, const char *sentence)
{
    const Router *router = user;
    journal_write(router->config.journal, JOURNAL_WARNING, "log",
                  JOURNAL_FIELDS(JOURNAL_TEXT("message", sentence)));
}

static TyStatus dispatch_for(Router *router)
{
    const RouterConfig *config = &router->config;
    if (config->log != NULL) {
        RecorderOptions options = recorder_defaults();
        options.message = log_message;
        options.full = config->log_drops ? RECORDER_FULL_DROP : RECORDER_FULL_STOP;
        options.user = router;
        if (config->log_files.file_bytes > 0) {
            options.file_bytes_max = config->log_files.file_bytes;
        }
        options.file_seconds_max = (uint32_t)config->log_files.file_hours * 3600;
        options.keep_bytes = config->log_files.keep_bytes;
        options.keep_seconds = (uint32_t)config->log_files.keep_days * 86400;
        TyStatus status = recorder_open(config->log, &options, &router->recorder);
        if (status.code != TY_OK) {
            return status;
        }
    }
    DispatchConfig dispatch = {.limits = config->limits,
                               .threaded = true,
                               .boards = config->boards,
                               .recorder = router->recorder,
                               .shm_path = config->shm_path,
                               .access_token = config->token,
                               .admin_token = config->admin_token,
                               .journal = config->journal,
                               .user = router,
                               .send = router_send,
                               .wake = router_wake,
                               .random = router_random,
                               .identify = router_identify,
                               .identify_key = router_identify_key,
                               .clock_ns = router_clock_ns,
                               .drop_lease = router_drop_lease};
    return dispatch_open(&dispatch, clock_ms(), &router->dispatch);
}

static TyStatus shm_open_server(Router *router)
{
    if (router->config.shm_path != NULL) {
        const ShmHandler handler = {.user = router, .asked = shm_asked, .ended = shm_ended};
        return shm_server_open(router->config.shm_path, &handler, &router->shm);
    }
    return ty_status_ok();
}

/* ---- Metrics ---- */

static size_t metrics_page(void *user, char *text, size_t size)
{
    const Router *router = user;
    return dispatch_metrics(router->dispatch, text, size);
}

static TyStatus metrics_open(Router *router)
{
    const HttpConfig config = {.endpoint = router->config.metrics,
                               .path = "/metrics",
                               .page_max = METRICS_PAGE_MAX,
                               .page = metrics_page,
                               .user = router};
    return config.endpoint != NULL ? http_open(&config, &router->http) : ty_status_ok();
}

const char *router_metrics_address(const Router *router)
{
    return router->http != NULL ? http_address(router->http) : "";
}

/* ---- The router ---- */

TyStatus router_open(const RouterConfig *config, Router **out)
{
    *out = NULL;
    Router *router = calloc(1, sizeof *router);
    if (router == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the daemon");
    }
    router->config = *config;
    buffer_store_init(&router->refusals, REFUSALS_SPARE_BYTES);
    quota_init(&router->quota, QUOTA_OF_DAEMON, NULL, &config->limits);
    router->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    TyStatus status = connections_init(&router->connections, config->limits.sessions + REFUSED_MAX);
    router->context = zmq_ctx_new();
    if (status.code == TY_OK && (router->context == NULL || router->wake_fd < 0)) {
        status = ty_status_fail(TY_IO, "%s", zmq_strerror(errno));
    }
    if (status.code == TY_OK) {
        status = router_zap_open(router);
    }
    if (status.code == TY_OK) {
        status = dispatch_for(router);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < config->endpoint_count; i++) {
        status = router_listen(router, &config->endpoints[i]);
    }
    if (status.code == TY_OK) {
        status = shm_open_server(router);
    }
    if (status.code == TY_OK) {
        status = metrics_open(router);
    }
    if (status.code != TY_OK) {
        router_close(router);
        return status;
    }
    *out = router;
    return status;
}

const char *router_address(const Router *router, uint32_t index)
{
    return router->listeners[index].address;
}

TyStatus router_reload(Router *router, const Reload *reload)
{
    router->config.limits = reload->limits;
    return dispatch_reload(router->dispatch, reload)
               ? ty_status_ok()
               : ty_status_fail(TY_NO_MEMORY, "no memory to reload");
}

/* ---- Serving ---- */

/* What the router waits for. The descriptors of ZeroMQ's sockets become readable once when
 * something has happened, and whatever is done with a socket may take note of it: then the
 * descriptor does not tell. So each is read until nothing comes, and again after it was written to,
 * before the router waits. zmq_poll does that for every socket every time, with a dozen system
 * calls. */
enum { ITEM_STOP, ITEM_RELOAD, ITEM_WAKE, ITEM_SHM, ITEM_HTTP, ITEM_ZAP, ITEM_LISTENERS };

static int socket_fd(void *socket)
{
    int fd = -1;
    size_t size = sizeof fd;
    zmq_getsockopt(socket, ZMQ_FD, &fd, &size);
    return fd;
}

/* What there is not has descriptor -1, which never is readable. */
static nfds_t items_fill(const Router *router, int stop_fd, struct pollfd *items)
{
    const int fds[ITEM_LISTENERS] = {
        [ITEM_STOP] = stop_fd,
        [ITEM_RELOAD] = router->config.reload != NULL ? router->config.reload_fd : -1,
        [ITEM_WAKE] = router->wake_fd,
        [ITEM_SHM] = router->shm != NULL ? shm_server_fd(router->shm) : -1,
        [ITEM_HTTP] = router->http != NULL ? http_fd(router->http) : -1,
        [ITEM_ZAP] = socket_fd(router->zap),
    };
    nfds_t count = 0;
    for (; count < ITEM_LISTENERS; count++) {
        items[count] = (struct pollfd){.fd = fds[count], .events = POLLIN};
    }
    for (uint32_t i = 0; i < router->listener_count; i++) {
        const Listener *listener = &router->listeners[i];
        items[count++] = (struct pollfd){.fd = socket_fd(listener->monitor), .events = POLLIN};
        items[count++] = (struct pollfd){.fd = socket_fd(listener->socket), .events = POLLIN};
    }
    return count;
}

/* Every socket is looked at again: at the beginning, and now and then. */
static void items_touch(Router *router, struct pollfd *items)
{
    items[ITEM_ZAP].revents = POLLIN;
    for (uint32_t i = 0; i < router->listener_count; i++) {
        items[ITEM_LISTENERS + 2 * i].revents = POLLIN;
        router->listeners[i].touched = true;
    }
}

static void listener_serve(Router *router, uint32_t index, uint64_t now_ms)
{
    Listener *listener = &router->listeners[index];
    for (uint32_t i = 0; i < MESSAGES_PER_TURN; i++) {
        listener->touched = false;
        if (!router_receive(router, index, now_ms)) {
            return;
        }
    }
    listener->touched = true; /* there may be more */
}

static void serve_listeners(Router *router, const struct pollfd *items, uint64_t now_ms)
{
    for (uint32_t i = 0; i < router->listener_count; i++) {
        const struct pollfd *monitor = &items[ITEM_LISTENERS + 2 * i];
        if (monitor[0].revents != 0) {
            router_read_monitor(router, i, now_ms);
        }
        if (monitor[1].revents != 0 || router->listeners[i].touched) {
            listener_serve(router, i, now_ms);
        }
    }
}

/* Waits until something is to be done; false if that cannot be told any more. */
static bool items_wait(const Router *router, struct pollfd *items, nfds_t count, int timeout_ms)
{
    for (uint32_t i = 0; i < router->listener_count; i++) {
        timeout_ms = router->listeners[i].touched ? 0 : timeout_ms;
    }
    return poll(items, count, timeout_ms) >= 0 || errno == EINTR;
}

/* How far the daemon's end has come. */
typedef struct Stop {
    bool told;
    bool stopping;
    uint64_t drain_until_ms;
} Stop;

static void stop_tell(const Router *router, bool now)
{
    if (router->config.stopping != NULL) {
        router->config.stopping(router->config.user, now);
    }
}

/* Goes on with the daemon's end; `told` if the descriptor for that is readable. */
static void stop_proceed(Router *router, Stop *stop, bool told, uint64_t now_ms)
{
    if (told && !stop->told && router->config.drain_ms > 0) {
        stop->drain_until_ms = now_ms + router->config.drain_ms;
        dispatch_begin_drain(router->dispatch);
        stop_tell(router, false);
    }
    bool drained = !stop->told && router->config.drain_ms == 0;
    if (stop->told) {
        drained = dispatch_is_drained(router->dispatch) || now_ms >= stop->drain_until_ms;
    }
    stop->told = stop->told || told;
    if (stop->told && drained && !stop->stopping) {
        stop->stopping = true;
        dispatch_stop(router->dispatch);
        stop_tell(router, true);
    }
}

/* Lets time pass. Returns when that is due again. */
static uint64_t router_tick(Router *router, uint64_t now_ms)
{
    uint32_t tick_ms = dispatch_tick(router->dispatch, now_ms);
    if (router->shm != NULL) {
        shm_server_serve(router->shm, now_ms);
    }
    if (router->http != NULL) {
        http_serve(router->http);
    }
    if (router->config.alive != NULL) {
        router->config.alive(router->config.user);
    }
    return now_ms + (tick_ms < TICK_MAX_MS ? tick_ms : TICK_MAX_MS);
}

/* Everything but the listeners. */
static void serve_items(Router *router, const struct pollfd *items, uint64_t now_ms)
{
    if (items[ITEM_RELOAD].revents != 0) {
        router->config.reload(router->config.user);
    }
    if (items[ITEM_WAKE].revents != 0) {
        uint64_t value = 0;
        ssize_t got = read(router->wake_fd, &value, sizeof value);
        (void)got;
        dispatch_collect(router->dispatch, now_ms);
    }
    if (items[ITEM_ZAP].revents != 0) {
        router_zap_answer(router);
    }
    if (items[ITEM_SHM].revents != 0) {
        shm_server_serve(router->shm, now_ms);
    }
    if (items[ITEM_HTTP].revents != 0) {
        http_serve(router->http);
    }
}

void router_serve(Router *router, int stop_fd)
{
    Stop stop = {.told = false};
    struct pollfd items[ITEM_LISTENERS + 2 * ROUTER_ENDPOINTS_MAX];
    nfds_t count = items_fill(router, stop_fd, items);
    uint64_t tick_at = 0;
    for (;;) {
        uint64_t now_ms = clock_ms();
        if (!items_wait(router, items, count, now_ms < tick_at ? (int)(tick_at - now_ms) : 0)) {
            return;
        }
        now_ms = clock_ms();
        if (now_ms >= tick_at) {
            tick_at = router_tick(router, now_ms);
            items_touch(router, items);
        }
        stop_proceed(router, &stop, !stop.told && items[ITEM_STOP].revents != 0, now_ms);
        if (stop.told) {
            items[ITEM_STOP].fd = -1;
        }
        if (stop.stopping && !dispatch_is_busy(router->dispatch)) {
            return;
        }
        serve_items(router, items, now_ms);
        serve_listeners(router, items, now_ms);
        router_survey(router, now_ms);
    }
}

void router_close(Router *router)
{
    if (router->http != NULL) {
        http_close(router->http);
        router->http = NULL;
    }
    if (router->dispatch != NULL) {
        dispatch_drain(router->dispatch);
    }
    if (router->shm != NULL) {
        shm_server_close(router->shm);
        router->shm = NULL;
    }
    for (uint32_t i = 0; i < router->listener_count; i++) {
        listener_close(&router->listeners[i]);
    }
    if (router->zap != NULL) {
        zmq_close(router->zap);
    }
    if (router->context != NULL) {
        zmq_ctx_term(router->context);
    }
    /* Only now has ZeroMQ given every reply back. */
    if (router->dispatch != NULL) {
        dispatch_close(router->dispatch);
    }
    if (router->recorder != NULL) {
        recorder_close(router->recorder);
    }
    router_frames_free(router);
    if (router->wake_fd >= 0) {
        close(router->wake_fd);
    }
    buffer_store_fini(&router->refusals);
    connections_fini(&router->connections);
    free(router);
}
