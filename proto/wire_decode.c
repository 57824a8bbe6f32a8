/* Requests as values: the bytes of a message, checked against the table of operations. */
#include "proto/wire_decode.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool wire_refuse(WireError *error, ErrorCode code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->code = code;
    error->row = -1;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

void wire_skip(const uint8_t **at, const uint8_t *end)
{
    WireItem item;
    uint64_t left = 1;
    while (left > 0 && wire_item(at, end, &item) == WIRE_OK) {
        left--;
        left += item.kind == WIRE_LIST ? item.count : 0;
        left += item.kind == WIRE_MAP ? (uint64_t)item.count * 2 : 0;
    }
}

const uint8_t *wire_find(const uint8_t *map, const uint8_t *end, const char *key)
{
    WireItem item;
    if (wire_item(&map, end, &item) != WIRE_OK || item.kind != WIRE_MAP) {
        return NULL;
    }
    for (uint32_t left = item.count; left > 0; left--) {
        WireItem name;
        if (wire_item(&map, end, &name) != WIRE_OK) {
            return NULL;
        }
        if (name.size == strlen(key) && memcmp(name.bytes, key, name.size) == 0) {
            return map;
        }
        wire_skip(&map, end);
    }
    return NULL;
}

bool wire_get(const uint8_t *map, const uint8_t *end, const char *key, WireItem *value)
{
    const uint8_t *at = wire_find(map, end, key);
    return at != NULL && wire_item(&at, end, value) == WIRE_OK;
}

/* ---- One field ---- */

static bool number_fits(const FieldInfo *info, uint64_t number)
{
    if (info->type == FIELD_INT) {
        return (int64_t)number >= (int64_t)info->minimum &&
               (int64_t)number <= (int64_t)info->maximum;
    }
    return number >= info->minimum && number <= info->maximum;
}

static bool refuse_type(const FieldInfo *info, WireError *error)
{
    return wire_refuse(error, ERROR_bad_request, "%s: must be of type %s", info->name,
                       field_type_name(info->type));
}

static bool refuse_number(const FieldInfo *info, const WireItem *item, WireError *error)
{
    bool negative = item->kind == WIRE_INT;
    if (info->type == FIELD_INT) {
        return wire_refuse(error, ERROR_bad_request,
                           "%s=%s%" PRId64 ": out of range; allowed is %" PRId64 "..%" PRId64,
                           info->name, negative ? "" : "+", (int64_t)item->number,
                           (int64_t)info->minimum, (int64_t)info->maximum);
    }
    return wire_refuse(error, ERROR_bad_request,
                       "%s=%s%" PRIu64 ": out of range; allowed is %" PRIu64 "..%" PRIu64,
                       info->name, negative ? "-" : "", negative ? -item->number : item->number,
                       info->minimum, info->maximum);
}

static bool take_integer(const FieldInfo *info, const WireItem *item, WireValue *value,
                         WireError *error)
{
    if (item->kind != WIRE_UINT && item->kind != WIRE_INT) {
        return refuse_type(info, error);
    }
    bool wrong_sign = info->type == FIELD_INT ? item->kind == WIRE_UINT && item->number > INT64_MAX
                                              : item->kind == WIRE_INT;
    if (wrong_sign || !number_fits(info, item->number)) {
        return refuse_number(info, item, error);
    }
    value->number = item->number;
    return true;
}

static bool check_size(const FieldInfo *info, uint64_t size, const char *unit, WireError *error)
{
    if (size >= info->minimum && size <= info->maximum) {
        return true;
    }
    return wire_refuse(error, ERROR_bad_request,
                       "%s: has %" PRIu64 " %s; allowed is %" PRIu64 "..%" PRIu64, info->name, size,
                       unit, info->minimum, info->maximum);
}

static bool take_run(const FieldInfo *info, const WireItem *item, WireValue *value,
                     WireError *error)
{
    if (item->kind != (info->type == FIELD_TEXT ? WIRE_TEXT : WIRE_BYTES)) {
        return refuse_type(info, error);
    }
    value->bytes = item->bytes;
    value->size = item->size;
    if (info->type == FIELD_TEXT && memchr(item->bytes, 0, item->size) != NULL) {
        return wire_refuse(error, ERROR_bad_request, "%s: text must not hold a NUL", info->name);
    }
    return check_size(info, item->size, "bytes", error);
}

/* The entries of a list of texts or map of files, which `at` is moved behind. */
static bool take_entries(const FieldInfo *info, const WireItem *item, const uint8_t **at,
                         const uint8_t *end, WireValue *value, WireError *error)
{
    bool files = info->type == FIELD_FILES;
    if (item->kind != (files ? WIRE_MAP : WIRE_LIST)) {
        return refuse_type(info, error);
    }
    value->bytes = *at;
    value->count = item->count;
    for (uint32_t i = 0; i < item->count; i++) {
        WireItem text;
        WireItem content = {.kind = WIRE_BYTES};
        wire_item(at, end, &text);
        bool good = text.kind == WIRE_TEXT && text.size < WIRE_TEXT_MAX &&
                    memchr(text.bytes, 0, text.size) == NULL;
        if (files && good) {
            wire_item(at, end, &content);
            good = content.kind == WIRE_BYTES || content.kind == WIRE_TEXT;
        }
        if (!good) {
            return refuse_type(info, error);
        }
    }
    value->size = (uint32_t)(*at - value->bytes);
    return check_size(info, item->count, "entries", error);
}

static bool take_value(const FieldInfo *info, const uint8_t **at, const uint8_t *end,
                       WireValue *value, WireError *error)
{
    WireItem item;
    wire_item(at, end, &item);
    switch (info->type) {
    case FIELD_UINT:
    case FIELD_INT:
        return take_integer(info, &item, value, error);
    case FIELD_FLAG:
        value->number = item.number;
        return item.kind == WIRE_FLAG ? true : refuse_type(info, error);
    case FIELD_TEXT:
    case FIELD_BYTES:
        return take_run(info, &item, value, error);
    case FIELD_TEXTS:
    case FIELD_FILES:
        return take_entries(info, &item, at, end, value, error);
    }
    return false;
}

/* ---- The message ---- */

/* Lists the fields whose bits are set. */
static void list_fields(uint64_t fields, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < FIELD_COUNT && length < size; i++) {
        if ((fields >> i & 1) != 0) {
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       protocol_fields[i].name);
        }
    }
}

static bool refuse_field(Operation op, const WireItem *key, WireError *error)
{
    char allowed[WIRE_MESSAGE_MAX / 2];
    list_fields(protocol_needs[op] | protocol_takes[op], allowed, sizeof allowed);
    return wire_refuse(error, ERROR_bad_request, "'%.*s' is not a field of %s; allowed: %s",
                       key->size < 40 ? (int)key->size : 40, (const char *)key->bytes,
                       protocol_operations[op].name, allowed);
}

/* The number is read first of all, so that even a refusal carries it. */
static bool decode_head(const uint8_t *bytes, const uint8_t *end, Request *request,
                        WireError *error)
{
    WireItem item;
    const FieldInfo *info = &protocol_fields[FIELD_OF_ID];
    WireValue id = {0};
    if (!wire_get(bytes, end, info->name, &item)) {
        return wire_refuse(error, ERROR_bad_request, "id: is missing");
    }
    if (!take_integer(info, &item, &id, error)) {
        return false;
    }
    request->id = id.number;
    if (!wire_get(bytes, end, protocol_fields[FIELD_OF_OP].name, &item)) {
        return wire_refuse(error, ERROR_bad_request, "op: is missing");
    }
    if (item.kind != WIRE_TEXT) {
        return refuse_type(&protocol_fields[FIELD_OF_OP], error);
    }
    if (!operation_find((const char *)item.bytes, item.size, &request->op)) {
        return wire_refuse(error, ERROR_unknown_op, "op: there is no operation '%.*s'",
                           item.size < 40 ? (int)item.size : 40, (const char *)item.bytes);
    }
    return true;
}

static bool decode_fields(const uint8_t *at, const uint8_t *end, Request *request, WireError *error)
{
    WireItem map;
    WireItem key;
    Field field;
    wire_item(&at, end, &map);
    for (uint32_t i = 0; i < map.count; i++) {
        wire_item(&at, end, &key);
        if (!field_find(request->op, (const char *)key.bytes, key.size, &field)) {
            /* hello is how later versions introduce themselves. */
            if (request->op == OP_HELLO) {
                wire_skip(&at, end);
                continue;
            }
            return refuse_field(request->op, &key, error);
        }
        if (!take_value(&protocol_fields[field], &at, end, &request->values[field], error)) {
            return false;
        }
        request->given |= UINT64_C(1) << field;
    }
    return true;
}

bool wire_decode(const uint8_t *bytes, size_t size, uint32_t elements_max, Request *request,
                 WireError *error)
{
    size_t offset = 0;
    request->id = 0;
    request->op = OP_PING;
    request->given = 0;
    WireFault fault = wire_check(bytes, size, elements_max, &offset);
    if (fault != WIRE_OK) {
        return wire_refuse(error, ERROR_bad_message, "%s (at byte %zu of %zu)",
                           wire_fault_text(fault), offset, size);
    }
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        request->values[i] = (WireValue){.number = protocol_fields[i].standard};
    }
    const uint8_t *end = bytes + size;
    if (!decode_head(bytes, end, request, error) || !decode_fields(bytes, end, request, error)) {
        return false;
    }
    uint64_t missing = protocol_needs[request->op] & ~request->given;
    if (missing != 0) {
        char list[WIRE_MESSAGE_MAX / 2];
        list_fields(missing, list, sizeof list);
        return wire_refuse(error, ERROR_bad_request, "%s: needs %s",
                           protocol_operations[request->op].name, list);
    }
    return true;
}

/* ---- Texts ---- */

/* No field of text has room for more: its size was checked. */
static void copy_text(const uint8_t *bytes, uint32_t size, char out[WIRE_TEXT_MAX])
{
    assert(size < WIRE_TEXT_MAX);
    if (size > 0) {
        memcpy(out, bytes, size);
    }
    out[size] = '\0';
}

void request_text(const Request *request, Field field, char out[WIRE_TEXT_MAX])
{
    copy_text(request->values[field].bytes, request->values[field].size, out);
}

void request_text_at(const Request *request, Field field, uint32_t index, char out[WIRE_TEXT_MAX])
{
    const WireValue *value = &request->values[field];
    const uint8_t *at = value->bytes;
    const uint8_t *end = at + value->size;
    WireItem item = {.kind = WIRE_NIL};
    for (uint32_t i = 0; i <= index; i++) {
        wire_item(&at, end, &item);
    }
    copy_text(item.bytes, item.size, out);
}

void request_file_at(const Request *request, Field field, uint32_t index, char name[WIRE_TEXT_MAX],
                     const uint8_t **bytes, uint32_t *size)
{
    const WireValue *value = &request->values[field];
    const uint8_t *at = value->bytes;
    const uint8_t *end = at + value->size;
    WireItem key = {.kind = WIRE_NIL};
    WireItem content = {.kind = WIRE_NIL};
    for (uint32_t i = 0; i <= index; i++) {
        wire_item(&at, end, &key);
        wire_item(&at, end, &content);
    }
    copy_text(key.bytes, key.size, name);
    *bytes = content.bytes;
    *size = content.size;
}
