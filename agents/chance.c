/* Who sits on the chance seat of a ruleset that has one: draws by the weights that it is told. */
#include "agent.h"
#include "core/hash.h"

#include <assert.h>
#include <string.h>

typedef struct ChanceMemory {
    uint64_t seed;
    uint64_t counter;
} ChanceMemory;

static void chance_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)agent;
    (void)ruleset;
    (void)seat;
    *(ChanceMemory *)memory = (ChanceMemory){.seed = seed};
}

/* The block of the row that holds the weight of each outcome. The last actions of the ruleset are
 * these outcomes, in the same order. */
static const TyBlock *weight_block(const TyShape *shape)
{
    uint32_t index = 0;
    while (strcmp(shape->row_blocks[index].name, "chance_weight") != 0) {
        index++;
        assert(index < shape->row_block_count);
    }
    return &shape->row_blocks[index];
}

static uint32_t chance_act(void *memory, const TyView *view)
{
    ChanceMemory *chance = memory;
    const TyShape *shape = ty_shape(view->ruleset);
    const TyBlock *block = weight_block(shape);
    const uint8_t *weights = view->row + block->offset;
    uint64_t total = 0;
    for (uint32_t i = 0; i < block->columns; i++) {
        total += weights[i];
    }
    uint64_t value =
        hash_mix(chance->seed + ++chance->counter * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    uint64_t skip = value * total >> 32;
    uint32_t outcome = 0;
    while (skip >= weights[outcome]) {
        skip -= weights[outcome++];
    }
    return shape->action_count - block->columns + outcome;
}

const TyAgent chance_agent = {
    .name = "chance",
    .help = "Draws each outcome with its probability.",
    .memory_size = sizeof(ChanceMemory),
    .start = chance_start,
    .act = chance_act,
};
