/* The Convoi Express expert's walks: where a train ends up that moves by given points. */
#include "convoi_expert.h"

/* A train under way: where it stands and what lies ahead of it. */
typedef struct Branch {
    Link link;
    uint8_t used; /* points */
    uint8_t place;
    uint8_t heading;
} Branch;

enum { BRANCHES_MAX = 32 };

/* A walk in progress, with the branches that are still to be followed. It is done for all points at
 * once: with fewer of them it ends on the way. */
typedef struct Walker {
    const Judge *judge;
    const ConvoiState *state;
    const Judgement *judgement;
    Walk walk;
    Ending *endings;
    Places taken;
    Places watched;
    uint32_t branch_count;
    Branch branch[BRANCHES_MAX];
} Walker;

/* The walk may end like this with any points from `least` to `most`, and then costs `tokens` for
 * each point above `used`. The first of equals stays. */
static void ending_offer(Walker *walker, Outcome outcome, uint32_t least, uint32_t most,
                         uint32_t used, uint32_t tokens)
{
    const Judge *judge = walker->judge;
    int32_t value =
        convoi_outcome_value(judge, walker->state, walker->judgement, walker->walk.train, outcome) -
        outcome.tokens * judge->outlook->token_price;
    for (uint32_t points = least < walker->walk.least ? walker->walk.least : least; points <= most;
         points++) {
        uint32_t lost = tokens * (points - used);
        int32_t now = value - (int32_t)lost * judge->outlook->token_price;
        if (now > walker->endings[points].value) {
            walker->endings[points] = (Ending){outcome, now};
            walker->endings[points].outcome.tokens = (uint8_t)(outcome.tokens + lost);
        }
    }
}

/* Every exit of `city` that may be taken becomes a branch. Returns whether there is one. */
static bool exits_add(Walker *walker, uint8_t city, uint8_t entry, uint8_t used)
{
    const ConvoiTables *tables = walker->judge->tables;
    uint64_t exits = city_exits(tables, walker->state, city, entry);
    for (uint64_t left = exits; left != 0 && walker->branch_count < BRANCHES_MAX;
         left &= left - 1) {
        walker->branch[walker->branch_count++] = (Branch){
            .link = tables->exit[__builtin_ctzll(left)],
            .used = used,
            .place = place_city(tables, city),
        };
    }
    return exits != 0;
}

/* The train enters `city` with its last point or has some left. */
static void city_enter(Walker *walker, const Branch *branch, uint8_t city, uint8_t entry)
{
    const ConvoiTables *tables = walker->judge->tables;
    uint8_t cargo = walker->state->cargo[walker->walk.train];
    uint8_t port = tables->city_port[city];
    Outcome outcome = {.place = place_city(tables, city), .fate = FATE_RESTS};
    if (port != CONVOI_NONE && (!tables->crossing || cargo != 0)) {
        bool taken = cargo != 0 && port_takes(tables, walker->state, port, (uint8_t)(cargo - 1));
        outcome.fate = taken ? FATE_DELIVERS : FATE_DEPOT;
        ending_offer(walker, outcome, branch->used, walker->walk.most, 0, 0);
        return;
    }
    ending_offer(walker, outcome, branch->used, walker->walk.most, 0, 0);
    if (branch->used < walker->walk.most && walker->walk.crossing) {
        exits_add(walker, city, (uint8_t)(entry + 1), branch->used);
    }
}

/* The train cannot go on: what is left of its points is lost, `tokens` for each. */
static void branch_stop(Walker *walker, const Branch *branch, Outcome outcome, uint32_t tokens)
{
    ending_offer(walker, outcome, branch->used + 1u, walker->walk.most, branch->used, tokens);
}

/* Follows the branch for one point. Returns whether it goes on. */
static bool branch_advance(Walker *walker, Branch *branch)
{
    const ConvoiTables *tables = walker->judge->tables;
    const Outcome here = {branch->place, branch->heading, 0, FATE_RESTS};
    const Outcome lost = {.fate = FATE_DEPOT};
    Link link = branch->link;
    Loss why = LOSS_RED_LIGHT;
    if (!link_follow(tables, walker->state, &link, &why)) {
        branch_stop(walker, branch, here, 1);
        return false;
    }
    uint8_t place = link_place(tables, link);
    places_add(&walker->watched, place);
    uint8_t other = places_have(&walker->taken, place)
                        ? train_at(walker->state, place, walker->walk.train)
                        : CONVOI_NONE;
    if (other != CONVOI_NONE) {
        bool head_on = train_meeting(walker->state, other, link) == LOSS_HEAD_ON;
        branch_stop(walker, branch, head_on ? lost : here, head_on ? 2 : 1);
        return false;
    }
    branch->used++;
    if (link.kind == LINK_CITY) {
        city_enter(walker, branch, link.index, link.light);
        return false;
    }
    if (link.kind == LINK_START) {
        ending_offer(walker, (Outcome){.tokens = 2, .fate = FATE_DEPOT}, branch->used,
                     walker->walk.most, 0, 0);
        return false;
    }
    branch->place = place;
    branch->heading = link.side;
    branch->link = tables->ahead[2 * place + link.side];
    if (branch->used >= walker->walk.least) {
        ending_offer(walker, (Outcome){place, link.side, 0, FATE_RESTS}, branch->used, branch->used,
                     0, 0);
    }
    return branch->used < walker->walk.most;
}

static void walk_begin(Walker *walker)
{
    const ConvoiTables *tables = walker->judge->tables;
    Walk walk = walker->walk;
    uint8_t place = (uint8_t)(walker->state->place[walk.train] - 1);
    uint8_t heading = walker->state->heading[walk.train];
    uint8_t city = city_at(tables, place);
    Branch first = {.place = place, .heading = heading};
    if (walk.exit != CONVOI_NONE) {
        first.link = tables->exit[walk.exit];
    } else if (city != CONVOI_NONE) {
        if (!exits_add(walker, city, walk.entry, 0)) {
            branch_stop(walker, &first, (Outcome){place, heading, 0, FATE_RESTS}, 1);
        }
        return;
    } else {
        first.link = train_link(tables, walker->state, walk.train);
    }
    walker->branch[walker->branch_count++] = first;
}

Places convoi_walk(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                   Walk walk, Ending endings[DIE_MAX + 1])
{
    Walker walker;
    walker.judge = judge;
    walker.state = state;
    walker.judgement = judgement;
    walker.walk = walk;
    walker.endings = endings;
    walker.taken = judgement->taken;
    walker.watched = (Places){{0}};
    walker.branch_count = 0;
    for (uint32_t points = walk.least; points <= walk.most; points++) {
        endings[points].value = INT32_MIN;
    }
    walk_begin(&walker);
    while (walker.branch_count > 0) {
        Branch branch = walker.branch[--walker.branch_count];
        while (branch_advance(&walker, &branch)) {
        }
    }
    return walker.watched;
}

void convoi_outcome_apply(const TyRuleset *ruleset, ConvoiState *state, uint8_t train,
                          Outcome outcome)
{
    int32_t ignored[TY_SEATS_MAX] = {0};
    TyPlay ty = {.ruleset = ruleset, .state = state, .reward = ignored};
    Play play = play_of(&ty);
    if (outcome.fate == FATE_RESTS) {
        state->place[train] = (uint8_t)(outcome.place + 1);
        state->heading[train] = outcome.heading;
    } else {
        if (outcome.fate == FATE_DELIVERS) {
            train_unload(&play, train, city_at(play.tables, outcome.place));
        }
        train_to_depot(&play, train);
    }
    tokens_lose(&play, outcome.tokens, LOSS_HEAD_ON);
}
