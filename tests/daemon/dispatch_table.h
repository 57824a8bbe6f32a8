/* A dispatch without sockets, and without threads if nothing else is said, and peers that talk to
 * it: for tests and fuzzers. */
#pragma once

#include "daemon/dispatch.h"
#include "proto/wire_encode.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_REPLIES_MAX = 256 };

typedef struct TableReply {
    uint64_t peer;
    Buffer *buffer;
} TableReply;

typedef struct Table {
    Dispatch *dispatch;
    uint64_t now_ms;
    uint64_t random;
    DispatchSent answer; /* what the next sends say */
    uint32_t reply_count;
    uint32_t sent;   /* messages in all */
    uint32_t pushed; /* of these, notices that nobody asked for */
    TableReply replies[TABLE_REPLIES_MAX];
    const char *key;     /* under which peers come in; NULL: "" */
    uint32_t frames_out; /* frames that were not released yet */
} Table;

typedef struct TableFrame {
    Frame frame;
    Table *table;
    uint8_t bytes[];
} TableFrame;

/* Whether a message is a notice that was pushed: id 0, which no request has, and ok. */
static inline bool table_is_push(const Buffer *message)
{
    static const uint8_t start[] = {0xa2, 'i', 'd', 0,
                                    0xa2, 'o', 'k', 0xc3}; /* behind the map's size */
    return message->size > 3 + sizeof start && memcmp(message->data + 3, start, sizeof start) == 0;
}

static inline DispatchSent table_send(void *user, uint64_t peer, Buffer *reply)
{
    Table *table = user;
    table->sent++;
    table->pushed += table_is_push(reply);
    if (table->answer != DISPATCH_SENT) {
        buffer_release(reply);
        return table->answer;
    }
    if (table->reply_count == TABLE_REPLIES_MAX) {
        buffer_release(table->replies[0].buffer);
        memmove(table->replies, table->replies + 1,
                (TABLE_REPLIES_MAX - 1) * sizeof table->replies[0]);
        table->reply_count--;
    }
    table->replies[table->reply_count++] = (TableReply){.peer = peer, .buffer = reply};
    return DISPATCH_SENT;
}

static inline void table_random(void *user, uint8_t *bytes, size_t size)
{
    Table *table = user;
    for (size_t i = 0; i < size; i++) {
        table->random = table->random * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(table->random >> 56);
    }
}

static inline void table_identify(void *user, const Frame *hello, Identity *identity)
{
    const Table *table = user;
    (void)hello;
    *identity = (Identity){.address = ""};
    for (size_t i = 0; table->key != NULL && table->key[i] != '\0'; i++) {
        identity->key[i] = table->key[i];
    }
}

/* With `wake`, which is called as the dispatch's, workers have threads. */
static inline void table_open_threads(Table *table, const Limits *limits, void (*wake)(void *user))
{
    *table = (Table){.now_ms = 1000, .random = 1};
    const DispatchConfig config = {.limits = limits != NULL ? *limits : limits_standard(),
                                   .threaded = wake != NULL,
                                   .wake = wake,
                                   .user = table,
                                   .send = table_send,
                                   .random = table_random,
                                   .identify = table_identify,
                                   .access_token = "a token of the test"};
    TyStatus status = dispatch_open(&config, table->now_ms, &table->dispatch);
    if (status.code != TY_OK) {
        abort();
    }
}

static inline void table_open(Table *table, const Limits *limits)
{
    table_open_threads(table, limits, NULL);
}

static inline void table_forget(Table *table)
{
    while (table->reply_count > 0) {
        buffer_release(table->replies[--table->reply_count].buffer);
    }
}

static inline void table_close(Table *table)
{
    dispatch_drain(table->dispatch);
    table_forget(table);
    dispatch_close(table->dispatch);
}

static inline void table_release(Frame *frame)
{
    TableFrame *owner = (TableFrame *)frame;
    owner->table->frames_out--;
    free(owner);
}

/* Gives bytes to dispatch in memory of exactly their size. */
static inline void table_receive(Table *table, uint64_t peer, const uint8_t *bytes, size_t size,
                                 bool needs_token)
{
    TableFrame *frame = malloc(sizeof *frame + size);
    if (frame == NULL) {
        abort();
    }
    memcpy(frame->bytes, bytes, size);
    frame->table = table;
    frame->frame = (Frame){.bytes = frame->bytes, .size = size, .release = table_release};
    table->frames_out++;
    dispatch_receive(table->dispatch, peer, needs_token, &frame->frame, table->now_ms);
}
