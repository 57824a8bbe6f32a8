/* The games and the agents that there are: one line each. */
#include "registry.h"

#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

extern const TyGame convoi_game;
extern const TyGame nordic_game;
extern const TyGame express_game;
extern const TyGame chicago_game;

static const TyGame *const built_in_games[] = {
    &convoi_game,
    &nordic_game,
    &express_game,
    &chicago_game,
};

extern const TyAgent random_agent;
extern const TyAgent convoi_expert;
extern const TyAgent nordic_expert;
extern const TyAgent express_expert;
extern const TyAgent chicago_expert;
extern const TyAgent search_agent;
extern const TyAgent net_agent;

static const TyAgent *const built_in_agents[] = {
    &random_agent,   &convoi_expert, &nordic_expert, &express_expert,
    &chicago_expert, &search_agent,  &net_agent,
};

/* ---- Games -------------------------------------------------------------------------------------
 */

/* A game and its settings. Entries are only ever added: a thread that has read the count may read
 * them. */
typedef struct Entry {
    const TyGame *game;
    TyField fields[TY_FIELDS_MAX + 1];
} Entry;

static Entry entries[REGISTRY_GAMES_MAX];
static _Atomic uint32_t entry_count;
static pthread_once_t entries_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const chance_names[] = {"rng", "seat", NULL};

/* The settings that every game has. */
static const TyField common_fields[] = {
    {"ask_forced", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "ask questions with a single answer too"},
    {"chance", TY_FIELD_CHOICE, 0, 0, 1, chance_names, false,
     "chance by the generator, or by a seat of its own"},
};

static void entry_add(const TyGame *game)
{
    uint32_t index = atomic_load(&entry_count);
    Entry *entry = &entries[index];
    uint32_t count = 0;
    entry->game = game;
    for (; game->fields != NULL && game->fields[count].key != NULL; count++) {
        entry->fields[count] = game->fields[count];
    }
    for (uint32_t i = 0; i < sizeof common_fields / sizeof common_fields[0]; i++) {
        entry->fields[count++] = common_fields[i];
    }
    atomic_store(&entry_count, index + 1);
}

static void entries_init(void)
{
    for (uint32_t i = 0; i < sizeof built_in_games / sizeof built_in_games[0]; i++) {
        entry_add(built_in_games[i]);
    }
}

uint32_t ty_game_count(void)
{
    pthread_once(&entries_once, entries_init);
    return atomic_load(&entry_count);
}

const TyGame *ty_game_at(uint32_t index)
{
    return index < ty_game_count() ? entries[index].game : NULL;
}

const TyGame *ty_game_find(const char *name)
{
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        if (strcmp(entries[i].game->name, name) == 0) {
            return entries[i].game;
        }
    }
    return NULL;
}

const TyField *registry_fields(const TyGame *game)
{
    uint32_t index = 0;
    while (index + 1 < ty_game_count() && entries[index].game != game) {
        index++;
    }
    return entries[index].fields;
}

TyStatus ty_game_add(const TyGame *game)
{
    TyStatus status = ty_game_check(game);
    if (status.code != TY_OK) {
        return status;
    }
    pthread_mutex_lock(&entries_lock);
    uint32_t count = ty_game_count();
    if (count == REGISTRY_GAMES_MAX) {
        status = ty_status_fail(TY_LIMIT, "there are %u games already; no more fit", count);
    } else if (ty_game_find(game->name) != NULL) {
        status = ty_status_fail(TY_BAD_ARGUMENT, "there is a game %.40s already", game->name);
    } else {
        entry_add(game);
    }
    pthread_mutex_unlock(&entries_lock);
    return status;
}

/* ---- Agents ------------------------------------------------------------------------------------
 */

enum { BUILT_IN_AGENTS = sizeof built_in_agents / sizeof built_in_agents[0] };

/* Only ever added to: a thread that has read the count may read them. */
static const TyAgent *added_agents[REGISTRY_AGENTS_MAX];
static _Atomic uint32_t added_count;

/* Entry `index` of the whole list; NULL behind the last. */
static const TyAgent *agent_entry(uint32_t index)
{
    if (index < BUILT_IN_AGENTS) {
        return built_in_agents[index];
    }
    index -= BUILT_IN_AGENTS;
    return index < atomic_load(&added_count) ? added_agents[index] : NULL;
}

const TyAgent *ty_agent_at(const TyGame *game, uint32_t index)
{
    const TyAgent *agent = NULL;
    for (uint32_t i = 0; (agent = agent_entry(i)) != NULL; i++) {
        bool plays = agent->game == NULL || strcmp(agent->game, game->name) == 0;
        if (plays && index-- == 0) {
            break;
        }
    }
    return agent;
}

/* True if lists of agents, seats and logs can have the name. */
static bool agent_name_fits(const char *name)
{
    static const char *const words[] = {"me", "open", "human", "chance", "truncate"};
    size_t length = name != NULL ? strlen(name) : 0;
    bool fits = length > 0 && length < REGISTRY_AGENT_NAME_MAX &&
                strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
    for (uint32_t i = 0; fits && i < sizeof words / sizeof words[0]; i++) {
        fits = strcmp(name, words[i]) != 0;
    }
    return fits;
}

/* True if the settings can be read, written and described. */
static bool agent_fields_fit(const TyField *fields)
{
    uint32_t count = 0;
    uint32_t files = 0;
    bool fit = true;
    for (; fit && fields != NULL && fields[count].key != NULL; count++) {
        const TyField *field = &fields[count];
        bool file = field->kind == TY_FIELD_FILE;
        bool ranged = field->kind == TY_FIELD_INT || field->kind == TY_FIELD_FRACTION;
        files += file;
        fit = count < TY_FIELDS_MAX && field->help != NULL &&
              (field->kind != TY_FIELD_CHOICE || field->choices != NULL) &&
              (!file || (files == 1 && field->standard == (field->choices == NULL ? -1 : 0))) &&
              (!ranged || (field->standard >= field->minimum && field->standard <= field->maximum));
    }
    return fit;
}

static TyStatus agent_check(const TyAgent *agent)
{
    if (!agent_name_fits(agent->name)) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "agent name '%.40s': wanted are 1..%u of a-z, 0-9 and _, and no word "
                              "that stands for a seat",
                              agent->name != NULL ? agent->name : "", REGISTRY_AGENT_NAME_MAX - 1);
    }
    if (agent->start == NULL || agent->act == NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "agent %s: start and act must be there",
                              agent->name);
    }
    if (!agent_fields_fit(agent->fields)) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "agent %s: a setting is out of its range, lacks its choices or its "
                              "help, or is a second file",
                              agent->name);
    }
    if (agent->memory_size > TY_AGENT_MEMORY_MAX) {
        return ty_status_fail(TY_LIMIT, "agent %s: memory_size=%zu; allowed is 0..%u", agent->name,
                              agent->memory_size, TY_AGENT_MEMORY_MAX);
    }
    return ty_status_ok();
}

/* True if both could be meant by one name in one game. */
static bool agents_clash(const TyAgent *one, const TyAgent *other)
{
    bool same_game =
        one->game == NULL || other->game == NULL || strcmp(one->game, other->game) == 0;
    return same_game && strcmp(one->name, other->name) == 0;
}

TyStatus ty_agent_add(const TyAgent *agent)
{
    TyStatus status = agent_check(agent);
    if (status.code != TY_OK) {
        return status;
    }
    pthread_mutex_lock(&entries_lock);
    uint32_t count = atomic_load(&added_count);
    const TyAgent *other = NULL;
    for (uint32_t i = 0; (other = agent_entry(i)) != NULL && !agents_clash(agent, other); i++) {
    }
    if (other != NULL) {
        status = ty_status_fail(TY_BAD_ARGUMENT, "there is an agent %s already", agent->name);
    } else if (count == REGISTRY_AGENTS_MAX) {
        status = ty_status_fail(TY_LIMIT, "%u agents were added already; no more fit", count);
    } else {
        added_agents[count] = agent;
        atomic_store(&added_count, count + 1);
    }
    pthread_mutex_unlock(&entries_lock);
    return status;
}

const TyAgent *registry_agent(const TyGame *game, const char *name)
{
    const TyAgent *agent = NULL;
    for (uint32_t i = 0; (agent = ty_agent_at(game, i)) != NULL; i++) {
        if (strcmp(agent->name, name) == 0) {
            break;
        }
    }
    return agent;
}

bool agent_needs_opening(const TyAgent *agent)
{
    bool optional = false; /* its file */
    for (uint32_t i = 0; agent->fields != NULL && agent->fields[i].key != NULL; i++) {
        optional |= agent->fields[i].kind == TY_FIELD_FILE && agent->fields[i].choices != NULL;
    }
    return agent->open != NULL && !optional;
}

const TyAgent *ty_agent_find(const TyGame *game, const char *name)
{
    const TyAgent *agent = registry_agent(game, name);
    return agent != NULL && !agent_needs_opening(agent) ? agent : NULL;
}
