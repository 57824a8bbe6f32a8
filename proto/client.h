/* A client of the daemon over ZeroMQ, in C: one function for every operation of PROTOCOL.md.
 *
 *     TyClient *client;
 *     ty_client_connect(&(TyClientConfig){.endpoint = "ipc:///run/user/1000/trainyard/trainyardd"},
 *                       &client);
 *     TyClientPool pool;
 *     ty_client_open_pool(client, &(TyClientOpen){.ruleset = "convoi", .slots = 64}, &pool);
 *     TyClientRows rows;
 *     ty_client_reset(client, &pool, NULL, NULL, &rows);
 *     while (playing) {
 *         choose(rows.column[TY_COLUMN_OBS], rows.column[TY_COLUMN_MASK], actions);
 *         ty_client_step(client, &pool, 0, actions, &rows);
 *     }
 *     ty_client_close(client);
 *
 * A pool that was opened with .shm = true is played through shared memory instead, at memory speed:
 *
 *     TyShmClient *shm;
 *     ty_client_attach(client, &pool, &shm);
 *     const TySlab *slab = ty_shm_slab(shm);
 *     while (playing) {
 *         choose(slab);
 *         ty_shm_submit(shm, 0, NULL);
 *         ty_shm_wait(shm, 0, -1);
 *     }
 *     ty_shm_close(shm);
 *
 * The client stays open meanwhile, for resets, snapshots and every other request.
 *
 * Errors. Every request returns a TyStatus: TY_OK, or a code and a sentence. Any request may return
 * TY_IO if the daemon is gone, does not answer or sends an invalid reply, TY_NO_MEMORY if this
 * process has none, TY_LIMIT if too many steps are in flight, and an error of the daemon, whose
 * exact code ty_client_error returns. Results are set only if the status is TY_OK.
 *
 * Memory. Structs and arrays that are passed in stay the caller's: they are read or written during
 * the call only. What results point to belongs to the client and is valid until its next request.
 *
 * A client belongs to one thread. If the connection breaks, the client reconnects and repeats the
 * request that was not answered; the daemon does the work once. A request discards the replies to
 * steps that were submitted before it and not waited for. */
#pragma once

#include "proto/client_shm.h"
#include "trainyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of texts. */
enum {
    TY_CLIENT_TOKEN_SIZE = 65, /* an invitation, with its NUL */
    TY_CLIENT_KEY_SIZE = 41,   /* a CURVE key as text, with its NUL */
    TY_CLIENT_WORD_SIZE = 65,  /* a name in a notice, with its NUL */
};

/* A session with a daemon. */
typedef struct TyClient TyClient;

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Why the daemon refused a request: the error codes of PROTOCOL.md. */
typedef enum TyClientError {
    TY_ERROR_NONE = 0,       /* it did not */
    TY_ERROR_BAD_MESSAGE,    /* the bytes are not a message of the protocol */
    TY_ERROR_BAD_REQUEST,    /* a field is missing, unknown or out of its range */
    TY_ERROR_UNKNOWN_OP,     /* the daemon has no such operation */
    TY_ERROR_BAD_VERSION,    /* it speaks another version of the protocol */
    TY_ERROR_NO_SESSION,     /* the session has expired */
    TY_ERROR_DENIED,         /* wrong access token, or an operation that this member may not use */
    TY_ERROR_STALE_ID,       /* the reply to a repeated request is no longer kept */
    TY_ERROR_BUSY,           /* a step of the same group is in flight, or too many are */
    TY_ERROR_NO_POOL,        /* the session has no such pool */
    TY_ERROR_CLOSED,         /* the pool was closed, or the seats were lost */
    TY_ERROR_CANCELLED,      /* ty_client_cancel */
    TY_ERROR_TIMEOUT,        /* the request took longer than its timeout_ms */
    TY_ERROR_BAD_ARGUMENT,   /* well formed, but not valid there */
    TY_ERROR_BAD_CONFIG,     /* unknown game or key in a ruleset, or a value out of range */
    TY_ERROR_BAD_FILE,       /* a board, map or deck breaks a rule of its format */
    TY_ERROR_ILLEGAL_ACTION, /* the mask forbids the action */
    TY_ERROR_NOT_GIVEN,      /* this member was not given the row that the action is for */
    TY_ERROR_LIMIT,          /* a limit of the daemon would be exceeded */
    TY_ERROR_NO_MEMORY,      /* the daemon has no memory for this */
    TY_ERROR_IO,             /* the daemon could not read or write a file */
    TY_ERROR_UNAVAILABLE,    /* the daemon runs without what this needs */
    TY_ERROR_OTHER,          /* a code that this version of the client does not know */
} TyClientError;

/* Why the daemon refused the client's last request. TY_ERROR_NONE if it did not: then a failed
 * status is about this process, the connection, or an invalid reply.
 *
 *     TyStatus status = ty_client_recv(client, &pool, NULL, &rows);
 *     if (status.code != TY_OK && ty_client_error(client) == TY_ERROR_CLOSED)
 *         return; // the director closed the pool */
TY_API TyClientError ty_client_error(const TyClient *client);

/* ---- Connecting ------------------------------------------------------------------------------ */

/* Where to connect; zero-initialise it. */
typedef struct TyClientConfig {
    const char *endpoint;     /* ipc:///PATH or tcp://HOST:PORT; NULL: the standard one */
    const char *name;         /* for the daemon's statistics and logs; may be NULL */
    const char *access_token; /* for tcp without keys; may be NULL */
    const char *server_key;   /* public CURVE key of the daemon; NULL: no encryption */
    const char *public_key;   /* of the client; with `server_key` */
    const char *secret_key;
    uint32_t timeout_ms; /* for a reply; 0 counts as 30,000 */
    bool admin;          /* ask for the rights of an administrator */
} TyClientConfig;

/* Connects to a daemon and says hello. The caller closes `*client`, which is NULL on failure.
 * TY_BAD_ARGUMENT if keys are missing, TY_IO if no daemon answers there.
 *
 *     TyClient *client;
 *     TyStatus status = ty_client_connect(&(TyClientConfig){.endpoint = "tcp://host:5555",
 *                                                           .access_token = token}, &client); */
TY_API TyStatus ty_client_connect(const TyClientConfig *config, TyClient **client);
/* Ends the session and closes the pools that it directs. `client` may be NULL. */
TY_API void ty_client_close(TyClient *client);
/* Writes a new CURVE key pair. TY_IO if this ZeroMQ has no encryption. */
TY_API TyStatus ty_client_keygen(char public_key[TY_CLIENT_KEY_SIZE],
                                 char secret_key[TY_CLIENT_KEY_SIZE]);
/* How a daemon is. */
typedef struct TyClientHealth {
    bool healthy;
    char trouble[TY_MESSAGE_MAX]; /* what is wrong, in a sentence; "" if nothing is */
    char version[TY_CLIENT_WORD_SIZE];
    uint64_t uptime_ms;
} TyClientHealth;

/* Asks a daemon how it is, without a session: no token is needed, but keys where there are keys.
 * TY_IO if no daemon answers there. */
TY_API TyStatus ty_client_health(const TyClientConfig *config, TyClientHealth *health);
/* Cancels the requests that are under way: whoever waits for one gets TY_IO soon, and
 * TY_ERROR_CANCELLED unless it was done by then. Call it from another thread or a signal handler,
 * while a function of the client waits; otherwise nothing happens. A request that the client gives
 * up after its own timeout is cancelled too. */
TY_API void ty_client_cancel(TyClient *client);
/* Does nothing but keep an idle session from expiring. */
TY_API TyStatus ty_client_ping(TyClient *client);

/* A game that the daemon has. */
typedef struct TyClientGame {
    const char *name;
    const char *title;
    uint32_t rules_version;
    const char *ruleset; /* the standard one */
    uint32_t players;    /* of the standard ruleset */
    const char *const *agents;
    uint32_t agent_count;
    const TyField *fields; /* its settings; `shown` is not set */
    uint32_t field_count;
} TyClientGame;

/* A limit of the daemon. */
typedef struct TyClientLimit {
    const char *name;
    uint64_t value;
} TyClientLimit;

/* What the daemon said about itself. */
typedef struct TyClientDaemon {
    const char *version;
    const char *shm_path; /* its shared-memory socket; "": none */
    bool has_shm;
    bool has_log;    /* ty_client_replay_get works */
    bool has_boards; /* it has its own folder of boards */
    const TyClientGame *games;
    uint32_t game_count;
    const TyClientLimit *limits;
    uint32_t limit_count;
} TyClientDaemon;

/* What the daemon said in its hello; valid until the client is closed. */
TY_API const TyClientDaemon *ty_client_daemon(const TyClient *client);

/* Messages so far, and their bytes without ZeroMQ's framing. */
typedef struct TyClientTraffic {
    uint64_t requests;
    uint64_t request_bytes;
    uint64_t replies;
    uint64_t reply_bytes;
} TyClientTraffic;

/* What this client has sent and received so far. */
TY_API TyClientTraffic ty_client_traffic(const TyClient *client);

/* One pool in the daemon's statistics. */
typedef struct TyClientPoolStats {
    uint32_t pool;
    uint64_t session; /* of its director */
    const char *ruleset;
    uint64_t slots;
    uint64_t groups;
    uint64_t members; /* present ones */
    uint64_t decisions;
    uint64_t episodes;
    uint64_t waiting; /* requests that wait for rows */
    uint64_t jobs;    /* requests in progress */
    uint64_t bytes;
    const char *watch; /* for ty_client_watch; "": nobody may */
} TyClientPoolStats;

/* The daemon's statistics. */
typedef struct TyClientStats {
    uint64_t uptime_ms;
    uint64_t sessions;
    uint64_t decisions; /* of members; in others' pools with open seats, when these are closed */
    uint64_t bytes;     /* of pools */
    const TyClientPoolStats *pools; /* that this client directs; an administrator's are all */
    uint32_t pool_count;
} TyClientStats;

/* The daemon's statistics, now. */
TY_API TyStatus ty_client_stats(TyClient *client, TyClientStats *stats);

/* A session, as administrators see it. */
typedef struct TyClientSession {
    uint64_t number;
    const char *name;
    const char *peer; /* where it comes from */
    bool administrator;
    bool connected;
    uint64_t silent_ms; /* since its last request */
    uint64_t pools;     /* that it has opened or joined */
    uint64_t requests;  /* that are not answered yet */
    uint64_t bytes;     /* that it has in use */
} TyClientSession;

/* Every session of the daemon. They are there until the next call. */
typedef struct TyClientSessions {
    const TyClientSession *sessions;
    uint32_t count;
} TyClientSessions;

/* Lists the sessions; for administrators. */
TY_API TyStatus ty_client_sessions(TyClient *client, TyClientSessions *sessions);
/* Ends somebody else's session, and closes its pools; for administrators. */
TY_API TyStatus ty_client_end_session(TyClient *client, uint64_t number);
/* Closes the pool of a number, whoever directs it; for administrators. */
TY_API TyStatus ty_client_close_any_pool(TyClient *client, uint32_t pool);

/* What a notice is about. */
typedef enum TyClientNews {
    TY_NEWS_OTHER,
    TY_NEWS_JOINED,   /* `by` took the seat */
    TY_NEWS_LEFT,     /* its member is gone; agent `by` plays on, or "": episodes are truncated */
    TY_NEWS_LATE,     /* the same: its member did not answer in time */
    TY_NEWS_CLOSED,   /* the pool was closed */
    TY_NEWS_STOPPING, /* the daemon is to stop: no new episodes begin */
} TyClientNews;

/* Something that happened to a pool of this session. */
typedef struct TyClientNotice {
    uint32_t pool;
    int32_t seat; /* -1: this member's own */
    TyClientNews news;
    char by[TY_CLIENT_WORD_SIZE];
} TyClientNotice;

/* Takes the oldest notice that came with replies; false if there is none. The last 32 are kept.
 *
 *     TyClientNotice notice;
 *     while (ty_client_notice(client, &notice))
 *         if (notice.news == TY_NEWS_LEFT) ... */
TY_API bool ty_client_notice(TyClient *client, TyClientNotice *notice);
/* The same, but waits for a notice if there is none: the daemon sends them at once, without being
 * asked. False after `timeout_ms`, if the connection fails, and while steps are in flight, whose
 * replies bring the notices. What the last reply pointed to is no longer valid. */
TY_API bool ty_client_notice_wait(TyClient *client, uint32_t timeout_ms, TyClientNotice *notice);

/* ---- Rulesets -------------------------------------------------------------------------------- */

/* A block of rows, with names for its values. */
typedef struct TyClientBlock {
    TyBlock block;
    const char *const *labels; /* [rows][columns] */
    const char *const *values; /* what each of 0..maximum means, for categories; otherwise NULL */
} TyClientBlock;

/* A source of chance. */
typedef struct TyClientStream {
    const char *name;
    const char *const *outcomes;
    uint32_t outcome_count;
} TyClientStream;

/* A ruleset as the daemon knows it. */
typedef struct TyClientSchema {
    const char *ruleset; /* canonical */
    const char *note;    /* what of its boards and decks is a reconstruction */
    const char *game;
    const char *title;
    uint32_t rules_version;
    uint64_t schema_hash;
    bool cooperative;
    uint32_t players;
    uint32_t seats; /* the players, plus one if chance is a seat */
    uint32_t state_size;
    uint32_t row_size;
    uint32_t full_size;
    uint32_t action_count;
    const char *const *actions; /* the name of each */
    const TyClientBlock *row_blocks;
    uint32_t row_block_count;
    const TyClientBlock *full_blocks;
    uint32_t full_block_count;
    const char *const *metrics;
    uint32_t metric_count;
    const TyClientStream *streams;
    uint32_t stream_count;
} TyClientSchema;

/* The schema of a ruleset. `files` are the user's own boards and decks: `value` is what the ruleset
 * says for them, `bytes` and `size` their content; NULL if `file_count` is 0. TY_BAD_CONFIG or
 * TY_BAD_FILE if the ruleset is not valid.
 *
 *     TyClientSchema schema;
 *     ty_client_describe(client, "convoi:players=3", NULL, 0, &schema);
 *     printf("%s\n", schema.actions[action]); */
TY_API TyStatus ty_client_describe(TyClient *client, const char *ruleset, const TyFileBytes *files,
                                   uint32_t file_count, TyClientSchema *schema);

/* A ruleset for people, language models and drawings. */
typedef struct TyClientRules {
    const char *ruleset; /* canonical */
    const char *rules;   /* ty_rules_text */
    const char *board;   /* ty_board_json */
} TyClientRules;

/* How to play a ruleset, and its board as data; otherwise as ty_client_describe. */
TY_API TyStatus ty_client_rules(TyClient *client, const char *ruleset, const TyFileBytes *files,
                                uint32_t file_count, TyClientRules *rules);

/* ---- Pools ----------------------------------------------------------------------------------- */

/* What to open; zero-initialise it. Zero, NULL and false mean the daemon's default. */
typedef struct TyClientOpen {
    const char *ruleset;
    const TyFileBytes *files; /* the user's own boards and decks, as for ty_client_describe */
    uint32_t file_count;
    uint32_t slots;   /* episodes side by side */
    uint32_t groups;  /* into which they are split */
    uint32_t threads; /* that step them */
    uint64_t seed;    /* a number that stands for a key; with plain_seeds slot i has seed + i */
    const uint8_t
        *key;          /* TY_KEY_SIZE bytes from which all seeds come; NULL: of `seed`, or random */
    bool plain_seeds;  /* without a key, as in pools of the library: one tells the others */
    bool reveal_seeds; /* players hear the seeds of episodes that are over */
    const char *autoreset;
    const char *illegal;
    uint32_t max_steps;
    const char *seats[TY_SEATS_MAX]; /* NULL-terminated: "me", "open" or an agent */
    uint32_t columns; /* of replies with rows: bit 1 << TyColumn each; 0: all but mask_bits */
    bool full;
    bool hash;
    bool events;      /* what happens is kept, for ty_client_events */
    bool notes;       /* what members and agents tell of their choices goes into the daemon's log */
    bool shm;         /* this member's rows go through shared memory */
    uint32_t history; /* positions of every slot that are kept, for ty_client_svg_at */
    const char *watch;    /* whose eyes spectators have, "public" or a seat; NULL: there are none */
    uint32_t watch_delay; /* decisions that they are behind, until the episode is over */
    uint32_t seat_timeout_ms;
    const char *on_vanish;
    uint32_t timeout_ms; /* after which the daemon gives up, with TY_ERROR_TIMEOUT; 0: never */
} TyClientOpen;

/* Which seats of another client's pool to take; zero-initialise it. */
typedef struct TyClientJoin {
    uint32_t pool;
    const char *invite;   /* what its director got from ty_client_open_pool */
    const uint8_t *seats; /* NULL: every open seat */
    uint32_t seat_count;
    uint32_t columns; /* as in TyClientOpen */
    bool shm;
} TyClientJoin;

/* A pool as this client sees it. Plain data, which the caller may copy. */
typedef struct TyClientPool {
    uint32_t id;
    uint32_t member; /* 0: the director */
    char invite[TY_CLIENT_TOKEN_SIZE];
    char watch[TY_CLIENT_TOKEN_SIZE]; /* with which others watch; "": nobody may */
    uint8_t key[TY_KEY_SIZE];         /* of the pool, with which the director can open it again */
    char warning[TY_MESSAGE_MAX];     /* what the director should know; "" if there is nothing */
    uint8_t shm_token[16];
    bool shm;
    char ruleset[TY_SPEC_MAX]; /* canonical */
    uint32_t rules_version;
    uint64_t schema_hash;
    uint32_t players;
    uint32_t row_size;
    uint32_t action_count;
    uint64_t slot_bytes; /* memory for each slot; director only */
    uint32_t seat_count; /* of this member */
    uint8_t seats[TY_SEATS_MAX];
    uint32_t width[TY_COLUMN_COUNT]; /* values in a row of each column; 0: replies have none */
    uint32_t slots;
    uint32_t groups;
    struct {
        uint32_t first;
        uint32_t rows;
    } group[TY_GROUPS_MAX];
} TyClientPool;

/* Opens a pool, with this client as its director. It ends with the client, or with
 * ty_client_close_pool. TY_BAD_CONFIG, TY_BAD_FILE for the ruleset, TY_BAD_ARGUMENT for the rest.
 *
 *     TyClientPool pool;
 *     ty_client_open_pool(client, &(TyClientOpen){.ruleset = "nordic", .slots = 64,
 *                                                 .seats = {"me", "expert"}}, &pool); */
TY_API TyStatus ty_client_open_pool(TyClient *client, const TyClientOpen *open, TyClientPool *pool);
/* Takes open seats of another client's pool. TY_BAD_ARGUMENT if the invite is wrong or a seat is
 * not open.
 *
 *     ty_client_join(client, &(TyClientJoin){.pool = 7, .invite = token}, &pool); */
TY_API TyStatus ty_client_join(TyClient *client, const TyClientJoin *join, TyClientPool *pool);
/* Gives up the seats: they are then played as the director chose (`on_vanish`). */
TY_API TyStatus ty_client_leave(TyClient *client, const TyClientPool *pool);
/* Closes the pool; director only. */
TY_API TyStatus ty_client_close_pool(TyClient *client, const TyClientPool *pool);
/* Maps the shared memory of a pool that was opened or joined with `shm`. The caller closes `*shm`
 * before the client; closing it gives up the member's seats, and closes the pool if this is its
 * director. TY_BAD_ARGUMENT if the pool has no shared memory. */
TY_API TyStatus ty_client_attach(TyClient *client, const TyClientPool *pool, TyShmClient **shm);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Rows of a reply. The columns are as they arrived: values may be unaligned. */
typedef struct TyClientRows {
    uint32_t count;
    uint32_t ready;        /* rows that wait for this member */
    int32_t group;         /* the group of the rows; -1: of several groups */
    const uint32_t *slots; /* of the rows; NULL: all of the group, or of the pool */
    uint32_t ended_count;
    const uint32_t *ended; /* rows whose episode ended; metrics, final_obs and final_reward have
                              entries for these only */
    uint32_t refused;      /* refused actions: see ty_client_refusal */
    uint32_t ignored;      /* actions that did not count: the rows were not given to this member */
    const uint8_t *column[TY_COLUMN_COUNT]; /* NULL: the reply has none */
} TyClientRows;

/* Starts new episodes in the slots whose `which` byte is set (NULL: all), with new slot seeds if
 * `seeds` is not NULL; both have one entry per slot of the pool. Director only. Sets the rows of
 * the whole pool.
 *
 *     ty_client_reset(client, &pool, NULL, NULL, &rows); */
TY_API TyStatus ty_client_reset(TyClient *client, const TyClientPool *pool, const uint8_t *which,
                                const uint64_t *seeds, TyClientRows *rows);
/* The same with the numbers of the episodes, as ty_pool_reset_to; the daemon gives up after
 * `timeout_ms` (0: never), with TY_ERROR_TIMEOUT, and then some of the slots have new episodes.
 *
 *     TyReset reset = {.seeds = seeds, .episodes = episodes};
 *     ty_client_reset_to(client, &pool, &reset, 0, &rows); */
TY_API TyStatus ty_client_reset_to(TyClient *client, const TyClientPool *pool, const TyReset *reset,
                                   uint32_t timeout_ms, TyClientRows *rows);

/* What this member thinks of one choice in a slot; NAN where it has no such number. */
typedef struct TyClientNote {
    uint32_t slot;
    TyNote note;
} TyClientNote;

/* Tells what this member thinks of its choices, together with the next actions that it plays (step,
 * submit, step_some, send). Those of a slot stand together. They go into the daemon's log if the
 * pool was opened with `notes`. `notes` stays the caller's and must live until that call returns.
 *
 *     ty_client_note(client, notes, count);
 *     ty_client_send(client, &pool, rows.slots, actions, rows.count, NULL); */
TY_API void ty_client_note(TyClient *client, const TyClientNote *notes, uint32_t count);

/* Plays one action per row of the group, and sets its rows when this member has to act again.
 *
 *     ty_client_sample(&pool, &rows, seed, actions);
 *     ty_client_step(client, &pool, 0, actions, &rows); */
TY_API TyStatus ty_client_step(TyClient *client, const TyClientPool *pool, uint32_t group,
                               const int32_t *actions, TyClientRows *rows);
/* Sends a step without waiting for it, so that several groups can be in flight.
 *
 *     ty_client_submit(client, &pool, 0, actions[0]);
 *     ty_client_submit(client, &pool, 1, actions[1]);
 *     ty_client_wait(client, &pool, &rows); // of group 0 or 1 */
TY_API TyStatus ty_client_submit(TyClient *client, const TyClientPool *pool, uint32_t group,
                                 const int32_t *actions);
/* Waits for a step that was submitted. Replies come in any order: `rows->group` says which it is.
 * TY_BAD_ARGUMENT if no step of this pool is in flight. */
TY_API TyStatus ty_client_wait(TyClient *client, const TyClientPool *pool, TyClientRows *rows);

/* When a request for rows is answered; zero-initialised: when one row waits for this member. */
typedef struct TyClientWait {
    uint32_t min_rows;   /* so many rows must wait; 0 counts as 1 */
    uint32_t max_rows;   /* at most so many are given (recv); 0: all */
    uint32_t timeout_ms; /* after this time with what there is; 0: not before, within the client's
                            own timeout */
    bool at_once;        /* with what there is now */
} TyClientWait;

/* Plays `count` actions in slots of one group and sets rows of these slots. An action counts only
 * if its row was given to this member by a reply. `wait` may be NULL. */
TY_API TyStatus ty_client_step_some(TyClient *client, const TyClientPool *pool,
                                    const uint32_t *slots, const int32_t *actions, uint32_t count,
                                    const TyClientWait *wait, TyClientRows *rows);
/* Plays `count` actions in slots of any group, without rows. `accepted`, which may be NULL, is how
 * many were legal; ty_client_refusal describes the others. */
TY_API TyStatus ty_client_send(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                               const int32_t *actions, uint32_t count, uint32_t *accepted);
/* Sets the rows that became ready first, of any group, each once. `wait` may be NULL.
 *
 *     ty_client_recv(client, &pool, &(TyClientWait){.min_rows = 32}, &rows);
 *     choose(&rows, actions);
 *     ty_client_send(client, &pool, rows.slots, actions, rows.count, NULL); */
TY_API TyStatus ty_client_recv(TyClient *client, const TyClientPool *pool, const TyClientWait *wait,
                               TyClientRows *rows);

/* An action that was refused. */
typedef struct TyClientRefusal {
    uint32_t row; /* index among the request's actions */
    uint32_t slot;
    TyClientError error;
    char message[TY_MESSAGE_MAX];
} TyClientRefusal;

/* Sets refusal `index` of the last step or send; false if there is none. The daemon names the first
 * 16. Call it before the next request. */
TY_API bool ty_client_refusal(TyClient *client, uint32_t index, TyClientRefusal *refusal);

/* Writes uniformly random legal actions, one per row of a reply, as ty_sample_rows does. False, and
 * nothing written, if the rows lack one of the columns mask (or mask_bits), ready, episode and
 * step. */
TY_API bool ty_client_sample(const TyClientPool *pool, const TyClientRows *rows, uint64_t seed,
                             int32_t *actions);

/* ---- Looking at a slot ----------------------------------------------------------------------- */

/* What a seat sees. */
typedef struct TyClientView {
    int32_t acting;      /* the seat to act; -1: the episode is over, or waits for others */
    const char *phase;   /* the question, in a word or two; or "over", or "waiting" */
    const uint8_t *row;  /* `row_size` of the pool */
    const uint8_t *mask; /* `action_count` of the pool */
    const uint8_t *full; /* the privileged row; NULL if it was not asked for */
    uint32_t full_size;
} TyClientView;

/* What `seat` of a slot sees; -1: the seat to act. The director may ask for any seat, as it is now,
 * others for their own, as it was in the last row that they were shown; the same holds for
 * ty_client_legal, ty_client_text and ty_client_events. `full` adds the privileged row; director
 * only. */
TY_API TyStatus ty_client_observe(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                  int32_t seat, bool full, TyClientView *view);

/* The legal actions of a seat: numbers and names. */
typedef struct TyClientLegal {
    int32_t acting;
    const char *phase;
    uint32_t count;
    const int32_t *actions;
    const char *const *names;
    const char *const *titles; /* as people would say them, with what they cost or lead to now */
} TyClientLegal;

/* The legal actions of a seat, with names and in words.
 *
 *     TyClientLegal legal;
 *     ty_client_legal(client, &pool, 0, -1, &legal);
 *     for (uint32_t i = 0; i < legal.count; i++) puts(legal.names[i]); */
TY_API TyStatus ty_client_legal(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                int32_t seat, TyClientLegal *legal);

/* A text about a slot; `acting` and `phase` as in TyClientView. */
typedef struct TyClientText {
    int32_t acting;
    const char *phase;
    const char *text;
} TyClientText;

/* The whole state as JSON; director only. */
TY_API TyStatus ty_client_state(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                TyClientText *text);
/* What a seat sees, for people and language models. */
TY_API TyStatus ty_client_text(TyClient *client, const TyClientPool *pool, uint32_t slot,
                               int32_t seat, TyClientText *text);

/* What happened between the last row of a seat and the one before, as JSON (ty_pool_events_json);
 * needs a pool that was opened with `events`. */
TY_API TyStatus ty_client_events(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                 int32_t seat, TyClientText *text);

/* What a seat sees as a drawing, an SVG document (ty_svg); with `full`, everything; director only.
 */
TY_API TyStatus ty_client_svg(TyClient *client, const TyClientPool *pool, uint32_t slot,
                              int32_t seat, bool full, TyClientText *text);

/* What `seat` of a slot saw at a position, or with -1 everything: that of number `*position`, which
 * becomes that of the nearest that the pool keeps (`history`). Every beginning, decision and
 * restore makes one. Director only. */
TY_API TyStatus ty_client_svg_at(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                 int32_t seat, uint64_t *position, TyClientText *text);

/* What spectators see of a slot of anybody's pool, as a drawing: its director passes on the `watch`
 * of its TyClientPool. */
TY_API TyStatus ty_client_watch(TyClient *client, uint32_t pool, const char *token, uint32_t slot,
                                TyClientText *text);

/* ---- Snapshots and rollouts: director only --------------------------------------------------- */

/* Saves `count` slots in the daemon and writes the number of each snapshot. Director only, like all
 * functions for snapshots and rollouts.
 *
 *     uint32_t slot = 0, saved;
 *     ty_client_snapshot(client, &pool, &slot, 1, &saved);
 *     ty_client_restore(client, &pool, &saved, 1, &(TyClientTargets){&slot, 1}, &rows); */
TY_API TyStatus ty_client_snapshot(TyClient *client, const TyClientPool *pool,
                                   const uint32_t *slots, uint32_t count, uint32_t *snapshots);

/* The slots that a restore, fork or resample writes. */
typedef struct TyClientTargets {
    const uint32_t *slots;
    uint32_t count;
    const uint64_t *keys; /* per slot: the key of its new future; NULL: exactly as saved */
    int32_t seat;         /* with keys: what this seat cannot know is redealt; -1: nothing is */
} TyClientTargets;

/* Restores snapshot i, or the only one, into slot i of the targets, and sets their rows. */
TY_API TyStatus ty_client_restore(TyClient *client, const TyClientPool *pool,
                                  const uint32_t *snapshots, uint32_t snapshot_count,
                                  const TyClientTargets *targets, TyClientRows *rows);
/* Copies `slot` into the targets, and sets their rows. */
TY_API TyStatus ty_client_fork(TyClient *client, const TyClientPool *pool, uint32_t slot,
                               const TyClientTargets *targets, TyClientRows *rows);
/* Redeals, in the targets themselves, what `targets->seat` cannot know, and sets their rows. Needs
 * their keys. */
TY_API TyStatus ty_client_resample(TyClient *client, const TyClientPool *pool,
                                   const TyClientTargets *targets, TyClientRows *rows);

/* Bytes that the client owns until its next request. */
typedef struct TyClientBytes {
    const uint8_t *bytes;
    size_t size;
} TyClientBytes;

/* The bytes of a snapshot, to keep outside the daemon. */
TY_API TyStatus ty_client_export(TyClient *client, const TyClientPool *pool, uint32_t snapshot,
                                 TyClientBytes *data);
/* Makes a snapshot from bytes of ty_client_export, in any pool of the same ruleset and seats.
 * TY_BAD_ARGUMENT if the bytes are damaged. */
TY_API TyStatus ty_client_import(TyClient *client, const TyClientPool *pool, const void *bytes,
                                 size_t size, uint32_t *snapshot);
/* Deletes `count` snapshots, or with NULL all of them. `dropped`, which may be NULL, is how many
 * there were. */
TY_API TyStatus ty_client_drop(TyClient *client, const TyClientPool *pool,
                               const uint32_t *snapshots, uint32_t count, uint32_t *dropped);

/* What to roll out. */
typedef struct TyClientRollout {
    uint32_t slot;
    const char *agent;
    uint32_t first;       /* 1 + the action with which copies begin; 0: the agent chooses it */
    uint32_t count;       /* of copies; 0 counts as 1 */
    const uint64_t *keys; /* per copy: the key of its future; NULL: the daemon draws them */
    int32_t seat;         /* what this seat cannot know is redealt; -1: nothing is */
    uint32_t max_steps;   /* decisions; 0: to the end */
    uint32_t timeout_ms;  /* after which the daemon gives up, with TY_ERROR_TIMEOUT; 0: never */
} TyClientRollout;

/* How the copies of a rollout ended. */
typedef struct TyClientOutcomes {
    uint32_t count;
    uint32_t players;
    uint32_t metric_count;
    const float *earned;    /* [count][players] */
    const int32_t *metrics; /* [count][metric_count] */
} TyClientOutcomes;

/* Lets a built-in agent play copies of a slot to their end; the slot itself stays as it is.
 *
 *     TyClientOutcomes outcomes;
 *     ty_client_rollout(client, &pool, &(TyClientRollout){.agent = "random", .count = 100,
 *                                                         .seat = -1}, &outcomes); */
TY_API TyStatus ty_client_rollout(TyClient *client, const TyClientPool *pool,
                                  const TyClientRollout *rollout, TyClientOutcomes *outcomes);

/* ---- Replays --------------------------------------------------------------------------------- */

/* A recorded episode. */
typedef struct TyClientReplay {
    uint64_t episode;
    const uint8_t *bytes; /* a whole log file */
    size_t size;
} TyClientReplay;

/* One of the last 4 episodes that ended in a slot, by its number in the slot, or with -1 the last.
 * Director only. The daemon must keep a log (`has_log`). */
TY_API TyStatus ty_client_replay_get(TyClient *client, const TyClientPool *pool, uint32_t slot,
                                     int64_t episode, TyClientReplay *replay);

/* The result of replaying a log. */
typedef struct TyClientVerdict {
    bool agrees;       /* every episode, and all of the log could be read */
    uint32_t episodes; /* that were replayed with the same result */
    uint32_t gaps;     /* stretches of the log that could not be read */
    int32_t episode;   /* the first that does not agree, from 0; -1: none */
    int32_t step;      /* at which decision, from 1; 0: before the first; -1: it was not played */
    char why[TY_MESSAGE_MAX]; /* what does not agree; "" if all does */
} TyClientVerdict;

/* Lets the daemon replay a log, or a part of one, and compare. TY_BAD_FILE if it is not a log. */
TY_API TyStatus ty_client_replay_verify(TyClient *client, const void *bytes, size_t size,
                                        TyClientVerdict *verdict);

/* ---- Agents ---------------------------------------------------------------------------------- */

/* How to play with an agent of this process; zero-initialise it. */
typedef struct TyClientPlay {
    const TyAgent *agent;     /* must not plan: states stay in the daemon */
    const TyRuleset *ruleset; /* of the pool; may be NULL unless it has your own board */
    uint64_t seed;
    uint64_t episodes; /* stop after so many; 0: when the pool is closed */
    bool notes;        /* the agent is asked what it thinks of its choices; it goes to the daemon */
    uint64_t decisions; /* set: what was played */
    uint64_t ended;     /* set: episodes that ended */
} TyClientPlay;

/* Lets the agent act for this client's seats of the pool, until the director closes it or enough
 * episodes have ended. TY_BAD_CONFIG if the agent does not play this ruleset.
 *
 *     TyClientPlay play = {.agent = &my_agent, .seed = 7};
 *     ty_client_join(client, &join, &pool);
 *     ty_client_play(client, &pool, &play); */
TY_API TyStatus ty_client_play(TyClient *client, const TyClientPool *pool, TyClientPlay *play);
/* The main function of a program that is an agent, as `trainyard sim` and `arena` start it:
 * PROGRAM --connect ENDPOINT --pool NUMBER --invite TOKEN [--seats 0,2].
 *
 *     int main(int argc, char **argv)
 *     {
 *         return ty_client_main(argc, argv, &my_agent);
 *     } */
TY_API int ty_client_main(int argc, char **argv, const TyAgent *agent);
/* Parses a list of seats such as "0,2". NULL or empty: none, which joins every open seat.
 * TY_BAD_ARGUMENT if it is not a list of seats. */
TY_API TyStatus ty_client_seats(const char *text, uint8_t seats[TY_SEATS_MAX], uint32_t *count);

#ifdef __cplusplus
}
#endif
