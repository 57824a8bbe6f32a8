/* How trainyard bench shows what pools do. */
#include "cli/bench_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The doors that a word of --doors stands for; 0: it is no door. */
static uint32_t door_bits(const char *word, size_t length)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } words[] = {
        {"inproc", 1u << BENCH_INPROC},
        {"shm", 1u << BENCH_INPROC | 1u << BENCH_SHM},
        {"ipc",
         1u << BENCH_IPC | 1u << BENCH_IPC_ALL | 1u << BENCH_BARE_IPC | 1u << BENCH_STEP_IPC},
        {"tcp", 1u << BENCH_TCP | 1u << BENCH_BARE_TCP},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0) {
            return words[i].bits;
        }
    }
    return 0;
}

int bench_doors_parse(const Settings *settings, const char *names, uint32_t *doors)
{
    const char *at = names != NULL ? names : "inproc,shm,ipc,tcp";
    *doors = 0;
    for (;;) {
        size_t length = strcspn(at, ",");
        uint32_t bits = door_bits(at, length);
        if (bits == 0) {
            return cli_usage_error(settings, "--doors: '%.*s' is none of inproc, shm, ipc, tcp",
                                   (int)length, at);
        }
        *doors |= bits;
        if (at[length] == '\0') {
            return CLI_OK;
        }
        at += length + 1;
    }
}

/* Whether it only exchanges messages: nobody steps. */
static bool line_is_bare(const BenchLine *line)
{
    return line->door == BENCH_BARE_IPC || line->door == BENCH_BARE_TCP;
}

static void line_print(const BenchLine *line)
{
    char threads[16] = "-";
    if (!line_is_bare(line)) {
        snprintf(threads, sizeof threads, "%u", line->threads);
    }
    printf("    %-9s %7s %7u ", bench_door_names[line->door], threads, line->groups);
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9.0f", line->rate[i]);
    }
    if (line->p50_us > 0) {
        printf("  %8.2f %8.2f", line->p50_us, line->p99_us);
    }
    printf("\n      best slice            ");
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9.0f", line->best[i]);
    }
    printf("\n");
    for (uint32_t base = 0; base < BENCH_BASES && line->ratio[base][0] > 0; base++) {
        printf("      of %-17s ", bench_door_names[line->base[base]]);
        for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
            printf(" %9.2f", line->ratio[base][i]);
        }
        printf("\n");
    }
}

static void sizes_print(const BenchPoolResult *result, BenchDoor door)
{
    const BenchLine *line = result->lines;
    while (line < result->lines + result->count && line->door != door) {
        line++;
    }
    if (line == result->lines + result->count || line->sizes[0].reply == 0) {
        return;
    }
    printf("    bytes of a reply, %-8s ", bench_door_names[door]);
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9u", line->sizes[i].reply);
    }
    printf("\n");
}

static void memory_print(const BenchMemory *memory)
{
    printf("    bytes of a slot %" PRIu64 ": state %" PRIu64 ", rows %" PRIu64
           "; of 10,000 slots %" PRIu64 " (%.1f MB)\n",
           memory->slot, memory->slot_state, memory->slot_rows, memory->slots_10000,
           (double)memory->slots_10000 / (1 << 20));
    printf("    bytes of a client: shared memory %" PRIu64 " besides its slots",
           memory->shm_client);
    if (memory->zmq_session > 0) {
        printf("; ZeroMQ session %" PRIu64 " in the daemon", memory->zmq_session);
    }
    printf("\n");
}

void bench_pool_print(const BenchPoolResult *result)
{
    printf(
        "  pool: decisions/s by rows of a group, on %u processors, the median of slices that took "
        "turns;\n  with 2 groups one is stepped while the actions of the other are sampled. Round "
        "trip in\n  microseconds at batch 1. bare: rows/s of two processes that exchange messages "
        "of the same\n  sizes over ZeroMQ and do nothing else; step: the same, but the server "
        "draws actions, steps\n  the pool and copies its rows, with no protocol.\n",
        result->processors);
    printf("    door      threads  groups ");
    for (uint32_t i = 0; i < BENCH_BATCHES; i++) {
        printf(" %9u", bench_batches[i]);
    }
    printf("  %8s %8s\n", "p50", "p99");
    for (uint32_t i = 0; i < result->count; i++) {
        line_print(&result->lines[i]);
    }
    sizes_print(result, BENCH_IPC);
    sizes_print(result, BENCH_IPC_ALL);
    memory_print(&result->memory);
}

static void cell_json(TyJson *json, const BenchLine *line, uint32_t batch)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "door", bench_door_names[line->door]);
    if (!line_is_bare(line)) {
        ty_json_put_int(json, "threads", line->threads);
    }
    ty_json_put_int(json, "groups", line->groups);
    ty_json_put_int(json, "batch", bench_batches[batch]);
    output_real(json, line_is_bare(line) ? "rows_per_s" : "decisions_per_s", line->rate[batch]);
    output_real(json, line_is_bare(line) ? "rows_per_s_best" : "decisions_per_s_best",
                line->best[batch]);
    for (uint32_t i = 0; i < BENCH_BASES && line->ratio[i][batch] > 0; i++) {
        char key[40];
        snprintf(key, sizeof key, "of_%s", bench_door_names[line->base[i]]);
        char *dash = strchr(key, '-');
        if (dash != NULL) {
            *dash = '_';
        }
        output_real(json, key, line->ratio[i][batch]);
    }
    if (line->sizes[batch].reply > 0) {
        ty_json_put_int(json, "request_bytes", line->sizes[batch].request);
        ty_json_put_int(json, "reply_bytes", line->sizes[batch].reply);
    }
    if (bench_batches[batch] == 1 && line->p50_us > 0) {
        output_real(json, "p50_us", line->p50_us);
        output_real(json, "p99_us", line->p99_us);
    }
    ty_json_close(json, '}');
}

void bench_pool_json(TyJson *json, const BenchPoolResult *result)
{
    const BenchMemory *memory = &result->memory;
    ty_json_open(json, "pool", '{');
    ty_json_put_int(json, "processors", result->processors);
    output_unsigned(json, "slot_bytes", memory->slot);
    output_unsigned(json, "slot_state_bytes", memory->slot_state);
    output_unsigned(json, "slot_rows_bytes", memory->slot_rows);
    output_unsigned(json, "slots_10000_bytes", memory->slots_10000);
    output_unsigned(json, "client_bytes", memory->shm_client);
    if (memory->zmq_session > 0) {
        output_unsigned(json, "session_bytes", memory->zmq_session);
    }
    ty_json_open(json, "rates", '[');
    for (uint32_t i = 0; i < result->count; i++) {
        for (uint32_t batch = 0; batch < BENCH_BATCHES; batch++) {
            cell_json(json, &result->lines[i], batch);
        }
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
}
