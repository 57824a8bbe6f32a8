/* A parsed JSON document as plain nodes, so that games can read files without a JSON library. */
#pragma once

#include "base.h"

/* What a node is. */
typedef enum TyDocKind {
    TY_DOC_NULL,
    TY_DOC_FLAG,
    TY_DOC_INT,
    TY_DOC_REAL, /* `number` is in thousandths */
    TY_DOC_TEXT,
    TY_DOC_LIST,
    TY_DOC_MAP,
} TyDocKind;

/* A value of a document. `parent`, `first` and `next` are indices of nodes. */
typedef struct TyDocNode {
    TyDocKind kind;
    const char *key;  /* in a map; otherwise NULL */
    const char *text; /* TY_DOC_TEXT */
    int64_t number;   /* TY_DOC_FLAG, TY_DOC_INT, TY_DOC_REAL */
    uint32_t parent;
    uint32_t index;       /* among its siblings */
    uint32_t child_count; /* TY_DOC_LIST, TY_DOC_MAP */
    uint32_t first;       /* first child; 0 if none */
    uint32_t next;        /* next sibling; 0 if none */
} TyDocNode;

/* A parsed document: node 0 is the root, `hash` is that of the parsed bytes. The library owns the
 * nodes and their strings; a game must copy what it keeps. */
typedef struct TyDoc {
    const TyDocNode *nodes;
    uint32_t count;
    uint64_t hash;
} TyDoc;

/* The member `key` of map `node`; NULL if there is none. */
TY_API const TyDocNode *ty_doc_get(const TyDoc *doc, const TyDocNode *node, const char *key);
/* The first child of a list or map; NULL if it is empty.
 *
 *     for (entry = ty_doc_first(doc, list); entry != NULL; entry = ty_doc_next(doc, entry)) {
 *         read_entry(doc, entry);
 *     } */
TY_API const TyDocNode *ty_doc_first(const TyDoc *doc, const TyDocNode *node);
/* The next sibling; NULL behind the last. */
TY_API const TyDocNode *ty_doc_next(const TyDoc *doc, const TyDocNode *node);
/* What a kind is called in messages: "a whole number", "a list". */
TY_API const char *ty_doc_kind_title(TyDocKind kind);
/* Writes where a node is, such as "segments[3].lights[0].gap", into `size` bytes at `out`. */
TY_API void ty_doc_path(const TyDoc *doc, const TyDocNode *node, char *out, size_t size);

/* Sets `status` to TY_BAD_FILE with the path of `node` and a message as printf writes it, unless it
 * has a failure already. */
TY_API void ty_doc_fail(const TyDoc *doc, const TyDocNode *node, TyStatus *status,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Fails, as ty_doc_fail does, at the first member of map `node` that is not in the NULL-terminated
 * list of keys. */
TY_API void ty_doc_known_keys(const TyDoc *doc, const TyDocNode *node, const char *const *keys,
                              TyStatus *status);
