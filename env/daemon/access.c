/* The secrets that let clients in: tokens and keys in files. */
#define _GNU_SOURCE
#include "daemon/access.h"
#include "core/status.h"
#include "trainyard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a small file. With `secret` it must be the user's own and closed to everybody else. */
static TyStatus small_file_read(const char *path, bool secret, char *text, size_t size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return ty_status_fail(TY_IO, "%s: is not a file", path);
    }
    if (secret && (info.st_uid != getuid() || (info.st_mode & 077) != 0)) {
        close(fd);
        return ty_status_fail(TY_IO, "%s: others can read it; chmod 600 makes it secret", path);
    }
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return ty_status_ok();
}

TyStatus access_token_read(const char *path, char token[ACCESS_TOKEN_MAX])
{
    TyStatus status = small_file_read(path, true, token, ACCESS_TOKEN_MAX);
    if (status.code != TY_OK) {
        return status;
    }
    token[strcspn(token, "\r\n")] = '\0';
    if (strlen(token) < 16) {
        return ty_status_fail(TY_BAD_FILE, "%s: a token has at least 16 characters", path);
    }
    return ty_status_ok();
}

TyStatus access_secret_read(const char *path, char key[KEY_TEXT_SIZE])
{
    char text[4096];
    TyStatus status = small_file_read(path, true, text, sizeof text);
    if (status.code == TY_OK && key_find(text, "secret", key) == NULL) {
        status = ty_status_fail(TY_BAD_FILE, "%s: has no line 'secret KEY'", path);
    }
    return status;
}

/* The word behind the key on the line that ends at `end`; at most `size` - 1 characters. */
static void key_name(const char *text, const char *end, char *name, size_t size)
{
    const char *line = end;
    while (line > text && line[-1] != '\n' && line[-1] != '\r') {
        line--;
    }
    const char *key = line + strcspn(line, " \t");
    key += strspn(key, " \t");
    const char *word = key + KEY_TEXT_SIZE - 1;
    word += strspn(word, " \t");
    snprintf(name, size, "%.*s", (int)strcspn(word, " \t\r\n#"), word);
}

/* The name of a file without its directory and ending. */
static void file_base(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}

static TyStatus key_add(const char *path, bool administrator, CurveKeys *keys, const CurveKey *key)
{
    if (keys->count == CURVE_KEYS_MAX) {
        return ty_status_fail(TY_LIMIT, "%s: more than %d keys", path, CURVE_KEYS_MAX);
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        if (administrator && strcmp(keys->keys[i].key, key->key) == 0) {
            keys->keys[i].administrator = true;
        }
    }
    keys->keys[keys->count] = *key;
    keys->keys[keys->count++].administrator = administrator;
    return ty_status_ok();
}

static TyStatus keys_of_file(const char *path, bool administrators, CurveKeys *keys)
{
    static char text[CURVE_KEYS_MAX * 96];
    TyStatus status = small_file_read(path, false, text, sizeof text);
    const char *at = text;
    CurveKey key;
    uint32_t before = keys->count;
    while (status.code == TY_OK && (at = key_find(at, "public", key.key)) != NULL) {
        key_name(text, at, key.name, sizeof key.name);
        status = key_add(path, administrators, keys, &key);
    }
    if (status.code == TY_OK && keys->count == before) {
        status = ty_status_fail(TY_BAD_FILE, "%s: has no line 'public KEY'", path);
    }
    if (status.code == TY_OK && keys->count == before + 1 && keys->keys[before].name[0] == '\0') {
        file_base(path, keys->keys[before].name, ACCESS_NAME_MAX);
    }
    for (uint32_t i = before; status.code == TY_OK && i < keys->count; i++) {
        if (name_is_agents(keys->keys[i].name)) {
            status = ty_status_fail(TY_BAD_FILE, "%s: '%s' is the name of a built-in agent", path,
                                    keys->keys[i].name);
        }
    }
    return status;
}

const CurveKey *access_key_find(const CurveKeys *keys, const char key[KEY_TEXT_SIZE])
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].key, key) == 0) {
            return &keys->keys[i];
        }
    }
    return NULL;
}

static bool is_key_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".key") == 0 || strcmp(dot, ".pub") == 0);
}

TyStatus access_keys_read(const char *path, bool administrators, CurveKeys *keys)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return errno == ENOTDIR ? keys_of_file(path, administrators, keys)
                                : ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    TyStatus status = ty_status_ok();
    const struct dirent *entry = NULL;
    while (status.code == TY_OK && (entry = readdir(directory)) != NULL) {
        char file[512];
        snprintf(file, sizeof file, "%.200s/%.255s", path, entry->d_name);
        if (is_key_name(entry->d_name)) {
            status = keys_of_file(file, administrators, keys);
        }
    }
    closedir(directory);
    return status;
}

bool name_is_agents(const char *name)
{
    name += strspn(name, " ");
    size_t length = strcspn(name, " @+/:;,=");
    for (uint32_t g = 0; g < ty_game_count(); g++) {
        const TyAgent *agent = NULL;
        for (uint32_t i = 0; (agent = ty_agent_at(ty_game_at(g), i)) != NULL; i++) {
            if (strlen(agent->name) == length && strncasecmp(agent->name, name, length) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool secret_equal(const char *one, const char *other)
{
    size_t length = strlen(one);
    size_t other_length = strlen(other);
    unsigned difference = length != other_length;
    for (size_t i = 0; i < other_length; i++) {
        difference |= (unsigned)(one[i % (length + 1)] ^ other[i]);
    }
    return difference == 0;
}
