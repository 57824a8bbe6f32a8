/* The inside of a pool. */
#pragma once

#include "agent.h"
#include "pool/pool.h"
#include "pool/work.h"

#include <pthread.h>
#include <stdatomic.h>

/* How an episode stands. SLOT_RESTING is never stored: it runs, but its agents were interrupted. */
typedef enum SlotEnding { SLOT_RUNNING, SLOT_TERMINATED, SLOT_TRUNCATED, SLOT_RESTING } SlotEnding;

/* Beside the ending, as long as the observer holds it back: the slot's own, or that of an episode
 * behind it in which no member was asked. */
enum { SLOT_HELD_OWN = 0x10, SLOT_HELD_UNSEEN = 0x20, SLOT_HELD = 0x30 };

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
    uint32_t steps[TY_SEATS_MAX];  /* decisions of each seat in the episode */
    uint8_t ending;                /* SlotEnding, and how it is held */
    uint8_t waiting;               /* bit per member that has to answer */
    int8_t last_seat;              /* who acted last */
    uint8_t seeded;                /* `slot_seed` was given by a reset */
} Slot;

_Static_assert(sizeof(Slot) % sizeof(uint64_t) == 0, "the state behind it is aligned");

/* What processors share is laid out in lines that they fetch from each other as a whole. */
enum { LINE_SIZE = 64 };

/* What threads count as they step: each for itself, and never set back. */
typedef struct Tally {
    uint64_t ready;    /* rows that waited for the member after their step */
    uint64_t illegal;  /* actions that were refused */
    uint64_t answered; /* rows whose action was looked at */
} Tally;

/* A thread's place in the crew. */
typedef struct CrewSeat {
    /* The round, and which of the thread's pieces in it is the next; how many were ever done. Other
     * threads write here only when they take a piece off a slow one. */
    _Alignas(LINE_SIZE) atomic_ullong ticket;
    atomic_uint done;
    Tally tally; /* written by the thread itself */
    /* Episodes that have ended in the slots that are this thread's to begin with. */
    _Alignas(LINE_SIZE) atomic_ullong episodes;
} CrewSeat;

/* Threads that help to step; they sleep when there is nothing to do for a while. */
typedef struct Crew {
    uint32_t count;  /* helpers, without the caller */
    bool crowded;    /* see ty_pool_crowded */
    CrewSeat *seats; /* per thread, the caller's first */
    pthread_t threads[TY_THREADS_MAX];
    /* What the caller writes once for every piece of work, and all others read. */
    _Alignas(LINE_SIZE) atomic_uint round; /* grows with every piece of work */
    atomic_bool quit;
    void (*work)(void *context, uint32_t part, uint32_t parts, Tally *tally);
    void *context;
    /* What threads write that begin, go to sleep or wake up. */
    _Alignas(LINE_SIZE) atomic_uint starting;
    atomic_uint asleep;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
} Crew;

/* A program that drives seats from outside. */
typedef struct Member {
    TySlab slab;
    uint8_t *memory; /* of the slab; NULL if it was attached elsewhere */
    bool present;
} Member;

struct TyPool {
    const TyRuleset *ruleset;
    const TyShape *shape;
    TyPoolConfig config;
    uint32_t slot_stride;
    uint8_t *slots;                /* Slot, then the state */
    uint8_t *memory[TY_SEATS_MAX]; /* of built-in agents: one piece per slot */
    Member members[TY_MEMBERS_MAX];
    bool agents_only;    /* no seat was a member's when it was opened: the director lets them act */
    atomic_uint held;    /* slots */
    bool begun;          /* every slot has a position */
    bool draining;       /* no episode follows one that ends */
    const TyStop *stop;  /* NULL: nobody interrupts the agents */
    const TyStop *pause; /* the same, between decisions */
    atomic_uint resting[TY_GROUPS_MAX]; /* slots in which they were interrupted */
    TyObserver observer;                /* its functions are NULL if there is none */
    uint8_t *chronicles; /* of events (chronicle.c), one per slot; NULL unless they are kept */
    uint8_t *shown;      /* to players (shown.c); NULL unless it is kept */
    uint8_t *histories;  /* of positions (history.c), in the same way */
    uint32_t history_kept;
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

/* True if somebody wants the pool's work to be interrupted, now that a decision has been taken. */
static inline bool pool_is_stopped(const TyPool *pool)
{
    return pool->pause != NULL && pool->pause->asked(pool->pause->user);
}

/* Where a slot's rows go. */
typedef struct Place {
    uint32_t slot;
    uint32_t group;
    uint32_t row;
} Place;

static inline Place place_of(const TyPool *pool, uint32_t slot)
{
    uint32_t group = ty_slot_group(pool->config.slots, pool->config.groups, slot);
    uint32_t first = pool->members[0].slab.group[group].first;
    return (Place){.slot = slot, .group = group, .row = slot - first};
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

/* Gives a state another future, and another hidden world if `seat` is one. */
static inline void state_imagine(const TyPool *pool, void *state, uint64_t key, int32_t seat)
{
    if (seat >= 0) {
        ty_resample(pool->ruleset, state, (uint32_t)seat, key);
    } else {
        ty_rekey(state, key);
    }
}

/* ---- pool.c ---- */

/* Memory for an agent in every slot; NULL if there is none. */
uint8_t *agents_allocate(const TyPool *pool, const TyAgent *agent);

/* ---- slab.c ---- */

void slab_lay_out(const TyPool *pool, uint32_t member, TySlab *slab);
/* Memory for the slab of a member as the seats are owned now; NULL if there is none. */
uint8_t *slab_allocate(const TyPool *pool, uint32_t member);
/* Lays out a member's slab again in `memory`, which becomes the pool's own and replaces what the
 * slab had. */
void slab_move(TyPool *pool, uint32_t member, uint8_t *memory);

/* ---- slot.c ---- */

/* Sets up the episode that the slot's seed and number name. */
void slot_begin(TyPool *pool, Place place);
/* Plays built-in agents until a member has to act or the episode is over, and writes the rows. */
void slot_play_on(TyPool *pool, Place place);
/* True if an agent was interrupted in the slot; then plays on there. */
bool slot_rests(const TyPool *pool, uint32_t slot);
void slot_resume(TyPool *pool, Place place);
/* The answer of `member` in this slot. True if its action was refused. */
bool slot_answer(TyPool *pool, Place place, uint32_t member);
/* `member` has seen the ending, or nobody waits for it any more. */
void slot_acknowledge(TyPool *pool, Place place, uint32_t member);
/* Cuts the running episode off. */
void slot_truncate(TyPool *pool, Place place);
/* Writes the rows of a position that was put into the slot. */
void slot_show(TyPool *pool, Place place);
static inline bool slot_is_held(const Slot *slot)
{
    return (slot->ending & SLOT_HELD) != 0;
}

/* Something else is put into the slot: if its ending was held, it is no more. */
void slot_forget_held(TyPool *pool, uint32_t slot);
/* The observer lets the held ending be told. */
void slot_release(TyPool *pool, Place place);
/* Members see nothing of a slot until it asks them again. */
void slot_blank(TyPool *pool, Place place);
/* An ending stands in the slot: the members that are present have to answer it. */
void slot_wait_for_members(TyPool *pool, Place place);
void slot_start_agents(TyPool *pool, Place place);
/* Where an absent member is asked: puts what its row said was earned back into the accounts, and
 * writes the row again in the slab of the seat's owner now. */
void slot_take_back(TyPool *pool, Place place);
void slot_ask_again(TyPool *pool, Place place);
/* Lets the agent of `seat` begin, with empty memory and its seed for the slot's episode. */
void agent_start(TyPool *pool, uint32_t slot, uint32_t seat);

/* ---- history.c ---- */

/* Adds the slot's state to its positions, where they are kept. */
void history_keep(TyPool *pool, uint32_t slot);

/* ---- chronicle.c ---- */

/* Bytes that a slot's events take. */
uint64_t chronicle_bytes(void);
/* A listener for a beginning or a decision of the slot, and the word that it has been played; only
 * where events are kept. */
TyTape *chronicle_tape(const TyPool *pool, uint32_t slot, TyTape *tape);
void chronicle_pass(const TyPool *pool, uint32_t slot);
/* A row of `seat`, or of every seat, is written: what happened since the one before is what it is
 * told. */
void chronicle_show(const TyPool *pool, uint32_t slot, uint32_t seat);
void chronicle_show_all(const TyPool *pool, uint32_t slot);
/* Another position was put into the slot. */
void chronicle_forget(const TyPool *pool, uint32_t slot);

/* ---- shown.c ---- */

/* The member's row of the slot is written: a question, or an ending. */
void shown_note(const TyPool *pool, uint32_t slot, uint32_t member, bool over);
/* The member has other seats from now on. */
void shown_forget(const TyPool *pool, uint32_t member);

/* ---- seeds.c ---- */

/* The seeds of the episode that a slot's number and slot seed name: of chance, of the agent in a
 * seat, and of the actions that replace illegal ones. */
uint64_t seed_of_chance(const TyPool *pool, uint32_t slot);
uint64_t seed_of_agent(const TyPool *pool, uint32_t slot, uint32_t seat);
uint64_t seed_of_replaced(const TyPool *pool, uint32_t slot);

/* ---- crew.c ---- */

TyStatus crew_open(Crew *crew, uint32_t helpers);
void crew_close(Crew *crew);
/* Runs `work` for every part, in this thread and those that are free, and returns when all are
 * done. Each thread has a tally of its own. */
void crew_run(Crew *crew, void (*work)(void *context, uint32_t part, uint32_t parts, Tally *tally),
              void *context);
/* What all threads have counted so far. Not while they work. */
Tally crew_tally(const Crew *crew);
/* Notes the end of an episode in row `row` of `rows`. */
void crew_note_episode(Crew *crew, uint32_t row, uint32_t rows);
uint64_t crew_episodes(const Crew *crew);
