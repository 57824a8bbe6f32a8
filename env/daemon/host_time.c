/* Members that come, go and are late, and what follows when a pool has changed. */
#include "daemon/host_internal.h"

static void door_publish(ShmDoor *door, uint64_t groups, uint32_t group_count)
{
    for (uint32_t group = 0; group < group_count; group++) {
        if ((groups >> group & 1) != 0) {
            shm_door_publish_group(door, group);
        }
    }
}

void host_settle(Host *host, uint64_t groups, int32_t by)
{
    const TyPoolConfig *config = ty_pool_config(host->pool);
    bool cut = false;
    for (uint32_t i = 0; i < config->members; i++) {
        if (host->members[i].state == MEMBER_GONE) {
            ty_pool_truncate(host->pool, i);
            cut = true;
        }
    }
    for (uint32_t i = 0; host->door_count > 0 && i < config->members; i++) {
        if (host->members[i].door != NULL && (cut || (int32_t)i != by)) {
            door_publish(host->members[i].door, groups, config->groups);
        }
    }
    host_serve_waiters(host);
}

void host_door_close(Host *host, uint32_t index)
{
    HostMember *member = &host->members[index];
    if (member->door != NULL) {
        shm_door_close(member->door);
        member->door = NULL;
        host->door_count--;
    }
}

void host_member_gone(Host *host, uint32_t index)
{
    HostMember *member = &host->members[index];
    if (member->state != MEMBER_HERE) {
        return;
    }
    host_refuse_waiters(host, (int32_t)index, "the seats were given up");
    member->state = MEMBER_GONE;
    if (host->fallback != NULL &&
        ty_pool_hand_over(host->pool, index, host->fallback).code == TY_OK) {
        member->state = MEMBER_PLAYED;
    } else {
        ty_pool_set_present(host->pool, index, false);
    }
    host_settle(host, HOST_ALL_GROUPS, -1);
}

/* ---- Time ---- */

/* A question is known by its slot, episode and step: as long as these stay, it is the same. */
static uint64_t question_mark(const Host *host, uint32_t slot)
{
    const TyHead *head = ty_head(ty_pool_state(host->pool, slot));
    return (head->seed * 31 + head->steps) * 4 + (head->over ? 3 : 1);
}

/* True if some question to the member has been open for too long. */
static bool member_is_late(Host *host, uint32_t index)
{
    HostMember *member = &host->members[index];
    bool late = false;
    for (uint32_t slot = 0; slot < ty_pool_config(host->pool)->slots; slot++) {
        bool asked = (ty_pool_waiting(host->pool, slot) >> index & 1) != 0;
        uint64_t mark = asked ? question_mark(host, slot) : 0;
        if (mark == 0 || mark != member->asked_mark[slot]) {
            member->asked_mark[slot] = mark;
            member->asked_since[slot] = host->now_ms;
        }
        late =
            late || (mark != 0 && host->now_ms - member->asked_since[slot] > host->seat_timeout_ms);
    }
    return late;
}

uint8_t host_tick(Host *host)
{
    uint8_t lost = 0;
    const TyPoolConfig *config = ty_pool_config(host->pool);
    /* With a single member nobody waits for it. */
    bool timed = host->seat_timeout_ms > 0 && config->members > 1;
    for (uint32_t i = 0; timed && i < config->members; i++) {
        if (host->members[i].state == MEMBER_HERE && member_is_late(host, i)) {
            lost |= (uint8_t)(1u << i);
        }
    }
    for (uint32_t i = 0; i < config->members; i++) {
        if ((lost >> i & 1) != 0) {
            host_member_gone(host, i);
        }
    }
    host_serve_waiters(host);
    return lost;
}
