/* trainyard crossplay --best: results as shares of what a best response comes to with the same
 * partner. */
#include "cli/crossplay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int crossplay_best_open(Crossplay *cross)
{
    const Teams *teams = &cross->teams;
    AgentList *list = &cross->best.list;
    if (teams->settings->best == NULL) {
        return CLI_OK;
    }
    if (!teams->shape->cooperative) {
        return cli_usage_error(teams->settings, "--best: %s is not cooperative",
                               teams->shape->spec);
    }
    int status = agent_list_parse(teams->settings, teams->ruleset, "best", teams->settings->best,
                                  false, list);
    if (status == CLI_OK && list->count != 1 && list->count != teams->list.count) {
        return cli_usage_error(teams->settings,
                               "--best: %u given; wanted is 1, or one for each of %u agents",
                               list->count, teams->list.count);
    }
    return status;
}

static const TyAgent *best_of(const Crossplay *cross, uint32_t agent)
{
    const AgentList *list = &cross->best.list;
    return list->agents[list->count == 1 ? 0 : agent];
}

/* Two columns of numbers become their sum, in the first one. */
static void values_add(int32_t *values, const int32_t *more, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        values[i] += more[i];
    }
}

/* The agent with its best response, each of them in seat 0 by turns. */
static TyStatus best_play(const Crossplay *cross, uint32_t agent, int32_t **values)
{
    const Settings *settings = cross->teams.settings;
    Teams pair = cross->teams;
    uint32_t sitters[TY_SEATS_MAX];
    int32_t *other = NULL;
    pair.list = cross->best.list;
    pair.list.agents[0] = best_of(cross, agent);
    pair.list.agents[1] = cross->teams.list.agents[agent];
    teams_seat_pair(&pair, 0, 1, sitters);
    TyStatus status =
        teams_play(&pair, sitters, settings->seed, (uint32_t)settings->episodes, values);
    if (status.code == TY_OK) {
        teams_seat_pair(&pair, 1, 0, sitters);
        status = teams_play(&pair, sitters, settings->seed, (uint32_t)settings->episodes, &other);
    }
    if (status.code == TY_OK) {
        values_add(*values, other, settings->episodes);
    }
    free(other);
    return status;
}

TyStatus crossplay_best_play(Crossplay *cross)
{
    TyStatus status = {.code = TY_OK};
    uint32_t agents = cross->best.list.count > 0 ? cross->teams.list.count : 0;
    cross->best.values = cli_memory(calloc(agents + 1, sizeof *cross->best.values));
    for (uint32_t i = 0; i < agents && status.code == TY_OK; i++) {
        status = best_play(cross, i, &cross->best.values[i]);
    }
    return status;
}

void crossplay_best_close(Crossplay *cross)
{
    for (uint32_t i = 0; cross->best.values != NULL && i < cross->teams.list.count; i++) {
        if (cross->best.list.count > 0) {
            free(cross->best.values[i]);
        }
    }
    free(cross->best.values);
}

/* ---- Shares ---- */

/* What an agent comes to with `count` partners, from both sides, as a mean share of what their best
 * responses come to with them. */
static Estimate shares_mean(const Crossplay *cross, uint32_t row, const uint32_t *partners,
                            uint32_t count)
{
    uint64_t episodes = cross->teams.settings->episodes;
    assert(count > 0 && episodes > 0);
    int32_t **values = cli_memory(calloc(count, sizeof *values));
    const int32_t **bases = cli_memory(calloc(count, sizeof *bases));
    for (uint32_t i = 0; i < count; i++) {
        values[i] = cli_memory(calloc(episodes, sizeof **values));
        values_add(values[i], crossplay_values(cross, row, partners[i]), episodes);
        values_add(values[i], crossplay_values(cross, partners[i], row), episodes);
        bases[i] = cross->best.values[partners[i]];
    }
    Estimate estimate =
        stats_shares((const int32_t *const *)values, bases, count, (uint32_t)episodes);
    for (uint32_t i = 0; i < count; i++) {
        free(values[i]);
    }
    free(values);
    free(bases);
    return estimate;
}

static Estimate share_with(const Crossplay *cross, uint32_t row, uint32_t column)
{
    return shares_mean(cross, row, &column, 1);
}

/* Over all agents but itself. */
static Estimate share_with_others(const Crossplay *cross, uint32_t row)
{
    uint32_t partners[CLI_ARGUMENTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < cross->teams.list.count; i++) {
        if (i != row) {
            partners[count++] = i;
        }
    }
    return shares_mean(cross, row, partners, count);
}

static Estimate best_value(const Crossplay *cross, uint32_t agent)
{
    return stats_estimate((Column){
        .values = cross->best.values[agent],
        .stride = 1,
        .count = (uint32_t)cross->teams.settings->episodes,
        .unit = 0.5,
        .parts = cross->rate ? 2 : 0,
    });
}

/* ---- What is told ---- */

static void print_bests(const Crossplay *cross)
{
    for (uint32_t i = 0; i < cross->teams.list.count; i++) {
        Estimate value = best_value(cross, i);
        crossplay_print_agent(cross, i);
        crossplay_print_cell(&value);
        printf(" with %s\n", agent_name(best_of(cross, i)));
    }
}

void crossplay_best_print(const Crossplay *cross)
{
    uint32_t agents = cross->teams.list.count;
    if (cross->best.list.count == 0) {
        return;
    }
    printf("\n  every agent with its best response, from both sides\n");
    print_bests(cross);
    printf("\n  shares of that, with each partner from both sides, and the mean over the others\n");
    for (uint32_t row = 0; row < agents; row++) {
        crossplay_print_agent(cross, row);
        for (uint32_t column = 0; column < agents; column++) {
            Estimate share = share_with(cross, row, column);
            crossplay_print_cell(&share);
        }
        Estimate mean = share_with_others(cross, row);
        crossplay_print_cell(&mean);
        printf("\n");
    }
}

void crossplay_best_json(const Crossplay *cross, TyJson *json)
{
    if (cross->best.list.count == 0) {
        return;
    }
    ty_json_open(json, "best", '[');
    for (uint32_t i = 0; i < cross->teams.list.count; i++) {
        Estimate value = best_value(cross, i);
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "partner", teams_name(&cross->teams, i));
        ty_json_put_string(json, "agent", agent_name(best_of(cross, i)));
        output_estimate(json, "value", &value);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

void crossplay_shares_json(const Crossplay *cross, uint32_t row, TyJson *json)
{
    if (cross->best.list.count == 0) {
        return;
    }
    Estimate mean = share_with_others(cross, row);
    output_estimate(json, "share_of_best", &mean);
    ty_json_open(json, "shares_of_best", '[');
    for (uint32_t column = 0; column < cross->teams.list.count; column++) {
        Estimate share = share_with(cross, row, column);
        output_estimate(json, NULL, &share);
    }
    ty_json_close(json, ']');
}
