/* Checks that bytes are one well-formed MessagePack map within limits. */
#include "proto/wire_check.h"

#include <string.h>

/* ---- Items ---- */

/* Big-endian, as MessagePack has it. */
static uint64_t load_be(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static uint64_t sign_extend(uint64_t value, uint32_t size)
{
    uint32_t shift = 64 - 8 * size;
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* Takes `size` bytes of big-endian number; false if they are not there. */
static int take_number(const uint8_t **at, const uint8_t *end, uint32_t size, uint64_t *number)
{
    if ((size_t)(end - *at) < size) {
        return 0;
    }
    *number = load_be(*at, size);
    *at += size;
    return 1;
}

static WireFault take_run(const uint8_t **at, const uint8_t *end, WireItem *item, uint64_t size)
{
    if ((uint64_t)(end - *at) < size) {
        return WIRE_TRUNCATED;
    }
    item->bytes = *at;
    item->size = (uint32_t)size;
    *at += size;
    return WIRE_OK;
}

/* Text, bytes, lists and maps whose head has a length of `width` bytes. */
static WireFault take_sized(const uint8_t **at, const uint8_t *end, WireItem *item, WireKind kind,
                            uint32_t width)
{
    uint64_t length = 0;
    item->kind = kind;
    if (!take_number(at, end, width, &length)) {
        return WIRE_TRUNCATED;
    }
    if (kind == WIRE_TEXT || kind == WIRE_BYTES) {
        return take_run(at, end, item, length);
    }
    item->count = (uint32_t)length;
    item->bytes = *at;
    return WIRE_OK;
}

static WireFault take_scalar(const uint8_t **at, const uint8_t *end, WireItem *item, WireKind kind,
                             uint32_t width)
{
    item->kind = kind;
    if (!take_number(at, end, width, &item->number)) {
        return WIRE_TRUNCATED;
    }
    if (kind == WIRE_INT) {
        item->number = sign_extend(item->number, width);
        item->kind = (int64_t)item->number < 0 ? WIRE_INT : WIRE_UINT;
    } else if (kind == WIRE_FLOAT && width == 4) {
        uint32_t bits = (uint32_t)item->number;
        float value;
        double wide;
        memcpy(&value, &bits, sizeof value);
        wide = (double)value;
        memcpy(&item->number, &wide, sizeof wide);
    }
    return WIRE_OK;
}

static WireFault take_by_head(const uint8_t **at, const uint8_t *end, WireItem *item, uint8_t head)
{
    switch (head) {
    case 0xc0:
        item->kind = WIRE_NIL;
        return WIRE_OK;
    case 0xc2:
    case 0xc3:
        item->kind = WIRE_FLAG;
        item->number = head & 1;
        return WIRE_OK;
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return take_sized(at, end, item, WIRE_BYTES, 1u << (head - 0xc4));
    case 0xca:
    case 0xcb:
        return take_scalar(at, end, item, WIRE_FLOAT, 4u << (head - 0xca));
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return take_scalar(at, end, item, WIRE_UINT, 1u << (head - 0xcc));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take_scalar(at, end, item, WIRE_INT, 1u << (head - 0xd0));
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_sized(at, end, item, WIRE_TEXT, 1u << (head - 0xd9));
    case 0xdc:
    case 0xdd:
        return take_sized(at, end, item, WIRE_LIST, 2u << (head - 0xdc));
    case 0xde:
    case 0xdf:
        return take_sized(at, end, item, WIRE_MAP, 2u << (head - 0xde));
    case 0xc1:
        return WIRE_INVALID;
    default: /* 0xc7..0xc9, 0xd4..0xd8 */
        return WIRE_EXTENSION;
    }
}

WireFault wire_item(const uint8_t **at, const uint8_t *end, WireItem *item)
{
    *item = (WireItem){.kind = WIRE_NIL};
    if (*at == end) {
        return WIRE_TRUNCATED;
    }
    uint8_t head = *(*at)++;
    item->bytes = *at;
    if (head < 0x80) {
        item->kind = WIRE_UINT;
        item->number = head;
    } else if (head >= 0xe0) {
        item->kind = WIRE_INT;
        item->number = sign_extend(head, 1);
    } else if (head < 0x90) {
        item->kind = WIRE_MAP;
        item->count = head & 0x0f;
    } else if (head < 0xa0) {
        item->kind = WIRE_LIST;
        item->count = head & 0x0f;
    } else if (head < 0xc0) {
        item->kind = WIRE_TEXT;
        return take_run(at, end, item, head & 0x1f);
    } else {
        return take_by_head(at, end, item, head);
    }
    return WIRE_OK;
}

/* ---- The check ---- */

/* A list or map that is being read. */
typedef struct Level {
    uint64_t left; /* values still to come; in a map two for each entry */
    bool map;
} Level;

typedef struct Check {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t budget;
    uint32_t depth; /* open levels */
    Level levels[WIRE_DEPTH_MAX];
    uint32_t key_count;
    WireItem keys[WIRE_KEYS_MAX]; /* of the outermost map */
} Check;

static WireFault check_key(Check *check, const WireItem *item)
{
    if (item->kind != WIRE_TEXT) {
        return WIRE_BAD_KEY;
    }
    if (check->depth > 1) {
        return WIRE_OK;
    }
    for (uint32_t i = 0; i < check->key_count; i++) {
        const WireItem *other = &check->keys[i];
        if (other->size == item->size && memcmp(other->bytes, item->bytes, item->size) == 0) {
            return WIRE_DUPLICATE_KEY;
        }
    }
    check->keys[check->key_count++] = *item;
    return WIRE_OK;
}

/* A list or map begins. What it claims to hold is taken off the budget at once, so that a lie costs
 * no time. */
static WireFault check_push(Check *check, const WireItem *item)
{
    bool map = item->kind == WIRE_MAP;
    uint64_t values = (uint64_t)item->count * (map ? 2 : 1);
    if (check->depth == WIRE_DEPTH_MAX) {
        return WIRE_TOO_DEEP;
    }
    if (values > check->budget || (check->depth == 0 && item->count > WIRE_KEYS_MAX)) {
        return WIRE_TOO_MANY;
    }
    if (values > (uint64_t)(check->end - check->at)) {
        return WIRE_TRUNCATED;
    }
    check->budget -= values;
    check->levels[check->depth++] = (Level){.left = values, .map = map};
    return WIRE_OK;
}

static WireFault check_one(Check *check)
{
    Level *level = &check->levels[check->depth - 1];
    WireItem item;
    bool key = level->map && level->left % 2 == 0;
    level->left--;
    WireFault fault = wire_item(&check->at, check->end, &item);
    if (fault == WIRE_OK && key) {
        fault = check_key(check, &item);
    }
    if (fault == WIRE_OK && (item.kind == WIRE_LIST || item.kind == WIRE_MAP)) {
        fault = check_push(check, &item);
    }
    return fault;
}

static WireFault check_all(Check *check)
{
    WireItem item;
    WireFault fault = wire_item(&check->at, check->end, &item);
    if (fault != WIRE_OK) {
        return fault;
    }
    if (item.kind != WIRE_MAP) {
        return WIRE_NOT_A_MAP;
    }
    fault = check_push(check, &item);
    while (fault == WIRE_OK && check->depth > 0) {
        if (check->levels[check->depth - 1].left == 0) {
            check->depth--;
        } else {
            fault = check_one(check);
        }
    }
    return fault == WIRE_OK && check->at != check->end ? WIRE_TRAILING : fault;
}

WireFault wire_check(const uint8_t *bytes, size_t size, uint32_t elements_max, size_t *offset)
{
    Check check;
    check.at = bytes;
    check.end = bytes + size;
    check.budget = elements_max;
    check.depth = 0;
    check.key_count = 0;
    WireFault fault = check_all(&check);
    if (offset != NULL) {
        *offset = (size_t)(check.at - bytes);
    }
    return fault;
}

const char *wire_fault_text(WireFault fault)
{
    switch (fault) {
    case WIRE_OK:
        return "nothing is wrong";
    case WIRE_TRUNCATED:
        return "the message ends within a value";
    case WIRE_TRAILING:
        return "there are bytes behind the message";
    case WIRE_NOT_A_MAP:
        return "the message is not a map";
    case WIRE_TOO_DEEP:
        return "lists and maps are nested too deeply";
    case WIRE_TOO_MANY:
        return "the message has too many values";
    case WIRE_EXTENSION:
        return "extension types are not allowed";
    case WIRE_INVALID:
        return "byte 0xc1 is not MessagePack";
    case WIRE_BAD_KEY:
        return "a key of a map is not text";
    case WIRE_DUPLICATE_KEY:
        return "a key stands twice in the message";
    }
    return "";
}
