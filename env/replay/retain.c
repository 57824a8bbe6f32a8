/* Which files of a log stay: the oldest go when they are too old or all of them too large. */
#define _GNU_SOURCE
#include "replay/writer.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* Adds a file to the list, if it is one of the log and not the newest. */
static void file_note(const LogWriter *writer, const char *name, OldFile *files, uint32_t *count)
{
    struct stat info;
    uint32_t number = 0;
    if (*count < LOG_WRITER_OLD_MAX && log_file_number(name, &number) && number < writer->number &&
        fstatat(writer->directory_fd, name, &info, 0) == 0) {
        files[(*count)++] = (OldFile){number, (uint64_t)info.st_size, info.st_mtime};
    }
}

/* The files of the log but the newest, in order; some of them, if there are very many. */
static uint32_t files_list(const LogWriter *writer, OldFile *files)
{
    uint32_t count = 0;
    DIR *entries = opendir(writer->directory);
    if (entries == NULL) {
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        file_note(writer, entry->d_name, files, &count);
    }
    closedir(entries);
    qsort(files, count, sizeof files[0], number_compare);
    return count;
}

uint32_t log_writer_retain(LogWriter *writer)
{
    const RecorderOptions *options = &writer->options;
    if (options->keep_bytes == 0 && options->keep_seconds == 0) {
        return 0;
    }
    OldFile *files = malloc(LOG_WRITER_OLD_MAX * sizeof files[0]);
    uint32_t count = files != NULL ? files_list(writer, files) : 0;
    uint64_t total = writer->size;
    time_t now = time(NULL);
    uint32_t deleted = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += files[i].size;
    }
    for (uint32_t i = 0; i < count; i++) {
        char name[TY_NAME_MAX];
        bool large = options->keep_bytes > 0 && total > options->keep_bytes;
        bool old =
            options->keep_seconds > 0 && now - files[i].written > (time_t)options->keep_seconds;
        log_file_name(files[i].number, name);
        if ((large || old) && unlinkat(writer->directory_fd, name, 0) == 0) {
            total -= files[i].size;
            deleted++;
        }
    }
    free(files);
    return deleted;
}
