/* The secrets that let clients in: tokens and keys in files. */
#pragma once

#include "proto/keys.h"
#include "trainyard.h"

enum {
    ACCESS_TOKEN_MAX = 256,
    ACCESS_KEYS_MAX = 1024,
};

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
