/* trainyard ladder: ratings of agents, kept in a file that later runs extend. */
#include "cli/ladder.h"

#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Playing what is not in the file ---- */

/* Of two opponents, games in both orders of the seats. */
static TyStatus pair_play(const Teams *teams, uint32_t first, uint32_t second, uint64_t seed,
                          uint32_t count, int32_t **values)
{
    uint32_t sitters[TY_SEATS_MAX];
    int32_t *back = NULL;
    teams_seat_pair(teams, first, second, sitters);
    TyStatus status = teams_play(teams, sitters, seed, count, values);
    if (status.code != TY_OK || first == second) {
        return status;
    }
    teams_seat_pair(teams, second, first, sitters);
    status = teams_play(teams, sitters, seed, count, &back);
    for (uint32_t i = 0; i < count && status.code == TY_OK; i++) {
        (*values)[i] += TEAMS_WIN - back[i];
    }
    if (status.code != TY_OK) {
        free(*values);
    }
    free(back);
    return status;
}

/* Plays the seeds of the command line that the two have no values for, piece by piece. */
static TyStatus pair_extend(Ladder *ladder, uint32_t first, uint32_t second)
{
    const Settings *settings = ladder->teams.settings;
    const uint64_t end = settings->seed + settings->episodes;
    uint32_t agents[2] = {ladder_agent(ladder, teams_name(&ladder->teams, first)),
                          ladder_agent(ladder, teams_name(&ladder->teams, second))};
    TyStatus status = {.code = TY_OK};
    for (uint64_t at = settings->seed; at < end && status.code == TY_OK;) {
        const LadderRecord *known = ladder_next(ladder, agents[0], agents[1], at, end);
        if (known != NULL && known->seed <= at) {
            at = known->seed + known->count;
            continue;
        }
        LadderRecord record = {.agents = {agents[0], agents[1]}, .seed = at};
        record.count = (uint32_t)((known != NULL ? known->seed : end) - at);
        status = pair_play(&ladder->teams, first, second, at, record.count, &record.values);
        if (status.code == TY_OK) {
            ladder_add(ladder, record);
            status = ladder_write(ladder);
        }
        at += record.count;
    }
    return status;
}

static TyStatus ladder_extend(Ladder *ladder)
{
    bool alone = ladder->teams.shape->cooperative;
    TyStatus status = {.code = TY_OK};
    for (uint32_t i = 0; i < ladder->teams.list.count; i++) {
        uint32_t last = alone ? i + 1 : ladder->teams.list.count;
        for (uint32_t j = alone ? i : i + 1; j < last && status.code == TY_OK; j++) {
            status = pair_extend(ladder, i, j);
        }
    }
    return status;
}

/* ---- What the file says ---- */

/* The metric of one agent over all its records. */
static Estimate agent_value(const Ladder *ladder, uint32_t agent, uint64_t seeds)
{
    int32_t *values = cli_memory(malloc(seeds * sizeof *values));
    uint32_t count = 0;
    for (size_t i = 0; i < ladder->record_count; i++) {
        const LadderRecord *record = &ladder->records[i];
        if (record->agents[0] == agent) {
            memcpy(values + count, record->values, record->count * sizeof *values);
            count += record->count;
        }
    }
    Estimate value =
        stats_estimate((Column){.values = values, .stride = 1, .count = count, .unit = 1});
    free(values);
    return value;
}

static int rating_order(const void *left, const void *right)
{
    const LadderRating *a = left;
    const LadderRating *b = right;
    if (a->value.mean > b->value.mean || a->value.mean < b->value.mean) {
        return a->value.mean > b->value.mean ? -1 : 1;
    }
    return a->agent < b->agent ? -1 : 1;
}

/* The best first; the caller frees them. */
static LadderRating *ladder_ratings(const Ladder *ladder)
{
    LadderRating *ratings = cli_memory(calloc(ladder->name_count, sizeof *ratings));
    bool cooperative = ladder->teams.shape->cooperative;
    for (size_t i = 0; i < ladder->record_count; i++) {
        const LadderRecord *record = &ladder->records[i];
        for (uint32_t side = 0; side < (cooperative ? 1 : 2); side++) {
            ratings[record->agents[side]].seeds += record->count;
        }
    }
    if (!cooperative) {
        ladder_rate(ladder, ratings);
    }
    for (uint32_t i = 0; i < ladder->name_count; i++) {
        ratings[i].agent = i;
        if (cooperative) {
            ratings[i].value = agent_value(ladder, i, ratings[i].seeds);
        }
    }
    qsort(ratings, ladder->name_count, sizeof *ratings, rating_order);
    return ratings;
}

static void ladder_print(const Ladder *ladder, const LadderRating *ratings)
{
    bool cooperative = ladder->teams.shape->cooperative;
    printf("ruleset:  %s\n", ladder->teams.shape->spec);
    printf("columns:  %s with its 95 %% interval, seeds%s\n\n",
           cooperative ? teams_measure(&ladder->teams) : "rating (mean 0; 400 are odds of 10 to 1)",
           cooperative ? "" : " against all opponents, a game in each order of the seats");
    for (uint32_t i = 0; i < ladder->name_count; i++) {
        const Estimate *value = &ratings[i].value;
        char interval[64];
        int digits = cooperative ? 4 : 0;
        snprintf(interval, sizeof interval, "[%.*f, %.*f]", digits, value->low, digits,
                 value->high);
        printf("  %3u %-34s %10.*f  %-20s %8" PRIu64 "\n", i + 1, ladder->names[ratings[i].agent],
               digits, value->mean, interval, ratings[i].seeds);
    }
}

static int ladder_print_json(const Ladder *ladder, const LadderRating *ratings)
{
    const Teams *teams = &ladder->teams;
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    ty_json_put_string(&json, "ruleset", teams->shape->spec);
    ty_json_put_int(&json, "rules_version", ty_game_rules_version(ty_ruleset_game(teams->ruleset)));
    ty_json_put_bool(&json, "cooperative", teams->shape->cooperative);
    ty_json_put_string(&json, "measure",
                       teams->shape->cooperative ? teams_measure(teams) : "rating");
    ty_json_open(&json, "agents", '[');
    for (uint32_t i = 0; i < ladder->name_count; i++) {
        ty_json_open(&json, NULL, '{');
        ty_json_put_string(&json, "agent", ladder->names[ratings[i].agent]);
        output_real(&json, "mean", ratings[i].value.mean);
        output_real(&json, "low", ratings[i].value.low);
        output_real(&json, "high", ratings[i].value.high);
        ty_json_put_int(&json, "seeds", (int64_t)ratings[i].seeds);
        ty_json_close(&json, '}');
    }
    ty_json_close(&json, ']');
    ty_json_close(&json, '}');
    return output_print(teams->settings, &json);
}

static int ladder_report(const Ladder *ladder)
{
    const Settings *settings = ladder->teams.settings;
    int status = CLI_OK;
    if (ladder->record_count == 0) {
        return cli_usage_error(settings, "%s: nobody is on the ladder yet; --agents says who plays",
                               ladder->path);
    }
    LadderRating *ratings = ladder_ratings(ladder);
    if (settings->json) {
        status = ladder_print_json(ladder, ratings);
    } else {
        ladder_print(ladder, ratings);
    }
    free(ratings);
    return status;
}

/* ---- The command ---- */

/* Every agent has a name of its own, by which the file knows it. */
static int agents_check(Ladder *ladder)
{
    const Teams *teams = &ladder->teams;
    for (uint32_t i = 0; i < teams->list.count; i++) {
        if (teams->list.agents[i] == &open_seat) {
            return cli_usage_error(teams->settings, "--agents: 'open' has no name for the file");
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(teams_name(teams, i), teams_name(teams, j)) == 0) {
                return cli_usage_error(teams->settings, "--agents: '%s' is there twice",
                                       teams_name(teams, i));
            }
        }
        if (ladder_agent(ladder, teams_name(teams, i)) == LADDER_AGENTS_MAX) {
            return cli_usage_error(teams->settings, "--agents: a ladder has at most %d agents",
                                   LADDER_AGENTS_MAX);
        }
    }
    bool few = teams->settings->agents != NULL && !teams->shape->cooperative;
    return few && teams->list.count < 2
               ? cli_usage_error(teams->settings, "--agents: %u given, at least 2 wanted",
                                 teams->list.count)
               : CLI_OK;
}

static int ladder_climb(Ladder *ladder)
{
    const Settings *settings = ladder->teams.settings;
    TyStatus status = ladder_read(ladder);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    int result = agents_check(ladder);
    if (result != CLI_OK) {
        return result;
    }
    status = ladder_extend(ladder);
    return status.code == TY_OK ? ladder_report(ladder)
                                : cli_failure(settings, "%s", status.message);
}

static int ladder_run(const Settings *settings)
{
    TyRuleset *ruleset = NULL;
    if (settings->file == NULL) {
        return cli_usage_error(settings, "--file FILE is missing: where the ladder is kept");
    }
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    Ladder *ladder = cli_memory(calloc(1, sizeof *ladder));
    ladder->path = settings->file;
    status = teams_open(settings, ruleset, &ladder->teams);
    if (status == CLI_OK && ladder->teams.shape->players < 2 && !ladder->teams.shape->cooperative) {
        status = cli_usage_error(settings, "%s has one player", ladder->teams.shape->spec);
    }
    if (status == CLI_OK) {
        status = ladder_climb(ladder);
    }
    for (size_t i = 0; i < ladder->record_count; i++) {
        free(ladder->records[i].values);
    }
    free(ladder->records);
    free(ladder);
    ty_ruleset_close(ruleset);
    return status;
}

static const Option ladder_options[] = {
    {.name = "file",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, file),
     .help = "Where the ladder is kept; made if there is none."},
    {.name = "agents",
     .value = "A,B,...",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, agents),
     .help = "The agents that play; without it the file is only shown."},
    OPTION_METRIC,
    OPTION_EPISODES("200"),
    {.name = "seed",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, seed),
     .maximum = LADDER_SEED_MAX,
     .standard = "0",
     .help = "The seed of the first episode."},
    OPTION_THREADS,
    OPTION_JSON,
    {.name = NULL},
};

const Command command_ladder = {
    .name = "ladder",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "rate agents, in a file that later runs extend",
    .details = "Games among opponents: every two of the agents play each seed in both orders of\n"
               "the seats (by turns around a larger table); all that the file holds gives\n"
               "Bradley-Terry ratings with 95 % confidence intervals. Each agent has one drawn\n"
               "game more, against an average one, so that ratings are finite. Cooperative games:\n"
               "each agent plays all seats; the metric with its interval.\n"
               "What is in the file is not played again: more episodes, other seeds or more\n"
               "agents extend it. Agents are known by their names with settings. The file is\n"
               "written after every pair, so a run can be stopped and goes on later.",
    .example = "  trainyard ladder GAME --agents expert,random --file ladder.json\n"
               "  trainyard ladder GAME --file ladder.json --json",
    .options = ladder_options,
    .run = ladder_run,
};
