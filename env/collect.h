/* Play for learners: a network decides in many episodes at once, and what a learner needs to know
 * of each of its decisions is written down.
 *
 * A slot plays one episode after the other. In some the network has every seat; in others a rival
 * (a built-in agent, or another network: a past self) has all seats but one. Only decisions of the
 * network are written down. A teacher, if there is one, is asked for its advice at each of them,
 * and may be followed: with `follow` 1 the teacher plays, and these are its demonstrations.
 *
 *     TyCollectorConfig config = {.slots = 512, .seed = 1};
 *     ty_collector_open(ruleset, &config, &collector);
 *     for (;;) {
 *         ty_collector_run(collector, net, 64, 0.0f, &out);
 *         learn(&out);
 *     }
 *
 * Episodes, rivals and draws depend on the seed and on what was played alone. Calls on one
 * collector must come one at a time; for more processors open more collectors, which can write side
 * by side: slots i and on of a seed are the slots of seed + i. Chance must not be a seat. */
#pragma once

#include "agent.h"
#include "net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a collector. */
enum {
    TY_COLLECTOR_SLOTS_MAX = 1 << 16,
    TY_RIVALS_MAX = 32,
    TY_RIVAL_WEIGHT_MAX = 1 << 16,
};

/* Who plays against or beside the network: an agent, or a network with a temperature. The caller
 * owns both; they must stay until other rivals are set or the collector is closed. */
typedef struct TyRival {
    const TyAgent *agent; /* NULL: the network */
    const TyNet *net;
    float temperature;
    uint32_t weight; /* how often, beside the weights of the others */
} TyRival;

/* What to open; zero-initialise it. */
typedef struct TyCollectorConfig {
    uint32_t slots;
    uint64_t seed;          /* slot i plays the episodes of ty_episode_seed(seed + i, ...) */
    uint32_t max_steps;     /* decisions of all seats after which an episode is cut off; 0: never */
    const TyAgent *teacher; /* NULL: none */
    uint32_t self_weight;   /* of episodes in which the network has every seat */
    uint32_t rival_count;
    TyRival rivals[TY_RIVALS_MAX];
} TyCollectorConfig;

/* Where decisions are written: memory of the caller's for `steps` x slots entries, those of one
 * moment side by side. Every pointer but `advice` must be there. */
typedef struct TyCollected {
    uint8_t *rows;   /* [row_size] */
    uint8_t *masks;  /* [action_count] */
    int32_t *action; /* what was played */
    int32_t *advice; /* what the teacher would play; may be NULL */
    float *logp;     /* of the action, by the network */
    float *value;    /* by the network; one moment more: where the slots stand afterwards */
    int8_t *seat;    /* that decided; one moment more, too */
    float *earned;   /* [players]: by each from this decision to the slot's next one */
    uint8_t *ended;  /* 1: the episode ended before the slot's next one */
    uint32_t stride; /* entries from one moment to the next, if not only these slots'; 0: slots */
} TyCollected;

/* How the episodes went that ended since the collector was asked last: entry 0 is for those of the
 * network alone, entry 1 + i for those with rival i. */
typedef struct TyOutcomes {
    uint64_t episodes[TY_RIVALS_MAX + 1];
    double earned[TY_RIVALS_MAX + 1]; /* sums of what the network's seats earned, on average */
    double won[TY_RIVALS_MAX + 1]; /* sums of its shares of the victory; 1 / players if all won */
} TyOutcomes;

/* An open collector. */
typedef struct TyCollector TyCollector;

/* Opens a collector, with every slot at the first decision of its first episode. The ruleset must
 * outlive it. The caller closes `*collector`, which is NULL on failure: TY_BAD_ARGUMENT names the
 * field that is out of range, TY_NO_MEMORY. */
TY_API TyStatus ty_collector_open(const TyRuleset *ruleset, const TyCollectorConfig *config,
                                  TyCollector **collector);
/* Frees a collector. `collector` may be NULL. */
TY_API void ty_collector_close(TyCollector *collector);

/* Takes `steps` decisions in every slot. `net` may be NULL if `follow` is 1. `follow` is the
 * probability with which the teacher's advice is played instead of a draw from the network. */
TY_API void ty_collector_run(TyCollector *collector, const TyNet *net, uint32_t steps, float follow,
                             const TyCollected *out);
/* Sets who plays in the episodes that begin from now on. Rivals of running ones that are not the
 * same any more are replaced by the one of the same number, which begins anew there. Fails as
 * ty_collector_open does, and then changes nothing. */
TY_API TyStatus ty_collector_set_rivals(TyCollector *collector, const TyRival *rivals,
                                        uint32_t count, uint32_t self_weight);
/* Writes how the episodes went, and begins to count anew. */
TY_API void ty_collector_outcomes(TyCollector *collector, TyOutcomes *outcomes);

/* Bytes of where every slot stands. What rivals and a teacher remember is not among them. */
TY_API size_t ty_collector_save_size(const TyCollector *collector);
/* Writes them. */
TY_API void ty_collector_save(const TyCollector *collector, void *bytes);
/* Goes on from saved bytes, in a collector that was opened alike; built-in agents begin anew, so
 * that one without them goes on exactly. TY_BAD_ARGUMENT, and nothing changed, if the bytes are of
 * another kind of collector or have no valid state. */
TY_API TyStatus ty_collector_restore(TyCollector *collector, const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif
