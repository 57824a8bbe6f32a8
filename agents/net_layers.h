/* A network in memory, and the sums that it consists of. */
#pragma once

#include "net.h"

/* Everything is summed up in lanes: 32 numbers side by side, each in an order of its own that no
 * width of a processor's vectors changes. */
enum { NET_LANES = TY_NET_WIDTH_STEP };

/* Inputs of a layer: the values of a row, what a layer before it gives, or, on the way back through
 * the head, the legal actions. */
enum { NET_INPUTS_MAX = 1024 };
_Static_assert((int)NET_INPUTS_MAX >= (int)TY_ROW_MAX, "every value of a row is an input");
_Static_assert((int)NET_INPUTS_MAX >= (int)TY_NET_WIDTH_MAX, "so is every number of a layer");
_Static_assert((int)NET_INPUTS_MAX >= (int)TY_ACTIONS_MAX, "and every action");

/* A run of equal values of a row. A category of n values has n + 1 entries in a folded table, a
 * number has one. */
typedef struct NetBlock {
    bool category;
    bool wide; /* values of two bytes */
    uint16_t offset;
    uint32_t count;
    uint32_t values; /* of a category; otherwise 1 */
    uint32_t entry;  /* of its first value in a folded table */
    uint32_t first;  /* the same in the table as it is written */
    float maximum;   /* by which a number is divided; 0: it counts for nothing */
} NetBlock;

/* How rows are read. */
typedef struct NetRows {
    uint32_t row_size;
    uint32_t inputs;  /* entries of a table as it is written: ty_expand_size */
    uint32_t entries; /* of a folded one */
    uint32_t block_count;
    NetBlock blocks[TY_BLOCKS_MAX];
} NetRows;

/* An input that is not 0. */
typedef struct NetInput {
    uint32_t entry;
    float value;
} NetInput;

/* The inputs of a layer that are not 0. */
typedef struct NetInputs {
    uint32_t count;
    NetInput list[NET_INPUTS_MAX];
} NetInputs;

/* A layer: out = bias + sum of value * weights[entry]. */
typedef struct NetLayer {
    uint32_t inputs;
    uint32_t outputs;
    const float *weights; /* inputs x outputs */
    const float *bias;
} NetLayer;

/* A network. The heads have their weights action by action. */
struct TyNet {
    uint64_t schema; /* of its ruleset */
    NetRows rows;
    uint32_t action_count;
    uint32_t layer_count;
    uint32_t width; /* of the last hidden layer */
    NetLayer layers[TY_NET_LAYERS_MAX];
    const float *policy;
    const float *policy_bias;
    const float *value; /* NULL: the network has none */
    float value_bias;
    bool judges;  /* its values are rewards of the ruleset that it was opened for */
    void *memory; /* of the weights */
};

/* Reads how the rows of a ruleset are laid out. */
void net_rows_init(NetRows *rows, const TyRuleset *ruleset);
/* Lists what of a row is not 0. */
void net_rows_list(const NetRows *rows, const uint8_t *row, NetInputs *inputs);
/* Folds a table as it is written: what the first value of each category adds goes into `base`, to
 * which it is added, and what each other value adds beyond that into `folded`, so that first
 * values cost nothing. The last entry of a category is for values that it does not have. */
void net_rows_fold(const NetRows *rows, const float *table, uint32_t width, float *folded,
                   float *base);
/* Writes the layer's outputs. */
void net_layer_sum(const NetLayer *layer, const NetInputs *inputs, float *out);
/* The way back: adds value * change to the `width` weights of each input. */
void net_layer_spread(const NetInputs *inputs, const float *change, uint32_t width, float *weights);
/* The sum of the products of `count` numbers, a multiple of NET_LANES. */
float net_dot(const float *one, const float *other, uint32_t count);
