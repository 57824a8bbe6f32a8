/* Drawing a position as SVG: a game's `draw_board` and `draw` write with these.
 *
 * A drawing has two layers. The board is what never changes in a ruleset: plain shapes and labels.
 * The parts are everything that changes or can be chosen. A ruleset always has the same parts in
 * the same order, each with an id of its own, so that a page can move from one position to the next
 * by changing attributes; a part that is not there now has the class "gone".
 *
 *     ty_svg_part(svg, &(TyPart){.kind = "train", .name = "black.1", .look = "<circle r=\"20\"/>",
 *                                .x = 120, .y = 80, .class = {"black"},
 *                                .acts = {{first, 1}}}); // <g id="train-black.1" ...>
 *
 * Coordinates are whole numbers on a canvas of TY_SVG_WIDTH by TY_SVG_HEIGHT. Colours are set by
 * classes, in a style sheet with a dark half. */
#pragma once

#include "game.h"

enum {
    TY_SVG_WIDTH = 1600,
    TY_SVG_HEIGHT = 1000,
    TY_PART_CLASSES = 4, /* classes of a part besides its kind */
    TY_PART_ACTS = 3,    /* runs of actions that choose a part */
};

/* A drawing being written. `seat` is whose eyes it is for; with `all` everything is shown. */
struct TySvg {
    const TyRuleset *ruleset;
    const void *state;
    uint32_t seat;
    bool all;
    bool offers; /* it is for the seat to act: parts tell the actions that choose them */
    TyText text;
    TySketch *sketch; /* of the last drawing; NULL: there was none */
    bool changes;     /* only parts that differ from it are written */
    uint32_t part;    /* parts so far */
};

/* Actions `first` to `first + count - 1`. */
typedef struct TyActs {
    uint16_t first;
    uint16_t count;
} TyActs;

/* A part of a drawing. Zero-initialise what is not needed. Its id is "kind-name". What is the same
 * in every position (`look`, `shapes`, `names`, `title`) is asked for only when a part is written.
 */
typedef struct TyPart {
    const char *kind;
    const char *name; /* NULL: item `index` of `names`, or if that is NULL too, the kind alone */
    const TyNames *names;
    uint32_t index;
    const char *look;                           /* its shapes, as SVG around its place; or */
    void (*shapes)(TySvg *svg, uint32_t index); /* writes them */
    bool title; /* its name is shown where the pointer rests on it */

    const char *class[TY_PART_CLASSES]; /* how it looks now; entries may be NULL */
    int16_t x;
    int16_t y;
    int16_t turn;              /* degrees, clockwise */
    int16_t text_at[2];        /* where its text stands, from its place */
    const char *text;          /* what is written on it; NULL: it never has any */
    TyActs acts[TY_PART_ACTS]; /* the actions that choose it, as far as they are legal */
} TyPart;

/* The sign of a player, in a part with the class of ty_svg_player: everyone has a colour, a shape
 * (circle, square, triangle, diamond) and a number, which the part's text gives. */
#define TY_SVG_SIGN                                                                                \
    "<circle class=\"own o0\" r=\"22\"/><rect class=\"own o1\" x=\"-19\" y=\"-19\" width=\"38\" "  \
    "height=\"38\"/><path class=\"own o2\" d=\"M0-26L26 18H-26z\"/><path class=\"own o3\" "        \
    "d=\"M0-27L27 0L0 27L-27 0z\"/>"

/* The class of what belongs to a seat: "p0" and so on; NULL for none, which is any other number. */
TY_API const char *ty_svg_player(uint32_t seat);

/* Whether the drawing may show what only `owner` knows. */
static inline bool ty_svg_sees(const TySvg *svg, uint32_t owner)
{
    return svg->all || svg->seat == owner;
}

/* Appends markup as it is. */
TY_API void ty_svg_raw(TySvg *svg, const char *markup);
/* Appends markup in which each % stands for the next of the numbers, of which there are as many. */
TY_API void ty_svg_shape(TySvg *svg, const char *markup, const int32_t *numbers);
/* The same with the numbers as arguments: ty_svg_put(svg, "<circle cx=\"%\" cy=\"%\"/>", x, y). */
#define ty_svg_put(svg, markup, ...) ty_svg_shape(svg, markup, (const int32_t[]){__VA_ARGS__})
/* Appends a text at (x, y) with special characters escaped; `class` says how it looks. */
TY_API void ty_svg_label(TySvg *svg, const char *class, int32_t x, int32_t y, const char *text);
/* Appends a part, or counts it if it is as it was in the last drawing and only changes are wanted.
 */
TY_API void ty_svg_part(TySvg *svg, const TyPart *part);

/* How wide a text is in a font of `size` units, by and large: for placing labels. */
TY_API int32_t ty_svg_text_width(const char *text, int32_t size);
