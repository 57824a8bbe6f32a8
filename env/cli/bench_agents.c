/* trainyard bench --agents: what a decision of each built-in agent costs. */
#include "bench/bench_agents.h"
#include "agent.h"
#include "cli/bench_modes.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void agents_print(const char *spec, const BenchAgents *agents)
{
    printf("\n%s\n  %-16s %12s %12s %12s %12s %12s %10s\n", spec, "agent", "decisions/s", "us mean",
           "us p10", "us median", "references", "decisions");
    for (uint32_t i = 0; i < agents->count; i++) {
        const BenchAgent *agent = &agents->agents[i];
        char rate[RATE_TEXT_MAX];
        printf("  %-16s %12s %12.3f %12.3f %12.3f %12.1f %10" PRIu64 "\n", agent->agent->name,
               rate_text(1e9 / agent->decision.mean, rate), agent->decision.mean * 1e-3,
               agent->decision.low * 1e-3, agent->decision.median * 1e-3,
               agent->decision.mean / agents->copy.median, agent->decisions);
    }
}

static void agents_json(TyJson *json, const char *spec, const BenchAgents *agents)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "ruleset", spec);
    output_real(json, "ref_copy_ns", agents->copy.median);
    ty_json_open(json, "agents", '[');
    for (uint32_t i = 0; i < agents->count; i++) {
        const BenchAgent *agent = &agents->agents[i];
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "agent", agent->agent->name);
        output_real(json, "decisions_per_s", 1e9 / agent->decision.mean);
        output_real(json, "us_per_decision", agent->decision.mean * 1e-3);
        output_real(json, "us_low", agent->decision.low * 1e-3);
        output_real(json, "us_median", agent->decision.median * 1e-3);
        output_real(json, "ratio", agent->decision.mean / agents->copy.median);
        output_unsigned(json, "decisions", agent->decisions);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
    bench_machine_json(json);
    ty_json_close(json, '}');
}

/* Those of --agent, or else all that play the game as they stand. */
static int agents_choose(const Settings *settings, const TyRuleset *ruleset, BenchAgents *agents)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    AgentList list = {.count = 0};
    int status = CLI_OK;
    if (settings->agent != NULL) {
        status = agent_list_parse(settings, ruleset, "agent", settings->agent, true, &list);
    }
    for (uint32_t i = 0; settings->agent == NULL && ty_agent_at(game, i) != NULL; i++) {
        const TyAgent *agent = ty_agent_find(game, ty_agent_at(game, i)->name);
        if (agent != NULL && list.count < BENCH_AGENTS_MAX) {
            list.agents[list.count++] = agent;
        }
    }
    for (uint32_t i = 0; i < list.count && i < BENCH_AGENTS_MAX && status == CLI_OK; i++) {
        agents->agents[agents->count++].agent = list.agents[i];
        if (list.agents[i] == NULL) {
            status = cli_usage_error(settings, "--agent: people are not measured");
        }
    }
    return status;
}

static int agents_measure(const Settings *settings, const char *spec, TyJson *json)
{
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, spec, &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    BenchAgents *agents = cli_memory(calloc(1, sizeof *agents));
    status = agents_choose(settings, ruleset, agents);
    if (status == CLI_OK) {
        TyStatus measured = bench_agents_measure(ruleset, settings->seconds, agents);
        status = measured.code == TY_OK ? CLI_OK : cli_failure(settings, "%s", measured.message);
    }
    if (status == CLI_OK && settings->json) {
        agents_json(json, ty_shape(ruleset)->spec, agents);
    } else if (status == CLI_OK) {
        agents_print(ty_shape(ruleset)->spec, agents);
    }
    free(agents);
    ty_ruleset_close(ruleset);
    return status;
}

int bench_agents(const Settings *settings, const BenchList *list)
{
    return bench_each(
        settings, list,
        "Processor time of a decision with the row and the mask that the agent is shown, in "
        "positions\nall over the episodes; a reference is a memcpy of 1 KiB from a random one of "
        "65,536 slots.\n",
        agents_measure);
}
