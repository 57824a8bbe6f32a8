/* The Convoi Express expert's walks: where a train ends up that moves by given points. */
#include "convoi_expert.h"

const uint8_t convoi_die[CONVOI_COLOURS][DIE_MAX + 1] = {
    {0, 0, 1, 2, 2, 1},
    {0, 1, 2, 2, 1, 0},
    {0, 3, 2, 1, 0, 0},
};

/* A train under way: where it stands and what lies ahead of it. */
typedef struct Branch {
    Link link;
    uint8_t points;
    uint8_t place;
    uint8_t heading;
} Branch;

enum { BRANCHES_MAX = 32 };

/* A walk in progress, with the branches that are still to be followed. */
typedef struct Walker {
    const ConvoiTables *tables;
    const ConvoiState *state;
    Walk walk;
    Outcomes *outcomes;
    uint32_t branch_count;
    Branch branch[BRANCHES_MAX];
} Walker;

static void outcome_add(Walker *walker, uint8_t place, uint8_t heading, uint8_t tokens, Fate fate)
{
    Outcomes *outcomes = walker->outcomes;
    if (outcomes->count < OUTCOMES_MAX) {
        outcomes->list[outcomes->count++] = (Outcome){place, heading, tokens, (uint8_t)fate};
    }
}

/* Every exit of `city` that may be taken becomes a branch. Returns whether there is one. */
static bool exits_add(Walker *walker, uint8_t city, uint8_t entry, uint8_t points)
{
    uint64_t exits = walker->state->green & walker->tables->city_lights[city];
    if (entry != 0) {
        exits &= ~(UINT64_C(1) << (entry - 1));
    }
    for (uint64_t left = exits; left != 0 && walker->branch_count < BRANCHES_MAX;
         left &= left - 1) {
        walker->branch[walker->branch_count++] =
            (Branch){.link = walker->tables->exit[__builtin_ctzll(left)],
                     .points = points,
                     .place = place_city(walker->tables, city)};
    }
    return exits != 0;
}

/* The train enters `city` with branch->points left. */
static void city_enter(Walker *walker, const Branch *branch, uint8_t city, uint8_t entry)
{
    const ConvoiTables *tables = walker->tables;
    uint8_t cargo = walker->state->cargo[walker->walk.train];
    uint8_t port = tables->city_port[city];
    uint8_t place = place_city(tables, city);
    if (port != CONVOI_NONE && (!tables->crossing || cargo != 0)) {
        bool taken = cargo != 0 && port_takes(tables, walker->state, port, (uint8_t)(cargo - 1));
        outcome_add(walker, place, 0, 0, taken ? FATE_DELIVERS : FATE_DEPOT);
        return;
    }
    outcome_add(walker, place, 0, 0, FATE_RESTS);
    if (branch->points > 0 && walker->walk.crossing) {
        exits_add(walker, city, (uint8_t)(entry + 1), branch->points);
    }
}

/* Another train stands on the place ahead (rules 5, 8, 11). */
static void train_meet(Walker *walker, const Branch *branch, uint8_t other, Link link)
{
    if (train_meeting(walker->state, other, link) == LOSS_HEAD_ON) {
        outcome_add(walker, 0, 0, (uint8_t)(2 * branch->points), FATE_DEPOT);
    } else {
        outcome_add(walker, branch->place, branch->heading, branch->points, FATE_RESTS);
    }
}

/* Follows the branch for one point. Returns whether it goes on. */
static bool branch_advance(Walker *walker, Branch *branch)
{
    const ConvoiTables *tables = walker->tables;
    Link link = branch->link;
    Loss why = LOSS_RED_LIGHT;
    if (!link_follow(tables, walker->state, &link, &why)) {
        outcome_add(walker, branch->place, branch->heading, branch->points, FATE_RESTS);
        return false;
    }
    uint8_t place = link_place(tables, link);
    uint8_t other = train_at(walker->state, place, walker->walk.train);
    if (other != CONVOI_NONE) {
        train_meet(walker, branch, other, link);
        return false;
    }
    branch->points--;
    if (link.kind == LINK_CITY) {
        city_enter(walker, branch, link.index, link.light);
        return false;
    }
    if (link.kind == LINK_START) {
        outcome_add(walker, 0, 0, 2, FATE_DEPOT);
        return false;
    }
    branch->place = place;
    branch->heading = link.side;
    branch->link = tables->ahead[2 * place + link.side];
    if (branch->points == 0) {
        outcome_add(walker, place, link.side, 0, FATE_RESTS);
    }
    return branch->points > 0;
}

static void walk_begin(Walker *walker)
{
    const ConvoiTables *tables = walker->tables;
    Walk walk = walker->walk;
    uint8_t place = (uint8_t)(walker->state->place[walk.train] - 1);
    uint8_t heading = walker->state->heading[walk.train];
    uint8_t city = city_at(tables, place);
    Branch first = {.points = walk.points, .place = place, .heading = heading};
    if (walk.exit != CONVOI_NONE) {
        first.link = tables->exit[walk.exit];
    } else if (city != CONVOI_NONE) {
        exits_add(walker, city, walk.entry, walk.points);
        return;
    } else if (place < tables->space_count) {
        first.link = tables->ahead[2 * place + heading];
    } else {
        first.link = tables->departure[place - place_start(tables, 0)];
    }
    walker->branch[walker->branch_count++] = first;
}

void convoi_walk(const ConvoiTables *tables, const ConvoiState *state, Walk walk,
                 Outcomes *outcomes)
{
    Walker walker;
    walker.tables = tables;
    walker.state = state;
    walker.walk = walk;
    walker.outcomes = outcomes;
    walker.branch_count = 0;
    outcomes->count = 0;
    walk_begin(&walker);
    while (walker.branch_count > 0) {
        Branch branch = walker.branch[--walker.branch_count];
        while (branch_advance(&walker, &branch)) {
        }
    }
    if (outcomes->count == 0) {
        uint8_t place = (uint8_t)(state->place[walk.train] - 1);
        outcome_add(&walker, place, state->heading[walk.train], walk.points, FATE_RESTS);
    }
}

/* The clock as the rules have it; a game that is lost by it has neither clock nor pile. */
static void clock_charge(const ConvoiTables *tables, ConvoiState *state, uint8_t tokens)
{
    int clock = state->clock - tokens;
    while (clock <= 0 && state->pile > 0) {
        clock += tables->clock;
        state->pile--;
    }
    state->clock = (uint8_t)(clock > 0 ? clock : 0);
}

void convoi_outcome_apply(const ConvoiTables *tables, ConvoiState *state, uint8_t train,
                          Outcome outcome)
{
    uint8_t cargo = state->cargo[train];
    if (outcome.fate == FATE_RESTS) {
        state->place[train] = (uint8_t)(outcome.place + 1);
        state->heading[train] = outcome.heading;
    } else {
        if (outcome.fate == FATE_DELIVERS) {
            uint8_t port = tables->city_port[city_at(tables, outcome.place)];
            state->delivered[port][cargo - 1]++;
            state->goods_delivered++;
        } else if (cargo != 0) {
            state->goods[tables->goods_city[cargo - 1]]++;
        }
        state->place[train] = 0;
        state->heading[train] = 0;
        state->cargo[train] = 0;
    }
    clock_charge(tables, state, outcome.tokens);
}
