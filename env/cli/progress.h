/* A progress bar with rate and remaining time on stderr; silent if that is not a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Progress {
    const char *label;
    uint64_t total;
    uint64_t decisions; /* so far, for their rate; 0: not told */
    double start;
    double next; /* when to show it again */
    bool shown;  /* stderr is a terminal */
} Progress;

enum { RATE_TEXT_MAX = 32 };

/* Time that only goes forward. */
double clock_seconds(void);
/* A rate with three digits or more, also a slow one: "1234567", "12.3", "0.0123". Returns `out`. */
const char *rate_text(double rate, char out[RATE_TEXT_MAX]);

Progress progress_open(const char *label, uint64_t total);
/* Shows how far the work is, some times in a second at most. */
void progress_show(Progress *progress, uint64_t done);
/* Removes the bar. */
void progress_close(const Progress *progress);
