/* The rule-based expert for Convoi Express: answers each question with what it judges best. */
#include "convoi_expert.h"

#include <assert.h>
#include <string.h>

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
    memcpy((uint8_t *)state + CONVOI_PUBLIC_OFFSET, row + at->public_run, CONVOI_PUBLIC_SIZE);
    memcpy(state->goods, row + at->goods, tables->city_count);
    memcpy(state->delivered, row + at->delivered, (size_t)tables->port_count * CONVOI_GOODS);
    memcpy(state->setting, row + at->setting, tables->junction_count);
    memcpy(state->seen, row + at->seen, tables->card_count);
    tokens_read(expert, row, state);
    assert(tables->player_count > 0);
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

void convoi_answer_offer(Thought *thought, uint32_t action, int32_t value)
{
    if (thought->view->mask[action] && value > thought->best_value) {
        thought->best_value = value;
        thought->best = action;
    }
}

int32_t convoi_position_value(const Thought *thought, const ConvoiState *state)
{
    Judgement judgement;
    convoi_judge(&thought->judge, state, &judgement);
    return judgement.total;
}

int32_t convoi_trial_value(const Thought *thought, const ConvoiState *state)
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
    return convoi_position_value(thought, &after);
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

int32_t convoi_roll_value(const Thought *thought, const ConvoiState *state, uint8_t train)
{
    int32_t sum = 0;
    for (uint8_t points = 1; points <= DIE_MAX; points++) {
        uint8_t weight = convoi_die[train_colour(train)][points];
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

/* The position with a train of the named colour on `start`. */
static ConvoiState train_placed(const ConvoiTables *tables, const ConvoiState *state, uint8_t start)
{
    ConvoiState after = *state;
    uint8_t train = (uint8_t)(3 * (state->colour - 1));
    while (state->place[train] != 0) {
        train++;
    }
    after.place[train] = (uint8_t)(place_start(tables, start) + 1);
    after.symbol++;
    after.colour = 0;
    return after;
}

/* The mean over the free starts on which a train of the named colour may come. */
static int32_t start_value(const Thought *thought, const ConvoiState *state)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t weights[CONVOI_STARTS_MAX];
    int64_t sum = 0;
    int64_t count = 0;
    convoi_start_weights(tables, state, weights);
    for (uint8_t start = 0; start < tables->start_count; start++) {
        if (weights[start] > 0 &&
            train_at(state, place_start(tables, start), CONVOI_NONE) == CONVOI_NONE) {
            ConvoiState after = train_placed(tables, state, start);
            sum += (int64_t)weights[start] * convoi_position_value(thought, &after);
            count += weights[start];
        }
    }
    return count > 0 ? (int32_t)(sum / count) : 0;
}

/* The colour of a new train, or of a multicolour symbol. */
static void colour_think(Thought *thought)
{
    const Card *card = card_now(thought->tables, &thought->state);
    bool new_train = thought->state.symbol < card->new_count;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (answer_allowed(thought, ACTION_COLOUR + colour)) {
            ConvoiState after = thought->state;
            after.colour = (uint8_t)(colour + 1);
            after.named[colour] = 1;
            convoi_answer_offer(thought, ACTION_COLOUR + colour,
                                new_train ? start_value(thought, &after)
                                          : convoi_position_value(thought, &after));
        }
    }
}

/* The dice, or the agent de manoeuvre. */
static void start_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    convoi_answer_offer(thought, ACTION_ROLL_START, start_value(thought, &thought->state));
    for (uint8_t start = 0; start < tables->start_count; start++) {
        if (answer_allowed(thought, ACTION_PLACE_AT + start)) {
            ConvoiState after = train_placed(tables, &thought->state, start);
            convoi_answer_offer(thought, ACTION_PLACE_AT + start,
                                convoi_position_value(thought, &after) - staff_price(thought));
        }
    }
}

/* Which train goes first, or the chef de train, the cheffe de section. */
static void train_think(Thought *thought)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (answer_allowed(thought, ACTION_MOVE + train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            convoi_answer_offer(thought, ACTION_MOVE + train,
                                convoi_roll_value(thought, &after, train));
        }
        if (answer_allowed(thought, ACTION_HOLD + train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            convoi_answer_offer(thought, ACTION_HOLD + train,
                                convoi_position_value(thought, &after) - staff_price(thought));
        }
    }
    if (answer_allowed(thought, ACTION_CHEF_DE_TRAIN)) {
        ConvoiState after = thought->state;
        after.colour = 0;
        after.symbol++;
        after.staff_used[STAFF_CHEF_DE_TRAIN] = 1;
        convoi_answer_offer(thought, ACTION_CHEF_DE_TRAIN,
                            convoi_position_value(thought, &after) - staff_price(thought));
    }
}

/* The roll as it is, or the logisticien. */
static void die_think(Thought *thought)
{
    uint8_t train = (uint8_t)(thought->state.train - 1);
    convoi_answer_offer(
        thought, ACTION_KEEP,
        walk_value(thought, &thought->state, walk_of(thought, train, thought->state.points)));
    convoi_answer_offer(thought, ACTION_LOGISTICIEN,
                        convoi_roll_value(thought, &thought->state, train) - staff_price(thought));
}

/* What a card is worth that is about to be followed. */
static int32_t card_value(const Thought *thought, uint8_t number)
{
    ConvoiState after = thought->state;
    after.card = number;
    bool brings = card_now(thought->tables, &after)->new_count > 0;
    return convoi_position_value(thought, &after) + (brings ? PRICE_NEW : 0);
}

/* This card, or with the garde-voie one of those that may come instead. */
static void card_think(Thought *thought)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (uint8_t i = 0; i < thought->tables->card_count; i++) {
        if (!thought->state.seen[i]) {
            sum += card_value(thought, (uint8_t)(CARD_BASE + i));
            count++;
        }
    }
    convoi_answer_offer(thought, ACTION_PLAY_CARD, card_value(thought, thought->state.card));
    if (count > 0) {
        convoi_answer_offer(thought, ACTION_GARDE_VOIE,
                            (int32_t)(sum / count) - staff_price(thought));
    }
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

/* A stop, or the gestionnaire. */
static void city_think(Thought *thought)
{
    const ConvoiState *state = &thought->state;
    Walk walk = walk_of(thought, (uint8_t)(state->train - 1), state->points);
    walk.entry = state->entry;
    walk.crossing = true;
    convoi_answer_offer(thought, ACTION_STOP, convoi_position_value(thought, state));
    convoi_answer_offer(thought, ACTION_GESTIONNAIRE,
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
            convoi_answer_offer(thought, base + light, walk_value(thought, state, walk));
        }
    }
    if (answer_allowed(thought, ACTION_STOP)) {
        convoi_answer_offer(thought, ACTION_STOP, convoi_position_value(thought, state));
    }
}

/* ---- Set-up ------------------------------------------------------------------------------------
 */

/* The discs of the first game lie well: only for what it leaves open are lights compared. */
static void place_light_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    uint32_t base = ACTION_LIGHTS + tables->light_count;
    for (uint8_t light = 0; light < tables->light_count; light++) {
        if (answer_allowed(thought, base + light)) {
            ConvoiState after = thought->state;
            after.green |= UINT64_C(1) << light;
            bool first_game = (tables->first_green >> light & 1) != 0;
            convoi_answer_offer(thought, base + light,
                                first_game ? INT32_MAX : convoi_trial_value(thought, &after));
        }
    }
}

/* Switches are set as in the first game. */
static void place_switch_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t junction = (uint8_t)(thought->state.junction - 1);
    uint32_t base = ACTION_LIGHTS + 2u * tables->light_count + tables->city_light_count;
    convoi_answer_offer(
        thought, base + tables->junction_action[junction] + tables->first_setting[junction], 0);
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
        convoi_actions_think(thought);
        break;
    case PHASE_LIGHT_TO:
        convoi_light_to_think(thought);
        break;
    case PHASE_PAY:
        convoi_pay_think(thought);
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
    expert->light_from = CONVOI_NONE;
    expert->light_to = 0;
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
