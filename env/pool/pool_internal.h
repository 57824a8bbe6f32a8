/* The inside of a pool. */
#pragma once

#include "pool/pool.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum SlotEnding { SLOT_RUNNING, SLOT_TERMINATED, SLOT_TRUNCATED } SlotEnding;

/* What a slot knows besides the state of its episode. */
typedef struct Slot {
    uint64_t slot_seed;
    uint64_t seed; /* of the running episode */
    uint64_t episode;
    uint64_t replaced;             /* illegal actions that were replaced by drawn ones */
    int32_t pending[TY_SEATS_MAX]; /* earned by each seat since its previous row */
    int32_t since[TY_SEATS_MAX];   /* earned by each seat since its owner's previous row here */
    int32_t final[TY_SEATS_MAX];   /* `pending` at the end of the episode */
    int32_t total[TY_SEATS_MAX];   /* earned by each seat in the episode */
    uint8_t ending;                /* SlotEnding */
    uint8_t waiting;               /* bit per member that has to answer */
    int8_t last_seat;              /* who acted last */
    uint8_t unused[5];
} Slot;

/* Threads that help to step; they sleep when there is nothing to do for a while. */
typedef struct Crew {
    uint32_t count; /* helpers, without the caller */
    bool crowded;   /* see ty_pool_crowded */
    pthread_t threads[TY_THREADS_MAX];
    atomic_uint round; /* grows with every piece of work */
    /* Per thread, the caller first: the round, and which of its pieces is the next. */
    atomic_ullong tickets[TY_THREADS_MAX];
    atomic_uint left; /* pieces that are not done yet */
    atomic_uint asleep;
    atomic_bool quit;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    void (*work)(void *context, uint32_t part, uint32_t parts);
    void *context;
} Crew;

struct TyPool {
    const TyRuleset *ruleset;
    const TyShape *shape;
    TyPoolConfig config;
    uint32_t slot_stride;
    uint8_t *slots;                      /* Slot, then the state */
    uint8_t *memory[TY_SEATS_MAX];       /* of built-in agents: one piece per slot */
    uint8_t *own_memory[TY_MEMBERS_MAX]; /* of slabs that were not attached elsewhere */
    TySlab slabs[TY_MEMBERS_MAX];
    uint8_t present;    /* bit per member */
    uint64_t decisions; /* see TyPoolCounts */
    atomic_ullong episodes;
    TyObserver observer; /* its functions are NULL if there is none */
    Crew crew;
};

static inline Slot *pool_slot(const TyPool *pool, uint32_t slot)
{
    return (Slot *)(pool->slots + (size_t)slot * pool->slot_stride);
}

static inline void *slot_state(Slot *slot)
{
    return slot + 1;
}

/* Where a slot's rows go. */
typedef struct Place {
    uint32_t slot;
    uint32_t group;
    uint32_t row;
} Place;

static inline Place place_of(const TyPool *pool, uint32_t slot)
{
    const TyGroupLayout *layouts = pool->slabs[0].group;
    uint32_t group = 0;
    while (slot >= layouts[group].first + layouts[group].rows) {
        group++;
    }
    return (Place){.slot = slot, .group = group, .row = slot - layouts[group].first};
}

/* Bytes between the memories of an agent in two slots. */
static inline size_t agent_stride(const TyAgent *agent)
{
    return (agent->memory_size / TY_SLAB_ALIGN + 1) * TY_SLAB_ALIGN;
}

static inline void *agent_memory(const TyPool *pool, uint32_t slot, uint32_t seat)
{
    return pool->memory[seat] + slot * agent_stride(pool->config.agent[seat]);
}

/* slab.c */
void slab_lay_out(const TyPool *pool, uint32_t member, TySlab *slab);
/* slot.c */
/* Sets up the episode that the slot's seed and number name. */
void slot_begin(TyPool *pool, Place place);
/* Plays built-in agents until a member has to act or the episode is over, and writes the rows. */
void slot_play_on(TyPool *pool, Place place);
/* The answer of `member` in this slot. True if its action was refused. */
bool slot_answer(TyPool *pool, Place place, uint32_t member);
/* `member` has seen the ending, or nobody waits for it any more. */
void slot_acknowledge(TyPool *pool, Place place, uint32_t member);
/* Cuts the running episode off. */
void slot_truncate(TyPool *pool, Place place);
/* Writes the rows of a position that was put into the slot. */
void slot_show(TyPool *pool, Place place);
/* Members see nothing of a slot until it asks them again. */
void slot_blank(TyPool *pool, Place place);
/* An ending stands in the slot: the members that are present have to answer it. */
void slot_wait_for_members(TyPool *pool, Place place);
void slot_start_agents(TyPool *pool, Place place);
/* Where an absent member is asked: puts what its row said was earned back into the accounts, and
 * writes the row again in the slab of whoever owns the seat now. */
void slot_take_back(TyPool *pool, Place place);
void slot_ask_again(TyPool *pool, Place place);
/* Lets the agent of `seat` begin, with empty memory and the seed of the slot's episode. */
void agent_start(TyPool *pool, uint32_t slot, uint32_t seat);
/* crew.c */
TyStatus crew_open(Crew *crew, uint32_t helpers);
void crew_close(Crew *crew);
/* Runs `work` for every part, in this thread and those that are free, and returns when all are
 * done. */
void crew_run(Crew *crew, void (*work)(void *context, uint32_t part, uint32_t parts),
              void *context);
