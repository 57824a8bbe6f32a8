/* How jobs get their replies and refusals. */
#include "daemon/reply.h"

#include <assert.h>
#include <stdarg.h>

/* ---- Replies ---- */

/* What a reply is made of. */
typedef struct ReplyPlan {
    ReplyBody *body;
    const void *context;
    size_t room; /* for its bytes; becomes what it wanted */
} ReplyPlan;

/* Writes the whole reply into a new buffer. True if it fitted, or there is no memory. */
static bool reply_try(Job *job, ReplyPlan *plan)
{
    Writer writer;
    job->reply = buffer_take(job->buffers, job->quota, plan->room + REPLY_NOTICE_ROOM);
    if (job->reply == NULL) {
        return true;
    }
    reply_begin(&writer, job->reply->data, job->reply->capacity - REPLY_NOTICE_ROOM,
                job->request.op, job->request.id);
    if (plan->body != NULL) {
        plan->body(&writer, job, plan->context);
    }
    bool fits = message_end(&writer);
    job->reply->size = writer.size;
    plan->room = writer.size;
    return fits;
}

bool job_reply(Job *job, size_t guess, ReplyBody *body, const void *context)
{
    ReplyPlan plan = {.body = body, .context = context, .room = guess};
    assert(job->reply == NULL);
    if (!reply_try(job, &plan)) {
        buffer_release(job->reply);
        reply_try(job, &plan);
    }
    return job->reply != NULL || job_refuse(job, ERROR_no_memory, -1, "no memory for the reply");
}

/* ---- Refusals ---- */

Buffer *reply_refusal(BufferStore *buffers, Quota *quota, uint64_t id, const WireError *error)
{
    Writer writer;
    Buffer *reply = buffer_take(buffers, quota, REPLY_REFUSAL_SIZE);
    if (reply != NULL) {
        reply_error(&writer, reply->data, reply->capacity - REPLY_NOTICE_ROOM, id, error);
        reply->size = writer.size;
    }
    return reply;
}

bool job_refuse(Job *job, ErrorCode code, int64_t row, const char *format, ...)
{
    WireError error = {.code = code, .row = row};
    va_list args;
    assert(job->reply == NULL);
    va_start(args, format);
    vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    job->failed = true;
    job->code = code;
    job->reply = reply_refusal(job->buffers, job->quota, job->request.id, &error);
    return false;
}

static ErrorCode status_error(TyCode code)
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

bool job_refuse_status(Job *job, const TyStatus *status)
{
    return job_refuse(job, status_error(status->code), -1, "%s", status->message);
}
