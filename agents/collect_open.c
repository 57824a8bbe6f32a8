/* Opening collectors, setting their rivals, saving and restoring them. */
#include "agents/collect_tables.h"
#include "core/hash.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is asked for ---- */

static TyStatus rivals_check(const TyRival *rivals, uint32_t count, uint32_t self_weight)
{
    uint64_t total = self_weight;
    if (count > TY_RIVALS_MAX) {
        return ty_status_fail(TY_BAD_ARGUMENT, "rival_count=%u; allowed is 0..%d", count,
                              (int)TY_RIVALS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((rivals[i].agent == NULL) == (rivals[i].net == NULL)) {
            return ty_status_fail(TY_BAD_ARGUMENT, "rival %u: either an agent or a network", i);
        }
        if (!(rivals[i].temperature >= 0.0f) || isinf(rivals[i].temperature)) {
            return ty_status_fail(TY_BAD_ARGUMENT, "rival %u: temperature=%g; allowed is 0 or more",
                                  i, (double)rivals[i].temperature);
        }
        if (rivals[i].weight > TY_RIVAL_WEIGHT_MAX) {
            return ty_status_fail(TY_BAD_ARGUMENT, "rival %u: weight=%u; allowed is 0..%d", i,
                                  rivals[i].weight, (int)TY_RIVAL_WEIGHT_MAX);
        }
        total += rivals[i].weight;
    }
    if (total == 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "self_weight=0 and no rival with a weight: nobody "
                                               "would play");
    }
    return ty_status_ok();
}

static TyStatus config_check(const TyRuleset *ruleset, const TyCollectorConfig *config)
{
    const TyShape *shape = ty_shape(ruleset);
    if (config->slots == 0 || config->slots > TY_COLLECTOR_SLOTS_MAX) {
        return ty_status_fail(TY_BAD_ARGUMENT, "slots=%u; allowed is 1..%d", config->slots,
                              (int)TY_COLLECTOR_SLOTS_MAX);
    }
    if (shape->seats != shape->players) {
        return ty_status_fail(TY_BAD_ARGUMENT, "%.200s: chance must not be a seat", shape->spec);
    }
    return rivals_check(config->rivals, config->rival_count, config->self_weight);
}

/* ---- Memory ---- */

static size_t memory_needed(const TyCollectorConfig *config)
{
    size_t size = config->teacher != NULL ? config->teacher->memory_size : 0;
    for (uint32_t i = 0; i < config->rival_count; i++) {
        const TyAgent *agent = config->rivals[i].agent;
        size = agent != NULL && agent->memory_size > size ? agent->memory_size : size;
    }
    return collect_rounded(size);
}

static size_t table_needed(const TyShape *shape, size_t memory_size)
{
    return collect_rounded(sizeof(Table)) + collect_rounded(shape->state_size) +
           memory_size * shape->players;
}

/* The metric that says whether a seat won, or whether all did; -1 if there is none. */
static int32_t won_metric(const TyShape *shape, uint32_t seat)
{
    char name[16];
    snprintf(name, sizeof name, shape->cooperative ? "won" : "won_%u", seat);
    for (uint32_t i = 0; i < shape->metric_count; i++) {
        if (strcmp(shape->metrics[i], name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

static void tables_begin(TyCollector *collector)
{
    for (uint32_t index = 0; index < collector->config.slots; index++) {
        float earned[TY_PLAYERS_MAX] = {0};
        Table *table = table_at(collector, index);
        table_begin(collector, index, table);
        table_next(collector, index, table, earned);
    }
    collector->outcomes = (TyOutcomes){.episodes = {0}};
}

TyStatus ty_collector_open(const TyRuleset *ruleset, const TyCollectorConfig *config,
                           TyCollector **made)
{
    *made = NULL;
    TyStatus status = config_check(ruleset, config);
    if (status.code != TY_OK) {
        return status;
    }
    TyCollector *collector = calloc(1, sizeof *collector);
    size_t memory_size = memory_needed(config);
    size_t table_size = table_needed(ty_shape(ruleset), memory_size);
    uint8_t *tables = aligned_alloc(COLLECT_ALIGN, table_size * config->slots);
    if (collector == NULL || tables == NULL) {
        free(collector);
        free(tables);
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u slots", config->slots);
    }
    memset(tables, 0, table_size * config->slots);
    *collector = (TyCollector){.ruleset = ruleset,
                               .shape = ty_shape(ruleset),
                               .config = *config,
                               .memory_size = memory_size,
                               .table_size = table_size,
                               .tables = tables};
    for (uint32_t seat = 0; seat < collector->shape->players; seat++) {
        collector->won[seat] = won_metric(collector->shape, seat);
    }
    tables_begin(collector);
    *made = collector;
    return ty_status_ok();
}

void ty_collector_close(TyCollector *collector)
{
    if (collector != NULL) {
        free(collector->tables);
        free(collector);
    }
}

/* ---- Other rivals ---- */

static bool rivals_equal(const TyRival *one, const TyRival *other)
{
    return one->agent == other->agent && one->net == other->net;
}

/* Moves tables into memory for agents of another size. Their memories are lost. */
static TyStatus tables_resize(TyCollector *collector, size_t memory_size)
{
    size_t table_size = table_needed(collector->shape, memory_size);
    size_t kept = table_needed(collector->shape, 0);
    uint8_t *tables = aligned_alloc(COLLECT_ALIGN, table_size * collector->config.slots);
    if (tables == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u slots", collector->config.slots);
    }
    memset(tables, 0, table_size * collector->config.slots);
    for (uint32_t i = 0; i < collector->config.slots; i++) {
        memcpy(tables + table_size * i, table_at(collector, i), kept);
    }
    free(collector->tables);
    collector->tables = tables;
    collector->table_size = table_size;
    collector->memory_size = memory_size;
    return ty_status_ok();
}

TyStatus ty_collector_set_rivals(TyCollector *collector, const TyRival *rivals, uint32_t count,
                                 uint32_t self_weight)
{
    TyCollectorConfig before = collector->config;
    TyCollectorConfig after = before;
    TyStatus status = rivals_check(rivals, count, self_weight);
    if (status.code != TY_OK) {
        return status;
    }
    after.rival_count = count;
    after.self_weight = self_weight;
    for (uint32_t i = 0; i < count; i++) {
        after.rivals[i] = rivals[i];
    }
    bool moved = memory_needed(&after) > collector->memory_size;
    if (moved) {
        status = tables_resize(collector, memory_needed(&after));
    }
    if (status.code != TY_OK) {
        return status;
    }
    collector->config = after;
    for (uint32_t index = 0; index < before.slots; index++) {
        Table *table = table_at(collector, index);
        int32_t was = table->rival;
        if (was >= 0 && count > 0) {
            table->rival = was % (int32_t)count;
        } else {
            table->rival = -1;
        }
        bool same = was >= 0 && table->rival == was &&
                    rivals_equal(&before.rivals[was], &after.rivals[was]);
        if (moved || (was >= 0 && !same)) {
            table_start_agents(collector, table);
        }
    }
    return ty_status_ok();
}

/* ---- Saved collectors ---- */

/* What saved bytes begin with. */
typedef struct SavedHead {
    uint64_t schema;
    uint64_t size;
    uint64_t checksum; /* of the tables */
} SavedHead;

/* Bytes of a table that are saved: without the memories of agents, who may have pointers there. */
static size_t table_kept(const TyCollector *collector)
{
    return table_needed(collector->shape, 0);
}

static size_t tables_kept(const TyCollector *collector)
{
    return table_kept(collector) * collector->config.slots;
}

size_t ty_collector_save_size(const TyCollector *collector)
{
    return sizeof(SavedHead) + tables_kept(collector);
}

void ty_collector_save(const TyCollector *collector, void *bytes)
{
    uint8_t *to = (uint8_t *)bytes + sizeof(SavedHead);
    size_t size = table_kept(collector);
    for (uint32_t i = 0; i < collector->config.slots; i++) {
        memcpy(to + size * i, table_at(collector, i), size);
    }
    const SavedHead head = {.schema = collector->shape->schema_hash,
                            .size = tables_kept(collector),
                            .checksum = hash_bytes(0, to, tables_kept(collector))};
    memcpy(bytes, &head, sizeof head);
}

/* NULL if the table can be played on, otherwise what is wrong. */
static const char *table_check(const TyCollector *collector, Table *table)
{
    const TyHead *head = ty_head(table_state(table));
    const char *broken = ty_check(collector->ruleset, table_state(table));
    if (broken != NULL) {
        return broken;
    }
    if (head->over || table->seat >= collector->shape->players || table->rival < -1 ||
        table->rival >= (int32_t)collector->config.rival_count) {
        return "nobody is to decide, or a rival that is not there";
    }
    return table->rival >= 0 && (uint32_t)head->seat != table->seat ? "another seat is to decide"
                                                                    : NULL;
}

/* Checks saved tables, each in memory that is aligned as a table is. */
static TyStatus saved_check(const TyCollector *collector, const uint8_t *from)
{
    _Alignas(COLLECT_ALIGN) uint8_t one[TY_STATE_MAX + 4 * COLLECT_ALIGN];
    size_t size = table_kept(collector);
    for (uint32_t i = 0; i < collector->config.slots; i++) {
        memcpy(one, from + size * i, size);
        const char *broken = table_check(collector, (Table *)(void *)one);
        if (broken != NULL) {
            return ty_status_fail(TY_BAD_ARGUMENT, "a saved slot: %s", broken);
        }
    }
    return ty_status_ok();
}

TyStatus ty_collector_restore(TyCollector *collector, const void *bytes, size_t size)
{
    SavedHead head = {.schema = 0};
    if (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
    }
    const uint8_t *from = (const uint8_t *)bytes + sizeof head;
    if (size != ty_collector_save_size(collector) || head.size != tables_kept(collector) ||
        head.schema != collector->shape->schema_hash ||
        head.checksum != hash_bytes(0, from, head.size)) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "these bytes are damaged, or of another kind of collector");
    }
    TyStatus status = saved_check(collector, from);
    for (uint32_t i = 0; status.code == TY_OK && i < collector->config.slots; i++) {
        memcpy(table_at(collector, i), from + table_kept(collector) * i, table_kept(collector));
        table_start_agents(collector, table_at(collector, i));
    }
    return status;
}
