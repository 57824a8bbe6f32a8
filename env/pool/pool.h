/* Many episodes of one ruleset stepped together: slots, groups, seats and their owners.
 *
 * Every slot plays one episode at a time. Its seats belong to members (whoever drives them from
 * outside) or to built-in agents. A member sees its seats through a slab: columns with one row per
 * slot, in memory that the pool allocates or the member provides. When one of its seats is to act,
 * the slot's row in the member's slab holds what that seat sees, and `ready` is set; the member
 * writes an action and steps. A director without seats has rows for endings only. */
#pragma once

#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TY_SLOTS_MAX = 1 << 20,
    TY_GROUPS_MAX = 64,
    TY_THREADS_MAX = 256,
    TY_MEMBERS_MAX = TY_SEATS_MAX,
    TY_SLAB_ALIGN = 64, /* bytes to which columns are aligned */
};

/* What happens to a slot when its episode is over. */
typedef enum TyAutoreset {
    TY_AUTORESET_NEXT_STEP, /* the terminal row stands; the next step begins a new episode */
    TY_AUTORESET_SAME_STEP, /* the row is the new episode's first; the ending is in the final
                               columns */
    TY_AUTORESET_DISABLED,  /* the slot waits for ty_pool_reset */
} TyAutoreset;

/* What happens to an action that the mask forbids. The row's `illegal` is set in every case. */
typedef enum TyIllegal {
    TY_ILLEGAL_ERROR,        /* nothing changes, and the step reports it */
    TY_ILLEGAL_NOOP,         /* nothing changes */
    TY_ILLEGAL_RANDOM_LEGAL, /* a legal action is drawn instead */
    TY_ILLEGAL_LOSE,         /* the episode ends and whoever did it loses */
} TyIllegal;

/* Columns of a slab. `K` below is the number of seats that the member owns. */
typedef enum TyColumn {
    TY_COLUMN_OBS,          /* u8 [row_size]: the row of the seat to act */
    TY_COLUMN_MASK,         /* u8 [action_count] */
    TY_COLUMN_REWARD,       /* f32: earned by the row's seat since its previous row */
    TY_COLUMN_EARNED,       /* f32 [K]: earned by each owned seat since the slot's previous row. A
                               director without seats: [players], by each in the whole episode */
    TY_COLUMN_SEAT,         /* i8: whose row it is */
    TY_COLUMN_READY,        /* u8: an action is expected here */
    TY_COLUMN_TERMINATED,   /* u8: the episode has ended by its rules */
    TY_COLUMN_TRUNCATED,    /* u8: the episode was cut off */
    TY_COLUMN_ILLEGAL,      /* u8: the last action was not legal */
    TY_COLUMN_EPISODE,      /* u32: episodes finished in this slot before this one */
    TY_COLUMN_STEP,         /* u32: decisions taken in this episode */
    TY_COLUMN_SEED,         /* u64: of the episode; 0 for members that may not know it yet */
    TY_COLUMN_METRICS,      /* i32 [metric_count]: of the episode that ended with this row */
    TY_COLUMN_FINAL_OBS,    /* u8 [K][row_size]: what each owned seat saw at the end */
    TY_COLUMN_FINAL_REWARD, /* f32 [K]: earned by each owned seat since its last row before the end
                             */
    TY_COLUMN_FULL,         /* u8 [full_size]: privileged row; only if asked for */
    TY_COLUMN_HASH,         /* u64: hash of the state; only if asked for */
    TY_COLUMN_ACTION,       /* i32: what the member answers; the only column that it writes */
    TY_COLUMN_COUNT,
} TyColumn;

typedef enum TyType { TY_U8, TY_I8, TY_U32, TY_I32, TY_F32, TY_U64 } TyType;

/* One column of one group: `rows` x `width` values of `type` at `offset` in its region. */
typedef struct TyColumnLayout {
    const char *name;
    TyType type;
    uint32_t width; /* values in a row; 0: the column is not there */
    uint64_t offset;
} TyColumnLayout;

/* The columns of one group in a member's slab. All but `action` lie in the rows region, `action` in
 * the commands region. */
typedef struct TyGroupLayout {
    uint32_t first; /* slot of the first row */
    uint32_t rows;
    TyColumnLayout columns[TY_COLUMN_COUNT];
} TyGroupLayout;

/* Bytes of one value. */
TY_API uint32_t ty_type_size(TyType type);
TY_API const char *ty_column_name(TyColumn column);
TY_API TyType ty_column_type(TyColumn column);

typedef struct TySlab {
    uint32_t groups;
    uint32_t seat_count; /* K */
    uint8_t seats[TY_SEATS_MAX];
    uint64_t rows_size;
    uint64_t commands_size;
    uint8_t *rows;
    uint8_t *commands;
    TyGroupLayout group[TY_GROUPS_MAX];
} TySlab;

typedef struct TyPoolConfig {
    uint32_t slots;
    uint32_t groups;  /* 0 counts as 1 */
    uint32_t threads; /* that step, the caller's among them; 0 counts as 1 */
    uint64_t seed;    /* slot i has seed + i */
    TyAutoreset autoreset;
    TyIllegal illegal;
    uint32_t max_steps; /* decisions after which an episode is truncated; 0: never */
    bool full;          /* with the column of privileged rows; the director's only */
    bool hash;          /* with the column of hashes; the director's only */
    uint32_t members;   /* 0 counts as 1; member 0 is the director */
    /* Per seat: the built-in agent that plays it, or (NULL) the member that owns it. */
    const TyAgent *agent[TY_SEATS_MAX];
    uint8_t owner[TY_SEATS_MAX];
    bool own_chance; /* a member plays the chance seat; otherwise draws follow their weights */
} TyPoolConfig;

typedef struct TyPool TyPool;

/* Opens a pool, with every slot at the beginning of its first episode. The ruleset must outlive it.
 * The caller closes it. */
TY_API TyStatus ty_pool_open(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **pool);
TY_API void ty_pool_close(TyPool *pool);
TY_API const TyPoolConfig *ty_pool_config(const TyPool *pool);
/* True if the pool's threads and whoever drives it are more than there are processors: whoever
 * waits for one of them should let others run meanwhile. */
TY_API bool ty_pool_crowded(const TyPool *pool);
TY_API const TyRuleset *ty_pool_ruleset(const TyPool *pool);
/* Bytes that a pool of this kind would take, slabs included; 0 if its sizes are out of range. */
TY_API uint64_t ty_pool_bytes(const TyRuleset *ruleset, const TyPoolConfig *config);
/* Bytes that the pool takes for each slot, slabs included. */
TY_API uint64_t ty_pool_slot_bytes(const TyPool *pool);

/* The slab of a member. Its memory is the pool's own until ty_pool_attach. */
TY_API const TySlab *ty_pool_slab(const TyPool *pool, uint32_t member);
/* Moves a member's slab into memory of the caller's: `rows_size` and `commands_size` bytes, aligned
 * to TY_SLAB_ALIGN. What stood in the rows is copied. */
TY_API void ty_pool_attach(TyPool *pool, uint32_t member, uint8_t *rows, uint8_t *commands);
/* Moves it back into memory of the pool's own. Fails, and leaves it where it is, only for lack of
 * memory. */
TY_API TyStatus ty_pool_detach(TyPool *pool, uint32_t member);
/* The first value of a column of a group; NULL if the slab has no such column. */
TY_API void *ty_slab_column(const TySlab *slab, uint32_t group, TyColumn column);

/* Takes the actions of one member for every row of the group that is ready, plays on until a member
 * has to act in each slot, and writes the rows. Returns how many rows are ready for the member.
 * With TY_ILLEGAL_ERROR, `illegal` counts the rows whose action was refused; it may be NULL. */
TY_API uint32_t ty_pool_step(TyPool *pool, uint32_t member, uint32_t group, uint32_t *illegal);
/* The same for the rows of the group whose `which` byte is set. */
TY_API uint32_t ty_pool_step_some(TyPool *pool, uint32_t member, uint32_t group,
                                  const uint8_t *which, uint32_t *illegal);
/* How many rows of the group wait for the member. */
TY_API uint32_t ty_pool_ready(const TyPool *pool, uint32_t member, uint32_t group);

/* How many rows of the group wait for some other member. */
TY_API uint32_t ty_pool_pending(const TyPool *pool, uint32_t member, uint32_t group);
/* The members that a slot waits for, a bit each. */
TY_API uint8_t ty_pool_waiting(const TyPool *pool, uint32_t slot);

/* Begins new episodes in the slots whose `which` byte is set (NULL: all), with the slot seeds of
 * `seeds` if given: they become the slots' own, and their episodes count from 0 again. */
TY_API void ty_pool_reset(TyPool *pool, const uint8_t *which, const uint64_t *seeds);

/* Members that come and go. Nobody waits for an absent member to see an ending; where one of its
 * seats is to act, the slot rests until it is back, or until one of the next two is called. All are
 * present at first. */
TY_API void ty_pool_set_present(TyPool *pool, uint32_t member, bool present);
/* Cuts off the running episodes in which a seat of `member` is to act. */
TY_API void ty_pool_truncate(TyPool *pool, uint32_t member);
/* From now on `agent` plays the seats of `member`, in running episodes too. Fails, and changes
 * nothing, only for lack of memory. */
TY_API TyStatus ty_pool_hand_over(TyPool *pool, uint32_t member, const TyAgent *agent);

/* Gives the seats of the set `seats`, a bit each, to `member`, and no others. They and the member
 * must be absent members' until now, whose slabs are laid out anew. Fails, and changes nothing,
 * only for lack of memory. */
TY_API TyStatus ty_pool_assign(TyPool *pool, uint32_t member, uint8_t seats);

/* What has happened in a pool so far. */
typedef struct TyPoolCounts {
    uint64_t decisions; /* answers of members that were taken, endings that they noted among them */
    uint64_t episodes;  /* that have ended */
} TyPoolCounts;

TY_API TyPoolCounts ty_pool_counts(const TyPool *pool);

/* The state of a slot, to be looked at. */
TY_API const void *ty_pool_state(const TyPool *pool, uint32_t slot);

/* ---- Observers ------------------------------------------------------------------------------- */

/* Why an episode ended. */
typedef enum TyCause {
    TY_CAUSE_RULES,   /* the game is over */
    TY_CAUSE_CAP,     /* a cap of the game itself */
    TY_CAUSE_STEPS,   /* max_steps of the pool */
    TY_CAUSE_CUT,     /* ty_pool_truncate */
    TY_CAUSE_FORFEIT, /* an illegal action where that loses */
} TyCause;

typedef struct TyEnding {
    TyCause cause;
    int8_t seat; /* who forfeited; otherwise -1 */
    const int32_t
        *reward; /* per player, in 1/64: earned by the ending itself, after the last step */
} TyEnding;

/* Whoever follows all that is played in a pool, such as a recorder. The calls of one slot come one
 * after the other, those of different slots from several threads at once. */
typedef struct TyObserver {
    void *user;
    /* A new episode has begun in the slot; one that was running there is forgotten. */
    void (*begin)(void *user, uint32_t slot, uint64_t seed, uint64_t episode, const void *state);
    /* `action` was taken, earned `reward` (per player, in 1/64) and led to `state`. */
    void (*decision)(void *user, uint32_t slot, uint32_t action, const int32_t *reward,
                     const void *state);
    /* The episode is over. No member has seen it yet. */
    void (*end)(void *user, uint32_t slot, const TyEnding *ending, const void *state);
    /* A snapshot was put into the slot: what follows is not the episode of its seed. */
    void (*replace)(void *user, uint32_t slot);
} TyObserver;

/* Lets `observer` (NULL: nobody) follow the pool. Every running episode begins anew, so that all of
 * it is seen: call this before the first step. */
TY_API void ty_pool_observe(TyPool *pool, const TyObserver *observer);

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* Bytes of one slot's snapshot. */
TY_API uint32_t ty_pool_snapshot_size(const TyPool *pool);
/* Copies slot `slot` into `snapshot`: plain bytes that can be kept, sent and restored in any pool
 * of the same ruleset and seats. */
TY_API void ty_pool_save(const TyPool *pool, uint32_t slot, void *snapshot);
/* How a snapshot is put back. */
typedef struct TyRestore {
    const uint64_t
        *keys;    /* per slot: its future is drawn with this key (plan); NULL: exactly as saved */
    int32_t seat; /* with keys: deal anew what this seat cannot know; -1: nothing */
    bool foreign; /* the bytes come from outside: built-in agents begin anew */
} TyRestore;

/* Puts a snapshot into each of the slots (restore, fork). Fails without change if it is damaged.
 * With `count` 0 it is only checked, and `how` may be NULL. */
TY_API TyStatus ty_pool_restore(TyPool *pool, const void *snapshot, const uint32_t *slots,
                                uint32_t count, const TyRestore *how);

/* ---- Rollouts and sampling ---------------------------------------------------------------------
 */

/* Lets `agent` play on from slot `slot`, on copies: `count` times, at most `max_steps` decisions
 * each (0: to the end), copy i with the future of keys[i] and, with `seat` >= 0, what that seat
 * cannot know dealt anew. Writes what each player earned (players per copy) and the metrics at the
 * end; either may be NULL. */
TY_API void ty_pool_rollout(TyPool *pool, uint32_t slot, const TyAgent *agent, uint32_t count,
                            const uint64_t *keys, int32_t seat, uint32_t max_steps, float *earned,
                            int32_t *metrics);

/* Uniformly random legal actions for a group of rows: row i draws with (seed, slot, episode, step),
 * so that the choice does not depend on batches. Rows that are not ready or have an empty mask get
 * action 0. */
TY_API void ty_sample_rows(const TySlab *slab, uint32_t group, uint64_t seed);
/* The same draw for one row with `mask`, of `width` bytes, wherever it lies. */
typedef struct TyRowKey {
    uint32_t slot;
    uint32_t episode;
    uint32_t step;
} TyRowKey;
TY_API int32_t ty_sample_row(const uint8_t *mask, uint32_t width, uint64_t seed, TyRowKey key);
/* `rounds` times: random actions for the member's rows of the group, then a step. Spreads the slots
 * over their episodes, and measures what a loop outside the library can reach at best. */
TY_API void ty_pool_step_random(TyPool *pool, uint32_t member, uint32_t group, uint64_t seed,
                                uint32_t rounds);

/* ---- Steps in flight ------------------------------------------------------------------------- */

/* A thread that steps groups for a member, one after the other, while the caller thinks about
 * another group. Nothing else of the pool may be called while a group is in flight. */
typedef struct TyFlight TyFlight;

/* The pool must outlive it. The caller closes it; groups in flight land first. */
TY_API TyStatus ty_flight_open(TyPool *pool, uint32_t member, TyFlight **flight);
TY_API void ty_flight_close(TyFlight *flight);
/* Begins a step of the group. False if it is in flight already. */
TY_API bool ty_flight_send(TyFlight *flight, uint32_t group);
/* Waits until the group has been stepped and says what ty_pool_step would have. False if that takes
 * longer. A group that is not in flight answers at once, with what its last step said. */
TY_API bool ty_flight_recv(TyFlight *flight, uint32_t group, uint32_t timeout_ms, uint32_t *ready,
                           uint32_t *illegal);

#ifdef __cplusplus
}
#endif
