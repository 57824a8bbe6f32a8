/* Exact counts of the lines of play from a position. Include cmocka.h before this. */
#pragma once

#include "trainyard.h"

#include <inttypes.h>
#include <string.h>

enum { PERFT_DEPTH_MAX = 8 };

/* One level of the walk: a position and the action to try next. */
typedef struct Level {
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t next;
} Level;

static inline void level_enter(const TyRuleset *ruleset, Level *level)
{
    ty_legal(ruleset, level->state, level->mask);
    level->next = 0;
}

/* The number of sequences of `depth` decisions from the position of `seed`, after `lead` decisions
 * of random play. Chance seats count like players, so with chance=seat this counts outcomes too. */
static inline uint64_t perft(const TyRuleset *ruleset, uint64_t seed, uint32_t lead, uint32_t depth)
{
    static Level levels[PERFT_DEPTH_MAX + 1];
    const TyShape *shape = ty_shape(ruleset);
    uint64_t leaves = 0;
    uint32_t at = 0;
    ty_reset(ruleset, levels[0].state, seed, NULL);
    for (uint32_t i = 0; i < lead; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        level_enter(ruleset, &levels[0]);
        ty_step(ruleset, levels[0].state, ty_sample(levels[0].mask, shape->action_count, seed, i),
                reward, NULL);
    }
    level_enter(ruleset, &levels[0]);
    for (;;) {
        Level *level = &levels[at];
        while (level->next < shape->action_count && !level->mask[level->next]) {
            level->next++;
        }
        if (level->next == shape->action_count) {
            if (at-- == 0) {
                return leaves;
            }
            continue;
        }
        int32_t reward[TY_SEATS_MAX] = {0};
        Level *child = &levels[at + 1];
        memcpy(child->state, level->state, shape->state_size);
        assert_true(ty_step(ruleset, child->state, level->next++, reward, NULL));
        if (at + 1 == depth) {
            leaves++;
        } else {
            level_enter(ruleset, child);
            at++;
        }
    }
}

/* The ruleset has so many lines of play of each length up to `depth`. It is closed. */
static inline void perft_is(TyRuleset *ruleset, uint64_t seed, uint32_t lead,
                            const uint64_t *expected, uint32_t depth)
{
    for (uint32_t i = 1; i <= depth; i++) {
        uint64_t count = perft(ruleset, seed, lead, i);
        if (count != expected[i - 1]) {
            fail_msg("%s seed %" PRIu64 " after %u: depth %u has %" PRIu64 " lines, not %" PRIu64,
                     ty_shape(ruleset)->spec, seed, lead, i, count, expected[i - 1]);
        }
    }
    ty_ruleset_close(ruleset);
}
