/* Clients of shared memory that misbehave, and the death of either side: nobody else is harmed. */
#define _GNU_SOURCE
#include "tests/shm/shm_table.h"

enum {
    KILLS = 20,
    SCRIBBLE_MS = 10000,
    STALL_MS = 10,  /* what is promised */
    HELD_MS = 1000, /* time in longer round trips that is a busy machine's, */
    HELD_TIMES = 3, /* besides so many times what it does to others at the same time */
};

static const TyPoolConfig small_config = {.slots = 8};

/* ---- What a client cannot do ---- */

static void test_rows_are_read_only_for_the_client(void **unused)
{
    (void)unused;
    int fds[SHM_DESCRIPTORS];
    pid_t yard = yard_fork(&small_config, 1);
    int lease = raw_connect(0, fds);
    size_t size = file_size(fds[0]);
    assert_ptr_equal(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0), MAP_FAILED);
    uint8_t *rows = mmap(NULL, size, PROT_READ, MAP_SHARED, fds[0], 0);
    assert_ptr_not_equal(rows, MAP_FAILED);
    assert_int_equal(mprotect(rows, size, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(pwrite(fds[0], "x", 1, 0), -1);
    assert_int_equal(fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, SHM_PAGE),
                     -1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile uint8_t *)rows = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    /* A sanitizer turns the signal into an exit status of its own. */
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    munmap(rows, size);
    raw_close(lease, fds);
    assert_exits_well(yard);
}

static void test_segments_cannot_be_resized(void **unused)
{
    (void)unused;
    int fds[SHM_DESCRIPTORS];
    pid_t yard = yard_fork(&small_config, 1);
    int lease = raw_connect(0, fds);
    for (uint32_t i = 0; i < 2; i++) {
        off_t size = (off_t)file_size(fds[i]);
        assert_int_equal(ftruncate(fds[i], 0), -1);
        assert_int_equal(ftruncate(fds[i], size * 2), -1);
        assert_int_equal(fallocate(fds[i], 0, size, SHM_PAGE), -1);
        assert_int_equal(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE), -1);
    }
    raw_close(lease, fds);
    assert_exits_well(yard);
}

/* A command whose number or kind makes no sense does nothing, and is answered. */
static void test_nonsense_commands_are_answered(void **unused)
{
    (void)unused;
    int fds[SHM_DESCRIPTORS];
    pid_t yard = yard_fork(&small_config, 1);
    int lease = raw_connect(0, fds);
    size_t rows_size = file_size(fds[0]);
    size_t commands_size = file_size(fds[1]);
    uint8_t *rows = mmap(NULL, rows_size, PROT_READ, MAP_SHARED, fds[0], 0);
    ShmCommand *order = mmap(NULL, commands_size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    const ShmPool *words = (const ShmPool *)(rows + ((ShmHeader *)rows)->words_offset);
    const ShmAnswer *answer = &words->answers[0];
    const struct {
        uint32_t number;
        uint32_t kind;
        uint32_t result;
    } cases[] = {{1, 99, SHM_BAD_KIND},
                 {7, SHM_STEP, SHM_OUT_OF_TURN},
                 {UINT32_MAX, SHM_STEP, SHM_OUT_OF_TURN},
                 {0, SHM_STEP_SOME, SHM_DONE},
                 {5, 0, SHM_OUT_OF_TURN}};
    const uint64_t one = 1;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        atomic_store(&order->kind, cases[i].kind);
        atomic_store(&order->number, cases[i].number);
        assert_int_equal(write(fds[2], &one, sizeof one), sizeof one);
        for (uint32_t wait = 0; atomic_load(&answer->published) != i + 1 && wait < 20000; wait++) {
            usleep(1000);
        }
        assert_int_equal(atomic_load(&answer->served), cases[i].number);
        assert_int_equal(atomic_load(&answer->result), cases[i].result);
        assert_int_equal(atomic_load(&answer->ready), 8);
    }
    munmap(rows, rows_size);
    munmap(order, commands_size);
    raw_close(lease, fds);
    assert_exits_well(yard);
}

/* Fills the writable memory with random bytes and misuses every descriptor, as fast as it can. */
static void hostile_child(void)
{
    int fds[SHM_DESCRIPTORS];
    uint64_t random = 1;
    char name[64];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raw_connect(1, fds);
    size_t size = file_size(fds[1]);
    uint8_t *commands = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    CHILD_CHECK(commands != MAP_FAILED);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fds[3]);
    int bell = open(name, O_WRONLY | O_NONBLOCK);
    CHILD_CHECK(bell >= 0);
    uint64_t end = yard_clock_ns() + UINT64_C(1000000) * SCRIBBLE_MS;
    while (yard_clock_ns() < end) {
        for (uint32_t i = 0; i < 4096; i++) {
            random = hash_mix(random + 1);
            uint64_t at = random % (size / 8);
            memcpy(commands + at * 8, &random, 8);
            /* Words that mean something come up too rarely by chance. */
            commands[(random >> 32) % (2 * SHM_LINE)] = (uint8_t)(random >> 16) & 3;
        }
        /* Reading or writing a blocking descriptor may now wait for ever: the daemon must not. */
        char bytes[512] = {0};
        uint64_t count = random % 2 == 0 ? 1 : UINT64_MAX - 1;
        fcntl(fds[2], F_SETFL, O_NONBLOCK);
        ssize_t done = write(bell, bytes, sizeof bytes);
        done += random % 4 < 2 ? read(fds[2], &count, sizeof count)
                               : write(fds[2], &count, sizeof count);
        (void)done;
        fcntl(fds[2], F_SETFL, 0);
        fcntl(fds[3], F_SETFL, 0);
        if (random % 64 == 0) {
            fallocate(fds[1], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
        }
    }
    _exit(0);
}

/* What became of a player's steps. */
typedef struct Trips {
    uint64_t steps;
    uint64_t longest_ns;
    uint64_t held_ns; /* in round trips that took longer than STALL_MS */
} Trips;

/* One step; false if it was not answered well. */
static bool trip_play(TyShmClient *client, Trips *trips)
{
    uint64_t start = yard_clock_ns();
    ty_sample_rows(ty_shm_slab(client), 0, SEED);
    bool good = ty_shm_submit(client, 0, NULL) && ty_shm_wait(client, 0, WAIT_MS) == TY_SHM_READY &&
                ty_shm_news(client, 0).illegal == 0;
    uint64_t taken = yard_clock_ns() - start;
    trips->steps++;
    trips->longest_ns = taken > trips->longest_ns ? taken : trips->longest_ns;
    trips->held_ns += taken > UINT64_C(1000000) * STALL_MS ? taken : 0;
    return good;
}

/* A process that plays at the same time, with a server of its own that nobody attacks, and writes
 * its trips into `said`. What it meets is the machine's doing. */
static pid_t spared_fork(const TyPoolConfig *config, int said)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        Trips trips = {.steps = 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(path, sizeof path, "%s/spared", directory);
        pid_t yard = yard_fork(config, 1);
        TyShmClient *client = client_open(0, 0);
        CHILD_CHECK(client != NULL);
        uint64_t end = yard_clock_ns() + UINT64_C(1000000) * SCRIBBLE_MS;
        while (yard_clock_ns() < end) {
            CHILD_CHECK(trip_play(client, &trips));
        }
        ty_shm_close(client);
        CHILD_CHECK(write(said, &trips, sizeof trips) == sizeof trips);
        CHILD_CHECK(waitpid(yard, NULL, 0) == yard);
        _exit(0);
    }
    return child;
}

static void test_a_scribbling_client_harms_nobody(void **unused)
{
    (void)unused;
    const TyPoolConfig configs[2] = {{.slots = 64, .hash = true},
                                     {.slots = 64, .groups = 2, .illegal = TY_ILLEGAL_LOSE}};
    int said[2];
    Trips trips = {.steps = 0};
    Trips spared;
    assert_int_equal(pipe(said), 0);
    pid_t yard = yard_fork(configs, 2);
    TyShmClient *client = client_open(0, 0);
    assert_non_null(client);
    pid_t other = spared_fork(&configs[0], said[1]);
    fflush(NULL);
    pid_t hostile = fork();
    if (hostile == 0) {
        hostile_child();
    }
    while (waitpid(hostile, NULL, WNOHANG) == 0) {
        assert_true(trip_play(client, &trips));
    }
    assert_int_equal(read(said[0], &spared, sizeof spared), sizeof spared);
    assert_exits_well(other);
    close(said[0]);
    close(said[1]);
    uint64_t steps = trips.steps;
    print_message("longest round trip %.2f ms, held up %.2f ms; at the same time one that is "
                  "spared: %.2f, %.2f ms\n",
                  (double)trips.longest_ns * 1e-6, (double)trips.held_ns * 1e-6,
                  (double)spared.longest_ns * 1e-6, (double)spared.held_ns * 1e-6);
    assert_true(trips.held_ns < UINT64_C(1000000) * HELD_MS + HELD_TIMES * spared.held_ns);
    assert_true(steps > 100);
    /* What it played is what it would have played alone. */
    TyPool *pool = pool_make(&configs[0]);
    const TySlab *alone = ty_pool_slab(pool, 0);
    for (uint64_t i = 0; i < steps; i++) {
        ty_sample_rows(alone, 0, SEED);
        ty_pool_step(pool, 0, 0, NULL);
    }
    assert_memory_equal(ty_slab_column(ty_shm_slab(client), 0, TY_COLUMN_HASH),
                        ty_slab_column(alone, 0, TY_COLUMN_HASH), 64 * sizeof(uint64_t));
    ty_pool_close(pool);
    ty_shm_close(client);
    assert_exits_well(yard);
}

/* ---- Death of either side ---- */

static uint32_t count_mappings(void)
{
    uint32_t count = 0;
    char line[512];
    FILE *stream = fopen("/proc/self/maps", "r");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream) != NULL) {
        count += strstr(line, "memfd:trainyard") != NULL;
    }
    fclose(stream);
    return count;
}

static pid_t player_fork(void)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        TyShmClient *client = client_open(0, 0);
        CHILD_CHECK(client != NULL);
        for (uint32_t i = 0;; i++) {
            ty_sample_rows(ty_shm_slab(client), i % 2, SEED);
            ty_shm_submit(client, i % 2, NULL);
            CHILD_CHECK(ty_shm_wait(client, i % 2, WAIT_MS) == TY_SHM_READY);
        }
    }
    return child;
}

/* Lets a client play for a while and kills it. */
static void player_kill(Yard *yard, uint64_t played_ns)
{
    pid_t child = player_fork();
    yard_run(yard, yard_clock_ns() + UINT64_C(5000000000), yard_is_let);
    assert_true(yard_is_let(yard));
    yard_run(yard, yard_clock_ns() + played_ns, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    yard_run(yard, yard_clock_ns() + UINT64_C(2000000000), yard_is_free);
    assert_true(yard_is_free(yard));
}

static void test_a_killed_client_leaves_nothing_behind(void **unused)
{
    (void)unused;
    const TyPoolConfig config = {.slots = 16, .groups = 2};
    Yard yard;
    TyPool *pool = pool_make(&config);
    assert_int_equal(yard_open(&yard, path).code, TY_OK);
    assert_int_equal(yard_add(&yard, pool, 0).code, TY_OK);
    uint32_t descriptors = count_descriptors();
    uint32_t mappings = count_mappings();
    assert_int_equal(mappings, 2);
    for (uint32_t i = 0; i < KILLS; i++) {
        player_kill(&yard, hash_mix(i) % 10000000);
        assert_int_equal(count_descriptors(), descriptors);
        assert_int_equal(count_mappings(), mappings);
    }
    yard_remove(&yard, 0);
    assert_int_equal(count_mappings(), 0);
    ty_pool_step(pool, 0, 0, NULL); /* the pool goes on in memory of its own */
    yard_close(&yard);
    assert_int_equal(count_descriptors(), descriptors - 9);
    ty_pool_close(pool);
}

static pid_t kill_later(pid_t victim, uint32_t milliseconds)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        usleep(milliseconds * 1000);
        kill(victim, SIGKILL);
        _exit(0);
    }
    return child;
}

static void test_a_killed_server_is_noticed_at_once(void **unused)
{
    (void)unused;
    pid_t yard = yard_fork(&small_config, 1);
    TyShmClient *client = client_open(0, 0);
    assert_non_null(client);
    kill(yard, SIGSTOP);
    waitpid(yard, NULL, WUNTRACED);
    ty_sample_rows(ty_shm_slab(client), 0, SEED);
    assert_true(ty_shm_submit(client, 0, NULL));
    assert_int_equal(ty_shm_wait(client, 0, 20), TY_SHM_TIMEOUT);
    assert_false(ty_shm_submit(client, 0, NULL)); /* one is under way */
    pid_t killer = kill_later(yard, 100);
    uint64_t start = yard_clock_ns();
    assert_int_equal(ty_shm_wait(client, 0, -1), TY_SHM_CLOSED);
    assert_true(yard_clock_ns() - start < UINT64_C(1100000000));
    assert_int_equal(ty_shm_wait(client, 0, -1), TY_SHM_CLOSED);
    assert_int_equal(ty_shm_wait(client, 0, 0), TY_SHM_CLOSED); /* also by who does not wait */
    waitpid(yard, NULL, 0);
    waitpid(killer, NULL, 0);
    ty_shm_close(client);
    /* The next daemon on this path takes over what the dead one left. */
    Yard next;
    assert_int_equal(yard_open(&next, path).code, TY_OK);
    yard_close(&next);
}

static void test_a_closed_door_is_noticed(void **unused)
{
    (void)unused;
    TyPool *pool = pool_make(&small_config);
    Yard yard;
    assert_int_equal(yard_open(&yard, path).code, TY_OK);
    assert_int_equal(yard_add(&yard, pool, 0).code, TY_OK);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        TyShmClient *client = client_open(0, 0);
        CHILD_CHECK(client != NULL);
        CHILD_CHECK(ty_shm_wait(client, 0, WAIT_MS) == TY_SHM_CLOSED);
        _exit(0);
    }
    yard_run(&yard, yard_clock_ns() + UINT64_C(5000000000), yard_is_let);
    yard_run(&yard, yard_clock_ns() + 5000000, NULL);
    yard_remove(&yard, 0);
    assert_exits_well(child);
    yard_close(&yard);
    ty_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_read_only_for_the_client),
        cmocka_unit_test(test_segments_cannot_be_resized),
        cmocka_unit_test(test_nonsense_commands_are_answered),
        cmocka_unit_test(test_a_scribbling_client_harms_nobody),
        cmocka_unit_test(test_a_killed_client_leaves_nothing_behind),
        cmocka_unit_test(test_a_killed_server_is_noticed_at_once),
        cmocka_unit_test(test_a_closed_door_is_noticed),
    };
    alarm(WATCHDOG_SECONDS); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
