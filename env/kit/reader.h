/* Reading a board, map or deck: a game's `read` walks its document with these.
 *
 * After the first failure every reader does nothing and returns a harmless value ("", 0 or the
 * minimum, false, an empty list), so that a game checks once. A failure is TY_BAD_FILE and names
 * the field ("segments[3].lights[0].gap") and what is allowed. Strings and nodes belong to the
 * document.
 *
 *     TyReader reader = {.doc = doc, .pool = &tables->names};
 *     tables->wagons = ty_read_byte(&reader, doc->nodes, "wagons", 3, 60);
 *     return reader.status; */
#pragma once

#include "game.h"

/* Limits of texts in files. */
enum {
    TY_ID_MAX = 60,            /* characters of an id */
    TY_TITLE_MAX = 60,         /* bytes of a title */
    TY_POSITION_MAX = 1000000, /* magnitude of a coordinate */
    TY_REMARK_MAX = 150, /* bytes of the "status", which says what of a file is a reconstruction */
};

/* A document being read. Set `doc` and `pool`; the rest is zero. */
typedef struct TyReader {
    const TyDoc *doc;
    TyNamePool *pool; /* keeps the names; NULL: they are not kept */
    TyStatus status;
} TyReader;

/* Whether there has been no failure so far. */
static inline bool ty_reader_ok(const TyReader *reader)
{
    return reader->status.code == TY_OK;
}

/* Fails at `node` with a message as printf writes it, unless there is a failure already. */
TY_API void ty_read_fail(TyReader *reader, const TyDocNode *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails at the first member of `node` that is not in the NULL-terminated list. */
TY_API void ty_read_keys(TyReader *reader, const TyDocNode *node, const char *const *keys);

/* The text of member `key` of `node`, which must be there, as for the next readers. */
TY_API const char *ty_read_text(TyReader *reader, const TyDocNode *node, const char *key);
/* The number of member `key`: a whole number from `minimum` to `maximum`. */
TY_API int32_t ty_read_int(TyReader *reader, const TyDocNode *node, const char *key,
                           int32_t minimum, int32_t maximum);
/* The same for numbers that fit a byte. */
TY_API uint8_t ty_read_byte(TyReader *reader, const TyDocNode *node, const char *key,
                            uint8_t minimum, uint8_t maximum);
/* The flag of member `key`. */
TY_API bool ty_read_flag(TyReader *reader, const TyDocNode *node, const char *key);
/* The object that member `key` is. */
TY_API const TyDocNode *ty_read_map(TyReader *reader, const TyDocNode *node, const char *key);
/* The list that member `key` is, of `minimum` to `maximum` entries. */
TY_API const TyDocNode *ty_read_list(TyReader *reader, const TyDocNode *node, const char *key,
                                     uint32_t minimum, uint32_t maximum);
/* The text of `node`, an entry of a list. */
TY_API const char *ty_read_entry(TyReader *reader, const TyDocNode *node);
/* Fills `numbers` with the entries of a list, each from `minimum` to `maximum`, and returns how
 * many there are. `numbers` has room for the longest list that the game allows. */
TY_API uint32_t ty_read_numbers(TyReader *reader, const TyDocNode *list, uint8_t *numbers,
                                uint8_t minimum, uint8_t maximum);
/* The text of member `key`, which must be one line of 1 to `size_max` bytes. */
TY_API const char *ty_read_line(TyReader *reader, const TyDocNode *node, const char *key,
                                size_t size_max);
/* The index of the text of `node` in a NULL-terminated list of words. */
TY_API uint8_t ty_read_word_at(TyReader *reader, const TyDocNode *node, const char *const *words);
/* The index of the text of member `key` in a NULL-terminated list of words. */
TY_API uint8_t ty_read_word(TyReader *reader, const TyDocNode *node, const char *key,
                            const char *const *words);

/* Keeps the id in member `key` in the pool and returns its offset there. Ids have 1 to TY_ID_MAX
 * characters of `a-z 0-9 _./~+-`. */
TY_API uint16_t ty_read_id(TyReader *reader, const TyDocNode *node, const char *key);
/* Keeps the id in `node`; with `capitals` it may have `A-Z` too. */
TY_API uint16_t ty_read_id_at(TyReader *reader, const TyDocNode *node, bool capitals);
/* Keeps the title in member `key`: one line of 1 to TY_TITLE_MAX bytes. */
TY_API uint16_t ty_read_title(TyReader *reader, const TyDocNode *node, const char *key);
/* Reads member "xy", a pair of numbers, in thousandths, if there is one. The rules never look at
 * it. */
TY_API void ty_read_position(TyReader *reader, const TyDocNode *node, int32_t xy[2]);
/* Keeps `text` in the pool and returns its offset there. Fails at `node` if the pool is full. */
TY_API uint16_t ty_name_keep(TyReader *reader, const TyDocNode *node, const char *text);
/* The index of `text` among `count` kept names; `count` if it is not there. */
TY_API uint32_t ty_name_find(const TyNamePool *pool, const uint16_t *names, uint32_t count,
                             const char *text);
/* The index of member `key` among `count` names that were read before; a failure, and 0, if it is
 * none of them. */
TY_API uint8_t ty_read_name(TyReader *reader, const TyDocNode *node, const char *key,
                            const uint16_t *names, uint32_t count);
/* Fails at `node` if the kept name `name` is already one of the `count` names. */
TY_API void ty_read_unique(TyReader *reader, const TyDocNode *node, uint16_t name,
                           const uint16_t *names, uint32_t count);
