/* A directory with files for a daemon, in a system that refuses calls: for the tests of its start.
 */
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <zmq.h>

#define FAULT_MORE_CALLS(X)                                                                        \
    X(uid_t, getuid, (uid_t) - 1, (void), ())                                                      \
    X(void *, zmq_ctx_new, NULL, (void), ())                                                       \
    X(void *, zmq_socket, NULL, (void *context, int type), (context, type))                        \
    X(int, zmq_connect, -1, (void *socket, const char *name), (socket, name))                      \
    X(int, zmq_bind, -1, (void *socket, const char *name), (socket, name))                         \
    X(int, zmq_socket_monitor, -1, (void *socket, const char *name, int events),                   \
      (socket, name, events))                                                                      \
    X(int, zmq_setsockopt, -1, (void *socket, int option, const void *value, size_t size),         \
      (socket, option, value, size))

#include "tests/support/faults.h"

#include "proto/client.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

static char directory[64];
static char public_key[TY_CLIENT_KEY_SIZE];
static char secret_key[TY_CLIENT_KEY_SIZE];

/* Valid until some others are asked for. */
static inline const char *path_of(const char *name)
{
    static char paths[8][128];
    static uint32_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline const char *file_make(const char *name, mode_t mode, const char *text)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static inline int setup(void **unused)
{
    (void)unused;
    char text[256];
    snprintf(directory, sizeof directory, "/tmp/trainyard-start-XXXXXX");
    if (mkdtemp(directory) == NULL || ty_client_keygen(public_key, secret_key).code != TY_OK) {
        return -1;
    }
    file_make("token", 0600, "a token of this test\n");
    snprintf(text, sizeof text, "public %s\nsecret %s\n", public_key, secret_key);
    file_make("server.key", 0600, text);
    snprintf(text, sizeof text, "public %s\n", public_key);
    file_make("client.pub", 0644, text);
    return 0;
}

static inline int teardown(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)
