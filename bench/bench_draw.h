/* Measuring what drawings cost. */
#pragma once

#include "bench/figure.h"
#include "trainyard.h"

/* Nanoseconds, with everything shown, in positions all over episodes of random play. */
typedef struct BenchDraw {
    BenchFigure drawing; /* a whole SVG */
    BenchFigure changes; /* what one decision changes of it */
    double drawing_bytes;
    double change_bytes; /* of a decision, on the average */
    BenchFigure copy;    /* the reference, see bench.h */
} BenchDraw;

/* Measures for about `seconds`. */
TyStatus bench_draw_measure(const TyRuleset *ruleset, double seconds, BenchDraw *result);
