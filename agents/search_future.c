/* The futures that search imagines: where they begin, how they are played, what they bring. */
#include "agents/search.h"
#include "core/hash.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = SEARCH_WORTH_ONE, /* what a clear result counts at most besides */
    AGAINST = 2, /* in a game against others the best of them loses what the seat gains */
};

const TyAgent *search_guide(const TyAgent *search, const TyRuleset *ruleset)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *expert = ty_agent_find(game, "expert");
    if (search->data != NULL) {
        return search->data;
    }
    return expert != NULL && expert->memory_size <= SEARCH_MEMORY_SIZE
               ? expert
               : ty_agent_find(game, "random");
}

static void future_seat(Future *future, const TyView *view)
{
    const TyAgent *guide = search_guide(view->agent, view->ruleset);
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    for (uint32_t seat = 0; seat < ty_shape(view->ruleset)->players; seat++) {
        agents[seat] = guide;
    }
    ty_lineup_init(&future->lineup, view->ruleset, agents, future->memory);
}

void search_imagine(Future *future, const TyView *view, uint64_t key)
{
    ty_plan(view->planner, key, future->state);
    future_seat(future, view);
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

/* How clear the result is, from -MARGIN to MARGIN: a lead by a quarter is clear. */
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
        return scores[seat] * MARGIN / 8;
    }
    int32_t clear = lead(shape, scores, seat) * MARGIN * 4 / (most + 4);
    return clear > MARGIN ? MARGIN : clear < -MARGIN ? -MARGIN : clear;
}

/* ---- Playing ---- */

float search_opinion(const TyNotes *notes)
{
    float most = NAN;
    for (uint32_t i = 0; i < notes->count; i++) {
        most = fmaxf(most, notes->list[i].value);
    }
    return most;
}

/* How far a future is played. */
typedef struct Horizon {
    uint32_t turns; /* changes of the seat to act that are left */
    int8_t seat;    /* that acted last */
    bool ends;      /* it is not played to the end */
} Horizon;

/* Whether the guide is to be asked what it expects instead of playing on: behind the last turn,
 * where the seat to act shares the fate of `own`. */
static bool horizon_reached(Horizon *horizon, const TyView *view, const void *state)
{
    int8_t seat = ty_head(state)->seat;
    bool passed = seat != horizon->seat;
    horizon->seat = seat;
    horizon->turns -= passed && horizon->turns > 0;
    return horizon->ends && horizon->turns == 0 &&
           (ty_shape(view->ruleset)->cooperative || seat == (int8_t)view->seat);
}

/* Plays on, to the end or until the guide of the seat to act says what it expects; returns that,
 * or 0 at the end. */
static float future_run(Future *now, const TyView *view, int32_t reward[TY_SEATS_MAX])
{
    TyNotes notes = {.count = 0};
    int32_t turns = ty_agent_setting(view->agent, "turns");
    Horizon horizon = {(uint32_t)turns, (int8_t)view->seat, turns > 0};
    while (!ty_head(now->state)->over) {
        bool asked = horizon_reached(&horizon, view, now->state);
        now->lineup.notes = asked ? &notes : NULL;
        uint32_t action = ty_lineup_act(&now->lineup, now->state);
        now->lineup.notes = NULL;
        float opinion = asked ? search_opinion(&notes) : NAN;
        if (!isnan(opinion)) {
            return opinion;
        }
        ty_step(view->ruleset, now->state, action, reward, NULL);
    }
    return 0;
}

Result search_play(const Future *future, const TyView *view, uint32_t action, const uint64_t *own)
{
    const TyShape *shape = ty_shape(view->ruleset);
    Future now;
    int32_t reward[TY_SEATS_MAX] = {0};
    memcpy(now.state, future->state, shape->state_size);
    future_seat(&now, view);
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        memcpy(now.lineup.memory[seat], seat == view->seat ? own : future->lineup.memory[seat],
               now.lineup.agent[seat]->memory_size);
    }
    bool accepted = ty_step(view->ruleset, now.state, action, reward, NULL);
    assert(accepted);
    (void)accepted;
    float expected = future_run(&now, view, reward) * (shape->cooperative ? 1 : AGAINST);
    int32_t gained = lead(shape, reward, view->seat) * SEARCH_WORTH_ONE / TY_REWARD_ONE +
                     (int32_t)lrintf(expected * SEARCH_WORTH_ONE);
    bool clear = ty_agent_setting(view->agent, "margin") != 0;
    return (Result){gained, gained + (clear ? margin(view->ruleset, now.state, view->seat) : 0)};
}
