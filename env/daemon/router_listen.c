/* The sockets on which the router listens. */
#include "core/status.h"
#include "daemon/router_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    HANDSHAKE_MS = 1000,
    LINGER_MS = 300,
    BACKLOG = 1024,
};

bool socket_set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

static bool listener_configure(const Router *router, Listener *listener, const Endpoint *endpoint)
{
    EndpointKind kind = endpoint->kind;
    const Limits *limits = &router->config.limits;
    const char *domain = kind == ENDPOINT_IPC ? "ipc" : listener->curve ? "curve" : "token";
    int64_t bytes = (int64_t)limits->message_bytes;
    bool good = zmq_setsockopt(listener->socket, ZMQ_MAXMSGSIZE, &bytes, sizeof bytes) == 0 &&
                socket_set_int(listener->socket, ZMQ_SNDHWM, (int)limits->replies_queued) &&
                socket_set_int(listener->socket, ZMQ_RCVHWM, (int)limits->requests_in_flight) &&
                socket_set_int(listener->socket, ZMQ_LINGER, LINGER_MS) &&
                socket_set_int(listener->socket, ZMQ_BACKLOG, BACKLOG) &&
                socket_set_int(listener->socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
                socket_set_int(listener->socket, ZMQ_ROUTER_MANDATORY, 1) &&
                zmq_setsockopt(listener->socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) == 0;
    if (kind != ENDPOINT_IPC) {
        /* A peer that falls silent is asked after the first time, and closed after both. */
        int interval = (int)limits->heartbeat_ms / 4;
        int timeout = (int)limits->heartbeat_ms - interval;
        good = good && socket_set_int(listener->socket, ZMQ_HEARTBEAT_IVL, interval) &&
               socket_set_int(listener->socket, ZMQ_HEARTBEAT_TIMEOUT, timeout) &&
               socket_set_int(listener->socket, ZMQ_HEARTBEAT_TTL, (int)limits->heartbeat_ms) &&
               socket_set_int(listener->socket, ZMQ_IPV6, endpoint_is_ipv6(endpoint));
    }
    if (listener->curve) {
        const char *secret = router->config.curve_secret;
        good = good && socket_set_int(listener->socket, ZMQ_CURVE_SERVER, 1) &&
               zmq_setsockopt(listener->socket, ZMQ_CURVE_SECRETKEY, secret, strlen(secret)) == 0;
    }
    return good;
}

TyStatus router_listen(Router *router, const Endpoint *endpoint)
{
    Listener *listener = &router->listeners[router->listener_count];
    char monitor[40];
    snprintf(monitor, sizeof monitor, "inproc://monitor-%u", router->listener_count);
    listener->socket = zmq_socket(router->context, ZMQ_ROUTER);
    listener->monitor = zmq_socket(router->context, ZMQ_PAIR);
    router->listener_count++;
    listener->tcp = endpoint->kind != ENDPOINT_IPC;
    listener->curve = endpoint->kind != ENDPOINT_IPC && router->config.curve_secret != NULL;
    listener->needs_token = endpoint->kind != ENDPOINT_IPC && !listener->curve;
    if (listener->socket == NULL || listener->monitor == NULL ||
        !listener_configure(router, listener, endpoint)) {
        return ty_status_fail(TY_IO, "%s: %s", endpoint->address, zmq_strerror(errno));
    }
    socket_set_int(listener->monitor, ZMQ_LINGER, 0);
    socket_set_int(listener->monitor, ZMQ_RCVHWM, 0);
    if (zmq_socket_monitor(listener->socket, monitor,
                           ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(listener->monitor, monitor) != 0) {
        return ty_status_fail(TY_IO, "%s: %s", endpoint->address, zmq_strerror(errno));
    }
    if (zmq_bind(listener->socket, endpoint->address) != 0) {
        return ty_status_fail(TY_IO, "%s: %s", endpoint->address,
                              errno == EADDRINUSE ? "another program serves this endpoint"
                                                  : zmq_strerror(errno));
    }
    size_t size = sizeof listener->address;
    zmq_getsockopt(listener->socket, ZMQ_LAST_ENDPOINT, listener->address, &size);
    return ty_status_ok();
}

void listener_close(Listener *listener)
{
    if (listener->socket != NULL) {
        zmq_socket_monitor(listener->socket, NULL, 0);
        zmq_close(listener->socket);
    }
    if (listener->monitor != NULL) {
        zmq_close(listener->monitor);
    }
}
