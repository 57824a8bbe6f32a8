/* Where things stand on a drawing: points of a file fitted to the canvas, places for those that the
 * file gives none, and labels beside them that cover nothing. Whole numbers only, so that every
 * machine draws alike. Called when a ruleset is built, not while drawing. */
#pragma once

#include "game.h"

/* A point of the canvas. */
typedef struct TySpot {
    int16_t x;
    int16_t y;
} TySpot;

/* A rectangle of the canvas, its right and lower edge included. */
typedef struct TyArea {
    int16_t left;
    int16_t top;
    int16_t right;
    int16_t bottom;
} TyArea;

/* A line between two points of a layout, and how long it should be. */
typedef struct TyLine {
    uint16_t a;
    uint16_t b;
    uint16_t length;
} TyLine;

/* Limits of a layout. */
enum { TY_LAYOUT_MAX = 64 /* points */ };

/* Points that belong together, at most TY_LAYOUT_MAX, and the lines between them. */
typedef struct TyNet {
    const int32_t (*points)[2]; /* as their file has them: x to the right, y upwards, in any unit */
    uint32_t count;
    const TyLine *lines;
    uint32_t line_count;
} TyNet;

/* Writes where the points stand in `area`: as in their file, or if that has all of them at one spot
 * (because it says nothing) such that joined ones are near each other and others are not. Then they
 * are moved apart until each line is as long as it should be and no two are nearer than `gap`, as
 * far as there is room. */
TY_API void ty_layout_place(const TyNet *net, int32_t gap, TyArea area, TySpot *spots);

/* The point `part` of `whole` along the way from `a` to `b`. */
TY_API TySpot ty_layout_between(TySpot a, TySpot b, int32_t part, int32_t whole);
/* How far two points are apart. */
TY_API int32_t ty_layout_distance(TySpot a, TySpot b);
/* The direction from `a` to `b` in degrees, clockwise from the right. */
TY_API int16_t ty_layout_turn(TySpot a, TySpot b);

/* An area that is taken already; labels rather cover areas of less weight. */
typedef struct TyTakenArea {
    TyArea area;
    int32_t weight;
} TyTakenArea;

/* Weights of areas. */
enum { TY_WEIGHT_LINE = 1, TY_WEIGHT_SYMBOL = 40 };

/* What labels should not cover. */
typedef struct TyTaken {
    TyTakenArea *areas; /* the caller's, with room for `room` */
    uint32_t room;
    uint32_t count;
} TyTaken;

/* Takes a square of `2 * radius` around a point. Ignored if there is no room. */
TY_API void ty_layout_take(TyTaken *taken, TySpot spot, int32_t radius, int32_t weight);
/* Takes small squares all along a line. */
TY_API void ty_layout_take_line(TyTaken *taken, TySpot a, TySpot b, int32_t radius, int32_t weight);

/* Where a label stands: `spot` is the middle of its base line. */
TY_API TySpot ty_layout_label(TyTaken *taken, TySpot spot, int32_t radius, const char *text,
                              int32_t size, TyArea canvas);
