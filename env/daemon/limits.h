/* Every limit of the daemon, in one place: shown by hello, set by --limit NAME=VALUE. */
#pragma once

#include <stdint.h>

/* LIMIT(name, standard, minimum, maximum, help) */
#define LIMITS(LIMIT)                                                                              \
    LIMIT(message_bytes, 16 << 20, 1024, 1 << 30, "bytes of a request")                            \
    LIMIT(message_elements, 4096, 64, 1 << 20, "values in a request")                              \
    LIMIT(sessions, 12000, 1, 60000, "open sessions")                                              \
    LIMIT(requests_in_flight, 64, 1, 1024, "requests of a session that are not answered yet")      \
    LIMIT(replies_kept, 64, 1, 1024, "last replies of a session kept for repeated requests")       \
    LIMIT(reply_bytes_kept, 64 << 20, 1 << 16, 1 << 30, "bytes of those replies")                  \
    LIMIT(replies_queued, 128, 1, 100000, "replies that a client may leave unread")                \
    LIMIT(pools, 256, 1, 4096, "open pools")                                                       \
    LIMIT(pools_per_session, 16, 1, 4096, "pools that a session has opened or joined")             \
    LIMIT(slots, 1 << 20, 1, 1 << 20, "slots of a pool")                                           \
    LIMIT(threads, 64, 1, 256, "threads of a pool")                                                \
    LIMIT(memory_bytes, INT64_C(4) << 30, 1 << 20, INT64_C(1) << 40,                               \
          "bytes of all pools, snapshots and messages")                                            \
    LIMIT(snapshots, 65536, 1, 1 << 24, "snapshots of a pool")                                     \
    LIMIT(rollout_copies, 1 << 16, 1, 1 << 20, "copies that a rollout plays")                      \
    LIMIT(board_bytes, 1 << 20, 1024, 1 << 20, "bytes of a board or deck")                         \
    LIMIT(shm_spin_us, 50, 0, 4000000,                                                             \
          "microseconds that a pool looks at shared memory before it sleeps")                      \
    LIMIT(idle_ms, 600000, 100, INT64_C(1) << 40, "silence after which a session ends")            \
    LIMIT(resume_ms, 1500, 0, INT64_C(1) << 40,                                                    \
          "time after a disconnect within which a session can be taken up again")

typedef struct Limits {
#define LIMIT_MEMBER(NAME, STANDARD, MINIMUM, MAXIMUM, HELP) uint64_t NAME;
    LIMITS(LIMIT_MEMBER)
#undef LIMIT_MEMBER
} Limits;

typedef struct LimitInfo {
    const char *name;
    uint64_t standard;
    uint64_t minimum;
    uint64_t maximum;
    const char *help;
} LimitInfo;

enum {
#define LIMIT_COUNT_ONE(NAME, STANDARD, MINIMUM, MAXIMUM, HELP) +1
    LIMIT_COUNT = 0 LIMITS(LIMIT_COUNT_ONE),
#undef LIMIT_COUNT_ONE
};

extern const LimitInfo limit_infos[LIMIT_COUNT];

Limits limits_standard(void);
/* The value of limit number `index`, in the order of the list. */
uint64_t *limit_at(Limits *limits, uint32_t index);
