/* Logged episodes: the way to the recorder. */
#include "daemon/host_internal.h"

void job_replay_get(Host *host, Job *job)
{
    job_refuse(host, job, ERROR_unavailable, -1, "this daemon keeps no log");
}

void job_replay_verify(Host *host, Job *job)
{
    job_refuse(host, job, ERROR_unavailable, -1, "this daemon keeps no log");
}
