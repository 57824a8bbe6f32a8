/* Text and JSON into a buffer of fixed size; what does not fit is counted, not written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char *data;    /* always NUL-terminated */
    size_t size;   /* bytes of `data` */
    size_t length; /* characters wanted so far, also those that did not fit */
} Text;

/* `size` is at least 1. */
Text text_init(char *data, size_t size);
void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON document being written. Commas are put where they belong. */
typedef struct Json {
    Text text;
    bool comma; /* the next value needs one before it */
} Json;

Json json_init(char *data, size_t size);
/* In an object give the key, in an array and at the top NULL. */
void json_open(Json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(Json *json, char bracket);                 /* '}' or ']' */
void json_put_string(Json *json, const char *key, const char *value);
void json_put_int(Json *json, const char *key, int64_t value);
void json_put_bool(Json *json, const char *key, bool value);
void json_put_null(Json *json, const char *key);
/* A 64-bit value as a string of 16 hexadecimal digits: JSON numbers do not hold it everywhere. */
void json_put_hex(Json *json, const char *key, uint64_t value);
/* A value that is JSON already. */
void json_put_raw(Json *json, const char *key, const char *value);
