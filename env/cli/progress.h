/* A progress bar with rate and remaining time on stderr; silent if that is not a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Progress {
    const char *label;
    uint64_t total;
    double start;
    bool shown; /* stderr is a terminal */
} Progress;

/* Time that only goes forward. */
double clock_seconds(void);

Progress progress_open(const char *label, uint64_t total);
void progress_show(const Progress *progress, uint64_t done);
/* Removes the bar. */
void progress_close(const Progress *progress);
