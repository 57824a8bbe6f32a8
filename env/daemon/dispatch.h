/* What the daemon does with requests: sessions, pools and their members, exactly one reply for
 * each.
 *
 * No socket and no clock: messages come in and go out through functions, time is a parameter. One
 * thread calls everything here. */
#pragma once

#include "daemon/host.h"

typedef struct Dispatch Dispatch;

typedef enum DispatchSent {
    DISPATCH_SENT,
    DISPATCH_GONE, /* there is no such peer any more */
    DISPATCH_FULL, /* the peer does not read its replies */
} DispatchSent;

typedef struct DispatchConfig {
    Limits limits;
    bool threaded;             /* pools have threads; otherwise everything is done at once */
    const char *boards;        /* directory of boards, or NULL */
    struct Recorder *recorder; /* of finished episodes, or NULL; outlives the dispatch */
    const char *shm_path;      /* socket of the shared-memory door, or NULL */
    const char *access_token;  /* what peers that need one say in hello; or NULL */
    void *user;
    /* Sends a reply to a peer; takes over the reference. */
    DispatchSent (*send)(void *user, uint64_t peer, Buffer *reply);
    /* There are jobs to collect. Called from any thread. */
    void (*wake)(void *user);
    /* Bytes that nobody can guess. */
    void (*random)(void *user, uint8_t *bytes, size_t size);
    /* The lease of a member's shared memory is over; may be NULL. */
    void (*drop_lease)(void *user, uint64_t lease);
} DispatchConfig;

TyStatus dispatch_open(const DispatchConfig *config, uint64_t now_ms, Dispatch **dispatch);
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

uint32_t dispatch_session_count(const Dispatch *dispatch);
uint32_t dispatch_pool_count(const Dispatch *dispatch);

/* ---- Shared memory ---- */

/* Gives the descriptors of the member whose token this is, which are good until the next call of
 * any function here. From then on `lease` holds the member and its session; false if there is no
 * such member, or another lease has it. */
bool dispatch_lease(Dispatch *dispatch, uint64_t pool, uint32_t member, const uint8_t token[16],
                    uint64_t lease, ShmDescriptors *door);
/* The client of the lease is gone: its seats are given up, a director's pool is closed. */
void dispatch_lease_ended(Dispatch *dispatch, uint64_t lease, uint64_t now_ms);
