/* Replies built in place, in buffers that become messages. */
#pragma once

#include "daemon/host.h"
#include "proto/wire_encode.h"

enum {
    REPLY_NOTICE_ROOM = 2048,                     /* that every reply leaves free for notices */
    REPLY_REFUSAL_SIZE = 1024 + REPLY_NOTICE_ROOM /* of a buffer for an error reply */
};

/* Writes the fields of a reply. It may be called twice, and must then write the same. */
typedef void ReplyBody(Writer *writer, Host *host, const Job *job, const void *context);

typedef struct ReplyPlan {
    BufferStore *buffers;
    Operation op;
    uint64_t id;
    ReplyBody *body; /* NULL: the reply has no fields of its own */
    Host *host;
    const Job *job;
    const void *context;
} ReplyPlan;

/* A reply, with room for `guess` bytes at first; NULL if there is no memory. */
Buffer *reply_make(const ReplyPlan *plan, size_t guess);
Buffer *reply_refusal(BufferStore *buffers, uint64_t id, const WireError *error);
/* The refusal of a request for whose reply there was no memory. */
Buffer *reply_no_memory(BufferStore *buffers, uint64_t id);
ErrorCode status_error(TyCode code);
