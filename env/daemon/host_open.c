/* Opening a pool, and the members that join and leave it. */
#include "core/status.h"
#include "daemon/host_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading the request ---- */

/* The index of the field's text among `names`; `standard` if it is not given. */
static TyStatus choice_read(const Request *request, Field field, const char *const *names,
                            uint32_t *choice)
{
    char text[WIRE_TEXT_MAX];
    char list[TY_MESSAGE_MAX / 2] = "";
    *choice = 0;
    if (!request_has(request, field)) {
        return status_ok();
    }
    request_text(request, field, text);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *choice = i;
            return status_ok();
        }
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return status_fail(TY_BAD_ARGUMENT, "%s=%.40s: allowed are %s", protocol_fields[field].name,
                       text, list);
}

static TyStatus agent_read(const TyRuleset *ruleset, const char *what, const char *name,
                           const TyAgent **agent)
{
    const TyGame *game = ty_ruleset_game(ruleset);
    char list[TY_MESSAGE_MAX / 2] = "";
    *agent = ty_agent_find(game, name);
    if (*agent != NULL) {
        return status_ok();
    }
    for (uint32_t i = 0; ty_agent_at(game, i) != NULL; i++) {
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, ", %s", ty_agent_at(game, i)->name);
    }
    return status_fail(TY_BAD_ARGUMENT, "%s: '%.40s' does not play %s; allowed are %s%s", what,
                       name, ty_game_name(game),
                       strcmp(what, "seats") == 0 ? "me, open" : "truncate", list);
}

/* One seat of the list: the director's, open (a member of its own), or an agent's. */
static TyStatus seat_read(const TyRuleset *ruleset, uint32_t seat, const char *who,
                          TyPoolConfig *config, uint8_t *open_seats)
{
    bool chance = seat >= ty_shape(ruleset)->players;
    if (strcmp(who, "me") == 0 || strcmp(who, "open") == 0) {
        bool open = who[0] == 'o';
        config->own_chance = config->own_chance || chance;
        config->owner[seat] = (uint8_t)(open ? config->members++ : 0);
        *open_seats |= (uint8_t)(open << seat);
        return status_ok();
    }
    if (chance && strcmp(who, "chance") == 0) {
        return status_ok();
    }
    return agent_read(ruleset, "seats", who, &config->agent[seat]);
}

static TyStatus seats_read(const TyRuleset *ruleset, const Request *request, TyPoolConfig *config,
                           uint8_t *open_seats)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t count = request->values[FIELD_OF_SEATS].count;
    config->members = 1;
    if (!request_has(request, FIELD_OF_SEATS)) {
        return status_ok();
    }
    if (count < shape->players || count > shape->seats) {
        return status_fail(TY_BAD_ARGUMENT, "seats: has %u entries; %s has %u seats", count,
                           shape->spec, shape->seats);
    }
    TyStatus status = status_ok();
    for (uint32_t seat = 0; status.code == TY_OK && seat < count; seat++) {
        char who[WIRE_TEXT_MAX];
        request_text_at(request, FIELD_OF_SEATS, seat, who);
        status = seat_read(ruleset, seat, who, config, open_seats);
    }
    return status;
}

static TyStatus config_read(const Host *host, const TyRuleset *ruleset, const Request *request,
                            TyPoolConfig *config, uint8_t *open_seats)
{
    static const char *const autoresets[] = {"next_step", "same_step", "disabled", NULL};
    static const char *const illegals[] = {"error", "noop", "random_legal", "lose", NULL};
    const Limits *limits = &host->shared->limits;
    uint32_t autoreset = 0;
    uint32_t illegal = 0;
    *config = (TyPoolConfig){
        .slots = (uint32_t)request_uint(request, FIELD_OF_SLOTS_COUNT),
        .groups = (uint32_t)request_uint(request, FIELD_OF_GROUPS),
        .threads = (uint32_t)request_uint(request, FIELD_OF_THREADS),
        .seed = request_uint(request, FIELD_OF_SEED),
        .max_steps = (uint32_t)request_uint(request, FIELD_OF_MAX_STEPS),
        .full = request_uint(request, FIELD_OF_FULL) != 0,
        .hash = request_uint(request, FIELD_OF_HASH) != 0,
    };
    if (config->slots > limits->slots) {
        return status_fail(TY_LIMIT, "slots=%u: the limit is %llu", config->slots,
                           (unsigned long long)limits->slots);
    }
    if (config->threads > limits->threads) {
        return status_fail(TY_LIMIT, "threads=%u: the limit is %llu", config->threads,
                           (unsigned long long)limits->threads);
    }
    TyStatus status = choice_read(request, FIELD_OF_AUTORESET, autoresets, &autoreset);
    if (status.code == TY_OK) {
        status = choice_read(request, FIELD_OF_ILLEGAL, illegals, &illegal);
    }
    config->autoreset = (TyAutoreset)autoreset;
    config->illegal = (TyIllegal)illegal;
    return status.code == TY_OK ? seats_read(ruleset, request, config, open_seats) : status;
}

static TyStatus fallback_read(const TyRuleset *ruleset, const Request *request,
                              const TyAgent **fallback)
{
    char name[WIRE_TEXT_MAX];
    request_text(request, FIELD_OF_ON_VANISH, name);
    *fallback = NULL;
    if (name[0] == '\0' || strcmp(name, "truncate") == 0) {
        return status_ok();
    }
    return agent_read(ruleset, "on_vanish", name, fallback);
}

static TyStatus columns_read(const Host *host, const Request *request, uint32_t member,
                             uint32_t *columns)
{
    const TyGroupLayout *layout = &ty_pool_slab(host->pool, member)->group[0];
    uint32_t there = member_columns(host, member);
    *columns = request_has(request, FIELD_OF_COLUMNS) ? 0 : there;
    for (uint32_t i = 0; i < request->values[FIELD_OF_COLUMNS].count; i++) {
        char name[WIRE_TEXT_MAX];
        uint32_t column = 0;
        request_text_at(request, FIELD_OF_COLUMNS, i, name);
        while (column < TY_COLUMN_ACTION && strcmp(layout->columns[column].name, name) != 0) {
            column++;
        }
        if ((there >> column & 1) == 0) {
            return status_fail(TY_BAD_ARGUMENT, "columns: this member has no column '%.40s'", name);
        }
        *columns |= 1u << column;
    }
    return status_ok();
}

/* ---- The pool ---- */

/* Takes `bytes` from the daemon's budget; false if it has not so many. */
static bool memory_reserve(HostShared *shared, uint64_t bytes)
{
    uint64_t before = atomic_fetch_add(&shared->memory_bytes, bytes);
    if (before + bytes <= shared->limits.memory_bytes) {
        return true;
    }
    atomic_fetch_sub(&shared->memory_bytes, bytes);
    return false;
}

/* Bytes per slot that the host itself needs besides the pool. */
static uint64_t host_slot_bytes(const TyPoolConfig *config, bool timed)
{
    return 4 + 4 + 1 + 8 + (uint64_t)config->members * (timed ? 17 : 1);
}

static bool host_allocate(Host *host, const TyPoolConfig *config)
{
    size_t slots = config->slots;
    host->chosen = malloc(slots * sizeof host->chosen[0]);
    host->ended = malloc(slots * sizeof host->ended[0]);
    host->which = malloc(slots);
    host->keys = malloc(slots * sizeof host->keys[0]);
    bool whole =
        host->chosen != NULL && host->ended != NULL && host->which != NULL && host->keys != NULL;
    for (uint32_t i = 0; whole && i < config->members; i++) {
        HostMember *member = &host->members[i];
        member->told = calloc(slots, 1);
        whole = member->told != NULL;
        if (whole && host->seat_timeout_ms > 0) {
            member->asked_mark = calloc(slots, sizeof member->asked_mark[0]);
            member->asked_since = calloc(slots, sizeof member->asked_since[0]);
            whole = member->asked_mark != NULL && member->asked_since != NULL;
        }
    }
    return whole;
}

static TyStatus pool_make(Host *host, const TyPoolConfig *config)
{
    uint64_t own = host_slot_bytes(config, host->seat_timeout_ms > 0) * config->slots;
    uint64_t bytes = ty_pool_bytes(host->ruleset, config) + own;
    if (!memory_reserve(host->shared, bytes)) {
        return status_fail(TY_LIMIT, "%u slots take %llu bytes; memory_bytes=%llu would be passed",
                           config->slots, (unsigned long long)bytes,
                           (unsigned long long)host->shared->limits.memory_bytes);
    }
    host->bytes = bytes;
    if (!host_allocate(host, config)) {
        return status_fail(TY_NO_MEMORY, "no memory for %u slots", config->slots);
    }
    return ty_pool_open(host->ruleset, config, &host->pool);
}

static TyStatus door_open(Host *host, Job *job)
{
    HostMember *member = &host->members[job->member];
    if (request_uint(&job->request, FIELD_OF_SHM) == 0) {
        return status_ok();
    }
    if (ty_pool_slab(host->pool, job->member)->seat_count == 0) {
        return status_fail(TY_BAD_ARGUMENT, "shm: this member has no seat");
    }
    TyStatus status = shm_door_open(host->pool, job->member, &member->door);
    if (status.code == TY_OK) {
        job->shm = shm_door_descriptors(member->door);
        host->door_count++;
    }
    return status;
}

/* ---- Replies ---- */

static void put_groups(Writer *writer, const TySlab *slab)
{
    put_list(writer, slab->groups);
    for (uint32_t i = 0; i < slab->groups; i++) {
        put_map(writer, 2);
        put_key_uint(writer, "first", slab->group[i].first);
        put_key_uint(writer, "rows", slab->group[i].rows);
    }
}

/* What a member has to know of its pool. */
static void put_membership(Writer *writer, Host *host, const Job *job, const void *context)
{
    const TyShape *shape = ty_shape(host->ruleset);
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    bool opened = job->request.op == OP_OPEN;
    bool door = host->members[job->member].door != NULL;
    (void)context;
    reply_uint(writer, REPLY_POOL, host->id);
    reply_uint(writer, REPLY_MEMBER, job->member);
    reply_bytes(writer, REPLY_OWN_SEATS, slab->seats, slab->seat_count);
    if (opened) {
        reply_text(writer, REPLY_INVITE, job->open_seats != 0 ? job->invite : "");
        reply_uint(writer, REPLY_SLOT_BYTES, ty_pool_slot_bytes(host->pool));
    }
    reply_bytes(writer, REPLY_SHM_TICKET, job->shm_token, door ? sizeof job->shm_token : 0);
    reply_text(writer, REPLY_RULESET, shape->spec);
    reply_uint(writer, REPLY_RULES_VERSION, ty_game_rules_version(ty_ruleset_game(host->ruleset)));
    reply_uint(writer, REPLY_SCHEMA_HASH, shape->schema_hash);
    reply_uint(writer, REPLY_PLAYERS, shape->players);
    reply_uint(writer, REPLY_SEATS, shape->seats);
    reply_uint(writer, REPLY_ROW_SIZE, shape->row_size);
    reply_uint(writer, REPLY_ACTION_COUNT, shape->action_count);
    reply_key(writer, REPLY_GROUPS);
    put_groups(writer, slab);
    reply_key(writer, REPLY_COLUMNS);
    put_columns(writer, host, job->member);
}

/* ---- The requests ---- */

/* Everything up to the pool itself. */
static TyStatus open_prepare(Host *host, Job *job)
{
    TyPoolConfig config;
    TyStatus status = request_ruleset_open(host, &job->request, &host->ruleset);
    if (status.code == TY_OK) {
        status = config_read(host, host->ruleset, &job->request, &config, &job->open_seats);
    }
    if (status.code == TY_OK) {
        status = fallback_read(host->ruleset, &job->request, &host->fallback);
    }
    if (status.code == TY_OK) {
        host->seat_timeout_ms = request_uint(&job->request, FIELD_OF_SEAT_TIMEOUT);
        atomic_store(&host->ticks, host->seat_timeout_ms > 0 && config.members > 1);
        status = pool_make(host, &config);
    }
    if (status.code == TY_OK && host->shared->recorder != NULL) {
        status = recorder_attach(host->shared->recorder, host->pool, &host->feed);
    }
    return status;
}

/* The log says who plays the member's seats. */
static void seats_name(Host *host, const Job *job)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    for (uint32_t k = 0; host->feed != NULL && job->name[0] != '\0' && k < slab->seat_count; k++) {
        recorder_name_seat(host->feed, slab->seats[k], job->name);
    }
}

/* The director sits; the others are yet to come. */
static TyStatus open_members(Host *host, Job *job)
{
    const TyPoolConfig *config = ty_pool_config(host->pool);
    job->member_count = config->members;
    for (uint32_t i = 0; i < config->members; i++) {
        const TySlab *slab = ty_pool_slab(host->pool, i);
        for (uint32_t k = 0; k < slab->seat_count; k++) {
            job->member_seats[i] |= (uint8_t)(1u << slab->seats[k]);
        }
        host->members[i].columns = member_columns(host, i);
        if (i > 0) {
            ty_pool_set_present(host->pool, i, false);
        }
    }
    host->members[0].state = MEMBER_HERE;
    seats_name(host, job);
    TyStatus status = columns_read(host, &job->request, 0, &host->members[0].columns);
    return status.code == TY_OK ? door_open(host, job) : status;
}

void job_open(Host *host, Job *job)
{
    TyStatus status = open_prepare(host, job);
    if (status.code == TY_OK) {
        status = open_members(host, job);
    }
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    const TyPoolConfig *config = ty_pool_config(host->pool);
    pthread_mutex_lock(&host->mutex);
    host->stats = (HostStats){.bytes = host->bytes,
                              .slots = config->slots,
                              .groups = config->groups,
                              .members = config->members};
    snprintf(host->stats.ruleset, sizeof host->stats.ruleset, "%s", ty_shape(host->ruleset)->spec);
    pthread_mutex_unlock(&host->mutex);
    job_reply(host, job, 4096, put_membership, NULL);
}

void job_join(Host *host, Job *job)
{
    HostMember *member = &host->members[job->member];
    TyStatus status = {.code = TY_OK};
    if (job->moved != 0) {
        status = ty_pool_assign(host->pool, job->moved_to, job->moved);
    }
    if (status.code == TY_OK) {
        status = ty_pool_assign(host->pool, job->member, job->seats);
    }
    if (status.code == TY_OK) {
        status = columns_read(host, &job->request, job->member, &member->columns);
    }
    if (status.code == TY_OK) {
        status = door_open(host, job);
    }
    if (status.code != TY_OK) {
        job_refuse_status(host, job, &status);
        return;
    }
    memset(member->told, 0, ty_pool_config(host->pool)->slots);
    member->state = MEMBER_HERE;
    seats_name(host, job);
    ty_pool_set_present(host->pool, job->member, true);
    uint32_t index = job->member;
    if (job_reply(host, job, 4096, put_membership, NULL)) {
        host_settle(host, HOST_ALL_GROUPS, -1);
    } else {
        host_member_gone(host, index);
    }
}

void job_leave(Host *host, Job *job)
{
    host_member_gone(host, job->member);
    host_door_close(host, job->member);
    job_reply(host, job, 256, NULL, NULL);
}
