/* stats: what the daemon does, as far as it tells nobody of others' play. */
#include "daemon/dispatch_internal.h"
#include "replay/replay.h"

static void put_pool_stats(Writer *writer, const Room *room, const WorkerStats *stats)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        here += room->members[i].here;
    }
    put_map(writer, 13);
    put_key_uint(writer, "pool", room->id);
    put_key_uint(writer, "session", room->members[0].session.serial);
    put_key_text(writer, "ruleset", stats->ruleset);
    put_key_uint(writer, "slots", stats->slots);
    put_key_uint(writer, "groups", stats->groups);
    put_key_uint(writer, "members", here);
    put_key_uint(writer, "decisions", stats->decisions);
    put_key_uint(writer, "episodes", stats->episodes);
    put_key_uint(writer, "waiting", stats->waiting);
    put_key_uint(writer, "jobs", stats->jobs);
    put_key_uint(writer, "bytes", stats->bytes);
    put_key_uint(writer, "held", stats->held);
    put_key_text(writer, "watch", room->watch);
}

/* Counts of all pools are for administrators: they tell when episodes of others end. */
static void put_log_stats(Writer *writer, Recorder *recorder, bool counts)
{
    RecorderStats stats = recorder_stats(recorder);
    TyStatus failure = recorder_failure(recorder);
    put_map(writer, counts ? 5 : 2);
    put_key_text(writer, "full", recorder_full(recorder) == RECORDER_FULL_STOP ? "stop" : "drop");
    put_key_text(writer, "trouble", failure.code != TY_OK ? failure.message : "");
    if (counts) {
        put_key_uint(writer, "episodes", stats.episodes);
        put_key_uint(writer, "lost", stats.lost);
        put_key_uint(writer, "held", stats.held);
    }
}

/* A pool of the reply. */
typedef struct PoolStats {
    const Room *room;
    WorkerStats stats;
} PoolStats;

typedef struct StatsContext {
    const Dispatch *dispatch;
    const Session *session; /* who asks */
    uint32_t count;
    uint64_t decisions;
    PoolStats *pools;
} StatsContext;

static void put_stats(Writer *writer, const Job *job, const void *context)
{
    const StatsContext *stats = context;
    const Dispatch *dispatch = stats->dispatch;
    (void)job;
    reply_uint(writer, REPLY_UPTIME, dispatch->now_ms - dispatch->started_ms);
    reply_uint(writer, REPLY_SESSIONS, dispatch->session_count);
    reply_uint(writer, REPLY_DECISIONS, stats->decisions);
    /* What others have in use would tell how much they are sent. */
    bool administrator = stats->session->administrator;
    reply_uint(
        writer, REPLY_BYTES,
        quota_used(administrator ? &dispatch->shared.quota : stats->session->quota, QUOTA_BYTES));
    if (dispatch->config.recorder != NULL) {
        reply_key(writer, REPLY_LOG);
        put_log_stats(writer, dispatch->config.recorder, administrator);
    }
    reply_key(writer, REPLY_POOLS);
    put_list(writer, stats->count);
    for (uint32_t i = 0; i < stats->count; i++) {
        put_pool_stats(writer, stats->pools[i].room, &stats->pools[i].stats);
    }
}

JobState request_stats(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    StatsContext context = {.dispatch = dispatch,
                            .session = session,
                            .decisions = dispatch->decisions_closed,
                            .pools = job_hold(job, (dispatch->room_count + 1) * sizeof(PoolStats))};
    (void)unused;
    for (uint32_t i = 0; context.pools != NULL && i < dispatch->config.limits.pools; i++) {
        const Room *room = &dispatch->rooms[i];
        WorkerStats stats;
        if (room->id == 0 || !room->open || room->closing) {
            continue;
        }
        bool told = session->administrator || room_member(room, session) == 0;
        worker_stats(room->worker, &stats);
        /* A count of the others' decisions would tell players who had a choice. */
        context.decisions += told || room->member_count == 1 ? stats.decisions : 0;
        if (told) {
            context.pools[context.count++] = (PoolStats){.room = room, .stats = stats};
        }
    }
    if (context.pools != NULL) {
        job_reply(job, 4096, put_stats, &context);
    }
    return JOB_DONE;
}
