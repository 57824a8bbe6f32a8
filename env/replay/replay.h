/* Episode logs: recording what is played, reading it back, playing it again and comparing.
 *
 * A recorder writes every finished episode of the pools that it follows into files of one directory
 * before anybody can learn that the episode is over. FORMAT.md describes the files. */
#pragma once

#include "replay/format.h"

#include <sys/types.h>

/* ---- Recording ------------------------------------------------------------------------------- */

typedef struct Recorder Recorder;
typedef struct RecorderFeed RecorderFeed;

enum { RECORDER_FILE_BYTES = 256 << 20 /* file_bytes_max by default */ };

/* Values of sync_ms besides a time. */
#define RECORDER_SYNC_ALWAYS 0u
#define RECORDER_SYNC_NEVER UINT32_MAX

/* What becomes of an episode that cannot be written. */
typedef enum RecorderFull {
    RECORDER_FULL_DROP, /* it is told all the same, and counted as lost */
    RECORDER_FULL_STOP, /* it is held: not told before it is written */
} RecorderFull;

/* What the recorder asks of the system; tests put their own in place. */
typedef struct RecorderCalls {
    ssize_t (*write)(int fd, const void *bytes, size_t size);
    int (*truncate)(int fd, off_t size);
    int (*sync)(int fd);
} RecorderCalls;

typedef struct RecorderOptions {
    /* Milliseconds between two calls of fdatasync, which protect against the loss of power. Records
     * survive the death of the process without. */
    uint32_t sync_ms;
    uint64_t file_bytes_max;   /* when a file is larger, the next record begins a new one */
    uint32_t file_seconds_max; /* the same when it was begun so long ago; 0: never */
    uint64_t
        keep_bytes; /* older files go when all have more than this; 0: never. The newest stays */
    uint32_t keep_seconds; /* files go when nothing was written to them for so long; 0: never */
    uint32_t steps_max;    /* decisions of an episode that are kept, at most LOG_STEPS_MAX */
    RecorderFull full;     /* RECORDER_FULL_DROP if nothing is said */
    /* Sentences for people: what was repaired, what could not be written. May be NULL. */
    void *user;
    void (*message)(void *user, const char *sentence);
    RecorderCalls calls;
} RecorderOptions;

typedef struct RecorderStats {
    uint64_t episodes; /* written */
    uint64_t bytes;    /* written by this recorder */
    uint64_t lost;     /* finished but not written: the system refused */
    uint64_t deleted;  /* files that had to go, as the options say */
    uint64_t held;     /* finished and held until they can be written */
    uint64_t skipped;  /* finished but not recorded: a snapshot had been put into the slot */
} RecorderStats;

RecorderOptions recorder_defaults(void);

/* Opens the log in `directory`, which is made if it does not exist, and locks it: a second recorder
 * there is an error. An unfinished record at the end of the newest file is cut off. `options` may
 * be NULL. The caller closes the recorder, after everything that it follows. */
TyStatus recorder_open(const char *directory, const RecorderOptions *options, Recorder **recorder);
void recorder_close(Recorder *recorder);
/* Now, not in sync_ms. */
TyStatus recorder_sync(Recorder *recorder);
RecorderStats recorder_stats(Recorder *recorder);
RecorderFull recorder_full(const Recorder *recorder);
/* OK, or why the last record could not be written or synced. */
TyStatus recorder_failure(Recorder *recorder);

/* Follows a pool from now on: call it right after ty_pool_open, before the first step, and close
 * the feed after the last one, before ty_pool_close. */
TyStatus recorder_attach(Recorder *recorder, TyPool *pool, RecorderFeed **feed);
/* Follows `slots` tables that are played elsewhere and reported through recorder_observer. `agents`
 * has TY_SEATS_MAX entries, NULL for seats driven from outside, and lives as long as the feed. */
TyStatus recorder_feed_open(Recorder *recorder, const TyRuleset *ruleset, uint32_t slots,
                            const TyAgent *const *agents, RecorderFeed **feed);
void recorder_feed_close(RecorderFeed *feed);

/* Somebody who counts memory: `take` says whether there may be so many bytes more. Any thread that
 * steps may call it. */
typedef struct RecorderMemory {
    void *user;
    bool (*take)(void *user, uint64_t bytes);
    void (*give)(void *user, uint64_t bytes);
} RecorderMemory;

/* What the feed holds counts there from now on, until it is closed; false if there is not so much.
 * Episodes that grow beyond what there is are recorded as incomplete. Before anything is stepped.
 */
bool recorder_feed_charge(RecorderFeed *feed, const RecorderMemory *memory);
/* What has to be called, as a pool does. */
TyObserver recorder_observer(RecorderFeed *feed);
/* The name under which a seat driven from outside is recorded; "external" at first. Not while
 * anything is stepped. */
void recorder_name_seat(RecorderFeed *feed, uint32_t seat, const char *name);

/* From now on what agents tell of their choices is kept, for the log. Not while anything is
 * stepped. */
void recorder_keep_notes(RecorderFeed *feed);
/* What somebody outside tells of the decision that comes next in the slot. */
void recorder_note(RecorderFeed *feed, uint32_t slot, const TyNote *notes, uint32_t count);

enum { RECORDER_RECENT = 4 /* finished episodes of a slot that can be fetched */ };

/* A log of its own with one episode in it: the caller frees `bytes`. */
typedef struct RecorderCopy {
    uint64_t episode; /* number in its slot */
    uint8_t *bytes;
    size_t size;
} RecorderCopy;

/* Fetches one of the last episodes that have ended in a slot: the newest of that number, or without
 * `episode` the newest of all. TY_BAD_ARGUMENT if it is not among them. Not while anything is
 * stepped. */
TyStatus recorder_fetch(RecorderFeed *feed, uint32_t slot, const uint64_t *episode,
                        RecorderCopy *copy);

/* ---- Reading --------------------------------------------------------------------------------- */

enum { LOG_CONTENTS_MAX = 256 /* boards and decks of one file that a reader remembers */ };

/* A stretch of a file in which no record could be read. */
typedef struct LogGap {
    uint64_t offset;
    uint64_t size;
    bool torn; /* an unfinished record at the very end; otherwise damage */
} LogGap;

typedef struct LogContent {
    uint64_t hash;
    const uint8_t *bytes;
    size_t size;
} LogContent;

/* Reads the bytes of a log from front to back. Nothing in it is trusted. The bytes belong to the
 * caller. */
typedef struct LogReader {
    const uint8_t *bytes;
    size_t size;
    uint64_t file_id;
    size_t at;        /* where the next record is looked for */
    size_t whole_end; /* behind the last whole record */
    uint32_t records;
    uint32_t episodes;
    uint32_t gaps;
    uint32_t content_count;
    LogContent contents[LOG_CONTENTS_MAX];
    const uint8_t *notes; /* of a notes record whose episode is to come; NULL: none */
    void *user;
    void (*gap)(void *user, const LogGap *gap); /* told of every gap; may be NULL */
} LogReader;

/* A whole record, somewhere in the bytes. */
typedef struct LogRecord {
    uint8_t kind;
    uint32_t sequence;
    size_t offset;
    const uint8_t *payload;
    uint32_t size;
} LogRecord;

/* One recorded episode. The steps lie in the reader's bytes. */
typedef struct LogEpisode {
    uint32_t index; /* among the episodes of the file */
    size_t offset;  /* of its record */
    uint32_t rules_version;
    uint64_t seed;
    uint32_t slot;
    uint64_t episode; /* number in its slot */
    uint32_t steps;   /* decisions that were taken */
    uint32_t kept;    /* decisions that are here */
    TyCause cause;
    int8_t forfeit_seat;
    uint8_t seat_count;
    uint8_t player_count;
    uint8_t metric_count;
    uint8_t content_count;
    int32_t returns[TY_PLAYERS_MAX]; /* in 1/64 */
    int32_t metrics[TY_METRICS_MAX];
    uint64_t contents[TY_FILES_MAX]; /* hashes of the user's files, in the order of the keys */
    uint64_t first_hash;
    uint64_t final_hash;
    char spec[TY_SPEC_MAX];
    char seats[TY_SEATS_MAX][LOG_NAME_MAX];
    const uint8_t *body;
    const uint8_t *notes; /* what agents told, LOG_NOTE_SIZE bytes each, */
    uint32_t note_count;  /* and how many these are */
} LogEpisode;

/* One of them: of which decision, from 0, and what was told. */
typedef struct LogNote {
    uint32_t decision;
    TyNote note;
} LogNote;

/* Fails if the bytes do not begin as a log of this version does. */
TyStatus log_reader_init(LogReader *reader, const uint8_t *bytes, size_t size);
/* The next whole record; false at the end. */
bool log_next_record(LogReader *reader, LogRecord *record);
/* The next episode; contents on the way are remembered. False at the end. */
bool log_next_episode(LogReader *reader, LogEpisode *episode);

static inline uint32_t log_episode_action(const LogEpisode *episode, uint32_t index)
{
    return load_le16(episode->body + log_step_offset(index));
}

static inline uint16_t log_episode_check(const LogEpisode *episode, uint32_t index)
{
    return load_le16(episode->body + log_step_offset(index) + 2);
}

/* Note `index` of the episode. */
LogNote log_episode_note(const LogEpisode *episode, uint32_t index);

/* A log file in memory. The caller closes it. */
typedef struct LogFile {
    const uint8_t *bytes;
    size_t size;
} LogFile;

TyStatus log_file_open(const char *path, LogFile *file);
void log_file_close(LogFile *file);

/* ---- Playing again --------------------------------------------------------------------------- */

typedef enum ReplayVerdict {
    REPLAY_AGREES,
    REPLAY_INCOMPLETE, /* the decisions that were kept agree; the rest is not in the log */
    REPLAY_REFUSED,    /* cannot be played here: other rules, unknown game, board missing */
    REPLAY_DIVERGES,
} ReplayVerdict;

typedef struct ReplayResult {
    ReplayVerdict verdict;
    uint32_t step;   /* REPLAY_DIVERGES: at which decision, from 1; 0: before the first */
    uint32_t agreed; /* decisions up to the last hash of the whole state that agreed */
    char message[TY_MESSAGE_MAX]; /* in a sentence, unless it agrees */
} ReplayResult;

/* Plays recorded episodes. It keeps the rulesets that it has opened. */
typedef struct Replayer Replayer;

/* NULL if there is no memory. */
Replayer *replayer_open(void);
void replayer_close(Replayer *replayer);

/* The ruleset of an episode; it lives until the replayer has opened some others. */
TyStatus replayer_ruleset(Replayer *replayer, const LogReader *reader, const LogEpisode *episode,
                          const TyRuleset **ruleset);
/* Plays the episode from its seed and compares every check, hash, return and metric. */
ReplayResult replay_verify(Replayer *replayer, const LogReader *reader, const LogEpisode *episode);
/* The same, and writes into `state` (TY_STATE_MAX bytes) the position in which the decision that
 * diverges was taken; without divergence, the last one. */
ReplayResult replay_bisect(Replayer *replayer, const LogReader *reader, const LogEpisode *episode,
                           void *state);
/* The name of a cause ("rules", "forfeit"). */
const char *replay_cause_name(TyCause cause);
