/* How a job gets its reply: built in place, in a buffer that becomes the message. */
#pragma once

#include "daemon/job.h"
#include "proto/wire_encode.h"

enum {
    REPLY_NOTICE_ROOM = 2048,                     /* that every reply leaves free for notices */
    REPLY_REFUSAL_SIZE = 1024 + REPLY_NOTICE_ROOM /* of a buffer for an error reply */
};

/* Writes the fields of a reply. It may be called twice, and must then write the same. */
typedef void ReplyBody(Writer *writer, const Job *job, const void *context);

/* Gives the job its reply, with room for `guess` bytes at first; `body` NULL: it has no fields of
 * its own. False if there was no memory for it: then the job was refused. */
bool job_reply(Job *job, size_t guess, ReplyBody *body, const void *context);
/* Gives the job a refusal for its reply. `row` is -1 unless one row of a batch is to blame. Always
 * false, so that checks can return it. */
bool job_refuse(Job *job, ErrorCode code, int64_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with the error that a library call gave. */
bool job_refuse_status(Job *job, const TyStatus *status);
/* The refusal of a message that is no job; NULL if there is no memory. */
Buffer *reply_refusal(BufferStore *buffers, Quota *quota, uint64_t id, const WireError *error);
