/* Serving a member through two sealed memory files. */
#define _GNU_SOURCE
#include "daemon/shm_channel.h"

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

struct ShmChannel {
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
    uint32_t given[TY_GROUPS_MAX]; /* all rows up to this publication were given: the client has
                                      waited for it */
    uint8_t *which;                /* the rows of a group that a command may answer */
    uint8_t *was_ready;            /* per slot: when its group was published last */
    uint32_t *since;               /* per slot: the publication that gave the row to the client */
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
        return ty_status_fail(TY_LIMIT, "no shared memory of %llu bytes: %s",
                              (unsigned long long)size, strerror(errno));
    }
    void *bytes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, segment->fd, 0);
    if (bytes == MAP_FAILED) {
        return ty_status_fail(TY_NO_MEMORY, "no room to map %llu bytes: %s",
                              (unsigned long long)size, strerror(errno));
    }
    segment->bytes = bytes;
    segment->size = size;
    return ty_status_ok();
}

/* Nobody resizes a sealed file under the other's mapping. With `read_only`, nobody who maps it from
 * now on can write. */
static TyStatus segment_seal(const Segment *segment, bool read_only)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0);
    if (fcntl(segment->fd, F_ADD_SEALS, seals) != 0) {
        return ty_status_fail(TY_IO, "the shared memory cannot be sealed: %s", strerror(errno));
    }
    return ty_status_ok();
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

/* Notes which rows of the group have become ready since it was published last: publication `number`
 * gives them to the client. Returns how many are ready. */
static uint32_t group_note(ShmChannel *channel, uint32_t group, uint32_t number)
{
    const TySlab *slab = ty_pool_slab(channel->pool, channel->member);
    const TyGroupLayout *layout = &slab->group[group];
    const uint8_t *ready = ty_slab_column(slab, group, TY_COLUMN_READY);
    uint8_t *was_ready = channel->was_ready + layout->first;
    uint32_t *since = channel->since + layout->first;
    uint32_t count = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        since[row] = ready[row] > was_ready[row] ? number : since[row];
        was_ready[row] = ready[row];
        count += ready[row];
    }
    return count;
}

/* Writes all that describes the segments, and the first words. */
static void channel_describe(ShmChannel *channel, const ShmHeader *header)
{
    const TySlab *slab = ty_pool_slab(channel->pool, channel->member);
    uint64_t which_offset = (uint64_t)slab->groups * sizeof(ShmCommand);
    assert(channel->rows.bytes != NULL);
    memcpy(channel->rows.bytes, header, sizeof *header);
    channel->words = (ShmPool *)(channel->rows.bytes + header->words_offset);
    channel->orders = (const ShmCommand *)channel->commands.bytes;
    for (uint32_t i = 0; i < slab->groups; i++) {
        ShmGroup group = group_make(header, &slab->group[i], which_offset);
        memcpy(channel->rows.bytes + header->groups_offset + i * sizeof group, &group,
               sizeof group);
        channel->which_offset[i] = which_offset;
        which_offset += round_up(slab->group[i].rows, SHM_LINE);
        channel->ready[i] = group_note(channel, i, 0);
        atomic_store(&channel->words->answers[i].ready, channel->ready[i]);
    }
    atomic_store(&channel->words->state, SHM_OPEN);
}

/* ---- Opening and closing ---- */

static TyStatus bells_open(ShmChannel *channel)
{
    channel->to_pool = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (channel->to_pool < 0 || pipe2(channel->bell, O_CLOEXEC | O_NONBLOCK) != 0) {
        return ty_status_fail(TY_LIMIT, "no descriptors for a shared-memory door: %s",
                              strerror(errno));
    }
    fcntl(channel->bell[1], F_SETPIPE_SZ, BELL_PIPE_SIZE);
    return ty_status_ok();
}

static TyStatus channel_make(ShmChannel *channel)
{
    ShmHeader header = header_make(channel->pool, channel->member);
    uint32_t rows_max = 1;
    for (uint32_t i = 0; i < channel->groups; i++) {
        uint32_t rows = ty_pool_slab(channel->pool, channel->member)->group[i].rows;
        rows_max = rows > rows_max ? rows : rows_max;
    }
    channel->which = malloc(rows_max);
    channel->was_ready = calloc(header.slots, sizeof channel->was_ready[0]);
    channel->since = calloc(header.slots, sizeof channel->since[0]);
    if (channel->which == NULL || channel->was_ready == NULL || channel->since == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a shared-memory door");
    }
    TyStatus status = segment_open("trainyard-rows", header.rows_total, &channel->rows);
    if (status.code == TY_OK) {
        status = segment_open("trainyard-commands", header.commands_total, &channel->commands);
    }
    if (status.code == TY_OK) {
        status = segment_seal(&channel->rows, true);
    }
    if (status.code == TY_OK) {
        status = segment_seal(&channel->commands, false);
    }
    if (status.code == TY_OK) {
        status = bells_open(channel);
    }
    if (status.code == TY_OK) {
        channel_describe(channel, &header);
        ty_pool_attach(channel->pool, channel->member, channel->rows.bytes + header.rows_offset,
                       channel->commands.bytes + header.commands_offset);
    }
    return status;
}

static void channel_free(ShmChannel *channel)
{
    segment_close(&channel->rows);
    segment_close(&channel->commands);
    for (uint32_t i = 0; i < 2; i++) {
        if (channel->bell[i] >= 0) {
            close(channel->bell[i]);
        }
    }
    if (channel->to_pool >= 0) {
        close(channel->to_pool);
    }
    free(channel->which);
    free(channel->was_ready);
    free(channel->since);
    free(channel);
}

TyStatus shm_channel_open(TyPool *pool, uint32_t member, ShmChannel **out)
{
    *out = NULL;
    ShmChannel *channel = calloc(1, sizeof *channel);
    if (channel == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a shared-memory door");
    }
    channel->pool = pool;
    channel->member = member;
    channel->groups = ty_pool_slab(pool, member)->groups;
    channel->rows.fd = channel->commands.fd = channel->to_pool = channel->bell[0] =
        channel->bell[1] = -1;
    TyStatus status = channel_make(channel);
    if (status.code != TY_OK) {
        channel_free(channel);
        return status;
    }
    *out = channel;
    return status;
}

/* The client's end is open here too, so that there is never a broken pipe. If it is full, the
 * client has more than enough to wake up for. */
static void bell_ring(ShmChannel *channel)
{
    ssize_t rung = write(channel->bell[1], "", 1);
    (void)rung;
    channel->counts.bells++;
}

void shm_channel_close(ShmChannel *channel)
{
    if (channel == NULL) {
        return;
    }
    atomic_store(&channel->words->state, SHM_CLOSING);
    bell_ring(channel);
    if (ty_pool_detach(channel->pool, channel->member).code != TY_OK) {
        /* The pool goes on with the segments; they live until the process ends. */
        channel->rows.bytes = NULL;
        channel->commands.bytes = NULL;
    }
    channel_free(channel);
}

ShmDescriptors shm_channel_descriptors(const ShmChannel *channel)
{
    return (ShmDescriptors){.rows = channel->rows.fd,
                            .commands = channel->commands.fd,
                            .to_pool = channel->to_pool,
                            .to_client = channel->bell[0]};
}

ShmCounts shm_channel_counts(const ShmChannel *channel)
{
    return channel->counts;
}

/* ---- Serving ---- */

/* The fence stands between our `published` and the client's `sleeping`, as the client's does
 * between its `sleeping` and our `published`: one of the two sees the other. */
static void group_publish(ShmChannel *channel, uint32_t group, uint32_t ready)
{
    ShmAnswer *answer = &channel->words->answers[group];
    channel->ready[group] = ready;
    atomic_store_explicit(&answer->ready, ready, memory_order_relaxed);
    atomic_store_explicit(&answer->published, ++channel->published[group], memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&channel->orders[group].sleeping, memory_order_relaxed) != 0) {
        bell_ring(channel);
    }
}

/* True if the row became ready in a publication that the client had not seen yet. */
static bool row_is_unseen(const ShmChannel *channel, uint32_t group, uint32_t slot, uint32_t seen)
{
    uint32_t since = channel->since[slot];
    return (int32_t)(since - seen) > 0 && (int32_t)(since - channel->given[group]) > 0;
}

/* The rows that a command may answer, a byte each: those that the client wants (NULL: all) and was
 * given. It may change its bytes while we read them: only a copy of them is used. `ignored` is how
 * many it wanted but was not given. NULL: all that are ready. */
static const uint8_t *rows_allowed(ShmChannel *channel, uint32_t group, const uint8_t *wanted,
                                   uint32_t *ignored)
{
    const TySlab *slab = ty_pool_slab(channel->pool, channel->member);
    const TyGroupLayout *layout = &slab->group[group];
    uint32_t seen = atomic_load_explicit(&channel->orders[group].seen, memory_order_relaxed);
    bool all = seen == channel->published[group];
    if (wanted != NULL) {
        memcpy(channel->which, wanted, layout->rows);
    } else if (all) {
        return NULL;
    } else {
        memset(channel->which, 1, layout->rows);
    }
    for (uint32_t row = 0; !all && row < layout->rows; row++) {
        uint32_t slot = layout->first + row;
        if (channel->which[row] && channel->was_ready[slot] &&
            row_is_unseen(channel, group, slot, seen)) {
            channel->which[row] = 0;
            ++*ignored;
        }
    }
    return channel->which;
}

/* The rows are what the client's own command made of them: it waits for this publication, and is
 * given all that is ready. */
static void group_give(ShmChannel *channel, uint32_t group)
{
    const TySlab *slab = ty_pool_slab(channel->pool, channel->member);
    const TyGroupLayout *layout = &slab->group[group];
    memcpy(channel->was_ready + layout->first, ty_slab_column(slab, group, TY_COLUMN_READY),
           layout->rows);
    channel->given[group] = channel->published[group] + 1;
}

static void group_serve(ShmChannel *channel, uint32_t group, uint32_t number)
{
    ShmAnswer *answer = &channel->words->answers[group];
    uint32_t kind = atomic_load_explicit(&channel->orders[group].kind, memory_order_relaxed);
    const uint8_t *wanted =
        kind == SHM_STEP_SOME ? channel->commands.bytes + channel->which_offset[group] : NULL;
    uint32_t illegal = 0;
    uint32_t ignored = 0;
    uint32_t ready = channel->ready[group];
    ShmResult result = SHM_DONE;
    if (number != channel->served[group] + 1) {
        result = SHM_OUT_OF_TURN;
    } else if (kind == SHM_STEP || kind == SHM_STEP_SOME) {
        const uint8_t *which = rows_allowed(channel, group, wanted, &ignored);
        ready = ty_pool_step_some(channel->pool, channel->member, group, which, &illegal);
        group_give(channel, group);
    } else {
        result = SHM_BAD_KIND;
    }
    channel->counts.refused += result != SHM_DONE;
    channel->counts.commands++;
    channel->served[group] = number;
    atomic_store_explicit(&answer->result, result, memory_order_relaxed);
    atomic_store_explicit(&answer->illegal, illegal, memory_order_relaxed);
    atomic_store_explicit(&answer->ignored, ignored, memory_order_relaxed);
    atomic_store_explicit(&answer->served, number, memory_order_release);
    group_publish(channel, group, ready);
}

uint64_t shm_channel_serve(ShmChannel *channel)
{
    uint64_t groups = 0;
    for (uint32_t group = 0; group < channel->groups; group++) {
        uint32_t number =
            atomic_load_explicit(&channel->orders[group].number, memory_order_acquire);
        if (number != channel->served[group]) {
            group_serve(channel, group, number);
            groups |= UINT64_C(1) << group;
        }
    }
    return groups;
}

void shm_channel_publish_group(ShmChannel *channel, uint32_t group)
{
    assert(group < channel->groups);
    group_publish(channel, group, group_note(channel, group, channel->published[group] + 1));
}

void shm_channel_renew(ShmChannel *channel, const uint32_t *slots, uint32_t count)
{
    if (slots == NULL) {
        memset(channel->was_ready, 0, ty_pool_config(channel->pool)->slots);
    }
    for (uint32_t i = 0; slots != NULL && i < count; i++) {
        channel->was_ready[slots[i]] = 0;
    }
}

void shm_channel_answered(ShmChannel *channel)
{
    for (uint32_t group = 0; group < channel->groups; group++) {
        atomic_store_explicit(&channel->words->answers[group].renewed, channel->published[group],
                              memory_order_release);
    }
}

void shm_channel_publish(ShmChannel *channel)
{
    for (uint32_t group = 0; group < channel->groups; group++) {
        shm_channel_publish_group(channel, group);
    }
}

bool shm_channel_prepare_sleep(ShmChannel *channel)
{
    atomic_store_explicit(&channel->words->sleeping, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t group = 0; group < channel->groups; group++) {
        if (atomic_load_explicit(&channel->orders[group].number, memory_order_acquire) !=
            channel->served[group]) {
            atomic_store_explicit(&channel->words->sleeping, 0, memory_order_relaxed);
            return false;
        }
    }
    return true;
}

/* The client shares the eventfd and could make it block: RWF_NOWAIT never does. */
void shm_channel_awake(ShmChannel *channel)
{
    uint64_t count = 0;
    const struct iovec place = {.iov_base = &count, .iov_len = sizeof count};
    atomic_store_explicit(&channel->words->sleeping, 0, memory_order_relaxed);
    ssize_t taken = preadv2(channel->to_pool, &place, 1, -1, RWF_NOWAIT);
    (void)taken;
}
