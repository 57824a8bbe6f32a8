/* Means with 95 % confidence intervals, over columns of integers. */
#include "cli/stats.h"

#include <math.h>

/* 97.5 % of a standard normal variable lies below this. */
static const double Z95 = 1.959963984540054;

static double column_value(const Column *column, const Column *base, uint32_t index)
{
    double value = column->unit * column->values[index * column->stride];
    return base != NULL ? value - base->unit * base->values[index * base->stride] : value;
}

/* Wilson's score interval: honest also for rates near 0 and 1. */
static void interval_wilson(Estimate *estimate)
{
    double n = estimate->count;
    double p = estimate->mean;
    double scale = 1 + Z95 * Z95 / n;
    double centre = (p + Z95 * Z95 / (2 * n)) / scale;
    double half = Z95 * sqrt(p * (1 - p) / n + Z95 * Z95 / (4 * n * n)) / scale;
    estimate->low = fmax(0, centre - half);
    estimate->high = fmin(1, centre + half);
}

static void interval_normal(Estimate *estimate)
{
    double half = Z95 * estimate->deviation / sqrt(estimate->count);
    estimate->low = estimate->mean - half;
    estimate->high = estimate->mean + half;
}

/* Both passes go through the values in order, so that the sums do not depend on how the values
 * were made. */
static Estimate estimate_values(const Column *column, const Column *base)
{
    double first = column_value(column, base, 0);
    Estimate estimate = {.count = column->count, .minimum = first, .maximum = first};
    double sum = 0;
    bool binary = true;
    for (uint32_t i = 0; i < column->count; i++) {
        double value = column_value(column, base, i);
        sum += value;
        estimate.minimum = fmin(estimate.minimum, value);
        estimate.maximum = fmax(estimate.maximum, value);
        binary = binary && (column->values[i * column->stride] & ~1) == 0;
    }
    estimate.mean = sum / column->count;
    double squares = 0;
    for (uint32_t i = 0; i < column->count; i++) {
        double difference = column_value(column, base, i) - estimate.mean;
        squares += difference * difference;
    }
    estimate.deviation = column->count > 1 ? sqrt(squares / (column->count - 1)) : 0;
    estimate.rate = binary && base == NULL && column->unit >= 1 && column->unit <= 1;
    return estimate;
}

Estimate stats_estimate(Column column)
{
    Estimate estimate = estimate_values(&column, NULL);
    if (estimate.rate) {
        interval_wilson(&estimate);
    } else {
        interval_normal(&estimate);
    }
    return estimate;
}

Estimate stats_paired(Column column, Column base)
{
    Estimate estimate = estimate_values(&column, &base);
    interval_normal(&estimate);
    return estimate;
}
