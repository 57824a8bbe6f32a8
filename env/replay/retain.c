/* Which files of a log stay: the oldest go when they are too old or all of them too large. */
#define _GNU_SOURCE
#include "replay/writer.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_FIRST = 64 /* files that a list has room for at first */ };

/* A file of the log, but the newest. */
typedef struct OldFile {
    uint32_t number;
    uint64_t size;
    time_t written; /* when it was last */
} OldFile;

static int number_compare(const void *one, const void *other)
{
    uint32_t a = ((const OldFile *)one)->number;
    uint32_t b = ((const OldFile *)other)->number;
    return (a > b) - (a < b);
}

/* The files of a log but the newest. */
typedef struct OldFiles {
    OldFile *list;
    uint32_t count;
    uint32_t capacity;
} OldFiles;

/* Adds a file, if it is one of the log and not the newest. False if there is no memory for it. */
static bool file_note(const LogWriter *writer, const char *name, OldFiles *files)
{
    struct stat info;
    uint32_t number = 0;
    if (!log_file_number(name, &number) || number >= writer->number ||
        fstatat(writer->directory_fd, name, &info, 0) != 0) {
        return true;
    }
    if (files->count == files->capacity) {
        uint32_t capacity = files->capacity == 0 ? FILES_FIRST : files->capacity * 2;
        OldFile *larger = realloc(files->list, capacity * sizeof larger[0]);
        if (larger == NULL) {
            return false;
        }
        files->list = larger;
        files->capacity = capacity;
    }
    files->list[files->count++] = (OldFile){number, (uint64_t)info.st_size, info.st_mtime};
    return true;
}

/* Lists the files in order. None, if not all can be listed: the oldest might be missing. */
static void files_list(const LogWriter *writer, OldFiles *files)
{
    bool whole = true;
    DIR *entries = opendir(writer->directory);
    if (entries == NULL) {
        return;
    }
    for (const struct dirent *entry; whole && (entry = readdir(entries)) != NULL;) {
        whole = file_note(writer, entry->d_name, files);
    }
    closedir(entries);
    files->count = whole ? files->count : 0;
    if (files->count > 0) {
        qsort(files->list, files->count, sizeof files->list[0], number_compare);
    }
}

uint32_t log_writer_retain(LogWriter *writer)
{
    const RecorderOptions *options = &writer->options;
    if (options->keep_bytes == 0 && options->keep_seconds == 0) {
        return 0;
    }
    OldFiles files = {.list = NULL};
    files_list(writer, &files);
    uint64_t total = writer->size;
    time_t now = time(NULL);
    uint32_t deleted = 0;
    for (uint32_t i = 0; i < files.count; i++) {
        total += files.list[i].size;
    }
    for (uint32_t i = 0; i < files.count; i++) {
        const OldFile *file = &files.list[i];
        char name[TY_NAME_MAX];
        bool large = options->keep_bytes > 0 && total > options->keep_bytes;
        bool old = options->keep_seconds > 0 && now - file->written > (time_t)options->keep_seconds;
        log_file_name(file->number, name);
        if ((large || old) && unlinkat(writer->directory_fd, name, 0) == 0) {
            total -= file->size;
            deleted++;
        }
    }
    free(files.list);
    return deleted;
}
