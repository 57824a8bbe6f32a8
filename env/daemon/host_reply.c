/* How a host answers: replies built in place, refusals, jobs handed back. */
#include "daemon/host_internal.h"

#include <stdarg.h>

void host_show_counts(Host *host)
{
    TyPoolCounts counts = ty_pool_counts(host->pool);
    atomic_store_explicit(&host->decisions, counts.decisions, memory_order_relaxed);
    atomic_store_explicit(&host->episodes, counts.episodes, memory_order_relaxed);
}

void job_done(Host *host, Job *job)
{
    HostShared *shared = host->shared;
    if (job->kind == JOB_REQUEST) {
        if (host->pool != NULL) {
            host_show_counts(host);
        }
        atomic_fetch_sub(&host->jobs, 1);
    }
    pthread_mutex_lock(&shared->mutex);
    bool first = shared->done_first == NULL;
    job->next = NULL;
    if (first) {
        shared->done_first = job;
    } else {
        shared->done_last->next = job;
    }
    shared->done_last = job;
    pthread_mutex_unlock(&shared->mutex);
    if (first && shared->wake != NULL) {
        shared->wake(shared->wake_user);
    }
}

/* Writes the whole reply into a buffer with room for `*room` bytes, which becomes what it wanted.
 * True if it fitted. */
static bool reply_try(const ReplyPlan *plan, size_t *room, Buffer **reply)
{
    Writer writer;
    *reply = buffer_take(plan->buffers, *room + REPLY_NOTICE_ROOM);
    if (*reply == NULL) {
        return true;
    }
    reply_begin(&writer, (*reply)->data, (*reply)->capacity - REPLY_NOTICE_ROOM, plan->op,
                plan->id);
    if (plan->body != NULL) {
        plan->body(&writer, plan->host, plan->job, plan->context);
    }
    bool fits = message_end(&writer);
    (*reply)->size = writer.size;
    *room = writer.size;
    return fits;
}

Buffer *reply_make(const ReplyPlan *plan, size_t guess)
{
    Buffer *reply = NULL;
    size_t room = guess;
    if (!reply_try(plan, &room, &reply)) {
        buffer_release(reply);
        reply_try(plan, &room, &reply);
    }
    return reply;
}

Buffer *reply_refusal(BufferStore *buffers, uint64_t id, const WireError *error)
{
    Writer writer;
    Buffer *reply = buffer_take(buffers, REPLY_REFUSAL_SIZE);
    if (reply != NULL) {
        reply_error(&writer, reply->data, reply->capacity - REPLY_NOTICE_ROOM, id, error);
        reply->size = writer.size;
    }
    return reply;
}

Buffer *reply_no_memory(BufferStore *buffers, uint64_t id)
{
    WireError error;
    wire_refuse(&error, ERROR_no_memory, "no memory for the reply");
    return reply_refusal(buffers, id, &error);
}

bool job_reply(Host *host, Job *job, size_t guess, ReplyBody *body, const void *context)
{
    const ReplyPlan plan = {.buffers = &host->shared->buffers,
                            .op = job->request.op,
                            .id = job->request.id,
                            .body = body,
                            .host = host,
                            .job = job,
                            .context = context};
    job->reply = reply_make(&plan, guess);
    bool made = job->reply != NULL;
    if (!made) {
        job->failed = true;
        job->reply = reply_no_memory(plan.buffers, plan.id);
    }
    job_done(host, job);
    return made;
}

void job_refuse(Host *host, Job *job, ErrorCode code, int64_t row, const char *format, ...)
{
    WireError error = {.code = code, .row = row};
    va_list args;
    va_start(args, format);
    vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    job->failed = true;
    job->reply = reply_refusal(&host->shared->buffers, job->request.id, &error);
    job_done(host, job);
}

ErrorCode status_error(TyCode code)
{
    switch (code) {
    case TY_OK:
    case TY_BAD_ARGUMENT:
    case TY_BAD_SCRIPT:
        return ERROR_bad_argument;
    case TY_BAD_CONFIG:
        return ERROR_bad_config;
    case TY_BAD_FILE:
        return ERROR_bad_file;
    case TY_ILLEGAL:
        return ERROR_illegal_action;
    case TY_LIMIT:
        return ERROR_limit;
    case TY_NO_MEMORY:
        return ERROR_no_memory;
    case TY_IO:
        return ERROR_io;
    }
    return ERROR_bad_argument;
}

void job_refuse_status(Host *host, Job *job, const TyStatus *status)
{
    job_refuse(host, job, status_error(status->code), -1, "%s", status->message);
}
