/* Networks as bytes: everything is checked before a weight is used. agents/NET.md is the format. */
#include "agents/net_layers.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD_VERSION = 8,
    HEAD_LAYERS = 12,
    HEAD_SCHEMA = 16,
    HEAD_INPUTS = 24,
    HEAD_ACTIONS = 28,
    HEAD_VALUES = 32,
    HEAD_WIDTHS = 36,
    HEAD_SPEC = HEAD_WIDTHS + 4 * TY_NET_LAYERS_MAX,
    HEAD_SIZE = HEAD_SPEC + TY_SPEC_MAX,
    SEAL_SIZE = 8,
    NET_VERSION = 1,
    NET_ALIGN = 64,
};

/* What a network's values are. */
enum {
    VALUES_NONE,
    VALUES_OWN,     /* whatever the learner counted in */
    VALUES_REWARDS, /* what the seat still earns in the ruleset that it was made for */
    VALUES_COUNT,
};

static const uint8_t magic[HEAD_VERSION] = {'T', 'Y', 'A', 'R', 'D', 'N', 'E', 'T'};

/* What a head says. */
typedef struct NetHead {
    uint32_t layers;
    uint32_t inputs;
    uint32_t actions;
    uint32_t values;
    uint32_t widths[TY_NET_LAYERS_MAX];
    uint64_t schema;
    char spec[TY_SPEC_MAX];
} NetHead;

static uint64_t seal_of(const uint8_t *bytes, size_t size)
{
    return hash_bytes(0, bytes, size - SEAL_SIZE);
}

void ty_net_seal(void *bytes, size_t size)
{
    store_le64((uint8_t *)bytes + size - SEAL_SIZE, seal_of(bytes, size));
}

/* ---- The head ---- */

/* Checks that these are whole bytes of a network of this version. */
static TyStatus bytes_check(const uint8_t *bytes, size_t size)
{
    if (size > TY_NET_BYTES_MAX) {
        return ty_status_fail(TY_LIMIT, "%zu bytes are more than the %d that a network may have",
                              size, (int)TY_NET_BYTES_MAX);
    }
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return ty_status_fail(TY_BAD_FILE, "not a network: it does not begin with TYARDNET");
    }
    if (size < HEAD_SIZE + SEAL_SIZE) {
        return ty_status_fail(TY_BAD_FILE, "cut off: %zu bytes, of which the head alone has %d",
                              size, (int)HEAD_SIZE);
    }
    if (load_le32(bytes + HEAD_VERSION) != NET_VERSION) {
        return ty_status_fail(TY_BAD_FILE, "format %u; known is %u",
                              load_le32(bytes + HEAD_VERSION), (uint32_t)NET_VERSION);
    }
    if (load_le64(bytes + size - SEAL_SIZE) != seal_of(bytes, size)) {
        return ty_status_fail(TY_BAD_FILE, "damaged or cut off: the checksum is another one");
    }
    return ty_status_ok();
}

static void head_read(const uint8_t *bytes, NetHead *head)
{
    *head = (NetHead){.layers = load_le32(bytes + HEAD_LAYERS),
                      .inputs = load_le32(bytes + HEAD_INPUTS),
                      .actions = load_le32(bytes + HEAD_ACTIONS),
                      .values = load_le32(bytes + HEAD_VALUES),
                      .schema = load_le64(bytes + HEAD_SCHEMA)};
    for (uint32_t i = 0; i < TY_NET_LAYERS_MAX; i++) {
        head->widths[i] = load_le32(bytes + HEAD_WIDTHS + (size_t)4 * i);
    }
    memcpy(head->spec, bytes + HEAD_SPEC, TY_SPEC_MAX);
    head->spec[TY_SPEC_MAX - 1] = '\0';
    for (char *c = head->spec; *c != '\0'; c++) {
        *c = *c > ' ' && *c <= '~' ? *c : '?';
    }
}

static TyStatus head_check_layers(const NetHead *head)
{
    if (head->layers == 0 || head->layers > TY_NET_LAYERS_MAX) {
        return ty_status_fail(TY_BAD_FILE, "%u hidden layers; allowed are 1..%d", head->layers,
                              (int)TY_NET_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < TY_NET_LAYERS_MAX; i++) {
        uint32_t width = head->widths[i];
        if (i >= head->layers
                ? width != 0
                : width == 0 || width > TY_NET_WIDTH_MAX || width % TY_NET_WIDTH_STEP != 0) {
            return ty_status_fail(TY_BAD_FILE,
                                  "width of hidden layer %u: %u; allowed are multiples of %d up to "
                                  "%d, and 0 behind the last",
                                  i + 1, width, (int)TY_NET_WIDTH_STEP, (int)TY_NET_WIDTH_MAX);
        }
    }
    if (head->values >= VALUES_COUNT) {
        return ty_status_fail(TY_BAD_FILE, "values of kind %u; allowed are 0..%d", head->values,
                              VALUES_COUNT - 1);
    }
    return ty_status_ok();
}

/* Checks that the network reads the rows and plays the actions of the ruleset. */
static TyStatus head_check_ruleset(const NetHead *head, const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t inputs = ty_expand_size(ruleset, false);
    if (head->schema != shape->schema_hash) {
        return ty_status_fail(TY_BAD_FILE,
                              "made for %.120s, whose rows and actions are not those of %.120s",
                              head->spec, shape->spec);
    }
    if (head->inputs != inputs || head->actions != shape->action_count) {
        return ty_status_fail(TY_BAD_FILE, "%u inputs and %u actions, where %.120s has %u and %u",
                              head->inputs, head->actions, shape->spec, inputs,
                              shape->action_count);
    }
    return ty_status_ok();
}

/* Numbers behind the head. */
static size_t head_numbers(const NetHead *head)
{
    size_t count = 0;
    uint32_t inputs = head->inputs;
    for (uint32_t i = 0; i < head->layers; i++) {
        count += ((size_t)inputs + 1) * head->widths[i];
        inputs = head->widths[i];
    }
    uint32_t heads = head->actions + (head->values != VALUES_NONE);
    return count + ((size_t)inputs + 1) * heads;
}

static TyStatus numbers_check(const uint8_t *bytes, size_t size, const NetHead *head)
{
    size_t count = head_numbers(head);
    size_t whole = HEAD_SIZE + count * sizeof(float) + SEAL_SIZE;
    if (size != whole) {
        return ty_status_fail(TY_BAD_FILE, "%zu bytes, where its layers need %zu", size, whole);
    }
    for (size_t i = 0; i < count; i++) {
        /* Infinities and what is not a number have all bits of the exponent set. */
        if ((load_le32(bytes + HEAD_SIZE + i * 4) & 0x7f800000u) == 0x7f800000u) {
            return ty_status_fail(TY_BAD_FILE, "weight %zu is not a finite number", i);
        }
    }
    return ty_status_ok();
}

/* ---- The weights ---- */

/* Numbers of the file, one behind the other, and where they go. */
typedef struct Copy {
    const uint8_t *from;
    float *to;
} Copy;

/* Takes the next `count` numbers. Each run begins at a multiple of NET_ALIGN bytes. */
static float *copy_take(Copy *copy, size_t count)
{
    float *run = copy->to;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = load_le32(copy->from + i * 4);
        memcpy(&run[i], &bits, sizeof bits);
    }
    copy->from += count * 4;
    copy->to += (count + NET_ALIGN / 4 - 1) / (NET_ALIGN / 4) * (NET_ALIGN / 4);
    return run;
}

static void first_layer_read(TyNet *net, Copy *copy, const float *table, uint32_t width)
{
    float *folded = copy->to;
    copy->to += (size_t)net->rows.entries * width;
    float *base = copy_take(copy, width);
    net_rows_fold(&net->rows, table, width, folded, base);
    net->layers[0] =
        (NetLayer){.inputs = net->rows.entries, .outputs = width, .weights = folded, .bias = base};
}

static void layers_read(TyNet *net, const NetHead *head, Copy *copy, float *table)
{
    Copy first = {.from = copy->from, .to = table};
    copy_take(&first, (size_t)head->inputs * head->widths[0]);
    copy->from = first.from;
    first_layer_read(net, copy, table, head->widths[0]);
    for (uint32_t i = 1; i < head->layers; i++) {
        uint32_t inputs = head->widths[i - 1];
        uint32_t outputs = head->widths[i];
        const float *weights = copy_take(copy, (size_t)inputs * outputs);
        const float *bias = copy_take(copy, outputs);
        net->layers[i] = (NetLayer){inputs, outputs, weights, bias};
    }
    net->width = head->widths[head->layers - 1];
    net->policy = copy_take(copy, (size_t)head->actions * net->width);
    net->policy_bias = copy_take(copy, head->actions);
    if (head->values != VALUES_NONE) {
        net->value = copy_take(copy, net->width);
        net->value_bias = *copy_take(copy, 1);
    }
}

/* Room for the numbers, the entries that folding adds, and the gaps between runs. */
static size_t memory_size(const TyNet *net, const NetHead *head)
{
    size_t count = head_numbers(head);
    count += (size_t)(net->rows.entries - net->rows.inputs) * head->widths[0];
    count += (2 * TY_NET_LAYERS_MAX + 4) * (NET_ALIGN / sizeof(float));
    return (count * sizeof(float) + NET_ALIGN - 1) / NET_ALIGN * NET_ALIGN;
}

static TyStatus net_make(const TyRuleset *ruleset, const uint8_t *bytes, const NetHead *head,
                         TyNet **made)
{
    TyNet *net = calloc(1, sizeof *net);
    float *table = malloc((size_t)head->inputs * head->widths[0] * sizeof *table);
    if (net != NULL) {
        net_rows_init(&net->rows, ruleset);
        net->memory = aligned_alloc(NET_ALIGN, memory_size(net, head));
    }
    if (net == NULL || table == NULL || net->memory == NULL) {
        free(table);
        ty_net_close(net);
        return ty_status_fail(TY_NO_MEMORY, "no memory for a network");
    }
    net->schema = head->schema;
    net->judges =
        head->values == VALUES_REWARDS && strcmp(head->spec, ty_shape(ruleset)->spec) == 0;
    net->action_count = head->actions;
    net->layer_count = head->layers;
    Copy copy = {.from = bytes + HEAD_SIZE, .to = net->memory};
    layers_read(net, head, &copy, table);
    free(table);
    *made = net;
    return ty_status_ok();
}

TyStatus ty_net_open(const TyRuleset *ruleset, const void *bytes, size_t size, TyNet **net)
{
    NetHead head;
    *net = NULL;
    TyStatus status = bytes_check(bytes, size);
    if (status.code != TY_OK) {
        return status;
    }
    head_read(bytes, &head);
    status = head_check_layers(&head);
    if (status.code == TY_OK) {
        status = head_check_ruleset(&head, ruleset);
    }
    if (status.code == TY_OK) {
        status = numbers_check(bytes, size, &head);
    }
    return status.code == TY_OK ? net_make(ruleset, bytes, &head, net) : status;
}

void ty_net_close(TyNet *net)
{
    if (net != NULL) {
        free(net->memory);
        free(net);
    }
}
