/* The recorder: follows what is played and writes each episode when it ends. */
#define _GNU_SOURCE
#include "config.h"
#include "core/status.h"
#include "replay/writer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RETAIN_MS = 60000,  /* how often files are looked through that may have grown too old */
    TRACK_FIRST = 1024, /* bytes for decisions that a slot gets at first */
    TRACK_ROOM = LOG_STEP_SIZE + 8,
    NOTES_FIRST = 64, /* notes that a slot has room for at first */
};

struct Recorder {
    LogWriter writer;
    pthread_mutex_t mutex; /* of everything but the tracks of feeds */
    uint8_t *record;       /* the record being made */
    size_t record_size;
    RecorderStats stats;
    TyStatus write_failure; /* of the last episode; or OK */
    TyStatus sync_failure;  /* of the last sync */
    atomic_ullong skipped;
    pthread_t sync_thread;
    bool sync_runs;
    bool quit;
    pthread_cond_t wake;
};

/* Where the record of an episode lies. */
typedef struct RecordPlace {
    uint64_t episode;
    uint64_t offset;
    uint32_t number;     /* of the file */
    uint32_t size;       /* of the payload */
    uint32_t notes_size; /* of the payload of the notes, which stand right before it; 0: none */
} RecordPlace;

/* The episode that runs in one slot. */
typedef struct Track {
    uint64_t seed;
    uint64_t episode;
    uint64_t chain;
    uint64_t first_hash;
    uint8_t *bytes; /* the decisions as they will stand in the record */
    uint32_t capacity;
    uint32_t size;
    uint8_t *notes; /* the notes as they will stand in their record */
    uint32_t note_count;
    uint32_t note_capacity;
    uint32_t steps;
    uint32_t kept;
    int32_t returns[TY_SEATS_MAX];
    uint8_t built_in;                    /* bit per seat that an agent played at the beginning */
    bool followed;                       /* from its beginning, without a snapshot in between */
    bool held;                           /* over, and to be written before that is told */
    bool appended;                       /* and its record stands, but was not synced yet */
    TyCause cause;                       /* of the end of a held episode, */
    int8_t forfeit_seat;                 /* and whose it was */
    uint32_t written;                    /* episodes so far */
    RecordPlace recent[RECORDER_RECENT]; /* where the last of them lie, a ring */
} Track;

struct RecorderFeed {
    Recorder *recorder;
    const TyRuleset *ruleset;
    const TyShape *shape;
    const TyAgent *const *agents;
    TyPool *pool; /* NULL: played elsewhere */
    bool notes;   /* what agents tell is kept */
    uint32_t slots;
    uint32_t rules_version;
    uint32_t content_count;
    uint32_t files[TY_FILES_MAX]; /* which of the ruleset's files are the user's */
    uint64_t contents[TY_FILES_MAX];
    char names[TY_SEATS_MAX][LOG_NAME_MAX];
    RecorderMemory memory; /* its functions are NULL: nobody is asked */
    atomic_ullong taken;   /* of it */
    Track *tracks;
};

/* ---- Failures; the recorder's mutex is held ---- */

static TyStatus failure_of(const Recorder *recorder)
{
    return recorder->write_failure.code != TY_OK ? recorder->write_failure : recorder->sync_failure;
}

/* Keeps how writing or syncing went in `place`, one of the two, and tells people when the log
 * begins to fail and when it works again. */
static void failure_note(Recorder *recorder, TyStatus *place, const TyStatus *status)
{
    const RecorderOptions *options = &recorder->writer.options;
    TyCode before = failure_of(recorder).code;
    *place = *status;
    TyStatus now = failure_of(recorder);
    if ((now.code == TY_OK) != (before == TY_OK) && options->message != NULL) {
        options->message(options->user,
                         now.code == TY_OK ? "the episode log is written again" : now.message);
    }
}

/* ---- Opening and closing ---- */

RecorderOptions recorder_defaults(void)
{
    return (RecorderOptions){
        .sync_ms = 1000,
        .file_bytes_max = RECORDER_FILE_BYTES,
        .steps_max = LOG_STEPS_MAX,
        .calls = {.write = write, .truncate = ftruncate, .sync = fdatasync},
    };
}

static struct timespec time_in(uint32_t milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    uint64_t ns = (uint64_t)at.tv_nsec + milliseconds % 1000 * UINT64_C(1000000);
    at.tv_sec += (time_t)(milliseconds / 1000 + ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

/* Syncs from time to time, so that nobody who plays waits for the disk. */
static void *sync_main(void *argument)
{
    Recorder *recorder = argument;
    pthread_mutex_lock(&recorder->mutex);
    for (uint64_t waited_ms = 0; !recorder->quit; waited_ms += recorder->writer.options.sync_ms) {
        struct timespec at = time_in(recorder->writer.options.sync_ms);
        if (waited_ms >= RETAIN_MS) {
            recorder->writer.deleted += log_writer_retain(&recorder->writer);
            waited_ms = 0;
        }
        pthread_cond_timedwait(&recorder->wake, &recorder->mutex, &at);
        pthread_mutex_unlock(&recorder->mutex);
        TyStatus status = log_writer_sync(&recorder->writer);
        pthread_mutex_lock(&recorder->mutex);
        failure_note(recorder, &recorder->sync_failure, &status);
    }
    pthread_mutex_unlock(&recorder->mutex);
    return NULL;
}

static void sync_thread_start(Recorder *recorder)
{
    uint32_t interval = recorder->writer.options.sync_ms;
    if (interval != RECORDER_SYNC_ALWAYS && interval != RECORDER_SYNC_NEVER) {
        recorder->sync_runs =
            pthread_create(&recorder->sync_thread, NULL, sync_main, recorder) == 0;
    }
}

TyStatus recorder_open(const char *directory, const RecorderOptions *options, Recorder **out)
{
    RecorderOptions complete = options != NULL ? *options : recorder_defaults();
    *out = NULL;
    if (complete.steps_max == 0 || complete.steps_max > LOG_STEPS_MAX) {
        return ty_status_fail(TY_BAD_ARGUMENT, "steps_max=%u: out of range; allowed is 1..%d",
                              complete.steps_max, LOG_STEPS_MAX);
    }
    Recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for the recorder");
    }
    TyStatus status = log_writer_open(&recorder->writer, directory, &complete);
    if (status.code != TY_OK) {
        free(recorder);
        return status;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&recorder->mutex, NULL);
    sync_thread_start(recorder);
    *out = recorder;
    return ty_status_ok();
}

void recorder_close(Recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    pthread_mutex_lock(&recorder->mutex);
    recorder->quit = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->mutex);
    if (recorder->sync_runs) {
        pthread_join(recorder->sync_thread, NULL);
    }
    log_writer_close(&recorder->writer);
    pthread_cond_destroy(&recorder->wake);
    pthread_mutex_destroy(&recorder->mutex);
    free(recorder->record);
    free(recorder);
}

TyStatus recorder_sync(Recorder *recorder)
{
    return log_writer_sync(&recorder->writer);
}

RecorderStats recorder_stats(Recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    RecorderStats stats = recorder->stats;
    stats.deleted = recorder->writer.deleted;
    pthread_mutex_unlock(&recorder->mutex);
    stats.skipped = atomic_load(&recorder->skipped);
    return stats;
}

RecorderFull recorder_full(const Recorder *recorder)
{
    return recorder->writer.options.full;
}

TyStatus recorder_failure(Recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    TyStatus failure = failure_of(recorder);
    pthread_mutex_unlock(&recorder->mutex);
    return failure;
}

/* ---- Making records; the recorder's mutex is held ---- */

/* Room for a record with a payload of `size` bytes. */
static TyStatus record_reserve(Recorder *recorder, size_t size)
{
    size_t wanted = size + LOG_RECORD_EXTRA;
    if (wanted <= recorder->record_size) {
        return ty_status_ok();
    }
    uint8_t *larger = realloc(recorder->record, wanted * 2);
    if (larger == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for a record of %zu bytes", size);
    }
    recorder->record = larger;
    recorder->record_size = wanted * 2;
    return ty_status_ok();
}

/* Bytes of the payload that holds the user's board or deck number `index`. */
static uint32_t content_size(const RecorderFeed *feed, uint32_t index)
{
    size_t size = 0;
    ty_ruleset_file(feed->ruleset, feed->files[index], &size);
    return (uint32_t)(LOG_CONTENT_FIXED + size);
}

static void put_content(uint8_t *payload, const RecorderFeed *feed, uint32_t index)
{
    size_t size = 0;
    const char *bytes = ty_ruleset_file(feed->ruleset, feed->files[index], &size);
    store_le64(payload, feed->contents[index]);
    store_le32(payload + 8, (uint32_t)size);
    memcpy(payload + LOG_CONTENT_FIXED, bytes, size);
}

/* Writes the user's board and deck, unless the file has them. */
static TyStatus contents_write(const RecorderFeed *feed)
{
    Recorder *recorder = feed->recorder;
    TyStatus status = ty_status_ok();
    for (uint32_t i = 0; i < feed->content_count && status.code == TY_OK; i++) {
        uint32_t size = content_size(feed, i);
        if (log_writer_has_content(&recorder->writer, feed->contents[i])) {
            continue;
        }
        status = record_reserve(recorder, size);
        if (status.code == TY_OK) {
            put_content(recorder->record + LOG_RECORD_HEAD, feed, i);
            status = log_writer_append(&recorder->writer, LOG_CONTENT, recorder->record, size);
        }
        if (status.code == TY_OK) {
            log_writer_note_content(&recorder->writer, feed->contents[i]);
            recorder->stats.bytes += size + LOG_RECORD_EXTRA;
        }
    }
    return status;
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, size_t size)
{
    memcpy(out, bytes, size);
    return out + size;
}

static uint8_t *put_ints(uint8_t *out, const int32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, out += 4) {
        store_le32(out, (uint32_t)values[i]);
    }
    return out;
}

/* Who played a seat: an agent, a member, or first the one and then the other. */
static uint8_t *put_seat(uint8_t *out, const RecorderFeed *feed, const Track *track, uint32_t seat)
{
    char name[LOG_NAME_MAX * 2];
    const TyAgent *agent = feed->agents[seat];
    bool changed = agent != NULL && (track->built_in >> seat & 1) == 0;
    int length = agent == NULL ? snprintf(name, sizeof name, "%s", feed->names[seat])
                 : changed ? snprintf(name, sizeof name, "%s+%s", feed->names[seat], agent->name)
                           : snprintf(name, sizeof name, "%s", agent->name);
    uint8_t size = (uint8_t)(length < LOG_NAME_MAX ? length : LOG_NAME_MAX - 1);
    *out++ = size;
    return put_bytes(out, name, size);
}

static void put_fixed(uint8_t *out, const RecorderFeed *feed, uint32_t slot, const void *state)
{
    const Track *track = &feed->tracks[slot];
    const TyShape *shape = feed->shape;
    memset(out, 0, LOG_EPISODE_FIXED);
    store_le32(out, feed->rules_version);
    store_le64(out + 4, track->seed);
    store_le32(out + 12, slot);
    store_le64(out + 16, track->episode);
    store_le32(out + 24, track->steps);
    store_le32(out + 28, track->kept);
    out[32] = (uint8_t)track->cause;
    out[33] = track->kept < track->steps ? LOG_FLAG_INCOMPLETE : 0;
    out[34] = (uint8_t)track->forfeit_seat;
    out[35] = (uint8_t)shape->seats;
    out[36] = (uint8_t)shape->players;
    out[37] = (uint8_t)shape->metric_count;
    out[38] = (uint8_t)feed->content_count;
    store_le16(out + 40, (uint16_t)strlen(shape->spec));
    store_le64(out + 44, track->first_hash);
    store_le64(out + 52, ty_hash(feed->ruleset, state));
}

/* Bytes that the payload of any episode of the feed fits into, besides its decisions. */
static size_t payload_room(const RecorderFeed *feed)
{
    return LOG_EPISODE_FIXED + sizeof(int32_t) * (TY_PLAYERS_MAX + TY_METRICS_MAX) +
           sizeof(uint64_t) * TY_FILES_MAX + strlen(feed->shape->spec) +
           (size_t)TY_SEATS_MAX * (LOG_NAME_MAX + 1);
}

/* Writes the notes of an episode; `*size` is that of the payload, 0 if there are none. */
static TyStatus notes_write(const RecorderFeed *feed, uint32_t slot, uint32_t *size)
{
    Recorder *recorder = feed->recorder;
    const Track *track = &feed->tracks[slot];
    size_t bytes = (size_t)track->note_count * LOG_NOTE_SIZE;
    *size = 0;
    if (track->note_count == 0) {
        return ty_status_ok();
    }
    TyStatus status = record_reserve(recorder, LOG_NOTES_FIXED + bytes);
    if (status.code != TY_OK) {
        return status;
    }
    uint8_t *payload = recorder->record + LOG_RECORD_HEAD;
    store_le32(payload, slot);
    store_le64(payload + 4, track->episode);
    store_le64(payload + 12, track->first_hash);
    store_le32(payload + 20, track->note_count);
    memcpy(payload + LOG_NOTES_FIXED, track->notes, bytes);
    *size = (uint32_t)(LOG_NOTES_FIXED + bytes);
    status = log_writer_append(&recorder->writer, LOG_NOTES, recorder->record, *size);
    recorder->stats.bytes += status.code == TY_OK ? *size + LOG_RECORD_EXTRA : 0;
    return status;
}

static TyStatus episode_write(const RecorderFeed *feed, uint32_t slot, const void *state)
{
    Recorder *recorder = feed->recorder;
    Track *track = &feed->tracks[slot];
    const TyShape *shape = feed->shape;
    int32_t metrics[TY_METRICS_MAX];
    uint32_t notes_size = 0;
    TyStatus status = notes_write(feed, slot, &notes_size);
    if (status.code == TY_OK) {
        status = record_reserve(recorder, payload_room(feed) + track->size);
    }
    if (status.code != TY_OK) {
        return status;
    }
    uint8_t *payload = recorder->record + LOG_RECORD_HEAD;
    ty_metrics(feed->ruleset, state, metrics);
    put_fixed(payload, feed, slot, state);
    uint8_t *at = put_ints(payload + LOG_EPISODE_FIXED, track->returns, shape->players);
    at = put_ints(at, metrics, shape->metric_count);
    for (uint32_t i = 0; i < feed->content_count; i++, at += 8) {
        store_le64(at, feed->contents[i]);
    }
    at = put_bytes(at, shape->spec, strlen(shape->spec));
    for (uint32_t seat = 0; seat < shape->seats; seat++) {
        at = put_seat(at, feed, track, seat);
    }
    if (track->size > 0) {
        at = put_bytes(at, track->bytes, track->size);
    }
    const RecordPlace place = {.episode = track->episode,
                               .offset = recorder->writer.size,
                               .number = recorder->writer.number,
                               .size = (uint32_t)(at - payload),
                               .notes_size = notes_size};
    status = log_writer_append(&recorder->writer, LOG_EPISODE, recorder->record, place.size);
    if (status.code == TY_OK) {
        recorder->stats.bytes += place.size + LOG_RECORD_EXTRA;
        track->recent[track->written++ % RECORDER_RECENT] = place;
    }
    return status;
}

/* ---- Following ---- */

/* The episode that was held, if any, will never be told: something else is in its slot. */
static void track_give_up(const RecorderFeed *feed, Track *track)
{
    Recorder *recorder = feed->recorder;
    if (track->held) {
        pthread_mutex_lock(&recorder->mutex);
        recorder->stats.held--;
        recorder->stats.lost++;
        pthread_mutex_unlock(&recorder->mutex);
        track->held = track->appended = false;
    }
}

static void feed_begin(void *user, uint32_t slot, uint64_t seed, uint64_t episode,
                       const void *state)
{
    RecorderFeed *feed = user;
    Track *track = &feed->tracks[slot];
    track_give_up(feed, track);
    track->seed = seed;
    track->episode = episode;
    track->first_hash = ty_hash(feed->ruleset, state);
    track->chain = log_chain_begin(track->first_hash);
    track->size = track->steps = track->kept = track->note_count = 0;
    memset(track->returns, 0, sizeof track->returns);
    track->built_in = 0;
    for (uint32_t seat = 0; seat < feed->shape->seats; seat++) {
        track->built_in |= (uint8_t)((feed->agents[seat] != NULL) << seat);
    }
    track->followed = true;
}

static bool feed_take(RecorderFeed *feed, uint64_t bytes)
{
    if (feed->memory.take != NULL && !feed->memory.take(feed->memory.user, bytes)) {
        return false;
    }
    atomic_fetch_add(&feed->taken, bytes);
    return true;
}

static void feed_give(RecorderFeed *feed, uint64_t bytes)
{
    if (feed->memory.give != NULL) {
        feed->memory.give(feed->memory.user, bytes);
    }
    atomic_fetch_sub(&feed->taken, bytes);
}

/* `bytes` with room for `size`, which is `more` than before. NULL: there is no memory, and nothing
 * has changed. */
static uint8_t *feed_grow(RecorderFeed *feed, uint8_t *bytes, size_t size, uint64_t more)
{
    if (!feed_take(feed, more)) {
        return NULL;
    }
    uint8_t *larger = realloc(bytes, size);
    if (larger == NULL) {
        feed_give(feed, more);
    }
    return larger;
}

/* Room for one more decision. Past the limit, or without memory, no more are kept. What a slot gets
 * at first was taken for all when the feed was charged. */
static bool track_reserve(RecorderFeed *feed, Track *track, uint32_t steps_max)
{
    if (track->kept < track->steps || track->kept == steps_max) {
        return false;
    }
    if (track->size + TRACK_ROOM <= track->capacity) {
        return true;
    }
    uint32_t capacity = track->capacity == 0 ? TRACK_FIRST : track->capacity * 2;
    uint8_t *larger = feed_grow(feed, track->bytes, capacity, track->capacity);
    if (larger == NULL) {
        return false;
    }
    track->bytes = larger;
    track->capacity = capacity;
    return true;
}

static void put_float(uint8_t *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_le32(out, bits);
}

/* Room for `count` more notes. False past the limit, or without memory. */
static bool notes_reserve(RecorderFeed *feed, Track *track, uint32_t count)
{
    uint32_t before = track->note_capacity;
    uint32_t capacity = before;
    if (count > LOG_NOTES_MAX - track->note_count) {
        return false;
    }
    while (capacity < track->note_count + count) {
        capacity = capacity == 0 ? NOTES_FIRST : capacity * 2;
    }
    if (capacity == before) {
        return true;
    }
    uint8_t *larger = feed_grow(feed, track->notes, (size_t)capacity * LOG_NOTE_SIZE,
                                (capacity - before) * LOG_NOTE_SIZE);
    if (larger == NULL) {
        return false;
    }
    track->notes = larger;
    track->note_capacity = capacity;
    return true;
}

/* Forgets what was told of a decision that was not taken. */
static void notes_drop(Track *track)
{
    while (track->note_count > 0 && load_le32(track->notes + (size_t)(track->note_count - 1) *
                                                                 LOG_NOTE_SIZE) >= track->kept) {
        track->note_count--;
    }
}

void recorder_note(RecorderFeed *feed, uint32_t slot, const TyNote *notes, uint32_t count)
{
    Track *track = &feed->tracks[slot];
    bool whole =
        track->kept == track->steps && track->kept < feed->recorder->writer.options.steps_max;
    if (!feed->notes || !track->followed || !whole) {
        return;
    }
    notes_drop(track);
    if (!notes_reserve(feed, track, count)) {
        return;
    }
    uint8_t *at = track->notes + (size_t)track->note_count * LOG_NOTE_SIZE;
    for (uint32_t i = 0; i < count; i++, at += LOG_NOTE_SIZE) {
        store_le32(at, track->steps);
        store_le32(at + 4, notes[i].action);
        put_float(at + 8, notes[i].probability);
        put_float(at + 12, notes[i].value);
        put_float(at + 16, notes[i].visits);
    }
    track->note_count += count;
}

static void feed_noted(void *user, uint32_t slot, const TyNotes *notes)
{
    recorder_note(user, slot, notes->list, notes->count);
}

void recorder_keep_notes(RecorderFeed *feed)
{
    feed->notes = true;
}

static void feed_decision(void *user, uint32_t slot, uint32_t action, const int32_t *reward,
                          const void *state)
{
    RecorderFeed *feed = user;
    Track *track = &feed->tracks[slot];
    if (!track->followed) {
        return;
    }
    if (track_reserve(feed, track, feed->recorder->writer.options.steps_max)) {
        uint8_t *at = track->bytes + track->size;
        store_le16(at, (uint16_t)action);
        store_le16(at + 2, log_chain_check(track->chain, action));
        track->size += LOG_STEP_SIZE;
        track->kept++;
        if (track->kept % LOG_HASH_EVERY == 0) {
            store_le64(at + LOG_STEP_SIZE, ty_hash(feed->ruleset, state));
            track->size += 8;
        }
    }
    track->chain = log_chain_add(track->chain, action, reward, state);
    track->steps++;
    for (uint32_t i = 0; i < feed->shape->players; i++) {
        track->returns[i] += reward[i];
    }
}

/* Writes what was not written yet of an episode that is over. */
static TyStatus ended_write(const RecorderFeed *feed, uint32_t slot, const void *state)
{
    Recorder *recorder = feed->recorder;
    Track *track = &feed->tracks[slot];
    TyStatus status = track->appended ? ty_status_ok() : log_writer_prepare(&recorder->writer);
    if (status.code == TY_OK && !track->appended) {
        status = contents_write(feed);
    }
    if (status.code == TY_OK && !track->appended) {
        status = episode_write(feed, slot, state);
    }
    track->appended = status.code == TY_OK;
    if (status.code == TY_OK && recorder->writer.options.sync_ms == RECORDER_SYNC_ALWAYS) {
        status = log_writer_sync(&recorder->writer);
    }
    return status;
}

/* An episode is over; with `ending` NULL, one that was held. False: it is held. */
static bool feed_end(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    RecorderFeed *feed = user;
    Recorder *recorder = feed->recorder;
    Track *track = &feed->tracks[slot];
    if (ending != NULL && !track->followed) {
        atomic_fetch_add(&recorder->skipped, 1);
        return true;
    }
    for (uint32_t i = 0; ending != NULL && i < feed->shape->players; i++) {
        track->returns[i] += ending->reward[i];
    }
    if (ending != NULL) {
        notes_drop(track);
        track->followed = false;
        track->cause = ending->cause;
        track->forfeit_seat = ending->seat;
    }
    pthread_mutex_lock(&recorder->mutex);
    TyStatus status = ended_write(feed, slot, state);
    bool written = status.code == TY_OK;
    bool hold = !written && recorder->writer.options.full == RECORDER_FULL_STOP;
    recorder->stats.episodes += written;
    recorder->stats.lost += !written && !hold;
    recorder->stats.held += (uint64_t)hold - (uint64_t)track->held;
    failure_note(recorder, &recorder->write_failure, &status);
    if (recorder->writer.finished.code != TY_OK) {
        failure_note(recorder, &recorder->sync_failure, &recorder->writer.finished);
        recorder->writer.finished = ty_status_ok();
    }
    pthread_mutex_unlock(&recorder->mutex);
    track->held = hold;
    track->appended = track->appended && hold;
    return !hold;
}

static void feed_replace(void *user, uint32_t slot)
{
    RecorderFeed *feed = user;
    track_give_up(feed, &feed->tracks[slot]);
    feed->tracks[slot].followed = false;
}

TyObserver recorder_observer(RecorderFeed *feed)
{
    return (TyObserver){
        .user = feed,
        .begin = feed_begin,
        .noted = feed_noted,
        .decision = feed_decision,
        .end = feed_end,
        .replace = feed_replace,
    };
}

/* The user's files of the ruleset, in the order of its keys. */
static void feed_find_contents(RecorderFeed *feed)
{
    const TyGame *game = ty_ruleset_game(feed->ruleset);
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].kind != TY_FIELD_FILE) {
            continue;
        }
        uint32_t file = config_file_index(game, i);
        size_t size = 0;
        const char *bytes = ty_ruleset_file(feed->ruleset, file, &size);
        if (bytes != NULL) {
            feed->files[feed->content_count] = file;
            feed->contents[feed->content_count++] = hash_bytes(0, (const uint8_t *)bytes, size);
        }
    }
}

TyStatus recorder_feed_open(Recorder *recorder, const TyRuleset *ruleset, uint32_t slots,
                            const TyAgent *const *agents, RecorderFeed **out)
{
    *out = NULL;
    RecorderFeed *feed = calloc(1, sizeof *feed);
    Track *tracks = calloc(slots, sizeof *tracks);
    if (feed == NULL || tracks == NULL) {
        free(feed);
        free(tracks);
        return ty_status_fail(TY_NO_MEMORY, "no memory to record %u slots", slots);
    }
    feed->recorder = recorder;
    feed->ruleset = ruleset;
    feed->shape = ty_shape(ruleset);
    feed->rules_version = ty_game_rules_version(ty_ruleset_game(ruleset));
    feed->agents = agents;
    feed->slots = slots;
    feed->tracks = tracks;
    for (uint32_t seat = 0; seat < TY_SEATS_MAX; seat++) {
        recorder_name_seat(feed, seat, "external");
    }
    feed_find_contents(feed);
    *out = feed;
    return ty_status_ok();
}

TyStatus recorder_attach(Recorder *recorder, TyPool *pool, RecorderFeed **feed)
{
    const TyPoolConfig *config = ty_pool_config(pool);
    TyStatus status =
        recorder_feed_open(recorder, ty_pool_ruleset(pool), config->slots, config->agent, feed);
    if (*feed != NULL) {
        TyObserver observer = recorder_observer(*feed);
        (*feed)->pool = pool;
        ty_pool_observe(pool, &observer);
    }
    return status;
}

bool recorder_feed_charge(RecorderFeed *feed, const RecorderMemory *memory)
{
    feed->memory = *memory;
    return feed_take(feed, (uint64_t)feed->slots * (sizeof feed->tracks[0] + TRACK_FIRST));
}

void recorder_feed_close(RecorderFeed *feed)
{
    if (feed == NULL) {
        return;
    }
    if (feed->pool != NULL) {
        ty_pool_observe(feed->pool, NULL);
    }
    for (uint32_t i = 0; i < feed->slots; i++) {
        track_give_up(feed, &feed->tracks[i]);
        free(feed->tracks[i].bytes);
        free(feed->tracks[i].notes);
    }
    feed_give(feed, atomic_load(&feed->taken));
    free(feed->tracks);
    free(feed);
}

/* Other characters than those of plain text become underscores. */
void recorder_name_seat(RecorderFeed *feed, uint32_t seat, const char *name)
{
    char *out = feed->names[seat];
    size_t length = strnlen(name, LOG_MEMBER_MAX - 1);
    for (size_t i = 0; i < length; i++) {
        out[i] = (char)(name[i] < 0x20 || name[i] > 0x7e ? '_' : name[i]);
    }
    out[length] = '\0';
}

/* ---- Fetching ---- */

static const RecordPlace *place_find(const Track *track, const uint64_t *episode)
{
    uint32_t count = track->written < RECORDER_RECENT ? track->written : RECORDER_RECENT;
    for (uint32_t i = 1; i <= count; i++) {
        const RecordPlace *place = &track->recent[(track->written - i) % RECORDER_RECENT];
        if (episode == NULL || place->episode == *episode) {
            return place;
        }
    }
    return NULL;
}

/* The whole log is made in place: its head, the boards and decks, the episode. */
static TyStatus copy_fill(const RecorderFeed *feed, const RecordPlace *place, uint8_t *bytes)
{
    uint8_t *at = bytes + LOG_FILE_HEAD;
    uint32_t sequence = 0;
    const uint64_t file_id = hash_add(place->offset, place->number);
    log_head_write(file_id, bytes);
    for (uint32_t i = 0; i < feed->content_count; i++) {
        uint32_t size = content_size(feed, i);
        put_content(at + LOG_RECORD_HEAD, feed, i);
        log_record_seal(file_id, sequence++, LOG_CONTENT, at, size);
        at += size + LOG_RECORD_EXTRA;
    }
    TyStatus status = ty_status_ok();
    if (place->notes_size > 0) {
        status = log_writer_read(&feed->recorder->writer, place->number,
                                 place->offset - place->notes_size - LOG_RECORD_TAIL,
                                 at + LOG_RECORD_HEAD, place->notes_size);
        log_record_seal(file_id, sequence++, LOG_NOTES, at, place->notes_size);
        at += place->notes_size + LOG_RECORD_EXTRA;
    }
    if (status.code == TY_OK) {
        status =
            log_writer_read(&feed->recorder->writer, place->number, place->offset + LOG_RECORD_HEAD,
                            at + LOG_RECORD_HEAD, place->size);
    }
    log_record_seal(file_id, sequence, LOG_EPISODE, at, place->size);
    return status;
}

TyStatus recorder_fetch(RecorderFeed *feed, uint32_t slot, const uint64_t *episode,
                        RecorderCopy *copy)
{
    const RecordPlace *place = place_find(&feed->tracks[slot], episode);
    *copy = (RecorderCopy){.bytes = NULL};
    if (place == NULL) {
        return ty_status_fail(
            TY_BAD_ARGUMENT, "slot %u: %s; the last %d that were recorded there can be fetched",
            slot,
            episode != NULL ? "this episode is not among its latest" : "no episode has ended there",
            RECORDER_RECENT);
    }
    copy->episode = place->episode;
    copy->size = LOG_FILE_HEAD + place->size + LOG_RECORD_EXTRA;
    copy->size += place->notes_size > 0 ? place->notes_size + LOG_RECORD_EXTRA : 0;
    for (uint32_t i = 0; i < feed->content_count; i++) {
        copy->size += content_size(feed, i) + LOG_RECORD_EXTRA;
    }
    copy->bytes = malloc(copy->size);
    if (copy->bytes == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "no memory for %zu bytes of a log", copy->size);
    }
    TyStatus status = copy_fill(feed, place, copy->bytes);
    if (status.code != TY_OK) {
        free(copy->bytes);
        copy->bytes = NULL;
    }
    return status;
}
