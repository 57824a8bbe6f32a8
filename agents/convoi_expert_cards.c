/* The Convoi Express expert's play of action cards: loads, moves, switches, lights, payments. */
#include "convoi_expert.h"

#include <string.h>

/* Whether `hand` can pay for `act` in this way: its own card, or any two (loading: any one). */
static bool payment_fits(const uint8_t hand[CONVOI_KINDS], Act act, uint32_t payment)
{
    const uint8_t *cards = payments[payment].cards;
    bool held = cards[0] <= hand[0] && cards[1] <= hand[1] && cards[2] <= hand[2];
    bool single = payment < CONVOI_KINDS;
    return held && (act == ACT_LOAD ? single : !single || payment == act);
}

static void payment_take(uint8_t hand[CONVOI_KINDS], uint32_t payment)
{
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        hand[kind] = (uint8_t)(hand[kind] - payments[payment].cards[kind]);
    }
}

/* The payment for `act` that leaves the best hand; PAYMENTS if the hand cannot pay. */
static uint32_t payment_best(const Thought *thought, Act act)
{
    ConvoiState after = thought->state;
    const uint8_t *hand = thought->state.hand[after.active];
    uint8_t *left = after.hand[after.active];
    uint32_t best = PAYMENTS;
    int32_t best_value = INT32_MIN;
    for (uint32_t payment = 0; payment < PAYMENTS; payment++) {
        if (payment_fits(hand, act, payment)) {
            memcpy(left, hand, CONVOI_KINDS);
            payment_take(left, payment);
            int32_t value = convoi_hand_value(&thought->judge, &after);
            best = value > best_value ? payment : best;
            best_value = value > best_value ? value : best_value;
        }
    }
    return best;
}

/* The position after paying for `act`; false if the hand cannot pay. */
static bool act_pay(const Thought *thought, Act act, ConvoiState *after)
{
    uint32_t payment = payment_best(thought, act);
    *after = thought->state;
    if (payment == PAYMENTS) {
        return false;
    }
    payment_take(after->hand[after->active], payment);
    return true;
}

static void loads_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        ConvoiState after;
        if (answer_allowed(thought, ACTION_LOAD + train) && act_pay(thought, ACT_LOAD, &after)) {
            uint8_t city = city_at(tables, (uint8_t)(after.place[train] - 1));
            after.goods[city]--;
            after.cargo[train] = (uint8_t)(tables->city_goods[city] + 1);
            convoi_answer_offer(thought, ACTION_LOAD + train,
                                convoi_position_value(thought, &after));
        }
    }
}

static void moves_think(Thought *thought)
{
    ConvoiState after;
    if (!act_pay(thought, ACT_MOVE, &after)) {
        return;
    }
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (answer_allowed(thought, ACTION_MOVE + train)) {
            convoi_answer_offer(thought, ACTION_MOVE + train,
                                convoi_roll_value(thought, &after, train));
        }
    }
}

enum {
    OBSTACLES_PER_TRAIN = 3, /* the next ones on its way are thought about */
    SWITCHES_MAX = OBSTACLES_PER_TRAIN * CONVOI_TRAINS,
};

/* What bars the ways of trains. */
typedef struct Obstacles {
    uint64_t lights; /* red ones */
    uint32_t switch_count;
    uint16_t switches[SWITCHES_MAX]; /* offsets of settings */
} Obstacles;

static void switch_add(Obstacles *obstacles, uint16_t offset)
{
    for (uint32_t i = 0; i < obstacles->switch_count; i++) {
        if (obstacles->switches[i] == offset) {
            return;
        }
    }
    if (obstacles->switch_count < SWITCHES_MAX) {
        obstacles->switches[obstacles->switch_count++] = offset;
    }
}

/* Notes what bars the edge; returns how many obstacles that are. */
static uint32_t obstacle_note(const Thought *thought, const MapEdge *edge, Obstacles *obstacles)
{
    const ConvoiState *state = &thought->state;
    bool red = edge->light != CONVOI_NONE && (state->green >> edge->light & 1) == 0;
    bool closed = edge->junction != CONVOI_NONE && state->setting[edge->junction] != edge->setting;
    if (red) {
        obstacles->lights |= UINT64_C(1) << edge->light;
    }
    if (closed) {
        switch_add(obstacles,
                   (uint16_t)(thought->tables->junction_action[edge->junction] + edge->setting));
    }
    return (uint32_t)red + (uint32_t)closed;
}

/* Notes the next obstacles on the cheapest way of `train` to `city`. */
static void way_look(const Thought *thought, uint8_t train, uint8_t city, Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    const Judge *judge = &thought->judge;
    uint8_t colour = train_colour(train);
    uint16_t node = convoi_train_node(tables, &thought->state, train);
    uint16_t goal = convoi_map_node(tables, place_city(tables, city), 0);
    uint32_t met = 0;
    convoi_costs_to(judge->costs, judge->map, tables, colour, city);
    for (uint32_t steps = 0; node != goal && steps < MAP_NODES_MAX; steps++) {
        const MapEdge *edge = convoi_costs_step(judge->costs, judge->map, colour, city, node);
        if (edge == NULL || met >= OBSTACLES_PER_TRAIN) {
            return;
        }
        met += obstacle_note(thought, edge, obstacles);
        node = edge->to;
    }
}

/* Looks along the ways of all trains; idle ones are to leave by the European port. */
static void obstacles_find(const Thought *thought, Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    const ConvoiState *state = &thought->state;
    memset(obstacles, 0, sizeof *obstacles);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t task = thought->judgement.task[train];
        if (task == CONVOI_NONE && !tables->crossing) {
            task = convoi_port_city(tables, 0);
        }
        if (state->place[train] != 0 && task != CONVOI_NONE) {
            way_look(thought, train, task, obstacles);
        }
    }
}

/* Every setting that opens a train's way. */
static void switches_think(Thought *thought, const Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    uint32_t base = ACTION_LIGHTS + 2u * tables->light_count + tables->city_light_count;
    ConvoiState after;
    if (!act_pay(thought, ACT_SWITCH, &after)) {
        return;
    }
    for (uint32_t i = 0; i < obstacles->switch_count; i++) {
        uint16_t offset = obstacles->switches[i];
        uint8_t junction = tables->setting_junction[offset];
        uint8_t before = after.setting[junction];
        if (answer_allowed(thought, base + offset)) {
            after.setting[junction] = (uint8_t)(offset - tables->junction_action[junction]);
            convoi_answer_offer(thought, base + offset, convoi_trial_value(thought, &after));
            after.setting[junction] = before;
        }
    }
}

/* Where the disc of light `from` may go. */
static uint64_t light_targets(const ConvoiTables *tables, uint64_t green, uint8_t from)
{
    uint8_t city = tables->light_city[from];
    if (city != CONVOI_NONE && (green & tables->city_lights[city]) == UINT64_C(1) << from) {
        return tables->city_lights[city] & ~green;
    }
    return ~green;
}

/* Weighs one way to move a disc, and remembers where to if it is the best answer so far. */
static void light_think(Thought *thought, ConvoiState *after, uint8_t from, uint8_t to)
{
    uint64_t before = after->green;
    int32_t best_before = thought->best_value;
    after->green = (before & ~(UINT64_C(1) << from)) | UINT64_C(1) << to;
    convoi_answer_offer(thought, ACTION_LIGHTS + from, convoi_trial_value(thought, after));
    if (thought->best_value > best_before) {
        thought->expert->light_from = from;
        thought->expert->light_to = to;
    }
    after->green = before;
}

/* Every disc that may go to a red light in a train's way. */
static void lights_think(Thought *thought, const Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    ConvoiState after;
    if (!act_pay(thought, ACT_SIGNAL, &after)) {
        return;
    }
    for (uint64_t left = after.green; left != 0; left &= left - 1) {
        uint8_t from = (uint8_t)__builtin_ctzll(left);
        if (!answer_allowed(thought, ACTION_LIGHTS + from)) {
            continue;
        }
        uint64_t targets = light_targets(tables, after.green, from) & obstacles->lights;
        for (; targets != 0; targets &= targets - 1) {
            light_think(thought, &after, from, (uint8_t)__builtin_ctzll(targets));
        }
    }
}

void convoi_actions_think(Thought *thought)
{
    Obstacles obstacles;
    thought->judge.ending = true;
    convoi_answer_offer(thought, ACTION_END, convoi_position_value(thought, &thought->state));
    thought->judge.ending = false;
    obstacles_find(thought, &obstacles);
    loads_think(thought);
    moves_think(thought);
    switches_think(thought, &obstacles);
    lights_think(thought, &obstacles);
}

/* The light thought of when the disc was chosen. */
void convoi_light_to_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    const Expert *expert = thought->expert;
    uint32_t base = ACTION_LIGHTS + tables->light_count;
    if (expert->light_from + 1 == thought->state.from &&
        answer_allowed(thought, base + expert->light_to)) {
        convoi_answer_offer(thought, base + expert->light_to, 0);
        return;
    }
    for (uint8_t light = 0; light < tables->light_count; light++) {
        if (answer_allowed(thought, base + light)) {
            ConvoiState after = thought->state;
            after.green &= ~(UINT64_C(1) << (after.from - 1));
            after.green |= UINT64_C(1) << light;
            convoi_answer_offer(thought, base + light, convoi_trial_value(thought, &after));
        }
    }
}

void convoi_pay_think(Thought *thought)
{
    uint32_t payment = payment_best(thought, (Act)(thought->state.act - 1));
    if (payment < PAYMENTS) {
        convoi_answer_offer(thought, ACTION_PAY + payment, 0);
    }
}
