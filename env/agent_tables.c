/* What agents make of a ruleset once, for all their seats and episodes. */
#include "registry.h"

#include "core/status.h"

#include <stddef.h>
#include <stdlib.h>

/* The tables of one agent. Agents that were opened with settings have those of the listed one,
 * whose functions they have. */
struct AgentTables {
    AgentTables *next;
    void (*build)(const TyRuleset *ruleset, void *tables);
    _Alignas(max_align_t) uint8_t bytes[];
};

TyStatus agent_tables_build(TyRuleset *ruleset)
{
    const TyAgent *agent = NULL;
    for (uint32_t i = 0; (agent = ty_agent_at(ruleset->game, i)) != NULL; i++) {
        if (agent->build == NULL) {
            continue;
        }
        AgentTables *tables = calloc(1, sizeof *tables + agent->tables_size);
        if (tables == NULL) {
            return ty_status_fail(TY_NO_MEMORY, "no memory for the tables of %s", agent->name);
        }
        tables->build = agent->build;
        tables->next = ruleset->agent_tables;
        ruleset->agent_tables = tables;
        agent->build(ruleset, tables->bytes);
    }
    return ty_status_ok();
}

void agent_tables_free(TyRuleset *ruleset)
{
    while (ruleset->agent_tables != NULL) {
        AgentTables *tables = ruleset->agent_tables;
        ruleset->agent_tables = tables->next;
        free(tables);
    }
}

const void *ty_agent_tables(const TyRuleset *ruleset, const TyAgent *agent)
{
    const AgentTables *tables = ruleset->agent_tables;
    while (tables != NULL && tables->build != agent->build) {
        tables = tables->next;
    }
    return tables != NULL ? tables->bytes : NULL;
}
