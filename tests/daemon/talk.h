/* A conversation with a dispatch, one request at a time: for tests that look closely at it. */
#pragma once

#include "tests/daemon/dispatch_table.h"

enum { TALK_MESSAGE_MAX = 65536 };

typedef struct Talk {
    Table table;
    uint64_t id;
    uint8_t message[TALK_MESSAGE_MAX];
    Writer writer;
} Talk;

static inline void talk_begin(Talk *talk, const char *op)
{
    message_begin(&talk->writer, talk->message, sizeof talk->message);
    message_key(&talk->writer, "op");
    put_text(&talk->writer, op);
    message_key(&talk->writer, "id");
    put_uint(&talk->writer, ++talk->id);
}

static inline void talk_uint(Talk *talk, const char *key, uint64_t value)
{
    message_key(&talk->writer, key);
    put_uint(&talk->writer, value);
}

static inline void talk_text(Talk *talk, const char *key, const char *value)
{
    message_key(&talk->writer, key);
    put_text(&talk->writer, value);
}

static inline void talk_bytes(Talk *talk, const char *key, const void *bytes, size_t size)
{
    message_key(&talk->writer, key);
    put_bytes(&talk->writer, bytes, (uint32_t)size);
}

static inline void talk_release(Frame *frame)
{
    (void)frame;
}

/* Gives bytes to dispatch without allocating a frame. */
static inline void talk_send(Talk *talk, uint64_t peer, const uint8_t *bytes, size_t size)
{
    static Frame frame;
    frame = (Frame){.bytes = bytes, .size = size, .release = talk_release};
    dispatch_receive(talk->table.dispatch, peer, false, &frame, talk->table.now_ms);
}

/* Sends the message that was begun. */
static inline void talk_say(Talk *talk, uint64_t peer)
{
    if (!message_end(&talk->writer)) {
        abort();
    }
    talk_send(talk, peer, talk->message, talk->writer.size);
}

static inline void talk_hello(Talk *talk, uint64_t peer)
{
    talk_begin(talk, "hello");
    talk_uint(talk, "protocol", PROTOCOL_VERSION);
    talk_say(talk, peer);
}

/* The last reply; there must be one. */
static inline const Buffer *talk_reply(const Talk *talk)
{
    if (talk->table.reply_count == 0) {
        abort();
    }
    return talk->table.replies[talk->table.reply_count - 1].buffer;
}

/* A field of the last reply; false if it has none of this name. */
static inline bool talk_get(const Talk *talk, const char *key, WireItem *item)
{
    const Buffer *reply = talk_reply(talk);
    return wire_get(reply->data, reply->data + reply->size, key, item);
}

static inline bool talk_is_good(const Talk *talk)
{
    WireItem item;
    return talk_get(talk, "ok", &item) && item.number != 0;
}
