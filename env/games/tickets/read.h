/* Small readers of map files. */
#pragma once

#include "games/tickets/tickets.h"

enum {
    TICKETS_ID_MAX = 60,      /* characters of an id */
    TICKETS_TITLE_MAX = 60,   /* bytes of a title */
    TICKETS_STATUS_MAX = 150, /* bytes of the text that says what is a reconstruction */
};

/* A file being read. Every reader does nothing once `status` has a failure. */
typedef struct Reader {
    const Doc *doc;
    TicketsTables *tables;
    TyStatus status;
} Reader;

static inline bool reader_ok(const Reader *reader)
{
    return reader->status.code == TY_OK;
}

/* Keeps `text`, which stands at `node` and must be an id, in the name table. */
uint16_t tickets_read_id_at(Reader *reader, const DocNode *node);
/* Reads member `key` as an id or as a title, and keeps it in the name table. */
uint16_t tickets_read_id(Reader *reader, const DocNode *node, const char *key);
uint16_t tickets_read_title(Reader *reader, const DocNode *node, const char *key);
/* Checks member `key` as one line of at most `size_max` bytes. */
const char *tickets_read_line(Reader *reader, const DocNode *node, const char *key,
                              size_t size_max);
/* Reads member `key` as a whole number in a range that fits a byte. */
uint8_t tickets_read_byte(Reader *reader, const DocNode *node, const char *key, uint8_t minimum,
                          uint8_t maximum);
/* Reads member `key` as one of `count` names of the name table; 0 and a failure if it is none. */
uint8_t tickets_read_name(Reader *reader, const DocNode *node, const char *key,
                          const uint16_t *names, uint32_t count);
/* Fails at `node` if `name` is one of the `count` names. */
void tickets_read_unique(Reader *reader, const DocNode *node, uint16_t name, const uint16_t *names,
                         uint32_t count);
/* Reads member `key` as a list of whole numbers from `minimum` on; returns how many there are. */
uint32_t tickets_read_numbers(Reader *reader, const DocNode *list, uint8_t *numbers,
                              uint8_t minimum, uint8_t maximum);
