/* Drawings in a terminal: the SVG that a game writes, as lines of characters.
 *
 * Lines and shapes become dots of Braille characters, two by four in each, in the colours of the
 * drawing's own style sheet; texts stay texts. What lies beside the board (hands, cards, clock) is
 * told in lines below it. Nothing here knows a game. */
#pragma once

#include "base.h"

#include <stdio.h>

enum { PICTURE_COLUMNS_MAX = 160 };

typedef enum PictureColours {
    PICTURE_PLAIN,
    PICTURE_256,  /* the palette of 256 colours */
    PICTURE_TRUE, /* 24 bits */
} PictureColours;

/* What the terminal of `out` can show, by its size, TERM, COLORTERM and NO_COLOR. */
PictureColours picture_colours(FILE *out);
uint32_t picture_columns(FILE *out);

/* Prints a drawing that ty_svg wrote, in lines of at most `columns` characters: the board, and what
 * stands beside it. Either may be NULL. */
void picture_print(const char *svg, uint32_t columns, PictureColours colours, FILE *board,
                   FILE *beside);
