/* How trainyard bench shows what pools do. */
#pragma once

#include "bench/bench_pool.h"
#include "cli/output.h"

void bench_pool_print(const BenchPoolResult *result);
void bench_pool_json(Json *json, const BenchPoolResult *result);
