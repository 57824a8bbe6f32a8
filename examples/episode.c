/* One episode in process, with the built-in agents: the whole of the C interface in a page.
 *
 *   cc episode.c $(pkg-config --cflags --libs trainyard) && ./a.out 7 */
#include <trainyard.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open("convoi:board=europe,players=2", NULL, &ruleset);
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
        return 1;
    }
    const TyShape *shape = ty_shape(ruleset);
    void *state = aligned_alloc(8, shape->state_size);
    uint8_t *row = malloc(shape->row_size);
    uint8_t *mask = malloc(shape->action_count);
    int32_t reward[TY_SEATS_MAX] = {0};

    ty_reset(ruleset, state, seed, NULL);
    while (!ty_head(state)->over) {
        ty_observe(ruleset, state, (uint32_t)ty_head(state)->seat,
                   row);                /* what a network would see */
        ty_legal(ruleset, state, mask); /* and what it may answer */
        uint32_t action = ty_sample(mask, shape->action_count, seed, ty_head(state)->steps);
        ty_step(ruleset, state, action, reward, NULL);
    }
    int32_t metrics[TY_METRICS_MAX];
    ty_metrics(ruleset, state, metrics);
    printf("seed %llu: %s, %d goods delivered in %d turns, %u decisions, return %+.3f\n",
           (unsigned long long)seed, metrics[0] ? "won" : "lost", metrics[1], metrics[2],
           ty_head(state)->steps, (double)reward[0] / TY_REWARD_ONE);
    free(mask);
    free(row);
    free(state);
    ty_ruleset_close(ruleset);
    return 0;
}
