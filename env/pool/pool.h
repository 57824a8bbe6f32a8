/* Many episodes of one ruleset stepped together: slots, groups, seats and their owners.
 *
 * Every slot plays one episode at a time. Its seats belong to members (programs that act from
 * outside) or to built-in agents. A member sees its seats through a slab: columns with one row per
 * slot, in memory that the pool allocates or the member provides. When one of its seats is to act,
 * the slot's row in the member's slab holds what that seat sees, and `ready` is set; the member
 * writes an action and steps. Member 0 is the director. A director without seats has rows for
 * endings only.
 *
 *     TyPoolConfig config = {.slots = 1024};
 *     ty_pool_open(ruleset, &config, &pool);
 *     const TySlab *slab = ty_pool_slab(pool, 0);
 *     const uint8_t *obs = ty_slab_column(slab, 0, TY_COLUMN_OBS);
 *     for (;;) {
 *         choose(obs, ty_slab_column(slab, 0, TY_COLUMN_ACTION));
 *         ty_pool_step(pool, 0, 0, NULL);
 *     }
 *
 * In a pool whose seats all belong to built-in agents the director lets them act: every row of a
 * running episode is ready, and a step takes one decision of the agent to act, whatever the action
 * column says. The rows have the seat to act, what was earned so far, and the endings; their
 * observation and mask stay zero.
 *
 *     TyPoolConfig config = {.slots = 64, .agent = {expert, expert}};
 *     ty_pool_open(ruleset, &config, &pool);
 *     while (ty_pool_counts(pool).episodes < 1000) {
 *         ty_pool_step(pool, 0, 0, NULL);
 *     } */
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a pool. */
enum {
    TY_SLOTS_MAX = 1 << 20,
    TY_GROUPS_MAX = 64,
    TY_THREADS_MAX = 256,
    TY_MEMBERS_MAX = TY_SEATS_MAX,
    TY_SLAB_ALIGN = 64,   /* alignment of columns in bytes */
    TY_KEY_SIZE = 16,     /* bytes of a pool's key */
    TY_EVENTS_KEPT = 256, /* events of a slot that a pool with `events` keeps */
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
    TY_ILLEGAL_LOSE,         /* the episode ends, and the seat that acted loses */
} TyIllegal;

/* Columns of a slab. `K` below is the number of seats that the member owns. */
typedef enum TyColumn {
    TY_COLUMN_OBS,          /* u8 [row_size]: the row of the seat to act */
    TY_COLUMN_MASK,         /* u8 [action_count] */
    TY_COLUMN_REWARD,       /* f32: earned by the row's seat since its previous row */
    TY_COLUMN_EARNED,       /* f32 [K]: earned by each owned seat since the slot's previous row. A
                               director without seats: [players], by each in the episode */
    TY_COLUMN_SEAT,         /* i8: whose row it is */
    TY_COLUMN_READY,        /* u8: an action is expected here */
    TY_COLUMN_TERMINATED,   /* u8: the episode has ended by its rules */
    TY_COLUMN_TRUNCATED,    /* u8: the episode was cut off */
    TY_COLUMN_ILLEGAL,      /* u8: the last action was not legal */
    TY_COLUMN_EPISODE,      /* u32: episodes finished in this slot before this one */
    TY_COLUMN_STEP,         /* u32: decisions taken in this episode; others than the director count
                               those of their own seats only */
    TY_COLUMN_SEED,         /* u64: of the episode. Others than the director have 0 or, with
                               `reveal_seeds`, hear it when the episode is over */
    TY_COLUMN_METRICS,      /* i32 [metric_count]: of the episode that ended with this row */
    TY_COLUMN_FINAL_OBS,    /* u8 [K][row_size]: what each owned seat saw at the end */
    TY_COLUMN_FINAL_REWARD, /* f32 [K]: earned by each owned seat since its last row before the end
                             */
    TY_COLUMN_FULL,         /* u8 [full_size]: privileged row; only if asked for */
    TY_COLUMN_HASH,         /* u64: hash of the state; only if asked for */
    TY_COLUMN_MASK_BITS,    /* u8 [ty_mask_bits_size]: the mask, eight actions in a byte, the lowest
                               bit first. Only in messages of the daemon, if asked for */
    TY_COLUMN_ACTION,       /* i32: what the member answers; the only column that it writes */
    TY_COLUMN_COUNT,
} TyColumn;

/* Types of values in columns. */
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

/* The group of a slot: group g of `groups` has the slots from slots * g / groups on. */
static inline uint32_t ty_slot_group(uint32_t slots, uint32_t groups, uint32_t slot)
{
    return (uint32_t)((((uint64_t)slot + 1) * groups - 1) / slots);
}

/* Bytes of one value of a type. */
TY_API uint32_t ty_type_size(TyType type);
/* The name of a column ("final_obs"), as the protocol and the Python package use it. */
TY_API const char *ty_column_name(TyColumn column);
/* The type of a column's values. */
TY_API TyType ty_column_type(TyColumn column);

/* A member's columns, group by group. The pool owns it; ty_slab_column gives the addresses. */
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

/* What to open; zero-initialise it. */
typedef struct TyPoolConfig {
    uint32_t slots;
    uint32_t groups;  /* 0 counts as 1 */
    uint32_t threads; /* that step, the caller's among them; 0 counts as 1 */
    uint64_t seed;    /* slot i has seed + i; not used if the pool is keyed */
    TyAutoreset autoreset;
    TyIllegal illegal;
    uint32_t max_steps; /* decisions after which an episode is truncated; 0: never */
    bool full;          /* with the column of privileged rows; director only */
    bool hash;          /* with the column of hashes; director only */
    bool events;        /* what happened is kept for ty_pool_events: steps take longer */
    uint32_t members;   /* 0 counts as 1; member 0 is the director */
    /* Per seat: the built-in agent that plays it, or (NULL) the member that owns it. */
    const TyAgent *agent[TY_SEATS_MAX];
    uint8_t owner[TY_SEATS_MAX];
    bool own_chance; /* a member plays the chance seat; otherwise draws follow their weights */
    /* Seeds without a key are for people: they can be typed, and from one of them the others of the
     * pool are easily computed. In a keyed pool the seeds of episodes and those of built-in agents
     * are pseudo-random functions of the key, each of its own: none tells of another. */
    bool keyed;
    bool reveal_seeds; /* members hear the seeds of episodes that are over */
    uint8_t key[TY_KEY_SIZE];
} TyPoolConfig;

/* An open pool. Calls on one pool must come one at a time. */
typedef struct TyPool TyPool;

/* Opens a pool, with every slot at the start of its first episode. `config` is copied; the ruleset
 * must outlive the pool. The caller closes `*pool`, which is NULL on failure: TY_BAD_ARGUMENT names
 * the field that is out of range, TY_NO_MEMORY, TY_LIMIT if the system has no threads left.
 *
 *     TyPool *pool;
 *     TyStatus status = ty_pool_open(ruleset, &(TyPoolConfig){.slots = 64, .seed = 7}, &pool);
 *     ty_pool_close(pool); */
TY_API TyStatus ty_pool_open(const TyRuleset *ruleset, const TyPoolConfig *config, TyPool **pool);
/* Closes a pool and frees its slabs. `pool` may be NULL. */
TY_API void ty_pool_close(TyPool *pool);
/* The pool's configuration, with defaults filled in. The pool owns it. */
TY_API const TyPoolConfig *ty_pool_config(const TyPool *pool);
/* True if the pool's threads and its caller together are more than the processors: then a thread
 * that waits for another should yield instead of spinning. */
TY_API bool ty_pool_crowded(const TyPool *pool);
/* The pool's ruleset. */
TY_API const TyRuleset *ty_pool_ruleset(const TyPool *pool);
/* Bytes that a pool of this configuration would take, slabs included; 0 if it is out of range. */
TY_API uint64_t ty_pool_bytes(const TyRuleset *ruleset, const TyPoolConfig *config);
/* Bytes that the pool takes for each slot, slabs included. */
TY_API uint64_t ty_pool_slot_bytes(const TyPool *pool);

/* The slab of a member, valid until the pool is closed. The pool owns its memory, except between
 * ty_pool_attach and ty_pool_detach. */
TY_API const TySlab *ty_pool_slab(const TyPool *pool, uint32_t member);
/* Moves a member's slab into the caller's memory: `rows_size` and `commands_size` bytes of the
 * slab, aligned to TY_SLAB_ALIGN, which must live until ty_pool_detach or ty_pool_close. The rows
 * are copied. */
TY_API void ty_pool_attach(TyPool *pool, uint32_t member, uint8_t *rows, uint8_t *commands);
/* Moves it back into the pool's own memory. Fails, and leaves it where it is, only with
 * TY_NO_MEMORY. */
TY_API TyStatus ty_pool_detach(TyPool *pool, uint32_t member);
/* The address of the first value of a group's column; NULL if the slab has no such column. It stays
 * the same as long as the slab is not moved.
 *
 *     int32_t *action = ty_slab_column(slab, 0, TY_COLUMN_ACTION);
 *     const uint8_t *ready = ty_slab_column(slab, 0, TY_COLUMN_READY); */
TY_API void *ty_slab_column(const TySlab *slab, uint32_t group, TyColumn column);

/* Takes the member's action for every ready row of the group, plays each slot until a member has to
 * act (or, if there are only agents, by one decision), and writes the rows. Returns how many rows
 * are ready for the member. With TY_ILLEGAL_ERROR, `*illegal` is how many actions were refused;
 * `illegal` may be NULL.
 *
 *     ty_sample_rows(slab, 0, seed);
 *     uint32_t ready = ty_pool_step(pool, 0, 0, NULL); */
TY_API uint32_t ty_pool_step(TyPool *pool, uint32_t member, uint32_t group, uint32_t *illegal);
/* The same for the rows whose `which` byte is set, one byte per row of the group. */
TY_API uint32_t ty_pool_step_some(TyPool *pool, uint32_t member, uint32_t group,
                                  const uint8_t *which, uint32_t *illegal);
/* The same for `count` slots of any group, each named once: it costs as much as they are many.
 * Returns how many of them are ready for the member. */
TY_API uint32_t ty_pool_step_slots(TyPool *pool, uint32_t member, const uint32_t *slots,
                                   uint32_t count, uint32_t *illegal);
/* How many rows of the group wait for the member. */
TY_API uint32_t ty_pool_ready(const TyPool *pool, uint32_t member, uint32_t group);

/* How many rows of the group wait for another member. */
TY_API uint32_t ty_pool_pending(const TyPool *pool, uint32_t member, uint32_t group);
/* The members that a slot waits for: one bit per member. */
TY_API uint8_t ty_pool_waiting(const TyPool *pool, uint32_t slot);
/* True if the episode in slot `slot` is over: by its rules, or because it was truncated, which its
 * state does not say. */
TY_API bool ty_pool_over(const TyPool *pool, uint32_t slot);

/* Starts new episodes in the slots whose `which` byte is set (NULL: all). `seeds`, if not NULL, has
 * one seed per slot: they replace the seeds of these slots, whose episodes count from 0 again. In a
 * keyed pool they are the seeds of these episodes; those that follow depend on the key too. */
TY_API void ty_pool_reset(TyPool *pool, const uint8_t *which, const uint64_t *seeds);

/* Which new episodes begin: each member has an entry per slot, or is NULL. */
typedef struct TyReset {
    const uint8_t *which;     /* the slots, as of ty_pool_reset */
    const uint64_t *seeds;    /* of the slots, as of ty_pool_reset */
    const uint64_t *episodes; /* their numbers. NULL: the next ones, or 0 with `seeds` */
} TyReset;

/* The same for a run that goes on where another was left: with the slots' seeds and the numbers of
 * the episodes, these and all that follow are those of the other run.
 *
 *     ty_pool_reset_to(pool, &(TyReset){.seeds = seeds, .episodes = episodes}); */
TY_API void ty_pool_reset_to(TyPool *pool, const TyReset *reset);

/* Says whether a member is present; all are at first. Endings do not wait for an absent member.
 * Where one of its seats is to act, the slot rests until the member is back, or until
 * ty_pool_truncate or ty_pool_hand_over. */
TY_API void ty_pool_set_present(TyPool *pool, uint32_t member, bool present);
/* Truncates the running episodes in which a seat of `member` is to act. */
TY_API void ty_pool_truncate(TyPool *pool, uint32_t member);
/* The same in `count` slots only. */
TY_API void ty_pool_truncate_slots(TyPool *pool, uint32_t member, const uint32_t *slots,
                                   uint32_t count);
/* From now on `agent` plays the seats of `member`, in running episodes too. Fails, and changes
 * nothing, only with TY_NO_MEMORY. */
TY_API TyStatus ty_pool_hand_over(TyPool *pool, uint32_t member, const TyAgent *agent);

/* Makes `seats`, one bit per seat, the seats of `member`. The member and the seats' previous owners
 * must be absent; their slabs get a new layout. Fails, and changes nothing, only with
 * TY_NO_MEMORY. */
TY_API TyStatus ty_pool_assign(TyPool *pool, uint32_t member, uint8_t seats);

/* What has happened in a pool so far. */
typedef struct TyPoolCounts {
    uint64_t decisions; /* actions of members that were taken, acknowledged endings included */
    uint64_t episodes;  /* that have ended */
} TyPoolCounts;

/* What has happened so far. */
TY_API TyPoolCounts ty_pool_counts(const TyPool *pool);

/* The state of a slot, read-only and valid until the next step. */
TY_API const void *ty_pool_state(const TyPool *pool, uint32_t slot);

/* ---- What happened -----------------------------------------------------------------------------
 */

/* What happened in a slot between the last row of `seat` and the one before; since its beginning
 * for the first row of an episode, the ending before it included where the row has one under it
 * (same_step). Writes up to `count` events, the oldest first, and returns how many. `*missed`, if
 * not NULL, is how many before those are no longer kept. Nothing in a pool without `events`, and in
 * a slot into which a snapshot was restored until something happens there. An event may be secret:
 * tell it by ty_event_text and ty_event_json_for.
 *
 *     TyEvent events[TY_EVENTS_KEPT];
 *     uint32_t count = ty_pool_events(pool, slot, seat, events, TY_EVENTS_KEPT, NULL); */
TY_API uint32_t ty_pool_events(const TyPool *pool, uint32_t slot, uint32_t seat, TyEvent *events,
                               uint32_t count, uint32_t *missed);
/* The same as a JSON object, as `seat` may know it: `missed`, and `events`, each with its sentence
 * as `text`. Returns the length, as snprintf does; so does the next. */
TY_API size_t ty_pool_events_json(const TyPool *pool, uint32_t slot, uint32_t seat, char *out,
                                  size_t size);
/* The text of a slot for `seat` (ty_text); in a pool with `events`, what happened before it. */
TY_API size_t ty_pool_text(const TyPool *pool, uint32_t slot, uint32_t seat, char *out,
                           size_t size);

/* ---- Observers ------------------------------------------------------------------------------- */

/* Why an episode ended. */
typedef enum TyCause {
    TY_CAUSE_RULES,   /* the game is over */
    TY_CAUSE_CAP,     /* a cap of the game itself */
    TY_CAUSE_STEPS,   /* max_steps of the pool */
    TY_CAUSE_CUT,     /* ty_pool_truncate */
    TY_CAUSE_FORFEIT, /* an illegal action where that loses */
} TyCause;

/* How an episode ended. */
typedef struct TyEnding {
    TyCause cause;
    int8_t seat; /* the seat that forfeited; otherwise -1 */
    const int32_t
        *reward; /* per player, in 1/64: earned by the ending itself, after the last step */
} TyEnding;

/* Callbacks that follow everything played in a pool, such as a recorder's. Calls for one slot come
 * one after the other; those for different slots may come from several threads at once. */
typedef struct TyObserver {
    void *user;
    /* A new episode has started in the slot; one that was running there is abandoned. */
    void (*begin)(void *user, uint32_t slot, uint64_t seed, uint64_t episode, const void *state);
    /* What the built-in agent that acts now tells of its choice; the decision follows. NULL: agents
     * are not asked. */
    void (*noted)(void *user, uint32_t slot, const TyNotes *notes);
    /* `action` was taken, earned `reward` (per player, in 1/64) and led to `state`. */
    void (*decision)(void *user, uint32_t slot, uint32_t action, const int32_t *reward,
                     const void *state);
    /* The episode is over. No member has seen it yet. False: none shall see it before
     * ty_pool_release, which calls this again, with `ending` NULL. */
    bool (*end)(void *user, uint32_t slot, const TyEnding *ending, const void *state);
    /* A snapshot was restored into the slot: what follows is not the episode of its seed. */
    void (*replace)(void *user, uint32_t slot);
} TyObserver;

/* Sets the pool's observer, which is copied (NULL: none). Restarts every running episode, so that
 * it is seen from its start: call this before the first step. */
TY_API void ty_pool_observe(TyPool *pool, const TyObserver *observer);
/* Slots whose ending the observer holds back: nothing is asked and nothing shown there. */
TY_API uint32_t ty_pool_held(const TyPool *pool);
/* True if slot `slot` is one of them. */
TY_API bool ty_pool_slot_held(const TyPool *pool, uint32_t slot);
/* Asks the observer again about the endings that it holds back, until it refuses one. Returns how
 * many are still held. */
TY_API uint32_t ty_pool_release(TyPool *pool);

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* Bytes of a snapshot of one slot. */
TY_API uint32_t ty_pool_snapshot_size(const TyPool *pool);
/* Copies slot `slot` into `snapshot`, ty_pool_snapshot_size bytes of the caller's: plain bytes that
 * can be kept, sent and restored in any pool of the same ruleset and seats.
 *
 *     void *snapshot = malloc(ty_pool_snapshot_size(pool));
 *     ty_pool_save(pool, 0, snapshot);
 *     ty_pool_restore(pool, snapshot, slots, count, &(TyRestore){.seat = -1}); */
TY_API void ty_pool_save(const TyPool *pool, uint32_t slot, void *snapshot);
/* How a snapshot is restored. */
typedef struct TyRestore {
    const uint64_t *keys; /* per slot: the key of its new future; NULL: exactly as saved */
    int32_t seat;         /* redeal what this seat cannot know, which needs keys; -1: nothing */
    bool foreign;         /* the bytes come from outside: built-in agents start with empty memory */
} TyRestore;

/* Restores a snapshot into `count` slots. TY_BAD_ARGUMENT, and nothing changed, if it is damaged,
 * of another kind of pool, a slot does not exist, or there is a seat without keys. With `count` 0
 * it is only checked, and `how` may be NULL. */
TY_API TyStatus ty_pool_restore(TyPool *pool, const void *snapshot, const uint32_t *slots,
                                uint32_t count, const TyRestore *how);

/* ---- Rollouts and sampling ---------------------------------------------------------------------
 */

/* Lets `agent` play `count` copies of slot `slot`, at most `max_steps` decisions each (0: to the
 * end). Copy i has the future of keys[i] and, with `seat` >= 0, what that seat cannot know redealt.
 * Writes what each player earned, `count` x players, and the metrics at the end, `count` x metrics;
 * either may be NULL. The slot itself does not change. */
TY_API void ty_pool_rollout(TyPool *pool, uint32_t slot, const TyAgent *agent, uint32_t count,
                            const uint64_t *keys, int32_t seat, uint32_t max_steps, float *earned,
                            int32_t *metrics);

/* Writes uniformly random legal actions for a group: each row draws with (seed, slot, episode,
 * step), so that the choice does not depend on batches. Rows that are not ready or have an empty
 * mask get action 0. */
TY_API void ty_sample_rows(const TySlab *slab, uint32_t group, uint64_t seed);
/* What the random action of a row depends on. */
typedef struct TyRowKey {
    uint32_t slot;
    uint32_t episode;
    uint32_t step;
} TyRowKey;
/* The same draw for one row with a mask of `width` bytes. */
TY_API int32_t ty_sample_row(const uint8_t *mask, uint32_t width, uint64_t seed, TyRowKey key);

/* Bytes of a mask of `width` actions as bits. */
static inline uint32_t ty_mask_bits_size(uint32_t width)
{
    return (width + 7) / 8;
}
/* Writes a mask, `width` bytes of 0 or 1, as bits: eight actions in a byte, the lowest bit first;
 * bits behind the last action are 0. */
TY_API void ty_mask_pack(const uint8_t *mask, uint32_t width, uint8_t *bits);
/* The opposite, for `rows` masks one behind the other.
 *
 *     const uint8_t *bits = rows.column[TY_COLUMN_MASK_BITS];
 *     ty_mask_unpack(bits, pool.action_count, rows.count, masks); */
TY_API void ty_mask_unpack(const uint8_t *bits, uint32_t width, uint32_t rows, uint8_t *masks);
/* What ty_sample_row draws from the mask that these bits are. */
TY_API int32_t ty_sample_row_bits(const uint8_t *bits, uint32_t width, uint64_t seed, TyRowKey key);

/* Steps the member's rows of the group with random actions, `rounds` times. Spreads the slots over
 * their episodes, and measures the upper bound for a loop outside the library. */
TY_API void ty_pool_step_random(TyPool *pool, uint32_t member, uint32_t group, uint64_t seed,
                                uint32_t rounds);

/* ---- Steps in flight ------------------------------------------------------------------------- */

/* A thread that steps groups for a member, one after the other, while the caller works on another
 * group. Nothing else of the pool may be called while a group is in flight.
 *
 *     ty_flight_send(flight, 0);
 *     choose(1); // group 1, while group 0 is stepped
 *     ty_flight_recv(flight, 0, 1000, &ready, &illegal); */
typedef struct TyFlight TyFlight;

/* Starts the thread. The pool must outlive it. The caller closes `*flight`, which is NULL on
 * failure: TY_NO_MEMORY, or TY_LIMIT if the system has no thread left. */
TY_API TyStatus ty_flight_open(TyPool *pool, uint32_t member, TyFlight **flight);
/* Waits for the groups in flight and ends the thread. `flight` may be NULL. */
TY_API void ty_flight_close(TyFlight *flight);
/* Starts a step of the group. False, and nothing happens, if it is in flight already. */
TY_API bool ty_flight_send(TyFlight *flight, uint32_t group);
/* Waits until the group has been stepped and sets what ty_pool_step would have returned. False, and
 * nothing set, if that takes longer than `timeout_ms`. For a group that is not in flight, sets the
 * results of its last step at once. */
TY_API bool ty_flight_recv(TyFlight *flight, uint32_t group, uint32_t timeout_ms, uint32_t *ready,
                           uint32_t *illegal);

#ifdef __cplusplus
}
#endif
