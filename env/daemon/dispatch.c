/* Dispatch: its jobs, the passing of time, its beginning and its end. */
#include "daemon/dispatch_internal.h"

#include "core/status.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- Jobs ---- */

bool dispatch_reserve(Dispatch *dispatch)
{
    return buffer_reserve(&dispatch->shared.buffers, &dispatch->shared.quota, REPLY_REFUSAL_SIZE);
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
        job_init(job, &dispatch->shared.buffers, &dispatch->shared.quota, dispatch->now_ms);
    }
    return job;
}

void job_give_back(Dispatch *dispatch, Job *job)
{
    job_fini(job);
    job->next = dispatch->spare;
    dispatch->spare = job;
}

JobState job_submit(Dispatch *dispatch, Worker *worker, Job *job)
{
    dispatch->jobs_out++;
    dispatch->shared.one_pool = dispatch->room_count <= 1;
    worker_submit(worker, job);
    return JOB_WAITS;
}

void job_answer(Dispatch *dispatch, Job *job)
{
    Session *session = session_get(dispatch, job->session);
    request_count(dispatch, job);
    if (session != NULL) {
        session_answer(dispatch, session, job->request.id, job->reply);
    } else {
        buffer_release(job->reply);
    }
    job->reply = NULL;
    job_give_back(dispatch, job);
}

void dispatch_collect(Dispatch *dispatch, uint64_t now_ms)
{
    Job *job = NULL;
    dispatch->now_ms = now_ms;
    while ((job = worker_fetch(&dispatch->shared)) != NULL) {
        dispatch->jobs_out--;
        if (job->worker != dispatch->common) {
            room_job_done(dispatch, job);
        }
        job_answer(dispatch, job);
    }
    notices_push(dispatch);
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

uint32_t dispatch_tick(Dispatch *dispatch, uint64_t now_ms)
{
    bool soon = dispatch->jobs_out > 0;
    dispatch->now_ms = now_ms;
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        Session *session = dispatch->sessions[i];
        const char *why = session != NULL ? session_over(dispatch, session) : NULL;
        if (why != NULL) {
            session_end(dispatch, session, why);
        } else if (session != NULL) {
            session_stop_late(dispatch, session);
        }
    }
    denied_serve(dispatch, false);
    rooms_tick(dispatch);
    dispatch_collect(dispatch, now_ms);
    dispatch_reserve(dispatch);
    return soon ? TICK_MS : TICK_IDLE_MS;
}

bool dispatch_has_session(const Dispatch *dispatch, uint64_t peer)
{
    return session_find(dispatch, peer) != NULL;
}

/* ---- Reloading ---- */

/* Why the session may not go on; NULL: it may. */
static const char *session_revoked(const Dispatch *dispatch, Session *session, const Reload *reload)
{
    if (dispatch->config.identify_key != NULL) {
        dispatch->config.identify_key(dispatch->config.user, &session->identity);
    }
    if (session->identity.revoked ||
        (session->administrator && !session->by_admin_token && !session->identity.administrator)) {
        return "key revoked";
    }
    return (session->by_token && reload->token) || (session->by_admin_token && reload->admin_token)
               ? "token changed"
               : NULL;
}

static void kept_bytes_limit(Dispatch *dispatch)
{
    const Limits *limits = &dispatch->config.limits;
    dispatch->kept_bytes_max = limits->memory_bytes / KEPT_PART;
    if (dispatch->kept_bytes_max > limits->reply_bytes_kept_in_all) {
        dispatch->kept_bytes_max = limits->reply_bytes_kept_in_all;
    }
}

bool dispatch_reload(Dispatch *dispatch, const Reload *reload)
{
    if (!worker_shared_reload(&dispatch->shared, &reload->limits)) {
        return false;
    }
    dispatch->config.limits = reload->limits;
    dispatch->config.admin_token = reload->admin_secret;
    kept_bytes_limit(dispatch);
    for (KeyRecord *key = dispatch->keys; key != NULL; key = key->next) {
        quota_reload(&key->quota, &reload->limits);
    }
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        Session *session = dispatch->sessions[i];
        const char *why = session != NULL ? session_revoked(dispatch, session, reload) : NULL;
        if (why != NULL) {
            session_end(dispatch, session, why);
        } else if (session != NULL) {
            quota_reload(session->quota, &reload->limits);
        }
    }
    return true;
}

uint32_t dispatch_session_count(const Dispatch *dispatch)
{
    return dispatch->session_count;
}

uint32_t dispatch_pool_count(const Dispatch *dispatch)
{
    return dispatch->room_count;
}

/* ---- Opening and closing ---- */

static TyStatus tables_allocate(Dispatch *dispatch)
{
    const Limits *limits = &dispatch->config.limits;
    dispatch->bucket_count = 1;
    while (dispatch->bucket_count < limits->sessions) {
        dispatch->bucket_count *= 2;
    }
    dispatch->sessions = calloc(limits->sessions, sizeof dispatch->sessions[0]);
    dispatch->buckets = calloc(dispatch->bucket_count, sizeof dispatch->buckets[0]);
    dispatch->rooms = calloc(limits->pools, sizeof dispatch->rooms[0]);
    return dispatch->sessions != NULL && dispatch->buckets != NULL && dispatch->rooms != NULL
               ? ty_status_ok()
               : ty_status_fail(TY_NO_MEMORY, "no memory for the daemon's tables");
}

/* The job that ends the common worker is made with it: its end must not fail for lack of memory. */
static TyStatus common_open(Dispatch *dispatch)
{
    dispatch->common_quit = job_take(dispatch);
    return dispatch->common_quit != NULL && dispatch_reserve(dispatch)
               ? worker_open(&dispatch->shared, 0, &dispatch->common)
               : ty_status_fail(TY_NO_MEMORY, "no memory for the daemon");
}

TyStatus dispatch_open(const DispatchConfig *config, uint64_t now_ms, Dispatch **out)
{
    *out = NULL;
    Dispatch *dispatch = calloc(1, sizeof *dispatch);
    if (dispatch == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the daemon");
    }
    dispatch->config = *config;
    dispatch->started_ms = dispatch->now_ms = now_ms;
    worker_shared_init(&dispatch->shared, &config->limits);
    kept_bytes_limit(dispatch);
    dispatch->shared.boards = config->boards;
    dispatch->shared.recorder = config->recorder;
    dispatch->shared.threaded = config->threaded;
    dispatch->shared.wake = config->wake;
    dispatch->shared.wake_user = config->user;
    TyStatus status = tables_allocate(dispatch);
    if (status.code == TY_OK) {
        status = games_open(dispatch);
    }
    if (status.code == TY_OK) {
        status = common_open(dispatch);
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

static void common_close(Dispatch *dispatch)
{
    dispatch->common_quit->kind = JOB_QUIT;
    job_submit(dispatch, dispatch->common, dispatch->common_quit);
    wait_for_jobs(dispatch);
    worker_close(dispatch->common);
    dispatch->common = NULL;
    dispatch->common_quit = NULL;
}

void dispatch_begin_drain(Dispatch *dispatch)
{
    dispatch->draining = true;
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        if (dispatch->rooms[i].id != 0) {
            room_notify(dispatch, &dispatch->rooms[i], -1, 1, "stopping", "");
        }
    }
    rooms_tick(dispatch);
}

bool dispatch_is_drained(const Dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        const Room *room = &dispatch->rooms[i];
        if (room->id != 0 && !room->closing && (!room->draining || room->running > 0)) {
            return false;
        }
    }
    return true;
}

void dispatch_stop(Dispatch *dispatch)
{
    dispatch->draining = dispatch->stopping = true;
    worker_stop_all(dispatch->common);
    rooms_close(dispatch);
}

bool dispatch_is_busy(const Dispatch *dispatch)
{
    return dispatch->jobs_out > 0;
}

void dispatch_drain(Dispatch *dispatch)
{
    denied_serve(dispatch, true);
    rooms_close(dispatch);
    wait_for_jobs(dispatch);
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        if (dispatch->sessions[i] != NULL) {
            session_end(dispatch, dispatch->sessions[i], "shutdown");
        }
    }
    if (dispatch->common != NULL) {
        common_close(dispatch);
    }
}

void dispatch_close(Dispatch *dispatch)
{
    dispatch_drain(dispatch);
    if (dispatch->common_quit != NULL) {
        job_give_back(dispatch, dispatch->common_quit);
    }
    while (dispatch->spare != NULL) {
        Job *job = dispatch->spare;
        dispatch->spare = job->next;
        free(job);
    }
    while (dispatch->keys != NULL) {
        KeyRecord *key = dispatch->keys;
        dispatch->keys = key->next;
        free(key);
    }
    free(dispatch->sessions);
    free(dispatch->buckets);
    free(dispatch->rooms);
    worker_shared_fini(&dispatch->shared);
    free(dispatch);
}
