/* Reading a board, map or deck. */
#include "kit/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ID_LOWER "abcdefghijklmnopqrstuvwxyz0123456789_./~+-"
#define ID_UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* What the readers return after a failure. */
static const TyDocNode EMPTY_LIST = {.kind = TY_DOC_LIST};
static const TyDocNode EMPTY_MAP = {.kind = TY_DOC_MAP};

void ty_read_fail(TyReader *reader, const TyDocNode *node, const char *format, ...)
{
    char message[2 * TY_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ty_doc_fail(reader->doc, node, &reader->status, "%s", message);
}

void ty_read_keys(TyReader *reader, const TyDocNode *node, const char *const *keys)
{
    ty_doc_known_keys(reader->doc, node, keys, &reader->status);
}

/* ---- Members -----------------------------------------------------------------------------------
 */

/* Member `key` if it is of `kind`; otherwise NULL and a failure. */
static const TyDocNode *member_read(TyReader *reader, const TyDocNode *node, const char *key,
                                    TyDocKind kind)
{
    const TyDocNode *member = ty_doc_get(reader->doc, node, key);
    if (member == NULL) {
        ty_read_fail(reader, node, "\"%s\" is missing", key);
    } else if (member->kind != kind) {
        ty_read_fail(reader, member, "must be %s, not %s", ty_doc_kind_title(kind),
                     ty_doc_kind_title(member->kind));
    }
    return ty_reader_ok(reader) ? member : NULL;
}

const char *ty_read_text(TyReader *reader, const TyDocNode *node, const char *key)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_TEXT);
    return member != NULL ? member->text : "";
}

int32_t ty_read_int(TyReader *reader, const TyDocNode *node, const char *key, int32_t minimum,
                    int32_t maximum)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_INT);
    if (member != NULL && (member->number < minimum || member->number > maximum)) {
        ty_read_fail(reader, member, "must be a whole number from %d to %d, not %lld", minimum,
                     maximum, (long long)member->number);
    }
    return ty_reader_ok(reader) ? (int32_t)member->number : minimum;
}

uint8_t ty_read_byte(TyReader *reader, const TyDocNode *node, const char *key, uint8_t minimum,
                     uint8_t maximum)
{
    return (uint8_t)ty_read_int(reader, node, key, minimum, maximum);
}

bool ty_read_flag(TyReader *reader, const TyDocNode *node, const char *key)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_FLAG);
    return member != NULL && member->number != 0;
}

const TyDocNode *ty_read_map(TyReader *reader, const TyDocNode *node, const char *key)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_MAP);
    return member != NULL ? member : &EMPTY_MAP;
}

const TyDocNode *ty_read_list(TyReader *reader, const TyDocNode *node, const char *key,
                              uint32_t minimum, uint32_t maximum)
{
    const TyDocNode *list = member_read(reader, node, key, TY_DOC_LIST);
    if (list == NULL) {
        return &EMPTY_LIST;
    }
    if (list->child_count >= minimum && list->child_count <= maximum) {
        return list;
    }
    if (minimum == maximum) {
        ty_read_fail(reader, list, "must have %u entries, not %u", minimum, list->child_count);
    } else {
        ty_read_fail(reader, list, "must have %u to %u entries, not %u", minimum, maximum,
                     list->child_count);
    }
    return &EMPTY_LIST;
}

const char *ty_read_entry(TyReader *reader, const TyDocNode *node)
{
    if (node->kind != TY_DOC_TEXT) {
        ty_read_fail(reader, node, "must be a text");
        return "";
    }
    return node->text;
}

uint32_t ty_read_numbers(TyReader *reader, const TyDocNode *list, uint8_t *numbers, uint8_t minimum,
                         uint8_t maximum)
{
    uint32_t count = 0;
    for (const TyDocNode *entry = ty_doc_first(reader->doc, list);
         entry != NULL && ty_reader_ok(reader); entry = ty_doc_next(reader->doc, entry)) {
        if (entry->kind != TY_DOC_INT || entry->number < minimum || entry->number > maximum) {
            ty_read_fail(reader, entry, "must be a whole number from %u to %u", minimum, maximum);
        }
        numbers[count++] = (uint8_t)entry->number;
    }
    return count;
}

/* Whether `text` has a byte that would break a line or a terminal. */
static bool text_has_control(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at >= 0x20 && *at != 0x7f) {
        at++;
    }
    return *at != '\0';
}

const char *ty_read_line(TyReader *reader, const TyDocNode *node, const char *key, size_t size_max)
{
    const char *text = ty_read_text(reader, node, key);
    size_t length = strlen(text);
    if (ty_reader_ok(reader) && (length == 0 || length > size_max || text_has_control(text))) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, key),
                     "must be one line of 1 to %zu bytes, not \"%s\"", size_max, text);
    }
    return text;
}

/* ---- Words -------------------------------------------------------------------------------------
 */

uint8_t ty_read_word_at(TyReader *reader, const TyDocNode *node, const char *const *words)
{
    const char *text = ty_read_entry(reader, node);
    for (uint8_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    char list[TY_NAME_MAX];
    TyText out = ty_text_init(list, sizeof list);
    for (uint32_t i = 0; words[i] != NULL; i++) {
        ty_text_add(&out, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
    }
    ty_read_fail(reader, node, "must be one of %s, not \"%s\"", list, text);
    return 0;
}

uint8_t ty_read_word(TyReader *reader, const TyDocNode *node, const char *key,
                     const char *const *words)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_TEXT);
    return member != NULL ? ty_read_word_at(reader, member, words) : 0;
}

/* ---- Names -------------------------------------------------------------------------------------
 */

uint16_t ty_name_keep(TyReader *reader, const TyDocNode *node, const char *text)
{
    TyNamePool *pool = reader->pool;
    size_t size = strlen(text) + 1;
    if (pool == NULL || !ty_reader_ok(reader)) {
        return 0;
    }
    pool->size = pool->size == 0 ? 1 : pool->size; /* offset 0 is the empty name */
    if (size > (size_t)(TY_POOL_SIZE - pool->size)) {
        ty_read_fail(reader, node, "all names together exceed %d bytes", (int)TY_POOL_SIZE);
        return 0;
    }
    uint16_t name = pool->size;
    memcpy(pool->bytes + name, text, size);
    pool->size = (uint16_t)(name + size);
    return name;
}

uint16_t ty_read_id_at(TyReader *reader, const TyDocNode *node, bool capitals)
{
    const char *text = ty_read_entry(reader, node);
    size_t length = strlen(text);
    size_t fitting = strspn(text, capitals ? ID_LOWER ID_UPPER : ID_LOWER);
    if (ty_reader_ok(reader) && (length == 0 || length > TY_ID_MAX || fitting != length)) {
        ty_read_fail(reader, node, "must be 1 to %d characters of %sa-z 0-9 _./~+-, not \"%s\"",
                     (int)TY_ID_MAX, capitals ? "A-Z " : "", text);
    }
    return ty_name_keep(reader, node, text);
}

uint16_t ty_read_id(TyReader *reader, const TyDocNode *node, const char *key)
{
    const TyDocNode *member = member_read(reader, node, key, TY_DOC_TEXT);
    return member != NULL ? ty_read_id_at(reader, member, false) : 0;
}

uint16_t ty_read_title(TyReader *reader, const TyDocNode *node, const char *key)
{
    const char *text = ty_read_line(reader, node, key, TY_TITLE_MAX);
    return ty_reader_ok(reader) ? ty_name_keep(reader, node, text) : 0;
}

void ty_read_position(TyReader *reader, const TyDocNode *node, int32_t xy[2])
{
    if (ty_doc_get(reader->doc, node, "xy") == NULL) {
        return;
    }
    const TyDocNode *list = ty_read_list(reader, node, "xy", 2, 2);
    for (const TyDocNode *entry = ty_doc_first(reader->doc, list); entry != NULL;
         entry = ty_doc_next(reader->doc, entry)) {
        int64_t limit = TY_POSITION_MAX * (entry->kind == TY_DOC_REAL ? 1000 : 1);
        if (entry->kind != TY_DOC_INT && entry->kind != TY_DOC_REAL) {
            ty_read_fail(reader, entry, "must be a number");
        } else if (entry->number < -limit || entry->number > limit) {
            ty_read_fail(reader, entry, "must be from -%d to %d", (int)TY_POSITION_MAX,
                         (int)TY_POSITION_MAX);
        } else {
            xy[entry->index] =
                (int32_t)(entry->kind == TY_DOC_REAL ? entry->number : 1000 * entry->number);
        }
    }
}

uint32_t ty_name_find(const TyNamePool *pool, const uint16_t *names, uint32_t count,
                      const char *text)
{
    uint32_t index = 0;
    while (index < count && strcmp(pool->bytes + names[index], text) != 0) {
        index++;
    }
    return index;
}

uint8_t ty_read_name(TyReader *reader, const TyDocNode *node, const char *key,
                     const uint16_t *names, uint32_t count)
{
    const char *text = ty_read_text(reader, node, key);
    uint32_t index = ty_name_find(reader->pool, names, count, text);
    if (index < count) {
        return (uint8_t)index;
    }
    if (ty_reader_ok(reader)) {
        ty_read_fail(reader, ty_doc_get(reader->doc, node, key), "\"%s\" is not in the file", text);
    }
    return 0;
}

void ty_read_unique(TyReader *reader, const TyDocNode *node, uint16_t name, const uint16_t *names,
                    uint32_t count)
{
    const char *text = reader->pool->bytes + name;
    if (ty_reader_ok(reader) && ty_name_find(reader->pool, names, count, text) < count) {
        ty_read_fail(reader, node, "\"%s\" is there twice", text);
    }
}
