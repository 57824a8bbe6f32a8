/* Logged episodes: playing a log again on behalf of a client. */
#include "daemon/host_internal.h"

#include <stdlib.h>

static void put_copy(Writer *writer, Host *host, const Job *job, const void *context)
{
    const RecorderCopy *copy = context;
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_EPISODE, copy->episode);
    reply_bytes(writer, REPLY_DATA, copy->bytes, copy->size);
}

void job_replay_get(Host *host, Job *job)
{
    const Request *request = &job->request;
    const int64_t wanted = request_int(request, FIELD_OF_EPISODE);
    const uint64_t episode = (uint64_t)wanted;
    uint32_t slot = 0;
    RecorderCopy copy;
    if (host->feed == NULL) {
        job_refuse(host, job, ERROR_unavailable, -1,
                   "the daemon keeps no log; its option --log does");
        return;
    }
    if (!job_slot(host, job, &slot)) {
        return;
    }
    TyStatus status = recorder_fetch(host->feed, slot, wanted >= 0 ? &episode : NULL, &copy);
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    job_reply(host, job, copy.size + 256, put_copy, &copy);
    free(copy.bytes);
}

/* What came of playing the episodes of a log again. */
typedef struct Verification {
    uint32_t episodes;
    uint32_t agreed;
    char report[TY_MESSAGE_MAX];
} Verification;

static void put_verification(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Verification *result = context;
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_EPISODES, result->agreed);
    reply_text(writer, REPLY_REPORT, result->report);
}

/* Plays every episode; the report is about the first that does not agree. */
static void log_verify(LogReader *reader, Replayer *replayer, Verification *result)
{
    LogEpisode episode;
    while (log_next_episode(reader, &episode)) {
        ReplayResult one = replay_verify(replayer, reader, &episode);
        bool agrees = one.verdict == REPLAY_AGREES || one.verdict == REPLAY_INCOMPLETE;
        result->episodes++;
        result->agreed += agrees;
        if (!agrees && result->report[0] == '\0') {
            snprintf(result->report, sizeof result->report, "episode %u: %.280s", episode.index,
                     one.message);
        }
    }
    if (result->report[0] == '\0') {
        snprintf(result->report, sizeof result->report, "%u episodes agree, %u gaps",
                 result->agreed, reader->gaps);
    }
}

void job_replay_verify(Host *host, Job *job)
{
    const WireValue *content = &job->request.values[FIELD_OF_CONTENT];
    Verification result = {.episodes = 0};
    LogReader *reader = calloc(1, sizeof *reader);
    Replayer *replayer = reader != NULL ? replayer_open() : NULL;
    TyStatus status = {.code = TY_OK};
    if (replayer == NULL) {
        job_refuse(host, job, ERROR_no_memory, -1, "no memory to play a log again");
    } else if ((status = log_reader_init(reader, content->bytes, content->size)).code != TY_OK) {
        job_refuse_status(host, job, &status);
    } else {
        log_verify(reader, replayer, &result);
        job_reply(host, job, 1024, put_verification, &result);
    }
    if (replayer != NULL) {
        replayer_close(replayer);
    }
    free(reader);
}
