/* What the two files of the shared-memory client share. */
#pragma once

#include "proto/client_shm.h"
#include "proto/shm.h"

#include <time.h>

struct TyShmClient {
    int lease;
    int fds[SHM_DESCRIPTORS]; /* rows, commands, to_pool, to_client */
    const uint8_t *rows;
    uint8_t *commands;
    ShmHeader header; /* a copy: what was checked is what is used */
    const ShmPool *words;
    ShmCommand *orders;
    uint64_t which_offset[TY_GROUPS_MAX];
    uint32_t number[TY_GROUPS_MAX]; /* of the last command */
    uint32_t seen[TY_GROUPS_MAX];   /* `published` when the group was last waited for */
    uint32_t turn;                  /* the group that ty_shm_wait_any looks at first */
    double pause_ns;                /* how long a look takes */
    ShmSpin spin;                   /* in looks */
    uint64_t sleeps;
    TySlab slab;
};

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
