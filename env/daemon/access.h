/* The secrets that let clients in: tokens and keys in files. */
#pragma once

#include "base.h"
#include "proto/keys.h"

enum {
    ACCESS_TOKEN_MAX = 256,
    CURVE_KEYS_MAX = 1024,
    ACCESS_NAME_MAX = 32,
};

/* Reads a token file: its first line. The file must be nobody else's to read. */
TyStatus access_token_read(const char *path, char token[ACCESS_TOKEN_MAX]);

/* A CURVE key in Z85, as `trainyard keygen` writes it. */
typedef struct CurveKey {
    char key[KEY_TEXT_SIZE];
    char name[ACCESS_NAME_MAX]; /* that its owner is called by; "": as it likes */
    bool administrator;
} CurveKey;

typedef struct CurveKeys {
    uint32_t count;
    CurveKey keys[CURVE_KEYS_MAX];
} CurveKeys;

/* The secret key of a file that is nobody else's to read. */
TyStatus access_secret_read(const char *path, char key[KEY_TEXT_SIZE]);
/* Adds the public keys of a file, or of every *.key and *.pub file in a directory. A key's name is
 * the word behind it or, if it is the only one of its file, that of the file without its ending. */
TyStatus access_keys_read(const char *path, bool administrators, CurveKeys *keys);
/* NULL if it is not among them. */
const CurveKey *access_key_find(const CurveKeys *keys, const char key[KEY_TEXT_SIZE]);

/* True if a built-in agent is called so, in small or capital letters, with or without something
 * behind it ("expert", "Expert/2", "expert@0.9"). */
bool name_is_agents(const char *name);

/* Compares without telling by time how much is alike. */
bool secret_equal(const char *one, const char *other);
