/* A member of a pool: one record, of which dispatch's thread has one part and the worker's the
 * other.
 *
 * A part is read and written by its own thread only. The two learn of each other by jobs. */
#pragma once

#include "daemon/job.h"
#include "daemon/ready.h"

/* What the worker knows of the member's owner. */
typedef enum MemberState {
    MEMBER_NONE,   /* nobody has these seats yet */
    MEMBER_HERE,   /* its owner plays them */
    MEMBER_GONE,   /* its owner is gone; its episodes are cut off */
    MEMBER_PLAYED, /* its owner is gone; the fallback plays */
} MemberState;

typedef struct Member {
    /* Dispatch's: who it is. */
    bool here; /* a session is this member */
    SessionId session;
    uint8_t seats; /* a bit each; the worker's until the pool is open */
    uint8_t shm_token[SHM_TOKEN_SIZE];
    ShmDescriptors shm; /* of its channel; -1 without one */
    bool leased;        /* a client has fetched them, */
    uint64_t lease;     /* on this connection */

    /* The worker's: what it is given, and what it has been asked. */
    MemberState state;
    uint32_t columns;      /* bit per TyColumn: what its replies have */
    ReadyRows rows;        /* that wait for it, and that it was given */
    bool listens;          /* it has asked for rows by messages */
    ShmChannel *channel;   /* NULL: its rows go by messages */
    uint64_t *asked_mark;  /* per slot: the question that was last seen open, see members.c */
    uint64_t *asked_since; /* and since when */
} Member;
