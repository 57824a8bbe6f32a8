/* The inside of a host. Everything here is its own thread's, except the queue and the counters. */
#pragma once

#include "daemon/host.h"
#include "daemon/reply.h"
#include "proto/shm.h"
#include "replay/replay.h"

#define HOST_ALL_GROUPS UINT64_MAX

typedef enum MemberState {
    MEMBER_NONE,   /* nobody has these seats yet */
    MEMBER_HERE,   /* somebody plays them */
    MEMBER_GONE,   /* its owner is gone; its episodes are cut off */
    MEMBER_PLAYED, /* its owner is gone; the fallback plays */
} MemberState;

/* A member of the pool as the host sees it. */
typedef struct HostMember {
    MemberState state;
    uint32_t columns; /* bit per TyColumn: what its replies have */
    uint8_t *told;    /* per slot: the row as it is was sent */
    uint32_t cursor;  /* where recv begins to look */
    Job *step[TY_GROUPS_MAX];
    Job *recv;
    ShmDoor *door;
    uint64_t *asked_mark;  /* per slot: the question that was last seen open, see host_time.c */
    uint64_t *asked_since; /* and since when */
} HostMember;

typedef struct Snapshot {
    uint32_t id;        /* 0: the place is free */
    uint32_t next_free; /* the next free place plus 1; 0: none */
    uint8_t uses;
    bool foreign; /* it came from outside */
    uint32_t size;
    uint8_t *bytes;
} Snapshot;

struct Host {
    HostShared *shared;
    uint32_t id;
    pthread_t thread;
    bool started;
    int wake_fd;
    pthread_mutex_t mutex;
    Job *first;
    Job *last;
    atomic_uint queued; /* jobs: what is looked at before the mutex is taken */
    bool asleep;
    uint32_t door_count;
    ShmSpin spin; /* in nanoseconds */

    atomic_ullong decisions;
    atomic_ullong episodes;
    atomic_uint waiting;
    atomic_uint jobs;
    atomic_bool ticks;

    TyRuleset *ruleset;
    TyPool *pool;
    RecorderFeed *feed;      /* NULL: nothing is recorded */
    uint64_t bytes;          /* counted in shared->memory_bytes */
    const TyAgent *fallback; /* NULL: truncate */
    uint64_t seat_timeout_ms;
    uint64_t now_ms;
    bool quit;
    HostMember members[TY_MEMBERS_MAX];
    uint32_t *chosen; /* scratch: slots of a reply */
    uint32_t *ended;  /* scratch: positions of endings */
    uint8_t *which;   /* scratch: one byte per slot */
    uint64_t *keys;   /* scratch */
    Snapshot *snapshots;
    uint32_t snapshot_count; /* places */
    uint32_t snapshots_used;
    uint32_t snapshot_free; /* the first free place plus 1; 0: none */
    HostStats stats;        /* the parts that do not change; under the mutex */
};

/* ---- Replies (host_reply.c) ---- */

/* Makes the job's reply, with room for `guess` bytes at first, and hands the job back. False if
 * there was no memory for it: then the job was refused. */
bool job_reply(Host *host, Job *job, size_t guess, ReplyBody *body, const void *context);
void job_refuse(Host *host, Job *job, ErrorCode code, int64_t row, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Refuses with the error that a library call gave. */
void job_refuse_status(Host *host, Job *job, const TyStatus *status);
/* Shows how much was played to those who ask for statistics. */
void host_show_counts(Host *host);
/* Hands a job back; its reply must be there, or its memory was short. */
void job_done(Host *host, Job *job);

/* ---- Rows (host_rows.c) ---- */

/* Which rows a reply has. */
typedef struct RowSet {
    uint32_t member;
    int32_t group;         /* -1: of several */
    const uint32_t *slots; /* NULL: all of the group, or of the pool */
    uint32_t count;
    uint32_t ended_count; /* positions in host->ended */
} RowSet;

/* Answers with rows, marks them as told, and counts endings. */
void job_reply_rows(Host *host, Job *job, RowSet set);
/* The columns that a member can have, a bit each. */
uint32_t member_columns(const Host *host, uint32_t member);
void put_columns(Writer *writer, const Host *host, uint32_t member);
uint32_t group_of(const TySlab *slab, uint32_t slot);
/* The columns of a group that say whether a row has something to tell. */
typedef struct SpeakingColumns {
    uint32_t first; /* slots of the group */
    uint32_t end;
    const uint8_t *ready;
    const uint8_t *terminated;
    const uint8_t *truncated;
} SpeakingColumns;

SpeakingColumns speaking_columns(const TySlab *slab, uint32_t group);
/* The rows of the job that were refused. */
void put_row_errors(Writer *writer, Host *host, const Job *job);
const char *type_name(TyType type);

/* ---- What the requests do ---- */

typedef void JobAction(Host *host, Job *job);
JobAction job_describe, job_open, job_join, job_leave; /* host_open.c */
JobAction job_reset, job_step, job_send, job_recv;     /* host_step.c */
JobAction job_observe, job_legal, job_state, job_text; /* host_look.c */
JobAction job_snapshot, job_restore, job_fork, job_resample, job_export, job_import, job_drop,
    job_rollout;                             /* host_snapshot.c */
JobAction job_replay_get, job_replay_verify; /* host_replay.c */

/* Opens the ruleset of a request: boards from its own files, then from the daemon's directory. */
TyStatus request_ruleset_open(const Host *host, const Request *request, TyRuleset **ruleset);

/* Answers whoever waits for rows, if there are enough now (host_step.c). */
void host_serve_waiters(Host *host);
/* Refuses whoever waits; `member` < 0 means everybody. */
void host_refuse_waiters(Host *host, int32_t member, const char *why);
/* After rows have changed without the member's doing: nothing of `slot` was told (host_step.c). */
void host_untell(Host *host, const uint32_t *slots, uint32_t count);
/* Everything that must follow a change of these groups, a bit each: absent members, doors, waiters.
 * The door of member `by` (-1: nobody's) has published its rows already (host_time.c). */
void host_settle(Host *host, uint64_t groups, int32_t by);
/* A member is gone: its seats go to the fallback or its episodes are cut off. Its door stays until
 * nobody can ask for its descriptors any more. */
void host_member_gone(Host *host, uint32_t member);
void host_door_close(Host *host, uint32_t member);
/* Time has passed. Returns the members that did not answer in time. */
uint8_t host_tick(Host *host);
/* The slot, or the list of slots, of the request; refuses the job if one is wrong. */
bool job_slot(Host *host, Job *job, uint32_t *slot);
bool job_slots(Host *host, Job *job, const uint32_t **slots, uint32_t *count);
/* Snapshots given back (host_snapshot.c). */
void host_drop_snapshots(Host *host);
