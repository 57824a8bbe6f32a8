/* Opening what a command line names: files, rulesets with boards of the user's own. */
#include "cli/cli.h"
#include "core/status.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TyStatus read_stream(FILE *stream, const char *path, char **bytes, size_t *size)
{
    size_t capacity = 1 << 16;
    char *data = cli_memory(malloc(capacity));
    size_t length = fread(data, 1, capacity - 1, stream);
    while (length == capacity - 1 && capacity < CLI_FILE_MAX) {
        data = cli_memory(realloc(data, capacity * 2));
        capacity *= 2;
        length += fread(data + length, 1, capacity - 1 - length, stream);
    }
    if (length == capacity - 1) {
        free(data);
        return ty_status_fail(TY_LIMIT, "%s: larger than %d bytes", path, CLI_FILE_MAX);
    }
    if (ferror(stream)) {
        free(data);
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    data[length] = '\0';
    *bytes = data;
    *size = length;
    return ty_status_ok();
}

TyStatus file_read(const char *path, char **bytes, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    TyStatus status = read_stream(stream, path, bytes, size);
    fclose(stream);
    return status;
}

TyStatus file_write(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    if (stream == NULL) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    bool whole = fwrite(bytes, 1, size, stream) == size;
    if (fclose(stream) != 0 || !whole) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    return ty_status_ok();
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void path_name(const char *path, char name[TY_NAME_MAX])
{
    const char *base = path_base(path);
    const char *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    size_t out = 0;
    for (size_t i = 0; i < length && out < 32; i++) {
        char c = base[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        name[out++] = plain ? c : '_';
    }
    if (out == 0) {
        name[out++] = '_';
    }
    name[out] = '\0';
}

/* The files that a ruleset being opened has asked for; they live until it is open. */
typedef struct OpenFiles {
    char *bytes[TY_FILES_MAX];
    uint32_t count;
} OpenFiles;

static bool is_path(const char *value)
{
    size_t length = strlen(value);
    return strchr(value, '/') != NULL || (length > 5 && strcmp(value + length - 5, ".json") == 0);
}

static TyStatus files_open(void *user, const char *value, const char **bytes, size_t *size,
                           char name[TY_NAME_MAX])
{
    OpenFiles *files = user;
    if (!is_path(value)) {
        return ty_status_fail(TY_BAD_CONFIG,
                              "neither built in nor a path, which has a '/' or ends in .json");
    }
    assert(files->count < TY_FILES_MAX);
    TyStatus status = file_read(value, &files->bytes[files->count], size);
    if (status.code == TY_OK) {
        *bytes = files->bytes[files->count++];
        path_name(value, name);
    }
    return status;
}

int ruleset_open(const Settings *settings, const char *spec, TyRuleset **ruleset)
{
    OpenFiles open = {.count = 0};
    TyFiles files = {.user = &open, .open = files_open};
    TyStatus status = ty_ruleset_open(spec, &files, ruleset);
    for (uint32_t i = 0; i < open.count; i++) {
        free(open.bytes[i]);
    }
    if (status.code == TY_OK) {
        return CLI_OK;
    }
    return cli_usage_error(settings, "ruleset '%s': %s", spec, status.message);
}
