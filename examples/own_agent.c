/* A baseline of one's own: a process that joins the open seats of a pool, and claims a route
 * whenever it can.
 *
 *   trainyard arena express --agents random,open --start ./own_agent */
#include <proto/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 4096 };

/* The agent: of all legal actions, the first that begins with the dearest wish. */
static int32_t choose(const TyRuleset *rules, const uint8_t *mask)
{
    static const char *const wishes[] = {"claim ", "pay", "keep ", "draw", ""};
    char name[TY_NAME_MAX];
    for (uint32_t wish = 0; wish < sizeof wishes / sizeof wishes[0]; wish++) {
        for (uint32_t action = 0; action < ty_shape(rules)->action_count; action++) {
            ty_action_name(rules, action, name);
            if (mask[action] && strncmp(name, wishes[wish], strlen(wishes[wish])) == 0) {
                return (int32_t)action;
            }
        }
    }
    return 0; /* the episode is over: any answer begins the next */
}

static const char *option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const TyClientConfig where = {.endpoint = option(argc, argv, "--connect")};
    const char *number = option(argc, argv, "--pool");
    const char *invite = option(argc, argv, "--invite");
    TyClient *client = NULL;
    TyClientPool pool;
    TyClientRows rows;
    TyRuleset *rules = NULL;
    if (number == NULL || invite == NULL) {
        fprintf(stderr, "usage: own_agent [--connect ENDPOINT] --pool N --invite TOKEN\n");
        return 2;
    }
    TyStatus status = ty_client_connect(&where, &client);
    if (status.code == TY_OK) { /* no list of seats: every seat that is open */
        status = ty_client_join(client, (uint32_t)atoi(number), invite, NULL, 0, false, &pool);
    }
    if (status.code == TY_OK) {
        status = ty_ruleset_open(pool.ruleset, NULL, &rules);
    }
    while (status.code == TY_OK) { /* until the pool is closed */
        int32_t actions[SLOTS_MAX];
        status = ty_client_recv(client, &pool, 1, 1000, &rows);
        for (uint32_t i = 0; status.code == TY_OK && i < rows.count; i++) {
            actions[i] = choose(rules, rows.column[TY_COLUMN_MASK] + (size_t)i * pool.action_count);
        }
        if (status.code == TY_OK && rows.count > 0) {
            status = ty_client_send(client, &pool, rows.slots, actions, rows.count);
        }
    }
    fprintf(stderr, "own_agent ends: %s\n", status.message);
    ty_ruleset_close(rules);
    ty_client_close(client);
    return 0;
}
