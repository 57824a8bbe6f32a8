/* The rulesets that the property tests walk through: for every game of the registry the standard
 * one, and each field varied one at a time. */
#pragma once

#include "trainyard.h"

#include <stdio.h>

enum { VARIANT_MAX = 256 };

typedef struct VariantList {
    uint32_t count;
    char spec[VARIANT_MAX][TY_SPEC_MAX];
} VariantList;

static inline void variant_add(VariantList *list, const TyGame *game, const char *key,
                               const char *value)
{
    if (list->count < VARIANT_MAX) {
        snprintf(list->spec[list->count++], TY_SPEC_MAX, "%s:%s=%s", ty_game_name(game), key,
                 value);
    }
}

static inline void variants_of_field(VariantList *list, const TyGame *game, const TyField *field)
{
    char number[16];
    switch (field->kind) {
    case TY_FIELD_INT:
        for (int32_t value = field->minimum; value <= field->maximum; value++) {
            snprintf(number, sizeof number, "%d", value);
            variant_add(list, game, field->key, number);
        }
        break;
    case TY_FIELD_FLAG:
        variant_add(list, game, field->key, "false");
        variant_add(list, game, field->key, "true");
        break;
    case TY_FIELD_CHOICE:
    case TY_FIELD_FILE:
        for (uint32_t i = 0; field->choices[i] != NULL; i++) {
            variant_add(list, game, field->key, field->choices[i]);
        }
        break;
    case TY_FIELD_FRACTION: /* no game has one */
        break;
    }
}

static inline void variants_of_game(VariantList *list, const TyGame *game)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    for (uint32_t i = 0; i < count; i++) {
        variants_of_field(list, game, &fields[i]);
    }
}
