/* Means with 95 % confidence intervals, over columns of integers. */
#include "cli/estimate.h"

#include <assert.h>
#include <math.h>

/* 97.5 % of a standard normal variable lies below this. */
static const double Z95 = 1.959963984540054;

static double column_value(const Column *column, const Column *base, uint32_t index)
{
    double value = column->unit * column->values[index * column->stride];
    return base != NULL ? value - base->unit * base->values[index * base->stride] : value;
}

/* 97.5 % of Student's variable with `freedom` degrees of freedom lies below this: exact where the
 * expansion around the normal one (Abramowitz and Stegun 26.7.5) is too coarse. */
static double student95(double freedom)
{
    static const double exact[] = {INFINITY, 12.706204736432095, 4.302652729911275};
    if (freedom < 3) {
        return exact[(int)freedom];
    }
    double z = Z95;
    double z2 = z * z;
    double terms[] = {
        z * (z2 + 1) / 4,
        z * (5 * z2 * z2 + 16 * z2 + 3) / 96,
        z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384,
        z * (79 * z2 * z2 * z2 * z2 + 776 * z2 * z2 * z2 + 1482 * z2 * z2 - 1920 * z2 - 945) /
            92160,
    };
    double sum = z;
    double power = freedom;
    for (int i = 0; i < 4; i++) {
        sum += terms[i] / power;
        power *= freedom;
    }
    return sum;
}

/* Wilson's score interval of a share that was seen in `n` observations: honest near 0 and 1 too. */
static void interval_wilson(Estimate *estimate, double n, double z)
{
    double p = estimate->mean;
    double scale = 1 + z * z / n;
    double centre = (p + z * z / (2 * n)) / scale;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
    estimate->low = fmin(p, fmax(0, centre - half));
    estimate->high = fmax(p, fmin(1, centre + half));
}

double stats_worth(const Estimate *estimate, uint32_t parts)
{
    double n = estimate->count;
    double variance = estimate->deviation * estimate->deviation / n;
    double binomial = estimate->mean * (1 - estimate->mean);
    return variance > 0 && parts > 1 ? fmin(fmax(binomial / variance, n), n * parts) : n;
}

static void interval_share(Estimate *estimate, uint32_t parts)
{
    bool spread = estimate->deviation > 0 && parts > 1;
    interval_wilson(estimate, stats_worth(estimate, parts),
                    spread ? student95(estimate->count - 1.0) : Z95);
}

static void interval_student(Estimate *estimate)
{
    double error = estimate->deviation / sqrt(estimate->count);
    double half = estimate->count > 1 ? student95(estimate->count - 1.0) * error : INFINITY;
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
    bool plain = binary && column->unit >= 1 && column->unit <= 1;
    estimate.rate = base == NULL && (plain || column->parts > 0);
    return estimate;
}

Estimate stats_estimate(Column column)
{
    Estimate estimate = estimate_values(&column, NULL);
    if (estimate.rate) {
        interval_share(&estimate, column.parts > 0 ? column.parts : 1);
    } else {
        interval_student(&estimate);
    }
    return estimate;
}

Estimate stats_paired(Column column, Column base)
{
    Estimate estimate = estimate_values(&column, &base);
    interval_student(&estimate);
    return estimate;
}

static double values_sum(const int32_t *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

Estimate stats_shares(const int32_t *const *values, const int32_t *const *bases, uint32_t pairs,
                      uint32_t count)
{
    Estimate estimate = {.count = count, .minimum = INFINITY, .maximum = -INFINITY};
    double share[STATS_SHARES_MAX];
    double base[STATS_SHARES_MAX];
    double squares = 0;
    assert(pairs > 0 && pairs <= STATS_SHARES_MAX);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        base[pair] = values_sum(bases[pair], count) / count;
        share[pair] =
            base[pair] > 0 ? values_sum(values[pair], count) / count / base[pair] : (double)NAN;
        estimate.mean += share[pair] / pairs;
        estimate.minimum = fmin(estimate.minimum, share[pair]);
        estimate.maximum = fmax(estimate.maximum, share[pair]);
    }
    for (uint32_t i = 0; i < count; i++) {
        double change = 0;
        for (uint32_t pair = 0; pair < pairs; pair++) {
            change += (values[pair][i] - share[pair] * bases[pair][i]) / base[pair] / pairs;
        }
        squares += change * change;
    }
    estimate.deviation = count > 1 ? sqrt(squares / (count - 1)) : 0;
    interval_student(&estimate);
    return estimate;
}
