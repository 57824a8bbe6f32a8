/* A daemon that answers its clients as a test tells it to, in a thread of its own. */
#pragma once

#include "proto/client.h"
#include "proto/wire_decode.h"
#include "proto/wire_encode.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

enum { LIAR_ANSWERS_MAX = 8, LIAR_MESSAGE_MAX = 1 << 16 };

/* Writes the whole reply to request `id`; false: says nothing. */
typedef bool (*Answer)(Writer *writer, uint64_t id);

typedef struct Liar {
    pthread_t thread;
    void *context;
    void *router;
    char directory[64];
    char endpoint[96];
    Answer hellos[LIAR_ANSWERS_MAX];  /* to each hello; NULL: a good one */
    Answer answers[LIAR_ANSWERS_MAX]; /* to each other request; NULL: nothing */
    Answer always;                    /* to every other request, instead; may be NULL */
    bool twice;                       /* a reply that nobody asked for comes before each */
    uint32_t drops_at;                /* request after which all connections are lost; 0: none */
} Liar;

static inline void say_begin(Writer *writer, uint64_t id)
{
    message_begin(writer, writer->data, writer->capacity);
    message_key(writer, "id");
    put_uint(writer, id);
}

static inline bool say_hello(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "session");
    put_text(writer, "a session");
    return message_end(writer);
}

static inline bool say_nothing(Writer *writer, uint64_t id)
{
    (void)writer;
    (void)id;
    return false;
}

static inline bool say_ok(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    return message_end(writer);
}

static inline bool say_error(Writer *writer, uint64_t id, const char *code, const char *message)
{
    say_begin(writer, id);
    message_key(writer, "error");
    put_map(writer, 2);
    put_key_text(writer, "code", code);
    put_key_text(writer, "message", message);
    return message_end(writer);
}

static inline void *liar_router(const Liar *liar)
{
    const int zero = 0;
    void *router = zmq_socket(liar->context, ZMQ_ROUTER);
    zmq_setsockopt(router, ZMQ_LINGER, &zero, sizeof zero);
    while (router != NULL && zmq_bind(router, liar->endpoint) != 0) {
        usleep(1000); /* the one before it is not quite gone */
    }
    return router;
}

static inline void liar_send(void *router, const uint8_t *peer, size_t peer_size,
                             const Writer *said)
{
    zmq_send(router, peer, peer_size, ZMQ_SNDMORE);
    zmq_send(router, said->data, said->size, 0);
}

static inline void *liar_main(void *argument)
{
    const Liar *liar = argument;
    static uint8_t bytes[LIAR_MESSAGE_MAX];
    uint8_t peer[64];
    uint32_t hellos = 0;
    uint32_t asked = 0;
    void *router = liar->router;
    for (int peer_size; (peer_size = zmq_recv(router, peer, sizeof peer, 0)) > 0;) {
        WireItem id = {.number = 0};
        WireItem op = {.size = 0};
        int size = zmq_recv(router, bytes, sizeof bytes, 0);
        wire_get(bytes, bytes + size, "id", &id);
        wire_get(bytes, bytes + size, "op", &op);
        bool hello = op.size == 5 && memcmp(op.bytes, "hello", 5) == 0;
        uint32_t turn = hello ? hellos++ : asked++;
        Answer answer = turn >= LIAR_ANSWERS_MAX ? NULL
                        : hello                  ? liar->hellos[turn]
                                                 : liar->answers[turn];
        answer = answer == NULL && hello ? say_hello : answer;
        answer = liar->always != NULL && !hello ? liar->always : answer;
        Writer writer = {.data = bytes, .capacity = sizeof bytes};
        if (liar->twice && say_ok(&writer, 123456)) {
            liar_send(router, peer, (size_t)peer_size, &writer);
        }
        if (!hello && asked == liar->drops_at) {
            zmq_close(router);
            router = liar_router(liar);
        } else if (answer != NULL && answer(&writer, id.number)) {
            liar_send(router, peer, (size_t)peer_size, &writer);
        }
    }
    zmq_close(router);
    return NULL;
}

static inline void liar_start(Liar *liar)
{
    snprintf(liar->directory, sizeof liar->directory, "/tmp/trainyard-liar-XXXXXX");
    assert_non_null(mkdtemp(liar->directory));
    snprintf(liar->endpoint, sizeof liar->endpoint, "ipc://%s/d", liar->directory);
    liar->context = zmq_ctx_new();
    liar->router = liar_router(liar);
    assert_int_equal(pthread_create(&liar->thread, NULL, liar_main, liar), 0);
}

static inline void liar_stop(Liar *liar)
{
    zmq_ctx_shutdown(liar->context);
    pthread_join(liar->thread, NULL);
    zmq_ctx_term(liar->context);
    unlink(liar->endpoint + strlen("ipc://"));
    assert_int_equal(rmdir(liar->directory), 0);
}
