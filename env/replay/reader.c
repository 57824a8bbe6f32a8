/* Reading episode logs: finding whole records among damage, and taking episodes apart. */
#define _POSIX_C_SOURCE 200809L
#include "core/status.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files ---- */

static TyStatus file_map(int fd, const char *path, LogFile *file)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return ty_status_fail(TY_IO, "%.200s: %s", path, strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return ty_status_fail(TY_IO, "%.200s: not a regular file", path);
    }
    if (about.st_size == 0) {
        file->bytes = (const uint8_t *)"";
        return ty_status_ok();
    }
    void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        return ty_status_fail(TY_IO, "%.200s: %s", path, strerror(errno));
    }
    *file = (LogFile){.bytes = bytes, .size = (size_t)about.st_size};
    return ty_status_ok();
}

TyStatus log_file_open(const char *path, LogFile *file)
{
    *file = (LogFile){.bytes = NULL};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return ty_status_fail(TY_IO, "%.200s: %s", path, strerror(errno));
    }
    TyStatus status = file_map(fd, path, file);
    close(fd);
    return status;
}

void log_file_close(LogFile *file)
{
    if (file->size > 0) {
        munmap((void *)(uintptr_t)file->bytes, file->size);
    }
    *file = (LogFile){.bytes = NULL};
}

/* ---- Records ---- */

TyStatus log_reader_init(LogReader *reader, const uint8_t *bytes, size_t size)
{
    memset(reader, 0, sizeof *reader);
    reader->bytes = bytes;
    reader->size = size;
    reader->at = reader->whole_end = LOG_FILE_HEAD;
    if (size < LOG_FILE_HEAD || memcmp(bytes, LOG_MAGIC, LOG_MAGIC_SIZE) != 0) {
        reader->at = reader->whole_end = size;
        return ty_status_fail(TY_BAD_FILE,
                              "this is not an episode log, or its beginning is damaged");
    }
    uint16_t version = load_le16(bytes + 8);
    reader->file_id = load_le64(bytes + 16);
    if (load_le64(bytes + 24) != log_hash(reader->file_id, bytes, 24)) {
        reader->at = reader->whole_end = size;
        return ty_status_fail(TY_BAD_FILE, "the beginning of the log is damaged");
    }
    if (version != LOG_VERSION) {
        reader->at = reader->whole_end = size;
        return ty_status_fail(TY_BAD_FILE, "the log has format %u; this version reads format %d",
                              version, LOG_VERSION);
    }
    return ty_status_ok();
}

typedef enum HeadKind {
    HEAD_NONE,  /* no record begins here */
    HEAD_CUT,   /* a record begins here and the bytes end before it does */
    HEAD_WHOLE, /* a record of the size that its head says */
} HeadKind;

/* Looks at the head of a record at `at`. */
static HeadKind head_look(const LogReader *reader, size_t at, LogRecord *record)
{
    const uint8_t *head = reader->bytes + at;
    size_t left = reader->size - at;
    uint8_t mark[4];
    store_le32(mark, LOG_RECORD_MARK);
    if (memcmp(head, mark, left < 4 ? left : 4) != 0) {
        return HEAD_NONE;
    }
    if (left < LOG_RECORD_HEAD) {
        return HEAD_CUT;
    }
    record->kind = head[4];
    record->size = load_le32(head + 8);
    record->sequence = load_le32(head + 12);
    record->offset = at;
    record->payload = head + LOG_RECORD_HEAD;
    if (load_le64(head + 16) != log_hash(reader->file_id, head, 16) ||
        record->size > LOG_PAYLOAD_MAX) {
        return HEAD_NONE;
    }
    return left >= (size_t)record->size + LOG_RECORD_EXTRA ? HEAD_WHOLE : HEAD_CUT;
}

static bool record_is_whole(const LogReader *reader, const LogRecord *record)
{
    size_t size = (size_t)record->size + LOG_RECORD_HEAD;
    const uint8_t *head = reader->bytes + record->offset;
    return load_le64(head + size) == log_hash(reader->file_id, head, size);
}

static void gap_tell(LogReader *reader, size_t begin, size_t end, bool torn)
{
    if (begin == end) {
        return;
    }
    const LogGap gap = {.offset = begin, .size = end - begin, .torn = torn};
    reader->gaps++;
    if (reader->gap != NULL) {
        reader->gap(reader->user, &gap);
    }
}

/* Where the next byte lies that could begin a record, from `at` on. */
static size_t mark_find(const LogReader *reader, size_t at)
{
    const uint8_t *found =
        at < reader->size
            ? memchr(reader->bytes + at, (int)(LOG_RECORD_MARK & 0xff), reader->size - at)
            : NULL;
    return found != NULL ? (size_t)(found - reader->bytes) : reader->size;
}

/* A head is trusted once its own check fits; then a damaged record is skipped as a whole, so that
 * the search through damage takes time in proportion to its size. */
bool log_next_record(LogReader *reader, LogRecord *record)
{
    size_t gap = reader->at;
    size_t torn = reader->size;
    for (size_t at = reader->at; at < reader->size;) {
        HeadKind kind = head_look(reader, at, record);
        if (kind == HEAD_WHOLE && record_is_whole(reader, record)) {
            gap_tell(reader, gap, at, false);
            reader->at = reader->whole_end = at + record->size + LOG_RECORD_EXTRA;
            reader->records++;
            return true;
        }
        if (kind == HEAD_CUT && torn == reader->size) {
            torn = at;
        }
        at = kind == HEAD_WHOLE ? at + record->size + LOG_RECORD_EXTRA : mark_find(reader, at + 1);
    }
    gap_tell(reader, gap, torn, false);
    gap_tell(reader, torn, reader->size, true);
    reader->at = reader->size;
    return false;
}

/* ---- Episodes ---- */

static float load_float(const uint8_t *bytes)
{
    uint32_t bits = load_le32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Bytes that are taken one after the other; `failed` once there were not enough. */
typedef struct Cursor {
    const uint8_t *at;
    size_t left;
    bool failed;
} Cursor;

/* The next `size` bytes, or NULL if there are not so many. */
static const uint8_t *cursor_take(Cursor *cursor, size_t size)
{
    if (cursor->failed || cursor->left < size) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *taken = cursor->at;
    cursor->at += size;
    cursor->left -= size;
    return taken;
}

/* Text that is safe to print; it fits with its NUL. */
static void cursor_text(Cursor *cursor, size_t length, char *out, size_t size)
{
    const uint8_t *text = length < size ? cursor_take(cursor, length) : NULL;
    out[0] = '\0';
    if (text == NULL) {
        cursor->failed = true;
        return;
    }
    for (size_t i = 0; i < length; i++) {
        cursor->failed |= text[i] < 0x20 || text[i] > 0x7e;
        out[i] = (char)text[i];
    }
    out[length] = '\0';
}

static void cursor_ints(Cursor *cursor, uint32_t count, int32_t *out)
{
    const uint8_t *bytes = cursor_take(cursor, (size_t)count * 4);
    for (uint32_t i = 0; bytes != NULL && i < count; i++) {
        out[i] = (int32_t)load_le32(bytes + (size_t)i * 4);
    }
}

/* The fixed part. Returns the length of the ruleset's name. */
static uint16_t episode_fixed(const uint8_t *bytes, LogEpisode *episode)
{
    episode->rules_version = load_le32(bytes);
    episode->seed = load_le64(bytes + 4);
    episode->slot = load_le32(bytes + 12);
    episode->episode = load_le64(bytes + 16);
    episode->steps = load_le32(bytes + 24);
    episode->kept = load_le32(bytes + 28);
    episode->cause = (TyCause)bytes[32];
    episode->forfeit_seat = (int8_t)bytes[34];
    episode->seat_count = bytes[35];
    episode->player_count = bytes[36];
    episode->metric_count = bytes[37];
    episode->content_count = bytes[38];
    episode->first_hash = load_le64(bytes + 44);
    episode->final_hash = load_le64(bytes + 52);
    return load_le16(bytes + 40);
}

static bool episode_counts_fit(const LogEpisode *episode, uint8_t flags)
{
    bool incomplete = episode->kept < episode->steps;
    return (uint32_t)episode->cause <= TY_CAUSE_FORFEIT && episode->seat_count <= TY_SEATS_MAX &&
           episode->player_count <= TY_PLAYERS_MAX && episode->metric_count <= TY_METRICS_MAX &&
           episode->content_count <= TY_FILES_MAX && episode->kept <= episode->steps &&
           episode->kept <= LOG_STEPS_MAX && flags == (incomplete ? LOG_FLAG_INCOMPLETE : 0) &&
           episode->forfeit_seat >= -1 && episode->forfeit_seat < (int8_t)episode->player_count + 1;
}

/* Takes an episode apart; false if its parts do not fit. */
static bool episode_read(const LogRecord *record, LogEpisode *episode)
{
    Cursor cursor = {.at = record->payload, .left = record->size};
    const uint8_t *fixed = cursor_take(&cursor, LOG_EPISODE_FIXED);
    memset(episode, 0, sizeof *episode);
    if (fixed == NULL) {
        return false;
    }
    uint16_t spec_length = episode_fixed(fixed, episode);
    if (!episode_counts_fit(episode, fixed[33])) {
        return false;
    }
    cursor_ints(&cursor, episode->player_count, episode->returns);
    cursor_ints(&cursor, episode->metric_count, episode->metrics);
    const uint8_t *contents = cursor_take(&cursor, (size_t)episode->content_count * 8);
    for (uint32_t i = 0; contents != NULL && i < episode->content_count; i++) {
        episode->contents[i] = load_le64(contents + (size_t)i * 8);
    }
    cursor_text(&cursor, spec_length, episode->spec, sizeof episode->spec);
    for (uint32_t seat = 0; seat < episode->seat_count; seat++) {
        const uint8_t *length = cursor_take(&cursor, 1);
        cursor_text(&cursor, length != NULL ? *length : 0, episode->seats[seat], LOG_NAME_MAX);
    }
    episode->body = cursor_take(&cursor, log_steps_size(episode->kept));
    episode->offset = record->offset;
    return !cursor.failed && cursor.left == 0;
}

LogNote log_episode_note(const LogEpisode *episode, uint32_t index)
{
    const uint8_t *at = episode->notes + (size_t)index * LOG_NOTE_SIZE;
    return (LogNote){.decision = load_le32(at),
                     .note = {.action = load_le32(at + 4),
                              .probability = load_float(at + 8),
                              .value = load_float(at + 12),
                              .visits = load_float(at + 16)}};
}

/* Remembers notes until their episode comes. */
static bool notes_read(LogReader *reader, const LogRecord *record)
{
    if (record->size < LOG_NOTES_FIXED) {
        return false;
    }
    uint32_t before = 0;
    uint32_t count = load_le32(record->payload + 20);
    const uint8_t *at = record->payload + LOG_NOTES_FIXED;
    if (count > LOG_NOTES_MAX || record->size != LOG_NOTES_FIXED + count * LOG_NOTE_SIZE) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++, at += LOG_NOTE_SIZE) {
        if (load_le32(at) < before || load_le32(at + 4) >= TY_ACTIONS_MAX) {
            return false;
        }
        before = load_le32(at);
    }
    reader->notes = record->payload;
    return true;
}

/* Gives an episode the notes that stand right before it, if they are its own. */
static void notes_give(LogReader *reader, LogEpisode *episode)
{
    const uint8_t *notes = reader->notes;
    reader->notes = NULL;
    if (notes != NULL && load_le32(notes) == episode->slot &&
        load_le64(notes + 4) == episode->episode && load_le64(notes + 12) == episode->first_hash) {
        episode->note_count = load_le32(notes + 20);
        episode->notes = notes + LOG_NOTES_FIXED;
    }
}

/* Remembers a board or deck. When there are too many, the newest takes the last place. */
static bool content_read(LogReader *reader, const LogRecord *record)
{
    if (record->size < LOG_CONTENT_FIXED) {
        return false;
    }
    const LogContent content = {
        .hash = load_le64(record->payload),
        .bytes = record->payload + LOG_CONTENT_FIXED,
        .size = record->size - LOG_CONTENT_FIXED,
    };
    if (load_le32(record->payload + 8) != content.size ||
        content.hash != hash_bytes(0, content.bytes, content.size)) {
        return false;
    }
    for (uint32_t i = 0; i < reader->content_count; i++) {
        if (reader->contents[i].hash == content.hash) {
            return true;
        }
    }
    if (reader->content_count < LOG_CONTENTS_MAX) {
        reader->content_count++;
    }
    reader->contents[reader->content_count - 1] = content;
    return true;
}

bool log_next_episode(LogReader *reader, LogEpisode *episode)
{
    LogRecord record;
    while (log_next_record(reader, &record)) {
        bool sound = true;
        if (record.kind == LOG_EPISODE) {
            sound = episode_read(&record, episode);
            if (sound) {
                notes_give(reader, episode);
                episode->index = reader->episodes++;
                return true;
            }
        } else if (record.kind == LOG_CONTENT) {
            sound = content_read(reader, &record);
        } else if (record.kind == LOG_NOTES) {
            sound = notes_read(reader, &record);
        }
        if (!sound) {
            gap_tell(reader, record.offset, reader->at, false);
        }
    }
    return false;
}
