/* Checks that bytes are one well-formed MessagePack map within limits, before anything unpacks
 * them. One pass; no recursion, no allocation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_DEPTH_MAX = 8, /* lists and maps within each other */
    WIRE_KEYS_MAX = 64, /* keys of the outermost map */
};

typedef enum WireFault {
    WIRE_OK,
    WIRE_TRUNCATED,     /* the bytes end within a value */
    WIRE_TRAILING,      /* there are bytes behind the value */
    WIRE_NOT_A_MAP,     /* the outermost value is something else */
    WIRE_TOO_DEEP,      /* more lists and maps within each other than WIRE_DEPTH_MAX */
    WIRE_TOO_MANY,      /* more values than the budget */
    WIRE_EXTENSION,     /* an extension type */
    WIRE_INVALID,       /* byte 0xc1, which MessagePack never uses */
    WIRE_BAD_KEY,       /* a key of a map that is not text */
    WIRE_DUPLICATE_KEY, /* a key twice in the outermost map */
} WireFault;

/* What a value's first bytes say. */
typedef enum WireKind {
    WIRE_NIL,
    WIRE_FLAG,
    WIRE_UINT,
    WIRE_INT, /* negative */
    WIRE_FLOAT,
    WIRE_TEXT,
    WIRE_BYTES,
    WIRE_LIST,
    WIRE_MAP,
} WireKind;

/* One value, or the head of a list or map. */
typedef struct WireItem {
    WireKind kind;
    uint32_t count;       /* entries of a list or map */
    uint32_t size;        /* bytes of text or bytes */
    uint64_t number;      /* FLAG, UINT, INT (two's complement), FLOAT (the bits of a double) */
    const uint8_t *bytes; /* of text or bytes; otherwise what comes behind the head */
} WireItem;

/* Reads the item at `*at` and moves `*at` behind it: behind the whole value for scalars, text and
 * bytes, behind the head for lists and maps. */
WireFault wire_item(const uint8_t **at, const uint8_t *end, WireItem *item);

/* `elements_max` is a budget for the whole message: every value counts, keys too. On a fault
 * `offset`, if not NULL, says where. */
WireFault wire_check(const uint8_t *bytes, size_t size, uint32_t elements_max, size_t *offset);

/* A fault in words. */
const char *wire_fault_text(WireFault fault);
