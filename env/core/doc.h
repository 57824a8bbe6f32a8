/* A parsed JSON document as plain nodes, so that games can read files without a JSON library. */
#pragma once

#include "trainyard.h"

typedef enum DocKind {
    DOC_NULL,
    DOC_FLAG,
    DOC_INT,
    DOC_REAL, /* `number` is in thousandths */
    DOC_TEXT,
    DOC_LIST,
    DOC_MAP,
} DocKind;

typedef struct DocNode {
    DocKind kind;
    const char *key;  /* in a map; otherwise NULL */
    const char *text; /* DOC_TEXT */
    int64_t number;   /* DOC_FLAG, DOC_INT, DOC_REAL */
    uint32_t parent;
    uint32_t index;       /* among its siblings */
    uint32_t child_count; /* DOC_LIST, DOC_MAP */
    uint32_t first;       /* first child; 0 if none */
    uint32_t next;        /* next sibling; 0 if none */
} DocNode;

/* Node 0 is the root. `hash` is of the bytes that were parsed. */
typedef struct Doc {
    const DocNode *nodes;
    uint32_t count;
    uint64_t hash;
} Doc;

/* The member `key` of map `node`; NULL if there is none. */
const DocNode *doc_get(const Doc *doc, const DocNode *node, const char *key);
/* The first child and the next sibling; NULL at the end. */
const DocNode *doc_first(const Doc *doc, const DocNode *node);
const DocNode *doc_next(const Doc *doc, const DocNode *node);
/* "segments[3].lights[0].gap" */
void doc_path(const Doc *doc, const DocNode *node, char *out, size_t size);

/* Readers of required members. The first failure is kept in `status` with the path of the field;
 * later calls then do nothing and return a harmless value, so that a parser can check once. */
const char *doc_read_text(const Doc *doc, const DocNode *node, const char *key, TyStatus *status);
int32_t doc_read_int(const Doc *doc, const DocNode *node, const char *key, int32_t minimum,
                     int32_t maximum, TyStatus *status);
bool doc_read_flag(const Doc *doc, const DocNode *node, const char *key, TyStatus *status);
const DocNode *doc_read_list(const Doc *doc, const DocNode *node, const char *key, uint32_t minimum,
                             uint32_t maximum, TyStatus *status);
/* Sets `status` to a failure at `node` unless it has one already. */
void doc_fail(const Doc *doc, const DocNode *node, TyStatus *status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Fails at the first member of map `node` that is not in the NULL-terminated list. */
void doc_known_keys(const Doc *doc, const DocNode *node, const char *const *keys, TyStatus *status);
