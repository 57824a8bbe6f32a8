/* Reading parsed documents: lookups, checked members, and failures that name their field. */
#include "core/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

enum {
    DOC_PATH_SIZE = 128, /* bytes of a path in a message; a longer one is cut */
};

const char *ty_doc_kind_title(TyDocKind kind)
{
    switch (kind) {
    case TY_DOC_NULL:
        return "null";
    case TY_DOC_FLAG:
        return "true or false";
    case TY_DOC_INT:
        return "a whole number";
    case TY_DOC_REAL:
        return "a number with a fraction";
    case TY_DOC_TEXT:
        return "a text";
    case TY_DOC_LIST:
        return "a list";
    case TY_DOC_MAP:
        return "an object";
    }
    return "";
}

const TyDocNode *ty_doc_first(const TyDoc *doc, const TyDocNode *node)
{
    return node->first != 0 ? &doc->nodes[node->first] : NULL;
}

const TyDocNode *ty_doc_next(const TyDoc *doc, const TyDocNode *node)
{
    return node->next != 0 ? &doc->nodes[node->next] : NULL;
}

const TyDocNode *ty_doc_get(const TyDoc *doc, const TyDocNode *node, const char *key)
{
    if (node->kind != TY_DOC_MAP) {
        return NULL;
    }
    const TyDocNode *member = ty_doc_first(doc, node);
    while (member != NULL && strcmp(member->key, key) != 0) {
        member = ty_doc_next(doc, member);
    }
    return member;
}

/* How many steps the node is below the root. */
static uint32_t node_depth(const TyDoc *doc, const TyDocNode *node)
{
    uint32_t depth = 0;
    while (node != doc->nodes) {
        node = &doc->nodes[node->parent];
        depth++;
    }
    return depth;
}

static const TyDocNode *node_ancestor(const TyDoc *doc, const TyDocNode *node, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        node = &doc->nodes[node->parent];
    }
    return node;
}

void ty_doc_path(const TyDoc *doc, const TyDocNode *node, char *out, size_t size)
{
    TyText text = ty_text_init(out, size);
    for (uint32_t depth = node_depth(doc, node); depth > 0; depth--) {
        const TyDocNode *part = node_ancestor(doc, node, depth - 1);
        if (part->key == NULL) {
            ty_text_add(&text, "[%u]", part->index);
        } else {
            ty_text_add(&text, text.length > 0 ? ".%s" : "%s", part->key);
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

void ty_doc_fail(const TyDoc *doc, const TyDocNode *node, TyStatus *status, const char *format, ...)
{
    if (status->code != TY_OK) {
        return;
    }
    char path[DOC_PATH_SIZE];
    ty_doc_path(doc, node, path, sizeof path);
    status->code = TY_BAD_FILE;
    TyText text = ty_text_init(status->message, sizeof status->message);
    ty_text_add(&text, path[0] != '\0' ? "%s: " : "%s", path);

    size_t room = sizeof status->message - text.length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(status->message + text.length, room, format, args);
    va_end(args);
    if ((size_t)length >= room) {
        message_trim(status->message);
    }
}

static bool key_known(const char *const *keys, const char *key)
{
    while (*keys != NULL && strcmp(*keys, key) != 0) {
        keys++;
    }
    return *keys != NULL;
}

void ty_doc_known_keys(const TyDoc *doc, const TyDocNode *node, const char *const *keys,
                       TyStatus *status)
{
    if (node->kind != TY_DOC_MAP) {
        ty_doc_fail(doc, node, status, "must be an object, not %s", ty_doc_kind_title(node->kind));
        return;
    }
    for (const TyDocNode *member = ty_doc_first(doc, node); member != NULL;
         member = ty_doc_next(doc, member)) {
        if (!key_known(keys, member->key)) {
            ty_doc_fail(doc, node, status, "unknown key \"%s\"", member->key);
            return;
        }
    }
}
