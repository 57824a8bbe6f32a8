/* Writing messages into memory that is there: MessagePack without an allocation. */
#pragma once

#include "proto/protocol.h"
#include "proto/wire_decode.h"

/* A message being written. What does not fit is counted, not written: `size` says in the end how
 * much room was wanted. */
typedef struct Writer {
    uint8_t *data;
    size_t capacity;
    size_t size;
    Operation op;     /* of the reply */
    uint32_t entries; /* of the outermost map, so far */
} Writer;

/* Bytes of the outermost map's head: it has always three, so that entries can be counted as they
 * come. */
enum { WIRE_HEAD_SIZE = 3 };

/* ---- Values ---- */

void put_flag(Writer *writer, bool value);
void put_uint(Writer *writer, uint64_t value);
void put_int(Writer *writer, int64_t value);
/* Text is made valid UTF-8: what is not, becomes question marks. */
void put_text(Writer *writer, const char *text);
void put_text_run(Writer *writer, const char *text, size_t size);
void put_bytes(Writer *writer, const void *bytes, size_t size);
/* The head of bytes whose content the caller writes to the returned place; NULL if there is no
 * room, in which case it is counted only. */
uint8_t *put_bytes_place(Writer *writer, size_t size);
void put_list(Writer *writer, uint32_t count);
void put_map(Writer *writer, uint32_t count);
/* Entries of an inner map. */
void put_key_text(Writer *writer, const char *key, const char *text);
void put_key_uint(Writer *writer, const char *key, uint64_t value);
void put_key_flag(Writer *writer, const char *key, bool value);

/* ---- Messages ---- */

/* Begins a map whose entries are counted by `message_key` and `reply_key`. */
void message_begin(Writer *writer, uint8_t *data, size_t capacity);
void message_key(Writer *writer, const char *key);
/* Writes the number of entries into the head. True if all fitted. */
bool message_end(Writer *writer);

/* The beginning of a good reply: {id, ok: true, ... */
void reply_begin(Writer *writer, uint8_t *data, size_t capacity, Operation op, uint64_t id);
/* The key of the next field, which must be one that the operation gives. */
void reply_key(Writer *writer, ReplyField field);
void reply_uint(Writer *writer, ReplyField field, uint64_t value);
void reply_text(Writer *writer, ReplyField field, const char *text);
void reply_bytes(Writer *writer, ReplyField field, const void *bytes, size_t size);
/* A whole refusal. */
void reply_error(Writer *writer, uint8_t *data, size_t capacity, uint64_t id,
                 const WireError *error);
