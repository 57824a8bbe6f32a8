/* Sessions: who talks to the daemon, which of its requests were answered, and how. */
#include "core/hash.h"
#include "core/status.h"
#include "daemon/access.h"
#include "daemon/dispatch_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ---- */

static uint32_t *bucket_of(const Dispatch *dispatch, uint64_t peer)
{
    return &dispatch->buckets[hash_mix(peer) & (dispatch->bucket_count - 1)];
}

Session *session_find(const Dispatch *dispatch, uint64_t peer)
{
    for (uint32_t at = *bucket_of(dispatch, peer); at != 0;) {
        Session *session = dispatch->sessions[at - 1];
        if (session->peer == peer) {
            return session;
        }
        at = session->next_in_bucket;
    }
    return NULL;
}

static void bucket_add(Dispatch *dispatch, Session *session)
{
    uint32_t *bucket = bucket_of(dispatch, session->peer);
    session->next_in_bucket = *bucket;
    *bucket = session->id.place + 1;
}

static void bucket_remove(Dispatch *dispatch, Session *session)
{
    uint32_t *link = bucket_of(dispatch, session->peer);
    while (*link != session->id.place + 1) {
        link = &dispatch->sessions[*link - 1]->next_in_bucket;
    }
    *link = session->next_in_bucket;
}

Session *session_find_token(const Dispatch *dispatch, const char *token)
{
    Session *found = NULL;
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        Session *session = dispatch->sessions[i];
        if (session != NULL && secret_equal(session->token, token)) {
            found = session;
        }
    }
    return found;
}

Session *session_get(const Dispatch *dispatch, SessionId id)
{
    Session *session = id.place < dispatch->session_places ? dispatch->sessions[id.place] : NULL;
    return session != NULL && session->id.serial == id.serial ? session : NULL;
}

/* The place behind the last that was given, or the first that is free. */
static uint32_t place_take(Dispatch *dispatch)
{
    uint32_t place = dispatch->place_hint;
    if (place >= dispatch->session_places || dispatch->sessions[place] != NULL) {
        place = 0;
    }
    while (place < dispatch->session_places && dispatch->sessions[place] != NULL) {
        place++;
    }
    if (place == dispatch->session_places) {
        dispatch->session_places++;
    }
    dispatch->place_hint = place + 1;
    return place;
}

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

/* The record of a key; NULL if there is no memory for a new one. */
static KeyRecord *key_record(Dispatch *dispatch, const char *name)
{
    KeyRecord *key = dispatch->keys;
    while (key != NULL && strcmp(key->name, name) != 0) {
        key = key->next;
    }
    if (key == NULL && (key = calloc(1, sizeof *key)) != NULL) {
        snprintf(key->name, sizeof key->name, "%s", name);
        quota_init(&key->quota, QUOTA_OF_KEY, &dispatch->shared.quota, &dispatch->config.limits);
        key->next = dispatch->keys;
        dispatch->keys = key;
    }
    return key;
}

static size_t session_bytes(uint64_t pending_places, uint64_t kept_places)
{
    return sizeof(Session) + pending_places * sizeof(Pending) + kept_places * sizeof(Kept);
}

/* A session that is nowhere entered yet, with its quota. */
static TyStatus session_make(Dispatch *dispatch, KeyRecord *key, Session **out)
{
    const Limits *limits = &dispatch->config.limits;
    QuotaRefusal refusal;
    Quota *quota = quota_open(QUOTA_OF_SESSION, &key->quota, limits);
    size_t bytes = session_bytes(limits->requests_in_flight, limits->replies_kept);
    Session *session = calloc(1, bytes);
    TyStatus status = ty_status_ok();
    if (quota == NULL || session == NULL) {
        status = ty_status_fail(TY_NO_MEMORY, "no memory for another session");
    } else if (!quota_take(quota, QUOTA_SESSIONS, 1, &refusal)) {
        status = quota_refusal_status(&refusal);
    } else if (!quota_take(quota, QUOTA_BYTES, bytes, &refusal)) {
        quota_give(quota, QUOTA_SESSIONS, 1);
        status = quota_refusal_status(&refusal);
    }
    if (status.code != TY_OK) {
        quota_release(quota);
        free(session);
        return status;
    }
    assert(session != NULL);
    session->key = key;
    session->quota = quota;
    session->pending = (Pending *)(session + 1);
    session->pending_places = (uint32_t)limits->requests_in_flight;
    session->kept = (Kept *)(session->pending + limits->requests_in_flight);
    session->kept_places = (uint32_t)limits->replies_kept;
    *out = session;
    return status;
}

TyStatus session_begin(Dispatch *dispatch, uint64_t peer, const char *key_name, Session **out)
{
    KeyRecord *key = key_record(dispatch, key_name);
    Session *session = NULL;
    *out = NULL;
    TyStatus status = key != NULL ? session_make(dispatch, key, &session)
                                  : ty_status_fail(TY_NO_MEMORY, "no memory for another session");
    if (status.code != TY_OK) {
        return status;
    }
    assert(session != NULL);
    session->id = (SessionId){.place = place_take(dispatch), .serial = ++dispatch->session_serial};
    session->peer = peer;
    session->connected = true;
    session->silent_since_ms = dispatch->now_ms;
    token_make(dispatch, session->token);
    dispatch->sessions[session->id.place] = session;
    dispatch->session_count++;
    bucket_add(dispatch, session);
    *out = session;
    return status;
}

void session_rebind(Dispatch *dispatch, Session *session, uint64_t peer)
{
    bucket_remove(dispatch, session);
    session->peer = peer;
    session->connected = true;
    bucket_add(dispatch, session);
    /* Replies to what was asked on the old connection are wanted when they are asked for again. */
    for (uint32_t i = 0; i < session->pending_count; i++) {
        session->pending[i].copies = 0;
    }
}

/* Takes a reply out of the list by age. */
static void kept_unlink(Dispatch *dispatch, const Kept *kept)
{
    *(kept->older != NULL ? &kept->older->newer : &dispatch->kept_oldest) = kept->newer;
    *(kept->newer != NULL ? &kept->newer->older : &dispatch->kept_newest) = kept->older;
    dispatch->kept_bytes -= kept->reply->capacity;
}

static void kept_drop_first(Dispatch *dispatch, Session *session)
{
    Kept *kept = &session->kept[session->kept_first];
    kept_unlink(dispatch, kept);
    session->kept_bytes -= kept->reply->capacity;
    buffer_release(kept->reply);
    session->kept_first = (session->kept_first + 1) % session->kept_places;
    session->kept_count--;
}

void session_end(Dispatch *dispatch, Session *session, const char *why)
{
    journal_write(dispatch->config.journal, JOURNAL_INFO, "session_end",
                  JOURNAL_FIELDS(JOURNAL_NUMBER("session", session->id.serial),
                                 JOURNAL_TEXT("name", session->name), JOURNAL_TEXT("why", why),
                                 JOURNAL_NUMBER("pools", session->pool_count)));
    for (uint32_t i = 0; i < session->pending_count; i++) {
        worker_stop(session->pending[i].job, STOP_GONE);
    }
    rooms_session_over(dispatch, session);
    while (session->kept_count > 0) {
        kept_drop_first(dispatch, session);
    }
    bucket_remove(dispatch, session);
    dispatch->sessions[session->id.place] = NULL;
    dispatch->session_count--;
    quota_give(session->quota, QUOTA_REQUESTS, session->pending_count);
    quota_give(session->quota, QUOTA_BYTES,
               session_bytes(session->pending_places, session->kept_places));
    quota_give(session->quota, QUOTA_SESSIONS, 1);
    quota_release(session->quota);
    free(session);
}

const char *session_over(const Dispatch *dispatch, const Session *session)
{
    const Limits *limits = &dispatch->config.limits;
    uint64_t silent = dispatch->now_ms - session->silent_since_ms;
    if (session->dropped) {
        return "unread";
    }
    if (session->lease_count > 0) {
        return NULL;
    }
    if (!session->connected) {
        return silent >= limits->resume_ms ? "disconnected" : NULL;
    }
    return silent >= limits->idle_ms && session->pending_count == 0 ? "silent" : NULL;
}

/* ---- Notices ---- */

void session_notify(Dispatch *dispatch, Session *session, const Notice *notice)
{
    dispatch->noticed = true;
    if (session->notice_count == NOTICES_MAX) {
        memmove(session->notices, session->notices + 1,
                (NOTICES_MAX - 1) * sizeof session->notices[0]);
        session->notice_count--;
    }
    session->notices[session->notice_count++] = *notice;
}

/* Adds the notices to a reply that is written already: every reply has room for them. */
static void notices_add(Session *session, Buffer *reply)
{
    if (session->notice_count == 0) {
        return;
    }
    Writer writer = {.data = reply->data,
                     .capacity = reply->capacity,
                     .size = reply->size,
                     .op = OP_PING,
                     .entries = (uint32_t)reply->data[1] << 8 | reply->data[2]};
    reply_key(&writer, REPLY_NOTICES);
    put_list(&writer, session->notice_count);
    for (uint32_t i = 0; i < session->notice_count; i++) {
        const Notice *notice = &session->notices[i];
        put_map(&writer, 4);
        put_key_uint(&writer, "pool", notice->pool);
        put_text(&writer, "seat");
        put_int(&writer, notice->seat);
        put_key_text(&writer, "what", notice->what);
        put_key_text(&writer, "by", notice->by);
    }
    if (message_end(&writer)) {
        reply->size = writer.size;
        session->notice_count = 0;
    }
}

static void session_push(Dispatch *dispatch, Session *session)
{
    Writer writer;
    Buffer *message = buffer_take(&dispatch->shared.buffers, session->quota, REPLY_REFUSAL_SIZE);
    if (message == NULL) {
        dispatch->noticed = true; /* they come with the next reply, or later */
        return;
    }
    reply_begin(&writer, message->data, message->capacity, OP_PING, 0);
    message_end(&writer);
    message->size = writer.size;
    notices_add(session, message);
    session_send(dispatch, session, message);
}

void notices_push(Dispatch *dispatch)
{
    bool noticed = dispatch->noticed;
    dispatch->noticed = false;
    for (uint32_t i = 0; noticed && i < dispatch->session_places; i++) {
        Session *session = dispatch->sessions[i];
        if (session != NULL && session->pushes && session->connected && session->notice_count > 0) {
            session_push(dispatch, session);
        }
    }
}

void session_lose(Session *session, uint32_t pool, const char *why)
{
    session->lost[session->lost_count++ % LOST_MAX] = (Lost){.pool = pool, .why = why};
}

const char *session_lost(const Session *session, uint64_t pool)
{
    const char *why = NULL;
    for (uint32_t i = 0; i < LOST_MAX && i < session->lost_count; i++) {
        why = session->lost[i].pool == pool ? session->lost[i].why : why;
    }
    return why;
}

/* ---- Requests and replies ---- */

Repeat session_repeat(Session *session, uint64_t id, Buffer **kept)
{
    if (id > session->last_id) {
        return REPEAT_NEW;
    }
    for (uint32_t i = 0; i < session->pending_count; i++) {
        if (session->pending[i].id == id) {
            session->pending[i].copies++;
            return REPEAT_PENDING;
        }
    }
    for (uint32_t i = 0; i < session->kept_count; i++) {
        Kept *entry = &session->kept[(session->kept_first + i) % session->kept_places];
        if (entry->id == id) {
            *kept = entry->reply;
            return REPEAT_KEPT;
        }
    }
    return REPEAT_STALE;
}

void session_forget(Dispatch *dispatch, Session *session, uint64_t got)
{
    while (session->kept_count > 0 && session->kept[session->kept_first].id <= got) {
        kept_drop_first(dispatch, session);
    }
}

bool session_expect(Session *session, Job *job, QuotaRefusal *refusal)
{
    uint64_t timeout_ms = request_uint(&job->request, FIELD_OF_DEADLINE);
    if (!quota_take(session->quota, QUOTA_REQUESTS, 1, refusal)) {
        return false;
    }
    assert(session->pending_count < session->pending_places);
    session->last_id = job->request.id;
    session->pending[session->pending_count++] =
        (Pending){.id = job->request.id,
                  .copies = 1,
                  .deadline_ms = timeout_ms > 0 ? job->now_ms + timeout_ms : 0,
                  .job = job};
    return true;
}

void session_stop_late(const Dispatch *dispatch, Session *session)
{
    for (uint32_t i = 0; i < session->pending_count; i++) {
        const Pending *pending = &session->pending[i];
        if (pending->deadline_ms != 0 && dispatch->now_ms >= pending->deadline_ms) {
            worker_stop(pending->job, STOP_LATE);
        }
    }
}

void session_send(Dispatch *dispatch, Session *session, Buffer *reply)
{
    if (!session->connected) {
        buffer_release(reply);
        return;
    }
    switch (dispatch->config.send(dispatch->config.user, session->peer, reply)) {
    case DISPATCH_SENT:
        return;
    case DISPATCH_GONE:
        dispatch_disconnected(dispatch, session->peer, dispatch->now_ms);
        return;
    case DISPATCH_FULL:
        session->dropped = true;
        session->connected = false;
        return;
    }
}

/* Makes room for a reply: the session's own oldest go first, then the oldest of all, as long as
 * kept replies have more than their share or memory is short. */
static void kept_make_room(Dispatch *dispatch, Session *session, size_t size)
{
    const Limits *limits = &dispatch->config.limits;
    const Quota *quota = &dispatch->shared.quota;
    uint64_t max = quota_max(quota, QUOTA_BYTES);
    uint64_t high = max - max / 8;
    while (session->kept_count > 0 && (session->kept_count == session->kept_places ||
                                       session->kept_bytes + size > limits->reply_bytes_kept)) {
        kept_drop_first(dispatch, session);
    }
    while (dispatch->kept_oldest != NULL &&
           (dispatch->kept_bytes + size > dispatch->kept_bytes_max ||
            quota_used(quota, QUOTA_BYTES) > high)) {
        kept_drop_first(dispatch, dispatch->kept_oldest->session);
    }
}

static void session_keep(Dispatch *dispatch, Session *session, uint64_t id, Buffer *reply)
{
    kept_make_room(dispatch, session, reply->capacity);
    Kept *kept = &session->kept[(session->kept_first + session->kept_count) % session->kept_places];
    *kept = (Kept){.id = id, .reply = reply, .session = session, .older = dispatch->kept_newest};
    *(kept->older != NULL ? &kept->older->newer : &dispatch->kept_oldest) = kept;
    dispatch->kept_newest = kept;
    dispatch->kept_bytes += reply->capacity;
    session->kept_count++;
    session->kept_bytes += reply->capacity;
    buffer_hold(reply);
}

void session_answer(Dispatch *dispatch, Session *session, uint64_t id, Buffer *reply)
{
    uint32_t copies = 0;
    for (uint32_t i = 0; i < session->pending_count; i++) {
        if (session->pending[i].id == id) {
            copies = session->pending[i].copies;
            session->pending[i] = session->pending[--session->pending_count];
            quota_give(session->quota, QUOTA_REQUESTS, 1);
            break;
        }
    }
    if (reply == NULL) {
        /* Not even a refusal could be had: to be silent would let the client wait forever. */
        session->dropped = true;
        return;
    }
    notices_add(session, reply);
    session_keep(dispatch, session, id, reply);
    for (; copies > 0; copies--) {
        buffer_hold(reply);
        session_send(dispatch, session, reply);
    }
    buffer_release(reply);
}
