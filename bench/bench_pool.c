/* Measuring pools through every door, side by side. */
#define _GNU_SOURCE
#include "bench/bench_pool.h"

#include "bench/bench_player.h"
#include "bench/figure.h"
#include "core/status.h"
#include "daemon/shm_channel.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const uint32_t bench_batches[BENCH_BATCHES] = {1, 32, 256, 1024, 4096};

const char *const bench_door_names[BENCH_DOORS] = {
    [BENCH_INPROC] = "inproc",   [BENCH_SHM] = "shm",           [BENCH_IPC] = "ipc",
    [BENCH_IPC_ALL] = "ipc-all", [BENCH_BARE_IPC] = "bare-ipc", [BENCH_STEP_IPC] = "step-ipc",
    [BENCH_TCP] = "tcp",         [BENCH_BARE_TCP] = "bare-tcp",
};

enum {
    SLICES = 16,       /* of every figure, taken in turn */
    TRIPS_MAX = 20000, /* round trips whose times are kept */
    SESSIONS = 32,     /* whose memory is measured */
};

static const struct {
    uint32_t threads, groups;
} shapes[BENCH_SHAPES] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};

/* What each door is compared with. */
static const BenchDoor bases[BENCH_DOORS][BENCH_BASES] = {
    [BENCH_INPROC] = {BENCH_NONE, BENCH_NONE, BENCH_NONE},
    [BENCH_SHM] = {BENCH_INPROC, BENCH_NONE, BENCH_NONE},
    [BENCH_IPC] = {BENCH_BARE_IPC, BENCH_STEP_IPC, BENCH_IPC_ALL},
    [BENCH_IPC_ALL] = {BENCH_NONE, BENCH_NONE, BENCH_NONE},
    [BENCH_BARE_IPC] = {BENCH_NONE, BENCH_NONE, BENCH_NONE},
    [BENCH_STEP_IPC] = {BENCH_NONE, BENCH_NONE, BENCH_NONE},
    [BENCH_TCP] = {BENCH_BARE_TCP, BENCH_NONE, BENCH_NONE},
    [BENCH_BARE_TCP] = {BENCH_NONE, BENCH_NONE, BENCH_NONE},
};

/* Whether it has no protocol, but messages of the sizes of another door's. */
static bool door_is_bare(BenchDoor door)
{
    return door == BENCH_BARE_IPC || door == BENCH_STEP_IPC || door == BENCH_BARE_TCP;
}

/* ---- One figure ---- */

/* Waits for every group and chooses what comes next, as a player rests between two slices. */
static bool player_rest(BenchPlayer *player)
{
    bool good = true;
    for (uint32_t i = 0; i < player->groups && good; i++) {
        uint32_t group = i;
        uint32_t rows = 0;
        good = player_wait(player, &group, &rows);
        player_think(player, group);
    }
    return good;
}

/* Decisions per second over about `ns`, with every group but one in flight; 0 if it broke. */
static double player_rate(BenchPlayer *player, uint64_t ns)
{
    uint32_t rounds =
        player->groups * (1 + 64 / player->batch); /* between two looks at the clock */
    uint64_t decisions = 0;
    uint64_t start = bench_clock_ns();
    uint64_t now = start;
    for (uint32_t group = 0; group < player->groups; group++) {
        player_send(player, group);
    }
    while (now - start < ns) {
        for (uint32_t i = 0; i < rounds; i++) {
            uint32_t group = i % player->groups;
            uint32_t rows = 0;
            if (!player_wait(player, &group, &rows)) {
                return 0;
            }
            decisions += rows;
            player_think(player, group);
            player_send(player, group);
        }
        now = bench_clock_ns();
    }
    return player_rest(player) ? (double)decisions * 1e9 / (double)(now - start) : 0;
}

static int compare_times(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Times from the moment the action is there to the moment the next row is. */
static void player_trips(BenchPlayer *player, uint64_t ns, BenchLine *line)
{
    static uint32_t times[TRIPS_MAX];
    uint32_t count = 0;
    uint64_t end = bench_clock_ns() + ns;
    uint64_t now = 0;
    bool good = true;
    while (good && count < TRIPS_MAX && now < end) {
        uint32_t group = 0;
        uint32_t rows = 0;
        uint64_t start = bench_clock_ns();
        player_send(player, 0);
        good = player_wait(player, &group, &rows);
        now = bench_clock_ns();
        times[count++] = (uint32_t)(now - start);
        player_think(player, 0);
    }
    qsort(times, count, sizeof times[0], compare_times);
    uint32_t p50 = times[count / 2];
    uint32_t p99 = times[(uint64_t)count * 99 / 100];
    line->p50_us = p50 * 1e-3;
    line->p99_us = p99 * 1e-3;
}

/* ---- One cell: every door with the same pool ---- */

typedef struct Cell {
    uint32_t batch;    /* its index */
    uint64_t slice_ns; /* of one figure */
    BenchPlayer players[BENCH_DOORS];
    BenchLine *lines[BENCH_DOORS]; /* NULL: the door is left out */
    BenchSlices rates[BENCH_DOORS];
} Cell;

/* The mean sizes of the messages that a player of the daemon exchanges in a slice. */
static BenchSizes sizes_measure(BenchPlayer *player, uint64_t ns)
{
    TyClientTraffic before = ty_client_traffic(player->client);
    player_rate(player, ns);
    TyClientTraffic after = ty_client_traffic(player->client);
    uint64_t requests = after.requests - before.requests;
    uint64_t replies = after.replies - before.replies;
    return (BenchSizes){
        .request = (uint32_t)((after.request_bytes - before.request_bytes) / requests),
        .reply = (uint32_t)((after.reply_bytes - before.reply_bytes) / replies),
    };
}

/* Bare players send messages of the sizes that the daemon's have. */
static void cell_sizes(Cell *cell, BenchDoor door)
{
    if (cell->lines[door] == NULL) {
        return;
    }
    BenchSizes sizes = sizes_measure(&cell->players[door], cell->slice_ns);
    cell->lines[door]->sizes[cell->batch] = sizes;
    for (uint32_t i = 0; i < BENCH_BASES; i++) {
        BenchDoor base = bases[door][i];
        if (base != BENCH_NONE && door_is_bare(base)) {
            cell->players[base].request.sizes = sizes;
            cell->lines[base]->sizes[cell->batch] = sizes;
        }
    }
}

static TyStatus cell_rates(Cell *cell)
{
    for (uint32_t i = 0; i < SLICES; i++) {
        for (uint32_t door = 0; door < BENCH_DOORS; door++) {
            BenchLine *line = cell->lines[door];
            double rate = line != NULL ? player_rate(&cell->players[door], cell->slice_ns) : 0;
            if (line != NULL && rate == 0) {
                return ty_status_fail(TY_IO, "bench: the other side of %s is gone",
                                      bench_door_names[door]);
            }
            if (line != NULL) {
                slices_add(&cell->rates[door], rate);
            }
        }
    }
    return ty_status_ok();
}

/* Slices that were taken side by side met the same machine: the median of their ratios. */
static double cell_ratio(const Cell *cell, uint32_t door, uint32_t base)
{
    BenchSlices ratios = {.count = 0};
    for (uint32_t i = 0; i < SLICES; i++) {
        slices_add(&ratios, cell->rates[door].values[i] / cell->rates[base].values[i]);
    }
    double ratio = slices_quantile(&ratios, 0.5);
    slices_clear(&ratios);
    return ratio;
}

static void cell_finish(Cell *cell)
{
    for (uint32_t door = 0; door < BENCH_DOORS; door++) {
        BenchLine *line = cell->lines[door];
        if (line == NULL) {
            continue;
        }
        line->rate[cell->batch] = slices_quantile(&cell->rates[door], 0.5);
        line->best[cell->batch] = slices_quantile(&cell->rates[door], 1);
        for (uint32_t i = 0; i < BENCH_BASES; i++) {
            if (line->base[i] != BENCH_NONE && cell->lines[line->base[i]] != NULL) {
                line->ratio[i][cell->batch] = cell_ratio(cell, door, line->base[i]);
            }
        }
        if (bench_batches[cell->batch] == 1 && line->groups == 1) {
            player_trips(&cell->players[door], cell->slice_ns, line);
        }
    }
}

static TyStatus cell_measure(const BenchStage *stage, Cell *cell, const TyPoolConfig *config)
{
    TyStatus status = ty_status_ok();
    for (uint32_t door = 0; door < BENCH_DOORS && status.code == TY_OK; door++) {
        if (cell->lines[door] != NULL) {
            status = player_open(stage, (BenchDoor)door, config, &cell->players[door]);
        }
    }
    if (status.code == TY_OK) {
        cell_sizes(cell, BENCH_IPC);
        cell_sizes(cell, BENCH_IPC_ALL);
        cell_sizes(cell, BENCH_TCP);
        status = cell_rates(cell);
    }
    if (status.code == TY_OK) {
        cell_finish(cell);
    }
    for (uint32_t door = 0; door < BENCH_DOORS; door++) {
        player_close(&cell->players[door]);
        slices_clear(&cell->rates[door]);
    }
    return status;
}

/* ---- Memory ---- */

static uint64_t file_bytes(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static TyStatus memory_of_slots(const TyRuleset *ruleset, BenchMemory *memory)
{
    const TyPoolConfig config = {.slots = 10000, .threads = 1};
    TyPool *pool = NULL;
    ShmChannel *door = NULL;
    TyStatus status = ty_pool_open(ruleset, &config, &pool);
    if (status.code == TY_OK) {
        status = shm_channel_open(pool, 0, &door);
    }
    if (status.code == TY_OK) {
        const TySlab *slab = ty_pool_slab(pool, 0);
        ShmDescriptors fds = shm_channel_descriptors(door);
        uint64_t slab_bytes = slab->rows_size + slab->commands_size;
        memory->slots_10000 = ty_pool_bytes(ruleset, &config);
        memory->slot = ty_pool_slot_bytes(pool);
        memory->slot_rows = slab_bytes / config.slots;
        memory->slot_state = ty_shape(ruleset)->state_size;
        memory->shm_client = file_bytes(fds.rows) + file_bytes(fds.commands) - slab_bytes;
    }
    shm_channel_close(door);
    ty_pool_close(pool);
    return status;
}

/* What the daemon grows by for a client that has said hello. */
static TyStatus memory_of_sessions(const BenchDaemon *daemon, BenchMemory *memory)
{
    TyClient *clients[SESSIONS] = {NULL};
    TyStatus status = ty_status_ok();
    uint64_t before = process_resident(daemon->process);
    for (uint32_t i = 0; i < SESSIONS && status.code == TY_OK; i++) {
        const TyClientConfig config = {.endpoint = daemon->ipc, .name = "bench"};
        status = ty_client_connect(&config, &clients[i]);
    }
    uint64_t after = process_resident(daemon->process);
    memory->zmq_session = after > before ? (after - before) / SESSIONS : 0;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        ty_client_close(clients[i]);
    }
    return status;
}

/* ---- The table ---- */

static bool line_is_wanted(const BenchPoolPlan *plan, BenchDoor door, uint32_t shape)
{
    /* ZeroMQ is measured with one stepping thread: its own threads are the ones that count. */
    return (plan->doors >> door & 1) != 0 && (door <= BENCH_SHM || shapes[shape].threads == 1);
}

static void lines_make(const BenchPoolPlan *plan, BenchPoolResult *result,
                       BenchLine *table[BENCH_SHAPES][BENCH_DOORS])
{
    for (uint32_t door = 0; door < BENCH_DOORS; door++) {
        for (uint32_t shape = 0; shape < BENCH_SHAPES; shape++) {
            table[shape][door] = NULL;
            if (line_is_wanted(plan, (BenchDoor)door, shape)) {
                table[shape][door] = &result->lines[result->count++];
                *table[shape][door] =
                    (BenchLine){.door = (BenchDoor)door,
                                .base = {bases[door][0], bases[door][1], bases[door][2]},
                                .threads = shapes[shape].threads,
                                .groups = shapes[shape].groups};
            }
        }
    }
}

static TyStatus table_measure(const BenchStage *stage, const BenchPoolPlan *plan,
                              BenchPoolResult *result)
{
    BenchLine *table[BENCH_SHAPES][BENCH_DOORS];
    TyStatus status = ty_status_ok();
    lines_make(plan, result, table);
    double figures = (double)(result->count * BENCH_BATCHES * SLICES);
    for (uint32_t shape = 0; shape < BENCH_SHAPES; shape++) {
        for (uint32_t batch = 0; batch < BENCH_BATCHES && status.code == TY_OK; batch++) {
            const TyPoolConfig config = {.slots = bench_batches[batch] * shapes[shape].groups,
                                         .groups = shapes[shape].groups,
                                         .threads = shapes[shape].threads};
            Cell cell = {.batch = batch, .slice_ns = (uint64_t)(plan->seconds * 1e9 / figures)};
            for (uint32_t door = 0; door < BENCH_DOORS; door++) {
                cell.lines[door] = table[shape][door];
            }
            status = cell_measure(stage, &cell, &config);
            if (plan->progress != NULL) {
                plan->progress(plan->user);
            }
        }
    }
    return status;
}

static TyStatus stage_measure(BenchStage *stage, const BenchPoolPlan *plan, BenchPoolResult *result)
{
    bool served = (plan->doors & ~(1u << BENCH_INPROC)) != 0;
    TyStatus status =
        served ? bench_daemon_start(&(BenchDaemonPlan){0}, &stage->daemon) : ty_status_ok();
    if (served && status.code == TY_OK) {
        status = bench_bare_open(stage->daemon.directory, stage->ruleset, &stage->bare);
    }
    if (served && status.code == TY_OK) {
        status = memory_of_sessions(&stage->daemon, &result->memory);
    }
    if (status.code == TY_OK) {
        status = table_measure(stage, plan, result);
    }
    bench_bare_close(stage->bare);
    TyStatus stopped = served ? bench_daemon_stop(&stage->daemon) : ty_status_ok();
    return status.code == TY_OK ? stopped : status;
}

TyStatus bench_pool_measure(const TyRuleset *ruleset, const BenchPoolPlan *plan,
                            BenchPoolResult *result)
{
    BenchStage stage = {.ruleset = ruleset};
    *result = (BenchPoolResult){.processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
    TyStatus status = memory_of_slots(ruleset, &result->memory);
    return status.code == TY_OK ? stage_measure(&stage, plan, result) : status;
}
