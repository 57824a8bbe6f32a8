/* The files of a log directory: named by number, repaired when opened, appended to. */
#define _GNU_SOURCE
#include "replay/writer.h"

#include "core/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void log_writer_say(const LogWriter *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void log_writer_say(const LogWriter *writer, const char *format, ...)
{
    char sentence[TY_MESSAGE_MAX];
    va_list args;
    if (writer->options.message == NULL) {
        return;
    }
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    writer->options.message(writer->options.user, sentence);
}

void log_file_name(uint32_t number, char name[TY_NAME_MAX])
{
    snprintf(name, TY_NAME_MAX, "episodes-%06" PRIu32 ".tylog", number);
}

bool log_file_number(const char *name, uint32_t *number)
{
    char exact[TY_NAME_MAX];
    unsigned found = 0;
    if (sscanf(name, "episodes-%6u.tylog", &found) != 1) {
        return false;
    }
    log_file_name(found, exact);
    *number = found;
    return strcmp(exact, name) == 0;
}

/* ---- Opening ---- */

static TyStatus directory_open(LogWriter *writer, const char *directory)
{
    size_t length = strlen(directory);
    if (length >= sizeof writer->directory) {
        return ty_status_fail(TY_LIMIT, "log directory: the path is too long");
    }
    memcpy(writer->directory, directory, length + 1);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return ty_status_fail(TY_IO, "log directory %.200s: %s", directory, strerror(errno));
    }
    writer->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (writer->directory_fd < 0) {
        return ty_status_fail(TY_IO, "log directory %.200s: %s", directory, strerror(errno));
    }
    if (flock(writer->directory_fd, LOCK_EX | LOCK_NB) != 0) {
        return ty_status_fail(TY_IO, "log directory %.200s: %s", directory,
                              errno == EWOULDBLOCK ? "another recorder is writing a log there"
                                                   : strerror(errno));
    }
    return ty_status_ok();
}

/* The highest number of a log file in the directory; 0 if there is none. */
static TyStatus newest_find(const LogWriter *writer, uint32_t *number)
{
    *number = 0;
    DIR *entries = opendir(writer->directory);
    if (entries == NULL) {
        return ty_status_fail(TY_IO, "log directory %.200s: %s", writer->directory,
                              strerror(errno));
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        uint32_t found = 0;
        if (log_file_number(entry->d_name, &found) && found > *number) {
            *number = found;
        }
    }
    closedir(entries);
    return ty_status_ok();
}

static void report_gap(void *user, const LogGap *gap)
{
    const LogWriter *writer = user;
    if (gap->offset + gap->size < writer->size) {
        log_writer_say(writer,
                       "log file %" PRIu32 ": %" PRIu64 " bytes at offset %" PRIu64
                       " are damaged; replays skip them",
                       writer->number, gap->size, gap->offset);
    }
}

/* Reads the newest file to its last whole record and cuts off what is behind. False if the file is
 * better left alone: then the next record begins another one. */
static bool newest_repair(LogWriter *writer, const char *path)
{
    LogFile file;
    LogReader reader;
    LogRecord record;
    if (log_file_open(path, &file).code != TY_OK) {
        return false;
    }
    bool sound = log_reader_init(&reader, file.bytes, file.size).code == TY_OK;
    writer->size = file.size;
    reader.user = writer;
    reader.gap = report_gap;
    writer->sequence = 0;
    while (sound && log_next_record(&reader, &record)) {
        writer->sequence = record.sequence + 1;
    }
    uint64_t tail = file.size - reader.whole_end;
    writer->file_id = reader.file_id;
    writer->size = reader.whole_end;
    log_file_close(&file);
    if (!sound || tail > LOG_PAYLOAD_MAX + LOG_RECORD_EXTRA) {
        log_writer_say(writer, "%.200s is damaged and stays as it is; a new file is begun", path);
        return false;
    }
    if (tail > 0) {
        log_writer_say(writer,
                       "%.200s: the last %" PRIu64 " bytes, an unfinished record, are cut off",
                       path, tail);
    }
    return true;
}

static bool newest_open(LogWriter *writer)
{
    char name[TY_NAME_MAX];
    char path[LOG_WRITER_PATH_MAX + TY_NAME_MAX + 1];
    log_file_name(writer->number, name);
    snprintf(path, sizeof path, "%s/%s", writer->directory, name);
    if (!newest_repair(writer, path)) {
        return false;
    }
    writer->fd = openat(writer->directory_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (writer->fd < 0) {
        return false;
    }
    struct stat info;
    writer->begun = fstat(writer->fd, &info) == 0 ? info.st_mtime : time(NULL);
    if (writer->options.calls.truncate(writer->fd, (off_t)writer->size) != 0) {
        close(writer->fd);
        writer->fd = -1;
        return false;
    }
    return true;
}

TyStatus log_writer_open(LogWriter *writer, const char *directory, const RecorderOptions *options)
{
    memset(writer, 0, sizeof *writer);
    writer->options = *options;
    writer->fd = writer->directory_fd = -1;
    pthread_mutex_init(&writer->sync_mutex, NULL);
    TyStatus status = directory_open(writer, directory);
    if (status.code == TY_OK) {
        status = newest_find(writer, &writer->number);
    }
    if (status.code == TY_OK && writer->number > 0) {
        newest_open(writer);
    }
    if (status.code == TY_OK) {
        status = log_writer_prepare(writer);
    }
    if (status.code == TY_OK) {
        writer->deleted += log_writer_retain(writer);
    }
    if (status.code != TY_OK) {
        log_writer_close(writer);
    }
    return status;
}

void log_writer_close(LogWriter *writer)
{
    if (writer->fd >= 0) {
        log_writer_sync(writer);
        close(writer->fd);
    }
    if (writer->directory_fd >= 0) {
        close(writer->directory_fd);
    }
    writer->fd = writer->directory_fd = -1;
    pthread_mutex_destroy(&writer->sync_mutex);
}

/* ---- Writing ---- */

/* Writes all of it. On failure nothing of it stays, or the file counts as broken. */
static TyStatus file_append(LogWriter *writer, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = writer->options.calls.write(writer->fd, bytes + done, size - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const char *why = written < 0 ? strerror(errno) : "nothing could be written";
            TyStatus status = ty_status_fail(TY_IO, "log %.120s: %s", writer->directory, why);
            writer->broken =
                done > 0 && writer->options.calls.truncate(writer->fd, (off_t)writer->size) != 0;
            return status;
        }
        done += (size_t)written;
    }
    writer->size += size;
    atomic_store(&writer->dirty, true);
    return ty_status_ok();
}

static void file_finish(LogWriter *writer)
{
    TyStatus status = log_writer_sync(writer);
    if (status.code != TY_OK) {
        writer->finished = status;
    }
    pthread_mutex_lock(&writer->sync_mutex);
    close(writer->fd);
    writer->fd = -1;
    pthread_mutex_unlock(&writer->sync_mutex);
}

void log_head_write(uint64_t file_id, uint8_t head[LOG_FILE_HEAD])
{
    memset(head, 0, LOG_FILE_HEAD);
    memcpy(head, LOG_MAGIC, LOG_MAGIC_SIZE);
    store_le16(head + 8, LOG_VERSION);
    store_le64(head + 16, file_id);
    store_le64(head + 24, log_hash(file_id, head, 24));
}

static void file_id_draw(LogWriter *writer)
{
    if (getrandom(&writer->file_id, sizeof writer->file_id, 0) != sizeof writer->file_id) {
        writer->file_id = hash_add(writer->file_id, (uint64_t)getpid() << 32 | writer->number);
    }
}

static TyStatus file_begin(LogWriter *writer)
{
    char name[TY_NAME_MAX];
    uint8_t head[LOG_FILE_HEAD];
    int fd = -1;
    do {
        if (writer->number >= 999999) {
            return ty_status_fail(TY_LIMIT, "log %.120s: there are too many files",
                                  writer->directory);
        }
        log_file_name(++writer->number, name);
        fd = openat(writer->directory_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0) {
        return ty_status_fail(TY_IO, "log %.120s/%s: %s", writer->directory, name, strerror(errno));
    }
    pthread_mutex_lock(&writer->sync_mutex);
    writer->fd = fd;
    pthread_mutex_unlock(&writer->sync_mutex);
    writer->begun = time(NULL);
    writer->size = 0;
    writer->sequence = 0;
    writer->content_count = 0;
    writer->broken = false;
    file_id_draw(writer);
    log_head_write(writer->file_id, head);
    TyStatus status = file_append(writer, head, sizeof head);
    if (status.code != TY_OK) {
        file_finish(writer);
        unlinkat(writer->directory_fd, name, 0);
        writer->number--;
    } else if (writer->options.sync_ms != RECORDER_SYNC_NEVER) {
        fsync(writer->directory_fd);
    }
    if (status.code == TY_OK) {
        writer->deleted += log_writer_retain(writer);
    }
    return status;
}

/* True if the next record is to begin a new file. */
static bool file_is_full(const LogWriter *writer)
{
    uint32_t seconds = writer->options.file_seconds_max;
    return writer->broken || writer->size >= writer->options.file_bytes_max ||
           (seconds > 0 && writer->size > LOG_FILE_HEAD &&
            time(NULL) - writer->begun >= (time_t)seconds);
}

TyStatus log_writer_prepare(LogWriter *writer)
{
    if (writer->fd >= 0 && file_is_full(writer)) {
        file_finish(writer);
    }
    return writer->fd >= 0 ? ty_status_ok() : file_begin(writer);
}

void log_record_seal(uint64_t file_id, uint32_t sequence, uint8_t kind, uint8_t *record,
                     uint32_t payload_size)
{
    size_t hashed = (size_t)LOG_RECORD_HEAD + payload_size;
    store_le32(record, LOG_RECORD_MARK);
    store_le32(record + 4, kind);
    store_le32(record + 8, payload_size);
    store_le32(record + 12, sequence);
    store_le64(record + 16, log_hash(file_id, record, 16));
    store_le64(record + hashed, log_hash(file_id, record, hashed));
}

TyStatus log_writer_append(LogWriter *writer, uint8_t kind, uint8_t *record, uint32_t payload_size)
{
    log_record_seal(writer->file_id, writer->sequence, kind, record, payload_size);
    TyStatus status = file_append(writer, record, (size_t)payload_size + LOG_RECORD_EXTRA);
    writer->sequence += status.code == TY_OK;
    return status;
}

TyStatus log_writer_read(const LogWriter *writer, uint32_t number, uint64_t offset, uint8_t *bytes,
                         size_t size)
{
    char name[TY_NAME_MAX];
    log_file_name(number, name);
    int fd = openat(writer->directory_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? pread(fd, bytes, size, (off_t)offset) : -1;
    TyStatus status = got == (ssize_t)size
                          ? ty_status_ok()
                          : ty_status_fail(TY_IO, "log %.120s/%s: %s", writer->directory, name,
                                           got < 0 ? strerror(errno) : "has become shorter");
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

bool log_writer_has_content(const LogWriter *writer, uint64_t hash)
{
    for (uint32_t i = 0; i < writer->content_count; i++) {
        if (writer->contents[i] == hash) {
            return true;
        }
    }
    return false;
}

void log_writer_note_content(LogWriter *writer, uint64_t hash)
{
    if (writer->content_count < LOG_WRITER_CONTENTS_MAX) {
        writer->contents[writer->content_count++] = hash;
    }
}

/* The mutex is taken before `dirty` is looked at: a file whose sync another thread has begun is not
 * closed before that has ended. */
TyStatus log_writer_sync(LogWriter *writer)
{
    TyStatus status = ty_status_ok();
    if (writer->options.sync_ms == RECORDER_SYNC_NEVER) {
        return status;
    }
    pthread_mutex_lock(&writer->sync_mutex);
    if (atomic_exchange(&writer->dirty, false) && writer->options.calls.sync(writer->fd) != 0) {
        status = ty_status_fail(TY_IO, "log %.120s: %s", writer->directory, strerror(errno));
        atomic_store(&writer->dirty, true);
    }
    pthread_mutex_unlock(&writer->sync_mutex);
    return status;
}
