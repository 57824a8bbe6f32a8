/* A progress bar with rate and remaining time on stderr; silent if that is not a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

static const double SHOW_SECONDS = 0.05; /* between two looks at the work */

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

const char *rate_text(double rate, char out[RATE_TEXT_MAX])
{
    int places = 0;
    double least = 100;
    while (rate > 0 && rate < least && places < 6) {
        places++;
        least /= 10;
    }
    snprintf(out, RATE_TEXT_MAX, "%.*f", places, rate);
    return out;
}

static void print_bar(const Progress *progress, uint64_t done)
{
    char bar[BAR_WIDTH + 1];
    uint64_t filled = done * BAR_WIDTH / progress->total;
    for (uint64_t i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3" PRIu64 " %%  %" PRIu64 "/%" PRIu64, progress->label, bar,
            done * 100 / progress->total, done, progress->total);
}

void progress_show(Progress *progress, uint64_t done)
{
    double now = progress->shown ? clock_seconds() : 0;
    if (!progress->shown || now < progress->next) {
        return;
    }
    char text[RATE_TEXT_MAX];
    double elapsed = now - progress->start;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    progress->next = now + SHOW_SECONDS;
    print_bar(progress, done);
    fprintf(stderr, "  %s/s", rate_text(rate, text));
    if (progress->decisions > 0 && elapsed > 0) {
        fprintf(stderr, "  %s decisions/s", rate_text((double)progress->decisions / elapsed, text));
    }
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
