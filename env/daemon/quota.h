/* What is in use, and how much of it there may be: for a session, for the key under which it came
 * in, for the daemon. Each quota has a parent, and what is taken from one is taken from all above
 * it. Any thread may call everything here. */
#pragma once

#include "base.h"
#include "daemon/limits.h"

#include <stdatomic.h>

typedef enum QuotaKind {
    QUOTA_BYTES, /* of pools, snapshots, messages in and out, kept replies, sessions */
    QUOTA_SESSIONS,
    QUOTA_POOLS,
    QUOTA_SLOTS,
    QUOTA_THREADS, /* that step pools */
    QUOTA_SNAPSHOTS,
    QUOTA_REQUESTS, /* not answered yet */
    QUOTA_KINDS,
} QuotaKind;

typedef enum QuotaLevel {
    QUOTA_OF_SESSION,
    QUOTA_OF_KEY,
    QUOTA_OF_DAEMON,
    QUOTA_LEVELS,
} QuotaLevel;

typedef struct Quota {
    QuotaLevel level;
    struct Quota *parent; /* NULL: the daemon's */
    atomic_uint references;
    atomic_ullong max[QUOTA_KINDS];
    atomic_ullong used[QUOTA_KINDS];
} Quota;

/* What was refused, and why. */
typedef struct QuotaRefusal {
    QuotaLevel level;
    QuotaKind kind;
    uint64_t wanted;
    uint64_t used;
    uint64_t max;
} QuotaRefusal;

/* Sets up the quota of a level as the limits say; `parent` must outlive it. */
void quota_init(Quota *quota, QuotaLevel level, Quota *parent, const Limits *limits);
/* One of its own memory, with one reference; NULL if there is no memory. What is taken from it may
 * outlive whoever opened it: it is freed with the last reference. */
Quota *quota_open(QuotaLevel level, Quota *parent, const Limits *limits);
/* There may be as much from now on as the limits say; what is in use stays, and so does the number
 * of requests of a session, for which it has places. */
void quota_reload(Quota *quota, const Limits *limits);
uint64_t quota_max(const Quota *quota, QuotaKind kind);
void quota_hold(Quota *quota);
void quota_release(Quota *quota);

/* Takes `amount`, at every level or nowhere; false if some level has not so much, and then
 * `refusal` (may be NULL) says which. */
bool quota_take(Quota *quota, QuotaKind kind, uint64_t amount, QuotaRefusal *refusal);
/* The same for what refusals and short replies need: beyond the limit it allows an eighth more. */
bool quota_take_small(Quota *quota, QuotaKind kind, uint64_t amount);
void quota_give(Quota *quota, QuotaKind kind, uint64_t amount);
uint64_t quota_used(const Quota *quota, QuotaKind kind);
/* TY_LIMIT, with the limit's name and value. */
TyStatus quota_refusal_status(const QuotaRefusal *refusal);
