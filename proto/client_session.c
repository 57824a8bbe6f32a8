/* The connection of a client: opening it, saying hello, mending it. */
#define _GNU_SOURCE
#include "proto/client_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CLIENT_TIMEOUT_MS = 30000, HELLO_SIZE = 1024 };

uint64_t client_clock_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

TyStatus zmq_failure(const char *what)
{
    return ty_status_fail(TY_IO, "%s: %s", what, zmq_strerror(errno));
}

/* ---- Sessions ---- */

/* NULL if a text is empty, so that its field is left out. */
static const char *unless_empty(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static TyStatus hello_send(TyClient *client)
{
    uint8_t bytes[HELLO_SIZE];
    const Given given[] = {given_number(FIELD_OF_PROTOCOL, PROTOCOL_VERSION),
                           given_text(FIELD_OF_SESSION, unless_empty(client->session)),
                           given_text(FIELD_OF_ACCESS, unless_empty(client->access_token)),
                           given_number(FIELD_OF_PUSH, 1),
                           given_text(FIELD_OF_NAME, client->name),
                           given_unless_zero(FIELD_OF_ADMIN, client->admin),
                           GIVEN_END};
    size_t size = request_write(bytes, sizeof bytes, OP_HELLO, client->next_id++, given);
    assert(size <= sizeof bytes);
    return zmq_send(client->socket, bytes, size, 0) < 0 ? zmq_failure("hello") : ty_status_ok();
}

TyStatus client_await(TyClient *client, uint64_t id)
{
    uint64_t end = client_clock_ms() + client->timeout_ms;
    TyStatus status = ty_status_ok();
    for (bool got = false; status.code == TY_OK;) {
        uint64_t now = client_clock_ms();
        if (now >= end) {
            return ty_status_fail(TY_IO, "no daemon answers there");
        }
        status = reply_receive(client, (int)(end - now), &got);
        if (status.code == TY_OK && got && map_uint(reply_map(client), "id", UINT64_MAX) == id) {
            break;
        }
    }
    return status.code == TY_OK ? reply_status(client) : status;
}

TyStatus client_hello(TyClient *client)
{
    uint64_t id = client->next_id;
    TyStatus status = hello_send(client);
    if (status.code == TY_OK) {
        status = client_await(client, id);
    }
    if (status.code == TY_OK) {
        map_copy(reply_map(client), "session", client->session, sizeof client->session);
        status = reply_sound(client);
    }
    return status;
}

TyStatus client_resume(TyClient *client)
{
    TyStatus status = client_hello(client);
    for (uint32_t i = 0; status.code == TY_OK && i < client->asked_count; i++) {
        status = asked_send(client, &client->asked[i]) ? status : zmq_failure("send");
    }
    return status;
}

bool client_was_cut(TyClient *client)
{
    uint8_t event[6];
    bool cut = false;
    while (zmq_recv(client->monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        zmq_recv(client->monitor, NULL, 0, ZMQ_DONTWAIT);
        cut = true;
    }
    return cut;
}

/* ---- Connecting ---- */

static bool set_text(void *socket, int option, const char *text)
{
    return zmq_setsockopt(socket, option, text, strlen(text)) == 0;
}

static TyStatus keys_set(TyClient *client, const TyClientConfig *config)
{
    if (config->server_key == NULL) {
        return ty_status_ok();
    }
    if (config->public_key == NULL || config->secret_key == NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "a key pair of the client's own is missing");
    }
    if (!set_text(client->socket, ZMQ_CURVE_SERVERKEY, config->server_key) ||
        !set_text(client->socket, ZMQ_CURVE_PUBLICKEY, config->public_key) ||
        !set_text(client->socket, ZMQ_CURVE_SECRETKEY, config->secret_key)) {
        return zmq_failure("CURVE keys");
    }
    return ty_status_ok();
}

/* Where a daemon listens that was told nothing else. */
static void endpoint_standard(char endpoint[256])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime != NULL && runtime[0] == '/') {
        snprintf(endpoint, 256, "ipc://%s/trainyard/trainyardd", runtime);
    } else {
        snprintf(endpoint, 256, "ipc:///tmp/trainyard-%u/trainyardd", (unsigned)getuid());
    }
}

static TyStatus sockets_open(TyClient *client)
{
    const int zero = 0;
    client->context = zmq_ctx_new();
    client->socket = client->context != NULL ? zmq_socket(client->context, ZMQ_DEALER) : NULL;
    client->monitor = client->context != NULL ? zmq_socket(client->context, ZMQ_PAIR) : NULL;
    if (client->socket == NULL || client->monitor == NULL) {
        return zmq_failure("socket");
    }
    zmq_setsockopt(client->socket, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(client->monitor, ZMQ_LINGER, &zero, sizeof zero);
    return ty_status_ok();
}

static TyStatus sockets_connect(TyClient *client, const TyClientConfig *config)
{
    char standard[256];
    size_t fd_size = sizeof client->socket_fd;
    endpoint_standard(standard);
    const char *endpoint = config->endpoint != NULL ? config->endpoint : standard;
    TyStatus status = sockets_open(client);
    if (status.code == TY_OK) {
        status = keys_set(client, config);
    }
    if (status.code != TY_OK) {
        return status;
    }
    if (zmq_socket_monitor(client->socket, "inproc://monitor", ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(client->monitor, "inproc://monitor") != 0 ||
        zmq_connect(client->socket, endpoint) != 0 ||
        zmq_getsockopt(client->socket, ZMQ_FD, &client->socket_fd, &fd_size) != 0) {
        return zmq_failure(endpoint);
    }
    return status;
}

TyStatus client_begin(const TyClientConfig *config, TyClient **out)
{
    TyClient *client = calloc(1, sizeof *client);
    *out = client;
    if (client == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a client");
    }
    client->next_id = 1;
    client->op = OP_HELLO;
    client->admin = config->admin;
    client->timeout_ms = config->timeout_ms != 0 ? config->timeout_ms : CLIENT_TIMEOUT_MS;
    zmq_msg_init(&client->reply);
    snprintf(client->name, sizeof client->name, "%s", config->name != NULL ? config->name : "");
    snprintf(client->access_token, sizeof client->access_token, "%s",
             config->access_token != NULL ? config->access_token : "");
    return sockets_connect(client, config);
}

TyStatus ty_client_connect(const TyClientConfig *config, TyClient **out)
{
    TyStatus status = client_begin(config, out);
    if (status.code == TY_OK) {
        assert(*out != NULL);
        status = client_hello(*out);
    }
    if (status.code == TY_OK) {
        status = daemon_read(*out);
    }
    if (status.code != TY_OK) {
        ty_client_close(*out);
        *out = NULL;
    }
    return status;
}

void ty_client_close(TyClient *client)
{
    if (client == NULL) {
        return;
    }
    asked_forget(client);
    zmq_msg_close(&client->reply);
    if (client->socket != NULL) {
        zmq_socket_monitor(client->socket, NULL, 0);
        zmq_close(client->socket);
    }
    if (client->monitor != NULL) {
        zmq_close(client->monitor);
    }
    if (client->context != NULL) {
        zmq_ctx_term(client->context);
    }
    room_free(&client->room);
    room_free(&client->daemon_room);
    free(client->numbers);
    free(client);
}

TyClientTraffic ty_client_traffic(const TyClient *client)
{
    return client->traffic;
}

TyStatus ty_client_keygen(char public_key[TY_CLIENT_KEY_SIZE], char secret_key[TY_CLIENT_KEY_SIZE])
{
    return zmq_curve_keypair(public_key, secret_key) == 0
               ? ty_status_ok()
               : ty_status_fail(TY_IO, "this ZeroMQ has no CURVE");
}
