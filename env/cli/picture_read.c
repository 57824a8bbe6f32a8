/* Reading drawings: elements of an SVG and the rules of its style sheet. */
#include "cli/picture_read.h"

#include "cli/cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPOUNDS_MAX = 3, /* of a selector */
    CLASSES_MAX = 4,   /* of a compound */
    WORD_MAX = 24,
};

/* A part of a selector: what one element has to be. */
typedef struct Compound {
    char tag[WORD_MAX];
    char classes[CLASSES_MAX][WORD_MAX];
    uint32_t class_count;
    bool act;    /* [data-act] */
    bool parent; /* it is the parent of the next one, not any element around it */
} Compound;

/* What a rule says of a property. */
typedef struct Change {
    bool given;
    int32_t value;
} Change;

typedef struct Rule {
    Compound compounds[COMPOUNDS_MAX];
    uint32_t count;
    uint32_t weight; /* the heavier rule wins; of equals the later one */
    Change fill;
    Change stroke;
    Change anchor;
    Change hidden;
    Change faint;
} Rule;

struct SvgReader {
    const char *svg;
    const char *at;
    SvgElement stack[SVG_DEPTH];
    uint32_t depth; /* elements that are open */
    bool closes;    /* the last one ended at once */
    Rule rules[SVG_RULES_MAX];
    uint32_t rule_count;
};

/* ---- Style sheets ------------------------------------------------------------------------------
 */

static size_t word_copy(char word[WORD_MAX], const char *from)
{
    size_t length =
        strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    size_t kept = length < WORD_MAX ? length : WORD_MAX - 1;
    memcpy(word, from, kept);
    word[kept] = '\0';
    return length;
}

/* Reads a compound up to the blank, `>`, comma or brace behind it. */
static const char *compound_read(const char *at, Compound *compound)
{
    *compound = (Compound){.parent = false};
    while (*at != '\0' && strchr(" >,{", *at) == NULL) {
        if (*at == '.' && compound->class_count < CLASSES_MAX) {
            at += 1 + word_copy(compound->classes[compound->class_count++], at + 1);
        } else if (*at == '[') {
            compound->act = true;
            at += strcspn(at, "]") + 1;
        } else {
            size_t length = word_copy(compound->tag, at);
            at += length > 0 ? length : 1;
        }
    }
    return at;
}

static const char *selector_read(const char *at, Rule *rule)
{
    while (*at != ',' && *at != '{' && *at != '\0') {
        Compound compound;
        at += strspn(at, " ");
        at = compound_read(at, &compound);
        at += strspn(at, " ");
        if (*at == '>') {
            compound.parent = true;
            at++;
        }
        if (rule->count < COMPOUNDS_MAX) {
            rule->weight += 16 * (compound.class_count + compound.act) + (compound.tag[0] != '\0');
            rule->compounds[rule->count++] = compound;
        }
    }
    return at;
}

static int32_t colour_read(const char *text)
{
    if (*text != '#') {
        return SVG_NONE;
    }
    size_t digits = strspn(text + 1, "0123456789abcdefABCDEF");
    long value = strtol(text + 1, NULL, 16);
    if (digits == 3) {
        return (int32_t)((value >> 8 & 15) * 0x110000 + (value >> 4 & 15) * 0x1100 +
                         (value & 15) * 0x11);
    }
    return (int32_t)value;
}

static bool property_is(const char *at, const char *name, const char **value)
{
    size_t length = strlen(name);
    *value = at + length + 1;
    return strncmp(at, name, length) == 0 && at[length] == ':';
}

/* Reads the declarations up to the closing brace. */
static const char *declarations_read(const char *at, Rule *rule)
{
    const char *value;
    while (*at != '}' && *at != '\0') {
        at += strspn(at, " ;");
        if (property_is(at, "fill", &value)) {
            rule->fill = (Change){true, colour_read(value)};
        } else if (property_is(at, "stroke", &value)) {
            rule->stroke = (Change){true, colour_read(value)};
        } else if (property_is(at, "display", &value)) {
            rule->hidden = (Change){true, strncmp(value, "none", 4) == 0};
        } else if (property_is(at, "opacity", &value)) {
            rule->faint = (Change){true, strtod(value, NULL) <= 0.5};
        } else if (property_is(at, "text-anchor", &value)) {
            rule->anchor = (Change){true, *value == 's'   ? SVG_START
                                          : *value == 'e' ? SVG_END
                                                          : SVG_MIDDLE};
        }
        at += strcspn(at, ";}");
        at += *at == ';';
    }
    return *at == '}' ? at + 1 : at;
}

/* Skips "@media(...){...}": terminals have their own light and dark. */
static const char *media_skip(const char *at)
{
    uint32_t open = 0;
    do {
        at += strcspn(at, "{}");
        open += *at == '{' ? 1u : -1u;
        at++;
    } while (open > 0 && *at != '\0');
    return at;
}

static void sheet_read(SvgReader *reader, const char *at)
{
    while (*at != '<' && *at != '\0') {
        uint32_t first = reader->rule_count;
        Rule said = {.count = 0};
        if (*at == '@') {
            at = media_skip(at);
            continue;
        }
        while (*at != '{' && *at != '<' && *at != '\0' && reader->rule_count < SVG_RULES_MAX) {
            Rule *rule = &reader->rules[reader->rule_count++];
            *rule = (Rule){.count = 0};
            at = selector_read(at, rule);
            at += *at == ',';
        }
        at = declarations_read(at + (*at == '{'), &said);
        for (uint32_t i = first; i < reader->rule_count; i++) {
            reader->rules[i].fill = said.fill;
            reader->rules[i].stroke = said.stroke;
            reader->rules[i].hidden = said.hidden;
            reader->rules[i].anchor = said.anchor;
            reader->rules[i].faint = said.faint;
        }
    }
}

static bool compound_fits(const Compound *compound, const SvgElement *element)
{
    bool fits = (compound->tag[0] == '\0' || svg_is(element, compound->tag)) &&
                (!compound->act || element->act);
    for (uint32_t i = 0; fits && i < compound->class_count; i++) {
        fits = svg_has_class(element, compound->classes[i]);
    }
    return fits;
}

/* Whether the rule is about the innermost element. */
static bool rule_fits(const SvgReader *reader, const Rule *rule)
{
    int32_t at = (int32_t)reader->depth - 1;
    if (rule->count == 0 || !compound_fits(&rule->compounds[rule->count - 1], &reader->stack[at])) {
        return false;
    }
    for (int32_t i = (int32_t)rule->count - 2; i >= 0; i--) {
        const Compound *compound = &rule->compounds[i];
        for (at--; at >= 0 && !compound_fits(compound, &reader->stack[at]); at--) {
            if (compound->parent) {
                return false;
            }
        }
        if (at < 0) {
            return false;
        }
    }
    return true;
}

static void change_take(int32_t *value, uint32_t *best, const Change *change, uint32_t weight)
{
    if (change->given && weight >= *best) {
        *value = change->value;
        *best = weight;
    }
}

static void style_find(SvgReader *reader, SvgElement *element, const SvgStyle *around)
{
    uint32_t best[5] = {0};
    int32_t anchor = (int32_t)around->anchor;
    int32_t hidden = 0;
    int32_t faint = 0;
    element->style = *around;
    for (uint32_t i = 0; i < reader->rule_count; i++) {
        const Rule *rule = &reader->rules[i];
        if (rule_fits(reader, rule)) {
            change_take(&element->style.fill, &best[0], &rule->fill, rule->weight);
            change_take(&element->style.stroke, &best[1], &rule->stroke, rule->weight);
            change_take(&anchor, &best[2], &rule->anchor, rule->weight);
            change_take(&hidden, &best[3], &rule->hidden, rule->weight);
            change_take(&faint, &best[4], &rule->faint, rule->weight);
        }
    }
    element->style.anchor = (SvgAnchor)anchor;
    element->style.hidden = around->hidden || hidden != 0;
    element->style.faint = around->faint || faint != 0;
}

/* ---- Elements ----------------------------------------------------------------------------------
 */

bool svg_is(const SvgElement *element, const char *tag)
{
    size_t length = strlen(tag);
    return strncmp(element->tag, tag, length) == 0 && strchr(" />", element->tag[length]) != NULL;
}

bool svg_has_class(const SvgElement *element, const char *word)
{
    size_t length = strlen(word);
    const char *at = element->class;
    while (*at != '\0' && *at != '"') {
        size_t own = strcspn(at, " \"");
        if (own == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += own;
        at += *at == ' ';
    }
    return false;
}

const char *svg_attribute(const SvgElement *element, const char *name)
{
    size_t length = strlen(name);
    const char *end = element->attributes + strcspn(element->attributes, ">");
    for (const char *at = element->attributes; at < end; at++) {
        if (*at == ' ' && strncmp(at + 1, name, length) == 0 &&
            strncmp(at + 1 + length, "=\"", 2) == 0) {
            return at + length + 3;
        }
    }
    return NULL;
}

double svg_number(const SvgElement *element, const char *name)
{
    const char *text = svg_attribute(element, name);
    return text != NULL ? strtod(text, NULL) : 0;
}

void svg_text(const SvgElement *element, char *out, size_t size)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    const char *at = element->attributes + strcspn(element->attributes, ">");
    size_t length = 0;
    at += *at == '>';
    while (*at != '<' && *at != '\0' && length + 1 < size) {
        char letter = *at;
        size_t taken = 1;
        for (uint32_t i = 0; letter == '&' && i < 4; i++) {
            if (strncmp(at, entities[i], strlen(entities[i])) == 0) {
                taken = strlen(entities[i]);
                letter = "&<>\""[i];
                break;
            }
        }
        out[length++] = letter;
        at += taken;
    }
    out[length] = '\0';
}

/* "translate(X Y) rotate(DEGREES)", inside the place of the parent. */
static SvgPlace place_read(const SvgElement *element, SvgPlace around)
{
    const char *transform = svg_attribute(element, "transform");
    const char *end = transform != NULL ? transform + strcspn(transform, "\"") : NULL;
    SvgPlace place = around;
    if (transform == NULL) {
        return place;
    }
    const char *move = strstr(transform, "translate(");
    const char *turn = strstr(transform, "rotate(");
    if (move != NULL && move < end) {
        char *next;
        double x = strtod(move + strlen("translate("), &next);
        double y = strtod(next, NULL);
        place.x += around.a * x - around.b * y;
        place.y += around.b * x + around.a * y;
    }
    if (turn != NULL && turn < end) {
        double angle = strtod(turn + strlen("rotate("), NULL) * 3.14159265358979 / 180;
        place.a = around.a * cos(angle) - around.b * sin(angle);
        place.b = around.b * cos(angle) + around.a * sin(angle);
    }
    return place;
}

static const SvgElement *element_open(SvgReader *reader, const char *tag)
{
    static const SvgStyle plain = {.stroke = SVG_NONE, .anchor = SVG_START};
    static const SvgPlace origin = {.a = 1};
    SvgElement *element = &reader->stack[reader->depth];
    const SvgElement *around = reader->depth > 0 ? element - 1 : NULL;
    *element = (SvgElement){.tag = tag, .class = "", .id = ""};
    element->attributes = tag + strcspn(tag, " />");
    const char *class = svg_attribute(element, "class");
    const char *id = svg_attribute(element, "id");
    element->class = class != NULL ? class : "";
    element->id = id != NULL ? id : "";
    element->act = svg_attribute(element, "data-act") != NULL;
    element->place = place_read(element, around != NULL ? around->place : origin);
    reader->depth++;
    style_find(reader, element, around != NULL ? &around->style : &plain);
    return element;
}

SvgReader *svg_open(const char *svg)
{
    SvgReader *reader = cli_memory(calloc(1, sizeof *reader));
    const char *style = strstr(svg, "<style>");
    reader->svg = reader->at = svg;
    if (style != NULL) {
        sheet_read(reader, style + strlen("<style>"));
    }
    return reader;
}

void svg_close(SvgReader *reader)
{
    free(reader);
}

void svg_rewind(SvgReader *reader)
{
    reader->at = reader->svg;
    reader->depth = 0;
    reader->closes = false;
}

const SvgElement *svg_next(SvgReader *reader, uint32_t *depth)
{
    if (reader->closes) {
        reader->depth--;
        reader->closes = false;
    }
    for (const char *at = strchr(reader->at, '<'); at != NULL; at = strchr(reader->at, '<')) {
        const char *end = at + strcspn(at, ">");
        reader->at = end;
        if (at[1] == '/') {
            reader->depth -= reader->depth > 0;
        } else if (reader->depth < SVG_DEPTH) {
            *depth = reader->depth;
            reader->closes = end[-1] == '/';
            return element_open(reader, at + 1);
        }
    }
    return NULL;
}

const SvgElement *svg_around(const SvgReader *reader, uint32_t depth)
{
    return &reader->stack[depth];
}
