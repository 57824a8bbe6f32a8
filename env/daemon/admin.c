/* What administrators may ask: who is there, and to end a session. */
#include "daemon/dispatch_internal.h"

static void put_session(Writer *writer, const Dispatch *dispatch, const Session *session)
{
    put_map(writer, 9);
    put_key_uint(writer, "number", session->id.serial);
    put_key_text(writer, "name", session->name);
    put_key_text(writer, "peer", session->identity.address);
    put_text(writer, "administrator");
    put_flag(writer, session->administrator);
    put_text(writer, "connected");
    put_flag(writer, session->connected);
    put_key_uint(writer, "silent_ms", dispatch->now_ms - session->silent_since_ms);
    put_key_uint(writer, "pools", session->pool_count);
    put_key_uint(writer, "requests", session->pending_count);
    put_key_uint(writer, "bytes", quota_used(session->quota, QUOTA_BYTES));
}

static void put_sessions(Writer *writer, const Job *job, const void *context)
{
    const Dispatch *dispatch = context;
    (void)job;
    reply_key(writer, REPLY_SESSION_LIST);
    put_list(writer, dispatch->session_count);
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        if (dispatch->sessions[i] != NULL) {
            put_session(writer, dispatch, dispatch->sessions[i]);
        }
    }
}

JobState request_sessions(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    (void)session;
    (void)unused;
    job_reply(job, 4096, put_sessions, dispatch);
    return JOB_DONE;
}

static Session *session_numbered(const Dispatch *dispatch, uint64_t number)
{
    for (uint32_t i = 0; i < dispatch->session_places; i++) {
        if (dispatch->sessions[i] != NULL && dispatch->sessions[i]->id.serial == number) {
            return dispatch->sessions[i];
        }
    }
    return NULL;
}

JobState request_end_session(Dispatch *dispatch, Session *session, Room *unused, Job *job)
{
    uint64_t number = request_uint(&job->request, FIELD_OF_NUMBER);
    Session *ended = session_numbered(dispatch, number);
    (void)unused;
    if (ended == NULL || ended == session) {
        job_refuse(job, ERROR_bad_argument, -1, "number=%llu: %s", (unsigned long long)number,
                   ended == NULL ? "there is no such session" : "this is your own session");
        return JOB_DONE;
    }
    session_end(dispatch, ended, "ended by an administrator");
    job_reply(job, 64, NULL, NULL);
    return JOB_DONE;
}
