/* trainyard arena: compares agents on shared seeds, with confidence intervals. */
#include "cli/output.h"
#include "cli/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being compared. Agents of a cooperative game each play all seats themselves; otherwise
 * they sit at one table in every rotation of the seats. `results` has one entry per agent, or one
 * per rotation: as many. */
typedef struct Arena {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    AgentList list;
    Results results[CLI_ARGUMENTS_MAX];
} Arena;

/* Which agent sits in `seat` in `rotation`. */
static uint32_t arena_sitter(const Arena *arena, uint32_t rotation, uint32_t seat)
{
    return arena->shape->cooperative ? rotation : (seat + rotation) % arena->list.count;
}

static TyStatus arena_play_round(Arena *arena, uint32_t rotation)
{
    char label[TY_NAME_MAX];
    if (arena->shape->cooperative) {
        snprintf(label, sizeof label, "%s", arena->list.agents[rotation]->name);
    } else {
        snprintf(label, sizeof label, "rotation %u of %u", rotation + 1, arena->list.count);
    }
    Run run = {
        .settings = arena->settings,
        .ruleset = arena->ruleset,
        .seating = seating_same(arena->ruleset, NULL),
        .seed = arena->settings->seed,
        .episodes = (uint32_t)arena->settings->episodes,
        .threads = run_threads(arena->settings),
        .label = label,
    };
    for (uint32_t seat = 0; seat < arena->shape->players; seat++) {
        run.seating.agents[seat] = arena->list.agents[arena_sitter(arena, rotation, seat)];
    }
    memcpy(run.seating.endpoint, arena->list.endpoint, sizeof run.seating.endpoint);
    return run_episodes(&run, &arena->results[rotation]);
}

static void arena_print_head(const Arena *arena)
{
    printf("ruleset:  %s\n", arena->shape->spec);
    printf("episodes: %" PRIu64 " %s, seeds %" PRIu64 "..%" PRIu64 "\n", arena->settings->episodes,
           arena->shape->cooperative ? "per agent" : "per rotation of the seats",
           arena->settings->seed, arena->settings->seed + arena->settings->episodes - 1);
}

static void arena_print_note(const Arena *arena)
{
    if (arena->shape->note[0] != '\0') {
        printf("\nnote:     %s\n", arena->shape->note);
    }
}

static void arena_json_head(const Arena *arena, TyJson *json)
{
    ty_json_put_string(json, "ruleset", arena->shape->spec);
    ty_json_put_int(json, "rules_version", ty_game_rules_version(ty_ruleset_game(arena->ruleset)));
    ty_json_put_string(json, "note", arena->shape->note);
    ty_json_put_bool(json, "cooperative", arena->shape->cooperative);
    ty_json_put_int(json, "episodes", (int64_t)arena->settings->episodes);
    output_unsigned(json, "seed", arena->settings->seed);
}

/* ---- Cooperative games: the metrics of each agent, and differences on the same seeds ---- */

static void print_compared(const char *name, const Estimate *own, const Estimate *difference)
{
    char interval[64];
    snprintf(interval, sizeof interval, "[%.4f, %.4f]", own->low, own->high);
    if (difference == NULL) {
        printf("  %-16s %12.4f  %s\n", name, own->mean, interval);
    } else {
        printf("  %-16s %12.4f  %-24s %+.4f [%+.4f, %+.4f]\n", name, own->mean, interval,
               difference->mean, difference->low, difference->high);
    }
}

/* One quantity of every agent, beside its difference to the first agent. */
static void print_quantity(const Arena *arena, const char *name,
                           Column (*column)(const Results *, uint32_t), uint32_t index)
{
    printf("\n%s\n", name);
    Column base = column(&arena->results[0], index);
    for (uint32_t i = 0; i < arena->list.count; i++) {
        Column own = column(&arena->results[i], index);
        Estimate estimate = stats_estimate(own);
        Estimate difference = stats_paired(own, base);
        print_compared(arena->list.agents[i]->name, &estimate, i > 0 ? &difference : NULL);
    }
}

static Column length_column(const Results *results, uint32_t index)
{
    (void)index;
    return results_length(results);
}

static void cooperative_print(const Arena *arena)
{
    arena_print_head(arena);
    printf("columns:  mean, its 95 %% interval, paired difference to %s with its 95 %% interval\n",
           arena->list.agents[0]->name);
    for (uint32_t i = 0; i < arena->shape->metric_count; i++) {
        print_quantity(arena, arena->shape->metrics[i], results_metric, i);
    }
    print_quantity(arena, "return of seat 0", results_return, 0);
    print_quantity(arena, "decisions", length_column, 0);
    arena_print_note(arena);
}

static void json_quantity(const Arena *arena, uint32_t agent, TyJson *json, const char *key,
                          Column (*column)(const Results *, uint32_t), uint32_t index)
{
    Column own = column(&arena->results[agent], index);
    Estimate estimate = stats_estimate(own);
    Estimate difference = stats_paired(own, column(&arena->results[0], index));
    ty_json_open(json, key, '{');
    output_estimate(json, "value", &estimate);
    if (agent > 0) {
        output_estimate(json, "difference", &difference);
    }
    ty_json_close(json, '}');
}

static void cooperative_json(const Arena *arena, TyJson *json)
{
    ty_json_open(json, "agents", '[');
    for (uint32_t agent = 0; agent < arena->list.count; agent++) {
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "agent", arena->list.agents[agent]->name);
        ty_json_open(json, "metrics", '{');
        for (uint32_t i = 0; i < arena->shape->metric_count; i++) {
            json_quantity(arena, agent, json, arena->shape->metrics[i], results_metric, i);
        }
        ty_json_close(json, '}');
        json_quantity(arena, agent, json, "return", results_return, 0);
        json_quantity(arena, agent, json, "decisions", length_column, 0);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* ---- Competitive games: shares of wins, draws and losses, and returns ---- */

typedef enum Outcome { OUTCOME_WIN, OUTCOME_DRAW, OUTCOME_LOSS, OUTCOME_RETURN } Outcome;

enum { OUTCOME_COUNT = OUTCOME_RETURN + 1 };

static const char *const outcome_names[OUTCOME_COUNT] = {"win", "draw", "loss", "return"};

/* One agent's results: a row per seed with the sums over the rotations and its seats. Rotations of
 * one seed share their luck, so the seed is the unit of the statistics. */
typedef struct Score {
    uint32_t places; /* seats that the agent had per seed, over all rotations */
    int32_t *sums;   /* [episode][outcome] */
} Score;

/* How `seat` did: alone at the top, there with others, or below. */
static Outcome seat_outcome(const int32_t *returns, uint32_t players, uint32_t seat)
{
    bool shared = false;
    for (uint32_t other = 0; other < players; other++) {
        if (returns[other] > returns[seat]) {
            return OUTCOME_LOSS;
        }
        shared = shared || (other != seat && returns[other] == returns[seat]);
    }
    return shared ? OUTCOME_DRAW : OUTCOME_WIN;
}

static void score_add(const Arena *arena, uint32_t agent, uint32_t rotation, Score *score)
{
    const Results *results = &arena->results[rotation];
    for (uint32_t seat = 0; seat < results->players; seat++) {
        if (arena_sitter(arena, rotation, seat) != agent) {
            continue;
        }
        score->places++;
        for (uint32_t i = 0; i < results->episodes; i++) {
            const int32_t *returns = results->values + (size_t)i * results->columns;
            int32_t *sums = score->sums + (size_t)i * OUTCOME_COUNT;
            sums[seat_outcome(returns, results->players, seat)]++;
            sums[OUTCOME_RETURN] += returns[seat];
        }
    }
}

static void score_open(const Arena *arena, uint32_t agent, Score *score)
{
    *score = (Score){
        .sums = cli_memory(calloc(arena->settings->episodes * OUTCOME_COUNT, sizeof(int32_t)))};
    for (uint32_t rotation = 0; rotation < arena->list.count; rotation++) {
        score_add(arena, agent, rotation, score);
    }
}

static Estimate score_estimate(const Arena *arena, const Score *score, Outcome outcome)
{
    bool share = outcome != OUTCOME_RETURN;
    double unit = share ? 1.0 : 1.0 / TY_REWARD_ONE;
    return stats_estimate((Column){
        .values = score->sums + outcome,
        .stride = OUTCOME_COUNT,
        .count = (uint32_t)arena->settings->episodes,
        .unit = unit / score->places,
        .parts = share ? score->places : 0,
    });
}

/* Of the column of names: those of networks have a checksum. */
static int names_width(const Arena *arena)
{
    size_t width = 16;
    for (uint32_t agent = 0; agent < arena->list.count; agent++) {
        size_t length = strlen(arena->list.agents[agent]->name);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void competitive_print_agent(const Arena *arena, uint32_t agent, const Score *score)
{
    printf("  %-*s", names_width(arena), arena->list.agents[agent]->name);
    for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        Estimate estimate = score_estimate(arena, score, (Outcome)outcome);
        printf("  %8.4f [%.4f, %.4f]", estimate.mean, estimate.low, estimate.high);
    }
    printf("\n");
}

static void competitive_json_agent(const Arena *arena, uint32_t agent, const Score *score,
                                   TyJson *json)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "agent", arena->list.agents[agent]->name);
    for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        Estimate estimate = score_estimate(arena, score, (Outcome)outcome);
        output_estimate(json, outcome_names[outcome], &estimate);
    }
    ty_json_close(json, '}');
}

static void competitive_print_head(const Arena *arena)
{
    arena_print_head(arena);
    printf("columns:  shares and mean return with their 95 %% intervals, from seed to seed\n\n"
           "  %-*s",
           names_width(arena), "");
    for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        printf("  %8s %-16s", outcome_names[outcome], "");
    }
    printf("\n");
}

/* With `json` NULL, a table. */
static void competitive_report(const Arena *arena, TyJson *json)
{
    for (uint32_t agent = 0; agent < arena->list.count; agent++) {
        Score score;
        score_open(arena, agent, &score);
        if (json != NULL) {
            competitive_json_agent(arena, agent, &score, json);
        } else {
            competitive_print_agent(arena, agent, &score);
        }
        free(score.sums);
    }
}

/* ---- The command ---- */

static int arena_print_json(const Arena *arena)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    arena_json_head(arena, &json);
    if (arena->shape->cooperative) {
        cooperative_json(arena, &json);
    } else {
        ty_json_open(&json, "agents", '[');
        competitive_report(arena, &json);
        ty_json_close(&json, ']');
    }
    ty_json_close(&json, '}');
    return output_print(arena->settings, &json);
}

static int arena_print(const Arena *arena)
{
    if (arena->settings->json) {
        return arena_print_json(arena);
    }
    if (arena->shape->cooperative) {
        cooperative_print(arena);
        return CLI_OK;
    }
    competitive_print_head(arena);
    competitive_report(arena, NULL);
    arena_print_note(arena);
    return CLI_OK;
}

static int arena_play(Arena *arena)
{
    uint32_t played = 0;
    TyStatus status = {.code = TY_OK};
    while (played < arena->list.count && status.code == TY_OK) {
        status = arena_play_round(arena, played);
        played += status.code == TY_OK;
    }
    int result = status.code == TY_OK ? arena_print(arena)
                                      : cli_failure(arena->settings, "%s", status.message);
    for (uint32_t i = 0; i < played; i++) {
        results_close(&arena->results[i]);
    }
    return result;
}

static int arena_check_agents(const Arena *arena)
{
    if (arena->list.count < 2) {
        return cli_usage_error(arena->settings, "--agents: %u given, at least 2 wanted",
                               arena->list.count);
    }
    if (!arena->shape->cooperative && arena->list.count > arena->shape->players) {
        return cli_usage_error(arena->settings,
                               "--agents: %u given, at most %u fit at the table of %s",
                               arena->list.count, arena->shape->players, arena->shape->spec);
    }
    return CLI_OK;
}

static int arena_run(const Settings *settings)
{
    TyRuleset *ruleset = NULL;
    if (settings->agents == NULL) {
        return cli_usage_error(settings, "--agents A,B[,C] is missing: whom to compare");
    }
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    Arena arena = {.settings = settings, .ruleset = ruleset, .shape = ty_shape(ruleset)};
    status = agent_list_parse(settings, ruleset, "agents", settings->agents, false, &arena.list);
    if (status == CLI_OK) {
        status = arena_check_agents(&arena);
    }
    if (status == CLI_OK) {
        status = arena_play(&arena);
    }
    ty_ruleset_close(ruleset);
    return status;
}

static const Option arena_options[] = {
    {.name = "agents",
     .value = "A,B[,C]",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, agents),
     .help = "The agents to compare."},
    OPTION_EPISODES("1000"),
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_START,
    OPTIONS_CONNECT,
    OPTION_JSON,
    {.name = NULL},
};

const Command command_arena = {
    .name = "arena",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "compare agents on the same seeds",
    .details =
        "Cooperative games: each agent plays all seats on the same seeds; prints its metrics\n"
        "and their paired differences to the first agent, with 95 % confidence intervals.\n"
        "Other games: the agents sit at one table, on the same seeds, in every rotation of\n"
        "the seats; prints the shares of wins (highest return), draws and losses.\n"
        "An agent is a built-in one, or 'open': your own program, which joins on a daemon\n"
        "(or the daemon's endpoint in its place).",
    .example = "  trainyard arena GAME --agents expert,random --episodes 1000\n"
               "  trainyard arena GAME --agents expert,open --start ./my_agent",
    .options = arena_options,
    .run = arena_run,
};
