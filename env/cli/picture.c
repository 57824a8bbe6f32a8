/* Drawings in a terminal. */
#define _DEFAULT_SOURCE
#include "cli/picture.h"

#include "cli/cli.h"
#include "cli/picture_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    ROWS_MAX = 100,
    TEXTS_MAX = 1024,
    WORDS_MAX = 96,   /* bytes of a text */
    MARGIN_X = 24,    /* around the board, in units of the drawing */
    MARGIN_Y = 64,    /* what belongs to the board may stand a little outside */
    PAPER = 200,      /* as bright as this, or brighter, a colour is the paper's */
    INK = 60,         /* as dark as this, or darker, it is the terminal's own */
    LINE_HEIGHT = 16, /* what stands beside the board closer than this is in one line */
    SHIFT = 7,        /* columns by which a label may move */
    NODE_DOTS = 3,    /* a circle with less than this radius is a small place */
};

/* A character of the picture. */
typedef struct Cell {
    uint8_t dots;   /* bits of a Braille character */
    int32_t colour; /* of the dots; SVG_NONE: the terminal's own */
    char text[5];   /* a character instead; "": none */
    int32_t paper;  /* behind the text; SVG_NONE: the terminal's own */
    bool bold;
} Cell;

typedef struct Point {
    double x;
    double y;
} Point;

/* A text to be placed: on the board, or of a part beside it. */
typedef struct Words {
    char text[WORDS_MAX];
    Point at; /* its middle */
    SvgAnchor anchor;
    bool label;     /* it may move, to be read */
    bool node;      /* a small place of the board, which others may cover */
    bool beside;    /* it is of a part beside the board */
    bool act;       /* its part can be chosen */
    bool faint;     /* its part is half transparent */
    char sign;      /* of a part beside the board: the shape in front of it; 0: none */
    int32_t colour; /* of the shape */
} Words;

typedef struct Picture {
    SvgReader *reader;
    uint32_t columns;
    uint32_t rows;
    PictureColours colours;
    Point from;  /* of the drawing: the upper left corner of the picture, */
    Point to;    /* and the lower right one */
    double unit; /* of a dot */
    Cell cells[ROWS_MAX][PICTURE_COLUMNS_MAX];
    Words words[TEXTS_MAX];
    uint32_t word_count;
    Words *beside[TEXTS_MAX];
    uint32_t beside_count;
} Picture;

/* ---- What the terminal can show ----------------------------------------------------------------
 */

PictureColours picture_colours(FILE *out)
{
    const char *term = getenv("TERM");
    const char *refused = getenv("NO_COLOR");
    const char *depth = getenv("COLORTERM");
    if (!isatty(fileno(out)) || term == NULL || strcmp(term, "dumb") == 0 ||
        (refused != NULL && refused[0] != '\0')) {
        return PICTURE_PLAIN;
    }
    bool deep = depth != NULL && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0);
    return deep ? PICTURE_TRUE : PICTURE_256;
}

uint32_t picture_columns(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col < 40                    ? 40
           : size.ws_col < PICTURE_COLUMNS_MAX ? size.ws_col
                                               : PICTURE_COLUMNS_MAX;
}

static int32_t brightness(int32_t colour)
{
    return ((colour >> 16 & 255) * 3 + (colour >> 8 & 255) * 6 + (colour & 255)) / 10;
}

/* The number in the palette of 256 that is nearest. */
static int32_t palette_nearest(int32_t colour)
{
    int32_t number = 16;
    for (int32_t shift = 16, weight = 36; shift >= 0; shift -= 8, weight /= 6) {
        int32_t value = colour >> shift & 255;
        number += weight * (value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40);
    }
    return number;
}

/* Dark and bright colours would vanish on one terminal or the other. */
static bool colour_shown(const Picture *picture, int32_t colour)
{
    return picture->colours != PICTURE_PLAIN && colour != SVG_NONE && brightness(colour) > INK &&
           brightness(colour) < PAPER;
}

static void put_colour(const Picture *picture, int32_t layer, int32_t colour, FILE *out)
{
    if (picture->colours == PICTURE_TRUE) {
        fprintf(out, "\033[%d;2;%d;%d;%dm", layer, colour >> 16 & 255, colour >> 8 & 255,
                colour & 255);
    } else {
        fprintf(out, "\033[%d;5;%dm", layer, palette_nearest(colour));
    }
}

/* ---- Dots --------------------------------------------------------------------------------------
 */

static Point point_of(const SvgElement *element, double x, double y)
{
    SvgPlace place = element->place;
    return (Point){place.x + place.a * x - place.b * y, place.y + place.b * x + place.a * y};
}

static bool inside(const Picture *picture, Point point)
{
    return point.x >= picture->from.x && point.x < picture->to.x && point.y >= picture->from.y &&
           point.y < picture->to.y;
}

static void dot_set(Picture *picture, int32_t x, int32_t y, int32_t colour, bool on)
{
    static const uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    if (x < 0 || y < 0 || x >= (int32_t)picture->columns * 2 || y >= (int32_t)picture->rows * 4) {
        return;
    }
    Cell *cell = &picture->cells[y / 4][x / 2];
    uint8_t bit = bits[y % 4][x % 2];
    cell->dots = (uint8_t)(on ? cell->dots | bit : cell->dots & ~bit);
    cell->colour = on ? colour : cell->colour;
}

static Point to_dots(const Picture *picture, Point point)
{
    return (Point){(point.x - picture->from.x) / picture->unit,
                   (point.y - picture->from.y) / picture->unit};
}

static void line_draw(Picture *picture, Point from, Point to, int32_t colour)
{
    Point a = to_dots(picture, from);
    Point b = to_dots(picture, to);
    int32_t steps = 1 + (int32_t)fmax(fabs(b.x - a.x), fabs(b.y - a.y));
    for (int32_t i = 0; i <= steps; i++) {
        dot_set(picture, (int32_t)(a.x + (b.x - a.x) * i / steps),
                (int32_t)(a.y + (b.y - a.y) * i / steps), colour, true);
    }
}

/* Sets, or clears, the dots inside a polygon. */
static void polygon_fill(Picture *picture, const Point *corners, uint32_t count, int32_t colour,
                         bool on)
{
    Point low = to_dots(picture, corners[0]);
    Point high = low;
    Point dots[32];
    for (uint32_t i = 0; i < count; i++) {
        dots[i] = to_dots(picture, corners[i]);
        low = (Point){fmin(low.x, dots[i].x), fmin(low.y, dots[i].y)};
        high = (Point){fmax(high.x, dots[i].x), fmax(high.y, dots[i].y)};
    }
    for (int32_t y = (int32_t)low.y; y <= (int32_t)high.y; y++) {
        for (int32_t x = (int32_t)low.x; x <= (int32_t)high.x; x++) {
            bool within = false;
            for (uint32_t i = 0, j = count - 1; i < count; j = i++) {
                bool crosses = (dots[i].y > y + 0.5) != (dots[j].y > y + 0.5);
                double at = crosses ? dots[i].x + (dots[j].x - dots[i].x) * (y + 0.5 - dots[i].y) /
                                                      (dots[j].y - dots[i].y)
                                    : 0;
                within = within != (crosses && at > x + 0.5);
            }
            if (within) {
                dot_set(picture, x, y, colour, on);
            }
        }
    }
}

/* A closed shape: filled with its colour, or of paper with a line around it. */
static void shape_draw(Picture *picture, const SvgStyle *style, const Point *corners,
                       uint32_t count)
{
    bool paper = style->fill != SVG_NONE && brightness(style->fill) >= PAPER;
    bool line = style->stroke != SVG_NONE && brightness(style->stroke) < PAPER;
    if (style->fill != SVG_NONE) {
        polygon_fill(picture, corners, count, style->fill, !paper);
    }
    for (uint32_t i = 0; line && (paper || style->fill == SVG_NONE) && i < count; i++) {
        line_draw(picture, corners[i], corners[(i + 1) % count], style->stroke);
    }
}

/* ---- Shapes ------------------------------------------------------------------------------------
 */

static uint32_t circle_corners(const SvgElement *element, Point corners[32])
{
    double x = svg_number(element, "cx");
    double y = svg_number(element, "cy");
    double radius = svg_number(element, "r");
    for (uint32_t i = 0; i < 20; i++) {
        double angle = i * 3.14159265358979 / 10;
        corners[i] = point_of(element, x + radius * cos(angle), y + radius * sin(angle));
    }
    return 20;
}

static uint32_t rect_corners(const SvgElement *element, Point corners[32])
{
    double x = svg_number(element, "x");
    double y = svg_number(element, "y");
    double wide = svg_number(element, "width");
    double high = svg_number(element, "height");
    corners[0] = point_of(element, x, y);
    corners[1] = point_of(element, x + wide, y);
    corners[2] = point_of(element, x + wide, y + high);
    corners[3] = point_of(element, x, y + high);
    return 4;
}

/* A path being followed. */
typedef struct Pen {
    Picture *picture; /* NULL: only its corners are wanted */
    const SvgElement *element;
    double x;
    double y;
    Point corners[32];
    uint32_t count;
    bool closed;
} Pen;

static void pen_go(Pen *pen, double x, double y, bool draw)
{
    Point to = point_of(pen->element, x, y);
    if (draw && pen->picture != NULL) {
        line_draw(pen->picture, point_of(pen->element, pen->x, pen->y), to,
                  pen->element->style.stroke);
    }
    pen->corners[pen->count < 31 ? pen->count++ : 31] = to;
    pen->x = x;
    pen->y = y;
}

/* Follows M, L, H, V, Q and z, as drawings have them. */
static void pen_follow(Pen *pen, const char *at)
{
    char *next;
    while (*at != '"' && *at != '\0') {
        char letter = *at++;
        if (letter == 'z') {
            pen->closed = true;
        } else if (letter == 'H') {
            pen_go(pen, strtod(at, &next), pen->y, true);
            at = next;
        } else if (letter == 'V') {
            pen_go(pen, pen->x, strtod(at, &next), true);
            at = next;
        } else if (letter == 'M' || letter == 'L' || letter == 'Q') {
            double x = strtod(at, &next);
            double y = strtod(next, &next);
            at = next;
            pen_go(pen, x, y, letter != 'M');
            if (letter == 'Q') {
                x = strtod(at, &next);
                y = strtod(next, &next);
                at = next;
                pen_go(pen, x, y, true);
            }
        }
    }
}

static void path_draw(Picture *picture, const SvgElement *element)
{
    bool seen = element->style.stroke != SVG_NONE && brightness(element->style.stroke) < PAPER;
    const char *path = svg_attribute(element, "d");
    Pen pen = {.element = element};
    pen_follow(&pen, path != NULL ? path : "");
    if (pen.closed) {
        shape_draw(picture, &element->style, pen.corners, pen.count);
    } else if (seen) {
        pen = (Pen){.picture = picture, .element = element};
        pen_follow(&pen, path != NULL ? path : "");
    }
}

static void element_draw(Picture *picture, const SvgElement *element)
{
    Point corners[32];
    if (svg_is(element, "circle")) {
        shape_draw(picture, &element->style, corners, circle_corners(element, corners));
    } else if (svg_is(element, "rect")) {
        shape_draw(picture, &element->style, corners, rect_corners(element, corners));
    } else if (svg_is(element, "path")) {
        path_draw(picture, element);
    }
}

/* ---- The window --------------------------------------------------------------------------------
 */

static void window_take(Picture *picture, Point point)
{
    picture->from = (Point){fmin(picture->from.x, point.x), fmin(picture->from.y, point.y)};
    picture->to = (Point){fmax(picture->to.x, point.x), fmax(picture->to.y, point.y)};
}

/* What the board's layer covers, but for paper and panels: the rest is beside the board. */
static void window_find(Picture *picture)
{
    uint32_t depth = 0;
    double panel = 1600;
    picture->from = (Point){1600, 1000};
    picture->to = (Point){0, 0};
    svg_rewind(picture->reader);
    for (const SvgElement *element = svg_next(picture->reader, &depth); element != NULL;
         element = svg_next(picture->reader, &depth)) {
        Point corners[32];
        bool board = depth == 2 && svg_around(picture->reader, 1)->id[0] == '\0';
        if (board && svg_has_class(element, "panel") && svg_number(element, "height") > 900) {
            panel = svg_number(element, "x");
        } else if (board && (svg_is(element, "circle") || svg_is(element, "rect"))) {
            uint32_t count = svg_is(element, "circle") ? circle_corners(element, corners)
                                                       : rect_corners(element, corners);
            for (uint32_t i = 0; i < count; i++) {
                window_take(picture, corners[i]);
            }
        } else if (board && svg_is(element, "text")) {
            window_take(picture, (Point){svg_number(element, "x"), svg_number(element, "y")});
        }
    }
    picture->from.x = fmax(0, picture->from.x - MARGIN_X);
    picture->from.y = fmax(0, picture->from.y - MARGIN_Y);
    picture->to.x = fmin(panel, picture->to.x + MARGIN_X);
    picture->to.y = fmin(1000, picture->to.y + MARGIN_Y);
    picture->unit = (picture->to.x - picture->from.x) / (picture->columns * 2);
    picture->rows = (uint32_t)ceil((picture->to.y - picture->from.y) / (picture->unit * 4));
    picture->rows = picture->rows < ROWS_MAX ? picture->rows : ROWS_MAX;
}

/* ---- Reading the drawing -----------------------------------------------------------------------
 */

/* The shape of a sign in one character: filled, or of paper. */
static char sign_of(const SvgElement *element)
{
    Pen pen = {.element = element};
    bool hollow = element->style.fill == SVG_NONE || brightness(element->style.fill) >= PAPER;
    char sign = svg_is(element, "circle") ? 'o' : 's';
    if (svg_is(element, "path")) {
        const char *path = svg_attribute(element, "d");
        pen_follow(&pen, path != NULL ? path : "");
        sign = !pen.closed ? 0 : pen.count > 3 ? 'd' : 't';
    }
    return (char)(hollow && sign != 0 ? sign - 32 : sign);
}

static Words *words_add(Picture *picture)
{
    Words *words = &picture->words[picture->word_count];
    picture->word_count += picture->word_count + 1 < TEXTS_MAX;
    *words = (Words){.text = "", .colour = SVG_NONE};
    return words;
}

static void text_take(Picture *picture, const SvgElement *element, bool label)
{
    Words *words = words_add(picture);
    svg_text(element, words->text, sizeof words->text);
    words->at = point_of(element, svg_number(element, "x"), svg_number(element, "y") - 7);
    words->anchor = element->style.anchor;
    words->label = label;
    words->act = svg_around(picture->reader, 1)->act;
}

/* A part that stands beside the board: its text, behind the first shape that is its own. */
static void beside_take(Picture *picture, const SvgElement *part, const SvgElement *element)
{
    Words *last = picture->beside_count > 0 ? picture->beside[picture->beside_count - 1] : NULL;
    if (svg_is(element, "g") || last == NULL) {
        last = words_add(picture);
        last->at = (Point){part->place.x, part->place.y};
        last->act = part->act;
        last->beside = true;
        last->faint = part->style.faint;
        picture->beside[picture->beside_count++] = last;
    }
    if (svg_is(element, "text")) {
        svg_text(element, last->text, sizeof last->text);
        last->at = point_of(element, svg_number(element, "x"), svg_number(element, "y"));
    } else if (!svg_has_class(element, "panel") && !svg_is(element, "g") &&
               !svg_is(element, "title") && last->sign == 0) {
        last->sign = sign_of(element);
        last->colour = element->style.fill;
    }
}

/* A small place of the board: it is marked by a character, so that what is drawn over it in the
 * drawing does not hide it here. */
static bool node_take(Picture *picture, const SvgElement *element)
{
    bool small = svg_is(element, "circle") && svg_number(element, "r") < NODE_DOTS * picture->unit;
    if (small) {
        Words *words = words_add(picture);
        snprintf(words->text, sizeof words->text, "\u25cb");
        words->at = point_of(element, svg_number(element, "cx"), svg_number(element, "cy"));
        words->node = true;
    }
    return small;
}

static void drawing_take(Picture *picture)
{
    uint32_t depth = 0;
    svg_rewind(picture->reader);
    for (const SvgElement *element = svg_next(picture->reader, &depth); element != NULL;
         element = svg_next(picture->reader, &depth)) {
        if (depth == 0 || element->style.hidden || svg_has_class(element, "paper") ||
            svg_is(element, "style")) {
            continue;
        }
        const SvgElement *part = svg_around(picture->reader, 1);
        bool board = part->id[0] == '\0';
        bool shown = board ? depth > 1 && !svg_has_class(element, "panel")
                           : inside(picture, (Point){part->place.x, part->place.y});
        if (shown && svg_is(element, "text")) {
            text_take(picture, element, board);
        } else if (shown && !(board && node_take(picture, element))) {
            element_draw(picture, element);
        } else if (!shown && !board && strncmp(part->id, "do-", 3) != 0 && depth < 3) {
            beside_take(picture, part, element);
        }
    }
}

/* ---- Texts -------------------------------------------------------------------------------------
 */

/* How many characters a text has, and where character `index` begins. */
static uint32_t letters_count(const char *text)
{
    uint32_t count = 0;
    for (; *text != '\0'; text++) {
        count += (*text & 0xc0) != 0x80;
    }
    return count;
}

static size_t letter_length(const char *text)
{
    size_t length = 1;
    while ((text[length] & 0xc0) == 0x80) {
        length++;
    }
    return length;
}

/* What it costs to write a label there: over other texts, over shapes, far from its place. */
static uint32_t label_cost(const Picture *picture, int32_t column, int32_t row, uint32_t length)
{
    uint32_t cost = 0;
    for (int32_t i = column - 1; i <= column + (int32_t)length; i++) {
        if (i < 0 || i >= (int32_t)picture->columns || row < 0 || row >= (int32_t)picture->rows) {
            bool edge = i == -1 || i == (int32_t)picture->columns;
            cost += edge ? 0 : 1000;
            continue;
        }
        const Cell *cell = &picture->cells[row][i];
        bool own = i >= column && i < column + (int32_t)length;
        cost += cell->text[0] != '\0' ? 200 : own && cell->dots != 0 ? 12 : 0;
    }
    return cost;
}

static void text_write(Picture *picture, const Words *words, int32_t column, int32_t row)
{
    const char *at = words->text;
    for (; *at != '\0'; at += letter_length(at), column++) {
        if (column < 0 || column >= (int32_t)picture->columns || row < 0 ||
            row >= (int32_t)picture->rows) {
            continue;
        }
        Cell *cell = &picture->cells[row][column];
        if (words->label && cell->text[0] != '\0') {
            continue;
        }
        memset(cell->text, 0, sizeof cell->text);
        memcpy(cell->text, at, letter_length(at) < 5 ? letter_length(at) : 4);
        bool on = !words->label && !words->node && __builtin_popcount(cell->dots) > 3;
        cell->paper = on ? cell->colour : SVG_NONE;
        cell->bold = words->act;
    }
}

static void text_place(Picture *picture, const Words *words)
{
    uint32_t length = letters_count(words->text);
    Point dots = to_dots(picture, words->at);
    int32_t row = (int32_t)floor(dots.y / 4);
    int32_t column = (int32_t)floor(dots.x / 2);
    column -= words->anchor == SVG_MIDDLE ? (int32_t)(length - 1) / 2
              : words->anchor == SVG_END  ? (int32_t)length
                                          : 0;
    int32_t best[2] = {column, row};
    uint32_t cost = UINT32_MAX;
    for (int32_t up = -1; words->label && up <= 1; up++) {
        for (int32_t aside = -SHIFT; aside <= SHIFT; aside++) {
            uint32_t here = label_cost(picture, column + aside, row + up, length) +
                            (uint32_t)(abs(aside) * 2 + abs(up) * 9);
            if (here < cost) {
                cost = here;
                best[0] = column + aside;
                best[1] = row + up;
            }
        }
    }
    text_write(picture, words, best[0], best[1]);
}

/* ---- Printing ----------------------------------------------------------------------------------
 */

static void dots_print(const Picture *picture, const Cell *cell, FILE *out)
{
    char braille[4] = {(char)0xe2, (char)(0xa0 | cell->dots >> 6), (char)(0x80 | (cell->dots & 63)),
                       '\0'};
    bool coloured = colour_shown(picture, cell->colour);
    if (coloured) {
        put_colour(picture, 38, cell->colour, out);
    }
    fputs(braille, out);
    fputs(coloured ? "\033[0m" : "", out);
}

static void cell_print(const Picture *picture, const Cell *cell, FILE *out)
{
    if (cell->text[0] == '\0') {
        if (cell->dots == 0) {
            putc(' ', out);
        } else {
            dots_print(picture, cell, out);
        }
        return;
    }
    bool colours = picture->colours != PICTURE_PLAIN;
    bool paper = colours && cell->paper != SVG_NONE;
    if (paper) {
        put_colour(picture, 48, cell->paper, out);
        put_colour(picture, 38, brightness(cell->paper) > 128 ? 0 : 0xffffff, out);
    }
    fputs(colours && cell->bold ? "\033[1m" : "", out);
    fputs(cell->text, out);
    fputs(paper || (colours && cell->bold) ? "\033[0m" : "", out);
}

static void row_print(const Picture *picture, uint32_t row, FILE *out)
{
    uint32_t end = picture->columns;
    while (end > 0 && picture->cells[row][end - 1].text[0] == '\0' &&
           picture->cells[row][end - 1].dots == 0) {
        end--;
    }
    for (uint32_t column = 0; column < end; column++) {
        cell_print(picture, &picture->cells[row][column], out);
    }
    putc('\n', out);
}

static const char *sign_character(char sign)
{
    switch (sign) {
    case 'o':
        return "\u25cf";
    case 'O':
        return "\u25cb";
    case 's':
        return "\u25a0";
    case 'S':
        return "\u25a1";
    case 't':
        return "\u25b2";
    case 'T':
        return "\u25b3";
    case 'd':
        return "\u25c6";
    case 'D':
        return "\u25c7";
    default:
        return "";
    }
}

/* From above, and in a line from the left. */
static int beside_order(const void *left, const void *right)
{
    const Words *a = *(const Words *const *)left;
    const Words *b = *(const Words *const *)right;
    double gap = a->at.y - b->at.y;
    return fabs(gap) >= LINE_HEIGHT ? (gap < 0 ? -1 : 1) : a->at.x < b->at.x ? -1 : 1;
}

/* One thing that stands beside the board; what is faint in the drawing is in parentheses. */
static void words_show(const Picture *picture, const Words *words, FILE *out)
{
    bool coloured = colour_shown(picture, words->colour);
    bool bold = words->act && picture->colours != PICTURE_PLAIN;
    fputs(words->faint ? "(" : "", out);
    if (coloured) {
        put_colour(picture, 38, words->colour, out);
    }
    fprintf(out, "%s%s", sign_character(words->sign), coloured ? "\033[0m" : "");
    fprintf(out, "%s%s%s", bold ? "\033[1m" : "", words->text, bold ? "\033[0m" : "");
    fputs(words->faint ? ")" : "", out);
}

static uint32_t words_length(const Words *words)
{
    uint32_t length = letters_count(words->text) + (words->sign != 0);
    return length + (words->faint && length > 0 ? 2 : 0);
}

/* Things of one line of the drawing in one line; single texts share one, as far as they fit. */
static void beside_print(Picture *picture, FILE *out)
{
    uint32_t column = 0;
    double line = -LINE_HEIGHT;
    bool lone = false; /* the line has single texts only */
    qsort(picture->beside, picture->beside_count, sizeof picture->beside[0], beside_order);
    for (uint32_t i = 0; i < picture->beside_count; i++) {
        const Words *words = picture->beside[i];
        const Words *next = i + 1 < picture->beside_count ? picture->beside[i + 1] : NULL;
        uint32_t length = words_length(words);
        if (length == 0) {
            continue;
        }
        bool fresh = fabs(words->at.y - line) >= LINE_HEIGHT;
        bool single = fresh && words->sign == 0 &&
                      (next == NULL || fabs(next->at.y - words->at.y) >= LINE_HEIGHT);
        bool full = column + length + 3 > picture->columns;
        bool ends = full || (fresh && !(lone && single));
        fputs(column == 0 ? "" : ends ? "\n" : fresh ? " | " : "  ", out);
        column = (ends ? 0 : column + 3) + length;
        lone = fresh ? single : lone;
        line = words->at.y;
        words_show(picture, words, out);
    }
    fputs(column > 0 ? "\n" : "", out);
}

void picture_print(const char *svg, uint32_t columns, PictureColours colours, FILE *board,
                   FILE *beside)
{
    Picture *picture = cli_memory(calloc(1, sizeof *picture));
    picture->reader = svg_open(svg);
    picture->columns = columns < PICTURE_COLUMNS_MAX ? columns : PICTURE_COLUMNS_MAX;
    picture->colours = colours;
    window_find(picture);
    drawing_take(picture);
    for (int32_t layer = 0; layer < 3; layer++) {
        for (uint32_t i = 0; i < picture->word_count; i++) {
            const Words *words = &picture->words[i];
            if (!words->beside && layer == (words->node ? 0 : words->label ? 2 : 1)) {
                text_place(picture, words);
            }
        }
    }
    for (uint32_t row = 0; board != NULL && row < picture->rows; row++) {
        row_print(picture, row, board);
    }
    if (beside != NULL) {
        beside_print(picture, beside);
    }
    svg_close(picture->reader);
    free(picture);
}
