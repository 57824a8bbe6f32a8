/* The unix socket on which clients fetch the descriptors of their shared memory. A connection is a
 * lease: it lasts as long as both sides live, and the kernel tells either side when the other is
 * gone.
 *
 * One thread owns the server: it polls `shm_server_fd` among its other descriptors and calls
 * `shm_server_serve`, which never blocks. */
#pragma once

#include "daemon/shm_channel.h"
#include "proto/shm.h"

enum {
    SHM_LEASES_MAX = 4096,   /* connections, those that have not said hello among them */
    SHM_PENDING_MAX = 64,    /* connections that have not said hello yet; the oldest make room */
    SHM_HANDSHAKE_MS = 1000, /* how long they may take */
};

typedef struct ShmServer ShmServer;

/* Who decides about leases. `lease` numbers are never used twice. */
typedef struct ShmHandler {
    void *user;
    /* A client asks for a member's shared memory. If the status is TY_OK the descriptors are sent
     * at once, and the lease holds until `ended`. Otherwise the client hears the message. */
    TyStatus (*asked)(void *user, const ShmHello *hello, uint64_t lease,
                      ShmDescriptors *descriptors);
    /* The client of this lease is gone, or was dropped. */
    void (*ended)(void *user, uint64_t lease);
} ShmHandler;

/* Listens on `path`. Its directory is made if need be, and must be the user's own and closed to
 * others (0700). A second server on the same path is an error. */
TyStatus shm_server_open(const char *path, const ShmHandler *handler, ShmServer **server);
/* Ends all leases (without calling `ended`) and removes what it made. */
void shm_server_close(ShmServer *server);
/* Readable when there is something to serve. */
int shm_server_fd(const ShmServer *server);
/* Does what there is to do at `now_ms` of a clock that only goes forward. Returns in how many
 * milliseconds it wants to be called again at the latest, or -1. */
int shm_server_serve(ShmServer *server, uint64_t now_ms);
/* Hangs up on a client; `ended` is called. */
void shm_server_drop(ShmServer *server, uint64_t lease);
/* Leases that hold. */
uint32_t shm_server_leases(const ShmServer *server);
