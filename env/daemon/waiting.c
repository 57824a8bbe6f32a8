/* Jobs that wait for other members or for time, and jobs that are to end before their time. */
#include "daemon/worker_internal.h"

/* ---- Jobs that wait ---- */

/* Steps before receives, and both by member and group. */
static uint32_t waiting_rank(const Job *job)
{
    uint32_t group = job->request.op == OP_STEP
                         ? (uint32_t)request_uint(&job->request, FIELD_OF_GROUP)
                         : TY_GROUPS_MAX;
    return job->member * (TY_GROUPS_MAX + 1) + group;
}

void waiting_add(Worker *worker, Job *job)
{
    Job **link = &worker->waiting_first;
    while (*link != NULL && waiting_rank(*link) < waiting_rank(job)) {
        link = &(*link)->next;
    }
    job->next = *link;
    *link = job;
    atomic_fetch_add(&worker->waiting, 1);
}

/* Takes the job that `link` leads to out of the list, and hands it back. */
static void waiting_end(Worker *worker, Job **link)
{
    Job *job = *link;
    *link = job->next;
    atomic_fetch_sub(&worker->waiting, 1);
    job_hand_back(worker, job);
}

Job *waiting_find(const Worker *worker, uint32_t member, Operation op, uint32_t group)
{
    Job *job = worker->waiting_first;
    while (job != NULL && (job->member != member || job->request.op != op ||
                           request_uint(&job->request, FIELD_OF_GROUP) != group)) {
        job = job->next;
    }
    return job;
}

void waiting_serve(Worker *worker)
{
    Job **link = &worker->waiting_first;
    while (*link != NULL) {
        if ((*link)->step(worker, *link) == JOB_DONE) {
            waiting_end(worker, link);
        } else {
            link = &(*link)->next;
        }
    }
}

void waiting_refuse(Worker *worker, int32_t only, const char *why)
{
    Job **link = &worker->waiting_first;
    while (*link != NULL) {
        if (only < 0 || (uint32_t)only == (*link)->member) {
            job_refuse(*link, ERROR_closed, -1, "%s", why);
            waiting_end(worker, link);
        } else {
            link = &(*link)->next;
        }
    }
}

void waiting_stop(Worker *worker)
{
    Job **link = &worker->waiting_first;
    while (*link != NULL) {
        if (job_stopped(*link)) {
            waiting_end(worker, link);
        } else {
            link = &(*link)->next;
        }
    }
}

/* ---- Jobs that are stopped ---- */

void worker_stop(Job *job, JobStop why)
{
    unsigned not_yet = STOP_NOT;
    /* Once is enough: a job that is queued looks before it begins. Told again and again, the one
     * that runs before it would never get on. */
    if (atomic_compare_exchange_strong(&job->stop, &not_yet, (unsigned)why) &&
        job->worker != NULL) {
        atomic_store(&job->worker->hurry, true);
    }
}

bool worker_closes(const Worker *worker)
{
    return atomic_load(&worker->closing);
}

void worker_stop_all(Worker *worker)
{
    atomic_store(&worker->closing, true);
    atomic_store(&worker->hurry, true);
}

/* `hurry` is taken back first: whoever sets it after that has set the reason before. */
bool job_stopped(Job *job)
{
    atomic_store(&job->worker->hurry, false);
    JobStop why = (JobStop)atomic_load(&job->stop);
    if (atomic_load(&job->worker->closing)) {
        return !job_refuse(job, ERROR_closed, -1, "the pool was closed");
    }
    switch (why) {
    case STOP_NOT:
        return false;
    case STOP_CANCELLED:
        return !job_refuse(job, ERROR_cancelled, -1, "the request was cancelled");
    case STOP_LATE:
        return !job_refuse(job, ERROR_timeout, -1, "timeout_ms=%llu: it took longer",
                           (unsigned long long)request_uint(&job->request, FIELD_OF_DEADLINE));
    case STOP_GONE:
        return !job_refuse(job, ERROR_closed, -1, "the session is over");
    }
    return false;
}

bool job_think(Job *job)
{
    Worker *worker = job->worker;
    bool thought = pool_rests(worker->pool, -1);
    bool stopped = false;
    while (pool_rests(worker->pool, -1) && !(stopped = job_stopped(job))) {
        pool_resume(worker->pool);
    }
    if (thought) {
        ready_refresh_all(worker);
        worker->changed = ALL_GROUPS; /* the agents of every group have played on */
    }
    return !stopped;
}
