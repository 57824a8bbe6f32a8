/* Reading drawings: the elements of an SVG that ty_svg wrote, with the style that its sheet gives
 * them. Not a reader of other people's SVG. */
#pragma once

#include "base.h"

enum {
    SVG_DEPTH = 8,       /* elements inside one another */
    SVG_RULES_MAX = 256, /* of the style sheet */
    SVG_NONE = -1,       /* no colour */
};

/* Where a group lies: x' = a x - b y + x, y' = b x + a y + y. */
typedef struct SvgPlace {
    double a;
    double b;
    double x;
    double y;
} SvgPlace;

typedef enum SvgAnchor { SVG_START, SVG_MIDDLE, SVG_END } SvgAnchor;

typedef struct SvgStyle {
    int32_t fill;   /* 0xrrggbb, or SVG_NONE */
    int32_t stroke; /* the same */
    SvgAnchor anchor;
    bool hidden;
    bool faint; /* half transparent, or more */
} SvgStyle;

/* An element, inside its parents. The strings lie in the document and end with a quote or a `<`. */
typedef struct SvgElement {
    const char *tag;        /* ends with a blank, a slash or `>` */
    const char *attributes; /* the rest of the tag */
    const char *class;      /* "" if it has none */
    const char *id;
    bool act; /* it can be chosen */
    SvgPlace place;
    SvgStyle style;
} SvgElement;

typedef struct SvgReader SvgReader;

/* Opens a document; the caller closes the reader, and keeps the document until then. */
SvgReader *svg_open(const char *svg);
void svg_close(SvgReader *reader);
/* Back to the beginning. */
void svg_rewind(SvgReader *reader);
/* The next element that begins; NULL at the end. `*depth` is how many it lies in: 1 for a part. */
const SvgElement *svg_next(SvgReader *reader, uint32_t *depth);
/* The element at `depth` around the last one. */
const SvgElement *svg_around(const SvgReader *reader, uint32_t depth);

bool svg_is(const SvgElement *element, const char *tag);
bool svg_has_class(const SvgElement *element, const char *word);
/* A number of the element, 0 if it has none of this name. */
double svg_number(const SvgElement *element, const char *name);
/* The text of an attribute up to its closing quote; NULL if there is none. */
const char *svg_attribute(const SvgElement *element, const char *name);
/* The text inside the element, without entities: at most `size` - 1 bytes. */
void svg_text(const SvgElement *element, char *out, size_t size);
