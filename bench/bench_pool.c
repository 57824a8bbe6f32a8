/* Measuring pools in process and through shared memory, side by side. */
#define _GNU_SOURCE
#include "bench/bench_pool.h"

#include "bench/bench_pool_yard.h"
#include "core/status.h"
#include "proto/client_shm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const uint32_t bench_batches[BENCH_BATCHES] = {1, 32, 256, 1024, 4096};

enum {
    SLICES = 8,        /* of every figure, taken in turn; the best one counts */
    TRIPS_MAX = 20000, /* round trips whose times are kept */
    SHAPES = 4,        /* threads x groups */
    SEED = 1,
    WAIT_MS = 10000,
};

static const struct {
    uint32_t threads, groups;
} shapes[SHAPES] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};

/* Something that plays: a pool of this process's, or a client of another's. */
typedef struct Player {
    TyPool *pool;
    TyShmClient *client;
    const TySlab *slab;
} Player;

/* A server in another process. */
typedef struct Server {
    pid_t process;
    char directory[64];
    char path[96];
} Server;

/* ---- The other process ---- */

static void server_main(const Server *server, const TyRuleset *ruleset, const TyPoolConfig *config,
                        int said)
{
    Yard yard;
    TyPool *pool = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ty_pool_open(ruleset, config, &pool).code != TY_OK ||
        yard_open(&yard, server->path).code != TY_OK || yard_add(&yard, pool, 0).code != TY_OK ||
        write(said, "", 1) != 1) {
        _exit(1);
    }
    yard_run(&yard, UINT64_MAX, yard_is_deserted);
    yard_close(&yard);
    ty_pool_close(pool);
    _exit(0);
}

static TyStatus server_fork(Server *server, const TyRuleset *ruleset, const TyPoolConfig *config)
{
    int said[2];
    char word = 0;
    snprintf(server->directory, sizeof server->directory, "/tmp/trainyard-bench-XXXXXX");
    if (mkdtemp(server->directory) == NULL || pipe(said) != 0) {
        return status_fail(TY_IO, "bench: no place for a socket: %s", strerror(errno));
    }
    snprintf(server->path, sizeof server->path, "%s/shm", server->directory);
    fflush(NULL);
    server->process = fork();
    if (server->process == 0) {
        server_main(server, ruleset, config, said[1]);
    }
    close(said[1]);
    bool serves = server->process > 0 && read(said[0], &word, 1) == 1;
    close(said[0]);
    return serves ? status_ok() : status_fail(TY_IO, "bench: the serving process did not start");
}

static void server_end(Server *server)
{
    if (server->process > 0) {
        waitpid(server->process, NULL, 0);
    }
    if (server->directory[0] != '\0') {
        /* Only a server that was killed leaves files. */
        char lock[sizeof server->path + 8];
        snprintf(lock, sizeof lock, "%s.lock", server->path);
        unlink(server->path);
        unlink(lock);
        rmdir(server->directory);
    }
}

/* ---- Playing ---- */

/* Gives the actions of a group. In process that is the step itself. */
static void player_act(Player *player, uint32_t group)
{
    ty_sample_rows(player->slab, group, SEED);
    if (player->client != NULL) {
        ty_shm_submit(player->client, group, NULL);
    }
}

/* Returns how many rows the step has made ready: the decisions that come next. */
static uint32_t player_wait(Player *player, uint32_t group)
{
    if (player->client == NULL) {
        return ty_pool_step(player->pool, 0, group, NULL);
    }
    if (ty_shm_wait(player->client, group, WAIT_MS) != TY_SHM_READY) {
        return 0;
    }
    return ty_shm_news(player->client, group).ready;
}

/* Decisions per second over about `ns`, with every group but one in flight. */
static double player_rate(Player *player, uint64_t ns)
{
    uint32_t groups = player->slab->groups;
    uint32_t rounds = 1 + 64 / player->slab->group[0].rows; /* between two looks at the clock */
    uint64_t decisions = 0;
    uint64_t start = yard_clock_ns();
    uint64_t now = start;
    for (uint32_t group = 0; group < groups; group++) {
        player_act(player, group);
    }
    while (now - start < ns) {
        for (uint32_t i = 0; i < rounds * groups; i++) {
            uint32_t group = i % groups;
            decisions += player_wait(player, group);
            player_act(player, group);
        }
        now = yard_clock_ns();
    }
    double rate = (double)decisions * 1e9 / (double)(now - start);
    for (uint32_t group = 0; group < groups; group++) {
        player_wait(player, group);
    }
    return rate;
}

static int compare_times(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Times from the moment the action is there to the moment the next row is. */
static void player_trips(Player *player, uint64_t ns, BenchLine *line)
{
    static uint32_t times[TRIPS_MAX];
    uint32_t count = 0;
    uint64_t end = yard_clock_ns() + ns;
    uint64_t now = 0;
    while (count < TRIPS_MAX && now < end) {
        ty_sample_rows(player->slab, 0, SEED);
        uint64_t start = yard_clock_ns();
        if (player->client != NULL) {
            ty_shm_submit(player->client, 0, NULL);
        }
        player_wait(player, 0);
        now = yard_clock_ns();
        times[count++] = (uint32_t)(now - start);
    }
    qsort(times, count, sizeof times[0], compare_times);
    line->p50_us = times[count / 2] * 1e-3;
    line->p99_us = times[(uint64_t)count * 99 / 100] * 1e-3;
}

/* ---- The table ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Both doors with the same pool, in turn, so that a busy moment of the machine hits both. */
static void measure_pair(Player *here, Player *there, uint64_t slice_ns, uint32_t batch,
                         BenchLine lines[2])
{
    for (uint32_t i = 0; i < SLICES; i++) {
        lines[0].rate[batch] = larger(lines[0].rate[batch], player_rate(here, slice_ns));
        lines[1].rate[batch] = larger(lines[1].rate[batch], player_rate(there, slice_ns));
    }
    lines[1].ratio[batch] = lines[1].rate[batch] / lines[0].rate[batch];
    if (bench_batches[batch] == 1 && lines[0].groups == 1) {
        player_trips(here, slice_ns, &lines[0]);
        player_trips(there, slice_ns, &lines[1]);
    }
}

static TyStatus measure_cell(const TyRuleset *ruleset, uint64_t slice_ns, uint32_t batch,
                             BenchLine lines[2])
{
    const TyPoolConfig config = {.slots = bench_batches[batch] * lines[0].groups,
                                 .groups = lines[0].groups,
                                 .threads = lines[0].threads};
    Server server = {.process = 0};
    Player here = {.pool = NULL};
    Player there = {.pool = NULL};
    TyStatus status = server_fork(&server, ruleset, &config);
    if (status.code == TY_OK) {
        TyShmAddress address = {.path = server.path};
        memset(address.token, 0x5a, sizeof address.token);
        status = ty_shm_connect(&address, &there.client);
    }
    if (status.code == TY_OK) {
        status = ty_pool_open(ruleset, &config, &here.pool);
    }
    if (status.code == TY_OK) {
        here.slab = ty_pool_slab(here.pool, 0);
        there.slab = ty_shm_slab(there.client);
        measure_pair(&here, &there, slice_ns, batch, lines);
    } else if (server.process > 0) {
        kill(server.process, SIGKILL);
    }
    ty_pool_close(here.pool);
    ty_shm_close(there.client);
    server_end(&server);
    return status;
}

static uint64_t file_bytes(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static TyStatus measure_memory(const TyRuleset *ruleset, BenchPoolResult *result)
{
    const TyPoolConfig config = {.slots = bench_batches[BENCH_BATCHES - 1]};
    TyPool *pool = NULL;
    ShmDoor *door = NULL;
    TyStatus status = ty_pool_open(ruleset, &config, &pool);
    if (status.code == TY_OK) {
        status = shm_door_open(pool, 0, &door);
    }
    if (status.code == TY_OK) {
        const TySlab *slab = ty_pool_slab(pool, 0);
        ShmDescriptors fds = shm_door_descriptors(door);
        result->slot_bytes = ty_pool_slot_bytes(pool);
        result->client_bytes =
            file_bytes(fds.rows) + file_bytes(fds.commands) - slab->rows_size - slab->commands_size;
    }
    shm_door_close(door);
    ty_pool_close(pool);
    return status;
}

TyStatus bench_pool_measure(const TyRuleset *ruleset, double seconds, BenchPoolResult *result)
{
    uint64_t slice_ns = (uint64_t)(seconds * 1e9 / (SHAPES * BENCH_BATCHES * SLICES * 2));
    BenchLine pairs[SHAPES][2] = {{{.door = NULL}}};
    *result = (BenchPoolResult){.count = 0};
    TyStatus status = measure_memory(ruleset, result);
    for (uint32_t i = 0; i < SHAPES && status.code == TY_OK; i++) {
        const BenchLine line = {.threads = shapes[i].threads, .groups = shapes[i].groups};
        pairs[i][0] = line;
        pairs[i][1] = line;
        pairs[i][0].door = "inproc";
        pairs[i][1].door = "shm";
        for (uint32_t batch = 0; batch < BENCH_BATCHES && status.code == TY_OK; batch++) {
            status = measure_cell(ruleset, slice_ns, batch, pairs[i]);
        }
    }
    for (uint32_t door = 0; door < 2 && status.code == TY_OK; door++) {
        for (uint32_t i = 0; i < SHAPES; i++) {
            result->lines[result->count++] = pairs[i][door];
        }
    }
    return status;
}
