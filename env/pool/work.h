/* Long work that can be interrupted: for the daemon, whose pools must not keep anybody waiting.
 *
 * Between two decisions of built-in agents, and within those of agents that think for long, the
 * pool asks whether it is to stop. Then slots in which an agent is to act rest until pool_resume;
 * everything else about them is as usual, and what they play does not depend on interruptions. */
#pragma once

#include "agent.h"
#include "pool/pool.h"

/* From now on `stop` is asked within decisions and between them, and `pause` only between them: one
 * that takes longer than a pause lasts would never be taken. Several threads ask at once; both must
 * outlive the pool. */
void pool_set_stop(TyPool *pool, const TyStop *stop, const TyStop *pause);
/* True if slots rest, in a group or (-1) in any. */
bool pool_rests(const TyPool *pool, int32_t group);
/* True if this slot does: its rows tell nothing until it is resumed. */
bool pool_slot_rests(const TyPool *pool, uint32_t slot);
/* Lets the agents play on where slots rest, until none does or they are stopped again. */
void pool_resume(TyPool *pool);

/* ty_pool_open without a first episode: pool_reset_some begins those. */
TyStatus pool_open_idle(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **pool);
/* ty_pool_reset_to from slot `first` on, until it is stopped. Returns the slot at which to go on;
 * the number of slots if it is done. */
uint32_t pool_reset_some(TyPool *pool, uint32_t first, const TyReset *reset);

/* From now on no episode follows one that ends. */
void pool_drain(TyPool *pool);
/* Episodes that have begun, some decision taken, and not ended. */
uint32_t pool_running(const TyPool *pool);

/* From now on the position is kept that each member but the director was last shown in each slot,
 * in as many bytes. Fails only with TY_NO_MEMORY. Call it before the first episode. */
TyStatus pool_keep_shown(TyPool *pool);
uint64_t pool_shown_bytes(const TyRuleset *ruleset, const TyPoolConfig *config);
/* That position: of the member's last question, or ending (`over`), however far others have played
 * since. NULL: it was shown none. */
const void *pool_shown(const TyPool *pool, uint32_t slot, uint32_t member, bool *over);
/* ty_pool_text of another position than the one in the slot. */
size_t pool_text_of(const TyPool *pool, uint32_t slot, uint32_t seat, const void *state, char *out,
                    size_t size);

/* Bytes that an agent needs in one seat of so many slots. */
uint64_t pool_agent_bytes(const TyAgent *agent, uint32_t slots);

enum { POOL_HISTORY_MAX = 256 /* positions of a slot that can be kept */ };

/* Keeps the last `kept` positions of every slot from now on; false if there is no memory. For a
 * pool without episodes. They take so many bytes in each slot. */
bool pool_set_history(TyPool *pool, uint32_t kept);
uint64_t pool_history_bytes(const TyRuleset *ruleset, uint32_t kept);
/* The state after beginnings, decisions and restores numbered from 0 on. A number that is not kept
 * becomes the nearest that is. Without positions it is the state of now. */
const void *pool_position(const TyPool *pool, uint32_t slot, uint64_t *position);

/* What ty_pool_rollout plays. */
typedef struct RolloutPlan {
    uint32_t slot;
    const TyAgent *agent;
    uint32_t count;
    const uint64_t *keys;
    int32_t seat;
    int32_t first; /* the action with which each copy begins, legal in all of them; -1: none */
    uint32_t max_steps;
    float *earned;
    int32_t *metrics;
} RolloutPlan;

/* False if it was stopped: then the results are not whole. */
bool pool_rollout(TyPool *pool, const RolloutPlan *plan);
