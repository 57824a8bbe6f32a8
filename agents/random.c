/* The agent that takes any legal action with equal probability. */
#include "agent.h"

typedef struct RandomMemory {
    uint64_t seed;
    uint64_t counter;
} RandomMemory;

static void random_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)agent;
    (void)ruleset;
    (void)seat;
    *(RandomMemory *)memory = (RandomMemory){.seed = seed};
}

static uint32_t random_act(void *memory, const TyView *view)
{
    RandomMemory *random = memory;
    return ty_sample(view->mask, ty_shape(view->ruleset)->action_count, random->seed,
                     random->counter++);
}

const TyAgent random_agent = {
    .name = "random",
    .help = "any legal action with equal probability",
    .memory_size = sizeof(RandomMemory),
    .start = random_start,
    .act = random_act,
};
