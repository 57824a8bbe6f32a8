/* Parsing JSON text into the plain documents that games read, by way of jansson. */
#include "load/load.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/status.h"

/* What stands behind a document: the strings of the nodes belong to `json`. */
typedef struct Block {
    json_t *json;
    TyDocNode nodes[];
} Block;

/* The jansson value that a node was or will be made from. */
typedef struct Source {
    json_t *value;
    uint32_t depth;
} Source;

/* A document in the making. The nodes are their own queue: each one appends its children, so that
 * siblings lie side by side and nothing recurses. `sources` runs along with `nodes`. */
typedef struct Conversion {
    TyDocNode *nodes;
    Source *sources;
    uint32_t count;
    uint32_t capacity;
    TyStatus status;
} Conversion;

/* Every value takes at least one byte and one bracket or comma. */
static uint32_t capacity_for(size_t size)
{
    size_t most = size / 2 + 1;
    return most < LOAD_NODES_MAX ? (uint32_t)most : LOAD_NODES_MAX;
}

static TyDocKind kind_from_json(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return TY_DOC_MAP;
    case JSON_ARRAY:
        return TY_DOC_LIST;
    case JSON_STRING:
        return TY_DOC_TEXT;
    case JSON_INTEGER:
        return TY_DOC_INT;
    case JSON_REAL:
        return TY_DOC_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return TY_DOC_FLAG;
    case JSON_NULL:
        break;
    }
    return TY_DOC_NULL;
}

static int64_t thousandths_from_real(double value, TyStatus *status)
{
    if (!(fabs(value) <= (double)LOAD_REAL_MAX)) {
        *status = ty_status_fail(TY_LIMIT, "the number %g is beyond %d", value, (int)LOAD_REAL_MAX);
        return 0;
    }
    return llround(value * 1000.0);
}

static void node_set_value(Conversion *conversion, TyDocNode *node, const json_t *value)
{
    node->kind = kind_from_json(value);
    if (node->kind == TY_DOC_TEXT) {
        node->text = json_string_value(value);
    } else if (node->kind == TY_DOC_INT) {
        node->number = json_integer_value(value);
    } else if (node->kind == TY_DOC_REAL) {
        node->number = thousandths_from_real(json_real_value(value), &conversion->status);
    } else if (node->kind == TY_DOC_FLAG) {
        node->number = json_is_true(value);
    }
}

/* Appends `value` as a node without family; false, with the status set, if a limit is passed. */
static bool node_append(Conversion *conversion, json_t *value, uint32_t depth)
{
    if (depth > LOAD_DEPTH_MAX) {
        conversion->status =
            ty_status_fail(TY_LIMIT, "nested more than %d levels deep", (int)LOAD_DEPTH_MAX);
        return false;
    }
    if (conversion->count == conversion->capacity) {
        conversion->status = ty_status_fail(TY_LIMIT, "more than %u values", conversion->capacity);
        return false;
    }
    uint32_t at = conversion->count++;
    conversion->nodes[at] = (TyDocNode){.kind = TY_DOC_NULL};
    conversion->sources[at] = (Source){.value = value, .depth = depth};
    node_set_value(conversion, &conversion->nodes[at], value);
    return conversion->status.code == TY_OK;
}

/* Appends one child of node `parent` and ties it to its family. */
static bool child_append(Conversion *conversion, uint32_t parent, const char *key, json_t *value)
{
    if (!node_append(conversion, value, conversion->sources[parent].depth + 1)) {
        return false;
    }
    uint32_t at = conversion->count - 1;
    TyDocNode *family = &conversion->nodes[parent];
    if (family->child_count == 0) {
        family->first = at;
    } else {
        conversion->nodes[at - 1].next = at;
    }
    conversion->nodes[at].key = key;
    conversion->nodes[at].parent = parent;
    conversion->nodes[at].index = family->child_count++;
    return true;
}

static void children_append(Conversion *conversion, uint32_t parent)
{
    json_t *value = conversion->sources[parent].value;
    const char *key;
    json_t *child;
    size_t index;
    if (json_is_object(value)) {
        json_object_foreach(value, key, child)
        {
            if (!child_append(conversion, parent, key, child)) {
                return;
            }
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, child)
        {
            if (!child_append(conversion, parent, NULL, child)) {
                return;
            }
        }
    }
}

static void conversion_run(Conversion *conversion, json_t *root)
{
    node_append(conversion, root, 1);
    for (uint32_t at = 0; at < conversion->count && conversion->status.code == TY_OK; at++) {
        children_append(conversion, at);
    }
}

/* Makes `doc` from `json`, which it owns on success. */
static TyStatus doc_from_json(json_t *json, uint32_t capacity, TyDoc *doc)
{
    Block *block = malloc(sizeof *block + capacity * sizeof block->nodes[0]);
    Source *sources = malloc(capacity * sizeof *sources);
    if (block == NULL || sources == NULL) {
        free(block);
        free(sources);
        return ty_status_fail(TY_NO_MEMORY, "no memory for a document");
    }
    Conversion conversion = {.nodes = block->nodes, .sources = sources, .capacity = capacity};
    conversion_run(&conversion, json);
    free(sources);
    if (conversion.status.code != TY_OK) {
        free(block);
        return conversion.status;
    }
    block->json = json;
    doc->nodes = block->nodes;
    doc->count = conversion.count;
    /* cppcheck-suppress memleak ; load_free() finds the block from its nodes */
    return ty_status_ok();
}

static TyStatus status_from_json_error(const json_error_t *error)
{
    /* Mostly jansson says nothing at all when it runs out of memory. */
    if (error->text[0] == '\0' || json_error_code(error) == json_error_out_of_memory) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a document");
    }
    TyCode code = json_error_code(error) == json_error_stack_overflow ? TY_LIMIT : TY_BAD_FILE;
    return ty_status_fail(code, "line %d, column %d: %s", error->line, error->column, error->text);
}

TyStatus load_json(const char *bytes, size_t size, TyDoc *doc)
{
    *doc = (TyDoc){.nodes = NULL};
    if (size > LOAD_BYTES_MAX) {
        return ty_status_fail(TY_LIMIT, "%zu bytes are more than the %d that a file may have", size,
                              (int)LOAD_BYTES_MAX);
    }
    json_error_t error;
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) {
        return status_from_json_error(&error);
    }
    TyStatus status = doc_from_json(json, capacity_for(size), doc);
    if (status.code != TY_OK) {
        json_decref(json);
        return status;
    }
    doc->hash = hash_bytes(0, (const uint8_t *)bytes, size);
    return ty_status_ok();
}

void load_free(TyDoc *doc)
{
    if (doc->nodes == NULL) {
        return;
    }
    /* The nodes are the tail of their block. */
    Block *block = (Block *)((char *)(uintptr_t)doc->nodes - offsetof(Block, nodes));
    json_decref(block->json);
    free(block);
    *doc = (TyDoc){.nodes = NULL};
}
