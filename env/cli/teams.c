/* Agents that meet at one table, for tables of results. */
#include "cli/teams.h"

#include "core/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int metric_parse(const Settings *settings, Teams *teams)
{
    char names[512];
    TyText list = ty_text_init(names, sizeof names);
    if (settings->metric == NULL) {
        return CLI_OK;
    }
    if (!teams->shape->cooperative) {
        return cli_usage_error(settings, "--metric: %s is judged by wins, as it is not cooperative",
                               teams->shape->spec);
    }
    for (uint32_t i = 0; i < teams->shape->metric_count; i++) {
        ty_text_add(&list, "%s%s", i > 0 ? ", " : "", teams->shape->metrics[i]);
        if (strcmp(settings->metric, teams->shape->metrics[i]) == 0) {
            teams->metric = i;
            return CLI_OK;
        }
    }
    return cli_usage_error(settings, "--metric: %s has no metric '%s'; there are %s",
                           teams->shape->spec, settings->metric, names);
}

int teams_open(const Settings *settings, const TyRuleset *ruleset, Teams *teams)
{
    *teams = (Teams){.settings = settings, .ruleset = ruleset, .shape = ty_shape(ruleset)};
    if (teams->shape->cooperative && teams->shape->metric_count == 0) {
        return cli_failure(settings, "%s has no metric to compare agents by", teams->shape->spec);
    }
    int status = metric_parse(settings, teams);
    if (status == CLI_OK && settings->agents != NULL) {
        status =
            agent_list_parse(settings, ruleset, "agents", settings->agents, false, &teams->list);
    }
    return status;
}

const char *teams_name(const Teams *teams, uint32_t agent)
{
    return agent_name(teams->list.agents[agent]);
}

const char *teams_measure(const Teams *teams)
{
    return teams->shape->cooperative ? teams->shape->metrics[teams->metric] : "score";
}

void teams_seat_pair(const Teams *teams, uint32_t even, uint32_t odd, uint32_t *sitters)
{
    for (uint32_t seat = 0; seat < teams->shape->players; seat++) {
        sitters[seat] = seat % 2 == 0 ? even : odd;
    }
}

/* The even seats win if the best of them has more than the best of the others. */
static int32_t side_points(const int32_t *returns, uint32_t players)
{
    int32_t best[2] = {INT_MIN, INT_MIN};
    for (uint32_t seat = 0; seat < players; seat++) {
        best[seat % 2] = returns[seat] > best[seat % 2] ? returns[seat] : best[seat % 2];
    }
    return best[0] > best[1] ? TEAMS_WIN : best[0] == best[1] ? TEAMS_WIN / 2 : 0;
}

static int32_t *teams_values(const Teams *teams, const Results *results)
{
    int32_t *values = cli_memory(malloc(results->episodes * sizeof *values));
    Column metric = results_metric(results, teams->metric);
    for (uint32_t i = 0; i < results->episodes; i++) {
        const int32_t *returns = results->values + (size_t)i * results->columns;
        values[i] = teams->shape->cooperative ? metric.values[i * metric.stride]
                                              : side_points(returns, results->players);
    }
    return values;
}

TyStatus teams_play(const Teams *teams, const uint32_t *sitters, uint64_t seed, uint32_t episodes,
                    int32_t **values)
{
    char label[TY_SPEC_MAX];
    TyText text = ty_text_init(label, sizeof label);
    Run run = {
        .settings = teams->settings,
        .ruleset = teams->ruleset,
        .seating = seating_same(teams->ruleset, NULL),
        .seed = seed,
        .episodes = episodes,
        .threads = run_threads(teams->settings),
        .label = label,
    };
    for (uint32_t seat = 0; seat < teams->shape->players; seat++) {
        run.seating.agents[seat] = teams->list.agents[sitters[seat]];
        ty_text_add(&text, "%s%s", seat > 0 ? ", " : "", teams_name(teams, sitters[seat]));
    }
    memcpy(run.seating.endpoint, teams->list.endpoint, sizeof run.seating.endpoint);
    Results results;
    TyStatus status = run_episodes(&run, &results);
    if (status.code == TY_OK) {
        *values = teams_values(teams, &results);
        results_close(&results);
    }
    return status;
}
