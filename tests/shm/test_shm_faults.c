/* The daemon's side of shared memory when the system refuses a call or a client lies: a clean
 * error, nothing left behind, and the next client is served. */
#define _GNU_SOURCE
#include "tests/shm/shm_table.h"
#include "tests/support/faults.h"

#include <sys/resource.h>

static const TyPoolConfig small_config = {.slots = 8, .groups = 2};

/* ---- Doors ---- */

/* Returns true if the `nth` call of opening a door was made at all. */
static bool door_with_fault(TyPool *pool, uint32_t nth)
{
    ShmChannel *door = NULL;
    uint32_t descriptors = count_descriptors();
    fault_set(FAULT_ANY, nth, EMFILE);
    TyStatus status = shm_channel_open(pool, 0, &door);
    bool reached = fault_was(FAULT_ANY);
    fault_clear();
    assert_int_equal(door == NULL, status.code != TY_OK);
    assert_int_equal(status.message[0] == '\0', status.code == TY_OK);
    shm_channel_close(door);
    assert_int_equal(count_descriptors(), descriptors);
    return reached;
}

static void test_an_error_at_any_call_of_opening_a_door_is_clean(void **unused)
{
    (void)unused;
    TyPool *pool = pool_make(&small_config);
    uint32_t calls = 0;
    while (door_with_fault(pool, calls + 1)) {
        calls++;
        ty_sample_rows(ty_pool_slab(pool, 0), 0, SEED);
        assert_true(ty_pool_step(pool, 0, 0, NULL) > 0);
    }
    assert_true(calls >= 10);
    ty_pool_close(pool);
}

/* Without memory for rows of its own the pool goes on with the segments of a door that is gone. */
static void test_a_pool_outlives_a_door_that_it_cannot_leave(void **unused)
{
    (void)unused;
    TyPool *pool = pool_make(&small_config);
    ShmChannel *door = NULL;
    assert_int_equal(shm_channel_open(pool, 0, &door).code, TY_OK);
    uint32_t descriptors = count_descriptors();
    fault_set(FAULT_aligned_alloc, 1, ENOMEM);
    shm_channel_close(door);
    assert_true(fault_was(FAULT_aligned_alloc));
    fault_clear();
    assert_int_equal(count_descriptors(), descriptors - 5);
    for (uint32_t i = 0; i < 20; i++) {
        ty_sample_rows(ty_pool_slab(pool, 0), i % 2, SEED);
        assert_true(ty_pool_step(pool, 0, i % 2, NULL) > 0);
    }
    ty_pool_close(pool);
}

/* ---- A server whose host is the test ---- */

typedef struct Host {
    ShmServer *server;
    ShmDescriptors descriptors;
    uint32_t asked;
    uint32_t ended;
    bool drops; /* leases 1 and 2: the end of one drops the other */
} Host;

static TyStatus host_asked(void *user, const ShmHello *hello, uint64_t lease,
                           ShmDescriptors *descriptors)
{
    Host *host = user;
    (void)hello;
    (void)lease;
    host->asked++;
    *descriptors = host->descriptors;
    return (TyStatus){.code = TY_OK};
}

static void host_ended(void *user, uint64_t lease)
{
    Host *host = user;
    bool drops = host->drops;
    host->ended++;
    host->drops = false;
    if (drops) {
        shm_server_drop(host->server, 3 - lease);
    }
}

static void host_open(Host *host)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const ShmHandler calls = {.user = host, .asked = host_asked, .ended = host_ended};
    *host =
        (Host){.descriptors = {.rows = null, .commands = null, .to_pool = null, .to_client = null}};
    assert_int_equal(shm_server_open(path, &calls, &host->server).code, TY_OK);
}

static void host_close(Host *host)
{
    shm_server_close(host->server);
    close(host->descriptors.rows);
}

static void host_serve(Host *host)
{
    shm_server_serve(host->server, yard_clock_ns() / 1000000);
}

static void say_hello(int fd)
{
    const ShmHello hello = {.magic = SHM_HELLO_MAGIC, .version = SHM_VERSION};
    assert_int_equal(send(fd, &hello, sizeof hello, 0), sizeof hello);
}

/* A connection that has said its hello. */
static int hello_socket(void)
{
    int fd = raw_socket();
    say_hello(fd);
    return fd;
}

/* A connection that has a lease. */
static int leased_socket(Host *host)
{
    uint32_t leases = shm_server_leases(host->server);
    int fd = hello_socket();
    host_serve(host); /* is accepted, */
    host_serve(host); /* and answered */
    assert_int_equal(shm_server_leases(host->server), leases + 1);
    return fd;
}

/* What a connection has to read: the status of a reply, or -1 at its end, or -2 for nothing. */
static int heard(int fd)
{
    ShmReply reply;
    ssize_t count = recv(fd, &reply, sizeof reply, MSG_DONTWAIT);
    return count == (ssize_t)sizeof reply ? (int)reply.status : count == 0 ? -1 : -2;
}

static void test_an_error_at_any_call_of_opening_a_server_is_clean(void **unused)
{
    (void)unused;
    const ShmHandler calls = {.asked = host_asked, .ended = host_ended};
    uint32_t descriptors = count_descriptors();
    uint32_t refused = 0;
    bool reached = true;
    for (uint32_t nth = 1; reached; nth++) {
        ShmServer *server = NULL;
        fault_set(FAULT_ANY, nth, EMFILE);
        TyStatus status = shm_server_open(path, &calls, &server);
        reached = fault_was(FAULT_ANY);
        fault_clear();
        assert_int_equal(server == NULL, status.code != TY_OK);
        refused += status.code != TY_OK;
        shm_server_close(server);
        assert_int_equal(count_descriptors(), descriptors);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_true(refused >= 8);
    ShmServer *server = NULL;
    assert_int_equal(shm_server_open("relative", &calls, &server).code, TY_BAD_CONFIG);
    assert_null(server);
}

static void test_what_is_no_hello_is_refused(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    const ShmHello hello = {.magic = 0x20544547, .version = SHM_VERSION};
    int fd = raw_socket();
    assert_int_equal(send(fd, &hello, sizeof hello, 0), sizeof hello);
    host_serve(&host);
    host_serve(&host);
    assert_int_equal(heard(fd), TY_BAD_ARGUMENT);
    assert_int_equal(host.asked, 0);
    close(fd);
    host_close(&host);
}

static void test_a_client_gone_before_its_answer_leaves_no_lease(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    close(hello_socket());
    host_serve(&host);
    host_serve(&host);
    assert_int_equal(host.asked, 1);
    assert_int_equal(host.ended, 1);
    assert_int_equal(shm_server_leases(host.server), 0);
    host_close(&host);
}

static void test_a_word_behind_the_hello_ends_the_lease(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    int fd = leased_socket(&host);
    assert_int_equal(heard(fd), TY_OK);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    host_serve(&host);
    assert_int_equal(host.ended, 1);
    assert_true(heard(fd) < 0);
    close(fd);
    host_close(&host);
}

static void test_an_interrupted_read_is_tried_again(void **unused)
{
    (void)unused;
    static const int errors[] = {EINTR, EAGAIN};
    Host host;
    host_open(&host);
    for (uint32_t i = 0; i < 2; i++) {
        int fd = hello_socket();
        host_serve(&host);
        fault_set(FAULT_recv, 1, errors[i]);
        host_serve(&host);
        assert_true(fault_was(FAULT_recv));
        fault_clear();
        assert_int_equal(host.asked, i);
        host_serve(&host);
        assert_int_equal(host.asked, i + 1);
        close(fd);
        host_serve(&host);
        assert_int_equal(host.ended, i + 1);
    }
    host_close(&host);
}

static void test_other_users_are_refused(void **unused)
{
    (void)unused;
    static const FaultCall calls[] = {FAULT_geteuid, FAULT_getsockopt};
    Host host;
    host_open(&host);
    for (uint32_t i = 0; i < 2; i++) {
        int fd = hello_socket();
        fault_set(calls[i], 1, EINVAL);
        host_serve(&host);
        fault_clear();
        assert_int_equal(heard(fd), TY_BAD_ARGUMENT);
        close(fd);
    }
    host_serve(&host);
    assert_int_equal(host.asked, 0);
    host_close(&host);
}

static void test_a_connection_that_cannot_be_watched_is_closed(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    int fd = raw_socket();
    fault_set(FAULT_epoll_ctl, 1, ENOSPC);
    host_serve(&host);
    fault_clear();
    assert_int_equal(heard(fd), -1);
    close(fd);
    close(leased_socket(&host));
    host_close(&host);
}

/* A client that cannot be accepted for want of descriptors is hung up on: else its connection would
 * keep the daemon awake. */
static void test_without_descriptors_clients_are_hung_up_on(void **unused)
{
    (void)unused;
    static const int errors[] = {EMFILE, ENFILE};
    Host host;
    host_open(&host);
    for (uint32_t i = 0; i < 2; i++) {
        int fd = raw_socket();
        fault_set(FAULT_accept4, 1, errors[i]);
        fault_set(FAULT_open, 1, errors[i]); /* nor is the spare one to be had again */
        host_serve(&host);
        fault_clear();
        assert_int_equal(heard(fd), -1);
        close(fd);
    }
    close(leased_socket(&host));
    host_close(&host);
}

static void test_other_errors_of_accepting_lose_no_client(void **unused)
{
    (void)unused;
    static const int errors[] = {ECONNABORTED, ENOMEM, ENOBUFS};
    Host host;
    host_open(&host);
    for (uint32_t i = 0; i < 3; i++) {
        int fd = hello_socket();
        fault_set(FAULT_accept4, 1, errors[i]);
        host_serve(&host);
        assert_true(fault_was(FAULT_accept4));
        fault_clear();
        host_serve(&host);
        host_serve(&host);
        assert_int_equal(host.asked, i + 1);
        close(fd);
    }
    host_close(&host);
}

static void test_a_burst_of_clients_is_taken_in_turns(void **unused)
{
    (void)unused;
    Host host;
    int fds[SHM_PENDING_MAX + 1];
    host_open(&host);
    for (uint32_t i = 0; i <= SHM_PENDING_MAX; i++) {
        fds[i] = raw_socket();
    }
    host_serve(&host);
    assert_int_equal(heard(fds[0]), -2);
    host_serve(&host);
    assert_int_equal(heard(fds[0]), TY_LIMIT);
    assert_int_equal(heard(fds[SHM_PENDING_MAX]), -2);
    for (uint32_t i = 0; i <= SHM_PENDING_MAX; i++) {
        close(fds[i]);
    }
    host_close(&host);
}

static int silent_fd;

static void break_silence(void)
{
    say_hello(silent_fd);
}

/* Who says its hello at the moment in which it is to make room for another is answered. */
static void test_a_hello_that_comes_with_a_newcomer_is_heard(void **unused)
{
    (void)unused;
    Host host;
    int fds[SHM_PENDING_MAX + 1];
    host_open(&host);
    for (uint32_t i = 0; i < SHM_PENDING_MAX; i++) {
        fds[i] = raw_socket();
        host_serve(&host);
    }
    fds[SHM_PENDING_MAX] = raw_socket();
    silent_fd = fds[0];
    faults[FAULT_accept4].before = break_silence;
    host_serve(&host);
    assert_int_equal(heard(fds[0]), TY_OK);
    assert_int_equal(shm_server_leases(host.server), 1);
    for (uint32_t i = 1; i <= SHM_PENDING_MAX; i++) {
        assert_int_equal(heard(fds[i]), -2);
    }
    for (uint32_t i = 0; i <= SHM_PENDING_MAX; i++) {
        close(fds[i]);
    }
    host_close(&host);
}

static void test_the_number_of_leases_is_bounded(void **unused)
{
    (void)unused;
    static int fds[SHM_LEASES_MAX];
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit enough = {.rlim_cur = SHM_LEASES_MAX * 2 + 64, .rlim_max = before.rlim_max};
    if (before.rlim_cur < enough.rlim_cur && setrlimit(RLIMIT_NOFILE, &enough) != 0) {
        fail_msg("this test needs %llu descriptors; the hard limit is %llu",
                 (unsigned long long)enough.rlim_cur, (unsigned long long)before.rlim_max);
    }
    Host host;
    host_open(&host);
    for (uint32_t i = 0; i < SHM_LEASES_MAX; i++) {
        fds[i] = leased_socket(&host);
    }
    int late = raw_socket();
    host_serve(&host);
    assert_int_equal(heard(late), TY_LIMIT);
    close(late);
    close(fds[7]);
    host_serve(&host);
    fds[7] = leased_socket(&host);
    for (uint32_t i = 0; i < SHM_LEASES_MAX; i++) {
        close(fds[i]);
    }
    host_close(&host);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_only_the_lease_that_is_meant_is_dropped(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    int first = leased_socket(&host);
    int second = leased_socket(&host);
    shm_server_drop(host.server, 99);
    assert_int_equal(shm_server_leases(host.server), 2);
    shm_server_drop(host.server, 2);
    assert_int_equal(host.ended, 1);
    assert_int_equal(heard(second), TY_OK);
    assert_int_equal(heard(second), -1);
    assert_int_equal(heard(first), TY_OK);
    assert_int_equal(heard(first), -2);
    close(first);
    close(second);
    host_close(&host);
}

/* The end of one lease drops another one whose end the kernel has told of in the same breath. */
static void test_leases_that_end_together_end_once_each(void **unused)
{
    (void)unused;
    Host host;
    host_open(&host);
    int first = leased_socket(&host);
    int second = leased_socket(&host);
    close(first);
    close(second);
    host.drops = true;
    host_serve(&host);
    assert_int_equal(host.ended, 2);
    assert_int_equal(shm_server_leases(host.server), 0);
    close(leased_socket(&host));
    host_close(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_at_any_call_of_opening_a_door_is_clean),
        cmocka_unit_test(test_a_pool_outlives_a_door_that_it_cannot_leave),
        cmocka_unit_test(test_an_error_at_any_call_of_opening_a_server_is_clean),
        cmocka_unit_test(test_what_is_no_hello_is_refused),
        cmocka_unit_test(test_a_client_gone_before_its_answer_leaves_no_lease),
        cmocka_unit_test(test_a_word_behind_the_hello_ends_the_lease),
        cmocka_unit_test(test_an_interrupted_read_is_tried_again),
        cmocka_unit_test(test_other_users_are_refused),
        cmocka_unit_test(test_a_connection_that_cannot_be_watched_is_closed),
        cmocka_unit_test(test_without_descriptors_clients_are_hung_up_on),
        cmocka_unit_test(test_other_errors_of_accepting_lose_no_client),
        cmocka_unit_test(test_a_burst_of_clients_is_taken_in_turns),
        cmocka_unit_test(test_a_hello_that_comes_with_a_newcomer_is_heard),
        cmocka_unit_test(test_the_number_of_leases_is_bounded),
        cmocka_unit_test(test_only_the_lease_that_is_meant_is_dropped),
        cmocka_unit_test(test_leases_that_end_together_end_once_each),
    };
    alarm(WATCHDOG_SECONDS); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
