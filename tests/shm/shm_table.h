/* A place for sockets, a ruleset and serving processes, for the tests of shared memory. */
#pragma once

#include "core/hash.h"
#include "proto/client_shm.h"
#include "proto/shm.h"
#include "tests/shm/yard.h"

#include <errno.h>
#include <fcntl.h>
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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/descriptors.h"

enum {
    WAIT_MS = 20000, /* as good as for ever */
    WATCHDOG_SECONDS = 600,
    SEED = 11, /* of the policy */
};

static TyRuleset *ruleset;
static char directory[64];
static char path[96];

static inline int suite_open(void **unused)
{
    (void)unused;
    snprintf(directory, sizeof directory, "/tmp/trainyard-shm-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/shm", directory);
    return ty_ruleset_open("convoi:board=tiny", NULL, &ruleset).code == TY_OK ? 0 : -1;
}

static inline int suite_close(void **unused)
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

static inline void assert_exits_well(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static inline TyPool *pool_make(const TyPoolConfig *config)
{
    TyPool *pool = NULL;
    TyStatus status = ty_pool_open(ruleset, config, &pool);
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
    }
    return pool;
}

/* A process that serves pools of these configurations until all its clients have left. */
static inline pid_t yard_fork(const TyPoolConfig *configs, uint32_t count)
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

static inline TyShmAddress address_of(uint64_t pool, uint32_t member)
{
    TyShmAddress address = {.path = path, .pool = pool, .member = member};
    memset(address.token, 0x5a, sizeof address.token);
    return address;
}

static inline TyShmClient *client_open(uint64_t pool, uint32_t member)
{
    TyShmClient *client = NULL;
    TyShmAddress address = address_of(pool, member);
    TyStatus status = ty_shm_connect(&address, &client);
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
    }
    return client;
}

static inline int raw_socket(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

/* The handshake as PROTOCOL says, without our client. Returns the lease's socket. */
static inline int raw_connect(uint64_t pool, int fds[SHM_DESCRIPTORS])
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

static inline void raw_close(int lease, const int fds[SHM_DESCRIPTORS])
{
    for (uint32_t i = 0; i < SHM_DESCRIPTORS; i++) {
        close(fds[i]);
    }
    close(lease);
}

static inline size_t file_size(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (size_t)info.st_size;
}

/* A sealed memory file with this content; NULL: zeros. */
static inline int memory_file(const uint8_t *bytes, size_t size, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    if (bytes != NULL) {
        assert_int_equal(write(fd, bytes, size), size);
    }
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static inline bool yard_is_let(const Yard *yard)
{
    return shm_server_leases(yard->server) > 0;
}

static inline bool yard_is_free(const Yard *yard)
{
    return shm_server_leases(yard->server) == 0;
}
