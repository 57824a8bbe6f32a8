/* Replies with rows: the columns of a member's slab, copied once into the message. */
#include "daemon/worker_internal.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns travel as they lie in memory");

/* Columns that have entries for ended episodes only. */
enum {
    SPARSE_COLUMNS =
        1 << TY_COLUMN_METRICS | 1 << TY_COLUMN_FINAL_OBS | 1 << TY_COLUMN_FINAL_REWARD,
};

/* Which rows a reply has: those of job->slots, or all of the group, or of the pool. */
typedef struct RowSet {
    int32_t group; /* -1: of several */
    uint32_t count;
    uint32_t ready; /* rows that wait for the member */
} RowSet;

static const char *type_name(TyType type)
{
    switch (type) {
    case TY_U8:
        return "u8";
    case TY_I8:
        return "i8";
    case TY_U32:
        return "u32";
    case TY_I32:
        return "i32";
    case TY_F32:
        return "f32";
    case TY_U64:
        return "u64";
    }
    return "";
}

/* Where a column of replies comes from, and how wide it is there. */
typedef struct ColumnSource {
    TyColumn column; /* of the slab */
    uint32_t width;  /* values of a row in a reply */
    size_t cell;     /* its bytes */
} ColumnSource;

static ColumnSource column_source(const TySlab *slab, TyColumn column)
{
    const TyColumnLayout *layouts = slab->group[0].columns;
    if (column == TY_COLUMN_MASK_BITS) {
        uint32_t width = ty_mask_bits_size(layouts[TY_COLUMN_MASK].width);
        return (ColumnSource){.column = TY_COLUMN_MASK, .width = width, .cell = width};
    }
    return (ColumnSource){.column = column,
                          .width = layouts[column].width,
                          .cell =
                              (size_t)layouts[column].width * ty_type_size(layouts[column].type)};
}

void put_columns(Writer *writer, const Worker *worker, uint32_t member)
{
    const TySlab *slab = ty_pool_slab(worker->pool, member);
    uint32_t columns = worker->members[member].columns;
    put_list(writer, (uint32_t)__builtin_popcount(columns));
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        if ((columns >> i & 1) != 0) {
            put_map(writer, 4);
            put_key_text(writer, "name", ty_column_name((TyColumn)i));
            put_key_text(writer, "type", type_name(ty_column_type((TyColumn)i)));
            put_key_uint(writer, "width", column_source(slab, (TyColumn)i).width);
            put_key_flag(writer, "ended", (SPARSE_COLUMNS >> i & 1) != 0);
        }
    }
}

/* ---- Copying ---- */

/* Where the cells of a column lie in the slab, and how they get into a reply. */
typedef struct ColumnReader {
    const TySlab *slab;
    TyColumn column;
    bool bits;     /* packed, from the mask */
    size_t stored; /* bytes of a row in the slab */
    size_t cell;   /* and in the reply */
} ColumnReader;

static const uint8_t *cell_of(const ColumnReader *reader, uint32_t slot)
{
    const TySlab *slab = reader->slab;
    const TyGroupLayout *last = &slab->group[slab->groups - 1];
    uint32_t group = ty_slot_group(last->first + last->rows, slab->groups, slot);
    const TyGroupLayout *layout = &reader->slab->group[group];
    return reader->slab->rows + layout->columns[reader->column].offset +
           (slot - layout->first) * reader->stored;
}

/* Copies `count` rows that lie one behind the other. */
static void copy_cells(const ColumnReader *reader, const uint8_t *from, uint32_t count,
                       uint8_t *out)
{
    if (!reader->bits) {
        memcpy(out, from, count * reader->cell);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ty_mask_pack(from + i * reader->stored, (uint32_t)reader->stored, out + i * reader->cell);
    }
}

/* The slot of row `position` of the set. */
static uint32_t row_slot(const Job *job, const RowSet *set, const TySlab *slab, uint32_t position)
{
    if (job->slots != NULL) {
        return job->slots[position];
    }
    return position + (set->group >= 0 ? slab->group[set->group].first : 0);
}

static void copy_groups(const ColumnReader *reader, const RowSet *set, uint8_t *out)
{
    uint32_t first = set->group >= 0 ? (uint32_t)set->group : 0;
    uint32_t end = set->group >= 0 ? first + 1 : reader->slab->groups;
    for (uint32_t group = first; group < end; group++) {
        const TyGroupLayout *layout = &reader->slab->group[group];
        copy_cells(reader, reader->slab->rows + layout->columns[reader->column].offset,
                   layout->rows, out);
        out += layout->rows * reader->cell;
    }
}

static void put_column(Writer *writer, const Job *job, const RowSet *set, TyColumn column)
{
    const TySlab *slab = ty_pool_slab(job->worker->pool, job->member);
    ColumnSource source = column_source(slab, column);
    const TyColumnLayout *layout = &slab->group[0].columns[source.column];
    ColumnReader reader = {.slab = slab,
                           .column = source.column,
                           .bits = column == TY_COLUMN_MASK_BITS,
                           .stored = (size_t)layout->width * ty_type_size(layout->type),
                           .cell = source.cell};
    bool sparse = (SPARSE_COLUMNS >> column & 1) != 0;
    uint32_t count = sparse ? job->ended_count : set->count;
    message_key(writer, ty_column_name(column));
    uint8_t *out = put_bytes_place(writer, count * reader.cell);
    if (out == NULL) {
        return;
    }
    if (!sparse && job->slots == NULL) {
        copy_groups(&reader, set, out);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = row_slot(job, set, slab, sparse ? job->ended[i] : i);
        copy_cells(&reader, cell_of(&reader, slot), 1, out + i * reader.cell);
    }
}

/* ---- The reply ---- */

static void put_row_errors(Writer *writer, const Job *job)
{
    const TyRuleset *ruleset = job->worker->ruleset;
    char name[TY_NAME_MAX];
    char message[TY_MESSAGE_MAX];
    reply_key(writer, REPLY_ERRORS);
    put_list(writer, job->error_count);
    for (uint32_t i = 0; i < job->error_count; i++) {
        const RowError *error = &job->errors[i];
        bool known =
            error->action >= 0 && (uint32_t)error->action < ty_shape(ruleset)->action_count;
        name[0] = '\0';
        if (known) {
            ty_action_name(ruleset, (uint32_t)error->action, name);
        }
        if (error->why == ERROR_illegal_action) {
            snprintf(message, sizeof message,
                     "action %d%s%s%s is not legal in slot %u; its mask says what is",
                     error->action, known ? " (" : "", name, known ? ")" : "", error->slot);
        } else {
            snprintf(message, sizeof message,
                     error->why == ERROR_not_given
                         ? "slot %u has a row that this member was not given: recv it first"
                         : "slot %u does not wait for this member",
                     error->slot);
        }
        put_map(writer, 4);
        put_key_uint(writer, "row", error->row);
        put_key_uint(writer, "slot", error->slot);
        put_key_text(writer, "code", protocol_errors[error->why].name);
        put_key_text(writer, "message", message);
    }
}

void put_refused(Writer *writer, const Job *job)
{
    if (job->ignored > 0) {
        reply_uint(writer, REPLY_IGNORED, job->ignored);
    }
    if (job->error_count > 0) {
        put_row_errors(writer, job);
    }
}

static void put_rows(Writer *writer, const Job *job, const void *context)
{
    const RowSet *set = context;
    uint32_t columns = job->worker->members[job->member].columns;
    if (set->group >= 0) {
        reply_uint(writer, REPLY_GROUP, (uint64_t)set->group);
    }
    reply_uint(writer, REPLY_COUNT, set->count);
    reply_uint(writer, REPLY_READY, set->ready);
    if (job->slots != NULL) {
        reply_bytes(writer, REPLY_ROWS, job->slots, (size_t)set->count * sizeof job->slots[0]);
    }
    reply_bytes(writer, REPLY_ENDED, job->ended, (size_t)job->ended_count * sizeof job->ended[0]);
    put_refused(writer, job);
    for (uint32_t column = 0; column < TY_COLUMN_ACTION; column++) {
        if ((columns >> column & 1) != 0) {
            put_column(writer, job, set, (TyColumn)column);
        }
    }
}

/* The rows of the reply, and how many wait for the member in the same groups. */
static RowSet rows_count(const Job *job, int32_t group)
{
    const TyPool *pool = job->worker->pool;
    RowSet set = {.group = group, .ready = ready_count(job->worker, job->member, group)};
    if (job->slots != NULL) {
        set.count = job->slot_count;
    } else if (group >= 0) {
        set.count = ty_pool_slab(pool, job->member)->group[group].rows;
    } else {
        set.count = ty_pool_config(pool)->slots;
    }
    return set;
}

void job_reply_rows(Job *job, int32_t group)
{
    const TySlab *slab = ty_pool_slab(job->worker->pool, job->member);
    uint32_t columns = job->worker->members[job->member].columns;
    RowSet set = rows_count(job, group);
    job->ended = job_hold(job, (size_t)set.count * sizeof job->ended[0]);
    if (job->ended == NULL) {
        return;
    }
    const SlotRange slots = {
        .list = job->slots, .first = group >= 0 ? slab->group[group].first : 0, .count = set.count};
    job->ended_count = ready_give(job->worker, job->member, slots, job->ended);
    size_t guess = 4096 + ((size_t)set.count + job->ended_count) * sizeof(uint32_t);
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        uint32_t count = (SPARSE_COLUMNS >> i & 1) != 0 ? job->ended_count : set.count;
        if ((columns >> i & 1) != 0) {
            guess += count * column_source(slab, (TyColumn)i).cell + 32;
        }
    }
    if (!job_reply(job, guess, put_rows, &set)) {
        ready_take_back(job->worker, job->member, slots);
    }
}

void rows_renew(Worker *worker, const uint32_t *slots, uint32_t count)
{
    ready_renew(worker, slots, count);
    for (uint32_t i = 0; worker->channel_count > 0 && i < TY_MEMBERS_MAX; i++) {
        if (worker->members[i].channel != NULL) {
            shm_channel_renew(worker->members[i].channel, slots, count);
        }
    }
}

void job_reply_changed(Job *job)
{
    Worker *worker = job->worker;
    bool shows = ty_pool_slab(worker->pool, job->member)->seat_count > 0 &&
                 worker->members[job->member].channel == NULL;
    if (shows) {
        ready_listen(worker, job->member);
    }
    rows_renew(worker, job->slots, job->slot_count);
    worker_settle(worker, ALL_GROUPS, -1);
    if (worker->members[job->member].channel != NULL) {
        shm_channel_answered(worker->members[job->member].channel);
    }
    if (!shows) {
        job_reply(job, 256, NULL, NULL);
    } else {
        job_reply_rows(job, -1);
    }
}
