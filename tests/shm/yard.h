/* A daemon in miniature: one thread that hands out the doors of some pools and serves them. For the
 * tests. */
#pragma once

#include "daemon/shm_server.h"

enum { YARD_DOORS_MAX = 8 };

typedef struct YardDoor {
    TyPool *pool;
    uint32_t member;
    ShmChannel *door;
    uint64_t lease; /* 0: nobody has it */
    bool left;      /* a client had it and is gone */
} YardDoor;

typedef struct Yard {
    ShmServer *server;
    uint8_t token[SHM_TOKEN_SIZE];
    uint32_t count;
    YardDoor doors[YARD_DOORS_MAX];
} Yard;

/* Listens on `path`. The caller closes the yard; pools remain the caller's. */
TyStatus yard_open(Yard *yard, const char *path);
void yard_close(Yard *yard);
/* Opens a door for a member; its number is the `pool` of a client's address. */
TyStatus yard_add(Yard *yard, TyPool *pool, uint32_t member);
/* Closes a door; others keep their numbers. */
void yard_remove(Yard *yard, uint32_t number);
/* Serves until the clock of the system shows `until_ns`, sleeping when there is nothing to do for a
 * while. Returns earlier if `stop` (may be NULL) says so after a sleep or a lease's end. */
void yard_run(Yard *yard, uint64_t until_ns, bool (*stop)(const Yard *yard));
/* Serves every door once, without a system call if no client sleeps. True if there was a command.
 */
bool yard_serve(Yard *yard);
/* True if every door was let and is free again. */
bool yard_is_deserted(const Yard *yard);

uint64_t yard_clock_ns(void);
