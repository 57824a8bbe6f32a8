/* The Convoi Express expert's play of action cards: loads, moves, switches, lights, payments. */
#include "convoi_expert.h"

#include <string.h>

enum {
    MOVES_THOUGHT = 4, /* trains, the most promising, whose moves are thought through */
    MOVE_LEAST = -60,  /* what a move has to promise for that */
};

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
    for (uint32_t open = payments_for(thought->tables, act, hand); open != 0; open &= open - 1) {
        uint32_t payment = (uint32_t)__builtin_ctz(open);
        memcpy(left, hand, CONVOI_KINDS);
        payment_take(left, payment);
        int32_t value = convoi_hand_value(&thought->judge, &after);
        best = value > best_value ? payment : best;
        best_value = value > best_value ? value : best_value;
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
        if (answer_allowed(thought, FORM_LOAD, train) && act_pay(thought, ACT_LOAD, &after)) {
            uint8_t city = city_at(tables, (uint8_t)(after.place[train] - 1));
            after.goods[city]--;
            after.cargo[train] = (uint8_t)(tables->city_goods[city] + 1);
            convoi_answer_offer(thought, FORM_LOAD, train, convoi_position_value(thought, &after));
        }
    }
}

/* The train of `left` (bits) whose move promises most; it leaves `left`. CONVOI_NONE if no move
 * promises enough. */
static uint8_t move_next(const Thought *thought, uint32_t *left)
{
    uint8_t best = CONVOI_NONE;
    int32_t most = MOVE_LEAST;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if ((*left >> train & 1) != 0 && answer_allowed(thought, FORM_MOVE, train) &&
            thought->judgement->gain[train] > most) {
            most = thought->judgement->gain[train];
            best = train;
        }
    }
    *left &= best != CONVOI_NONE ? ~(1u << best) : 0;
    return best;
}

static void moves_think(Thought *thought)
{
    ConvoiState after;
    uint32_t left = (1u << CONVOI_TRAINS) - 1;
    if (!act_pay(thought, ACT_MOVE, &after)) {
        return;
    }
    for (uint32_t i = 0; i < MOVES_THOUGHT; i++) {
        uint8_t train = move_next(thought, &left);
        if (train == CONVOI_NONE) {
            return;
        }
        convoi_answer_offer(thought, FORM_MOVE, train, convoi_roll_value(thought, &after, train));
    }
}

enum {
    OBSTACLES_MAX = 2, /* the next ones on a train's way that are thought about */
    SWITCHES_MAX = OBSTACLES_MAX * CONVOI_TRAINS,
};

/* What bars the ways of trains. */
typedef struct Obstacles {
    uint64_t lights; /* red ones */
    uint32_t switch_count;
    uint8_t switches[SWITCHES_MAX]; /* numbers of settings */
} Obstacles;

static void switch_add(Obstacles *obstacles, uint8_t setting)
{
    for (uint32_t i = 0; i < obstacles->switch_count; i++) {
        if (obstacles->switches[i] == setting) {
            return;
        }
    }
    if (obstacles->switch_count < SWITCHES_MAX) {
        obstacles->switches[obstacles->switch_count++] = setting;
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
                   (uint8_t)(thought->tables->setting_first[edge->junction] + edge->setting));
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
    uint32_t most = tables->crossing ? OBSTACLES_MAX : 1;
    uint32_t met = 0;
    for (uint32_t steps = 0; node != goal && steps < MAP_NODES_MAX; steps++) {
        MapEdge edge;
        if (met >= most ||
            !convoi_way_step(judge->costs, judge->map, tables, colour, city, node, &edge)) {
            return;
        }
        met += obstacle_note(thought, &edge, obstacles);
        node = edge.to;
    }
}

/* Looks along the ways of all trains; idle ones are to leave by the European port. */
static void obstacles_find(const Thought *thought, Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    const ConvoiState *state = &thought->state;
    memset(obstacles, 0, sizeof *obstacles);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t task = thought->judgement->task[train];
        if (task == CONVOI_NONE && !tables->crossing) {
            task = thought->outlook.port_city[0];
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
    ConvoiState after;
    if (!act_pay(thought, ACT_SWITCH, &after)) {
        return;
    }
    for (uint32_t i = 0; i < obstacles->switch_count; i++) {
        uint8_t setting = obstacles->switches[i];
        uint8_t junction = tables->setting_junction[setting];
        uint8_t before = after.setting[junction];
        if (answer_allowed(thought, FORM_SWITCH, setting)) {
            after.setting[junction] = (uint8_t)(setting - tables->setting_first[junction]);
            convoi_answer_offer(thought, FORM_SWITCH, setting, convoi_trial_value(thought, &after));
            after.setting[junction] = before;
        }
    }
}

/* Weighs one way to move a disc, after the position with a disc to spare for `to`, and remembers
 * where to if it is the best answer so far. */
static void light_think(Thought *thought, ConvoiState *after, uint8_t from, uint8_t to)
{
    uint64_t before = after->green;
    int32_t best_before = thought->best_value;
    after->green = (before & ~(UINT64_C(1) << from)) | UINT64_C(1) << to;
    convoi_answer_offer(thought, FORM_LIGHT_FROM, from, convoi_further_value(thought, after));
    if (thought->best_value > best_before) {
        thought->expert->light_from = from;
        thought->expert->light_to = to;
    }
    after->green = before;
}

/* Every disc that may go to the red light `to`, if that is worth a card with a disc to spare. */
static void light_to_think(Thought *thought, ConvoiState *after, uint8_t to)
{
    uint64_t before = after->green;
    after->green |= UINT64_C(1) << to;
    int32_t most = convoi_trial_value(thought, after);
    after->green = before;
    for (uint64_t left = before; left != 0 && most > thought->best_value; left &= left - 1) {
        uint8_t from = (uint8_t)__builtin_ctzll(left);
        if (answer_allowed(thought, FORM_LIGHT_FROM, from) &&
            (light_targets(thought->tables, after, from) >> to & 1) != 0) {
            light_think(thought, after, from, to);
        }
    }
}

/* Discs for the red lights in the ways of trains. */
static void lights_think(Thought *thought, const Obstacles *obstacles)
{
    ConvoiState after;
    if (!act_pay(thought, ACT_SIGNAL, &after)) {
        return;
    }
    for (uint64_t left = obstacles->lights; left != 0; left &= left - 1) {
        light_to_think(thought, &after, (uint8_t)__builtin_ctzll(left));
    }
}

void convoi_actions_think(Thought *thought)
{
    Obstacles obstacles;
    thought->judge.ending = true;
    int32_t kept = thought->expert->style == STYLE_HOARDING ? PRICE_AVERT : 0;
    int32_t total = convoi_judgement_total(&thought->judge, &thought->state, thought->judgement);
    convoi_answer_offer(thought, FORM_END, 0, total + kept);
    thought->judge.ending = false;
    obstacles_find(thought, &obstacles);
    loads_think(thought);
    moves_think(thought);
    switches_think(thought, &obstacles);
    lights_think(thought, &obstacles);
}

bool convoi_light_remembered(const Thought *thought)
{
    const Expert *expert = thought->expert;
    return expert->light_from + 1 == thought->state.from &&
           answer_allowed(thought, FORM_LIGHT_TO, expert->light_to);
}

/* The light thought of when the disc was chosen. */
void convoi_light_to_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    const Expert *expert = thought->expert;
    if (convoi_light_remembered(thought)) {
        convoi_answer_offer(thought, FORM_LIGHT_TO, expert->light_to, 0);
        return;
    }
    for (uint8_t light = 0; light < tables->light_count; light++) {
        if (answer_allowed(thought, FORM_LIGHT_TO, light)) {
            ConvoiState after = thought->state;
            after.green &= ~(UINT64_C(1) << (after.from - 1));
            after.green |= UINT64_C(1) << light;
            convoi_answer_offer(thought, FORM_LIGHT_TO, light, convoi_trial_value(thought, &after));
        }
    }
}

void convoi_pay_think(Thought *thought)
{
    uint32_t payment = payment_best(thought, (Act)(thought->state.act - 1));
    if (payment < PAYMENTS) {
        convoi_answer_offer(thought, FORM_PAY, payment, 0);
    }
}
