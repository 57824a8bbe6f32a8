/* The agent that plays what a network says: net:FILE. */
#include "agent.h"
#include "agents/net_layers.h"
#include "core/hash.h"
#include "core/status.h"

#include <assert.h>
#include <math.h>

typedef struct NetMemory {
    uint64_t seed;
    uint64_t counter;
} NetMemory;

static const TyField net_fields[] = {
    {"file", TY_FIELD_FILE, -1, 0, 0, NULL, false, "weights of a network (agents/NET.md)"},
    {"temperature", TY_FIELD_FRACTION, 0, 0, 100000, NULL, false,
     "0: the best action; above: actions are drawn, the hotter the more evenly"},
    {.key = NULL},
};

static TyStatus net_agent_open(const TyAgent *agent, const TyRuleset *ruleset,
                               const TyAgentFile *file, void **data)
{
    TyNet *net = NULL;
    (void)agent;
    TyStatus status = ty_net_open(ruleset, file->bytes, file->size, &net);
    *data = net;
    return status.code == TY_OK
               ? status
               : ty_status_fail(status.code, "net: %.60s: %.240s", file->name, status.message);
}

static void net_agent_close(void *data)
{
    ty_net_close(data);
}

static void net_agent_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                            uint32_t seat, uint64_t seed)
{
    const TyNet *net = agent->data;
    (void)seat;
    /* It was opened for rows and actions like these. */
    assert(net->schema == ty_shape(ruleset)->schema_hash);
    *(NetMemory *)memory = (NetMemory){.seed = seed};
}

/* Tells how likely each action is and, if its values are rewards, what it expects of the one that
 * is taken. */
static void net_agent_tell(const TyView *view, TyNetChoice choice)
{
    const TyNet *net = view->agent->data;
    float logits[TY_ACTIONS_MAX];
    if (view->notes == NULL) {
        return;
    }
    ty_net_think(net, view->row, view->mask, 1, logits, NULL);
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        if (view->mask[action]) {
            float logp = choice.logp + logits[action] - logits[choice.action];
            bool expects = net->judges && action == choice.action;
            ty_note(view, (TyNote){.action = action,
                                   .probability = expf(logp),
                                   .value = expects ? choice.value : NAN,
                                   .visits = NAN});
        }
    }
}

static uint32_t net_agent_act(void *memory, const TyView *view)
{
    NetMemory *own = memory;
    float temperature = (float)ty_agent_setting(view->agent, "temperature") / 1000.0f;
    uint64_t random = hash_mix(own->seed + hash_mix(++own->counter));
    TyNetChoice choice =
        ty_net_choose(view->agent->data, view->row, view->mask, temperature, random);
    net_agent_tell(view, choice);
    return choice.action;
}

const TyAgent net_agent = {
    .name = "net",
    .help = "plays what a network says, net:FILE",
    .memory_size = sizeof(NetMemory),
    .start = net_agent_start,
    .act = net_agent_act,
    .fields = net_fields,
    .open = net_agent_open,
    .close = net_agent_close,
};
