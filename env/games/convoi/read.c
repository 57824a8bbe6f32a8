/* Small readers that board files and deck files share. */
#include "games/convoi/read.h"

#include <string.h>

/* The characters of an id, and how a message calls them. */
typedef struct Alphabet {
    const char *characters;
    const char *title;
} Alphabet;

#define ID_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_./~+-"

static const Alphabet ID_ALPHABET = {ID_CHARACTERS, "a-z 0-9 _./~+-"};
static const Alphabet CARD_ALPHABET = {ID_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                       "A-Z a-z 0-9 _./~+-"};

uint16_t convoi_name_add(Reader *reader, const DocNode *node, const char *text)
{
    ConvoiTables *tables = reader->tables;
    if (tables->names_size == 0) {
        tables->names_size = 1; /* offset 0 is the empty name */
    }
    size_t size = strlen(text) + 1;
    if (size > (size_t)(CONVOI_NAMES_SIZE - tables->names_size)) {
        doc_fail(reader->doc, node, &reader->status, "all names together exceed %d bytes",
                 (int)CONVOI_NAMES_SIZE);
        return 0;
    }
    uint16_t name = tables->names_size;
    memcpy(tables->names + name, text, size);
    tables->names_size = (uint16_t)(name + size);
    return name;
}

bool convoi_name_find(const ConvoiTables *tables, const uint16_t *names, uint32_t count,
                      const char *text, uint8_t *index)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tables->names + names[i], text) == 0) {
            *index = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static uint16_t read_id_of(Reader *reader, const DocNode *node, const char *key, Alphabet alphabet)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    if (!reader_ok(reader)) {
        return 0;
    }
    const DocNode *member = doc_get(reader->doc, node, key);
    size_t length = strlen(text);
    if (length == 0 || length > CONVOI_ID_MAX || strspn(text, alphabet.characters) != length) {
        doc_fail(reader->doc, member, &reader->status,
                 "must be 1 to %d characters of %s, not \"%s\"", (int)CONVOI_ID_MAX, alphabet.title,
                 text);
        return 0;
    }
    return convoi_name_add(reader, member, text);
}

uint16_t convoi_read_id(Reader *reader, const DocNode *node, const char *key)
{
    return read_id_of(reader, node, key, ID_ALPHABET);
}

uint16_t convoi_read_card_id(Reader *reader, const DocNode *node, const char *key)
{
    return read_id_of(reader, node, key, CARD_ALPHABET);
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

/* Reads member `key` as one line of at most `size_max` bytes. */
static const char *read_line(Reader *reader, const DocNode *node, const char *key, int size_max)
{
    const char *text = doc_read_text(reader->doc, node, key, &reader->status);
    size_t length = strlen(text);
    if (reader_ok(reader) && (length == 0 || length > (size_t)size_max || text_has_control(text))) {
        doc_fail(reader->doc, doc_get(reader->doc, node, key), &reader->status,
                 "must be one line of 1 to %d bytes, not \"%s\"", size_max, text);
    }
    return text;
}

uint16_t convoi_read_title(Reader *reader, const DocNode *node, const char *key)
{
    const char *text = read_line(reader, node, key, CONVOI_TITLE_MAX);
    return reader_ok(reader) ? convoi_name_add(reader, doc_get(reader->doc, node, key), text) : 0;
}

const char *convoi_read_entry(Reader *reader, const DocNode *node)
{
    if (node->kind != DOC_TEXT) {
        doc_fail(reader->doc, node, &reader->status, "must be a text");
        return "";
    }
    return node->text;
}

/* Fails at `node` with the list of the words that it may be. */
static void fail_word(Reader *reader, const DocNode *node, const char *const *words)
{
    char list[TY_NAME_MAX];
    Text text = text_init(list, sizeof list);
    for (uint32_t i = 0; words[i] != NULL; i++) {
        text_add(&text, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
    }
    doc_fail(reader->doc, node, &reader->status, "must be one of %s, not \"%s\"", list, node->text);
}

uint8_t convoi_read_word(Reader *reader, const DocNode *node, const char *const *words)
{
    const char *text = convoi_read_entry(reader, node);
    if (!reader_ok(reader)) {
        return 0;
    }
    for (uint8_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    fail_word(reader, node, words);
    return 0;
}

uint16_t convoi_read_head(Reader *reader, const char *format)
{
    const DocNode *root = reader->doc->nodes;
    const char *word = doc_read_text(reader->doc, root, "format", &reader->status);
    if (reader_ok(reader) && strcmp(word, format) != 0) {
        doc_fail(reader->doc, doc_get(reader->doc, root, "format"), &reader->status,
                 "must be \"%s\", not \"%s\"", format, word);
    }
    if (doc_get(reader->doc, root, "status") != NULL) {
        read_line(reader, root, "status", CONVOI_STATUS_MAX);
    }
    return convoi_read_id(reader, root, "name");
}
