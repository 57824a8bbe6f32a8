/* Hints: what the row says lies ahead of a train is what the train meets when it moves, and the way
 * that it names is free when what it names has been opened. */
#include "games/convoi/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What happened when a train moved. */
typedef struct Outcome {
    uint32_t spaces;
    int32_t why; /* Loss, or -1 */
    bool over;   /* the turn has ended by itself: what follows is another story */
} Outcome;

static void outcome_event(void *user, const TyEvent *event)
{
    Outcome *outcome = user;
    outcome->over |= event->kind == EVENT_DRAW || event->kind == EVENT_TURN;
    if (outcome->over) {
        return;
    }
    if (event->kind == EVENT_MOVE) {
        outcome->spaces += event->path_count;
    } else if (event->kind == EVENT_TOKENS && outcome->why < 0) {
        outcome->why = event->args[1];
    }
}

/* Moves `train` on a copy of the position by an action card, with the best roll of its die, and
 * keeping to the first answer of every question on the way. */
static Outcome train_try(const TyRuleset *ruleset, const ConvoiState *state, uint8_t train)
{
    static const uint16_t best[CONVOI_COLOURS] = {5, 4, 3};
    Outcome outcome = {.why = -1};
    ConvoiState copy = *state;
    int32_t reward[TY_SEATS_MAX] = {0};
    TyOutcome script[] = {
        {.stream = (uint8_t)(STREAM_DIE + train / 3), .outcome = best[train / 3]}};
    TyTape tape = {.user = &outcome, .event = outcome_event, .script = script, .script_count = 1};
    assert_true(ty_step(ruleset, &copy, ruleset->action_first[FORM_MOVE] + train, reward, &tape));
    while (!copy.head.over && !outcome.over &&
           (copy.head.phase == PHASE_PAY || copy.head.phase == PHASE_DIE)) {
        uint32_t answer = copy.head.phase == PHASE_DIE ? ruleset->action_first[FORM_KEEP]
                                                       : (uint32_t)__builtin_ctzll(copy.answers[0]);
        assert_true(ty_step(ruleset, &copy, answer, reward, &tape));
    }
    return outcome;
}

static void hint_check(const TyRuleset *ruleset, const ConvoiState *state, uint8_t train)
{
    static const uint8_t best[CONVOI_COLOURS] = {5, 4, 3};
    const ConvoiTables *tables = convoi_tables(ruleset);
    Hint hints[CONVOI_TRAINS];
    hints_compute(tables, state, hints);
    Hint hint = hints[train];
    uint8_t roll = best[train / 3];
    Outcome outcome = train_try(ruleset, state, train);
    assert_int_equal(outcome.spaces, hint.run < roll ? hint.run : roll);
    bool stopped = hint.run < roll && hint.obstacle != 0 && hint.obstacle != HINT_CITY;
    if (stopped || (hint.run <= roll && hint.obstacle == LOSS_START_REACHED + 1)) {
        assert_int_equal(outcome.why, hint.obstacle - 1);
    } else {
        assert_int_equal(outcome.why, -1);
    }
    assert_int_equal(hint.light != 0, hint.obstacle == LOSS_RED_LIGHT + 1);
    assert_int_equal(hint.junction != 0, hint.obstacle == LOSS_CLOSED_SWITCH + 1);
}

/* Opens what `way` says bars it, on a copy of a position. */
static void way_open(const ConvoiTables *tables, ConvoiState *state, const Way *way)
{
    if (way->light != 0) {
        state->green |= UINT64_C(1) << (way->light - 1);
    } else {
        uint8_t junction = tables->setting_junction[way->setting - 1];
        state->setting[junction] = (uint8_t)(way->setting - 1 - tables->setting_first[junction]);
    }
}

static bool city_wanted(const ConvoiTables *tables, const ConvoiState *state, uint8_t city,
                        uint8_t cargo)
{
    uint8_t port = tables->city_port[city];
    return cargo == 0
               ? state->goods[city] > 0
               : port != CONVOI_NONE && port_takes(tables, state, port, (uint8_t)(cargo - 1));
}

/* The points of `train` to the first city on its line; 0 if a closed switch comes before it. */
static uint32_t points_to_city(const ConvoiTables *tables, const ConvoiState *state, uint8_t train,
                               uint8_t *city)
{
    uint8_t place = (uint8_t)(state->place[train] - 1);
    Link link = place < tables->space_count ? tables->ahead[2 * place + state->heading[train]]
                                            : tables->departure[place - place_start(tables, 0)];
    uint32_t points = 0;
    Loss why = LOSS_RED_LIGHT;
    for (;;) {
        if (!link_follow(tables, state, &link, &why)) {
            assert_int_equal(why, LOSS_CLOSED_SWITCH);
            return 0;
        }
        points++;
        if (link.kind == LINK_CITY) {
            *city = link.index;
            return points;
        }
        assert_int_equal(link.kind, LINK_SPACE);
        link = tables->ahead[2 * link.index + link.side];
    }
}

typedef enum WayEnd { WAY_NONE, WAY_ARRIVES, WAY_PAUSES, WAY_CROSSES_ITSELF, WAY_ENDS } WayEnd;

/* Opens the way of a train on the track step by step: a light makes it cheaper by its price (by
 * more if the way turns round in a city), and in the end the train can run to a city that it wants,
 * or to one on the way, or to a junction that the way has met before. */
static WayEnd way_check(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    ConvoiState copy = *state;
    Way ways[CONVOI_TRAINS];
    ways_compute(tables, &copy, true, ways);
    if (ways[train].cost == WAY_COST_MAX) {
        return WAY_NONE;
    }
    for (uint32_t i = 0; ways[train].light != 0 || ways[train].setting != 0; i++) {
        uint8_t before = ways[train].cost;
        bool light = ways[train].light != 0;
        way_open(tables, &copy, &ways[train]);
        ways_compute(tables, &copy, true, ways);
        assert_true(!light || ways[train].cost <= before - WAY_OBSTACLE);
        assert_true(i < CONVOI_LIGHTS_MAX);
    }
    uint8_t city = 0;
    uint32_t points = points_to_city(tables, &copy, train, &city);
    if (points == 0) {
        return WAY_CROSSES_ITSELF;
    }
    bool wanted = city_wanted(tables, &copy, city, copy.cargo[train]);
    assert_true(wanted ? points == ways[train].cost : points < ways[train].cost);
    return wanted ? WAY_ARRIVES : WAY_PAUSES;
}

/* Every train on the track or on a start whose move could be played now. */
static uint32_t position_check(const TyRuleset *ruleset, const ConvoiState *state,
                               uint32_t ends[WAY_ENDS])
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t checked = 0;
    for (uint8_t train = 0; state->head.phase == PHASE_ACTIONS && train < CONVOI_TRAINS; train++) {
        bool movable = ty_answers_have(state->answers, ruleset->action_first[FORM_MOVE] + train);
        if (movable && city_at(tables, (uint8_t)(state->place[train] - 1)) == CONVOI_NONE) {
            hint_check(ruleset, state, train);
            checked++;
            ends[way_check(tables, state, train)]++;
        }
    }
    return checked;
}

static void hints_hold(const char *spec)
{
    TyRuleset *ruleset = NULL;
    ConvoiState state;
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t checked = 0;
    uint32_t ends[WAY_ENDS] = {0};
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    for (uint64_t seed = 0; seed < 200; seed++) {
        ty_reset(ruleset, &state, seed, NULL);
        while (!state.head.over) {
            int32_t reward[TY_SEATS_MAX] = {0};
            checked += position_check(ruleset, &state, ends);
            ty_legal(ruleset, &state, mask);
            ty_step(ruleset, &state,
                    ty_sample(mask, ty_shape(ruleset)->action_count, seed, state.head.steps),
                    reward, NULL);
        }
    }
    assert_true(checked > 5000);
    assert_true(ends[WAY_ARRIVES] > checked / 2);
    assert_true(ends[WAY_CROSSES_ITSELF] < checked / 20);
    ty_ruleset_close(ruleset);
}

static void test_hints_in_europe_are_what_trains_meet(void **unused)
{
    (void)unused;
    hints_hold("convoi:hints=true,placement=random");
}

static void test_hints_in_america_are_what_trains_meet(void **unused)
{
    (void)unused;
    hints_hold("convoi:board=north_america,hints=true,placement=random");
}

static void test_hints_on_the_tiny_board_are_what_trains_meet(void **unused)
{
    (void)unused;
    hints_hold("convoi:board=tiny,hints=true,placement=random");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints_in_europe_are_what_trains_meet),
        cmocka_unit_test(test_hints_in_america_are_what_trains_meet),
        cmocka_unit_test(test_hints_on_the_tiny_board_are_what_trains_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
