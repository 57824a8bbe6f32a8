/* trainyard bench --slots: pools from one slot to a million. */
#include "bench/bench_slots.h"
#include "cli/bench_modes.h"

#include <inttypes.h>
#include <stdio.h>

static void sizes_print(const char *spec, const BenchSize *sizes)
{
    printf("\n%s\n  %9s %10s %10s %12s %10s %10s %12s %12s %7s\n", spec, "slots", "bytes/slot",
           "resident", "decisions/s", "ns p10", "ns median", "step p50 us", "step p99 us", "steps");
    for (uint32_t i = 0; i < BENCH_SIZES; i++) {
        const BenchSize *size = &sizes[i];
        printf("  %9u %10" PRIu64 " %10" PRIu64 " %12.0f %10.1f %10.1f %12.2f %12.2f %7u\n",
               size->slots, size->slot_bytes, size->resident_bytes, 1e9 / size->decision.median,
               size->decision.low, size->decision.median, size->step_p50_us, size->step_p99_us,
               size->steps);
    }
}

static void sizes_json(TyJson *json, const char *spec, const BenchSize *sizes)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "ruleset", spec);
    ty_json_open(json, "sizes", '[');
    for (uint32_t i = 0; i < BENCH_SIZES; i++) {
        const BenchSize *size = &sizes[i];
        ty_json_open(json, NULL, '{');
        ty_json_put_int(json, "slots", size->slots);
        output_unsigned(json, "slot_bytes", size->slot_bytes);
        output_unsigned(json, "resident_bytes", size->resident_bytes);
        output_real(json, "decisions_per_s", 1e9 / size->decision.median);
        output_real(json, "ns_per_decision", size->decision.median);
        output_real(json, "ns_per_decision_low", size->decision.low);
        output_real(json, "step_p50_us", size->step_p50_us);
        output_real(json, "step_p99_us", size->step_p99_us);
        ty_json_put_int(json, "steps", size->steps);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
    bench_machine_json(json);
    ty_json_close(json, '}');
}

static int slots_measure(const Settings *settings, const char *spec, TyJson *json)
{
    TyRuleset *ruleset = NULL;
    BenchSize sizes[BENCH_SIZES];
    int status = ruleset_open(settings, spec, &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    TyStatus measured = bench_slots_measure(ruleset, settings->seconds, sizes);
    if (measured.code != TY_OK) {
        status = cli_failure(settings, "%s", measured.message);
    } else if (settings->json) {
        sizes_json(json, ty_shape(ruleset)->spec, sizes);
    } else {
        sizes_print(ty_shape(ruleset)->spec, sizes);
    }
    ty_ruleset_close(ruleset);
    return status;
}

int bench_slots(const Settings *settings, const BenchList *list)
{
    return bench_each(
        settings, list,
        "Pools in one thread, one group, with uniformly random legal play. A decision "
        "has its sampling;\na step, of all slots at once, does not.\n",
        slots_measure);
}
