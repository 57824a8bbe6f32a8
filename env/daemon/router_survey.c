/* Connections that take without giving: unfinished messages, which ZeroMQ keeps without a limit,
 * and connections that never say hello. They are closed. */
#define _GNU_SOURCE
#include "daemon/router_internal.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    SURVEY_MS = 25,
    SURVEYED_MAX = 2048,     /* connections at a time; the others are next */
    MESSAGE_EXTRA = 1 << 20, /* bytes that sessions may have sent above a whole message */
    UNFINISHED_PART = 8,     /* of memory_bytes, that all unfinished messages may have */
};

/* The bytes that the system has received on a tcp connection; 0 if it does not say. */
static uint64_t bytes_received(int fd)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t size = sizeof info;
    bool told = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                size >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(uint64_t);
    return told ? info.tcpi_bytes_received : 0;
}

/* The bytes that wait on a local connection; 0 if the system does not say. */
static uint64_t bytes_unread(int fd)
{
    int unread = 0;
    return ioctl(fd, FIONREAD, &unread) == 0 && unread > 0 ? (uint64_t)unread : 0;
}

static void peer_name(int fd, char name[INET6_ADDRSTRLEN])
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    name[0] = '\0';
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0) {
        return;
    }
    if (address.ss_family == AF_INET) {
        inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, name, INET6_ADDRSTRLEN);
    } else if (address.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, name, INET6_ADDRSTRLEN);
    }
}

/* Hangs up, and throws away what has come in but was not read. ZeroMQ, whose descriptor it is,
 * notices and closes it. */
static void connection_cut(Router *router, int fd, const Connection *connection, const char *why)
{
    char name[INET6_ADDRSTRLEN];
    peer_name(fd, name);
    journal_write(router->config.journal, JOURNAL_WARNING, "cut",
                  JOURNAL_FIELDS(JOURNAL_TEXT("peer", name), JOURNAL_TEXT("why", why),
                                 JOURNAL_NUMBER("bytes", connection->unfinished)));
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    if (!connection->tcp || connect(fd, &nowhere, sizeof nowhere) != 0) {
        shutdown(fd, SHUT_RDWR);
    }
}

static void connection_look(Router *router, int fd, uint64_t now_ms)
{
    Connections *connections = &router->connections;
    Connection *connection = &connections->places[fd];
    const Limits *limits = &router->config.limits;
    bool session = connection->known && dispatch_has_session(router->dispatch, connection->peer);
    uint64_t budget = session ? limits->message_bytes + MESSAGE_EXTRA : limits->hello_bytes;
    bool scarce = connections->unfinished > limits->memory_bytes / UNFINISHED_PART &&
                  connections->unfinished > 2 * limits->message_bytes;
    connection->since_ms = session ? now_ms : connection->since_ms;
    budget = scarce && budget > limits->hello_bytes ? limits->hello_bytes : budget;
    if (connection->tcp ? connection_survey(connections, connection, bytes_received(fd), budget)
                        : !session && connection_pours(connection, bytes_unread(fd), budget)) {
        connection_cut(router, fd, connection, "unfinished message");
    } else if (now_ms - connection->since_ms >= limits->hello_ms) {
        connection_cut(router, fd, connection, "no hello");
        connection->since_ms = now_ms;
    }
}

void router_survey(Router *router, uint64_t now_ms)
{
    Connections *connections = &router->connections;
    if (now_ms < router->survey_at_ms || connections->count == 0) {
        return;
    }
    router->survey_at_ms = now_ms + SURVEY_MS;
    uint32_t left = SURVEYED_MAX;
    for (uint32_t i = 0; left > 0 && i < connections->end; i++) {
        router->surveyed = router->surveyed + 1 < connections->end ? router->surveyed + 1 : 0;
        if (connections->places[router->surveyed].open) {
            connection_look(router, (int)router->surveyed, now_ms);
            left--;
        }
    }
}
