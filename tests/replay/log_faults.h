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
