/* Play for learners: tables, who sits at them, and what is written down of each decision. */
#include "agents/collect_tables.h"
#include "core/hash.h"

#include <string.h>

static uint64_t table_random(const TyCollector *collector, uint32_t index, Table *table)
{
    uint64_t key = hash_mix(hash_mix(collector->config.seed + index) + 0x6e6574);
    return hash_mix(key + hash_mix(++table->drawn));
}

/* True if the network decides for the seat. */
static bool table_learns(const Table *table, uint32_t seat)
{
    return table->rival < 0 || table->seat == seat;
}

/* ---- Episodes ---- */

static const TyRival *table_rival(const TyCollector *collector, const Table *table)
{
    return table->rival < 0 ? NULL : &collector->config.rivals[table->rival];
}

/* Draws who plays. */
static void table_seat(const TyCollector *collector, uint32_t index, Table *table)
{
    const TyCollectorConfig *config = &collector->config;
    uint64_t total = config->self_weight;
    for (uint32_t i = 0; i < config->rival_count; i++) {
        total += config->rivals[i].weight;
    }
    uint64_t point = table_random(collector, index, table) % total;
    table->seat = (uint32_t)(table_random(collector, index, table) % collector->shape->players);
    table->rival = -1;
    if (point >= config->self_weight) {
        point -= config->self_weight;
        table->rival = 0;
        while (point >= config->rivals[table->rival].weight) {
            point -= config->rivals[table->rival++].weight;
        }
    }
}

void table_start_agents(const TyCollector *collector, Table *table)
{
    const TyRival *rival = table_rival(collector, table);
    uint64_t seed = ty_head(table_state(table))->seed;
    for (uint32_t seat = 0; seat < collector->shape->players; seat++) {
        bool other = rival != NULL && !table_learns(table, seat);
        const TyAgent *agent = other ? rival->agent : collector->config.teacher;
        if (agent != NULL) {
            ty_agent_start(agent, table_memory(collector, table, seat), collector->ruleset, seat,
                           ty_agent_seed(seed, seat));
        }
    }
}

void table_begin(const TyCollector *collector, uint32_t index, Table *table)
{
    uint64_t seed = ty_episode_seed(collector->config.seed + index, table->episode);
    ty_reset(collector->ruleset, table_state(table), seed, NULL);
    memset(table->earned, 0, sizeof table->earned);
    table_seat(collector, index, table);
    table_start_agents(collector, table);
}

static bool table_over(const TyCollector *collector, Table *table)
{
    const TyHead *head = ty_head(table_state(table));
    uint32_t most = collector->config.max_steps;
    return head->over || (most > 0 && head->steps >= most);
}

/* Plays `action` and adds what it earned. */
static void table_step(const TyCollector *collector, Table *table, uint32_t action, float *earned)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    ty_step(collector->ruleset, table_state(table), action, reward, NULL);
    for (uint32_t seat = 0; seat < collector->shape->players; seat++) {
        float share = (float)reward[seat] / TY_REWARD_ONE;
        earned[seat] += share;
        table->earned[seat] += share;
    }
}

/* Lets the rivals play until the network decides or the episode is over. */
static void table_advance(const TyCollector *collector, uint32_t index, Table *table, float *earned)
{
    const TyRival *rival = table_rival(collector, table);
    void *state = table_state(table);
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    while (!table_over(collector, table) && !table_learns(table, (uint32_t)ty_head(state)->seat)) {
        uint32_t seat = (uint32_t)ty_head(state)->seat;
        uint32_t action = 0;
        if (rival->agent != NULL) {
            action = ty_agent_act(rival->agent, table_memory(collector, table, seat),
                                  collector->ruleset, state);
        } else {
            ty_observe(collector->ruleset, state, seat, row);
            ty_legal(collector->ruleset, state, mask);
            action = ty_net_choose(rival->net, row, mask, rival->temperature,
                                   table_random(collector, index, table))
                         .action;
        }
        table_step(collector, table, action, earned);
    }
}

/* The network's share of the victory: what its seats have of the seats that won. */
static double table_won(const TyCollector *collector, Table *table)
{
    int32_t metrics[TY_METRICS_MAX];
    uint32_t players = collector->shape->players;
    int32_t own = 0;
    int32_t all = 0;
    ty_metrics(collector->ruleset, table_state(table), metrics);
    for (uint32_t seat = 0; seat < players; seat++) {
        int32_t won = collector->won[seat] >= 0 ? metrics[collector->won[seat]] : 0;
        own += table_learns(table, seat) ? won : 0;
        all += won;
    }
    if (collector->shape->cooperative) {
        return all > 0;
    }
    double share = all > 0 ? (double)own / all : 0.0;
    return table->rival < 0 ? share / players : share;
}

static void table_count(TyCollector *collector, Table *table)
{
    uint32_t line = (uint32_t)(table->rival + 1);
    uint32_t seats = 0;
    double earned = 0.0;
    for (uint32_t seat = 0; seat < collector->shape->players; seat++) {
        if (table_learns(table, seat)) {
            earned += table->earned[seat];
            seats++;
        }
    }
    collector->outcomes.episodes[line]++;
    collector->outcomes.earned[line] += earned / seats;
    collector->outcomes.won[line] += table_won(collector, table);
}

bool table_next(TyCollector *collector, uint32_t index, Table *table, float *earned)
{
    bool ended = false;
    table_advance(collector, index, table, earned);
    while (table_over(collector, table)) {
        float before[TY_PLAYERS_MAX] = {0}; /* earned before the network decides anything */
        table_count(collector, table);
        ended = true;
        table->episode++;
        table_begin(collector, index, table);
        table_advance(collector, index, table, before);
    }
    return ended;
}

/* ---- Decisions ---- */

/* What the teacher would do where the network decides; -1 if there is none. */
static int32_t table_ask(const TyCollector *collector, Table *table)
{
    const TyAgent *teacher = collector->config.teacher;
    void *state = table_state(table);
    if (teacher == NULL) {
        return -1;
    }
    void *memory = table_memory(collector, table, (uint32_t)ty_head(state)->seat);
    return (int32_t)ty_agent_act(teacher, memory, collector->ruleset, state);
}

/* True with this probability. */
static bool follows(float follow, uint64_t random)
{
    return (float)(random >> 40) * 0x1p-24f < follow;
}

/* Decides at one table and writes entry `at`, with rewards in `earned`. */
static void table_decide(TyCollector *collector, const TyNet *net, uint32_t index, float follow,
                         const TyCollected *out, size_t at)
{
    const TyShape *shape = collector->shape;
    Table *table = table_at(collector, index);
    const void *state = table_state(table);
    uint8_t *row = out->rows + at * shape->row_size;
    uint8_t *mask = out->masks + at * shape->action_count;
    float *earned = out->earned + at * shape->players;
    TyNetChoice choice = {.action = 0};
    out->seat[at] = ty_head(state)->seat;
    ty_observe(collector->ruleset, state, (uint32_t)out->seat[at], row);
    ty_legal(collector->ruleset, state, mask);
    int32_t advice = table_ask(collector, table);
    uint64_t random = table_random(collector, index, table);
    if (net != NULL) {
        choice = ty_net_choose(net, row, mask, 1.0f, random);
    }
    if (advice >= 0 && follows(follow, hash_mix(random))) {
        choice.action = (uint32_t)advice;
        choice.logp = 0.0f;
    }
    if (out->advice != NULL) {
        out->advice[at] = advice;
    }
    out->action[at] = (int32_t)choice.action;
    out->logp[at] = choice.logp;
    out->value[at] = choice.value;
    memset(earned, 0, shape->players * sizeof *earned);
    table_step(collector, table, choice.action, earned);
    out->ended[at] = table_next(collector, index, table, earned);
}

/* What the network thinks of where a table stands. */
static void table_judge(const TyCollector *collector, const TyNet *net, uint32_t index,
                        const TyCollected *out, size_t at)
{
    Table *table = table_at(collector, index);
    const void *state = table_state(table);
    uint8_t row[TY_ROW_MAX];
    out->seat[at] = ty_head(state)->seat;
    out->value[at] = 0.0f;
    if (net != NULL) {
        ty_observe(collector->ruleset, state, (uint32_t)out->seat[at], row);
        ty_net_think(net, row, NULL, 1, NULL, &out->value[at]);
    }
}

void ty_collector_run(TyCollector *collector, const TyNet *net, uint32_t steps, float follow,
                      const TyCollected *out)
{
    uint32_t slots = collector->config.slots;
    size_t stride = out->stride > 0 ? out->stride : slots;
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t index = 0; index < slots; index++) {
            table_decide(collector, net, index, follow, out, step * stride + index);
        }
    }
    for (uint32_t index = 0; index < slots; index++) {
        table_judge(collector, net, index, out, steps * stride + index);
    }
}

void ty_collector_outcomes(TyCollector *collector, TyOutcomes *outcomes)
{
    *outcomes = collector->outcomes;
    collector->outcomes = (TyOutcomes){.episodes = {0}};
}
