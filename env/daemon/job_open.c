/* open: reads what the pool is to be, and makes it. */
#include "core/bytes.h"
#include "core/status.h"
#include "daemon/boards.h"
#include "daemon/worker_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading the request ---- */

/* The index of the field's text among `names`; 0 if it is not given. */
static TyStatus choice_read(const Request *request, Field field, const char *const *names,
                            uint32_t *choice)
{
    char text[WIRE_TEXT_MAX];
    char list[TY_MESSAGE_MAX / 2] = "";
    *choice = 0;
    if (!request_has(request, field)) {
        return ty_status_ok();
    }
    request_text(request, field, text);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *choice = i;
            return ty_status_ok();
        }
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return ty_status_fail(TY_BAD_ARGUMENT, "%s=%.40s: allowed are %s", protocol_fields[field].name,
                          text, list);
}

/* Opens an agent for the pool; it is closed with the worker. */
static TyStatus agent_read(Worker *worker, const char *what, const char *name,
                           const TyAgent **agent)
{
    TyStatus status = boards_agent_open(worker->shared, worker->ruleset, name, agent);
    if (status.code == TY_OK) {
        worker->agents[worker->agent_count++] = *agent;
        return status;
    }
    return ty_status_fail(TY_BAD_ARGUMENT, "%s: %.240s%s", what, status.message,
                          strchr(name, ':') != NULL    ? ""
                          : strcmp(what, "seats") == 0 ? "; also me, open"
                                                       : "; also truncate");
}

/* One seat of the list: the director's, open (a member of its own), or an agent's. */
static TyStatus seat_read(Worker *worker, uint32_t seat, const char *who, TyPoolConfig *config,
                          uint8_t *open_seats)
{
    bool chance = seat >= ty_shape(worker->ruleset)->players;
    if (strcmp(who, "me") == 0 || strcmp(who, "open") == 0) {
        bool open = who[0] == 'o';
        config->own_chance = config->own_chance || chance;
        config->owner[seat] = (uint8_t)(open ? config->members++ : 0);
        *open_seats |= (uint8_t)(open << seat);
        return ty_status_ok();
    }
    if (chance && strcmp(who, "chance") == 0) {
        return ty_status_ok();
    }
    return agent_read(worker, "seats", who, &config->agent[seat]);
}

/* The daemon steps for members: where there are only agents it would have nobody to answer. */
static TyStatus seats_check(const TyShape *shape, const TyPoolConfig *config)
{
    uint32_t agents = 0;
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        agents += config->agent[seat] != NULL;
    }
    if (agents == shape->players && !config->own_chance) {
        return ty_status_fail(
            TY_BAD_ARGUMENT,
            "every seat is played by a built-in agent; at least one must be a member's");
    }
    return ty_status_ok();
}

static TyStatus seats_read(Worker *worker, const Request *request, TyPoolConfig *config,
                           uint8_t *open_seats)
{
    const TyShape *shape = ty_shape(worker->ruleset);
    uint32_t count = request->values[FIELD_OF_SEATS].count;
    config->members = 1;
    if (!request_has(request, FIELD_OF_SEATS)) {
        return ty_status_ok();
    }
    if (count < shape->players || count > shape->seats) {
        return ty_status_fail(TY_BAD_ARGUMENT, "seats: has %u entries; %s has %u seats", count,
                              shape->spec, shape->seats);
    }
    TyStatus status = ty_status_ok();
    for (uint32_t seat = 0; status.code == TY_OK && seat < count; seat++) {
        char who[WIRE_TEXT_MAX];
        request_text_at(request, FIELD_OF_SEATS, seat, who);
        status = seat_read(worker, seat, who, config, open_seats);
    }
    return status.code == TY_OK ? seats_check(shape, config) : status;
}

static TyStatus config_read(Worker *worker, const Request *request, TyPoolConfig *config,
                            uint8_t *open_seats)
{
    static const char *const autoresets[] = {"next_step", "same_step", "disabled", NULL};
    static const char *const illegals[] = {"error", "noop", "random_legal", "lose", NULL};
    const Limits *limits = worker->shared->limits;
    uint32_t autoreset = 0;
    uint32_t illegal = 0;
    *config = (TyPoolConfig){
        .slots = (uint32_t)request_uint(request, FIELD_OF_SLOTS_COUNT),
        .groups = (uint32_t)request_uint(request, FIELD_OF_GROUPS),
        .threads = (uint32_t)request_uint(request, FIELD_OF_THREADS),
        .seed = request_uint(request, FIELD_OF_SEED),
        .keyed = request_uint(request, FIELD_OF_PLAIN_SEEDS) == 0,
        .reveal_seeds = request_uint(request, FIELD_OF_REVEAL_SEEDS) != 0,
        .max_steps = (uint32_t)request_uint(request, FIELD_OF_MAX_STEPS),
        .full = request_uint(request, FIELD_OF_FULL) != 0,
        .hash = request_uint(request, FIELD_OF_HASH) != 0,
        .events = request_uint(request, FIELD_OF_EVENTS) != 0,
    };
    if (config->slots > limits->slots) {
        return ty_status_fail(TY_LIMIT, "slots=%u: the limit is %llu", config->slots,
                              (unsigned long long)limits->slots);
    }
    if (config->threads > limits->threads) {
        return ty_status_fail(TY_LIMIT, "threads=%u: the limit is %llu", config->threads,
                              (unsigned long long)limits->threads);
    }
    TyStatus status = choice_read(request, FIELD_OF_AUTORESET, autoresets, &autoreset);
    if (status.code == TY_OK) {
        status = choice_read(request, FIELD_OF_ILLEGAL, illegals, &illegal);
    }
    config->autoreset = (TyAutoreset)autoreset;
    config->illegal = (TyIllegal)illegal;
    return status.code == TY_OK ? seats_read(worker, request, config, open_seats) : status;
}

static TyStatus fallback_read(Worker *worker, const Request *request)
{
    char name[WIRE_TEXT_MAX];
    request_text(request, FIELD_OF_ON_VANISH, name);
    if (name[0] == '\0' || strcmp(name, "truncate") == 0) {
        return ty_status_ok();
    }
    return agent_read(worker, "on_vanish", name, &worker->fallback);
}

/* Whose eyes spectators have, and how late they look. */
static TyStatus watch_read(Worker *worker, const Request *request)
{
    char eyes[WIRE_TEXT_MAX];
    uint32_t players = ty_shape(worker->ruleset)->players;
    request_text(request, FIELD_OF_WATCH, eyes);
    worker->delay = (uint32_t)request_uint(request, FIELD_OF_WATCH_DELAY);
    worker->eyes = TY_PUBLIC;
    if (eyes[0] >= '0' && eyes[0] < '0' + (char)players && eyes[1] == '\0') {
        worker->eyes = (uint32_t)(eyes[0] - '0');
    } else if (eyes[0] != '\0' && strcmp(eyes, "public") != 0) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "watch=%.16s: allowed are public and the seats 0..%u", eyes,
                              players - 1);
    }
    return ty_status_ok();
}

/* Positions that are kept of every slot. */
static uint32_t history_read(const Worker *worker, const Request *request)
{
    uint32_t wanted = (uint32_t)request_uint(request, FIELD_OF_HISTORY);
    uint32_t late = worker->delay > 0 ? worker->delay + 1 : 0;
    return wanted > late ? wanted : late;
}

/* The key that the request names by itself or by a number, or else the one that was drawn. */
static TyStatus key_read(const Job *job, TyPoolConfig *config)
{
    const Request *request = &job->request;
    bool numbered = request_has(request, FIELD_OF_SEED);
    memcpy(config->key, job->admission.key, TY_KEY_SIZE);
    if (request_has(request, FIELD_OF_KEY)) {
        memcpy(config->key, request->values[FIELD_OF_KEY].bytes, TY_KEY_SIZE);
        return !numbered && config->keyed
                   ? ty_status_ok()
                   : ty_status_fail(TY_BAD_ARGUMENT,
                                    "key: all seeds come from it; leave out seed and plain_seeds");
    }
    if (numbered) {
        memset(config->key, 0, TY_KEY_SIZE);
        store_le64(config->key, config->seed);
    }
    return ty_status_ok();
}

/* ---- The pool ---- */

/* Takes what the pool needs from the quota of its director; what was taken is given back when the
 * worker ends. */
static TyStatus pool_take(Worker *worker, QuotaKind kind, uint64_t amount)
{
    QuotaRefusal refusal;
    if (!quota_take(worker->quota, kind, amount, &refusal)) {
        return quota_refusal_status(&refusal);
    }
    worker->taken[kind] += amount;
    return ty_status_ok();
}

static TyStatus pool_take_all(Worker *worker, const TyPoolConfig *config, uint64_t bytes)
{
    TyStatus status = pool_take(worker, QUOTA_POOLS, 1);
    if (status.code == TY_OK) {
        status = pool_take(worker, QUOTA_SLOTS, config->slots);
    }
    if (status.code == TY_OK) {
        status = pool_take(worker, QUOTA_THREADS, config->threads);
    }
    return status.code == TY_OK ? pool_take(worker, QUOTA_BYTES, bytes) : status;
}

/* Bytes that members need besides the pool's: what they were given, and what they were asked. */
static uint64_t members_bytes(const TyPoolConfig *config, bool timed)
{
    return (uint64_t)config->slots * config->members * (READY_SLOT_BYTES + (timed ? 16u : 0u));
}

/* Bytes that the fallback would need in the seats that members have: they are taken at once, since
 * nobody can be told later that there is no room for it. */
static uint64_t fallback_bytes(const Worker *worker, const TyPoolConfig *config)
{
    uint64_t seats = 0;
    for (uint32_t seat = 0; seat < ty_shape(worker->ruleset)->seats; seat++) {
        seats += config->agent[seat] == NULL;
    }
    return worker->fallback != NULL ? seats * pool_agent_bytes(worker->fallback, config->slots) : 0;
}

/* What the log keeps of running episodes counts as the director's, and as the pool's. */
static bool record_take(void *user, uint64_t bytes)
{
    Worker *worker = user;
    bool taken = quota_take(worker->quota, QUOTA_BYTES, bytes, NULL);
    atomic_fetch_add(&worker->record_bytes, taken ? bytes : 0);
    return taken;
}

static void record_give(void *user, uint64_t bytes)
{
    Worker *worker = user;
    quota_give(worker->quota, QUOTA_BYTES, bytes);
    atomic_fetch_sub(&worker->record_bytes, bytes);
}

static TyStatus record_open(Worker *worker)
{
    const RecorderMemory memory = {.user = worker, .take = record_take, .give = record_give};
    TyStatus status = recorder_attach(worker->shared->recorder, worker->pool, &worker->feed);
    if (status.code == TY_OK && !recorder_feed_charge(worker->feed, &memory)) {
        return ty_status_fail(TY_LIMIT, "no memory is left to record %u slots: see memory_bytes",
                              ty_pool_config(worker->pool)->slots);
    }
    return status;
}

static bool members_allocate(Worker *worker, const TyPoolConfig *config)
{
    size_t slots = config->slots;
    bool whole = true;
    for (uint32_t i = 0; whole && i < config->members; i++) {
        Member *member = &worker->members[i];
        whole = ready_open(&member->rows, config->slots);
        if (whole && worker->seat_timeout_ms > 0) {
            member->asked_mark = calloc(slots, sizeof member->asked_mark[0]);
            member->asked_since = calloc(slots, sizeof member->asked_since[0]);
            whole = member->asked_mark != NULL && member->asked_since != NULL;
        }
    }
    return whole;
}

static TyStatus pool_make(Worker *worker, const TyPoolConfig *config, uint32_t history)
{
    uint64_t bytes = ty_pool_bytes(worker->ruleset, config) +
                     members_bytes(config, worker->seat_timeout_ms > 0) +
                     fallback_bytes(worker, config) + pool_shown_bytes(worker->ruleset, config) +
                     config->slots * pool_history_bytes(worker->ruleset, history);
    TyStatus status = pool_take_all(worker, config, bytes);
    if (status.code != TY_OK) {
        return status;
    }
    if (!members_allocate(worker, config)) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for %u slots", config->slots);
    }
    status = pool_open_idle(worker->ruleset, config, &worker->pool);
    if (status.code == TY_OK && !pool_set_history(worker->pool, history)) {
        status = ty_status_fail(TY_NO_MEMORY, "no memory for history=%u", history);
    }
    if (status.code == TY_OK) {
        status = pool_keep_shown(worker->pool);
    }
    if (status.code == TY_OK) {
        pool_set_stop(worker->pool, &worker->stop, &worker->pause);
    }
    return status;
}

/* ---- The request ---- */

/* Everything up to the pool itself. */
static TyStatus open_prepare(Worker *worker, Job *job)
{
    TyPoolConfig config;
    worker->quota = worker->snapshots.quota = job->quota;
    quota_hold(worker->quota);
    TyStatus status = boards_ruleset_open(worker->shared, &job->request, &worker->ruleset);
    if (status.code == TY_OK) {
        status = config_read(worker, &job->request, &config, &job->admission.open_seats);
    }
    if (status.code == TY_OK) {
        status = key_read(job, &config);
    }
    if (status.code == TY_OK) {
        status = fallback_read(worker, &job->request);
    }
    if (status.code == TY_OK) {
        status = watch_read(worker, &job->request);
    }
    if (status.code == TY_OK) {
        worker->seat_timeout_ms = request_uint(&job->request, FIELD_OF_SEAT_TIMEOUT);
        /* With a single member nobody waits for it. */
        atomic_store(&worker->timed, worker->seat_timeout_ms > 0 && config.members > 1);
        status = pool_make(worker, &config, history_read(worker, &job->request));
    }
    if (status.code == TY_OK && worker->shared->recorder != NULL) {
        status = record_open(worker);
    }
    if (status.code == TY_OK && request_uint(&job->request, FIELD_OF_KEEP_NOTES) != 0) {
        recorder_keep_notes(worker->feed);
    }
    return status;
}

static bool agents_are_slow(const Worker *worker)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    bool slow = worker->fallback != NULL && worker->fallback->plans;
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        slow = slow || (config->agent[seat] != NULL && config->agent[seat]->plans);
    }
    return slow;
}

/* The director sits; the others are yet to come. */
static TyStatus open_members(Worker *worker, Job *job)
{
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    Member *members = worker->members;
    job->admission.member_count = config->members;
    for (uint32_t i = 0; i < config->members; i++) {
        const TySlab *slab = ty_pool_slab(worker->pool, i);
        for (uint32_t k = 0; k < slab->seat_count; k++) {
            members[i].seats |= (uint8_t)(1u << slab->seats[k]);
        }
        members[i].columns = member_columns(worker, i);
        if (i > 0) {
            ty_pool_set_present(worker->pool, i, false);
        }
    }
    member_sit(worker, job);
    TyStatus status = member_columns_read(worker, &job->request, 0, &members[0].columns);
    return status.code == TY_OK ? member_channel_open(worker, job) : status;
}

JobState job_open(Worker *worker, Job *job)
{
    if (request_uint(&job->request, FIELD_OF_KEEP_NOTES) != 0 && worker->shared->recorder == NULL) {
        job_refuse(job, ERROR_unavailable, -1,
                   "notes: they go into the log, and the daemon was started without --log");
        return JOB_DONE;
    }
    TyStatus status = open_prepare(worker, job);
    if (status.code == TY_OK) {
        worker->slow = agents_are_slow(worker);
        if (!job_reset_slots(job, &(TyReset){0})) {
            return JOB_DONE;
        }
        status = open_members(worker, job);
    }
    if (status.code != TY_OK) {
        job_refuse_status(job, &status);
        return JOB_DONE;
    }
    const TyPoolConfig *config = ty_pool_config(worker->pool);
    pthread_mutex_lock(&worker->mutex);
    worker->stats = (WorkerStats){
        .bytes = worker->taken[QUOTA_BYTES], .slots = config->slots, .groups = config->groups};
    snprintf(worker->stats.ruleset, sizeof worker->stats.ruleset, "%s",
             ty_shape(worker->ruleset)->spec);
    worker_measure(worker);
    pthread_mutex_unlock(&worker->mutex);
    job_reply(job, 4096, put_membership, NULL);
    return JOB_DONE;
}
