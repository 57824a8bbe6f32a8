/* The rule-based experts of the two ticket games.
 *
 * They plan a network: the shortest open ways for their tickets, one after the other, the dearest
 * ticket first. They take planned routes as soon as they can pay them, and otherwise draw the cards
 * that the plan lacks. Without open tickets they take more tickets while wagons are plentiful, and
 * then the routes that score most. */
#include "agent.h"
#include "core/bytes.h"
#include "games/tickets/state.h"

#include <string.h>

/* What was found to play well. */
enum {
    COST_FAR = 10000,
    COST_SPACE = 10,      /* of a space of a route */
    COST_SPECIAL = 4,     /* of a tunnel, and of each symbol of a ferry */
    WAGONS_FOR_MORE = 16, /* wagons left with which more tickets are drawn */
    VALUE_POINT = 22,     /* of a ticket's point, in units of cost: it counts for or against */
    VALUE_TICKET = 10,    /* of any completed ticket */
    RISK_WAGONS = 8,      /* wagons that a choice of tickets leaves unplanned */
};

typedef struct ExpertMemory {
    const TicketsTables *tables;
    const uint16_t *at;    /* where blocks begin in the row */
    const uint16_t *first; /* the first action of each form */
    uint8_t degree[TICKETS_CITIES_MAX];
    uint8_t routes_at[TICKETS_CITIES_MAX][TICKETS_ROUTES_MAX];
} ExpertMemory;

/* What the expert makes of its view. */
typedef struct Thought {
    const ExpertMemory *memory;
    const TicketsTables *tables;
    const TyView *view;
    uint16_t cost[TICKETS_ROUTES_MAX]; /* of having the route; 0 if owned or planned */
    uint8_t planned[TICKETS_ROUTES_MAX];
    uint32_t spaces; /* of planned routes */
} Thought;

static void expert_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)agent;
    (void)seat;
    (void)seed;
    ExpertMemory *expert = memory;
    const TicketsTables *tables = tickets_tables(ruleset);
    expert->tables = tables;
    expert->at = ruleset->block_at;
    expert->first = ruleset->action_first;
    for (uint8_t i = 0; i < tables->route_count; i++) {
        for (uint32_t end = 0; end < 2; end++) {
            uint8_t city = tables->route[i].city[end];
            expert->routes_at[city][expert->degree[city]++] = i;
        }
    }
}

/* ---- Routes ---------------------------------------------------------------------------------- */

static bool route_open(const Thought *thought, uint32_t route)
{
    const uint8_t *owner = thought->view->row + thought->memory->at[BLOCK_OWNER];
    uint8_t twin = thought->tables->route[route].twin;
    if (owner[route] != 0) {
        return false;
    }
    bool twin_closes =
        thought->tables->player_count == 2 ? true : twin != TICKETS_NONE && owner[twin] == 1;
    return twin == TICKETS_NONE || owner[twin] == 0 || !twin_closes;
}

static uint16_t route_cost(const Thought *thought, uint32_t index)
{
    const Route *route = &thought->tables->route[index];
    if (thought->view->row[thought->memory->at[BLOCK_OWNER] + index] == 1) {
        return 0;
    }
    if (!route_open(thought, index)) {
        return COST_FAR;
    }
    uint32_t special =
        route->kind == ROUTE_TUNNEL ? 1u : (uint32_t)(route->length - route->matched);
    return (uint16_t)(route->length * COST_SPACE + special * COST_SPECIAL);
}

static Thought thought_begin(const ExpertMemory *memory, const TyView *view)
{
    Thought thought = {.memory = memory, .tables = memory->tables, .view = view};
    for (uint32_t i = 0; i < memory->tables->route_count; i++) {
        thought.cost[i] = route_cost(&thought, i);
    }
    return thought;
}

/* A search for the cheapest way: what each city costs and by which route it is reached. */
typedef struct Search {
    uint16_t cost[TICKETS_CITIES_MAX];
    uint8_t by[TICKETS_CITIES_MAX];
    uint64_t done;
} Search;

/* The cheapest city that is not done; TICKETS_NONE if none can be reached. */
static uint8_t search_next(const Search *search, uint32_t city_count)
{
    uint8_t next = TICKETS_NONE;
    uint16_t least = COST_FAR;
    for (uint8_t city = 0; city < city_count; city++) {
        if ((search->done >> city & 1) == 0 && search->cost[city] < least) {
            least = search->cost[city];
            next = city;
        }
    }
    return next;
}

static void search_expand(const Thought *thought, Search *search, uint8_t city)
{
    const ExpertMemory *memory = thought->memory;
    search->done |= UINT64_C(1) << city;
    for (uint32_t i = 0; i < memory->degree[city]; i++) {
        uint8_t index = memory->routes_at[city][i];
        const uint8_t *ends = thought->tables->route[index].city;
        uint8_t other = ends[0] == city ? ends[1] : ends[0];
        uint32_t cost = (uint32_t)search->cost[city] + thought->cost[index];
        if (cost < search->cost[other]) {
            search->cost[other] = (uint16_t)cost;
            search->by[other] = index;
        }
    }
}

/* The cost of linking the two cities, COST_FAR if they cannot be. */
static uint16_t search_run(const Thought *thought, const uint8_t city[2], Search *search)
{
    search->done = 0;
    for (uint32_t i = 0; i < thought->tables->city_count; i++) {
        search->cost[i] = COST_FAR;
    }
    search->cost[city[0]] = 0;
    uint8_t at = city[0];
    while (at != TICKETS_NONE && at != city[1]) {
        search_expand(thought, search, at);
        at = search_next(search, thought->tables->city_count);
    }
    return search->cost[city[1]];
}

/* Plans the way that the search found. */
static void plan_way(Thought *thought, const uint8_t city[2], const Search *search)
{
    uint8_t at = city[1];
    while (at != city[0]) {
        uint8_t index = search->by[at];
        const Route *route = &thought->tables->route[index];
        if (thought->cost[index] != 0) {
            thought->planned[index] = 1;
            thought->spaces += route->length;
            thought->cost[index] = 0;
        }
        at = route->city[0] == at ? route->city[1] : route->city[0];
    }
}

/* Spaces that the way would add to the plan. */
static uint32_t way_spaces(const Thought *thought, const uint8_t city[2], const Search *search)
{
    uint32_t spaces = 0;
    for (uint8_t at = city[1]; at != city[0];) {
        const Route *route = &thought->tables->route[search->by[at]];
        spaces += thought->cost[search->by[at]] != 0 ? route->length : 0;
        at = route->city[0] == at ? route->city[1] : route->city[0];
    }
    return spaces;
}

/* Plans a link of two cities if it is possible with `wagons`; returns its cost or COST_FAR. */
static uint16_t plan_link(Thought *thought, const uint8_t city[2], uint32_t wagons)
{
    Search search;
    uint16_t cost = search_run(thought, city, &search);
    if (cost == COST_FAR || thought->spaces + way_spaces(thought, city, &search) > wagons) {
        return COST_FAR;
    }
    plan_way(thought, city, &search);
    return cost;
}

/* ---- Tickets --------------------------------------------------------------------------------- */

static uint64_t tickets_of(const TyView *view, const ExpertMemory *memory, uint8_t value)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < memory->tables->ticket_count; i++) {
        set |= (uint64_t)(view->row[memory->at[BLOCK_TICKET] + i] == value) << i;
    }
    return set;
}

/* Plans the tickets of the set, the one with most points first; returns what the plan is worth: the
 * points for and against, less the cost. */
static int32_t plan_tickets(Thought *thought, uint64_t set, uint32_t wagons)
{
    int32_t value = 0;
    while (set != 0) {
        uint32_t best = (uint32_t)__builtin_ctzll(set);
        for (uint64_t left = set; left != 0; left &= left - 1) {
            uint32_t ticket = (uint32_t)__builtin_ctzll(left);
            best = thought->tables->ticket[ticket].points > thought->tables->ticket[best].points
                       ? ticket
                       : best;
        }
        set &= ~(UINT64_C(1) << best);
        const Ticket *ticket = &thought->tables->ticket[best];
        uint16_t cost = plan_link(thought, ticket->city, wagons);
        if (cost == COST_FAR) {
            value -= ticket->points * VALUE_POINT;
        } else {
            value += ticket->points * VALUE_POINT + VALUE_TICKET - cost;
        }
    }
    return value;
}

/* The subset of the offered tickets, of `least` at least and with those that are chosen already,
 * that plans best beside those kept. */
static uint64_t tickets_choose(const ExpertMemory *memory, const TyView *view, uint32_t least)
{
    uint64_t offered = tickets_of(view, memory, TICKET_OFFERED);
    uint64_t chosen = tickets_of(view, memory, TICKET_CHOSEN);
    uint64_t open = tickets_of(view, memory, TICKET_OPEN);
    uint32_t wagons = view->row[memory->at[BLOCK_WAGONS]];
    wagons = wagons > RISK_WAGONS ? wagons - RISK_WAGONS : 0;
    uint64_t best = offered;
    int32_t best_value = INT32_MIN;
    uint64_t set = offered;
    do {
        if ((uint32_t)__builtin_popcountll(set | chosen) >= least) {
            Thought thought = thought_begin(memory, view);
            int32_t value = plan_tickets(&thought, open | set | chosen, wagons);
            if (value > best_value) {
                best_value = value;
                best = set;
            }
        }
        set = (set - 1) & offered;
    } while (set != offered);
    return best;
}

/* The first ticket that may be kept: another player began to choose, and more are needed. */
static uint32_t keep_any(const ExpertMemory *memory, const TyView *view)
{
    uint32_t action = memory->first[FORM_KEEP];
    while (!view->mask[action]) {
        action++;
    }
    return action;
}

static uint32_t act_keep(const ExpertMemory *memory, const TyView *view)
{
    const TicketsTables *tables = memory->tables;
    bool first = view->row[memory->at[BLOCK_PHASE]] == PHASE_KEEP_FIRST;
    uint64_t wanted = tickets_choose(memory, view, first ? tables->rules.first_keep : 1);
    for (; wanted != 0; wanted &= wanted - 1) {
        uint32_t action = memory->first[FORM_KEEP] + (uint32_t)__builtin_ctzll(wanted);
        if (view->mask[action]) {
            return action;
        }
    }
    return view->mask[FORM_KEEP_DONE] ? FORM_KEEP_DONE : keep_any(memory, view);
}

/* ---- The turn -------------------------------------------------------------------------------- */

/* The planned route that can be taken and has most spaces; 0 if there is none. */
static uint32_t claim_planned(const Thought *thought)
{
    uint32_t base = thought->memory->first[FORM_CLAIM];
    uint32_t best = 0;
    uint8_t length = 0;
    for (uint32_t i = 0; i < thought->tables->route_count; i++) {
        if (thought->planned[i] && thought->view->mask[base + i] &&
            thought->tables->route[i].length > length) {
            length = thought->tables->route[i].length;
            best = base + i;
        }
    }
    return best;
}

/* The route that scores most of those of at least `points`; 0 if there is none. */
static uint32_t claim_scoring(const Thought *thought, uint8_t points)
{
    uint32_t base = thought->memory->first[FORM_CLAIM];
    uint32_t best = 0;
    for (uint32_t i = 0; i < thought->tables->route_count; i++) {
        if (thought->view->mask[base + i] && thought->tables->route[i].points >= points) {
            points = (uint8_t)(thought->tables->route[i].points + 1);
            best = base + i;
        }
    }
    return best;
}

/* How much each type of card is wanted for the routes that are marked. */
typedef struct Wishes {
    int32_t type[TICKETS_SLOTS];
} Wishes;

/* The colour in which a gray route is cheapest for the hand. */
static uint8_t colour_for(const TicketsTables *tables, const Route *route, const uint8_t *hand)
{
    uint8_t best = 0;
    if (route->colour < tables->colour_count) {
        return route->colour;
    }
    for (uint8_t i = 1; i < tables->colour_count; i++) {
        best = hand[i] > hand[best] ? i : best;
    }
    return best;
}

/* Nearly paid routes want their cards most. */
static void wish_route(const Thought *thought, const Route *route, Wishes *wishes)
{
    const TicketsTables *tables = thought->tables;
    const uint8_t *hand = thought->view->row + thought->memory->at[BLOCK_HAND];
    uint8_t colour = colour_for(tables, route, hand);
    int32_t missing = route->matched - hand[colour];
    if (missing > 0) {
        wishes->type[colour] += 20 + 4 * route->length - 4 * missing;
    }
    int32_t symbols = route->length - route->matched;
    if (route->locomotives && (symbols > hand[tables->locomotive] || missing > 0)) {
        wishes->type[tables->locomotive] += symbols > 0 ? 40 : 12;
    }
}

static Wishes wishes_of(const Thought *thought, bool planned)
{
    Wishes wishes = {{0}};
    for (uint32_t i = 0; i < thought->tables->route_count; i++) {
        const Route *route = &thought->tables->route[i];
        bool fits = route->length <= thought->view->row[thought->memory->at[BLOCK_WAGONS]];
        bool wanted = planned ? thought->planned[i] != 0
                              : thought->cost[i] != 0 && thought->cost[i] < COST_FAR &&
                                    route->length >= 4 && route->set == 0;
        if (wanted && fits) {
            wish_route(thought, route, &wishes);
        }
    }
    return wishes;
}

/* The face-up card that is wanted most, or an unseen one; 0 if no card can be drawn. */
static uint32_t draw_wished(const Thought *thought, const Wishes *wishes)
{
    const uint8_t *mask = thought->view->mask;
    uint32_t best = mask[FORM_BLIND] ? FORM_BLIND : 0;
    int32_t value = best != 0 ? 15 : -1;
    for (uint32_t i = 0; i < thought->tables->type_count; i++) {
        if (mask[FORM_TAKE + i] && wishes->type[i] > value) {
            value = wishes->type[i];
            best = FORM_TAKE + i;
        }
    }
    return best;
}

/* A locomotive from the stack is worth two cards if no face-up card is wanted and it completes the
 * payment of a planned route. */
static bool stack_wished(const Thought *thought)
{
    uint8_t hand[TICKETS_SLOTS] = {0};
    if (!thought->view->mask[FORM_LOCOMOTIVE]) {
        return false;
    }
    memcpy(hand, thought->view->row + thought->memory->at[BLOCK_HAND], thought->tables->type_count);
    hand[thought->tables->locomotive]++;
    RouteSet payable = tickets_payable(thought->tables, hand);
    for (uint32_t i = 0; i < thought->tables->route_count; i++) {
        if (thought->planned[i] && thought->tables->route[i].length >= 3 &&
            routes_have(&payable, i)) {
            return true;
        }
    }
    return false;
}

/* The first action of the mask that is set. */
static uint32_t any_action(const Thought *thought)
{
    uint32_t action = 0;
    while (!thought->view->mask[action]) {
        action++;
    }
    return action;
}

/* Plans the open tickets, and the link of the bonus if wagons are left for it. */
static void plan_turn(Thought *thought)
{
    const ExpertMemory *memory = thought->memory;
    const uint8_t *row = thought->view->row;
    uint32_t wagons = row[memory->at[BLOCK_WAGONS]];
    plan_tickets(thought, tickets_of(thought->view, memory, TICKET_OPEN), wagons);
    if (thought->tables->rules.link_bonus && row[memory->at[BLOCK_BONUS_LEFT]] > 0) {
        plan_link(thought, thought->tables->bonus_city, wagons);
    }
}

static uint32_t draw_or_any(const Thought *thought, bool planned)
{
    Wishes wishes = wishes_of(thought, planned);
    uint32_t action = draw_wished(thought, &wishes);
    return action != 0 ? action : any_action(thought);
}

/* A turn with open tickets that can still be completed. */
static uint32_t act_planned(const Thought *thought)
{
    uint32_t action = claim_planned(thought);
    if (action != 0) {
        return action;
    }
    if (stack_wished(thought)) {
        return FORM_LOCOMOTIVE;
    }
    return draw_or_any(thought, true);
}

/* A turn without: more tickets while there are wagons enough, otherwise points. */
static uint32_t act_free(const Thought *thought)
{
    const uint8_t *row = thought->view->row;
    const uint16_t *at = thought->memory->at;
    uint8_t wagons = row[at[BLOCK_WAGONS]];
    if (wagons >= WAGONS_FOR_MORE && row[at[BLOCK_LAST_TURNS]] == 0 &&
        thought->view->mask[FORM_TICKETS]) {
        return FORM_TICKETS;
    }
    uint32_t action = claim_scoring(thought, wagons >= 4 ? 7 : 1);
    return action != 0 ? action : draw_or_any(thought, false);
}

static uint32_t act_turn(const ExpertMemory *memory, const TyView *view)
{
    Thought thought = thought_begin(memory, view);
    plan_turn(&thought);
    if (view->row[memory->at[BLOCK_LAST_TURNS]] > 0) {
        uint32_t action = claim_planned(&thought);
        action = action != 0 ? action : claim_scoring(&thought, 1);
        return action != 0 ? action : draw_or_any(&thought, true);
    }
    return thought.spaces > 0 ? act_planned(&thought) : act_free(&thought);
}

static uint32_t act_second_card(const ExpertMemory *memory, const TyView *view)
{
    Thought thought = thought_begin(memory, view);
    plan_turn(&thought);
    return draw_or_any(&thought, thought.spaces > 0);
}

/* ---- Payments -------------------------------------------------------------------------------- */

/* The colour of which the hand has most among those that may be paid; TICKETS_NONE if there is
 * none. */
static uint8_t pay_plenty(const ExpertMemory *memory, const TyView *view)
{
    const uint8_t *hand = view->row + memory->at[BLOCK_HAND];
    uint8_t best = TICKETS_NONE;
    for (uint8_t i = 0; i < memory->tables->colour_count; i++) {
        if (view->mask[memory->first[FORM_PAY] + i] &&
            (best == TICKETS_NONE || hand[i] > hand[best])) {
            best = i;
        }
    }
    return best;
}

/* As few cards as possible, and no locomotive that a card of the colour can spare. */
static uint32_t act_pay(const ExpertMemory *memory, const TyView *view)
{
    const TicketsTables *tables = memory->tables;
    const uint8_t *laid = view->row + memory->at[BLOCK_LAID];
    const Route *route = &tables->route[view->row[memory->at[BLOCK_ROUTE]] - 1];
    uint32_t pay = memory->first[FORM_PAY];
    if (view->mask[FORM_PAY_DONE]) {
        return FORM_PAY_DONE;
    }
    uint8_t best = pay_plenty(memory, view);
    uint8_t colour = route->colour < tables->colour_count ? route->colour : best;
    if (colour != TICKETS_NONE && view->mask[pay + colour] && laid[colour] < route->matched) {
        return pay + colour;
    }
    if (view->mask[pay + tables->locomotive]) {
        return pay + tables->locomotive;
    }
    return pay + best;
}

static uint32_t act_tunnel(const ExpertMemory *memory, const TyView *view)
{
    uint8_t colour = pay_plenty(memory, view);
    if (colour != TICKETS_NONE) {
        return memory->first[FORM_PAY] + colour;
    }
    uint32_t locomotive = memory->first[FORM_PAY] + memory->tables->locomotive;
    return view->mask[locomotive] ? locomotive : FORM_WITHDRAW;
}

static uint32_t expert_act(void *memory, const TyView *view)
{
    const ExpertMemory *expert = memory;
    switch ((Phase)view->row[expert->at[BLOCK_PHASE]]) {
    case PHASE_KEEP_FIRST:
    case PHASE_KEEP:
        return act_keep(expert, view);
    case PHASE_TURN:
        return act_turn(expert, view);
    case PHASE_DRAW:
        return act_second_card(expert, view);
    case PHASE_PAY:
        return act_pay(expert, view);
    case PHASE_TUNNEL:
        return act_tunnel(expert, view);
    case PHASE_OVER:
        break;
    }
    return FORM_WAIT;
}

#define EXPERT_FUNCTIONS                                                                           \
    .name = "expert", .help = "plans ways for its tickets and draws the cards that they lack",     \
    .memory_size = sizeof(ExpertMemory), .start = expert_start, .act = expert_act

const TyAgent nordic_expert = {.game = "nordic", EXPERT_FUNCTIONS};
const TyAgent express_expert = {.game = "express", EXPERT_FUNCTIONS};
