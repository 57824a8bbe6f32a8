/* Every limit of the daemon, in one place: shown by hello, set by --limit NAME=VALUE. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* LIMIT(name, standard, minimum, maximum, help) */
#define LIMITS(LIMIT)                                                                              \
    LIMIT(message_bytes, 16 << 20, 1024, 1 << 30, "bytes of a request")                            \
    LIMIT(message_elements, 4096, 64, 1 << 20, "values in a request")                              \
    LIMIT(hello_bytes, 1 << 16, 4096, 1 << 24,                                                     \
          "bytes that a tcp connection without a session may have sent of an unfinished message")  \
    LIMIT(hello_ms, 60000, 100, INT64_C(1) << 40,                                                  \
          "time after which a connection without a session is closed")                             \
    LIMIT(sessions, 12000, 1, 60000, "open sessions")                                              \
    LIMIT(sessions_per_key, 12000, 1, 60000, "of those, sessions of one key")                      \
    LIMIT(requests_in_flight, 64, 1, 1024, "requests of a session that are not answered yet")      \
    LIMIT(requests_per_key, 65536, 1, 1 << 24, "the same for all sessions of a key")               \
    LIMIT(requests_in_all, 65536, 1, 1 << 24, "the same for all sessions")                         \
    LIMIT(replies_kept, 64, 1, 1024, "last replies of a session kept for repeated requests")       \
    LIMIT(reply_bytes_kept, 64 << 20, 1 << 16, 1 << 30, "bytes of those replies")                  \
    LIMIT(reply_bytes_kept_in_all, 256 << 20, 1 << 16, INT64_C(1) << 40,                           \
          "the same for all sessions, and never more than a quarter of memory_bytes")              \
    LIMIT(replies_queued, 128, 1, 100000, "replies that a client may leave unread")                \
    LIMIT(pools, 256, 1, 4096, "open pools")                                                       \
    LIMIT(pools_per_session, 16, 1, 4096, "pools that a session has opened or joined")             \
    LIMIT(pools_per_key, 256, 1, 4096, "pools that the sessions of a key have opened")             \
    LIMIT(slots, 1 << 20, 1, 1 << 20, "slots of a pool")                                           \
    LIMIT(slots_per_session, 1 << 24, 1, INT64_C(1) << 32, "slots of a session's pools")           \
    LIMIT(slots_per_key, 1 << 24, 1, INT64_C(1) << 32, "slots of the pools of a key")              \
    LIMIT(threads, 64, 1, 256, "threads of a pool")                                                \
    LIMIT(threads_per_session, 256, 1, 1 << 16, "threads of a session's pools")                    \
    LIMIT(threads_per_key, 512, 1, 1 << 16, "threads of the pools of a key")                       \
    LIMIT(threads_in_all, 512, 1, 1 << 16, "threads of all pools")                                 \
    LIMIT(memory_bytes, INT64_C(4) << 30, 1 << 20, INT64_C(1) << 40,                               \
          "bytes of all pools, snapshots, messages, kept replies and sessions")                    \
    LIMIT(bytes_per_session, INT64_C(1) << 40, 1 << 16, INT64_C(1) << 40,                          \
          "of those, bytes of a session")                                                          \
    LIMIT(bytes_per_key, INT64_C(1) << 40, 1 << 16, INT64_C(1) << 40,                              \
          "of those, bytes of all sessions of a key")                                              \
    LIMIT(snapshots, 65536, 1, 1 << 24, "snapshots of a pool")                                     \
    LIMIT(snapshots_per_session, 1 << 20, 1, 1 << 28, "snapshots of a session's pools")            \
    LIMIT(snapshots_per_key, 1 << 20, 1, 1 << 28, "snapshots of the pools of a key")               \
    LIMIT(rollout_copies, 1 << 16, 1, 1 << 20, "copies that a rollout plays")                      \
    LIMIT(board_bytes, 1 << 20, 1024, 1 << 20, "bytes of a board or deck")                         \
    LIMIT(shm_spin_us, 50, 0, 4000000,                                                             \
          "microseconds that a pool spins on shared memory before it sleeps")                      \
    LIMIT(heartbeat_ms, 10000, 100, 3600000,                                                       \
          "silence of a tcp connection, heartbeats included, after which it is closed")            \
    LIMIT(idle_ms, 600000, 100, INT64_C(1) << 40, "silence after which a session ends")            \
    LIMIT(resume_ms, 1500, 0, INT64_C(1) << 40,                                                    \
          "time after a disconnect within which a session can be resumed")

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
/* True for limits that size tables and sockets: they are those of the daemon's start. */
bool limit_is_fixed(uint32_t index);
/* The value of limit number `index`, in the order of the list. */
uint64_t *limit_at(Limits *limits, uint32_t index);
/* The number of the limit of this name, which must exist. */
uint32_t limit_index(const char *name);
