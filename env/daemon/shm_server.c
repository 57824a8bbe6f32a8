/* Handing out shared memory over a unix socket. */
#define _GNU_SOURCE
#include "daemon/shm_server.h"

#include "core/status.h"
#include "daemon/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 64,           /* taken from the kernel at a time */
    LISTENER = SHM_LEASES_MAX, /* its place, behind those of the connections */
};

_Static_assert(TY_BAD_ARGUMENT == 1 && TY_LIMIT == 6, "SHM.md names these numbers");

typedef enum LinkState { LINK_FREE, LINK_PENDING, LINK_LEASED } LinkState;

/* A connection. */
typedef struct Link {
    int fd;
    LinkState state;
    uint32_t received; /* bytes of the hello so far */
    uint64_t lease;
    uint64_t serial; /* grows with every connection */
    uint64_t deadline_ms;
    ShmHello hello;
} Link;

struct ShmServer {
    ShmHandler handler;
    int epoll_fd;
    int listen_fd;
    int spare_fd; /* given up for a moment to refuse a client when there are no more descriptors */
    uint64_t next_lease;
    uint64_t next_serial;
    uint32_t pending;
    uint32_t leased;
    Endpoint endpoint; /* of the socket */
    Link links[SHM_LEASES_MAX];
};

/* ---- Opening and closing ---- */

static TyStatus fail_errno(const char *what, const char *path)
{
    return ty_status_fail(TY_IO, "%s %s: %s", what, path, strerror(errno));
}

static TyStatus listener_open(ShmServer *server)
{
    const char *path = server->endpoint.path;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s", (int)sizeof address.sun_path - 1,
             path);
    server->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listen_fd < 0) {
        return fail_errno("no socket for", path);
    }
    unlink(path); /* what a killed daemon left: we have its lock */
    if (bind(server->listen_fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        return fail_errno("cannot bind", path);
    }
    if (chmod(path, 0600) != 0 || listen(server->listen_fd, SHM_PENDING_MAX) != 0) {
        return fail_errno("cannot listen on", path);
    }
    return ty_status_ok();
}

static bool watch(const ShmServer *server, int fd, uint32_t place)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u32 = place}};
    return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static TyStatus server_start(ShmServer *server, const char *path)
{
    char address[ENDPOINT_ADDRESS_MAX];
    snprintf(address, sizeof address, "ipc://%s", path);
    TyStatus status = endpoint_parse(address, &server->endpoint);
    if (status.code == TY_OK) {
        status = endpoint_claim(&server->endpoint);
    }
    if (status.code == TY_OK) {
        status = listener_open(server);
    }
    if (status.code != TY_OK) {
        return status;
    }
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (server->spare_fd < 0 || server->epoll_fd < 0 ||
        !watch(server, server->listen_fd, LISTENER)) {
        return fail_errno("no descriptors to serve", path);
    }
    return status;
}

TyStatus shm_server_open(const char *path, const ShmHandler *handler, ShmServer **out)
{
    *out = NULL;
    ShmServer *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the shared-memory server");
    }
    server->handler = *handler;
    server->next_lease = 1;
    server->epoll_fd = server->listen_fd = server->spare_fd = -1;
    TyStatus status = server_start(server, path);
    if (status.code != TY_OK) {
        shm_server_close(server);
        return status;
    }
    *out = server;
    return status;
}

static void fd_close(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void shm_server_close(ShmServer *server)
{
    if (server == NULL) {
        return;
    }
    for (uint32_t i = 0; i < SHM_LEASES_MAX; i++) {
        if (server->links[i].state != LINK_FREE) {
            close(server->links[i].fd);
        }
    }
    fd_close(server->listen_fd);
    fd_close(server->epoll_fd);
    fd_close(server->spare_fd);
    endpoint_release(&server->endpoint);
    free(server);
}

int shm_server_fd(const ShmServer *server)
{
    return server->epoll_fd;
}

uint32_t shm_server_leases(const ShmServer *server)
{
    return server->leased;
}

/* ---- Connections ---- */

static void link_close(ShmServer *server, Link *link)
{
    LinkState state = link->state;
    uint64_t lease = link->lease;
    close(link->fd);
    *link = (Link){.fd = -1};
    if (state == LINK_PENDING) {
        server->pending--;
    } else {
        server->leased--;
        server->handler.ended(server->handler.user, lease);
    }
}

/* Sends the one reply; `descriptors` is NULL unless it grants something. A client that cannot take
 * 256 bytes at once has had its chance. */
static bool reply_send(int fd, const TyStatus *status, const ShmDescriptors *descriptors)
{
    bool granted = descriptors != NULL;
    ShmReply reply = {.magic = SHM_HELLO_MAGIC,
                      .version = SHM_VERSION,
                      .status = status->code,
                      .descriptors = granted ? SHM_DESCRIPTORS : 0};
    snprintf(reply.message, sizeof reply.message, "%.*s", SHM_TEXT_SIZE - 1, status->message);
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * SHM_DESCRIPTORS)];
    } control = {.bytes = {0}};
    struct iovec body = {.iov_base = &reply, .iov_len = sizeof reply};
    struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
    if (granted) {
        const int fds[SHM_DESCRIPTORS] = {descriptors->rows, descriptors->commands,
                                          descriptors->to_pool, descriptors->to_client};
        control.header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fds)};
        memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof reply;
}

static void refuse(int fd, TyCode code, const char *text)
{
    TyStatus status = ty_status_fail(code, "%s", text);
    reply_send(fd, &status, NULL);
}

/* A whole hello: checked, asked about, answered. */
static void link_answer(ShmServer *server, Link *link)
{
    ShmDescriptors descriptors = {0};
    if (link->hello.magic != SHM_HELLO_MAGIC || link->hello.version != SHM_VERSION) {
        TyStatus status = ty_status_fail(
            TY_BAD_ARGUMENT, "this is the shared-memory door of protocol version %d", SHM_VERSION);
        reply_send(link->fd, &status, NULL);
        link_close(server, link);
        return;
    }
    link->lease = server->next_lease++;
    TyStatus status =
        server->handler.asked(server->handler.user, &link->hello, link->lease, &descriptors);
    bool granted = status.code == TY_OK;
    if (granted) {
        server->pending--;
        server->leased++;
        link->state = LINK_LEASED;
    }
    if (!reply_send(link->fd, &status, granted ? &descriptors : NULL) || !granted) {
        link_close(server, link);
    }
}

/* Descriptors that a client sends along are dropped by the kernel, since we ask for none. Behind
 * its hello a client has nothing to say: a word more ends the lease. */
static void link_read(ShmServer *server, Link *link)
{
    uint8_t spare = 0;
    bool pending = link->state == LINK_PENDING;
    void *to = pending ? (uint8_t *)&link->hello + link->received : &spare;
    size_t room = pending ? sizeof link->hello - link->received : sizeof spare;
    ssize_t count = recv(link->fd, to, room, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (count <= 0 || !pending) {
        link_close(server, link);
        return;
    }
    link->received += (uint32_t)count;
    if (link->received == sizeof link->hello) {
        link_answer(server, link);
    }
}

static bool peer_is_us(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static Link *link_free(ShmServer *server)
{
    for (uint32_t i = 0; i < SHM_LEASES_MAX; i++) {
        if (server->links[i].state == LINK_FREE) {
            return &server->links[i];
        }
    }
    return NULL;
}

/* Those who have been silent longest make room for newcomers: silence locks nobody out. What the
 * longest has said meanwhile is heard first. */
static void pending_make_room(ShmServer *server)
{
    Link *oldest = NULL;
    for (uint32_t i = 0; server->pending >= SHM_PENDING_MAX && i < SHM_LEASES_MAX; i++) {
        Link *link = &server->links[i];
        if (link->state == LINK_PENDING && (oldest == NULL || link->serial < oldest->serial)) {
            oldest = link;
        }
    }
    if (oldest == NULL) {
        return;
    }
    link_read(server, oldest);
    if (oldest->state == LINK_PENDING) {
        refuse(oldest->fd, TY_LIMIT, "the hello did not come in time, and others wait");
        link_close(server, oldest);
    }
}

static void link_begin(ShmServer *server, int fd, uint64_t now_ms)
{
    bool ours = peer_is_us(fd);
    if (ours) {
        pending_make_room(server);
    }
    Link *link = link_free(server);
    if (!ours) {
        refuse(fd, TY_BAD_ARGUMENT, "this daemon belongs to another user");
    } else if (link == NULL) {
        refuse(fd, TY_LIMIT, "the daemon has as many shared-memory clients as it takes");
    } else if (watch(server, fd, (uint32_t)(link - server->links))) {
        *link = (Link){.fd = fd,
                       .state = LINK_PENDING,
                       .serial = server->next_serial++,
                       .deadline_ms = now_ms + SHM_HANDSHAKE_MS};
        server->pending++;
        return;
    }
    close(fd);
}

/* Without a descriptor left, connections would stay in the queue and keep us awake: one is taken
 * with the spare descriptor, and closed. */
static void accept_and_close(ShmServer *server)
{
    fd_close(server->spare_fd);
    fd_close(accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC));
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void listener_serve(ShmServer *server, uint64_t now_ms)
{
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            link_begin(server, fd, now_ms);
        } else if (errno == EMFILE || errno == ENFILE) {
            accept_and_close(server);
        } else if (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS) {
            return;
        }
    }
}

/* Hangs up on those who took too long. Returns when the next one is due, or -1. */
static int deadlines_serve(ShmServer *server, uint64_t now_ms)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; server->pending > 0 && i < SHM_LEASES_MAX; i++) {
        Link *link = &server->links[i];
        if (link->state == LINK_PENDING && link->deadline_ms <= now_ms) {
            refuse(link->fd, TY_LIMIT, "the hello did not come in time");
            link_close(server, link);
        } else if (link->state == LINK_PENDING && link->deadline_ms < next) {
            next = link->deadline_ms;
        }
    }
    return next == UINT64_MAX ? -1 : (int)(next - now_ms);
}

int shm_server_serve(ShmServer *server, uint64_t now_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(server->epoll_fd, events, EVENTS_MAX, 0);
    bool listener = false;
    for (int i = 0; i < count; i++) {
        uint32_t place = events[i].data.u32;
        if (place == LISTENER) {
            listener = true; /* later: a place that becomes free must not be taken for a new one */
        } else if (server->links[place].state != LINK_FREE) {
            link_read(server, &server->links[place]);
        }
    }
    if (listener) {
        listener_serve(server, now_ms);
    }
    return deadlines_serve(server, now_ms);
}

void shm_server_drop(ShmServer *server, uint64_t lease)
{
    for (uint32_t i = 0; i < SHM_LEASES_MAX; i++) {
        if (server->links[i].state == LINK_LEASED && server->links[i].lease == lease) {
            link_close(server, &server->links[i]);
            return;
        }
    }
}
