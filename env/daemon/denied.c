/* Wrong tokens: refused after a while, so that trying many takes long on however many connections
 * there can be. */
#include "daemon/dispatch_internal.h"

#include <stdlib.h>

bool denied_may_try(const Dispatch *dispatch, uint64_t peer)
{
    const Denied *denied = dispatch->denied_first;
    while (denied != NULL && denied->peer != peer) {
        denied = denied->next;
    }
    return denied == NULL;
}

/* Answers the one that is due first. */
static void denied_serve_first(Dispatch *dispatch)
{
    Denied *denied = dispatch->denied_first;
    dispatch->denied_first = denied->next;
    dispatch->denied_last = denied->next != NULL ? dispatch->denied_last : NULL;
    dispatch->denied_count--;
    if (denied->reply != NULL) {
        dispatch->config.send(dispatch->config.user, denied->peer, denied->reply);
    }
    free(denied);
}

bool denied_later(Dispatch *dispatch, uint64_t peer, Job *job)
{
    Denied *denied = malloc(sizeof *denied);
    if (denied == NULL) {
        return false;
    }
    *denied = (Denied){.peer = peer, .due_ms = dispatch->now_ms + DENIED_MS, .reply = job->reply};
    job->reply = NULL;
    *(dispatch->denied_last != NULL ? &dispatch->denied_last->next : &dispatch->denied_first) =
        denied;
    dispatch->denied_last = denied;
    /* There are more of them than connections only if those come and go: the first to go is the
     * oldest, and nobody with the right token has to wait for others. */
    if (++dispatch->denied_count > dispatch->config.limits.sessions) {
        denied_serve_first(dispatch);
    }
    return false;
}

void denied_serve(Dispatch *dispatch, bool all)
{
    while (dispatch->denied_first != NULL &&
           (all || dispatch->denied_first->due_ms <= dispatch->now_ms)) {
        denied_serve_first(dispatch);
    }
}
