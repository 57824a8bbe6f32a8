/* Reading parsed documents: lookups, checked members, and failures that name their field. */
#include "core/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

enum {
    DOC_PATH_SIZE = 128, /* bytes of a path in a message; a longer one is cut */
};

/* What the readers return after a failure. */
static const DocNode EMPTY_LIST = {.kind = DOC_LIST};

static const char *kind_title(DocKind kind)
{
    switch (kind) {
    case DOC_NULL:
        return "null";
    case DOC_FLAG:
        return "true or false";
    case DOC_INT:
        return "a whole number";
    case DOC_REAL:
        return "a number with a fraction";
    case DOC_TEXT:
        return "a text";
    case DOC_LIST:
        return "a list";
    case DOC_MAP:
        return "an object";
    }
    return "";
}

const DocNode *doc_first(const Doc *doc, const DocNode *node)
{
    return node->first != 0 ? &doc->nodes[node->first] : NULL;
}

const DocNode *doc_next(const Doc *doc, const DocNode *node)
{
    return node->next != 0 ? &doc->nodes[node->next] : NULL;
}

const DocNode *doc_get(const Doc *doc, const DocNode *node, const char *key)
{
    if (node->kind != DOC_MAP) {
        return NULL;
    }
    const DocNode *member = doc_first(doc, node);
    while (member != NULL && strcmp(member->key, key) != 0) {
        member = doc_next(doc, member);
    }
    return member;
}

/* How many steps the node is below the root. */
static uint32_t node_depth(const Doc *doc, const DocNode *node)
{
    uint32_t depth = 0;
    while (node != doc->nodes) {
        node = &doc->nodes[node->parent];
        depth++;
    }
    return depth;
}

static const DocNode *node_ancestor(const Doc *doc, const DocNode *node, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        node = &doc->nodes[node->parent];
    }
    return node;
}

void doc_path(const Doc *doc, const DocNode *node, char *out, size_t size)
{
    Text text = text_init(out, size);
    for (uint32_t depth = node_depth(doc, node); depth > 0; depth--) {
        const DocNode *part = node_ancestor(doc, node, depth - 1);
        if (part->key == NULL) {
            text_add(&text, "[%u]", part->index);
        } else {
            text_add(&text, text.length > 0 ? ".%s" : "%s", part->key);
        }
    }
}

/* Takes a last character that is not ASCII off a full message that was cut: it may be incomplete.
 * Every message begins with ASCII. */
static void message_trim(char *message)
{
    size_t length = strlen(message);
    while (((unsigned char)message[length - 1] & 0xc0) == 0x80) {
        length--;
    }
    if ((unsigned char)message[length - 1] >= 0xc0) {
        length--;
    }
    message[length] = '\0';
}

void doc_fail(const Doc *doc, const DocNode *node, TyStatus *status, const char *format, ...)
{
    if (status->code != TY_OK) {
        return;
    }
    char path[DOC_PATH_SIZE];
    doc_path(doc, node, path, sizeof path);
    status->code = TY_BAD_FILE;
    Text text = text_init(status->message, sizeof status->message);
    text_add(&text, path[0] != '\0' ? "%s: " : "%s", path);

    size_t room = sizeof status->message - text.length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(status->message + text.length, room, format, args);
    va_end(args);
    if ((size_t)length >= room) {
        message_trim(status->message);
    }
}

/* The member `key` if it is of `kind`; otherwise NULL and a failure. */
static const DocNode *member_read(const Doc *doc, const DocNode *node, const char *key,
                                  DocKind kind, TyStatus *status)
{
    if (status->code != TY_OK) {
        return NULL;
    }
    const DocNode *member = doc_get(doc, node, key);
    if (member == NULL) {
        doc_fail(doc, node, status, "\"%s\" is missing", key);
        return NULL;
    }
    if (member->kind != kind) {
        doc_fail(doc, member, status, "must be %s, not %s", kind_title(kind),
                 kind_title(member->kind));
        return NULL;
    }
    return member;
}

const char *doc_read_text(const Doc *doc, const DocNode *node, const char *key, TyStatus *status)
{
    const DocNode *member = member_read(doc, node, key, DOC_TEXT, status);
    return member != NULL ? member->text : "";
}

int32_t doc_read_int(const Doc *doc, const DocNode *node, const char *key, int32_t minimum,
                     int32_t maximum, TyStatus *status)
{
    const DocNode *member = member_read(doc, node, key, DOC_INT, status);
    if (member == NULL) {
        return minimum;
    }
    if (member->number < minimum || member->number > maximum) {
        doc_fail(doc, member, status, "must be a whole number from %d to %d, not %lld", minimum,
                 maximum, (long long)member->number);
        return minimum;
    }
    return (int32_t)member->number;
}

bool doc_read_flag(const Doc *doc, const DocNode *node, const char *key, TyStatus *status)
{
    const DocNode *member = member_read(doc, node, key, DOC_FLAG, status);
    return member != NULL && member->number != 0;
}

const DocNode *doc_read_list(const Doc *doc, const DocNode *node, const char *key, uint32_t minimum,
                             uint32_t maximum, TyStatus *status)
{
    const DocNode *member = member_read(doc, node, key, DOC_LIST, status);
    if (member == NULL) {
        return &EMPTY_LIST;
    }
    if (member->child_count >= minimum && member->child_count <= maximum) {
        return member;
    }
    if (minimum == maximum) {
        doc_fail(doc, member, status, "must have %u entries, not %u", minimum, member->child_count);
    } else {
        doc_fail(doc, member, status, "must have %u to %u entries, not %u", minimum, maximum,
                 member->child_count);
    }
    return &EMPTY_LIST;
}

static bool key_known(const char *const *keys, const char *key)
{
    while (*keys != NULL && strcmp(*keys, key) != 0) {
        keys++;
    }
    return *keys != NULL;
}

void doc_known_keys(const Doc *doc, const DocNode *node, const char *const *keys, TyStatus *status)
{
    if (node->kind != DOC_MAP) {
        doc_fail(doc, node, status, "must be an object, not %s", kind_title(node->kind));
        return;
    }
    for (const DocNode *member = doc_first(doc, node); member != NULL;
         member = doc_next(doc, member)) {
        if (!key_known(keys, member->key)) {
            doc_fail(doc, node, status, "unknown key \"%s\"", member->key);
            return;
        }
    }
}
