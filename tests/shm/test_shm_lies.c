/* The client's side of shared memory when its daemon lies, dies or the system refuses a call: a
 * clean error, nothing left behind, and nobody waits for ever. */
#define _GNU_SOURCE
#include "tests/shm/shm_table.h"
#include "tests/support/faults.h"

#include <pthread.h>
#include <stddef.h>

static const TyPoolConfig small_config = {.slots = 8, .groups = 2};

/* ---- A daemon that lies to its client ---- */

static uint8_t true_rows[1 << 20]; /* what a daemon would have sent */
static size_t true_rows_size;
static size_t true_commands_size;

/* Answers one client in up to two messages, and waits until it is gone. */
typedef struct Liar {
    pthread_t thread;
    int listener;
    ShmReply reply;
    uint32_t sizes[2];  /* bytes of the reply in each message */
    uint32_t counts[2]; /* descriptors that each brings */
    int fds[SHM_DESCRIPTORS];
    bool hangs_up; /* at once */
} Liar;

static void liar_send(const Liar *liar, int fd, uint32_t index)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * SHM_DESCRIPTORS)];
    } control = {.bytes = {0}};
    size_t given = sizeof(int) * liar->counts[index];
    struct iovec body = {.iov_base =
                             (uint8_t *)(uintptr_t)&liar->reply + (index == 1 ? liar->sizes[0] : 0),
                         .iov_len = liar->sizes[index]};
    struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
    if (given > 0) {
        control.header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(given)};
        memcpy(CMSG_DATA(&control.header), liar->fds, given);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(given);
    }
    if (liar->sizes[index] > 0) {
        sendmsg(fd, &message, MSG_NOSIGNAL);
    }
}

static void *liar_main(void *argument)
{
    const Liar *liar = argument;
    ShmHello hello;
    int fd = accept4(liar->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 && recv(fd, &hello, sizeof hello, MSG_WAITALL) > 0) {
        liar_send(liar, fd, 0);
        liar_send(liar, fd, 1);
        while (!liar->hangs_up && recv(fd, &hello, 1, 0) > 0) {
        }
    }
    close(fd);
    return NULL;
}

/* A daemon that says the truth, until it is told otherwise. */
static Liar liar_make(void)
{
    if (true_rows_size == 0) {
        TyPool *pool = pool_make(&small_config);
        ShmChannel *door = NULL;
        assert_int_equal(shm_channel_open(pool, 0, &door).code, TY_OK);
        ShmDescriptors fds = shm_channel_descriptors(door);
        true_rows_size = file_size(fds.rows);
        true_commands_size = file_size(fds.commands);
        assert_true(true_rows_size <= sizeof true_rows);
        assert_int_equal(pread(fds.rows, true_rows, true_rows_size, 0), true_rows_size);
        shm_channel_close(door);
        ty_pool_close(pool);
    }
    return (Liar){.reply = {.magic = SHM_HELLO_MAGIC,
                            .version = SHM_VERSION,
                            .descriptors = SHM_DESCRIPTORS,
                            .message = "said the daemon"},
                  .sizes = {sizeof(ShmReply), 0},
                  .counts = {SHM_DESCRIPTORS, 0},
                  .fds = {memory_file(true_rows, true_rows_size, F_SEAL_SHRINK),
                          memory_file(NULL, true_commands_size, F_SEAL_SHRINK),
                          eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                          eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}};
}

static void liar_start(Liar *liar)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    liar->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(liar->listener, (const struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(liar->listener, 4), 0);
    assert_int_equal(pthread_create(&liar->thread, NULL, liar_main, liar), 0);
}

static void liar_stop(Liar *liar)
{
    shutdown(liar->listener, SHUT_RDWR); /* wakes it if nobody came */
    pthread_join(liar->thread, NULL);
    close(liar->listener);
    for (uint32_t i = 0; i < SHM_DESCRIPTORS; i++) {
        close(liar->fds[i]);
    }
    unlink(path);
}

/* What a client makes of such a daemon. It keeps nothing open. */
static TyStatus liar_try(Liar *liar)
{
    TyShmClient *client = NULL;
    TyShmAddress address = address_of(0, 0);
    address.timeout_ms = 300;
    uint32_t descriptors = count_descriptors();
    liar_start(liar);
    TyStatus status = ty_shm_connect(&address, &client);
    assert_int_equal(client == NULL, status.code != TY_OK);
    ty_shm_close(client);
    liar_stop(liar);
    assert_int_equal(count_descriptors(), descriptors - SHM_DESCRIPTORS);
    return status;
}

static void assert_refused(Liar *liar, TyCode code, const char *word)
{
    TyStatus status = liar_try(liar);
    assert_int_equal(status.code, code);
    assert_non_null(strstr(status.message, word));
}

static void test_a_reply_in_two_pieces_is_one_reply(void **unused)
{
    (void)unused;
    Liar liar = liar_make();
    assert_int_equal(liar_try(&liar).code, TY_OK);
    liar = liar_make();
    liar.sizes[0] = 100;
    liar.sizes[1] = sizeof(ShmReply) - 100;
    assert_int_equal(liar_try(&liar).code, TY_OK);
}

static void test_descriptors_that_come_twice_are_not_kept(void **unused)
{
    (void)unused;
    Liar liar = liar_make();
    liar.sizes[0] = 100;
    liar.sizes[1] = sizeof(ShmReply) - 100;
    liar.counts[1] = SHM_DESCRIPTORS;
    assert_int_equal(liar_try(&liar).code, TY_OK); /* and liar_try counts what is open */
}

static void test_a_daemon_that_answers_badly_is_not_believed(void **unused)
{
    (void)unused;
    Liar liar = liar_make();
    liar.reply.magic = 1;
    assert_refused(&liar, TY_IO, "version");
    liar = liar_make();
    liar.reply.version = SHM_VERSION + 1;
    assert_refused(&liar, TY_IO, "version");
    liar = liar_make();
    liar.reply.status = TY_LIMIT;
    assert_refused(&liar, TY_LIMIT, "said the daemon");
    liar = liar_make();
    liar.reply.status = 77;
    assert_refused(&liar, TY_IO, "said the daemon");
    liar = liar_make();
    liar.counts[0] = 3;
    assert_refused(&liar, TY_IO, "too few");
    liar = liar_make();
    liar.sizes[0] = 100;
    assert_refused(&liar, TY_IO, "no answer");
    liar = liar_make();
    liar.sizes[0] = 100;
    liar.hangs_up = true;
    assert_refused(&liar, TY_IO, "hung up");
}

/* A daemon that sends another file in the place of a segment. */
static void assert_segment_refused(uint32_t index, int fd)
{
    Liar liar = liar_make();
    close(liar.fds[index]);
    liar.fds[index] = fd;
    assert_refused(&liar, TY_IO, "not sealed");
}

static void test_only_sealed_segments_are_mapped(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) {
        assert_segment_refused(i, open("/dev/null", O_RDWR | O_CLOEXEC));
        assert_segment_refused(i, memory_file(true_rows, true_rows_size, F_SEAL_GROW));
        assert_segment_refused(i, memory_file(NULL, 0, F_SEAL_SHRINK));
        assert_segment_refused(i, memory_file(NULL, (size_t)1 << 40, F_SEAL_SHRINK));
    }
}

/* A number of `size` bytes at `offset` of the rows segment that a client must not believe. */
typedef struct Lie {
    size_t offset;
    uint32_t size;
    uint64_t value;
} Lie;

#define LIE(FIELD, VALUE) {offsetof(ShmHeader, FIELD), sizeof((ShmHeader *)NULL)->FIELD, VALUE}

static void assert_lies_refused(const Lie *lies, uint32_t count, size_t base)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t kept[8];
        uint8_t *at = true_rows + base + lies[i].offset;
        memcpy(kept, at, sizeof kept);
        memcpy(at, &lies[i].value, lies[i].size);
        Liar liar = liar_make();
        memcpy(at, kept, sizeof kept);
        TyStatus status = liar_try(&liar);
        if (status.code != TY_IO || strstr(status.message, "segment") == NULL) {
            fail_msg("lie %u: %s", i, status.message);
        }
    }
}

static void test_every_number_of_the_header_is_checked(void **unused)
{
    (void)unused;
    Liar liar = liar_make();
    assert_int_equal(liar_try(&liar).code, TY_OK);
    const Lie lies[] = {
        LIE(magic, 1),
        LIE(version, SHM_VERSION + 1),
        LIE(header_size, 8),
        LIE(rows_total, true_rows_size + SHM_PAGE),
        LIE(commands_total, true_commands_size - SHM_PAGE),
        LIE(groups, 0),
        LIE(groups, TY_GROUPS_MAX + 1),
        LIE(columns, TY_COLUMN_COUNT + 1),
        LIE(seat_count, TY_SEATS_MAX + 1),
        LIE(slots, TY_SLOTS_MAX + 1),
        LIE(words_offset, 1),
        LIE(words_offset, true_rows_size + SHM_LINE),
        LIE(words_offset, true_rows_size),
        LIE(groups_offset, 4),
        LIE(groups_offset, true_rows_size),
        LIE(rows_offset, true_rows_size),
        LIE(rows_offset, UINT64_MAX - SHM_LINE + 1),
        LIE(commands_offset, true_commands_size),
    };
    assert_lies_refused(lies, sizeof lies / sizeof lies[0], 0);
    liar = liar_make(); /* and commands that are shorter than the words of the groups */
    ShmHeader header;
    memcpy(&header, true_rows, sizeof header);
    header.commands_total = SHM_LINE;
    assert_int_equal(pwrite(liar.fds[0], &header, sizeof header, 0), sizeof header);
    close(liar.fds[1]);
    liar.fds[1] = memory_file(NULL, SHM_LINE, F_SEAL_SHRINK);
    assert_refused(&liar, TY_IO, "header");
}

#define GROUP_LIE(FIELD, VALUE) {offsetof(ShmGroup, FIELD), sizeof((ShmGroup *)NULL)->FIELD, VALUE}

static void test_every_number_of_a_group_is_checked(void **unused)
{
    (void)unused;
    Liar liar = liar_make();
    assert_int_equal(liar_try(&liar).code, TY_OK);
    const ShmHeader *header = (const ShmHeader *)true_rows;
    const Lie lies[] = {
        GROUP_LIE(rows, 0),
        GROUP_LIE(rows, 9),
        GROUP_LIE(first, 5),
        GROUP_LIE(which_offset, true_commands_size - 1),
        GROUP_LIE(columns[0].name[0], 'x'),
        GROUP_LIE(columns[0].type, 99),
        GROUP_LIE(columns[0].offset, header->rows_offset - SHM_LINE),
        GROUP_LIE(columns[0].offset, true_rows_size),
        GROUP_LIE(columns[0].offset, header->rows_offset + 1),
        GROUP_LIE(columns[0].width, UINT32_MAX),
        GROUP_LIE(columns[TY_COLUMN_ACTION].offset, 0),
        GROUP_LIE(columns[TY_COLUMN_ACTION].offset, true_commands_size),
    };
    assert_lies_refused(lies, sizeof lies / sizeof lies[0], header->groups_offset);
}

/* Interrupted calls are repeated, others fail: in both cases liar_try finds nothing left open. */
static void test_an_error_at_any_call_of_connecting_is_clean(void **unused)
{
    (void)unused;
    static const int errors[] = {EINTR, EIO};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t refused = 0;
        bool reached = true;
        for (uint32_t nth = 1; reached; nth++) {
            TyShmClient *client = NULL;
            TyShmAddress address = address_of(0, 0);
            Liar liar = liar_make();
            liar_start(&liar);
            uint32_t descriptors = count_descriptors();
            fault_set(FAULT_ANY, nth, errors[i]);
            TyStatus status = ty_shm_connect(&address, &client);
            reached = fault_was(FAULT_ANY);
            fault_clear();
            assert_int_equal(client == NULL, status.code != TY_OK);
            assert_int_equal(status.message[0] == '\0', status.code == TY_OK);
            refused += status.code != TY_OK;
            ty_shm_close(client);
            liar_stop(&liar);
            assert_true(count_descriptors() <= descriptors - SHM_DESCRIPTORS - 1);
        }
        assert_true(refused >= 10);
    }
}

static void test_a_place_where_nobody_listens_is_an_error(void **unused)
{
    (void)unused;
    char longer[200];
    TyShmClient *client = NULL;
    TyShmAddress address = address_of(0, 0);
    TyStatus status = ty_shm_connect(&address, &client);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, path));
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    address.path = longer;
    status = ty_shm_connect(&address, &client);
    assert_int_equal(status.code, TY_BAD_ARGUMENT);
    assert_non_null(strstr(status.message, "too long"));
    assert_null(client);
}

/* ---- Waiting ---- */

typedef struct Pair {
    TyPool *pool;
    Yard yard;
    TyShmClient *client;
} Pair;

static Pair pair;

static void *pair_main(void *unused)
{
    yard_run(&pair.yard, yard_clock_ns() + UINT64_C(20000000000), yard_is_let);
    return unused;
}

/* A client and its yard in one thread: nothing happens that the test does not do. */
static void pair_open_with(const TyPoolConfig *config)
{
    pthread_t thread;
    pair.pool = pool_make(config);
    assert_int_equal(yard_open(&pair.yard, path).code, TY_OK);
    assert_int_equal(yard_add(&pair.yard, pair.pool, 0).code, TY_OK);
    assert_int_equal(pthread_create(&thread, NULL, pair_main, NULL), 0);
    pair.client = client_open(0, 0);
    assert_non_null(pair.client);
    pthread_join(thread, NULL);
}

static void pair_open(void)
{
    pair_open_with(&small_config);
}

static void pair_close(void)
{
    ty_shm_close(pair.client);
    yard_close(&pair.yard);
    ty_pool_close(pair.pool);
}

static _Thread_local uint32_t yields;

int __real_sched_yield(void);
int __wrap_sched_yield(void);

int __wrap_sched_yield(void)
{
    yields++;
    return __real_sched_yield();
}

/* How often a client that waits in vain lets others run while it spins. */
static uint32_t yields_with(uint32_t threads)
{
    pair_open_with(&(TyPoolConfig){.slots = 8, .groups = 2, .threads = threads});
    ty_shm_set_spin(pair.client, 1000);
    yields = 0;
    assert_int_equal(ty_shm_wait(pair.client, 0, 1), TY_SHM_TIMEOUT);
    uint32_t count = yields;
    pair_close();
    return count;
}

static void test_a_client_that_spins_in_a_crowd_lets_others_run(void **unused)
{
    (void)unused;
    uint32_t processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    assert_true(processors > TY_THREADS_MAX || yields_with(processors) > 0);
    assert_int_equal(yields_with(1) > 0, processors == 1);
}

static void test_groups_that_do_not_exist_are_refused(void **unused)
{
    (void)unused;
    pair_open();
    assert_false(ty_shm_submit(pair.client, 2, NULL));
    assert_int_equal(ty_shm_wait(pair.client, 2, 0), TY_SHM_CLOSED);
    assert_true(ty_shm_submit(pair.client, 1, NULL));
    assert_false(ty_shm_submit(pair.client, 1, NULL)); /* it is under way */
    pair_close();
}

/* Plays what is ready of a member's rows. */
static void member_play(uint32_t member)
{
    ty_sample_rows(ty_pool_slab(pair.pool, member), 0, SEED);
    ty_pool_step(pair.pool, member, 0, NULL);
}

/* A row that became ready behind a client's back does not count for its next command. The answer to
 * that one gives it the row, also to a client that does not wait before it commands again. */
static void test_a_row_is_given_by_the_answer_to_a_command(void **unused)
{
    (void)unused;
    pair_open_with(&(TyPoolConfig){.slots = 1, .members = 2, .owner = {0, 1}});
    ShmChannel *door = pair.yard.doors[0].door;
    const TySlab *slab = ty_pool_slab(pair.pool, 0);
    const uint8_t *ready = ty_slab_column(slab, 0, TY_COLUMN_READY);
    const uint32_t *step = ty_slab_column(slab, 0, TY_COLUMN_STEP);
    while (*ready) {
        member_play(0);
    }
    shm_channel_publish(door);
    assert_int_equal(ty_shm_wait(pair.client, 0, WAIT_MS), TY_SHM_READY);
    while (!*ready) {
        member_play(1);
    }
    shm_channel_publish(door);
    ty_sample_rows(ty_shm_slab(pair.client), 0, SEED);
    const uint32_t before = *step;
    for (uint32_t ignored = 2; ignored-- > 0;) {
        assert_int_equal(*step, before);
        assert_true(ty_shm_submit(pair.client, 0, NULL));
        assert_int_equal(shm_channel_serve(door), 1);
        assert_int_equal(ty_shm_news(pair.client, 0).ignored, ignored);
        assert_int_equal(ty_shm_news(pair.client, 0).illegal, 0);
    }
    assert_int_not_equal(*step, before);
    pair_close();
}

/* A command that comes while the daemon is about to sleep keeps it awake. */
static void test_a_daemon_does_not_sleep_over_a_command(void **unused)
{
    (void)unused;
    pair_open();
    ShmChannel *door = pair.yard.doors[0].door;
    assert_true(ty_shm_submit(pair.client, 1, NULL));
    assert_false(shm_channel_prepare_sleep(door));
    assert_int_equal(shm_channel_serve(door), 1u << 1);
    assert_int_equal(ty_shm_wait(pair.client, 1, WAIT_MS), TY_SHM_READY);
    assert_true(shm_channel_prepare_sleep(door));
    assert_true(ty_shm_submit(pair.client, 0, NULL)); /* and now it rings */
    struct pollfd bell = {.fd = shm_channel_descriptors(door).to_pool, .events = POLLIN};
    assert_int_equal(poll(&bell, 1, 0), 1);
    shm_channel_awake(door);
    assert_int_equal(poll(&bell, 1, 0), 0);
    pair_close();
}

static void test_a_door_that_closes_wakes_who_waits(void **unused)
{
    (void)unused;
    pair_open();
    shm_channel_close(pair.yard.doors[0].door);
    pair.yard.doors[0].door = NULL; /* the lease is still held */
    assert_int_equal(ty_shm_wait(pair.client, 0, WAIT_MS), TY_SHM_CLOSED);
    pair_close();
}

static void publish_and_hang_up(void)
{
    shm_channel_publish(pair.yard.doors[0].door);
    shm_server_drop(pair.yard.server, pair.yard.doors[0].lease);
}

static void test_the_last_news_of_a_dying_daemon_are_heard(void **unused)
{
    (void)unused;
    uint32_t group = 9;
    pair_open();
    faults[FAULT_poll].before = publish_and_hang_up;
    assert_int_equal(ty_shm_wait_any(pair.client, &group, WAIT_MS), TY_SHM_READY);
    assert_int_equal(group, 0);
    assert_int_equal(ty_shm_wait(pair.client, 1, WAIT_MS), TY_SHM_READY);
    assert_int_equal(ty_shm_wait(pair.client, 1, WAIT_MS), TY_SHM_CLOSED);
    pair_close();
}

static void test_an_interrupted_sleep_goes_on(void **unused)
{
    (void)unused;
    pair_open();
    uint64_t sleeps = ty_shm_sleeps(pair.client);
    fault_set(FAULT_poll, 1, EINTR);
    uint64_t start = yard_clock_ns();
    assert_int_equal(ty_shm_wait(pair.client, 0, 20), TY_SHM_TIMEOUT);
    assert_true(fault_was(FAULT_poll));
    fault_clear();
    assert_true(yard_clock_ns() - start >= UINT64_C(20000000));
    assert_true(ty_shm_sleeps(pair.client) >= sleeps + 2);
    pair_close();
}

/* On one processor the other side cannot run while this one looks: no look but the first. */
static void test_a_single_processor_is_not_kept_busy(void **unused)
{
    (void)unused;
    cpu_set_t before;
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pair_open();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    uint64_t sleeps = ty_shm_sleeps(pair.client);
    faults[FAULT_poll].before = publish_and_hang_up;
    assert_int_equal(ty_shm_wait(pair.client, 0, WAIT_MS), TY_SHM_READY);
    assert_int_equal(ty_shm_sleeps(pair.client), sleeps + 1);
    pair_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reply_in_two_pieces_is_one_reply),
        cmocka_unit_test(test_descriptors_that_come_twice_are_not_kept),
        cmocka_unit_test(test_a_daemon_that_answers_badly_is_not_believed),
        cmocka_unit_test(test_only_sealed_segments_are_mapped),
        cmocka_unit_test(test_every_number_of_the_header_is_checked),
        cmocka_unit_test(test_every_number_of_a_group_is_checked),
        cmocka_unit_test(test_an_error_at_any_call_of_connecting_is_clean),
        cmocka_unit_test(test_a_place_where_nobody_listens_is_an_error),
        cmocka_unit_test(test_a_client_that_spins_in_a_crowd_lets_others_run),
        cmocka_unit_test(test_groups_that_do_not_exist_are_refused),
        cmocka_unit_test(test_a_row_is_given_by_the_answer_to_a_command),
        cmocka_unit_test(test_a_daemon_does_not_sleep_over_a_command),
        cmocka_unit_test(test_a_door_that_closes_wakes_who_waits),
        cmocka_unit_test(test_the_last_news_of_a_dying_daemon_are_heard),
        cmocka_unit_test(test_an_interrupted_sleep_goes_on),
        cmocka_unit_test(test_a_single_processor_is_not_kept_busy),
    };
    alarm(WATCHDOG_SECONDS); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
