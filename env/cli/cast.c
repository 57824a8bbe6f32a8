/* Who acts in the seats of a trace. */
#include "cli/cast.h"

#include "core/draw.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000 };

static int actor_open(const Settings *settings, const TyRuleset *ruleset, const char *name,
                      const TyAgent **agent)
{
    const AgentWords words = {.option = settings->agents != NULL ? "agents" : "agent",
                              .also = "; or two of them as in expert@0.9+random"};
    return agent_open(settings, ruleset, name, &words, agent);
}

/* "0", "1" or "0.25", with up to six digits behind the point. */
static bool probability_parse(const char *text, uint32_t *millionths)
{
    uint32_t scale = MILLION;
    if ((text[0] != '0' && text[0] != '1') || (text[1] != '.' && text[1] != '\0')) {
        return false;
    }
    *millionths = text[0] == '1' ? MILLION : 0;
    for (const char *digit = text + 1 + (text[1] == '.'); *digit != '\0'; digit++) {
        scale /= 10;
        if (*digit < '0' || *digit > '9' || scale == 0) {
            return false;
        }
        *millionths += (uint32_t)(*digit - '0') * scale;
    }
    return *millionths <= MILLION;
}

/* "FIRST@PROBABILITY+SECOND"; `name` is taken apart. */
static int mix_parse(const Settings *settings, const TyRuleset *ruleset, char *name, Actor *actor)
{
    char *at = strchr(name, '@');
    assert(at != NULL);
    char *plus = strchr(at, '+');
    *at = '\0';
    if (plus != NULL) {
        *plus = '\0';
    }
    if (plus == NULL || !probability_parse(at + 1, &actor->probability)) {
        return cli_usage_error(settings,
                               "--%s: '%s': behind '@' stands a probability from 0 to 1, then '+' "
                               "and another agent, as in expert@0.9+random",
                               settings->agents != NULL ? "agents" : "agent", actor->name);
    }
    int status = actor_open(settings, ruleset, name, &actor->first);
    return status != CLI_OK ? status : actor_open(settings, ruleset, plus + 1, &actor->second);
}

static int actor_parse(const Settings *settings, const TyRuleset *ruleset, const char *text,
                       size_t length, Actor *actor)
{
    char name[TY_SPEC_MAX];
    *actor = (Actor){.probability = MILLION};
    if (length >= sizeof actor->name) {
        return cli_usage_error(settings, "--%s: a name has more than %d characters",
                               settings->agents != NULL ? "agents" : "agent", TY_SPEC_MAX - 1);
    }
    snprintf(actor->name, sizeof actor->name, "%.*s", (int)length, text);
    memcpy(name, actor->name, sizeof name);
    return strchr(name, '@') != NULL ? mix_parse(settings, ruleset, name, actor)
                                     : actor_open(settings, ruleset, name, &actor->first);
}

/* One actor for each of `count` seats. */
static int actors_parse(const Settings *settings, const TyRuleset *ruleset, const char *names,
                        uint32_t count, Cast *cast)
{
    uint32_t given = 1;
    for (const char *at = names; at[ty_agent_spec_length(at)] != '\0'; given++) {
        at += ty_agent_spec_length(at) + 1;
    }
    if (given != count) {
        return cli_usage_error(settings, "--%s: %u given, %u wanted for %s",
                               settings->agents != NULL ? "agents" : "agent", given, count,
                               ty_shape(ruleset)->spec);
    }
    int status = CLI_OK;
    for (uint32_t i = 0; i < count && status == CLI_OK; i++) {
        size_t length = ty_agent_spec_length(names);
        status = actor_parse(settings, ruleset, names, length, &cast->actors[i]);
        names += length + 1;
    }
    return status;
}

int cast_parse(const Settings *settings, const TyRuleset *ruleset, Cast *cast)
{
    const TyShape *shape = ty_shape(ruleset);
    const Seating standard = seating_same(ruleset, agent_standard(ruleset));
    if (settings->agent != NULL && settings->agents != NULL) {
        return cli_usage_error(settings, "--agent and --agents exclude each other");
    }
    *cast = (Cast){.actors = {{.first = NULL}}};
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        const TyAgent *agent = standard.agents[seat];
        cast->actors[seat].first = agent;
        snprintf(cast->actors[seat].name, TY_SPEC_MAX, "%s", agent->name);
    }
    if (settings->agents != NULL) {
        return actors_parse(settings, ruleset, settings->agents, shape->players, cast);
    }
    int status = settings->agent != NULL ? actors_parse(settings, ruleset, settings->agent, 1, cast)
                                         : CLI_OK;
    for (uint32_t seat = 1; seat < shape->players; seat++) {
        cast->actors[seat] = cast->actors[0];
    }
    return status;
}

Seating cast_seating(const Cast *cast, bool second)
{
    Seating seating = {.agents = {NULL}};
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        seating.agents[seat] = second ? cast->actors[seat].second : cast->actors[seat].first;
    }
    return seating;
}

bool cast_second_acts(const Cast *cast, const Match *match)
{
    const TyHead *head = ty_head(match->state);
    uint32_t seat = match_seat(match);
    if (cast->actors[seat].second == NULL) {
        return false;
    }
    /* The seats behind the last have seeds that no agent has. */
    uint64_t seed = ty_agent_seed(head->seed, TY_SEATS_MAX + seat);
    uint32_t counter = 0;
    return draw_below(seed, head->steps, &counter, MILLION) >= cast->actors[seat].probability;
}
