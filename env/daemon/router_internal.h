/* The inside of the router: its sockets, and the messages that it has taken from them. */
#pragma once

#include "daemon/connections.h"
#include "daemon/dispatch.h"
#include "daemon/http.h"
#include "daemon/reply.h"
#include "daemon/router.h"
#include "daemon/shm_server.h"
#include "replay/replay.h"

#include <zmq.h>

/* A message that came in, as dispatch sees it. */
typedef struct RouterFrame {
    Frame frame;
    zmq_msg_t message;
    struct RouterFrame *next;
    Router *router;
} RouterFrame;

/* A bound socket, and the one on which it reports connections that come and go. */
typedef struct Listener {
    void *socket;
    void *monitor;
    bool needs_token;
    bool curve;
    bool tcp;
    bool touched; /* to be read before the router waits: see router.c */
    char address[ENDPOINT_ADDRESS_MAX];
} Listener;

struct Router {
    RouterConfig config;
    void *context;
    void *zap; /* answers ZeroMQ's questions about who may connect */
    uint32_t listener_count;
    Listener listeners[ROUTER_ENDPOINTS_MAX];
    Dispatch *dispatch;
    Recorder *recorder;
    ShmServer *shm;
    HttpServer *http; /* NULL: no metrics are served */
    int wake_fd;
    Connections connections;
    uint64_t survey_at_ms;
    uint32_t surveyed; /* the descriptor that was looked at last */
    RouterFrame *spare;
    BufferStore refusals;
    Quota quota; /* of those */
};

/* ---- Sockets (router_listen.c) ---- */

/* Binds a socket to the endpoint. */
TyStatus router_listen(Router *router, const Endpoint *endpoint);
void listener_close(Listener *listener);
bool socket_set_int(void *socket, int option, int value);

/* ---- Messages (router_messages.c) ---- */

/* Sends a reply; the DispatchConfig's `send`. */
DispatchSent router_send(void *router, uint64_t peer, Buffer *reply);
/* Who sent the frame; the DispatchConfig's `identify`. */
void router_identify(void *router, const Frame *frame, Identity *identity);
/* Fills in what follows from the identity's key. */
void router_identify_key(void *router, Identity *identity);
/* Takes one message from listener `index`; false if there is none. */
bool router_receive(Router *router, uint32_t index, uint64_t now_ms);
/* Takes the listener's reports of connections that come and go. */
void router_read_monitor(Router *router, uint32_t index, uint64_t now_ms);
void router_frames_free(Router *router);

/* ---- Connections that take without giving (router_survey.c) ---- */

/* Closes those that have sent too much of an unfinished message, or do not say hello. */
void router_survey(Router *router, uint64_t now_ms);

/* ---- Who may connect (router_zap.c) ---- */

TyStatus router_zap_open(Router *router);
void router_zap_answer(Router *router);
