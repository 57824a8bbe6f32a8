/* The ZeroMQ door: one thread that moves messages between sockets and dispatch. */
#pragma once

#include "daemon/access.h"
#include "daemon/endpoint.h"
#include "daemon/limits.h"

enum { ROUTER_ENDPOINTS_MAX = 8 };

typedef struct RouterConfig {
    Limits limits;
    uint32_t endpoint_count;
    Endpoint *endpoints;           /* claimed already */
    const char *token;             /* for tcp on loopback without keys; or NULL */
    const char *curve_secret;      /* Z85; NULL: tcp without keys */
    const AccessKeys *curve_users; /* public keys that may connect */
    const char *boards;
    const char *shm_path; /* NULL: no shared memory */
    const char *log;      /* NULL: no log */
} RouterConfig;

typedef struct Router Router;

/* Binds every endpoint. */
TyStatus router_open(const RouterConfig *config, Router **router);
/* Serves until `stop_fd` is readable. */
void router_serve(Router *router, int stop_fd);
/* Lets running requests end, closes pools and sockets. */
void router_close(Router *router);
/* The address that endpoint `index` got: a port that was left to the system is in it. */
const char *router_address(const Router *router, uint32_t index);
