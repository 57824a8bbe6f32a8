/* Means with 95 % confidence intervals, over columns of integers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `count` integers, `stride` apart. One stands for `unit`. */
typedef struct Column {
    const int32_t *values;
    size_t stride;
    uint32_t count;
    double unit;
    uint32_t parts; /* every value counts how many of so many parts; 0: it is no such count */
} Column;

typedef struct Estimate {
    uint32_t count;
    double mean;
    double low; /* the 95 % confidence interval of the mean */
    double high;
    double deviation; /* of one value */
    double minimum;
    double maximum;
    bool
        rate; /* a share, or every value is 0 or 1: the interval is Wilson's, otherwise Student's */
} Estimate;

/* `count` is at least 1. A single value says nothing about the mean of others: unless it is a rate,
 * its interval has no ends. */
Estimate stats_estimate(Column column);
/* Of the differences `column - base`, episode by episode: luck that both shared cancels out. */
Estimate stats_paired(Column column, Column base);
enum { STATS_SHARES_MAX = 64 };

/* The mean of `pairs` shares, at most STATS_SHARES_MAX: what the sum of values[i] is of the sum of
 * bases[i]. All of them have `count` numbers, one for each seed, whose luck they share. A share of
 * nothing is NAN. The interval is Student's, of the shares' first-order change with each seed. */
Estimate stats_shares(const int32_t *const *values, const int32_t *const *bases, uint32_t pairs,
                      uint32_t count);
/* How many observations shares of `parts` are worth, whose parts may have had the same luck: their
 * spread says it, between one for each and one for each part. */
double stats_worth(const Estimate *estimate, uint32_t parts);
