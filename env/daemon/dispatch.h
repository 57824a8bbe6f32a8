/* What the daemon does with requests: sessions, pools and their members, exactly one reply for
 * each.
 *
 * No socket and no clock: messages come in and go out through functions, time is a parameter. One
 * thread calls everything here. */
#pragma once

#include "daemon/job.h"
#include "daemon/journal.h"
#include "daemon/limits.h"
#include "proto/keys.h"

typedef struct Dispatch Dispatch;

typedef enum DispatchSent {
    DISPATCH_SENT,
    DISPATCH_GONE, /* there is no such peer any more */
    DISPATCH_FULL, /* the peer does not read its replies */
} DispatchSent;

/* Who is at the other end of a connection, as far as its transport knows. */
typedef struct Identity {
    char address[64];        /* for people */
    char name[32];           /* that its key is bound to; "": it calls itself as it likes */
    bool administrator;      /* may become one: the daemon's own user, or a key for that */
    bool revoked;            /* its key was taken away */
    char key[KEY_TEXT_SIZE]; /* under which it came in: a CURVE key, or one word for all others */
} Identity;

typedef struct DispatchConfig {
    Limits limits;
    bool threaded;             /* pools have threads; otherwise everything is done at once */
    const char *boards;        /* directory of boards, or NULL */
    struct Recorder *recorder; /* of finished episodes, or NULL; outlives the dispatch */
    const char *shm_path;      /* socket of the shared-memory server, or NULL */
    const char *access_token;  /* what peers that need one say in hello; or NULL */
    const char *admin_token;   /* the same for administrators */
    Journal *journal;          /* NULL: nothing is written */
    void *user;
    /* Sends a reply to a peer; takes over the reference. */
    DispatchSent (*send)(void *user, uint64_t peer, Buffer *reply);
    /* There are jobs to collect. Called from any thread. */
    void (*wake)(void *user);
    /* Bytes that nobody can guess. */
    void (*random)(void *user, uint8_t *bytes, size_t size);
    /* Who sent a hello; may be NULL: nobody knows. */
    void (*identify)(void *user, const Frame *hello, Identity *identity);
    /* Fills in again what follows from the identity's key, after a reload; may be NULL. */
    void (*identify_key)(void *user, Identity *identity);
    /* Nanoseconds since some moment, for latencies; may be NULL: then they are 0. */
    uint64_t (*clock_ns)(void *user);
    /* The lease of a member's shared memory is over; may be NULL. */
    void (*drop_lease)(void *user, uint64_t lease);
} DispatchConfig;

TyStatus dispatch_open(const DispatchConfig *config, uint64_t now_ms, Dispatch **dispatch);
/* No new work from now on: pools play their episodes to the end, and begin no others. */
void dispatch_begin_drain(Dispatch *dispatch);
/* True if no episode runs any more, as far as the pools have told since then. */
bool dispatch_is_drained(const Dispatch *dispatch);
/* Stops all work and closes all pools. Those who wait are answered, and new requests refused. */
void dispatch_stop(Dispatch *dispatch);
/* True if pools are still at work. */
bool dispatch_is_busy(const Dispatch *dispatch);
/* Closes all pools, answers those who wait for them, ends all sessions. Nothing may come in after
 * it. */
void dispatch_drain(Dispatch *dispatch);
/* Frees everything. Buffers that were sent must have been given back. */
void dispatch_close(Dispatch *dispatch);

/* A message from `peer`, a number that names its connection. The frame is released when it is no
 * longer needed. `needs_token`: the peer must know the access token to begin a session. */
void dispatch_receive(Dispatch *dispatch, uint64_t peer, bool needs_token, Frame *frame,
                      uint64_t now_ms);
/* Fetches what the pools have done. */
void dispatch_collect(Dispatch *dispatch, uint64_t now_ms);
/* The connection of `peer` is gone. */
void dispatch_disconnected(Dispatch *dispatch, uint64_t peer, uint64_t now_ms);
/* Lets time pass: sessions expire, seats are late. Returns after how many milliseconds it wants to
 * be called again. */
uint32_t dispatch_tick(Dispatch *dispatch, uint64_t now_ms);

/* Writes the page of metrics as far as it fits, and returns its length. */
size_t dispatch_metrics(Dispatch *dispatch, char *text, size_t size);

/* True if a session has this connection. */
bool dispatch_has_session(const Dispatch *dispatch, uint64_t peer);

/* What has changed since the start or the last reload. */
typedef struct Reload {
    Limits limits;            /* those that are fixed are as before */
    bool token;               /* the clients' is another, */
    bool admin_token;         /* the administrators' is, or there is none any more */
    const char *admin_secret; /* the administrators' from now on; NULL: none */
} Reload;

/* Applies other limits, and ends the sessions whose key or token is not good any more. False if
 * there is no memory: then nothing has changed. */
bool dispatch_reload(Dispatch *dispatch, const Reload *reload);

uint32_t dispatch_session_count(const Dispatch *dispatch);
uint32_t dispatch_pool_count(const Dispatch *dispatch);

/* ---- Shared memory ---- */

/* Gives the descriptors of the member whose token this is, which are good until the next call of
 * any function here. From then on `lease` holds the member and its session; false if there is no
 * such member, or another lease has it. */
bool dispatch_lease(Dispatch *dispatch, uint64_t pool, uint32_t member,
                    const uint8_t token[SHM_TOKEN_SIZE], uint64_t lease, ShmDescriptors *shm);
/* The client of the lease is gone: its seats are given up, a director's pool is closed. */
void dispatch_lease_ended(Dispatch *dispatch, uint64_t lease, uint64_t now_ms);
