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
} Column;

typedef struct Estimate {
    uint32_t count;
    double mean;
    double low; /* the 95 % confidence interval of the mean */
    double high;
    double deviation; /* of one value */
    double minimum;
    double maximum;
    bool rate; /* every value is 0 or 1: the interval is Wilson's, otherwise the normal one */
} Estimate;

/* `count` is at least 1. A single value has an interval of no width. */
Estimate stats_estimate(Column column);
/* Of the differences `column - base`, episode by episode: luck that both shared cancels out. */
Estimate stats_paired(Column column, Column base);
