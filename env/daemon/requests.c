/* Requests in: who may ask for what, which thread works on it, and what was asked before. */
#include "daemon/dispatch_internal.h"

#include <assert.h>

/* ---- What dispatch works on itself ---- */

static JobState request_ping(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    (void)dispatch;
    (void)session;
    (void)unused;
    job_reply(job, 64, NULL, NULL);
    return JOB_DONE;
}

static void put_cancel(Writer *writer, const Job *job, const void *context)
{
    (void)job;
    reply_key(writer, REPLY_CANCELLED);
    put_flag(writer, *(const bool *)context);
}

/* The worker hears of it by the job itself and, if that waits, by one that makes it look. */
JobState request_cancel(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    uint64_t id = request_uint(&job->request, FIELD_OF_REQUEST);
    bool found = false;
    (void)unused;
    for (uint32_t i = 0; i < session->pending_count; i++) {
        Job *other = session->pending[i].job;
        if (session->pending[i].id == id && other != job && other->worker != NULL) {
            Job *look = worker_closes(other->worker) ? NULL : job_take(dispatch);
            found = true;
            worker_stop(other, STOP_CANCELLED);
            if (look != NULL) {
                look->kind = JOB_STOP;
                job_submit(dispatch, other->worker, look);
            }
        }
    }
    job_reply(job, 64, put_cancel, &found);
    return JOB_DONE;
}

/* hello and health are not among them: they need no session, and their replies are not kept. */
static RequestStep *const dispatch_steps[OP_COUNT] = {
    [OP_OPEN] = request_open,         [OP_CLOSE] = request_close,
    [OP_JOIN] = request_join,         [OP_LEAVE] = request_leave,
    [OP_WATCH] = request_watch,       [OP_STATS] = request_stats,
    [OP_PING] = request_ping,         [OP_CANCEL] = request_cancel,
    [OP_SESSIONS] = request_sessions, [OP_END_SESSION] = request_end_session,
};

/* ---- What is counted ---- */

static uint64_t clock_ns(const Dispatch *dispatch)
{
    const DispatchConfig *config = &dispatch->config;
    return config->clock_ns != NULL ? config->clock_ns(config->user) : 0;
}

void request_count(Dispatch *dispatch, const Job *job)
{
    const DispatchConfig *config = &dispatch->config;
    uint32_t operation = job->unreadable ? OP_COUNT : job->request.op;
    if (job->kind != JOB_REQUEST && job->frame == NULL) {
        return; /* nobody's request */
    }
    metrics_request(&dispatch->metrics, operation, clock_ns(dispatch) - job->came_ns);
    if (job->failed) {
        dispatch->refused++;
        metrics_error(&dispatch->metrics, operation, job->code);
        journal_write(config->journal, JOURNAL_DEBUG, "refusal",
                      JOURNAL_FIELDS(JOURNAL_NUMBER("session", job->session.serial),
                                     JOURNAL_TEXT("op", protocol_operations[job->request.op].name),
                                     JOURNAL_TEXT("code", protocol_errors[job->code].name)));
    }
}

/* ---- Requests of a session ---- */

/* The room that the request names; NULL, and the job refused, if the session is not a member there,
 * or not the director where only the director may ask. */
static Room *request_room(Dispatch *dispatch, const Session *session, Job *job)
{
    const OperationInfo *operation = &protocol_operations[job->request.op];
    uint64_t id = request_uint(&job->request, FIELD_OF_POOL);
    Room *room = room_find(dispatch, id);
    int32_t member = room != NULL ? room_member(room, session) : -1;
    if (room != NULL && session->administrator && job->request.op == OP_CLOSE) {
        return room;
    }
    if (member < 0) {
        const char *why = session_lost(session, id);
        job_refuse(job, why != NULL ? ERROR_closed : ERROR_no_pool, -1, "pool=%llu: %s",
                   (unsigned long long)id, why != NULL ? why : "this session has no such pool");
        return NULL;
    }
    if (operation->who == WHO_DIRECTOR && member != 0) {
        job_refuse(job, ERROR_denied, -1, "%s: director only", operation->name);
        return NULL;
    }
    job->member = (uint32_t)member;
    return room;
}

static JobState request_run(Dispatch *dispatch, Session *session, Job *job)
{
    const OperationInfo *operation = &protocol_operations[job->request.op];
    bool of_member = operation->who == WHO_MEMBER || operation->who == WHO_DIRECTOR;
    Room *room = of_member ? request_room(dispatch, session, job) : NULL;
    if (of_member && room == NULL) {
        return JOB_DONE;
    }
    if (operation->who == WHO_ADMINISTRATOR && !session->administrator) {
        job_refuse(job, ERROR_denied, -1, "%s: administrators only; hello with admin asks for it",
                   operation->name);
        return JOB_DONE;
    }
    switch (operation->where) {
    case RUNS_IN_DISPATCH:
        return dispatch_steps[job->request.op](dispatch, session, room, job);
    case RUNS_IN_COMMON:
        return job_submit(dispatch, dispatch->common, job);
    case RUNS_IN_POOL:
        assert(room != NULL);
        return job_submit(dispatch, room->worker, job);
    }
    return JOB_DONE;
}

/* Sends the reply to a peer, without keeping it, and gives up what the job holds. */
static void answer_peer(Dispatch *dispatch, uint64_t peer, Job *job)
{
    request_count(dispatch, job);
    if (job->reply != NULL) {
        dispatch->config.send(dispatch->config.user, peer, job->reply);
        job->reply = NULL;
    }
    job_fini(job);
}

/* False, and the job refused, if too many requests are under way. */
static bool request_begin(Dispatch *dispatch, Session *session, Job *job)
{
    QuotaRefusal refusal;
    session_forget(dispatch, session, request_uint(&job->request, FIELD_OF_GOT));
    if (!session_expect(session, job, &refusal)) {
        TyStatus status = quota_refusal_status(&refusal);
        return job_refuse(job, ERROR_busy, -1, "%s", status.message);
    }
    job->session = session->id;
    if (request_run(dispatch, session, job) == JOB_DONE) {
        job_answer(dispatch, job);
    }
    return true;
}

/* True if the daemon does not begin such work any more; then the job is refused. */
static bool request_comes_too_late(const Dispatch *dispatch, Job *job)
{
    Operation op = job->request.op;
    bool begins = op == OP_OPEN || op == OP_JOIN || op == OP_RESET || op == OP_RESTORE ||
                  op == OP_FORK || op == OP_ROLLOUT;
    return (dispatch->stopping || (dispatch->draining && begins)) &&
           !job_refuse(job, ERROR_closed, -1, "the daemon is stopping");
}

/* A new request of a session, or one that was made before. */
static void request_of_session(Dispatch *dispatch, Session *session, Job *job)
{
    Buffer *kept = NULL;
    switch (session_repeat(session, job->request.id, &kept)) {
    case REPEAT_NEW:
        if (request_comes_too_late(dispatch, job)) {
            break;
        }
        if (request_begin(dispatch, session, job)) {
            return;
        }
        break;
    case REPEAT_PENDING:
        break;
    case REPEAT_KEPT:
        buffer_hold(kept);
        session_send(dispatch, session, kept);
        break;
    case REPEAT_STALE:
        job_refuse(job, ERROR_stale_id, -1,
                   "id=%llu: the last number was %llu, and the reply is no longer kept",
                   (unsigned long long)job->request.id, (unsigned long long)session->last_id);
        break;
    }
    answer_peer(dispatch, session->peer, job);
    job_give_back(dispatch, job);
}

/* ---- Messages ---- */

static bool job_decode(const Dispatch *dispatch, Job *job, const Frame *frame, WireError *error)
{
    job->came_ns = clock_ns(dispatch);
    job->unreadable =
        !wire_decode(frame->bytes, frame->size, (uint32_t)dispatch->config.limits.message_elements,
                     &job->request, error);
    return !job->unreadable;
}

/* There is no memory for a job: it is refused on the stack. */
static void receive_without_memory(Dispatch *dispatch, uint64_t peer, Frame *frame)
{
    WireError error;
    Job job;
    job_init(&job, &dispatch->shared.buffers, &dispatch->shared.quota, dispatch->now_ms);
    job.frame = frame;
    job_decode(dispatch, &job, frame, &error);
    job_refuse(&job, ERROR_no_memory, -1, "no memory for the reply");
    answer_peer(dispatch, peer, &job);
}

static void receive(Dispatch *dispatch, uint64_t peer, bool needs_token, Frame *frame, Job *job)
{
    WireError error;
    Session *session = session_find(dispatch, peer);
    if (session != NULL) {
        job_charge(job, session->quota);
    }
    bool good = job_decode(dispatch, job, frame, &error);
    bool anyone = good && protocol_operations[job->request.op].who == WHO_ANYONE;
    bool fits = job_take_frame(job, frame);
    if (session != NULL && !anyone) {
        session->silent_since_ms = dispatch->now_ms;
    }
    if (fits && good && !anyone && session != NULL) {
        request_of_session(dispatch, session, job);
        return;
    }
    if (fits && anyone && job->request.op == OP_HEALTH) {
        request_health(dispatch, job);
    } else if (fits && anyone) {
        request_hello(dispatch, peer, needs_token, job);
    } else if (fits && !good) {
        job_refuse(job, error.code, error.row, "%s", error.message);
    } else if (fits) {
        job_refuse(job, ERROR_no_session, -1, "this connection has no session: say hello");
    }
    answer_peer(dispatch, peer, job);
    job_give_back(dispatch, job);
}

void dispatch_receive(Dispatch *dispatch, uint64_t peer, bool needs_token, Frame *frame,
                      uint64_t now_ms)
{
    dispatch->now_ms = now_ms;
    Job *job = job_take(dispatch);
    if (job == NULL) {
        receive_without_memory(dispatch, peer, frame);
        return;
    }
    job->kind = JOB_REQUEST;
    receive(dispatch, peer, needs_token, frame, job);
    dispatch_collect(dispatch, now_ms);
}
