/* The rule-based expert for Convoi Express: answers each question with what it judges best. */
#include "convoi_expert.h"

#include "core/draw.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SKILL_FULL = 1000 /* thousandths */ };

/* ---- Reading the row ---------------------------------------------------------------------------
 */

static void tokens_read(const Expert *expert, const uint8_t *row, ConvoiState *state)
{
    const ConvoiTables *tables = expert->tables;
    const uint16_t *at = expert->ruleset->block_at;
    memcpy(state->number_start, tables->number_start, sizeof state->number_start);
    if (tables->starts == STARTS_SHUFFLED) {
        memcpy(state->number_start, row + at[BLOCK_NUMBER_START], sizeof state->number_start);
    }
    if (tables->starts == STARTS_DRAWN) {
        memcpy(state->token_spent, row + at[BLOCK_TOKEN_SPENT], sizeof state->token_spent);
        memcpy(state->first_token, row + at[BLOCK_FIRST_TOKEN], sizeof state->first_token);
    }
}

/* The position that a row shows. Hands that are hidden stay empty. */
static void row_read(const Expert *expert, const TyView *view, ConvoiState *state)
{
    const ConvoiTables *tables = expert->tables;
    const uint16_t *at = expert->ruleset->block_at;
    const uint8_t *row = view->row;
    memset(state, 0, sizeof *state);
    state->head.phase = row[at[BLOCK_PHASE]];
    memcpy(&state->card, row + at[BLOCK_CARD], CONVOI_PUBLIC_SIZE);
    memcpy(state->goods, row + at[BLOCK_GOODS], tables->city_count);
    memcpy(state->delivered, row + at[BLOCK_DELIVERED], (size_t)tables->port_count * CONVOI_GOODS);
    memcpy(state->setting, row + at[BLOCK_SETTING], tables->junction_count);
    memcpy(state->seen, row + at[BLOCK_SEEN], tables->card_count);
    tokens_read(expert, row, state);
    assert(tables->player_count > 0);
    for (uint32_t i = 0; i < tables->light_count; i++) {
        state->green |= (uint64_t)row[at[BLOCK_GREEN] + i] << i;
    }
    for (uint8_t i = 0; i < tables->player_count; i++) {
        memcpy(state->hand[(view->seat + i) % tables->player_count],
               row + at[BLOCK_HAND] + CONVOI_KINDS * i, CONVOI_KINDS);
    }
    for (uint8_t port = 0; port < tables->port_count; port++) {
        state->goods_delivered = (uint8_t)(state->goods_delivered + goods_of_port(state, port));
    }
    state->active = (uint8_t)((view->seat + row[at[BLOCK_TURN]]) % tables->player_count);
}

/* ---- Weighing answers --------------------------------------------------------------------------
 */

/* Questions whose answer was thought of before, or needs no look at the board. */
static bool question_is_small(const Thought *thought)
{
    uint8_t phase = thought->state.head.phase;
    return phase == PHASE_PAY || phase == PHASE_PLACE_SWITCH ||
           (phase == PHASE_LIGHT_TO && convoi_light_remembered(thought));
}

/* Tells what an answer is worth; the best, if it was weighed more than once. */
static void answer_tell(const Thought *thought, uint32_t action, int32_t value)
{
    TyNotes *notes = thought->view->notes;
    bool judged = value != INT32_MAX && !question_is_small(thought);
    float reward = judged ? convoi_value_reward(&thought->state, value) : NAN;
    for (uint32_t i = 0; i < notes->count; i++) {
        if (notes->list[i].action == action) {
            notes->list[i].value = fmaxf(notes->list[i].value, reward);
            return;
        }
    }
    ty_note(thought->view, (TyNote){action, .probability = NAN, .value = reward, .visits = NAN});
}

void convoi_answer_offer(Thought *thought, Form form, uint32_t item, int32_t value)
{
    uint32_t action = thought->expert->ruleset->action_first[form] + item;
    if (thought->view->notes != NULL && thought->view->mask[action]) {
        answer_tell(thought, action, value);
    }
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

/* A position with other lights or switches than those of the costs `base`. */
static int32_t varied_value(const Thought *thought, const ConvoiState *state, const Costs *base,
                            Costs *costs)
{
    Judgement judgement;
    Judge judge = thought->judge;
    judge.costs = costs;
    judge.known = NULL;
    convoi_costs_vary(costs, base, judge.map, judge.tables, state);
    convoi_judge(&judge, state, &judgement);
    return judgement.total;
}

int32_t convoi_trial_value(const Thought *thought, const ConvoiState *state)
{
    return varied_value(thought, state, &thought->expert->costs, &thought->trial[0]);
}

int32_t convoi_further_value(const Thought *thought, const ConvoiState *state)
{
    return varied_value(thought, state, &thought->trial[0], &thought->trial[1]);
}

/* The position after a move of `train` that ends with `outcome`. */
static int32_t outcome_value(const Thought *thought, const ConvoiState *state, uint8_t train,
                             Outcome outcome)
{
    ConvoiState after = *state;
    convoi_outcome_apply(thought->expert->ruleset, &after, train, outcome);
    return convoi_position_value(thought, &after);
}

/* The position after the best way to do `walk`, which has its points. */
static int32_t walk_value(const Thought *thought, const ConvoiState *state, Walk walk)
{
    Ending endings[DIE_MAX + 1];
    convoi_walk(&thought->judge, state, thought->judgement, walk, endings);
    return outcome_value(thought, state, walk.train, endings[walk.most].outcome);
}

static Walk walk_of(const Thought *thought, uint8_t train, uint8_t points)
{
    return (Walk){
        .train = train,
        .least = points,
        .most = points,
        .exit = CONVOI_NONE,
        .crossing = thought->tables->crossing || thought->state.crossing_on,
    };
}

int32_t convoi_roll_value(const Thought *thought, const ConvoiState *state, uint8_t train)
{
    Ending endings[DIE_MAX + 1];
    Walk walk = walk_of(thought, train, 1);
    int32_t sum = 0;
    int32_t value = 0;
    const Outcome *judged = NULL;
    walk.most = convoi_die_most(train);
    convoi_walk(&thought->judge, state, thought->judgement, walk, endings);
    for (uint8_t points = 1; points <= walk.most; points++) {
        uint8_t weight = die_weights[train_colour(train)][points];
        const Outcome *outcome = &endings[points].outcome;
        if (weight == 0) {
            continue;
        }
        if (judged == NULL || memcmp(judged, outcome, sizeof *outcome) != 0) {
            value = outcome_value(thought, state, train, *outcome);
            judged = outcome;
        }
        sum += weight * value;
    }
    return sum / 6;
}

/* The staff are worth less the fewer turns are left to use them in, and what the style makes of
 * them. */
static int32_t staff_price(const Thought *thought)
{
    static const int32_t times[] = {
        [STYLE_EVEN] = 1, [STYLE_CAUTIOUS] = 3, [STYLE_HASTY] = 0, [STYLE_HOARDING] = 1};
    int32_t turns = thought->tables->card_count - thought->tables->removed;
    int32_t price = turns > 0 ? PRICE_STAFF * thought->state.pile / turns : 0;
    return times[thought->expert->style] * price;
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

/* Weights of the starts for the train that is being placed: of one only if its token lies open and
 * the start is free. */
static void start_weights(const ConvoiTables *tables, const ConvoiState *state,
                          uint8_t weights[CONVOI_STARTS_MAX])
{
    uint8_t token = state->first_token[state->symbol];
    convoi_start_weights(tables, state, weights);
    if (token != 0) {
        uint8_t start = state->number_start[token - 1];
        if (train_at(state, place_start(tables, start), CONVOI_NONE) == CONVOI_NONE) {
            memset(weights, 0, CONVOI_STARTS_MAX);
            weights[start] = 1;
        }
    }
}

/* The mean over the free starts on which a train of the named colour may come. */
static int32_t start_value(const Thought *thought, const ConvoiState *state)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t weights[CONVOI_STARTS_MAX];
    int64_t sum = 0;
    int64_t count = 0;
    start_weights(tables, state, weights);
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
        if (answer_allowed(thought, FORM_COLOUR, colour)) {
            ConvoiState after = thought->state;
            after.colour = (uint8_t)(colour + 1);
            after.named[colour] = 1;
            convoi_answer_offer(thought, FORM_COLOUR, colour,
                                new_train ? start_value(thought, &after)
                                          : convoi_position_value(thought, &after));
        }
    }
}

/* The dice, or the agent de manoeuvre. */
static void start_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    convoi_answer_offer(thought, FORM_ROLL_START, 0, start_value(thought, &thought->state));
    for (uint8_t start = 0; start < tables->start_count; start++) {
        if (answer_allowed(thought, FORM_PLACE_AT, start)) {
            ConvoiState after = train_placed(tables, &thought->state, start);
            convoi_answer_offer(thought, FORM_PLACE_AT, start,
                                convoi_position_value(thought, &after) - staff_price(thought));
        }
    }
}

/* Which train goes first, or the chef de train, the cheffe de section. */
static void train_think(Thought *thought)
{
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (answer_allowed(thought, FORM_MOVE, train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            convoi_answer_offer(thought, FORM_MOVE, train,
                                convoi_roll_value(thought, &after, train));
        }
        if (answer_allowed(thought, FORM_HOLD, train)) {
            ConvoiState after = thought->state;
            after.moved[train] = 1;
            convoi_answer_offer(thought, FORM_HOLD, train,
                                convoi_position_value(thought, &after) - staff_price(thought));
        }
    }
    if (answer_allowed(thought, FORM_CHEF_DE_TRAIN, 0)) {
        ConvoiState after = thought->state;
        after.colour = 0;
        after.symbol++;
        after.staff_used[STAFF_CHEF_DE_TRAIN] = 1;
        convoi_answer_offer(thought, FORM_CHEF_DE_TRAIN, 0,
                            convoi_position_value(thought, &after) - staff_price(thought));
    }
}

/* The roll as it is, or the logisticien. */
static void die_think(Thought *thought)
{
    uint8_t train = (uint8_t)(thought->state.train - 1);
    convoi_answer_offer(
        thought, FORM_KEEP, 0,
        walk_value(thought, &thought->state, walk_of(thought, train, thought->state.points)));
    convoi_answer_offer(thought, FORM_LOGISTICIEN, 0,
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
    convoi_answer_offer(thought, FORM_PLAY_CARD, 0, card_value(thought, thought->state.card));
    if (count > 0) {
        convoi_answer_offer(thought, FORM_GARDE_VOIE, 0,
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
    convoi_answer_offer(thought, FORM_STOP, 0, convoi_position_value(thought, state));
    convoi_answer_offer(thought, FORM_GESTIONNAIRE, 0,
                        walk_value(thought, state, walk) - staff_price(thought));
}

static void exit_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    const ConvoiState *state = &thought->state;
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        if (answer_allowed(thought, FORM_EXIT, light)) {
            Walk walk = walk_of(thought, (uint8_t)(state->train - 1), state->points);
            walk.exit = light;
            convoi_answer_offer(thought, FORM_EXIT, light, walk_value(thought, state, walk));
        }
    }
    if (answer_allowed(thought, FORM_STOP, 0)) {
        convoi_answer_offer(thought, FORM_STOP, 0, convoi_position_value(thought, state));
    }
}

/* ---- Set-up ------------------------------------------------------------------------------------
 */

/* The discs of the first game lie well: only for what it leaves open are lights compared. */
static void place_light_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    for (uint8_t light = 0; light < tables->light_count; light++) {
        if (answer_allowed(thought, FORM_LIGHT_TO, light)) {
            ConvoiState after = thought->state;
            after.green |= UINT64_C(1) << light;
            bool first_game = (tables->first_green >> light & 1) != 0;
            convoi_answer_offer(thought, FORM_LIGHT_TO, light,
                                first_game ? INT32_MAX : convoi_trial_value(thought, &after));
        }
    }
}

/* Switches are set as in the first game. */
static void place_switch_think(Thought *thought)
{
    const ConvoiTables *tables = thought->tables;
    uint8_t junction = (uint8_t)(thought->state.junction - 1);
    convoi_answer_offer(thought, FORM_SWITCH,
                        (uint32_t)tables->setting_first[junction] + tables->first_setting[junction],
                        0);
}

/* ---- The agent ---------------------------------------------------------------------------------
 */

static void question_think(Thought *thought)
{
    switch ((Phase)thought->state.head.phase) {
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

static void expert_build(const TyRuleset *ruleset, void *tables)
{
    ExpertTables *shared = tables;
    Costs scratch;
    convoi_map_init(&shared->map, convoi_tables(ruleset));
    convoi_usual_init(&shared->usual, &scratch, &shared->map, convoi_tables(ruleset));
}

static void expert_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)seat;
    Expert *expert = memory;
    expert->style = (uint8_t)ty_agent_setting(agent, "style");
    expert->skill = (uint16_t)ty_agent_setting(agent, "skill");
    expert->seed = seed;
    expert->ruleset = ruleset;
    expert->tables = convoi_tables(ruleset);
    expert->light_from = CONVOI_NONE;
    expert->light_to = 0;
    expert->shared = ty_agent_tables(ruleset, agent);
}

/* The best answer; the first that the mask allows, if none was weighed. */
static uint32_t answer_best(const Thought *thought)
{
    uint32_t action = 0;
    if (thought->best_value > INT32_MIN) {
        return thought->best;
    }
    while (!thought->view->mask[action]) {
        action++;
    }
    return action;
}

/* Whether the expert does not follow its judgement this time. */
static bool expert_slips(Expert *expert)
{
    uint32_t counter = 0;
    if (expert->skill == SKILL_FULL) {
        return false;
    }
    expert->decisions++;
    return draw_below(expert->seed, 2 * (uint64_t)expert->decisions, &counter, SKILL_FULL) >=
           expert->skill;
}

static uint32_t expert_act(void *memory, const TyView *view)
{
    Expert *expert = memory;
    Costs trial[2];
    Judgement judgement;
    Thought thought = {
        .trial = trial,
        .judgement = &judgement,
        .expert = expert,
        .tables = expert->tables,
        .view = view,
        .judge = {.tables = expert->tables,
                  .map = &expert->shared->map,
                  .usual = &expert->shared->usual,
                  .outlook = &thought.outlook,
                  .costs = &expert->costs},
        .best_value = INT32_MIN,
    };
    if (view->mask[0]) {
        return 0; /* to wait */
    }
    if (expert_slips(expert)) {
        return ty_sample(view->mask, ty_shape(view->ruleset)->action_count, expert->seed,
                         2 * (uint64_t)expert->decisions + 1);
    }
    row_read(expert, view, &thought.state);
    if (question_is_small(&thought)) {
        question_think(&thought);
        return answer_best(&thought);
    }
    convoi_outlook_init(&thought.outlook, expert->tables, &expert->shared->usual, &thought.state);
    convoi_costs_update(&expert->costs, &expert->shared->map, expert->tables, &thought.state);
    convoi_judge(&thought.judge, &thought.state, &judgement);
    thought.judge.real = &thought.state;
    thought.judge.known = &judgement;
    question_think(&thought);
    return answer_best(&thought);
}

static const char *const styles[] = {"even", "cautious", "hasty", "hoarding", NULL};

static const TyField expert_fields[] = {
    {"style", TY_FIELD_CHOICE, STYLE_EVEN, STYLE_EVEN, STYLE_HOARDING, styles, false,
     "cautious: spares the staff; hasty: spends them; hoarding: keeps cards"},
    {"skill", TY_FIELD_FRACTION, SKILL_FULL, 0, SKILL_FULL, NULL, false,
     "how often it follows its judgement; otherwise it takes any legal action"},
    {.key = NULL},
};

const TyAgent convoi_expert = {
    .name = "expert",
    .game = "convoi",
    .help = "rules of thumb: tasks for trains, ways past lights and switches, the next card",
    .memory_size = sizeof(Expert),
    .build = expert_build,
    .tables_size = sizeof(ExpertTables),
    .start = expert_start,
    .act = expert_act,
    .fields = expert_fields,
};
