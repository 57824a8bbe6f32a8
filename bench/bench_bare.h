/* What ZeroMQ alone can do: two processes that exchange messages of given sizes between a DEALER
 * and a ROUTER. The yardstick for the daemon's door: with nothing else to do, and for a server that
 * also steps a pool. */
#pragma once

#include "trainyard.h"

typedef struct BenchBare BenchBare;

/* Begins a process that answers over ipc, in `directory`, and tcp. To be called before this process
 * has other threads. The caller closes it. */
TyStatus bench_bare_open(const char *directory, const TyRuleset *ruleset, BenchBare **bare);
void bench_bare_close(BenchBare *bare);

typedef struct BenchBareLink BenchBareLink;

/* A connection, over tcp or else ipc. The caller closes it. */
TyStatus bench_bare_connect(const BenchBare *bare, bool tcp, BenchBareLink **link);
void bench_bare_disconnect(BenchBareLink *link);

/* Sizes of the messages of an exchange, in bytes. */
typedef struct BenchSizes {
    uint32_t request;
    uint32_t reply;
} BenchSizes;

/* A request. With slots, the other process has a pool of so many in so many groups: it draws
 * actions for `group`, steps it, and copies its rows into the reply. */
typedef struct BenchBareRequest {
    BenchSizes sizes;
    uint32_t slots;
    uint32_t groups;
    uint32_t group;
} BenchBareRequest;

/* Sends a request; receives the reply to some request. False if the other process is gone. */
bool bench_bare_send(BenchBareLink *link, const BenchBareRequest *request);
bool bench_bare_receive(BenchBareLink *link);
