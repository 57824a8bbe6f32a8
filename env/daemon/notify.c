/* What a service manager is told: systemd's notifications, a datagram each. */
#define _GNU_SOURCE
#include "daemon/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *lines)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    if (length == 0 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
        return;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = '\0'; /* an abstract one */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        ssize_t sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&address,
                              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
        (void)sent;
        close(fd);
    }
}

uint64_t notify_watchdog_ms(void)
{
    const char *pid = getenv("WATCHDOG_PID");
    const char *microseconds = getenv("WATCHDOG_USEC");
    if (microseconds == NULL || (pid != NULL && atol(pid) != (long)getpid())) {
        return 0;
    }
    return strtoull(microseconds, NULL, 10) / 2000;
}
