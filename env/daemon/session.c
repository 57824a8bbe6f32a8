/* Sessions: who talks to the daemon, which of its requests were answered, and how. */
#include "daemon/dispatch_internal.h"

#include "core/hash.h"

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
    *bucket = session->place + 1;
}

static void bucket_remove(Dispatch *dispatch, Session *session)
{
    uint32_t *link = bucket_of(dispatch, session->peer);
    while (*link != session->place + 1) {
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

Session *session_of(const Dispatch *dispatch, uint32_t place, uint64_t serial)
{
    Session *session = place < dispatch->session_places ? dispatch->sessions[place] : NULL;
    return session != NULL && session->serial == serial ? session : NULL;
}

static uint32_t place_free(Dispatch *dispatch)
{
    uint32_t place = 0;
    while (place < dispatch->session_places && dispatch->sessions[place] != NULL) {
        place++;
    }
    return place;
}

Session *session_begin(Dispatch *dispatch, uint64_t peer)
{
    const Limits *limits = &dispatch->config.limits;
    if (dispatch->session_count >= limits->sessions) {
        return NULL;
    }
    size_t pending = limits->requests_in_flight * sizeof(Pending);
    size_t kept = limits->replies_kept * sizeof(Kept);
    Session *session = calloc(1, sizeof *session + pending + kept);
    if (session == NULL) {
        return NULL;
    }
    session->place = dispatch->place_hint < dispatch->session_places &&
                             dispatch->sessions[dispatch->place_hint] == NULL
                         ? dispatch->place_hint
                         : place_free(dispatch);
    dispatch->place_hint = session->place + 1;
    if (session->place == dispatch->session_places) {
        dispatch->session_places++;
    }
    session->pending = (Pending *)(session + 1);
    session->kept = (Kept *)((char *)session->pending + pending);
    session->ring = (uint32_t)limits->replies_kept;
    session->serial = ++dispatch->serial;
    session->peer = peer;
    session->connected = true;
    session->silent_since_ms = dispatch->now_ms;
    token_make(dispatch, session->token);
    dispatch->sessions[session->place] = session;
    dispatch->session_count++;
    bucket_add(dispatch, session);
    return session;
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

static void kept_drop_first(Session *session)
{
    Kept *kept = &session->kept[session->kept_first];
    session->kept_bytes -= kept->reply->capacity;
    buffer_release(kept->reply);
    session->kept_first = (session->kept_first + 1) % session->ring;
    session->kept_count--;
}

void session_end(Dispatch *dispatch, Session *session)
{
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        Pool *pool = &dispatch->pools[i];
        int32_t member = pool->id != 0 && !pool->closing ? pool_member(pool, session) : -1;
        if (member == 0) {
            pool_close(dispatch, pool, NULL);
        } else if (member > 0) {
            pool_member_gone(dispatch, pool, (uint32_t)member, "left");
        }
    }
    while (session->kept_count > 0) {
        kept_drop_first(session);
    }
    bucket_remove(dispatch, session);
    dispatch->sessions[session->place] = NULL;
    dispatch->session_count--;
    free(session);
}

/* ---- Notices ---- */

void session_notify(Session *session, const Notice *notice)
{
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
        Kept *entry = &session->kept[(session->kept_first + i) % session->ring];
        if (entry->id == id) {
            *kept = entry->reply;
            return REPEAT_KEPT;
        }
    }
    return REPEAT_STALE;
}

void session_forget(Session *session, uint64_t got)
{
    while (session->kept_count > 0 && session->kept[session->kept_first].id <= got) {
        kept_drop_first(session);
    }
}

void session_expect(Session *session, uint64_t id)
{
    session->last_id = id;
    session->pending[session->pending_count++] = (Pending){.id = id, .copies = 1};
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

static void session_keep(Session *session, uint64_t id, Buffer *reply, const Limits *limits)
{
    while (session->kept_count > 0 &&
           (session->kept_count == session->ring ||
            session->kept_bytes + reply->capacity > limits->reply_bytes_kept)) {
        kept_drop_first(session);
    }
    session->kept[(session->kept_first + session->kept_count) % session->ring] =
        (Kept){.id = id, .reply = reply};
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
            break;
        }
    }
    if (reply == NULL) {
        return;
    }
    notices_add(session, reply);
    session_keep(session, id, reply, &dispatch->config.limits);
    for (; copies > 0; copies--) {
        buffer_hold(reply);
        session_send(dispatch, session, reply);
    }
    buffer_release(reply);
}
