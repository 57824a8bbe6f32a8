/* Reading and writing configurations: "convoi:board=europe,players=3". */
#pragma once

#include "game.h"

/* A configuration as read from a string. Files of the user's own stay open until ruleset_open is
 * done with them. */
typedef struct Config {
    const TyGame *game;
    int32_t values[TY_FIELDS_MAX];
    char file_value[TY_FILES_MAX][TY_NAME_MAX * 4]; /* what was written for a file field */
} Config;

TyStatus config_parse(const char *spec, Config *config);
uint32_t config_field_count(const TyGame *game);
/* The field's index; config_field_count if the game has no such key. */
uint32_t config_field_find(const TyGame *game, const char *key);
/* The index among the game's files of field `field`, which is of kind TY_FIELD_FILE. */
uint32_t config_file_index(const TyGame *game, uint32_t field);
/* The canonical string. `file_names` has, per file of the game, the identity of a user's file. */
void config_write(const TyGame *game, const int32_t *values,
                  const char file_names[TY_FILES_MAX][TY_NAME_MAX], char spec[TY_SPEC_MAX]);
