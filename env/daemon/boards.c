/* Boards and decks that are not built in: sent with a request, or from the daemon's own folder. */
#define _GNU_SOURCE
#include "daemon/boards.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AGENT_FILE_BYTES_MAX = 16 << 20 };

/* A name that cannot lead out of a directory. A whole name may have dots, but not in front. */
static bool name_is_plain(const char *name, bool whole)
{
    size_t length = strlen(name);
    const char *letters = whole ? "abcdefghijklmnopqrstuvwxyz0123456789_-."
                                : "abcdefghijklmnopqrstuvwxyz0123456789_-";
    return length > 0 && length <= 60 && name[0] != '.' && strspn(name, letters) == length;
}

static bool request_find(const BoardSource *source, const char *name, const char **bytes,
                         size_t *size)
{
    if (source->request == NULL) {
        return false;
    }
    const WireValue *files = &source->request->values[FIELD_OF_FILES];
    for (uint32_t i = 0; i < files->count; i++) {
        char key[WIRE_TEXT_MAX];
        const uint8_t *content = NULL;
        uint32_t length = 0;
        request_file_at(source->request, FIELD_OF_FILES, i, key, &content, &length);
        if (strcmp(key, name) == 0) {
            *bytes = (const char *)content;
            *size = length;
            return true;
        }
    }
    return false;
}

static TyStatus file_load(BoardSource *source, int fd, const char *name, size_t *size)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return ty_status_fail(TY_BAD_FILE, "board '%s': is not a file", name);
    }
    if ((uint64_t)info.st_size > source->bytes_max) {
        return ty_status_fail(TY_LIMIT, "board '%s': is larger than board_bytes=%llu", name,
                              (unsigned long long)source->bytes_max);
    }
    size_t wanted = (size_t)info.st_size;
    char *bytes = malloc(wanted + 1);
    if (bytes == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "board '%s': no memory", name);
    }
    *size = 0;
    while (*size < wanted) {
        ssize_t got = read(fd, bytes + *size, wanted - *size);
        if (got <= 0) {
            break;
        }
        *size += (size_t)got;
    }
    source->read[source->read_count++] = bytes;
    return ty_status_ok();
}

static TyStatus directory_open(BoardSource *source, const char *name, const char **bytes,
                               size_t *size)
{
    char path[80];
    if (source->directory == NULL || source->read_count == TY_FILES_MAX) {
        return ty_status_fail(TY_BAD_FILE,
                              "it is not built in, and the request has no file of this name");
    }
    int directory = open(source->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return ty_status_fail(TY_IO, "the folder of boards cannot be read: %s", strerror(errno));
    }
    snprintf(path, sizeof path, "%s%s", name, source->whole_names ? "" : ".json");
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    close(directory);
    if (fd < 0) {
        return ty_status_fail(TY_BAD_FILE, "the daemon has no file '%s'", path);
    }
    TyStatus status = file_load(source, fd, name, size);
    close(fd);
    if (status.code == TY_OK) {
        *bytes = source->read[source->read_count - 1];
    }
    return status;
}

static TyStatus source_open(void *user, const char *value, const char **bytes, size_t *size,
                            char name[TY_NAME_MAX])
{
    BoardSource *source = user;
    if (!name_is_plain(value, source->whole_names)) {
        return ty_status_fail(
            TY_BAD_FILE, "'%.60s' is not the name of a file here: letters a-z, digits, _ and -",
            value);
    }
    snprintf(name, TY_NAME_MAX, "%s", value);
    if (request_find(source, value, bytes, size)) {
        if (*size > source->bytes_max) {
            return ty_status_fail(TY_LIMIT, "file '%s': %zu bytes are above board_bytes=%llu",
                                  value, *size, (unsigned long long)source->bytes_max);
        }
        return ty_status_ok();
    }
    return directory_open(source, value, bytes, size);
}

TyFiles board_source_files(BoardSource *source)
{
    return (TyFiles){.user = source, .open = source_open};
}

void board_source_fini(BoardSource *source)
{
    for (uint32_t i = 0; i < source->read_count; i++) {
        free(source->read[i]);
    }
}

TyStatus boards_ruleset_open(const WorkerShared *shared, const Request *request,
                             TyRuleset **ruleset)
{
    char spec[WIRE_TEXT_MAX];
    BoardSource source = {
        .request = request, .directory = shared->boards, .bytes_max = shared->limits->board_bytes};
    TyFiles files = board_source_files(&source);
    request_text(request, FIELD_OF_RULESET, spec);
    TyStatus status = ty_ruleset_open(spec, &files, ruleset);
    board_source_fini(&source);
    return status;
}

TyStatus boards_agent_open(const WorkerShared *shared, const TyRuleset *ruleset, const char *spec,
                           const TyAgent **agent)
{
    BoardSource source = {
        .whole_names = true, .directory = shared->boards, .bytes_max = AGENT_FILE_BYTES_MAX};
    TyFiles files = board_source_files(&source);
    TyStatus status = ty_agent_open(ruleset, spec, &files, agent);
    board_source_fini(&source);
    return status;
}
