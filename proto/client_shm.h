/* A client of the shared-memory door: fetches a member's segments from the daemon and plays through
 * them. The slab that it offers is used like one of a pool in this process: read rows, write
 * actions, submit, wait.
 *
 *     ty_shm_connect(&address, &client);
 *     const TySlab *slab = ty_shm_slab(client);
 *     for (;;) {
 *         ty_sample_rows(slab, 0, seed);
 *         ty_shm_submit(client, 0, NULL);
 *         if (ty_shm_wait(client, 0, -1) != TY_SHM_READY) break;
 *     }
 *
 * With several groups one is submitted while another is thought about. A client belongs to one
 * thread. */
#pragma once

#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TyShmClient TyShmClient;

/* Where a member's segments are fetched: all of it comes from the daemon's answer to `open` or
 * `join`. */
typedef struct TyShmAddress {
    const char *path; /* of the daemon's unix socket */
    uint8_t token[16];
    uint64_t pool;
    uint32_t member;
    uint32_t timeout_ms; /* for the handshake; 0 counts as 5000 */
} TyShmAddress;

typedef enum TyShmWait {
    TY_SHM_READY,   /* the rows are as the words say */
    TY_SHM_TIMEOUT, /* not yet */
    TY_SHM_CLOSED,  /* the daemon is gone, or has closed the pool; rows stay readable as they are */
} TyShmWait;

/* What the daemon said when the group was last waited for. */
typedef struct TyShmNews {
    uint32_t ready;   /* rows that wait for an action */
    uint32_t illegal; /* rows whose action the last step refused */
    uint32_t result;  /* 0: the last command was carried out; otherwise see SHM.md */
    uint32_t given;   /* number of the last command that was submitted; the next one has one more */
    uint32_t served;  /* number of the last command that the daemon has carried out */
} TyShmNews;

/* The caller closes the client. */
TY_API TyStatus ty_shm_connect(const TyShmAddress *address, TyShmClient **client);
TY_API void ty_shm_close(TyShmClient *client);

/* The member's columns, in this process's memory. `rows` must not be written: it is read-only. */
TY_API const TySlab *ty_shm_slab(const TyShmClient *client);
/* The ruleset's canonical string and the hash of its schema, to be compared with one's own. */
TY_API const char *ty_shm_spec(const TyShmClient *client);
TY_API uint64_t ty_shm_schema_hash(const TyShmClient *client);

/* Gives the actions of a group to the daemon: for every ready row, or for those whose `which` byte
 * is set (one per row of the group; NULL: all). The group's previous command must have been waited
 * for; otherwise nothing happens and the result is false. */
TY_API bool ty_shm_submit(TyShmClient *client, uint32_t group, const uint8_t *which);
/* Waits until the group's command is carried out or, if none is under way, until the daemon
 * publishes rows that others made ready. A negative `timeout_ms` waits as long as the daemon lives.
 */
TY_API TyShmWait ty_shm_wait(TyShmClient *client, uint32_t group, int timeout_ms);
/* Waits for whichever group comes first, in turn. */
TY_API TyShmWait ty_shm_wait_any(TyShmClient *client, uint32_t *group, int timeout_ms);
TY_API TyShmNews ty_shm_news(const TyShmClient *client, uint32_t group);

/* For how long ty_shm_wait looks before it sleeps. The standard is 50 us, and 0 with one processor.
 */
TY_API void ty_shm_set_spin(TyShmClient *client, uint32_t microseconds);
/* How often it had to sleep so far. */
TY_API uint64_t ty_shm_sleeps(const TyShmClient *client);

#ifdef __cplusplus
}
#endif
