/* The agent that looks ahead, in every game: it imagines positions that could be the real one,
 * tries actions in them, and lets its guide play on, the game's expert or a network.
 *
 * All legal actions race against what the guide would do, or, if the guide tells what it thinks of
 * them, those that it expects not much less of or would take now and then itself. A future is met
 * by all actions that are still in the race, so that what tells them apart is the action and not
 * its luck. It is judged by its result, or after some turns by what a guide that can judge
 * positions expects, and, with `margin`, by how clear the result was, for a narrow defeat is nearer
 * to a victory than a heavy one. Half of the actions leave after each round. The last one replaces
 * what the guide would have done only if it was better by more than luck explains.
 *
 * The budget is a number of playouts, and then the choice is a function of the seed, or a time. */
#define _POSIX_C_SOURCE 200809L
#include "agents/search.h"
#include "core/hash.h"
#include "core/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SEARCH_WIDTH = 8,       /* actions in the race besides the standard, if the guide can tell */
    SEARCH_FUTURES = 2,     /* of a round, at least */
    SEARCH_SPREAD = 2,      /* standard errors by which an action must be ahead to be taken; */
    SEARCH_SPREAD_TOLD = 1, /* if the guide said what is worth a try */
};

/* What the guide may expect less of an action in the race than of its own choice. */
static const float SEARCH_GAP = 0.25f;
/* How likely a guide that tells probabilities takes an action in the race, at least. */
static const float SEARCH_CHANCE = 0.02f;

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

static void search_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    Search *search = memory;
    const TyAgent *guide = search_guide(agent, ruleset);
    search->seed = seed;
    ty_agent_start(guide, search->memory, ruleset, seat, seed);
}

/* ---- The race ---- */

/* The guide's choice, against which the others race. */
typedef struct Standard {
    uint32_t action;
    bool told;        /* the guide said what else is worth a try */
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
    search_imagine(&future, view, hash_mix(search->seed + hash_mix(++search->futures)));
    Result usual = search_play(&future, view, standard->action, search->memory);
    for (uint32_t i = 0; i < count && !unwanted(view); i++) {
        Result result = search_play(&future, view, racers[i].action, standard->before);
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
static uint32_t racers_legal(const TyView *view, uint32_t standard, Racer *racers)
{
    uint32_t count = 0;
    for (uint32_t action = 0; action < ty_shape(view->ruleset)->action_count; action++) {
        if (view->mask[action] && action != standard) {
            racers[count++] = (Racer){.action = action};
        }
    }
    return count;
}

/* How much an action promises, by what the guide noted: what it expects of it, or how likely it
 * would take it. */
static float note_promise(const TyNote *note)
{
    return isnan(note->probability) ? note->value : note->probability;
}

/* What an action in the race promises at least. */
static float promise_least(const TyNotes *notes)
{
    return isnan(notes->list[0].probability) ? search_opinion(notes) - SEARCH_GAP : SEARCH_CHANCE;
}

/* What the guide thought of but the standard, by what it promises. Of what it expects nothing, as
 * during the set-up of a board, everything stays. */
static uint32_t racers_noted(const TyNotes *notes, uint32_t standard, Racer *racers)
{
    float promise[TY_ACTIONS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < notes->count; i++) {
        const TyNote *note = &notes->list[i];
        if (note->action == standard) {
            continue;
        }
        uint32_t place = count++;
        for (; place > 0 && promise[place - 1] < note_promise(note); place--) {
            promise[place] = promise[place - 1];
            racers[place] = racers[place - 1];
        }
        promise[place] = note_promise(note);
        racers[place] = (Racer){.action = note->action};
    }
    float least = promise_least(notes);
    while (count > 0 &&
           (promise[count - 1] < least || (count > SEARCH_WIDTH && !isnan(promise[count - 1])))) {
        count--;
    }
    return count;
}

/* True if the mean difference is above zero by more than `spread` standard errors. */
static bool racer_wins(const Racer *racer, uint32_t spread)
{
    double count = racer->futures;
    double mean = (double)racer->ahead / count;
    double variance = ((double)racer->squares / count - mean * mean) / (count - 1);
    return mean > 0 && mean * mean > spread * spread * variance;
}

/* What an action earned on the average, for whoever asks. */
static void gain_tell(const TyView *view, uint32_t action, int64_t gained, uint32_t futures)
{
    float sum = (float)gained / SEARCH_WORTH_ONE;
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

static uint32_t search_race(Search *search, const TyView *view, Standard *standard, Racer *racers,
                            uint32_t all)
{
    uint32_t spread = standard->told ? SEARCH_SPREAD_TOLD : SEARCH_SPREAD;
    uint32_t count = all;
    const Budget budget = budget_begin(view->agent, count);
    for (uint32_t round = 0; round < budget.rounds && count > 0; round++) {
        for (uint32_t i = 0; budget_left(&budget, round, count, i) && !unwanted(view); i++) {
            race_run(search, view, standard, racers, count);
        }
        count = race_halve(racers, count);
    }
    race_tell(view, standard, racers, all);
    return count > 0 && racer_wins(&racers[0], spread) ? racers[0].action : standard->action;
}

static uint32_t search_act(void *memory, const TyView *view)
{
    Search *search = memory;
    Standard standard = {.futures = 0};
    Racer racers[TY_ACTIONS_MAX];
    TyNotes notes = {.count = 0};
    TyView guides = *view;
    guides.agent = search_guide(view->agent, view->ruleset);
    guides.notes = &notes;
    memcpy(standard.before, search->memory, guides.agent->memory_size);
    standard.action = guides.agent->act(search->memory, &guides);
    standard.told = notes.count > 0;
    uint32_t count = standard.told ? racers_noted(&notes, standard.action, racers)
                                   : racers_legal(view, standard.action, racers);
    return count > 0 ? search_race(search, view, &standard, racers, count) : standard.action;
}

/* With a file its network becomes the guide. */
static TyStatus search_open(const TyAgent *agent, const TyRuleset *ruleset, const TyAgentFile *file,
                            void **data)
{
    (void)agent;
    if (file == NULL) {
        return ty_status_ok();
    }
    TyAgent *guide = malloc(sizeof *guide);
    if (guide == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "search: no memory for a network");
    }
    *guide = net_agent;
    TyStatus status = guide->open(guide, ruleset, file, &guide->data);
    if (status.code != TY_OK) {
        free(guide);
        return status;
    }
    *data = guide;
    return status;
}

static void search_close(void *data)
{
    TyAgent *guide = data;
    if (guide != NULL) {
        guide->close(guide->data);
        free(guide);
    }
}

static const char *const no_net[] = {"none", NULL};

static const TyField search_fields[] = {
    {"playouts", TY_FIELD_INT, 64, 1, 1000000, NULL, false,
     "futures played for one decision; some more if there are many actions"},
    {"turns", TY_FIELD_INT, 2, 0, 1000, NULL, false,
     "turns for which a future is played, if the guide can judge positions; 0: to its end"},
    {"margin", TY_FIELD_FLAG, 0, 0, 1, NULL, false,
     "judge futures by how clear their result is, too"},
    {"ms", TY_FIELD_INT, 0, 0, 600000, NULL, false,
     "milliseconds for one decision instead; 0: playouts are counted"},
    {"net", TY_FIELD_FILE, 0, 0, 0, no_net, false,
     "weights of a network (agents/NET.md), which is the guide instead of the expert"},
    {.key = NULL},
};

const TyAgent search_agent = {
    .name = "search",
    .help = "tries actions in imagined futures, which its guide plays on, the expert or a network",
    .plans = true,
    .memory_size = sizeof(Search),
    .start = search_start,
    .act = search_act,
    .fields = search_fields,
    .open = search_open,
    .close = search_close,
};
