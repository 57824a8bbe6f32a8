/* The agent that looks ahead, in every game: it imagines positions that could be the real one,
 * tries each legal action in them, and lets the game's expert play on to the end.
 *
 * A future is met by all actions that are still in the race, so that what tells them apart is the
 * action and not its luck. Half of them leave after each round. The last one replaces what the
 * expert would have done only if it was better by more than luck explains. */
#include "agent.h"
#include "core/hash.h"

#include <assert.h>
#include <string.h>

enum {
    SEARCH_EPISODES = 64, /* imagined for one decision; some more if there are many actions */
    SEARCH_MEMORY_SIZE = TY_AGENT_MEMORY_MAX - 64, /* room for what a guide remembers */
    SEARCH_SPREAD = 2, /* standard errors by which an action must be ahead */
};

extern const TyAgent chance_agent;

/* The guide plays in imagined episodes. It follows the real one too, so that it remembers there
 * what it would remember if it played itself. */
typedef struct Search {
    const TyAgent *guide;
    uint64_t seed;
    uint64_t futures; /* imagined so far */
    uint64_t memory[SEARCH_MEMORY_SIZE / sizeof(uint64_t)];
} Search;

/* An action in the race, and how it did beside the guide's own choice in the same futures. */
typedef struct Racer {
    uint32_t action;
    int64_t ahead;   /* sum of the differences */
    int64_t squares; /* sum of their squares */
} Racer;

/* What everybody remembers at the beginning of an imagined episode. */
typedef struct Minds {
    const TyAgent *agent[TY_SEATS_MAX];
    uint64_t memory[TY_SEATS_MAX][SEARCH_MEMORY_SIZE / sizeof(uint64_t)];
} Minds;

/* A future: where it begins, and with which minds. */
typedef struct Future {
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    Minds minds;
} Future;

static void search_start(void *memory, const TyRuleset *ruleset, uint32_t seat, uint64_t seed)
{
    Search *search = memory;
    const TyGame *game = ty_ruleset_game(ruleset);
    search->guide = ty_agent_find(game, "expert");
    if (search->guide == NULL) {
        search->guide = ty_agent_find(game, "random");
    }
    assert(search->guide->memory_size <= SEARCH_MEMORY_SIZE);
    search->seed = seed;
    search->futures = 0;
    search->guide->start(search->memory, ruleset, seat, seed);
}

/* ---- One imagined episode ---- */

static void future_imagine(Future *future, const Search *search, const TyView *view, uint64_t key)
{
    const TyShape *shape = ty_shape(view->ruleset);
    Minds *minds = &future->minds;
    ty_plan(view->planner, key, future->state);
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        const TyAgent *agent = seat < shape->players ? search->guide : &chance_agent;
        minds->agent[seat] = agent;
        memset(minds->memory[seat], 0, agent->memory_size);
        agent->start(minds->memory[seat], view->ruleset, seat, hash_mix(key + seat + 1));
    }
}

static uint32_t seat_choose(const TyRuleset *ruleset, const void *state, Minds *minds)
{
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t seat = (uint32_t)ty_head(state)->seat;
    ty_legal(ruleset, state, mask);
    ty_observe(ruleset, state, seat, row);
    const TyView view = {.ruleset = ruleset, .seat = seat, .row = row, .mask = mask};
    return minds->agent[seat]->act(minds->memory[seat], &view);
}

/* What `seat` gained: in a game against others, how far it is ahead of the best of them. */
static int32_t gain(const TyShape *shape, const int32_t *reward, uint32_t seat)
{
    int32_t best = shape->cooperative ? 0 : INT32_MIN;
    for (uint32_t other = 0; !shape->cooperative && other < shape->players; other++) {
        if (other != seat && reward[other] > best) {
            best = reward[other];
        }
    }
    return reward[seat] - best;
}

/* Plays the future to its end, beginning with `action`. `own` is what the guide of the seat
 * remembers. */
static int32_t future_play(const Future *future, const TyView *view, uint32_t action,
                           const uint64_t *own)
{
    const TyShape *shape = ty_shape(view->ruleset);
    Future now;
    int32_t reward[TY_SEATS_MAX] = {0};
    memcpy(now.state, future->state, shape->state_size);
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        const TyAgent *agent = future->minds.agent[seat];
        now.minds.agent[seat] = agent;
        memcpy(now.minds.memory[seat], seat == view->seat ? own : future->minds.memory[seat],
               agent->memory_size);
    }
    for (;;) {
        bool accepted = ty_step(view->ruleset, now.state, action, reward, NULL);
        assert(accepted);
        (void)accepted;
        if (ty_head(now.state)->over) {
            return gain(shape, reward, view->seat);
        }
        action = seat_choose(view->ruleset, now.state, &now.minds);
    }
}

/* ---- The race ---- */

/* The guide's choice, against which the others race. */
typedef struct Standard {
    uint32_t action;
    uint64_t before[SEARCH_MEMORY_SIZE / sizeof(uint64_t)]; /* what it remembered before it chose */
} Standard;

/* All racers meet one more future. */
static void race_run(Search *search, const TyView *view, const Standard *standard, Racer *racers,
                     uint32_t count)
{
    Future future;
    future_imagine(&future, search, view, hash_mix(search->seed + hash_mix(++search->futures)));
    int32_t usual = future_play(&future, view, standard->action, search->memory);
    for (uint32_t i = 0; i < count; i++) {
        int64_t ahead =
            future_play(&future, view, racers[i].action, standard->before) - (int64_t)usual;
        racers[i].ahead += ahead;
        racers[i].squares += ahead * ahead;
    }
}

/* The better half comes to the front, the first of equals before the others; of these, whoever is
 * ahead at all stays. */
static uint32_t race_halve(Racer *racers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        Racer racer = racers[i];
        uint32_t place = i;
        for (; place > 0 && racers[place - 1].ahead < racer.ahead; place--) {
            racers[place] = racers[place - 1];
        }
        racers[place] = racer;
    }
    count = (count + 1) / 2;
    while (count > 0 && racers[count - 1].ahead <= 0) {
        count--;
    }
    return count;
}

/* Everything legal but the standard. */
static uint32_t race_line_up(const TyView *view, uint32_t standard, Racer *racers)
{
    uint32_t count = 0;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        if (view->mask[action] && action != standard) {
            racers[count++] = (Racer){.action = action};
        }
    }
    return count;
}

/* True if the mean difference over `futures` is above zero by SEARCH_SPREAD standard errors:
 * with n, sum s and squares q, s > 0 and s^2 (n - 1) > spread^2 (n q - s^2). */
static bool racer_wins(const Racer *racer, int64_t futures)
{
    int64_t square = racer->ahead * racer->ahead;
    return racer->ahead > 0 && square * (futures - 1) > SEARCH_SPREAD * SEARCH_SPREAD *
                                                            (futures * racer->squares - square);
}

static uint32_t search_race(Search *search, const TyView *view, const Standard *standard)
{
    Racer racers[TY_ACTIONS_MAX];
    uint32_t count = race_line_up(view, standard->action, racers);
    uint32_t rounds = 1;
    uint32_t futures = 0;
    while (count >> rounds > 0) {
        rounds++;
    }
    for (uint32_t round = 0; round < rounds && count > 0; round++) {
        uint32_t share = SEARCH_EPISODES / rounds / (count + 1) + 2;
        for (uint32_t i = 0; i < share; i++) {
            race_run(search, view, standard, racers, count);
        }
        futures += share;
        count = race_halve(racers, count);
    }
    return count > 0 && racer_wins(&racers[0], futures) ? racers[0].action : standard->action;
}

static uint32_t search_act(void *memory, const TyView *view)
{
    Search *search = memory;
    Standard standard;
    memcpy(standard.before, search->memory, search->guide->memory_size);
    standard.action = search->guide->act(search->memory, view);
    uint32_t legal = 0;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        legal += view->mask[action];
    }
    return legal > 1 ? search_race(search, view, &standard) : standard.action;
}

const TyAgent search_agent = {
    .name = "search",
    .help = "tries every action in imagined futures that the expert plays to the end",
    .plans = true,
    .memory_size = sizeof(Search),
    .start = search_start,
    .act = search_act,
};
