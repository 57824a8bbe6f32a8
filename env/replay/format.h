/* The bytes of an episode log: sizes, places and checks. FORMAT.md describes them in words. */
#pragma once

#include "core/hash.h"
#include "trainyard.h"

#define LOG_MAGIC "TYARDLOG"
#define LOG_RECORD_MARK 0xa5525954u /* "TYR" and a byte that no text has, little-endian */

enum {
    LOG_VERSION = 1,
    LOG_MAGIC_SIZE = 8,
    LOG_FILE_HEAD = 32,
    LOG_RECORD_HEAD = 24,
    LOG_RECORD_TAIL = 8,
    LOG_RECORD_EXTRA = LOG_RECORD_HEAD + LOG_RECORD_TAIL,
    LOG_PAYLOAD_MAX = 2 << 20,
    LOG_EPISODE_FIXED = 60, /* bytes of an episode before its lists */
    LOG_CONTENT_FIXED = 12, /* bytes of a content record before the content */
    LOG_STEPS_MAX = 65536,  /* decisions of an episode that are kept */
    LOG_STEP_SIZE = 4,
    LOG_HASH_EVERY = 64,  /* decisions between two hashes of the whole state */
    LOG_MEMBER_MAX = 32,  /* bytes of a member's name, with the NUL */
    LOG_NAME_MAX = 192,   /* bytes of a seat's name, with the NUL */
    LOG_NOTES_FIXED = 24, /* bytes of a notes record before the notes */
    LOG_NOTE_SIZE = 20,
    LOG_NOTES_MAX = 16384, /* notes of an episode that are kept */
};

/* Kinds of records. */
enum { LOG_EPISODE = 1, LOG_CONTENT = 2, LOG_NOTES = 3 };

/* Flags of an episode. */
enum { LOG_FLAG_INCOMPLETE = 1 /* only the first decisions were kept */ };

/* Bytes of `kept` decisions with the hashes between them. */
static inline size_t log_steps_size(uint32_t kept)
{
    return (size_t)kept * LOG_STEP_SIZE + (size_t)kept / LOG_HASH_EVERY * 8;
}

/* Where decision `index` lies behind the first one. */
static inline size_t log_step_offset(uint32_t index)
{
    return (size_t)index * LOG_STEP_SIZE + (size_t)index / LOG_HASH_EVERY * 8;
}

/* Every hash in a file begins with the file's own number, so that a record that lies inside another
 * file's content is no record here. */
static inline uint64_t log_hash(uint64_t file_id, const uint8_t *bytes, size_t size)
{
    return hash_bytes(hash_add(0x74797264u, file_id), bytes, size);
}

/* ---- The running check of an episode ---- */

/* What is cheap to look at in a state: who acts next, how far it is, what was drawn so far. */
static inline uint64_t log_digest(const int32_t *reward, const void *state)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const TyHead *head = ty_head(state);
    uint64_t sum = (uint64_t)(uint8_t)head->seat | (uint64_t)head->over << 8 |
                   (uint64_t)head->truncated << 16 | (uint64_t)head->steps << 32;
    for (uint32_t i = 0; i < TY_STREAMS_MAX; i += 2) {
        uint64_t pair = head->draws[i] | (uint64_t)head->draws[i + 1] << 32;
        sum += (pair + i + 1) * (odd * (2 * i + 3));
    }
    for (uint32_t i = 0; i < TY_PLAYERS_MAX; i++) {
        sum += (uint64_t)(uint32_t)reward[i] * (odd * (2 * i + 101));
    }
    return sum;
}

static inline uint64_t log_chain_begin(uint64_t first_hash)
{
    return hash_add(0, first_hash);
}

/* The check that is written with an action: it depends on all that came before, and two different
 * actions in one place never have the same. */
static inline uint16_t log_chain_check(uint64_t chain, uint32_t action)
{
    return (uint16_t)(chain ^ action);
}

static inline uint64_t log_chain_add(uint64_t chain, uint32_t action, const int32_t *reward,
                                     const void *state)
{
    return hash_add(chain, log_digest(reward, state) + ((uint64_t)action << 40));
}
