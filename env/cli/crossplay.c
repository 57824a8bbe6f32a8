/* trainyard crossplay: who plays well with whom. */
#include "cli/crossplay.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILLINGS_FEW = 81, /* up to so many, all fillings of the seats are played */
    NAME_WIDTH = 34,   /* columns of a name in the table */
    CELL_WIDTH = 24,
};

#define ANYBODY UINT32_MAX

/* ---- Fillings of the seats ---- */

/* How many fillings there are: all of them in a cooperative game if they are few, otherwise pairs.
 */
static uint32_t filling_count(const Teams *teams, bool *all)
{
    uint32_t agents = teams->list.count;
    uint32_t count = 1;
    for (uint32_t seat = 0; seat < teams->shape->players && count <= FILLINGS_FEW; seat++) {
        count *= agents;
    }
    *all = teams->shape->players > 2 && teams->shape->cooperative && count <= FILLINGS_FEW;
    return *all ? count : agents * agents;
}

void crossplay_sitters(const Crossplay *cross, uint32_t index, uint32_t *sitters)
{
    uint32_t agents = cross->teams.list.count;
    if (!cross->all) {
        teams_seat_pair(&cross->teams, index / agents, index % agents, sitters);
        return;
    }
    for (uint32_t seat = cross->teams.shape->players; seat-- > 0; index /= agents) {
        sitters[seat] = index % agents;
    }
}

/* The filling in which the two sit by turns. */
static uint32_t pair_index(const Crossplay *cross, uint32_t row, uint32_t column)
{
    uint32_t agents = cross->teams.list.count;
    uint32_t sitters[TY_SEATS_MAX];
    uint32_t index = 0;
    teams_seat_pair(&cross->teams, row, column, sitters);
    for (uint32_t seat = 0; seat < (cross->all ? cross->teams.shape->players : 2); seat++) {
        index = index * agents + sitters[seat];
    }
    return index;
}

static bool filling_has(const Crossplay *cross, const uint32_t *sitters, uint32_t agent)
{
    bool has = agent == ANYBODY;
    for (uint32_t seat = 0; seat < cross->teams.shape->players; seat++) {
        has = has || sitters[seat] == agent;
    }
    return has;
}

static bool filling_mixed(const Crossplay *cross, const uint32_t *sitters)
{
    bool mixed = false;
    for (uint32_t seat = 1; seat < cross->teams.shape->players; seat++) {
        mixed = mixed || sitters[seat] != sitters[0];
    }
    return mixed;
}

/* ---- Estimates ---- */

/* Of sums over `places` fillings, a sum for each seed: fillings of one seed share its luck. */
static Estimate sums_estimate(const Crossplay *cross, const int32_t *sums, uint32_t places)
{
    uint32_t parts = places * cross->full;
    return stats_estimate((Column){
        .values = sums,
        .stride = 1,
        .count = (uint32_t)cross->teams.settings->episodes,
        .unit = 1.0 / parts,
        .parts = cross->rate ? parts : 0,
    });
}

Estimate crossplay_cell(const Crossplay *cross, uint32_t row, uint32_t column)
{
    return sums_estimate(cross, crossplay_values(cross, row, column), 1);
}

const int32_t *crossplay_values(const Crossplay *cross, uint32_t row, uint32_t column)
{
    return cross->values[pair_index(cross, row, column)];
}

/* Adds a filling; of a game among opponents, what the agent's side of the table has. */
static void sums_add(const Crossplay *cross, uint32_t index, bool other_side, int32_t *sums)
{
    for (uint32_t i = 0; i < cross->teams.settings->episodes; i++) {
        int32_t value = cross->values[index][i];
        sums[i] += other_side ? TEAMS_WIN - value : value;
    }
}

/* The mean of the fillings in which the agent sits with itself alone, or `mixed` with others. */
static Estimate crossplay_mean(const Crossplay *cross, uint32_t agent, bool mixed)
{
    uint32_t sitters[TY_SEATS_MAX];
    uint32_t places = 0;
    assert(cross->teams.settings->episodes > 0);
    int32_t *sums = cli_memory(calloc(cross->teams.settings->episodes, sizeof *sums));
    for (uint32_t i = 0; i < cross->count; i++) {
        crossplay_sitters(cross, i, sitters);
        if (filling_mixed(cross, sitters) == mixed && filling_has(cross, sitters, agent)) {
            bool opponent = !cross->teams.shape->cooperative && agent != ANYBODY;
            sums_add(cross, i, opponent && sitters[0] != agent, sums);
            places++;
        }
    }
    Estimate estimate = sums_estimate(cross, sums, places);
    free(sums);
    return estimate;
}

/* ---- Text ---- */

void crossplay_print_agent(const Crossplay *cross, uint32_t agent)
{
    printf("  %2u %-*s", agent + 1, NAME_WIDTH, teams_name(&cross->teams, agent));
}

void crossplay_print_cell(const Estimate *estimate)
{
    char cell[64] = "-";
    if (!isnan(estimate->mean)) {
        snprintf(cell, sizeof cell, "%.3f [%.3f, %.3f]", estimate->mean, estimate->low,
                 estimate->high);
    }
    printf(" %-*s", CELL_WIDTH, cell);
}

static void print_head(const Crossplay *cross)
{
    const Teams *teams = &cross->teams;
    const Settings *settings = teams->settings;
    printf("ruleset:  %s\n", teams->shape->spec);
    printf("episodes: %" PRIu64 " for each filling of the seats, seeds %" PRIu64 "..%" PRIu64 "\n",
           settings->episodes, settings->seed, settings->seed + settings->episodes - 1);
    if (teams->shape->cooperative) {
        printf("cells:    %s, its 95 %% interval", teams_measure(teams));
    } else {
        printf("cells:    score of the row's agent (win 1, draw 1/2), its 95 %% interval");
    }
    printf("; row: seat 0%s, column: seat 1%s\n\n", teams->shape->players > 2 ? ", 2, ..." : "",
           teams->shape->players > 3 ? ", 3, ..." : "");
}

static void print_matrix(const Crossplay *cross)
{
    uint32_t agents = cross->teams.list.count;
    printf("  %-*s", NAME_WIDTH + 3, "");
    for (uint32_t column = 0; column < agents; column++) {
        printf(" %-*u", CELL_WIDTH, column + 1);
    }
    printf("\n");
    for (uint32_t row = 0; row < agents; row++) {
        crossplay_print_agent(cross, row);
        for (uint32_t column = 0; column < agents; column++) {
            Estimate cell = crossplay_cell(cross, row, column);
            crossplay_print_cell(&cell);
        }
        printf("\n");
    }
}

static void print_means(const Crossplay *cross)
{
    bool cooperative = cross->teams.shape->cooperative;
    printf("\n  %-*s %-*s %s\n", NAME_WIDTH + 3, "", CELL_WIDTH, "self-play",
           cooperative ? "cross-play" : "against the others, from all seats");
    uint32_t rows = cross->teams.list.count + (cooperative ? 1 : 0);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t agent = i < cross->teams.list.count ? i : ANYBODY;
        printf("  %-*s", NAME_WIDTH + 3,
               agent != ANYBODY ? teams_name(&cross->teams, agent) : "all");
        Estimate self = crossplay_mean(cross, agent, false);
        Estimate mixed = crossplay_mean(cross, agent, true);
        crossplay_print_cell(&self);
        crossplay_print_cell(&mixed);
        printf("\n");
    }
}

static void print_fillings(const Crossplay *cross)
{
    uint32_t sitters[TY_SEATS_MAX];
    printf("\n  every filling of the seats\n");
    for (uint32_t i = 0; i < cross->count; i++) {
        Estimate estimate = sums_estimate(cross, cross->values[i], 1);
        crossplay_sitters(cross, i, sitters);
        crossplay_print_cell(&estimate);
        for (uint32_t seat = 0; seat < cross->teams.shape->players; seat++) {
            printf("%s %s", seat > 0 ? "," : "", teams_name(&cross->teams, sitters[seat]));
        }
        printf("\n");
    }
}

static void crossplay_print(const Crossplay *cross)
{
    print_head(cross);
    print_matrix(cross);
    print_means(cross);
    crossplay_best_print(cross);
    if (cross->all) {
        print_fillings(cross);
    }
    if (cross->teams.shape->note[0] != '\0') {
        printf("\nnote:     %s\n", cross->teams.shape->note);
    }
}

/* ---- JSON ---- */

static void json_head(const Crossplay *cross, TyJson *json)
{
    const Teams *teams = &cross->teams;
    ty_json_put_string(json, "ruleset", teams->shape->spec);
    ty_json_put_int(json, "rules_version", ty_game_rules_version(ty_ruleset_game(teams->ruleset)));
    ty_json_put_string(json, "note", teams->shape->note);
    ty_json_put_bool(json, "cooperative", teams->shape->cooperative);
    ty_json_put_string(json, "measure", teams_measure(teams));
    ty_json_put_int(json, "episodes", (int64_t)teams->settings->episodes);
    output_unsigned(json, "seed", teams->settings->seed);
}

static void json_fillings(const Crossplay *cross, TyJson *json)
{
    uint32_t sitters[TY_SEATS_MAX];
    ty_json_open(json, "fillings", '[');
    for (uint32_t i = 0; i < cross->count; i++) {
        Estimate estimate = sums_estimate(cross, cross->values[i], 1);
        crossplay_sitters(cross, i, sitters);
        ty_json_open(json, NULL, '{');
        ty_json_open(json, "seats", '[');
        for (uint32_t seat = 0; seat < cross->teams.shape->players; seat++) {
            ty_json_put_string(json, NULL, teams_name(&cross->teams, sitters[seat]));
        }
        ty_json_close(json, ']');
        output_estimate(json, "value", &estimate);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

static void json_means(const Crossplay *cross, uint32_t agent, TyJson *json)
{
    Estimate self = crossplay_mean(cross, agent, false);
    Estimate mixed = crossplay_mean(cross, agent, true);
    output_estimate(json, "self_play", &self);
    output_estimate(json, "cross_play", &mixed);
}

static int crossplay_print_json(const Crossplay *cross)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    json_head(cross, &json);
    ty_json_open(&json, "agents", '[');
    for (uint32_t row = 0; row < cross->teams.list.count; row++) {
        ty_json_open(&json, NULL, '{');
        ty_json_put_string(&json, "agent", teams_name(&cross->teams, row));
        json_means(cross, row, &json);
        ty_json_open(&json, "cells", '[');
        for (uint32_t column = 0; column < cross->teams.list.count; column++) {
            Estimate cell = crossplay_cell(cross, row, column);
            output_estimate(&json, NULL, &cell);
        }
        ty_json_close(&json, ']');
        crossplay_shares_json(cross, row, &json);
        ty_json_close(&json, '}');
    }
    ty_json_close(&json, ']');
    crossplay_best_json(cross, &json);
    if (cross->teams.shape->cooperative) {
        json_means(cross, ANYBODY, &json);
    }
    json_fillings(cross, &json);
    ty_json_close(&json, '}');
    return output_print(cross->teams.settings, &json);
}

/* ---- The command ---- */

static int crossplay_report(Crossplay *cross)
{
    const Settings *settings = cross->teams.settings;
    cross->full = cross->teams.shape->cooperative ? 1 : TEAMS_WIN;
    cross->rate = true;
    for (uint32_t i = 0; i < cross->count; i++) {
        for (uint32_t episode = 0; episode < settings->episodes; episode++) {
            int32_t value = cross->values[i][episode];
            cross->rate = cross->rate && value >= 0 && value <= (int32_t)cross->full;
        }
    }
    int status = CLI_OK;
    if (settings->json) {
        status = crossplay_print_json(cross);
    } else {
        crossplay_print(cross);
    }
    return status == CLI_OK && settings->out != NULL ? crossplay_page(cross, settings->out)
                                                     : status;
}

static int crossplay_play(Crossplay *cross)
{
    const Settings *settings = cross->teams.settings;
    uint32_t sitters[TY_SEATS_MAX];
    TyStatus status = {.code = TY_OK};
    cross->count = filling_count(&cross->teams, &cross->all);
    cross->values = cli_memory(calloc(cross->count, sizeof *cross->values));
    for (uint32_t i = 0; i < cross->count && status.code == TY_OK; i++) {
        crossplay_sitters(cross, i, sitters);
        status = teams_play(&cross->teams, sitters, settings->seed, (uint32_t)settings->episodes,
                            &cross->values[i]);
    }
    if (status.code == TY_OK) {
        status = crossplay_best_play(cross);
    }
    int result = status.code == TY_OK ? crossplay_report(cross)
                                      : cli_failure(settings, "%s", status.message);
    for (uint32_t i = 0; i < cross->count; i++) {
        free(cross->values[i]);
    }
    free(cross->values);
    crossplay_best_close(cross);
    return result;
}

static int crossplay_check(const Teams *teams)
{
    if (teams->list.count < 2) {
        return cli_usage_error(teams->settings, "--agents: %u given, at least 2 wanted",
                               teams->list.count);
    }
    if (teams->shape->players < 2) {
        return cli_usage_error(teams->settings, "%s has one player, who plays with nobody",
                               teams->shape->spec);
    }
    return CLI_OK;
}

static int crossplay_run(const Settings *settings)
{
    TyRuleset *ruleset = NULL;
    if (settings->agents == NULL) {
        return cli_usage_error(settings, "--agents A,B[,C] is missing: who plays with whom");
    }
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    Crossplay cross = {.count = 0};
    status = teams_open(settings, ruleset, &cross.teams);
    if (status == CLI_OK) {
        status = crossplay_check(&cross.teams);
    }
    if (status == CLI_OK) {
        status = crossplay_best_open(&cross);
    }
    if (status == CLI_OK) {
        status = crossplay_play(&cross);
    }
    ty_ruleset_close(ruleset);
    return status;
}

static const Option crossplay_options[] = {
    {.name = "agents",
     .value = "A,B[,C]",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, agents),
     .help = "The agents that play with each other."},
    OPTION_METRIC,
    {.name = "best",
     .value = "A[,B,...]",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, best),
     .help = "Best responses, one for all agents or one for each: tell shares of what they reach."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE.html",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, out),
     .help = "Write a page with the table as a heat map, too."},
    OPTION_EPISODES("200"),
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_START,
    OPTIONS_CONNECT,
    OPTION_JSON,
    {.name = NULL},
};

const Command command_crossplay = {
    .name = "crossplay",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "who plays well with whom: a table of all pairs of agents",
    .details =
        "Plays every ordered pair of the agents on the same seeds, an agent with itself\n"
        "included, and prints a table: the row's agent in seat 0, the column's in seat 1,\n"
        "and by turns around a larger table. Cells show a metric of a cooperative game, or\n"
        "the score of the row's side (the one with the best seat wins), with 95 %\n"
        "confidence intervals; then self-play and cross-play means, from seed to seed. If a\n"
        "cooperative game has more than 2 seats and at most 81 fillings of them, all of\n"
        "them are played and listed, and the means are over all of them.\n"
        "With --best every agent also plays with its best response, from both sides, and\n"
        "results are told as shares of what that reaches: who plays badly with a partner is\n"
        "told apart from a partner with whom nobody plays well. How good the best response\n"
        "is, is up to you: shares above 1 say that it was not the best.\n"
        "An agent is a built-in one, or 'open': your own program, which joins on a daemon.",
    .example = "  trainyard crossplay GAME --agents expert,random,search:playouts=8 -o table.html\n"
               "  trainyard crossplay GAME --agents expert,open --start ./my_agent",
    .options = crossplay_options,
    .run = crossplay_run,
};
