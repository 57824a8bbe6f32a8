/* Settings of games and agents: reading and writing "key=value,key=value". */
#pragma once

#include "base.h"
#include "core/text.h"

enum { FIELDS_FRACTION_MAX = 16 /* characters of a fraction */ };

/* Settings as read from a string. */
typedef struct Fields {
    const char *owner;     /* what has them, for messages */
    const TyField *fields; /* ends with a NULL key */
    int32_t values[TY_FIELDS_MAX];
    char *files[TY_FIELDS_MAX]; /* per field: what was written for a file that is not built in */
} Fields;

/* Reads `list` into the values; those that it leaves out get their standard. `list` is taken apart
 * and has to stay as long as `files` is used; NULL: nothing is given. */
TyStatus fields_parse(Fields *settings, char *list);
/* Appends ":key=value,..." with what is not standard or always shown. `file_names` has, per field,
 * the identity of a user's file. */
void fields_write(const TyField *fields, const int32_t *values, const char *const *file_names,
                  TyText *out);
/* Appends one value as people write it; `file_name` is the identity of a user's file. */
void fields_write_value(const TyField *field, int32_t value, const char *file_name, TyText *out);
/* How many there are. */
uint32_t fields_count(const TyField *fields);
/* The index of `key`; fields_count if there is none. */
uint32_t fields_find(const TyField *fields, const char *key);
/* A value of kind TY_FIELD_FRACTION as people write it, "0.25". */
void fields_fraction(int32_t thousandths, char out[FIELDS_FRACTION_MAX]);
/* For an error message: the words (NULL-terminated) that are allowed where `value` was written, and
 * the nearest of them. */
void fields_words_list(const char *const *words, const char *value, char *out, size_t size);
