/* What memory costs on this machine: the reference that decisions are compared with. */
#pragma once

#include <stddef.h>

typedef struct BenchReference BenchReference;

/* 64 MiB of memory; NULL if there is none. The caller closes it. */
BenchReference *reference_open(void);
void reference_close(BenchReference *reference);
/* Nanoseconds of a memcpy of 1 KiB from a random one of 65,536 slots, over some thousand of them.
 */
double reference_copy_ns(BenchReference *reference);
/* The same for a clone of `size` bytes between two random slots that are `stride` bytes apart, as a
 * search does that keeps many states. It writes where the copies read: measure those first. */
double reference_clone_ns(BenchReference *reference, size_t size, size_t stride);
