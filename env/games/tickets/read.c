/* Small readers of map files. */
#include "games/tickets/read.h"

#include <string.h>

static uint16_t name_add(Reader *reader, const DocNode *node, const char *text)
{
    TicketsTables *tables = reader->tables;
    if (tables->names_size == 0) {
        tables->names_size = 1; /* offset 0 is the empty name */
    }
    size_t size = strlen(text) + 1;
    if (size > (size_t)(TICKETS_NAMES_SIZE - tables->names_size)) {
        doc_fail(reader->doc, node, &reader->status, "all names together exceed %d bytes",
                 (int)TICKETS_NAMES_SIZE);
        return 0;
    }
    uint16_t name = tables->names_size;
    memcpy(tables->names + name, text, size);
    tables->names_size = (uint16_t)(name + size);
    return name;
}

uint16_t tickets_read_id_at(Reader *reader, const DocNode *node)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_./~+-";
    if (reader_ok(reader) && node->kind != DOC_TEXT) {
        doc_fail(reader->doc, node, &reader->status, "must be a text");
    }
    if (!reader_ok(reader)) {
        return 0;
    }
    size_t length = strlen(node->text);
    if (length == 0 || length > TICKETS_ID_MAX || strspn(node->text, characters) != length) {
        doc_fail(reader->doc, node, &reader->status,
                 "must be 1 to %d characters of a-z 0-9 _./~+-, not \"%s\"", (int)TICKETS_ID_MAX,
                 node->text);
        return 0;
    }
    return name_add(reader, node, node->text);
}

uint16_t tickets_read_id(Reader *reader, const DocNode *node, const char *key)
{
    doc_read_text(reader->doc, node, key, &reader->status);
    return reader_ok(reader) ? tickets_read_id_at(reader, doc_get(reader->doc, node, key)) : 0;
}

/* Whether `text` has a byte that would break a line or a terminal. */
static bool text_has_control(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7f) {
            return true;
        }
    }
    return false;
}

const char *tickets_read_line(Reader *reader, const DocNode *node, const char *key, size_t size_max)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    size_t length = strlen(text);
    if (reader_ok(reader) && (length == 0 || length > size_max || text_has_control(text))) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "must be one line of 1 to %zu bytes, not \"%s\"", size_max, text);
    }
    return text;
}

uint16_t tickets_read_title(Reader *reader, const DocNode *node, const char *key)
{
    const char *text = tickets_read_line(reader, node, key, TICKETS_TITLE_MAX);
    return reader_ok(reader) ? name_add(reader, doc_get(reader->doc, node, key), text) : 0;
}

uint8_t tickets_read_byte(Reader *reader, const DocNode *node, const char *key, uint8_t minimum,
                          uint8_t maximum)
{
    return (uint8_t)doc_read_int(reader->doc, node, key, minimum, maximum, &reader->status);
}

/* The place of `text` among the names; `count` if it is not there. */
static uint32_t name_find(const Reader *reader, const char *text, const uint16_t *names,
                          uint32_t count)
{
    uint32_t index = 0;
    while (index < count && strcmp(reader->tables->names + names[index], text) != 0) {
        index++;
    }
    return index;
}

uint8_t tickets_read_name(Reader *reader, const DocNode *node, const char *key,
                          const uint16_t *names, uint32_t count)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    if (!reader_ok(reader)) {
        return 0;
    }
    uint32_t index = name_find(reader, text, names, count);
    if (index == count) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "\"%s\" is not in the file", text);
        return 0;
    }
    return (uint8_t)index;
}

void tickets_read_unique(Reader *reader, const DocNode *node, uint16_t name, const uint16_t *names,
                         uint32_t count)
{
    const char *text = reader->tables->names + name;
    if (reader_ok(reader) && name_find(reader, text, names, count) < count) {
        doc_fail(reader->doc, node, &reader->status, "\"%s\" is there twice", text);
    }
}

uint32_t tickets_read_numbers(Reader *reader, const DocNode *list, uint8_t *numbers,
                              uint8_t minimum, uint8_t maximum)
{
    uint32_t count = 0;
    for (const DocNode *entry = doc_first(reader->doc, list); entry != NULL && reader_ok(reader);
         entry = doc_next(reader->doc, entry)) {
        if (entry->kind != DOC_INT || entry->number < minimum || entry->number > maximum) {
            doc_fail(reader->doc, entry, &reader->status, "must be a whole number from %u to %u",
                     minimum, maximum);
        }
        numbers[count++] = (uint8_t)entry->number;
    }
    return count;
}
