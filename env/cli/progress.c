/* A progress bar with rate and remaining time on stderr; silent if that is not a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Progress progress_open(const char *label, uint64_t total)
{
    return (Progress){
        .label = label,
        .total = total > 0 ? total : 1,
        .start = clock_seconds(),
        .shown = isatty(STDERR_FILENO) == 1,
    };
}

void progress_show(const Progress *progress, uint64_t done)
{
    if (!progress->shown) {
        return;
    }
    double elapsed = clock_seconds() - progress->start;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    char bar[BAR_WIDTH + 1];
    uint64_t filled = done * BAR_WIDTH / progress->total;
    for (uint64_t i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3" PRIu64 " %%  %" PRIu64 "/%" PRIu64 "  %.0f/s", progress->label,
            bar, done * 100 / progress->total, done, progress->total, rate);
    if (rate > 0) {
        unsigned left = (unsigned)((double)(progress->total - done) / rate + 0.5);
        fprintf(stderr, "  %u:%02u left", left / 60, left % 60);
    }
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

void progress_close(const Progress *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
}
