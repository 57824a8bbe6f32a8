/* Opening the agents that a command line names, and seating them. */
#include "cli/cli.h"
#include "core/status.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const TyAgent open_seat = {.name = "open", .help = "a program that joins the seat on a daemon"};

const TyAgent *agent_standard(const TyRuleset *ruleset)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    const TyAgent *expert = ty_agent_find(game, "expert");
    return expert != NULL ? expert : ty_agent_at(game, 0);
}

const char *agent_name(const TyAgent *agent)
{
    return agent != NULL ? agent->name : "human";
}

/* Reads the file of an agent, a path; it lives until the agent is open. */
static TyStatus agent_file_open(void *user, const char *value, const char **bytes, size_t *size,
                                char name[TY_NAME_MAX])
{
    char **content = user;
    TyStatus status = file_read(value, content, size);
    *bytes = *content;
    path_name(value, name);
    return status;
}

static const TyAgent *kept[CLI_AGENTS_MAX];
static uint32_t kept_count;

static void kept_close(void)
{
    for (uint32_t i = 0; i < kept_count; i++) {
        ty_agent_close(kept[i]);
    }
}

TyStatus agent_take(const TyRuleset *ruleset, const char *spec, const TyAgent **agent)
{
    char *content = NULL;
    const TyFiles files = {.user = &content, .open = agent_file_open};
    if (kept_count == CLI_AGENTS_MAX) {
        return ty_status_fail(TY_LIMIT, "there are more than %d agents", CLI_AGENTS_MAX);
    }
    TyStatus status = ty_agent_open(ruleset, spec, &files, agent);
    free(content);
    if (status.code == TY_OK) {
        kept[kept_count++] = *agent;
        if (kept_count == 1) {
            atexit(kept_close);
        }
    }
    return status;
}

int agent_open(const Settings *settings, const TyRuleset *ruleset, const char *spec,
               const AgentWords *words, const TyAgent **agent)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    TyStatus status = agent_take(ruleset, spec, agent);
    if (status.code == TY_OK) {
        return CLI_OK;
    }
    bool known = registry_agent(game, spec) != NULL || strchr(spec, ':') != NULL;
    return cli_usage_error(settings, "--%s: %s%s", words->option, status.message,
                           known ? "" : words->also);
}

/* "open", or the endpoint of a daemon, which the list keeps. */
static bool is_open(const char *name, AgentList *list)
{
    if (strcmp(name, open_seat.name) == 0) {
        return true;
    }
    if (strstr(name, "://") == NULL ||
        (list->endpoint[0] != '\0' && strcmp(name, list->endpoint) != 0)) {
        return false;
    }
    snprintf(list->endpoint, sizeof list->endpoint, "%.*s", (int)sizeof list->endpoint - 1, name);
    return true;
}

/* One entry of a list. */
static int list_add(const Settings *settings, const TyRuleset *ruleset, const AgentWords *words,
                    const char *name, AgentList *list)
{
    bool people = words->people;
    const TyAgent *agent = NULL;
    int status = CLI_OK;
    if (list->count == CLI_ARGUMENTS_MAX) {
        return cli_usage_error(settings, "--%s: more than %d names", words->option,
                               CLI_ARGUMENTS_MAX);
    }
    if (!people && is_open(name, list)) {
        agent = &open_seat;
    } else if (!people || strcmp(name, "human") != 0) {
        status = agent_open(settings, ruleset, name, words, &agent);
    }
    list->agents[list->count] = agent;
    list->count += status == CLI_OK;
    return status;
}

int agent_list_parse(const Settings *settings, const TyRuleset *ruleset, const char *option,
                     const char *names, bool people, AgentList *list)
{
    const AgentWords words = {
        .option = option, .also = people ? "; also: human" : "; also: open", .people = people};
    int status = CLI_OK;
    *list = (AgentList){.count = 0};
    for (const char *at = names; status == CLI_OK; at++) {
        char name[TY_SPEC_MAX];
        size_t length = ty_agent_spec_length(at);
        if (length >= sizeof name) {
            return cli_usage_error(settings, "--%s: a name has more than %d characters", option,
                                   TY_SPEC_MAX - 1);
        }
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        status = list_add(settings, ruleset, &words, name, list);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return status;
}

Seating seating_same(const TyRuleset *ruleset, const TyAgent *agent)
{
    const TyShape *shape = ty_shape(ruleset);
    Seating seating = {.agents = {NULL}};
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        seating.agents[seat] = agent;
    }
    if (shape->seats > shape->players) {
        seating.agents[shape->players] = &chance_agent;
    }
    return seating;
}

int seating_parse(const Settings *settings, const TyRuleset *ruleset, Seating *seating)
{
    const TyShape *shape = ty_shape(ruleset);
    if (settings->agent != NULL && settings->agents != NULL) {
        return cli_usage_error(settings, "--agent and --agents exclude each other");
    }
    *seating = seating_same(ruleset, agent_standard(ruleset));
    const char *names = settings->agents != NULL ? settings->agents : settings->agent;
    if (names == NULL) {
        return CLI_OK;
    }
    const char *option = settings->agents != NULL ? "agents" : "agent";
    AgentList list;
    int status = agent_list_parse(settings, ruleset, option, names, false, &list);
    if (status != CLI_OK) {
        return status;
    }
    uint32_t wanted = settings->agents != NULL ? shape->players : 1;
    if (list.count != wanted) {
        return cli_usage_error(settings, "--%s: %u given, %u wanted for %s", option, list.count,
                               wanted, shape->spec);
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        seating->agents[seat] = list.agents[list.count == 1 ? 0 : seat];
    }
    memcpy(seating->endpoint, list.endpoint, sizeof seating->endpoint);
    return CLI_OK;
}
