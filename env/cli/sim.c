/* trainyard sim: plays many episodes and says how they went, with confidence intervals. */
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/runner.h"

#include <inttypes.h>
#include <stdio.h>

static void print_line(const char *name, const Estimate *estimate)
{
    char interval[64];
    snprintf(interval, sizeof interval, "[%.4f, %.4f]", estimate->low, estimate->high);
    printf("  %-20s %12.4f   %-24s %10.4f %8g %8g\n", name, estimate->mean, interval,
           estimate->deviation, estimate->minimum, estimate->maximum);
}

static void print_seats(const Run *run)
{
    printf("agents:   ");
    for (uint32_t seat = 0; seat < ty_shape(run->ruleset)->seats; seat++) {
        printf("%s%s", seat > 0 ? ", " : "", agent_name(run->seating.agents[seat]));
    }
    printf("\n");
}

static void print_table(const Run *run, const Results *results)
{
    const TyShape *shape = ty_shape(run->ruleset);
    printf("ruleset:  %s\n", shape->spec);
    print_seats(run);
    printf("episodes: %u, seeds %" PRIu64 "..%" PRIu64 "\n\n", run->episodes, run->seed,
           run->seed + run->episodes - 1);
    printf("  %-20s %12s   %-24s %10s %8s %8s\n", "", "mean", "95 % interval", "deviation", "min",
           "max");
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        Estimate estimate = stats_estimate(results_metric(results, i));
        print_line(shape->metrics[i], &estimate);
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        char name[32];
        snprintf(name, sizeof name, "return of seat %u", seat);
        Estimate estimate = stats_estimate(results_return(results, seat));
        print_line(name, &estimate);
    }
    Estimate decisions = stats_estimate(results_length(results));
    print_line("decisions", &decisions);
    char rates[2][RATE_TEXT_MAX];
    printf("\nspeed:    %s decisions/s, %s episodes/s on %u threads (agents included)\n",
           rate_text((double)results_decisions(results) / results->seconds, rates[0]),
           rate_text(results->episodes / results->seconds, rates[1]), run->threads);
    if (shape->note[0] != '\0') {
        printf("note:     %s\n", shape->note);
    }
}

static void json_results(TyJson *json, const Run *run, const Results *results)
{
    const TyShape *shape = ty_shape(run->ruleset);
    ty_json_open(json, "metrics", '{');
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        Estimate estimate = stats_estimate(results_metric(results, i));
        output_estimate(json, shape->metrics[i], &estimate);
    }
    ty_json_close(json, '}');
    ty_json_open(json, "returns", '[');
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        Estimate estimate = stats_estimate(results_return(results, seat));
        output_estimate(json, NULL, &estimate);
    }
    ty_json_close(json, ']');
    Estimate decisions = stats_estimate(results_length(results));
    output_estimate(json, "decisions", &decisions);
}

static int print_json(const Settings *settings, const Run *run, const Results *results)
{
    const TyShape *shape = ty_shape(run->ruleset);
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    ty_json_put_string(&json, "ruleset", shape->spec);
    ty_json_put_int(&json, "rules_version", ty_game_rules_version(ty_ruleset_game(run->ruleset)));
    ty_json_put_string(&json, "note", shape->note);
    ty_json_open(&json, "agents", '[');
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        ty_json_put_string(&json, NULL, agent_name(run->seating.agents[seat]));
    }
    ty_json_close(&json, ']');
    ty_json_put_int(&json, "episodes", run->episodes);
    output_unsigned(&json, "seed", run->seed);
    json_results(&json, run, results);
    ty_json_put_int(&json, "threads", run->threads);
    output_real(&json, "seconds", results->seconds);
    output_real(&json, "decisions_per_s", (double)results_decisions(results) / results->seconds);
    ty_json_close(&json, '}');
    return output_print(settings, &json);
}

static void print_message(void *user, const char *sentence)
{
    (void)user;
    fprintf(stderr, "trainyard sim: %s\n", sentence);
}

/* Opens the log of --log, if it is given. On failure it has complained, and returns the status. */
static int log_open(const Settings *settings, Recorder **recorder)
{
    *recorder = NULL;
    if (settings->log == NULL) {
        return CLI_OK;
    }
    RecorderOptions options = recorder_defaults();
    options.message = print_message;
    TyStatus status = recorder_open(settings->log, &options, recorder);
    return status.code == TY_OK ? CLI_OK : cli_failure(settings, "%s", status.message);
}

/* Closes the log and complains if anything is missing in it. */
static int log_close(const Settings *settings, Recorder *recorder)
{
    if (recorder == NULL) {
        return CLI_OK;
    }
    RecorderStats stats = recorder_stats(recorder);
    TyStatus failure = recorder_failure(recorder);
    recorder_close(recorder);
    if (stats.lost > 0) {
        return cli_failure(settings, "%" PRIu64 " episodes are not in the log: %s", stats.lost,
                           failure.message);
    }
    return CLI_OK;
}

static int sim_play(const Settings *settings, const TyRuleset *ruleset)
{
    Run run = {
        .settings = settings,
        .ruleset = ruleset,
        .seed = settings->seed,
        .episodes = (uint32_t)settings->episodes,
        .threads = run_threads(settings),
        .label = "episodes",
    };
    int status = seating_parse(settings, ruleset, &run.seating);
    if (status != CLI_OK) {
        return status;
    }
    if (settings->notes && settings->log == NULL) {
        return cli_usage_error(settings, "--notes: they go into a log; give --log as well");
    }
    run.notes = settings->notes;
    status = log_open(settings, &run.recorder);
    if (status != CLI_OK) {
        return status;
    }
    Results results;
    TyStatus played = run_episodes(&run, &results);
    int logged = log_close(settings, run.recorder);
    if (played.code != TY_OK) {
        return cli_failure(settings, "%s", played.message);
    }
    if (settings->json) {
        status = print_json(settings, &run, &results);
    } else {
        print_table(&run, &results);
    }
    results_close(&results);
    return status != CLI_OK ? status : logged;
}

static int sim_run(const Settings *settings)
{
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status == CLI_OK) {
        status = sim_play(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option sim_options[] = {
    OPTION_AGENT,
    OPTION_AGENTS,
    OPTION_EPISODES("1000"),
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_START,
    OPTIONS_CONNECT,
    {.name = "log",
     .value = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, log),
     .help = "Write every episode into a log, for 'trainyard replay'."},
    {.name = "notes",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, notes),
     .help = "With what agents tell of their choices: probabilities, values, visits."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_sim = {
    .name = "sim",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "play many episodes and print the results with confidence intervals",
    .details = "Plays episodes with built-in agents, or with your own programs that join the\n"
               "seats called 'open' on a daemon, and prints the mean and the 95 % confidence\n"
               "interval (Wilson's for rates, Student's for others) of every metric, of each\n"
               "seat's return and of the number of decisions. Episode i has the seed N + i, so\n"
               "the results do not depend on the number of threads.",
    .example = "  trainyard sim GAME --agent random --episodes 10000 --seed 1\n"
               "  trainyard sim GAME --agent open --start ./my_agent",
    .options = sim_options,
    .run = sim_run,
};
