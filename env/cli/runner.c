/* Many episodes in a pool, with results that do not depend on the number of threads. */
#define _POSIX_C_SOURCE 200809L
#include "cli/runner.h"

#include "cli/progress.h"
#include "cli/remote.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RUN_SLOT_BYTES = 512 << 10, /* of the slots of one thread: they should stay in its cache */
    RUN_SLOTS_MIN = 4,          /* for each thread, so that none waits long for another */
    RUN_SLOTS_MAX = 256,        /* for each thread */
};

#define RUN_NONE UINT32_MAX /* a slot in which nothing is left to play */

/* The pool in which the episodes are played, each in the next slot that is free. */
typedef struct Table {
    const Run *run;
    Results *results;
    TyPool *pool;
    RecorderFeed *feed; /* NULL: nobody records */
    uint32_t slots;
    uint32_t begun;
    uint32_t ended;
    uint32_t *episode; /* per slot: what it plays, or RUN_NONE */
    uint64_t *seeds;   /* per slot */
    uint8_t *which;    /* per slot: it begins another episode */
} Table;

static Column results_column(const Results *results, uint32_t column, double unit)
{
    return (Column){
        .values = results->values + column,
        .stride = results->columns,
        .count = results->episodes,
        .unit = unit,
    };
}

Column results_return(const Results *results, uint32_t seat)
{
    return results_column(results, seat, 1.0 / TY_REWARD_ONE);
}

Column results_length(const Results *results)
{
    return results_column(results, results->players, 1);
}

Column results_metric(const Results *results, uint32_t metric)
{
    return results_column(results, results->players + 1 + metric, 1);
}

uint64_t results_decisions(const Results *results)
{
    Column lengths = results_length(results);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < lengths.count; i++) {
        sum += (uint64_t)lengths.values[i * lengths.stride];
    }
    return sum;
}

static TyPoolConfig run_config(const Run *run, uint32_t slots)
{
    TyPoolConfig config = {.slots = slots,
                           .threads = run->threads,
                           .seed = run->seed,
                           .autoreset = TY_AUTORESET_DISABLED};
    memcpy(config.agent, run->seating.agents, sizeof config.agent);
    return config;
}

/* As many episodes side by side as a cache can hold, whatever their agents remember. */
static uint32_t run_slots(const Run *run)
{
    const TyPoolConfig one = run_config(run, 1);
    uint64_t fit = RUN_SLOT_BYTES / ty_pool_bytes(run->ruleset, &one);
    uint64_t each = fit < RUN_SLOTS_MIN ? RUN_SLOTS_MIN : fit < RUN_SLOTS_MAX ? fit : RUN_SLOTS_MAX;
    uint64_t slots = each * run->threads;
    return slots < run->episodes ? (uint32_t)slots : run->episodes;
}

static void table_close(Table *table)
{
    recorder_feed_close(table->feed);
    ty_pool_close(table->pool);
    free(table->episode);
    free(table->seeds);
    free(table->which);
}

/* Opens the pool, in which the first episodes begin. */
static TyStatus table_open(Table *table, const Run *run, Results *results)
{
    uint32_t slots = run_slots(run);
    const TyPoolConfig config = run_config(run, slots);
    *table = (Table){.run = run, .results = results, .slots = slots, .begun = slots};
    table->episode = cli_memory(calloc(slots, sizeof *table->episode));
    table->seeds = cli_memory(calloc(slots, sizeof *table->seeds));
    table->which = cli_memory(calloc(slots, 1));
    for (uint32_t slot = 0; slot < slots; slot++) {
        table->episode[slot] = slot;
    }
    TyStatus status = ty_pool_open(run->ruleset, &config, &table->pool);
    if (status.code == TY_OK && run->recorder != NULL) {
        status = recorder_attach(run->recorder, table->pool, &table->feed);
    }
    if (status.code == TY_OK && run->notes) {
        recorder_keep_notes(table->feed);
    }
    return status;
}

/* The ending that stands in the slot becomes a row of the results. */
static void table_note(Table *table, uint32_t slot)
{
    const TySlab *slab = ty_pool_slab(table->pool, 0);
    const Results *results = table->results;
    const float *earned = ty_slab_column(slab, 0, TY_COLUMN_EARNED);
    const uint32_t *steps = ty_slab_column(slab, 0, TY_COLUMN_STEP);
    const int32_t *metrics = ty_slab_column(slab, 0, TY_COLUMN_METRICS);
    uint32_t count = ty_shape(table->run->ruleset)->metric_count;
    int32_t *row = results->values + (size_t)table->episode[slot] * results->columns;
    for (uint32_t seat = 0; seat < results->players; seat++) {
        row[seat] = (int32_t)(earned[slot * results->players + seat] * TY_REWARD_ONE);
    }
    row[results->players] = (int32_t)steps[slot];
    memcpy(row + results->players + 1, metrics + (size_t)slot * count, count * sizeof *metrics);
    table->ended++;
}

/* Gives the slot the next episode; false if none is left. */
static bool table_deal(Table *table, uint32_t slot)
{
    bool left = table->begun < table->run->episodes;
    table->episode[slot] = left ? table->begun++ : RUN_NONE;
    table->seeds[slot] = table->run->seed + table->episode[slot];
    return left;
}

/* One decision in every slot; where an episode ends another begins. */
static void table_step(Table *table)
{
    bool any = false;
    ty_pool_step(table->pool, 0, 0, NULL);
    const uint8_t *ready = ty_slab_column(ty_pool_slab(table->pool, 0), 0, TY_COLUMN_READY);
    memset(table->which, 0, table->slots);
    for (uint32_t slot = 0; slot < table->slots; slot++) {
        if (!ready[slot] && table->episode[slot] != RUN_NONE) {
            table_note(table, slot);
            table->which[slot] = table_deal(table, slot);
            any = any || table->which[slot];
        }
    }
    if (any) {
        ty_pool_reset(table->pool, table->which, table->seeds);
    }
}

/* The episodes in this process. */
static TyStatus run_here(const Run *run, Results *results)
{
    Table table;
    TyStatus status = table_open(&table, run, results);
    Progress progress = progress_open(run->label, run->episodes);
    while (status.code == TY_OK && table.ended < run->episodes) {
        table_step(&table);
        progress.decisions = ty_pool_counts(table.pool).decisions;
        progress_show(&progress, table.ended);
    }
    progress_close(&progress);
    table_close(&table);
    return status;
}

TyStatus run_episodes(const Run *run, Results *results)
{
    const TyShape *shape = ty_shape(run->ruleset);
    *results = (Results){
        .episodes = run->episodes,
        .columns = shape->players + 1 + shape->metric_count,
        .players = shape->players,
    };
    results->values =
        cli_memory(calloc((size_t)results->episodes * results->columns, sizeof(int32_t)));
    double start = clock_seconds();
    TyStatus status =
        seating_is_open(&run->seating) ? remote_episodes(run, results) : run_here(run, results);
    results->seconds = clock_seconds() - start;
    if (status.code != TY_OK) {
        results_close(results);
    }
    return status;
}

void results_close(Results *results)
{
    free(results->values);
    results->values = NULL;
}

uint32_t run_threads(const Settings *settings)
{
    if (settings_given(settings, "threads")) {
        return (uint32_t)settings->threads;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1) {
        return 1;
    }
    return processors < CLI_THREADS_MAX ? (uint32_t)processors : CLI_THREADS_MAX;
}
