/* Building the answers of functions that can fail. */
#pragma once

#include "trainyard.h"

static inline TyStatus status_ok(void)
{
    return (TyStatus){.code = TY_OK};
}

TyStatus status_fail(TyCode code, const char *format, ...) __attribute__((format(printf, 2, 3)));
