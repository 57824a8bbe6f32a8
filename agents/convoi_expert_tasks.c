/* The Convoi Express expert's tasks: which train fetches or brings which goods. */
#include "convoi_expert.h"

#include <string.h>

enum {
    STOCKS_MAX = 256, /* ways to give out goods: up to three in each of four cities */
    STOCK_WORDS = STOCKS_MAX / 64,
};

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
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0 && state->cargo[train] != 0 &&
            judgement->task[train] == CONVOI_NONE) {
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

enum { STOCK_NEVER = 1 << 28 /* cost of what cannot have been given yet */ };

/* The goods that are to be given out to empty trains. How many of each colour have been given is
 * one number, with two bits for each colour. */
typedef struct Stock {
    uint8_t held[CONVOI_GOODS]; /* at most so many are given */
    uint8_t wanted[CONVOI_GOODS];
    uint8_t extra;
    uint8_t kind_count; /* of goods that can be given */
    uint8_t kinds[CONVOI_GOODS];
    int32_t new_cost[CONVOI_GOODS]; /* by a train that has yet to come */
    uint64_t fits[CONVOI_GOODS];    /* numbers, as bits of a word, with room for one more */
    uint64_t reached[STOCK_WORDS];  /* numbers that can have been given, as bits */
    int32_t cost[STOCKS_MAX];       /* least for having given so many */
    uint8_t choice[CONVOI_TRAINS][STOCKS_MAX]; /* goods of each train; CONVOI_NONE: it stays idle */
} Stock;

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

/* Whether the ways that trains use later are those of the position that was judged before. */
static bool wants_known(const Judge *judge, const Wants *wants)
{
    return judge->known != NULL && memcmp(&judge->known->wants, wants, sizeof *wants) == 0;
}

static void legs_measure(const Judge *judge, const ConvoiState *state, uint8_t goods,
                         Judgement *judgement)
{
    const Wants *wants = &judgement->wants;
    uint32_t known = wants_known(judge, wants) ? judge->known->measured : 0;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (colour == 0 || colour_on_board(state, colour)) {
            uint32_t number = (uint32_t)CONVOI_GOODS * colour + goods;
            judgement->leg[colour][goods] = (known >> number & 1) != 0
                                                ? judge->known->leg[colour][goods]
                                                : leg_cost(judge, wants, colour, goods);
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

static void stock_init(const Judge *judge, const ConvoiState *state, Judgement *judgement,
                       Stock *stock)
{
    const ConvoiTables *tables = judge->tables;
    const Wants *wants = &judgement->wants;
    static const uint64_t room[CONVOI_GOODS - 1][4] = {
        {0, 0x1111111111111111, 0x3333333333333333, 0x7777777777777777},
        {0, 0x000f000f000f000f, 0x00ff00ff00ff00ff, 0x0fff0fff0fff0fff},
        {0, 0x000000000000ffff, 0x00000000ffffffff, 0x0000ffffffffffff},
    };
    stock->extra = (uint8_t)(wants->extra[0] + wants->extra[1]);
    stock->kind_count = 0;
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint8_t city = tables->goods_city[goods];
        uint8_t held = city != CONVOI_NONE ? state->goods[city] : 0;
        uint8_t wanted = goods_wanted(tables, wants, goods);
        uint8_t most = (uint8_t)(wanted + stock->extra);
        stock->held[goods] = held < most ? held : most;
        stock->wanted[goods] = wanted;
        stock->fits[goods] = goods < CONVOI_GOODS - 1 ? room[goods][stock->held[goods]] : 0;
        if (stock->held[goods] > 0) {
            stock->kinds[stock->kind_count++] = goods;
            legs_measure(judge, state, goods, judgement);
            stock->new_cost[goods] =
                PRICE_NEW + judge->outlook->approach[goods] + PRICE_LOAD + judgement->leg[0][goods];
        }
    }
}

/* What can have been given after one more train had its choice. */
static void stock_spread(Stock *stock)
{
    for (uint32_t word = STOCK_WORDS; word-- > 0;) {
        uint64_t old = stock->reached[word];
        uint64_t more = old | (old & stock->fits[0]) << 1 | (old & stock->fits[1]) << 4 |
                        (old & stock->fits[2]) << 16;
        if (word > 0 && word <= stock->held[3]) {
            more |= stock->reached[word - 1];
        }
        stock->reached[word] = more;
    }
}

/* The best choice of a train that has a say after so many goods were given: a colour or none. The
 * numbers below still have the costs without it. */
static uint8_t stock_choose(Stock *stock, uint32_t given, int32_t idle,
                            const int32_t fetch[CONVOI_GOODS])
{
    uint8_t choice = CONVOI_NONE;
    int32_t cost = stock->cost[given] + idle;
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        uint8_t goods = stock->kinds[i];
        if ((given >> 2 * goods & 3) != 0) {
            int32_t other = stock->cost[given - (1u << 2 * goods)] + fetch[goods];
            choice = other < cost ? goods : choice;
            cost = other < cost ? other : cost;
        }
    }
    stock->cost[given] = cost;
    return choice;
}

/* Lets one more train choose among the goods. */
static void stock_offer(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                        Stock *stock, uint8_t train)
{
    uint16_t node = convoi_train_node(judge->tables, state, train);
    int32_t idle = idle_cost(judge, train, node);
    int32_t fetch[CONVOI_GOODS] = {0};
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        uint8_t goods = stock->kinds[i];
        fetch[goods] = fetch_cost(judge, judgement, train, goods, node);
    }
    stock_spread(stock);
    for (uint32_t word = STOCK_WORDS; word-- > 0;) {
        for (uint64_t left = stock->reached[word]; left != 0;) {
            uint32_t bit = 63u - (uint32_t)__builtin_clzll(left);
            uint32_t given = 64 * word + bit;
            left &= ~(UINT64_C(1) << bit);
            stock->choice[train][given] = stock_choose(stock, given, idle, fetch);
        }
    }
}

/* What is left when some goods were given, in one number, so that those of several colours can be
 * added up: what it costs, how many are missing, how many were given beyond what is wanted. */
typedef uint64_t Rest;

enum { REST_COST = 32, REST_MISSING = 16, REST_MASK = 0xffff };

/* The rest of each colour, by how many of it were given. */
typedef struct Rests {
    Rest of[CONVOI_GOODS][1 << 2];
} Rests;

static void rests_find(const Stock *stock, Rests *rests)
{
    memset(rests, 0, sizeof *rests);
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        uint8_t goods = stock->kinds[i];
        for (int32_t given = 0; given <= stock->held[goods]; given++) {
            int32_t left = stock->wanted[goods] - given;
            uint64_t cost = (uint64_t)(left * stock->new_cost[goods]);
            rests->of[goods][given] =
                left >= 0 ? cost << REST_COST | (uint64_t)left << REST_MISSING : (uint64_t)-left;
        }
    }
}

/* What an extra good costs; 0 if there is none to be had. */
static int32_t stock_cheapest(const Stock *stock)
{
    int32_t cheapest = 0;
    for (uint32_t i = 0; i < stock->kind_count; i++) {
        int32_t cost = stock->new_cost[stock->kinds[i]];
        cheapest = i == 0 || cost < cheapest ? cost : cheapest;
    }
    return cheapest;
}

/* How much to give out so that all goods together cost least. */
static uint32_t stock_best(const Stock *stock, int32_t *cost, uint8_t *unserved)
{
    Rests rests;
    int32_t cheapest = stock_cheapest(stock);
    uint32_t best = 0;
    *cost = INT32_MAX;
    rests_find(stock, &rests);
    for (uint32_t word = 0; word < STOCK_WORDS; word++) {
        for (uint64_t left = stock->reached[word]; left != 0; left &= left - 1) {
            uint32_t given = 64 * word + (uint32_t)__builtin_ctzll(left);
            Rest rest = rests.of[0][given & 3] + rests.of[1][given >> 2 & 3] +
                        rests.of[2][given >> 4 & 3] + rests.of[3][given >> 6];
            int32_t extra = stock->extra - (int32_t)(rest & REST_MASK);
            int32_t all = stock->cost[given] + (int32_t)(rest >> REST_COST) + extra * cheapest;
            if (extra >= 0 && all < *cost) {
                *cost = all;
                *unserved = (uint8_t)((int32_t)(rest >> REST_MISSING & REST_MASK) + extra);
                best = given;
            }
        }
    }
    return best;
}

/* Writes down the choices that led to `given`. */
static void stock_follow(const Judge *judge, const ConvoiState *state, const Stock *stock,
                         uint32_t given, Judgement *judgement)
{
    for (uint8_t train = CONVOI_TRAINS; train-- > 0;) {
        if (state->place[train] == 0 || state->cargo[train] != 0) {
            continue;
        }
        uint8_t goods = stock->choice[train][given];
        if (goods != CONVOI_NONE) {
            judgement->task[train] = judge->tables->goods_city[goods];
            given -= 1u << 2 * goods;
        }
        judgement->cost[train] = convoi_train_cost(judge, state, judgement, train,
                                                   convoi_train_node(judge->tables, state, train));
    }
}

static bool train_empty(const ConvoiState *state, uint8_t train)
{
    return state->place[train] != 0 && state->cargo[train] == 0;
}

/* Whether the same empty trains stand where they stood in the position that was judged before, and
 * everything else about their tasks is the same, too. */
static bool empty_known(const Judge *judge, const ConvoiState *state, const Wants *wants)
{
    const ConvoiState *real = judge->real;
    if (!wants_known(judge, wants) || memcmp(state->goods, real->goods, sizeof real->goods) != 0) {
        return false;
    }
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        bool empty = train_empty(state, train);
        if (empty != train_empty(real, train) ||
            (empty && (state->place[train] != real->place[train] ||
                       state->heading[train] != real->heading[train]))) {
            return false;
        }
    }
    return true;
}

/* Gives empty trains the tasks that they were given before. */
static void empty_copy(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const Judgement *known = judge->known;
    memcpy(judgement->leg, known->leg, sizeof judgement->leg);
    judgement->measured = known->measured;
    judgement->unserved = known->unserved;
    judgement->empty_cost = known->empty_cost;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (train_empty(state, train)) {
            judgement->task[train] = known->task[train];
            judgement->cost[train] = known->cost[train];
        }
    }
}

/* Sends empty trains to goods so that all goods together cost least. */
static void empty_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    Stock stock;
    int32_t cost = 0;
    stock_init(judge, state, judgement, &stock);
    memset(stock.reached, 0, sizeof stock.reached);
    for (uint32_t i = 0; i < 64u * (stock.held[3] + 1u); i++) {
        stock.cost[i] = STOCK_NEVER;
    }
    stock.reached[0] = 1; /* nothing was given */
    stock.cost[0] = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (train_empty(state, train)) {
            stock_offer(judge, state, judgement, &stock, train);
        }
    }
    uint32_t best = stock_best(&stock, &cost, &judgement->unserved);
    stock_follow(judge, state, &stock, best, judgement);
    judgement->empty_cost = cost == INT32_MAX ? 0 : cost;
}

int32_t convoi_tasks_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    Wants wants = wants_count(judge->tables, state);
    memset(judgement->task, CONVOI_NONE, sizeof judgement->task);
    int32_t loaded = loaded_assign(judge, state, &wants, judgement);
    judgement->wants = wants;
    if (empty_known(judge, state, &wants)) {
        empty_copy(judge, state, judgement);
    } else {
        empty_assign(judge, state, judgement);
    }
    return loaded + judgement->empty_cost;
}
