/* A quantity that was measured in many short slices: other work on the machine makes slices slower,
 * so a mean says more about the machine's other users than about us. */
#pragma once

#include <stdint.h>

/* A summary of slices, in their unit; a cost: less is better. */
typedef struct BenchFigure {
    double low; /* a tenth of the slices took less: what it costs when nothing else runs */
    double median;
    double high; /* a tenth took more */
    double mean;
} BenchFigure;

/* The slices of one quantity; zero-initialised: none. */
typedef struct BenchSlices {
    uint32_t count;
    uint32_t size;
    double *values;
} BenchSlices;

void slices_add(BenchSlices *slices, double value);
/* The value below which `share` of the slices lie, 0 to 1, interpolated; 0 if there are none. */
double slices_quantile(const BenchSlices *slices, double share);
BenchFigure slices_figure(const BenchSlices *slices);
/* Forgets the slices; they can be added to again. */
void slices_clear(BenchSlices *slices);

/* Time that only goes forward. */
uint64_t bench_clock_ns(void);
