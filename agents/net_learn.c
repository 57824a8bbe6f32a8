/* What learners need of a network's ends, where PyTorch would compute mostly zeros: its first layer
 * on rows, and its head for actions on those that are legal; forwards, and the slopes back. This
 * file is compiled without fused products. */
#include "agents/net_layers.h"
#include "core/bytes.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The first layer ---- */

static TyStatus width_check(uint32_t width)
{
    if (width == 0 || width > TY_NET_WIDTH_MAX || width % TY_NET_WIDTH_STEP != 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "width=%u; allowed are multiples of %u up to %u",
                              width, TY_NET_WIDTH_STEP, TY_NET_WIDTH_MAX);
    }
    return ty_status_ok();
}

TyStatus ty_rows_multiply(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                          const float *table, uint32_t width, float *out)
{
    NetRows layout;
    NetInputs inputs;
    float base[TY_NET_WIDTH_MAX] = {0};
    TyStatus status = width_check(width);
    if (status.code != TY_OK) {
        return status;
    }
    net_rows_init(&layout, ruleset);
    float *folded = malloc((size_t)layout.entries * width * sizeof *folded);
    if (folded == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the table of a layer");
    }
    net_rows_fold(&layout, table, width, folded, base);
    const NetLayer layer = {
        .inputs = layout.entries, .outputs = width, .weights = folded, .bias = base};
    for (uint32_t i = 0; i < count; i++) {
        net_rows_list(&layout, rows + (size_t)i * layout.row_size, &inputs);
        net_layer_sum(&layer, &inputs, out + (size_t)i * width);
    }
    free(folded);
    return ty_status_ok();
}

/* What a folded table's slope says of one category of the table as it is written. The first value
 * was met wherever no other one was; `zeros` is how often. */
static void category_unfold(const NetBlock *block, const float *folded, uint32_t width,
                            const float *total, uint32_t zeros, float *slope)
{
    for (uint32_t lane = 0; lane < width; lane++) {
        float rest = total[lane];
        for (uint32_t value = 1; value <= block->values; value++) {
            rest -= folded[(size_t)value * width + lane];
        }
        slope[lane] = zeros > 0 ? rest : 0.0f;
    }
    memcpy(slope + width, folded + width, (size_t)(block->values - 1) * width * sizeof *slope);
}

/* The slope of a folded table, and of the first values. */
typedef struct Slope {
    float *folded;
    uint32_t *met; /* per entry of the folded table: how often */
    uint32_t rows;
    float total[TY_NET_WIDTH_MAX];
} Slope;

static void slope_unfold(const NetRows *rows, const Slope *slope, uint32_t width, float *out)
{
    for (uint32_t i = 0; i < rows->block_count; i++) {
        const NetBlock *block = &rows->blocks[i];
        const float *from = slope->folded + (size_t)block->entry * width;
        float *to = out + (size_t)block->first * width;
        if (!block->category) {
            memcpy(to, from, (size_t)block->count * width * sizeof *to);
            continue;
        }
        const uint32_t *met = slope->met + block->entry;
        for (uint32_t item = 0; item < block->count; item++, met += block->values + 1) {
            uint32_t zeros = slope->rows;
            for (uint32_t value = 1; value <= block->values; value++) {
                zeros -= met[value];
            }
            category_unfold(block, from, width, slope->total, zeros, to);
            from += (size_t)(block->values + 1) * width;
            to += (size_t)block->values * width;
        }
    }
}

static void slope_add(Slope *slope, const NetInputs *inputs, const float *change, uint32_t width)
{
    for (uint32_t lane = 0; lane < width; lane++) {
        slope->total[lane] += change[lane];
    }
    for (uint32_t i = 0; i < inputs->count; i++) {
        slope->met[inputs->list[i].entry]++;
    }
    net_layer_spread(inputs, change, width, slope->folded);
}

TyStatus ty_rows_slope(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count,
                       const float *change, uint32_t width, float *out)
{
    NetRows layout;
    NetInputs inputs;
    Slope slope = {.rows = count};
    TyStatus status = width_check(width);
    if (status.code != TY_OK) {
        return status;
    }
    net_rows_init(&layout, ruleset);
    slope.folded = calloc((size_t)layout.entries * width, sizeof *slope.folded);
    slope.met = calloc(layout.entries, sizeof *slope.met);
    if (slope.folded == NULL || slope.met == NULL) {
        status = ty_status_fail(TY_NO_MEMORY, "no memory for the slope of a layer");
    } else {
        for (uint32_t i = 0; i < count; i++) {
            net_rows_list(&layout, rows + (size_t)i * layout.row_size, &inputs);
            slope_add(&slope, &inputs, change + (size_t)i * width, width);
        }
        slope_unfold(&layout, &slope, width, out);
    }
    free(slope.folded);
    free(slope.met);
    return status;
}

/* ---- The head for actions ---- */

/* The numbers of one row's legal actions. */
static uint32_t legal_list(const uint8_t *mask, uint32_t actions, uint32_t *list)
{
    uint32_t count = 0;
    uint32_t at = 0;
    for (; at + 8 <= actions; at += 8) {
        if (load_le64(mask + at) == 0) {
            continue;
        }
        for (uint32_t i = at; i < at + 8; i++) {
            list[count] = i;
            count += mask[i] != 0;
        }
    }
    for (; at < actions; at++) {
        list[count] = at;
        count += mask[at] != 0;
    }
    return count;
}

/* One row: writes the logarithms of the legal actions' probabilities, and returns the entropy. */
static float row_judge(const TyHeadInput *in, const float *hidden, const uint32_t *list,
                       uint32_t count, float *logp)
{
    float best = -INFINITY;
    float sum = 0.0f;
    float entropy = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        const float *weights = in->weights + (size_t)list[i] * in->width;
        logp[list[i]] = net_dot(hidden, weights, in->width) + in->bias[list[i]];
        best = logp[list[i]] > best ? logp[list[i]] : best;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum += expf(logp[list[i]] - best);
    }
    float all = best + logf(sum);
    for (uint32_t i = 0; i < count; i++) {
        logp[list[i]] -= all;
        entropy -= expf(logp[list[i]]) * logp[list[i]];
    }
    return entropy;
}

static TyStatus head_check(const TyHeadInput *in)
{
    if (in->actions == 0 || in->actions > TY_ACTIONS_MAX) {
        return ty_status_fail(TY_BAD_ARGUMENT, "actions=%u; allowed is 1..%d", in->actions,
                              (int)TY_ACTIONS_MAX);
    }
    return width_check(in->width);
}

TyStatus ty_head_judge(const TyHeadInput *in, float *logp, float *chosen, float *entropy)
{
    uint32_t list[TY_ACTIONS_MAX + 1];
    TyStatus status = head_check(in);
    for (uint32_t row = 0; status.code == TY_OK && row < in->count; row++) {
        size_t first = (size_t)row * in->actions;
        uint32_t count = legal_list(in->masks + first, in->actions, list);
        entropy[row] =
            row_judge(in, in->hidden + (size_t)row * in->width, list, count, logp + first);
        if (in->action[row] < 0 || (uint32_t)in->action[row] >= in->actions ||
            !in->masks[first + (uint32_t)in->action[row]]) {
            status =
                ty_status_fail(TY_ILLEGAL, "row %u: action %d is not legal", row, in->action[row]);
            break;
        }
        chosen[row] = logp[first + (uint32_t)in->action[row]];
    }
    return status;
}

/* How the loss changes with the logit of an action: logp(a) rises by 1 - p(a) with its own logit
 * and by -p(b) with that of b; the entropy h by -p(b) (logp(b) + h). */
static void row_slope(const TyHeadInput *in, uint32_t row, const float *logp, float entropy,
                      const TyHeadChange *change, const TyHeadSlopes *out)
{
    uint32_t list[TY_ACTIONS_MAX + 1];
    size_t first = (size_t)row * in->actions;
    uint32_t count = legal_list(in->masks + first, in->actions, list);
    const float *hidden = in->hidden + (size_t)row * in->width;
    static const float none[TY_NET_WIDTH_MAX];
    const NetLayer back = {
        .inputs = in->actions, .outputs = in->width, .weights = in->weights, .bias = none};
    NetInputs slopes;
    slopes.count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t action = list[i];
        float probability = expf(logp[first + action]);
        float slope = -probability * (change->chosen[row] +
                                      change->entropy[row] * (logp[first + action] + entropy));
        slope += (int32_t)action == in->action[row] ? change->chosen[row] : 0.0f;
        out->bias[action] += slope;
        slopes.list[i] = (NetInput){.entry = action, .value = slope};
    }
    net_layer_spread(&slopes, hidden, in->width, out->weights);
    net_layer_sum(&back, &slopes, out->hidden + (size_t)row * in->width);
}

TyStatus ty_head_slope(const TyHeadInput *in, const float *logp, const float *entropy,
                       const TyHeadChange *change, const TyHeadSlopes *out)
{
    TyStatus status = head_check(in);
    if (status.code != TY_OK) {
        return status;
    }
    memset(out->weights, 0, (size_t)in->actions * in->width * sizeof *out->weights);
    memset(out->bias, 0, in->actions * sizeof *out->bias);
    for (uint32_t row = 0; row < in->count; row++) {
        row_slope(in, row, logp, entropy[row], change, out);
    }
    return status;
}
