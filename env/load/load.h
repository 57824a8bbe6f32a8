/* Parsing JSON text into the plain documents that games read. */
#pragma once

#include "core/doc.h"

/* Limits of what is parsed; beyond them the status is TY_LIMIT. */
enum {
    LOAD_BYTES_MAX = 1 << 20,
    LOAD_DEPTH_MAX = 16,        /* lists and objects within each other, and the value inside */
    LOAD_NODES_MAX = 65536,     /* values: members, entries and the document itself */
    LOAD_REAL_MAX = 1000000000, /* magnitude of a number with a fraction */
};

/* Parses `bytes`; on success the caller frees `doc` with load_free. A syntax error names line and
 * column. Numbers with a fraction are rounded to thousandths. On failure `doc` is empty. */
TyStatus load_json(const char *bytes, size_t size, TyDoc *doc);
/* Frees the nodes and every string in them; an empty document is left alone. */
void load_free(TyDoc *doc);
