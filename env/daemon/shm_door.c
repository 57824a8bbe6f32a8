/* Serving a member through two sealed memory files. */
#define _GNU_SOURCE
#include "daemon/shm_door.h"

#include "core/status.h"
#include "proto/shm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BELL_PIPE_SIZE = 4096 /* bytes; a full pipe is as good a bell as one byte */ };

/* A memory file and our mapping of it. */
typedef struct Segment {
    int fd;
    size_t size;
    uint8_t *bytes;
} Segment;

struct ShmDoor {
    TyPool *pool;
    uint32_t member;
    uint32_t groups;
    Segment rows;
    Segment commands;
    int to_pool;
    int bell[2]; /* a pipe to the client: its end, ours */
    ShmPool *words;
    const ShmCommand *orders; /* one per group */
    uint64_t which_offset[TY_GROUPS_MAX];
    uint32_t served[TY_GROUPS_MAX]; /* ours to believe: what is in the segments is only shown */
    uint32_t published[TY_GROUPS_MAX];
    uint32_t ready[TY_GROUPS_MAX]; /* rows, when the group was published last */
    uint8_t *which;                /* copy of a group's `which` bytes */
    ShmCounts counts;
};

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* ---- Segments ---- */

static TyStatus segment_open(const char *name, uint64_t size, Segment *segment)
{
    segment->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (segment->fd < 0 || ftruncate(segment->fd, (off_t)size) != 0) {
        return status_fail(TY_LIMIT, "no shared memory of %llu bytes: %s", (unsigned long long)size,
                           strerror(errno));
    }
    void *bytes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, segment->fd, 0);
    if (bytes == MAP_FAILED) {
        return status_fail(TY_NO_MEMORY, "no room to map %llu bytes: %s", (unsigned long long)size,
                           strerror(errno));
    }
    segment->bytes = bytes;
    segment->size = size;
    return status_ok();
}

/* Nobody resizes a sealed file under the other's mapping. With `read_only`, nobody who maps it from
 * now on can write. */
static TyStatus segment_seal(const Segment *segment, bool read_only)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0);
    if (fcntl(segment->fd, F_ADD_SEALS, seals) != 0) {
        return status_fail(TY_IO, "the shared memory cannot be sealed: %s", strerror(errno));
    }
    return status_ok();
}

static void segment_close(Segment *segment)
{
    if (segment->bytes != NULL) {
        munmap(segment->bytes, segment->size);
    }
    if (segment->fd >= 0) {
        close(segment->fd);
    }
}

/* ---- Layout ---- */

static ShmHeader header_make(const TyPool *pool, uint32_t member)
{
    const TySlab *slab = ty_pool_slab(pool, member);
    const TyPoolConfig *config = ty_pool_config(pool);
    const TyShape *shape = ty_shape(ty_pool_ruleset(pool));
    ShmHeader header = {
        .magic = SHM_MAGIC,
        .version = SHM_VERSION,
        .header_size = sizeof(ShmHeader),
        .words_offset = round_up(sizeof(ShmHeader), SHM_LINE),
        .schema_hash = shape->schema_hash,
        .slots = config->slots,
        .groups = slab->groups,
        .columns = TY_COLUMN_COUNT,
        .member = member,
        .autoreset = config->autoreset,
        .illegal = config->illegal,
        .max_steps = config->max_steps,
        .seat_count = slab->seat_count,
        .threads = config->threads,
        .crowded = ty_pool_crowded(pool),
    };
    memcpy(header.seats, slab->seats, sizeof slab->seats);
    strncpy(header.spec, shape->spec, sizeof header.spec - 1);
    header.groups_offset =
        header.words_offset + sizeof(ShmPool) + (uint64_t)slab->groups * sizeof(ShmAnswer);
    header.rows_offset =
        round_up(header.groups_offset + (uint64_t)slab->groups * sizeof(ShmGroup), SHM_PAGE);
    header.rows_total = round_up(header.rows_offset + slab->rows_size, SHM_PAGE);
    header.commands_offset = (uint64_t)slab->groups * sizeof(ShmCommand);
    for (uint32_t group = 0; group < slab->groups; group++) {
        header.commands_offset += round_up(slab->group[group].rows, SHM_LINE);
    }
    header.commands_offset = round_up(header.commands_offset, SHM_PAGE);
    header.commands_total = round_up(header.commands_offset + slab->commands_size, SHM_PAGE);
    return header;
}

static ShmGroup group_make(const ShmHeader *header, const TyGroupLayout *layout,
                           uint64_t which_offset)
{
    ShmGroup group = {.first = layout->first, .rows = layout->rows, .which_offset = which_offset};
    for (uint32_t i = 0; i < TY_COLUMN_COUNT; i++) {
        const TyColumnLayout *column = &layout->columns[i];
        bool action = i == TY_COLUMN_ACTION;
        group.columns[i] = (ShmColumn){
            .type = column->type,
            .width = column->width,
            .offset = column->offset + (action ? header->commands_offset : header->rows_offset)};
        strncpy(group.columns[i].name, column->name, SHM_NAME_SIZE - 1);
    }
    return group;
}

/* Writes all that describes the segments, and the first words. */
static void door_describe(ShmDoor *door, const ShmHeader *header)
{
    const TySlab *slab = ty_pool_slab(door->pool, door->member);
    uint64_t which_offset = (uint64_t)slab->groups * sizeof(ShmCommand);
    assert(door->rows.bytes != NULL);
    memcpy(door->rows.bytes, header, sizeof *header);
    door->words = (ShmPool *)(door->rows.bytes + header->words_offset);
    door->orders = (const ShmCommand *)door->commands.bytes;
    for (uint32_t i = 0; i < slab->groups; i++) {
        ShmGroup group = group_make(header, &slab->group[i], which_offset);
        memcpy(door->rows.bytes + header->groups_offset + i * sizeof group, &group, sizeof group);
        door->which_offset[i] = which_offset;
        which_offset += round_up(slab->group[i].rows, SHM_LINE);
        door->ready[i] = ty_pool_ready(door->pool, door->member, i);
        atomic_store(&door->words->answers[i].ready, door->ready[i]);
    }
    atomic_store(&door->words->state, SHM_OPEN);
}

/* ---- Opening and closing ---- */

static TyStatus bells_open(ShmDoor *door)
{
    door->to_pool = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (door->to_pool < 0 || pipe2(door->bell, O_CLOEXEC | O_NONBLOCK) != 0) {
        return status_fail(TY_LIMIT, "no descriptors for a shared-memory door: %s",
                           strerror(errno));
    }
    fcntl(door->bell[1], F_SETPIPE_SZ, BELL_PIPE_SIZE);
    return status_ok();
}

static TyStatus door_make(ShmDoor *door)
{
    ShmHeader header = header_make(door->pool, door->member);
    uint32_t rows_max = 1;
    for (uint32_t i = 0; i < door->groups; i++) {
        uint32_t rows = ty_pool_slab(door->pool, door->member)->group[i].rows;
        rows_max = rows > rows_max ? rows : rows_max;
    }
    door->which = malloc(rows_max);
    if (door->which == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for a shared-memory door");
    }
    TyStatus status = segment_open("trainyard-rows", header.rows_total, &door->rows);
    if (status.code == TY_OK) {
        status = segment_open("trainyard-commands", header.commands_total, &door->commands);
    }
    if (status.code == TY_OK) {
        status = segment_seal(&door->rows, true);
    }
    if (status.code == TY_OK) {
        status = segment_seal(&door->commands, false);
    }
    if (status.code == TY_OK) {
        status = bells_open(door);
    }
    if (status.code == TY_OK) {
        door_describe(door, &header);
        ty_pool_attach(door->pool, door->member, door->rows.bytes + header.rows_offset,
                       door->commands.bytes + header.commands_offset);
    }
    return status;
}

static void door_free(ShmDoor *door)
{
    segment_close(&door->rows);
    segment_close(&door->commands);
    for (uint32_t i = 0; i < 2; i++) {
        if (door->bell[i] >= 0) {
            close(door->bell[i]);
        }
    }
    if (door->to_pool >= 0) {
        close(door->to_pool);
    }
    free(door->which);
    free(door);
}

TyStatus shm_door_open(TyPool *pool, uint32_t member, ShmDoor **out)
{
    *out = NULL;
    ShmDoor *door = calloc(1, sizeof *door);
    if (door == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for a shared-memory door");
    }
    door->pool = pool;
    door->member = member;
    door->groups = ty_pool_slab(pool, member)->groups;
    door->rows.fd = door->commands.fd = door->to_pool = door->bell[0] = door->bell[1] = -1;
    TyStatus status = door_make(door);
    if (status.code != TY_OK) {
        door_free(door);
        return status;
    }
    *out = door;
    return status;
}

/* The client's end is open here too, so that there is never a broken pipe. If it is full, the
 * client has more than enough to wake up for. */
static void bell_ring(ShmDoor *door)
{
    ssize_t rung = write(door->bell[1], "", 1);
    (void)rung;
    door->counts.bells++;
}

void shm_door_close(ShmDoor *door)
{
    if (door == NULL) {
        return;
    }
    atomic_store(&door->words->state, SHM_CLOSING);
    bell_ring(door);
    if (ty_pool_detach(door->pool, door->member).code != TY_OK) {
        /* The pool goes on with the segments; they live until the process ends. */
        door->rows.bytes = NULL;
        door->commands.bytes = NULL;
    }
    door_free(door);
}

ShmDescriptors shm_door_descriptors(const ShmDoor *door)
{
    return (ShmDescriptors){.rows = door->rows.fd,
                            .commands = door->commands.fd,
                            .to_pool = door->to_pool,
                            .to_client = door->bell[0]};
}

ShmCounts shm_door_counts(const ShmDoor *door)
{
    return door->counts;
}

/* ---- Serving ---- */

/* The fence stands between our `published` and the client's `sleeping`, as the client's does
 * between its `sleeping` and our `published`: one of the two sees the other. */
static void group_publish(ShmDoor *door, uint32_t group, uint32_t ready)
{
    ShmAnswer *answer = &door->words->answers[group];
    door->ready[group] = ready;
    atomic_store_explicit(&answer->ready, ready, memory_order_relaxed);
    atomic_store_explicit(&answer->published, ++door->published[group], memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&door->orders[group].sleeping, memory_order_relaxed) != 0) {
        bell_ring(door);
    }
}

/* The client may change its bytes while we read them: they are copied, and only the copy is used.
 */
static const uint8_t *which_copy(ShmDoor *door, uint32_t group)
{
    uint32_t rows = ty_pool_slab(door->pool, door->member)->group[group].rows;
    memcpy(door->which, door->commands.bytes + door->which_offset[group], rows);
    return door->which;
}

static void group_serve(ShmDoor *door, uint32_t group, uint32_t number)
{
    ShmAnswer *answer = &door->words->answers[group];
    uint32_t kind = atomic_load_explicit(&door->orders[group].kind, memory_order_relaxed);
    uint32_t illegal = 0;
    uint32_t ready = door->ready[group];
    ShmResult result = SHM_DONE;
    if (number != door->served[group] + 1) {
        result = SHM_OUT_OF_TURN;
    } else if (kind == SHM_STEP) {
        ready = ty_pool_step(door->pool, door->member, group, &illegal);
    } else if (kind == SHM_STEP_SOME) {
        ready =
            ty_pool_step_some(door->pool, door->member, group, which_copy(door, group), &illegal);
    } else {
        result = SHM_BAD_KIND;
    }
    door->counts.refused += result != SHM_DONE;
    door->counts.commands++;
    door->served[group] = number;
    atomic_store_explicit(&answer->result, result, memory_order_relaxed);
    atomic_store_explicit(&answer->illegal, illegal, memory_order_relaxed);
    atomic_store_explicit(&answer->served, number, memory_order_release);
    group_publish(door, group, ready);
}

uint64_t shm_door_serve(ShmDoor *door)
{
    uint64_t groups = 0;
    for (uint32_t group = 0; group < door->groups; group++) {
        uint32_t number = atomic_load_explicit(&door->orders[group].number, memory_order_acquire);
        if (number != door->served[group]) {
            group_serve(door, group, number);
            groups |= UINT64_C(1) << group;
        }
    }
    return groups;
}

void shm_door_publish_group(ShmDoor *door, uint32_t group)
{
    assert(group < door->groups);
    group_publish(door, group, ty_pool_ready(door->pool, door->member, group));
}

void shm_door_publish(ShmDoor *door)
{
    for (uint32_t group = 0; group < door->groups; group++) {
        shm_door_publish_group(door, group);
    }
}

bool shm_door_prepare_sleep(ShmDoor *door)
{
    atomic_store_explicit(&door->words->sleeping, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t group = 0; group < door->groups; group++) {
        if (atomic_load_explicit(&door->orders[group].number, memory_order_acquire) !=
            door->served[group]) {
            atomic_store_explicit(&door->words->sleeping, 0, memory_order_relaxed);
            return false;
        }
    }
    return true;
}

/* The client shares the eventfd and could make it block: RWF_NOWAIT never does. */
void shm_door_awake(ShmDoor *door)
{
    uint64_t count = 0;
    const struct iovec place = {.iov_base = &count, .iov_len = sizeof count};
    atomic_store_explicit(&door->words->sleeping, 0, memory_order_relaxed);
    ssize_t taken = preadv2(door->to_pool, &place, 1, -1, RWF_NOWAIT);
    (void)taken;
}
