/* Members of a pool: how they come, go and are late, and what follows when the pool has changed. */
#include "core/status.h"
#include "daemon/worker_internal.h"

#include <string.h>

enum { SLOTS_AT_ONCE = 64 /* that are cut off together */ };

/* ---- What follows a change ---- */

static void channel_publish(ShmChannel *channel, uint64_t groups, uint32_t group_count)
{
    for (uint32_t group = 0; group < group_count; group++) {
        if ((groups >> group & 1) != 0) {
            shm_channel_publish_group(channel, group);
        }
    }
}

/* Cuts off the episodes that wait for a member who is gone. True if there may have been any. */
static bool member_truncate(Worker *worker, uint32_t index)
{
    const ReadyRows *rows = &worker->members[index].rows;
    if (worker->listeners == 0) {
        ty_pool_truncate(worker->pool, index);
        return true;
    }
    bool cut = rows->fresh > 0;
    while (rows->fresh > 0) {
        uint32_t slots[SLOTS_AT_ONCE];
        uint32_t count = ready_first(rows, SLOTS_AT_ONCE, slots);
        ty_pool_truncate_slots(worker->pool, index, slots, count);
        ready_refresh_slots(worker, slots, count);
        ready_drop(&worker->members[index].rows, slots, count);
    }
    return cut;
}

void worker_settle(Worker *worker, uint64_t groups, int32_t by)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    bool cut = false;
    for (uint32_t i = 0; i < config->members; i++) {
        cut |= worker->members[i].state == MEMBER_GONE && member_truncate(worker, i);
    }
    for (uint32_t i = 0; worker->channel_count > 0 && i < config->members; i++) {
        if (worker->members[i].channel != NULL && (cut || (int32_t)i != by)) {
            channel_publish(worker->members[i].channel, groups, config->groups);
        }
    }
    waiting_serve(worker);
}

/* ---- Columns and channels ---- */

uint32_t member_columns(const Worker *worker, uint32_t member)
{
    const TyGroupLayout *layout = &ty_pool_slab(worker->pool, member)->group[0];
    uint32_t columns = 0;
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        columns |= (uint32_t)(layout->columns[i].width > 0) << i;
    }
    return columns;
}

TyStatus member_columns_read(const Worker *worker, const Request *request, uint32_t member,
                             uint32_t *columns)
{
    const uint32_t optional = 1u << TY_COLUMN_FULL | 1u << TY_COLUMN_HASH;
    uint32_t standard = member_columns(worker, member);
    /* A column may be asked for that has no values here, such as the endings of no seats: nothing
     * is sent then. */
    uint32_t allowed = standard | (((1u << TY_COLUMN_ACTION) - 1) & ~optional);
    *columns = request_has(request, FIELD_OF_COLUMNS) ? 0 : standard;
    for (uint32_t i = 0; i < request->values[FIELD_OF_COLUMNS].count; i++) {
        char name[WIRE_TEXT_MAX];
        uint32_t column = 0;
        request_text_at(request, FIELD_OF_COLUMNS, i, name);
        while (column < TY_COLUMN_ACTION && strcmp(ty_column_name((TyColumn)column), name) != 0) {
            column++;
        }
        if ((allowed >> column & 1) == 0) {
            return ty_status_fail(TY_BAD_ARGUMENT, "columns: this member has no column '%.40s'",
                                  name);
        }
        *columns |= 1u << column & (standard | 1u << TY_COLUMN_MASK_BITS);
    }
    return ty_status_ok();
}

TyStatus member_channel_open(Worker *worker, Job *job)
{
    Member *member = &worker->members[job->member];
    if (request_uint(&job->request, FIELD_OF_SHM) == 0) {
        return ty_status_ok();
    }
    if (ty_pool_slab(worker->pool, job->member)->seat_count == 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "shm: this member has no seat");
    }
    TyStatus status = shm_channel_open(worker->pool, job->member, &member->channel);
    if (status.code == TY_OK) {
        job->admission.shm = shm_channel_descriptors(member->channel);
        worker->channel_count++;
    }
    return status;
}

void member_channel_close(Worker *worker, uint32_t index)
{
    Member *member = &worker->members[index];
    if (member->channel != NULL) {
        shm_channel_close(member->channel);
        member->channel = NULL;
        worker->channel_count--;
    }
}

/* ---- Going ---- */

/* The member's seats go to the fallback or its episodes are cut off. Its channel stays until nobody
 * can ask for its descriptors any more. */
static void member_gone(Worker *worker, uint32_t index)
{
    Member *member = &worker->members[index];
    if (member->state != MEMBER_HERE) {
        return;
    }
    waiting_refuse(worker, (int32_t)index, "the seats were given up");
    member->state = MEMBER_GONE;
    ready_unlisten(worker, index);
    worker->defers = worker->slow;
    if (worker->fallback != NULL &&
        ty_pool_hand_over(worker->pool, index, worker->fallback).code == TY_OK) {
        member->state = MEMBER_PLAYED;
    } else {
        ty_pool_set_present(worker->pool, index, false);
    }
    worker->defers = false;
    ready_forget(worker, index);
    worker_settle(worker, ALL_GROUPS, -1);
}

JobState job_leave(Worker *worker, Job *job)
{
    member_gone(worker, job->member);
    member_channel_close(worker, job->member);
    job_reply(job, 256, NULL, NULL);
    return JOB_DONE;
}

JobState job_vanish(Worker *worker, Job *job)
{
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        if ((job->lost >> i & 1) != 0) {
            member_gone(worker, i);
            member_channel_close(worker, i);
        }
    }
    return JOB_DONE;
}

/* ---- Coming ---- */

static void put_groups(Writer *writer, const TySlab *slab)
{
    put_list(writer, slab->groups);
    for (uint32_t i = 0; i < slab->groups; i++) {
        put_map(writer, 2);
        put_key_uint(writer, "first", slab->group[i].first);
        put_key_uint(writer, "rows", slab->group[i].rows);
    }
}

static const char *seeds_warning(const Job *job)
{
    bool guessable =
        request_has(&job->request, FIELD_OF_SEED) || !ty_pool_config(job->worker->pool)->keyed;
    return job->admission.open_seats != 0 && guessable
               ? "others may play here, and seeds that come from a number can be found by trying: "
                 "give a key of 16 random bytes, or leave seed and plain_seeds out"
               : "";
}

/* What only the director is told. */
static void put_opened(Writer *writer, const Job *job)
{
    const Admission *admission = &job->admission;
    const TyPoolConfig *config = ty_pool_config(job->worker->pool);
    reply_text(writer, REPLY_INVITE, admission->open_seats != 0 ? admission->invite : "");
    reply_text(writer, REPLY_WATCH, admission->watch);
    reply_uint(writer, REPLY_SLOT_BYTES, ty_pool_slot_bytes(job->worker->pool));
    reply_bytes(writer, REPLY_KEY, config->key, config->keyed ? TY_KEY_SIZE : 0);
    reply_text(writer, REPLY_WARNING, seeds_warning(job));
}

void put_membership(Writer *writer, const Job *job, const void *context)
{
    const Worker *worker = job->worker;
    const Admission *admission = &job->admission;
    const TyShape *shape = ty_shape(worker->ruleset);
    const TySlab *slab = ty_pool_slab(worker->pool, job->member);
    bool channel = worker->members[job->member].channel != NULL;
    (void)context;
    reply_uint(writer, REPLY_POOL, worker->id);
    reply_uint(writer, REPLY_MEMBER, job->member);
    reply_bytes(writer, REPLY_OWN_SEATS, slab->seats, slab->seat_count);
    if (job->request.op == OP_OPEN) {
        put_opened(writer, job);
    }
    reply_bytes(writer, REPLY_SHM_TOKEN, admission->shm_token, channel ? SHM_TOKEN_SIZE : 0);
    reply_text(writer, REPLY_RULESET, shape->spec);
    reply_uint(writer, REPLY_RULES_VERSION,
               ty_game_rules_version(ty_ruleset_game(worker->ruleset)));
    reply_uint(writer, REPLY_SCHEMA_HASH, shape->schema_hash);
    reply_uint(writer, REPLY_PLAYERS, shape->players);
    reply_uint(writer, REPLY_SEATS, shape->seats);
    reply_uint(writer, REPLY_ROW_SIZE, shape->row_size);
    reply_uint(writer, REPLY_ACTION_COUNT, shape->action_count);
    reply_key(writer, REPLY_GROUPS);
    put_groups(writer, slab);
    reply_key(writer, REPLY_COLUMNS);
    put_columns(writer, worker, job->member);
}

void member_sit(Worker *worker, const Job *job)
{
    const TySlab *slab = ty_pool_slab(worker->pool, job->member);
    const char *name = job->admission.name;
    worker->members[job->member].state = MEMBER_HERE;
    for (uint32_t k = 0; worker->feed != NULL && name[0] != '\0' && k < slab->seat_count; k++) {
        recorder_name_seat(worker->feed, slab->seats[k], name);
    }
}

/* Gives the seats to the member, and what the member had besides to another. */
static TyStatus join_assign(Worker *worker, Job *job)
{
    const Admission *admission = &job->admission;
    TyStatus status = ty_status_ok();
    if (admission->moved != 0) {
        status = ty_pool_assign(worker->pool, admission->moved_to, admission->moved);
    }
    return status.code == TY_OK ? ty_pool_assign(worker->pool, job->member, admission->seats)
                                : status;
}

JobState job_join(Worker *worker, Job *job)
{
    Member *member = &worker->members[job->member];
    TyStatus status = join_assign(worker, job);
    if (status.code == TY_OK) {
        status = member_columns_read(worker, &job->request, job->member, &member->columns);
    }
    if (status.code == TY_OK) {
        status = member_channel_open(worker, job);
    }
    if (status.code != TY_OK) {
        job_refuse_status(job, &status);
        return JOB_DONE;
    }
    member_sit(worker, job);
    ty_pool_set_present(worker->pool, job->member, true);
    ready_forget(worker, job->member);
    if (job_reply(job, 4096, put_membership, NULL)) {
        worker->changed = ALL_GROUPS;
    } else {
        member_channel_close(worker, job->member);
        member->state = MEMBER_NONE;
        ty_pool_set_present(worker->pool, job->member, false);
    }
    return JOB_DONE;
}

/* ---- Being late ---- */

/* A question is known by its slot, episode and step: as long as these stay, it is the same. */
static uint64_t question_mark(const Worker *worker, uint32_t slot)
{
    const TyHead *head = ty_head(ty_pool_state(worker->pool, slot));
    return (head->seed * 31 + head->steps) * 4 + (head->over ? 3 : 1);
}

/* True if some question to the member has been open for too long. */
static bool member_is_late(Worker *worker, uint32_t index)
{
    Member *member = &worker->members[index];
    bool late = false;
    for (uint32_t slot = 0; slot < ty_pool_config(worker->pool)->slots; slot++) {
        bool asked = (ty_pool_waiting(worker->pool, slot) >> index & 1) != 0;
        uint64_t mark = asked ? question_mark(worker, slot) : 0;
        if (mark == 0 || mark != member->asked_mark[slot]) {
            member->asked_mark[slot] = mark;
            member->asked_since[slot] = worker->now_ms;
        }
        late = late ||
               (mark != 0 && worker->now_ms - member->asked_since[slot] > worker->seat_timeout_ms);
    }
    return late;
}

/* Tells endings that waited for the log, if it can be written again. */
static void held_tell(Worker *worker)
{
    uint32_t held = ty_pool_held(worker->pool);
    if (held == 0 || ty_pool_release(worker->pool) == held) {
        return;
    }
    for (uint32_t group = 0; group < ty_pool_config(worker->pool)->groups; group++) {
        ready_refresh(worker, group);
    }
    worker->changed = ALL_GROUPS;
}

/* Members that have not answered in time are gone; endings that waited for the log are told, if it
 * can be written again; requests that waited too long are answered. */
JobState job_tick(Worker *worker, Job *job)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    bool timed = atomic_load(&worker->timed);
    for (uint32_t i = 0; timed && i < config->members; i++) {
        if (worker->members[i].state == MEMBER_HERE && member_is_late(worker, i)) {
            job->lost |= (uint8_t)(1u << i);
        }
    }
    for (uint32_t i = 0; i < config->members; i++) {
        if ((job->lost >> i & 1) != 0) {
            member_gone(worker, i);
        }
    }
    held_tell(worker);
    if (job->drains) {
        pool_drain(worker->pool);
        job->running = pool_running(worker->pool);
    }
    waiting_serve(worker);
    return JOB_DONE;
}
