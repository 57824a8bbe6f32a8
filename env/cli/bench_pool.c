/* How trainyard bench shows what pools do. */
#include "cli/bench_pool.h"

#include <inttypes.h>
#include <stdio.h>

static void line_print(const BenchLine *line)
{
    printf("    %-7s %7u %7u ", line->door, line->threads, line->groups);
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9.0f", line->rate[i]);
    }
    if (line->p50_us > 0) {
        printf("  %8.2f %8.2f", line->p50_us, line->p99_us);
    }
    printf("\n");
    if (line->ratio[0] > 0) {
        printf("      of in-process       ");
        for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
            printf(" %9.2f", line->ratio[i]);
        }
        printf("\n");
    }
}

void bench_pool_print(const BenchPoolResult *result)
{
    printf(
        "  pool: decisions/s by rows of a group; with 2 groups one is stepped while the actions\n"
        "  of the other are sampled. Round trip in microseconds at batch 1.\n");
    printf("    door    threads  groups ");
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9u", bench_batches[i]);
    }
    printf("  %8s %8s\n", "p50", "p99");
    for (uint32_t i = 0; i < result->count; i++) {
        line_print(&result->lines[i]);
    }
    printf("    bytes per slot %" PRIu64 ", per shared-memory client %" PRIu64
           " besides its slots\n",
           result->slot_bytes, result->client_bytes);
}

static void cell_json(Json *json, const BenchLine *line, uint32_t batch)
{
    json_open(json, NULL, '{');
    json_put_string(json, "door", line->door);
    json_put_int(json, "threads", line->threads);
    json_put_int(json, "groups", line->groups);
    json_put_int(json, "batch", bench_batches[batch]);
    output_real(json, "decisions_per_s", line->rate[batch]);
    if (line->ratio[batch] > 0) {
        output_real(json, "ratio", line->ratio[batch]);
    }
    if (bench_batches[batch] == 1 && line->p50_us > 0) {
        output_real(json, "p50_us", line->p50_us);
        output_real(json, "p99_us", line->p99_us);
    }
    json_close(json, '}');
}

void bench_pool_json(Json *json, const BenchPoolResult *result)
{
    json_open(json, "pool", '{');
    output_unsigned(json, "slot_bytes", result->slot_bytes);
    output_unsigned(json, "client_bytes", result->client_bytes);
    json_open(json, "rates", '[');
    for (uint32_t i = 0; i < result->count; i++) {
        for (uint32_t batch = 0; batch < BENCH_BATCHES; batch++) {
            cell_json(json, &result->lines[i], batch);
        }
    }
    json_close(json, ']');
    json_close(json, '}');
}
