/* The secrets that let clients in: tokens and keys in files. */
#define _GNU_SOURCE
#include "daemon/access.h"
#include "core/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a small file. With `secret` it must be the user's own and closed to everybody else. */
static TyStatus small_file_read(const char *path, bool secret, char *text, size_t size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return status_fail(TY_IO, "%s: is not a file", path);
    }
    if (secret && (info.st_uid != getuid() || (info.st_mode & 077) != 0)) {
        close(fd);
        return status_fail(TY_IO, "%s: others can read it; chmod 600 makes it secret", path);
    }
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return status_ok();
}

TyStatus access_token_read(const char *path, char token[ACCESS_TOKEN_MAX])
{
    TyStatus status = small_file_read(path, true, token, ACCESS_TOKEN_MAX);
    if (status.code != TY_OK) {
        return status;
    }
    token[strcspn(token, "\r\n")] = '\0';
    if (strlen(token) < 16) {
        return status_fail(TY_BAD_FILE, "%s: a token has at least 16 characters", path);
    }
    return status_ok();
}

TyStatus access_secret_read(const char *path, char key[KEY_TEXT_SIZE])
{
    char text[4096];
    TyStatus status = small_file_read(path, true, text, sizeof text);
    if (status.code == TY_OK && key_find(text, "secret", key) == NULL) {
        status = status_fail(TY_BAD_FILE, "%s: has no line 'secret KEY'", path);
    }
    return status;
}

static TyStatus keys_of_file(const char *path, AccessKeys *keys)
{
    static char text[ACCESS_KEYS_MAX * 64];
    TyStatus status = small_file_read(path, false, text, sizeof text);
    const char *at = text;
    char key[KEY_TEXT_SIZE];
    uint32_t before = keys->count;
    while (status.code == TY_OK && (at = key_find(at, "public", key)) != NULL) {
        if (keys->count == ACCESS_KEYS_MAX) {
            return status_fail(TY_LIMIT, "%s: more than %d keys", path, ACCESS_KEYS_MAX);
        }
        memcpy(keys->keys[keys->count++], key, sizeof key);
    }
    if (status.code == TY_OK && keys->count == before) {
        status = status_fail(TY_BAD_FILE, "%s: has no line 'public KEY'", path);
    }
    return status;
}

static bool is_key_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".key") == 0 || strcmp(dot, ".pub") == 0);
}

TyStatus access_keys_read(const char *path, AccessKeys *keys)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return errno == ENOTDIR ? keys_of_file(path, keys)
                                : status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    TyStatus status = status_ok();
    const struct dirent *entry = NULL;
    while (status.code == TY_OK && (entry = readdir(directory)) != NULL) {
        char file[512];
        snprintf(file, sizeof file, "%.200s/%.255s", path, entry->d_name);
        if (is_key_name(entry->d_name)) {
            status = keys_of_file(file, keys);
        }
    }
    closedir(directory);
    return status;
}
