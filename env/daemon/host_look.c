/* Looking at one slot: rows, legal actions, text, state. */
#include "daemon/host_internal.h"

#include <stdlib.h>

/* What is looked at. */
typedef struct Look {
    const void *state;
    int8_t acting; /* the seat to act */
    uint32_t seat;
    char *text;
} Look;

/* The director may look through any seat, a player through its own. A seat that is not given is the
 * one to act, or for a player its first. */
static bool look_seat(Host *host, Job *job, int64_t wanted, Look *look)
{
    const TySlab *slab = ty_pool_slab(host->pool, job->member);
    uint32_t seats = ty_shape(host->ruleset)->seats;
    bool own = false;
    for (uint32_t k = 0; k < slab->seat_count; k++) {
        own = own || slab->seats[k] == (wanted < 0 ? look->acting : wanted);
    }
    if (wanted >= seats) {
        job_refuse(host, job, ERROR_bad_argument, -1, "seat=%d: the seats are 0..%u", (int)wanted,
                   seats - 1);
        return false;
    }
    if (job->member != 0 && !own && wanted >= 0) {
        job_refuse(host, job, ERROR_denied, -1, "seat=%d is not this member's", (int)wanted);
        return false;
    }
    if (wanted >= 0) {
        look->seat = (uint32_t)wanted;
    } else if (own || (job->member == 0 && look->acting >= 0)) {
        look->seat = (uint32_t)look->acting;
    } else {
        look->seat = job->member == 0 ? 0 : slab->seats[0];
    }
    return true;
}

static bool look_begin(Host *host, Job *job, Look *look)
{
    uint32_t slot = 0;
    if (!job_slot(host, job, &slot)) {
        return false;
    }
    if (host->members[job->member].state != MEMBER_HERE && job->member != 0) {
        job_refuse(host, job, ERROR_closed, -1, "the seats were lost: they did not answer in time");
        return false;
    }
    look->state = ty_pool_state(host->pool, slot);
    look->acting = ty_head(look->state)->seat;
    return look_seat(host, job, request_int(&job->request, FIELD_OF_SEAT), look);
}

static void put_look(Writer *writer, Host *host, const Look *look)
{
    reply_key(writer, REPLY_SEAT);
    put_int(writer, look->acting);
    reply_text(writer, REPLY_PHASE, ty_phase_name(host->ruleset, look->state));
}

static void put_observe(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Look *look = context;
    const TyShape *shape = ty_shape(host->ruleset);
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    put_look(writer, host, look);
    ty_observe(host->ruleset, look->state, look->seat, row);
    reply_bytes(writer, REPLY_DATA_COLUMNS, row, shape->row_size);
    ty_legal_seat(host->ruleset, look->state, look->seat, mask);
    reply_bytes(writer, REPLY_MASK, mask, shape->action_count);
    if (request_uint(&job->request, FIELD_OF_FULL) != 0) {
        ty_observe_full(host->ruleset, look->state, look->seat, row);
        message_key(writer, "full");
        put_bytes(writer, row, shape->full_size);
    }
}

void job_observe(Host *host, Job *job)
{
    Look look = {.state = NULL};
    if (request_uint(&job->request, FIELD_OF_FULL) != 0 && job->member != 0) {
        job_refuse(host, job, ERROR_denied, -1, "full: privileged rows are the director's");
        return;
    }
    if (look_begin(host, job, &look)) {
        job_reply(host, job, 4096, put_observe, &look);
    }
}

static void put_legal(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Look *look = context;
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t numbers[TY_ACTIONS_MAX];
    char name[TY_NAME_MAX];
    uint32_t count = 0;
    (void)job;
    ty_legal_seat(host->ruleset, look->state, look->seat, mask);
    for (uint32_t i = 0; i < ty_shape(host->ruleset)->action_count; i++) {
        if (mask[i]) {
            numbers[count++] = (int32_t)i;
        }
    }
    put_look(writer, host, look);
    reply_bytes(writer, REPLY_NUMBERS, numbers, count * sizeof numbers[0]);
    reply_key(writer, REPLY_NAMES);
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        ty_action_name(host->ruleset, (uint32_t)numbers[i], name);
        put_text(writer, name);
    }
}

void job_legal(Host *host, Job *job)
{
    Look look = {.state = NULL};
    if (look_begin(host, job, &look)) {
        job_reply(host, job, 16 << 10, put_legal, &look);
    }
}

/* ---- Text ---- */

static void put_state(Writer *writer, Host *host, const Job *job, const void *context)
{
    const Look *look = context;
    put_look(writer, host, look);
    reply_text(writer, job->request.op == OP_STATE ? REPLY_STATE : REPLY_TEXT, look->text);
}

static size_t write_text(const Host *host, const Job *job, const Look *look, size_t size)
{
    return job->request.op == OP_STATE
               ? ty_state_json(host->ruleset, look->state, look->text, size)
               : ty_text(host->ruleset, look->state, look->seat, look->text, size);
}

/* Writes the text into memory that is made as large as need be. */
static void look_text(Host *host, Job *job)
{
    Look look = {.state = NULL};
    if (!look_begin(host, job, &look)) {
        return;
    }
    size_t size = 16 << 10;
    look.text = malloc(size);
    size_t length = look.text != NULL ? write_text(host, job, &look, size) : 0;
    if (length >= size) {
        free(look.text);
        look.text = malloc(length + 1);
        length = look.text != NULL ? write_text(host, job, &look, length + 1) : 0;
    }
    if (look.text == NULL) {
        job_refuse(host, job, ERROR_no_memory, -1, "no memory for the text");
    } else {
        job_reply(host, job, length + 256, put_state, &look);
    }
    free(look.text);
}

void job_state(Host *host, Job *job)
{
    look_text(host, job);
}

void job_text(Host *host, Job *job)
{
    look_text(host, job);
}
