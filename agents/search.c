/* The agent that looks ahead, in every game: it imagines positions that could be the real one,
 * tries each legal action in them, and lets the game's expert play on to the end.
 *
 * A future is met by all actions that are still in the race, so that what tells them apart is the
 * action and not its luck. It is judged by its result and, with `margin`, by how clear that was,
 * for a narrow defeat is nearer to a victory than a heavy one. Half of the actions leave after each
 * round. The last one replaces what the expert would have done only if it was better by more than
 * luck explains.
 *
 * The budget is a number of playouts, and then the choice is a function of the seed, or a time. */
#define _POSIX_C_SOURCE 200809L
#include "agent.h"
#include "core/hash.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    SEARCH_MEMORY_SIZE = TY_AGENT_MEMORY_MAX - 64, /* room for what a guide remembers */
    SEARCH_SPREAD = 2,  /* standard errors by which an action must be ahead */
    SEARCH_MARGIN = 64, /* what a clear result counts at most besides, as much as a reward of 1 */
    SEARCH_FUTURES = 2, /* of a round, at least */
};

/* The guide plays in imagined episodes. It follows the real one too, so that it remembers there
 * what it would remember if it played itself. */
typedef struct Search {
    uint64_t seed;
    uint64_t futures; /* imagined so far */
    uint64_t memory[SEARCH_MEMORY_SIZE / sizeof(uint64_t)];
} Search;

/* An action in the race, and how it did beside the guide's own choice in the same futures. */
typedef struct Racer {
    uint32_t action;
    uint32_t futures; /* that it met */
    int64_t gained;   /* sum of what it gained there */
    int64_t ahead;    /* sum of the differences */
    int64_t squares;  /* sum of their squares */
} Racer;

/* A future: where it begins, and what everybody remembers there. */
typedef struct Future {
    uint64_t state[TY_STATE_MAX / sizeof(uint64_t)];
    TyLineup lineup;
    uint64_t memory[TY_LINEUP_MEMORY_MAX / sizeof(uint64_t)];
} Future;

static const TyAgent *guide_of(const TyRuleset *ruleset)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *expert = ty_agent_find(game, "expert");
    return expert != NULL && expert->memory_size <= SEARCH_MEMORY_SIZE
               ? expert
               : ty_agent_find(game, "random");
}

static void search_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    Search *search = memory;
    const TyAgent *guide = guide_of(ruleset);
    (void)agent;
    search->seed = seed;
    ty_agent_start(guide, search->memory, ruleset, seat, seed);
}

/* ---- One imagined episode ---- */

static void future_seat(Future *future, const TyRuleset *ruleset)
{
    const TyAgent *guide = guide_of(ruleset);
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->players; seat++) {
        agents[seat] = guide;
    }
    ty_lineup_init(&future->lineup, ruleset, agents, future->memory);
}

static void future_imagine(Future *future, const TyView *view, uint64_t key)
{
    ty_plan(view->planner, key, future->state);
    future_seat(future, view->ruleset);
    for (uint32_t seat = 0; seat < ty_shape(view->ruleset)->seats; seat++) {
        ty_agent_start(future->lineup.agent[seat], future->lineup.memory[seat], view->ruleset, seat,
                       hash_mix(key + seat + 1));
    }
}

/* What `seat` has: in a game against others, how far it is ahead of the best of them. */
static int32_t lead(const TyShape *shape, const int32_t *of_seats, uint32_t seat)
{
    int32_t best = shape->cooperative ? 0 : INT32_MIN;
    for (uint32_t other = 0; !shape->cooperative && other < shape->players; other++) {
        if (other != seat && of_seats[other] > best) {
            best = of_seats[other];
        }
    }
    return of_seats[seat] - best;
}

/* The metric by which results differ: the goods of a team, or a score of each seat. False if the
 * game has none. */
static bool score_find(const TyShape *shape, uint32_t seat, uint32_t *metric)
{
    static const char *const names[] = {"goods", "total_%u", "seated_%u"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[TY_NAME_MAX];
        snprintf(name, sizeof name, names[i], seat);
        for (*metric = 0; *metric < shape->metric_count; (*metric)++) {
            if (strcmp(shape->metrics[*metric], name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* How clear the result is, from -SEARCH_MARGIN to SEARCH_MARGIN: a lead by a quarter is clear. */
static int32_t margin(const TyRuleset *ruleset, const void *state, uint32_t seat)
{
    const TyShape *shape = ty_shape(ruleset);
    int32_t metrics[TY_METRICS_MAX];
    int32_t scores[TY_SEATS_MAX] = {0};
    int32_t most = 0;
    ty_metrics(ruleset, state, metrics);
    for (uint32_t player = 0; player < shape->players; player++) {
        uint32_t metric = 0;
        if (!score_find(shape, player, &metric)) {
            return 0;
        }
        scores[player] = metrics[metric];
        most = scores[player] > most ? scores[player] : most;
    }
    if (shape->cooperative) {
        return scores[seat] * SEARCH_MARGIN / 8;
    }
    int32_t clear = lead(shape, scores, seat) * SEARCH_MARGIN * 4 / (most + 4);
    return clear > SEARCH_MARGIN ? SEARCH_MARGIN : clear < -SEARCH_MARGIN ? -SEARCH_MARGIN : clear;
}

/* What a future brought. */
typedef struct Result {
    int32_t gained; /* rewards */
    int32_t worth;  /* and how clear they are */
} Result;

/* Plays the future to its end, beginning with `action`. `own` is what the guide of the seat
 * remembers. */
static Result future_play(const Future *future, const TyView *view, uint32_t action,
                          const uint64_t *own)
{
    const TyShape *shape = ty_shape(view->ruleset);
    Future now;
    int32_t reward[TY_SEATS_MAX] = {0};
    memcpy(now.state, future->state, shape->state_size);
    future_seat(&now, view->ruleset);
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        memcpy(now.lineup.memory[seat], seat == view->seat ? own : future->lineup.memory[seat],
               now.lineup.agent[seat]->memory_size);
    }
    bool accepted = ty_step(view->ruleset, now.state, action, reward, NULL);
    assert(accepted);
    (void)accepted;
    while (!ty_head(now.state)->over) {
        ty_lineup_step(&now.lineup, now.state, reward);
    }
    int32_t gained = lead(shape, reward, view->seat);
    bool clear = ty_agent_setting(view->agent, "margin") != 0;
    return (Result){gained, gained + (clear ? margin(view->ruleset, now.state, view->seat) : 0)};
}

/* ---- The race ---- */

/* The guide's choice, against which the others race. */
typedef struct Standard {
    uint32_t action;
    uint32_t futures; /* as those of a racer */
    int64_t gained;
    uint64_t before[SEARCH_MEMORY_SIZE / sizeof(uint64_t)]; /* what it remembered before it chose */
} Standard;

static bool unwanted(const TyView *view)
{
    return view->stop != NULL && view->stop->asked(view->stop->user);
}

static uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How much a decision may cost. */
typedef struct Budget {
    uint32_t playouts; /* if there is no time */
    uint64_t ns;       /* 0: playouts are counted */
    uint64_t began_ns;
    uint32_t rounds;
} Budget;

static Budget budget_begin(const TyAgent *agent, uint32_t actions)
{
    uint64_t ms = (uint64_t)ty_agent_setting(agent, "ms");
    Budget budget = {.playouts = (uint32_t)ty_agent_setting(agent, "playouts"),
                     .ns = ms * 1000000,
                     .began_ns = ms > 0 ? clock_now_ns() : 0,
                     .rounds = 1};
    while (actions >> budget.rounds > 0) {
        budget.rounds++;
    }
    return budget;
}

/* Whether a round in which `count` actions race against the standard goes on behind `futures`. */
static bool budget_left(const Budget *budget, uint32_t round, uint32_t count, uint32_t futures)
{
    if (futures < SEARCH_FUTURES) {
        return true;
    }
    if (budget->ns == 0) {
        return futures < budget->playouts / budget->rounds / (count + 1) + SEARCH_FUTURES;
    }
    return clock_now_ns() - budget->began_ns < budget->ns / budget->rounds * (round + 1);
}

/* All racers meet one more future. */
static void race_run(Search *search, const TyView *view, Standard *standard, Racer *racers,
                     uint32_t count)
{
    Future future;
    future_imagine(&future, view, hash_mix(search->seed + hash_mix(++search->futures)));
    Result usual = future_play(&future, view, standard->action, search->memory);
    for (uint32_t i = 0; i < count && !unwanted(view); i++) {
        Result result = future_play(&future, view, racers[i].action, standard->before);
        int64_t ahead = result.worth - usual.worth;
        racers[i].futures++;
        racers[i].gained += result.gained;
        racers[i].ahead += ahead;
        racers[i].squares += ahead * ahead;
    }
    standard->futures++;
    standard->gained += usual.gained;
}

/* The better half comes to the front, the first of equals before the others; of these, those
 * that are ahead at all stay. */
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

/* What an action earned on the average, for whoever asks. */
static void gain_tell(const TyView *view, uint32_t action, int64_t gained, uint32_t futures)
{
    float sum = (float)gained / TY_REWARD_ONE;
    ty_note(view, (TyNote){.action = action,
                           .probability = NAN,
                           .value = futures > 0 ? sum / (float)futures : NAN,
                           .visits = (float)futures});
}

static void race_tell(const TyView *view, const Standard *standard, const Racer *racers,
                      uint32_t count)
{
    gain_tell(view, standard->action, standard->gained, standard->futures);
    for (uint32_t i = 0; i < count; i++) {
        gain_tell(view, racers[i].action, racers[i].gained, racers[i].futures);
    }
}

static uint32_t search_race(Search *search, const TyView *view, Standard *standard)
{
    Racer racers[TY_ACTIONS_MAX];
    uint32_t all = race_line_up(view, standard->action, racers);
    uint32_t count = all;
    uint32_t futures = 0;
    const Budget budget = budget_begin(view->agent, count);
    for (uint32_t round = 0; round < budget.rounds && count > 0; round++) {
        for (uint32_t i = 0; budget_left(&budget, round, count, i) && !unwanted(view); i++) {
            race_run(search, view, standard, racers, count);
            futures++;
        }
        count = race_halve(racers, count);
    }
    race_tell(view, standard, racers, all);
    return count > 0 && racer_wins(&racers[0], futures) ? racers[0].action : standard->action;
}

static uint32_t search_act(void *memory, const TyView *view)
{
    Search *search = memory;
    Standard standard = {.futures = 0};
    TyView guides = *view;
    guides.agent = guide_of(view->ruleset);
    guides.notes = NULL;
    memcpy(standard.before, search->memory, guides.agent->memory_size);
    standard.action = guides.agent->act(search->memory, &guides);
    uint32_t legal = 0;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        legal += view->mask[action];
    }
    return legal > 1 ? search_race(search, view, &standard) : standard.action;
}

static const TyField search_fields[] = {
    {"playouts", TY_FIELD_INT, 64, 1, 1000000, NULL, false,
     "futures played for one decision; some more if there are many actions"},
    {"margin", TY_FIELD_FLAG, 0, 0, 1, NULL, false,
     "judge futures by how clear their result is, too"},
    {"ms", TY_FIELD_INT, 0, 0, 600000, NULL, false,
     "milliseconds for one decision instead; 0: playouts are counted"},
    {.key = NULL},
};

const TyAgent search_agent = {
    .name = "search",
    .help = "tries every action in imagined futures that the expert plays to the end",
    .plans = true,
    .memory_size = sizeof(Search),
    .start = search_start,
    .act = search_act,
    .fields = search_fields,
};
