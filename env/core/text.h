/* Writing text and JSON into a buffer of fixed size; what does not fit is counted, not written.
 *
 *     char buffer[256];
 *     TyJson json = ty_json_init(buffer, sizeof buffer);
 *     ty_json_open(&json, NULL, '{');
 *     ty_json_put_int(&json, "turn", 3);
 *     ty_json_close(&json, '}'); // {"turn":3} */
#pragma once

#include "base.h"

/* Text being written into the caller's buffer. */
typedef struct TyText {
    char *data;    /* always NUL-terminated */
    size_t size;   /* bytes of `data` */
    size_t length; /* characters so far, including those that did not fit */
} TyText;

/* An empty text in `data`, which stays the caller's; `size` is at least 1. */
TY_API TyText ty_text_init(char *data, size_t size);
/* Appends as printf does. */
TY_API void ty_text_add(TyText *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends `length` bytes as they are: for long texts, in which ty_text_add would be slow. */
TY_API void ty_text_put(TyText *text, const char *bytes, size_t length);
/* Appends a whole number, as fast. */
TY_API void ty_text_put_int(TyText *text, int64_t value);
/* Appends a number of things: "1 space", "2 spaces". */
TY_API void ty_text_put_count(TyText *text, uint32_t count, const char *noun);

/* A JSON document being written into the caller's buffer. Commas are added where they belong. In an
 * object every value has a key; in an array, and at the top, `key` is NULL. */
typedef struct TyJson {
    TyText text;
    bool comma; /* the next value needs one before it */
} TyJson;

/* An empty document in `data`, which stays the caller's; `size` is at least 1. */
TY_API TyJson ty_json_init(char *data, size_t size);
/* Opens an object or array: `bracket` is '{' or '['. */
TY_API void ty_json_open(TyJson *json, const char *key, char bracket);
/* Closes it: `bracket` is '}' or ']'. */
TY_API void ty_json_close(TyJson *json, char bracket);
/* Writes a string, with escapes where JSON needs them. */
TY_API void ty_json_put_string(TyJson *json, const char *key, const char *value);
/* Writes a whole number. */
TY_API void ty_json_put_int(TyJson *json, const char *key, int64_t value);
/* Writes true or false. */
TY_API void ty_json_put_bool(TyJson *json, const char *key, bool value);
/* Writes null. */
TY_API void ty_json_put_null(TyJson *json, const char *key);
/* Writes a 64-bit value as a string of 16 hexadecimal digits, since many JSON readers round large
 * numbers. */
TY_API void ty_json_put_hex(TyJson *json, const char *key, uint64_t value);
/* Writes a value that is JSON already. */
TY_API void ty_json_put_raw(TyJson *json, const char *key, const char *value);
