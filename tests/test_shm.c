/* Shared memory between real processes: the same trajectories as in process, no harm from clients
 * that misbehave or die, none to clients whose daemon dies, no allocation and no system call. */
#define _GNU_SOURCE
#include "bench/bench_pool_yard.h"
#include "core/hash.h"
#include "proto/client_shm.h"
#include "proto/shm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    STEPS = 220,    /* of every group: some episodes of random play */
    MAX_STEPS = 70, /* so that some of them are cut off */
    SLOTS_MAX = 1024,
    KILLS = 20,
    SCRIBBLE_MS = 2000,
    STALL_MS = 100, /* ten times what is promised: the machine may be busy */
    QUIET_COMMANDS = 4000,
    WAIT_MS = 20000,
    SEED = 11,
};

/* The linker sends every allocation of the program here (--wrap). */
static uint64_t allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}

/* ---- A place, a ruleset, processes ---- */

static TyRuleset *ruleset;
static char directory[64];
static char path[96];

static int suite_open(void **unused)
{
    (void)unused;
    snprintf(directory, sizeof directory, "/tmp/trainyard-shm-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/shm", directory);
    return ty_ruleset_open("convoi:board=tiny", NULL, &ruleset).code == TY_OK ? 0 : -1;
}

static int suite_close(void **unused)
{
    (void)unused;
    ty_ruleset_close(ruleset);
    return rmdir(directory); /* fails if a test left anything in it */
}

/* In a child: ends it with a number that says where. */
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child: line %d: %s\n", __LINE__, #condition);                         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void assert_exits_well(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static TyPool *pool_make(const TyPoolConfig *config)
{
    TyPool *pool = NULL;
    TyStatus status = ty_pool_open(ruleset, config, &pool);
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
    }
    return pool;
}

/* A process that serves pools of these configurations until all its clients have left. */
static pid_t yard_fork(const TyPoolConfig *configs, uint32_t count)
{
    int said[2];
    char word = 0;
    assert_int_equal(pipe(said), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Yard yard;
        TyPool *pools[YARD_DOORS_MAX] = {NULL};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CHILD_CHECK(yard_open(&yard, path).code == TY_OK);
        for (uint32_t i = 0; i < count; i++) {
            pools[i] = pool_make(&configs[i]);
            for (uint32_t member = 0; member <= configs[i].owner[1]; member++) {
                CHILD_CHECK(yard_add(&yard, pools[i], member).code == TY_OK);
            }
        }
        CHILD_CHECK(write(said[1], "", 1) == 1);
        yard_run(&yard, yard_clock_ns() + UINT64_C(120000000000), yard_is_deserted);
        yard_close(&yard);
        for (uint32_t i = 0; i < count; i++) {
            ty_pool_close(pools[i]);
        }
        ty_ruleset_close(ruleset);
        exit(yard_is_deserted(&yard) ? 0 : 1);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &word, 1), 1);
    close(said[0]);
    return child;
}

static TyShmAddress address_of(uint64_t pool, uint32_t member)
{
    TyShmAddress address = {.path = path, .pool = pool, .member = member};
    memset(address.token, 0x5a, sizeof address.token);
    return address;
}

static TyShmClient *client_open(uint64_t pool, uint32_t member)
{
    TyShmClient *client = NULL;
    TyShmAddress address = address_of(pool, member);
    TyStatus status = ty_shm_connect(&address, &client);
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
    }
    return client;
}

/* ---- The same trajectories ---- */

/* Adds all that a row says to its slot's chain. */
static void row_chain(const TySlab *slab, uint32_t group, uint32_t row, uint64_t *chains)
{
    const TyGroupLayout *layout = &slab->group[group];
    uint64_t hash = chains[layout->first + row];
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        size_t size = (size_t)layout->columns[i].width * ty_type_size(layout->columns[i].type);
        if (size > 0) {
            const uint8_t *column = ty_slab_column(slab, group, (TyColumn)i);
            hash = hash_bytes(hash, column + row * size, size);
        }
    }
    chains[layout->first + row] = hash;
}

static void group_chain(const TySlab *slab, uint32_t group, uint64_t *chains)
{
    for (uint32_t row = 0; row < slab->group[group].rows; row++) {
        row_chain(slab, group, row, chains);
    }
}

static void play_in_process(const TyPoolConfig *config, uint64_t *chains)
{
    TyPool *pool = pool_make(config);
    const TySlab *slab = ty_pool_slab(pool, 0);
    for (uint32_t i = 0; i < STEPS * slab->groups; i++) {
        ty_sample_rows(slab, i % slab->groups, SEED);
        ty_pool_step(pool, 0, i % slab->groups, NULL);
        group_chain(slab, i % slab->groups, chains);
    }
    ty_pool_close(pool);
}

/* All groups are in flight but the one that is looked at. */
static void play_shared(TyShmClient *client, uint64_t *chains)
{
    const TySlab *slab = ty_shm_slab(client);
    for (uint32_t group = 0; group < slab->groups; group++) {
        ty_sample_rows(slab, group, SEED);
        assert_true(ty_shm_submit(client, group, NULL));
    }
    for (uint32_t i = 0; i < STEPS * slab->groups; i++) {
        uint32_t group = i % slab->groups;
        assert_int_equal(ty_shm_wait(client, group, WAIT_MS), TY_SHM_READY);
        assert_int_equal(ty_shm_news(client, group).result, SHM_DONE);
        assert_int_equal(ty_shm_news(client, group).illegal, 0);
        group_chain(slab, group, chains);
        if (i + slab->groups < STEPS * slab->groups) {
            ty_sample_rows(slab, group, SEED);
            assert_true(ty_shm_submit(client, group, NULL));
        }
    }
}

static void check_batch(TyAutoreset autoreset, uint32_t slots, uint32_t groups, uint32_t threads,
                        uint64_t *first)
{
    static uint64_t expected[SLOTS_MAX];
    static uint64_t chains[SLOTS_MAX];
    const TyPoolConfig config = {.slots = slots,
                                 .groups = groups,
                                 .threads = threads,
                                 .seed = 5,
                                 .autoreset = autoreset,
                                 .max_steps = MAX_STEPS,
                                 .hash = true,
                                 .full = true};
    memset(expected, 0, sizeof expected);
    memset(chains, 0, sizeof chains);
    play_in_process(&config, expected);
    pid_t yard = yard_fork(&config, 1);
    TyShmClient *client = client_open(0, 0);
    assert_non_null(client);
    assert_string_equal(ty_shm_spec(client), ty_shape(ruleset)->spec);
    assert_true(ty_shm_schema_hash(client) == ty_shape(ruleset)->schema_hash);
    play_shared(client, chains);
    ty_shm_close(client);
    assert_exits_well(yard);
    assert_memory_equal(chains, expected, sizeof chains);
    *first = *first == 0 ? chains[0] : *first;
    assert_true(chains[0] == *first);
}

static void check_batches(TyAutoreset autoreset)
{
    static const uint32_t batches[] = {1, 7, 64, 1024};
    uint64_t first = 0;
    for (uint32_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        for (uint32_t groups = 1; groups <= 2 && groups <= batches[i]; groups++) {
            check_batch(autoreset, batches[i], groups, 1, &first);
        }
    }
    check_batch(autoreset, 64, 2, 2, &first);
}

static void test_trajectories_with_next_step_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_NEXT_STEP);
}

static void test_trajectories_with_same_step_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_SAME_STEP);
}

static void test_trajectories_without_resets(void **unused)
{
    (void)unused;
    check_batches(TY_AUTORESET_DISABLED);
}

/* ---- Two members ---- */

enum { DUO_SLOTS = 32, DUO_ROWS = 60 /* of each slot: the first that a member answers */ };

/* Counts and chains the ready rows, and notes which they are. Rows may become ready at any time:
 * only those that were seen are answered. */
static uint32_t duo_note(const TySlab *slab, uint32_t *counts, uint64_t *chains, uint8_t *which)
{
    const uint8_t *ready = ty_slab_column(slab, 0, TY_COLUMN_READY);
    uint32_t done = 0;
    for (uint32_t row = 0; row < slab->group[0].rows; row++) {
        which[row] = __atomic_load_n(ready + row, __ATOMIC_ACQUIRE);
        if (which[row] && counts[row] < DUO_ROWS) {
            row_chain(slab, 0, row, chains);
            counts[row]++;
        }
        done += counts[row] == DUO_ROWS;
    }
    return done;
}

static uint64_t chains_sum(const uint64_t *chains)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DUO_SLOTS; i++) {
        sum = hash_add(sum, chains[i]);
    }
    return sum;
}

static void duo_in_process(const TyPoolConfig *config, uint64_t sums[2])
{
    TyPool *pool = pool_make(config);
    uint32_t counts[2][DUO_SLOTS] = {{0}};
    uint64_t chains[2][DUO_SLOTS] = {{0}};
    uint8_t which[DUO_SLOTS];
    uint32_t done = 0;
    while (done < 2 * DUO_SLOTS) {
        done = 0;
        for (uint32_t member = 0; member < 2; member++) {
            const TySlab *slab = ty_pool_slab(pool, member);
            done += duo_note(slab, counts[member], chains[member], which);
            ty_sample_rows(slab, 0, SEED);
            ty_pool_step_some(pool, member, 0, which, NULL);
        }
    }
    sums[0] = chains_sum(chains[0]);
    sums[1] = chains_sum(chains[1]);
    ty_pool_close(pool);
}

/* Plays one member until `quit` is told that the other is done too. */
static void duo_child(uint32_t member, uint64_t expected, int said, int quit)
{
    TyShmClient *client = client_open(member, member);
    CHILD_CHECK(client != NULL);
    const TySlab *slab = ty_shm_slab(client);
    uint32_t counts[DUO_SLOTS] = {0};
    uint64_t chains[DUO_SLOTS] = {0};
    uint8_t which[DUO_SLOTS];
    bool told = false;
    struct pollfd poll_quit = {.fd = quit, .events = POLLIN};
    while (poll(&poll_quit, 1, 0) == 0) {
        uint32_t done = duo_note(slab, counts, chains, which);
        ty_sample_rows(slab, 0, SEED);
        CHILD_CHECK(ty_shm_submit(client, 0, which));
        CHILD_CHECK(ty_shm_wait(client, 0, WAIT_MS) == TY_SHM_READY);
        CHILD_CHECK(ty_shm_news(client, 0).illegal == 0);
        while (ty_shm_news(client, 0).ready == 0 && poll(&poll_quit, 1, 0) == 0) {
            CHILD_CHECK(ty_shm_wait(client, 0, 10) != TY_SHM_CLOSED);
        }
        if (done == DUO_SLOTS && !told) {
            told = true;
            CHILD_CHECK(write(said, "", 1) == 1);
        }
    }
    ty_shm_close(client);
    CHILD_CHECK(chains_sum(chains) == expected);
    ty_ruleset_close(ruleset);
    exit(0);
}

static void test_two_members_see_their_rows_whole(void **unused)
{
    (void)unused;
    const TyPoolConfig config = {
        .slots = DUO_SLOTS, .seed = 3, .members = 2, .owner = {0, 1}, .max_steps = MAX_STEPS};
    uint64_t sums[2];
    int said[2];
    int quit[2];
    duo_in_process(&config, sums);
    pid_t yard = yard_fork(&config, 1);
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(quit), 0);
    pid_t children[2];
    for (uint32_t member = 0; member < 2; member++) {
        children[member] = fork();
        if (children[member] == 0) {
            close(quit[1]);
            duo_child(member, sums[member], said[1], quit[0]);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        char word;
        struct pollfd heard = {.fd = said[0], .events = POLLIN};
        assert_int_equal(poll(&heard, 1, WAIT_MS), 1);
        assert_int_equal(read(said[0], &word, 1), 1);
    }
    close(quit[1]);
    assert_exits_well(children[0]);
    assert_exits_well(children[1]);
    assert_exits_well(yard);
    close(quit[0]);
    close(said[0]);
    close(said[1]);
}

/* ---- What a client cannot do ---- */

static int raw_socket(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

/* The handshake as PROTOCOL says, without our client. Returns the lease's socket. */
static int raw_connect(uint64_t pool, int fds[SHM_DESCRIPTORS])
{
    int lease = raw_socket();
    ShmHello hello = {.magic = SHM_HELLO_MAGIC, .version = SHM_VERSION, .pool = pool};
    memset(hello.token, 0x5a, sizeof hello.token);
    assert_int_equal(send(lease, &hello, sizeof hello, 0), sizeof hello);
    ShmReply reply;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * SHM_DESCRIPTORS)];
    } control;
    struct iovec body = {.iov_base = &reply, .iov_len = sizeof reply};
    struct msghdr message = {.msg_iov = &body,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    assert_int_equal(recvmsg(lease, &message, MSG_WAITALL), sizeof reply);
    assert_int_equal(reply.magic, SHM_HELLO_MAGIC);
    assert_int_equal(reply.status, TY_OK);
    assert_int_equal(reply.descriptors, SHM_DESCRIPTORS);
    assert_int_equal(control.header.cmsg_len, CMSG_LEN(sizeof(int) * SHM_DESCRIPTORS));
    memcpy(fds, CMSG_DATA(&control.header), sizeof(int) * SHM_DESCRIPTORS);
    return lease;
}

static void raw_close(int lease, const int fds[SHM_DESCRIPTORS])
{
    for (uint32_t i = 0; i < SHM_DESCRIPTORS; i++) {
        close(fds[i]);
    }
    close(lease);
}

static size_t file_size(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (size_t)info.st_size;
}

static const TyPoolConfig small_config = {.slots = 8};

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
        /* Whoever reads or writes a blocking descriptor now may wait for ever: not the daemon. */
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

/* Plays on beside a hostile client. Returns the longest round trip. */
static uint64_t play_beside(TyShmClient *client, pid_t hostile, uint64_t *steps)
{
    const TySlab *slab = ty_shm_slab(client);
    uint64_t longest = 0;
    while (waitpid(hostile, NULL, WNOHANG) == 0) {
        uint64_t start = yard_clock_ns();
        ty_sample_rows(slab, 0, SEED);
        assert_true(ty_shm_submit(client, 0, NULL));
        assert_int_equal(ty_shm_wait(client, 0, WAIT_MS), TY_SHM_READY);
        assert_int_equal(ty_shm_news(client, 0).illegal, 0);
        uint64_t taken = yard_clock_ns() - start;
        longest = taken > longest ? taken : longest;
        ++*steps;
    }
    return longest;
}

static void test_a_scribbling_client_harms_nobody(void **unused)
{
    (void)unused;
    const TyPoolConfig configs[2] = {{.slots = 64, .hash = true},
                                     {.slots = 64, .groups = 2, .illegal = TY_ILLEGAL_LOSE}};
    pid_t yard = yard_fork(configs, 2);
    TyShmClient *client = client_open(0, 0);
    assert_non_null(client);
    fflush(NULL);
    pid_t hostile = fork();
    if (hostile == 0) {
        hostile_child();
    }
    uint64_t steps = 0;
    uint64_t longest = play_beside(client, hostile, &steps);
    print_message("%llu steps beside it, the longest round trip took %.2f ms\n",
                  (unsigned long long)steps, (double)longest * 1e-6);
    assert_true(longest < UINT64_C(1000000) * STALL_MS);
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

static uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    DIR *stream = opendir("/proc/self/fd");
    assert_non_null(stream);
    while (readdir(stream) != NULL) {
        count++;
    }
    closedir(stream);
    return count;
}

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

static bool yard_is_let(const Yard *yard)
{
    return shm_server_leases(yard->server) > 0;
}

static bool yard_is_free(const Yard *yard)
{
    return shm_server_leases(yard->server) == 0;
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

/* ---- The handshake ---- */

/* A hello of this process's to a yard of this process's: what comes back. */
static TyStatus hello_status(Yard *yard, const ShmHello *hello, size_t size, uint64_t serve_ns)
{
    int fd = raw_socket();
    ShmReply reply = {.status = TY_IO};
    assert_int_equal(send(fd, hello, size, 0), size);
    yard_run(yard, yard_clock_ns() + serve_ns, NULL);
    ssize_t count = recv(fd, &reply, sizeof reply, MSG_DONTWAIT);
    TyStatus status = {.code = count == (ssize_t)sizeof reply ? (TyCode)reply.status : TY_IO};
    snprintf(status.message, sizeof status.message, "%.*s", SHM_TEXT_SIZE, reply.message);
    close(fd);
    return status;
}

static void test_a_wrong_hello_is_refused_with_a_sentence(void **unused)
{
    (void)unused;
    TyPool *pool = pool_make(&small_config);
    Yard yard;
    assert_int_equal(yard_open(&yard, path).code, TY_OK);
    assert_int_equal(yard_add(&yard, pool, 0).code, TY_OK);
    uint32_t descriptors = count_descriptors();
    ShmHello hello = {.magic = SHM_HELLO_MAGIC, .version = SHM_VERSION};
    memset(hello.token, 0x5a, sizeof hello.token);
    const uint64_t soon = 30000000;
    ShmHello wrong = hello;
    wrong.token[3] ^= 1;
    TyStatus status = hello_status(&yard, &wrong, sizeof wrong, soon);
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    assert_non_null(strstr(status.message, "token"));
    wrong = hello;
    wrong.pool = 77;
    assert_int_equal(hello_status(&yard, &wrong, sizeof wrong, soon).code, TY_BAD_ARGUMENT);
    wrong = hello;
    wrong.version = 2;
    status = hello_status(&yard, &wrong, sizeof wrong, soon);
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    assert_non_null(strstr(status.message, "version"));
    assert_int_equal(hello_status(&yard, &hello, sizeof hello, soon).code, TY_OK);
    yard_run(&yard, yard_clock_ns() + soon, NULL);
    /* Half a hello, and then nothing: refused when its time is over. */
    status = hello_status(&yard, &hello, 12, UINT64_C(1000000) * (SHM_HANDSHAKE_MS + 200));
    assert_int_equal(status.code, TY_LIMIT);
    assert_non_null(strstr(status.message, "time"));
    assert_int_equal(count_descriptors(), descriptors);
    yard_close(&yard);
    ty_pool_close(pool);
}

static void test_silent_connections_are_bounded(void **unused)
{
    (void)unused;
    Yard yard;
    int fds[SHM_PENDING_MAX + 8];
    ShmReply reply;
    assert_int_equal(yard_open(&yard, path).code, TY_OK);
    for (uint32_t i = 0; i < SHM_PENDING_MAX + 8; i++) {
        fds[i] = raw_socket();
        yard_run(&yard, yard_clock_ns() + 300000, NULL);
    }
    yard_run(&yard, yard_clock_ns() + 10000000, NULL);
    assert_int_equal(recv(fds[SHM_PENDING_MAX + 7], &reply, sizeof reply, MSG_DONTWAIT),
                     sizeof reply);
    assert_int_equal(reply.status, TY_LIMIT);
    yard_run(&yard, yard_clock_ns() + UINT64_C(1000000) * (SHM_HANDSHAKE_MS + 200), NULL);
    assert_int_equal(recv(fds[0], &reply, sizeof reply, MSG_DONTWAIT), sizeof reply);
    for (uint32_t i = 0; i < SHM_PENDING_MAX + 8; i++) {
        close(fds[i]);
    }
    yard_close(&yard);
}

static void test_the_place_of_the_socket_is_checked(void **unused)
{
    (void)unused;
    Yard yard;
    Yard second;
    char open_directory[96];
    char open_path[128];
    assert_int_equal(yard_open(&yard, path).code, TY_OK);
    TyStatus status = yard_open(&second, path);
    assert_int_equal(status.code, TY_LIMIT);
    assert_non_null(strstr(status.message, "another daemon"));
    struct stat info;
    assert_int_equal(stat(path, &info), 0); /* the first one's socket is still there */
    yard_close(&yard);
    snprintf(open_directory, sizeof open_directory, "%s/open", directory);
    snprintf(open_path, sizeof open_path, "%s/shm", open_directory);
    assert_int_equal(mkdir(open_directory, 0700), 0);
    assert_int_equal(chmod(open_directory, 0755), 0);
    assert_int_equal(yard_open(&second, open_path).code, TY_BAD_ARGUMENT);
    assert_int_equal(rmdir(open_directory), 0);
}

/* ---- A daemon that the client should not trust ---- */

static uint8_t fake_rows[1 << 20];

typedef struct Fake {
    uint8_t *rows;
    size_t rows_size;
    size_t commands_size;
    int seals;
    int null_fd;
} Fake;

static int fake_file(const uint8_t *bytes, size_t size, int seals)
{
    int fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    if (bytes != NULL) {
        assert_int_equal(write(fd, bytes, size), size);
    }
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static TyStatus fake_asked(void *user, const ShmHello *hello, uint64_t lease,
                           ShmDescriptors *descriptors)
{
    const Fake *fake = user;
    (void)hello;
    (void)lease;
    *descriptors = (ShmDescriptors){.rows = fake_file(fake->rows, fake->rows_size, fake->seals),
                                    .commands = fake_file(NULL, fake->commands_size, fake->seals),
                                    .to_pool = fake->null_fd,
                                    .to_client = fake->null_fd};
    return (TyStatus){.code = TY_OK};
}

static void fake_ended(void *user, uint64_t lease)
{
    (void)user;
    (void)lease;
}

/* Connects to a daemon that hands out these segments, and touches all that the slab offers. */
static void fake_child(void)
{
    TyShmClient *client = NULL;
    TyShmAddress address = address_of(0, 0);
    TyStatus status = ty_shm_connect(&address, &client);
    if (status.code != TY_OK) {
        CHILD_CHECK(status.message[0] != '\0');
        _exit(2);
    }
    const TySlab *slab = ty_shm_slab(client);
    uint64_t sum = 0;
    for (uint32_t group = 0; group < slab->groups; group++) {
        const TyGroupLayout *layout = &slab->group[group];
        for (uint32_t i = 0; i < TY_COLUMN_COUNT; i++) {
            size_t size = (size_t)layout->rows * layout->columns[i].width *
                          ty_type_size(layout->columns[i].type);
            uint8_t *column = ty_slab_column(slab, group, (TyColumn)i);
            if (size > 0) {
                sum = hash_bytes(sum, column, size);
            }
        }
        ty_sample_rows(slab, group, sum);
        ty_shm_submit(client, group, NULL);
        ty_shm_wait(client, group, 1);
    }
    ty_shm_close(client);
    _exit(0);
}

/* The exit status of a client of such a daemon: 0 it works, 2 it refused. */
static int fake_try(Fake *fake)
{
    const ShmHost host = {.user = fake, .asked = fake_asked, .ended = fake_ended};
    ShmServer *server = NULL;
    uint32_t descriptors = count_descriptors();
    int status = 0;
    assert_int_equal(shm_server_open(path, &host, &server).code, TY_OK);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fake_child();
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        shm_server_serve(server, yard_clock_ns() / 1000000);
        usleep(100);
    }
    shm_server_close(server);
    for (int fd = 3; fd < 64 && count_descriptors() > descriptors; fd++) {
        if (fcntl(fd, F_GET_SEALS) >= 0) {
            close(fd);
        }
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_a_client_checks_the_segments(void **unused)
{
    (void)unused;
    TyPool *pool = pool_make(&(TyPoolConfig){.slots = 8, .groups = 2});
    ShmDoor *door = NULL;
    assert_int_equal(shm_door_open(pool, 0, &door).code, TY_OK);
    ShmDescriptors fds = shm_door_descriptors(door);
    Fake fake = {.rows = fake_rows,
                 .rows_size = file_size(fds.rows),
                 .commands_size = file_size(fds.commands),
                 .seals = F_SEAL_SHRINK | F_SEAL_GROW,
                 .null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)};
    assert_true(fake.rows_size <= sizeof fake_rows);
    assert_int_equal(pread(fds.rows, fake_rows, fake.rows_size, 0), fake.rows_size);
    shm_door_close(door);
    ty_pool_close(pool);
    assert_int_equal(fake_try(&fake), 0);
    fake.seals = F_SEAL_GROW;
    assert_int_equal(fake_try(&fake), 2);
    fake.seals = F_SEAL_SHRINK;
    size_t whole = fake.rows_size;
    fake.rows_size = 100;
    assert_int_equal(fake_try(&fake), 2);
    fake.rows_size = whole;
    const ShmHeader *header = (const ShmHeader *)fake_rows;
    size_t described = header->groups_offset + header->groups * sizeof(ShmGroup);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 150; i++) {
        uint8_t kept[8];
        size_t at = hash_mix(i) % (described - 8) & ~(size_t)3;
        uint64_t value = i % 3 == 0 ? UINT64_MAX : hash_mix(i + 1000) >> (hash_mix(i) % 48);
        memcpy(kept, fake_rows + at, 8);
        memcpy(fake_rows + at, &value, i % 2 == 0 ? 4 : 8);
        int result = fake_try(&fake);
        assert_true(result == 0 || result == 2);
        refused += result == 2;
        memcpy(fake_rows + at, kept, 8);
    }
    assert_true(refused > 50);
    close(fake.null_fd);
}

/* ---- Silence ---- */

static void quiet_enter(void)
{
    CHILD_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
}

/* In strict mode the kernel kills a process that makes any system call but read, write and exit.
 * Those two are not made either: the eventfd and the pipe are untouched at the end. */
static void quiet_client(bool misbehave)
{
    TyShmClient *client = client_open(0, 0);
    CHILD_CHECK(client != NULL);
    const TySlab *slab = ty_shm_slab(client);
    ty_shm_set_spin(client, UINT32_MAX / 2000);
    uint64_t before = allocations;
    for (uint32_t i = 0; i < QUIET_COMMANDS; i++) {
        if (i == 100) {
            quiet_enter();
        }
        ty_sample_rows(slab, i % 2, SEED);
        if (!ty_shm_submit(client, i % 2, NULL) ||
            ty_shm_wait(client, i % 2, WAIT_MS) != TY_SHM_READY || allocations != before) {
            syscall(SYS_exit, 3);
        }
    }
    if (misbehave) {
        syscall(SYS_getpid);
    }
    syscall(SYS_exit, 0);
}

static void quiet_server(void)
{
    const TyPoolConfig config = {.slots = 32, .groups = 2};
    TyPool *pool = pool_make(&config);
    Yard yard;
    CHILD_CHECK(yard_open(&yard, path).code == TY_OK);
    CHILD_CHECK(yard_add(&yard, pool, 0).code == TY_OK);
    yard_run(&yard, yard_clock_ns() + UINT64_C(5000000000), yard_is_let);
    unlink(path);
    CHILD_CHECK(unlink(strcat(path, ".lock")) == 0);
    while (shm_door_counts(yard.doors[0].door).commands < 100) {
        yard_serve(&yard);
    }
    uint64_t before = allocations;
    quiet_enter();
    while (shm_door_counts(yard.doors[0].door).commands < QUIET_COMMANDS) {
        yard_serve(&yard);
    }
    bool silent = allocations == before && shm_door_counts(yard.doors[0].door).bells == 0;
    syscall(SYS_exit, silent ? 0 : 3);
}

static void quiet_play(bool misbehave, int *server_status, int *client_status)
{
    fflush(NULL);
    pid_t server = fork();
    if (server == 0) {
        quiet_server();
    }
    while (access(path, F_OK) != 0) {
        usleep(1000);
    }
    usleep(20000);
    pid_t client = fork();
    if (client == 0) {
        quiet_client(misbehave);
    }
    waitpid(client, client_status, 0);
    waitpid(server, server_status, 0);
}

static void test_no_allocation_and_no_system_call_while_both_spin(void **unused)
{
    (void)unused;
    int server = 0;
    int client = 0;
    quiet_play(false, &server, &client);
    assert_true(WIFEXITED(client) && WEXITSTATUS(client) == 0);
    assert_true(WIFEXITED(server) && WEXITSTATUS(server) == 0);
}

static void test_the_check_for_system_calls_can_fail(void **unused)
{
    (void)unused;
    int server = 0;
    int client = 0;
    quiet_play(true, &server, &client);
    assert_true(WIFSIGNALED(client));
}

int main(int argument_count, char **arguments)
{
    cmocka_set_test_filter(argument_count > 1 ? arguments[1] : NULL);
    alarm(600); /* nothing here may hang */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trajectories_with_next_step_resets),
        cmocka_unit_test(test_trajectories_with_same_step_resets),
        cmocka_unit_test(test_trajectories_without_resets),
        cmocka_unit_test(test_two_members_see_their_rows_whole),
        cmocka_unit_test(test_rows_are_read_only_for_the_client),
        cmocka_unit_test(test_segments_cannot_be_resized),
        cmocka_unit_test(test_nonsense_commands_are_answered),
        cmocka_unit_test(test_a_scribbling_client_harms_nobody),
        cmocka_unit_test(test_a_killed_client_leaves_nothing_behind),
        cmocka_unit_test(test_a_killed_server_is_noticed_at_once),
        cmocka_unit_test(test_a_closed_door_is_noticed),
        cmocka_unit_test(test_a_wrong_hello_is_refused_with_a_sentence),
        cmocka_unit_test(test_silent_connections_are_bounded),
        cmocka_unit_test(test_the_place_of_the_socket_is_checked),
        cmocka_unit_test(test_a_client_checks_the_segments),
        cmocka_unit_test(test_no_allocation_and_no_system_call_while_both_spin),
        cmocka_unit_test(test_the_check_for_system_calls_can_fail),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
