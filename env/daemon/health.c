/* health: whether the daemon does all that it should, for those who look after it. */
#include "daemon/dispatch_internal.h"
#include "replay/replay.h"

#include <stdio.h>

/* What is wrong, in a sentence; "" if nothing is. */
static void trouble_find(const Dispatch *dispatch, char trouble[TY_MESSAGE_MAX])
{
    trouble[0] = '\0';
    if (dispatch->config.recorder != NULL) {
        TyStatus failure = recorder_failure(dispatch->config.recorder);
        if (failure.code != TY_OK) {
            snprintf(trouble, TY_MESSAGE_MAX, "%s", failure.message);
        }
    }
}

/* What the reply needs besides the job. */
typedef struct HealthContext {
    uint64_t uptime_ms;
    char trouble[TY_MESSAGE_MAX];
} HealthContext;

static void put_health(Writer *writer, const Job *job, const void *context)
{
    const HealthContext *health = context;
    (void)job;
    reply_key(writer, REPLY_HEALTHY);
    put_flag(writer, health->trouble[0] == '\0');
    reply_text(writer, REPLY_TROUBLE, health->trouble);
    reply_text(writer, REPLY_VERSION, TY_VERSION);
    reply_uint(writer, REPLY_UPTIME, health->uptime_ms);
}

void request_health(Dispatch *dispatch, Job *job)
{
    HealthContext context = {.uptime_ms = dispatch->now_ms - dispatch->started_ms};
    trouble_find(dispatch, context.trouble);
    job_reply(job, 512, put_health, &context);
}
