/* Writing messages into memory that is there: MessagePack without an allocation. */
#include "proto/wire_encode.h"

#include <assert.h>
#include <msgpack.h>
#include <string.h>

/* ---- Values ---- */

static int writer_write(void *data, const char *bytes, size_t size)
{
    Writer *writer = data;
    if (writer->size <= writer->capacity && size <= writer->capacity - writer->size) {
        memcpy(writer->data + writer->size, bytes, size);
    }
    writer->size += size;
    return 0;
}

static msgpack_packer packer_of(Writer *writer)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, writer, writer_write);
    return packer;
}

void put_flag(Writer *writer, bool value)
{
    msgpack_packer packer = packer_of(writer);
    if (value) {
        msgpack_pack_true(&packer);
    } else {
        msgpack_pack_false(&packer);
    }
}

void put_uint(Writer *writer, uint64_t value)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_uint64(&packer, value);
}

void put_int(Writer *writer, int64_t value)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_int64(&packer, value);
}

void put_list(Writer *writer, uint32_t count)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_array(&packer, count);
}

void put_map(Writer *writer, uint32_t count)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_map(&packer, count);
}

uint8_t *put_bytes_place(Writer *writer, size_t size)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_bin(&packer, size);
    size_t at = writer->size;
    writer->size += size;
    return writer->size <= writer->capacity ? writer->data + at : NULL;
}

void put_bytes(Writer *writer, const void *bytes, size_t size)
{
    uint8_t *place = put_bytes_place(writer, size);
    if (place != NULL && size > 0) {
        memcpy(place, bytes, size);
    }
}

/* The length of the UTF-8 character that begins at `text`; 0 if none does. */
static size_t character_size(const uint8_t *text, size_t size)
{
    static const uint32_t minimum[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length < 2 || first > 0xf4 || length > size) {
        return length == 1 ? 1 : 0;
    }
    uint32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    bool good = code >= minimum[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return good ? length : 0;
}

void put_text_run(Writer *writer, const char *text, size_t size)
{
    msgpack_packer packer = packer_of(writer);
    msgpack_pack_str(&packer, size);
    for (size_t at = 0; at < size;) {
        size_t length = character_size((const uint8_t *)text + at, size - at);
        msgpack_pack_str_body(&packer, length > 0 ? text + at : "?", length > 0 ? length : 1);
        at += length > 0 ? length : 1;
    }
}

void put_text(Writer *writer, const char *text)
{
    put_text_run(writer, text, strlen(text));
}

void put_key_text(Writer *writer, const char *key, const char *text)
{
    put_text(writer, key);
    put_text(writer, text);
}

void put_key_uint(Writer *writer, const char *key, uint64_t value)
{
    put_text(writer, key);
    put_uint(writer, value);
}

void put_key_flag(Writer *writer, const char *key, bool value)
{
    put_text(writer, key);
    put_flag(writer, value);
}

/* ---- Messages ---- */

void message_begin(Writer *writer, uint8_t *data, size_t capacity)
{
    assert(capacity >= WIRE_HEAD_SIZE);
    *writer = (Writer){.data = data, .capacity = capacity, .size = WIRE_HEAD_SIZE};
}

void message_key(Writer *writer, const char *key)
{
    writer->entries++;
    put_text(writer, key);
}

bool message_end(Writer *writer)
{
    assert(writer->entries <= UINT16_MAX);
    writer->data[0] = 0xde;
    writer->data[1] = (uint8_t)(writer->entries >> 8);
    writer->data[2] = (uint8_t)writer->entries;
    return writer->size <= writer->capacity;
}

void reply_begin(Writer *writer, uint8_t *data, size_t capacity, Operation op, uint64_t id)
{
    message_begin(writer, data, capacity);
    writer->op = op;
    reply_uint(writer, REPLY_ID, id);
    reply_key(writer, REPLY_OK);
    put_flag(writer, true);
}

void reply_key(Writer *writer, ReplyField field)
{
    assert(operation_gives(writer->op, field));
    message_key(writer, protocol_replies[field].name);
}

void reply_uint(Writer *writer, ReplyField field, uint64_t value)
{
    reply_key(writer, field);
    put_uint(writer, value);
}

void reply_text(Writer *writer, ReplyField field, const char *text)
{
    reply_key(writer, field);
    put_text(writer, text);
}

void reply_bytes(Writer *writer, ReplyField field, const void *bytes, size_t size)
{
    reply_key(writer, field);
    put_bytes(writer, bytes, size);
}

void reply_error(Writer *writer, uint8_t *data, size_t capacity, uint64_t id,
                 const WireError *error)
{
    message_begin(writer, data, capacity);
    writer->op = OP_PING;
    reply_uint(writer, REPLY_ID, id);
    reply_key(writer, REPLY_OK);
    put_flag(writer, false);
    reply_key(writer, REPLY_ERROR);
    put_map(writer, error->row >= 0 ? 3 : 2);
    put_key_text(writer, "code", protocol_errors[error->code].name);
    put_key_text(writer, "message", error->message);
    if (error->row >= 0) {
        put_key_uint(writer, "row", (uint64_t)error->row);
    }
    message_end(writer);
}
