/* A baseline of one's own: a process that joins the open seats of a pool, and claims a route
 * whenever it can.
 *
 *   trainyard arena express --agents random,open --start ./own_agent */
#include <proto/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void start(void *memory, const TyRuleset *rules, uint32_t seat, uint64_t seed)
{
    (void)memory, (void)rules, (void)seat, (void)seed; /* it remembers nothing */
}

/* Of all legal actions, the first that begins with the dearest wish. */
static uint32_t act(void *memory, const TyView *view)
{
    static const char *const wishes[] = {"claim ", "pay", "keep ", "draw", ""};
    char name[TY_NAME_MAX];
    (void)memory;
    for (uint32_t wish = 0;; wish++) {
        for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
            ty_action_name(view->ruleset, action, name);
            if (view->mask[action] && strncmp(name, wishes[wish], strlen(wishes[wish])) == 0) {
                return action;
            }
        }
    }
}

static const TyAgent claimer = {.name = "claimer", .start = start, .act = act};

int main(int argc, char **argv)
{
    TyClientConfig where = {.name = claimer.name};
    uint32_t number = 0;
    const char *invite = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--connect") == 0) {
            where.endpoint = argv[i + 1];
        } else if (strcmp(argv[i], "--pool") == 0) {
            number = (uint32_t)atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--invite") == 0) {
            invite = argv[i + 1];
        }
    }
    TyClient *client = NULL;
    TyClientPool pool;
    TyClientPlay play = {.agent = &claimer};
    TyStatus status = ty_client_connect(&where, &client);
    if (status.code == TY_OK) { /* no list of seats: every seat that is open */
        status = ty_client_join(client, number, invite, NULL, 0, false, &pool);
    }
    if (status.code == TY_OK) {
        status = ty_client_play(client, &pool, &play);
    }
    fprintf(stderr, "own_agent: %s\n",
            status.code == TY_OK ? "the pool is closed" : status.message);
    ty_client_close(client);
    return status.code != TY_OK;
}
