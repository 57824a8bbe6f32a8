/* A recorder that is heard, in a system that refuses calls: for the tests of logs. */
#pragma once

#include "tests/replay/log_table.h"
#include "tests/support/faults.h"

#include "replay/writer.h"

static uint32_t told;
static char last_sentence[TY_MESSAGE_MAX];

static inline void hear(void *user, const char *sentence)
{
    (void)user;
    told++;
    snprintf(last_sentence, sizeof last_sentence, "%s", sentence);
}

static inline RecorderOptions heard_options(void)
{
    RecorderOptions options = quiet_options();
    options.message = hear;
    told = 0;
    last_sentence[0] = '\0';
    return options;
}

/* Somebody who counts memory. */
typedef struct Budget {
    uint64_t used;
    uint64_t most;
} Budget;

static inline bool budget_take(void *user, uint64_t bytes)
{
    Budget *budget = user;
    bool fits = bytes <= budget->most - budget->used;
    budget->used += fits ? bytes : 0;
    return fits;
}

static inline void budget_give(void *user, uint64_t bytes)
{
    Budget *budget = user;
    assert_true(bytes <= budget->used);
    budget->used -= bytes;
}

static inline RecorderMemory budget_memory(Budget *budget)
{
    return (RecorderMemory){.user = budget, .take = budget_take, .give = budget_give};
}

/* A disk that is full, or cannot be synced, for as long as a test says. */
static bool disk_refuses;

static inline ssize_t refusing_write(int fd, const void *bytes, size_t size)
{
    static bool half; /* was written of a record for which there is no room */
    half = disk_refuses && !half && size > 1;
    if (half || !disk_refuses) {
        return write(fd, bytes, half ? size / 2 : size);
    }
    errno = ENOSPC;
    return -1;
}

static inline int refusing_sync(int fd)
{
    errno = EIO;
    return disk_refuses ? -1 : fdatasync(fd);
}

static inline uint32_t count_all(uint32_t files)
{
    uint32_t found = 0;
    for (uint32_t number = 1; number <= files; number++) {
        char path[128];
        path_of(number, path);
        found += access(path, F_OK) == 0 ? count_and_verify(number) : 0;
    }
    return found;
}
