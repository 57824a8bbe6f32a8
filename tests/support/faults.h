/* Makes calls of the system fail that our own code makes. The linker sends them here: a test that
 * includes this is linked with --wrap for each of them (see tests/CMakeLists.txt). */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a call returns, its name, what it returns when it fails, its parameters and arguments. */
#define FAULT_CALLS(X)                                                                             \
    X(void *, malloc, NULL, (size_t size), (size))                                                 \
    X(void *, calloc, NULL, (size_t count, size_t size), (count, size))                            \
    X(void *, realloc, NULL, (void *memory, size_t size), (memory, size))                          \
    X(void *, aligned_alloc, NULL, (size_t alignment, size_t size), (alignment, size))             \
    X(void *, mmap, MAP_FAILED,                                                                    \
      (void *at, size_t size, int protection, int flags, int fd, off_t offset),                    \
      (at, size, protection, flags, fd, offset))                                                   \
    X(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))                    \
    X(int, ftruncate, -1, (int fd, off_t size), (fd, size))                                        \
    X(int, fstat, -1, (int fd, struct stat *info), (fd, info))                                     \
    X(int, flock, -1, (int fd, int operation), (fd, operation))                                    \
    X(int, chmod, -1, (const char *name, mode_t mode), (name, mode))                               \
    X(DIR *, opendir, NULL, (const char *name), (name))                                            \
    X(ssize_t, getrandom, -1, (void *bytes, size_t size, unsigned flags), (bytes, size, flags))    \
    X(int, eventfd, -1, (unsigned count, int flags), (count, flags))                               \
    X(int, pipe2, -1, (int fds[2], int flags), (fds, flags))                                       \
    X(int, epoll_create1, -1, (int flags), (flags))                                                \
    X(int, epoll_ctl, -1, (int fd, int operation, int other, struct epoll_event *event),           \
      (fd, operation, other, event))                                                               \
    X(int, poll, -1, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))      \
    X(int, socket, -1, (int domain, int type, int protocol), (domain, type, protocol))             \
    X(int, bind, -1, (int fd, const struct sockaddr *name, socklen_t size), (fd, name, size))      \
    X(int, listen, -1, (int fd, int backlog), (fd, backlog))                                       \
    X(int, connect, -1, (int fd, const struct sockaddr *name, socklen_t size), (fd, name, size))   \
    X(int, accept4, -1, (int fd, struct sockaddr *name, socklen_t *size, int flags),               \
      (fd, name, size, flags))                                                                     \
    X(int, setsockopt, -1, (int fd, int level, int option, const void *value, socklen_t size),     \
      (fd, level, option, value, size))                                                            \
    X(int, getsockopt, -1, (int fd, int level, int option, void *value, socklen_t *size),          \
      (fd, level, option, value, size))                                                            \
    X(ssize_t, send, -1, (int fd, const void *bytes, size_t size, int flags),                      \
      (fd, bytes, size, flags))                                                                    \
    X(ssize_t, recv, -1, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))  \
    X(ssize_t, sendmsg, -1, (int fd, const struct msghdr *message, int flags),                     \
      (fd, message, flags))                                                                        \
    X(ssize_t, recvmsg, -1, (int fd, struct msghdr *message, int flags), (fd, message, flags))     \
    X(uid_t, geteuid, (uid_t) - 1, (void), ())                                                     \
    X(int, sched_getaffinity, -1, (pid_t process, size_t size, cpu_set_t *set),                    \
      (process, size, set))

/* Calls of libraries, for a test that defines this before it includes us. */
#ifndef FAULT_MORE_CALLS
#define FAULT_MORE_CALLS(X)
#endif

typedef enum FaultCall {
#define FAULT_NAME(type, name, failure, parameters, arguments) FAULT_##name,
    FAULT_CALLS(FAULT_NAME) FAULT_MORE_CALLS(FAULT_NAME)
#undef FAULT_NAME
        FAULT_open,
    FAULT_openat,
    FAULT_fcntl,
    FAULT_ANY,
    FAULT_COUNT = FAULT_ANY + 1,
} FaultCall;

/* One call of a kind that fails, of those that this thread makes. */
typedef struct Fault {
    uint32_t at;    /* which one, from 1; 0: none */
    uint32_t calls; /* since it was told so */
    int error;
    void (*before)(void); /* called once, before the call that comes next; NULL: nothing */
} Fault;

static _Thread_local Fault faults[FAULT_COUNT];

/* The `nth` call from now on, from 1, fails with `error`. FAULT_ANY counts calls of every kind. */
static inline void fault_set(FaultCall call, uint32_t nth, int error)
{
    faults[call] = (Fault){.at = nth, .error = error};
}

static inline void fault_clear(void)
{
    memset(faults, 0, sizeof faults);
}

/* True if a call was made to fail since it was told so. */
static inline bool fault_was(FaultCall call)
{
    return faults[call].at != 0 && faults[call].calls >= faults[call].at;
}

static inline bool fault_count(Fault *fault)
{
    if (fault->at == 0 || ++fault->calls != fault->at) {
        return false;
    }
    errno = fault->error;
    return true;
}

static inline bool fault_comes(FaultCall call)
{
    void (*before)(void) = faults[call].before;
    if (before != NULL) {
        faults[call].before = NULL;
        before();
    }
    bool fails = fault_count(&faults[call]);
    return fault_count(&faults[FAULT_ANY]) || fails;
}

#define FAULT_WRAP(type, name, failure, parameters, arguments)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fault_comes(FAULT_##name) ? failure : __real_##name arguments;                      \
    }
FAULT_CALLS(FAULT_WRAP)
FAULT_MORE_CALLS(FAULT_WRAP)
#undef FAULT_WRAP

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __real_openat(int at, const char *name, int flags, ...);
int __wrap_openat(int at, const char *name, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

int __wrap_open(const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fault_comes(FAULT_open) ? -1 : __real_open(name, flags, mode);
}

int __wrap_openat(int at, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fault_comes(FAULT_openat) ? -1 : __real_openat(at, name, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...)
{
    bool number = command == F_ADD_SEALS || command == F_SETPIPE_SZ || command == F_SETFL;
    bool bare = command == F_GET_SEALS || command == F_GETFL || command == F_GETFD;
    va_list args;
    va_start(args, command);
    int value = number ? va_arg(args, int) : 0;
    void *place = number || bare ? NULL : va_arg(args, void *);
    va_end(args);
    if (fault_comes(FAULT_fcntl)) {
        return -1;
    }
    return number ? __real_fcntl(fd, command, value) : __real_fcntl(fd, command, place);
}
