/* A client for shared memory: maps a member's segments and plays through them. Its slab is used
 * like one of a pool in this process: read rows, write actions, submit, wait.
 *
 *     ty_shm_connect(&address, &client);
 *     const TySlab *slab = ty_shm_slab(client);
 *     for (;;) {
 *         ty_sample_rows(slab, 0, seed);
 *         ty_shm_submit(client, 0, NULL);
 *         if (ty_shm_wait(client, 0, -1) != TY_SHM_READY) break;
 *     }
 *
 * With several groups the daemon steps one while the client works on another. A client belongs to
 * one thread. */
#pragma once

#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A member's mapped segments, and the connection that keeps them. */
typedef struct TyShmClient TyShmClient;

/* Where to get a member's segments: the path comes from the daemon's reply to `hello`, the rest
 * from its reply to `open` or `join`. */
typedef struct TyShmAddress {
    const char *path; /* of the daemon's unix socket */
    uint8_t token[16];
    uint64_t pool;
    uint32_t member;
    uint32_t timeout_ms; /* for the handshake; 0 counts as 5000 */
} TyShmAddress;

/* How a wait ended. */
typedef enum TyShmWait {
    TY_SHM_READY,   /* the rows are up to date: see ty_shm_news */
    TY_SHM_TIMEOUT, /* not yet */
    TY_SHM_CLOSED,  /* the daemon is gone, or has closed the pool; rows stay readable as they are */
} TyShmWait;

/* What the daemon says about a group. */
typedef struct TyShmNews {
    uint32_t ready;   /* rows that wait for an action */
    uint32_t illegal; /* rows whose action the last step refused */
    uint32_t result;  /* 0: the last command was carried out; otherwise see SHM.md */
    uint32_t given;   /* number of the last command that was submitted */
    uint32_t served;  /* number of the last command that the daemon has carried out */
    uint32_t ignored; /* rows whose action did not count, since they became ready after the last
                         ty_shm_wait: they are ready still */
} TyShmNews;

/* Maps the segments. The caller closes `*client`, which is NULL on failure: TY_IO if no daemon
 * answers there or its reply is invalid, TY_BAD_ARGUMENT if it has no such member, TY_LIMIT if the
 * memory is in use, TY_NO_MEMORY. ty_client_attach does this for a pool of a TyClient. */
TY_API TyStatus ty_shm_connect(const TyShmAddress *address, TyShmClient **client);
/* Unmaps the segments, which gives up the member's seats. `client` may be NULL. */
TY_API void ty_shm_close(TyShmClient *client);

/* The member's columns, valid until the client is closed. Its `rows` are mapped read-only. */
TY_API const TySlab *ty_shm_slab(const TyShmClient *client);
/* The ruleset's canonical string, valid until the client is closed. */
TY_API const char *ty_shm_spec(const TyShmClient *client);
/* The hash of the ruleset's schema, to compare with the client's own. */
TY_API uint64_t ty_shm_schema_hash(const TyShmClient *client);

/* Submits the actions of a group: for every ready row, or for those whose `which` byte is set (one
 * per row of the group; NULL: all). They count for rows that were ready when ty_shm_wait returned
 * last, or the client was connected; others stay as they are. False, and nothing happens, if the
 * group's previous command has not been waited for. */
TY_API bool ty_shm_submit(TyShmClient *client, uint32_t group, const uint8_t *which);
/* Waits until the group's command is done or, if none is in flight, until the daemon publishes rows
 * that became ready through other members. A negative `timeout_ms` waits as long as the daemon
 * lives. */
TY_API TyShmWait ty_shm_wait(TyShmClient *client, uint32_t group, int timeout_ms);
/* Waits for the first group that is done and sets `*group`; groups are looked at in turn. */
TY_API TyShmWait ty_shm_wait_any(TyShmClient *client, uint32_t *group, int timeout_ms);
/* What the daemon says about the group, which must be one of the slab's, now. */
TY_API TyShmNews ty_shm_news(const TyShmClient *client, uint32_t group);

/* How long ty_shm_wait spins before it sleeps. The default is 50 us, and 0 with one processor. */
TY_API void ty_shm_set_spin(TyShmClient *client, uint32_t microseconds);
/* How often ty_shm_wait has slept so far. */
TY_API uint64_t ty_shm_sleeps(const TyShmClient *client);

#ifdef __cplusplus
}
#endif
