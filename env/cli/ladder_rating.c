/* Ratings by Bradley and Terry: the odds of a win are those of the strengths. */
#include "cli/ladder.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_MAX = 200 };

static const double points_per_log = 173.71779276130073; /* 400 / ln 10 */
static const double z95 = 1.959963984540054;

/* The search for the likeliest strengths, by Newton's method. */
typedef struct Fit {
    uint32_t count;
    double *strength;  /* logarithms */
    double *slope;     /* of the likelihood's logarithm */
    double *curvature; /* [count][count], negated; then its factor */
    double *column;
} Fit;

static double chance(double strength)
{
    return 1 / (1 + exp(-strength));
}

/* One drawn game against an agent of strength 0. */
static void fit_prior(Fit *fit)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        double p = chance(fit->strength[i]);
        fit->slope[i] = 0.5 - p;
        for (uint32_t j = 0; j < fit->count; j++) {
            fit->curvature[i * fit->count + j] = i == j ? p * (1 - p) : 0;
        }
    }
}

static void fit_record(Fit *fit, const LadderRecord *record)
{
    Estimate share = stats_estimate((Column){.values = record->values,
                                             .stride = 1,
                                             .count = record->count,
                                             .unit = 1.0 / LADDER_PAIR_POINTS,
                                             .parts = 2});
    double worth = stats_worth(&share, 2);
    uint32_t a = record->agents[0];
    uint32_t b = record->agents[1];
    double p = chance(fit->strength[a] - fit->strength[b]);
    double weight = worth * p * (1 - p);
    fit->slope[a] += worth * (share.mean - p);
    fit->slope[b] -= worth * (share.mean - p);
    fit->curvature[a * fit->count + a] += weight;
    fit->curvature[b * fit->count + b] += weight;
    fit->curvature[a * fit->count + b] -= weight;
    fit->curvature[b * fit->count + a] -= weight;
}

/* Cholesky's factor in place of the lower half of the curvature. */
static void fit_factor(Fit *fit)
{
    for (uint32_t j = 0; j < fit->count; j++) {
        for (uint32_t i = j; i < fit->count; i++) {
            double *row = fit->curvature + (size_t)i * fit->count;
            const double *other = fit->curvature + (size_t)j * fit->count;
            double sum = row[j];
            for (uint32_t k = 0; k < j; k++) {
                sum -= row[k] * other[k];
            }
            row[j] = i == j ? sqrt(sum) : sum / other[j];
        }
    }
}

/* Solves curvature * x = `vector`, in place. */
static void fit_solve(const Fit *fit, double *vector)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        const double *row = fit->curvature + (size_t)i * fit->count;
        for (uint32_t k = 0; k < i; k++) {
            vector[i] -= row[k] * vector[k];
        }
        vector[i] /= row[i];
    }
    for (uint32_t i = fit->count; i-- > 0;) {
        for (uint32_t k = i + 1; k < fit->count; k++) {
            vector[i] -= fit->curvature[(size_t)k * fit->count + i] * vector[k];
        }
        vector[i] /= fit->curvature[(size_t)i * fit->count + i];
    }
}

/* A step of at most 1, so that it cannot overshoot far. Returns its length. */
static double fit_step(Fit *fit, const Ladder *ladder)
{
    double longest = 0;
    fit_prior(fit);
    for (size_t i = 0; i < ladder->record_count; i++) {
        fit_record(fit, &ladder->records[i]);
    }
    fit_factor(fit);
    fit_solve(fit, fit->slope);
    for (uint32_t i = 0; i < fit->count; i++) {
        longest = fmax(longest, fabs(fit->slope[i]));
    }
    for (uint32_t i = 0; i < fit->count; i++) {
        fit->strength[i] += fit->slope[i] / fmax(1, longest);
    }
    return longest;
}

/* The variance of an agent's strength less the mean of all: the curvature's inverse, weighed by
 * that difference. */
static double fit_variance(const Fit *fit, uint32_t agent)
{
    double variance = 0;
    for (uint32_t i = 0; i < fit->count; i++) {
        fit->column[i] = (i == agent) - 1.0 / fit->count;
    }
    fit_solve(fit, fit->column);
    for (uint32_t i = 0; i < fit->count; i++) {
        variance += fit->column[i] * ((i == agent) - 1.0 / fit->count);
    }
    return variance;
}

static void fit_tell(const Fit *fit, LadderRating *ratings)
{
    double mean = 0;
    for (uint32_t i = 0; i < fit->count; i++) {
        mean += fit->strength[i] / fit->count;
    }
    for (uint32_t i = 0; i < fit->count; i++) {
        double rating = points_per_log * (fit->strength[i] - mean);
        double half = points_per_log * z95 * sqrt(fit_variance(fit, i));
        ratings[i].value = (Estimate){.mean = rating, .low = rating - half, .high = rating + half};
    }
}

void ladder_rate(const Ladder *ladder, LadderRating *ratings)
{
    uint32_t count = ladder->name_count;
    Fit fit = {.count = count};
    fit.strength = cli_memory(calloc(count, sizeof(double)));
    fit.slope = cli_memory(calloc(count, sizeof(double)));
    fit.column = cli_memory(calloc(count, sizeof(double)));
    fit.curvature = cli_memory(calloc((size_t)count * count, sizeof(double)));
    double length = 1;
    for (uint32_t i = 0; i < STEPS_MAX && length > 1e-9; i++) {
        length = fit_step(&fit, ladder);
    }
    fit_tell(&fit, ratings);
    free(fit.strength);
    free(fit.slope);
    free(fit.column);
    free(fit.curvature);
}
