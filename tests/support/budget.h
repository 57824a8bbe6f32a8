/* How much a test does: more of it with TRAINYARD_LONG=1, as tests/run.sh --long sets it. With
 * AddressSanitizer, four times slower, the quick budget is a third: the same run does the whole of
 * it without. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { BUDGET_PART = 3 };
#else
enum { BUDGET_PART = 1 };
#endif

static inline uint32_t budget(uint32_t quick, uint32_t longer)
{
    const char *wanted = getenv("TRAINYARD_LONG");
    bool all = wanted != NULL && wanted[0] == '1';
    return all ? longer : (quick + BUDGET_PART - 1) / BUDGET_PART;
}
