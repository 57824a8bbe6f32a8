/* What happened in a slot: the last events, and for every seat those between its last two rows.
 * Only pools that were opened with `events` have it. */
#include "pool/pool_internal.h"

#include "core/text.h"

#include <ctype.h>
#include <string.h>

/* A slot's events, by their numbers from 0 on; the last TY_EVENTS_KEPT are there. */
typedef struct Chronicle {
    uint64_t count;   /* events so far */
    uint64_t moments; /* beginnings and decisions so far */
    /* Per seat: the events between its last row and the one before, and the moment of that row. */
    uint64_t from[TY_SEATS_MAX];
    uint64_t to[TY_SEATS_MAX];
    uint64_t shown[TY_SEATS_MAX];
    TyEvent events[TY_EVENTS_KEPT];
} Chronicle;

uint64_t chronicle_bytes(void)
{
    return sizeof(Chronicle);
}

static Chronicle *chronicle_of(const TyPool *pool, uint32_t slot)
{
    return (Chronicle *)(void *)pool->chronicles + slot;
}

static void chronicle_tell(void *user, const TyEvent *event)
{
    Chronicle *chronicle = user;
    chronicle->events[chronicle->count++ % TY_EVENTS_KEPT] = *event;
}

TyTape *chronicle_tape(const TyPool *pool, uint32_t slot, TyTape *tape)
{
    if (pool->chronicles == NULL) {
        return NULL;
    }
    *tape = (TyTape){.user = chronicle_of(pool, slot), .event = chronicle_tell};
    return tape;
}

void chronicle_pass(const TyPool *pool, uint32_t slot)
{
    if (pool->chronicles != NULL) {
        chronicle_of(pool, slot)->moments++;
    }
}

static void chronicle_show_one(Chronicle *chronicle, uint32_t seat)
{
    if (chronicle->shown[seat] != chronicle->moments) {
        chronicle->from[seat] = chronicle->to[seat];
        chronicle->to[seat] = chronicle->count;
        chronicle->shown[seat] = chronicle->moments;
    }
}

void chronicle_show(const TyPool *pool, uint32_t slot, uint32_t seat)
{
    if (pool->chronicles == NULL) {
        return;
    }
    for (uint32_t i = 0; i < pool->shape->seats; i++) {
        if (i == seat || pool->config.agent[i] != NULL) {
            chronicle_show_one(chronicle_of(pool, slot), i);
        }
    }
}

void chronicle_show_all(const TyPool *pool, uint32_t slot)
{
    for (uint32_t i = 0; pool->chronicles != NULL && i < pool->shape->seats; i++) {
        chronicle_show_one(chronicle_of(pool, slot), i);
    }
}

void chronicle_forget(const TyPool *pool, uint32_t slot)
{
    if (pool->chronicles != NULL) {
        memset(chronicle_of(pool, slot), 0, sizeof(Chronicle));
    }
}

uint32_t ty_pool_events(const TyPool *pool, uint32_t slot, uint32_t seat, TyEvent *events,
                        uint32_t count, uint32_t *missed)
{
    uint32_t lost = 0;
    uint32_t found = 0;
    if (pool->chronicles != NULL) {
        const Chronicle *chronicle = chronicle_of(pool, slot);
        uint64_t oldest = chronicle->count > TY_EVENTS_KEPT ? chronicle->count - TY_EVENTS_KEPT : 0;
        uint64_t first = chronicle->from[seat];
        uint64_t end = chronicle->to[seat];
        lost = (uint32_t)(first < oldest ? (oldest < end ? oldest : end) - first : 0);
        for (uint64_t i = first + lost; i < end && found < count; i++) {
            events[found++] = chronicle->events[i % TY_EVENTS_KEPT];
        }
    }
    if (missed != NULL) {
        *missed = lost;
    }
    return found;
}

/* ---- As JSON and as text -----------------------------------------------------------------------
 */

size_t ty_pool_events_json(const TyPool *pool, uint32_t slot, uint32_t seat, char *out, size_t size)
{
    TyEvent events[TY_EVENTS_KEPT];
    char event[2048];
    uint32_t missed = 0;
    uint32_t count = ty_pool_events(pool, slot, seat, events, TY_EVENTS_KEPT, &missed);
    TyJson json = ty_json_init(out, size);
    ty_json_open(&json, NULL, '{');
    ty_json_put_int(&json, "missed", missed);
    ty_json_open(&json, "events", '[');
    for (uint32_t i = 0; i < count; i++) {
        ty_event_json_for(pool->ruleset, &events[i], seat, event, sizeof event);
        ty_json_put_raw(&json, NULL, event);
    }
    ty_json_close(&json, ']');
    ty_json_close(&json, '}');
    return json.text.length;
}

/* A line for each event; those that read alike and follow each other share one. */
static void events_write(const TyPool *pool, const TyEvent *events, uint32_t count, uint32_t seat,
                         TyText *out)
{
    char sentence[2][1024] = {"", ""};
    uint32_t repeated = 0;
    for (uint32_t i = 0; i <= count; i++) {
        char *now = sentence[i % 2];
        const char *before = sentence[1 - i % 2];
        now[0] = '\0';
        if (i < count) {
            ty_event_text(pool->ruleset, &events[i], seat, now, sizeof sentence[0]);
        }
        if (i > 0 && strcmp(now, before) != 0) {
            ty_text_add(out, "  %c%s", toupper((unsigned char)before[0]), before + 1);
            if (repeated > 0) {
                ty_text_add(out, " (%u times)", repeated + 1);
            }
            ty_text_add(out, ".\n");
            repeated = 0;
        } else {
            repeated += i > 0;
        }
    }
}

size_t pool_text_of(const TyPool *pool, uint32_t slot, uint32_t seat, const void *state, char *out,
                    size_t size)
{
    TyEvent events[TY_EVENTS_KEPT];
    TyText text = ty_text_init(out, size);
    uint32_t missed = 0;
    uint32_t count = 0;
    if (pool->chronicles != NULL && seat < pool->shape->seats) {
        count = ty_pool_events(pool, slot, seat, events, TY_EVENTS_KEPT, &missed);
        ty_text_add(&text, "Since your last decision:%s\n", count == 0 ? " nothing" : "");
        if (missed > 0) {
            ty_text_add(&text, "  (%u earlier events are not kept)\n", missed);
        }
        events_write(pool, events, count, seat, &text);
    }
    char none[1];
    bool room = text.length < size;
    return text.length + ty_text(pool->ruleset, state, seat, room ? out + text.length : none,
                                 room ? size - text.length : 1);
}

size_t ty_pool_text(const TyPool *pool, uint32_t slot, uint32_t seat, char *out, size_t size)
{
    return pool_text_of(pool, slot, seat, ty_pool_state(pool, slot), out, size);
}
