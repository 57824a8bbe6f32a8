/* How segments are handed over: whom the server refuses, and what the client does not believe. */
#define _GNU_SOURCE
#include "tests/shm/shm_table.h"

static const TyPoolConfig small_config = {.slots = 8};

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
    wrong.version = SHM_VERSION + 1;
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

/* The oldest of them make room: others are served as if there were none. */
static void test_silent_connections_are_bounded_and_lock_nobody_out(void **unused)
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
    assert_int_equal(recv(fds[7], &reply, sizeof reply, MSG_DONTWAIT), sizeof reply);
    assert_int_equal(reply.status, TY_LIMIT);
    assert_int_equal(recv(fds[8], &reply, sizeof reply, MSG_DONTWAIT), -1);
    ShmHello hello = {.magic = SHM_HELLO_MAGIC, .version = SHM_VERSION};
    TyStatus status = hello_status(&yard, &hello, sizeof hello, 100000000);
    assert_int_equal(status.code, TY_BAD_ARGUMENT); /* heard, and told that there is no such pool */
    yard_run(&yard, yard_clock_ns() + UINT64_C(1000000) * (SHM_HANDSHAKE_MS + 200), NULL);
    assert_int_equal(recv(fds[SHM_PENDING_MAX], &reply, sizeof reply, MSG_DONTWAIT), sizeof reply);
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
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "another daemon"));
    struct stat info;
    assert_int_equal(stat(path, &info), 0); /* the first one's socket is still there */
    yard_close(&yard);
    snprintf(open_directory, sizeof open_directory, "%s/open", directory);
    snprintf(open_path, sizeof open_path, "%s/shm", open_directory);
    assert_int_equal(mkdir(open_directory, 0700), 0);
    assert_int_equal(chmod(open_directory, 0755), 0);
    status = yard_open(&second, open_path);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "0700"));
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

static TyStatus fake_asked(void *user, const ShmHello *hello, uint64_t lease,
                           ShmDescriptors *descriptors)
{
    const Fake *fake = user;
    (void)hello;
    (void)lease;
    *descriptors = (ShmDescriptors){.rows = memory_file(fake->rows, fake->rows_size, fake->seals),
                                    .commands = memory_file(NULL, fake->commands_size, fake->seals),
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
    const ShmHandler host = {.user = fake, .asked = fake_asked, .ended = fake_ended};
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
    ShmChannel *door = NULL;
    assert_int_equal(shm_channel_open(pool, 0, &door).code, TY_OK);
    ShmDescriptors fds = shm_channel_descriptors(door);
    Fake fake = {.rows = fake_rows,
                 .rows_size = file_size(fds.rows),
                 .commands_size = file_size(fds.commands),
                 .seals = F_SEAL_SHRINK | F_SEAL_GROW,
                 .null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)};
    assert_true(fake.rows_size <= sizeof fake_rows);
    assert_int_equal(pread(fds.rows, fake_rows, fake.rows_size, 0), fake.rows_size);
    shm_channel_close(door);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wrong_hello_is_refused_with_a_sentence),
        cmocka_unit_test(test_silent_connections_are_bounded_and_lock_nobody_out),
        cmocka_unit_test(test_the_place_of_the_socket_is_checked),
        cmocka_unit_test(test_a_client_checks_the_segments),
    };
    alarm(WATCHDOG_SECONDS); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
