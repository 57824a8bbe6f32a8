/* What changed between two drawings of one ruleset: parts are lines that begin with their ids. */
#define _GNU_SOURCE
#include "serve/serve.h"

#include <string.h>

/* A piece of a document. */
typedef struct Span {
    const char *text;
    size_t length;
} Span;

static const char part_begin[] = "<g id=\"";

static bool line_is_part(const char *line)
{
    return strncmp(line, part_begin, sizeof part_begin - 1) == 0;
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* The next line; NULL behind the last. */
static const char *line_next(const char *line)
{
    line += line_length(line);
    return *line == '\n' && line[1] != '\0' ? line + 1 : NULL;
}

/* What follows `mark` up to `end` in a line. */
static Span span_find(const char *line, size_t length, const char *mark, char end)
{
    const char *at = memmem(line, length, mark, strlen(mark));
    Span span = {.text = "", .length = 0};
    if (at != NULL) {
        span.text = at + strlen(mark);
        const char *stop = memchr(span.text, end, (size_t)(line + length - span.text));
        span.length = stop != NULL ? (size_t)(stop - span.text) : 0;
    }
    return span;
}

/* The label of a part, which stands between the last tags. */
static Span label_find(const char *line, size_t length)
{
    Span tag = span_find(line, length, "<text class=\"on\"", '>');
    if (tag.text[0] == '\0') {
        return tag;
    }
    const char *begin = tag.text + tag.length + 1;
    const char *end = memchr(begin, '<', (size_t)(line + length - begin));
    return (Span){.text = begin, .length = end != NULL ? (size_t)(end - begin) : 0};
}

/* Markup as the text that it stands for. */
static void span_put(TyJson *json, Span span)
{
    static const struct {
        const char *mark;
        char letter;
    } marks[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
    char text[1024];
    size_t length = 0;
    for (size_t i = 0; i < span.length && length + 1 < sizeof text; i++) {
        text[length] = span.text[i];
        for (uint32_t k = 0; k < 4 && text[length] == '&'; k++) {
            size_t size = strlen(marks[k].mark);
            if (strncmp(span.text + i, marks[k].mark, size) == 0) {
                text[length] = marks[k].letter;
                i += size - 1;
                break;
            }
        }
        length++;
    }
    text[length] = '\0';
    ty_json_put_string(json, NULL, text);
}

static void part_put(TyJson *json, const char *line, size_t length)
{
    Span head = span_find(line, length, "<g", '>');
    ty_json_open(json, NULL, '[');
    span_put(json, span_find(line, length, part_begin, '"'));
    span_put(json, span_find(head.text, head.length, " data-act=\"", '"'));
    span_put(json, span_find(head.text, head.length, " class=\"", '"'));
    span_put(json, span_find(head.text, head.length, " transform=\"", '"'));
    span_put(json, label_find(line, length));
    ty_json_close(json, ']');
}

/* Whether both lines are the same part, or the same line of the board. */
static bool lines_match(const char *before, const char *after)
{
    if (line_is_part(before) && line_is_part(after)) {
        size_t length = strcspn(before + sizeof part_begin - 1, "\"") + sizeof part_begin;
        return strncmp(before, after, length) == 0;
    }
    size_t length = line_length(before);
    return length == line_length(after) && memcmp(before, after, length) == 0;
}

bool drawing_changes(const char *before, const char *after, TyJson *json)
{
    const char *old = before;
    const char *new = after;
    while (old != NULL && new != NULL && lines_match(old, new)) {
        old = line_next(old);
        new = line_next(new);
    }
    if (old != NULL || new != NULL) {
        return false;
    }
    ty_json_open(json, "changes", '[');
    for (old = before, new = after; new != NULL; old = line_next(old), new = line_next(new)) {
        size_t length = line_length(new);
        if (line_is_part(new) && (line_length(old) != length || memcmp(old, new, length) != 0)) {
            part_put(json, new, length);
        }
    }
    ty_json_close(json, ']');
    return true;
}
