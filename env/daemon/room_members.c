/* Who sits in the rooms: members that join, leave, vanish or are late, and their leases. */
#include "daemon/access.h"
#include "daemon/dispatch_internal.h"

#include <string.h>

int32_t room_member(const Room *room, const Session *session)
{
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        const Member *member = &room->members[i];
        if (member->here && session_id_equal(member->session, session->id)) {
            return (int32_t)i;
        }
    }
    return -1;
}

void room_notify(Dispatch *dispatch, const Room *room, int32_t except, uint8_t seats,
                 const char *what, const char *by)
{
    Notice notice = {.pool = room->id, .what = what};
    snprintf(notice.by, sizeof notice.by, "%.40s", by);
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        const Member *member = &room->members[i];
        Session *session =
            member->here && (int32_t)i != except ? session_get(dispatch, member->session) : NULL;
        for (int8_t seat = 0; session != NULL && seat < TY_SEATS_MAX; seat++) {
            if ((seats >> seat & 1) != 0) {
                notice.seat = seat;
                session_notify(dispatch, session, &notice);
            }
        }
    }
}

void room_notify_all(Dispatch *dispatch, const Room *room, const char *what)
{
    const Notice notice = {.pool = room->id, .seat = -1, .what = what};
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        const Member *member = &room->members[i];
        Session *session = member->here ? session_get(dispatch, member->session) : NULL;
        if (session != NULL) {
            session_notify(dispatch, session, &notice);
        }
    }
}

/* ---- Coming ---- */

void room_admit(Dispatch *dispatch, Room *room, Session *session, Job *job)
{
    Admission *admission = &job->admission;
    Member *member = &room->members[job->member];
    dispatch->config.random(dispatch->config.user, admission->shm_token, SHM_TOKEN_SIZE);
    snprintf(admission->name, sizeof admission->name, "%.63s", session->name);
    session->pool_count++;
    member->here = true;
    member->session = session->id;
    member->shm = admission->shm;
    memcpy(member->shm_token, admission->shm_token, SHM_TOKEN_SIZE);
}

/* The seats that a join wants, a bit each; all open ones if it does not say. */
static uint8_t join_seats(const Room *room, const Request *request)
{
    const WireValue *list = &request->values[FIELD_OF_JOIN_SEATS];
    uint8_t seats = 0;
    for (uint32_t i = 0; i < list->size; i++) {
        seats |= (uint8_t)(list->bytes[i] < TY_SEATS_MAX ? 1u << list->bytes[i] : 0x80u);
    }
    return list->size > 0 ? seats : room->open_seats;
}

/* True if the session may join; otherwise the job is refused. */
static bool join_check(Dispatch *dispatch, Session *session, Room *room, Job *job)
{
    char invite[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_INVITE, invite);
    if (room == NULL || !secret_equal(room->invite, invite)) {
        return job_refuse(job, ERROR_denied, -1,
                          "there is no pool of this number with this invite");
    }
    if (room_member(room, session) >= 0) {
        return job_refuse(job, ERROR_bad_argument, -1,
                          "this session is a member of the pool already");
    }
    uint8_t seats = join_seats(room, &job->request);
    if (seats == 0 || (seats & ~room->open_seats) != 0) {
        return job_refuse(job, ERROR_denied, -1, "seats: %s",
                          room->open_seats == 0 ? "no seat is open" : "one of them is not open");
    }
    if (!room_tell_gone(dispatch, room)) {
        return job_refuse(job, ERROR_no_memory, -1, "no memory to join");
    }
    return room_check_limits(dispatch, session, job);
}

/* Takes the seats from those who keep them open, and chooses the member that gets them. */
static void join_take_seats(Room *room, Job *job)
{
    Admission *admission = &job->admission;
    Member *members = room->members;
    admission->seats = join_seats(room, &job->request);
    job->member = 0;
    while ((members[job->member].seats & admission->seats) == 0) {
        job->member++;
    }
    room->open_seats &= (uint8_t)~admission->seats;
    for (uint32_t i = 1; i < TY_MEMBERS_MAX; i++) {
        members[i].seats &= (uint8_t)~admission->seats;
    }
    /* Seats that the member had but that were not asked for stay open with another member. */
    uint8_t left = members[job->member].seats;
    for (uint32_t i = 1; left != 0 && i < room->member_count; i++) {
        if (i != job->member && !members[i].here && members[i].seats == 0) {
            members[i].seats = left;
            admission->moved_to = i;
            admission->moved = left;
            left = 0;
        }
    }
    members[job->member].seats = admission->seats;
}

JobState request_join(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    (void)unused;
    Room *room = room_find(dispatch, request_uint(&job->request, FIELD_OF_POOL));
    if (!join_check(dispatch, session, room, job)) {
        return JOB_DONE;
    }
    join_take_seats(room, job);
    room_admit(dispatch, room, session, job);
    return job_submit(dispatch, room->worker, job);
}

void room_join_done(Dispatch *dispatch, Room *room, const Job *job)
{
    Member *member = &room->members[job->member];
    Session *session = session_get(dispatch, job->session);
    /* Another join may have come to this place since, of the same session too. */
    bool same = memcmp(member->shm_token, job->admission.shm_token, SHM_TOKEN_SIZE) == 0;
    if (job->failed && same) {
        room->open_seats |= job->admission.seats;
        if (session != NULL && member->here) {
            session->pool_count--;
        }
        member->here = false;
        return;
    }
    if (session == NULL || !same || !member->here) {
        return; /* leaving, or the session's end, has given the seats up */
    }
    member->shm = job->admission.shm;
    room_notify(dispatch, room, (int32_t)job->member, job->admission.seats, "joined",
                session->name[0] != '\0' ? session->name : "member");
}

/* ---- Going ---- */

bool room_tell_gone(Dispatch *dispatch, Room *room)
{
    Job *job = room->gone != 0 && !room->closing ? job_take(dispatch) : NULL;
    if (job != NULL) {
        job->kind = JOB_VANISH;
        job->lost = room->gone;
        room->gone = 0;
        job_submit(dispatch, room->worker, job);
    }
    return room->gone == 0;
}

/* The member's shared memory is over. Its descriptors are forgotten before the worker closes them:
 * their numbers may be used again soon. */
static void member_lose_channel(Dispatch *dispatch, Member *member)
{
    Session *session = session_get(dispatch, member->session);
    bool leased = member->leased;
    member->leased = false;
    member->shm = (ShmDescriptors){-1, -1, -1, -1};
    if (leased && session != NULL) {
        session->lease_count--;
    }
    if (leased && dispatch->config.drop_lease != NULL) {
        dispatch->config.drop_lease(dispatch->config.user, member->lease);
    }
}

void room_unseat(Dispatch *dispatch, Room *room, uint32_t index)
{
    Member *member = &room->members[index];
    Session *session = session_get(dispatch, member->session);
    member_lose_channel(dispatch, member);
    member->here = false;
    room->ticked &= (uint8_t)~(1u << index);
    if (session != NULL) {
        session->pool_count--;
    }
}

/* The others hear of it; the seats are played by the fallback, or free again. */
static void seats_given_up(Dispatch *dispatch, Room *room, uint32_t index, const char *what)
{
    uint8_t seats = room->members[index].seats;
    bool played = room->fallback[0] != '\0';
    room_notify(dispatch, room, (int32_t)index, seats, what, room->fallback);
    if (!played && index > 0) {
        room->open_seats |= seats;
    }
}

/* A session is gone: a director's pool is closed, a player's seats are given up. */
static void member_vanish(Dispatch *dispatch, Room *room, uint32_t index)
{
    if (index == 0) {
        room_close(dispatch, room, NULL);
        return;
    }
    seats_given_up(dispatch, room, index, "left");
    room_unseat(dispatch, room, index);
    room->gone |= (uint8_t)(1u << index);
    room_tell_gone(dispatch, room);
}

JobState request_leave(Dispatch *dispatch, Session *session, Room *room, Job *job)
{
    (void)session;
    if (job->member == 0) {
        job_refuse(job, ERROR_bad_argument, -1,
                   "the director closes the pool instead of leaving it");
        return JOB_DONE;
    }
    seats_given_up(dispatch, room, job->member, "left");
    room_unseat(dispatch, room, job->member);
    return job_submit(dispatch, room->worker, job);
}

void rooms_session_over(Dispatch *dispatch, const Session *session)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        Room *room = &dispatch->rooms[i];
        int32_t member = room->id != 0 && !room->closing ? room_member(room, session) : -1;
        if (member >= 0) {
            member_vanish(dispatch, room, (uint32_t)member);
        }
    }
}

/* A late player loses its place; a late director only its seats. */
static void member_late(Dispatch *dispatch, Room *room, uint32_t index)
{
    Member *member = &room->members[index];
    Session *session = session_get(dispatch, member->session);
    Notice notice = {.pool = room->id, .seat = -1, .what = "late"};
    seats_given_up(dispatch, room, index, "late");
    if (session != NULL) {
        session_notify(dispatch, session, &notice);
    }
    if (index > 0) {
        if (session != NULL) {
            session_lose(session, room->id,
                         "its seats were lost: an action took longer than seat_timeout_ms");
        }
        room_unseat(dispatch, room, index);
    } else {
        member_lose_channel(dispatch, member);
    }
    room->gone |= (uint8_t)(1u << index);
}

void room_tick_done(Dispatch *dispatch, Room *room, const Job *job)
{
    uint8_t late = job->lost & room->ticked;
    room->ticking = false;
    room->draining = job->drains;
    room->running = job->running;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if ((late >> i & 1) != 0) {
            member_late(dispatch, room, i);
        }
    }
    room_tell_gone(dispatch, room);
}

/* ---- Shared memory ---- */

bool dispatch_lease(Dispatch *dispatch, uint64_t id, uint32_t index,
                    const uint8_t token[SHM_TOKEN_SIZE], uint64_t lease, ShmDescriptors *shm)
{
    Room *room = id != 0 ? room_find(dispatch, id) : NULL;
    Member *member = room != NULL && index < TY_MEMBERS_MAX ? &room->members[index] : NULL;
    uint8_t difference = 0;
    for (uint32_t i = 0; member != NULL && i < SHM_TOKEN_SIZE; i++) {
        difference |= (uint8_t)(member->shm_token[i] ^ token[i]);
    }
    Session *session = member != NULL && member->here && member->shm.rows >= 0 && !member->leased
                           ? session_get(dispatch, member->session)
                           : NULL;
    if (session == NULL || difference != 0) {
        return false;
    }
    member->leased = true;
    member->lease = lease;
    session->lease_count++;
    *shm = member->shm;
    return true;
}

static void lease_over(Dispatch *dispatch, Room *room, uint32_t index)
{
    Member *member = &room->members[index];
    Session *session = session_get(dispatch, member->session);
    member->leased = false;
    if (session != NULL) {
        session->lease_count--;
        session->silent_since_ms = dispatch->now_ms;
    }
    member_vanish(dispatch, room, index);
}

void dispatch_lease_ended(Dispatch *dispatch, uint64_t lease, uint64_t now_ms)
{
    dispatch->now_ms = now_ms;
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        Room *room = &dispatch->rooms[i];
        for (uint32_t k = 0; room->id != 0 && !room->closing && k < TY_MEMBERS_MAX; k++) {
            const Member *member = &room->members[k];
            if (member->here && member->leased && member->lease == lease) {
                lease_over(dispatch, room, k);
                dispatch_collect(dispatch, now_ms);
                return;
            }
        }
    }
}
