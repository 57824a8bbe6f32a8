/* Confidence intervals of sim and arena, and rates, against values from tables. */
#include "cli/estimate.h"
#include "cli/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.6f, expected %.6f", value, expected);
    }
}

static Estimate estimate_of(const int32_t *values, uint32_t count, uint32_t parts)
{
    return stats_estimate((Column){.values = values,
                                   .stride = 1,
                                   .count = count,
                                   .unit = parts > 0 ? 1.0 / parts : 1,
                                   .parts = parts});
}

/* Of `count` values the first `ones` are `high`, the others 0. */
static Estimate share_of(uint32_t ones, uint32_t count, int32_t high, uint32_t parts)
{
    int32_t values[100] = {0};
    for (uint32_t i = 0; i < ones; i++) {
        values[i] = high;
    }
    return estimate_of(values, count, parts);
}

static void test_rates_have_wilson_intervals(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t ones, count;
        double low, high;
    } known[] = {
        {0, 10, 0, 0.277533},         {10, 10, 0.722467, 1}, {5, 10, 0.236593, 0.763407},
        {1, 1, 0.206549, 1},          {0, 1, 0, 0.793451},   {50, 100, 0.403832, 0.596168},
        {1, 100, 0.001767, 0.054486},
    };
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        Estimate estimate = share_of(known[i].ones, known[i].count, 1, 0);
        assert_true(estimate.rate);
        near(estimate.low, known[i].low, 1e-5);
        near(estimate.high, known[i].high, 1e-5);
    }
}

static void test_means_have_student_intervals(void **unused)
{
    (void)unused;
    /* The half width of 0, 2, 0, 2, ... with `count` values, by the quantile of the tables. */
    static const struct {
        uint32_t count;
        double quantile;
    } known[] = {{2, 12.7062},  {4, 3.18245},  {6, 2.57058},
                 {10, 2.26216}, {30, 2.04523}, {100, 1.98422}};
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int32_t values[100];
        uint32_t count = known[i].count;
        for (uint32_t k = 0; k < count; k++) {
            values[k] = k % 2 == 0 ? 0 : 2;
        }
        Estimate estimate = estimate_of(values, count, 0);
        double error = sqrt(1.0 / (count - 1));
        assert_false(estimate.rate);
        near(estimate.mean, 1, 0);
        near((estimate.high - estimate.low) / 2 / error, known[i].quantile, 0.004);
    }
    Estimate single = estimate_of((const int32_t[]){7}, 1, 0);
    assert_true(isinf(single.low) && isinf(single.high) && single.low < single.high);
}

static void test_paired_differences_have_student_intervals(void **unused)
{
    (void)unused;
    const int32_t own[] = {1, 1, 1, 0};
    const int32_t base[] = {0, 1, 0, 0};
    Estimate estimate = stats_paired((Column){own, 1, 4, 1, 0}, (Column){base, 1, 4, 1, 0});
    near(estimate.mean, 0.5, 0);
    near(estimate.high - 0.5, 3.18245 * sqrt(1.0 / 3) / 2, 0.002);
}

/* Shares that come in parts are worth as many observations as their spread says. */
static void test_shares_stay_between_0_and_1(void **unused)
{
    (void)unused;
    for (uint32_t count = 1; count <= 20; count++) {
        for (uint32_t ones = 0; ones <= count; ones++) {
            Estimate estimate = share_of(ones, count, 2, 2);
            assert_true(estimate.rate);
            assert_true(estimate.low >= 0 && estimate.low <= estimate.mean);
            assert_true(estimate.high <= 1 && estimate.high >= estimate.mean);
            assert_true(estimate.low < estimate.high);
        }
    }
    near(share_of(10, 10, 2, 2).low, 0.722467, 1e-5); /* as if each seed were one observation */
    /* Both parts of a value alike: one observation each. As independent as they look: two. */
    int32_t apart[100];
    for (uint32_t i = 0; i < 100; i++) {
        apart[i] = (int32_t)(i % 4 == 0) * 2 + (int32_t)(i % 4 < 3 && i % 4 > 0);
    }
    Estimate alike = share_of(50, 100, 2, 2);
    Estimate independent = estimate_of(apart, 100, 2);
    near(alike.mean, independent.mean, 0);
    near(alike.high - alike.low, 0.1946, 0.002);
    near(independent.high - independent.low, 0.1386, 0.002);
}

static void test_slow_rates_are_not_zero(void **unused)
{
    (void)unused;
    char text[RATE_TEXT_MAX];
    assert_string_equal(rate_text(0, text), "0");
    assert_string_equal(rate_text(1234567.4, text), "1234567");
    assert_string_equal(rate_text(12.34, text), "12.3");
    assert_string_equal(rate_text(1.234, text), "1.23");
    assert_string_equal(rate_text(0.01234, text), "0.0123");
}

/* Of sums, and on the average; what every seed does alike leaves no doubt. */
static void test_shares_of_a_base_have_student_intervals(void **unused)
{
    (void)unused;
    const int32_t half[] = {1, 2, 3, 4};
    const int32_t base[] = {2, 4, 6, 8};
    const int32_t other[] = {8, 6, 4, 2};
    const int32_t none[] = {0, 0, 0, 0};
    const int32_t *const values[] = {half, base};
    const int32_t *const bases[] = {base, base};
    Estimate sure = stats_shares(values, bases, 2, 4);
    near(sure.mean, 0.75, 1e-12);
    near(sure.high - sure.low, 0, 1e-12);
    near(sure.minimum, 0.5, 1e-12);
    Estimate spread = stats_shares(&(const int32_t *const){other}, bases, 1, 4);
    near(spread.mean, 1, 1e-12);
    /* Changes of 6, 2, -2 and -6, of a mean of 5. */
    near(spread.high - 1, 3.18245 * sqrt(80.0 / 3) / 5 / 2, 0.002);
    assert_true(isnan(stats_shares(values, &(const int32_t *const){none}, 1, 4).mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_have_wilson_intervals),
        cmocka_unit_test(test_means_have_student_intervals),
        cmocka_unit_test(test_paired_differences_have_student_intervals),
        cmocka_unit_test(test_shares_stay_between_0_and_1),
        cmocka_unit_test(test_shares_of_a_base_have_student_intervals),
        cmocka_unit_test(test_slow_rates_are_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
