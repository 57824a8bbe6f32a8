/* Replies with rows: the columns of a member's slab, copied once into the message. */
#include "daemon/host_internal.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns travel as they lie in memory");

/* Columns that have entries for ended episodes only. */
enum {
    SPARSE_COLUMNS =
        1 << TY_COLUMN_METRICS | 1 << TY_COLUMN_FINAL_OBS | 1 << TY_COLUMN_FINAL_REWARD,
};

const char *type_name(TyType type)
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

uint32_t member_columns(const Host *host, uint32_t member)
{
    const TyGroupLayout *layout = &ty_pool_slab(host->pool, member)->group[0];
    uint32_t columns = 0;
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        columns |= (uint32_t)(layout->columns[i].width > 0) << i;
    }
    return columns;
}

void put_columns(Writer *writer, const Host *host, uint32_t member)
{
    const TyGroupLayout *layout = &ty_pool_slab(host->pool, member)->group[0];
    uint32_t columns = host->members[member].columns;
    put_list(writer, (uint32_t)__builtin_popcount(columns));
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        if ((columns >> i & 1) != 0) {
            put_map(writer, 4);
            put_key_text(writer, "name", layout->columns[i].name);
            put_key_text(writer, "type", type_name(layout->columns[i].type));
            put_key_uint(writer, "width", layout->columns[i].width);
            put_key_flag(writer, "ended", (SPARSE_COLUMNS >> i & 1) != 0);
        }
    }
}

/* ---- Copying ---- */

/* Where the cell of `slot` lies, given its group. */
typedef struct ColumnReader {
    const TySlab *slab;
    TyColumn column;
    size_t cell; /* bytes of a row */
} ColumnReader;

uint32_t group_of(const TySlab *slab, uint32_t slot)
{
    uint32_t group = 0;
    while (slot >= slab->group[group].first + slab->group[group].rows) {
        group++;
    }
    return group;
}

SpeakingColumns speaking_columns(const TySlab *slab, uint32_t group)
{
    return (SpeakingColumns){
        .first = slab->group[group].first,
        .end = slab->group[group].first + slab->group[group].rows,
        .ready = ty_slab_column(slab, group, TY_COLUMN_READY),
        .terminated = ty_slab_column(slab, group, TY_COLUMN_TERMINATED),
        .truncated = ty_slab_column(slab, group, TY_COLUMN_TRUNCATED),
    };
}

static const uint8_t *cell_of(const ColumnReader *reader, uint32_t slot)
{
    uint32_t group = group_of(reader->slab, slot);
    const TyGroupLayout *layout = &reader->slab->group[group];
    return reader->slab->rows + layout->columns[reader->column].offset +
           (slot - layout->first) * reader->cell;
}

/* The slot of row `position` of the set. */
static uint32_t set_slot(const RowSet *set, const TySlab *slab, uint32_t position)
{
    if (set->slots != NULL) {
        return set->slots[position];
    }
    return position + (set->group >= 0 ? slab->group[set->group].first : 0);
}

static void copy_groups(const ColumnReader *reader, const RowSet *set, uint8_t *out)
{
    uint32_t first = set->group >= 0 ? (uint32_t)set->group : 0;
    uint32_t end = set->group >= 0 ? first + 1 : reader->slab->groups;
    for (uint32_t group = first; group < end; group++) {
        const TyGroupLayout *layout = &reader->slab->group[group];
        size_t size = layout->rows * reader->cell;
        memcpy(out, reader->slab->rows + layout->columns[reader->column].offset, size);
        out += size;
    }
}

static void put_column(Writer *writer, const Host *host, const RowSet *set, TyColumn column)
{
    const TySlab *slab = ty_pool_slab(host->pool, set->member);
    const TyColumnLayout *layout = &slab->group[0].columns[column];
    ColumnReader reader = {
        .slab = slab, .column = column, .cell = (size_t)layout->width * ty_type_size(layout->type)};
    bool sparse = (SPARSE_COLUMNS >> column & 1) != 0;
    uint32_t count = sparse ? set->ended_count : set->count;
    message_key(writer, layout->name);
    uint8_t *out = put_bytes_place(writer, count * reader.cell);
    if (out == NULL) {
        return;
    }
    if (!sparse && set->slots == NULL) {
        copy_groups(&reader, set, out);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = set_slot(set, slab, sparse ? host->ended[i] : i);
        memcpy(out + i * reader.cell, cell_of(&reader, slot), reader.cell);
    }
}

/* ---- The reply ---- */

void put_row_errors(Writer *writer, Host *host, const Job *job)
{
    char name[TY_NAME_MAX];
    char message[TY_MESSAGE_MAX];
    reply_key(writer, REPLY_ERRORS);
    put_list(writer, job->error_count);
    for (uint32_t i = 0; i < job->error_count; i++) {
        const RowError *error = &job->errors[i];
        bool known =
            error->action >= 0 && (uint32_t)error->action < ty_shape(host->ruleset)->action_count;
        name[0] = '\0';
        if (known) {
            ty_action_name(host->ruleset, (uint32_t)error->action, name);
        }
        if (error->waiting) {
            snprintf(message, sizeof message,
                     "action %d%s%s%s is not legal in slot %u; its mask says what is",
                     error->action, known ? " (" : "", name, known ? ")" : "", error->slot);
        } else {
            snprintf(message, sizeof message, "slot %u does not wait for this member", error->slot);
        }
        put_map(writer, 4);
        put_key_uint(writer, "row", error->row);
        put_key_uint(writer, "slot", error->slot);
        put_key_text(
            writer, "code",
            protocol_errors[error->waiting ? ERROR_illegal_action : ERROR_bad_argument].name);
        put_key_text(writer, "message", message);
    }
}

static void put_rows(Writer *writer, Host *host, const Job *job, const void *context)
{
    const RowSet *set = context;
    const HostMember *member = &host->members[set->member];
    uint32_t ready = 0;
    for (uint32_t group = 0; group < ty_pool_config(host->pool)->groups; group++) {
        if (set->group < 0 || (uint32_t)set->group == group) {
            ready += ty_pool_ready(host->pool, set->member, group);
        }
    }
    if (set->group >= 0) {
        reply_uint(writer, REPLY_GROUP, (uint64_t)set->group);
    }
    reply_uint(writer, REPLY_COUNT, set->count);
    reply_uint(writer, REPLY_READY, ready);
    if (set->slots != NULL) {
        reply_bytes(writer, REPLY_ROWS, set->slots, (size_t)set->count * sizeof set->slots[0]);
    }
    reply_bytes(writer, REPLY_ENDED, host->ended, (size_t)set->ended_count * sizeof(uint32_t));
    if (job->error_count > 0) {
        put_row_errors(writer, host, job);
    }
    for (uint32_t column = 0; column < TY_COLUMN_ACTION; column++) {
        if ((member->columns >> column & 1) != 0) {
            put_column(writer, host, set, (TyColumn)column);
        }
    }
}

/* Looks at one row, the next of the set: notes an ending and that it has been told. */
static void survey_row(Host *host, RowSet *set, const SpeakingColumns *columns, uint32_t slot,
                       uint32_t position)
{
    uint32_t row = slot - columns->first;
    bool ended = (columns->terminated[row] | columns->truncated[row]) != 0;
    if (ended) {
        host->ended[set->ended_count++] = position;
    }
    host->members[set->member].told[slot] = ended || columns->ready[row];
}

/* Finds the endings among the rows, and notes what has been told. */
static void set_survey(Host *host, RowSet *set)
{
    const TySlab *slab = ty_pool_slab(host->pool, set->member);
    SpeakingColumns columns = speaking_columns(slab, set->group >= 0 ? (uint32_t)set->group : 0);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t slot = set_slot(set, slab, i);
        if (slot < columns.first || slot >= columns.end) {
            columns = speaking_columns(slab, group_of(slab, slot));
        }
        survey_row(host, set, &columns, slot, i);
    }
}

void job_reply_rows(Host *host, Job *job, RowSet set)
{
    const TySlab *slab = ty_pool_slab(host->pool, set.member);
    size_t guess = 4096;
    set_survey(host, &set);
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        const TyColumnLayout *layout = &slab->group[0].columns[i];
        uint32_t count = (SPARSE_COLUMNS >> i & 1) != 0 ? set.ended_count : set.count;
        if ((host->members[set.member].columns >> i & 1) != 0) {
            guess += (size_t)count * layout->width * ty_type_size(layout->type) + 32;
        }
    }
    guess += ((size_t)set.count + set.ended_count) * sizeof(uint32_t);
    job_reply(host, job, guess, put_rows, &set);
}
