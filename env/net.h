/* Networks that play: weights as bytes, what they think of rows, and the first layer for learners.
 *
 * A network reads the row of a seat as ty_expand writes it, without expanding it: of a one-hot
 * category only one entry of the first layer's table is added up. Hidden layers are dense, with
 * ReLU. A head gives a logit for every action, of which only the legal ones are computed; another
 * one, if the network has it, gives the value of the position. agents/NET.md says what the bytes
 * are.
 *
 * Every sum has a fixed order and no product is fused with a sum: the same bytes, row and mask give
 * the same logits, bit for bit, whatever compiler and processor, as long as float is IEEE's
 * float32. Of equal logits the action with the lowest number is the best.
 *
 * Only ty_net_open and ty_net_close allocate. */
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a network. */
enum {
    TY_NET_LAYERS_MAX = 8,      /* hidden layers */
    TY_NET_WIDTH_MAX = 1024,    /* numbers that a hidden layer becomes */
    TY_NET_WIDTH_STEP = 32,     /* of which each width is a multiple */
    TY_NET_BYTES_MAX = 1 << 26, /* bytes of a network */
};

/* An open network. It never changes, so that seats and threads can share it. */
typedef struct TyNet TyNet;

/* Checks the bytes of a network and makes it ready to play `ruleset`. The bytes are not needed
 * afterwards, nor is the ruleset. The caller closes `*net`, which is NULL on failure: TY_BAD_FILE
 * says what is wrong with the bytes, or that they belong to another ruleset; TY_LIMIT,
 * TY_NO_MEMORY.
 *
 *     TyNet *net;
 *     TyStatus status = ty_net_open(ruleset, bytes, size, &net); */
TY_API TyStatus ty_net_open(const TyRuleset *ruleset, const void *bytes, size_t size, TyNet **net);
/* Frees a network that nobody plays with any more. `net` may be NULL. */
TY_API void ty_net_close(TyNet *net);
/* Writes the checksum of the bytes before them into the last 8 of `size` bytes: the last thing that
 * a writer of networks does. `size` is at least 8. */
TY_API void ty_net_seal(void *bytes, size_t size);

/* Writes what the network thinks of `count` rows with their masks: `count` x actions logits, minus
 * infinity where the mask forbids, and `count` values, which are 0 if it has no head for them.
 * `logits` or `values` may be NULL. */
TY_API void ty_net_think(const TyNet *net, const uint8_t *rows, const uint8_t *masks,
                         uint32_t count, float *logits, float *values);

/* What a network chose. */
typedef struct TyNetChoice {
    uint32_t action;
    float logp;  /* logarithm of the probability with which it is drawn at temperature 1 */
    float value; /* of the position */
} TyNetChoice;

/* Chooses for one row, whose mask allows something: with temperature 0 the best action, otherwise
 * one drawn with probabilities exp(logit / temperature), for which `random` is 64 random bits.
 *
 *     TyNetChoice choice = ty_net_choose(net, view->row, view->mask, 0.0f, 0); */
TY_API TyNetChoice ty_net_choose(const TyNet *net, const uint8_t *row, const uint8_t *mask,
                                 float temperature, uint64_t random);
/* The same for `count` rows, each with random bits of its own. */
TY_API void ty_net_choose_rows(const TyNet *net, const uint8_t *rows, const uint8_t *masks,
                               uint32_t count, float temperature, const uint64_t *random,
                               TyNetChoice *choices);

/* ---- Both ends, for learners ------------------------------------------------------------
 */

/* Multiplies `count` rows with a table of ty_expand_size x `width` weights: writes `count` x
 * `width` sums, those of ty_expand's numbers times the table. `width` is a multiple of
 * TY_NET_WIDTH_STEP, at most TY_NET_WIDTH_MAX. TY_BAD_ARGUMENT if it is not, TY_NO_MEMORY. */
TY_API TyStatus ty_rows_multiply(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                                 const float *table, uint32_t width, float *out);
/* The way back: writes into `slope`, ty_expand_size x `width`, what a loss changes by with each
 * weight of the table, from `count` x `width` numbers by which it changes with each sum. Fails as
 * ty_rows_multiply does. */
TY_API TyStatus ty_rows_slope(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                              const float *change, uint32_t width, float *slope);

/* Rows of a last hidden layer with the head for actions behind it. */
typedef struct TyHeadInput {
    const float *hidden;   /* count x width */
    const float *weights;  /* actions x width */
    const float *bias;     /* actions */
    const uint8_t *masks;  /* count x actions; each allows something */
    const int32_t *action; /* count: the action in question, which is legal */
    uint32_t count;
    uint32_t width; /* as in ty_rows_multiply */
    uint32_t actions;
} TyHeadInput;

/* By how much a loss changes with what ty_head_judge wrote. */
typedef struct TyHeadChange {
    const float *chosen;
    const float *entropy;
} TyHeadChange;

/* By how much it changes with what ty_head_judge read. */
typedef struct TyHeadSlopes {
    float *hidden;
    float *weights;
    float *bias;
} TyHeadSlopes;

/* Writes the logarithms of the probabilities of the legal actions into `logp`, count x actions,
 * where nothing else is written; those of the actions in question into `chosen`, and the entropies
 * of the rows. TY_ILLEGAL if one of the actions is not legal, TY_BAD_ARGUMENT. */
TY_API TyStatus ty_head_judge(const TyHeadInput *in, float *logp, float *chosen, float *entropy);
/* The way back, from what ty_head_judge wrote. */
TY_API TyStatus ty_head_slope(const TyHeadInput *in, const float *logp, const float *entropy,
                              const TyHeadChange *change, const TyHeadSlopes *out);

#ifdef __cplusplus
}
#endif
