/* Networks with random weights, as bytes. Include cmocka.h before this. */
#pragma once

#include "core/hash.h"
#include "net.h"

#include <stdlib.h>
#include <string.h>

/* Where things are: agents/NET.md. */
enum {
    NET_AT_VERSION = 8,
    NET_AT_LAYERS = 12,
    NET_AT_SCHEMA = 16,
    NET_AT_INPUTS = 24,
    NET_AT_ACTIONS = 28,
    NET_AT_VALUE = 32,
    NET_AT_WIDTHS = 36,
    NET_AT_SPEC = 68,
    NET_AT_WEIGHTS = 580,
};

typedef struct NetBytes {
    uint8_t *bytes;
    size_t size;
} NetBytes;

/* A number between -1/8 and 1/8, the same on every machine. */
static inline float net_weight(uint64_t seed, uint64_t index)
{
    int32_t number = (int32_t)(hash_mix(seed + hash_mix(index)) >> 40) - (1 << 23);
    return (float)number * 0x1p-26f;
}

/* A network of `layers` hidden layers of `width` with a head for values; the caller frees it. */
static inline NetBytes net_bytes(const TyRuleset *ruleset, uint32_t layers, uint32_t width,
                                 uint64_t seed)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t inputs = ty_expand_size(ruleset, false);
    size_t count = ((size_t)inputs + 1) * width + ((size_t)width + 1) * width * (layers - 1) +
                   ((size_t)width + 1) * (shape->action_count + 1);
    NetBytes net = {.size = NET_AT_WEIGHTS + count * 4 + 8};
    net.bytes = calloc(1, net.size);
    assert_non_null(net.bytes);
    memcpy(net.bytes, "TYARDNET", 8);
    store_le32(net.bytes + NET_AT_VERSION, 1);
    store_le32(net.bytes + NET_AT_LAYERS, layers);
    store_le64(net.bytes + NET_AT_SCHEMA, shape->schema_hash);
    store_le32(net.bytes + NET_AT_INPUTS, inputs);
    store_le32(net.bytes + NET_AT_ACTIONS, shape->action_count);
    store_le32(net.bytes + NET_AT_VALUE, 1);
    for (uint32_t i = 0; i < layers; i++) {
        store_le32(net.bytes + NET_AT_WIDTHS + (size_t)i * 4, width);
    }
    memcpy(net.bytes + NET_AT_SPEC, shape->spec, strlen(shape->spec));
    for (size_t i = 0; i < count; i++) {
        float weight = net_weight(seed, i);
        uint32_t bits = 0;
        memcpy(&bits, &weight, sizeof bits);
        store_le32(net.bytes + NET_AT_WEIGHTS + i * 4, bits);
    }
    ty_net_seal(net.bytes, net.size);
    return net;
}

/* Says what its values are: 1: the learner's own, 2: rewards. */
static inline void net_values_are(NetBytes net, uint32_t kind)
{
    store_le32(net.bytes + NET_AT_VALUE, kind);
    ty_net_seal(net.bytes, net.size);
}

/* Multiplies all its weights, so that it knows better what it wants. */
static inline void net_sharpen(NetBytes net, float times)
{
    for (uint8_t *at = net.bytes + NET_AT_WEIGHTS; at < net.bytes + net.size - 8; at += 4) {
        uint32_t bits = load_le32(at);
        float weight = 0;
        memcpy(&weight, &bits, sizeof bits);
        weight *= times;
        memcpy(&bits, &weight, sizeof bits);
        store_le32(at, bits);
    }
    ty_net_seal(net.bytes, net.size);
}

/* The same, ready to play; the caller closes it. */
static inline TyNet *net_random(const TyRuleset *ruleset, uint32_t layers, uint32_t width,
                                uint64_t seed)
{
    TyNet *net = NULL;
    NetBytes made = net_bytes(ruleset, layers, width, seed);
    TyStatus status = ty_net_open(ruleset, made.bytes, made.size, &net);
    assert_string_equal(status.message, "");
    free(made.bytes);
    return net;
}
