/* Many episodes on several threads, with results that do not depend on the number of threads. */
#define _POSIX_C_SOURCE 200809L
#include "cli/runner.h"

#include "cli/progress.h"
#include "cli/remote.h"
#include "core/status.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the threads of a run share. Each takes the next episode and writes its own row. */
typedef struct Work {
    const Run *run;
    Results *results;
    const TyObserver *observer; /* NULL: nobody follows */
    atomic_uint table;          /* threads that have begun: each plays at a table of its own */
    atomic_uint next;
    atomic_uint done;
} Work;

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

/* A step of an agent, which acts legally, told to the observer, if there is one. */
static void step_told(Match *match, uint32_t action, const TyObserver *observer, uint32_t table)
{
    int32_t earned[TY_SEATS_MAX];
    memcpy(earned, match->reward, sizeof earned);
    bool legal = match_step(match, action, NULL);
    assert(legal);
    (void)legal;
    for (uint32_t i = 0; i < TY_SEATS_MAX; i++) {
        earned[i] = match->reward[i] - earned[i];
    }
    if (observer != NULL) {
        observer->decision(observer->user, table, action, earned, match->state);
    }
}

static void end_told(const Match *match, const TyObserver *observer, uint32_t table)
{
    const int32_t nothing[TY_SEATS_MAX] = {0};
    bool capped = ty_head(match->state)->truncated != 0;
    const TyEnding ending = {
        .cause = capped ? TY_CAUSE_CAP : TY_CAUSE_RULES, .seat = -1, .reward = nothing};
    if (observer != NULL) {
        observer->end(observer->user, table, &ending, match->state);
    }
}

/* Plays the episode of `seed` into one row of the results. */
static void play_episode(Match *match, uint64_t seed, const Work *work, uint32_t table,
                         int32_t *row)
{
    const Results *results = work->results;
    match_start(match, seed, NULL);
    if (work->observer != NULL) {
        work->observer->begin(work->observer->user, table, seed, 0, match->state);
    }
    int32_t decisions = 0;
    while (!match_over(match)) {
        step_told(match, match_choose(match), work->observer, table);
        decisions++;
    }
    end_told(match, work->observer, table);
    memcpy(row, match->reward, results->players * sizeof *row);
    row[results->players] = decisions;
    ty_metrics(match->ruleset, match->state, row + results->players + 1);
}

static void *work_main(void *argument)
{
    Work *work = argument;
    const Run *run = work->run;
    Match *match = match_open(run->ruleset, &run->seating);
    uint32_t table = atomic_fetch_add(&work->table, 1);
    for (;;) {
        unsigned episode = atomic_fetch_add(&work->next, 1);
        if (episode >= run->episodes) {
            break;
        }
        int32_t *row = work->results->values + (size_t)episode * work->results->columns;
        play_episode(match, run->seed + episode, work, table, row);
        atomic_fetch_add(&work->done, 1);
    }
    free(match);
    return NULL;
}

/* Looks at the work from time to time until it is done, and shows how far it is. */
static void watch(Work *work)
{
    Progress progress = progress_open(work->run->label, work->run->episodes);
    while (progress.shown && atomic_load(&work->done) < work->run->episodes) {
        progress_show(&progress, atomic_load(&work->done));
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
    progress_close(&progress);
}

/* Runs the work on up to `wanted` threads; on this one if none can be had. */
static void work_spread(Work *work, uint32_t wanted)
{
    pthread_t threads[CLI_THREADS_MAX];
    uint32_t count = 0;
    while (count < wanted && pthread_create(&threads[count], NULL, work_main, work) == 0) {
        count++;
    }
    if (count == 0) {
        work_main(work);
    }
    watch(work);
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* The recorder follows a table for each thread, if there is one. */
static TyStatus feed_open(const Run *run, RecorderFeed **feed, TyObserver *observer)
{
    *feed = NULL;
    if (run->recorder == NULL) {
        return status_ok();
    }
    TyStatus status =
        recorder_feed_open(run->recorder, run->ruleset, run->threads, run->seating.agents, feed);
    if (status.code == TY_OK) {
        *observer = recorder_observer(*feed);
    }
    return status;
}

/* The episodes in this process. */
static TyStatus run_here(const Run *run, Results *results)
{
    RecorderFeed *feed = NULL;
    TyObserver observer;
    Work work = {.run = run, .results = results};
    TyStatus status = feed_open(run, &feed, &observer);
    if (status.code != TY_OK) {
        return status;
    }
    work.observer = feed != NULL ? &observer : NULL;
    work_spread(&work, run->threads < run->episodes ? run->threads : run->episodes);
    recorder_feed_close(feed);
    return status_ok();
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
