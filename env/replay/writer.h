/* The files of a log directory, as a recorder writes them. */
#pragma once

#include "replay/replay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { LOG_WRITER_CONTENTS_MAX = 256, LOG_WRITER_PATH_MAX = 4096 };

/* Everything but `sync_mutex` is used by one thread at a time: the recorder sees to that. */
typedef struct LogWriter {
    RecorderOptions options;
    char directory[LOG_WRITER_PATH_MAX];
    int directory_fd; /* holds the lock */
    int fd;           /* of the newest file; -1: none is open */
    uint32_t number;  /* of the newest file */
    time_t begun;     /* when that was; of one that was there before, when it was last written */
    uint64_t deleted; /* files that had to go */
    uint64_t file_id;
    uint64_t size;     /* up to the end of the last whole record */
    uint32_t sequence; /* of the next record */
    bool broken;       /* something unfinished stands behind `size` and could not be cut off */
    atomic_bool dirty; /* written since the last sync */
    TyStatus finished; /* why a file could not be synced at its end; OK if it was */
    uint32_t content_count;
    uint64_t contents[LOG_WRITER_CONTENTS_MAX]; /* hashes of what the newest file holds */
    pthread_mutex_t sync_mutex;                 /* held while `fd` is synced or closed */
} LogWriter;

/* Opens and locks the directory and repairs the newest file. */
TyStatus log_writer_open(LogWriter *writer, const char *directory, const RecorderOptions *options);
void log_writer_close(LogWriter *writer);
/* Begins a new file if there is none that can take one more record. */
TyStatus log_writer_prepare(LogWriter *writer);
/* Appends a record. `record` has LOG_RECORD_HEAD bytes of room, the payload, and LOG_RECORD_TAIL
 * bytes of room. On failure nothing of it stays behind. */
TyStatus log_writer_append(LogWriter *writer, uint8_t kind, uint8_t *record, uint32_t payload_size);
/* Deletes the files that have to go, as the options say, and returns how many. */
uint32_t log_writer_retain(LogWriter *writer);
/* The name of a file of a log, and the number in it; false if it is another's name. */
void log_file_name(uint32_t number, char name[TY_NAME_MAX]);
bool log_file_number(const char *name, uint32_t *number);
bool log_writer_has_content(const LogWriter *writer, uint64_t hash);
void log_writer_note_content(LogWriter *writer, uint64_t hash);
/* Reads `size` bytes at `offset` of file `number`, which may still be growing behind them. */
TyStatus log_writer_read(const LogWriter *writer, uint32_t number, uint64_t offset, uint8_t *bytes,
                         size_t size);
/* The bytes with which a file begins. */
void log_head_write(uint64_t file_id, uint8_t head[LOG_FILE_HEAD]);
/* Fills in what stands before and behind the payload of a record. */
void log_record_seal(uint64_t file_id, uint32_t sequence, uint8_t kind, uint8_t *record,
                     uint32_t payload_size);
/* fdatasync of the newest file. Any thread may call it. */
TyStatus log_writer_sync(LogWriter *writer);
