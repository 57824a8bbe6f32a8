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
    TRACK_FIRST = 1024, /* bytes for decisions that a slot gets at first */
    TRACK_ROOM = LOG_STEP_SIZE + 8,
};

struct Recorder {
    LogWriter writer;
    pthread_mutex_t mutex; /* of everything but the tracks of feeds */
    uint8_t *record;       /* the record being made */
    size_t record_size;
    RecorderStats stats;
    TyStatus failure;
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
    uint32_t number; /* of the file */
    uint32_t size;   /* of the payload */
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
    uint32_t steps;
    uint32_t kept;
    int32_t returns[TY_SEATS_MAX];
    uint8_t built_in;                    /* bit per seat that an agent played at the beginning */
    bool followed;                       /* from its beginning, without a snapshot in between */
    uint32_t written;                    /* episodes so far */
    RecordPlace recent[RECORDER_RECENT]; /* where the last of them lie, a ring */
} Track;

struct RecorderFeed {
    Recorder *recorder;
    const TyRuleset *ruleset;
    const TyShape *shape;
    const TyAgent *const *agents;
    TyPool *pool; /* NULL: somebody else plays */
    uint32_t slots;
    uint32_t rules_version;
    uint32_t content_count;
    uint32_t files[TY_FILES_MAX]; /* which of the ruleset's files are the user's */
    uint64_t contents[TY_FILES_MAX];
    char names[TY_SEATS_MAX][LOG_NAME_MAX];
    Track *tracks;
};

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
    while (!recorder->quit) {
        struct timespec at = time_in(recorder->writer.options.sync_ms);
        pthread_cond_timedwait(&recorder->wake, &recorder->mutex, &at);
        pthread_mutex_unlock(&recorder->mutex);
        TyStatus status = log_writer_sync(&recorder->writer);
        pthread_mutex_lock(&recorder->mutex);
        if (status.code != TY_OK) {
            recorder->failure = status;
        }
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
        return status_fail(TY_BAD_ARGUMENT, "steps_max=%u: out of range; allowed is 1..%d",
                           complete.steps_max, LOG_STEPS_MAX);
    }
    Recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for the recorder");
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
    return status_ok();
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
    pthread_mutex_unlock(&recorder->mutex);
    stats.skipped = atomic_load(&recorder->skipped);
    return stats;
}

TyStatus recorder_failure(Recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    TyStatus failure = recorder->failure;
    pthread_mutex_unlock(&recorder->mutex);
    return failure;
}

/* ---- Making records; the recorder's mutex is held ---- */

/* Room for a record with a payload of `size` bytes. */
static TyStatus record_reserve(Recorder *recorder, size_t size)
{
    size_t wanted = size + LOG_RECORD_EXTRA;
    if (wanted <= recorder->record_size) {
        return status_ok();
    }
    uint8_t *larger = realloc(recorder->record, wanted * 2);
    if (larger == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for a record of %zu bytes", size);
    }
    recorder->record = larger;
    recorder->record_size = wanted * 2;
    return status_ok();
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
    TyStatus status = status_ok();
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

/* Who played a seat: an agent, somebody outside, or first the one and then the other. */
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

static void put_fixed(uint8_t *out, const RecorderFeed *feed, uint32_t slot, const TyEnding *ending,
                      const void *state)
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
    out[32] = (uint8_t)ending->cause;
    out[33] = track->kept < track->steps ? LOG_FLAG_INCOMPLETE : 0;
    out[34] = (uint8_t)ending->seat;
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

static TyStatus episode_write(const RecorderFeed *feed, uint32_t slot, const TyEnding *ending,
                              const void *state)
{
    Recorder *recorder = feed->recorder;
    Track *track = &feed->tracks[slot];
    const TyShape *shape = feed->shape;
    int32_t metrics[TY_METRICS_MAX];
    TyStatus status = record_reserve(recorder, payload_room(feed) + track->size);
    if (status.code != TY_OK) {
        return status;
    }
    uint8_t *payload = recorder->record + LOG_RECORD_HEAD;
    ty_metrics(feed->ruleset, state, metrics);
    put_fixed(payload, feed, slot, ending, state);
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
                               .size = (uint32_t)(at - payload)};
    status = log_writer_append(&recorder->writer, LOG_EPISODE, recorder->record, place.size);
    if (status.code == TY_OK) {
        recorder->stats.bytes += place.size + LOG_RECORD_EXTRA;
        track->recent[track->written++ % RECORDER_RECENT] = place;
    }
    return status;
}

/* Tells people when writing begins to fail and when it works again. */
static void failure_note(Recorder *recorder, const TyStatus *status)
{
    const RecorderOptions *options = &recorder->writer.options;
    bool changed = (status->code == TY_OK) != (recorder->failure.code == TY_OK);
    recorder->failure = *status;
    if (changed && options->message != NULL) {
        options->message(options->user, status->code == TY_OK ? "the episode log is written again"
                                                              : status->message);
    }
}

/* ---- Following ---- */

static void feed_begin(void *user, uint32_t slot, uint64_t seed, uint64_t episode,
                       const void *state)
{
    RecorderFeed *feed = user;
    Track *track = &feed->tracks[slot];
    track->seed = seed;
    track->episode = episode;
    track->first_hash = ty_hash(feed->ruleset, state);
    track->chain = log_chain_begin(track->first_hash);
    track->size = track->steps = track->kept = 0;
    memset(track->returns, 0, sizeof track->returns);
    track->built_in = 0;
    for (uint32_t seat = 0; seat < feed->shape->seats; seat++) {
        track->built_in |= (uint8_t)((feed->agents[seat] != NULL) << seat);
    }
    track->followed = true;
}

/* Room for one more decision. Past the limit, or without memory, no more are kept. */
static bool track_reserve(Track *track, uint32_t steps_max)
{
    if (track->kept < track->steps || track->kept == steps_max) {
        return false;
    }
    if (track->size + TRACK_ROOM <= track->capacity) {
        return true;
    }
    uint32_t capacity = track->capacity == 0 ? TRACK_FIRST : track->capacity * 2;
    uint8_t *larger = realloc(track->bytes, capacity);
    if (larger == NULL) {
        return false;
    }
    track->bytes = larger;
    track->capacity = capacity;
    return true;
}

static void feed_decision(void *user, uint32_t slot, uint32_t action, const int32_t *reward,
                          const void *state)
{
    RecorderFeed *feed = user;
    Track *track = &feed->tracks[slot];
    if (!track->followed) {
        return;
    }
    if (track_reserve(track, feed->recorder->writer.options.steps_max)) {
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

static void feed_end(void *user, uint32_t slot, const TyEnding *ending, const void *state)
{
    RecorderFeed *feed = user;
    Recorder *recorder = feed->recorder;
    Track *track = &feed->tracks[slot];
    if (!track->followed) {
        atomic_fetch_add(&recorder->skipped, 1);
        return;
    }
    track->followed = false;
    for (uint32_t i = 0; i < feed->shape->players; i++) {
        track->returns[i] += ending->reward[i];
    }
    pthread_mutex_lock(&recorder->mutex);
    TyStatus status = log_writer_prepare(&recorder->writer);
    if (status.code == TY_OK) {
        status = contents_write(feed);
    }
    if (status.code == TY_OK) {
        status = episode_write(feed, slot, ending, state);
    }
    if (status.code == TY_OK && recorder->writer.options.sync_ms == RECORDER_SYNC_ALWAYS) {
        status = log_writer_sync(&recorder->writer);
    }
    recorder->stats.episodes += status.code == TY_OK;
    recorder->stats.lost += status.code != TY_OK;
    failure_note(recorder, &status);
    pthread_mutex_unlock(&recorder->mutex);
}

static void feed_replace(void *user, uint32_t slot)
{
    RecorderFeed *feed = user;
    feed->tracks[slot].followed = false;
}

TyObserver recorder_observer(RecorderFeed *feed)
{
    return (TyObserver){
        .user = feed,
        .begin = feed_begin,
        .decision = feed_decision,
        .end = feed_end,
        .replace = feed_replace,
    };
}

/* The user's files of the ruleset, in the order of its keys. */
static void feed_find_contents(RecorderFeed *feed)
{
    const TyGame *game = ty_ruleset_game(feed->ruleset);
    for (uint32_t i = 0; i < config_field_count(game); i++) {
        if (game->fields[i].kind != TY_FIELD_FILE) {
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
        return status_fail(TY_NO_MEMORY, "no memory to record %u slots", slots);
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
    return status_ok();
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

void recorder_feed_close(RecorderFeed *feed)
{
    if (feed == NULL) {
        return;
    }
    if (feed->pool != NULL) {
        ty_pool_observe(feed->pool, NULL);
    }
    for (uint32_t i = 0; i < feed->slots; i++) {
        free(feed->tracks[i].bytes);
    }
    free(feed->tracks);
    free(feed);
}

/* Other characters than those of plain text become underscores. */
void recorder_name_seat(RecorderFeed *feed, uint32_t seat, const char *name)
{
    char *out = feed->names[seat];
    size_t length = strnlen(name, LOG_NAME_MAX / 2 - 1);
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
    TyStatus status =
        log_writer_read(&feed->recorder->writer, place->number, place->offset + LOG_RECORD_HEAD,
                        at + LOG_RECORD_HEAD, place->size);
    log_record_seal(file_id, sequence, LOG_EPISODE, at, place->size);
    return status;
}

TyStatus recorder_fetch(RecorderFeed *feed, uint32_t slot, const uint64_t *episode,
                        RecorderCopy *copy)
{
    const RecordPlace *place = place_find(&feed->tracks[slot], episode);
    *copy = (RecorderCopy){.bytes = NULL};
    if (place == NULL) {
        return status_fail(TY_BAD_ARGUMENT,
                           "slot %u: %s; the last %d that were recorded there can be fetched", slot,
                           episode != NULL ? "this episode is not among its latest"
                                           : "no episode has ended there",
                           RECORDER_RECENT);
    }
    copy->episode = place->episode;
    copy->size = LOG_FILE_HEAD + place->size + LOG_RECORD_EXTRA;
    for (uint32_t i = 0; i < feed->content_count; i++) {
        copy->size += content_size(feed, i) + LOG_RECORD_EXTRA;
    }
    copy->bytes = malloc(copy->size);
    if (copy->bytes == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for %zu bytes of a log", copy->size);
    }
    TyStatus status = copy_fill(feed, place, copy->bytes);
    if (status.code != TY_OK) {
        free(copy->bytes);
        copy->bytes = NULL;
    }
    return status;
}
