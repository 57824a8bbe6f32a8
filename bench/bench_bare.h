/* What ZeroMQ alone can do: two processes that exchange messages of given sizes between a DEALER
 * and a ROUTER, and do nothing else. The yardstick for the daemon's door. */
#pragma once

#include "trainyard.h"

typedef struct BenchBare BenchBare;

/* Begins a process that answers on `ipc` and `tcp`, endpoints of its own. To be called before the
 * process has other threads. The caller closes it. */
TyStatus bench_bare_open(const char *directory, BenchBare **bare);
void bench_bare_close(BenchBare *bare);

typedef struct BenchBareLink BenchBareLink;

/* Sizes of the messages of an exchange, in bytes. */
typedef struct BenchSizes {
    uint32_t request;
    uint32_t reply;
} BenchSizes;

/* A connection, over tcp or else ipc. The caller closes it. */
TyStatus bench_bare_connect(const BenchBare *bare, bool tcp, BenchBareLink **link);
void bench_bare_disconnect(BenchBareLink *link);
/* A request, and the reply to some request. False if the other process is gone. */
bool bench_bare_send(BenchBareLink *link, BenchSizes sizes);
bool bench_bare_receive(BenchBareLink *link);
