/* Who may connect: the answers to what ZeroMQ asks about every connection (ZAP, RFC 27). */
#include "core/status.h"
#include "daemon/router_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    char text[KEY_TEXT_SIZE];
    return router->config.curve_users != NULL && zmq_z85_encode(text, key, 32) != NULL &&
           access_key_find(router->config.curve_users, text) != NULL;
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
    if (zap->count < 6 || connections_full(&router->connections)) {
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

static void journal_refused(const Router *router, const ZapRequest *zap)
{
    const char *domain = (const char *)zap->frames[2];
    const char *why = connections_full(&router->connections) ? "too many connections"
                      : strcmp(domain, "ipc") == 0           ? "another user"
                                                             : "unknown key";
    journal_write(router->config.journal, JOURNAL_WARNING, "refused",
                  JOURNAL_FIELDS(JOURNAL_TEXT("peer", (const char *)zap->frames[3]),
                                 JOURNAL_TEXT("why", why)));
}

/* The key under which the connection is counted: its CURVE key, or one word for all of a kind. */
static void zap_user(const ZapRequest *zap, char user[KEY_TEXT_SIZE])
{
    const char *domain = (const char *)zap->frames[2];
    if (strcmp(domain, "curve") == 0) {
        zmq_z85_encode(user, zap->frames[6], 32);
    } else {
        snprintf(user, KEY_TEXT_SIZE, "%s", strcmp(domain, "ipc") == 0 ? "user" : "token");
    }
}

void router_zap_answer(Router *router)
{
    ZapRequest zap;
    while (zap_receive(router, &zap)) {
        bool welcome = zap_is_welcome(router, &zap);
        char user[KEY_TEXT_SIZE] = "";
        if (welcome) {
            zap_user(&zap, user);
        } else {
            journal_refused(router, &zap);
        }
        zmq_send(router->zap, "1.0", 3, ZMQ_SNDMORE);
        zmq_send(router->zap, zap.frames[1], zap.sizes[1], ZMQ_SNDMORE);
        zmq_send(router->zap, welcome ? "200" : "400", 3, ZMQ_SNDMORE);
        zmq_send(router->zap, welcome ? "OK" : "refused", welcome ? 2 : 7, ZMQ_SNDMORE);
        zmq_send(router->zap, user, strlen(user), ZMQ_SNDMORE);
        zmq_send(router->zap, "", 0, 0);
    }
}

TyStatus router_keys_check(const CurveKeys *users)
{
    uint8_t bytes[32];
    for (uint32_t i = 0; users != NULL && i < users->count; i++) {
        if (zmq_z85_decode(bytes, users->keys[i].key) == NULL) {
            return ty_status_fail(TY_BAD_FILE, "'%s' is not a CURVE key", users->keys[i].key);
        }
    }
    return ty_status_ok();
}

TyStatus router_zap_open(Router *router)
{
    TyStatus status = router_keys_check(router->config.curve_users);
    if (status.code != TY_OK) {
        return status;
    }
    router->zap = zmq_socket(router->context, ZMQ_REP);
    if (router->zap == NULL || zmq_bind(router->zap, "inproc://zeromq.zap.01") != 0) {
        return ty_status_fail(TY_IO, "access control: %s", zmq_strerror(errno));
    }
    socket_set_int(router->zap, ZMQ_LINGER, 0);
    return ty_status_ok();
}
