/* The pools that are open, who directs them and who sits in them. */
#include "daemon/dispatch_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Finding ---- */

/* A number is a place plus the number of places times a count: places are found without a search,
 * numbers do not come back. */
Pool *pool_find(Dispatch *dispatch, uint64_t id)
{
    uint64_t places = dispatch->config.limits.pools;
    Pool *pool = &dispatch->pools[(id - 1) % places];
    return pool->id == id && pool->open && !pool->closing ? pool : NULL;
}

static bool member_is(const PoolMember *member, const Session *session)
{
    return member->here && member->session == session->place &&
           member->session_serial == session->serial;
}

int32_t pool_member(const Pool *pool, const Session *session)
{
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if (member_is(&pool->members[i], session)) {
            return (int32_t)i;
        }
    }
    return -1;
}

static void member_sit(PoolMember *member, Session *session, const Job *job)
{
    member->here = true;
    member->session = session->place;
    member->session_serial = session->serial;
    member->has_door = job->shm.rows >= 0;
    member->door = job->shm;
    memcpy(member->token, job->shm_token, sizeof member->token);
}

/* Tells every member but `except` about the seats. */
static void pool_notify(Dispatch *dispatch, const Pool *pool, int32_t except, uint8_t seats,
                        const char *what, const char *by)
{
    Notice notice = {.pool = pool->id, .what = what};
    snprintf(notice.by, sizeof notice.by, "%.40s", by);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        const PoolMember *member = &pool->members[i];
        Session *session = member->here && (int32_t)i != except
                               ? session_of(dispatch, member->session, member->session_serial)
                               : NULL;
        for (int8_t seat = 0; session != NULL && seat < TY_SEATS_MAX; seat++) {
            if ((seats >> seat & 1) != 0) {
                notice.seat = seat;
                session_notify(session, &notice);
            }
        }
    }
}

/* ---- Opening ---- */

static Pool *pool_place(Dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        if (dispatch->pools[i].id == 0) {
            Pool *pool = &dispatch->pools[i];
            uint64_t id = (uint64_t)dispatch->pool_serial * dispatch->config.limits.pools + i + 1;
            if (id > UINT32_MAX / 2) {
                dispatch->pool_serial = 0;
            }
            dispatch->pool_serial++;
            *pool = (Pool){.id = (uint32_t)id};
            return pool;
        }
    }
    return NULL;
}

/* True if the session may have one more pool, and what it wants there; otherwise the job is
 * refused. */
static bool session_may_have(Dispatch *dispatch, Session *session, Job *job)
{
    const DispatchConfig *config = &dispatch->config;
    if (session->pool_count >= config->limits.pools_per_session) {
        dispatch_refuse(dispatch, session, job, ERROR_limit,
                        "this session has pools_per_session=%llu pools already",
                        (unsigned long long)config->limits.pools_per_session);
        return false;
    }
    if (request_uint(&job->request, FIELD_OF_SHM) != 0 && config->shm_path == NULL) {
        dispatch_refuse(dispatch, session, job, ERROR_unavailable,
                        "shm: this daemon offers no shared memory; its option --shm does");
        return false;
    }
    return true;
}

void pool_open(Dispatch *dispatch, Session *session, Job *job)
{
    const Limits *limits = &dispatch->config.limits;
    if (!session_may_have(dispatch, session, job)) {
        return;
    }
    Pool *pool = pool_place(dispatch);
    if (pool == NULL) {
        dispatch_refuse(dispatch, session, job, ERROR_limit, "pools=%llu pools are open already",
                        (unsigned long long)limits->pools);
        return;
    }
    TyStatus status = host_open(&dispatch->shared, pool->id, &pool->host);
    if (status.code != TY_OK) {
        pool->id = 0;
        dispatch_refuse(dispatch, session, job, status_error(status.code), "%s", status.message);
        return;
    }
    dispatch->pool_count++;
    session->pool_count++;
    token_make(dispatch, pool->invite);
    snprintf(job->invite, sizeof job->invite, "%s", pool->invite);
    snprintf(job->name, sizeof job->name, "%.63s", session->name);
    dispatch->config.random(dispatch->config.user, job->shm_token, sizeof job->shm_token);
    char fallback[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_ON_VANISH, fallback);
    snprintf(pool->fallback, sizeof pool->fallback, "%.40s",
             strcmp(fallback, "truncate") == 0 ? "" : fallback);
    member_sit(&pool->members[0], session, job);
    job_submit(dispatch, pool->host, job);
}

static void open_done(Dispatch *dispatch, Pool *pool, const Job *job)
{
    Session *session = session_of(dispatch, job->session, job->session_serial);
    if (job->failed || session == NULL) {
        pool_close(dispatch, pool, NULL);
        return;
    }
    pool->open = true;
    pool->open_seats = job->open_seats;
    pool->member_count = job->member_count;
    member_sit(&pool->members[0], session, job);
    for (uint32_t i = 0; i < job->member_count; i++) {
        pool->members[i].seats = job->member_seats[i];
    }
}

/* ---- Joining ---- */

/* Tells the host of members that are gone. Without memory for that it is tried again with the next
 * tick, and nobody joins until then. */
static bool pool_tell_gone(Dispatch *dispatch, Pool *pool)
{
    Job *job = pool->gone != 0 && !pool->closing ? job_take(dispatch) : NULL;
    if (job != NULL) {
        job->kind = JOB_VANISH;
        job->lost = pool->gone;
        pool->gone = 0;
        job_submit(dispatch, pool->host, job);
    }
    return pool->gone == 0;
}

/* The seats that a join wants, a bit each; all open ones if it does not say. */
static uint8_t join_seats(const Pool *pool, const Request *request)
{
    const WireValue *list = &request->values[FIELD_OF_JOIN_SEATS];
    uint8_t seats = 0;
    for (uint32_t i = 0; i < list->size; i++) {
        seats |= (uint8_t)(list->bytes[i] < TY_SEATS_MAX ? 1u << list->bytes[i] : 0x80u);
    }
    return list->size > 0 ? seats : pool->open_seats;
}

/* True if the session may join; otherwise the job is refused. */
static bool join_check(Dispatch *dispatch, Session *session, Pool *pool, Job *job)
{
    char invite[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_INVITE, invite);
    if (pool == NULL || !secret_equal(pool->invite, invite)) {
        dispatch_refuse(dispatch, session, job, ERROR_denied,
                        "there is no pool of this number with this invite");
        return false;
    }
    if (pool_member(pool, session) >= 0) {
        dispatch_refuse(dispatch, session, job, ERROR_bad_argument,
                        "this session is a member of the pool already");
        return false;
    }
    uint8_t seats = join_seats(pool, &job->request);
    if (seats == 0 || (seats & ~pool->open_seats) != 0) {
        dispatch_refuse(dispatch, session, job, ERROR_denied, "seats: %s",
                        pool->open_seats == 0 ? "no seat is open" : "one of them is not open");
        return false;
    }
    if (!pool_tell_gone(dispatch, pool)) {
        dispatch_refuse(dispatch, session, job, ERROR_no_memory, "no memory to join");
        return false;
    }
    return session_may_have(dispatch, session, job);
}

void pool_join(Dispatch *dispatch, Session *session, Job *job)
{
    Pool *pool = pool_find(dispatch, request_uint(&job->request, FIELD_OF_POOL));
    if (!join_check(dispatch, session, pool, job)) {
        return;
    }
    job->seats = join_seats(pool, &job->request);
    job->member = 0;
    while ((pool->members[job->member].seats & job->seats) == 0) {
        job->member++;
    }
    pool->open_seats &= (uint8_t)~job->seats;
    for (uint32_t i = 1; i < TY_MEMBERS_MAX; i++) {
        pool->members[i].seats &= (uint8_t)~job->seats;
    }
    /* Seats that the member had but that were not asked for stay open with somebody else. */
    uint8_t left = pool->members[job->member].seats;
    for (uint32_t i = 1; left != 0 && i < pool->member_count; i++) {
        if (i != job->member && !pool->members[i].here && pool->members[i].seats == 0) {
            pool->members[i].seats = left;
            job->moved_to = i;
            job->moved = left;
            left = 0;
        }
    }
    pool->members[job->member].seats = job->seats;
    snprintf(job->name, sizeof job->name, "%.63s", session->name);
    session->pool_count++;
    dispatch->config.random(dispatch->config.user, job->shm_token, sizeof job->shm_token);
    member_sit(&pool->members[job->member], session, job);
    job_submit(dispatch, pool->host, job);
}

static void join_done(Dispatch *dispatch, Pool *pool, const Job *job)
{
    PoolMember *member = &pool->members[job->member];
    Session *session = session_of(dispatch, job->session, job->session_serial);
    bool same = member->session == job->session && member->session_serial == job->session_serial;
    if (job->failed && same) {
        pool->open_seats |= job->seats;
        member->here = false;
        if (session != NULL) {
            session->pool_count--;
        }
        return;
    }
    if (session == NULL || !same) {
        return; /* its end has given the seats up */
    }
    member_sit(member, session, job);
    pool_notify(dispatch, pool, (int32_t)job->member, job->seats, "joined",
                session->name[0] != '\0' ? session->name : "member");
}

/* ---- Leaving and closing ---- */

/* The member's shared memory is over. Its descriptors are forgotten before the host closes them:
 * their numbers may be somebody else's soon. */
static void member_lose_door(Dispatch *dispatch, PoolMember *member)
{
    Session *session = session_of(dispatch, member->session, member->session_serial);
    bool leased = member->leased;
    member->leased = false;
    member->has_door = false;
    member->door = (ShmDescriptors){-1, -1, -1, -1};
    if (leased && session != NULL) {
        session->lease_count--;
    }
    if (leased && dispatch->config.drop_lease != NULL) {
        dispatch->config.drop_lease(dispatch->config.user, member->lease);
    }
}

static void member_stand_up(Dispatch *dispatch, Pool *pool, uint32_t index)
{
    PoolMember *member = &pool->members[index];
    Session *session = session_of(dispatch, member->session, member->session_serial);
    member_lose_door(dispatch, member);
    member->here = false;
    pool->ticked &= (uint8_t)~(1u << index);
    if (session != NULL) {
        session->pool_count--;
    }
}

/* The others hear of it; the seats are played by the fallback, or free again. */
static void seats_given_up(Dispatch *dispatch, Pool *pool, uint32_t index, const char *what)
{
    uint8_t seats = pool->members[index].seats;
    bool played = pool->fallback[0] != '\0';
    pool_notify(dispatch, pool, (int32_t)index, seats, what, pool->fallback);
    if (!played && index > 0) {
        pool->open_seats |= seats;
    }
}

void pool_member_gone(Dispatch *dispatch, Pool *pool, uint32_t index, const char *what)
{
    seats_given_up(dispatch, pool, index, what);
    member_stand_up(dispatch, pool, index);
    pool->gone |= (uint8_t)(1u << index);
    pool_tell_gone(dispatch, pool);
}

void pool_leave(Dispatch *dispatch, Session *session, Pool *pool, Job *job)
{
    if (job->member == 0) {
        dispatch_refuse(dispatch, session, job, ERROR_bad_argument,
                        "the director closes the pool instead of leaving it");
        return;
    }
    seats_given_up(dispatch, pool, job->member, "left");
    member_stand_up(dispatch, pool, job->member);
    job_submit(dispatch, pool->host, job);
}

/* Tells the host to end. Without memory for that it is tried again with the next tick. */
static void pool_quit(Dispatch *dispatch, Pool *pool, Job *job)
{
    job = job != NULL ? job : job_take(dispatch);
    if (job != NULL) {
        job->kind = JOB_QUIT;
        pool->quitting = true;
        job_submit(dispatch, pool->host, job);
    }
}

void pool_close(Dispatch *dispatch, Pool *pool, Job *job)
{
    pool_notify(dispatch, pool, 0, 1, "closed", "");
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if (pool->members[i].here) {
            member_stand_up(dispatch, pool, i);
        }
    }
    pool->closing = true;
    pool_quit(dispatch, pool, job);
}

static void quit_done(Dispatch *dispatch, Pool *pool)
{
    HostStats stats;
    host_stats(pool->host, &stats);
    dispatch->decisions_closed += stats.decisions;
    host_close(pool->host);
    pool->id = 0;
    pool->host = NULL;
    dispatch->pool_count--;
}

static void tick_done(Dispatch *dispatch, Pool *pool, const Job *job)
{
    pool->ticking = false;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if ((job->lost & pool->ticked) >> i & 1) {
            Session *session =
                session_of(dispatch, pool->members[i].session, pool->members[i].session_serial);
            Notice notice = {.pool = pool->id, .seat = -1, .what = "late"};
            seats_given_up(dispatch, pool, i, "late");
            if (session != NULL) {
                session_notify(session, &notice);
            }
            if (i > 0) {
                member_stand_up(dispatch, pool, i);
            } else {
                member_lose_door(dispatch, &pool->members[i]);
            }
            pool->gone |= (uint8_t)(1u << i);
        }
    }
    pool_tell_gone(dispatch, pool);
}

void pool_job_done(Dispatch *dispatch, Pool *pool, Job *job)
{
    switch (job->kind) {
    case JOB_REQUEST:
        if (pool->closing) {
            return;
        }
        if (job->request.op == OP_OPEN) {
            open_done(dispatch, pool, job);
        } else if (job->request.op == OP_JOIN) {
            join_done(dispatch, pool, job);
        }
        return;
    case JOB_TICK:
        tick_done(dispatch, pool, job);
        return;
    case JOB_QUIT:
        quit_done(dispatch, pool);
        return;
    case JOB_VANISH:
        return;
    }
}

static uint8_t members_here(const Pool *pool)
{
    uint8_t here = 0;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        here |= (uint8_t)(pool->members[i].here << i);
    }
    return here;
}

void pools_tick(Dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        Pool *pool = &dispatch->pools[i];
        bool wanted = pool->id != 0 && pool->open && !pool->closing && !pool->ticking &&
                      host_wants_ticks(pool->host);
        if (pool->id != 0 && pool->closing && !pool->quitting) {
            pool_quit(dispatch, pool, NULL);
        }
        pool_tell_gone(dispatch, pool);
        Job *job = wanted ? job_take(dispatch) : NULL;
        if (job != NULL) {
            job->kind = JOB_TICK;
            pool->ticking = true;
            pool->ticked = members_here(pool);
            job_submit(dispatch, pool->host, job);
        }
    }
}

/* ---- Shared memory ---- */

bool dispatch_lease(Dispatch *dispatch, uint64_t id, uint32_t index, const uint8_t token[16],
                    uint64_t lease, ShmDescriptors *door)
{
    Pool *pool = id != 0 ? pool_find(dispatch, id) : NULL;
    PoolMember *member = pool != NULL && index < TY_MEMBERS_MAX ? &pool->members[index] : NULL;
    uint8_t difference = 0;
    for (uint32_t i = 0; member != NULL && i < 16; i++) {
        difference |= (uint8_t)(member->token[i] ^ token[i]);
    }
    Session *session = member != NULL && member->here && member->has_door && !member->leased
                           ? session_of(dispatch, member->session, member->session_serial)
                           : NULL;
    if (session == NULL || difference != 0) {
        return false;
    }
    member->leased = true;
    member->lease = lease;
    session->lease_count++;
    *door = member->door;
    return true;
}

static void lease_over(Dispatch *dispatch, Pool *pool, uint32_t index)
{
    PoolMember *member = &pool->members[index];
    Session *session = session_of(dispatch, member->session, member->session_serial);
    member->leased = false;
    if (session != NULL) {
        session->lease_count--;
        session->silent_since_ms = dispatch->now_ms;
    }
    if (index == 0) {
        pool_close(dispatch, pool, NULL);
    } else {
        pool_member_gone(dispatch, pool, index, "left");
    }
}

void dispatch_lease_ended(Dispatch *dispatch, uint64_t lease, uint64_t now_ms)
{
    dispatch->now_ms = now_ms;
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        Pool *pool = &dispatch->pools[i];
        for (uint32_t k = 0; pool->id != 0 && !pool->closing && k < TY_MEMBERS_MAX; k++) {
            PoolMember *member = &pool->members[k];
            if (member->here && member->leased && member->lease == lease) {
                lease_over(dispatch, pool, k);
                dispatch_collect(dispatch, now_ms);
                return;
            }
        }
    }
}
