/* Reading and writing configurations: "convoi:board=europe,players=3". */
#pragma once

#include "fields.h"
#include "game.h"

/* A configuration as read from a string. Files of the user's own stay open until ruleset_open is
 * done with them. */
typedef struct Config {
    const TyGame *game;
    Fields settings; /* `files` points into `text` */
    char text[TY_SPEC_MAX * 2];
} Config;

TyStatus config_parse(const char *spec, Config *config);
/* The index among the game's files of field `field`, which is of kind TY_FIELD_FILE. */
uint32_t config_file_index(const TyGame *game, uint32_t field);
/* The canonical string. `file_names` has, per file of the game, the identity of a user's file. */
void config_write(const TyGame *game, const int32_t *values,
                  const char file_names[TY_FILES_MAX][TY_NAME_MAX], char spec[TY_SPEC_MAX]);
/* What the string `spec` has behind `key=`; "" if it has no such key. */
void config_value(const char *spec, const char *key, char *out, size_t size);
