/* Who may talk to the daemon: private directories, locks, tokens, keys. */
#pragma once

#include "proto/keys.h"
#include "trainyard.h"

enum {
    ACCESS_PATH_MAX = 256,
    ACCESS_ADDRESS_MAX = ACCESS_PATH_MAX + 32,
    ACCESS_TOKEN_MAX = 256,
    ACCESS_KEYS_MAX = 1024,
};

typedef enum AccessKind {
    ACCESS_IPC,      /* a unix socket in a private directory */
    ACCESS_LOOPBACK, /* tcp that only this machine reaches */
    ACCESS_REMOTE,   /* any other tcp */
} AccessKind;

/* An address to listen on, and what had to be made for it. */
typedef struct Endpoint {
    AccessKind kind;
    char address[ACCESS_ADDRESS_MAX];
    char path[ACCESS_PATH_MAX]; /* of a unix socket */
    char directory[ACCESS_PATH_MAX];
    bool made_directory;
    int lock_fd; /* -1: none */
} Endpoint;

/* The private directory in which the daemon listens if nothing else is said. */
TyStatus access_runtime_directory(char path[ACCESS_PATH_MAX]);
/* Understands "ipc://PATH" and "tcp://HOST:PORT". */
TyStatus endpoint_parse(const char *address, Endpoint *endpoint);
/* Makes the directory, checks that it is private, and locks the path against a second daemon. */
TyStatus endpoint_claim(Endpoint *endpoint);
/* Removes what endpoint_claim made. */
void endpoint_release(Endpoint *endpoint);

/* Reads a token file: its first line. The file must be nobody else's to read. */
TyStatus access_token_read(const char *path, char token[ACCESS_TOKEN_MAX]);

/* CURVE keys in Z85, as `trainyard keygen` writes them. */
typedef struct AccessKeys {
    uint32_t count;
    char keys[ACCESS_KEYS_MAX][KEY_TEXT_SIZE];
} AccessKeys;

/* The secret key of a file that is nobody else's to read. */
TyStatus access_secret_read(const char *path, char key[KEY_TEXT_SIZE]);
/* Adds the public keys of a file, or of every *.key and *.pub file in a directory. */
TyStatus access_keys_read(const char *path, AccessKeys *keys);
