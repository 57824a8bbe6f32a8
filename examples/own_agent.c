/* A baseline of one's own: a process that joins the open seats of a pool, and claims a route
 * whenever it can.
 *
 *   trainyard arena express --agents random,open --start ./own_agent */
#include <proto/client.h>

#include <string.h>

static void start(const TyAgent *agent, void *memory, const TyRuleset *rules, uint32_t seat,
                  uint64_t seed)
{
    (void)agent, (void)memory, (void)rules, (void)seat, (void)seed; /* it remembers nothing */
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
    return ty_client_main(argc, argv, &claimer); /* joins the seats that it is invited to */
}
