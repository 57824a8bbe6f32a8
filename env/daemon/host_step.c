/* Stepping a pool for its members: actions in, rows out, perhaps when others have acted. */
#include "daemon/host_internal.h"

#include <string.h>

/* ---- Checks ---- */

/* True if the member has rows and gets them by messages; otherwise the job is refused. */
static bool member_may_look(Host *host, Job *job)
{
    const HostMember *member = &host->members[job->member];
    if (member->state != MEMBER_HERE) {
        job_refuse(host, job, ERROR_closed, -1, "the seats were lost: they did not answer in time");
        return false;
    }
    if (member->door != NULL) {
        job_refuse(host, job, ERROR_bad_argument, -1,
                   "this member's rows go through shared memory");
        return false;
    }
    return true;
}

bool job_slot(Host *host, Job *job, uint32_t *slot)
{
    uint32_t slots = ty_pool_config(host->pool)->slots;
    *slot = (uint32_t)request_uint(&job->request, FIELD_OF_SLOT);
    if (*slot < slots) {
        return true;
    }
    job_refuse(host, job, ERROR_bad_argument, -1, "slot=%u: the slots are 0..%u", *slot, slots - 1);
    return false;
}

/* True if the member may step besides. */
static bool member_may_step(Host *host, Job *job)
{
    if (ty_pool_slab(host->pool, job->member)->seat_count == 0) {
        job_refuse(host, job, ERROR_denied, -1, "this member has no seat");
        return false;
    }
    return member_may_look(host, job);
}

bool job_slots(Host *host, Job *job, const uint32_t **slots, uint32_t *count)
{
    const WireValue *value = &job->request.values[FIELD_OF_SLOTS];
    uint32_t limit = ty_pool_config(host->pool)->slots;
    *slots = host->chosen;
    *count = value->size / 4;
    if (value->size % 4 != 0 || *count > limit) {
        job_refuse(host, job, ERROR_bad_request, -1,
                   "slots: has %u bytes; allowed are up to %u numbers of 4 bytes", value->size,
                   limit);
        return false;
    }
    if (*count > 0) {
        memcpy(host->chosen, value->bytes, value->size);
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (host->chosen[i] >= limit) {
            job_refuse(host, job, ERROR_bad_argument, i, "slots: row %u names slot %u of %u", i,
                       host->chosen[i], limit);
            return false;
        }
    }
    return true;
}

static bool actions_fit(Host *host, Job *job, uint32_t count)
{
    uint32_t size = job->request.values[FIELD_OF_ACTIONS].size;
    if (size == (uint64_t)count * 4) {
        return true;
    }
    job_refuse(host, job, ERROR_bad_request, -1,
               "actions: has %u bytes; wanted are %u for %u rows of 4 bytes", size, count * 4,
               count);
    return false;
}

/* ---- Actions ---- */

static void note_error(Job *job, RowError error)
{
    if (job->error_count < JOB_ERRORS_MAX) {
        job->errors[job->error_count++] = error;
    }
}

/* What the member answers in one group, and what it has to hear of it. */
typedef struct GroupAnswer {
    uint32_t group;
    const uint8_t *which; /* per row of the group; NULL: all */
    uint32_t refused;
} GroupAnswer;

/* Forgets that the rows to be answered were told, and counts them. */
static uint32_t untell_answered(Host *host, uint32_t member, const GroupAnswer *answer)
{
    const TySlab *slab = ty_pool_slab(host->pool, member);
    const TyGroupLayout *layout = &slab->group[answer->group];
    const uint8_t *ready = ty_slab_column(slab, answer->group, TY_COLUMN_READY);
    uint8_t *told = host->members[member].told + layout->first;
    uint32_t count = 0;
    for (uint32_t row = 0; row < layout->rows; row++) {
        if (ready[row] && (answer->which == NULL || answer->which[row])) {
            told[row] = 0;
            count++;
        }
    }
    return count;
}

static uint32_t group_answer(Host *host, Job *job, GroupAnswer *answer)
{
    uint32_t count = untell_answered(host, job->member, answer);
    ty_pool_step_some(host->pool, job->member, answer->group, answer->which, &answer->refused);
    return count;
}

/* Names the first rows of a whole group that were refused. */
static void note_refused(Host *host, Job *job, uint32_t group)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    const uint8_t *illegal = ty_slab_column(slab, group, TY_COLUMN_ILLEGAL);
    const int32_t *action = ty_slab_column(slab, group, TY_COLUMN_ACTION);
    for (uint32_t row = 0; row < slab->group[group].rows; row++) {
        if (illegal[row]) {
            note_error(job, (RowError){row, slab->group[group].first + row, action[row], true});
        }
    }
}

/* Marks the chosen slots of `group` and puts their actions in place. Returns how many there are. */
static uint32_t choose_rows(Host *host, Job *job, uint32_t group, const uint32_t *slots,
                            uint32_t count)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    const TyGroupLayout *layout = &slab->group[group];
    const uint8_t *bytes = job->request.values[FIELD_OF_ACTIONS].bytes;
    const uint8_t *ready = ty_slab_column(slab, group, TY_COLUMN_READY);
    int32_t *action = ty_slab_column(slab, group, TY_COLUMN_ACTION);
    uint32_t found = 0;
    memset(host->which, 0, layout->rows);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = slots[i] - layout->first;
        if (slots[i] < layout->first || row >= layout->rows) {
            continue;
        }
        int32_t value;
        memcpy(&value, bytes + (size_t)i * 4, sizeof value);
        found++;
        if (!ready[row] || host->which[row]) {
            note_error(job, (RowError){i, slots[i], value, false});
            continue;
        }
        host->which[row] = 1;
        action[row] = value;
    }
    return found;
}

static void note_refused_chosen(Host *host, Job *job, uint32_t group, const uint32_t *slots,
                                uint32_t count)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    const TyGroupLayout *layout = &slab->group[group];
    const uint8_t *illegal = ty_slab_column(slab, group, TY_COLUMN_ILLEGAL);
    const int32_t *action = ty_slab_column(slab, group, TY_COLUMN_ACTION);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = slots[i] - layout->first;
        if (slots[i] >= layout->first && row < layout->rows && host->which[row] && illegal[row]) {
            note_error(job, (RowError){i, slots[i], action[row], true});
            host->which[row] = 0;
        }
    }
}

/* Steps the chosen slots of every group that has any. Returns how many were taken. */
static uint32_t step_chosen(Host *host, Job *job, const uint32_t *slots, uint32_t count)
{
    uint32_t taken = 0;
    for (uint32_t group = 0; group < ty_pool_config(host->pool)->groups; group++) {
        if (choose_rows(host, job, group, slots, count) == 0) {
            continue;
        }
        GroupAnswer answer = {.group = group, .which = host->which};
        taken += group_answer(host, job, &answer);
        if (answer.refused > 0) {
            note_refused_chosen(host, job, group, slots, count);
            taken -= answer.refused;
        }
    }
    return taken;
}

static void step_whole(Host *host, Job *job, uint32_t group)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    const WireValue *actions = &job->request.values[FIELD_OF_ACTIONS];
    GroupAnswer answer = {.group = group};
    memcpy(ty_slab_column(slab, group, TY_COLUMN_ACTION), actions->bytes, actions->size);
    group_answer(host, job, &answer);
    if (answer.refused > 0) {
        note_refused(host, job, group);
    }
}

/* ---- Rows for those who wait ---- */

static bool is_late(const Host *host, const Job *job)
{
    uint64_t timeout = request_uint(&job->request, FIELD_OF_TIMEOUT);
    return timeout > 0 && host->now_ms >= job->now_ms + timeout;
}

static bool step_is_due(Host *host, const Job *job)
{
    uint32_t group = (uint32_t)request_uint(&job->request, FIELD_OF_GROUP);
    uint64_t wanted = request_uint(&job->request, FIELD_OF_MIN_ROWS);
    return ty_pool_ready(host->pool, job->member, group) >= wanted ||
           ty_pool_pending(host->pool, job->member, group) == 0 || is_late(host, job);
}

static void step_reply(Host *host, Job *job)
{
    uint32_t group = (uint32_t)request_uint(&job->request, FIELD_OF_GROUP);
    RowSet set = {.member = job->member, .group = (int32_t)group};
    set.count = ty_pool_slab(host->pool, job->member)->group[group].rows;
    if (request_has(&job->request, FIELD_OF_SLOTS)) {
        const uint32_t *slots = NULL;
        if (!job_slots(host, job, &slots, &set.count)) {
            return;
        }
        set.slots = slots;
    }
    job_reply_rows(host, job, set);
}

/* Rows that the member has not been told: questions, and endings that ask nothing. */
static uint32_t fresh_rows(Host *host, uint32_t index, uint32_t limit)
{
    const TySlab *slab = ty_pool_slab(host->pool, index);
    HostMember *member = &host->members[index];
    uint32_t slots = ty_pool_config(host->pool)->slots;
    SpeakingColumns columns = {.first = 1};
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots && count < limit; i++) {
        uint32_t slot = (member->cursor + i) % slots;
        if (slot < columns.first || slot >= columns.end) {
            columns = speaking_columns(slab, group_of(slab, slot));
        }
        uint32_t row = slot - columns.first;
        bool speaks = (columns.ready[row] | columns.terminated[row] | columns.truncated[row]) != 0;
        if (speaks && !member->told[slot]) {
            host->chosen[count++] = slot;
        }
    }
    return count;
}

static bool recv_is_due(Host *host, const Job *job)
{
    uint32_t pending = 0;
    uint32_t groups = ty_pool_config(host->pool)->groups;
    uint32_t wanted = (uint32_t)request_uint(&job->request, FIELD_OF_MIN_ROWS);
    if (fresh_rows(host, job->member, wanted) >= wanted || is_late(host, job)) {
        return true;
    }
    for (uint32_t group = 0; group < groups; group++) {
        pending += ty_pool_pending(host->pool, job->member, group);
    }
    return pending == 0;
}

static void recv_reply(Host *host, Job *job)
{
    HostMember *member = &host->members[job->member];
    RowSet set = {.member = job->member, .group = -1, .slots = host->chosen};
    set.count =
        fresh_rows(host, job->member, (uint32_t)request_uint(&job->request, FIELD_OF_MAX_ROWS));
    if (set.count > 0) {
        member->cursor = (host->chosen[set.count - 1] + 1) % ty_pool_config(host->pool)->slots;
    }
    job_reply_rows(host, job, set);
}

void host_serve_waiters(Host *host)
{
    const TyPoolConfig *config = ty_pool_config(host->pool);
    if (atomic_load(&host->waiting) == 0) {
        return;
    }
    for (uint32_t i = 0; i < config->members; i++) {
        HostMember *member = &host->members[i];
        for (uint32_t group = 0; group < config->groups; group++) {
            Job *job = member->step[group];
            if (job != NULL && step_is_due(host, job)) {
                member->step[group] = NULL;
                atomic_fetch_sub(&host->waiting, 1);
                step_reply(host, job);
            }
        }
        if (member->recv != NULL && recv_is_due(host, member->recv)) {
            Job *job = member->recv;
            member->recv = NULL;
            atomic_fetch_sub(&host->waiting, 1);
            recv_reply(host, job);
        }
    }
}

void host_refuse_waiters(Host *host, int32_t only, const char *why)
{
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        HostMember *member = &host->members[i];
        for (uint32_t group = 0; group <= TY_GROUPS_MAX; group++) {
            Job **place = group < TY_GROUPS_MAX ? &member->step[group] : &member->recv;
            if (*place != NULL && (only < 0 || (uint32_t)only == i)) {
                Job *job = *place;
                *place = NULL;
                atomic_fetch_sub(&host->waiting, 1);
                job_refuse(host, job, ERROR_closed, -1, "%s", why);
            }
        }
    }
}

void host_untell(Host *host, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < ty_pool_config(host->pool)->members; i++) {
        uint8_t *told = host->members[i].told;
        if (slots == NULL) {
            memset(told, 0, ty_pool_config(host->pool)->slots);
        }
        for (uint32_t k = 0; slots != NULL && k < count; k++) {
            told[slots[k]] = 0;
        }
    }
}

/* ---- The requests ---- */

static bool slots_in_group(Host *host, Job *job, uint32_t group, const uint32_t *slots,
                           uint32_t count)
{
    const TyGroupLayout *layout = &ty_pool_slab(host->pool, job->member)->group[group];
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] < layout->first || slots[i] >= layout->first + layout->rows) {
            job_refuse(host, job, ERROR_bad_argument, i,
                       "slots: row %u names slot %u; group %u has slots %u..%u", i, slots[i], group,
                       layout->first, layout->first + layout->rows - 1);
            return false;
        }
    }
    return true;
}

/* Puts the actions of a step where the pool reads them and steps; false if it was refused. */
static bool step_take(Host *host, Job *job, uint32_t group)
{
    const uint32_t *slots = NULL;
    uint32_t count = ty_pool_slab(host->pool, job->member)->group[group].rows;
    if (!request_has(&job->request, FIELD_OF_SLOTS)) {
        if (!actions_fit(host, job, count)) {
            return false;
        }
        step_whole(host, job, group);
        return true;
    }
    if (!job_slots(host, job, &slots, &count) || !actions_fit(host, job, count) ||
        !slots_in_group(host, job, group, slots, count)) {
        return false;
    }
    step_chosen(host, job, slots, count);
    return true;
}

void job_step(Host *host, Job *job)
{
    uint32_t group = (uint32_t)request_uint(&job->request, FIELD_OF_GROUP);
    uint32_t groups = ty_pool_config(host->pool)->groups;
    HostMember *member = &host->members[job->member];
    if (!member_may_step(host, job)) {
        return;
    }
    if (group >= groups) {
        job_refuse(host, job, ERROR_bad_argument, -1, "group=%u: the pool has groups 0..%u", group,
                   groups - 1);
        return;
    }
    if (member->step[group] != NULL) {
        job_refuse(host, job, ERROR_busy, -1, "a step of group %u is still waiting", group);
        return;
    }
    if (!step_take(host, job, group)) {
        return;
    }
    member->step[group] = job;
    atomic_fetch_add(&host->waiting, 1);
    host_settle(host, UINT64_C(1) << group, -1);
}

static void put_send(Writer *writer, Host *host, const Job *job, const void *context)
{
    reply_uint(writer, REPLY_ACCEPTED, *(const uint32_t *)context);
    if (job->error_count > 0) {
        put_row_errors(writer, host, job);
    }
}

void job_send(Host *host, Job *job)
{
    const uint32_t *slots = NULL;
    uint32_t count = 0;
    if (!member_may_step(host, job) || !job_slots(host, job, &slots, &count) ||
        !actions_fit(host, job, count)) {
        return;
    }
    uint32_t taken = step_chosen(host, job, slots, count);
    job_reply(host, job, 4096, put_send, &taken);
    host_settle(host, HOST_ALL_GROUPS, -1);
}

void job_recv(Host *host, Job *job)
{
    HostMember *member = &host->members[job->member];
    if (!member_may_look(host, job)) {
        return;
    }
    if (member->recv != NULL) {
        job_refuse(host, job, ERROR_busy, -1, "another recv is still waiting");
        return;
    }
    member->recv = job;
    atomic_fetch_add(&host->waiting, 1);
    host_serve_waiters(host);
}

/* Bytes that must be as many as the pool has slots. */
static bool per_slot(Host *host, Job *job, Field field, uint32_t width)
{
    uint32_t slots = ty_pool_config(host->pool)->slots;
    uint32_t size = job->request.values[field].size;
    if (!request_has(&job->request, field) || size == (uint64_t)slots * width) {
        return true;
    }
    job_refuse(host, job, ERROR_bad_request, -1, "%s: has %u bytes; wanted are %u for %u slots",
               protocol_fields[field].name, size, slots * width, slots);
    return false;
}

void job_reset(Host *host, Job *job)
{
    const Request *request = &job->request;
    const TyPoolConfig *config = ty_pool_config(host->pool);
    if (!per_slot(host, job, FIELD_OF_MASK, 1) || !per_slot(host, job, FIELD_OF_SEEDS, 8)) {
        return;
    }
    bool masked = request_has(request, FIELD_OF_MASK);
    bool seeded = request_has(request, FIELD_OF_SEEDS);
    if (masked) {
        memcpy(host->which, request->values[FIELD_OF_MASK].bytes, config->slots);
    }
    if (seeded) {
        memcpy(host->keys, request->values[FIELD_OF_SEEDS].bytes, (size_t)config->slots * 8);
    }
    ty_pool_reset(host->pool, masked ? host->which : NULL, seeded ? host->keys : NULL);
    host_untell(host, NULL, 0);
    host_settle(host, HOST_ALL_GROUPS, -1);
    if (ty_pool_slab(host->pool, 0)->seat_count == 0 || host->members[0].door != NULL) {
        job_reply(host, job, 256, NULL, NULL);
        return;
    }
    job_reply_rows(host, job, (RowSet){.member = 0, .group = -1, .count = config->slots});
}
