/* Small readers that board files and deck files share. */
#pragma once

#include "games/convoi/convoi.h"

enum {
    CONVOI_ID_MAX = 40,      /* characters of an id */
    CONVOI_TITLE_MAX = 60,   /* bytes of a title */
    CONVOI_STATUS_MAX = 150, /* bytes of the text that says what is a reconstruction */
};

/* A file being read. Every reader does nothing once `status` has a failure. */
typedef struct Reader {
    const Doc *doc;
    ConvoiTables *tables;
    TyStatus status;
} Reader;

static inline bool reader_ok(const Reader *reader)
{
    return reader->status.code == TY_OK;
}

/* Reads what every file begins with: "format", which must be `format`, "name", and "status", which
 * may be missing. Returns the name's offset. */
uint16_t convoi_read_head(Reader *reader, const char *format);
/* Reads member `key` as an id, as the id of a card, which may have capitals, or as a title, and
 * keeps it in the name table. */
uint16_t convoi_read_id(Reader *reader, const DocNode *node, const char *key);
uint16_t convoi_read_card_id(Reader *reader, const DocNode *node, const char *key);
uint16_t convoi_read_title(Reader *reader, const DocNode *node, const char *key);
/* The text of an entry of a list; "" and a failure if it is none. */
const char *convoi_read_entry(Reader *reader, const DocNode *node);
/* The index of text node `node` among `words`, which end with NULL; 0 and a failure if it is none
 * of them. */
uint8_t convoi_read_word(Reader *reader, const DocNode *node, const char *const *words);
/* Keeps `text`, which stands at `node`, in the name table. */
uint16_t convoi_name_add(Reader *reader, const DocNode *node, const char *text);
/* Looks for the name `text` among `count` names; false if it is not there. */
bool convoi_name_find(const ConvoiTables *tables, const uint16_t *names, uint32_t count,
                      const char *text, uint8_t *index);
