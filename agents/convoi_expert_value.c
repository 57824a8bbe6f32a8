/* The Convoi Express expert's judgement: what is still to be done, and what lies ahead of it. */
#include "convoi_expert.h"

#include <string.h>

enum {
    COST_NO_WAY = 3000,   /* a city that cannot be reached from here */
    VALUE_OVER = 1000000, /* a game won or lost */
    STATES_MAX = 256,     /* goods left to give out: up to three in each of four cities */
    LOOK_AHEAD = 8,       /* spaces ahead in which another train is in the way */
};

/* What the ports still want that no loaded train is bringing. */
typedef struct Wants {
    uint8_t colour[CONVOI_PORTS_MAX][CONVOI_GOODS];
    uint8_t extra[CONVOI_PORTS_MAX];
} Wants;

static uint8_t train_colour(uint8_t train)
{
    return train / 3;
}

static uint16_t train_node(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    return convoi_map_node(tables, (uint8_t)(state->place[train] - 1), state->heading[train]);
}

static int32_t way_cost(const Judge *judge, uint8_t colour, uint8_t city, uint16_t node)
{
    uint16_t cost = convoi_costs_to(judge->costs, judge->map, judge->tables, colour, city)[node];
    return cost == MAP_COST_FAR ? COST_NO_WAY : cost;
}

static int32_t token_price(const Judge *judge)
{
    return PRICE_TURN / judge->tables->clock;
}

static uint8_t port_city(const ConvoiTables *tables, uint8_t port)
{
    uint8_t city = 0;
    while (tables->city_port[city] != port) {
        city++;
    }
    return city;
}

static Wants wants_count(const ConvoiTables *tables, const ConvoiState *state)
{
    Wants wants = {0};
    for (uint32_t port = 0; port < tables->port_count; port++) {
        int extra = tables->port_extra;
        for (uint32_t goods = 0; goods < CONVOI_GOODS; goods++) {
            int left = tables->port_wants - state->delivered[port][goods];
            if (tables->goods_city[goods] != CONVOI_NONE && left > 0) {
                wants.colour[port][goods] = (uint8_t)left;
            }
            extra += left < 0 ? left : 0;
        }
        wants.extra[port] = (uint8_t)(extra > 0 ? extra : 0);
    }
    return wants;
}

/* ---- Tasks -------------------------------------------------------------------------------------
 */

/* Sends loaded trains to ports that want their goods, the cheapest pair first. */
static void loaded_assign(const Judge *judge, const ConvoiState *state, Wants *wants,
                          Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    for (;;) {
        int32_t best = INT32_MAX;
        uint8_t best_train = 0;
        uint8_t best_port = 0;
        for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
            if (state->place[train] == 0 || state->cargo[train] == 0 ||
                judgement->task[train] != CONVOI_NONE) {
                continue;
            }
            for (uint8_t port = 0; port < tables->port_count; port++) {
                if (wants->colour[port][state->cargo[train] - 1] == 0 && wants->extra[port] == 0) {
                    continue;
                }
                int32_t cost = way_cost(judge, train_colour(train), port_city(tables, port),
                                        train_node(tables, state, train));
                int32_t lost =
                    judge->usual->anew[state->cargo[train] - 1] + LOADED + 2 * token_price(judge);
                cost = cost < lost ? cost : lost;
                if (cost < best) {
                    best = cost;
                    best_train = train;
                    best_port = port;
                }
            }
        }
        if (best == INT32_MAX) {
            return;
        }
        uint8_t *want = &wants->colour[best_port][state->cargo[best_train] - 1];
        want = *want > 0 ? want : &wants->extra[best_port];
        (*want)--;
        judgement->task[best_train] = port_city(tables, best_port);
        judgement->cost[best_train] = best;
    }
}

/* The mean way from the city of `goods` to the ports that still want them. */
static int32_t leg_cost(const Judge *judge, const Wants *wants, uint8_t colour, uint8_t goods)
{
    const ConvoiTables *tables = judge->tables;
    uint16_t node = convoi_map_node(tables, place_city(tables, tables->goods_city[goods]), 0);
    int32_t sum = 0;
    int32_t count = 0;
    for (uint8_t port = 0; port < tables->port_count; port++) {
        int32_t slots = wants->colour[port][goods] + (wants->extra[port] > 0);
        if (slots > 0) {
            int32_t usual = judge->usual->leg[colour][goods][port];
            int32_t now = LEG == 0 ? usual : way_cost(judge, colour, port_city(tables, port), node);
            sum += slots * (usual + (now - usual) * LEG / 100);
            count += slots;
        }
    }
    return count > 0 ? sum / count : 0;
}

/* The goods that are to be given out to empty trains, as digits of one number. */
typedef struct Stock {
    uint32_t states;
    uint32_t place[CONVOI_GOODS]; /* value of the digit of a colour */
    uint8_t held[CONVOI_GOODS];   /* its largest value */
    uint8_t wanted[CONVOI_GOODS];
    uint8_t extra;
    int32_t new_cost[CONVOI_GOODS]; /* by a train that has yet to come */
    int32_t cost[STATES_MAX];       /* cheapest way to have given out so many */
    uint8_t choice[CONVOI_TRAINS][STATES_MAX];
} Stock;

static uint32_t stock_digit(const Stock *stock, uint32_t state, uint8_t goods)
{
    return state / stock->place[goods] % (stock->held[goods] + 1u);
}

/* From a random start to the city of `goods` and on to a port, for a train yet to come. */
static int32_t new_train_cost(const Judge *judge, const ConvoiState *state, uint8_t goods,
                              int32_t leg)
{
    const ConvoiTables *tables = judge->tables;
    uint8_t weights[CONVOI_STARTS_MAX];
    uint32_t sum = convoi_start_weights(tables, state, weights);
    int32_t way = 0;
    for (uint8_t start = 0; start < tables->start_count; start++) {
        way += weights[start] * judge->usual->approach[start][goods];
    }
    return PRICE_NEW + way / (int32_t)sum + PRICE_LOAD + leg;
}

static bool colour_on_board(const ConvoiState *state, uint8_t colour)
{
    const uint8_t *place = &state->place[3 * colour];
    return (place[0] | place[1] | place[2]) != 0;
}

static void stock_init(const Judge *judge, const ConvoiState *state, const Wants *wants,
                       Judgement *judgement, Stock *stock)
{
    const ConvoiTables *tables = judge->tables;
    stock->states = 1;
    stock->extra = 0;
    for (uint8_t port = 0; port < tables->port_count; port++) {
        stock->extra = (uint8_t)(stock->extra + wants->extra[port]);
    }
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint8_t city = tables->goods_city[goods];
        uint8_t wanted = 0;
        for (uint8_t port = 0; port < tables->port_count; port++) {
            wanted = (uint8_t)(wanted + wants->colour[port][goods]);
        }
        uint8_t held = city != CONVOI_NONE ? state->goods[city] : 0;
        uint8_t most = (uint8_t)(wanted + stock->extra);
        stock->held[goods] = held < most ? held : most;
        stock->wanted[goods] = wanted;
        stock->place[goods] = stock->states;
        stock->states *= stock->held[goods] + 1u;
        if (stock->held[goods] > 0) {
            for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
                if (colour == 0 || colour_on_board(state, colour)) {
                    judgement->leg[colour][goods] = leg_cost(judge, wants, colour, goods);
                }
            }
            stock->new_cost[goods] = new_train_cost(judge, state, goods, judgement->leg[0][goods]);
        }
    }
}

/* What the goods cost that are left when `given` have been given out; INT32_MAX if too many are. */
static int32_t stock_rest_cost(const Stock *stock, uint32_t given, uint8_t *unserved)
{
    int32_t cost = 0;
    int32_t extra = stock->extra;
    int32_t cheapest = INT32_MAX;
    *unserved = 0;
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        if (stock->held[goods] == 0) {
            continue;
        }
        int32_t left = stock->wanted[goods] - (int32_t)stock_digit(stock, given, goods);
        cost += left > 0 ? left * stock->new_cost[goods] : 0;
        *unserved = (uint8_t)(*unserved + (left > 0 ? left : 0));
        extra += left < 0 ? left : 0;
        cheapest = stock->new_cost[goods] < cheapest ? stock->new_cost[goods] : cheapest;
    }
    if (extra < 0) {
        return INT32_MAX;
    }
    *unserved = (uint8_t)(*unserved + extra);
    return cheapest == INT32_MAX ? cost : cost + extra * cheapest;
}

/* What an idle train costs: under European rules it is in the way until it is gone by a port. */
static int32_t idle_cost(const Judge *judge, uint8_t train, uint16_t node)
{
    const ConvoiTables *tables = judge->tables;
    return tables->crossing
               ? 0
               : way_cost(judge, train_colour(train), port_city(tables, 0), node) * SURPLUS / 100;
}

/* From `node` to the city of `goods`, loading, and on to a port. */
static int32_t fetch_cost(const Judge *judge, const Judgement *judgement, uint8_t train,
                          uint8_t goods, uint16_t node)
{
    uint8_t colour = train_colour(train);
    return way_cost(judge, colour, judge->tables->goods_city[goods], node) + PRICE_LOAD +
           judgement->leg[colour][goods];
}

/* Lets one more train choose among the goods. */
static void stock_offer(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                        Stock *stock, uint8_t train)
{
    uint16_t node = train_node(judge->tables, state, train);
    int32_t idle = idle_cost(judge, train, node);
    int32_t fetch[CONVOI_GOODS];
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        fetch[goods] =
            stock->held[goods] == 0 ? INT32_MAX : fetch_cost(judge, judgement, train, goods, node);
    }
    for (uint32_t given = stock->states; given-- > 0;) {
        int32_t best = stock->cost[given] == INT32_MAX ? INT32_MAX : stock->cost[given] + idle;
        uint8_t choice = CONVOI_NONE;
        for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
            if (stock->held[goods] == 0 || stock_digit(stock, given, goods) == 0) {
                continue;
            }
            int32_t before = stock->cost[given - stock->place[goods]];
            if (before != INT32_MAX && before + fetch[goods] < best) {
                best = before + fetch[goods];
                choice = goods;
            }
        }
        stock->cost[given] = best;
        stock->choice[train][given] = choice;
    }
}

/* Sends empty trains to goods so that all goods together cost least. Returns that cost. */
static int32_t empty_assign(const Judge *judge, const ConvoiState *state, Stock *stock,
                            Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    for (uint32_t given = 0; given < stock->states; given++) {
        stock->cost[given] = given == 0 ? 0 : INT32_MAX;
    }
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0 && state->cargo[train] == 0) {
            stock_offer(judge, state, judgement, stock, train);
        }
    }
    int32_t best = INT32_MAX;
    uint32_t best_given = 0;
    for (uint32_t given = 0; given < stock->states; given++) {
        uint8_t unserved = 0;
        int32_t rest =
            stock->cost[given] == INT32_MAX ? INT32_MAX : stock_rest_cost(stock, given, &unserved);
        if (rest != INT32_MAX && stock->cost[given] + rest < best) {
            best = stock->cost[given] + rest;
            best_given = given;
            judgement->unserved = unserved;
        }
    }
    for (uint8_t train = CONVOI_TRAINS; train-- > 0;) {
        if (state->place[train] == 0 || state->cargo[train] != 0) {
            continue;
        }
        uint8_t goods = stock->choice[train][best_given];
        uint16_t node = train_node(tables, state, train);
        judgement->cost[train] = goods == CONVOI_NONE
                                     ? idle_cost(judge, train, node)
                                     : fetch_cost(judge, judgement, train, goods, node);
        if (goods != CONVOI_NONE) {
            judgement->task[train] = tables->goods_city[goods];
            best_given -= stock->place[goods];
        }
    }
    return best == INT32_MAX ? 0 : best;
}

/* ---- Moves to come -----------------------------------------------------------------------------
 */

/* What it costs to begin the task of a train that is lost anew. */
static int32_t replacement_cost(const Judge *judge, const ConvoiState *state,
                                const Judgement *judgement, uint8_t train)
{
    uint8_t task = judgement->task[train];
    if (task == CONVOI_NONE) {
        return 0;
    }
    return state->cargo[train] != 0 ? judge->usual->anew[state->cargo[train] - 1] + LOADED
                                    : judge->usual->anew[judge->tables->city_goods[task]];
}

/* From `node` to the end of the train's task; a train that cannot get there will be lost. */
static int32_t train_cost(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train, uint16_t node)
{
    uint8_t task = judgement->task[train];
    if (task == CONVOI_NONE) {
        return state->cargo[train] != 0 ? 0 : idle_cost(judge, train, node);
    }
    int32_t cost = state->cargo[train] != 0
                       ? way_cost(judge, train_colour(train), task, node)
                       : fetch_cost(judge, judgement, train, judge->tables->city_goods[task], node);
    int32_t lost = replacement_cost(judge, state, judgement, train) + 2 * token_price(judge);
    return cost < lost ? cost : lost;
}

static int32_t outcome_value(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, Outcome outcome)
{
    int32_t value = -outcome.tokens * token_price(judge);
    switch ((Fate)outcome.fate) {
    case FATE_RESTS:
        return value - train_cost(judge, state, judgement, train,
                                  convoi_map_node(judge->tables, outcome.place, outcome.heading));
    case FATE_DELIVERS:
        return value + DELIVERY - LOADED;
    case FATE_DEPOT:
        return value - replacement_cost(judge, state, judgement, train);
    }
    return value;
}

uint32_t convoi_outcome_best(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, const Outcomes *outcomes)
{
    uint32_t best = 0;
    int32_t best_value = INT32_MIN;
    for (uint32_t i = 0; i < outcomes->count; i++) {
        int32_t value = outcome_value(judge, state, judgement, train, outcomes->list[i]);
        if (value > best_value) {
            best_value = value;
            best = i;
        }
    }
    return best;
}

/* What a move of `train` by its die brings, on average. */
static int32_t train_gain(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train)
{
    int32_t sum = 0;
    for (uint8_t points = 1; points < 6; points++) {
        uint8_t weight = convoi_die[train_colour(train)][points];
        if (weight == 0) {
            continue;
        }
        Outcomes outcomes;
        Walk walk = {train, points, CONVOI_NONE, 0, judge->tables->crossing || state->crossing_on};
        convoi_walk(judge->tables, state, walk, &outcomes);
        uint32_t best = convoi_outcome_best(judge, state, judgement, train, &outcomes);
        sum += weight * outcome_value(judge, state, judgement, train, outcomes.list[best]);
    }
    return sum / 6 + judgement->cost[train];
}

/* The card symbols of colours that are still to come. */
typedef struct Symbols {
    int32_t gain[CONVOI_COLOURS];
    bool barred[CONVOI_COLOURS]; /* may not be named for a multicolour symbol */
} Symbols;

/* Names the best colour that may still be named. */
static int32_t symbol_multi(Symbols *symbols)
{
    uint8_t best = CONVOI_NONE;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (!symbols->barred[colour] &&
            (best == CONVOI_NONE || symbols->gain[colour] > symbols->gain[best])) {
            best = colour;
        }
    }
    if (best == CONVOI_NONE) {
        return 0;
    }
    symbols->barred[best] = true;
    return symbols->gain[best];
}

/* What the moves of `card` bring from symbol `first` on. */
static int32_t card_gain(const Card *card, uint32_t first, Symbols symbols, int32_t worst)
{
    int32_t sum = 0;
    int32_t lowest = 0;
    for (uint32_t i = 0; i < card->move_count; i++) {
        if (card->move_colour[i] != CONVOI_COLOUR_ANY) {
            symbols.barred[card->move_colour[i]] = true;
        }
    }
    for (uint32_t i = first; i < card->move_count; i++) {
        uint8_t colour = card->move_colour[i];
        int32_t gain = colour == CONVOI_COLOUR_ANY ? symbol_multi(&symbols) : symbols.gain[colour];
        lowest = gain < lowest ? gain : lowest;
        sum += gain;
    }
    return lowest < worst ? sum - lowest + worst : sum;
}

static void colours_gain(const ConvoiState *state, const Judgement *judgement, bool all,
                         int32_t gain[CONVOI_COLOURS])
{
    memset(gain, 0, CONVOI_COLOURS * sizeof *gain);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0 && (all || !state->moved[train])) {
            gain[train_colour(train)] += judgement->gain[train];
        }
    }
}

uint32_t convoi_start_weights(const ConvoiTables *tables, const ConvoiState *state,
                              uint8_t weights[CONVOI_STARTS_MAX])
{
    static const uint8_t two_dice[CONVOI_NUMBERS] = {1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
    uint32_t sum = 0;
    memset(weights, 0, CONVOI_STARTS_MAX);
    for (uint32_t pass = 0; sum == 0; pass++) {
        for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
            uint8_t weight = tables->starts != STARTS_DRAWN ? two_dice[i]
                             : pass == 0                    ? state->token_spent[i] ^ 1
                                                            : 1;
            uint8_t *slot = &weights[state->number_start[i]];
            *slot = (uint8_t)(*slot + weight);
            sum += weight;
        }
    }
    return sum;
}

/* What a new train is likely to lose because a train stands on its start. */
static int32_t start_loss(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    uint8_t weights[CONVOI_STARTS_MAX];
    int32_t sum = (int32_t)convoi_start_weights(tables, state, weights);
    int32_t taken = 0;
    for (uint8_t start = 0; start < tables->start_count; start++) {
        if (train_at(state, place_start(tables, start), CONVOI_NONE) != CONVOI_NONE) {
            taken += weights[start];
        }
    }
    int32_t lost = 2 * token_price(judge) + (judgement->unserved > 0 ? PRICE_NEW : 0);
    return lost * taken / sum;
}

/* The least that a colour's move can bring while the chef de train may hold it. */
static int32_t chef_limit(const Judge *judge, const ConvoiState *state)
{
    bool free = !judge->tables->crossing && !state->staff_used[STAFF_CHEF_DE_TRAIN];
    return free ? -PRICE_STAFF : INT32_MIN;
}

/* Within a turn the cards in hand can still avert dangers of the next card, the greatest first. */
static void dangers_avert(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const uint8_t *hand = state->hand[state->active];
    uint32_t left = judge->ending ? 0 : hand[ACT_SIGNAL] + hand[ACT_SWITCH] + hand[ACT_MOVE] / 2u;
    for (; left > 0; left--) {
        uint8_t worst = 0;
        for (uint8_t train = 1; train < CONVOI_TRAINS; train++) {
            worst = judgement->gain[train] < judgement->gain[worst] ? train : worst;
        }
        if (judgement->gain[worst] >= -PRICE_AVERT) {
            return;
        }
        judgement->gain[worst] = -PRICE_AVERT;
    }
}

/* What the next instruction card brings, over those that may come. */
static int32_t next_card_gain(const Judge *judge, const ConvoiState *state,
                              const Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    Symbols symbols = {0};
    int32_t sum = 0;
    int32_t count = 0;
    if (state->pile == 0) {
        return 0;
    }
    Judgement averted = *judgement;
    dangers_avert(judge, state, &averted);
    colours_gain(state, &averted, true, symbols.gain);
    int32_t worst = chef_limit(judge, state);
    int32_t loss = start_loss(judge, state, judgement);
    bool known = state->pile == 1 && state->bottom != 0;
    for (uint32_t i = 0; i < tables->card_count; i++) {
        if (known ? state->bottom == CARD_BASE + i : !state->seen[i]) {
            const Card *card = &tables->cards[i];
            sum += card_gain(card, 0, symbols, worst) - card->new_count * loss;
            count++;
        }
    }
    return count > 0 ? sum / count : 0;
}

/* What the card being followed still brings. */
static int32_t this_card_gain(const Judge *judge, const ConvoiState *state,
                              const Judgement *judgement)
{
    Symbols symbols = {0};
    if (state->card == CARD_NONE) {
        return 0;
    }
    const Card *card = card_now(judge->tables, state);
    bool moving = state->symbol >= card->new_count;
    uint32_t first = moving ? (uint32_t)(state->symbol - card->new_count) : 0u;
    int32_t now = 0;
    colours_gain(state, judgement, false, symbols.gain);
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        symbols.barred[colour] = moving && state->named[colour] != 0;
    }
    if (moving && state->colour != 0) {
        now = symbols.gain[state->colour - 1];
        first++;
    }
    return now + card_gain(card, first, symbols, INT32_MIN);
}

/* ---- Other trains, cards in hand ---------------------------------------------------------------
 */

/* What was met on the ways of the trains looked at so far. */
typedef struct Survey {
    uint64_t lights;
    uint8_t setting[CONVOI_JUNCTIONS_MAX]; /* closed ones that are needed, plus one */
} Survey;

/* What an obstacle on a way counts less for: because it is far off, because an earlier train needs
 * the same. */
static int32_t obstacle_relief(const ConvoiState *state, const MapEdge *edge, uint32_t spaces,
                               Survey *survey)
{
    int32_t relief = 0;
    int32_t far = (int32_t)(spaces < LOOK_AHEAD ? spaces : LOOK_AHEAD) * FAR / LOOK_AHEAD;
    if (edge->light != CONVOI_NONE && (state->green >> edge->light & 1) == 0) {
        bool shared = (survey->lights >> edge->light & 1) != 0;
        relief += PRICE_LIGHT * (shared ? SHARED : far) / 100;
        survey->lights |= UINT64_C(1) << edge->light;
    }
    if (edge->junction != CONVOI_NONE && state->setting[edge->junction] != edge->setting) {
        bool shared = survey->setting[edge->junction] == edge->setting + 1;
        relief += PRICE_SWITCH * (shared ? SHARED : far) / 100;
        survey->setting[edge->junction] = (uint8_t)(edge->setting + 1);
    }
    return relief;
}

/* What it costs that another train stands on `node`, `spaces` ahead of this one. */
static int32_t train_hindrance(const Judge *judge, const ConvoiState *state, uint8_t train,
                               uint16_t node, uint32_t spaces, bool one_line)
{
    const ConvoiTables *tables = judge->tables;
    bool space = node < 2 * tables->space_count;
    uint8_t place = (uint8_t)(space ? node / 2 : node - tables->space_count);
    uint8_t other = train_at(state, place, train);
    if (other == CONVOI_NONE || spaces > LOOK_AHEAD) {
        return 0;
    }
    bool facing = space && state->heading[other] != node % 2;
    if (facing && one_line) {
        return PRICE_DEADLOCK;
    }
    return (facing ? PRICE_HEADON : PRICE_FOLLOW) * (int32_t)(LOOK_AHEAD + 1 - spaces) / LOOK_AHEAD;
}

/* Goes along the way of a train: other trains make it dearer, far and shared obstacles cheaper. */
static int32_t way_value(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                         uint8_t train, Survey *survey)
{
    const ConvoiTables *tables = judge->tables;
    uint8_t task = judgement->task[train];
    uint16_t node = train_node(tables, state, train);
    uint16_t goal = convoi_map_node(tables, place_city(tables, task), 0);
    uint8_t colour = train_colour(train);
    int32_t value = 0;
    int32_t hindrance = 0;
    uint32_t spaces = 0;
    bool one_line = true;
    convoi_costs_to(judge->costs, judge->map, tables, colour, task);
    for (uint32_t steps = 0; node != goal && steps < MAP_NODES_MAX; steps++) {
        const MapEdge *edge = convoi_costs_step(judge->costs, judge->map, colour, task, node);
        if (edge == NULL) {
            break;
        }
        value += obstacle_relief(state, edge, spaces, survey);
        node = edge->to;
        spaces += edge->points;
        one_line = one_line && edge->junction == CONVOI_NONE;
        if (hindrance == 0 && edge->points > 0) {
            hindrance = train_hindrance(judge, state, train, node, spaces, one_line);
        }
    }
    return value - hindrance;
}

/* What a further card of a kind is worth in a later turn, by how many there are already. */
static int32_t card_price(uint32_t held)
{
    const int32_t prices[] = {CARD_1, CARD_2, CARD_3, CARD_4, CARD_5};
    return held < 5 ? prices[held] : CARD_6;
}

/* Cards kept for later: no more than are drawn anew, the best ones. */
static int32_t hand_later(const ConvoiState *state)
{
    const uint8_t *hand = state->hand[state->active];
    uint8_t used[CONVOI_KINDS] = {0};
    int32_t sum = 0;
    for (uint32_t i = 0; i < (uint32_t)KEEP_LIMIT; i++) {
        uint32_t best = CONVOI_KINDS;
        for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
            if (used[kind] < hand[kind] && (best == CONVOI_KINDS || used[kind] < used[best])) {
                best = kind;
            }
        }
        if (best == CONVOI_KINDS) {
            break;
        }
        sum += card_price(used[best]++);
    }
    return sum;
}

/* Whether the active seat will have another turn. */
static bool turn_again(const Judge *judge, const ConvoiState *state)
{
    return state->pile >= judge->tables->player_count;
}

/* What the move cards in hand could do at once, beyond what they are worth later. */
static int32_t hand_now(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    int32_t gain[CONVOI_TRAINS];
    uint32_t count = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] == 0) {
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && gain[at - 1] < judgement->gain[train]; at--) {
            gain[at] = gain[at - 1];
        }
        gain[at] = judgement->gain[train];
    }
    int32_t sum = 0;
    int32_t repeat = count > 0 ? gain[0] : 0;
    for (uint32_t i = 0; i < state->hand[state->active][ACT_MOVE]; i++) {
        int32_t best = i < count && gain[i] > repeat ? gain[i] : repeat;
        int32_t more = best * OPTION / 100 - (turn_again(judge, state) ? card_price(i) : 0);
        sum += more > 0 ? more : 0;
        repeat = repeat * OPTION_REPEAT / 100;
    }
    return sum;
}

int32_t convoi_hand_value(const Judge *judge, const ConvoiState *state)
{
    const uint8_t *hand = state->hand[state->active];
    if (turn_again(judge, state)) {
        int32_t sum = hand_later(state);
        return judge->ending ? sum : sum + (int32_t)hand_size(hand);
    }
    return judge->ending ? 0 : CARD_LAST * hand_size(hand) + CARD_LAST_MOVE * hand[ACT_MOVE];
}

/* ---- The whole ---------------------------------------------------------------------------------
 */

static int32_t trains_value(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    int32_t value = 0;
    Survey survey = {0};
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        judgement->gain[train] = 0;
        value += state->place[train] != 0 && state->cargo[train] != 0 ? LOADED : 0;
        if (state->place[train] == 0) {
            continue;
        }
        judgement->gain[train] = train_gain(judge, state, judgement, train);
        if (judgement->task[train] != CONVOI_NONE) {
            value += way_value(judge, state, judgement, train, &survey);
        }
    }
    return value;
}

void convoi_judge(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    Wants wants = wants_count(tables, state);
    Stock stock;
    int32_t left = tables->goods_wanted - state->goods_delivered;
    memset(judgement, 0, sizeof *judgement);
    memset(judgement->task, CONVOI_NONE, sizeof judgement->task);
    if (left <= 0 || state->clock == 0) {
        judgement->total = left <= 0 ? VALUE_OVER : -VALUE_OVER;
        return;
    }
    loaded_assign(judge, state, &wants, judgement);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        judgement->total -= judgement->cost[train];
    }
    stock_init(judge, state, &wants, judgement, &stock);
    judgement->total -= empty_assign(judge, state, &stock, judgement);
    judgement->total -= left * DELIVERY;
    judgement->total += PRICE_TURN * state->pile + token_price(judge) * state->clock;
    judgement->total += trains_value(judge, state, judgement);
    judgement->total += next_card_gain(judge, state, judgement) *
                        (state->card == CARD_NONE ? NEXT_NOW : NEXT_CARD) / 100;
    judgement->total += this_card_gain(judge, state, judgement);
    judgement->total += convoi_hand_value(judge, state);
    judgement->total += judge->ending ? 0 : hand_now(judge, state, judgement);
}
