/* trainyard bench --compare: two builds, run by turns in short slices. */
#define _POSIX_C_SOURCE 200809L
#include "bench/figure.h"
#include "cli/bench_modes.h"
#include "cli/progress.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROGRAM_MAX = 4096,   /* characters of a path */
    ANSWER_MAX = 1 << 20, /* bytes of what a build prints */
    TURNS_MIN = 3,        /* of each build */
    DOORS_PART = 5,       /* of --seconds: a turn with doors to a daemon */
    COSTS = 19,           /* entries of `costs` */
};

/* Of a build's turn, besides its pools; with doors to a daemon a step takes longer. There a pool is
 * opened for every figure, and its episodes begin in step: where all decide the same, the processor
 * guesses every branch. Who measures for longer sees more of what comes after that. */
static const double slice_seconds = 0.02;
static const double slice_seconds_doors = 0.2;

static double turn_seconds(const Settings *settings, const char *doors)
{
    double part = settings->seconds / DOORS_PART;
    double slice = slice_seconds;
    if (strcmp(doors, "inproc") != 0) {
        slice = part > slice_seconds_doors ? part : slice_seconds_doors;
    }
    return settings->seconds < slice ? settings->seconds : slice;
}

extern char **environ;

/* What is compared: a key of the cost of a decision, or the rate of a pool's door. */
typedef struct CostKey {
    const char *name;
    const char *key;
    const char *door;
    json_int_t groups;
    json_int_t batch;
} CostKey;

static const CostKey costs[COSTS] = {
    {"decision", "ns_per_decision", NULL, 0, 0},
    {"  step", "step_ns", NULL, 0, 0},
    {"  legal", "legal_ns", NULL, 0, 0},
    {"  observe", "observe_ns", NULL, 0, 0},
    {"  sample", "sample_ns", NULL, 0, 0},
    {"reset", "reset_ns", NULL, 0, 0},
    {"clone", "clone_ns", NULL, 0, 0},
    {"reference", "ref_copy_ns", NULL, 0, 0},
    {"pool, batch 1", "pool_1", "inproc", 1, 1},
    {"pool, batch 1024", "pool_1024", "inproc", 1, 1024},
    {"shm, batch 1", "shm_1", "shm", 1, 1},
    {"shm, batch 32", "shm_32", "shm", 1, 32},
    {"shm, batch 1024", "shm_1024_one", "shm", 1, 1024},
    {"shm, 2 of 1024", "shm_1024", "shm", 2, 1024},
    {"ipc, batch 1", "ipc_1", "ipc", 1, 1},
    {"ipc, batch 32", "ipc_32", "ipc", 1, 32},
    {"ipc, batch 1024", "ipc_1024_one", "ipc", 1, 1024},
    {"ipc, 2 of 1024", "ipc_1024", "ipc", 2, 1024},
    {"tcp, batch 1024", "tcp_1024_one", "tcp", 1, 1024},
};

/* One of the two builds. */
typedef struct Build {
    const char *program;
    char signature[20];
    json_t *answer; /* of its last turn */
    BenchSlices costs[COSTS];
} Build;

typedef struct Comparison {
    const char *spec;
    uint32_t turns;
    Build builds[2]; /* this one, the other */
    BenchSlices ratios[COSTS];
} Comparison;

/* ---- A turn of a build ---- */

static size_t answer_read(int in, char *out, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length + 1 < size) {
        got = read(in, out + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    out[length] = '\0';
    return length;
}

/* Runs the program and takes what it prints. Its complaints are ours. */
static int program_run(const Settings *settings, const char *program, char *const *words, char *out)
{
    int said[2];
    int ended = 0;
    pid_t child = 0;
    posix_spawn_file_actions_t actions;
    if (pipe(said) != 0) {
        return cli_failure(settings, "--compare: no pipe: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, said[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, said[0]);
    posix_spawn_file_actions_addclose(&actions, said[1]);
    int error = posix_spawn(&child, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(said[1]);
    if (error == 0) {
        answer_read(said[0], out, ANSWER_MAX);
        waitpid(child, &ended, 0);
    }
    close(said[0]);
    if (error != 0) {
        return cli_failure(settings, "--compare: %s: %s", program, strerror(error));
    }
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0
               ? CLI_OK
               : cli_failure(settings, "--compare: %s did not measure", program);
}

static int build_run(const Settings *settings, const char *spec, Build *build)
{
    char seconds[32];
    const char *doors = settings_given(settings, "doors") ? settings->doors : "inproc";
    snprintf(seconds, sizeof seconds, "%g", turn_seconds(settings, doors));
    const char *words[] = {build->program, "bench", spec,     "--seconds", seconds,
                           "--doors",      doors,   "--json", NULL};
    char *text = cli_memory(malloc(ANSWER_MAX));
    int status =
        program_run(settings, build->program, (char *const *)(uintptr_t)(const void *)words, text);
    if (status == CLI_OK) {
        json_decref(build->answer);
        json_t *answer = json_loads(text, 0, NULL);
        build->answer = json_incref(json_array_get(answer, 0));
        json_decref(answer);
        const char *signature = json_string_value(json_object_get(build->answer, "signature"));
        if (signature == NULL) {
            status = cli_failure(settings, "--compare: %s printed no measurements", build->program);
        } else {
            snprintf(build->signature, sizeof build->signature, "%s", signature);
        }
    }
    free(text);
    return status;
}

/* ---- What both tell ---- */

/* The rate of a pool through a door, with one stepping thread; 0 if the build has none. Older
 * builds call the best slice by the name that the median has now. */
static double pool_rate(const json_t *answer, const CostKey *cost)
{
    size_t index = 0;
    json_t *cell = NULL;
    json_array_foreach(json_object_get(json_object_get(answer, "pool"), "rates"), index, cell)
    {
        const char *door = json_string_value(json_object_get(cell, "door"));
        json_t *best = json_object_get(cell, "decisions_per_s_best");
        if (door != NULL && strcmp(door, cost->door) == 0 &&
            json_integer_value(json_object_get(cell, "threads")) == 1 &&
            json_integer_value(json_object_get(cell, "groups")) == cost->groups &&
            json_integer_value(json_object_get(cell, "batch")) == cost->batch) {
            return json_number_value(best != NULL ? best
                                                  : json_object_get(cell, "decisions_per_s"));
        }
    }
    return 0;
}

/* A cost in nanoseconds; 0 if the build does not tell. Older builds tell means only. */
static double cost_of(const json_t *answer, const CostKey *cost, bool low)
{
    if (cost->door != NULL) {
        double rate = pool_rate(answer, cost);
        return rate > 0 ? 1e9 / rate : 0;
    }
    const json_t *means = json_object_get(answer, "mean");
    const json_t *figures = low ? json_object_get(answer, "low") : means;
    return json_number_value(json_object_get(figures != NULL ? figures : answer, cost->key));
}

static void turn_note(Comparison *comparison)
{
    Build *builds = comparison->builds;
    bool low = json_object_get(builds[0].answer, "low") != NULL &&
               json_object_get(builds[1].answer, "low") != NULL;
    for (uint32_t i = 0; i < COSTS; i++) {
        double mine = cost_of(builds[0].answer, &costs[i], low);
        double other = cost_of(builds[1].answer, &costs[i], low);
        if (mine > 0 && other > 0) {
            slices_add(&builds[0].costs[i], mine);
            slices_add(&builds[1].costs[i], other);
            slices_add(&comparison->ratios[i], mine / other);
        }
    }
    comparison->turns++;
}

/* Who begins changes from turn to turn, so that a machine that slows down favours nobody. The other
 * build is first, so that a program that cannot measure is told at once. */
static int comparison_measure(const Settings *settings, Comparison *comparison)
{
    int status = CLI_OK;
    double start = clock_seconds();
    double total = settings->seconds * BENCH_POOL_SHARE;
    Progress progress = progress_open("per cent", 100);
    while (status == CLI_OK && (comparison->turns < TURNS_MIN || clock_seconds() - start < total)) {
        progress_show(&progress, (uint64_t)(100 * (clock_seconds() - start) / total));
        uint32_t first = 1 - comparison->turns % 2;
        status = build_run(settings, comparison->spec, &comparison->builds[first]);
        if (status == CLI_OK) {
            status = build_run(settings, comparison->spec, &comparison->builds[1 - first]);
        }
        if (status == CLI_OK) {
            turn_note(comparison);
        }
    }
    progress_close(&progress);
    return status;
}

/* ---- Showing it ---- */

static void comparison_print(const Comparison *comparison)
{
    const Build *builds = comparison->builds;
    printf("\n%s, %u turns\n", comparison->spec, comparison->turns);
    printf("  %-20s %10s %10s %8s %8s   %s\n", "nanoseconds", "this p10", "other p10", "ratio",
           "median", "quartiles of the ratio");
    for (uint32_t i = 0; i < COSTS; i++) {
        const BenchSlices *ratios = &comparison->ratios[i];
        if (ratios->count > 0) {
            double mine = slices_quantile(&builds[0].costs[i], 0.1);
            double other = slices_quantile(&builds[1].costs[i], 0.1);
            printf("  %-20s %10.1f %10.1f %8.3f %8.3f   %.3f to %.3f\n", costs[i].name, mine, other,
                   mine / other, slices_quantile(ratios, 0.5), slices_quantile(ratios, 0.25),
                   slices_quantile(ratios, 0.75));
        }
    }
    bool alike = strcmp(builds[0].signature, builds[1].signature) == 0;
    printf("  signatures: %s, %s: %s\n", builds[0].signature, builds[1].signature,
           alike ? "they play alike" : "they play differently");
}

static void build_json(TyJson *json, const char *key, const Build *build)
{
    static const char *const keys[] = {"compiler", "build_type", "version"};
    ty_json_open(json, key, '{');
    ty_json_put_string(json, "program", build->program);
    ty_json_put_string(json, "signature", build->signature);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = json_string_value(json_object_get(build->answer, keys[i]));
        if (value != NULL) {
            ty_json_put_string(json, keys[i], value);
        }
    }
    ty_json_close(json, '}');
}

static void comparison_json(TyJson *json, const Comparison *comparison)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "ruleset", comparison->spec);
    ty_json_put_int(json, "turns", comparison->turns);
    build_json(json, "this", &comparison->builds[0]);
    build_json(json, "other", &comparison->builds[1]);
    ty_json_open(json, "ratios", '{');
    for (uint32_t i = 0; i < COSTS; i++) {
        const BenchSlices *ratios = &comparison->ratios[i];
        if (ratios->count > 0) {
            ty_json_open(json, costs[i].key, '{');
            double mine = slices_quantile(&comparison->builds[0].costs[i], 0.1);
            double other = slices_quantile(&comparison->builds[1].costs[i], 0.1);
            output_real(json, "ratio", mine / other);
            output_real(json, "median", slices_quantile(ratios, 0.5));
            output_real(json, "quartile_low", slices_quantile(ratios, 0.25));
            output_real(json, "quartile_high", slices_quantile(ratios, 0.75));
            output_real(json, "this_ns", mine);
            output_real(json, "other_ns", other);
            ty_json_close(json, '}');
        }
    }
    ty_json_close(json, '}');
    ty_json_close(json, '}');
}

static void comparison_close(Comparison *comparison)
{
    for (uint32_t i = 0; i < COSTS; i++) {
        slices_clear(&comparison->builds[0].costs[i]);
        slices_clear(&comparison->builds[1].costs[i]);
        slices_clear(&comparison->ratios[i]);
    }
    json_decref(comparison->builds[0].answer);
    json_decref(comparison->builds[1].answer);
}

static int compare_one(const Settings *settings, const char *spec, TyJson *json)
{
    char self[PROGRAM_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return cli_failure(settings, "--compare: no path of this program: %s", strerror(errno));
    }
    self[length] = '\0';
    Comparison comparison = {.spec = spec,
                             .builds = {{.program = self}, {.program = settings->compare}}};
    int status = comparison_measure(settings, &comparison);
    if (status == CLI_OK && settings->json) {
        comparison_json(json, &comparison);
    } else if (status == CLI_OK) {
        comparison_print(&comparison);
    }
    comparison_close(&comparison);
    return status;
}

int bench_compare(const Settings *settings, const BenchList *list)
{
    return bench_each(
        settings, list,
        "Costs of this build and of the other one, which take turns. Ratio: this by "
        "other, from the\ntenth of the turns in which each was quickest; beside it the "
        "median of what every turn says,\nand the quartiles between which half of the "
        "turns lie.\n",
        compare_one);
}
