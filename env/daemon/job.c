/* Jobs: what they hold, and what requests to a pool have in common. */
#include "daemon/worker_internal.h"

#include <assert.h>
#include <string.h>

/* ---- What a job holds ---- */

void job_init(Job *job, BufferStore *buffers, Quota *quota, uint64_t now_ms)
{
    memset(job, 0, offsetof(Job, errors));
    job->buffers = buffers;
    job->quota = quota;
    quota_hold(quota);
    job->session.place = UINT32_MAX;
    job->now_ms = now_ms;
    job->admission.shm = (ShmDescriptors){-1, -1, -1, -1};
    job->request.op = OP_PING;
    job->request.id = 0;
}

void job_charge(Job *job, Quota *quota)
{
    assert(job->held_count == 0 && job->reply == NULL && job->frame == NULL);
    quota_hold(quota);
    quota_release(job->quota);
    job->quota = quota;
}

/* Short messages are taken even beyond the quota, as their replies are: they may free something. */
bool job_take_frame(Job *job, Frame *frame)
{
    QuotaRefusal refusal;
    job->frame = frame;
    if (frame->size <= BUFFER_SMALL && quota_take_small(job->quota, QUOTA_BYTES, frame->size)) {
        job->frame_bytes = frame->size;
        return true;
    }
    if (!quota_take(job->quota, QUOTA_BYTES, frame->size, &refusal)) {
        TyStatus status = quota_refusal_status(&refusal);
        return job_refuse_status(job, &status);
    }
    job->frame_bytes = frame->size;
    return true;
}

void job_fini(Job *job)
{
    while (job->held_count > 0) {
        buffer_release(job->held[--job->held_count]);
    }
    if (job->frame != NULL) {
        job->frame->release(job->frame);
        job->frame = NULL;
    }
    if (job->quota != NULL) {
        quota_give(job->quota, QUOTA_BYTES, job->frame_bytes);
        quota_release(job->quota);
        job->quota = NULL;
        job->frame_bytes = 0;
    }
}

void *job_hold(Job *job, size_t size)
{
    assert(job->held_count < JOB_HELD_MAX);
    Buffer *buffer = buffer_take(job->buffers, job->quota, size);
    if (buffer == NULL) {
        job_refuse(job, ERROR_no_memory, -1, "no memory for the request");
        return NULL;
    }
    job->held[job->held_count++] = buffer;
    return buffer->data;
}

/* ---- What requests have in common ---- */

bool job_read_slot(Job *job, uint32_t *slot)
{
    uint32_t slots = ty_pool_config(job->worker->pool)->slots;
    *slot = (uint32_t)request_uint(&job->request, FIELD_OF_SLOT);
    return *slot < slots || job_refuse(job, ERROR_bad_argument, -1, "slot=%u: the slots are 0..%u",
                                       *slot, slots - 1);
}

bool job_may_look(Job *job, uint32_t slot)
{
    return !ty_pool_slot_held(job->worker->pool, slot) ||
           job_refuse(job, ERROR_io, -1, "slot=%u: waits until its log can be written", slot);
}

bool job_read_slots(Job *job)
{
    const WireValue *value = &job->request.values[FIELD_OF_SLOTS];
    uint32_t limit = ty_pool_config(job->worker->pool)->slots;
    uint32_t count = value->size / 4;
    if (value->size % 4 != 0 || count > limit) {
        return job_refuse(job, ERROR_bad_request, -1,
                          "slots: has %u bytes; allowed are up to %u numbers of 4 bytes",
                          value->size, limit);
    }
    uint32_t *slots = job_hold(job, value->size);
    if (slots == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(slots, value->bytes, value->size);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] >= limit) {
            return job_refuse(job, ERROR_bad_argument, i, "slots: row %u names slot %u of %u", i,
                              slots[i], limit);
        }
    }
    job->slots = slots;
    job->slot_count = count;
    return true;
}

bool job_read_keys(Job *job, uint32_t count, const uint64_t **keys)
{
    const WireValue *value = &job->request.values[FIELD_OF_KEYS];
    *keys = NULL;
    if (!request_has(&job->request, FIELD_OF_KEYS)) {
        return true;
    }
    if (value->size != (uint64_t)count * 8) {
        return job_refuse(job, ERROR_bad_request, -1,
                          "keys: has %u bytes; wanted are %u numbers of 8 bytes", value->size,
                          count);
    }
    uint64_t *own = job_hold(job, value->size);
    if (own == NULL) {
        return false;
    }
    memcpy(own, value->bytes, value->size);
    *keys = own;
    return true;
}

bool job_read_plan(Job *job, const uint64_t **keys, int32_t *seat)
{
    if (!job_read_keys(job, job->slot_count, keys) || !job_read_player(job, seat)) {
        return false;
    }
    return *seat < 0 || *keys != NULL ||
           job_refuse(job, ERROR_bad_argument, -1,
                      "seat=%d: without keys its hidden cards would be copied as they are; give a "
                      "key for each slot",
                      *seat);
}

bool job_read_player(Job *job, int32_t *seat)
{
    uint32_t players = ty_shape(job->worker->ruleset)->players;
    *seat = (int32_t)request_int(&job->request, FIELD_OF_SEAT);
    return *seat < (int32_t)players ||
           job_refuse(job, ERROR_bad_argument, -1, "seat=%d: the players are 0..%u", *seat,
                      players - 1);
}

bool job_member_reads(Job *job)
{
    const Member *member = &job->worker->members[job->member];
    if (member->state != MEMBER_HERE) {
        return job_refuse(job, ERROR_closed, -1,
                          "the seats were lost: they did not answer in time");
    }
    if (member->channel != NULL) {
        return job_refuse(job, ERROR_bad_argument, -1,
                          "this member's rows go through shared memory");
    }
    ready_listen(job->worker, job->member);
    return true;
}

bool job_reset_slots(Job *job, const TyReset *reset)
{
    TyPool *pool = job->worker->pool;
    for (uint32_t slot = 0; slot < ty_pool_config(pool)->slots;) {
        slot = pool_reset_some(pool, slot, reset);
        if (slot < ty_pool_config(pool)->slots && job_stopped(job)) {
            return false;
        }
    }
    return job_think(job);
}

bool job_is_late(const Job *job)
{
    uint64_t timeout = request_uint(&job->request, FIELD_OF_TIMEOUT);
    return timeout > 0 && job->worker->now_ms >= job->now_ms + timeout;
}
