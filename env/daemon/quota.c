/* What is in use, and how much of it there may be. */
#include "daemon/quota.h"
#include "core/status.h"

#include <stdlib.h>

#define UNLIMITED UINT64_MAX

/* The limit of a kind at a level, by name; NULL where there is none. A session's pools are counted
 * by dispatch: it has those that it has joined, too. */
static const char *const limit_names[QUOTA_LEVELS][QUOTA_KINDS] = {
    [QUOTA_OF_SESSION] = {[QUOTA_BYTES] = "bytes_per_session",
                          [QUOTA_SLOTS] = "slots_per_session",
                          [QUOTA_THREADS] = "threads_per_session",
                          [QUOTA_SNAPSHOTS] = "snapshots_per_session",
                          [QUOTA_REQUESTS] = "requests_in_flight"},
    [QUOTA_OF_KEY] = {[QUOTA_BYTES] = "bytes_per_key",
                      [QUOTA_SESSIONS] = "sessions_per_key",
                      [QUOTA_POOLS] = "pools_per_key",
                      [QUOTA_SLOTS] = "slots_per_key",
                      [QUOTA_THREADS] = "threads_per_key",
                      [QUOTA_SNAPSHOTS] = "snapshots_per_key",
                      [QUOTA_REQUESTS] = "requests_per_key"},
    [QUOTA_OF_DAEMON] = {[QUOTA_BYTES] = "memory_bytes",
                         [QUOTA_SESSIONS] = "sessions",
                         [QUOTA_POOLS] = "pools",
                         [QUOTA_THREADS] = "threads_in_all",
                         [QUOTA_REQUESTS] = "requests_in_all"},
};

static uint64_t limit_of(QuotaLevel level, QuotaKind kind, const Limits *limits)
{
    const char *name = limit_names[level][kind];
    Limits copy = *limits;
    return name != NULL ? *limit_at(&copy, limit_index(name)) : UNLIMITED;
}

void quota_init(Quota *quota, QuotaLevel level, Quota *parent, const Limits *limits)
{
    *quota = (Quota){.level = level, .parent = parent};
    atomic_init(&quota->references, 1);
    for (uint32_t kind = 0; kind < QUOTA_KINDS; kind++) {
        atomic_init(&quota->max[kind], limit_of(level, (QuotaKind)kind, limits));
        atomic_init(&quota->used[kind], 0);
    }
}

void quota_reload(Quota *quota, const Limits *limits)
{
    for (uint32_t kind = 0; kind < QUOTA_KINDS; kind++) {
        if (quota->level != QUOTA_OF_SESSION || kind != QUOTA_REQUESTS) {
            atomic_store_explicit(&quota->max[kind],
                                  limit_of(quota->level, (QuotaKind)kind, limits),
                                  memory_order_relaxed);
        }
    }
}

uint64_t quota_max(const Quota *quota, QuotaKind kind)
{
    return atomic_load_explicit(&quota->max[kind], memory_order_relaxed);
}

Quota *quota_open(QuotaLevel level, Quota *parent, const Limits *limits)
{
    Quota *quota = malloc(sizeof *quota);
    if (quota != NULL) {
        quota_init(quota, level, parent, limits);
    }
    return quota;
}

void quota_hold(Quota *quota)
{
    atomic_fetch_add_explicit(&quota->references, 1, memory_order_relaxed);
}

void quota_release(Quota *quota)
{
    if (quota != NULL &&
        atomic_fetch_sub_explicit(&quota->references, 1, memory_order_acq_rel) == 1) {
        free(quota);
    }
}

/* Gives back at every level below `end`. */
static void give_up_to(Quota *quota, const Quota *end, QuotaKind kind, uint64_t amount)
{
    for (; quota != end; quota = quota->parent) {
        atomic_fetch_sub_explicit(&quota->used[kind], amount, memory_order_relaxed);
    }
}

bool quota_take(Quota *quota, QuotaKind kind, uint64_t amount, QuotaRefusal *refusal)
{
    for (Quota *at = quota; at != NULL; at = at->parent) {
        uint64_t before = atomic_fetch_add_explicit(&at->used[kind], amount, memory_order_relaxed);
        uint64_t max = quota_max(at, kind);
        if (before + amount > max) {
            give_up_to(quota, at->parent, kind, amount);
            if (refusal != NULL) {
                *refusal = (QuotaRefusal){at->level, kind, amount, before, max};
            }
            return false;
        }
    }
    return true;
}

bool quota_take_small(Quota *quota, QuotaKind kind, uint64_t amount)
{
    for (Quota *at = quota; at != NULL; at = at->parent) {
        uint64_t before = atomic_fetch_add_explicit(&at->used[kind], amount, memory_order_relaxed);
        uint64_t max = quota_max(at, kind);
        if (at->parent == NULL && before + amount > max + max / 8) {
            give_up_to(quota, NULL, kind, amount);
            return false;
        }
    }
    return true;
}

void quota_give(Quota *quota, QuotaKind kind, uint64_t amount)
{
    give_up_to(quota, NULL, kind, amount);
}

uint64_t quota_used(const Quota *quota, QuotaKind kind)
{
    return atomic_load_explicit(&quota->used[kind], memory_order_relaxed);
}

TyStatus quota_refusal_status(const QuotaRefusal *refusal)
{
    return ty_status_fail(TY_LIMIT, "%s=%llu would be passed: %llu are in use, %llu more wanted",
                          limit_names[refusal->level][refusal->kind],
                          (unsigned long long)refusal->max, (unsigned long long)refusal->used,
                          (unsigned long long)refusal->wanted);
}
