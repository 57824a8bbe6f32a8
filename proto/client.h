/* A client of the daemon over ZeroMQ, in C: one request, one reply, and the columns of a pool's
 * rows without copies of one's own.
 *
 *     TyClient *client;
 *     ty_client_connect(&(TyClientConfig){.endpoint = "ipc:///run/user/1000/trainyard/trainyardd"},
 *                       &client);
 *     TyClientPool pool;
 *     ty_client_open_pool(client, &(TyClientOpen){.ruleset = "convoi", .slots = 64}, &pool);
 *     TyClientRows rows;
 *     ty_client_reset(client, &pool, &rows);
 *     while (playing) {
 *         choose(rows.column[TY_COLUMN_OBS], rows.column[TY_COLUMN_MASK], actions);
 *         ty_client_step(client, &pool, 0, actions, &rows);
 *     }
 *     ty_client_close(client);
 *
 * A pool that was opened with .shm = true is played through shared memory instead, at memory speed:
 *
 *     TyShmClient *shm;
 *     ty_client_attach(client, &pool, &shm);
 *     const TySlab *slab = ty_shm_slab(shm);
 *     while (playing) {
 *         choose(slab);
 *         ty_shm_submit(shm, 0, NULL);
 *         ty_shm_wait(shm, 0, -1);
 *     }
 *     ty_shm_close(shm);
 *
 * The client stays open meanwhile, for resets, snapshots and whatever else is asked.
 *
 * A client belongs to one thread. Requests that were not answered when the connection broke are
 * repeated after it is back; the daemon does them once. */
#pragma once

#include "proto/client_shm.h"
#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TY_CLIENT_COLUMNS_MAX = TY_COLUMN_COUNT,
    TY_CLIENT_TOKEN_SIZE = 64,
    TY_CLIENT_KEY_SIZE = 41, /* a CURVE key as text, with its NUL */
};

typedef struct TyClient TyClient;

typedef struct TyClientConfig {
    const char *endpoint;     /* ipc:///PATH or tcp://HOST:PORT; NULL: the standard one */
    const char *name;         /* for the daemon's statistics; may be NULL */
    const char *access_token; /* for tcp without keys; may be NULL */
    const char *server_key;   /* public CURVE key of the daemon; NULL: no encryption */
    const char *public_key;   /* of the client */
    const char *secret_key;
    uint32_t timeout_ms; /* for a reply; 0 counts as 30,000 */
} TyClientConfig;

/* Connects and says hello. The caller closes the client. */
TY_API TyStatus ty_client_connect(const TyClientConfig *config, TyClient **client);
TY_API void ty_client_close(TyClient *client);
/* The path of the daemon's shared-memory socket; "" if it has none. */
TY_API const char *ty_client_shm_path(const TyClient *client);

/* What to open; zero-initialise it. Empty means the daemon's default. */
typedef struct TyClientOpen {
    const char *ruleset;
    uint32_t slots;
    uint32_t groups;
    uint32_t threads;
    uint64_t seed;
    const char *autoreset;
    const char *illegal;
    uint32_t max_steps;
    const char *seats[TY_SEATS_MAX]; /* NULL-terminated: "me", "open" or an agent */
    bool full;
    bool hash;
    bool shm;
    uint32_t seat_timeout_ms;
    const char *on_vanish;
} TyClientOpen;

/* A pool as this client sees it. */
typedef struct TyClientPool {
    uint32_t id;
    uint32_t member; /* 0: the director */
    char invite[TY_CLIENT_TOKEN_SIZE];
    uint8_t shm_token[16];
    bool shm;
    char ruleset[TY_SPEC_MAX];
    uint64_t schema_hash;
    uint32_t row_size;
    uint32_t action_count;
    uint32_t seat_count;
    uint8_t seats[TY_SEATS_MAX];
    uint32_t groups;
    struct {
        uint32_t first;
        uint32_t rows;
    } group[TY_GROUPS_MAX];
} TyClientPool;

/* Rows of a reply. The columns point into the client's last reply: they are valid until its next
 * request. */
typedef struct TyClientRows {
    uint32_t count;
    uint32_t ready;        /* rows that wait for this member */
    const uint32_t *slots; /* NULL: all of the group, or of the pool */
    uint32_t ended_count;
    const uint8_t *ended; /* u32 each, perhaps unaligned: positions of endings */
    uint32_t refused;     /* rows that the daemon names as refused */
    const uint8_t *column[TY_CLIENT_COLUMNS_MAX]; /* NULL: the reply has none; perhaps unaligned */
} TyClientRows;

TY_API TyStatus ty_client_open_pool(TyClient *client, const TyClientOpen *open, TyClientPool *pool);
/* Takes seats of somebody's pool: those of the list, or with count 0 all that are open. */
TY_API TyStatus ty_client_join(TyClient *client, uint32_t pool_id, const char *invite,
                               const uint8_t *seats, uint32_t seat_count, bool shm,
                               TyClientPool *pool);
/* Fetches the shared memory of a pool that was opened or joined with `shm`. The caller closes it,
 * before the client: with it go the member's seats, and the pool if this is its director. */
TY_API TyStatus ty_client_attach(TyClient *client, const TyClientPool *pool, TyShmClient **shm);
TY_API TyStatus ty_client_leave(TyClient *client, const TyClientPool *pool);
TY_API TyStatus ty_client_close_pool(TyClient *client, const TyClientPool *pool);

TY_API TyStatus ty_client_reset(TyClient *client, const TyClientPool *pool, TyClientRows *rows);
/* `actions` has one entry per row of the group. */
TY_API TyStatus ty_client_step(TyClient *client, const TyClientPool *pool, uint32_t group,
                               const int32_t *actions, TyClientRows *rows);
/* The two halves of a step, so that several groups can be under way. Replies come in any order;
 * `group` is whose it is. */
TY_API TyStatus ty_client_submit(TyClient *client, const TyClientPool *pool, uint32_t group,
                                 const int32_t *actions);
TY_API TyStatus ty_client_wait(TyClient *client, const TyClientPool *pool, uint32_t *group,
                               TyClientRows *rows);
/* What ty_sample_rows does, for rows of a reply: uniformly random legal actions, one per row of the
 * reply. Needs the columns mask, ready, episode and step. `group` is whose rows they are; -1: the
 * whole pool's, as after a reset. */
TY_API void ty_client_sample(const TyClientPool *pool, int32_t group, const TyClientRows *rows,
                             uint64_t seed, int32_t *actions);
/* Actions for some slots, and the rows that are ready first. */
TY_API TyStatus ty_client_send(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                               const int32_t *actions, uint32_t count);
TY_API TyStatus ty_client_recv(TyClient *client, const TyClientPool *pool, uint32_t min_rows,
                               uint32_t timeout_ms, TyClientRows *rows);

/* An agent from outside; zero-initialise it. */
typedef struct TyClientPlay {
    const TyAgent *agent;     /* must not plan: states stay in the daemon */
    const TyRuleset *ruleset; /* of the pool; may be NULL unless it has a board of your own */
    uint64_t seed;
    uint64_t episodes;  /* stop after so many; 0: when the pool is closed */
    uint64_t decisions; /* what was played */
    uint64_t ended;
} TyClientPlay;

/* Lets the agent answer for this client's seats of the pool, until the director closes it or enough
 * episodes have ended. */
TY_API TyStatus ty_client_play(TyClient *client, const TyClientPool *pool, TyClientPlay *play);
/* The main function of a program that is an agent, as `trainyard sim` and `arena` start it:
 * PROGRAM --connect ENDPOINT --pool NUMBER --invite TOKEN [--seats 0,2]. */
TY_API int ty_client_main(int argc, char **argv, const TyAgent *agent);
/* A list of seats such as "0,2". NULL or empty: none, which joins every open seat. */
TY_API TyStatus ty_client_seats(const char *text, uint8_t seats[TY_SEATS_MAX], uint32_t *count);

/* Messages so far, and their bytes without what ZeroMQ adds. */
typedef struct TyClientTraffic {
    uint64_t requests;
    uint64_t request_bytes;
    uint64_t replies;
    uint64_t reply_bytes;
} TyClientTraffic;

TY_API TyClientTraffic ty_client_traffic(const TyClient *client);

/* ---- Any request ---- */

/* Asks with a message of one's own: `fields` is a MessagePack map without op and id, or NULL. The
 * reply, a checked MessagePack map, is valid until the next request. */
TY_API TyStatus ty_client_ask(TyClient *client, const char *op, const uint8_t *fields, size_t size,
                              const uint8_t **reply, size_t *reply_size);

/* A new CURVE key pair. */
TY_API TyStatus ty_client_keygen(char public_key[TY_CLIENT_KEY_SIZE],
                                 char secret_key[TY_CLIENT_KEY_SIZE]);

#ifdef __cplusplus
}
#endif
