/* The Convoi Express expert's tasks: which train fetches or brings which goods. */
#include "convoi_expert.h"

#include <stddef.h>
#include <string.h>

/* ---- Costs -------------------------------------------------------------------------------------
 */

uint16_t convoi_train_node(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    return convoi_map_node(tables, (uint8_t)(state->place[train] - 1), state->heading[train]);
}

static int32_t way_cost(const Judge *judge, uint8_t train, uint8_t city, uint16_t node)
{
    return convoi_way_cost(judge->costs, judge->map, train_colour(train), city, node);
}

/* What it costs to lose a train on its way with `goods`: another has to begin from the start. */
static int32_t loss_cost(const Judge *judge, uint8_t goods, bool loaded)
{
    return judge->usual->anew[goods] + (loaded ? LOADED : 0);
}

/* From `node` to the port in `city`. A train that cannot get there is going to derail. */
static int32_t bring_cost(const Judge *judge, const ConvoiState *state, uint8_t train, uint8_t city,
                          uint16_t node)
{
    int32_t cost = way_cost(judge, train, city, node);
    int32_t lost = loss_cost(judge, (uint8_t)(state->cargo[train] - 1), true) +
                   2 * judge->outlook->token_price;
    return cost < lost ? cost : lost;
}

/* From `node` to the city of `goods`, loading, and on to a port. */
static int32_t fetch_cost(const Judge *judge, const Judgement *judgement, uint8_t train,
                          uint8_t goods, uint16_t node)
{
    return way_cost(judge, train, judge->tables->goods_city[goods], node) + PRICE_LOAD +
           judgement->leg[train_colour(train)][goods];
}

/* What an idle train costs: under European rules it is in the way until it is gone by the port. */
static int32_t idle_cost(const Judge *judge, uint8_t train, uint16_t node)
{
    const ConvoiTables *tables = judge->tables;
    return tables->crossing
               ? 0
               : way_cost(judge, train, judge->outlook->port_city[0], node) * SURPLUS / 100;
}

int32_t convoi_train_loss(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train)
{
    uint8_t task = judgement->task[train];
    if (task == CONVOI_NONE) {
        return 0;
    }
    bool loaded = state->cargo[train] != 0;
    return loss_cost(judge,
                     loaded ? (uint8_t)(state->cargo[train] - 1) : judge->tables->city_goods[task],
                     loaded);
}

int32_t convoi_train_cost(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train, uint16_t node)
{
    uint8_t task = judgement->task[train];
    if (task == CONVOI_NONE) {
        return state->cargo[train] != 0 ? 0 : idle_cost(judge, train, node);
    }
    if (state->cargo[train] != 0) {
        return bring_cost(judge, state, train, task, node);
    }
    uint8_t goods = judge->tables->city_goods[task];
    int32_t cost = fetch_cost(judge, judgement, train, goods, node);
    int32_t lost = loss_cost(judge, goods, false) + 2 * judge->outlook->token_price;
    return cost < lost ? cost : lost;
}

/* ---- Loaded trains -----------------------------------------------------------------------------
 */

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

/* A loaded train and a port for it. */
typedef struct Delivery {
    uint8_t train;
    uint8_t port;
    int32_t cost; /* INT32_MAX: there is none */
} Delivery;

/* The cheapest of the deliveries that `train` could make. */
static Delivery delivery_of(const Judge *judge, const ConvoiState *state, const Wants *wants,
                            uint8_t train)
{
    const ConvoiTables *tables = judge->tables;
    Delivery best = {.cost = INT32_MAX};
    uint16_t node = convoi_train_node(tables, state, train);
    for (uint8_t port = 0; port < tables->port_count; port++) {
        if (wants->colour[port][state->cargo[train] - 1] > 0 || wants->extra[port] > 0) {
            int32_t cost = bring_cost(judge, state, train, judge->outlook->port_city[port], node);
            if (cost < best.cost) {
                best = (Delivery){train, port, cost};
            }
        }
    }
    return best;
}

static Delivery delivery_best(const Judge *judge, const ConvoiState *state, const Wants *wants,
                              const Judgement *judgement)
{
    Delivery best = {.cost = INT32_MAX};
    for (uint32_t left = judgement->board ^ judgement->empty; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        if (judgement->task[train] == CONVOI_NONE) {
            Delivery delivery = delivery_of(judge, state, wants, train);
            best = delivery.cost < best.cost ? delivery : best;
        }
    }
    return best;
}

/* Sends loaded trains to ports that want their goods, the cheapest pair first. Returns the cost. */
static int32_t loaded_assign(const Judge *judge, const ConvoiState *state, Wants *wants,
                             Judgement *judgement)
{
    int32_t sum = 0;
    for (;;) {
        Delivery best = delivery_best(judge, state, wants, judgement);
        if (best.cost == INT32_MAX) {
            return sum;
        }
        uint8_t *want = &wants->colour[best.port][state->cargo[best.train] - 1];
        want = *want > 0 ? want : &wants->extra[best.port];
        (*want)--;
        judgement->task[best.train] = judge->outlook->port_city[best.port];
        judgement->cost[best.train] = best.cost;
        sum += best.cost;
    }
}

/* ---- Empty trains ------------------------------------------------------------------------------
 */

/* The parts of a plan. */
enum {
    PLAN_TRAIN = 3, /* bits of a train: the goods that it fetches, plus one */
    PLAN_GIVEN = PLAN_TRAIN * CONVOI_TRAINS, /* two bits for each colour: how many are fetched */
    PLAN_COST = PLAN_GIVEN + 2 * CONVOI_GOODS,
    GIVEN_MAX = 1 << 2 * CONVOI_GOODS, /* ways to give out goods */
    GIVEN_WORDS = GIVEN_MAX / 64,
};
static const Plan plan_never = INT64_MAX / 2;

/* The parts of a rest: what it costs, how many are missing, how many are beyond what is wanted. */
enum { REST_COST = 32, REST_MISSING = 16, REST_MASK = 0xffff };

/* The mean way from the city of `goods` to the ports that still want them: mostly as it usually is,
 * for lights and switches will have changed by then. */
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
            int32_t now =
                way_cost(judge, (uint8_t)(3 * colour), judge->outlook->port_city[port], node);
            sum += slots * (usual + (now - usual) * LEG / 100);
            count += slots;
        }
    }
    return count > 0 ? sum / count : 0;
}

static bool colour_on_board(const ConvoiState *state, uint8_t colour)
{
    const uint8_t *place = &state->place[3 * colour];
    return (place[0] | place[1] | place[2]) != 0;
}

/* From the city of `goods` on, for the colours that need it and have not been measured. */
static void legs_measure(const Judge *judge, const ConvoiState *state, uint8_t goods,
                         Judgement *judgement)
{
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        uint32_t number = (uint32_t)CONVOI_GOODS * colour + goods;
        bool measured = (judgement->measured >> number & 1) != 0;
        if (!measured && (colour == 0 || colour_on_board(state, colour))) {
            judgement->leg[colour][goods] = leg_cost(judge, &judgement->wants, colour, goods);
            judgement->measured = (uint16_t)(judgement->measured | 1u << number);
        }
    }
}

static uint8_t goods_wanted(const ConvoiTables *tables, const Wants *wants, uint8_t goods)
{
    uint8_t sum = 0;
    for (uint8_t port = 0; port < tables->port_count; port++) {
        sum = (uint8_t)(sum + wants->colour[port][goods]);
    }
    return sum;
}

/* Adds a colour of which `held` may be given and `wanted` have to be, each for `cost` if none of
 * the trains on the board fetches it. */
static void stock_add(Stock *stock, uint8_t goods, uint8_t held, uint8_t wanted, int32_t cost)
{
    stock->cheapest = stock->kind_count == 0 || cost < stock->cheapest ? cost : stock->cheapest;
    stock->kinds[stock->kind_count++] = goods;
    stock->held[goods] = held;
    for (int32_t given = 0; given <= held; given++) {
        int32_t left = wanted - given;
        stock->rest[goods][given] =
            left >= 0 ? (uint64_t)(left * cost) << REST_COST | (uint64_t)left << REST_MISSING
                      : (uint64_t)-left;
    }
}

static void stock_init(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    const Wants *wants = &judgement->wants;
    Stock *stock = &judgement->stock;
    memset(stock, 0, offsetof(Stock, others));
    stock->extra = (uint8_t)(wants->extra[0] + wants->extra[1]);
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint8_t city = tables->goods_city[goods];
        uint8_t held = city != CONVOI_NONE ? state->goods[city] : 0;
        uint8_t wanted = goods_wanted(tables, wants, goods);
        uint8_t most = (uint8_t)(wanted + stock->extra);
        held = held < most ? held : most;
        if (held > 0) {
            legs_measure(judge, state, goods, judgement);
            stock_add(stock, goods, held, wanted,
                      PRICE_NEW + judge->outlook->approach[goods] + PRICE_LOAD +
                          judgement->leg[0][goods]);
        }
    }
}

/* Plans for some of the trains: the best for each way to give out goods. */
typedef struct Plans {
    uint64_t reached[GIVEN_WORDS]; /* what may be given, as bits; the others have no plan */
    Plan best[GIVEN_MAX];
} Plans;

/* What the choices of a train add to a plan: to stay idle, or the goods that it fetches. */
static void choices_find(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                         uint8_t train, Plan choices[STOCK_CHOICES])
{
    const Stock *stock = &judgement->stock;
    uint16_t node = convoi_train_node(judge->tables, state, train);
    choices[0] = (Plan)idle_cost(judge, train, node) << PLAN_COST;
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        uint8_t goods = stock->kinds[i];
        choices[1 + goods] = (Plan)fetch_cost(judge, judgement, train, goods, node) << PLAN_COST |
                             (Plan)1 << (PLAN_GIVEN + 2 * goods) |
                             (Plan)(goods + 1) << PLAN_TRAIN * train;
    }
}

/* What may be given, of a word of `old`, after one more train had its choice. */
static uint64_t plans_spread(const Plans *plans, const Stock *stock, uint32_t word)
{
    static const uint64_t room[CONVOI_GOODS - 1][4] = {
        {0, 0x1111111111111111, 0x3333333333333333, 0x7777777777777777},
        {0, 0x000f000f000f000f, 0x00ff00ff00ff00ff, 0x0fff0fff0fff0fff},
        {0, 0x000000000000ffff, 0x00000000ffffffff, 0x0000ffffffffffff},
    };
    uint64_t old = plans->reached[word];
    uint64_t more = word > 0 ? plans->reached[word - 1] : 0;
    for (uint32_t goods = 0; goods < CONVOI_GOODS - 1; goods++) {
        more |= (old & room[goods][stock->held[goods]]) << (1u << 2 * goods);
    }
    return old | more;
}

/* Lets one more train choose. What is given without it is reached from what it did not choose, so
 * the numbers are gone through from above. */
static void plans_extend(Plans *plans, const Stock *stock, const Plan choices[STOCK_CHOICES])
{
    for (uint32_t word = stock->held[CONVOI_GOODS - 1] + 1u; word-- > 0;) {
        uint64_t old = plans->reached[word];
        plans->reached[word] = plans_spread(plans, stock, word);
        for (uint64_t left = plans->reached[word]; left != 0;) {
            uint32_t bit = 63u - (uint32_t)__builtin_clzll(left);
            uint32_t given = 64 * word + bit;
            Plan best = (old >> bit & 1) != 0 ? plans->best[given] + choices[0] : plan_never;
            for (uint32_t i = 0; i < stock->kind_count; i++) {
                uint8_t goods = stock->kinds[i];
                if ((given >> 2 * goods & 3) != 0) {
                    Plan plan = plans->best[given - (1u << 2 * goods)] + choices[1 + goods];
                    best = plan < best ? plan : best;
                }
            }
            plans->best[given] = best;
            left ^= UINT64_C(1) << bit;
        }
    }
}

static uint64_t rest_of(const Stock *stock, uint32_t given)
{
    return stock->rest[0][given & 3] + stock->rest[1][given >> 2 & 3] +
           stock->rest[2][given >> 4 & 3] + stock->rest[3][given >> 6];
}

/* How many goods are missing of those that are to be extra ones. */
static int32_t rest_extra(const Stock *stock, uint64_t rest)
{
    return stock->extra - (int32_t)(rest & REST_MASK);
}

/* `plan` with what the rest costs; never, if it gives out more than is wanted. */
static Plan plan_whole(const Stock *stock, Plan plan, uint64_t rest)
{
    int32_t extra = rest_extra(stock, rest);
    int32_t cost = (int32_t)(rest >> REST_COST) + extra * stock->cheapest;
    return extra >= 0 ? plan + ((Plan)cost << PLAN_COST) : plan_never;
}

/* The best of `plans` with what it leaves to fetch, for each choice of the train that is left. */
static void others_find(const Plans *plans, const Stock *stock, Plan others[STOCK_CHOICES])
{
    for (uint32_t i = 0; i < STOCK_CHOICES; i++) {
        others[i] = plan_never;
    }
    for (uint32_t word = 0; word < GIVEN_WORDS; word++) {
        for (uint64_t left = plans->reached[word]; left != 0; left &= left - 1) {
            uint32_t given = 64 * word + (uint32_t)__builtin_ctzll(left);
            uint64_t rest = rest_of(stock, given);
            Plan plan = plan_whole(stock, plans->best[given], rest);
            others[0] = plan < others[0] ? plan : others[0];
            for (uint32_t i = 0; i < stock->kind_count; i++) {
                uint8_t goods = stock->kinds[i];
                uint32_t before = given >> 2 * goods & 3;
                if (before < stock->held[goods]) {
                    const uint64_t *rests = stock->rest[goods];
                    plan = plan_whole(stock, plans->best[given],
                                      rest - rests[before] + rests[before + 1]);
                    others[1 + goods] = plan < others[1 + goods] ? plan : others[1 + goods];
                }
            }
        }
    }
}

/* Plans for all empty trains but `train`, unless that was done before. */
static void others_plan(const Judge *judge, const ConvoiState *state, Judgement *judgement,
                        uint8_t train)
{
    Stock *stock = &judgement->stock;
    Plans plans;
    Plan choices[STOCK_CHOICES];
    if ((stock->planned >> train & 1) != 0) {
        return;
    }
    memset(plans.reached, 0, sizeof plans.reached);
    plans.reached[0] = 1; /* nothing is given */
    plans.best[0] = 0;
    for (uint32_t left = judgement->empty & ~(1u << train); left != 0; left &= left - 1) {
        choices_find(judge, state, judgement, (uint8_t)__builtin_ctz(left), choices);
        plans_extend(&plans, stock, choices);
    }
    others_find(&plans, stock, stock->others[train]);
    stock->planned = (uint16_t)(stock->planned | 1u << train);
}

/* The best plan with `train`, which is empty or not on the board. */
static Plan plan_best(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                      uint8_t train, const Plan others[STOCK_CHOICES])
{
    Plan choices[STOCK_CHOICES];
    if ((judgement->empty >> train & 1) == 0) {
        return others[0];
    }
    choices_find(judge, state, judgement, train, choices);
    Plan best = others[0] + choices[0];
    for (uint32_t i = 0; i < judgement->stock.kind_count; i++) {
        uint32_t choice = 1u + judgement->stock.kinds[i];
        Plan plan = others[choice] + choices[choice];
        best = plan < best ? plan : best;
    }
    return best;
}

/* Gives empty trains the tasks that `plan` has for them. */
static void plan_follow(const Judge *judge, const ConvoiState *state, Plan plan,
                        Judgement *judgement)
{
    const Stock *stock = &judgement->stock;
    uint64_t rest = rest_of(stock, (uint32_t)(plan >> PLAN_GIVEN) % GIVEN_MAX);
    judgement->empty_cost = (int32_t)(plan >> PLAN_COST);
    judgement->unserved =
        (uint8_t)((int32_t)(rest >> REST_MISSING & REST_MASK) + rest_extra(stock, rest));
    for (uint32_t left = judgement->empty; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        uint32_t choice = (uint32_t)(plan >> PLAN_TRAIN * train) & 7;
        if (choice != 0) {
            judgement->task[train] = judge->tables->goods_city[choice - 1];
        }
        judgement->cost[train] = convoi_train_cost(judge, state, judgement, train,
                                                   convoi_train_node(judge->tables, state, train));
    }
}

/* Gives trains (bits) the tasks that they were given before. */
static void tasks_copy(const Judgement *known, uint32_t trains, Judgement *judgement)
{
    for (uint32_t left = trains; left != 0; left &= left - 1) {
        uint32_t train = (uint32_t)__builtin_ctz(left);
        judgement->task[train] = known->task[train];
        judgement->cost[train] = known->cost[train];
    }
}

/* Gives tasks to empty trains that were judged before, all but `train`. */
static void empty_assign_one(const Judge *judge, const ConvoiState *state, uint8_t train,
                             Judgement *judgement)
{
    const Stock *stock = &judge->known->stock;
    others_plan(judge, judge->real, judge->known, train);
    memcpy(&judgement->stock, stock, offsetof(Stock, others));
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        legs_measure(judge, state, stock->kinds[i], judgement);
    }
    plan_follow(judge, state, plan_best(judge, state, judgement, train, stock->others[train]),
                judgement);
}

/* Sends empty trains to goods so that all goods together cost least. */
static void empty_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    uint8_t last = (uint8_t)(31 - __builtin_clz(judgement->empty | 1));
    stock_init(judge, state, judgement);
    others_plan(judge, state, judgement, last);
    plan_follow(judge, state,
                plan_best(judge, state, judgement, last, judgement->stock.others[last]), judgement);
}

/* The same, for a position with the same wants as one that was judged before. */
static void empty_assign_again(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const Judgement *known = judge->known;
    uint32_t moved = (judgement->empty ^ known->empty) | (judgement->empty & judgement->moved);
    memcpy(judgement->leg, known->leg, sizeof judgement->leg);
    judgement->measured = known->measured;
    if (memcmp(state->goods, judge->real->goods, sizeof state->goods) != 0 ||
        (moved & (moved - 1)) != 0) {
        empty_assign(judge, state, judgement);
    } else if (moved != 0) {
        empty_assign_one(judge, state, (uint8_t)__builtin_ctz(moved), judgement);
    } else {
        judgement->unserved = known->unserved;
        judgement->empty_cost = known->empty_cost;
        tasks_copy(known, judgement->empty, judgement);
    }
}

/* Whether the same loaded trains stand where they stood in the position that was judged before. */
static bool loaded_known(const Judge *judge, const Judgement *judgement)
{
    const Judgement *known = judge->known;
    return known != NULL && (judgement->moved & (judgement->board ^ judgement->empty)) == 0 &&
           (judgement->moved & (known->board ^ known->empty)) == 0;
}

int32_t convoi_tasks_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const Judgement *known = judge->known;
    Wants *wants = &judgement->wants;
    memset(judgement->task, CONVOI_NONE, sizeof judgement->task);
    if (loaded_known(judge, judgement)) {
        *wants = known->wants;
        judgement->loaded_cost = known->loaded_cost;
        tasks_copy(known, judgement->board ^ judgement->empty, judgement);
    } else {
        *wants = wants_count(judge->tables, state);
        judgement->loaded_cost = loaded_assign(judge, state, wants, judgement);
    }
    if (known != NULL && memcmp(wants, &known->wants, sizeof *wants) == 0) {
        empty_assign_again(judge, state, judgement);
    } else {
        empty_assign(judge, state, judgement);
    }
    return judgement->loaded_cost + judgement->empty_cost;
}
