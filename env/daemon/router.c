/* The ZeroMQ door: one thread that moves messages between sockets and dispatch. */
#define _GNU_SOURCE
#include "daemon/router.h"
#include "core/status.h"
#include "daemon/dispatch.h"
#include "daemon/reply.h"
#include "daemon/shm_server.h"
#include "replay/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum {
    HANDSHAKE_MS = 1000,
    /* A peer that falls silent is asked after the first time, and closed after both: 1.8 s. */
    HEARTBEAT_MS = 400,
    HEARTBEAT_TIMEOUT_MS = 1400,
    LINGER_MS = 300,
    BACKLOG = 1024,
    MESSAGES_PER_TURN = 64, /* of one socket before the others have their turn */
    FDS_SPARE = 256,        /* descriptors that clients may not use up */
    REFUSED_MAX = 64,  /* connections beyond the sessions, to be told that there are too many */
    IDENTITY_SIZE = 5, /* of a routing id that ZeroMQ made: 0, then 4 bytes */
};

/* A message that came in, as dispatch sees it. */
typedef struct RouterFrame {
    Frame frame;
    zmq_msg_t message;
    struct RouterFrame *next;
    Router *router;
} RouterFrame;

/* A connection by its descriptor: how disconnects are told apart from each other. */
typedef struct Connection {
    bool open;
    bool used;     /* somebody has ever sent something */
    bool known;    /* and is not gone */
    uint64_t peer; /* who it is, or was last */
    uint32_t owed; /* disconnects of earlier peers that have not been reported yet */
} Connection;

typedef struct Door {
    void *socket;
    void *monitor;
    bool needs_token;
    bool curve;
    char address[ENDPOINT_ADDRESS_MAX];
} Door;

struct Router {
    RouterConfig config;
    void *context;
    void *zap;
    uint32_t door_count;
    Door doors[ROUTER_ENDPOINTS_MAX];
    Dispatch *dispatch;
    Recorder *recorder;
    int wake_fd;
    RouterFrame *spare;
    Connection *connections; /* by descriptor */
    uint32_t connection_places;
    uint32_t connection_count;
    uint32_t connections_max;
    uint8_t users[ACCESS_KEYS_MAX][32];
    BufferStore refusals;
    ShmServer *shm;
};

static uint64_t clock_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- Peers ---- */

#define PEER_DELIMITER (UINT64_C(1) << 32)

/* A peer's number: its door, whether its messages have the empty frame of REQ sockets, and the
 * routing id that ZeroMQ gave it, which it counts up. */
static uint64_t peer_number(uint32_t door, bool delimiter, const uint8_t identity[IDENTITY_SIZE])
{
    uint32_t id = (uint32_t)identity[1] << 24 | (uint32_t)identity[2] << 16 |
                  (uint32_t)identity[3] << 8 | identity[4];
    return (uint64_t)door << 33 | (delimiter ? PEER_DELIMITER : 0) | id;
}

/* True if `peer` came to the door after `other`; of peers of different doors nobody knows. */
static bool peer_is_newer(uint64_t peer, uint64_t other)
{
    return peer >> 33 != other >> 33 || (int32_t)((uint32_t)peer - (uint32_t)other) > 0;
}

/* ---- Sending ---- */

/* Called by ZeroMQ when it has sent a reply. */
static void buffer_sent(void *data, void *hint)
{
    (void)data;
    buffer_release(hint);
}

static DispatchSent send_to(void *socket, const void *identity, size_t identity_size,
                            bool delimiter, Buffer *reply)
{
    if (zmq_send(socket, identity, identity_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
        DispatchSent result = errno == EAGAIN ? DISPATCH_FULL : DISPATCH_GONE;
        buffer_release(reply);
        return result;
    }
    if (delimiter) {
        zmq_send(socket, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    }
    zmq_msg_t message;
    if (zmq_msg_init_data(&message, reply->data, reply->size, buffer_sent, reply) != 0) {
        buffer_release(reply);
        zmq_send(socket, "", 0, ZMQ_DONTWAIT);
        return DISPATCH_GONE;
    }
    if (zmq_msg_send(&message, socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&message);
        return DISPATCH_GONE;
    }
    return DISPATCH_SENT;
}

static DispatchSent router_send(void *user, uint64_t peer, Buffer *reply)
{
    Router *router = user;
    const uint8_t identity[IDENTITY_SIZE] = {0, (uint8_t)(peer >> 24), (uint8_t)(peer >> 16),
                                             (uint8_t)(peer >> 8), (uint8_t)peer};
    return send_to(router->doors[peer >> 33].socket, identity, sizeof identity,
                   (peer >> 32 & 1) != 0, reply);
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

/* ---- Receiving ---- */

static void frame_release(Frame *frame)
{
    RouterFrame *owner = (RouterFrame *)frame;
    zmq_msg_close(&owner->message);
    owner->next = owner->router->spare;
    owner->router->spare = owner;
}

static RouterFrame *frame_take(Router *router)
{
    RouterFrame *frame = router->spare;
    if (frame != NULL) {
        router->spare = frame->next;
    } else {
        frame = malloc(sizeof *frame);
    }
    if (frame != NULL) {
        frame->router = router;
        frame->frame.release = frame_release;
        zmq_msg_init(&frame->message);
    }
    return frame;
}

/* The peer of a descriptor is gone, whether its messages had the empty frame or not. */
static void connection_lost(Router *router, Connection *connection, uint64_t now_ms)
{
    connection->known = false;
    dispatch_disconnected(router->dispatch, connection->peer, now_ms);
    dispatch_disconnected(router->dispatch, connection->peer ^ PEER_DELIMITER, now_ms);
}

/* Notes which peer uses a descriptor. If it was an earlier one's, that one is gone, and ZeroMQ has
 * yet to say so. What an earlier one has sent may be read after it is gone, and tells nothing. */
static void connection_note(Router *router, int fd, uint64_t peer, uint64_t now_ms)
{
    if (fd < 0 || (uint32_t)fd >= router->connection_places) {
        return;
    }
    Connection *connection = &router->connections[fd];
    if (connection->used && !peer_is_newer(peer, connection->peer)) {
        return;
    }
    if (connection->known) {
        connection_lost(router, connection, now_ms);
        connection->owed++;
    }
    connection->used = true;
    connection->known = true;
    connection->peer = peer;
}

/* Routing ids that a client chose could be those of somebody else's session. */
static void refuse_identity(Router *router, void *socket, const zmq_msg_t *identity)
{
    WireError error;
    wire_refuse(&error, ERROR_denied, "leave the routing id of the socket to ZeroMQ");
    Buffer *reply = reply_refusal(&router->refusals, 0, &error);
    if (reply != NULL) {
        zmq_msg_t *id = (zmq_msg_t *)identity;
        send_to(socket, zmq_msg_data(id), zmq_msg_size(id), false, reply);
    }
}

/* The rest of a message: an empty frame or none, then one frame. If there is more, the frame is
 * made empty, which dispatch refuses. */
static bool receive_body(void *socket, RouterFrame *frame, bool *delimiter)
{
    zmq_msg_t *message = &frame->message;
    if (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0) {
        return false;
    }
    *delimiter = zmq_msg_size(message) == 0 && zmq_msg_more(message);
    if (*delimiter && zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0) {
        return false;
    }
    bool excess = false;
    while (zmq_msg_more(message)) {
        excess = true;
        if (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0) {
            return false;
        }
    }
    frame->frame.bytes = zmq_msg_data(message);
    frame->frame.size = excess ? 0 : zmq_msg_size(message);
    return true;
}

static bool receive_one(Router *router, uint32_t index, uint64_t now_ms)
{
    Door *door = &router->doors[index];
    zmq_msg_t identity;
    zmq_msg_init(&identity);
    if (zmq_msg_recv(&identity, door->socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&identity);
        return false;
    }
    RouterFrame *frame = frame_take(router);
    bool delimiter = false;
    if (frame == NULL || !receive_body(door->socket, frame, &delimiter)) {
        zmq_msg_close(&identity);
        if (frame != NULL) {
            frame_release(&frame->frame);
        }
        return true;
    }
    const uint8_t *id = zmq_msg_data(&identity);
    if (zmq_msg_size(&identity) != IDENTITY_SIZE || id[0] != 0) {
        refuse_identity(router, door->socket, &identity);
        frame_release(&frame->frame);
    } else {
        uint64_t peer = peer_number(index, delimiter, id);
        connection_note(router, zmq_msg_get(&frame->message, ZMQ_SRCFD), peer, now_ms);
        dispatch_receive(router->dispatch, peer, door->needs_token, &frame->frame, now_ms);
    }
    zmq_msg_close(&identity);
    return true;
}

/* ---- Connections that come and go ---- */

static void connection_opened(Router *router, int fd)
{
    if (fd < 0 || (uint32_t)fd >= router->connection_places) {
        return;
    }
    router->connection_count += !router->connections[fd].open;
    router->connections[fd].open = true;
}

static void connection_closed(Router *router, int fd, uint64_t now_ms)
{
    if (fd < 0 || (uint32_t)fd >= router->connection_places) {
        return;
    }
    Connection *connection = &router->connections[fd];
    if (connection->owed > 0) {
        connection->owed--;
        return;
    }
    router->connection_count -= connection->open;
    connection->open = false;
    if (connection->known) {
        connection_lost(router, connection, now_ms);
    }
}

static void monitor_read(Router *router, Door *door, uint64_t now_ms)
{
    uint8_t event[6];
    uint16_t kind;
    int32_t fd;
    while (zmq_recv(door->monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        zmq_recv(door->monitor, NULL, 0, ZMQ_DONTWAIT); /* the address */
        memcpy(&kind, event, sizeof kind);
        memcpy(&fd, event + 2, sizeof fd);
        if (kind == ZMQ_EVENT_ACCEPTED) {
            connection_opened(router, fd);
        } else if (kind == ZMQ_EVENT_DISCONNECTED) {
            connection_closed(router, fd, now_ms);
        }
    }
}

/* ---- Who may connect ---- */

/* The uid in ":UID:GID:PID", which ZeroMQ gives as the address of a peer on a unix socket. */
static bool peer_is_user(const char *address)
{
    const char *colon = strchr(address, ':');
    char *end = NULL;
    if (colon == NULL) {
        return false;
    }
    unsigned long uid = strtoul(colon + 1, &end, 10);
    return end != colon + 1 && *end == ':' && uid == (unsigned long)getuid();
}

static bool key_is_known(const Router *router, const uint8_t *key)
{
    const AccessKeys *users = router->config.curve_users;
    for (uint32_t i = 0; users != NULL && i < users->count; i++) {
        if (memcmp(router->users[i], key, sizeof router->users[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum { ZAP_FRAMES = 8, ZAP_FRAME_SIZE = 256 };

/* A question of ZeroMQ's: version, request, domain, address, routing id, mechanism, credentials. */
typedef struct ZapRequest {
    uint32_t count;
    size_t sizes[ZAP_FRAMES];
    uint8_t frames[ZAP_FRAMES][ZAP_FRAME_SIZE];
} ZapRequest;

static bool zap_receive(Router *router, ZapRequest *zap)
{
    int more = 1;
    size_t size = sizeof more;
    zap->count = 0;
    while (more) {
        uint32_t at = zap->count < ZAP_FRAMES ? zap->count : ZAP_FRAMES - 1;
        int got = zmq_recv(router->zap, zap->frames[at], ZAP_FRAME_SIZE - 1, ZMQ_DONTWAIT);
        if (got < 0) {
            return false;
        }
        zap->sizes[at] = got < ZAP_FRAME_SIZE ? (size_t)got : 0;
        zap->frames[at][zap->sizes[at]] = 0;
        zap->count++;
        zmq_getsockopt(router->zap, ZMQ_RCVMORE, &more, &size);
    }
    return true;
}

static bool zap_is_welcome(const Router *router, const ZapRequest *zap)
{
    const char *domain = (const char *)zap->frames[2];
    const char *mechanism = (const char *)zap->frames[5];
    if (zap->count < 6 || router->connection_count > router->connections_max) {
        return false;
    }
    if (strcmp(domain, "ipc") == 0) {
        return strcmp(mechanism, "NULL") == 0 && peer_is_user((const char *)zap->frames[3]);
    }
    if (strcmp(domain, "curve") == 0) {
        return strcmp(mechanism, "CURVE") == 0 && zap->count == 7 && zap->sizes[6] == 32 &&
               key_is_known(router, zap->frames[6]);
    }
    return strcmp(domain, "token") == 0 && strcmp(mechanism, "NULL") == 0;
}

static void zap_answer(Router *router)
{
    ZapRequest zap;
    while (zap_receive(router, &zap)) {
        bool welcome = zap_is_welcome(router, &zap);
        zmq_send(router->zap, "1.0", 3, ZMQ_SNDMORE);
        zmq_send(router->zap, zap.frames[1], zap.sizes[1], ZMQ_SNDMORE);
        zmq_send(router->zap, welcome ? "200" : "400", 3, ZMQ_SNDMORE);
        zmq_send(router->zap, welcome ? "OK" : "refused", welcome ? 2 : 7, ZMQ_SNDMORE);
        zmq_send(router->zap, "", 0, ZMQ_SNDMORE);
        zmq_send(router->zap, "", 0, 0);
    }
}

/* ---- Shared memory ---- */

static TyStatus shm_asked(void *user, const ShmHello *hello, uint64_t lease, ShmDescriptors *fds)
{
    Router *router = user;
    return dispatch_lease(router->dispatch, hello->pool, hello->member, hello->token, lease, fds)
               ? status_ok()
               : status_fail(TY_BAD_ARGUMENT,
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

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

static bool door_configure(const Router *router, Door *door, EndpointKind kind)
{
    const Limits *limits = &router->config.limits;
    const char *domain = kind == ENDPOINT_IPC ? "ipc" : door->curve ? "curve" : "token";
    int64_t bytes = (int64_t)limits->message_bytes;
    bool good = zmq_setsockopt(door->socket, ZMQ_MAXMSGSIZE, &bytes, sizeof bytes) == 0 &&
                set_int(door->socket, ZMQ_SNDHWM, (int)limits->replies_queued) &&
                set_int(door->socket, ZMQ_RCVHWM, (int)limits->requests_in_flight) &&
                set_int(door->socket, ZMQ_LINGER, LINGER_MS) &&
                set_int(door->socket, ZMQ_BACKLOG, BACKLOG) &&
                set_int(door->socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
                set_int(door->socket, ZMQ_ROUTER_MANDATORY, 1) &&
                zmq_setsockopt(door->socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) == 0;
    if (kind != ENDPOINT_IPC) {
        good = good && set_int(door->socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) &&
               set_int(door->socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS) &&
               set_int(door->socket, ZMQ_HEARTBEAT_TTL, HEARTBEAT_TIMEOUT_MS);
    }
    if (door->curve) {
        const char *secret = router->config.curve_secret;
        good = good && set_int(door->socket, ZMQ_CURVE_SERVER, 1) &&
               zmq_setsockopt(door->socket, ZMQ_CURVE_SECRETKEY, secret, strlen(secret)) == 0;
    }
    return good;
}

static TyStatus door_open(Router *router, const Endpoint *endpoint)
{
    Door *door = &router->doors[router->door_count];
    char monitor[40];
    snprintf(monitor, sizeof monitor, "inproc://monitor-%u", router->door_count);
    door->socket = zmq_socket(router->context, ZMQ_ROUTER);
    door->monitor = zmq_socket(router->context, ZMQ_PAIR);
    router->door_count++;
    door->curve = endpoint->kind != ENDPOINT_IPC && router->config.curve_secret != NULL;
    door->needs_token = endpoint->kind != ENDPOINT_IPC && !door->curve;
    if (door->socket == NULL || door->monitor == NULL ||
        !door_configure(router, door, endpoint->kind)) {
        return status_fail(TY_IO, "%s: %s", endpoint->address, zmq_strerror(errno));
    }
    set_int(door->monitor, ZMQ_LINGER, 0);
    set_int(door->monitor, ZMQ_RCVHWM, 0);
    if (zmq_socket_monitor(door->socket, monitor, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) !=
            0 ||
        zmq_connect(door->monitor, monitor) != 0) {
        return status_fail(TY_IO, "%s: %s", endpoint->address, zmq_strerror(errno));
    }
    if (zmq_bind(door->socket, endpoint->address) != 0) {
        return status_fail(TY_IO, "%s: %s", endpoint->address,
                           errno == EADDRINUSE ? "another program serves this endpoint"
                                               : zmq_strerror(errno));
    }
    size_t size = sizeof door->address;
    zmq_getsockopt(door->socket, ZMQ_LAST_ENDPOINT, door->address, &size);
    return status_ok();
}

/* As many descriptors as the system allows; clients get what is left of them. */
static TyStatus connections_open(Router *router)
{
    struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 1024};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    uint64_t places = limit.rlim_cur < (1 << 17) ? limit.rlim_cur : (1 << 17);
    uint64_t room = places > 2 * FDS_SPARE ? places - FDS_SPARE : places / 2;
    uint64_t wanted = router->config.limits.sessions + REFUSED_MAX;
    router->connection_places = (uint32_t)places;
    router->connections_max = (uint32_t)(wanted < room ? wanted : room);
    router->connections = calloc(places, sizeof router->connections[0]);
    return router->connections != NULL ? status_ok()
                                       : status_fail(TY_NO_MEMORY, "no memory for connections");
}

static void log_message(void *user, const char *sentence)
{
    (void)user;
    fprintf(stderr, "trainyardd: %s\n", sentence);
}

static TyStatus dispatch_for(Router *router)
{
    const RouterConfig *config = &router->config;
    if (config->log != NULL) {
        RecorderOptions options = recorder_defaults();
        options.message = log_message;
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
                               .user = router,
                               .send = router_send,
                               .wake = router_wake,
                               .random = router_random,
                               .drop_lease = router_drop_lease};
    return dispatch_open(&dispatch, clock_ms(), &router->dispatch);
}

static TyStatus zap_open(Router *router)
{
    const AccessKeys *users = router->config.curve_users;
    for (uint32_t i = 0; users != NULL && i < users->count; i++) {
        if (zmq_z85_decode(router->users[i], users->keys[i]) == NULL) {
            return status_fail(TY_BAD_FILE, "'%s' is not a CURVE key", users->keys[i]);
        }
    }
    router->zap = zmq_socket(router->context, ZMQ_REP);
    if (router->zap == NULL || zmq_bind(router->zap, "inproc://zeromq.zap.01") != 0) {
        return status_fail(TY_IO, "access control: %s", zmq_strerror(errno));
    }
    set_int(router->zap, ZMQ_LINGER, 0);
    return status_ok();
}

static TyStatus shm_open_server(Router *router)
{
    if (router->config.shm_path != NULL) {
        const ShmHost host = {.user = router, .asked = shm_asked, .ended = shm_ended};
        return shm_server_open(router->config.shm_path, &host, &router->shm);
    }
    return status_ok();
}

TyStatus router_open(const RouterConfig *config, Router **out)
{
    *out = NULL;
    Router *router = calloc(1, sizeof *router);
    if (router == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the daemon");
    }
    router->config = *config;
    buffer_store_init(&router->refusals);
    router->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    TyStatus status = connections_open(router);
    router->context = zmq_ctx_new();
    if (status.code == TY_OK && (router->context == NULL || router->wake_fd < 0)) {
        status = status_fail(TY_IO, "%s", zmq_strerror(errno));
    }
    if (status.code == TY_OK) {
        status = zap_open(router);
    }
    if (status.code == TY_OK) {
        status = dispatch_for(router);
    }
    for (uint32_t i = 0; status.code == TY_OK && i < config->endpoint_count; i++) {
        status = door_open(router, &config->endpoints[i]);
    }
    if (status.code == TY_OK) {
        status = shm_open_server(router);
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
    return router->doors[index].address;
}

/* ---- Serving ---- */

enum { ITEM_STOP, ITEM_WAKE, ITEM_SHM, ITEM_ZAP, ITEM_DOORS };

static int items_fill(const Router *router, int stop_fd, zmq_pollitem_t *items)
{
    int shm = router->shm != NULL ? shm_server_fd(router->shm) : -1;
    items[ITEM_STOP] = (zmq_pollitem_t){.fd = stop_fd, .events = ZMQ_POLLIN};
    items[ITEM_WAKE] = (zmq_pollitem_t){.fd = router->wake_fd, .events = ZMQ_POLLIN};
    /* Without shared memory the place repeats the wake-up, which does no harm. */
    items[ITEM_SHM] =
        (zmq_pollitem_t){.fd = shm >= 0 ? shm : router->wake_fd, .events = ZMQ_POLLIN};
    items[ITEM_ZAP] = (zmq_pollitem_t){.socket = router->zap, .events = ZMQ_POLLIN};
    int count = ITEM_DOORS;
    for (uint32_t i = 0; i < router->door_count; i++) {
        items[count++] = (zmq_pollitem_t){.socket = router->doors[i].monitor, .events = ZMQ_POLLIN};
        items[count++] = (zmq_pollitem_t){.socket = router->doors[i].socket, .events = ZMQ_POLLIN};
    }
    return count;
}

static void serve_doors(Router *router, const zmq_pollitem_t *items, uint64_t now_ms)
{
    for (uint32_t i = 0; i < router->door_count; i++) {
        if (items[ITEM_DOORS + 2 * i].revents != 0) {
            monitor_read(router, &router->doors[i], now_ms);
        }
        for (uint32_t k = 0; items[ITEM_DOORS + 2 * i + 1].revents != 0 && k < MESSAGES_PER_TURN &&
                             receive_one(router, i, now_ms);
             k++) {
        }
    }
}

void router_serve(Router *router, int stop_fd)
{
    zmq_pollitem_t items[ITEM_DOORS + 2 * ROUTER_ENDPOINTS_MAX];
    int count = items_fill(router, stop_fd, items);
    uint64_t tick_at = 0;
    for (;;) {
        uint64_t now_ms = clock_ms();
        if (now_ms >= tick_at) {
            tick_at = now_ms + dispatch_tick(router->dispatch, now_ms);
            if (router->shm != NULL) {
                shm_server_serve(router->shm, now_ms);
            }
        }
        if (zmq_poll(items, count, (long)(tick_at - now_ms)) < 0 && errno != EINTR) {
            return;
        }
        now_ms = clock_ms();
        if (items[ITEM_STOP].revents != 0) {
            return;
        }
        if (items[ITEM_WAKE].revents != 0) {
            uint64_t value = 0;
            ssize_t got = read(router->wake_fd, &value, sizeof value);
            (void)got;
            dispatch_collect(router->dispatch, now_ms);
        }
        if (items[ITEM_ZAP].revents != 0) {
            zap_answer(router);
        }
        if (router->shm != NULL && items[ITEM_SHM].revents != 0) {
            shm_server_serve(router->shm, now_ms);
        }
        serve_doors(router, items, now_ms);
    }
}

void router_close(Router *router)
{
    if (router->dispatch != NULL) {
        dispatch_drain(router->dispatch);
    }
    if (router->shm != NULL) {
        shm_server_close(router->shm);
        router->shm = NULL;
    }
    for (uint32_t i = 0; i < router->door_count; i++) {
        if (router->doors[i].socket != NULL) {
            zmq_socket_monitor(router->doors[i].socket, NULL, 0);
            zmq_close(router->doors[i].socket);
        }
        if (router->doors[i].monitor != NULL) {
            zmq_close(router->doors[i].monitor);
        }
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
    while (router->spare != NULL) {
        RouterFrame *frame = router->spare;
        router->spare = frame->next;
        free(frame);
    }
    if (router->wake_fd >= 0) {
        close(router->wake_fd);
    }
    buffer_store_fini(&router->refusals);
    free(router->connections);
    free(router);
}
