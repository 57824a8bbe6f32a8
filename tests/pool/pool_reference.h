/* What a pool must do, said with nothing but ty_reset and ty_step: one slot's episodes, one after
 * the other. Tests of pools and of logs compare with it. */
#pragma once

#include "core/hash.h"
#include "trainyard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REFERENCE_SAMPLE_SEED = 77 };

/* How one episode of a slot has to look. */
typedef struct Expected {
    uint64_t seed;
    uint64_t chain; /* over all that the owner of the driven seats sees and does */
    uint64_t final_hash;
    uint32_t steps;
    bool truncated;
    int32_t total[TY_SEATS_MAX]; /* earned by each player, in 1/64 */
    int32_t metrics[TY_METRICS_MAX];
    uint64_t final_rows[TY_SEATS_MAX]; /* hash of what each seat sees at the end */
} Expected;

typedef struct Reference {
    const TyRuleset *ruleset;
    const TyShape *shape;
    TyLineup lineup; /* seats without an agent are driven from outside, by random actions */
    uint32_t max_steps;
    _Alignas(64) uint8_t memory[TY_LINEUP_MEMORY_MAX];
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
} Reference;

static inline TyRuleset *reference_ruleset(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    return ruleset;
}

/* The caller frees it. Seats and max_steps are those of `config`. */
static inline Reference *reference_open(const TyRuleset *ruleset, const TyPoolConfig *config)
{
    Reference *reference = aligned_alloc(64, sizeof *reference);
    assert_non_null(reference);
    memset(reference, 0, sizeof *reference);
    reference->ruleset = ruleset;
    reference->shape = ty_shape(ruleset);
    reference->max_steps = config->max_steps;
    ty_lineup_init(&reference->lineup, ruleset, config->agent, reference->memory);
    if (config->own_chance) {
        reference->lineup.agent[reference->shape->players] = NULL;
    }
    return reference;
}

/* One link of a chain: a row, its position in the episode, and the action that answered it. */
static inline uint64_t chain_add(uint64_t chain, const uint8_t *row, uint32_t row_size,
                                 uint64_t state_hash, uint64_t seat, uint64_t step, uint64_t action)
{
    chain = hash_bytes(chain, row, row_size);
    chain = hash_add(chain, state_hash);
    return hash_add(chain, seat << 56 | step << 24 | action);
}

static inline uint32_t reference_choose(Reference *reference, uint32_t slot, uint32_t episode,
                                        Expected *out)
{
    const TyHead *head = ty_head(reference->state);
    uint32_t seat = (uint32_t)head->seat;
    if (reference->lineup.agent[seat] != NULL) {
        return ty_lineup_act(&reference->lineup, reference->state);
    }
    ty_observe(reference->ruleset, reference->state, seat, reference->row);
    ty_legal(reference->ruleset, reference->state, reference->mask);
    uint32_t action = ty_sample(reference->mask, reference->shape->action_count,
                                REFERENCE_SAMPLE_SEED + hash_mix(slot + 1u),
                                (uint64_t)episode << 32 | head->steps);
    out->chain =
        chain_add(out->chain, reference->row, reference->shape->row_size,
                  ty_hash(reference->ruleset, reference->state), seat, head->steps, action);
    return action;
}

static inline Expected reference_episode(Reference *reference, uint64_t slot_seed, uint32_t slot,
                                         uint32_t episode)
{
    Expected out = {.seed = ty_episode_seed(slot_seed, episode)};
    const TyHead *head = ty_head(reference->state);
    ty_reset(reference->ruleset, reference->state, out.seed, NULL);
    ty_lineup_start(&reference->lineup, out.seed);
    while (!head->over && (reference->max_steps == 0 || head->steps < reference->max_steps)) {
        uint32_t action = reference_choose(reference, slot, episode, &out);
        assert_true(ty_step(reference->ruleset, reference->state, action, out.total, NULL));
    }
    out.steps = head->steps;
    out.truncated = !head->over || head->truncated;
    out.final_hash = ty_hash(reference->ruleset, reference->state);
    ty_metrics(reference->ruleset, reference->state, out.metrics);
    for (uint32_t seat = 0; seat < reference->shape->seats; seat++) {
        ty_observe(reference->ruleset, reference->state, seat, reference->row);
        out.final_rows[seat] = hash_bytes(0, reference->row, reference->shape->row_size);
    }
    return out;
}

/* The cell of a slot in a column of a member's slab. */
static inline void *slab_cell(const TySlab *slab, uint32_t slot, TyColumn column)
{
    static const uint32_t sizes[] = {
        [TY_U8] = 1, [TY_I8] = 1, [TY_U32] = 4, [TY_I32] = 4, [TY_F32] = 4, [TY_U64] = 8};
    uint32_t group = 0;
    while (slot >= slab->group[group].first + slab->group[group].rows) {
        group++;
    }
    const TyColumnLayout *layout = &slab->group[group].columns[column];
    size_t row = slot - slab->group[group].first;
    return (uint8_t *)ty_slab_column(slab, group, column) +
           row * layout->width * sizes[layout->type];
}

static inline uint8_t slab_u8(const TySlab *slab, uint32_t slot, TyColumn column)
{
    return *(uint8_t *)slab_cell(slab, slot, column);
}

static inline uint32_t slab_u32(const TySlab *slab, uint32_t slot, TyColumn column)
{
    return *(uint32_t *)slab_cell(slab, slot, column);
}

static inline int32_t points(float reward)
{
    return (int32_t)(reward * TY_REWARD_ONE);
}
