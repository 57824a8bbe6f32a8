/* trainyard serve: what its files share. A yard is a daemon seen from browsers. */
#pragma once

#include "cli/cli.h"
#include "core/text.h"
#include "proto/client.h"

#include <pthread.h>
#include <stdatomic.h>

/* Limits of the server. */
enum {
    SERVE_TABLES_MAX = 16,
    SERVE_WATCHED_MAX = 64,     /* pools whose tokens people have named */
    SERVE_BOARDS_MAX = 24,      /* boards of a wall */
    SERVE_BODY_MAX = 16 << 10,  /* bytes of a request's body */
    SERVE_CONNECTIONS_MAX = 64, /* that are open together */
    SERVE_STREAMS_MAX = 40,     /* of those, that stay open */
    SERVE_IDLE_SECONDS = 60,    /* after which a silent connection is closed */
    SERVE_UNDO_MAX = 256,       /* decisions that can be taken back */
    SERVE_HISTORY = 64,         /* positions that a page may be behind */
    SERVE_THINK_MS = 3000,      /* that a question to search may take, */
    SERVE_THINK_COPIES = 64,    /* with so many imagined futures for each choice */
    SERVE_ANSWER_MAX = 1 << 20, /* bytes of an answer, or of an event of a stream */
};

/* A secret that opens something, as text. */
typedef struct Secret {
    char text[33];
} Secret;

/* What a request may do: its token says so. */
typedef struct Role {
    bool owner;     /* who started the server may do everything */
    uint32_t table; /* a guest: at this table only, */
    int32_t seat;   /* as this seat; -1: as a spectator */
} Role;

/* Who plays a seat of a table. */
typedef enum SeatKind {
    SEAT_OWNER,   /* the owner of the server */
    SEAT_GUEST,   /* a person who was sent a link */
    SEAT_PROGRAM, /* a program that joins through the daemon */
    SEAT_AGENT,   /* a built-in agent */
} SeatKind;

/* A pool of one slot in which people play. Its mutex guards all of it. `id` changes under that of
 * the yard, too: who holds it may read who sits at a table that is open, which does not change. */
typedef struct Table {
    pthread_mutex_t mutex;
    uint32_t id;      /* 0: the place is free */
    TyClient *client; /* its own session: what takes long here keeps nobody else waiting */
    TyClientPool pool;
    SeatKind kind[TY_SEATS_MAX];
    char who[TY_SEATS_MAX][TY_NAME_MAX];
    Secret guest[TY_SEATS_MAX];
    Secret spectator;
    char helper[TY_NAME_MAX]; /* the agent that plays on in imagined futures, and for who is gone */
    uint64_t turn;            /* decisions and restores so far: a page answers to one of them */
    uint32_t undo[SERVE_UNDO_MAX]; /* snapshots before decisions of people */
    uint32_t undo_count;
    char metrics[TY_METRICS_MAX][TY_NAME_MAX]; /* their names, */
    uint32_t metric_count;
    int32_t result[TY_METRICS_MAX]; /* and values at the end of the last episode */
} Table;

/* A pool of somebody else that may be watched. */
typedef struct Watched {
    uint32_t pool;
    char token[TY_CLIENT_TOKEN_SIZE];
} Watched;

/* A drawing that another program keeps sending to standard input. */
typedef struct Shown {
    pthread_mutex_t mutex;
    char *svg; /* NULL: none has come */
    uint64_t number;
} Shown;

typedef struct Yard {
    Settings settings;     /* how to reach the daemon */
    pthread_mutex_t mutex; /* of the client, of `watched`, and of which tables there are */
    TyClient *client;
    Secret owner;
    char agent_command[512]; /* how an outside program is told where to play */
    uint32_t table_serial;
    Table tables[SERVE_TABLES_MAX];
    uint32_t watched_count;
    Watched watched[SERVE_WATCHED_MAX];
    Shown shown;
    atomic_uint streams;
    atomic_bool stopping;
} Yard;

/* ---- yard.c ---- */

/* Connects; the caller closes the yard, also after a failure. */
TyStatus yard_open(Yard *yard, const Settings *settings, const char *endpoint);
void yard_close(Yard *yard);
/* Says to the daemon that its sessions are still needed. */
void yard_ping(Yard *yard);
TyStatus secret_make(Secret *secret);
/* Takes as long for wrong tokens as for right ones. */
bool secret_is(const Secret *secret, const char *text);
/* What the token allows; false if it is nobody's. */
bool yard_role(Yard *yard, const char *token, Role *role);
/* Everything that the role may see of the yard: games, pools, tables. */
TyStatus yard_json(Yard *yard, const Role *role, TyJson *json);
/* Remembers a pool's token, after trying it. */
TyStatus yard_watch(Yard *yard, uint32_t pool, const char *token);
/* The token of a pool that may be watched; false if the yard knows none. */
bool yard_watch_token(Yard *yard, uint32_t pool, char token[TY_CLIENT_TOKEN_SIZE]);
/* Reads drawings from standard input until its end; for a thread. */
void *shown_read(void *yard);

/* ---- table.c ---- */

/* What a person orders. */
typedef struct TableOrder {
    const char *ruleset;
    const char *seats[TY_SEATS_MAX]; /* "me", "guest", "program", or an agent */
    uint32_t seat_count;
} TableOrder;

TyStatus table_open(Yard *yard, const TableOrder *order, uint32_t *id);
/* The table, locked; NULL if there is none. */
Table *table_take(Yard *yard, uint32_t id);
void table_give(Table *table);
TyStatus table_close(Yard *yard, uint32_t id);
/* Whether the role plays this seat. */
bool table_plays(const Table *table, const Role *role, int32_t seat);
/* Whether nobody else plays at it but built-in agents: decisions can be taken back, and everything
 * may be looked at. */
bool table_is_private(const Table *table);
/* Takes note of rows that have come: a row must be given before it can be answered. */
TyStatus table_refresh(Table *table);
/* Plays an action for the seat to act, unless the page was not up to date. */
TyStatus table_act(Table *table, const Role *role, uint32_t action, uint64_t turn);
TyStatus table_take_back(Table *table);
TyStatus table_again(Table *table);
/* Writes what imagined futures say of each choice: a list of [action, mean, half a 95 % interval,
 * futures]. */
TyStatus table_think(Table *table, const Role *role, TyJson *json);
/* Writes who sits where, as the role may know it. */
void table_json(const Yard *yard, const Table *table, const Role *role, TyJson *json);

/* ---- drawing.c ---- */

/* Writes what changed from one drawing to another as ty_svg_changes does. False, and nothing
 * written, if they have different parts. */
bool drawing_changes(const char *before, const char *after, TyJson *json);

/* ---- stream.c ---- */

typedef struct Stream Stream;

/* What a page wants to look at. */
typedef struct StreamOrder {
    uint32_t table;    /* a table, */
    const char *eyes;  /* through own eyes (NULL), "all", "public" or those of a seat; */
    uint32_t pool;     /* or slots of a pool; */
    const char *slots; /* "0,1,2" */
    bool shown;        /* or what comes from standard input */
} StreamOrder;

/* The caller closes the stream. */
TyStatus stream_open(Yard *yard, const Role *role, const StreamOrder *order, Stream **stream);
void stream_close(Stream *stream);
/* Waits for the next bytes; -1 at the end. */
long stream_read(Stream *stream, char *bytes, size_t size);

/* ---- api.c ---- */

/* Does what a page asks for, or answers with what it asks about. `status` is that of HTTP. */
void api_answer(Yard *yard, const Role *role, const char *path, const char *body, size_t size,
                TyJson *json, unsigned *status);

/* ---- web.c ---- */

typedef struct Web Web;

/* Serves the yard at HOST:PORT of loopback. `origin` is that of a reverse proxy, or NULL. */
TyStatus web_open(Yard *yard, const char *address, const char *origin, Web **web);
void web_close(Web *web);
/* Where: "http://127.0.0.1:8080". */
const char *web_address(const Web *web);
