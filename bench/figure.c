/* Quantities that were measured in many short slices. */
#define _POSIX_C_SOURCE 200809L
#include "bench/figure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t bench_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void slices_add(BenchSlices *slices, double value)
{
    if (slices->count == slices->size) {
        slices->size = slices->size > 0 ? 2 * slices->size : 64;
        slices->values = realloc(slices->values, slices->size * sizeof slices->values[0]);
        assert(slices->values != NULL);
    }
    slices->values[slices->count++] = value;
}

static int compare_values(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Slices stay in the order in which they were taken, so that those of two quantities can be paired:
 * a copy is sorted. */
static double *slices_sorted(const BenchSlices *slices)
{
    double *sorted = malloc((slices->count + 1) * sizeof sorted[0]);
    assert(sorted != NULL);
    if (slices->count > 0) {
        memcpy(sorted, slices->values, slices->count * sizeof sorted[0]);
        qsort(sorted, slices->count, sizeof sorted[0], compare_values);
    }
    return sorted;
}

static double sorted_quantile(const double *sorted, uint32_t count, double share)
{
    if (count == 0) {
        return 0;
    }
    double place = share * (count - 1);
    uint32_t below = (uint32_t)place;
    uint32_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

double slices_quantile(const BenchSlices *slices, double share)
{
    double *sorted = slices_sorted(slices);
    double value = sorted_quantile(sorted, slices->count, share);
    free(sorted);
    return value;
}

BenchFigure slices_figure(const BenchSlices *slices)
{
    double *sorted = slices_sorted(slices);
    double sum = 0;
    for (uint32_t i = 0; i < slices->count; i++) {
        sum += sorted[i];
    }
    const BenchFigure figure = {
        .low = sorted_quantile(sorted, slices->count, 0.1),
        .median = sorted_quantile(sorted, slices->count, 0.5),
        .high = sorted_quantile(sorted, slices->count, 0.9),
        .mean = slices->count > 0 ? sum / slices->count : 0,
    };
    free(sorted);
    return figure;
}

void slices_clear(BenchSlices *slices)
{
    free(slices->values);
    *slices = (BenchSlices){.count = 0};
}
