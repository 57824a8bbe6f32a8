/* The page of numbers for operators, in Prometheus' text format. */
#define _GNU_SOURCE
#include "daemon/metrics.h"
#include "daemon/dispatch_internal.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Counting ---- */

static const uint32_t latency_us[METRICS_LATENCIES] = {
    20,    50,    100,    250,    500,    1000,    2500,     5000,
    10000, 25000, 100000, 250000, 500000, 1000000, 10000000,
};

void metrics_request(Metrics *metrics, uint32_t operation, uint64_t nanoseconds)
{
    OperationCounts *counts = &metrics->operations[operation];
    uint32_t at = 0;
    while (at < METRICS_LATENCIES && nanoseconds > latency_us[at] * UINT64_C(1000)) {
        at++;
    }
    counts->requests++;
    counts->latencies[at]++;
    counts->nanoseconds += nanoseconds;
}

void metrics_error(Metrics *metrics, uint32_t operation, ErrorCode code)
{
    metrics->operations[operation].errors[code]++;
}

/* ---- The page ---- */

static void put_family(TyText *page, const char *name, const char *type, const char *help)
{
    ty_text_add(page, "# HELP trainyard_%s %s\n# TYPE trainyard_%s %s\n", name, help, name, type);
}

static void put_one(TyText *page, const char *name, const char *type, const char *help,
                    uint64_t value)
{
    put_family(page, name, type, help);
    ty_text_add(page, "trainyard_%s %" PRIu64 "\n", name, value);
}

static const char *operation_name(uint32_t operation)
{
    return operation < OP_COUNT ? protocol_operations[operation].name : "unreadable";
}

static void put_requests(TyText *page, const Metrics *metrics)
{
    put_family(page, "requests_total", "counter", "Requests answered, by operation.");
    for (uint32_t op = 0; op <= OP_COUNT; op++) {
        ty_text_add(page, "trainyard_requests_total{op=\"%s\"} %" PRIu64 "\n", operation_name(op),
                    metrics->operations[op].requests);
    }
    put_family(page, "errors_total", "counter",
               "Requests refused, by operation and error code; those that never happened are "
               "left out.");
    for (uint32_t op = 0; op <= OP_COUNT; op++) {
        for (uint32_t code = 0; code < ERROR_COUNT; code++) {
            uint64_t errors = metrics->operations[op].errors[code];
            if (errors > 0) {
                ty_text_add(page, "trainyard_errors_total{op=\"%s\",code=\"%s\"} %" PRIu64 "\n",
                            operation_name(op), protocol_errors[code].name, errors);
            }
        }
    }
}

static void put_latency(TyText *page, const char *name, const OperationCounts *counts)
{
    uint64_t below = 0;
    for (uint32_t i = 0; i < METRICS_LATENCIES; i++) {
        below += counts->latencies[i];
        ty_text_add(page, "trainyard_request_seconds_bucket{op=\"%s\",le=\"%g\"} %" PRIu64 "\n",
                    name, latency_us[i] / 1e6, below);
    }
    ty_text_add(page,
                "trainyard_request_seconds_bucket{op=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
                "trainyard_request_seconds_sum{op=\"%s\"} %.9f\n"
                "trainyard_request_seconds_count{op=\"%s\"} %" PRIu64 "\n",
                name, counts->requests, name, (double)counts->nanoseconds / 1e9, name,
                counts->requests);
}

static void put_latencies(TyText *page, const Metrics *metrics)
{
    put_family(page, "request_seconds", "histogram",
               "From the arrival of a request to its reply, waiting for other members included; "
               "operations that nobody used are left out.");
    for (uint32_t op = 0; op <= OP_COUNT; op++) {
        if (metrics->operations[op].requests > 0) {
            put_latency(page, operation_name(op), &metrics->operations[op]);
        }
    }
}

/* Sums over the pools, those that are closed included. */
typedef struct PoolSums {
    uint64_t decisions;
    uint64_t episodes;
    uint64_t slots;
    uint64_t waiting;
    uint64_t bytes;
    uint64_t snapshot_bytes;
} PoolSums;

static PoolSums pools_sum(const Dispatch *dispatch)
{
    PoolSums sums = {.decisions = dispatch->decisions_closed,
                     .episodes = dispatch->episodes_closed};
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        WorkerStats stats;
        if (dispatch->rooms[i].id != 0) {
            worker_stats(dispatch->rooms[i].worker, &stats);
            sums.decisions += stats.decisions;
            sums.episodes += stats.episodes;
            sums.slots += stats.slots;
            sums.waiting += stats.waiting;
            sums.bytes += stats.bytes;
            sums.snapshot_bytes += stats.snapshot_bytes;
        }
    }
    return sums;
}

/* The memory that the system has given the process. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_memory(TyText *page, Dispatch *dispatch, const PoolSums *pools)
{
    BufferStore *buffers = &dispatch->shared.buffers;
    uint64_t pools_bytes = pools->bytes + pools->snapshot_bytes;
    uint64_t rest = quota_used(&dispatch->shared.quota, QUOTA_BYTES) - dispatch->kept_bytes;
    const struct {
        const char *kind;
        uint64_t bytes;
    } kinds[] = {
        {"pools", pools->bytes},
        {"snapshots", pools->snapshot_bytes},
        {"kept_replies", dispatch->kept_bytes},
        {"messages", rest > pools_bytes ? rest - pools_bytes : 0},
        {"spare_messages", buffer_store_spare(buffers)},
        {"resident", resident_bytes()},
    };
    put_family(
        page, "memory_bytes", "gauge",
        "Memory by kind. The limit memory_bytes is on the sum of pools, snapshots, "
        "kept_replies, messages (those under way, and sessions) and spare_messages (kept for "
        "the next ones); resident is the whole process as the system counts it.");
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        ty_text_add(page, "trainyard_memory_bytes{kind=\"%s\"} %" PRIu64 "\n", kinds[i].kind,
                    kinds[i].bytes);
    }
}

static void put_log(TyText *page, const Dispatch *dispatch)
{
    if (dispatch->config.recorder == NULL) {
        return;
    }
    RecorderStats stats = recorder_stats(dispatch->config.recorder);
    put_one(page, "log_episodes_total", "counter", "Episodes written to the log.", stats.episodes);
    put_one(page, "log_bytes_total", "counter", "Bytes written to the log.", stats.bytes);
    put_one(page, "log_dropped_episodes_total", "counter",
            "Episodes that ended and could not be written to the log.", stats.lost);
    put_one(page, "log_held_episodes", "gauge",
            "Episodes that have ended and wait until they can be written.", stats.held);
    put_one(page, "log_deleted_files_total", "counter",
            "Files of the log that were deleted, as --log-keep-bytes and --log-keep-days say.",
            stats.deleted);
    put_one(page, "log_skipped_episodes_total", "counter",
            "Episodes that are not logged because a snapshot was put into their slot.",
            stats.skipped);
}

size_t dispatch_metrics(Dispatch *dispatch, char *text, size_t size)
{
    TyText page = ty_text_init(text, size);
    PoolSums pools = pools_sum(dispatch);
    put_family(&page, "build_info", "gauge", "The version, as a label.");
    ty_text_add(&page, "trainyard_build_info{version=\"%s\"} 1\n", TY_VERSION);
    put_family(&page, "uptime_seconds", "gauge", "Time since the daemon started.");
    ty_text_add(&page, "trainyard_uptime_seconds %.3f\n",
                (double)(dispatch->now_ms - dispatch->started_ms) / 1000);
    put_one(&page, "decisions_total", "counter", "Decisions taken by members of pools.",
            pools.decisions);
    put_one(&page, "episodes_total", "counter", "Episodes that ended.", pools.episodes);
    put_one(&page, "sessions", "gauge", "Open sessions.", dispatch->session_count);
    put_one(&page, "sessions_begun_total", "counter", "Sessions begun.", dispatch->session_serial);
    put_one(&page, "pools", "gauge", "Open pools.", dispatch->room_count);
    put_one(&page, "slots", "gauge", "Slots of open pools.", pools.slots);
    put_one(&page, "requests_waiting", "gauge", "Requests that wait for other members.",
            pools.waiting);
    put_requests(&page, &dispatch->metrics);
    put_latencies(&page, &dispatch->metrics);
    put_memory(&page, dispatch, &pools);
    put_log(&page, dispatch);
    return page.length;
}
