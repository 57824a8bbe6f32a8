/* Which rows have something to tell a member, in the order in which they came to it, and which of
 * them it was given.
 *
 * A row tells something if it asks for an action or shows an ending. It is *fresh* until the member
 * is given it, and again when it has changed. An action counts only for a row that was given. All
 * here costs as much as the rows that it is about are many, however large the pool is. */
#pragma once

#include "trainyard.h"

typedef struct Worker Worker;

/* A member's rows, by slot. */
typedef struct ReadyRows {
    uint8_t *given; /* the member was given the row as it is, */
    uint8_t *asked; /* and has to answer it */
    uint32_t *next; /* the ring of fresh rows, which begins and ends at place `slots`; a row that */
    uint32_t *before; /* is not in it leads to itself */
    uint32_t *told;   /* the episode, plus 1, whose ending a director without seats was given */
    uint32_t slots;
    uint32_t fresh;                /* rows in the ring */
    uint32_t ready[TY_GROUPS_MAX]; /* rows that wait for the member */
} ReadyRows;

/* Bytes that it takes for each slot. */
#define READY_SLOT_BYTES 14u

/* False if there is no memory; ready_close is due in any case. */
bool ready_open(ReadyRows *rows, uint32_t slots);
void ready_close(ReadyRows *rows);

/* The member reads its rows by messages, from now on and until ready_unlisten. As long as nobody
 * does in a pool, nothing is kept here. */
void ready_listen(Worker *worker, uint32_t member);
void ready_unlisten(Worker *worker, uint32_t member);

/* Rows of this group, or of these slots, may have changed by an action: looks at them again. */
void ready_refresh(Worker *worker, uint32_t group);
void ready_refresh_all(Worker *worker);
void ready_refresh_slots(Worker *worker, const uint32_t *slots, uint32_t count);
/* Rows of these slots (NULL: all) are others than before: nobody was given them. */
void ready_renew(Worker *worker, const uint32_t *slots, uint32_t count);
/* The member was given nothing. */
void ready_forget(Worker *worker, uint32_t member);

/* Slots by number, or (`list` NULL) one after the other from `first` on. */
typedef struct SlotRange {
    const uint32_t *list;
    uint32_t first;
    uint32_t count;
} SlotRange;

/* The member is given the rows of these slots. Writes the positions of those that show an ending
 * (`ended` may be NULL), and says how many these are. */
uint32_t ready_give(Worker *worker, uint32_t member, SlotRange slots, uint32_t *ended);
/* Takes back what was not given after all: there was no memory for the reply. */
void ready_take_back(Worker *worker, uint32_t member, SlotRange slots);
/* Nobody is there to be given these rows: they are fresh again when they change. */
void ready_drop(ReadyRows *rows, const uint32_t *slots, uint32_t count);
/* Writes the slots of the first `limit` fresh rows, and says how many these are. */
uint32_t ready_first(const ReadyRows *rows, uint32_t limit, uint32_t *slots);
/* Rows that wait for the member, in a group or (-1) in all. */
uint32_t ready_count(const Worker *worker, uint32_t member, int32_t group);
/* True if rows of the group (-1: of any) wait for others than the member, or for the log. */
bool ready_elsewhere(const Worker *worker, uint32_t member, int32_t group);
