/* The sums of networks, written for the vectors that processors have and compiled for two kinds of
 * them where that helps. Each number is summed up in the same order in all of them. This file is
 * compiled without fused products, which would round differently. */
#include "agents/net_layers.h"
#include "core/processor.h"

#include <string.h>

/* Eight lanes at any address. */
typedef float Lanes __attribute__((vector_size(32), aligned(4), may_alias));

enum { LANES = 8, PARTS = NET_LANES / LANES };
_Static_assert(PARTS == 4, "the sums below have four parts");

#if defined(__x86_64__)
#define NET_WIDE __attribute__((target("avx2")))
#define NET_HAS_WIDE() processor_avx2
#else
#define NET_WIDE
#define NET_HAS_WIDE() false
#endif
#define NET_EITHER static inline __attribute__((always_inline))

NET_EITHER void sum(const NetLayer *layer, const NetInputs *inputs, float *out)
{
    for (uint32_t at = 0; at < layer->outputs; at += NET_LANES) {
        const Lanes *bias = (const Lanes *)(layer->bias + at);
        Lanes a = bias[0];
        Lanes b = bias[1];
        Lanes c = bias[2];
        Lanes d = bias[3];
        for (uint32_t i = 0; i < inputs->count; i++) {
            const NetInput input = inputs->list[i];
            const float *from = layer->weights + (size_t)input.entry * layer->outputs + at;
            const Lanes *weights = (const Lanes *)from;
            a += weights[0] * input.value;
            b += weights[1] * input.value;
            c += weights[2] * input.value;
            d += weights[3] * input.value;
        }
        Lanes *to = (Lanes *)(out + at);
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
}

NET_EITHER void spread(const NetInputs *inputs, const float *change, uint32_t width, float *weights)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const NetInput input = inputs->list[i];
        Lanes *to = (Lanes *)(weights + (size_t)input.entry * width);
        const Lanes *from = (const Lanes *)change;
        for (uint32_t part = 0; part < width / LANES; part++) {
            to[part] += from[part] * input.value;
        }
    }
}

NET_EITHER float dot(const float *one, const float *other, uint32_t count)
{
    Lanes sums[PARTS] = {{0}};
    for (uint32_t at = 0; at < count; at += NET_LANES) {
        const Lanes *left = (const Lanes *)(one + at);
        const Lanes *right = (const Lanes *)(other + at);
        sums[0] += left[0] * right[0];
        sums[1] += left[1] * right[1];
        sums[2] += left[2] * right[2];
        sums[3] += left[3] * right[3];
    }
    Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
}

NET_WIDE static void sum_wide(const NetLayer *layer, const NetInputs *inputs, float *out)
{
    sum(layer, inputs, out);
}

NET_WIDE static void spread_wide(const NetInputs *inputs, const float *change, uint32_t width,
                                 float *weights)
{
    spread(inputs, change, width, weights);
}

NET_WIDE static float dot_wide(const float *one, const float *other, uint32_t count)
{
    return dot(one, other, count);
}

void net_layer_sum(const NetLayer *layer, const NetInputs *inputs, float *out)
{
    if (NET_HAS_WIDE()) {
        sum_wide(layer, inputs, out);
    } else {
        sum(layer, inputs, out);
    }
}

void net_layer_spread(const NetInputs *inputs, const float *change, uint32_t width, float *weights)
{
    if (NET_HAS_WIDE()) {
        spread_wide(inputs, change, width, weights);
    } else {
        spread(inputs, change, width, weights);
    }
}

float net_dot(const float *one, const float *other, uint32_t count)
{
    return NET_HAS_WIDE() ? dot_wide(one, other, count) : dot(one, other, count);
}
