/* Addresses to listen on: what they say, and the private directory and lock of a unix socket. */
#define _GNU_SOURCE
#include "daemon/endpoint.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

TyStatus endpoint_runtime_directory(char path[ENDPOINT_PATH_MAX])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int length = runtime != NULL && runtime[0] == '/'
                     ? snprintf(path, ENDPOINT_PATH_MAX, "%s/trainyard", runtime)
                     : snprintf(path, ENDPOINT_PATH_MAX, "/tmp/trainyard-%u", (unsigned)getuid());
    return length < ENDPOINT_PATH_MAX
               ? ty_status_ok()
               : ty_status_fail(TY_BAD_CONFIG, "XDG_RUNTIME_DIR is too long");
}

/* ---- Addresses ---- */

enum { PORT_MAX = 65535 };

static bool host_is_loopback(const char *host, size_t length)
{
    static const char *const names[] = {"localhost", "[::1]", "::1", NULL};
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], host, length) == 0) {
            return true;
        }
    }
    return length > 4 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= length;
}

static TyStatus parse_ipc(const char *path, Endpoint *endpoint)
{
    const char *slash = strrchr(path, '/');
    size_t room = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
    if (path[0] != '/' || slash[1] == '\0') {
        return ty_status_fail(TY_BAD_CONFIG,
                              "ipc://%.100s: give the absolute path of a socket, ipc:///dir/name",
                              path);
    }
    if (strlen(path) > room) {
        return ty_status_fail(TY_BAD_CONFIG, "ipc://%.100s: the path has more than %zu characters",
                              path, room);
    }
    endpoint->kind = ENDPOINT_IPC;
    snprintf(endpoint->path, sizeof endpoint->path, "%s", path);
    snprintf(endpoint->directory, sizeof endpoint->directory, "%.*s", (int)(slash - path), path);
    return ty_status_ok();
}

static bool port_is_good(const char *port)
{
    size_t digits = strspn(port, "0123456789");
    return strcmp(port, "*") == 0 || (digits > 0 && digits <= 5 && port[digits] == '\0' &&
                                      strtoul(port, NULL, 10) <= PORT_MAX);
}

/* ZeroMQ binds to numbers and names of interfaces only: it is told the number of localhost. */
static TyStatus parse_tcp(const char *rest, Endpoint *endpoint)
{
    const char *colon = strrchr(rest, ':');
    if (colon == NULL || colon == rest || colon[1] == '\0') {
        return ty_status_fail(TY_BAD_CONFIG, "tcp://%.100s: give tcp://HOST:PORT", rest);
    }
    if (!port_is_good(colon + 1)) {
        return ty_status_fail(TY_BAD_CONFIG, "tcp://%.100s: a port is a number up to %d, or *",
                              rest, PORT_MAX);
    }
    size_t length = (size_t)(colon - rest);
    endpoint->kind = host_is_loopback(rest, length) ? ENDPOINT_LOOPBACK : ENDPOINT_REMOTE;
    if (length == strlen("localhost") && strncmp(rest, "localhost", length) == 0) {
        snprintf(endpoint->address, sizeof endpoint->address, "tcp://127.0.0.1%s", colon);
    }
    return ty_status_ok();
}

bool endpoint_is_ipv6(const Endpoint *endpoint)
{
    return strncmp(endpoint->address, "tcp://[", 7) == 0;
}

TyStatus endpoint_parse(const char *address, Endpoint *endpoint)
{
    *endpoint = (Endpoint){.lock_fd = -1};
    if (strlen(address) >= ENDPOINT_PATH_MAX) {
        return ty_status_fail(TY_BAD_CONFIG, "%.100s...: the address is too long", address);
    }
    snprintf(endpoint->address, sizeof endpoint->address, "%s", address);
    if (strncmp(address, "ipc://", 6) == 0) {
        return parse_ipc(address + 6, endpoint);
    }
    if (strncmp(address, "tcp://", 6) == 0) {
        return parse_tcp(address + 6, endpoint);
    }
    return ty_status_fail(TY_BAD_CONFIG, "%.100s: an address begins with ipc:// or tcp://",
                          address);
}

/* ---- Private directories ---- */

static TyStatus directory_claim(Endpoint *endpoint)
{
    struct stat info;
    const char *path = endpoint->directory;
    if (mkdir(path, 0700) == 0) {
        endpoint->made_directory = true;
    } else if (errno != EEXIST) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    if (lstat(path, &info) != 0) {
        return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & 077) != 0) {
        return ty_status_fail(
            TY_IO,
            "%s: must be a directory of your own that nobody else can enter (mode "
            "0700)",
            path);
    }
    return ty_status_ok();
}

static void lock_path(const Endpoint *endpoint, char path[ENDPOINT_PATH_MAX + 8])
{
    snprintf(path, ENDPOINT_PATH_MAX + 8, "%s.lock", endpoint->path);
}

/* True if the path still names the locked file: its last owner may have removed it. */
static bool lock_is_current(int fd, const char *path)
{
    struct stat held;
    struct stat named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static TyStatus lock_claim(Endpoint *endpoint)
{
    char path[ENDPOINT_PATH_MAX + 8];
    lock_path(endpoint, path);
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            return ty_status_fail(TY_IO, "%s: %s", path, strerror(errno));
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            TyStatus status = ty_status_fail(
                TY_IO, "%s: %s", endpoint->address,
                errno == EWOULDBLOCK ? "another daemon serves this endpoint" : strerror(errno));
            close(fd);
            return status;
        }
        if (lock_is_current(fd, path)) {
            endpoint->lock_fd = fd;
            return ty_status_ok();
        }
        close(fd);
    }
}

/* A socket that is there already was left by a daemon, and makes room; nothing else does. */
static TyStatus place_check(const Endpoint *endpoint)
{
    struct stat info;
    if (lstat(endpoint->path, &info) == 0 && !S_ISSOCK(info.st_mode)) {
        return ty_status_fail(TY_IO, "%s: there is something else that is no socket",
                              endpoint->path);
    }
    return ty_status_ok();
}

TyStatus endpoint_claim(Endpoint *endpoint)
{
    if (endpoint->kind != ENDPOINT_IPC) {
        return ty_status_ok();
    }
    TyStatus status = directory_claim(endpoint);
    if (status.code == TY_OK) {
        status = place_check(endpoint);
    }
    return status.code == TY_OK ? lock_claim(endpoint) : status;
}

void endpoint_release(Endpoint *endpoint)
{
    char path[ENDPOINT_PATH_MAX + 8];
    if (endpoint->lock_fd >= 0) {
        unlink(endpoint->path);
        lock_path(endpoint, path);
        unlink(path);
        close(endpoint->lock_fd);
        endpoint->lock_fd = -1;
    }
    if (endpoint->made_directory) {
        rmdir(endpoint->directory);
        endpoint->made_directory = false;
    }
}
