/* What the kinds of measurements of trainyard bench share. */
#pragma once

#include "cli/output.h"

enum {
    BENCH_RULESETS_MAX = CLI_ARGUMENTS_MAX,
    BENCH_POOL_SHARE = 8, /* times --seconds, for what has many figures of a ruleset */
};

/* The rulesets to measure: those of the command line, or for every game the standard ruleset, the
 * one that learners use, and the other built-in choices of its first file-valued setting. */
typedef struct BenchList {
    uint32_t count;
    bool pool[BENCH_RULESETS_MAX]; /* with pools: what the user named, and standard rulesets */
    char specs[BENCH_RULESETS_MAX][TY_SPEC_MAX * 2];
} BenchList;

/* What figures depend on: processor, compiler, kind of build, version. */
void bench_machine_print(void);
void bench_machine_json(TyJson *json);

/* Measures one ruleset: prints it, or adds it to the document. Returns the exit status. */
typedef int BenchOne(const Settings *settings, const char *spec, TyJson *json);
/* Calls `one` for every ruleset of the list, between an introduction and the machine. */
int bench_each(const Settings *settings, const BenchList *list, const char *intro, BenchOne *one);

/* `bench --compare PROGRAM`, `--agents`, `--slots` and `--draw`. They return the exit status. */
int bench_compare(const Settings *settings, const BenchList *list);
int bench_agents(const Settings *settings, const BenchList *list);
int bench_slots(const Settings *settings, const BenchList *list);
int bench_draw(const Settings *settings, const BenchList *list);
