/* What inventors of boards and maps share: chance from a seed, and names of places. Whole numbers
 * only, so that a seed invents the same everywhere. */
#pragma once

#include "core/hash.h"
#include "game.h"

enum {
    INVENT_NAMES = 256,    /* that there are */
    INVENT_NAME_SIZE = 12, /* bytes of the longest, with its NUL */
};

/* An invention under way. */
typedef struct Invention {
    uint64_t state;
    bool named[INVENT_NAMES];
} Invention;

/* Begins the invention of an order: seeds, sizes and levels differ in all that follows. */
static inline Invention invent_begin(TyOrder order)
{
    uint64_t state = hash_add(hash_mix(order.seed + 1), order.size);
    return (Invention){.state = hash_add(state, (uint64_t)order.level)};
}

/* A number below `below`. */
static inline uint32_t invent_chance(Invention *invention, uint32_t below)
{
    invention->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)((hash_mix(invention->state) >> 32) * below >> 32);
}

/* Brings `count` numbers into an order of chance. */
void invent_shuffle(Invention *invention, uint8_t *numbers, uint32_t count);
/* A name that no other place of this invention has, such as "Belby"; at most INVENT_NAMES. */
void invent_name(Invention *invention, char name[INVENT_NAME_SIZE]);
/* "Board 7, 12 switches, hard": what a file that is made to an order is called. */
void invent_title(TyOrder order, const char *what, const char *things, TyText *out);
