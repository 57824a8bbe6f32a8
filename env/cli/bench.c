/* trainyard bench: what a decision costs, what pools do, and the signature of the build. */
#include "bench/bench.h"

#include "bench/bench_forks.h"
#include "bench/signature.h"
#include "cli/bench_modes.h"
#include "cli/bench_pool.h"
#include "cli/progress.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct BenchEntry {
    TyRuleset *ruleset;
    bool with_cost; /* of a decision: not with --pool */
    bool with_pool;
    BenchResult result;
    BenchForks forks;
    BenchPoolResult pool;
} BenchEntry;

/* What all entries share. */
typedef struct BenchReport {
    uint32_t doors; /* a bit each */
    uint64_t stages_done;
    Progress progress;
    uint64_t signature;
    uint32_t count;
    BenchEntry entries[BENCH_RULESETS_MAX];
} BenchReport;

/* ---- What to measure ---- */

static void list_add(BenchList *list, bool pool, const char *format, ...)
{
    va_list arguments;
    assert(list->count < BENCH_RULESETS_MAX);
    list->pool[list->count] = pool;
    va_start(arguments, format);
    vsnprintf(list->specs[list->count++], sizeof list->specs[0], format, arguments);
    va_end(arguments);
}

static const TyField *field_find(const TyGame *game, const char *key)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

/* What learners use where a game has it: rows with hints and the densest reward. */
static void list_add_training(BenchList *list, const TyGame *game)
{
    const TyField *reward = field_find(game, "reward");
    if (reward != NULL && field_find(game, "hints") != NULL) {
        list_add(list, false, "%s:reward=%s,hints=true", ty_game_name(game),
                 reward->choices[reward->maximum]);
    }
}

static void list_add_game(BenchList *list, const TyGame *game)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    list_add(list, true, "%s", ty_game_name(game));
    list_add_training(list, game);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        for (int32_t choice = 0; fields[i].choices[choice] != NULL; choice++) {
            if (choice != fields[i].standard) {
                list_add(list, false, "%s:%s=%s", ty_game_name(game), fields[i].key,
                         fields[i].choices[choice]);
            }
        }
        return;
    }
}

/* Agents and slots are measured of standard rulesets alone, or of those that were named. */
static void list_fill(BenchList *list, const Settings *settings)
{
    bool standard = settings->only_agents || settings->only_slots || settings->only_draw;
    list->count = 0;
    for (uint32_t i = 0; i < settings->argument_count; i++) {
        list_add(list, true, "%s", settings->arguments[i]);
    }
    for (uint32_t i = 0; settings->argument_count == 0 && i < ty_game_count(); i++) {
        if (standard) {
            list_add(list, true, "%s", ty_game_name(ty_game_at(i)));
        } else {
            list_add_game(list, ty_game_at(i));
        }
    }
}

/* ---- What it costs ---- */

static double episodes_per_s(const BenchResult *result, double ns)
{
    return result->decisions_per_episode > 0 ? 1e9 / ns / result->decisions_per_episode : 0;
}

static void print_figure(const char *name, const BenchFigure *figure)
{
    printf("  %-20s %10.1f %10.1f\n", name, figure->low, figure->median);
}

static void print_cost(const BenchEntry *entry)
{
    const TyShape *shape = ty_shape(entry->ruleset);
    const BenchResult *result = &entry->result;
    printf("  %-20s %10s %10s\n", "nanoseconds", "p10", "median");
    print_figure("per decision", &result->decision);
    print_figure("  step", &result->step);
    print_figure("  legal", &result->legal);
    print_figure("  observe", &result->observe);
    print_figure("  sample", &result->sample);
    print_figure("reset", &result->reset);
    print_figure("clone", &result->clone);
    print_figure("reference", &result->copy);
    printf("  %-20s %10.2f %10.2f\n", "references/decision",
           result->decision.low / result->copy.low, result->decision.median / result->copy.median);
    printf("  %-20s %10.0f %10.0f\n", "decisions/s", 1e9 / result->decision.low,
           1e9 / result->decision.median);
    printf("  %-20s %10.0f %10.0f\n", "episodes/s", episodes_per_s(result, result->decision.low),
           episodes_per_s(result, result->decision.median));
    printf("  bytes: row %u, mask %u, state %u\n", shape->row_size, shape->action_count,
           shape->state_size);
}

static void print_forks(const BenchForks *forks)
{
    char rate[RATE_TEXT_MAX];
    printf("  pool, per second: snapshots %.0f, restored %.0f, forks %.0f; rollouts to the end by",
           forks->saves_per_s, forks->restores_per_s, forks->forks_per_s);
    for (uint32_t i = 0; i < forks->rollers; i++) {
        printf("%s %s %s", i > 0 ? "," : "", forks->roller[i].agent->name,
               rate_text(forks->roller[i].rollouts_per_s, rate));
    }
    printf("\n");
}

static void print_entry(const BenchEntry *entry)
{
    printf("\n%s\n", ty_shape(entry->ruleset)->spec);
    if (entry->with_cost) {
        print_cost(entry);
    }
    if (entry->with_pool) {
        print_forks(&entry->forks);
    }
    if (entry->with_pool) {
        bench_pool_print(&entry->pool);
    }
}

static void report_print(const BenchReport *report)
{
    printf("Uniformly random legal play; mask and row of the seat to act at every decision. Costs "
           "are\nthose of one thread, in slices below a millisecond that take turns: p10 of them "
           "is what it\ncosts on a quiet machine. Reference: memcpy of 1 KiB from a random one of "
           "65,536 slots.\n");
    for (uint32_t i = 0; i < report->count; i++) {
        print_entry(&report->entries[i]);
    }
    printf("\n");
    bench_machine_print();
    printf("signature: %016" PRIx64 "\n", report->signature);
}

/* The figures of one kind: at the top level medians, which `low` and `mean` have beside them. */
static void json_costs(TyJson *json, const BenchResult *result, size_t kind)
{
    static const struct {
        const char *key;
        size_t offset;
    } figures[] = {
        {"ns_per_decision", offsetof(BenchResult, decision)},
        {"step_ns", offsetof(BenchResult, step)},
        {"legal_ns", offsetof(BenchResult, legal)},
        {"observe_ns", offsetof(BenchResult, observe)},
        {"sample_ns", offsetof(BenchResult, sample)},
        {"reset_ns", offsetof(BenchResult, reset)},
        {"clone_ns", offsetof(BenchResult, clone)},
        {"ref_copy_ns", offsetof(BenchResult, copy)},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const char *figure = (const char *)result + figures[i].offset;
        output_real(json, figures[i].key, *(const double *)(const void *)(figure + kind));
    }
}

static void json_cost(TyJson *json, const BenchResult *result)
{
    output_real(json, "decisions_per_s", 1e9 / result->decision.median);
    output_real(json, "episodes_per_s", episodes_per_s(result, result->decision.median));
    output_real(json, "ratio", result->decision.median / result->copy.median);
    output_unsigned(json, "decisions", result->decisions);
    json_costs(json, result, offsetof(BenchFigure, median));
    ty_json_open(json, "low", '{');
    json_costs(json, result, offsetof(BenchFigure, low));
    ty_json_close(json, '}');
    ty_json_open(json, "mean", '{');
    json_costs(json, result, offsetof(BenchFigure, mean));
    ty_json_close(json, '}');
}

static void json_forks(TyJson *json, const BenchForks *forks)
{
    ty_json_open(json, "forks", '{');
    output_real(json, "saves_per_s", forks->saves_per_s);
    output_real(json, "restores_per_s", forks->restores_per_s);
    output_real(json, "forks_per_s", forks->forks_per_s);
    ty_json_open(json, "rollouts_per_s", '{');
    for (uint32_t i = 0; i < forks->rollers; i++) {
        output_real(json, forks->roller[i].agent->name, forks->roller[i].rollouts_per_s);
    }
    ty_json_close(json, '}');
    ty_json_close(json, '}');
}

static void json_entry(TyJson *json, const BenchReport *report, const BenchEntry *entry)
{
    const TyShape *shape = ty_shape(entry->ruleset);
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "ruleset", shape->spec);
    if (entry->with_cost) {
        json_cost(json, &entry->result);
    }
    if (entry->with_pool) {
        json_forks(json, &entry->forks);
        bench_pool_json(json, &entry->pool);
    }
    ty_json_put_int(json, "row_bytes", shape->row_size);
    ty_json_put_int(json, "mask_bytes", shape->action_count);
    ty_json_put_int(json, "state_bytes", shape->state_size);
    ty_json_put_hex(json, "signature", report->signature);
    bench_machine_json(json);
    ty_json_close(json, '}');
}

static int report_print_json(const Settings *settings, const BenchReport *report)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < report->count; i++) {
        json_entry(&json, report, &report->entries[i]);
    }
    ty_json_close(&json, ']');
    return output_print(settings, &json);
}

static int bench_open_all(const Settings *settings, const BenchList *list, BenchReport *report)
{
    for (uint32_t i = 0; i < list->count; i++) {
        int status = ruleset_open(settings, list->specs[i], &report->entries[i].ruleset);
        if (status != CLI_OK) {
            return status;
        }
        report->entries[i].with_cost = !settings->only_pool;
        report->entries[i].with_pool = list->pool[i];
        report->count++;
    }
    return CLI_OK;
}

static void bench_progress(void *user)
{
    BenchReport *report = user;
    progress_show(&report->progress, report->stages_done++);
}

/* A board of the user's own is not in the daemon's reach. */
static uint32_t bench_doors(const BenchReport *report, const TyRuleset *ruleset)
{
    bool own = strchr(ty_shape(ruleset)->spec, '@') != NULL;
    return own ? 1u << BENCH_INPROC : report->doors;
}

static TyStatus bench_measure_one(const Settings *settings, BenchReport *report, BenchEntry *entry)
{
    TyStatus status = {.code = TY_OK};
    if (entry->with_cost) {
        bench_progress(report);
        status = bench_measure(entry->ruleset, settings->seconds, &entry->result);
    }
    if (entry->with_pool && status.code == TY_OK) {
        status = bench_forks_measure(entry->ruleset, settings->seconds, &entry->forks);
    }
    if (entry->with_pool && status.code == TY_OK) {
        const BenchPoolPlan plan = {.seconds = settings->seconds * (double)BENCH_POOL_SHARE,
                                    .doors = bench_doors(report, entry->ruleset),
                                    .progress = bench_progress,
                                    .user = report};
        status = bench_pool_measure(entry->ruleset, &plan, &entry->pool);
    }
    return status;
}

static int bench_measure_all(const Settings *settings, BenchReport *report)
{
    TyStatus status = {.code = TY_OK};
    uint64_t stages = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        stages += report->entries[i].with_cost;
        stages += report->entries[i].with_pool ? BENCH_POOL_STAGES : 0;
    }
    report->progress = progress_open("measurements", stages);
    for (uint32_t i = 0; i < report->count && status.code == TY_OK; i++) {
        status = bench_measure_one(settings, report, &report->entries[i]);
    }
    progress_close(&report->progress);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    report->signature = signature_compute();
    return CLI_OK;
}

static int bench_report(const Settings *settings, const BenchList *list, BenchReport *report)
{
    int status = bench_doors_parse(settings, settings->doors, &report->doors);
    if (status == CLI_OK) {
        status = bench_open_all(settings, list, report);
    }
    if (status == CLI_OK) {
        status = bench_measure_all(settings, report);
    }
    if (status == CLI_OK && settings->json) {
        status = report_print_json(settings, report);
    } else if (status == CLI_OK) {
        report_print(report);
    }
    for (uint32_t i = 0; i < report->count; i++) {
        ty_ruleset_close(report->entries[i].ruleset);
    }
    return status;
}

static int bench_standard(const Settings *settings, const BenchList *list)
{
    BenchReport *report = cli_memory(calloc(1, sizeof *report));
    int status = bench_report(settings, list, report);
    free(report);
    return status;
}

static int bench_run(const Settings *settings)
{
    BenchList *list = cli_memory(calloc(1, sizeof *list));
    list_fill(list, settings);
    int status = CLI_OK;
    if (settings->compare != NULL) {
        status = bench_compare(settings, list);
    } else if (settings->only_agents) {
        status = bench_agents(settings, list);
    } else if (settings->only_slots) {
        status = bench_slots(settings, list);
    } else if (settings->only_draw) {
        status = bench_draw(settings, list);
    } else {
        status = bench_standard(settings, list);
    }
    free(list);
    return status;
}

static const Option bench_options[] = {
    {.name = "seconds",
     .value = "S",
     .kind = OPTION_SECONDS,
     .offset = offsetof(Settings, seconds),
     .maximum = 3600,
     .standard = "1",
     .help = "How long to measure each ruleset; pools and --compare take eight times as long."},
    {.name = "pool",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, only_pool),
     .help = "Measure pools alone."},
    {.name = "doors",
     .value = "A,B,...",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, doors),
     .standard = "inproc,shm,ipc,tcp",
     .help = "Which doors of pools to measure."},
    {.name = "agents",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, only_agents),
     .help = "Measure the built-in agents alone."},
    {.name = "agent",
     .value = "A,B,...",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, agent),
     .help = "With --agents: these, with their settings, instead of all."},
    {.name = "slots",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, only_slots),
     .help = "Measure pools of 1, 1,000 and 1,000,000 slots alone."},
    {.name = "draw",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, only_draw),
     .help = "Measure drawings, and what a decision changes of them, alone."},
    {.name = "compare",
     .value = "PROGRAM",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, compare),
     .help = "Compare this build with another one, in turns."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_bench = {
    .name = "bench",
    .arguments = "[RULESET...]",
    .arguments_min = 0,
    .arguments_max = BENCH_RULESETS_MAX,
    .summary = "measure the speed of rulesets and pools, and print the build's signature",
    .details =
        "Measures what a decision costs with its mask and its observation row, in one thread and\n"
        "with uniformly random legal play, and what the parts of it cost. Shown are the median of\n"
        "many short slices and their p10, which other work on the machine hardly changes. The\n"
        "reference beside it is a memcpy of 1 KiB from a random one of 65,536 slots.\n"
        "\n"
        "Then measures snapshots, forks and rollouts a second, and\n"
        "pools, of the standard ruleset of every game or of each RULESET: decisions\n"
        "per second for batches of 1 to 4096 rows, waiting for every step and with two groups in\n"
        "flight. The doors take turns in the same run; shown are the median and the best slice:\n"
        "  inproc    a pool in this process; what shm is compared with\n"
        "  shm       this process as client of its own trainyardd, through shared memory\n"
        "  ipc, tcp  the same over ZeroMQ with MessagePack: the columns that a learner reads, "
        "with\n"
        "            masks as bits\n"
        "  ipc-all   what a client gets that does not say what it reads: every column\n"
        "With ipc and tcp come their yardsticks, which have no protocol:\n"
        "  bare-ipc, bare-tcp  two processes that only exchange messages of the same sizes\n"
        "  step-ipc            the same, but the server also steps the pool and copies its rows\n"
        "\n"
        "--agents measures a decision of every built-in agent, of the standard ruleset of every\n"
        "game or of each RULESET. --slots measures pools from one slot to a million: memory, the\n"
        "time of a step of all slots and the cost of a decision. --draw measures drawings.\n"
        "\n"
        "--compare PROGRAM is for judging a change on a noisy machine: this trainyard and another\n"
        "build of it, also an older one, take turns of a fraction of a second. Shown is the ratio\n"
        "of their costs, this one's by the other's: from the tenth of the turns in which each was\n"
        "quickest, and the median and the quartiles of what every single turn says. With --doors\n"
        "pools behind these doors are compared too, in turns that grow with --seconds: new pools\n"
        "play in step for a while, which is quicker than play is later.\n"
        "\n"
        "The signature at the end is a hash over a fixed set of episodes of every game: two "
        "builds\n"
        "with the same signature play alike.",
    .example = "  trainyard bench\n"
               "  trainyard bench GAME --seconds 5 --json\n"
               "  trainyard bench GAME --pool --doors shm,ipc\n"
               "  trainyard bench --agents --seconds 2\n"
               "  trainyard bench GAME --slots\n"
               "  trainyard bench --draw\n"
               "  trainyard bench GAME --compare ../before/build/trainyard",
    .options = bench_options,
    .run = bench_run,
};
