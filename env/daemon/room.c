/* Rooms: the pools that are open, as dispatch knows them. */
#include "daemon/access.h"
#include "daemon/dispatch_internal.h"

#include <string.h>

/* A number is a place plus the number of places times a count: places are found without a search,
 * numbers do not come back. */
static Room *room_at(const Dispatch *dispatch, uint64_t id)
{
    return &dispatch->rooms[(id - 1) % dispatch->config.limits.pools];
}

Room *room_find(const Dispatch *dispatch, uint64_t id)
{
    Room *room = room_at(dispatch, id);
    return room->id == id && room->open && !room->closing ? room : NULL;
}

/* ---- Opening ---- */

static Room *room_take(Dispatch *dispatch)
{
    uint64_t places = dispatch->config.limits.pools;
    for (uint32_t i = 0; i < places; i++) {
        if (dispatch->rooms[i].id == 0) {
            uint64_t id = (uint64_t)dispatch->room_serial * places + i + 1;
            if (id > UINT32_MAX / 2) {
                dispatch->room_serial = 0;
            }
            dispatch->room_serial++;
            dispatch->rooms[i] = (Room){.id = (uint32_t)id};
            return &dispatch->rooms[i];
        }
    }
    return NULL;
}

bool room_check_limits(const Dispatch *dispatch, const Session *session, Job *job)
{
    const DispatchConfig *config = &dispatch->config;
    if (session->pool_count >= config->limits.pools_per_session) {
        return job_refuse(job, ERROR_limit, -1,
                          "this session has pools_per_session=%llu pools already",
                          (unsigned long long)config->limits.pools_per_session);
    }
    if (request_uint(&job->request, FIELD_OF_SHM) != 0 && config->shm_path == NULL) {
        return job_refuse(job, ERROR_unavailable, -1,
                          "shm: this daemon offers no shared memory; its option --shm does");
    }
    return true;
}

/* A room with a worker; NULL, and the job refused, if there is none to be had. */
static Room *room_open(Dispatch *dispatch, Job *job)
{
    Room *room = room_take(dispatch);
    if (room == NULL) {
        job_refuse(job, ERROR_limit, -1, "pools=%llu pools are open already",
                   (unsigned long long)dispatch->config.limits.pools);
        return NULL;
    }
    TyStatus status = worker_open(&dispatch->shared, room->id, &room->worker);
    if (status.code != TY_OK) {
        room->id = 0;
        job_refuse_status(job, &status);
        return NULL;
    }
    room->members = worker_members(room->worker);
    token_make(dispatch, room->invite);
    dispatch->room_count++;
    return room;
}

JobState request_open(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    (void)unused;
    Room *room = room_check_limits(dispatch, session, job) ? room_open(dispatch, job) : NULL;
    if (room == NULL) {
        return JOB_DONE;
    }
    char fallback[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_ON_VANISH, fallback);
    snprintf(room->fallback, sizeof room->fallback, "%.*s", TY_AGENT_NAME_MAX - 1,
             strcmp(fallback, "truncate") == 0 ? "" : fallback);
    snprintf(job->admission.invite, sizeof job->admission.invite, "%s", room->invite);
    if (request_has(&job->request, FIELD_OF_WATCH)) {
        token_make(dispatch, room->watch);
        snprintf(job->admission.watch, sizeof job->admission.watch, "%s", room->watch);
    }
    dispatch->config.random(dispatch->config.user, job->admission.key, sizeof job->admission.key);
    room_admit(dispatch, room, session, job);
    return job_submit(dispatch, room->worker, job);
}

static void open_done(Dispatch *dispatch, Room *room, const Job *job)
{
    const Session *session = session_get(dispatch, job->session);
    if (job->failed || session == NULL) {
        room_close(dispatch, room, NULL);
        return;
    }
    room->open = true;
    room->open_seats = job->admission.open_seats;
    room->member_count = job->admission.member_count;
    room->members[0].shm = job->admission.shm;
    WorkerStats stats;
    worker_stats(room->worker, &stats);
    journal_write(dispatch->config.journal, JOURNAL_INFO, "pool_open",
                  JOURNAL_FIELDS(JOURNAL_NUMBER("pool", room->id),
                                 JOURNAL_NUMBER("session", session->id.serial),
                                 JOURNAL_TEXT("ruleset", stats.ruleset),
                                 JOURNAL_NUMBER("slots", stats.slots)));
}

/* Spectators are no members: each request has the token, and is worked on if it is the room's. */
JobState request_watch(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    char token[WIRE_TEXT_MAX];
    const Room *room = room_find(dispatch, request_uint(&job->request, FIELD_OF_POOL));
    (void)session;
    (void)unused;
    request_text(&job->request, FIELD_OF_WATCH_TOKEN, token);
    if (room == NULL || room->watch[0] == '\0' || !secret_equal(room->watch, token)) {
        job_refuse(job, ERROR_denied, -1,
                   "there is no pool of this number that may be watched "
                   "with this token");
        return JOB_DONE;
    }
    return job_submit(dispatch, room->worker, job);
}

/* ---- Closing ---- */

/* Tells the worker to end. Without memory for that it is tried again with the next tick. */
static void room_quit(Dispatch *dispatch, Room *room, Job *job)
{
    job = job != NULL ? job : job_take(dispatch);
    if (job != NULL) {
        job->kind = JOB_QUIT;
        room->quitting = true;
        worker_stop_all(room->worker);
        job_submit(dispatch, room->worker, job);
    }
}

void room_close(Dispatch *dispatch, Room *room, Job *job)
{
    bool by_other = job != NULL && !session_id_equal(job->session, room->members[0].session);
    room_notify(dispatch, room, by_other ? -1 : 0, 1, "closed", "");
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        Session *session =
            room->members[i].here ? session_get(dispatch, room->members[i].session) : NULL;
        if (session != NULL) {
            session_lose(session, room->id, "it was closed");
        }
        if (room->members[i].here) {
            room_unseat(dispatch, room, i);
        }
    }
    room->closing = true;
    room_quit(dispatch, room, job);
}

JobState request_close(Dispatch *dispatch, Session *session, Room *room, Job *job)
{
    (void)session;
    room_close(dispatch, room, job);
    return JOB_WAITS;
}

void rooms_close(Dispatch *dispatch)
{
    for (uint32_t i = 0; dispatch->rooms != NULL && i < dispatch->config.limits.pools; i++) {
        if (dispatch->rooms[i].id != 0 && !dispatch->rooms[i].quitting) {
            room_close(dispatch, &dispatch->rooms[i], NULL);
        }
    }
}

static void quit_done(Dispatch *dispatch, Room *room)
{
    WorkerStats stats;
    worker_stats(room->worker, &stats);
    dispatch->decisions_closed += stats.decisions;
    dispatch->episodes_closed += stats.episodes;
    if (room->open) {
        journal_write(dispatch->config.journal, JOURNAL_INFO, "pool_close",
                      JOURNAL_FIELDS(JOURNAL_NUMBER("pool", room->id),
                                     JOURNAL_NUMBER("decisions", stats.decisions),
                                     JOURNAL_NUMBER("episodes", stats.episodes)));
    }
    worker_close(room->worker);
    *room = (Room){.id = 0};
    dispatch->room_count--;
}

/* ---- Jobs that come back, and time ---- */

void room_job_done(Dispatch *dispatch, const Job *job)
{
    Room *room = room_at(dispatch, worker_id(job->worker));
    switch (job->kind) {
    case JOB_REQUEST:
        if (!room->closing && job->request.op == OP_OPEN) {
            open_done(dispatch, room, job);
        } else if (!room->closing && job->request.op == OP_JOIN) {
            room_join_done(dispatch, room, job);
        }
        return;
    case JOB_TICK:
        room_tick_done(dispatch, room, job);
        return;
    case JOB_QUIT:
        quit_done(dispatch, room);
        return;
    case JOB_VANISH:
    case JOB_STOP:
        return;
    }
}

static uint8_t members_here(const Room *room)
{
    uint8_t here = 0;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        here |= (uint8_t)(room->members[i].here << i);
    }
    return here;
}

static void room_tick(Dispatch *dispatch, Room *room)
{
    bool wanted = room->open && !room->closing && !room->ticking &&
                  (dispatch->draining || worker_wants_ticks(room->worker));
    if (room->closing && !room->quitting) {
        room_quit(dispatch, room, NULL);
    }
    room_tell_gone(dispatch, room);
    if (room->open && !room->closing && room->held != (worker_held(room->worker) > 0)) {
        room->held = !room->held;
        room_notify_all(dispatch, room, room->held ? "log_full" : "log_written");
    }
    Job *job = wanted ? job_take(dispatch) : NULL;
    if (job != NULL) {
        job->kind = JOB_TICK;
        job->drains = dispatch->draining;
        room->ticking = true;
        room->ticked = members_here(room);
        job_submit(dispatch, room->worker, job);
    }
}

void rooms_tick(Dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        if (dispatch->rooms[i].id != 0) {
            room_tick(dispatch, &dispatch->rooms[i]);
        }
    }
}
