/* trainyard bench: what a decision costs, what pools do, and the signature of the build. */
#include "bench/bench.h"

#include "bench/signature.h"
#include "cli/bench_pool.h"
#include "cli/output.h"
#include "cli/progress.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BENCH_RULESETS_MAX = CLI_ARGUMENTS_MAX,
    BENCH_POOL_SHARE = 8, /* times --seconds, for the pools of a ruleset: they are many figures */
};

/* The rulesets to measure: those of the command line, or for every game the standard ruleset and
 * the other built-in choices of its first file-valued setting. */
typedef struct BenchList {
    uint32_t count;
    bool pool[BENCH_RULESETS_MAX]; /* with pools: what the user named, and standard rulesets */
    char specs[BENCH_RULESETS_MAX][TY_SPEC_MAX * 2];
} BenchList;

typedef struct BenchEntry {
    TyRuleset *ruleset;
    bool with_cost; /* of a decision: not with --pool */
    bool with_pool;
    BenchResult result;
    BenchPoolResult pool;
} BenchEntry;

/* What all entries share. */
typedef struct BenchReport {
    uint32_t doors; /* a bit each */
    uint64_t stages_done;
    Progress progress;
    uint64_t signature;
    char processor[128];
    uint32_t count;
    BenchEntry entries[BENCH_RULESETS_MAX];
} BenchReport;

static void list_add(BenchList *list, const char *game, const char *key, const char *value)
{
    assert(list->count < BENCH_RULESETS_MAX);
    list->pool[list->count] = key == NULL;
    char *spec = list->specs[list->count++];
    if (key == NULL) {
        snprintf(spec, TY_SPEC_MAX * 2, "%s", game);
    } else {
        snprintf(spec, TY_SPEC_MAX * 2, "%s:%s=%s", game, key, value);
    }
}

static void list_add_game(BenchList *list, const TyGame *game)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    list_add(list, ty_game_name(game), NULL, NULL);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        for (int32_t choice = 0; fields[i].choices[choice] != NULL; choice++) {
            if (choice != fields[i].standard) {
                list_add(list, ty_game_name(game), fields[i].key, fields[i].choices[choice]);
            }
        }
        return;
    }
}

static void list_fill(BenchList *list, const Settings *settings)
{
    list->count = 0;
    for (uint32_t i = 0; i < settings->argument_count; i++) {
        list_add(list, settings->arguments[i], NULL, NULL);
    }
    for (uint32_t i = 0; settings->argument_count == 0 && i < ty_game_count(); i++) {
        list_add_game(list, ty_game_at(i));
    }
}

/* ---- Printing ---- */

static void print_cost(const BenchEntry *entry)
{
    const TyShape *shape = ty_shape(entry->ruleset);
    const BenchResult *result = &entry->result;
    double ratio = result->ns_per_decision / result->ref_copy_ns;
    printf("  decisions/s          %14.0f\n", result->decisions_per_s);
    printf("  ns per decision      %14.1f   = %.2f x the reference copy (%.1f ns)\n",
           result->ns_per_decision, ratio, result->ref_copy_ns);
    printf("    step               %14.1f\n", result->step_ns);
    printf("    legal              %14.1f\n", result->legal_ns);
    printf("    observe            %14.1f\n", result->observe_ns);
    printf("    sample             %14.1f\n", result->sample_ns);
    printf("  episodes/s           %14.0f\n", result->episodes_per_s);
    printf("  reset ns             %14.1f\n", result->reset_ns);
    printf("  clone ns             %14.1f\n", result->clone_ns);
    printf("  bytes                  row %u, mask %u, state %u\n", shape->row_size,
           shape->action_count, shape->state_size);
}

static void print_entry(const BenchEntry *entry)
{
    printf("\n%s\n", ty_shape(entry->ruleset)->spec);
    if (entry->with_cost) {
        print_cost(entry);
    }
    if (entry->with_pool) {
        bench_pool_print(&entry->pool);
    }
}

static void report_print(const BenchReport *report)
{
    printf("Uniformly random legal play; mask and row of the seat to act at every decision. Costs "
           "are\nthose of one thread; reference: memcpy of 1 KiB from a random one of 65,536 "
           "slots.\n");
    for (uint32_t i = 0; i < report->count; i++) {
        print_entry(&report->entries[i]);
    }
    printf("\nprocessor: %s\ncompiler:  %s (%s)\nsignature: %016" PRIx64 "\n", report->processor,
           bench_compiler(), bench_build(), report->signature);
}

static void json_cost(Json *json, const BenchResult *result)
{
    output_real(json, "decisions_per_s", result->decisions_per_s);
    output_real(json, "ns_per_decision", result->ns_per_decision);
    output_real(json, "step_ns", result->step_ns);
    output_real(json, "legal_ns", result->legal_ns);
    output_real(json, "observe_ns", result->observe_ns);
    output_real(json, "sample_ns", result->sample_ns);
    output_real(json, "episodes_per_s", result->episodes_per_s);
    output_real(json, "reset_ns", result->reset_ns);
    output_real(json, "clone_ns", result->clone_ns);
    output_real(json, "ref_copy_ns", result->ref_copy_ns);
    output_real(json, "ratio", result->ns_per_decision / result->ref_copy_ns);
    output_unsigned(json, "decisions", result->decisions);
}

static void json_entry(Json *json, const BenchReport *report, const BenchEntry *entry)
{
    const TyShape *shape = ty_shape(entry->ruleset);
    json_open(json, NULL, '{');
    json_put_string(json, "ruleset", shape->spec);
    if (entry->with_cost) {
        json_cost(json, &entry->result);
    }
    if (entry->with_pool) {
        bench_pool_json(json, &entry->pool);
    }
    json_put_int(json, "row_bytes", shape->row_size);
    json_put_int(json, "mask_bytes", shape->action_count);
    json_put_int(json, "state_bytes", shape->state_size);
    json_put_hex(json, "signature", report->signature);
    json_put_string(json, "cpu", report->processor);
    json_put_string(json, "compiler", bench_compiler());
    json_put_string(json, "build_type", bench_build());
    json_put_string(json, "version", TY_VERSION);
    json_close(json, '}');
}

static int report_print_json(const Settings *settings, const BenchReport *report)
{
    Json json = output_open();
    json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < report->count; i++) {
        json_entry(&json, report, &report->entries[i]);
    }
    json_close(&json, ']');
    return output_print(settings, &json);
}

/* ---- The command ---- */

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
    bench_processor(report->processor, sizeof report->processor);
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

static int bench_run(const Settings *settings)
{
    BenchList *list = cli_memory(calloc(1, sizeof *list));
    BenchReport *report = cli_memory(calloc(1, sizeof *report));
    list_fill(list, settings);
    int status = bench_report(settings, list, report);
    free(list);
    free(report);
    return status;
}

static const Option bench_options[] = {
    {.name = "seconds",
     .value = "S",
     .kind = OPTION_SECONDS,
     .offset = offsetof(Settings, seconds),
     .maximum = 3600,
     .standard = "1",
     .help = "How long to measure each ruleset; its pools take eight times as long."},
    {.name = "pool",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, only_pool),
     .help = "Measure pools only."},
    {.name = "doors",
     .value = "A,B,...",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, doors),
     .standard = "inproc,shm,ipc,tcp",
     .help = "The doors through which pools are measured."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_bench = {
    .name = "bench",
    .arguments = "[RULESET...]",
    .arguments_min = 0,
    .arguments_max = BENCH_RULESETS_MAX,
    .summary = "measure the cost of a decision and print the signature",
    .details =
        "Measures, in one thread and with uniformly random legal play, what a decision with\n"
        "its mask and its observation row costs, and what its parts cost; beside it the\n"
        "reference, a memcpy of 1 KiB from a random one of 65,536 slots.\n"
        "\n"
        "Then pools of the standard ruleset of every game, or of each RULESET: decisions per\n"
        "second for batches of 1 to 4096 rows, waiting for every step and with two groups in\n"
        "flight, with uniformly random legal actions drawn by whoever drives the pool. All doors\n"
        "take turns in slices of the same run, and the best slice counts:\n"
        "  inproc    this process; the yardstick of shm with the same stepping threads\n"
        "  shm       this process as client of a trainyardd of its own, through shared memory\n"
        "  ipc, tcp  the same over ZeroMQ with MessagePack\n"
        "  bare-ipc, bare-tcp   two processes that exchange messages of the sizes of ipc and tcp\n"
        "            between a ROUTER and a DEALER and do nothing else: the most that ZeroMQ "
        "allows\n"
        "  step-ipc  the same, but the server also steps the pool and copies its rows: the most\n"
        "            that ZeroMQ allows to a server that plays\n"
        "Stepping threads, clients and ZeroMQ's own threads share the processors: with two of\n"
        "them, two stepping threads and a client are one too many.\n"
        "\n"
        "The signature is a hash over a fixed set of episodes of every game: equal signatures,\n"
        "equal behaviour.",
    .example = "  trainyard bench\n"
               "  trainyard bench GAME --seconds 5 --json\n"
               "  trainyard bench GAME --pool --doors shm,ipc",
    .options = bench_options,
    .run = bench_run,
};
