/* How trainyard bench shows what pools do. */
#pragma once

#include "bench/bench_pool.h"
#include "cli/output.h"

/* Reads names separated by commas, the value of --doors; NULL means all. What a door is compared
 * with comes along. On failure it has complained, and returns the exit status. */
int bench_doors_parse(const Settings *settings, const char *names, uint32_t *doors);
void bench_pool_print(const BenchPoolResult *result);
void bench_pool_json(TyJson *json, const BenchPoolResult *result);
