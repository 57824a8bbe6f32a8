/* Addresses to listen on, and what has to be made for them. */
#pragma once

#include "base.h"

enum {
    ENDPOINT_PATH_MAX = 256,
    ENDPOINT_ADDRESS_MAX = ENDPOINT_PATH_MAX + 32,
};

typedef enum EndpointKind {
    ENDPOINT_IPC,      /* a unix socket in a private directory */
    ENDPOINT_LOOPBACK, /* tcp that only this machine reaches */
    ENDPOINT_REMOTE,   /* any other tcp */
} EndpointKind;

/* An address to listen on, and what had to be made for it. */
typedef struct Endpoint {
    EndpointKind kind;
    char address[ENDPOINT_ADDRESS_MAX];
    char path[ENDPOINT_PATH_MAX]; /* of a unix socket */
    char directory[ENDPOINT_PATH_MAX];
    bool made_directory;
    int lock_fd; /* -1: none */
} Endpoint;

/* The private directory in which the daemon listens if nothing else is said. */
TyStatus endpoint_runtime_directory(char path[ENDPOINT_PATH_MAX]);
/* Understands "ipc://PATH" and "tcp://HOST:PORT". */
TyStatus endpoint_parse(const char *address, Endpoint *endpoint);
/* True if the host of a tcp address is one of IPv6. */
bool endpoint_is_ipv6(const Endpoint *endpoint);
/* Makes the directory, checks that it is private, and locks the path against a second daemon. */
TyStatus endpoint_claim(Endpoint *endpoint);
/* Removes what endpoint_claim made. */
void endpoint_release(Endpoint *endpoint);
