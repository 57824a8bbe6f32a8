/* The inside of dispatch: tables of sessions and pools. */
#pragma once

#include "daemon/dispatch.h"
#include "daemon/reply.h"

enum {
    TOKEN_SIZE = 33,      /* 32 hexadecimal digits and a NUL */
    NOTICES_MAX = 12,     /* that a session keeps for its next reply */
    GAMES_MAX = 16,       /* in the reply to hello */
    STATS_POOLS_MAX = 64, /* in the reply to stats */
    TICK_MS = 20,         /* how often time is looked at while somebody waits */
    TICK_IDLE_MS = 100,
};

/* What happened to a pool that concerns a session. */
typedef struct Notice {
    uint32_t pool;
    int8_t seat;
    const char *what; /* joined, left, late, closed */
    char by[48];      /* who plays the seat now; "" if nobody */
} Notice;

/* A request that is being worked on, and how many replies to it are wanted. */
typedef struct Pending {
    uint64_t id;
    uint32_t copies;
} Pending;

typedef struct Kept {
    uint64_t id;
    Buffer *reply;
} Kept;

typedef struct Session {
    uint32_t place;
    uint64_t serial; /* tells sessions of one place apart */
    uint64_t peer;
    bool connected;
    bool dropped;             /* it does not read its replies: ends with the next tick */
    uint64_t silent_since_ms; /* last request, or the disconnect */
    char token[TOKEN_SIZE];
    char name[WIRE_TEXT_MAX];
    uint64_t last_id;
    uint32_t pool_count; /* opened or joined */
    uint32_t lease_count;
    uint32_t pending_count;
    Pending *pending; /* requests_in_flight */
    uint32_t ring;    /* places of `kept` */
    uint32_t kept_first;
    uint32_t kept_count;
    uint64_t kept_bytes;
    Kept *kept; /* replies_kept, a ring */
    uint32_t notice_count;
    Notice notices[NOTICES_MAX];
    uint32_t next_in_bucket; /* place plus 1 */
} Session;

typedef struct PoolMember {
    bool here;
    uint32_t session;
    uint64_t session_serial;
    uint8_t seats; /* a bit each */
    bool has_door;
    bool leased;
    uint64_t lease;
    uint8_t token[16];
    ShmDescriptors door;
} PoolMember;

typedef struct Pool {
    uint32_t id; /* 0: the place is free */
    Host *host;
    bool open;      /* its first job is done */
    bool closing;   /* no more jobs */
    bool quitting;  /* the host has been told */
    bool ticking;   /* a tick is under way, */
    uint8_t ticked; /* and these members have not changed since it began, a bit each */
    uint8_t gone;   /* members of whose end the host has not been told yet, a bit each */
    char invite[TOKEN_SIZE];
    char fallback[48]; /* "" means that episodes are cut off */
    uint8_t open_seats;
    uint32_t member_count;
    PoolMember members[TY_MEMBERS_MAX];
} Pool;

struct Dispatch {
    DispatchConfig config;
    HostShared shared;
    uint64_t started_ms;
    uint64_t now_ms;
    uint64_t serial;
    uint64_t requests;
    uint64_t refused;
    uint64_t decisions_closed; /* of pools that are closed */
    Session **sessions;        /* by place */
    uint32_t session_count;
    uint32_t session_places; /* that were ever used */
    uint32_t place_hint;
    uint32_t *buckets; /* of sessions by peer: place plus 1 */
    uint32_t bucket_count;
    Pool *pools; /* by place */
    uint32_t pool_count;
    uint32_t pool_serial;
    Host *desk; /* describes rulesets */
    Job *desk_quit;
    Job *spare;
    uint32_t jobs_out; /* given to hosts and not back */
    uint32_t game_count;
    char games[GAMES_MAX][TY_SPEC_MAX]; /* standard rulesets */
    uint32_t game_players[GAMES_MAX];
};

/* ---- Sessions (session.c) ---- */

Session *session_find(const Dispatch *dispatch, uint64_t peer);
Session *session_find_token(const Dispatch *dispatch, const char *token);
/* The session of a job; NULL if it is over. */
Session *session_of(const Dispatch *dispatch, uint32_t place, uint64_t serial);
/* NULL if there are too many or no memory. */
Session *session_begin(Dispatch *dispatch, uint64_t peer);
/* Ends a session: its pools are closed and its seats given up. */
void session_end(Dispatch *dispatch, Session *session);
/* Moves a session to another connection. */
void session_rebind(Dispatch *dispatch, Session *session, uint64_t peer);
void session_notify(Session *session, const Notice *notice);

/* What is known of a request number. */
typedef enum Repeat { REPEAT_NEW, REPEAT_PENDING, REPEAT_KEPT, REPEAT_STALE } Repeat;

Repeat session_repeat(Session *session, uint64_t id, Buffer **kept);
void session_expect(Session *session, uint64_t id);
/* The client has every reply up to number `got`: they are not kept any longer. */
void session_forget(Session *session, uint64_t got);
/* Keeps the reply, adds the notices, and sends it as often as it was asked for. Takes the
 * reference.
 */
void session_answer(Dispatch *dispatch, Session *session, uint64_t id, Buffer *reply);
/* Sends a buffer, and notices when the peer is gone or does not read. Takes the reference. */
void session_send(Dispatch *dispatch, Session *session, Buffer *reply);

/* ---- Pools (pools.c) ---- */

Pool *pool_find(Dispatch *dispatch, uint64_t id);
/* The member that the session is in the pool; -1 if it is none. */
int32_t pool_member(const Pool *pool, const Session *session);
void pool_open(Dispatch *dispatch, Session *session, Job *job);
void pool_join(Dispatch *dispatch, Session *session, Job *job);
void pool_leave(Dispatch *dispatch, Session *session, Pool *pool, Job *job);
/* Begins to close a pool. `job` is the request that asked for it, or NULL. */
void pool_close(Dispatch *dispatch, Pool *pool, Job *job);
/* A member is gone; says so to the others. */
void pool_member_gone(Dispatch *dispatch, Pool *pool, uint32_t member, const char *what);
/* A job of a pool is done; what dispatch has to remember of it. */
void pool_job_done(Dispatch *dispatch, Pool *pool, Job *job);
void pools_tick(Dispatch *dispatch);

/* ---- Jobs (dispatch.c) ---- */

/* Keeps memory for one refusal, so that a request for which there is no memory gets a reply. */
bool dispatch_reserve(Dispatch *dispatch);
Job *job_take(Dispatch *dispatch);
void job_give_back(Dispatch *dispatch, Job *job);
void job_submit(Dispatch *dispatch, Host *host, Job *job);
/* Answers a request without a host, and gives the job back. */
void dispatch_refuse(Dispatch *dispatch, Session *session, Job *job, ErrorCode code,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
void dispatch_answer(Dispatch *dispatch, Session *session, Job *job, size_t guess, ReplyBody *body,
                     const void *context);
void token_make(const Dispatch *dispatch, char token[TOKEN_SIZE]);
/* Compares without telling by time how much is alike. */
bool secret_equal(const char *one, const char *other);
