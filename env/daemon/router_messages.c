/* Messages between sockets and dispatch, and the connections on which they come. */
#include "daemon/router_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sending ---- */

/* Called by ZeroMQ when it has sent a reply. */
static void buffer_sent(void *data, void *hint)
{
    (void)data;
    buffer_release(hint);
}

static DispatchSent send_to(Listener *listener, const void *identity, size_t identity_size,
                            bool delimiter, Buffer *reply)
{
    void *socket = listener->socket;
    listener->touched = true;
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

DispatchSent router_send(void *user, uint64_t peer, Buffer *reply)
{
    Router *router = user;
    uint8_t identity[PEER_IDENTITY_SIZE];
    peer_identity(peer, identity);
    return send_to(&router->listeners[peer_listener(peer)], identity, sizeof identity,
                   peer_has_delimiter(peer), reply);
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

void router_frames_free(Router *router)
{
    while (router->spare != NULL) {
        RouterFrame *frame = router->spare;
        router->spare = frame->next;
        free(frame);
    }
}

void router_identify_key(void *user, Identity *identity)
{
    const Router *router = user;
    if (strlen(identity->key) < KEY_TEXT_SIZE - 1) {
        identity->administrator = strcmp(identity->key, "user") == 0;
        return;
    }
    const CurveKey *known = access_key_find(router->config.curve_users, identity->key);
    identity->revoked = known == NULL;
    if (known != NULL) {
        identity->administrator = known->administrator;
        snprintf(identity->name, sizeof identity->name, "%s", known->name);
    }
}

void router_identify(void *user, const Frame *frame, Identity *identity)
{
    RouterFrame *owner = (RouterFrame *)frame;
    const char *address = zmq_msg_gets(&owner->message, "Peer-Address");
    const char *key = zmq_msg_gets(&owner->message, "User-Id");
    snprintf(identity->address, sizeof identity->address, "%s", address != NULL ? address : "");
    snprintf(identity->key, sizeof identity->key, "%s", key != NULL ? key : "");
    router_identify_key(user, identity);
}

/* A peer is gone, whether its messages had the empty frame or not. */
static void peer_lost(Router *router, uint64_t peer, uint64_t now_ms)
{
    dispatch_disconnected(router->dispatch, peer, now_ms);
    dispatch_disconnected(router->dispatch, peer ^ PEER_DELIMITER, now_ms);
}

/* Routing ids that a client chose could be those of another client's session. */
static void refuse_identity(Router *router, Listener *listener, const zmq_msg_t *identity)
{
    WireError error;
    wire_refuse(&error, ERROR_denied, "leave the routing id of the socket to ZeroMQ");
    Buffer *reply = reply_refusal(&router->refusals, &router->quota, 0, &error);
    if (reply != NULL) {
        zmq_msg_t *id = (zmq_msg_t *)identity;
        send_to(listener, zmq_msg_data(id), zmq_msg_size(id), false, reply);
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

bool router_receive(Router *router, uint32_t index, uint64_t now_ms)
{
    Listener *listener = &router->listeners[index];
    zmq_msg_t identity;
    zmq_msg_init(&identity);
    if (zmq_msg_recv(&identity, listener->socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&identity);
        return false;
    }
    RouterFrame *frame = frame_take(router);
    bool delimiter = false;
    if (frame == NULL || !receive_body(listener->socket, frame, &delimiter)) {
        zmq_msg_close(&identity);
        if (frame != NULL) {
            frame_release(&frame->frame);
        }
        return true;
    }
    const uint8_t *id = zmq_msg_data(&identity);
    if (zmq_msg_size(&identity) != PEER_IDENTITY_SIZE || id[0] != 0) {
        refuse_identity(router, listener, &identity);
        frame_release(&frame->frame);
    } else {
        uint64_t peer = peer_number(index, delimiter, id);
        uint64_t lost = 0;
        if (connections_note(&router->connections, zmq_msg_get(&frame->message, ZMQ_SRCFD), peer,
                             &lost)) {
            peer_lost(router, lost, now_ms);
        }
        dispatch_receive(router->dispatch, peer, listener->needs_token, &frame->frame, now_ms);
    }
    zmq_msg_close(&identity);
    return true;
}

/* ---- Connections that come and go ---- */

void router_read_monitor(Router *router, uint32_t index, uint64_t now_ms)
{
    void *monitor = router->listeners[index].monitor;
    uint64_t lost = 0;
    uint8_t event[6];
    uint16_t kind;
    int32_t fd;
    while (zmq_recv(monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        zmq_recv(monitor, NULL, 0, ZMQ_DONTWAIT); /* the address */
        memcpy(&kind, event, sizeof kind);
        memcpy(&fd, event + 2, sizeof fd);
        if (kind == ZMQ_EVENT_ACCEPTED) {
            connections_accepted(&router->connections, fd, router->listeners[index].tcp, now_ms);
        } else if (kind == ZMQ_EVENT_DISCONNECTED &&
                   connections_closed(&router->connections, fd, &lost)) {
            peer_lost(router, lost, now_ms);
        }
    }
}
