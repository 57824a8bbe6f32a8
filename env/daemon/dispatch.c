/* Requests in, replies out: decides who may do what, and lets the pools do it. */
#include "daemon/hello.h"

#include "core/status.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Jobs ---- */

bool dispatch_reserve(Dispatch *dispatch)
{
    return buffer_reserve(&dispatch->shared.buffers, REPLY_REFUSAL_SIZE);
}

Job *job_take(Dispatch *dispatch)
{
    Job *job = dispatch->spare;
    if (job != NULL) {
        dispatch->spare = job->next;
    } else {
        job = malloc(sizeof *job);
    }
    if (job != NULL) {
        /* The request is written by the decoder; clearing it too would cost more than the rest. */
        memset(job, 0, offsetof(Job, request));
        memset((char *)job + offsetof(Job, shm_token), 0, sizeof *job - offsetof(Job, shm_token));
        job->request.op = OP_PING;
        job->request.id = 0;
        job->session = UINT32_MAX;
        job->now_ms = dispatch->now_ms;
        job->shm = (ShmDescriptors){-1, -1, -1, -1};
    }
    return job;
}

void job_give_back(Dispatch *dispatch, Job *job)
{
    if (job->frame != NULL) {
        job->frame->release(job->frame);
        job->frame = NULL;
    }
    job->next = dispatch->spare;
    dispatch->spare = job;
}

void job_submit(Dispatch *dispatch, Host *host, Job *job)
{
    dispatch->jobs_out++;
    host_submit(host, job);
}

/* ---- Answers that need no host ---- */

void dispatch_refuse(Dispatch *dispatch, Session *session, Job *job, ErrorCode code,
                     const char *format, ...)
{
    WireError error = {.code = code, .row = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    dispatch->refused++;
    session_answer(dispatch, session, job->request.id,
                   reply_refusal(&dispatch->shared.buffers, job->request.id, &error));
    job_give_back(dispatch, job);
}

void dispatch_answer(Dispatch *dispatch, Session *session, Job *job, size_t guess, ReplyBody *body,
                     const void *context)
{
    const ReplyPlan plan = {.buffers = &dispatch->shared.buffers,
                            .op = job->request.op,
                            .id = job->request.id,
                            .body = body,
                            .job = job,
                            .context = context};
    Buffer *reply = reply_make(&plan, guess);
    if (reply == NULL) {
        reply = reply_no_memory(plan.buffers, plan.id);
        dispatch->refused++;
    }
    session_answer(dispatch, session, job->request.id, reply);
    job_give_back(dispatch, job);
}

/* A refusal to somebody without a session, or one that is not to be kept. Gives the job back. */
static void refuse_peer(Dispatch *dispatch, uint64_t peer, Job *job, const WireError *error)
{
    Buffer *reply = reply_refusal(&dispatch->shared.buffers, job->request.id, error);
    dispatch->refused++;
    if (reply != NULL) {
        dispatch->config.send(dispatch->config.user, peer, reply);
    }
    job_give_back(dispatch, job);
}

/* There is no memory for a job: says so to the peer, on the stack. */
static void refuse_frame(Dispatch *dispatch, uint64_t peer, Frame *frame)
{
    Request request;
    WireError error;
    wire_decode(frame->bytes, frame->size, (uint32_t)dispatch->config.limits.message_elements,
                &request, &error);
    Buffer *reply = reply_no_memory(&dispatch->shared.buffers, request.id);
    dispatch->refused++;
    if (reply != NULL) {
        dispatch->config.send(dispatch->config.user, peer, reply);
    }
    frame->release(frame);
}

/* ---- Secrets ---- */

void token_make(const Dispatch *dispatch, char token[TOKEN_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[(TOKEN_SIZE - 1) / 2];
    dispatch->config.random(dispatch->config.user, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[2 * sizeof bytes] = '\0';
}

bool secret_equal(const char *one, const char *other)
{
    size_t length = strlen(one);
    size_t other_length = strlen(other);
    unsigned difference = length != other_length;
    for (size_t i = 0; i < other_length; i++) {
        difference |= (unsigned)(one[i % (length + 1)] ^ other[i]);
    }
    return difference == 0;
}

/* ---- Requests ---- */

static bool op_is_directors(Operation op)
{
    switch (op) {
    case OP_CLOSE:
    case OP_RESET:
    case OP_STATE:
    case OP_SNAPSHOT:
    case OP_RESTORE:
    case OP_FORK:
    case OP_RESAMPLE:
    case OP_EXPORT:
    case OP_IMPORT:
    case OP_DROP:
    case OP_ROLLOUT:
    case OP_REPLAY_GET:
        return true;
    case OP_HELLO:
    case OP_DESCRIBE:
    case OP_OPEN:
    case OP_JOIN:
    case OP_LEAVE:
    case OP_STEP:
    case OP_SEND:
    case OP_RECV:
    case OP_OBSERVE:
    case OP_LEGAL:
    case OP_TEXT:
    case OP_REPLAY_VERIFY:
    case OP_STATS:
    case OP_PING:
    case OP_COUNT:
        break;
    }
    return false;
}

static void request_to_pool(Dispatch *dispatch, Session *session, Job *job)
{
    uint64_t id = request_uint(&job->request, FIELD_OF_POOL);
    Pool *pool = pool_find(dispatch, id);
    int32_t member = pool != NULL ? pool_member(pool, session) : -1;
    if (member < 0) {
        dispatch_refuse(dispatch, session, job, ERROR_no_pool,
                        "pool=%llu: this session has no such pool", (unsigned long long)id);
        return;
    }
    if (op_is_directors(job->request.op) && member != 0) {
        dispatch_refuse(dispatch, session, job, ERROR_denied, "%s is the director's",
                        protocol_operations[job->request.op].name);
        return;
    }
    job->member = (uint32_t)member;
    if (job->request.op == OP_CLOSE) {
        pool_close(dispatch, pool, job);
    } else if (job->request.op == OP_LEAVE) {
        pool_leave(dispatch, session, pool, job);
    } else {
        job_submit(dispatch, pool->host, job);
    }
}

static void request_run(Dispatch *dispatch, Session *session, Job *job)
{
    switch (job->request.op) {
    case OP_PING:
    case OP_HELLO:
        dispatch_answer(dispatch, session, job, 64, NULL, NULL);
        return;
    case OP_STATS:
        stats_answer(dispatch, session, job);
        return;
    case OP_DESCRIBE:
    case OP_REPLAY_VERIFY:
        job_submit(dispatch, dispatch->desk, job);
        return;
    case OP_OPEN:
        pool_open(dispatch, session, job);
        return;
    case OP_JOIN:
        pool_join(dispatch, session, job);
        return;
    case OP_CLOSE:
    case OP_LEAVE:
    case OP_RESET:
    case OP_STEP:
    case OP_SEND:
    case OP_RECV:
    case OP_OBSERVE:
    case OP_LEGAL:
    case OP_STATE:
    case OP_TEXT:
    case OP_SNAPSHOT:
    case OP_RESTORE:
    case OP_FORK:
    case OP_RESAMPLE:
    case OP_EXPORT:
    case OP_IMPORT:
    case OP_DROP:
    case OP_ROLLOUT:
    case OP_REPLAY_GET:
    case OP_COUNT:
        request_to_pool(dispatch, session, job);
        return;
    }
}

/* A new request of a session, or one that was made before. */
static void request_of_session(Dispatch *dispatch, Session *session, Job *job)
{
    uint64_t id = job->request.id;
    Buffer *kept = NULL;
    WireError error;
    switch (session_repeat(session, id, &kept)) {
    case REPEAT_NEW:
        if (session->pending_count == dispatch->config.limits.requests_in_flight) {
            wire_refuse(&error, ERROR_busy, "requests_in_flight=%llu requests are not answered yet",
                        (unsigned long long)dispatch->config.limits.requests_in_flight);
            refuse_peer(dispatch, session->peer, job, &error);
            return;
        }
        session_forget(session, request_uint(&job->request, FIELD_OF_GOT));
        session_expect(session, id);
        job->session = session->place;
        job->session_serial = session->serial;
        request_run(dispatch, session, job);
        return;
    case REPEAT_PENDING:
        job_give_back(dispatch, job);
        return;
    case REPEAT_KEPT:
        buffer_hold(kept);
        session_send(dispatch, session, kept);
        job_give_back(dispatch, job);
        return;
    case REPEAT_STALE:
        wire_refuse(&error, ERROR_stale_id,
                    "id=%llu: the last number was %llu, and the reply is no longer kept",
                    (unsigned long long)id, (unsigned long long)session->last_id);
        refuse_peer(dispatch, session->peer, job, &error);
        return;
    }
}

void dispatch_receive(Dispatch *dispatch, uint64_t peer, bool needs_token, Frame *frame,
                      uint64_t now_ms)
{
    WireError error;
    dispatch->now_ms = now_ms;
    dispatch->requests++;
    Job *job = job_take(dispatch);
    if (job == NULL) {
        refuse_frame(dispatch, peer, frame);
        return;
    }
    job->kind = JOB_REQUEST;
    job->frame = frame;
    bool good =
        wire_decode(frame->bytes, frame->size, (uint32_t)dispatch->config.limits.message_elements,
                    &job->request, &error);
    if (good && job->request.op == OP_HELLO) {
        Buffer *reply = hello_answer(dispatch, peer, needs_token, &job->request);
        if (reply != NULL) {
            dispatch->config.send(dispatch->config.user, peer, reply);
        }
        job_give_back(dispatch, job);
    } else {
        Session *session = session_find(dispatch, peer);
        if (session != NULL) {
            session->silent_since_ms = now_ms;
        } else if (good) {
            wire_refuse(&error, ERROR_no_session, "this connection has no session: say hello");
        }
        if (!good || session == NULL) {
            refuse_peer(dispatch, peer, job, &error);
        } else {
            request_of_session(dispatch, session, job);
        }
    }
    dispatch_collect(dispatch, now_ms);
}

/* ---- What the pools have done ---- */

static void collect_one(Dispatch *dispatch, Job *job)
{
    Session *session = session_of(dispatch, job->session, job->session_serial);
    dispatch->jobs_out--;
    dispatch->refused += job->failed;
    if (job->host != dispatch->desk) {
        uint64_t place = (host_id(job->host) - 1) % dispatch->config.limits.pools;
        pool_job_done(dispatch, &dispatch->pools[place], job);
    }
    if (session == NULL) {
        buffer_release(job->reply);
    } else if (job->kind == JOB_QUIT) {
        /* The pool is closed. Its reply is as small as a refusal, for which there is memory. */
        const ReplyPlan plan = {
            .buffers = &dispatch->shared.buffers, .op = OP_CLOSE, .id = job->request.id};
        session_answer(dispatch, session, job->request.id, reply_make(&plan, 64));
    } else if (job->kind == JOB_REQUEST) {
        session_answer(dispatch, session, job->request.id, job->reply);
    }
    job->reply = NULL;
    job_give_back(dispatch, job);
}

void dispatch_collect(Dispatch *dispatch, uint64_t now_ms)
{
    Job *job = NULL;
    dispatch->now_ms = now_ms;
    while ((job = host_fetch(&dispatch->shared)) != NULL) {
        collect_one(dispatch, job);
    }
}

/* ---- Time ---- */

void dispatch_disconnected(Dispatch *dispatch, uint64_t peer, uint64_t now_ms)
{
    Session *session = session_find(dispatch, peer);
    if (session != NULL && session->connected) {
        session->connected = false;
        session->silent_since_ms = now_ms;
    }
}

static bool session_is_over(const Dispatch *dispatch, const Session *session)
{
    const Limits *limits = &dispatch->config.limits;
    uint64_t silent = dispatch->now_ms - session->silent_since_ms;
    if (session->dropped) {
        return true;
    }
    if (session->lease_count > 0) {
        return false;
    }
    if (!session->connected) {
        return silent >= limits->resume_ms;
    }
    return silent >= limits->idle_ms && session->pending_count == 0;
}

uint32_t dispatch_tick(Dispatch *dispatch, uint64_t now_ms)
{
    bool soon = dispatch->jobs_out > 0;
    dispatch->now_ms = now_ms;
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        Session *session = dispatch->sessions[i];
        if (session != NULL && session_is_over(dispatch, session)) {
            session_end(dispatch, session);
        }
    }
    pools_tick(dispatch);
    dispatch_collect(dispatch, now_ms);
    dispatch_reserve(dispatch);
    return soon ? TICK_MS : TICK_IDLE_MS;
}

uint32_t dispatch_session_count(const Dispatch *dispatch)
{
    return dispatch->session_count;
}

uint32_t dispatch_pool_count(const Dispatch *dispatch)
{
    return dispatch->pool_count;
}

/* ---- Opening and closing ---- */

static TyStatus games_open(Dispatch *dispatch)
{
    for (uint32_t i = 0; i < ty_game_count() && i < GAMES_MAX; i++) {
        TyRuleset *ruleset = NULL;
        TyStatus status = ty_ruleset_open(ty_game_name(ty_game_at(i)), NULL, &ruleset);
        if (status.code != TY_OK) {
            return status;
        }
        snprintf(dispatch->games[i], TY_SPEC_MAX, "%s", ty_shape(ruleset)->spec);
        dispatch->game_players[i] = ty_shape(ruleset)->players;
        dispatch->game_count++;
        ty_ruleset_close(ruleset);
    }
    return status_ok();
}

static bool tables_allocate(Dispatch *dispatch)
{
    const Limits *limits = &dispatch->config.limits;
    dispatch->bucket_count = 1;
    while (dispatch->bucket_count < limits->sessions) {
        dispatch->bucket_count *= 2;
    }
    dispatch->sessions = calloc(limits->sessions, sizeof dispatch->sessions[0]);
    dispatch->buckets = calloc(dispatch->bucket_count, sizeof dispatch->buckets[0]);
    dispatch->pools = calloc(limits->pools, sizeof dispatch->pools[0]);
    return dispatch->sessions != NULL && dispatch->buckets != NULL && dispatch->pools != NULL;
}

TyStatus dispatch_open(const DispatchConfig *config, uint64_t now_ms, Dispatch **out)
{
    *out = NULL;
    Dispatch *dispatch = calloc(1, sizeof *dispatch);
    if (dispatch == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the daemon");
    }
    dispatch->config = *config;
    dispatch->started_ms = dispatch->now_ms = now_ms;
    host_shared_init(&dispatch->shared, &config->limits);
    dispatch->shared.boards = config->boards;
    dispatch->shared.recorder = config->recorder;
    dispatch->shared.threaded = config->threaded;
    dispatch->shared.wake = config->wake;
    dispatch->shared.wake_user = config->user;
    TyStatus status = tables_allocate(dispatch)
                          ? games_open(dispatch)
                          : status_fail(TY_NO_MEMORY, "no memory for the daemon's tables");
    if (status.code == TY_OK) {
        dispatch->desk_quit = job_take(dispatch);
        status = dispatch->desk_quit != NULL && dispatch_reserve(dispatch)
                     ? host_open(&dispatch->shared, 0, &dispatch->desk)
                     : status_fail(TY_NO_MEMORY, "no memory for the daemon");
    }
    if (status.code != TY_OK) {
        dispatch_close(dispatch);
        return status;
    }
    *out = dispatch;
    return status;
}

static void wait_for_jobs(Dispatch *dispatch)
{
    while (dispatch->jobs_out > 0) {
        dispatch_collect(dispatch, dispatch->now_ms);
        sched_yield();
    }
}

static void desk_close(Dispatch *dispatch)
{
    dispatch->desk_quit->kind = JOB_QUIT;
    job_submit(dispatch, dispatch->desk, dispatch->desk_quit);
    wait_for_jobs(dispatch);
    host_close(dispatch->desk);
    dispatch->desk_quit = NULL;
}

void dispatch_drain(Dispatch *dispatch)
{
    for (uint32_t i = 0; dispatch->pools != NULL && i < dispatch->config.limits.pools; i++) {
        if (dispatch->pools[i].id != 0 && !dispatch->pools[i].quitting) {
            pool_close(dispatch, &dispatch->pools[i], NULL);
        }
    }
    wait_for_jobs(dispatch);
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        if (dispatch->sessions[i] != NULL) {
            session_end(dispatch, dispatch->sessions[i]);
        }
    }
    if (dispatch->desk != NULL) {
        desk_close(dispatch);
        dispatch->desk = NULL;
    }
}

void dispatch_close(Dispatch *dispatch)
{
    dispatch_drain(dispatch);
    free(dispatch->desk_quit);
    while (dispatch->spare != NULL) {
        Job *job = dispatch->spare;
        dispatch->spare = job->next;
        free(job);
    }
    free(dispatch->sessions);
    free(dispatch->buckets);
    free(dispatch->pools);
    host_shared_fini(&dispatch->shared);
    free(dispatch);
}
