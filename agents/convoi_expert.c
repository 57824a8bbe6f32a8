/* The rule-based expert for Convoi Express: answers each question with what it judges best. */
#include "convoi_expert.h"

#include <assert.h>
#include <string.h>

/* Where the parts of a row stand that the public run of bytes does not hold. */
typedef struct RowOffsets {
    uint16_t public_run;
    uint16_t goods;
    uint16_t delivered;
    uint16_t setting;
    uint16_t seen;
    uint16_t green;
    uint16_t hand;
    uint16_t turn;
    uint16_t number_start; /* NO_BLOCK if the ruleset has none */
    uint16_t token_spent;
} RowOffsets;

enum { NO_BLOCK = 0xffff };

typedef struct Expert {
    const ConvoiTables *tables;
    Map map;
    UsualWays usual;
    Costs costs;       /* of the position as it is */
    Costs trial_costs; /* of a position with another light or switch */
    RowOffsets row;
    uint8_t light_from; /* the light that was chosen to be moved, and where to */
    uint8_t light_to;
} Expert;

_Static_assert(sizeof(Expert) <= TY_AGENT_MEMORY_MAX, "the expert fits into an agent's memory");

/* The position as the seat knows it, and the best answer found so far. */
typedef struct Thought {
    Expert *expert;
    const ConvoiTables *tables;
    const TyView *view;
    ConvoiState state;
    Judge judge;
    Judgement judgement;
    uint32_t best;
    int32_t best_value;
} Thought;

/* ---- Reading the row ---------------------------------------------------------------------------
 */

static uint16_t block_offset(const TyShape *shape, const char *name)
{
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        if (strcmp(shape->row_blocks[i].name, name) == 0) {
            return shape->row_blocks[i].offset;
        }
    }
    return NO_BLOCK;
}

static RowOffsets row_offsets(const TyShape *shape)
{
    return (RowOffsets){
        .public_run = block_offset(shape, "phase"),
        .goods = block_offset(shape, "goods"),
        .delivered = block_offset(shape, "delivered"),
        .setting = block_offset(shape, "setting"),
        .seen = block_offset(shape, "seen"),
        .green = block_offset(shape, "green"),
        .hand = block_offset(shape, "hand"),
        .turn = block_offset(shape, "turn"),
        .number_start = block_offset(shape, "number_start"),
        .token_spent = block_offset(shape, "token_spent"),
    };
}

static void tokens_read(const Expert *expert, const uint8_t *row, ConvoiState *state)
{
    const RowOffsets *at = &expert->row;
    memcpy(state->number_start, expert->tables->number_start, sizeof state->number_start);
    if (at->number_start != NO_BLOCK) {
        memcpy(state->number_start, row + at->number_start, sizeof state->number_start);
    }
    if (at->token_spent != NO_BLOCK) {
        memcpy(state->token_spent, row + at->token_spent, sizeof state->token_spent);
    }
}

/* The position that a row shows. Hands that are hidden stay empty. */
static void row_read(const Expert *expert, const TyView *view, ConvoiState *state)
{
    const ConvoiTables *tables = expert->tables;
    const RowOffsets *at = &expert->row;
    const uint8_t *row = view->row;
    memset(state, 0, sizeof *state);
    memcpy(&state->phase, row + at->public_run, CONVOI_PUBLIC_SIZE);
    memcpy(state->goods, row + at->goods, tables->city_count);
    memcpy(state->delivered, row + at->delivered, (size_t)tables->port_count * CONVOI_GOODS);
    memcpy(state->setting, row + at->setting, tables->junction_count);
    memcpy(state->seen, row + at->seen, tables->card_count);
    tokens_read(expert, row, state);
    for (uint32_t i = 0; i < tables->light_count; i++) {
        state->green |= (uint64_t)row[at->green + i] << i;
    }
    for (uint8_t i = 0; i < tables->player_count; i++) {
        memcpy(state->hand[(view->seat + i) % tables->player_count],
               row + at->hand + CONVOI_KINDS * i, CONVOI_KINDS);
    }
    for (uint8_t port = 0; port < tables->port_count; port++) {
        state->goods_delivered = (uint8_t)(state->goods_delivered + goods_of_port(state, port));
    }
    state->active = (uint8_t)((view->seat + row[at->turn]) % tables->player_count);
}

/* ---- Weighing answers --------------------------------------------------------------------------
 */

static void answer_offer(Thought *thought, uint32_t action, int32_t value)
{
    if (thought->view->mask[action] && value > thought->best_value) {
        thought->best_value = value;
        thought->best = action;
    }
}

static bool answer_allowed(const Thought *thought, uint32_t action)
{
    return thought->view->mask[action] != 0;
}

/* A position with the lights and switches of the real one. */
static int32_t position_value(const Thought *thought, const ConvoiState *state)
{
    Judgement judgement;
    convoi_judge(&thought->judge, state, &judgement);
    return judgement.total;
}

/* A position with other lights or switches. */
static int32_t trial_value(const Thought *thought, const ConvoiState *state)
{
    Judgement judgement;
    Judge judge = thought->judge;
    judge.costs = &thought->expert->trial_costs;
    convoi_costs_init(judge.costs, judge.map, judge.tables, state);
    convoi_judge(&judge, state, &judgement);
    return judgement.total;
}

/* The position after the best way to do `walk`. */
static int32_t walk_value(const Thought *thought, const ConvoiState *state, Walk walk)
{
    Outcomes outcomes;
    ConvoiState after = *state;
    convoi_walk(thought->tables, state, walk, &outcomes);
    uint32_t best =
        convoi_outcome_best(&thought->judge, state, &thought->judgement, walk.train, &outcomes);
    convoi_outcome_apply(thought->tables, &after, walk.train, outcomes.list[best]);
    return position_value(thought, &after);
}

static Walk walk_of(const Thought *thought, uint8_t train, uint8_t points)
{
    return (Walk){
        .train = train,
        .points = points,
        .exit = CONVOI_NONE,
        .crossing = thought->tables->crossing || thought->state.crossing_on,
    };
}

/* The mean over the rolls of the train's die. */
static int32_t roll_value(const Thought *thought, const ConvoiState *state, uint8_t train)
{
    int32_t sum = 0;
    for (uint8_t points = 1; points < 6; points++) {
        uint8_t weight = convoi_die[train / 3][points];
        if (weight > 0) {
            sum += weight * walk_value(thought, state, walk_of(thought, train, points));
        }
    }
    return sum / 6;
}

/* The staff are worth less the fewer turns are left to use them in. */
static int32_t staff_price(const Thought *thought)
{
    int32_t turns = thought->tables->card_count - thought->tables->removed;
    return turns > 0 ? PRICE_STAFF * thought->state.pile / turns : 0;
}

/* ---- The instruction card ----------------------------------------------------------------------
 */

/* The mean over the starts on which the train of `state->colour` may be put. */
static int32_t start_value(const Thought *thought, const ConvoiState *state)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t weights[CONVOI_STARTS_MAX];
    uint8_t train = (uint8_t)(3 * (state->colour - 1));
    int64_t sum = 0;
    int64_t count = 0;
    convoi_start_weights(tables, state, weights);
    while (state->place[train] != 0) {
        train++;
    }
    for (uint8_t start = 0; start < tables->start_count; start++) {
        uint8_t place = place_start(tables, start);
        if (weights[start] > 0 && train_at(state, place, CONVOI_NONE) == CONVOI_NONE) {
            ConvoiState after = *state;
            after.place[train] = (uint8_t)(place + 1);
            after.symbol++;
            after.colour = 0;
            sum += (int64_t)weights[start] * position_value(thought, &after);
            count += weights[start];
        }
    }
    return count > 0 ? (int32_t)(sum / count) : 0;
}

static void colour_think(Thought *thought)
{
    const Card *card = card_now(thought->tables, &thought->state);
    bool new_train = thought->state.symbol < card->new_count;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (answer_allowed(thought, ACTION_COLOUR + colour)) {
            ConvoiState after = thought->state;
            after.colour = (uint8_t)(colour + 1);
            after.named[colour] = 1;
            answer_offer(thought, ACTION_COLOUR + colour,
                         new_train ? start_value(thought, &after)
                                   : position_value(thought, &after));
        }
    }
}

static void start_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t train = (uint8_t)(3 * (thought->state.colour - 1));
    while (thought->state.place[train] != 0) {
        train++;
    }
    answer_offer(thought, ACTION_ROLL_START, start_value(thought, &thought->state));
    for (uint8_t start = 0; start < tables->start_count; start++) {
        if (answer_allowed(thought, ACTION_PLACE_AT + start)) {
            ConvoiState after = thought->state;
            after.place[train] = (uint8_t)(place_start(tables, start) + 1);
            after.symbol++;
            after.colour = 0;
            answer_offer(thought, ACTION_PLACE_AT + start,
                         position_value(thought, &after) - staff_price(thought));
        }
    }
}

static void train_think(Thought *thought)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (answer_allowed(thought, ACTION_MOVE + train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            answer_offer(thought, ACTION_MOVE + train, roll_value(thought, &after, train));
        }
        if (answer_allowed(thought, ACTION_HOLD + train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            answer_offer(thought, ACTION_HOLD + train,
                         position_value(thought, &after) - staff_price(thought));
        }
    }
    if (answer_allowed(thought, ACTION_CHEF_DE_TRAIN)) {
        ConvoiState after = thought->state;
        after.colour = 0;
        after.symbol++;
        after.staff_used[STAFF_CHEF_DE_TRAIN] = 1;
        answer_offer(thought, ACTION_CHEF_DE_TRAIN,
                     position_value(thought, &after) - staff_price(thought));
    }
}

static void die_think(Thought *thought)
{
    uint8_t train = (uint8_t)(thought->state.train - 1);
    answer_offer(
        thought, ACTION_KEEP,
        walk_value(thought, &thought->state, walk_of(thought, train, thought->state.points)));
    answer_offer(thought, ACTION_LOGISTICIEN,
                 roll_value(thought, &thought->state, train) - staff_price(thought));
}

/* The garde-voie: this card against the mean of those that may come instead. */
static void card_think(Thought *thought)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (uint8_t i = 0; i < thought->tables->card_count; i++) {
        if (!thought->state.seen[i]) {
            ConvoiState after = thought->state;
            after.card = (uint8_t)(CARD_BASE + i);
            sum += position_value(thought, &after);
            sum += thought->tables->cards[i].new_count > 0 ? PRICE_NEW : 0;
            count++;
        }
    }
    int32_t here = position_value(thought, &thought->state);
    here += card_now(thought->tables, &thought->state)->new_count > 0 ? PRICE_NEW : 0;
    answer_offer(thought, ACTION_PLAY_CARD, here);
    if (count > 0) {
        answer_offer(thought, ACTION_GARDE_VOIE, (int32_t)(sum / count) - staff_price(thought));
    }
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

static void city_think(Thought *thought)
{
    const ConvoiState *state = &thought->state;
    Walk walk = walk_of(thought, (uint8_t)(state->train - 1), state->points);
    walk.entry = state->entry;
    walk.crossing = true;
    answer_offer(thought, ACTION_STOP, position_value(thought, state));
    answer_offer(thought, ACTION_GESTIONNAIRE,
                 walk_value(thought, state, walk) - staff_price(thought));
}

static void exit_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    const ConvoiState *state = &thought->state;
    uint32_t base = ACTION_LIGHTS + 2u * tables->light_count;
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        if (answer_allowed(thought, base + light)) {
            Walk walk = walk_of(thought, (uint8_t)(state->train - 1), state->points);
            walk.exit = light;
            answer_offer(thought, base + light, walk_value(thought, state, walk));
        }
    }
    if (answer_allowed(thought, ACTION_STOP)) {
        answer_offer(thought, ACTION_STOP, position_value(thought, state));
    }
}

/* ---- Action cards ------------------------------------------------------------------------------
 */

/* The cheapest payment for `act`; false if the hand cannot pay. */
static bool payment_best(const Thought *thought, const ConvoiState *state, Act act,
                         uint32_t *payment)
{
    const uint8_t *hand = state->hand[state->active];
    int32_t best = INT32_MIN;
    for (uint32_t i = 0; i < PAYMENTS; i++) {
        const uint8_t *cards = payments[i].cards;
        bool held = cards[0] <= hand[0] && cards[1] <= hand[1] && cards[2] <= hand[2];
        bool single = i < CONVOI_KINDS;
        bool fits = act == ACT_LOAD ? single : !single || i == act;
        if (!held || !fits) {
            continue;
        }
        ConvoiState after = *state;
        for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
            after.hand[state->active][kind] = (uint8_t)(hand[kind] - cards[kind]);
        }
        int32_t value = convoi_hand_value(&thought->judge, &after);
        if (value > best) {
            best = value;
            *payment = i;
        }
    }
    return best != INT32_MIN;
}

/* The position after paying for `act`. */
static bool act_pay(const Thought *thought, Act act, ConvoiState *after)
{
    uint32_t payment = 0;
    *after = thought->state;
    if (!payment_best(thought, after, act, &payment)) {
        return false;
    }
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        uint8_t *held = &after->hand[after->active][kind];
        *held = (uint8_t)(*held - payments[payment].cards[kind]);
    }
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
            answer_offer(thought, ACTION_LOAD + train, position_value(thought, &after));
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
            answer_offer(thought, ACTION_MOVE + train, roll_value(thought, &after, train));
        }
    }
}

/* The lights and junctions that bar the ways of trains. */
typedef struct Obstacles {
    uint64_t lights; /* red ones on a way */
    uint64_t used;   /* green ones on a way */
    uint32_t switch_count;
    uint16_t switches[64]; /* offsets of settings */
} Obstacles;

enum { OBSTACLES_PER_TRAIN = 3 };

static void switch_add(Obstacles *obstacles, uint16_t offset)
{
    for (uint32_t i = 0; i < obstacles->switch_count; i++) {
        if (obstacles->switches[i] == offset) {
            return;
        }
    }
    if (obstacles->switch_count < 64) {
        obstacles->switches[obstacles->switch_count++] = offset;
    }
}

/* Goes along the cheapest way from `node` to `city` and notes what bars it. */
static void way_look(const Thought *thought, uint8_t colour, uint8_t city, uint16_t node,
                     Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    const Expert *expert = thought->expert;
    uint32_t met = 0;
    convoi_costs_to(thought->judge.costs, &expert->map, tables, colour, city);
    for (uint32_t steps = 0; steps < MAP_NODES_MAX && met < OBSTACLES_PER_TRAIN; steps++) {
        const MapEdge *edge = convoi_costs_step(&expert->costs, &expert->map, colour, city, node);
        if (edge == NULL || node == convoi_map_node(tables, place_city(tables, city), 0)) {
            return;
        }
        if (edge->light != CONVOI_NONE) {
            bool red = (thought->state.green >> edge->light & 1) == 0;
            *(red ? &obstacles->lights : &obstacles->used) |= UINT64_C(1) << edge->light;
            met += red;
        }
        if (edge->junction != CONVOI_NONE &&
            thought->state.setting[edge->junction] != edge->setting) {
            switch_add(obstacles,
                       (uint16_t)(tables->junction_action[edge->junction] + edge->setting));
            met++;
        }
        node = edge->to;
    }
}

static void obstacles_find(const Thought *thought, Obstacles *obstacles)
{
    const ConvoiTables *tables = thought->tables;
    const ConvoiState *state = &thought->state;
    memset(obstacles, 0, sizeof *obstacles);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t task = thought->judgement.task[train];
        if (state->place[train] == 0) {
            continue;
        }
        if (task == CONVOI_NONE) {
            task = tables->crossing ? CONVOI_NONE : (uint8_t)(tables->city_count - 1);
        }
        if (task == CONVOI_NONE) {
            continue;
        }
        way_look(thought, train / 3, task,
                 convoi_map_node(tables, (uint8_t)(state->place[train] - 1), state->heading[train]),
                 obstacles);
    }
}

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
            answer_offer(thought, base + offset, trial_value(thought, &after));
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

static void light_think(Thought *thought, ConvoiState *after, uint8_t from, uint8_t to)
{
    uint64_t before = after->green;
    int32_t best_before = thought->best_value;
    after->green = (before & ~(UINT64_C(1) << from)) | UINT64_C(1) << to;
    answer_offer(thought, ACTION_LIGHTS + from, trial_value(thought, after));
    if (thought->best_value > best_before) {
        thought->expert->light_from = from;
        thought->expert->light_to = to;
    }
    after->green = before;
}

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

static void actions_think(Thought *thought)
{
    Obstacles obstacles;
    thought->judge.ending = true;
    answer_offer(thought, ACTION_END, position_value(thought, &thought->state) + MARGIN);
    thought->judge.ending = false;
    obstacles_find(thought, &obstacles);
    loads_think(thought);
    moves_think(thought);
    switches_think(thought, &obstacles);
    lights_think(thought, &obstacles);
}

static void light_to_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    const Expert *expert = thought->expert;
    uint32_t base = ACTION_LIGHTS + tables->light_count;
    if (expert->light_from + 1 == thought->state.from &&
        answer_allowed(thought, base + expert->light_to)) {
        answer_offer(thought, base + expert->light_to, 0);
        return;
    }
    for (uint8_t light = 0; light < tables->light_count; light++) {
        if (answer_allowed(thought, base + light)) {
            ConvoiState after = thought->state;
            after.green &= ~(UINT64_C(1) << (after.from - 1));
            after.green |= UINT64_C(1) << light;
            answer_offer(thought, base + light, trial_value(thought, &after));
        }
    }
}

static void pay_think(Thought *thought)
{
    uint32_t payment = 0;
    if (payment_best(thought, &thought->state, (Act)(thought->state.act - 1), &payment)) {
        answer_offer(thought, ACTION_PAY + payment, 0);
    }
}

/* ---- Set-up ------------------------------------------------------------------------------------
 */

static void place_light_think(Thought *thought)
{
    uint32_t base = ACTION_LIGHTS + thought->tables->light_count;
    for (uint8_t light = 0; light < thought->tables->light_count; light++) {
        if (answer_allowed(thought, base + light)) {
            ConvoiState after = thought->state;
            after.green |= UINT64_C(1) << light;
            answer_offer(thought, base + light, trial_value(thought, &after));
        }
    }
}

static void place_switch_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t junction = (uint8_t)(thought->state.junction - 1);
    uint32_t base = ACTION_LIGHTS + 2u * tables->light_count + tables->city_light_count +
                    tables->junction_action[junction];
    uint8_t count = junction_setting_count(tables->junction_degree[junction]);
    for (uint8_t setting = 0; setting < count; setting++) {
        ConvoiState after = thought->state;
        after.setting[junction] = setting;
        answer_offer(thought, base + setting, trial_value(thought, &after));
    }
}

/* ---- The agent ---------------------------------------------------------------------------------
 */

static void question_think(Thought *thought)
{
    switch ((Phase)thought->state.phase) {
    case PHASE_PLACE_CITY:
    case PHASE_PLACE_TRACK:
    case PHASE_PLACE_EXTRA:
        place_light_think(thought);
        break;
    case PHASE_PLACE_SWITCH:
        place_switch_think(thought);
        break;
    case PHASE_CARD:
        card_think(thought);
        break;
    case PHASE_COLOUR:
        colour_think(thought);
        break;
    case PHASE_START:
        start_think(thought);
        break;
    case PHASE_TRAIN:
        train_think(thought);
        break;
    case PHASE_DIE:
        die_think(thought);
        break;
    case PHASE_CITY:
        city_think(thought);
        break;
    case PHASE_EXIT:
        exit_think(thought);
        break;
    case PHASE_ACTIONS:
        actions_think(thought);
        break;
    case PHASE_LIGHT_TO:
        light_to_think(thought);
        break;
    case PHASE_PAY:
        pay_think(thought);
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}

static void expert_start(void *memory, const TyRuleset *ruleset, uint32_t seat, uint64_t seed)
{
    (void)seat;
    (void)seed;
    Expert *expert = memory;
    expert->tables = convoi_tables(ruleset);
    expert->row = row_offsets(ty_shape(ruleset));
    convoi_map_init(&expert->map, expert->tables);
    convoi_usual_init(&expert->usual, &expert->trial_costs, &expert->map, expert->tables);
}

/* The first answer that the mask allows. */
static uint32_t answer_any(const TyView *view)
{
    uint32_t action = 0;
    while (!view->mask[action]) {
        action++;
    }
    return action;
}

static uint32_t expert_act(void *memory, const TyView *view)
{
    Expert *expert = memory;
    Thought thought = {
        .expert = expert,
        .tables = expert->tables,
        .view = view,
        .judge = {.tables = expert->tables,
                  .map = &expert->map,
                  .usual = &expert->usual,
                  .costs = &expert->costs},
        .best = answer_any(view),
        .best_value = INT32_MIN,
    };
    if (view->mask[ACTION_WAIT]) {
        return ACTION_WAIT;
    }
    row_read(expert, view, &thought.state);
    convoi_costs_init(&expert->costs, &expert->map, expert->tables, &thought.state);
    convoi_judge(&thought.judge, &thought.state, &thought.judgement);
    question_think(&thought);
    return thought.best;
}

const TyAgent convoi_expert = {
    .name = "expert",
    .game = "convoi",
    .help = "rules of thumb: tasks for trains, ways past lights and switches, the next card",
    .memory_size = sizeof(Expert),
    .start = expert_start,
    .act = expert_act,
};
