/* The two shared segments through which a member's process plays, and the handshake that hands them
 * over. proto/SHM.md says the same for authors of clients in other languages.
 *
 * The rows segment is written by the daemon only; the kernel lets the client read it. The commands
 * segment is written by the client, and nothing in it is believed. All numbers are little-endian,
 * words that both sides look at are 32 bits wide and aligned, and no lock lives in either. */
#pragma once

#include "pool/pool.h"

#include <stdatomic.h>

#define SHM_MAGIC 0x53574f5248535954u /* "TYSHROWS" */
enum {
    SHM_VERSION = 2,
    SHM_LINE = 64,        /* bytes of a cache line: what one side writes lies on its own */
    SHM_PAGE = 4096,      /* bytes to which segments and regions are rounded */
    SHM_NAME_SIZE = 16,   /* bytes of a column's name, NULs behind it */
    SHM_COLUMNS_MAX = 32, /* columns that a client is prepared to see */
    SHM_SPIN_NS = 50000,  /* how long either side looks before it sleeps */
};

/* ---- The rows segment ---- */

/* Offset 0. Set before the client sees the segment, and constant. */
typedef struct ShmHeader {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;     /* sizeof(ShmHeader) */
    uint64_t rows_total;      /* bytes of the rows segment */
    uint64_t commands_total;  /* bytes of the commands segment */
    uint64_t rows_offset;     /* where the columns begin in the rows segment */
    uint64_t commands_offset; /* where the action columns begin in the commands segment */
    uint64_t words_offset;    /* of the ShmPool, in the rows segment */
    uint64_t groups_offset;   /* of the table of ShmGroup, in the rows segment */
    uint64_t schema_hash;
    uint32_t slots;
    uint32_t groups;
    uint32_t columns; /* in each group's table */
    uint32_t member;
    uint32_t autoreset; /* TyAutoreset */
    uint32_t illegal;   /* TyIllegal */
    uint32_t max_steps;
    uint32_t seat_count;
    uint8_t seats[8]; /* that the member owns */
    uint32_t threads; /* that step the pool */
    uint32_t crowded; /* not 0: ty_pool_crowded */
    char spec[TY_SPEC_MAX];
} ShmHeader;

/* A column of a group: `width` values of `type` for each row, from `offset` on. */
typedef struct ShmColumn {
    char name[SHM_NAME_SIZE];
    uint32_t type;   /* TyType */
    uint32_t width;  /* 0: the column is not there */
    uint64_t offset; /* in the rows segment; of `action` in the commands segment */
} ShmColumn;

typedef struct ShmGroup {
    uint32_t first; /* slot of the first row */
    uint32_t rows;
    uint64_t which_offset; /* of the group's `which` bytes, in the commands segment */
    ShmColumn columns[TY_COLUMN_COUNT];
} ShmGroup;

typedef enum ShmState { SHM_OPEN = 1, SHM_CLOSING = 2 } ShmState;

/* What became of a command. */
typedef enum ShmResult {
    SHM_DONE,
    SHM_OUT_OF_TURN, /* its number was not the next one: nothing was done */
    SHM_BAD_KIND,    /* there is no such kind: nothing was done */
} ShmResult;

/* The daemon's words about one group, on a line of their own. `published` grows by one whenever the
 * daemon is done with writing rows; it is stored last. */
typedef struct ShmAnswer {
    _Alignas(SHM_LINE) atomic_uint published;
    atomic_uint served;  /* number of the last command that was taken and finished */
    atomic_uint result;  /* ShmResult of that command */
    atomic_uint ready;   /* rows that wait for the member */
    atomic_uint illegal; /* rows whose action that command's step refused */
    atomic_uint ignored; /* rows whose action did not count: the client was not given them */
    atomic_uint renewed; /* `published` when a request of the member's own, a reset for example,
                            was answered: the answer has given it all rows up to then */
} ShmAnswer;

/* At `words_offset`: the daemon's words. */
typedef struct ShmPool {
    _Alignas(SHM_LINE) atomic_uint state;    /* ShmState */
    _Alignas(SHM_LINE) atomic_uint sleeping; /* not 0: wake the daemon after a command */
    ShmAnswer answers[];                     /* one per group */
} ShmPool;

/* ---- The commands segment ---- */

typedef enum ShmKind {
    SHM_STEP = 1,      /* act in every row that is ready and was given */
    SHM_STEP_SOME = 2, /* act in those of them whose `which` byte is not 0 */
} ShmKind;

/* The client's words about one group, from offset 0 of the segment on, on a line of their own.
 * `number` is stored last: it goes up by one from the number that was served before. */
typedef struct ShmCommand {
    _Alignas(SHM_LINE) atomic_uint number;
    atomic_uint kind;
    atomic_uint sleeping; /* not 0: ring when the group is published */
    atomic_uint seen;     /* `published` when the client looked at the rows that it answers */
} ShmCommand;

_Static_assert(sizeof(atomic_uint) == 4, "words are 32 bits wide");
_Static_assert(sizeof(ShmHeader) == 632, "the header has no padding");
_Static_assert(sizeof(ShmColumn) == 32 && sizeof(ShmAnswer) == SHM_LINE &&
                   sizeof(ShmCommand) == SHM_LINE,
               "the layout of SHM.md");

/* ---- The handshake on the unix socket ---- */

enum {
    SHM_HELLO_MAGIC = 0x48535954, /* "TYSH" */
    SHM_TOKEN_SIZE = 16,
    SHM_TEXT_SIZE = 236,
    SHM_DESCRIPTORS = 4, /* rows, commands, to_pool, to_client */
};

/* What a client says first. */
typedef struct ShmHello {
    uint32_t magic;
    uint32_t version;
    uint8_t token[SHM_TOKEN_SIZE]; /* `shm_token` of the reply to open or join */
    uint64_t pool;
    uint32_t member;
    uint32_t unused; /* 0 */
} ShmHello;

/* What it hears, once. With `status` 0 four descriptors come along. */
typedef struct ShmReply {
    uint32_t magic;
    uint32_t version;
    uint32_t status; /* TyCode */
    uint32_t descriptors;
    uint32_t unused;
    char message[SHM_TEXT_SIZE];
} ShmReply;

_Static_assert(sizeof(ShmHello) == 40 && sizeof(ShmReply) == 256, "the layout of SHM.md");

/* ---- Looking at words without sleeping ---- */

static inline void shm_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

enum { SHM_LOOKS_PER_YIELD = 32 /* in a crowd, where the other side may need this processor */ };

/* How long to look before sleeping, in any unit. Looking that was in vain costs the other side its
 * processor on a busy machine: the next time is shorter, but every now and then it is tried whole.
 */
typedef struct ShmSpin {
    uint32_t full;
    uint32_t now;
    uint32_t vain; /* times in a row */
} ShmSpin;

enum {
    SHM_SPIN_SHORTEST = 32, /* the shortest look, as a part of the whole */
    SHM_SPIN_RETRY = 16,    /* so many looks in vain are followed by a whole one */
};

static inline ShmSpin shm_spin(uint32_t full)
{
    return (ShmSpin){.full = full, .now = full};
}

static inline uint32_t shm_spin_budget(const ShmSpin *spin)
{
    return spin->vain % SHM_SPIN_RETRY == SHM_SPIN_RETRY - 1 ? spin->full : spin->now;
}

static inline void shm_spin_learn(ShmSpin *spin, bool in_vain)
{
    uint32_t shortest = spin->full / SHM_SPIN_SHORTEST;
    uint32_t half = spin->now / 2 > shortest ? spin->now / 2 : shortest;
    spin->vain = in_vain ? spin->vain + 1 : 0;
    spin->now = in_vain ? half : spin->full;
}
