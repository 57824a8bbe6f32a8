/* A client of the shared-memory door: the handshake, and the segments that it brings. */
#define _GNU_SOURCE
#include "proto/client_shm_internal.h"

#include "core/status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    HANDSHAKE_MS = 5000,
    SEGMENT_MAX_SHIFT = 40, /* segments of a terabyte are not believed */
    SPIN_TRIAL = 2000,      /* pauses that are timed to learn how long one takes */
};

/* ---- The handshake ---- */

static TyStatus fail_errno(const char *what)
{
    return ty_status_fail(TY_IO, "shared memory: %s: %s", what, strerror(errno));
}

static TyStatus lease_open(TyShmClient *client, const TyShmAddress *address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = strlen(address->path);
    uint32_t timeout_ms = address->timeout_ms == 0 ? HANDSHAKE_MS : address->timeout_ms;
    struct timeval timeout = {.tv_sec = (time_t)(timeout_ms / 1000),
                              .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000)};
    if (length >= sizeof name.sun_path) {
        return ty_status_fail(TY_BAD_ARGUMENT, "shared memory: the path %s is too long",
                              address->path);
    }
    memcpy(name.sun_path, address->path, length + 1);
    client->lease = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->lease < 0 ||
        setsockopt(client->lease, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(client->lease, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0) {
        return fail_errno("no socket");
    }
    if (connect(client->lease, (const struct sockaddr *)&name, sizeof name) != 0) {
        return fail_errno(address->path);
    }
    return ty_status_ok();
}

static TyStatus hello_send(const TyShmClient *client, const TyShmAddress *address)
{
    ShmHello hello = {.magic = SHM_HELLO_MAGIC,
                      .version = SHM_VERSION,
                      .pool = address->pool,
                      .member = address->member};
    memcpy(hello.token, address->token, sizeof hello.token);
    if (send(client->lease, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) {
        return fail_errno("the daemon does not listen");
    }
    return ty_status_ok();
}

/* Takes over what descriptors a message brought: at most as many as there is room for, says the
 * kernel, which puts nothing else there. Those of a second message are not wanted. */
static void descriptors_take(TyShmClient *client, struct msghdr *message)
{
    int fds[SHM_DESCRIPTORS];
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (header == NULL) {
        return;
    }
    size_t size = header->cmsg_len - CMSG_LEN(0);
    assert(header->cmsg_type == SCM_RIGHTS && size <= sizeof fds);
    memcpy(fds, CMSG_DATA(header), size);
    bool wanted = client->fds[0] < 0;
    for (size_t i = 0; i < size / sizeof fds[0]; i++) {
        if (wanted) {
            client->fds[i] = fds[i];
        } else {
            close(fds[i]);
        }
    }
}

static TyStatus reply_receive(TyShmClient *client, ShmReply *reply)
{
    size_t received = 0;
    while (received < sizeof *reply) {
        union {
            struct cmsghdr header;
            char bytes[CMSG_SPACE(sizeof(int) * SHM_DESCRIPTORS)];
        } control;
        struct iovec body = {.iov_base = (uint8_t *)reply + received,
                             .iov_len = sizeof *reply - received};
        struct msghdr message = {.msg_iov = &body,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof control.bytes};
        ssize_t count = recvmsg(client->lease, &message, MSG_CMSG_CLOEXEC);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail_errno("no answer from the daemon");
        }
        if (count == 0) {
            return ty_status_fail(TY_IO, "shared memory: the daemon hung up");
        }
        descriptors_take(client, &message);
        received += (size_t)count;
    }
    return ty_status_ok();
}

static TyStatus handshake(TyShmClient *client, const TyShmAddress *address)
{
    ShmReply reply = {.magic = 0};
    TyStatus status = lease_open(client, address);
    if (status.code == TY_OK) {
        status = hello_send(client, address);
    }
    if (status.code == TY_OK) {
        status = reply_receive(client, &reply);
    }
    if (status.code != TY_OK) {
        return status;
    }
    if (reply.magic != SHM_HELLO_MAGIC || reply.version != SHM_VERSION) {
        return ty_status_fail(
            TY_IO, "shared memory: no daemon of protocol version %d listens there", SHM_VERSION);
    }
    reply.message[SHM_TEXT_SIZE - 1] = '\0';
    if (reply.status != TY_OK) {
        TyCode code = reply.status <= TY_IO ? (TyCode)reply.status : TY_IO;
        return ty_status_fail(code, "shared memory: %s", reply.message);
    }
    if (client->fds[SHM_DESCRIPTORS - 1] < 0) {
        return ty_status_fail(TY_IO, "shared memory: the daemon sent too few descriptors");
    }
    return ty_status_ok();
}

/* ---- Mapping ---- */

/* Maps a segment that nobody can make shorter under us. */
static TyStatus segment_map(int fd, int protection, uint64_t *size, void **bytes)
{
    struct stat info;
    int seals = fcntl(fd, F_GET_SEALS);
    *bytes = NULL;
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &info) != 0 || info.st_size <= 0 ||
        (uint64_t)info.st_size >> SEGMENT_MAX_SHIFT != 0) {
        return ty_status_fail(TY_IO, "shared memory: the daemon sent a segment that is not sealed");
    }
    *size = (uint64_t)info.st_size;
    void *mapped = mmap(NULL, *size, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (mapped == MAP_FAILED) {
        return fail_errno("a segment cannot be mapped");
    }
    *bytes = mapped;
    return ty_status_ok();
}

/* True if `count` things of `size` bytes, aligned, lie at `offset` within `total`. */
static bool fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t align, uint64_t total)
{
    return offset % align == 0 && offset <= total && count <= (total - offset) / size;
}

static bool header_check(const ShmHeader *header, uint64_t rows_size, uint64_t commands_size)
{
    uint64_t words = sizeof(ShmPool) + (uint64_t)header->groups * sizeof(ShmAnswer);
    return header->rows_total == rows_size && header->commands_total == commands_size &&
           header->groups >= 1 && header->groups <= TY_GROUPS_MAX &&
           header->columns == TY_COLUMN_COUNT && header->seat_count <= TY_SEATS_MAX &&
           header->slots <= TY_SLOTS_MAX &&
           fits(header->words_offset, words, 1, SHM_LINE, rows_size) &&
           fits(header->groups_offset, header->groups, sizeof(ShmGroup), 8, rows_size) &&
           fits(0, header->groups, sizeof(ShmCommand), SHM_LINE, commands_size) &&
           fits(header->rows_offset, 1, 1, SHM_LINE, rows_size) &&
           fits(header->commands_offset, 1, 1, SHM_LINE, commands_size);
}

/* Reads one group's table into the slab, if every column lies where it may. */
static bool group_read(TyShmClient *client, uint32_t index)
{
    const ShmHeader *header = &client->header;
    TyGroupLayout *layout = &client->slab.group[index];
    ShmGroup group;
    memcpy(&group, client->rows + header->groups_offset + index * sizeof group, sizeof group);
    if (group.rows == 0 || group.rows > header->slots || group.first > header->slots - group.rows ||
        !fits(group.which_offset, group.rows, 1, 1, header->commands_total)) {
        return false;
    }
    layout->first = group.first;
    layout->rows = group.rows;
    client->which_offset[index] = group.which_offset;
    for (uint32_t i = 0; i < TY_COLUMN_COUNT; i++) {
        const ShmColumn *column = &group.columns[i];
        const char *name = ty_column_name((TyColumn)i);
        bool action = i == TY_COLUMN_ACTION;
        uint64_t begin = action ? header->commands_offset : header->rows_offset;
        uint64_t total = action ? header->commands_total : header->rows_total;
        uint64_t row_size = (uint64_t)column->width * ty_type_size(ty_column_type((TyColumn)i));
        bool inside = row_size == 0 || (column->offset >= begin && fits(column->offset, group.rows,
                                                                        row_size, SHM_LINE, total));
        if (strncmp(column->name, name, SHM_NAME_SIZE) != 0 ||
            column->type != ty_column_type((TyColumn)i) || !inside) {
            return false;
        }
        layout->columns[i] = (TyColumnLayout){.name = name,
                                              .type = ty_column_type((TyColumn)i),
                                              .width = column->width,
                                              .offset = row_size == 0 ? 0 : column->offset - begin};
    }
    return true;
}

static bool slab_read(TyShmClient *client)
{
    ShmHeader *header = &client->header;
    TySlab *slab = &client->slab;
    header->spec[sizeof header->spec - 1] = '\0';
    client->words = (const ShmPool *)(client->rows + header->words_offset);
    client->orders = (ShmCommand *)client->commands;
    slab->groups = header->groups;
    slab->seat_count = header->seat_count;
    memcpy(slab->seats, header->seats, sizeof slab->seats);
    slab->rows_size = header->rows_total - header->rows_offset;
    slab->commands_size = header->commands_total - header->commands_offset;
    slab->rows = (uint8_t *)(uintptr_t)(client->rows + header->rows_offset);
    slab->commands = client->commands + header->commands_offset;
    bool whole = true;
    for (uint32_t i = 0; i < slab->groups && whole; i++) {
        whole = group_read(client, i);
    }
    return whole;
}

static TyStatus segments_open(TyShmClient *client)
{
    uint64_t rows_size = 0;
    uint64_t commands_size = 0;
    void *rows = NULL;
    void *commands = NULL;
    TyStatus status = segment_map(client->fds[0], PROT_READ, &rows_size, &rows);
    client->rows = rows;
    client->header.rows_total = rows_size;
    if (status.code == TY_OK) {
        status = segment_map(client->fds[1], PROT_READ | PROT_WRITE, &commands_size, &commands);
        client->commands = commands;
        client->header.commands_total = commands_size;
    }
    if (status.code != TY_OK) {
        return status;
    }
    assert(rows != NULL);
    ShmHeader header = {.magic = 0};
    memcpy(&header, rows, rows_size < sizeof header ? rows_size : sizeof header);
    if (header.magic != SHM_MAGIC || header.version != SHM_VERSION ||
        header.header_size != sizeof header) {
        return ty_status_fail(TY_IO, "shared memory: the segment is not of version %d",
                              SHM_VERSION);
    }
    if (!header_check(&header, rows_size, commands_size)) {
        return ty_status_fail(TY_IO, "shared memory: the segment's header makes no sense");
    }
    client->header = header;
    if (!slab_read(client)) {
        return ty_status_fail(TY_IO, "shared memory: the segment's columns make no sense");
    }
    return status;
}

/* ---- Opening and closing ---- */

/* Learns how long a look at a word takes: the loop that spins must not ask the clock. */
static void spin_calibrate(TyShmClient *client)
{
    cpu_set_t processors;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < SPIN_TRIAL; i++) {
        atomic_load_explicit(&client->words->answers[0].published, memory_order_acquire);
        shm_pause();
    }
    client->pause_ns = (double)(clock_ns() - start + 1) / (double)SPIN_TRIAL;
    bool single =
        sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1;
    ty_shm_set_spin(client, single ? 0 : SHM_SPIN_NS / 1000);
}

void ty_shm_set_spin(TyShmClient *client, uint32_t microseconds)
{
    client->spin = shm_spin((uint32_t)(microseconds * 1000.0 / client->pause_ns));
}

/* Takes up the numbers where a client before this one left them. A command of that one's that is
 * still under way counts as ours: the first wait waits for it. */
static void numbers_take(TyShmClient *client)
{
    for (uint32_t i = 0; i < client->slab.groups; i++) {
        const ShmAnswer *answer = &client->words->answers[i];
        client->seen[i] = atomic_load_explicit(&answer->published, memory_order_acquire);
        client->number[i] = atomic_load(&client->orders[i].number);
        atomic_store(&client->orders[i].sleeping, 0);
    }
}

TyStatus ty_shm_connect(const TyShmAddress *address, TyShmClient **out)
{
    *out = NULL;
    TyShmClient *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a shared-memory client");
    }
    client->lease = -1;
    for (uint32_t i = 0; i < SHM_DESCRIPTORS; i++) {
        client->fds[i] = -1;
    }
    TyStatus status = handshake(client, address);
    if (status.code == TY_OK) {
        status = segments_open(client);
    }
    if (status.code != TY_OK) {
        ty_shm_close(client);
        return status;
    }
    spin_calibrate(client);
    numbers_take(client);
    *out = client;
    return status;
}

void ty_shm_close(TyShmClient *client)
{
    if (client == NULL) {
        return;
    }
    if (client->rows != NULL) {
        munmap((void *)(uintptr_t)client->rows, client->header.rows_total);
    }
    if (client->commands != NULL) {
        munmap(client->commands, client->header.commands_total);
    }
    for (uint32_t i = 0; i < SHM_DESCRIPTORS; i++) {
        if (client->fds[i] >= 0) {
            close(client->fds[i]);
        }
    }
    if (client->lease >= 0) {
        close(client->lease);
    }
    free(client);
}

const TySlab *ty_shm_slab(const TyShmClient *client)
{
    return &client->slab;
}

const char *ty_shm_spec(const TyShmClient *client)
{
    return client->header.spec;
}

uint64_t ty_shm_schema_hash(const TyShmClient *client)
{
    return client->header.schema_hash;
}

uint64_t ty_shm_sleeps(const TyShmClient *client)
{
    return client->sleeps;
}
