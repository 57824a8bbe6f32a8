/* Requests made by hand, their replies, and short conversations: for the tests of dispatch. */
#pragma once

#include "tests/daemon/dispatch_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MESSAGE_MAX = 65536 };

/* ---- Requests by hand ---- */

static uint8_t message[MESSAGE_MAX];
static Writer writer;
static uint64_t next_id = 1;

static inline void begin(const char *op)
{
    message_begin(&writer, message, sizeof message);
    message_key(&writer, "op");
    put_text(&writer, op);
    message_key(&writer, "id");
    put_uint(&writer, next_id++);
}

static inline void add_uint(const char *key, uint64_t value)
{
    message_key(&writer, key);
    put_uint(&writer, value);
}

static inline void add_text(const char *key, const char *value)
{
    message_key(&writer, key);
    put_text(&writer, value);
}

static inline void add_bytes(const char *key, const void *bytes, size_t size)
{
    message_key(&writer, key);
    put_bytes(&writer, bytes, size);
}

static inline void add_texts(const char *key, const char *one, const char *two)
{
    message_key(&writer, key);
    put_list(&writer, 2);
    put_text(&writer, one);
    put_text(&writer, two);
}

static inline void send(Table *table, uint64_t peer)
{
    assert_true(message_end(&writer));
    table_receive(table, peer, message, writer.size, false);
}

/* ---- Replies ---- */

static const uint8_t *reply_end;

/* The last reply, which must be to `peer`; checked. */
static inline const uint8_t *reply(Table *table, uint64_t peer)
{
    assert_true(table->reply_count > 0);
    const TableReply *last = &table->replies[table->reply_count - 1];
    assert_true(last->peer == peer);
    reply_end = last->buffer->data + last->buffer->size;
    assert_int_equal(wire_check(last->buffer->data, last->buffer->size, 1 << 20, NULL), WIRE_OK);
    return last->buffer->data;
}

static inline bool get(const uint8_t *map, const char *key, WireItem *item)
{
    return wire_get(map, reply_end, key, item);
}

static inline uint64_t get_uint(const uint8_t *map, const char *key)
{
    WireItem item;
    assert_true(get(map, key, &item));
    assert_int_equal(item.kind, WIRE_UINT);
    return item.number;
}

static inline WireItem get_run(const uint8_t *map, const char *key)
{
    WireItem item;
    assert_true(get(map, key, &item));
    assert_true(item.kind == WIRE_TEXT || item.kind == WIRE_BYTES);
    return item;
}

static inline const uint8_t *good(Table *table, uint64_t peer)
{
    const uint8_t *map = reply(table, peer);
    WireItem item;
    if (get(map, "error", &item)) {
        WireItem text = {.size = 0};
        const uint8_t *error = item.bytes - 1;
        wire_get(error, reply_end, "message", &text);
        fail_msg("refused: %.*s", (int)text.size, (const char *)text.bytes);
    }
    return map;
}

/* The last reply is a refusal with this code whose message has this word. */
static inline void refused(Table *table, uint64_t peer, const char *code, const char *word)
{
    WireItem item;
    WireItem text;
    const uint8_t *map = reply(table, peer);
    assert_true(get(map, "ok", &item) && item.kind == WIRE_FLAG && item.number == 0);
    assert_true(get(map, "error", &item));
    assert_true(wire_get(item.bytes - 1, reply_end, "code", &text));
    if (text.size != strlen(code) || memcmp(text.bytes, code, text.size) != 0) {
        fail_msg("%.*s instead of %s", (int)text.size, (const char *)text.bytes, code);
    }
    assert_true(wire_get(item.bytes - 1, reply_end, "message", &text));
    char copy[WIRE_MESSAGE_MAX];
    snprintf(copy, sizeof copy, "%.*s", (int)text.size, (const char *)text.bytes);
    if (strstr(copy, word) == NULL) {
        fail_msg("'%s' does not say '%s'", copy, word);
    }
}

/* ---- Conversations ---- */

static inline void hello(Table *table, uint64_t peer)
{
    begin("hello");
    add_uint("protocol", 1);
    send(table, peer);
    good(table, peer);
}

static inline uint32_t open_pool(Table *table, uint64_t peer, uint32_t slots)
{
    begin("open");
    add_text("ruleset", "convoi:board=tiny");
    add_uint("slots", slots);
    send(table, peer);
    return (uint32_t)get_uint(good(table, peer), "pool");
}

/* First legal action of each row of a reply. */
static inline uint32_t first_actions(const uint8_t *map, int32_t *actions)
{
    WireItem mask = get_run(map, "mask");
    uint32_t rows = (uint32_t)get_uint(map, "count");
    uint32_t width = rows > 0 ? mask.size / rows : 0;
    for (uint32_t i = 0; i < rows; i++) {
        actions[i] = 0;
        for (uint32_t k = 0; k < width; k++) {
            if (mask.bytes[i * width + k]) {
                actions[i] = (int32_t)k;
                break;
            }
        }
    }
    return rows;
}

static inline void step(Table *table, uint64_t peer, uint32_t pool, const int32_t *actions,
                        uint32_t rows)
{
    begin("step");
    add_uint("pool", pool);
    add_bytes("actions", actions, rows * 4);
    send(table, peer);
}

static inline void simple(Table *table, uint64_t peer, const char *op, uint32_t pool)
{
    begin(op);
    add_uint("pool", pool);
    send(table, peer);
}
