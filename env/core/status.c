/* Building the answers of functions that can fail. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

TyStatus ty_status_fail(TyCode code, const char *format, ...)
{
    TyStatus status = {.code = code};
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is one line above */
    vsnprintf(status.message, sizeof status.message, format, args);
    va_end(args);
    return status;
}
