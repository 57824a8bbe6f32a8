/* Questions about one slot: rows, legal actions, text, events, state. */
#include "daemon/worker_internal.h"

#include <string.h>

/* What is asked about: of the director the position as it is, of a player the one that it was shown
 * last. What others decide meanwhile, and whether they have a choice, is none of its business. */
typedef struct Query {
    const void *state;
    uint32_t slot;
    bool over;     /* the episode; its state does not say so if it was truncated */
    bool waits;    /* the player has answered, and others are to act */
    int8_t acting; /* the seat to act; -1: it is over, or waits */
    uint32_t seat;
    uint64_t position; /* of the state, where positions are kept */
    char *text;
} Query;

static bool member_owns(const Job *job, int64_t seat)
{
    const TySlab *slab = ty_pool_slab(job->worker->pool, job->member);
    bool own = false;
    for (uint32_t k = 0; k < slab->seat_count; k++) {
        own = own || slab->seats[k] == seat;
    }
    return own;
}

/* The director may look through any seat, a player through its own. */
static bool seat_check(Job *job, int64_t wanted)
{
    uint32_t seats = ty_shape(job->worker->ruleset)->seats;
    if (wanted >= seats) {
        return job_refuse(job, ERROR_bad_argument, -1, "seat=%d: the seats are 0..%u", (int)wanted,
                          seats - 1);
    }
    return wanted < 0 || job->member == 0 || member_owns(job, wanted) ||
           job_refuse(job, ERROR_denied, -1, "seat=%d is not this member's", (int)wanted);
}

/* A seat that is not given is the one to act, or for a player its first. */
static uint32_t seat_choose(const Job *job, int64_t wanted, int8_t acting)
{
    if (wanted >= 0) {
        return (uint32_t)wanted;
    }
    if (member_owns(job, acting) || (job->member == 0 && acting >= 0)) {
        return (uint32_t)acting;
    }
    return job->member == 0 ? 0 : ty_pool_slab(job->worker->pool, job->member)->seats[0];
}

/* The slot as it is. */
static bool query_now(Job *job, Query *query)
{
    const TyPool *pool = job->worker->pool;
    query->state = ty_pool_state(pool, query->slot);
    query->over = ty_pool_over(pool, query->slot);
    query->acting = query->over ? (int8_t)-1 : ty_head(query->state)->seat;
    return job_may_look(job, query->slot);
}

static bool query_as_player(Job *job, Query *query)
{
    const Worker *worker = job->worker;
    if (worker->members[job->member].state != MEMBER_HERE) {
        return job_refuse(job, ERROR_closed, -1,
                          "the seats were lost: they did not answer in time");
    }
    query->state = pool_shown(worker->pool, query->slot, job->member, &query->over);
    if (query->state == NULL) {
        return job_refuse(job, ERROR_unavailable, -1,
                          "slot=%u: this member was not asked there yet", query->slot);
    }
    bool asked = (ty_pool_waiting(worker->pool, query->slot) >> job->member & 1) != 0;
    query->waits = !query->over && !asked;
    return true;
}

/* The slot as it was. */
static void query_look_back(const Job *job, Query *query, uint64_t position)
{
    uint64_t newest = UINT64_MAX;
    query->position = position;
    pool_position(job->worker->pool, query->slot, &newest);
    const void *state = pool_position(job->worker->pool, query->slot, &query->position);
    if (query->position < newest) {
        query->state = state;
        query->over = ty_head(state)->over;
        query->acting = query->over ? (int8_t)-1 : ty_head(state)->seat;
    }
}

static bool query_begin(Job *job, Query *query)
{
    int64_t wanted = request_int(&job->request, FIELD_OF_SEAT);
    if (!job_read_slot(job, &query->slot) || !seat_check(job, wanted) ||
        !(job->member == 0 ? query_now(job, query) : query_as_player(job, query))) {
        return false;
    }
    query->acting = query->over || query->waits ? (int8_t)-1 : ty_head(query->state)->seat;
    query->seat = seat_choose(job, wanted, query->acting);
    return true;
}

static void put_query(Writer *writer, const Job *job, const Query *query)
{
    reply_key(writer, REPLY_SEAT);
    put_int(writer, query->acting);
    reply_text(writer, REPLY_PHASE,
               query->over    ? "over"
               : query->waits ? "waiting"
                              : ty_phase_name(job->worker->ruleset, query->state));
}

/* What the seat may do; nothing when the episode is over, or others are to act. */
static void query_legal(const Job *job, const Query *query, uint8_t mask[TY_ACTIONS_MAX])
{
    ty_legal_seat(job->worker->ruleset, query->state, query->seat, mask);
    if (query->over || query->waits) {
        memset(mask, 0, ty_shape(job->worker->ruleset)->action_count);
    }
}

static void put_observe(Writer *writer, const Job *job, const void *context)
{
    const Query *query = context;
    const TyRuleset *ruleset = job->worker->ruleset;
    const TyShape *shape = ty_shape(ruleset);
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    put_query(writer, job, query);
    ty_observe(ruleset, query->state, query->seat, row);
    reply_bytes(writer, REPLY_DATA_COLUMNS, row, shape->row_size);
    query_legal(job, query, mask);
    reply_bytes(writer, REPLY_MASK, mask, shape->action_count);
    if (request_uint(&job->request, FIELD_OF_FULL) != 0) {
        ty_observe_full(ruleset, query->state, query->seat, row);
        message_key(writer, "full");
        put_bytes(writer, row, shape->full_size);
    }
}

/* What nobody but the director may see. */
static bool full_allowed(Job *job)
{
    return request_uint(&job->request, FIELD_OF_FULL) == 0 || job->member == 0 ||
           job_refuse(job, ERROR_denied, -1, "full: everything is for the director only");
}

JobState job_observe(Worker *worker, Job *job)
{
    Query query = {.state = NULL};
    (void)worker;
    if (full_allowed(job) && query_begin(job, &query)) {
        job_reply(job, 4096, put_observe, &query);
    }
    return JOB_DONE;
}

static void put_legal(Writer *writer, const Job *job, const void *context)
{
    const Query *query = context;
    const TyRuleset *ruleset = job->worker->ruleset;
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t numbers[TY_ACTIONS_MAX];
    char words[TY_ACTION_TEXT_MAX];
    uint32_t count = 0;
    query_legal(job, query, mask);
    for (uint32_t i = 0; i < ty_shape(ruleset)->action_count; i++) {
        if (mask[i]) {
            numbers[count++] = (int32_t)i;
        }
    }
    put_query(writer, job, query);
    reply_bytes(writer, REPLY_NUMBERS, numbers, count * sizeof numbers[0]);
    reply_key(writer, REPLY_NAMES);
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        ty_action_name(ruleset, (uint32_t)numbers[i], words);
        put_text(writer, words);
    }
    reply_key(writer, REPLY_TITLES);
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        ty_action_text(ruleset, query->state, (uint32_t)numbers[i], words, sizeof words);
        put_text(writer, words);
    }
}

JobState job_legal(Worker *worker, Job *job)
{
    Query query = {.state = NULL};
    (void)worker;
    if (query_begin(job, &query)) {
        job_reply(job, 16 << 10, put_legal, &query);
    }
    return JOB_DONE;
}

/* ---- Text ---- */

static void put_text_of(Writer *writer, const Job *job, const void *context)
{
    const Query *query = context;
    put_query(writer, job, query);
    switch ((int)job->request.op) {
    case OP_STATE:
        reply_text(writer, REPLY_STATE, query->text);
        break;
    case OP_EVENTS:
        reply_text(writer, REPLY_EVENTS, query->text);
        break;
    case OP_SVG:
        reply_text(writer, REPLY_SVG, query->text);
        if (job->member == 0) {
            reply_uint(writer, REPLY_POSITION, query->position);
        }
        break;
    default:
        reply_text(writer, REPLY_TEXT, query->text);
        break;
    }
}

/* What a seat sees. What is not part of the state, that an episode was truncated or that others are
 * to act, is said before. */
static size_t write_position(const Worker *worker, const Query *query, size_t size)
{
    bool cut = query->over && !ty_head(query->state)->over;
    const char *said = cut            ? "The episode is over: it was truncated.\n\n"
                       : query->waits ? "Others are to act. When you were asked last:\n\n"
                                      : "";
    size_t before = strlen(said);
    memcpy(query->text, said, before);
    return before + pool_text_of(worker->pool, query->slot, query->seat, query->state,
                                 query->text + before, size - before);
}

static size_t write_text(const Job *job, const Query *query, size_t size)
{
    const Worker *worker = job->worker;
    bool all = request_uint(&job->request, FIELD_OF_FULL) != 0;
    switch ((int)job->request.op) {
    case OP_STATE:
        return ty_state_json(worker->ruleset, query->state, query->text, size);
    case OP_EVENTS:
        return ty_pool_events_json(worker->pool, query->slot, query->seat, query->text, size);
    case OP_SVG:
    case OP_WATCH:
        return ty_svg(worker->ruleset, query->state, all ? TY_EVERYTHING : query->seat, NULL,
                      query->text, size);
    default:
        return write_position(worker, query, size);
    }
}

/* Only the director names a position. */
static bool position_allowed(Job *job)
{
    return job->member == 0 || !request_has(&job->request, FIELD_OF_POSITION) ||
           job_refuse(job, ERROR_denied, -1, "position: for the director only");
}

/* Writes `query.text`, in memory that is made as large as need be; NULL, and the job refused, if
 * there is none. Returns its length. */
static size_t query_write(Job *job, Query *query)
{
    size_t size = 16 << 10;
    query->text = job_hold(job, size);
    size_t length = query->text != NULL ? write_text(job, query, size) : 0;
    if (length >= size) {
        query->text = job_hold(job, length + 1);
        length = query->text != NULL ? write_text(job, query, length + 1) : 0;
    }
    return length;
}

/* Text, events or drawing of a seat, or the state as JSON. */
JobState job_text(Worker *worker, Job *job)
{
    Query query = {.state = NULL};
    if (!full_allowed(job) || !position_allowed(job) || !query_begin(job, &query)) {
        return JOB_DONE;
    }
    if (job->request.op == OP_SVG && job->member == 0) {
        query_look_back(job, &query, request_uint(&job->request, FIELD_OF_POSITION));
    }
    if (job->request.op == OP_EVENTS && !ty_pool_config(worker->pool)->events) {
        job_refuse(job, ERROR_unavailable, -1,
                   "the pool keeps no events: open it with events=true");
        return JOB_DONE;
    }
    size_t length = query_write(job, &query);
    if (query.text != NULL) {
        job_reply(job, length + 256, put_text_of, &query);
    }
    return JOB_DONE;
}

/* ---- Spectators ---- */

static void put_watched(Writer *writer, const Job *job, const void *context)
{
    const Query *query = context;
    put_query(writer, job, query);
    reply_text(writer, REPLY_SVG, query->text);
}

/* A drawing through the eyes of spectators, as late as the director wants it; of an episode that is
 * over nothing is kept back. */
JobState job_watch(Worker *worker, Job *job)
{
    Query query = {.seat = worker->eyes};
    uint64_t newest = UINT64_MAX;
    if (!job_read_slot(job, &query.slot) || !query_now(job, &query)) {
        return JOB_DONE;
    }
    if (!query.over) {
        pool_position(worker->pool, query.slot, &newest);
        query_look_back(job, &query, newest > worker->delay ? newest - worker->delay : 0);
    }
    size_t length = query_write(job, &query);
    if (query.text != NULL) {
        job_reply(job, length + 256, put_watched, &query);
    }
    return JOB_DONE;
}
