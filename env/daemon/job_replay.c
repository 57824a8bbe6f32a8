/* Logged episodes: playing a log again on behalf of a client. */
#include "daemon/worker_internal.h"

#include <stdlib.h>

static void put_copy(Writer *writer, const Job *job, const void *context)
{
    const RecorderCopy *copy = context;
    (void)job;
    reply_uint(writer, REPLY_EPISODE, copy->episode);
    reply_bytes(writer, REPLY_DATA, copy->bytes, copy->size);
}

JobState job_replay_get(Worker *worker, Job *job)
{
    const Request *request = &job->request;
    const int64_t wanted = request_int(request, FIELD_OF_EPISODE);
    const uint64_t episode = (uint64_t)wanted;
    uint32_t slot = 0;
    RecorderCopy copy;
    if (worker->feed == NULL) {
        job_refuse(job, ERROR_unavailable, -1, "the daemon keeps no log; its option --log does");
        return JOB_DONE;
    }
    if (!job_read_slot(job, &slot)) {
        return JOB_DONE;
    }
    TyStatus status = recorder_fetch(worker->feed, slot, wanted >= 0 ? &episode : NULL, &copy);
    if (status.code != TY_OK) {
        job_refuse_status(job, &status);
        return JOB_DONE;
    }
    job_reply(job, copy.size + 256, put_copy, &copy);
    free(copy.bytes);
    return JOB_DONE;
}

/* What came of playing the episodes of a log again. */
typedef struct Verification {
    uint32_t agreed; /* episodes */
    uint32_t gaps;
    int64_t episode; /* the first that does not agree; -1: none */
    int64_t step;    /* and the decision; -1: it could not be played */
    char why[TY_MESSAGE_MAX];
} Verification;

static void put_verification(Writer *writer, const Job *job, const void *context)
{
    const Verification *result = context;
    (void)job;
    reply_key(writer, REPLY_AGREES);
    put_flag(writer, result->why[0] == '\0');
    reply_uint(writer, REPLY_EPISODES, result->agreed);
    reply_uint(writer, REPLY_GAPS, result->gaps);
    reply_key(writer, REPLY_FOUND_EPISODE);
    put_int(writer, result->episode);
    reply_key(writer, REPLY_FOUND_STEP);
    put_int(writer, result->step);
    reply_text(writer, REPLY_WHY, result->why);
}

/* Plays every episode, and keeps what is wrong with the first that does not agree. False if it was
 * stopped. */
static bool log_verify(Job *job, LogReader *reader, Replayer *replayer, Verification *result)
{
    LogEpisode episode;
    while (log_next_episode(reader, &episode)) {
        if (job_stopped(job)) {
            return false;
        }
        ReplayResult one = replay_verify(replayer, reader, &episode);
        bool agrees = one.verdict == REPLAY_AGREES || one.verdict == REPLAY_INCOMPLETE;
        result->agreed += agrees;
        if (!agrees && result->episode < 0) {
            result->episode = episode.index;
            result->step = one.verdict == REPLAY_DIVERGES ? (int64_t)one.step : -1;
            snprintf(result->why, sizeof result->why, "%s", one.message);
        }
    }
    result->gaps = reader->gaps;
    if (result->gaps > 0 && result->why[0] == '\0') {
        snprintf(result->why, sizeof result->why, "%u stretches of the log could not be read",
                 result->gaps);
    }
    return true;
}

JobState job_replay_verify(Worker *worker, Job *job)
{
    (void)worker;
    const WireValue *content = &job->request.values[FIELD_OF_CONTENT];
    Verification result = {.episode = -1, .step = -1};
    LogReader *reader = calloc(1, sizeof *reader);
    Replayer *replayer = reader != NULL ? replayer_open() : NULL;
    TyStatus status = {.code = TY_OK};
    if (replayer == NULL) {
        job_refuse(job, ERROR_no_memory, -1, "no memory to play a log again");
    } else if ((status = log_reader_init(reader, content->bytes, content->size)).code != TY_OK) {
        job_refuse_status(job, &status);
    } else if (log_verify(job, reader, replayer, &result)) {
        job_reply(job, 1024, put_verification, &result);
    }
    if (replayer != NULL) {
        replayer_close(replayer);
    }
    free(reader);
    return JOB_DONE;
}
