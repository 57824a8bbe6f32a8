/* The ZeroMQ side: one thread that moves messages between sockets and dispatch. */
#pragma once

#include "daemon/access.h"
#include "daemon/dispatch.h"
#include "daemon/endpoint.h"
#include "daemon/journal.h"
#include "daemon/limits.h"

enum { ROUTER_ENDPOINTS_MAX = 8 };

/* When a file of the episode log is full, and which are kept; 0: as the recorder does. */
typedef struct LogFiles {
    uint64_t file_bytes;
    uint64_t file_hours;
    uint64_t keep_bytes;
    uint64_t keep_days;
} LogFiles;

typedef struct RouterConfig {
    Limits limits;
    uint32_t endpoint_count;
    Endpoint *endpoints;          /* claimed already */
    const char *token;            /* for tcp on loopback without keys; or NULL */
    const char *admin_token;      /* the same for administrators */
    const char *curve_secret;     /* Z85; NULL: tcp without keys */
    const CurveKeys *curve_users; /* public keys that may connect */
    const char *boards;
    const char *shm_path; /* NULL: no shared memory */
    const char *log;      /* NULL: no log */
    LogFiles log_files;
    bool log_drops;    /* episodes that it has no room for; otherwise they wait */
    uint32_t drain_ms; /* how long running episodes may go on after the daemon was told to stop */
    int reload_fd;     /* readable when `reload` is to be called */
    void *user;
    void (*reload)(void *user); /* NULL: never */
    void (*alive)(void *user);  /* called from time to time as long as it serves; may be NULL */
    /* The daemon was told to stop; `now`: work is stopped, and has little time to end. May be
     * NULL. */
    void (*stopping)(void *user, bool now);
    const Endpoint *metrics; /* claimed already; NULL: none */
    Journal *journal;        /* NULL: nothing is written */
} RouterConfig;

typedef struct Router Router;

/* Binds every endpoint. */
TyStatus router_open(const RouterConfig *config, Router **router);
/* TY_BAD_FILE if one of them is no key. */
TyStatus router_keys_check(const CurveKeys *users);
/* Applies what was read again. The keys and tokens of the configuration have changed in their
 * places. */
TyStatus router_reload(Router *router, const Reload *reload);
/* Serves until `stop_fd` is readable and work has ended: at first, with `drain_ms`, the episodes
 * that run, then what the pools are doing, which is interrupted. */
void router_serve(Router *router, int stop_fd);
/* Lets running requests end, closes pools and sockets. */
void router_close(Router *router);
/* Where the metrics are; "" if nowhere. */
const char *router_metrics_address(const Router *router);
/* The address that endpoint `index` got: a port that was left to the system is in it. */
const char *router_address(const Router *router, uint32_t index);
