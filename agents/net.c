/* Networks that think: from a row and a mask to logits, a value and a choice. This file is compiled
 * without fused products, so that every compiler rounds alike. */
#include "agents/net_layers.h"
#include "core/bytes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The legal actions and their logits. */
typedef struct Legal {
    uint32_t count;
    uint32_t action[TY_ACTIONS_MAX];
    float logit[TY_ACTIONS_MAX];
} Legal;

/* Lists what of a layer's outputs is above 0. */
static void outputs_list(const float *out, uint32_t count, NetInputs *inputs)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        inputs->list[listed] = (NetInput){.entry = i, .value = out[i]};
        listed += out[i] > 0.0f;
    }
    inputs->count = listed;
}

/* The last hidden layer of a row, negative numbers cut off. */
static void net_hidden(const TyNet *net, const uint8_t *row, float *hidden)
{
    NetInputs inputs;
    assert(net->layer_count > 0);
    net_rows_list(&net->rows, row, &inputs);
    for (uint32_t i = 0; i < net->layer_count; i++) {
        if (i > 0) {
            outputs_list(hidden, net->layers[i].inputs, &inputs);
        }
        net_layer_sum(&net->layers[i], &inputs, hidden);
    }
    for (uint32_t i = 0; i < net->width; i++) {
        hidden[i] = hidden[i] > 0.0f ? hidden[i] : 0.0f;
    }
}

static float net_value(const TyNet *net, const float *hidden)
{
    return net->value != NULL ? net_dot(hidden, net->value, net->width) + net->value_bias : 0.0f;
}

static void legal_add(const TyNet *net, const float *hidden, uint32_t action, Legal *legal)
{
    float logit = net_dot(hidden, net->policy + (size_t)action * net->width, net->width);
    legal->action[legal->count] = action;
    legal->logit[legal->count++] = logit + net->policy_bias[action];
}

/* The logits of what the mask allows, in the order of the actions. */
static void legal_think(const TyNet *net, const float *hidden, const uint8_t *mask, Legal *legal)
{
    legal->count = 0;
    legal->action[0] = 0; /* where nothing is legal */
    legal->logit[0] = 0.0f;
    uint32_t whole = net->action_count / 8 * 8;
    for (uint32_t action = 0; action < whole; action += 8) {
        if (load_le64(mask + action) == 0) {
            continue;
        }
        for (uint32_t i = action; i < action + 8; i++) {
            if (mask[i]) {
                legal_add(net, hidden, i, legal);
            }
        }
    }
    for (uint32_t action = whole; action < net->action_count; action++) {
        if (mask[action]) {
            legal_add(net, hidden, action, legal);
        }
    }
}

void ty_net_think(const TyNet *net, const uint8_t *rows, const uint8_t *masks, uint32_t count,
                  float *logits, float *values)
{
    float hidden[TY_NET_WIDTH_MAX];
    Legal legal;
    for (uint32_t i = 0; i < count; i++) {
        net_hidden(net, rows + (size_t)i * net->rows.row_size, hidden);
        if (values != NULL) {
            values[i] = net_value(net, hidden);
        }
        if (logits == NULL) {
            continue;
        }
        float *out = logits + (size_t)i * net->action_count;
        legal_think(net, hidden, masks + (size_t)i * net->action_count, &legal);
        for (uint32_t action = 0; action < net->action_count; action++) {
            out[action] = -INFINITY;
        }
        for (uint32_t k = 0; k < legal.count; k++) {
            out[legal.action[k]] = legal.logit[k];
        }
    }
}

/* ---- Choosing ---- */

/* e^x for x <= 0, the same on every machine, which the mathematical library's is not: 2^n times a
 * polynomial for what remains, within 2 units of the last place. */
static float exp_negative(float x)
{
    if (!(x > -87.0f)) {
        return 0.0f;
    }
    int32_t n = (int32_t)(x * 1.44269504f - 0.5f);
    float r = x - (float)n * 0.693359375f;
    r = r - (float)n * -2.12194440e-4f;
    float sum = 1.9875691500e-4f;
    sum = sum * r + 1.3981999507e-3f;
    sum = sum * r + 8.3334519073e-3f;
    sum = sum * r + 4.1665795894e-2f;
    sum = sum * r + 1.6666665459e-1f;
    sum = sum * r + 5.0000001201e-1f;
    sum = sum * (r * r) + r + 1.0f;
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float scale = 0.0f;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* The first of the best. */
static uint32_t legal_best(const Legal *legal)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < legal->count; i++) {
        best = legal->logit[i] > legal->logit[best] ? i : best;
    }
    return best;
}

/* Sum of exp((logit - best) / temperature). Writes the summands too. */
static float legal_weights(const Legal *legal, uint32_t best, float temperature, float *weights)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < legal->count; i++) {
        weights[i] = exp_negative((legal->logit[i] - legal->logit[best]) / temperature);
        sum += weights[i];
    }
    return sum;
}

/* The action on which a point of the sum falls. The last one with a weight takes what rounding
 * leaves. */
static uint32_t legal_draw(const Legal *legal, uint32_t best, float temperature, uint64_t random)
{
    float weights[TY_ACTIONS_MAX];
    float sum = legal_weights(legal, best, temperature, weights);
    float point = (float)(random >> 40) * 0x1p-24f * sum;
    uint32_t chosen = best;
    for (uint32_t i = 0; i < legal->count; i++) {
        if (weights[i] > 0.0f) {
            chosen = i;
            if (point < weights[i]) {
                break;
            }
            point -= weights[i];
        }
    }
    return chosen;
}

TyNetChoice ty_net_choose(const TyNet *net, const uint8_t *row, const uint8_t *mask,
                          float temperature, uint64_t random)
{
    float hidden[TY_NET_WIDTH_MAX];
    float weights[TY_ACTIONS_MAX];
    Legal legal;
    net_hidden(net, row, hidden);
    legal_think(net, hidden, mask, &legal);
    uint32_t best = legal_best(&legal);
    uint32_t chosen = temperature > 0.0f ? legal_draw(&legal, best, temperature, random) : best;
    float sum = legal_weights(&legal, best, 1.0f, weights);
    return (TyNetChoice){.action = legal.action[chosen],
                         .logp = legal.logit[chosen] - legal.logit[best] - logf(sum),
                         .value = net_value(net, hidden)};
}

void ty_net_choose_rows(const TyNet *net, const uint8_t *rows, const uint8_t *masks, uint32_t count,
                        float temperature, const uint64_t *random, TyNetChoice *choices)
{
    for (uint32_t i = 0; i < count; i++) {
        choices[i] = ty_net_choose(net, rows + (size_t)i * net->rows.row_size,
                                   masks + (size_t)i * net->action_count, temperature, random[i]);
    }
}
