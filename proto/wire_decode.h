/* Requests as values: the bytes of a message, checked against the table of operations. */
#pragma once

#include "proto/protocol.h"
#include "proto/wire_check.h"

#include <stdio.h>

enum {
    WIRE_MESSAGE_MAX = 320, /* characters of an error message */
    WIRE_TEXT_MAX = 512,    /* characters of a text field, with its NUL */
};

/* A field of a request. Text and bytes point into the message. */
typedef struct WireValue {
    uint64_t number;      /* UINT, FLAG, INT (two's complement) */
    const uint8_t *bytes; /* TEXT, BYTES; of TEXTS and FILES the first entry */
    uint32_t size;        /* of TEXT and BYTES; of TEXTS and FILES the bytes of all entries */
    uint32_t count;       /* entries of TEXTS and FILES */
} WireValue;

/* Fields that were not given have their standard value. */
typedef struct Request {
    Operation op;
    uint64_t id;    /* 0 if it could not be read */
    uint64_t given; /* bit per Field */
    WireValue values[FIELD_COUNT];
} Request;

/* Why a request is refused. `row` is -1 unless one row of a batch is to blame. */
typedef struct WireError {
    ErrorCode code;
    int64_t row;
    char message[WIRE_MESSAGE_MAX];
} WireError;

/* Writes a refusal; always false, so that checks can return it. */
bool wire_refuse(WireError *error, ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks and decodes a message. False if it is refused; `request->id` is set if it is readable. */
bool wire_decode(const uint8_t *bytes, size_t size, uint32_t elements_max, Request *request,
                 WireError *error);

static inline bool request_has(const Request *request, Field field)
{
    return (request->given >> field & 1) != 0;
}

static inline uint64_t request_uint(const Request *request, Field field)
{
    return request->values[field].number;
}

static inline int64_t request_int(const Request *request, Field field)
{
    return (int64_t)request->values[field].number;
}

/* Copies a text field with a NUL behind it; "" if it was not given. */
void request_text(const Request *request, Field field, char out[WIRE_TEXT_MAX]);
/* Entry `index` of a list of texts, copied. */
void request_text_at(const Request *request, Field field, uint32_t index, char out[WIRE_TEXT_MAX]);
/* Entry `index` of a map of files: its name, copied, and its content. */
void request_file_at(const Request *request, Field field, uint32_t index, char name[WIRE_TEXT_MAX],
                     const uint8_t **bytes, uint32_t *size);

/* ---- For readers of replies ---- */

/* Where the value of `key` begins in the map that begins at `map`, which wire_check has passed;
 * NULL if there is none. */
const uint8_t *wire_find(const uint8_t *map, const uint8_t *end, const char *key);
/* The same, and reads it; false if there is none. `value` is then behind the head of a list or map.
 */
bool wire_get(const uint8_t *map, const uint8_t *end, const char *key, WireItem *value);
/* Moves `*at`, which stands before a whole value, behind it. */
void wire_skip(const uint8_t **at, const uint8_t *end);
