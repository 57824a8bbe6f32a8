/* What every fuzz target asks of AddressSanitizer: less that costs time in each run. Memory that
 * was freed is not used again for some runs, and a report tells the innermost callers. */
#pragma once

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=6";
}
