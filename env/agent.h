/* What a baseline is, and how agents are seated and asked: the one header to read before writing a
 * built-in agent.
 *
 * An agent sees a view: the row and the mask of its own seat, and the ruleset that explains them.
 * It never sees a state, so it cannot cheat, and it can sit in a daemon, in a program or behind a
 * socket without noticing. An agent that searches asks the view's planner for imagined states.
 *
 * The whole of an agent that takes the first legal action:
 *
 *     static void start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
 *                       uint32_t seat, uint64_t seed) {}
 *     static uint32_t act(void *memory, const TyView *view)
 *     {
 *         uint32_t action = 0;
 *         while (!view->mask[action]) {
 *             action++;
 *         }
 *         return action;
 *     }
 *     static const TyAgent first = {.name = "first", .start = start, .act = act};
 *
 * A program adds it with ty_agent_add(&first); one that plays through a daemon passes it to
 * ty_client_main, as examples/own_agent.c does.
 *
 * Nothing here allocates, locks or calls the system, but ty_agent_open and ty_agent_close. */
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes imagined states for an agent that plans: see ty_plan. */
typedef struct TyPlanner TyPlanner;

/* Asks whether an answer is still wanted; may be called from any thread, and at any time. */
typedef struct TyStop {
    bool (*asked)(void *user); /* true: it is not, and will not be */
    void *user;
} TyStop;

/* What an agent sees when it has to act. Valid during the call only. */
typedef struct TyView {
    const TyAgent *agent; /* itself: its settings and data */
    const TyRuleset *ruleset;
    uint32_t seat;
    const uint8_t *row;       /* what the seat may know: `row_size` bytes */
    const uint8_t *mask;      /* `action_count` bytes, at least one of them set */
    const TyPlanner *planner; /* NULL unless the agent plans */
    const TyStop *stop; /* NULL, or asked now and then by agents that think for long: if it says so,
                           they return any legal action at once, which is not played */
    TyNotes *notes; /* NULL, or somebody asks what the agent thinks of its choices: see ty_note */
} TyView;

/* Tells of one action; does nothing if nobody asks. An agent calls it, in `act`, at most once for
 * each legal action. What it tells changes nothing of what it plays.
 *
 *     ty_note(view, (TyNote){action, .probability = 0.7f, .value = NAN, .visits = NAN}); */
static inline void ty_note(const TyView *view, TyNote note)
{
    if (view->notes != NULL && view->notes->count < TY_ACTIONS_MAX) {
        view->notes->list[view->notes->count++] = note;
    }
}

/* Limits. */
enum {
    TY_AGENT_MEMORY_MAX = 65536, /* bytes of one agent's memory */
    TY_AGENT_NAME_MAX = 128,     /* characters of a name, with settings */
};

/* A file that an agent is opened with. */
typedef struct TyAgentFile {
    const char *bytes;
    size_t size;
    const char *name; /* short, for messages */
} TyAgentFile;

/* An agent: a name, and two functions that it plays with. Plain and constant, so that every seat
 * and thread can share it; what it remembers of an episode is in `memory`.
 *
 * An agent may have settings, as a game has: `search:playouts=256`. ty_agent_open makes of the
 * agent and its settings another one, which has the same functions and `values` of its own. */
struct TyAgent {
    const char *name;   /* of one with settings: all of them, "search:playouts=256" */
    const char *game;   /* the game it knows; NULL: every game */
    const char *help;   /* half a sentence for lists of agents; may be NULL */
    bool plans;         /* it asks the view's planner for imagined states */
    size_t memory_size; /* bytes of its memory, at most TY_AGENT_MEMORY_MAX; it is 8-byte aligned */
    /* Called at the start of an episode, with memory that is all zero. All its randomness comes
     * from `seed`. The memory is plain data: it is copied and saved with the episode. */
    void (*start)(const TyAgent *agent, void *memory, const TyRuleset *ruleset, uint32_t seat,
                  uint64_t seed);
    /* Returns an action that the mask allows. */
    uint32_t (*act)(void *memory, const TyView *view);
    /* Fills `tables`, which are `tables_size` zero bytes, with what all its seats and episodes can
     * share: ty_agent_tables finds them. Called once for each ruleset, when it is opened. NULL:
     * nothing to do. */
    void (*build)(const TyRuleset *ruleset, void *tables);
    size_t tables_size; /* bytes of these tables */
    /* Its settings; ends with a NULL key. NULL: none. At most one is a file: without choices it
     * must be given, and if it is the first field, `net:FILE` is short for `net:file=FILE`; with
     * choices, of which the first is standard, it may be left out. */
    const TyField *fields;
    /* Makes `*data` of the settings, which are in `agent`, and the file: it is never changed
     * afterwards. `file` is NULL if none was given; its bytes are gone afterwards. An agent that
     * has this can only play after ty_agent_open, unless it has a file that may be left out. NULL:
     * nothing to do. */
    TyStatus (*open)(const TyAgent *agent, const TyRuleset *ruleset, const TyAgentFile *file,
                     void **data);
    /* Frees what `open` made; NULL: nothing to do. */
    void (*close)(void *data);
    /* Set by ty_agent_open. */
    const int32_t *values; /* of `fields`; NULL: all are standard */
    void *data;
};

/* ---- The agents that there are --------------------------------------------------------------- */

/* Agent number `index` of those that play `game`; NULL if there are fewer. Agents are never freed.
 *
 *     for (uint32_t i = 0; (agent = ty_agent_at(game, i)) != NULL; i++) {
 *         puts(agent->name);
 *     } */
TY_API const TyAgent *ty_agent_at(const TyGame *game, uint32_t index);

/* The agent of that name that plays `game` as it stands; NULL if there is none, or if it has to be
 * opened first.
 *
 *     const TyGame *game = ty_ruleset_game(ruleset);
 *     const TyAgent *expert = ty_agent_find(game, "expert"); */
TY_API const TyAgent *ty_agent_find(const TyGame *game, const char *name);

/* Opens the agent that `spec` names, with its settings, to play `ruleset`: "expert",
 * "search:playouts=256". Settings that are left out have their standard values. `files` opens the
 * file of a file setting; NULL: none. The caller closes `*agent`, which is NULL on failure, after
 * everything that uses it: TY_BAD_CONFIG for an unknown agent, setting or value, TY_LIMIT,
 * TY_NO_MEMORY, or what `files->open` or the agent itself returned.
 *
 *     const TyAgent *agent;
 *     TyStatus status = ty_agent_open(ruleset, "search:playouts=256", NULL, &agent);
 *     ty_agent_close(agent); */
TY_API TyStatus ty_agent_open(const TyRuleset *ruleset, const char *spec, const TyFiles *files,
                              const TyAgent **agent);
/* ty_agent_open with `count` files that the caller has read already. They stay the caller's and are
 * not needed after the call.
 *
 *     TyFileBytes mine = {.value = "mine", .name = "mine", .bytes = weights, .size = size};
 *     ty_agent_open_bytes(ruleset, "net:mine", &mine, 1, &agent); */
TY_API TyStatus ty_agent_open_bytes(const TyRuleset *ruleset, const char *spec,
                                    const TyFileBytes *files, uint32_t count,
                                    const TyAgent **agent);
/* Frees what ty_agent_open made. `agent` may be NULL, and one that was not opened stays. */
TY_API void ty_agent_close(const TyAgent *agent);

/* The value of setting `key`; INT32_MIN if the agent has no such setting. */
TY_API int32_t ty_agent_setting(const TyAgent *agent, const char *key);

/* What the agent's `build` made of the ruleset; NULL if it has none, or was added after the ruleset
 * was opened.
 *
 *     memory->map = ty_agent_tables(ruleset, agent); */
TY_API const void *ty_agent_tables(const TyRuleset *ruleset, const TyAgent *agent);

/* The length of the first entry of a list of agents with commas, settings included: 30 of
 * "expert:style=bold,skill=0.7,random" are the expert's.
 *
 *     for (const char *at = list;; at += length + 1) {
 *         length = ty_agent_spec_length(at);
 *         if (at[length] == '\0') {
 *             break;
 *         }
 *     } */
TY_API size_t ty_agent_spec_length(const char *list);

/* Adds a program's own agent to the list: from then on pools, searches and tools find it by its
 * name. `agent` stays the caller's and must live as long as the process; it is never removed. Call
 * this before starting the pools and threads that are to use it. Fails, and adds nothing:
 * TY_BAD_ARGUMENT if a field is missing or the name is taken in the agent's game, TY_LIMIT if its
 * memory is too large or the list is full.
 *
 *     static const TyAgent mine = {.name = "mine", .game = "express", .start = start, .act = act};
 *     TyStatus status = ty_agent_add(&mine);
 *     config.agent[0] = ty_agent_find(ty_game_find("express"), "mine"); */
TY_API TyStatus ty_agent_add(const TyAgent *agent);

/* The seed of the agent in `seat` in the episode of `seed`: reproducible, and different for every
 * seat. */
TY_API uint64_t ty_agent_seed(uint64_t seed, uint32_t seat);

/* ---- Asking an agent ------------------------------------------------------------------------- */

/* Starts an episode for the agent in `seat`. `memory` is the caller's: the agent's memory_size
 * bytes, 8-byte aligned. It is cleared first, and holds what the agent remembers from now on.
 *
 *     uint64_t memory[TY_AGENT_MEMORY_MAX / 8];
 *     ty_agent_start(agent, memory, ruleset, seat, ty_agent_seed(seed, seat));
 *     uint32_t action = ty_agent_act(agent, memory, ruleset, state); */
TY_API void ty_agent_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                           uint32_t seat, uint64_t seed);

/* Shows the agent the view of the seat to act in `state`, which must not be over, and returns its
 * action, which is legal. The state does not change. */
TY_API uint32_t ty_agent_act(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                             const void *state);

/* ---- Seats of an episode --------------------------------------------------------------------- */

/* Bytes of memory that are enough for any lineup. */
enum { TY_LINEUP_MEMORY_MAX = TY_SEATS_MAX * TY_AGENT_MEMORY_MAX };

/* Which agent plays which seat of one episode, and what each remembers. The caller may read the
 * fields, and set them before ty_lineup_start. */
typedef struct TyLineup {
    const TyRuleset *ruleset;
    const TyAgent *agent[TY_SEATS_MAX]; /* NULL: the caller decides for the seat */
    void *memory[TY_SEATS_MAX];
    const TyStop *stop; /* for the views of the agents; NULL: none */
    TyNotes *notes;     /* of the last choice, for whoever asks; NULL: nobody does */
} TyLineup;

/* Seats `agents`, one for each seat of the ruleset. A chance seat whose entry is NULL follows its
 * weights. `memory` is the caller's, 8-byte aligned: ty_lineup_size bytes, or TY_LINEUP_MEMORY_MAX.
 * It and the ruleset must outlive the lineup.
 *
 *     ty_lineup_init(&lineup, ruleset, agents, memory);
 *     ty_reset(ruleset, state, seed, NULL);
 *     ty_lineup_start(&lineup, seed);
 *     while (!ty_head(state)->over) {
 *         ty_lineup_step(&lineup, state, reward);
 *     } */
TY_API void ty_lineup_init(TyLineup *lineup, const TyRuleset *ruleset,
                           const TyAgent *const agents[TY_SEATS_MAX], void *memory);
/* Bytes of memory that ty_lineup_init takes for these agents. */
TY_API size_t ty_lineup_size(const TyRuleset *ruleset, const TyAgent *const agents[TY_SEATS_MAX]);

/* Starts the episode of `seed` for every agent. Call it after ty_reset with the same seed. */
TY_API void ty_lineup_start(TyLineup *lineup, uint64_t seed);

/* The action of the agent in the seat to act, which must have one. The state does not change. */
TY_API uint32_t ty_lineup_act(TyLineup *lineup, const void *state);

/* Asks the agent in the seat to act and steps the state. Adds what each player earned to `reward`,
 * as ty_step does, and returns the action. Aborts if the agent returns an illegal action. */
TY_API uint32_t ty_lineup_step(TyLineup *lineup, void *state, int32_t reward[TY_SEATS_MAX]);

/* ---- Planning -------------------------------------------------------------------------------- */

/* What a planner knows. ty_agent_act fills it in; agents only pass it to ty_plan. */
struct TyPlanner {
    const TyRuleset *ruleset;
    const void *state;
    uint32_t seat;
};

/* Writes into `state`, which is the caller's, a position that is consistent with everything the
 * seat knows: what is hidden is redealt, and the future is drawn with `key`.
 *
 *     uint64_t state[TY_STATE_MAX / 8];
 *     ty_plan(view->planner, key, state);
 *     ty_step(view->ruleset, state, action, reward, NULL); */
TY_API void ty_plan(const TyPlanner *planner, uint64_t key, void *state);

#ifdef __cplusplus
}
#endif
