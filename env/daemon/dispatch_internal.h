/* The inside of dispatch: its tables of sessions and rooms. One thread has all of it. */
#pragma once

#include "daemon/dispatch.h"
#include "daemon/metrics.h"
#include "daemon/reply.h"
#include "daemon/worker.h"

enum {
    NOTICES_MAX = 12, /* that a session keeps for its next reply */
    LOST_MAX = 8,     /* pools of which a session hears why it lost them */
    GAMES_MAX = 16,   /* in the reply to hello */
    TICK_MS = 20,     /* how often time is let pass while jobs are under way */
    TICK_IDLE_MS = 100,
    DENIED_MS = 1000, /* how long the refusal of a wrong token takes */
    KEPT_PART = 4,    /* of memory_bytes, that kept replies may have at most */
};

/* What happened to a pool that concerns a session. */
typedef struct Notice {
    uint32_t pool;
    int8_t seat;
    const char *what; /* joined, left, late, closed, log_full, log_written */
    char by[48];      /* who plays the seat now; "" if nobody */
} Notice;

/* A pool that a session is no longer a member of, and why: its next request there is told. */
typedef struct Lost {
    uint32_t pool;
    const char *why;
} Lost;

/* A request that is being worked on, and how many replies to it are wanted. */
typedef struct Pending {
    uint64_t id;
    uint32_t copies;
    uint64_t deadline_ms; /* 0: none */
    Job *job;
} Pending;

typedef struct Session Session;

/* A reply that is kept, in case it is asked for again: in a ring of its session, and in a list of
 * all by age. */
typedef struct Kept {
    uint64_t id;
    Buffer *reply;
    Session *session;
    struct Kept *older;
    struct Kept *newer;
} Kept;

/* A refusal of a wrong access token, which is sent only after a while. */
typedef struct Denied {
    struct Denied *next;
    uint64_t peer;
    uint64_t due_ms;
    Buffer *reply;
} Denied;

/* A key under which clients came in, with what all of its sessions use. */
typedef struct KeyRecord {
    struct KeyRecord *next;
    char name[KEY_TEXT_SIZE];
    Quota quota;
} KeyRecord;

struct Session {
    SessionId id;
    const KeyRecord *key;
    Quota *quota; /* a reference */
    uint64_t peer;
    bool connected;
    bool dropped;             /* it does not read its replies: ends with the next tick */
    uint64_t silent_since_ms; /* last request, or the disconnect */
    char token[TOKEN_SIZE];
    char name[WIRE_TEXT_MAX];
    Identity identity;   /* of its last hello, */
    bool by_token;       /* in which it had to say a token: the clients', */
    bool by_admin_token; /* or the administrators', as others may to become one */
    bool administrator;
    uint64_t last_id;
    uint32_t pool_count; /* opened or joined */
    uint32_t lease_count;
    uint32_t pending_places;
    uint32_t pending_count;
    Pending *pending; /* requests_in_flight */
    uint32_t kept_places;
    uint32_t kept_first;
    uint32_t kept_count;
    uint64_t kept_bytes;
    Kept *kept;  /* replies_kept, a ring */
    bool pushes; /* it takes notices as messages of their own */
    uint32_t lost_count;
    Lost lost[LOST_MAX]; /* a ring */
    uint32_t notice_count;
    Notice notices[NOTICES_MAX];
    uint32_t next_in_bucket; /* place plus 1 */
};

/* A pool as dispatch knows it: its worker, its members, its invite. */
typedef struct Room {
    uint32_t id; /* the pool's number; 0: the place is free */
    Worker *worker;
    Member *members; /* TY_MEMBERS_MAX; the records are the worker's, dispatch has a part of each */
    uint32_t member_count;
    bool open;        /* its first job is done */
    bool closing;     /* no more jobs */
    bool quitting;    /* the worker has been told */
    bool draining;    /* it begins no episodes any more, */
    uint32_t running; /* and so many have not ended */
    bool ticking;     /* a tick is under way, */
    uint8_t ticked;   /* and these members have not changed since it began, a bit each */
    bool held;        /* members were told that endings wait for the log */
    uint8_t gone;     /* members of whose end the worker has not been told yet, a bit each */
    uint8_t open_seats;
    char invite[TOKEN_SIZE];
    char watch[TOKEN_SIZE];           /* for spectators; "": there are none */
    char fallback[TY_AGENT_NAME_MAX]; /* "" means that episodes are cut off */
} Room;

/* The standard ruleset of a game. */
typedef struct GameEntry {
    char ruleset[TY_SPEC_MAX];
    uint32_t players;
} GameEntry;

struct Dispatch {
    DispatchConfig config;
    WorkerShared shared;
    uint64_t started_ms;
    uint64_t now_ms;
    bool noticed;              /* some session has notices that were not sent */
    uint64_t refused;          /* requests; told to nobody */
    uint64_t decisions_closed; /* of pools that are closed */
    uint64_t episodes_closed;
    Metrics metrics;

    Session **sessions; /* by place */
    uint64_t session_serial;
    uint32_t session_count;
    uint32_t session_places; /* that were ever used */
    uint32_t place_hint;
    uint32_t *buckets; /* of sessions by peer: place plus 1 */
    uint32_t bucket_count;
    KeyRecord *keys;      /* all that ever came in */
    Denied *denied_first; /* in the order in which they are due */
    Denied *denied_last;
    uint32_t denied_count;
    Kept *kept_oldest;
    Kept *kept_newest;
    uint64_t kept_bytes;
    uint64_t kept_bytes_max;

    Room *rooms; /* by place */
    uint32_t room_count;
    uint32_t room_serial;

    Worker *common; /* for requests that need no pool */
    Job *common_quit;
    Job *spare;
    bool draining;     /* no new work, */
    bool stopping;     /* and no request at all */
    uint32_t jobs_out; /* given to workers and not back */

    uint32_t game_count;
    GameEntry games[GAMES_MAX];
};

/* ---- Jobs (dispatch.c) ---- */

/* Keeps memory for one refusal, so that a request for which there is no memory gets a reply. */
bool dispatch_reserve(Dispatch *dispatch);
/* NULL if there is no memory. */
Job *job_take(Dispatch *dispatch);
void job_give_back(Dispatch *dispatch, Job *job);
/* Always JOB_WAITS: the worker has the job now. */
JobState job_submit(Dispatch *dispatch, Worker *worker, Job *job);
/* Sends the reply to the session whose request it was, if it is still there, and keeps it; gives
 * the job back. */
void job_answer(Dispatch *dispatch, Job *job);

/* ---- Sessions (session.c) ---- */

Session *session_find(const Dispatch *dispatch, uint64_t peer);
Session *session_find_token(const Dispatch *dispatch, const char *token);
/* NULL if it is over. */
Session *session_get(const Dispatch *dispatch, SessionId id);
/* Begins a session of the peer. TY_LIMIT or TY_NO_MEMORY if there cannot be another. */
TyStatus session_begin(Dispatch *dispatch, uint64_t peer, const char *key, Session **session);
/* Ends a session: its pools are closed and its seats given up. `why` is for the journal. */
void session_end(Dispatch *dispatch, Session *session, const char *why);
/* Why the session is over: it does not read, or nothing was heard of it for too long. NULL: it is
 * not. */
const char *session_over(const Dispatch *dispatch, const Session *session);
/* Moves a session to another connection. */
void session_rebind(Dispatch *dispatch, Session *session, uint64_t peer);
/* Keeps a notice for the session's next reply or, if it wants that, the end of this turn. */
void session_notify(Dispatch *dispatch, Session *session, const Notice *notice);
/* Sends the notices that no reply has taken along to those who want them at once. */
void notices_push(Dispatch *dispatch);
/* The session has lost its seats in a pool. */
void session_lose(Session *session, uint32_t pool, const char *why);
/* Why it is no longer a member of the pool; NULL if it never was, or that is forgotten. */
const char *session_lost(const Session *session, uint64_t pool);

/* What is known of a request number. */
typedef enum Repeat { REPEAT_NEW, REPEAT_PENDING, REPEAT_KEPT, REPEAT_STALE } Repeat;

Repeat session_repeat(Session *session, uint64_t id, Buffer **kept);
/* One more request to answer; false if there are too many, and then `refusal` says of whom. */
bool session_expect(Session *session, Job *job, QuotaRefusal *refusal);
/* Stops those of its requests whose time is over. */
void session_stop_late(const Dispatch *dispatch, Session *session);
/* The client has every reply up to number `got`: they are not kept any longer. */
void session_forget(Dispatch *dispatch, Session *session, uint64_t got);
/* Keeps the reply, adds the notices, and sends it as often as it was asked for. Takes the
 * reference. */
void session_answer(Dispatch *dispatch, Session *session, uint64_t id, Buffer *reply);
/* Sends a buffer, and notices when the peer is gone or does not read. Takes the reference. */
void session_send(Dispatch *dispatch, Session *session, Buffer *reply);
/* A token that nobody can guess. */
void token_make(const Dispatch *dispatch, char token[TOKEN_SIZE]);

/* ---- Requests that dispatch works on itself ---- */

/* `room` is the pool that the request names, whose member the session is; NULL for those that name
 * none. JOB_DONE: the job has its reply; JOB_WAITS: a worker has it. */
typedef JobState RequestStep(Dispatch *dispatch, Session *session, Room *room, Job *job);

RequestStep request_open, request_close, request_watch; /* room.c */
RequestStep request_join, request_leave;                /* room_members.c */
RequestStep request_cancel;                             /* requests.c */
RequestStep request_stats;                              /* stats.c */
RequestStep request_sessions, request_end_session;      /* admin.c */
/* health: whether all is well. Needs no session (health.c). */
void request_health(Dispatch *dispatch, Job *job);
/* hello: begins a session or takes one up. Its reply is not kept (hello.c). */
void request_hello(Dispatch *dispatch, uint64_t peer, bool needs_token, Job *job);
/* A request is about to be answered. */
void request_count(Dispatch *dispatch, const Job *job);
/* True if the peer may try a token now: one that was wrong must be answered first (denied.c). */
bool denied_may_try(const Dispatch *dispatch, uint64_t peer);
/* Takes the job's refusal, to be sent later. Always false, so that checks can return it. */
bool denied_later(Dispatch *dispatch, uint64_t peer, Job *job);
/* Sends the refusals that are due; with `all`, the others, too. */
void denied_serve(Dispatch *dispatch, bool all);
/* Finds out the standard ruleset of every game, for hello. */
TyStatus games_open(Dispatch *dispatch);

/* ---- Rooms (room.c) ---- */

/* The room of an open pool; NULL if there is none of this number. */
Room *room_find(const Dispatch *dispatch, uint64_t id);
/* True if the session may have one more pool, and what it wants there; otherwise the job is
 * refused. */
bool room_check_limits(const Dispatch *dispatch, const Session *session, Job *job);
/* Begins to close a pool. `job` is the request that asked for it, or NULL. The members get a
 * notice, the director if it was somebody else's request. */
void room_close(Dispatch *dispatch, Room *room, Job *job);
/* A job of a pool is done; what dispatch has to remember of it. */
void room_job_done(Dispatch *dispatch, const Job *job);
void rooms_tick(Dispatch *dispatch);
/* Closes all pools. */
void rooms_close(Dispatch *dispatch);

/* ---- Members (room_members.c) ---- */

/* The member that the session is in the room; -1 if it is none. */
int32_t room_member(const Room *room, const Session *session);
/* Tells every member but `except` about the seats. */
void room_notify(Dispatch *dispatch, const Room *room, int32_t except, uint8_t seats,
                 const char *what, const char *by);
/* Tells every member something that is of no seat. */
void room_notify_all(Dispatch *dispatch, const Room *room, const char *what);
/* The session is the job's member from now on, and the worker hears what it has to know of it. */
void room_admit(Dispatch *dispatch, Room *room, Session *session, Job *job);
/* The member is nobody's any more: its session and its lease are over. */
void room_unseat(Dispatch *dispatch, Room *room, uint32_t member);
void room_join_done(Dispatch *dispatch, Room *room, const Job *job);
void room_tick_done(Dispatch *dispatch, Room *room, const Job *job);
/* Tells the worker of members that are gone. False if there is no memory for that: then it is tried
 * again with the next tick, and nobody joins until then. */
bool room_tell_gone(Dispatch *dispatch, Room *room);
/* The session is over: it leaves every room, and those that it directs are closed. */
void rooms_session_over(Dispatch *dispatch, const Session *session);
