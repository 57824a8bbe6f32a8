/* How much a test does: more of it with TRAINYARD_LONG=1, as tests/run.sh --long sets it. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

static inline uint32_t budget(uint32_t quick, uint32_t longer)
{
    const char *wanted = getenv("TRAINYARD_LONG");
    return wanted != NULL && wanted[0] == '1' ? longer : quick;
}
