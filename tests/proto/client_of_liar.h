/* A client of a daemon that lies, in a system that refuses calls: for the tests of the client. */
#pragma once

#include <zmq.h>

#define FAULT_MORE_CALLS(X)                                                                        \
    X(void *, zmq_ctx_new, NULL, (void), ())                                                       \
    X(void *, zmq_socket, NULL, (void *context, int type), (context, type))                        \
    X(int, zmq_connect, -1, (void *socket, const char *name), (socket, name))                      \
    X(int, zmq_socket_monitor, -1, (void *socket, const char *name, int events),                   \
      (socket, name, events))                                                                      \
    X(int, zmq_msg_init_size, -1, (zmq_msg_t * message, size_t size), (message, size))             \
    X(int, zmq_msg_send, -1, (zmq_msg_t * message, void *socket, int flags),                       \
      (message, socket, flags))                                                                    \
    X(int, zmq_msg_recv, -1, (zmq_msg_t * message, void *socket, int flags),                       \
      (message, socket, flags))                                                                    \
    X(int, zmq_send, -1, (void *socket, const void *bytes, size_t size, int flags),                \
      (socket, bytes, size, flags))                                                                \
    X(int, zmq_curve_keypair, -1, (char *public_key, char *secret_key), (public_key, secret_key))

#include "tests/proto/lying_daemon.h"
#include "tests/support/faults.h"

enum { SHORT_MS = 400, WAIT_MS = 20000 };

/* Two rows in one group, with columns that rows have and endings. */
static const TyClientPool two_rows = {.id = 1,
                                      .slots = 2,
                                      .groups = 1,
                                      .group = {{0, 2}},
                                      .players = 2,
                                      .row_size = 3,
                                      .action_count = 2,
                                      .width = {[TY_COLUMN_OBS] = 3,
                                                [TY_COLUMN_MASK] = 2,
                                                [TY_COLUMN_EARNED] = 2,
                                                [TY_COLUMN_SEAT] = 1,
                                                [TY_COLUMN_READY] = 1,
                                                [TY_COLUMN_TERMINATED] = 1,
                                                [TY_COLUMN_TRUNCATED] = 1,
                                                [TY_COLUMN_ILLEGAL] = 1,
                                                [TY_COLUMN_EPISODE] = 1,
                                                [TY_COLUMN_STEP] = 1,
                                                [TY_COLUMN_METRICS] = 3}};
static const TyClientWait soon = {.timeout_ms = 1};
static const int32_t two_actions[2] = {0, 1};

static inline TyClient *client_of(const Liar *liar, uint32_t timeout_ms)
{
    TyClient *client = NULL;
    const TyClientConfig config = {.endpoint = liar->endpoint, .timeout_ms = timeout_ms};
    TyStatus status = ty_client_connect(&config, &client);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    return client;
}

static inline void assert_fails(TyStatus status, TyCode code, const char *word)
{
    assert_int_equal(status.code, code);
    if (strstr(status.message, word) == NULL) {
        fail_msg("%s", status.message);
    }
}
